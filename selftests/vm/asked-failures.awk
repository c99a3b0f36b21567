# SPDX-License-Identifier: GPL-2.0
# Drops from a kernel log what the kernel itself says, with a stack trace, when memory is
# short where a fault_*_test made it so; not if that was in our module, which must not
# complain about what its callers are told.

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
	# the end of the trace; more than that is another message
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
