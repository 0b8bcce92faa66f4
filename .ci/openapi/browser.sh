#!/usr/bin/env bash
# The sandbox in a browser: a page of this machine may call the interface, and may not order the sandbox.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
go build -o "$work/" ./cmd/fundeskd
"$work/fundeskd" serve --sandbox --persons 200 --listen 127.0.0.1:0 > "$work/address" 2> "$work/log" &
for _ in $(seq 600); do
  if [ "$(wc -l < "$work/address")" -ge 2 ]; then break; fi
  sleep 0.1
done
{ read -r service && read -r token; } < "$work/address" || { cat "$work/log" >&2; exit 1; }

# look URL: the page as the browser has it.
look() {
  timeout 120 chromium --headless --no-sandbox --disable-gpu --no-proxy-server --user-data-dir="$work/profile" \
    --virtual-time-budget=10000 --dump-dom "$1" 2> /dev/null
}

cat > "$work/index.html" << PAGE
<script>
const ask = (path) => fetch("$service" + path, {headers: {Authorization: "Bearer $token"}}).then((r) => r.status, () => "refused");
Promise.all(["/api/v1/calls", "/api/v1/nowhere", "/sandbox/clock"].map(ask)).then((all) => document.write("got " + all));
</script>
PAGE
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work" > "$work/pages" 2>&1 &
for _ in $(seq 100); do
  if grep -q 'port' "$work/pages"; then break; fi
  sleep 0.1
done
page=$(look "http://localhost:$(grep -oE 'port [0-9]+' "$work/pages" | grep -oE '[0-9]+')/index.html")
grep -q 'got 200,404,refused' <<< "$page" || { echo "$page" >&2; exit 1; }
echo "pages of this machine may call the interface"
