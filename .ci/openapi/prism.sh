#!/usr/bin/env bash
# Stoplight Prism beside the programs: as a validating proxy in front of fundeskd, where
# it must report no violation of openapi.json while the CLI does its work, and as a mock
# that drives the client with nothing but the description.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
touch "$work/prisms" # Their processes: they are no jobs of this shell.
trap 'kill $(jobs -p) $(cat "$work/prisms") 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/" ./cmd/...
export HOME="$work" PATH="$work:$PATH"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME

# until_line FILE PATTERN: waits until a line of the file fits and prints it.
until_line() {
  for _ in $(seq 600); do
    if grep -m1 -E "$2" "$1" 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "$1 never said $2" >&2; cat "$1" >&2; exit 1
}

# start_prism LOG ARGS…: starts Prism on a free port and prints its address.
start_prism() {
  local log=$1; shift
  prism "$@" -p 0 > "$log" 2>&1 &
  echo $! >> "$work/prisms"
  until_line "$log" 'is listening' | grep -oE 'http://[0-9.]+:[0-9]+'
}

fundeskd sample --persons 40 > /dev/null
FUNDESK_TOKEN=$(fundeskd account add ci --all-organizations)
export FUNDESK_TOKEN
fundeskd serve --listen 127.0.0.1:0 > "$work/address" 2> "$work/serve.log" &
service=$(until_line "$work/address" '^http')

echo "validating proxy"
FUNDESK_BASE_URL=$(start_prism "$work/proxy.log" proxy service/httpapi/openapi.json "$service")
export FUNDESK_BASE_URL
organization=$(fundesk person list --limit 1 -q -o json --jq '.[0].owningOrganization.uuid' | tr -d '"')
person=$(fundesk person create --owning-organization "$organization" --recruiting-organization "$organization" \
  --first-name Anneke --last-name Meer --iban 'NL91 ABNA 0417 1643 00' --date-of-birth 1974-02-28 --mobile-phone-number +31612345678 \
  --street Dorpsstraat --house-number 12 --zip-code '1234 AB' --city Utrecht --country nl -o id)
fundesk person update "$person" --email anneke@example.org --clear name.initials -o id
pledge=$(fundesk pledge create --person "$person" --owning-organization "$organization" --recruiting-organization "$organization" \
  --created-at now --initial-donation-amount 12.50 --initial-donation-interval monthly --recruiter-user "$person" --starts-at 2027-01-01 -o id)
fundesk pledge update "$pledge" --donation-amount 15 --ends-at 2028-01-01 -o id
call=$(fundesk call create --person "$person" --related-case "$pledge" --requested-at now --type happy_call -o id)
fundesk call attempt "$call" -o id
fundesk call complete "$call" --result-code thanked --notes 'was glad' --rating 9 -o id
for move in cancel expire; do
  fundesk call create --person "$person" --requested-at now --type winback -o id | fundesk call $move - --yes
done
fundesk pledge action drop "$pledge" --yes -o id
fundesk processed mark call "$call"
for list in 'person list' 'call list' 'call list --include person,personQualityResult,pledge,transactions' 'pledge list --include transactions'; do
  # shellcheck disable=SC2086 # the words are the command
  fundesk $list --all -o id | wc -l
done
for noun in person call pledge; do
  fundesk $noun list --all -o id | head -25 | xargs fundesk $noun get -o id | wc -l
done
if grep -E 'Violation|✖' "$work/proxy.log"; then
  echo "Prism found violations of openapi.json" >&2; exit 1
fi

echo "mock"
FUNDESK_BASE_URL=$(start_prism "$work/mock.log" mock service/httpapi/openapi.json)
# The records of the description's examples: the client takes no other for an answer.
call=$(fundesk call list --limit 1 -o id)
person=$(fundesk person list --limit 1 -o id)
pledge=$(fundesk pledge list --limit 1 -o id)
fundesk call list --limit 1 -o table
fundesk person get "$person" -o id
fundesk pledge get "$pledge" -o table > /dev/null
fundesk call cancel "$call" --yes -o id
fundesk call complete "$call" --result-code thanked --any-result -o id
fundesk person update "$person" --email a@example.org -o id
fundesk processed mark call "$call"
