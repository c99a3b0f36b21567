#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the error messages of the posixtrace command: file names must be printable, and the message
# must say what to do.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# A file name with an escape sequence, a newline, a backslash and invalid UTF-8, and how it must be
# printed.
evil=$'a\e[31m\n\\b\xff'
shown='a\x1b[31m\n\b\xff'

tick_log()
{
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000 text=a' end | write_log "$1"
}

# says STATUS MESSAGE ARGUMENT...: posixtrace prints this message only
says()
{
	local status=$1 message=$2
	shift 2
	run "$status" posixtrace "$@"
	complains "posixtrace: $message"
}

test_names_of_files_are_escaped()
{
	local command format
	for command in dump stat list; do
		says 1 "$shown: No such file or directory" "$command" "$evil"
	done
	says 1 "$shown: No such file or directory" export -O chrome "$evil"
	says 1 "--format-file: $shown: No such file or directory" dump --format-file="$evil" log
	run 2 posixtrace "$evil"
	grep -qxF "posixtrace: unknown command \"$shown\"" err

	echo garbage >"$evil"
	says 1 "$shown: not a trace log, or its first 512 bytes are missing or damaged" dump "$evil"
	says 1 "$shown: the file exists; use --force to replace it, or another --output" \
		record -o "$evil" -- true
	tick_log log
	for format in chrome ctf html perfetto; do
		run 1 posixtrace export -O "$format" -o "$evil" log
		lacks '[^ -~]' err
		grep -qF "$shown: " err
	done
	says 1 "$shown:2: expected \"{\" (got \"end of file\")" dump --format-file="$evil" log

	head -c 600 log >"$evil"
	run 0 posixtrace dump "$evil"
	complains "posixtrace: $shown: the log has no end: it is still being written, or was cut short"
	printf '\177ELF' >"$evil"
	says 1 "$shown: the ELF file is damaged" list "$evil"
}

# wrong COMMAND MESSAGE ARGUMENT...: expects a usage error with this message and a pointer to the
# help
wrong()
{
	local command=$1 message=$2
	shift 2
	run 2 posixtrace "$command" "$@"
	complains "posixtrace: $message" "posixtrace: see \"posixtrace $command --help\""
}

# wrong_value COMMAND MESSAGE ARGUMENT...: like wrong, but without the pointer
wrong_value()
{
	local command=$1 message=$2
	shift 2
	run 2 posixtrace "$command" "$@"
	complains "posixtrace: $message"
}

test_a_missing_command_is_told()
{
	run 2 posixtrace
	[ "$(head -n 1 err)" = 'posixtrace: needs a COMMAND' ]
	run 2 posixtrace --nonsense
	[ "$(head -n 1 err)" = 'posixtrace: --nonsense: no such option' ]
	[ ! -s out ]
}

test_the_default_log_is_the_one_of_record()
{
	local command
	for command in dump stat 'export -O chrome' 'why --scope=request'; do
		# shellcheck disable=SC2086	# words
		run 1 posixtrace $command
		complains "posixtrace: ${command%% *}: no posixtrace.log in this directory: record one, or name a LOG"
	done
	tick_log posixtrace.log
	for command in dump stat 'export -O chrome'; do
		# shellcheck disable=SC2086
		run 0 posixtrace $command
		grep -q tick out
		complains
	done
	run 1 posixtrace why
	grep -q '^posixtrace: posixtrace.log: lacks the class sched' err
}

# The messages if no event is selected, for each criterion and command.
test_empty_selections_are_told()
{
	local args
	printf '%s\n' 'cpus 2' 'name 65 tick' 'name 66 tock' 'block 0' 'event 65 1000 pid=7 tid=8' 'block 1' \
		'event 66 2000 pid=9 tid=10' end | write_log log
	for args in dump stat 'export -O chrome'; do
		# shellcheck disable=SC2086	# words
		{
		says 1 '--pid: log has no such events: posixtrace stat --by=process lists processes' \
			$args -p 70 log
		says 1 '--tid: log has no such events: posixtrace stat --by=thread lists threads' \
			$args -t 80 log
		says 1 '--tid: log has no such events: posixtrace stat --by=thread lists threads' \
			$args -p 7 -t 10 log
		says 1 '--cpu: log has no such events: posixtrace dump shows the processors' $args -C 2-3 log
		says 1 '--exclude: leaves no event of log' $args -x 'tick,tock' log
		says 1 '--filter: log has no such events: posixtrace list log shows names and fields' \
			$args -f nonsense log
		says 1 '--filter: log has no such events: posixtrace list log shows names and fields' \
			$args -p 7 -f tock log
		run 0 posixtrace $args -p 7,70 -t 8 -C 0,5 -f tick log
		grep -q tick out
		lacks tock out
		run 0 posixtrace $args -C 1-3 log
		grep -q tock out
		lacks tick out
		}
	done
}

test_a_log_without_events_is_told()
{
	printf '%s\n' 'name 65 tick' end | write_log log
	local args
	for args in dump stat 'export -O chrome'; do
		# shellcheck disable=SC2086	# words
		run 0 posixtrace $args log
		complains 'posixtrace: log: no events: the program has no trace points, or did not reach one' \
			'posixtrace: posixtrace list PROGRAM shows its points; record --kernel=sched,process needs none'
	done
}

test_wrong_arguments_are_told()
{
	local command
	tick_log log
	wrong export '--format: required: ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet' log
	wrong dump '--follow: can follow one LOG, not 3' --follow a b c
	wrong stat 'stat: takes LOGs or one PID (got PID "1" of 2)' log 1
	wrong stat '--kernel: needs a PID; a log has what was recorded' -k all log
	wrong stat '--kernel: needs a PID; a log has what was recorded' --states -k sched log
	wrong stat '--by: has no effect on --states' --by=op --states log
	wrong stat '--seconds: needs a PID (got "log")' --seconds=1 log
	wrong list 'list: takes one PID, PROGRAM or LOG, not 2' log log
	wrong snapshot 'snapshot: takes one PID or NAME, not 0'
	wrong snapshot 'snapshot: takes one PID or NAME, not 2' 1 2
	wrong status 'status: takes no argument (got "x")' x
	wrong unload 'unload: takes no argument (got "x")' x
	wrong load 'load: takes no argument (got "x"); use --file' x
	for command in live record; do
		wrong "$command" "$command: needs a PID, or a PROGRAM to start"
		wrong_value "$command" '--pid: an empty name (got "1,,7")' -p 1,,7
		wrong_value "$command" '--user: no such user (got "nobody there"): give a user name or a user id' --user='nobody there'
		wrong_value "$command" '--cgroup: must be a number from 1 to 4194304 (got "0")' --cgroup=0
		wrong "$command" "$command: traces running processes or the program \"ls\", not both" -p 1 -- ls
		wrong "$command" "$command: traces running processes or the program \"ls\", not both" --pid=7 ls
		wrong "$command" "$command: traces running processes or the program \"ls\", not both" --user=root ls
		wrong "$command" "$command: --children: a new program has no children: see --inherit" --children ls
		wrong_value "$command" '--wait: must be the name of a program, without directories (got "")' --wait=
		wrong_value "$command" '--wait: must be the name of a program, without directories (got "bin/ls")' --wait=bin/ls
		while read -r selected arguments; do
			# shellcheck disable=SC2086 # several words
			wrong "$command" "$command: --wait: traces one program that starts later: not with ${selected//_/ }" \
				--wait=ls $arguments
		done <<-'END'
			--pid_or_a_PID 7
			--pid_or_a_PID --pid=7
			--pid --pid=cat
			--user --user=root
			--cgroup --cgroup=/some
			--children --children
			a_PID_or_PROGRAM -- ls
			a_PID_or_PROGRAM 7 8
		END
	done
	[ ! -e posixtrace.log ]
}

# The commands in the documents must not be usage errors. They may only fail because there is no
# module or log.
test_commands_of_the_documents_are_right()
{
	local line count=0
	[ ! -e /dev/posixtrace ] || return 0
	while IFS= read -r line; do
		# Take the line up to a pipe, a redirection or a comment that is not in quotes.
		python3 - "$line" >arguments <<-'END'
			import shlex, sys
			words = shlex.shlex(sys.argv[1], posix=True, punctuation_chars="|<>;")
			words.whitespace_split = True
			words.commenters = "#"
			for word in words:
			    if word[0] in "|<>;":
			        break
			    sys.stdout.write(word + "\0")
		END
		xargs -0 sh -c '"$@" >out 2>err; echo $? >status' sh <arguments
		[ "$(cat status)" = 1 ] || { echo "$line: status $(cat status)"; cat err; return 1; }
		count=$((count + 1))
	done < <(grep -rhE '^( {3}| {4}|\$ )(posixtrace (dump|export|list|live|record|stat) )|^ {3}posixtrace dump$' \
		"$native/../../../Documentation" "$native/../../../README.md" | sed -E 's/^[ $]+//')
	[ "$count" -gt 20 ]
}

run_cases
