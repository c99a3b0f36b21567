#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace top": the tables of --batch, and the screen with its keys, in tmux. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 19

# row NAME REST: the table has such a row
row()
{
	says "^$1 +$2"
}

run 2 top && complains '^posixtrace: top: needs a PID' && run 2 top --sort=pid 1 &&
	run 2 top --interval=10ms 1 && complains '^posixtrace: --interval: must be a time from 100ms' &&
	run 2 top --batch --output="$tmp/no" 1 && run 2 top --output=- 1 && [ ! -e "$tmp/no" ] &&
	run 2 top -- true && complains 'a PROGRAM would write to the screen: use --batch$'
result wrong_arguments_are_a_usage_error $?

run 1 top 1 </dev/null && complains '^posixtrace: standard input is not a terminal: use --batch$'
result screen_needs_a_terminal $?

run 1 top --batch 4194303 && complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$'
result missing_process_fails $?

run 0 top --batch -- ./top_helper 100 &&
	row job '100 +[0-9.]+ /s +([0-9.]+ ms +){4}0 +0$' &&
	row job_begin '100 +[0-9.]+ /s$' && row job_end '100 +[0-9.]+ /s$' && says ' lost 0 \(kernel\)$' &&
	says '^FROM BEGIN TO END +TOTAL +RATE +MEAN +p50 +p99 +max +OPEN +UNMATCHED$' &&
	complains '^posixtrace: [0-9]+ events$'
result counts_and_percentiles_of_a_program_with_a_known_number_of_events $?

run 7 top --batch -- ./ticks_helper 3 7 && row tick '3 '
result passes_the_exit_status_on $?

run 0 top --batch --interval=100ms -- ./top_helper 500 &&
	[ "$(grep -c '^posixtrace top ' "$tmp/out")" -ge 3 ] &&
	awk '/^job / { sum += $2; total = $(NF - 12) } END { exit sum != 500 || total != 500 }' "$tmp/out"
result intervals_add_up_to_the_total $?

run 0 top --batch --events=10 -- ./top_helper 100 && complains '^posixtrace: 10 events'
result events_end_it $?

run 0 top --batch --filter=tick -- ./ticks_helper 3 0 && row tick '3 ' && ! row raw ''
result filter_records_only_its_types $?

run 0 top --batch --size=1 -- ./ticks_helper 200000 0 && says ' lost [1-9][0-9]* \(kernel\)' &&
	complains ' lost: use a larger --size$'
result lost_events_are_shown $?

sleep 1000 &
sleeping=$!
run 0 top --batch --seconds=1 "$sleeping" &&
	says "^ +$sleeping  sleep-$sleeping .* blocked \(sleep\) +clock_nanosleep\("
result blocked_thread_is_shown_in_its_call $?

run 0 top --batch --seconds=1 --kernel=none "$sleeping" && ! says sampled &&
	says 'processes 1 \(kernel\)'
result without_kernel_events_there_are_no_states $?

mkfifo "$tmp/in" "$tmp/ready"
./hang_helper normal <"$tmp/in" >"$tmp/ready" &
hanging=$!
exec 3>"$tmp/in"
read -r _ <"$tmp/ready"
run 0 top --batch --seconds=1 --pid="$hanging,$sleeping" && says 'processes 2 \(kernel\)' &&
	says " left-[0-9]+ .* futex\(0x[0-9a-f]+, FUTEX_.*\), held by right-[0-9]+$" &&
	says " right-[0-9]+ .*, held by left-[0-9]+$" && says " sleep-$sleeping "
result threads_of_several_processes_with_the_holders_of_locks $?
exec 3>&-
kill "$hanging" "$sleeping"
wait "$hanging" "$sleeping"

# ----------------------------------------------------------------------
# The screen. tmux needs a locale of UTF-8, and the description of its terminal.

mkdir -p "$tmp/locale/C.utf8" "$tmp/terminfo/s"
cp LC_CTYPE "$tmp/locale/C.utf8/" && cp screen "$tmp/terminfo/s/"
export LOCPATH="$tmp/locale" TERMINFO="$tmp/terminfo"
printf '%s\n' 'set -g default-terminal screen' 'set -g status off' 'set -sg escape-time 0' >"$tmp/tmux.conf"

tmux()
{
	./tmux -S "$tmp/socket" -f "$tmp/tmux.conf" "$@"
}

keys()
{
	tmux send-keys "$@"
}

# shows REGEX: checks the screen
shows()
{
	tmux capture-pane -p >"$tmp/out" && says "$1"
}

hides()
{
	! shows "$1"
}

# top ARGUMENT...: starts the command in the shell
top()
{
	keys "clear; posixtrace top $*; echo status \$?" Enter
	until_true shows '^posixtrace top  [0-9.]+ '
}

./top_helper 0 &
busy=$!
tmux new-session -d -x 160 -y 24 'PS1="$ " sh'
started=$(tmux display-message -p '#{pid}')

top --interval=200ms --output="$tmp/window.log" $busy
until_true shows '^job +[1-9]' &&
	shows '^FROM BEGIN TO END' && shows 'press h for help$' &&
	until_true shows "^ +$busy  top_helper-$busy .* clock_nanosleep\("
result screen_shows_scopes_and_threads $?

keys t && until_true shows '^EVENT' && shows '^job_begin +[1-9]' && shows '^job_end +[1-9]' &&
	keys t && until_true shows '^FROM BEGIN TO END'
result key_shows_the_other_table $?

keys s && until_true shows 'sorted by mean$' && keys S && until_true shows 'threads sorted by time$' &&
	keys h && until_true shows '^q quit ' && keys i && until_true shows '^FROM BEGIN TO END +TOTAL' &&
	keys i && until_true shows '^FROM BEGIN TO END +NOW'
result keys_sort_and_choose_columns $?

keys p && until_true shows 'PAUSED' && cp "$tmp/out" "$tmp/paused" && keys t &&
	until_true shows '^job_begin' && keys t && until_true shows '^job ' &&
	cmp -s "$tmp/out" "$tmp/paused" && keys p && until_true hides 'PAUSED' &&
	until_true hides "$(sed -n '1s/ *processes.*//p' "$tmp/paused") "
result pause_stops_the_screen_but_not_the_keys $?

keys f 'size ==' Enter && until_true shows '^filter: column [0-9]+: ' && keys f C-u 'job_begin' Enter &&
	until_true shows 'only events that pass "job_begin" count from now on$' && keys t &&
	until_true shows '^job_begin +[1-9]' && hides '^job_end' && keys f C-u Enter &&
	until_true shows '^job_end +[1-9]' && keys t && until_true shows '^job +[1-9]'
result typed_filter_selects_events $?

: >"$tmp/window.1.log"
keys w && until_true shows "wrote the latest events to $tmp/window.log$" &&
	posixtrace stat "$tmp/window.log" >"$tmp/out" 2>"$tmp/err" && says '^job_begin +[1-9]' &&
	[ ! -s "$tmp/err" ] && keys w && until_true shows "wrote the latest events to $tmp/window.2.log$" &&
	[ ! -s "$tmp/window.1.log" ]
result key_writes_the_latest_events_to_a_log $?

tmux resize-window -x 60 -y 10 && until_true hides 'TOTAL' && shows '^job ' && shows "^ +$busy " &&
	tmux resize-window -x 20 -y 3 &&
	tmux resize-window -x 160 -y 24 && until_true shows ' TOTAL '
result screen_follows_the_size_of_the_terminal $?

kill $busy
tmux kill-server

finish
