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

screen() { tmux -S "$socket" capture-pane -p; }
wait_for() { for _ in $(seq 300); do screen | grep -q "$1" && return; sleep 0.1; done; echo "never saw: $1" >&2; exit 1; }
draw() { tmux -S "$socket" capture-pane -ep | "$work/draw" 120 36 > "$1"; }

mkdir -p .github
HOME="$work" TERM=xterm-256color LANG=C.UTF-8 tmux -S "$socket" -f /dev/null new-session -d -x 120 -y 36 "$work/fundesk demo"
wait_for 'take the next call'
tmux -S "$socket" send-keys n
wait_for 'c result'
tmux -S "$socket" send-keys c
wait_for '/ another'
tmux -S "$socket" send-keys 1 i
tmux -S "$socket" send-keys -l 'Is glad about the new boat, and asks for the report.'
wait_for 'report\.'
draw .github/desk.svg
