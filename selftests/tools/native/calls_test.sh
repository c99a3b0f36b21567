#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests how "posixtrace dump" shows system calls, with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# calls_log FILE [HOST]: writes a log with the events on standard input, one microsecond apart:
# "NAME ARGS" is the entry of a call, "NAME = RESULT" its exit
calls_log()
{
	{
		cat <<-END
			host ${2:-h x86_64}
			classes syscall
			thread a 7 7 0x7f01
			block 0
		END
		awk '{
			if ($2 == "=")
				print "kernel syscall_exit", NR * 1000, "@a result=" $3, "name=" $1
			else
				print "kernel syscall_entry", NR * 1000, "@a name=" $1, "args=" $2
		}'
		echo end
	} | write_log "$1"
}

# Prints what follows the type of each event.
shown()
{
	posixtrace dump "$@" | sed -E 's/.* syscall_(entry|exit) *//'
}

test_arguments_have_names()
{
	calls_log log <<-'END'
		openat 0xffffff9c,0x7f10,0x80000,0
		openat 5,0x7f10,0x80241,0x1a4
		open 0,0x410002,0x180
		mmap 0,4096,3,0x22,0xffffffff,0
		mmap 0x10000,4096,0,0x100011,3,0x2000
		mprotect 0x7f0000,8192,5
		futex 0x7f20,0x189,0,0,0,0xffffffff
		clone 0x1200011,0,0,0x7f30,0
		socket 2,0x80801,0
		kill 0xfffffffe,15
		lseek 3,0xffffffffffffffff,2
		clock_nanosleep 1,1,0x7f40,0
		access 0x7f50,0
		access 0x7f50,5
		mkdir 0x7f60,0x1ed
		umask 0x12
		fcntl 3,1030,10
		wait4 0xffffffff,0,1,0
		brk 0x1234000
		read 3,0x7f70,100
		getpid 0
	END
	shown log >out
	prints out <<-'END'
		openat(AT_FDCWD, 0x7f10, O_RDONLY|O_CLOEXEC)
		openat(5, 0x7f10, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0644)
		open(NULL, O_RDWR|O_TMPFILE, 0600)
		mmap(0, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
		mmap(0x10000, 4096, PROT_NONE, MAP_SHARED|MAP_FIXED|MAP_FIXED_NOREPLACE, 3, 8192)
		mprotect(0x7f0000, 8192, PROT_READ|PROT_EXEC)
		futex(0x7f20, FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG|FUTEX_CLOCK_REALTIME, 0, 0, 0, 4294967295)
		clone(SIGCHLD|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID, 0, 0, 0x7f30, 0)
		socket(AF_INET, SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC, 0)
		kill(-2, SIGTERM)
		lseek(3, -1, SEEK_END)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, 0x7f40, 0)
		access(0x7f50, F_OK)
		access(0x7f50, X_OK|R_OK)
		mkdir(0x7f60, 0755)
		umask(022)
		fcntl(3, F_DUPFD_CLOEXEC, 0xa)
		wait4(-1, 0, WNOHANG, 0)
		brk(0x1234000)
		read(3, 0x7f70, 100)
		getpid()
	END
}

# A value must not be shown with a name if the name may be wrong.
test_values_without_names_are_numbers()
{
	calls_log log <<-'END'
		openat 0xfffffffe,0x7f10,0xc0000003,0
		mmap 0,1,0x40000001,0x70000004,0xffffffff,0
		mmap 0,1,0x100000001,2,0xffffffff,0
		futex 0x7f20,0x7f,0,0,0,0
		lseek 3,0,77
		socket 99,9,1
		kill 1,64
		access 0,8
		clock_gettime 0xfffffff2,0
	END
	shown log >out
	prints out <<-'END'
		openat(-2, 0x7f10, 0xc0000003)
		mmap(0, 1, PROT_READ|0x40000000, 0x70000004, -1, 0)
		mmap(0, 1, PROT_READ|0x100000000, MAP_PRIVATE, -1, 0)
		futex(0x7f20, 0x7f, 0, 0, 0, 0)
		lseek(3, 0, 77)
		socket(99, 0x9, 0x1)
		kill(1, 64)
		access(NULL, 0x8)
		clock_gettime(-14, 0)
	END
}

# O_DIRECTORY, O_DIRECT and others have different values on different architectures.
test_names_depend_on_the_machine()
{
	local machine names
	while IFS='|' read -r machine names; do
		calls_log log "h $machine" <<<'openat 0xffffff9c,0x7f10,0x84000,0'
		shown log >out
		prints out <<<"openat(AT_FDCWD, 0x7f10, ${names// /|})"
	done <<-'END'
		x86_64|O_RDONLY O_DIRECT O_CLOEXEC
		aarch64|O_RDONLY O_DIRECTORY O_CLOEXEC
		riscv64|O_RDONLY O_CLOEXEC 0x4000
		|O_RDONLY O_CLOEXEC 0x4000
	END
}

test_results_have_names()
{
	calls_log log <<-'END'
		read = -11
		read = 100
		close = 0
		read = -512
		mmap = 0x7f1234000000
		mmap = -22
		lseek = 0x7f1234000000
		read = -4000
		newcall = -1
		ptrace = -4096
	END
	shown log >out
	prints out <<-'END'
		read = -11 EAGAIN
		read = 100
		close = 0
		read = -512 ERESTARTSYS
		mmap = 0x7f1234000000
		mmap = -22 EINVAL
		lseek = 139716158554112
		read = -4000
		newcall = -1 EPERM
		ptrace = -4096
	END
}

# In JSON and with --full, the output must have the numbers, because programs work with them.
test_fields_stay_in_json_and_full()
{
	calls_log log <<-'END'
		lseek 3,0,2
		lseek = -9
	END
	posixtrace dump --json log >out
	grep -q '"args":\["0x3","0x0","0x2","0x0","0x0","0x0"\],"compat":false,"name":"lseek"},"call":"lseek(3, 0, SEEK_END)"}$' out
	grep -q '"result":-9,"compat":false,"error":"EBADF","name":"lseek"}}$' out
	python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <out
	shown --full log >out
	prints out <<-'END'
		tid=7 nr=0 args=[0x3,0x0,0x2,0x0,0x0,0x0] compat=false name="lseek"
		tid=7 nr=0 result=-9 compat=false error=EBADF name="lseek"
	END
	run 0 posixtrace dump --filter='syscall_exit && error == EBADF' log
	[ "$(wc -l <out)" -eq 1 ]
}

# Also tests calls of 32-bit programs, for which only the name is known.
test_unknown_calls_show_their_fields()
{
	write_log log <<-'END'
		host h x86_64
		classes syscall
		thread a 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @a nr=5 args=1,2 compat=true name=open
		kernel syscall_exit 2000 @a nr=5 result=-2 compat=true name=open
		kernel syscall_entry 3000 @a nr=999 args=1,2
		kernel syscall_exit 4000 @a nr=999 result=-38
		kernel syscall_entry 5000 @a nr=700 args=1,2 name=newcall
		kernel syscall_entry 6000 @a name=rea\x64x
		kernel syscall_exit 7000 @a name=a\x1b[m
		end
	END
	shown log >out
	prints out <<-'END'
		tid=7 nr=5 args=[0x1,0x2,0x0,0x0,0x0,0x0] compat=true name="open"
		open = -2 ENOENT
		tid=7 nr=999 args=[0x1,0x2,0x0,0x0,0x0,0x0] compat=false name=""
		tid=7 nr=999 result=-38 compat=false error=ENOSYS name=""
		tid=7 nr=700 args=[0x1,0x2,0x0,0x0,0x0,0x0] compat=false name="newcall"
		tid=7 nr=0 args=[0x0,0x0,0x0,0x0,0x0,0x0] compat=false name="readx"
		a\x1b[m = 0
	END
}

test_texts_have_addresses()
{
	write_log log <<-'END'
		classes syscall,strings
		thread a 7 7 0x7f01
		block 0
		kernel syscall_text 1000 @a nr=257 address=0x7f10 arg=1 value=/etc/a\x20"b\x1b
		kernel syscall_text 2000 @a nr=257 address=0x7f20 arg=1 state=cut value=/etc
		kernel syscall_text 3000 @a nr=257 address=0x7f30 arg=1 state=absent
		kernel syscall_text 4000 @a nr=257 address=0x7f40 arg=1 cut
		end
	END
	posixtrace dump log | sed -E 's/.* syscall_text *//' >out
	prints out <<-'END'
		0x7f10 = "/etc/a \"b\x1b"
		0x7f20 = "/etc"...
		0x7f30 is not in memory
		tid=7 nr=257 address=0x7f40 arg=1 state=whole value="" (truncated)
	END
	posixtrace dump --json log >out
	grep -q '"address":"0x7f20","arg":1,"state":"cut","value":"/etc"}}$' out
}

test_logs_of_older_modules()
{
	xz -dc "$native/logs/tar.log.xz" >log
	posixtrace dump log >out
	grep -q ' syscall_entry  *close(3)$' out
	grep -q ' syscall_exit  *tid=[0-9]* nr=3 result=0 compat=false$' out
	# all of them, and their fields
	[ "$(grep -c ' syscall_exit  *tid=.* compat=false$' out)" -eq "$(grep -c ' syscall_exit ' out)" ]
}

run_cases
