#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the behaviour that all subcommands of the posixtrace command share. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 7

run 0 --help && says 'Usage: posixtrace' && says '^  live ' && says '^  record ' && says '^Exit status'
result help_lists_the_commands $?

run 0 --version && says '^posixtrace [0-9]+\.[0-9]+, libposixtrace [0-9]'
result version_is_printed $?

run 2 && complains Usage && run 2 nonsense && complains '^posixtrace: unknown command "nonsense"$'
result unknown_command_is_a_usage_error $?

# helps COMMAND: checks that the command has a help, and refers to it after an unknown option
helps()
{
	run 0 "$1" --help && says "^Usage: posixtrace $1" && says '^Exit status: 0' &&
		run 2 "$1" --nonsense && complains '^posixtrace: --nonsense: no such option$' &&
		complains "^posixtrace: see \"posixtrace $1 --help\"$"
}

helped=0
for command in $(posixtrace --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	helps "$command" || break
	helped=$((helped + 1))
done
[ "$helped" -ge 6 ] && [ "$helped" -eq "$(posixtrace --help | grep -c '^  [a-z]')" ]
result each_command_has_help_and_refuses_unknown_options $?

# fails_on_output MESSAGE ARGUMENT...: checks that the command reports a failed write to standard
# output
fails_on_output()
{
	wanted=$1
	shift
	posixtrace "$@" 2>"$tmp/err"
	status=$?
	echo "posixtrace: standard output: $wanted" >"$tmp/wanted"
	if [ "$status" -ne 1 ] ||
		! grep -v '^posixtrace: [0-9]* events' "$tmp/err" | cmp - "$tmp/wanted"; then
		echo "# $*: status $status" >&2
		return 1
	fi
}

# all_fail_on_output MESSAGE
all_fail_on_output()
{
	fails_on_output "$1" --help && fails_on_output "$1" --version &&
		fails_on_output "$1" list --help && fails_on_output "$1" list &&
		fails_on_output "$1" status && fails_on_output "$1" list "$tmp/log" &&
		fails_on_output "$1" list $$ && fails_on_output "$1" dump "$tmp/log" &&
		fails_on_output "$1" stat "$tmp/log" && fails_on_output "$1" export -O chrome "$tmp/log" &&
		fails_on_output "$1" stat --seconds=1 $$ &&
		fails_on_output "$1" live -- ./ticks_helper 1 0
}

posixtrace record -o "$tmp/log" -- ./ticks_helper 3 0 2>"$tmp/err" &&
	all_fail_on_output 'No space left on device' >/dev/full
result output_that_cannot_be_written_is_a_failure $?

# With standard output closed, the log must not be opened as descriptor 1.
cp "$tmp/log" "$tmp/same"
all_fail_on_output 'Bad file descriptor' >&- && cmp "$tmp/log" "$tmp/same" &&
	posixtrace record --force -o "$tmp/log" -- ./ticks_helper 3 0 2>"$tmp/err" >&- &&
	run 0 list "$tmp/log" && says '^status +complete$'
result closed_output_is_a_failure $?

# not /proc/self/fd: the shell would open that with another descriptor
posixtrace live -- sh -c '[ ! -e /proc/$$/fd/0 ] && [ -e /proc/$$/fd/1 ]' <&- >"$tmp/out" 2>"$tmp/err"
result closed_descriptors_are_closed_in_the_program_too $?

finish
