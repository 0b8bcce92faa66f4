#!/usr/bin/env bash
# The sandbox in a browser: its page of the interface is drawn whole, under a policy that it keeps, and
# a page of this machine may ask the interface, and not order the sandbox.
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

# look URL: the page as the browser has it, and what its console says in the file console.
look() {
  timeout 120 chromium --headless --no-sandbox --disable-gpu --no-proxy-server --user-data-dir="$work/profile" \
    --enable-logging=stderr --virtual-time-budget=10000 --dump-dom "$1" 2> "$work/console"
}

look "$service/docs" > "$work/docs.html"
if grep CONSOLE "$work/console"; then
  echo "the browser complains of the page" >&2
  exit 1
fi
diff <(curl -sS "$service/docs" | grep -c '<section id=') <(grep -c '<section id=' "$work/docs.html")

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
echo "a browser shows the page of the interface, and pages of this machine may ask it"
