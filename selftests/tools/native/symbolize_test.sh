#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace dump --symbolize" with logs that contain addresses of real programs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# Keep debuginfod servers from providing files that must be missing.
unset DEBUGINFOD_URLS

# build_id FILE: prints the build id of a file, or "-"
build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p' | grep . || echo -
}

# build_callers [OPTION]...: compiles the program and its library in src/
build_callers()
{
	mkdir -p src
	cp "$native"/callers.[ch] src/
	gcc -g -O0 "$@" -fPIC -shared -DLIBRARY -o libcallers.so src/callers.c
	gcc -g -O0 "$@" -rdynamic -o callers src/callers.c ./libcallers.so
}

# script: prints the script of a log of the program
script()
{
	./callers "$PWD/callers=$(build_id callers)" "$PWD/libcallers.so=$(build_id libcallers.so)"
}

# locations: dumps the file log; prints "FOUND WANTED" for each event, both as function#file:line
locations()
{
	run 0 posixtrace dump --json --symbolize log
	jq -r '"\(.function // "-")#\(.file // "-" | sub(".*/src/"; "src/")):\(.line // "-") \(.text)"' out
}

# all_found: checks that all locations in the file log are the ones that the program reported
all_found()
{
	locations >found
	cat found
	[ "$(wc -l <found)" -eq 4 ]
	[ -z "$(awk '$1 != $2' found)" ]
	complains
}

test_function_and_line_of_a_position_independent_program_and_its_library()
{
	build_callers -fPIE
	readelf -h callers | grep -q 'Type:.*DYN'
	script | write_log log
	all_found
	sed 's/#.*//' found | prints /dev/fd/3 3<<-'END'
		simple
		has_inlined
		library_event
		ends_with_a_call
	END
}

test_function_and_line_of_a_program_at_fixed_addresses()
{
	build_callers -fPIE
	gcc -g -O0 -fno-pie -no-pie -rdynamic -o callers src/callers.c ./libcallers.so
	readelf -h callers | grep -q 'Type:.*EXEC'
	script | write_log log
	all_found
}

# clang does not list the address ranges of units (.debug_aranges). Lines must be found without the
# list.
test_file_without_aranges_has_lines()
{
	build_callers -ffunction-sections
	for file in callers libcallers.so; do
		objcopy --remove-section .debug_aranges $file
		lacks debug_aranges <(readelf -SW $file)
	done
	script | write_log log
	all_found
}

test_text_ends_with_the_location()
{
	build_callers
	script | write_log log
	line=$(grep -n 'record(__func__, __LINE__)' src/callers.c | sed -n '2s/:.*//p')
	run 0 posixtrace dump --symbolize log
	cat out
	grep -qE " call +\"simple#src/callers\.c:$line\"  at simple\+0x[0-9a-f]+ \(src/callers\.c:$line\)\$" out
	# the offset of the address in the function
	offset=$(sed -n 's/.* at simple+\(0x[0-9a-f]*\) .*/\1/p' out)
	posixtrace dump --json --symbolize log | jq -r 'select(.function == "simple").module_offset' >offset
	begin=$(nm callers | awk '$3 == "simple" { print "0x" $1 }')
	[ $((begin + offset)) -eq $(($(cat offset))) ]
}

test_without_the_option_nothing_changes()
{
	build_callers
	script >lines
	write_log log <lines
	grep -v '^mapping' lines | write_log plain
	for form in '' --json; do
		# shellcheck disable=SC2086 # perhaps no word
		run 0 posixtrace dump $form plain
		mv out wanted
		# shellcheck disable=SC2086
		run 0 posixtrace dump $form log
		diff wanted out
		# shellcheck disable=SC2086
		run 0 posixtrace dump --symbolize $form plain
		diff wanted out
		complains
	done
}

test_file_without_build_id_is_used()
{
	build_callers -Wl,--build-id=none
	[ "$(build_id callers)" = - ]
	script | write_log log
	all_found
}

test_file_with_symbols_only_has_functions_without_lines()
{
	build_callers
	strip --strip-debug callers libcallers.so
	script | write_log log
	locations | sed 's/#src.*//' >found
	prints found <<-'END'
		simple#-:- simple
		has_inlined#-:- has_inlined
		library_event#-:- library_event
		ends_with_a_call#-:- ends_with_a_call
	END
	posixtrace dump --symbolize log | grep -qE '  at simple\+0x[0-9a-f]+$'
}

test_stripped_file_has_offsets()
{
	build_callers
	script | write_log log
	cp callers whole
	strip callers libcallers.so
	run 0 posixtrace dump --symbolize log
	cat out
	complains
	offset=$(sed -n 's/.*simple#.*  at callers+\(0x[0-9a-f]*\)$/\1/p' out)
	addr2line -f -e whole "$(printf '0x%x' $((offset - 1)))" | head -n 1 | grep -qx simple
	# the stripped file still has a dynamic symbol
	grep -qE '  at library_event\+0x[0-9a-f]+$' out
}

test_debug_information_beside_the_stripped_file()
{
	build_callers
	script | write_log log
	mkdir .debug
	for file in callers libcallers.so; do
		objcopy --only-keep-debug $file .debug/$file.debug
		strip $file
		objcopy --add-gnu-debuglink=.debug/$file.debug $file
	done
	all_found
}

# in_debug_directory COMMAND...: runs the command with debug/ mounted at /usr/lib/debug
in_debug_directory()
{
	# shellcheck disable=SC2016 # for the shell in there
	unshare -rm sh -c 'mount --bind debug /usr/lib/debug && exec "$@"' sh "$@"
}

# at_build_id FILE SUFFIX: prints the path of FILE in a directory of debug information
at_build_id()
{
	local id
	id=$(build_id "$1")
	echo "debug/.build-id/${id:0:2}/${id:2}$2"
}

test_debug_information_by_build_id()
{
	build_callers
	script | write_log log
	for file in callers libcallers.so; do
		debug=$(at_build_id $file .debug)
		mkdir -p "${debug%/*}"
		objcopy --only-keep-debug $file "$debug"
		strip $file
	done
	run 0 in_debug_directory posixtrace dump --json --symbolize log
	[ "$(jq -r '. as $event | select(.text | endswith(":\($event.line)")).function' out | wc -l)" -eq 4 ]
}

test_file_that_is_gone_is_found_by_build_id()
{
	build_callers
	script | write_log log
	mkdir -p "$(dirname "$(at_build_id callers '')")"
	cp callers "$(at_build_id callers '')"
	# the path now has a different program
	gcc -x c -o callers - <<<'int main(void) { return 0; }'
	run 0 in_debug_directory posixtrace dump --json --symbolize log
	jq -r '. as $event | select(.text | endswith(":\($event.line)")).function' out >functions
	[ "$(wc -l <functions)" -eq 4 ]
	complains
}

# The files of another machine are copied into a directory. Links in it must be followed within the
# directory.
test_files_below_a_directory_are_used()
{
	local here=$PWD
	build_callers
	script | write_log log
	mkdir -p "root/$here" "root/else where"
	mv libcallers.so "root/$here/"
	mv callers "root/else where/callers"
	ln -s '/else where/callers' "root/$here/callers"
	run 0 posixtrace dump --json --symbolize --symfs=root log
	jq -r '"\(.function // "-")#\(.file // "-" | sub(".*/src/"; "src/")):\(.line // "-") \(.text)"' out >found
	cat found
	[ "$(wc -l <found)" -eq 4 ]
	[ -z "$(awk '$1 != $2' found)" ]
	complains
	# No file outside of the directory may be used.
	mkdir empty
	cp "root/else where/callers" "root/$here/libcallers.so" .
	run 0 posixtrace dump --symbolize --symfs=empty log
	grep -qxF "posixtrace: $here/callers: No such file or directory; its functions and lines are not shown" err
	lacks '(src/callers.c' out
}

# The debug information of a stripped file is also searched in the directory.
test_debug_information_below_a_directory_is_used()
{
	local here=$PWD id
	build_callers
	script | write_log log
	id=$(build_id callers)
	mkdir -p "root/$here" "root/usr/lib/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug callers "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	strip callers
	mv callers libcallers.so "root/$here/"
	run 0 posixtrace dump --symbolize --symfs=root log
	cat out
	[ "$(grep -c 'src/callers.c:[0-9]*)$' out)" -eq 4 ]
}

# keep LOG: moves the program and its library to copies beside the log
keep()
{
	local file id
	mkdir -p "$1.binaries"
	chmod 755 "$1.binaries"
	for file in callers libcallers.so; do
		id=$(build_id $file)
		mkdir -p "$1.binaries/.build-id/${id:0:2}"
		mv $file "$1.binaries/.build-id/${id:0:2}/${id:2}"
	done
}

# functions_of LOG [OPTION]...: all functions are found, without a message
functions_of()
{
	run 0 posixtrace dump --json --symbolize "${@:2}" "$1"
	complains
	[ "$(jq -r '. as $event | select(.text | endswith(":\($event.line)")).function' out | wc -l)" -eq 4 ]
}

test_copies_beside_the_log_are_used()
{
	local log
	build_callers
	script | write_log log
	cp log log.12
	cp log log.log
	cp log log.2.log
	keep log
	functions_of log
	functions_of log.12
	functions_of ./log
	mv log.binaries else.where
	functions_of log --symfs=else.where
	for log in log log.12 log.log log.2.log; do
		run 0 posixtrace dump --symbolize "$log"
		grep -qF "posixtrace: $PWD/callers: No such file or directory; its functions and lines are not shown" err
	done
	mv else.where log.log.binaries
	functions_of log.log
	functions_of log.2.log
	run 0 posixtrace dump --symbolize - <log.log
	grep -qF "callers: No such file or directory" err
}

test_copies_that_others_can_change_are_not_used()
{
	local mode
	build_callers
	script | write_log log
	keep log
	functions_of log
	for mode in 775 757; do
		chmod "$mode" log.binaries
		run 0 posixtrace dump --symbolize log
		grep -qF "callers: No such file or directory" err
	done
	chmod 755 log.binaries
	mv log.binaries real
	ln -s real log.binaries
	run 0 posixtrace dump --symbolize log
	grep -qF "callers: No such file or directory" err
	# A copy that is another file.
	rm log.binaries
	mv real log.binaries
	find log.binaries -type f -exec cp /bin/true {} \;
	run 0 posixtrace dump --symbolize log
	grep -qF "callers: No such file or directory" err
}

test_directory_of_files_must_exist()
{
	build_callers
	script | write_log log
	run 1 posixtrace dump --symbolize --symfs=missing log
	complains 'posixtrace: missing: No such file or directory'
	run 2 posixtrace dump --symfs=. log
	grep -q '^posixtrace: --symfs: needs --symbolize$' err
}

test_file_with_another_build_id_is_not_used()
{
	build_callers
	script | write_log log
	sed -i 's/simple/sample/g' src/callers.c
	gcc -g -O0 -rdynamic -o callers src/callers.c ./libcallers.so
	run 0 posixtrace dump --symbolize log
	cat out
	complains "posixtrace: $PWD/callers: not the file that was traced: its build id differs; its functions and lines are not shown"
	[ "$(grep -c '  at callers+0x[0-9a-f]*$' out)" -eq 3 ]
	grep -q '  at library_event+0x[0-9a-f]* (src/callers.c:[0-9]*)$' out
	lacks sample out
	# the same without a build id
	gcc -g -O0 -Wl,--build-id=none -rdynamic -o callers src/callers.c ./libcallers.so
	run 0 posixtrace dump --symbolize log
	lacks sample out
}

test_files_that_are_no_programs_are_not_read()
{
	local i=0 path
	mkfifo fifo
	: >empty
	echo text >text
	printf '\177ELF\2\1\1' >elf
	ln -s fifo link
	{
		echo 'name 65 call'
		for path in "$PWD/fifo" "$PWD/link" "$PWD/empty" "$PWD/text" "$PWD/elf" "$PWD" \
			"$PWD/missing" "$PWD/bad\\x1b[2J\\x0a" /dev/zero /proc/kmsg relative ''; do
			i=$((i + 1))
			echo "mapping 100 0 $((i * 0x1000)) 0x1000 0x500 - $path"
		done
		echo 'block 0'
		for ((; i; i--)); do
			echo "event 65 1700000000000001000 pid=100 address=$((i * 0x1000 + 0x10))"
		done
	} | write_log log
	cp /bin/true relative
	run 0 timeout 20 posixtrace dump --symbolize log
	sed 's/.*  at //' out | grep -v ' call$' >ends
	cat >wanted <<-END
		bad\\x1b[2J\\n+0x510
		empty+0x510
		fifo+0x510
		elf+0x510
		kmsg+0x510
		link+0x510
		missing+0x510
		relative+0x510
		text+0x510
		zero+0x510
		$(basename "$PWD")+0x510
	END
	diff <(sort wanted) <(sort ends)
	[ "$(grep -c 'fifo: not a regular file; its functions and lines are not shown$' err)" -eq 1 ]
	[ "$(grep -c 'link: not a regular file; ' err)" -eq 1 ]
	[ "$(grep -c '/dev/zero: not a regular file; ' err)" -eq 1 ]
	[ "$(grep -c '/missing: No such file or directory; ' err)" -eq 1 ]
	[ "$(grep -c '/text: not a program or library; ' err)" -eq 1 ]
	[ "$(grep -cF '/bad\x1b[2J\n: No such file or directory; ' err)" -eq 1 ]
	lacks $'\x1b' err
	lacks $'\x1b' out
}

test_mapping_of_the_time_counts()
{
	build_callers
	# A later mapping, which is older than the last event, has a different file at the same
	# addresses.
	script >lines
	{
		grep '^mapping ' lines
		sed -n 's,^mapping 100 1700000000000000000 \(.*\) [^ ]* /.*,mapping 100 1700000000000003500 \1 - /other,p' lines
		grep -v '^mapping ' lines
	} | write_log log
	run 0 posixtrace dump --symbolize log
	cat out
	sed 's/.*  at //; s/[+].*//' out | prints /dev/fd/3 3<<-'END'
		simple
		has_inlined
		library_event
		other
	END
}

test_names_of_files_and_functions_are_escaped()
{
	local name=$'f\e[2J'
	mkdir $'a\eb'
	cat >$'a\eb/x\ny.s' <<-END
		.globl "$name"
		.type "$name", @function
		"$name": nop
		nop
		.size "$name", 2
	END
	gcc -g -shared -nostdlib -o lib.so $'a\eb/x\ny.s'
	offset=$((0x$(nm lib.so | sed -n 's/^\([0-9a-f]*\) T .*/\1/p')))
	write_log log <<-END
		name 65 call
		mapping 100 0 0x100000 0x10000 0 - $PWD/lib.so
		block 0
		event 65 1700000000000001000 pid=100 address=$((0x100000 + offset + 1))
		end
	END
	run 0 posixtrace dump --symbolize log
	cat -v out
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	grep -qF '  at f\x1b[2J+0x1' out
	grep -qF '(a\x1b' out
	[ "$(wc -l <out)" -eq 1 ]
	run 0 posixtrace dump --json --symbolize log
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	jq -e '.function == "f\\x1b[2J"' out
}

# There are more addresses than the command caches. Each must have the right name, also the second
# time.
test_many_addresses()
{
	local i begin
	for ((i = 0; i < 9000; i++)); do
		printf '.type f%d, @function\nf%d: nop\nnop\n.size f%d, 2\n' $i $i $i
	done >many.s
	gcc -shared -nostdlib -o lib.so many.s
	begin=$((0x$(nm lib.so | sed -n 's/^\([0-9a-f]*\) t f0$/\1/p')))
	{
		echo 'name 65 call'
		echo "mapping 100 0 0x100000 0x100000 0 - $PWD/lib.so"
		echo 'block 0'
		for _ in 1 2; do
			for ((i = 0; i < 9000; i++)); do
				echo "event 65 1700000000000001000 pid=100 address=$((0x100000 + begin + 2 * i + 1)) text=f$i"
			done
		done
		echo end
	} | write_log log
	run 0 posixtrace dump --json --symbolize log
	[ "$(jq 'select(.function == .text).text' out | wc -l)" -eq 18000 ]
}

test_more_files_than_are_opened()
{
	local i
	{
		echo 'name 65 call'
		for ((i = 1; i <= 300; i++)); do
			echo "mapping 100 0 $((i * 0x1000)) 0x1000 0 - /missing/$i"
		done
		echo 'block 0'
		for ((i = 1; i <= 300; i++)); do
			echo "event 65 1700000000000001000 pid=100 address=$((i * 0x1000 + 16))"
		done
		echo end
	} | write_log log
	run 0 posixtrace dump --symbolize log
	[ "$(grep -c '  at [0-9]*+0x10$' out)" -eq 300 ]
	[ "$(grep -c 'No such file or directory' err)" -eq 256 ]
	[ "$(grep -c 'more than 256 programs and libraries' err)" -eq 1 ]
}

# Starts a server at $url that accepts connections and never answers.
start_silent_server()
{
	mkfifo port
	python3 - >port <<-'END' &
		import signal, socket
		server = socket.socket()
		server.bind(("127.0.0.1", 0))
		server.listen(9)
		print(server.getsockname()[1], flush=True)
		signal.pause()
	END
	server=$!
	read -r url <port
	url=http://127.0.0.1:$url
}

# The wait can take minutes, so a message must announce it. A signal must end it, even while dump
# follows the log.
test_wait_for_a_debuginfod_server_is_told()
{
	local option dump
	write_log log <<-'END'
		name 65 n
		mapping 10 1 0x7f0000000000 0x10000 0 0101010101010101010101010101010101010101 /gone/li\x1bb.so
		block 0
		event 65 1700000000000001000 pid=10 thread=0x7f00 address=0x7f0000000100
	END
	start_silent_server
	# shellcheck disable=SC2064	# expand $server now
	trap "kill $server" EXIT
	for option in --full --follow; do
		rm -f err out
		env -u http_proxy -u all_proxy -u HTTP_PROXY -u ALL_PROXY HOME="$PWD" DEBUGINFOD_URLS="$url" \
			posixtrace dump --symbolize "$option" log >out 2>err &
		dump=$!
		until grep -q . err; do
			kill -0 "$dump"
		done
		kill -TERM "$dump"
		wait "$dump" || [ "$option $?" = '--full 143' ]
		head -n 1 err | prints /dev/fd/3 3<<-'END'
			posixtrace: /gone/li\x1bb.so: waiting for the servers of DEBUGINFOD_URLS; unset it to skip them
		END
	done
}

# After the timeout, the server is not asked for another file.
test_wait_for_a_debuginfod_server_ends()
{
	write_log log <<-'END'
		name 65 n
		mapping 10 1 0x7f0000000000 0x10000 0 0101010101010101010101010101010101010101 /gone/a.so
		mapping 10 1 0x7f0000010000 0x10000 0 0202020202020202020202020202020202020202 /gone/b.so
		block 0
		event 65 1700000000000001000 pid=10 thread=0x7f00 address=0x7f0000000100
		event 65 1700000000000002000 pid=10 thread=0x7f00 address=0x7f0000010100
	END
	start_silent_server
	# shellcheck disable=SC2064	# expand $server now
	trap "kill $server" EXIT
	run 0 env -u http_proxy -u all_proxy -u HTTP_PROXY -u ALL_PROXY HOME="$PWD" DEBUGINFOD_URLS="$url" \
		posixtrace dump --symbolize log
	head -n 4 err | prints /dev/fd/3 3<<-'END'
		posixtrace: /gone/a.so: waiting for the servers of DEBUGINFOD_URLS; unset it to skip them
		posixtrace: /gone/a.so: no answer from the servers of DEBUGINFOD_URLS in 15 seconds: asking them for nothing more
		posixtrace: /gone/a.so: No such file or directory; its functions and lines are not shown
		posixtrace: /gone/b.so: No such file or directory; its functions and lines are not shown
	END
}

run_cases
