# SPDX-License-Identifier: GPL-2.0
# Drops the kernel's warning "Dying CPU not properly vacated!" from a kernel log. Linux 6.12
# sometimes prints it when a CPU goes offline under load. Linux commit 52d15521eb75 fixes that.
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
