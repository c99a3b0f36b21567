#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Programs and libraries that are kept with a log (--keep-binaries). Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 12
log=$tmp/some.log
kept=$log.binaries
program=$tmp/program
mkfifo "$tmp/ready"
# Keep the FIFO open: if a read opened it while its last writer still had it open, the read could
# end before the next writer opens it.
exec 5<>"$tmp/ready"

# clean: no log, and an unchanged program
clean()
{
	rm -rf "$tmp"/some* "$program"
	cp steady_helper "$program"
}

# recording: records the program, which has recorded an event and waits for a signal
recording()
{
	clean
	start record --keep-binaries -o "$log" -- "$program" "$tmp/ready"
	read -r ready <&5
}

# has_copy FILE: is there a copy of it, by its build id?
has_copy()
{
	find "$kept" -type f -exec cmp -s "$1" {} \; -print | grep -q '/\.build-id/[0-9a-f][0-9a-f]/[0-9a-f]*$'
}

recording
kill -TERM "$started"
ended 5 && complains "^posixtrace: $kept: [0-9]+ programs and libraries, [0-9.]+ MB\$" && ! complains 'not kept' &&
	has_copy steady_helper && [ "$(find "$kept" -type f | wc -l)" -ge 2 ]
result programs_and_libraries_are_kept $?

[ -z "$(find "$kept" -type f ! -perm 600)" ] && [ -z "$(find "$kept" -type d ! -perm 700)" ] && [ "$ready" = ready ]
result copies_are_private $?

# After a crash of the machine, files may be empty.
find "$kept" -type f -exec truncate -s 0 {} \;
start record --force --keep-binaries -o "$log" -- "$program" "$tmp/ready"
read -r ready <&5
! has_copy steady_helper && kill -TERM "$started" && ended 5 && has_copy steady_helper
result copy_of_another_size_is_replaced $?

rm "$program"
run 0 dump --symbolize "$log" && says ' steady .* at (record|main)\+0x' && ! complains . &&
	mv "$kept" "$tmp/elsewhere" && run 0 dump --symbolize --symfs="$tmp/elsewhere" "$log" &&
	says ' steady .* at (record|main)\+0x' && run 0 dump --symbolize "$log" &&
	says ' steady .* at program\+0x' && complains "^posixtrace: $program: No such file or directory; "
result dump_finds_the_copies $?
rm -rf "$tmp/elsewhere"

recording
rm "$program" && cp ticks_helper "$program"
kill -TERM "$started"
ended 5 && complains "^posixtrace: $program: not kept: not the file that was traced: its build id differs\$" &&
	! has_copy steady_helper && ! has_copy ticks_helper
result another_file_at_the_path_is_not_kept $?

recording
rm "$program" && mkfifo "$program"
kill -TERM "$started"
ended 5 && complains "^posixtrace: $program: not kept: not a regular file\$"
result only_regular_files_are_opened $?

recording
rm "$program" && cp steady_helper "$tmp/other" && ln -s "$tmp/other" "$program"
kill -TERM "$started"
ended 5 && complains "^posixtrace: $program: not kept: not a regular file\$" && ! has_copy steady_helper
result links_are_not_followed $?

recording
cp steady_helper "$tmp/large" && truncate -s 1073741825 "$tmp/large" && mv "$tmp/large" "$program"
kill -TERM "$started"
ended 5 && complains "^posixtrace: $program: not kept: all files together would have more than 1 GiB\$" &&
	! has_copy steady_helper
result size_is_limited $?

is_complete()
{
	posixtrace list "$1" 2>/dev/null | grep -q '^status  *complete$'
}
recording
until_true [ -s "$log" ] && kill -USR1 "$started" && until_true is_complete "$log" &&
	until_true has_copy steady_helper && kill -TERM "$started"
ended 5 && rm "$program" && has_copy steady_helper && [ ! -e "$tmp/some.1.log.binaries" ] &&
	run 0 dump --symbolize "$log" && says ' steady .* at (record|main)\+0x' &&
	run 0 dump --symbolize "$tmp/some.1.log" && says ' steady .* at (record|main)\+0x'
result logs_of_a_rotation_share_the_copies $?

# The command is stopped, and gets two signals: one requests the next log, the other ends the
# recording. So the end arrives during the copying.
clean
"$program" stubborn "$tmp/ready" &
pid=$!
read -r ready <&5
start record --keep-binaries -o "$log" $pid
until_true blocks_signals && until_true [ -s "$log" ] && kill -INT $pid && read -r ready <&5 &&
	kill -STOP "$started" && kill -USR1 "$started" && kill -TERM "$started" && kill -CONT "$started" && ended 0 &&
	is_complete "$log" && is_complete "$tmp/some.1.log" &&
	complains "^posixtrace: $kept: interrupted: not all files of this log are kept\$"
result signal_ends_the_copying $?
kill -KILL $pid
wait $pid

clean
mkdir "$kept" && chmod 777 "$kept"
run 1 record --keep-binaries -o "$log" -- true &&
	complains "^posixtrace: $kept: not a directory that only this user can write to\$" && [ ! -e "$log" ] &&
	rmdir "$kept" && mkdir "$tmp/some" && ln -s some "$kept" && run 1 record --keep-binaries -o "$log" -- true &&
	complains "^posixtrace: $kept: Not a directory\$" && [ ! -e "$log" ] && rm "$kept" &&
	run 1 record --keep-binaries -o /dev/null -- true &&
	complains '^posixtrace: --keep-binaries: needs a log that is a regular file with a name$' &&
	! posixtrace record --keep-binaries -o - -- true >"$tmp/some.out" 2>"$tmp/err" &&
	complains '^posixtrace: --keep-binaries: needs a log that is a regular file with a name$'
result wrong_places_are_refused $?

clean
run 127 record --keep-binaries -o "$log" -- "$tmp/missing" && [ ! -e "$kept" ] && [ ! -e "$log" ]
result empty_directory_is_removed $?

finish
