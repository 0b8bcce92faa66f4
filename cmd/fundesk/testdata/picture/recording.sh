#!/usr/bin/env bash
# Draws the recording at the head of the README: two Desks side by side, the Floor below, and above each Desk the keys
# that were pressed. The three are panes of one tmux, which another tmux shows, so that one capture has them all.
#
#   cmd/fundesk/testdata/picture/recording.sh
set -euo pipefail
cd "$(dirname "$0")/../../../.."
export LC_ALL=C.UTF-8
work=$(mktemp -d)
socket="$work/tmux" three="$work/three"
stop() {
  tmux -S "$three" kill-server 2>/dev/null || true
  tmux -S "$socket" kill-server 2>/dev/null || true
  sleep 1
  rm -rf "$work"
}
trap stop EXIT
go build -o "$work/fundesk" ./cmd/fundesk/testdata/picture/demo
go build -o "$work/picture" ./cmd/fundesk/testdata/picture
# A test compares it, so that the recording is not older than the screens.
mark=$(cat tui/testdata/*-120x36.txt tui/testdata/card-*.txt | sha256sum | cut -c 1-16)

of_three() { tmux -S "$three" "$@"; }

# desk prints the command line of a Desk or a Floor, each as another person on one service.
desk() {
  local config="$work/home$1/.config/fundesk"
  mkdir -p "$config"
  {
    printf '[profiles.demo]\nagent = "a0000000-0000-4000-8000-00000000000%s"\n[profiles.demo.agents]\n' "$1"
    printf 'a0000000-0000-4000-8000-00000000000%s = "%s"\n' 1 Anneke 2 Joost 3 Priya
  } > "$config/config.toml"
  chmod 600 "$config/config.toml"
  echo "env -u LC_ALL HOME=$work/home$1 XDG_DATA_HOME=$work/data TERM=tmux-256color LANG=C.UTF-8" \
    "LC_TELEPHONE=nl_NL.UTF-8 $work/fundesk ${*:2}"
}

# press types keys into a pane, and shows them as key caps in the line above it.
press() {
  local pane=$1 cap caps=''
  for cap in "${@:3}"; do caps+="#[fg=colour16,bg=colour222,bold] $cap #[default] "; done
  of_three set -p -t 0 @keys '' \; set -p -t 1 @keys '' \; set -p -t "$pane" @keys "$caps"
  # shellcheck disable=SC2086 # One word is one key.
  of_three send-keys -t "$pane" $2
}

# shows waits until a pane shows a text.
shows() {
  for _ in $(seq 300); do of_three capture-pane -t "$1" -p | grep -q "$2" && return; sleep 0.1; done
  echo "pane $1 never showed: $2" >&2
  of_three capture-pane -t "$1" -p >&2
  exit 1
}

# frame keeps what is on the screen, and for how many seconds it is shown.
frames=()
frame() {
  sleep 0.5 # The outer tmux draws what the inner one has.
  tmux -S "$socket" capture-pane -eNp > "$work/frame-${#frames[@]}.txt"
  frames+=("$work/frame-${#frames[@]}.txt=$1")
}

mkdir -p "$work/data"
of_three -f /dev/null new-session -d -x 161 -y 42 "$(desk 1 demo)"
shows 0 'take the next call'
of_three set -g status off \; set -g pane-border-status top \; set -g pane-border-style fg=colour240
of_three set -g pane-active-border-style fg=colour240 \; set -g pane-border-format ' #[bold,fg=colour255]#{@who}#[default]  #{E:@keys}'
of_three split-window -v -l 16 "$(desk 3 tui floor --profile demo)"
of_three split-window -h -t 0 -l 80 "$(desk 2 tui --profile demo)"
of_three set -p -t 0 @who Anneke \; set -p -t 1 @who Joost \; set -p -t 2 @who 'the supervisor'
tmux -S "$socket" -f /dev/null new-session -d -x 161 -y 42 "env TERM=tmux-256color tmux -S $three attach"
tmux -S "$socket" set -g status off
shows 1 'take the next call'
shows 2 'no agent has taken'
frame 2.5
press 0 n n
shows 0 'd dials'
shows 1 'Katharina von Lang'
shows 2 'Anneke .*happy call'
frame 3
press 1 n n
shows 1 'd dials'
shows 2 'Joost '
frame 2.5
press 0 a a
shows 0 'not reached: '
frame 2.5
press 1 'c 1 8' c 1 8
shows 1 'rating 8'
frame 2.5
press 1 C-s ctrl+s
shows 1 'confirmed: Katharina'
frame 2
shows 2 'Anneke  *win-back'
shows 2 'Joost .*confirmed'
frame 4
"$work/picture" -mark "$mark" -size 161x42 "${frames[@]}" > .github/recording.svg
