#!/usr/bin/env python3
"""A night and a day with the service, in Python's standard library."""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path


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


def pages(path, **query):
    """The records of a list, page by page."""
    while True:
        page = ask("GET", path, first=500, **query)
        yield [edge["node"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            return
        query["after"] = page["pageInfo"]["endCursor"]


def now():
    return datetime.now(timezone.utc)


def pull(since, out):
    """Writes the persons who are new since the last time, and is how many.

    Each page is written, then marked as processed. The time at which this run began is kept when the
    last page is, less what clocks may differ by: a person may come twice, and none is missed.
    """
    began, count = now() - timedelta(minutes=2), 0
    query = {"createdAfter": since.read_text()} if since.exists() else {}
    for persons in pages("/api/v1/persons", **query):
        with out.open("a") as lines:
            lines.writelines(json.dumps(person, default=str) + "\n" for person in persons)
        if persons:
            ask("POST", "/api/v1/entity-access/actions/mark-processed", {"entries": [
                {"entityName": "person", "entityUuid": person["uuid"], "processedAt": now().isoformat()} for person in persons]})
        count += len(persons)
    since.write_text(began.isoformat())
    return count


def main():
    print(pull(Path("since"), Path("persons.ndjson")), "persons")

    # The uuid is ours, so that the creation can be sent again when its answer is lost.
    person, call = ask("GET", "/api/v1/persons", first=1)["edges"][0]["node"]["uuid"], str(uuid.uuid4())
    ask("POST", "/api/v1/calls", {"uuid": call, "personUuid": person, "type": "happy_call", "requestedAt": now().isoformat()})
    ask("PUT", f"/api/v1/calls/{call}/actions/add-attempt", {"attemptAt": now().isoformat()})
    done = ask("PUT", f"/api/v1/calls/{call}/actions/complete", {"result": {"resultCode": "thanked", "donorRetentionRating": 9}})
    print("call", done["status"])

    try:
        ask("PUT", f"/api/v1/persons/{person}/actions/update", {"email": "nobody"})
    except Refused as why:
        print(why, file=sys.stderr)
        print("refused")


if __name__ == "__main__":
    main()
