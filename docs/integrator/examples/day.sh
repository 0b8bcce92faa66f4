#!/usr/bin/env bash
# A night and a day with the service, in curl and jq.
set -euo pipefail

# ask METHOD PATH [BODY]: prints the answer, or what the service says and fails.
ask() {
  local answer status
  answer=$(mktemp)
  status=$(curl -sS -o "$answer" -w '%{http_code}' -X "$1" "$FUNDESK_BASE_URL$2" \
    -H "Authorization: Bearer $FUNDESK_TOKEN" -H 'Content-Type: application/json' ${3:+-d "$3"}) || { rm "$answer"; return 1; }
  if [ "$status" -ge 400 ]; then
    jq -r '"\(.status) \(.title)", (.errors[]? | "  \(.pointer // .parameter): \(.message)")' "$answer" >&2
    rm "$answer"
    return 1
  fi
  cat "$answer"
  rm "$answer"
}

# Every night: persons who are new since the last time. Each page is written, then marked as processed;
# the time at which this run began is kept when the last page is, less what clocks may differ by: a
# person may come twice, and none is missed.
began=$(date -u -d '2 minutes ago' +%FT%TZ)
filter='' cursor='' persons=0
[ ! -s since ] || filter="&createdAfter=$(cat since)"
while true; do
  page=$(ask GET "/api/v1/persons?first=500$filter$cursor")
  jq -c '.edges[].node' <<< "$page" >> persons.ndjson
  count=$(jq '.edges | length' <<< "$page")
  persons=$((persons + count))
  [ "$count" = 0 ] || ask POST /api/v1/entity-access/actions/mark-processed \
    "$(jq -c --arg at "$(date -u +%FT%TZ)" '{entries: [.edges[].node | {entityName: "person", entityUuid: .uuid, processedAt: $at}]}' <<< "$page")"
  [ "$(jq .pageInfo.hasNextPage <<< "$page")" = true ] || break
  cursor="&after=$(jq -r .pageInfo.endCursor <<< "$page")"
done
echo "$began" > since
echo "$persons persons"

# A call: the uuid is ours, so that the creation can be sent again when its answer is lost.
person=$(ask GET '/api/v1/persons?first=1' | jq -r '.edges[0].node.uuid')
call=$(cat /proc/sys/kernel/random/uuid)
ask POST /api/v1/calls "{\"uuid\":\"$call\",\"personUuid\":\"$person\",\"type\":\"happy_call\",\"requestedAt\":\"$(date -u +%FT%TZ)\"}" > /dev/null
ask PUT "/api/v1/calls/$call/actions/add-attempt" "{\"attemptAt\":\"$(date -u +%FT%TZ)\"}" > /dev/null
ask PUT "/api/v1/calls/$call/actions/complete" '{"result":{"resultCode":"thanked","donorRetentionRating":9}}' | jq -r '"call \(.status)"'

# A refusal names the field.
ask PUT "/api/v1/persons/$person/actions/update" '{"email":"nobody"}' || echo "refused"
