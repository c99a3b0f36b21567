#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the first example of Documentation/kernel-events.rst, with sleep as its program, which has no
# trace points. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
doc=$PWD/kernel-events.rst
cd "$tmp" || exit 1

# the commands of the first literal block
awk '/::$/ { on = 1; next } on && /^[^ ]/ { exit } on && /^   / { print substr($0, 4) }' "$doc" |
	sed 's/PROGRAM$/sleep 0.2/' >commands
begin $(($(wc -l <commands) + 1))

[ "$(wc -l <commands)" -ge 5 ] && [ "$(head -n 1 commands)" = "posixtrace record --kernel=all -- sleep 0.2" ] &&
	! grep -v '^posixtrace ' commands
result example_begins_with_a_recording $?

# shown COMMAND: checks what the document says of the output
shown()
{
	case $1 in
	'posixtrace record '*) [ -s posixtrace.log ] ;;
	'posixtrace dump '*) says ' clock_nanosleep\(CLOCK_REALTIME, 0, ' ;;
	'posixtrace stat --states '*) says '^ +PROCESS .*RUNNABLE' && says ' sleep-[0-9]+ .* clock_nanosleep ' ;;
	'posixtrace stat '*) says '^SYSTEM CALL ' && says '^clock_nanosleep +1 ' ;;
	'posixtrace why '*) says ' WHAT$' && says ' blocked in clock_nanosleep' ;;
	*) false ;;
	esac
}

while read -r command; do
	eval "$command" >out 2>err && shown "$command"
	status=$?
	[ "$status" -eq 0 ] || sed 's/^/# /' out err
	result "$(echo "${command%% -- *}" | tr -c 'a-z\n' '_')" "$status"
done <commands
finish
