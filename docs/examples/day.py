#!/usr/bin/env python3
"""A day with the service, in Python's standard library."""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone
from decimal import Decimal


class Refused(Exception):
    """What the service says of a request that it refuses."""


def ask(method, path, body=None, **query):
    """The answer to one request; amounts are exact, as Decimal."""
    url = os.environ["FUNDESK_BASE_URL"] + path
    if query:
        url += "?" + urllib.parse.urlencode(query)
    request = urllib.request.Request(url, method=method, headers={"Authorization": "Bearer " + os.environ["FUNDESK_TOKEN"]})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refusal:
        problem = json.loads(refusal.read())
        places = ["%s: %s" % (e.get("pointer") or e.get("parameter"), e["message"]) for e in problem.get("errors", [])]
        raise Refused("%d %s %s" % (refusal.code, problem.get("title", ""), "; ".join(places))) from None
    return json.loads(text, parse_float=Decimal) if text else None


def walk(path, **query):
    """Every record of a list, page by page."""
    while True:
        page = ask("GET", path, first=100, **query)
        for edge in page["edges"]:
            yield edge["node"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        query["after"] = page["pageInfo"]["endCursor"]


def main():
    now = datetime.now(timezone.utc).isoformat()
    persons = list(walk("/api/v1/persons"))
    print(len(persons), "persons")

    # The uuid is ours, so that the creation can be sent again when its answer is lost.
    person, call = persons[-1]["uuid"], str(uuid.uuid4())
    ask("POST", "/api/v1/calls", {"uuid": call, "personUuid": person, "type": "happy_call", "requestedAt": now})
    ask("PUT", f"/api/v1/calls/{call}/actions/add-attempt", {})
    done = ask("PUT", f"/api/v1/calls/{call}/actions/complete", {"result": {"resultCode": "thanked", "donorRetentionRating": 9}})
    print("call", done["status"])

    try:
        ask("PUT", f"/api/v1/persons/{person}/actions/update", {"email": "nobody"})
    except Refused as why:
        print(why, file=sys.stderr)
        print("refused")

    ask("POST", "/api/v1/entity-access/actions/mark-processed",
        {"entries": [{"entityName": "person", "entityUuid": person, "processedAt": now}]})
    print("marked")


if __name__ == "__main__":
    main()
