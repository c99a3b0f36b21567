# SPDX-License-Identifier: GPL-2.0
# Turns measurements into tables in the markup of the documentation, and into lines for scripts. The
# input is the output of "native"; then of insn_bench, kernel_bench (kernel_NAME) and "syscalls"
# (call_NAME, bytes_NAME); then of log_bench.

BEGIN {
	irqs_off_names = "nothing create shutdown start_stop record clear filter status stats wait fork"
	irqs_off_names = irqs_off_names " flush"
	split("switch wakeup_and_switch futex_wait rename syscall fault signal irq", operations)
	split("record live stream strace perf_trace perf_record trace_cmd lttng_modules " \
	      "lttng_context lttng_memory", ways)
}

FNR == 1 { file++ }
file == 1 { median[$1] = $2; least[$1] = $3; most[$1] = $4; next }
file == 2 { insn[$1] = $2; next }
/^bench: / { line[++lines] = $0; logged[$2] = $3; next }
/rounds: / { span[$1] = "(" $(NF - 2) " to " $NF }

function digits(value)
{
	return value >= 100 ? sprintf("%.0f", value) : sprintf("%.3g", value)
}

function number(name)
{
	return name in median ? digits(median[name]) : "-"
}

function noisy(name)
{
	if (!(name in median))
		return "-"
	return number(name) " (" digits(least[name]) " to " digits(most[name]) ")"
}

# row(TEXT): adds a row to the table; the first row has the headings, "|" separates cells
function row(text)
{
	cells[++rows] = text
}

function rule(    i, text, piece)
{
	for (i = 1; i <= columns; i++) {
		piece = sprintf("%" width[i] "s", "")
		gsub(/ /, "=", piece)
		text = text (i > 1 ? "  " : "") piece
	}
	print text
}

function table(title,    i, j, count, part, text)
{
	columns = split(cells[1], part, "|")
	for (j = 1; j <= columns; j++)
		width[j] = 0
	for (i = 1; i <= rows; i++) {
		count = split(cells[i], part, "|")
		for (j = 1; j <= count; j++)
			if (length(part[j]) > width[j])
				width[j] = length(part[j])
	}
	printf "%s%s\n\n", tables++ ? "\n" : "", title
	rule()
	for (i = 1; i <= rows; i++) {
		count = split(cells[i], part, "|")
		text = ""
		for (j = 1; j <= count; j++)
			text = text sprintf("%-" width[j] "s  ", part[j])
		sub(/ +$/, "", text)
		print text
		if (i == 1)
			rule()
	}
	rule()
	rows = 0
}

function online(name, cpus)
{
	return digits(insn["ns_" name "_online_" cpus])
}

function met_below(what, limit, value)
{
	row(what "|at most " digits(limit) "|" digits(value) "|" (value <= limit ? "yes" : "no"))
}

# Adds a limit of SECURITY.md, which kernel_bench checks as well: the script fails if the value is
# above it or missing.
function met_for_others(what, limit, name)
{
	if (!(name in insn) || insn[name] > limit)
		failed = 1
	met_below(what, limit, insn[name])
}

function met_above(what, limit, value)
{
	row(what "|at least " digits(limit) "|" digits(value) "|" (value >= limit ? "yes" : "no"))
}

function operation(name, cpus)
{
	return insn["insn_" name "_cpus_" cpus]
}

function further_stream()
{
	return (insn["insn_rseq_streams_32"] - insn["insn_rseq_streams_4"]) / 28
}

# Returns the longest time with interrupts off during any operation.
function irqs_off(    i, names, longest)
{
	split(irqs_off_names, names)
	for (i = 1; i in names; i++)
		if (insn["irqs_off_" names[i]] > longest)
			longest = insn["irqs_off_" names[i]]
	return longest
}

# Returns the cost that a way to trace adds to a system call.
function added(way)
{
	return insn["call_" way] - insn["call_untraced"]
}

# Returns the cost of another tracer as a multiple of ours: both with a log, or both in memory only.
function ratio(way)
{
	if (way == "untraced" || !("call_" way in insn) || !("call_record" in insn))
		return "-"
	return digits(added(way) / added(way == "lttng_memory" ? "stream" : "record"))
}

function targets()
{
	row("Target|Limit|Reached|Met")
	if ("rdtsc" in median)
		met_below("recorded, 16 bytes: 1.5 x RDTSC and the copy, ns",
			  1.5 * median["rdtsc"] + median["on_16"] - median["on_0"],
			  median["on_16"])
	if ("on_times" in median)
		met_below("recorded, 16 bytes: times LFENCE and RDTSC", 1.3, median["on_times"])
	if ("on_alone_times" in median)
		met_below("the same, while no other thread used the core", 1.3,
			  median["on_alone_times"])
	met_above("recorded, 16 bytes: times faster than LTTng-UST", 5, median["lttng_times"])
	if ("on_relaxed_times" in median)
		met_below("recorded in relaxed order, 16 bytes: times RDTSC", 1.3,
			  median["on_relaxed_times"])
	if ("on_relaxed_alone_times" in median)
		met_below("the same, while no other thread used the core", 1.3,
			  median["on_relaxed_alone_times"])
	met_above("recorded in relaxed order, 16 bytes: times faster than LTTng-UST", 6,
		  median["lttng_relaxed_times"])
	met_below("instructions, recorded, 16 bytes", 140, insn["insn_rseq"])
	met_below("instructions, a point with three fields, times as many bytes", 1.15,
		  insn["insn_typed"] / insn["insn_rseq"])
	met_below("instructions, a point that no stream records", 6, insn["insn_typed_off"])
	met_below("instructions for each further stream", 110, further_stream())
	met_below("instructions while an epoll is registered, times without", 1.1,
		  insn["insn_epoll"] / insn["insn_rseq"])
	met_below("instructions beside a reader, 64 KiB or 1 ms, times without", 1.2,
		  insn["insn_live"] / insn["insn_live_alone"])
	met_below("not recorded, by call, ns", 4, median["off_call"])
	met_below("not recorded, inline, ns", 1, median["off_inline"])
	met_above("two threads, times one", 1.9, median["scale2"])
	met_below("read, many at once, ns", 25, median["read"])
	met_below("read, one by one, ns", 45, median["read_one"])
	met_above("read: times faster than babeltrace2", 10, median["babeltrace"] / median["read"])
	# whole numbers: each sub-buffer also names a thread, which adds 0.03 bytes per event
	met_below("memory for an event with 16 bytes, bytes", 32, sprintf("%.0f", median["bytes"]) + 0)
	met_below("memory for an event with 4 bytes, bytes", 16, sprintf("%.0f", median["bytes_4"]) + 0)
	met_below("instructions, 1000 event types over 10", 1.01,
		  insn["insn_rseq_types_1000"] / insn["insn_rseq_types_10"])
	met_below("instructions, 512 processors over 1", 1.01,
		  insn["insn_rseq_cpus_512"] / insn["insn_rseq_cpus_1"])
	met_below("instructions of reading, 512 processors over 1", 1.2,
		  insn["insn_read_cpus_512"] / insn["insn_read_cpus_1"])
	met_below("instructions of reading what 8 processors recorded in turn, over 1", 1.5,
		  insn["insn_read_from_8"] / insn["insn_read_from_1"])
	met_below("longest time with interrupts off, us", 50, irqs_off())
	met_for_others("instructions, a switch of others, 16 of them the tracepoint's", 28,
		       "kernel_switch_untraced")
	met_for_others("the same beside 6000 traced processes", 28, "kernel_switch_untraced_beside")
	met_for_others("instructions, a switch from a thread of 4 streams", 2600,
		       "kernel_switch_from_streams_4")
	met_for_others("instructions, a switch to such a thread", 2600,
		       "kernel_switch_to_streams_4")
	met_for_others("instructions, a wake-up of such a thread", 2600,
		       "kernel_wakeup_streams_4")
	if (ratio("strace") != "-")
		met_above("strace, times a system call traced", 10, ratio("strace"))
	if (ratio("lttng_modules") != "-")
		met_above("LTTng's modules, times a system call traced", 1, ratio("lttng_modules"))
	table("Targets and results, with a stand-in for the module:")
}

function recording(    i, lens)
{
	row("Data, bytes|posixtrace|LTTng-UST")
	split("0 16 64 256 1024", lens)
	for (i = 1; i in lens; i++)
		row(lens[i] "|" noisy("on_" lens[i]) "|" noisy("lttng_" lens[i]))
	row("16, relaxed order|" noisy("on_relaxed_16"))
	row("16, clock of the vDSO|" noisy("on_vdso_16"))
	table("Recording an event on one thread, in ns, with a stand-in for the module:")

	row("What|ns")
	row("RDTSC|" noisy("rdtsc"))
	row("LFENCE and RDTSC|" noisy("lfence_rdtsc"))
	row("clock_gettime()|" noisy("gettime"))
	row("getppid()|" noisy("syscall"))
	row("empty loop|" noisy("empty"))
	table("Times for comparison:")

	if ("on_times" in median) {
		row("What|All the time|Alone on the core|Alone, % of the time")
		row("recorded, times LFENCE and RDTSC|" noisy("on_times") "|" \
		    noisy("on_alone_times") "|" noisy("on_alone_percent"))
		row("recorded in relaxed order, times RDTSC|" noisy("on_relaxed_times") "|" \
		    noisy("on_relaxed_alone_times") "|" noisy("on_relaxed_alone_percent"))
		table("An event with 16 bytes over the clock that it contains, measured in turn:")
	}

	if ("early_most" in median) {
		row("Of a million events|Earlier by at most, ns")
		row("one half|" noisy("early_half"))
		row("9999 of 10000|" noisy("early_9999"))
		row("all|" noisy("early_most"))
		table("Timestamps before those of events of another processor that they depend on, " \
		      "in relaxed order:")
	}

	row("How|posixtrace|LTTng-UST")
	row("by call|" noisy("off_call") "|-")
	row("inline|" noisy("off_inline") "|" noisy("lttng_off"))
	table("Passing a trace point whose event is not recorded, in ns:")

	row("What|Median")
	row("one of them alone, ns for each event|" noisy("on_16_1"))
	row("both, ns for each event of a thread|" noisy("on_16_2"))
	row("events, two threads over one|" noisy("scale2"))
	row("additions, two threads over one|" noisy("scale2_adding"))
	table("Two threads on two processors, 16 bytes:")
}

function reading()
{
	row("What|posixtrace|babeltrace2")
	row("many at once, ns|" noisy("read") "|" noisy("babeltrace"))
	row("one by one, ns|" noisy("read_one") "|-")
	row("memory or file, bytes|" noisy("bytes") "|" noisy("lttng_bytes"))
	table("Reading an event of 16 bytes, and its memory until then:")
}

function commands()
{
	row("What|posixtrace|ns|babeltrace2, ns")
	row("text|dump|" noisy("dump") "|" noisy("babeltrace_text"))
	row("JSON, a line each|dump --json|" noisy("dump_json") "|-")
	row("read|stat|" noisy("stat") "|" noisy("babeltrace_dummy"))
	row("written as CTF|export --format=ctf|" noisy("export_ctf") "|" noisy("babeltrace_ctf"))
	row("... for Chrome|export --format=chrome|" noisy("export_chrome") "|-")
	row("... for Perfetto|export --format=perfetto|" noisy("export_perfetto") "|-")
	table("A log of two million events, processor time per event:")
}

function instructions(    i, counts)
{
	row("What|Instructions")
	row("recorded by a sequence|" insn["insn_rseq"])
	row("... by a point with three fields|" insn["insn_typed"])
	row("not recorded, by such a point|" insn["insn_typed_off"])
	row("recorded by a sequence, with 8 MiB, as natively|" insn["insn_module"])
	row("... with 8 MiB, and the stand-in for the module|" digits(insn["insn_standin"]))
	row("... while an epoll is registered|" insn["insn_epoll"])
	row("... without a reader, many events|" insn["insn_live_alone"])
	row("... beside a reader, 64 KiB or 1 ms|" insn["insn_live"])
	row("... beside a reader, each event|" insn["insn_live_at_once"])
	row("recorded by the module|" insn["insn_ioctl"])
	row("recorded by the module, with shared memory|" insn["insn_shared_memory"])
	row("write to trace_marker|" insn["insn_marker"])
	row("getppid()|" insn["insn_syscall"])
	row("read, many at once|" insn["insn_read"])
	row("read, one by one|" insn["insn_read_one"])
	row("read, many at once, with the stand-in|" digits(insn["insn_read_from_1"]))
	row("... of 2 processors in turn|" digits(insn["insn_read_from_2"]))
	row("... of 8 processors in turn|" digits(insn["insn_read_from_8"]))
	table("Instructions per event of 16 bytes, including those of the kernel:")

	row("Event types|recorded|stop and start|change of the filter")
	split("10 1000 4000", counts)
	for (i = 1; i <= 3; i++)
		row(counts[i] "|" insn["insn_rseq_types_" counts[i]] "|" \
		    insn["insn_start_stop_types_" counts[i]] "|" \
		    insn["insn_filter_types_" counts[i]])
	table("Instructions, by number of event types:")

	row("Streams|recorded")
	split("1 4 32", counts)
	for (i = 1; i <= 3; i++)
		row(counts[i] "|" insn["insn_rseq_streams_" counts[i]])
	table("Instructions, by number of streams that trace the process:")

	row("Processors|recorded|read|memory, bytes")
	split("1 2 8 64 256 512", counts)
	for (i = 1; i <= 6; i++)
		row(counts[i] "|" insn["insn_rseq_cpus_" counts[i]] "|" \
		    insn["insn_read_cpus_" counts[i]] "|" insn["memory_cpus_" counts[i]])
	table("Instructions, and memory of a stream of 1 MiB, by number of possible processors:")

	row("Processors|create|stop and start|clear|flush|shutdown|fork|... untraced|memory, bytes")
	for (i = 1; i <= 6; i++)
		row(counts[i] "|" operation("create", counts[i]) "|" \
		    operation("start_stop", counts[i]) "|" operation("clear", counts[i]) "|" \
		    operation("flush", counts[i]) "|" operation("shutdown", counts[i]) "|" \
		    operation("fork", counts[i]) "|" operation("fork_untraced", counts[i]) "|" \
		    insn["memory_default_cpus_" counts[i]])
	table("Instructions, and memory of a stream of default size, by number of possible processors:")

	row("Processors|create|stop and start|clear|flush|shutdown|fork|... untraced|memory, bytes")
	split("2 32", counts)
	for (i = 1; i in counts; i++)
		row(counts[i] "|" online("create", counts[i]) "|" online("start_stop", counts[i]) "|" \
		    online("clear", counts[i]) "|" online("flush", counts[i]) "|" \
		    online("shutdown", counts[i]) "|" online("fork", counts[i]) "|" \
		    online("fork_untraced", counts[i]) "|" insn["memory_default_online_" counts[i]])
	table("Nanoseconds, and memory of a stream of default size, by number of processors online:")

	row("While|us")
	split(irqs_off_names, counts)
	for (i = 1; i in counts; i++)
		row(counts[i] "|" insn["irqs_off_" counts[i]])
	table("Longest time with interrupts off, with 512 possible processors; 1 us is 1000 instructions:")
}

function whole(name)
{
	return name in insn ? insn[name] : "-"
}

function kernel_row(what, name)
{
	row(what "|" whole("kernel_" name) "|" whole("kernel_" name "_untraced") "|" \
	    whole("kernel_" name "_filtered") "|" whole("kernel_" name "_traced"))
}

function text_row(what, name)
{
	row(what "|" whole("kernel_text_" name) "|" whole("kernel_text_" name "_untraced") "|" \
	    whole("kernel_text_" name "_filtered") "|" whole("kernel_text_" name "_traced") "|" \
	    whole("kernel_text_" name "_syscall_untraced") "|" \
	    whole("kernel_text_" name "_syscall"))
}

function texts()
{
	row("Call|Untraced|Another traced|Held back|Traced|Only syscall: another|... traced")
	text_row("openat(), a text of 10 bytes", "open_10")
	text_row("... of 250 bytes", "open_250")
	text_row("execve(), a text of 10 bytes", "execve_10")
	text_row("... of 250 bytes", "execve_250")
	text_row("renameat(), two texts of 10 bytes", "rename_10")
	text_row("... of 250 bytes", "rename_250")
	text_row("getppid(), no text and no argument", "getppid")
	text_row("connect(), no text", "connect")
	table("Texts of system calls: instructions of a call that fails, and more with a stream of " \
	      "the classes syscall and strings on another process, on this one with a filter, and " \
	      "on this one; the same with the class syscall alone:")
}

function beside_thousands_row(what, name)
{
	row(what "|" whole("kernel_" name) "|" whole("kernel_" name "_untraced") "|" \
	    whole("kernel_" name "_untraced_beside"))
}

function call_row(what, way)
{
	row(what "|" whole("call_" way) "|" \
	    ("call_" way in insn && way != "untraced" ? added(way) : "-") "|" ratio(way) \
	    "|" (insn["bytes_" way] > 0 ? insn["bytes_" way] : "-"))
}

function beside_row(what, way)
{
	row(what "|" ("call_beside_" way in insn ? added("beside_" way) : "-"))
}

function kernel_events()
{
	row("What|Untraced|Another traced|Held back|Traced")
	kernel_row("sched: a switch, one event of each thread", "switch")
	kernel_row("sched: a wake-up and a switch", "wakeup_and_switch")
	kernel_row("sched: a wait for a futex, both events of it", "futex_wait")
	row("... without the event futex_wait|-|-|-|" whole("kernel_futex_wait_only_switch"))
	kernel_row("process: another name", "rename")
	kernel_row("syscall: getppid(), two events", "syscall")
	kernel_row("fault: a page is read first", "fault")
	kernel_row("signal: raise() with a handler, two events", "signal")
	kernel_row("irq: an interrupt, over held back", "irq")
	table("Events of the kernel: instructions of an operation, and more with a stream of that " \
	      "class on another process, on this one with a filter, and on this one:")

	texts()

	row("What|Untraced|One traced|6000 traced")
	beside_thousands_row("a switch", "switch")
	beside_thousands_row("a process begins and ends", "process")
	row("two events of a switch|-|" whole("kernel_switch_traced") "|" \
	    whole("kernel_switch_traced_beside"))
	table("Instructions of an operation of an untraced process, and more beside traced ones " \
	      "that sleep; the same for events of a traced one:")

	row("How|Instructions|More|Times|Bytes")
	call_row("untraced", "untraced")
	call_row("posixtrace record", "record")
	call_row("posixtrace live", "live")
	call_row("a stream with POSIX_TRACE_LOOP, unread", "stream")
	call_row("strace", "strace")
	call_row("perf trace", "perf_trace")
	call_row("perf record", "perf_record")
	call_row("trace-cmd record", "trace_cmd")
	call_row("LTTng's modules", "lttng_modules")
	call_row("... with the ids of process and thread", "lttng_context")
	call_row("... in memory; times the unread stream", "lttng_memory")
	table("getppid(), all instructions of the machine, those of tracing, times those of " \
	      "posixtrace record, and bytes of the log:")

	row("How|More")
	beside_row("posixtrace record", "record")
	beside_row("perf trace", "perf_trace")
	beside_row("trace-cmd record", "trace_cmd")
	beside_row("LTTng's modules", "lttng_modules")
	table("getppid() of another process than that traced, more instructions:")
}

function log_row(what, name, unit)
{
	row(what "|" digits(logged[name]) " " span[name] "|" digits(logged[name "_icount"]) "|" unit)
}

function logs()
{
	row("What|By the clock|Instructions|Unit")
	log_row("flush, APPEND", "log_write_ratio", "times a write()")
	log_row("flush, LOOP", "log_loop_write_ratio", "times a write()")
	log_row("recording while it is flushed", "log_record_ratio", "times one without")
	log_row("flush, APPEND", "log_write_rate", "MB/s")
	log_row("flush, LOOP", "log_loop_write_rate", "MB/s")
	if ("log_packed_bytes" in logged) {
		log_row("bytes in the file", "log_plain_bytes", "bytes per event")
		log_row("... compressed by LZ4", "log_packed_bytes", "bytes per event")
		log_row("flush", "log_plain_flush", "ns per event")
		log_row("... compressed by LZ4", "log_packed_flush", "ns per event")
	}
	log_row("copy with checksum, the module's", "crc_own", "ns per KiB")
	log_row("copy, then the kernel's checksum", "crc_kernel", "ns per KiB")
	table("Logs, in a guest:")
}

function bench(metric, value, unit)
{
	if (value != "" && value != "-")
		printf "bench: %s %s %s\n", metric, value, unit
}

function bench_texts(    i, j, calls, kinds)
{
	split("open_10 open_250 execve_10 execve_250 rename_10 rename_250 getppid connect", calls)
	split("untraced filtered traced syscall_untraced syscall", kinds)
	for (i = 1; i in calls; i++) {
		for (j = 1; j in kinds; j++)
			bench("insn_text_" calls[i] "_" kinds[j],
			      whole("kernel_text_" calls[i] "_" kinds[j]), "instructions")
	}
}

function bench_kernel_events(    i, j, kinds)
{
	split("untraced filtered traced", kinds)
	for (i = 1; i in operations; i++) {
		for (j = 1; j in kinds; j++)
			bench("insn_" operations[i] "_" kinds[j],
			      whole("kernel_" operations[i] "_" kinds[j]), "instructions")
	}
	bench("insn_switch_untraced_beside", whole("kernel_switch_untraced_beside"), "instructions")
	bench("insn_switch_from_streams_4", whole("kernel_switch_from_streams_4"), "instructions")
	bench("insn_switch_to_streams_4", whole("kernel_switch_to_streams_4"), "instructions")
	bench("insn_wakeup_streams_4", whole("kernel_wakeup_streams_4"), "instructions")
	bench("insn_process_untraced_beside", whole("kernel_process_untraced_beside"), "instructions")
	bench("insn_switch_traced_beside", whole("kernel_switch_traced_beside"), "instructions")
	bench("insn_futex_wait_only_switch", whole("kernel_futex_wait_only_switch"), "instructions")
	bench("insn_call_untraced", whole("call_untraced"), "instructions")
	for (i = 1; i in ways; i++)
		bench("insn_call_" ways[i], whole("call_" ways[i]), "instructions")
	# the first three ways are our own
	for (i = 4; i in ways; i++)
		bench(ways[i] "_ratio", ratio(ways[i]), "ratio")
}

END {
	targets()
	recording()
	reading()
	commands()
	instructions()
	kernel_events()
	logs()

	print ""
	bench("on_ns", number("on_16"), "ns")
	bench("on_relaxed_ns", number("on_relaxed_16"), "ns")
	bench("on_times", number("on_times"), "ratio")
	bench("on_relaxed_times", number("on_relaxed_times"), "ratio")
	bench("on_alone_times", number("on_alone_times"), "ratio")
	bench("on_alone_percent", number("on_alone_percent"), "percent")
	bench("on_relaxed_alone_times", number("on_relaxed_alone_times"), "ratio")
	bench("on_relaxed_alone_percent", number("on_relaxed_alone_percent"), "percent")
	bench("lttng_times", number("lttng_times"), "ratio")
	bench("lttng_relaxed_times", number("lttng_relaxed_times"), "ratio")
	bench("off_call_ns", number("off_call"), "ns")
	bench("off_inline_ns", number("off_inline"), "ns")
	bench("lttng_ns", number("lttng_16"), "ns")
	bench("rdtsc_ns", number("rdtsc"), "ns")
	bench("lfence_rdtsc_ns", number("lfence_rdtsc"), "ns")
	bench("syscall_ns", number("syscall"), "ns")
	bench("scale2", number("scale2"), "ratio")
	bench("scale2_adding", number("scale2_adding"), "ratio")
	bench("read_ns", number("read"), "ns")
	bench("read_one_ns", number("read_one"), "ns")
	bench("babeltrace_ns", number("babeltrace"), "ns")
	bench("bytes_per_event", number("bytes"), "bytes")
	bench("bytes_per_event_4", number("bytes_4"), "bytes")
	bench("lttng_bytes_per_event", number("lttng_bytes"), "bytes")
	bench("dump_ns", number("dump"), "ns")
	bench("babeltrace_text_ns", number("babeltrace_text"), "ns")
	bench("stat_ns", number("stat"), "ns")
	bench("babeltrace_dummy_ns", number("babeltrace_dummy"), "ns")
	bench("export_ctf_ns", number("export_ctf"), "ns")
	bench("babeltrace_ctf_ns", number("babeltrace_ctf"), "ns")
	bench("export_chrome_ns", number("export_chrome"), "ns")
	bench("export_perfetto_ns", number("export_perfetto"), "ns")
	bench("insn_rseq", insn["insn_rseq"], "instructions")
	bench("insn_typed", insn["insn_typed"], "instructions")
	bench("insn_typed_off", insn["insn_typed_off"], "instructions")
	bench("insn_module", insn["insn_module"], "instructions")
	bench("insn_standin", digits(insn["insn_standin"]), "instructions")
	bench("insn_stream_further", further_stream(), "instructions")
	bench("insn_epoll", insn["insn_epoll"], "instructions")
	bench("insn_live_alone", insn["insn_live_alone"], "instructions")
	bench("insn_live", insn["insn_live"], "instructions")
	bench("insn_live_at_once", insn["insn_live_at_once"], "instructions")
	bench("insn_ioctl", insn["insn_ioctl"], "instructions")
	bench("insn_shared_memory", insn["insn_shared_memory"], "instructions")
	bench("insn_marker", insn["insn_marker"], "instructions")
	bench("insn_syscall", insn["insn_syscall"], "instructions")
	bench("insn_read", insn["insn_read"], "instructions")
	bench("insn_read_one", insn["insn_read_one"], "instructions")
	bench("insn_read_from_1", digits(insn["insn_read_from_1"]), "instructions")
	bench("insn_read_from_2", digits(insn["insn_read_from_2"]), "instructions")
	bench("insn_read_from_8", digits(insn["insn_read_from_8"]), "instructions")
	bench("irqs_off_us", irqs_off(), "us")
	bench("insn_read_1cpu", insn["insn_read_cpus_1"], "instructions")
	bench("insn_read_256cpu", insn["insn_read_cpus_256"], "instructions")
	bench_kernel_events()
	bench_texts()
	for (i = 1; i <= lines; i++)
		print line[i]
	exit failed
}
