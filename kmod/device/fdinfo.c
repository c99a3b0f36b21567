// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/PID/fdinfo/FD: describes an open file of the device to users who may inspect that process.
 * This is the only way to find out which streams exist.
 *
 * Process ids are relative to the proc instance being read; 0 for a process that it does not show.
 */
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/string_helpers.h>

#include "device/fdinfo.h"
#include "stream/stream.h"
#include "target/attachment.h"
#include "target/target.h"

static pid_t pid_for(struct seq_file *m, struct pid *pid)
{
	return pid_nr_ns(pid, proc_pid_ns(file_inode(m->file)->i_sb));
}

/**
 * pxt_fdinfo_none() - describe a file without a role
 * @m: output
 */
void pxt_fdinfo_none(struct seq_file *m)
{
	seq_puts(m, "posixtrace-role:\tnone\n");
}

/**
 * pxt_fdinfo_attachment() - describe a file of role target
 * @m: output
 * @att: attachment of the file
 *
 * Context: may sleep.
 */
void pxt_fdinfo_attachment(struct seq_file *m, const struct pxt_attachment *att)
{
	const struct pxt_target *target = pxt_attachment_bound(att);

	seq_puts(m, "posixtrace-role:\ttarget\n");
	seq_printf(m, "posixtrace-pid:\t%d\n", pid_for(m, att->pid));
	seq_printf(m, "posixtrace-types:\t%u\n", target ? READ_ONCE(target->table->count) : 0);
}

static const char *state_of(const struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	if (stream->dead)
		return "ended";
	if (stream->full)
		return "full";
	return stream->running ? "running" : "suspended";
}

static void show_processes(struct seq_file *m, struct pxt_stream *stream)
{
	struct pxt_target *target;

	seq_puts(m, "posixtrace-processes:");
	mutex_lock(&stream->link.table->lock);
	list_for_each_entry(target, &stream->link.table->targets, table_node) {
		if (rcu_access_pointer(target->slot[stream->link.slot]) == &stream->link)
			seq_printf(m, "\t%d", pid_for(m, target->pid));
		cond_resched();
	}
	mutex_unlock(&stream->link.table->lock);
	seq_putc(m, '\n');
}

/**
 * pxt_fdinfo_stream() - describe a file of role stream
 * @m: output
 * @stream: not locked; the caller has a reference
 *
 * Context: may sleep.
 */
void pxt_fdinfo_stream(struct seq_file *m, struct pxt_stream *stream)
{
	const char *state;

	mutex_lock(&stream->lock);
	state = state_of(stream);
	mutex_unlock(&stream->lock);
	seq_puts(m, "posixtrace-role:\tstream\n");
	seq_printf(m, "posixtrace-pid:\t%d\n", pid_for(m, stream->owner));
	seq_printf(m, "posixtrace-stream:\t%llu\n", stream->number);
	seq_printf(m, "posixtrace-state:\t%s\n", state);
	seq_printf(m, "posixtrace-log:\t%d\n", !!stream->log);
	show_processes(m, stream);
	/* Last, and escaped to one line, because the controller chooses the name. */
	seq_puts(m, "posixtrace-name:\t");
	seq_escape_str(m, stream->attr.name, ESCAPE_HEX | ESCAPE_NAP | ESCAPE_APPEND, "\\");
	seq_putc(m, '\n');
}
