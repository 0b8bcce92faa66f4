"""A Fundraising Data Service by somebody who had the interface and nothing else.

It decides everything that the interface leaves open otherwise than fundeskd: pledges are
a bare array, cut at CAP; pages of the other lists hold CAP records at most, whatever is
asked for, and say hasPreviousPage false on every one; errors are plain text; times end in
+00:00 and have no milliseconds; the pledge inside a call holds its calls as the text
"[Circular]"; enumerated values are others; there are no ETags and no request ids; a
parameter that it does not know is refused. It keeps its records in memory. The first line that it prints is its address.
"""
import json
import re
import sys
import uuid
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CAP = 50
NOW = datetime.now(timezone.utc).replace(microsecond=0)
ORGANIZATION = {"uuid": str(uuid.UUID(int=1, version=4)), "name": "Help", "abbreviation": "HLP"}


def identifier(kind, number):
    return str(uuid.UUID(int=kind << 64 | number, version=4))


def ago(hours):
    return (NOW - timedelta(hours=hours)).isoformat()  # 2026-11-20T09:15:00+00:00


def person(n):
    flat = dict.fromkeys(["academicTitle", "initials", "lastNamePrefix", "iban", "phoneNumber", "email", "optInMail", "optInSms"])
    return flat | {
        "uuid": identifier(1, n), "personUuid": identifier(1, n), "firstName": "Anna", "lastName": f"Number {n}", "gender": "F",
        "dateOfBirth": "1980-02-29", "mobilePhoneNumber": "+31612345678", "optInEmail": True, "optInPhone": True, "language": "nl",
        "createdAt": ago(n), "owningOrganization": ORGANIZATION, "address": None,
    }


def pledge(n):
    empty = dict.fromkeys(["endsAt", "recruitingLocationLabel", "preferredPaymentDay", "recruitmentType", "signatureSignedUrl", "externalMetadata", "campaignCode", "collectionDate"])
    return empty | {
        "uuid": identifier(3, n), "status": "lead", "startsAt": ago(n), "createdAt": ago(n), "updatedAt": ago(n), "releasedAt": ago(n),
        "owningOrganizationUuid": ORGANIZATION["uuid"], "recruitingOrganizationUuid": ORGANIZATION["uuid"], "recruiterUserUuid": identifier(4, 1),
        "initialDonationAmount": 12.50, "donationAmount": 1e1, "initialDonationInterval": "MONTH", "donationInterval": "MONTH",
    }


def call(n):
    empty = dict.fromkeys(["cancelledAt", "completedAt", "expiredAt", "notes", "callingOrganizationUuid", "recordingDuration", "result"])
    return empty | {
        "uuid": identifier(2, n), "status": "requested", "requestedAt": ago(n), "attemptsCount": 0, "lastUpdatedAt": ago(n),
        "personUuid": identifier(1, n), "relatedCaseUuid": identifier(3, n), "type": "winback", "attempts": [],
    }


RECORDS = {"persons": {}, "calls": {}, "pledges": {}}
for made in range(1, 136):
    for noun, make in (("persons", person), ("calls", call), ("pledges", pledge)):
        record = make(made)
        RECORDS[noun][record["uuid"]] = record
AFTER = {"createdAfter": "createdAt", "requestedAfter": "requestedAt", "updatedAfter": "lastUpdatedAt", "releasedAfter": "releasedAt"}


PAGES = {"first", "last", "after", "before"}
KNOWN = {  # What the interface names, but for filters that no test asks for.
    "persons": PAGES | {"createdAfter"},
    "calls": PAGES | {"requestedAfter", "updatedAfter", "include"},
    "pledges": PAGES | {"updatedAfter", "releasedAfter", "personUuid"},
}


class Refused(Exception):
    pass


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=None):
        text = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_any(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if self.headers.get("Authorization") != "Bearer stranger":
            return self.reply(401, "Who are you?")
        try:
            self.reply(*self.route(url.path.removeprefix("/api/v1/"), query, body))
        except Refused as refusal:
            self.reply(422, str(refusal))

    do_GET = do_POST = do_PUT = handle_any

    def route(self, path, query, body):
        if path == "entity-access/actions/mark-processed":
            return 204, None
        noun, _, rest = path.partition("/")
        records = RECORDS.get(noun)
        if records is None:
            return 404, "No such page."
        if not rest:
            return self.create(noun, records, body) if self.command == "POST" else (200, self.list(noun, records, query))
        found = records.get(rest.partition("/")[0].lower())
        if found is None:
            return 404, "No such record."
        if self.command == "PUT":
            self.change(noun, found, rest.rpartition("/")[2], body)
        return 200, self.shown(noun, found, {"person", "pledge"})

    def list(self, noun, records, query):
        for name in query.keys() - KNOWN[noun]:
            raise Refused(f"What is {name}?")
        everything = sorted(records.values(), key=lambda r: r["requestedAt" if noun == "calls" else "createdAt"], reverse=True)
        for name, field in AFTER.items():
            if name in query:
                since = datetime.fromisoformat(re.sub("Z$", "+00:00", query[name]))
                field = "updatedAt" if noun == "pledges" and name == "updatedAfter" else field
                everything = [r for r in everything if datetime.fromisoformat(r[field]) > since]
        shown = [self.shown(noun, r, set(query.get("include", "").split(","))) for r in everything]
        if noun == "pledges":
            return shown[:CAP]
        start = next((i + 1 for i, r in enumerate(shown) if r["uuid"] == query.get("after")), 0)
        end = next((i for i, r in enumerate(shown) if r["uuid"] == query.get("before")), len(shown))
        size = min(int(query.get("first") or query.get("last") or CAP), CAP)
        page = shown[max(start, end - size):end] if "last" in query else shown[start:min(end, start + size)]
        edges = [{"node": r, "cursor": r["uuid"]} for r in page]
        info = {"startCursor": edges[0]["cursor"] if edges else None, "endCursor": edges[-1]["cursor"] if edges else None}
        more = bool(page) and shown.index(page[-1]) + 1 < len(shown)
        return {"edges": edges, "pageInfo": info | {"hasPreviousPage": False, "hasNextPage": more}}

    def shown(self, noun, found, include):
        shown = dict(found)
        if noun == "calls" and "person" in include:
            shown["person"] = RECORDS["persons"].get(found["personUuid"])
        if noun == "calls" and "pledge" in include and found["relatedCaseUuid"]:
            shown["pledgeCase"] = RECORDS["pledges"][found["relatedCaseUuid"]] | {"calls": ["[Circular]"]}
        return shown

    def create(self, noun, records, body):
        number = body.get("uuid") or str(uuid.uuid4())
        if number in records:
            return 409, "There is one already."
        made = {"persons": person, "calls": call, "pledges": pledge}[noun](0)
        made.update({name: value for name, value in body.items() if name in made}, uuid=number)
        records[number] = made
        return 201, made

    def change(self, noun, found, action, body):
        now = datetime.now(timezone.utc).replace(microsecond=0).isoformat()
        states = {"complete": "completed", "cancel": "cancelled", "expire": "expired"}
        if action == "update":
            found.update({name: value for name, value in body.items() if name in found})
        elif noun == "calls" and action == "add-attempt":
            at = datetime.fromisoformat(re.sub("Z$", "+00:00", body.get("attemptAt", now))).replace(microsecond=0).isoformat()
            found["attempts"].append({"userUuid": body.get("userUuid"), "attemptAt": at, "createdAt": now})
            found.update(attemptsCount=len(found["attempts"]), lastUpdatedAt=now)
        elif noun == "calls" and action in states:
            if found["status"] != "requested":
                raise Refused("That call has ended.")
            at = body.get(states[action] + "At") or (body.get("result") or {}).get("completedAt") or now
            found.update({"status": states[action], states[action] + "At": at, "lastUpdatedAt": now, "result": body.get("result")})
        else:
            raise Refused("No such action.")


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
