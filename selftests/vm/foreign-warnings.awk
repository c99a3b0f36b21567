# SPDX-License-Identifier: GPL-2.0
# Drops a warning of the kernel from a kernel log: "Dying CPU not properly vacated!". Linux 6.12
# prints it sometimes when a CPU goes offline under load. Commit 52d15521eb75 of Linux fixes that.
# A warning with the module in the call trace is kept.

/-+\[ cut here \]-+/ {
	if (inside)
		print block
	inside = 1
	block = $0
	next
}

inside {
	block = block "\n" $0
	if (!/---\[ end trace /)
		next
	if (block !~ /Dying CPU not properly vacated!/ || block ~ /\[posixtrace\]/)
		print block
	inside = 0
	next
}

{ print }

END {
	if (inside)
		print block
}
