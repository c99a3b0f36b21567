# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the tests of "posixtrace export".

# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

export LC_ALL=C.UTF-8

# whole_log FILE: like write_log, but also adds the end of the log
whole_log()
{
	{ cat; echo end; } | write_log "$1"
}

# described_log FILE: writes a log with descriptions that have all types of fields
described_log()
{
	whole_log "$1" <<-'END'
		name 65 all
		name 66 nested
		name 67 other
		describe 65 { enum { get, "set it", neg = -5 } op; u16 n; x32 sizes[n] "B"; bool ok; f32 f; f64 d; char c; string s; text key; }
		describe 66 struct { u8 n; struct { i16 x "m"; i8 y; } at[2]; u8 m[2][3]; { u8 l; char name[l]; } names[n]; }
		describe 67 { u32 a; }
		block 0
		event 65 1700000000000000001 hex=0100000002000100000002000000010000c03f00000000000004c06161620068656c6c6f00
		event 65 1700000000000000002 hex=fbffffff0000000000000000000000000000000000000000
		event 65 1700000000000000003 hex=070000000000000000000000000000000000000000ff0a
		event 66 1700000000000000004 hex=02aa010002bb030004bb05060708090a026161016b
		event 67 1700000000000000005 hex=01020304 cut
		event 67 1700000000000000006 hex=010203
		event 67 1700000000000000007 hex=01000000
	END
}

# counter_log FILE: writes a log with counters of two processes
counter_log()
{
	whole_log "$1" <<-'END'
		name 65 queue
		name 66 load
		name 67 both
		describe 65 struct { u64 counter "B"; }
		describe 66 { f64 counter "1/s"; pad[1]; }
		describe 67 { u8 counter; u8 other; }
		block 0
		event 65 1700000000000000000 pid=7 hex=0a00000000000000
		event 65 1700000000000100000 pid=7 hex=1400000000000000
		event 65 1700000000000150000 pid=8 hex=ffffffffffffffff
		event 66 1700000000000200000 pid=7 hex=000000000000f8bf00
		event 67 1700000000000300000 pid=7 hex=0102
		event 65 1700000000000400000 pid=7 hex=05
	END
}

# scope_log FILE: writes a log with scopes of one thread: inner twice in outer, two that cross, one
# that spans a loss, one without a begin, and one without an end
scope_log()
{
	whole_log "$1" <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner:begin
		name 68 inner:end
		describe 65 { u32 id; }
		describe 66 { u64 bytes; }
		thread one 7 7 0x7f01
		block 0
		event 65 1000 @one hex=05000000
		event 67 1100 @one
		event 68 1300 @one
		event 67 1400 @one
		event 68 1450 @one
		event 66 2000 @one hex=ffffffffffffffff
		event 65 3000 @one hex=06000000
		event 67 3100 @one
		event 66 3200 @one hex=0100000000000000
		event 68 3300 @one
		event 68 3400 @one
		event 65 4000 @one hex=07000000
		lost 3 4500
		block 0
		event 66 5000 @one hex=0200000000000000
		event 67 6000 @one
	END
}

# waiting_durations_log FILE: writes a log with 8000 pairs of durations. If a duration begins at the
# same time as the one around it, the exporter must hold it until the outer one ends.
waiting_durations_log()
{
	awk 'BEGIN {
		print "name 65 outer_begin\nname 66 outer_end\nname 67 inner_begin\nname 68 inner_end\nblock 0"
		for (i = 0; i < 8000; i++) {
			who = "pid=" 10 + i " tid=" 10 + i
			printf "event 65 17000000000000%05d %s\n", i, who
			printf "event 67 17000000000000%05d %s\n", i, who
			printf "event 68 17000000000001%05d %s zeros=4000\n", i, who > "ends"
			printf "event 66 17000000000002%05d %s\n", i, who > "ends2"
		}
		close("ends")
		close("ends2")
		while ((getline line < "ends") > 0)
			print line
		while ((getline line < "ends2") > 0)
			print line
	}' | whole_log "$1"
}

# kernel_log FILE: writes a log with kernel events. Thread main runs, waits in read() until worker
# wakes it, runs, is preempted, and runs until events are lost; then it exits. Thread worker runs
# and waits for a block device; its state is unknown after the loss. Thread born is created, runs,
# is stopped, and continues.
kernel_log()
{
	whole_log "$1" <<-'END'
		classes all
		host of-a-test
		name 65 work_begin
		name 66 work_end
		task 7 7 0 main
		task 7 8 0 worker
		task 7 9 0 born
		thread main 7 7 0x1000
		thread worker 7 8 0x2000
		thread born 7 9 0x3000
		since 1700000000000000000
		block 0
		kernel sched_process_exec 0 @main filename=/bin/prog
		event 65 1000 @main
		kernel syscall_entry 2000 @main nr=0 args=3,0x7f00,100,0,0,0 name=read
		kernel sched_switch_out 3000 @main state=S reason=blocked
		kernel sched_wakeup 8000 cpu=1 @main by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_switch_in 9000 cpu=0 @main runnable=1000
		kernel syscall_exit 9500 @main nr=0 result=100
		kernel irq 9900 @main duration=300 number=4 kind=irq name=ata
		event 66 10000 @main
		kernel sched_switch_out 10500 @main state=R reason=preempted
		kernel sched_switch_in 12000 @main runnable=1500
		kernel sched_wakeup 12100 @main by=interrupt
		kernel page_fault 12500 @main user=true address=0x1234
		kernel sched_switch_in 5000 cpu=1 @worker runnable=500
		kernel syscall_entry 11000 @worker nr=74 args=5,0,0,0,0,0 name=fsync
		kernel sched_switch_out 12000 @worker state=D reason=io
		kernel sched_process_fork 2500 cpu=2 @main child_pid=7 child_tid=9
		kernel sched_wakeup 2600 @born new=true by=thread waker_pid=@main waker_tid=@main
		kernel sched_switch_in 2700 @born
		kernel sched_switch_out 4000 @born state=T reason=blocked
		kernel sched_switch_in 6500 @born runnable=500
		lost 7 1700000000000014000
		block 0
		kernel sched_switch_in 20000 @main runnable=100
		kernel syscall_entry 20500 @main nr=231 name=exit_group
		kernel sched_process_exit 21000 @main group_dead=true
	END
}

# export_log FORMAT OUT LOG [OPTION]...: exports a log. Fails after an error or a warning, except
# warnings about lost events and about data that do not match the format file.
export_log()
{
	local format=$1 out=$2 log=$3
	shift 3
	posixtrace export --format="$format" --output="$out" "$@" "$log" 2>&1 | tee said
	not grep -vE ' events were lost: use a larger stream$|^posixtrace: formats:.*: shown as bytes$' said
}

# not COMMAND...: succeeds if the command fails; "!" would not end the case
not()
{
	if "$@"; then
		return 1
	fi
}

# fails STATUS TEXT COMMAND...: checks the exit status of a command, and that it prints TEXT
fails()
{
	local wanted=$1 text=$2 status=0
	shift 2
	"$@" >said 2>&1 </dev/null || status=$?
	cat said
	echo "# status $status"
	[ "$status" -eq "$wanted" ] && grep -qF -- "$text" said
}

# many_events NUMBER SEED: prints the script of a log with about NUMBER events on four CPUs. No two
# events have the same time, and each of the eight threads has nested pairs.
many_events()
{
	awk -v events="$1" -v seed="$2" '
	BEGIN {
		srand(seed)
		split("request_begin lock:begin tick lock:end request_end message", names)
		for (i = 1; i <= 6; i++)
			print "name", 64 + i, names[i]
		print "block 4"
		print "event 2 1700000000000000000 pid=0"
		base = 10
		while (done < events) {
			for (cpu = 0; cpu < 4; cpu++) {
				print "block", cpu
				for (i = 0; i < 48; i++) {
					id = 65 + i % 6
					thread = sprintf("0x7f%02d00", cpu * 2 + int(i / 6) % 2)
					data = id == 70 ? "text=message-" done : \
						sprintf("hex=%08x%04x", rand() * 4294967295, i)
					if (id == 67 && i % 4 == 2)
						data = "zeros=0"
					printf "event %d 17000000%011d pid=%d thread=%s address=0x%x %s\n",
						id, base + i * 1000 + cpu * 7, 4711 + cpu % 2,
						thread, 4194304 + id * 16, data
					done++
				}
			}
			base += 48000
			print "epoch"
		}
	}'
}

# script_events: converts the script of a log to lines "TIME NAME CPU PID THREAD ADDRESS CUT BYTES",
# sorted by time
script_events()
{
	awk '
	BEGIN {
		for (i = 1; i < 128; i++)
			ord[sprintf("%c", i)] = i
		name[2] = "posix_trace_start"
		name[3] = "posix_trace_stop"
		cpus = 4
	}
	function hex_of(text,  i, bytes) {
		for (i = 1; i <= length(text); i++)
			bytes = bytes sprintf("%02x", ord[substr(text, i, 1)])
		return bytes
	}
	$1 == "cpus" { cpus = $2 }
	$1 == "name" { name[$2] = substr($0, length($1 $2) + 3) }
	$1 == "block" { cpu = $2 == cpus ? "-" : $2 }
	$1 == "event" {
		word["pid"] = 4711; word["thread"] = word["address"] = "0x0"
		word["hex"] = word["text"] = word["zeros"] = ""
		for (i = 4; i <= NF; i++)
			word[substr($i, 1, index($i, "=") - 1)] = substr($i, index($i, "=") + 1)
		bytes = word["hex"] hex_of(word["text"])
		for (i = 0; i < word["zeros"] + 0; i++)
			bytes = bytes "00"
		print $3, name[$2], cpu, word["pid"], tolower(word["thread"]),
			tolower(word["address"]), / cut/ ? 1 : 0, bytes
	}' | sed 's/ $//' | sort
}
