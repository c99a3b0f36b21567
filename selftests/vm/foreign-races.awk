# SPDX-License-Identifier: GPL-2.0
# Drops the KCSAN reports of a kernel log that do not name our module: the kernel
# has races of its own.

/={40,}/ {
	if (!inside) {
		inside = 1
		block = $0
		next
	}
	block = block "\n" $0
	if (block !~ /BUG: KCSAN/ || block ~ /\[posixtrace\]/)
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
