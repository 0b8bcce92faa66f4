#!/usr/bin/env bash
# Clients that are generated from openapi.json, compiled and run against the sandbox: in TypeScript, which
# is docs/integrator/examples/ts, and in Go. Amounts keep their cents; pages and refusals are read.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

cp -r .ci/openapi/go "$work/go"
example=docs/integrator/examples/ts # At its place in the tree: its scripts find openapi.json from there.
mkdir -p "$work/$example" "$work/service/httpapi"
cp "$example"/{.npmrc,day.ts,package.json,package-lock.json,tsconfig.json} "$work/$example"
go build -o "$work/" ./cmd/fundeskd
"$work/fundeskd" openapi > "$work/openapi.json"
"$work/fundeskd" serve --sandbox --persons 200 --listen 127.0.0.1:0 > "$work/address" 2> "$work/log" &
for _ in $(seq 600); do
  if [ "$(wc -l < "$work/address")" -ge 2 ]; then break; fi
  sleep 0.1
done
{ read -r FUNDESK_BASE_URL && read -r FUNDESK_TOKEN; } < "$work/address" || { cat "$work/log" >&2; exit 1; }
export FUNDESK_BASE_URL FUNDESK_TOKEN

echo "Go"
(
  cd "$work/go"
  mkdir service
  go tool oapi-codegen -generate types,client -package service ../openapi.json > service/client.go
  go run .
)

echo "TypeScript"
cp "$work/openapi.json" "$work/service/httpapi"
cd "$work/$example"
npm ci --ignore-scripts --no-audit --no-fund --loglevel error
npm run --silent build > /dev/null
for night in 1 2; do
  npm run --silent day 2> refusal | tee day
  grep -q '/email: must be one e-mail address' refusal
  printf '%s\n' "call completed" "pledge 262144.13" "refused" | diff - <(tail -n +2 day)
  pulled=$(sed -n '1s/ persons$//p' day)
  # A second night brings what came since, and two minutes more: soon after midnight some persons are that new.
  if [ "$night" = 1 ] && [ "$pulled" != 200 ] || [ "$night" = 2 ] && [ "$pulled" -ge 100 ]; then
    echo "night $night: got $pulled persons" >&2
    exit 1
  fi
done
