#!/usr/bin/env bash
# Draws the pictures of the README from the real program: the demo in a terminal of
# 120 by 36, on a home folder of its own. Needs tmux.
#
#   cmd/fundesk/testdata/picture/picture.sh
set -euo pipefail
cd "$(dirname "$0")/../../../.."
work=$(mktemp -d)
socket="$work/tmux"
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
go build -o "$work/" ./cmd/fundesk
go build -o "$work/draw" ./cmd/fundesk/testdata/picture

keys() { tmux -S "$socket" send-keys "$@"; }
screen() { tmux -S "$socket" capture-pane -p; }
wait_for() { for _ in $(seq 300); do screen | grep -q "$1" && return; sleep 0.1; done; echo "never saw: $1" >&2; exit 1; }
draw() { tmux -S "$socket" capture-pane -ep | "$work/draw" 120 36 > "$1"; }
# donor puts the open call of a donor on the desk, as who rings back.
donor() {
  keys /
  wait_for 'Find a donor'
  keys -l "$1"
  wait_for "$1  *[+0]"
  keys Enter
  wait_for "$2"
}

mkdir -p .github
HOME="$work" TERM=xterm-256color LANG=C.UTF-8 LC_TELEPHONE=nl_NL.UTF-8 tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 "$work/fundesk demo"
wait_for 'take the next call'
# A verification with one warning: another number, its result, a rating and notes.
donor 'Joost Kok' 'Joost Kok  .*Dutch'
keys f 1
wait_for 'mobile:'
keys -l '06 27 08 40 34'
keys Enter
wait_for '→ 06 27084034'
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
keys d
wait_for 'Joost Kok  .*Dutch'
keys i
wait_for 'sent in 4 s'
draw .github/desk.svg
