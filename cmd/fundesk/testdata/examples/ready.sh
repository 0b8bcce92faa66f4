# What the reader of an example has: profiles, and the files that the examples read.
set -euo pipefail
. ./example.sh none
organization=3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c
user=0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b
for name in old other prod; do
  fundesk profile add $name --base-url "$URL" --set agent=$user --set result_codes=reached,by_letter \
    --set owning_organization=$organization --set recruiting_organization=$organization \
    --set token_command='printenv FUNDESK_TOKEN'
done
fundesk profile set other base_url="$OTHER" token_command='printenv OTHER_TOKEN' --yes
fundesk profile use prod

organizations="\"owningOrganizationUuid\":\"$organization\",\"recruitingOrganizationUuid\":\"$organization\""
echo "{\"name\":{\"lastName\":\"Jansen\"},$organizations}" > person.json
echo "{\"personUuid\":\"$PERSON\",\"type\":\"happy_call\"}" > call.json
echo "{\"personUuid\":\"$PERSON\",$organizations,\"startsAt\":\"2026-12-01\",\"recruiterUserUuid\":\"$user\",\
\"initialDonationAmount\":10,\"initialDonationInterval\":\"monthly\"}" > pledge.json
for noun in person call pledge; do
  mkdir $noun
  cp $noun.json $noun/new.ndjson
  jq -r '[paths(scalars) | join(".")], [.. | scalars] | @csv' $noun.json > $noun/new.csv
  cp $noun/new.csv $noun/crm.csv
  fundesk $noun import $noun/crm.csv --guess > $noun/crm.toml
  fundesk $noun list -o id > $noun/uuids.txt
  fundesk $noun list --all -o csv > ${noun}s.csv
done
fundesk queue settings get > settings.toml
echo 'wants a letter' > notes.txt
echo "{\"entityName\":\"person\",\"entityUuid\":\"$PERSON\",\"processedAt\":\"2026-11-20T10:00:00Z\"}" > entries.ndjson
echo 'import sys; sys.stdin.read()' > load.py
echo 'import os, signal, sys; sys.stdin.read(); os.kill(os.getppid(), signal.SIGTERM)' > follow.py
