#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The posixtrace command, whatever its subcommand. Speaks TAP.

# shellcheck source=selftests/tools/tap.sh
. ./tap.sh
begin 4

run 0 --help && says 'Usage: posixtrace' && says '^  live ' && says '^  record ' && says '^Exit status'
result help_lists_the_commands $?

run 0 --version && says '^posixtrace [0-9]+\.[0-9]+, libposixtrace [0-9]'
result version_is_told $?

run 2 && complains Usage && run 2 nonsense && complains 'no command "nonsense"'
result unknown_command_is_a_wrong_call $?

# helps COMMAND
helps()
{
	run 0 "$1" --help && says "^Usage: posixtrace $1" && says '^Exit status: 0' &&
		run 2 "$1" --nonsense && complains "^Usage: posixtrace $1"
}

helped=0
for command in $(posixtrace --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	helps "$command" || break
	helped=$((helped + 1))
done
[ "$helped" -ge 6 ] && [ "$helped" -eq "$(posixtrace --help | grep -c '^  [a-z]')" ]
result each_command_has_help_and_refuses_unknown_options $?

finish
