# SPDX-License-Identifier: GPL-2.0
# Writes a litmus test without its marks, and again for each barrier, with that barrier weakened.
#
# A mark is at the end of a line: "// weak: OLD => NEW", or "// weak NAME: OLD => NEW" if the lines
# with this name change together. An empty NEW removes OLD. Each barrier has a mark: a test
# omits barriers that do not affect its outcome.
#
# usage: awk -f variants.awk -v dir=DIRECTORY TEST.litmus    DIRECTORY/NAME, DIRECTORY/NAME+1, ...;
#	prints "NAME" and "NAME+N what is weakened"

BEGIN {
	# LDAXR and STLXR need no separate mark: they are part of a compare-and-swap.
	barrier = "smp_[a-z]|[^_]xchg\\(|cmpxchg(_release)?\\(|atomic_[a-z_]*return\\(|" \
		"spin_(un)?lock\\(|rcu_read_(un)?lock|synchronize_|rcu_assign_|" \
		"DMB|DSB|ISB|LDAR|STLR|SWPAL|CASAL"
}

function fail(what)
{
	printf "%s, line %d: %s\n", FILENAME, FNR, what >"/dev/stderr"
	failed = 1
	exit 1
}

function replaced(line, old, new)
{
	return substr(line, 1, index(line, old) - 1) new \
		substr(line, index(line, old) + length(old))
}

FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.litmus$/, "", name)
	if ($1 != "C" && $1 != "AArch64" || $2 != name || NF != 2)
		fail("begin with \"C " name "\" or \"AArch64 " name "\"")
	language = $1
	next
}

{
	lines = FNR
	at = match($0, / *\/\/ weak[^:]*: /)
	if (!at) {
		if (/weak.*=>/)
			fail("write \"// weak: OLD => NEW\"")
		if (!comment && $0 ~ barrier)
			fail("a barrier without a mark: write \"// weak: OLD => NEW\"")
		if ($0 == "(*")
			comment = 1
		else if ($0 == " *)")
			comment = 0
		text[FNR] = $0
		next
	}
	text[FNR] = substr($0, 1, at - 1)
	mark = substr($0, at + RLENGTH)
	group = substr($0, at, RLENGTH)
	gsub(/^ *\/\/ weak ?|: $/, "", group)
	arrow = match(mark, / =>( |$)/)
	if (!arrow)
		fail("no \"=>\" in the mark")
	old[FNR] = substr(mark, 1, arrow - 1)
	new[FNR] = substr(mark, arrow + RLENGTH)
	if (!index(text[FNR], old[FNR]))
		fail("\"" old[FNR] "\" is not in this line")
	if (replaced(text[FNR], old[FNR], "") ~ barrier)
		fail("two barriers in one line: give each a line and a mark")
	if (group == "" || !(group in number)) {
		count++
		what[count] = "line " FNR ": " old[FNR]
		if (group != "")
			number[group] = count
	} else {
		what[number[group]] = what[number[group]] "; line " FNR ": " old[FNR]
	}
	variant[FNR] = group == "" ? count : number[group]
}

END {
	if (failed)
		exit 1
	if (!count)
		fail("marks no barrier: write \"// weak: OLD => NEW\" behind each")
	for (i = 0; i <= count; i++) {
		to = name (i ? "+" i : "")
		file = dir "/" to ".litmus"
		print language " " to >file
		for (line = 2; line <= lines; line++)
			print(line in variant && variant[line] == i ? \
				replaced(text[line], old[line], new[line]) : text[line]) >file
		close(file)
		print language, to, what[i]
	}
}
