# SPDX-License-Identifier: GPL-2.0
# Drops KCSAN reports without the module from a kernel log: the kernel itself has races, also in
# functions that the module calls (epoll, file systems of logs). A report is kept if its title
# names a function of the module, or if the module is in the call trace and the title names a
# function that works with the caller's memory.

function is_ours(block, title)
{
	match(block, /BUG: KCSAN: [^\n]*/)
	title = substr(block, RSTART, RLENGTH)
	return title ~ /\[posixtrace\]/ ||
	       (block ~ /\[posixtrace\]/ &&
		title ~ /(in|\/) _*(mem|str|find_|bitmap_|cpumask_|list_|rb_|crc32|copy_)/)
}

/={40,}/ {
	if (!inside) {
		inside = 1
		block = $0
		next
	}
	block = block "\n" $0
	if (block !~ /BUG: KCSAN/ || is_ours(block))
		print block
	inside = 0
	next
}

inside {
	block = block "\n" $0
	next
}

{ print }

END {
	if (inside)
		print block
}
