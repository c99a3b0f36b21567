# SPDX-License-Identifier: GPL-2.0
# Drops one warning of a kernel log that is none of ours: "Dying CPU not properly vacated!".
# 6.12 says so now and then when a CPU goes offline under load; Linux has mended it since, with
# commit 52d15521eb75. Not dropped if the module is in the call trace.

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
