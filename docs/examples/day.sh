#!/usr/bin/env bash
# A day with the service, in curl and jq.
set -euo pipefail

# ask METHOD PATH [BODY]: prints the answer, or what the service says and ends.
ask() {
  local answer status
  answer=$(mktemp)
  status=$(curl -sS -o "$answer" -w '%{http_code}' -X "$1" "$FUNDESK_BASE_URL$2" \
    -H "Authorization: Bearer $FUNDESK_TOKEN" -H 'Content-Type: application/json' ${3:+-d "$3"})
  if [ "$status" -ge 400 ]; then
    jq -r '"\(.status) \(.title)", (.errors[]? | "  \(.pointer // .parameter): \(.message)")' "$answer" >&2
    return 1
  fi
  cat "$answer"
}

# Pages, newest first, by the cursor of the last edge.
cursor='' persons=0
while page=$(ask GET "/api/v1/persons?first=100$cursor"); do
  persons=$((persons + $(jq '.edges | length' <<< "$page")))
  [ "$(jq .pageInfo.hasNextPage <<< "$page")" = true ] || break
  cursor="&after=$(jq -r .pageInfo.endCursor <<< "$page")"
done
echo "$persons persons"

# A call: the uuid is ours, so that the creation can be sent again when its answer is lost.
person=$(jq -r '.edges[0].node.uuid' <<< "$page")
call=$(cat /proc/sys/kernel/random/uuid)
ask POST /api/v1/calls "{\"uuid\":\"$call\",\"personUuid\":\"$person\",\"type\":\"happy_call\",\"requestedAt\":\"$(date -u +%FT%TZ)\"}" > /dev/null
ask PUT "/api/v1/calls/$call/actions/add-attempt" '{}' > /dev/null
ask PUT "/api/v1/calls/$call/actions/complete" '{"result":{"resultCode":"thanked","donorRetentionRating":9}}' | jq -r '"call \(.status)"'

# A refusal names the field.
ask PUT "/api/v1/persons/$person/actions/update" '{"email":"nobody"}' || echo "refused"

ask POST /api/v1/entity-access/actions/mark-processed \
  "{\"entries\":[{\"entityName\":\"person\",\"entityUuid\":\"$person\",\"processedAt\":\"$(date -u +%FT%TZ)\"}]}"
echo "marked"
