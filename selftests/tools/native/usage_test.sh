#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that the posixtrace command refuses options that would have no effect or an unintended
# effect.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# refuses MESSAGE ARGUMENT...: posixtrace prints only MESSAGE, and fails with a usage error
refuses()
{
	local message=$1
	shift
	run 2 posixtrace "$@"
	complains "posixtrace: $message"
	[ ! -s out ]
}

test_export_limits_the_events_of_a_page_only()
{
	local format
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' end | write_log log
	for format in ctf chrome perfetto; do
		refuses '--max-events: needs --format=html' export -m 5 -O "$format" -o new log
		[ ! -e new ]
	done
	run 0 posixtrace export -O html -m 5 -o new log
}

test_export_compresses_what_viewers_read_only()
{
	local format
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' end | write_log log
	for format in ctf html; do
		refuses "--compress: needs --format=perfetto or chrome: viewers of $format do not read it" \
			export --compress -O "$format" -o new log
		[ ! -e new ]
	done
}

test_export_creates_files_for_the_user_only()
{
	local format
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' end | write_log log
	umask 0
	for format in chrome perfetto html; do
		run 0 posixtrace export -O "$format" -o "new.$format" log
		[ "$(stat -c %a "new.$format")" = 600 ]
	done
	run 0 posixtrace export -O ctf -o directory log
	[ "$(stat -c %a directory)" = 700 ]
	[ -s directory/metadata ]
	[ -z "$(find directory -type f ! -perm 600)" ]
}

# accepts ARGUMENT...: checks that the arguments are valid, though the process does not exist
accepts()
{
	run 1 posixtrace "$@" --pid=4194303
}

test_exclude_of_system_events_of_the_standard()
{
	local name command
	for name in posix_trace_start posix_trace_filter 'posix_trace_*' 'posix_trace_st?p' \
		'posix_trace_[f]lush_*'; do
		for command in live record; do
			refuses "$name: system events of the standard are always recorded" \
				"$command" -x "idle,$name" -- true
		done
	done
	# These names also match other event types, or only other types.
	for name in '*' 'p*' '*_start' 'posix_trace_unnamed_userevent' 'posix_trace_mine*'; do
		accepts live -x "$name"
		accepts record -o new -x "$name"
		[ ! -e new ]
	done
}

test_a_letter_means_one_thing_in_all_commands()
{
	local command
	for command in $(posixtrace --list-options | awk '$1 == "command" { print $2 }'); do
		posixtrace "$command" --list-options
	done | awk -F '\t' '$1 == "option" && $2 != "-" { print $2, $3 }' | sort -u >letters
	[ "$(wc -l <letters)" -gt 15 ]
	[ -z "$(cut -d ' ' -f 1 letters | uniq -d)" ]
	# and the letter must be in the table in the sources
	while read -r letter name; do
		grep -qE "^ \*.*\s-$letter --$name(\s|,|\$)" "$native/../../../tools/util/options.h" ||
			{ echo "-$letter --$name: not in the table"; return 1; }
	done <letters
}

test_wrong_options_are_told()
{
	says()
	{
		run 2 posixtrace "${@:2}"
		complains "posixtrace: $1" "posixtrace: see \"posixtrace $2 --help\""
	}
	says '--nonsense: no such option' dump --nonsense=3 log
	says '-Z: no such option' stat -aZ log
	says '--f: ambiguous: --follow or --full or --format-file or --filter or --from' dump --f log
	says '--full: takes no value (got "yes")' dump --full=yes log
	says '--output: needs a value, LOG' record -o
	says '--size: needs a value, BYTES' live --size
	run 0 posixtrace record --pol loop --help
	run 0 posixtrace record -h
	run 1 posixtrace dump --fol nowhere
	complains 'posixtrace: nowhere: No such file or directory'
}

test_list_all_is_about_event_types()
{
	refuses '--all: needs a PID or a LOG' list --all
	refuses '--all: needs a PID or a LOG' list -a "$(command -v posixtrace)"
	printf '%s\n' 'name 65 tick' end | write_log log
	run 0 posixtrace list -a log
	grep -q '^  *2  posix_trace_start$' out
	run 1 posixtrace list -a missing
	complains 'posixtrace: missing: No such file or directory'
}

test_sizes_are_at_least_1()
{
	refuses '--size: must be at least 1 (got "0")' live --size=0 -- true
	refuses '--size: must be at least 1 (got "0K")' record -s 0K -- true
	refuses '--log-size: must be at least 1 (got "0")' record --log-policy=loop --log-size=0 -- true
	refuses '--log-size: must be at least 1 (got "0")' record --log-size=0 -- true
	[ ! -e posixtrace.log ]
	accepts live --size=1 --data-size=0
}

# refuses_output MESSAGE NAME COMMAND: checks that the log is neither created nor replaced
refuses_output()
{
	local status=0
	bash -c "$3" || status=$?
	[ "$status" -eq 1 ]
	grep -qxF "posixtrace: $2: $1" err || { cat err; return 1; }
	[ "$(echo "$2".*)" = "$2.*" ]
}

test_record_refuses_the_names_of_its_descriptors()
{
	local force name
	ln -s /proc/self/fd/1 link
	echo precious >log
	for force in '' --force; do
		for name in link /dev/stdout /proc/self/fd/1; do
			refuses_output 'is standard output: use -o - to write the log there' "$name" \
				"posixtrace record $force -o $name -- echo noise >out 2>err"
			[ ! -s out ]
			refuses_output 'is standard output: use -o - to write the log there' "$name" \
				"set -o pipefail
				posixtrace record $force -o $name -- echo noise 2>err | cat >out"
			[ ! -s out ]
		done
		refuses_output 'is standard output: use -o - to write the log there' log \
			"posixtrace record $force -o log -- true >>log 2>err"
		[ "$(cat log)" = precious ]
		refuses_output 'is standard error: use another --output' log \
			"posixtrace record $force -o log -- true 2>>log; status=\$?
			cp log err; echo precious >log; exit \$status"
		refuses_output 'is standard error: use another --output' /dev/stdout \
			"posixtrace record $force -o /dev/stdout -- true >err 2>&1"
	done
	[ -L link ]
	[ -L /dev/stdout ]
	for name in /dev/stdin /proc/self/fd/0 log; do
		for force in '' --force; do
			refuses_output 'is standard input: use another --output' "$name" \
				"posixtrace record $force -o $name -- true <log >out 2>err"
		done
	done
	[ -L /dev/stdin ]
	# Devices are accepted as output, except terminals, because the log would be shown there.
	posixtrace record -o /dev/null --pid=4194303 >/dev/null 2>err || :
	lacks 'is standard' err
	script -qec 'posixtrace record -o /dev/stdout -- true 2>err' /dev/null </dev/null >out || :
	complains 'posixtrace: /dev/stdout: is standard output: use -o - to write the log there'
}

# on_terminal NAME=VALUE... COMMAND: prints what a terminal would show, with these environment
# variables
on_terminal()
{
	env TERM=xterm "$@" script -qec 'posixtrace dump log; echo "status $?"' /dev/null </dev/null >out
}

test_long_output_is_paged_on_a_terminal_only()
{
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' end | write_log log
	cat >page <<-'END'
		#!/bin/sh
		echo "paged by $1, LESS=$LESS"
		cat
	END
	chmod +x page
	export PATH=$PWD:$PATH
	on_terminal PAGER='page one' LESS=
	grep -q 'paged by one, LESS=' out
	grep -q $'\e\\[36mtick ' out
	grep -q 'status 0' out
	unset LESS
	on_terminal PAGER='page one' POSIXTRACE_PAGER='page two'
	grep -q 'paged by two, LESS=FRX' out
	# the pager also gets messages, and the status is that of the command
	head -c 600 log >whole && mv whole log
	on_terminal PAGER='page one'
	sed -n '/paged/,$p' out | grep -q 'posixtrace: log: the log has no end'
	on_terminal PAGER=missing
	grep -q 'posixtrace: PAGER: missing: no such program' out
	on_terminal PAGER=cat
	lacks paged out
	on_terminal PAGER=
	lacks paged out
	# the command must end if the pager ends without reading
	make_log log 200000 2 >/dev/null
	on_terminal PAGER=true
	grep -q 'status 141' out
	# no terminal
	export PAGER='page one'
	run 0 posixtrace dump log
	lacks paged out
}

# The library, which is linked into the command, would refuse the value.
test_flight_recorder_is_not_for_the_command()
{
	POSIXTRACE_RECORD=%x run 0 posixtrace --version
	[ ! -s err ]
	[ -s out ]
}

run_cases
