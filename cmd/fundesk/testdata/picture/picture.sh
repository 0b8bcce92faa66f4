#!/usr/bin/env bash
# Draws the pictures of the README and of docs/ from the real program: the demo, at a time that
# is always the same, on a home folder of its own. Needs tmux.
#
#   cmd/fundesk/testdata/picture/picture.sh
set -euo pipefail
cd "$(dirname "$0")/../../../.."
export LC_ALL=C.UTF-8
work=$(mktemp -d)
socket="$work/tmux"
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
go build -o "$work/fundesk" ./cmd/fundesk/testdata/picture/demo
go build -o "$work/picture" ./cmd/fundesk/testdata/picture
# A test compares it, so that no picture is older than the screens.
mark=$(cat tui/testdata/*-120x36.txt tui/testdata/card-*.txt | sha256sum | cut -c 1-16)

keys() { tmux -S "$socket" send-keys "$@"; }
screen() { tmux -S "$socket" capture-pane -p; }
wait_for() { for _ in $(seq 300); do screen | grep -q "$1" && return; sleep 0.1; done; echo "never saw: $1" >&2; screen >&2; exit 1; }
capture() { tmux -S "$socket" capture-pane -ep > "$work/$1.txt"; }
draw() { "$work/picture" -mark "$mark" "${@:2}" > ".github/$1.svg"; }
begin() {
  tmux -S "$socket" kill-server 2>/dev/null || true
  until rm -rf "$work/home" 2>/dev/null; do sleep 0.2; done # The program saves what it has, and ends.
  mkdir -p "$work/home/.config/fundesk"
  printf '[profiles.demo]\ntheme = "%s"\n' "${1:-default}" > "$work/home/.config/fundesk/config.toml"
  cat >> "$work/home/.config/fundesk/config.toml" <<'TOML'
[profiles.demo.agents]
a0000000-0000-4000-8000-000000000001 = "Anneke"
a0000000-0000-4000-8000-000000000002 = "Joost"
a0000000-0000-4000-8000-000000000003 = "Priya"
a0000000-0000-4000-8000-000000000004 = "Mehmet"
a0000000-0000-4000-8000-000000000005 = "Silke"
a0000000-0000-4000-8000-000000000006 = "Tess"
TOML
  chmod 600 "$work/home/.config/fundesk/config.toml"
  env -u LC_ALL HOME="$work/home" TERM=xterm-256color LANG=C.UTF-8 LC_TELEPHONE=nl_NL.UTF-8 \
    tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 "$work/fundesk demo"
  wait_for 'take the next call'
}
# floor gives the demo some agents at work.
floor() {
  local home="$work/home" agent
  (
    export HOME="$home" FUNDESK_PROFILE=demo
    take() { "$work/fundesk" queue take --user "$1" -o json --jq '.[0].call | .uuid + " " + .type' | tr -d '"'; }
    attempt() { "$work/fundesk" call attempt "$1" --user "$2" -q; }
    complete() { "$work/fundesk" call complete "$1" --user "$2" --any-result --result-code "$3" --rating "$4" -q; }
    declare -A first=([verification]=confirmed [happy_call]=thanked [winback]=resubscribed)
    declare -A second=([verification]=corrected [happy_call]=raised_amount [winback]=declined)
    for i in 1 2 3 4 5 6; do
      agent="a0000000-0000-4000-8000-00000000000$i"
      for round in 1 2 3 4 5; do
        if [ $((round % 5)) != 4 ]; then
          read -r call kind < <(take "$agent")
          attempt "$call" "$agent"
        fi
        [ $((i % 3)) = 0 ] && [ "$round" = 2 ] && continue
        read -r call kind < <(take "$agent")
        code=${first[$kind]}
        [ $(((round + i) % 3)) != 0 ] || code=${second[$kind]}
        complete "$call" "$agent" "$code" $((i + 3))
      done
      [ "$i" = 3 ] || take "$agent"
    done
  ) > /dev/null
}
# donor puts the open call of a donor on the desk, as who rings back.
donor() {
  keys /
  wait_for 'Find a donor'
  keys -l "$1"
  wait_for "$1  *[+0]"
  keys Enter
  wait_for "$2"
}

begin
# A verification: another number, its result, a rating and notes.
donor 'Joost Kok' 'Joost Kok  .*Dutch'
keys f 1
wait_for 'enter takes it'
keys -l '06 27 08 40 34'
keys Enter
wait_for '→ 06 27'
keys Escape
wait_for 'c result'
keys c 2 8 i
keys -l 'Has a new number since May. Glad about the boat.'
wait_for 'boat\.'
keys Escape
# Another donor is not reached, and the first one is gone on with.
donor 'Emma Stein' 'Emma Stein  .*German'
sleep 1 # A key that ends a call waits until the call was seen.
keys a
wait_for 'not reached: Emma Stein'
donor 'Joost Kok' 'Joost Kok  .*Dutch'
keys i
wait_for 'undoes it'
capture desk
draw desk "$work/desk.txt"

# The other pages, on a dark and on a light terminal.
pages() {
  begin "$1"
  keys 2
  wait_for 'donates  '
  capture calls
  keys 6
  wait_for 'R refreshes'
  capture stats
  floor
  keys 7
  wait_for 'Priya .*idle'
  wait_for 'Joost .*min'
  capture floor
  for page in calls stats floor; do
    draw "$page-$2" "${@:3}" "$work/$page.txt"
  done
}
pages default dark
pages light light -light

cmd/fundesk/testdata/picture/recording.sh
