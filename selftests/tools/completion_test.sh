#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the completion of the posixtrace command in bash. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
# shellcheck source=tools/completion/posixtrace.bash
. ./posixtrace.bash
begin 12
here=$PWD
cd "$tmp" || exit 1
touch trace.log other.log

# completes WORDS... -- WORD...: checks that bash offers exactly the words after "--", in any
# order, to complete the words before
completes()
{
	COMP_WORDS=()
	while [ "$1" != -- ]; do
		COMP_WORDS+=("$1")
		shift
	done
	shift
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_posixtrace
	printf '%s\n' "${COMPREPLY[@]}" | sort -u >"$tmp/out"
	printf '%s\n' "$@" | sort -u >"$tmp/err"
	cmp -s "$tmp/out" "$tmp/err"
}

complete -p posixtrace | grep -qx 'complete -F _posixtrace posixtrace'
result bash_knows_the_function $?

completes posixtrace li -- list live && completes posixtrace --v -- --version &&
	completes posixtrace nonsense -- ''
result commands_are_completed $?

mapfile -t commands < <(posixtrace --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
completes posixtrace '' -- "${commands[@]}" --help --version && grep -qx record "$tmp/out"
result all_commands_are_offered $?

completes posixtrace record --f -- --filter= --force && completes posixtrace record --mo -- --mode= --most= &&
	completes posixtrace load --k -- --kernel-classes= && completes posixtrace live --inh -- --inherit
result options_of_the_command_are_completed $?

completes posixtrace record --policy = -- flush loop until-full &&
	completes posixtrace record --order = r -- relaxed &&
	completes posixtrace record --log-policy = a -- append &&
	completes posixtrace load --trace-scope = '' -- 0 1 2 3
result policies_are_completed $?

mkfifo ready
"$here/steady_helper" ready &
steady=$!
read -r _ <ready
completes posixtrace live --pid '' -- $steady && completes posixtrace record -p '' -- $steady &&
	completes posixtrace live --pid = '' -- $steady
result processes_with_trace_points_are_offered $?

completes posixtrace list tr -- trace.log && completes posixtrace stat "$steady" -- $steady
result processes_and_logs_are_completed $?
kill $steady
wait

completes posixtrace record -o oth -- other.log && completes posixtrace record --output = t -- trace.log
result files_are_completed $?

completes posixtrace live mkfif -- mkfifo && completes posixtrace record -i mkfif -- mkfifo
result programs_are_completed $?

COMP_WORDS=(posixtrace record -- mkfif) COMP_CWORD=3
_posixtrace
[ "${COMPREPLY[*]}" = mkfifo ] && COMP_WORDS=(posixtrace record -- cat tr) COMP_CWORD=4 && _posixtrace &&
	[ "${COMPREPLY[*]}" = trace.log ]
result program_after_dashes_is_another_command $?

completes posixtrace load --d -- --device-mode= &&
	completes posixtrace load --l -- --log-timeout= &&
	completes posixtrace load --file = tr -- trace.log && completes posixtrace load tr -- '' && completes posixtrace unload '' -- ''
result commands_without_arguments_offer_nothing $?

completes posixtrace live --size tr -- '' && completes posixtrace live -s tr -- ''
result nothing_is_offered_for_numbers $?

finish
