# SPDX-License-Identifier: GPL-2.0
# Out of what "native", insn_bench and log_bench say, in this order: tables for people, in
# the markup of Documentation/performance.rst, and lines for scripts.

FNR == 1 { file++ }
file == 1 { median[$1] = $2; least[$1] = $3; most[$1] = $4; next }
file == 2 { insn[$1] = $2; next }
/^bench: / { line[++lines] = $0 }

function number(name)
{
	return name in median ? sprintf("%.3g", median[name]) : "-"
}

function noisy(name)
{
	if (!(name in median))
		return "-"
	return sprintf("%.3g (%.3g to %.3g)", median[name], least[name], most[name])
}

function rule(widths, count,    i, text)
{
	for (i = 1; i <= count; i++)
		text = text substr("========================================", 1, widths[i]) "  "
	sub(/ +$/, "", text)
	print text
}

function row(a, b, c)
{
	text = sprintf("%-24s  %-26s  %s", a, b, c)
	sub(/ +$/, "", text)
	print text
}

function begin_table(title, a, b, c)
{
	printf "%s\n\n", title
	rule(width, 3)
	row(a, b, c)
	rule(width, 3)
}

function end_table()
{
	rule(width, 3)
	print ""
}

function bench(metric, value, unit)
{
	if (value != "" && value != "-")
		printf "bench: %s %s %s\n", metric, value, unit
}

END {
	width[1] = 24; width[2] = 26; width[3] = 26
	begin_table("An event that is recorded, by one thread, ns: median (least to most)",
		    "Data, bytes", "posixtrace", "LTTng-UST")
	split("0 16 64 256 1024", lens)
	for (i = 1; i in lens; i++)
		row(lens[i], noisy("on_" lens[i]), noisy("lttng_" lens[i]))
	row("16, clock of the vDSO", noisy("on_vdso_16"), "")
	end_table()

	begin_table("What it is compared with, ns", "", "", "")
	row("RDTSC", noisy("rdtsc"), "")
	row("LFENCE and RDTSC", noisy("lfence_rdtsc"), "")
	row("clock_gettime()", noisy("gettime"), "")
	row("getppid()", noisy("syscall"), "")
	row("empty loop", noisy("empty"), "")
	end_table()

	begin_table("Not recorded, ns", "", "posixtrace", "LTTng-UST")
	row("by call", noisy("off_call"), "")
	row("inline", noisy("off_inline"), noisy("lttng_off"))
	end_table()

	begin_table("Two threads on two processors, 16 bytes", "", "posixtrace", "")
	row("one of them alone, ns", noisy("on_16_1"), "")
	row("both, ns for each event", noisy("on_16_2"), "")
	row("events, two over one", noisy("scale2"), "")
	row("clock_gettime(), likewise", noisy("scale2_none"), "")
	end_table()

	begin_table("An event that is read, 16 bytes, ns", "", "posixtrace", "babeltrace2")
	row("many at once", noisy("read"), noisy("babeltrace"))
	row("one by one", noisy("read_one"), "")
	row("bytes in memory or file", noisy("bytes"), noisy("lttng_bytes"))
	end_table()

	begin_table("Instructions, with those of the kernel", "", "", "")
	row("recorded by a sequence", insn["insn_rseq"], "")
	row("recorded by the module", insn["insn_ioctl"], "")
	row("write to trace_marker", insn["insn_marker"], "")
	row("getppid()", insn["insn_syscall"], "")
	row("read, many at once", insn["insn_read"], "")
	end_table()

	begin_table("... by event types that there are", "Event types", "recorded",
		    "stop and start; filter")
	split("10 1000 4000", lens)
	for (i = 1; i <= 3; i++)
		row(lens[i], insn["insn_rseq_types_" lens[i]],
		    insn["insn_start_stop_types_" lens[i]] "; " insn["insn_filter_types_" lens[i]])
	end_table()

	begin_table("... by streams that trace the process", "Streams", "recorded", "")
	split("1 4 32", lens)
	for (i = 1; i <= 3; i++)
		row(lens[i], insn["insn_rseq_streams_" lens[i]], "")
	end_table()

	begin_table("... by processors that there may be", "Processors", "recorded",
		    "memory for 1 MiB, bytes")
	split("1 2 8 64", lens)
	for (i = 1; i <= 4; i++)
		row(lens[i], insn["insn_rseq_cpus_" lens[i]], insn["memory_cpus_" lens[i]])
	end_table()

	bench("on_ns", number("on_16"), "ns")
	bench("off_call_ns", number("off_call"), "ns")
	bench("off_inline_ns", number("off_inline"), "ns")
	bench("lttng_ns", number("lttng_16"), "ns")
	bench("rdtsc_ns", number("rdtsc"), "ns")
	bench("lfence_rdtsc_ns", number("lfence_rdtsc"), "ns")
	bench("syscall_ns", number("syscall"), "ns")
	bench("scale2", number("scale2"), "ratio")
	bench("scale2_clock_gettime", number("scale2_none"), "ratio")
	bench("read_ns", number("read"), "ns")
	bench("read_one_ns", number("read_one"), "ns")
	bench("babeltrace_ns", number("babeltrace"), "ns")
	bench("bytes_per_event", number("bytes"), "bytes")
	bench("lttng_bytes_per_event", number("lttng_bytes"), "bytes")
	bench("insn_rseq", insn["insn_rseq"], "instructions")
	bench("insn_ioctl", insn["insn_ioctl"], "instructions")
	bench("insn_marker", insn["insn_marker"], "instructions")
	bench("insn_syscall", insn["insn_syscall"], "instructions")
	bench("insn_read", insn["insn_read"], "instructions")
	for (i = 1; i <= lines; i++)
		print line[i]
}
