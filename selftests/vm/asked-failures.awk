# SPDX-License-Identifier: GPL-2.0
# Drops the kernel's messages with stack traces about allocations that a fault_*_test made fail from
# a kernel log. Keeps messages with the module in the trace: the module must return an error
# without a message.

function show_held(  i)
{
	for (i = 0; i < held; i++)
		print hold[i]
	held = 0
}

/fault_[a-z_]*: vmalloc error: / {
	show_held()
	ours = 0
	hold[held++] = $0
	next
}

held {
	hold[held++] = $0
	if (/\[posixtrace\]/)
		ours = 1
	# This is the end of the trace. A message with a longer trace is a different message.
	if (/<\/TASK>/ || held > 200) {
		if (ours || held > 200)
			show_held()
		held = 0
	}
	next
}

{ print }

END {
	show_held()
}
