// SPDX-License-Identifier: GPL-2.0
/*
 * Writes kernel events as LTTng does: see ctf_kernel.h.
 *
 * An interrupt is recorded when it ends, but becomes two CTF events, at its start and at its end.
 * CTF requires the events of a CPU in order of time, so they are held back in memory. If a CPU has
 * too many held events, the older half of them is written. If the events of all CPUs take too much
 * memory, the older half of each CPU is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/switches.h"
#include "export/ctf_kernel.h"
#include "export/ctf_kernel_types.h"
#include "export/ctf_metadata.h"
#include "export/ctf_trace.h"
#include "util/escape.h"
#include "util/threads.h"

#define HELD_MAX	1024		/* held events per CPU */
#define HELD_MIN	16
#define HELD_ALL	(64 << 10)	/* held events of all CPUs, but at least HELD_MIN per CPU */
#define HELD_BYTES	(16U << 20)	/* size of all held events */
#define TEXT_MAX	255		/* bytes of a text from the log */

#define PRIO_BASE	100	/* LTTng subtracts this from the kernel's priority */
#define HANDLER_OTHER	2	/* not a handler address, nor SIG_DFL (0) or SIG_IGN (1) */

/* Page fault error codes of x86. */
#define FAULT_PROTECTION	0x01
#define FAULT_WRITE		0x02
#define FAULT_USER		0x04
#define FAULT_EXEC		0x10

#define LTTNG_MAJOR	2
#define LTTNG_MINOR	13	/* LTTng version: viewers recognise the names by it */

struct held {
	uint64_t time;
	uint64_t lost;
	unsigned int id;
	size_t at;		/* offset in hold.bytes */
	size_t len;
};

/* Events of a CPU that have not been written. */
struct hold {
	struct held *events;
	size_t count;
	size_t room;
	struct buffer bytes;
};

struct ctf_kernel {
	struct export *export;
	struct ctf_trace trace;
	struct ctf_kernel_types types;
	struct switches *switches;
	struct threads *threads;
	struct hold *holds;	/* index: CPU */
	size_t nr_holds;
	size_t nr_used;		/* number of CPUs with events so far */
	size_t held_bytes;	/* bytes of all held events */
	uint64_t lost;		/* events lost before the next one to be held */
	uint64_t changed;
	int at;			/* descriptor of the output directory, parent of the trace */
	int err;		/* error from functions that cannot return one */
};

/* ------------------------------------------------------------------ */
/* Held events								*/

static int compare(const void *a, const void *b)
{
	const struct held *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->at < other->at ? -1 : one->at > other->at;
}

static int write_held(struct ctf_kernel *kernel, unsigned int cpu, const struct held *held)
{
	struct buffer *packet;
	bool changed;
	int err = ctf_trace_begin(&kernel->trace, cpu, held->id, held->time, held->lost, held->len,
				  &packet, &changed);

	if (err)
		return err;
	kernel->changed += changed;
	buffer_put(packet, kernel->holds[cpu].bytes.data + held->at, held->len);
	return packet->failed ? -ENOMEM : 0;
}

/* Writes all events of a CPU except the latest @keep. */
static int release(struct ctf_kernel *kernel, unsigned int cpu, size_t keep)
{
	struct hold *hold = &kernel->holds[cpu];
	struct buffer kept = { };
	size_t written;
	int err = 0;

	if (hold->bytes.failed)
		return -ENOMEM;
	if (hold->count <= keep)
		return 0;
	written = hold->count - keep;
	qsort(hold->events, hold->count, sizeof(*hold->events), compare);
	for (size_t i = 0; !err && i < written; i++)
		err = write_held(kernel, cpu, &hold->events[i]);
	for (size_t i = 0; i < keep; i++) {
		struct held *held = &hold->events[written + i];
		size_t at = kept.len;

		buffer_put(&kept, hold->bytes.data + held->at, held->len);
		held->at = at;
		hold->events[i] = *held;
	}
	hold->count = keep;
	kernel->held_bytes -= hold->bytes.len - kept.len;
	buffer_free(&hold->bytes);
	hold->bytes = kept;
	return err;
}

/* Writes the older half of the events of each CPU. The cost is proportional to the memory freed. */
static int release_all(struct ctf_kernel *kernel)
{
	int err = 0;

	while (!err && kernel->held_bytes > HELD_BYTES / 2)
		for (size_t cpu = 0; !err && cpu < kernel->nr_holds; cpu++)
			err = release(kernel, cpu, kernel->holds[cpu].count / 2);
	return err;
}

static int make_directory(struct ctf_kernel *kernel)
{
	if (kernel->trace.directory >= 0)
		return 0;
	kernel->trace.first_time = kernel->export->first_time;
	return ctf_trace_directory(kernel->at, "kernel", &kernel->trace.directory);
}

static int find_hold(struct ctf_kernel *kernel, unsigned int cpu, struct hold **hold)
{
	size_t room = cpu + 1;

	if (room > kernel->nr_holds) {
		struct hold *holds = realloc(kernel->holds, room * sizeof(*holds));

		if (!holds)
			return -ENOMEM;
		memset(holds + kernel->nr_holds, 0, (room - kernel->nr_holds) * sizeof(*holds));
		kernel->holds = holds;
		kernel->nr_holds = room;
	}
	*hold = &kernel->holds[cpu];
	return 0;
}

/* Begins an event. The caller appends its fields to the buffer and calls end_event(). */
static struct buffer *begin_event(struct ctf_kernel *kernel, unsigned int cpu, unsigned int id,
				  uint64_t time)
{
	static struct buffer nowhere;
	struct hold *hold;
	int err = make_directory(kernel);

	if (!err)
		err = find_hold(kernel, cpu, &hold);
	if (!err && hold->count == hold->room) {
		size_t room = hold->room ? 2 * hold->room : HELD_MIN;
		struct held *events = realloc(hold->events, room * sizeof(*events));

		if (events) {
			kernel->nr_used += !hold->room;
			hold->events = events;
			hold->room = room;
		} else {
			err = -ENOMEM;
		}
	}
	if (err) {
		kernel->err = err;
		buffer_reset(&nowhere);
		return &nowhere;
	}
	hold->events[hold->count] = (struct held){
		.time = time, .id = id, .at = hold->bytes.len, .lost = kernel->lost,
	};
	kernel->lost = 0;
	kernel->types.used[id] = true;
	return &hold->bytes;
}

static void end_event(struct ctf_kernel *kernel, unsigned int cpu)
{
	size_t limit;
	struct hold *hold;
	struct held *held;

	if (kernel->err)
		return;
	hold = &kernel->holds[cpu];
	held = &hold->events[hold->count++];
	held->len = hold->bytes.len - held->at;
	kernel->held_bytes += held->len;
	limit = HELD_ALL / kernel->nr_used;
	if (limit > HELD_MAX)
		limit = HELD_MAX;
	if (limit < HELD_MIN)
		limit = HELD_MIN;
	if (hold->count >= limit)
		kernel->err = release(kernel, cpu, limit / 2);
	if (!kernel->err && kernel->held_bytes > HELD_BYTES)
		kernel->err = release_all(kernel);
}

/* ------------------------------------------------------------------ */
/* Fields								*/

static void put_text(struct buffer *to, const char *text, size_t len)
{
	escape_plain(to, text, len < TEXT_MAX ? len : TEXT_MAX);
	buffer_byte(to, '\0');
}

static void put_comm(struct buffer *to, const struct running *thread)
{
	put_text(to, thread->comm, strlen(thread->comm));
}

/* Text from the log ends at its first null byte. */
static void put_field(struct buffer *to, const struct kevent_text *text)
{
	put_text(to, text->at ? text->at : "", strnlen(text->at ? text->at : "", text->len));
}

/* Appends the context of an event: the running thread, 0 if unknown. */
static void put_context(struct buffer *to, const struct running *thread)
{
	buffer_number(to, thread->pid, 4);
	buffer_number(to, thread->tid, 4);
	put_comm(to, thread);
}

static void put_prio(struct buffer *to, int64_t prio)
{
	buffer_number(to, prio - PRIO_BASE, 4);
}

/* Names the idle thread of a CPU as Linux does, because analyses recognise it by this name. */
static void name_idle(struct running *thread, uint32_t cpu)
{
	if (!thread->tid)
		snprintf(thread->comm, sizeof(thread->comm), "swapper/%u", (unsigned int)cpu);
}

static void put_switch(void *arg, uint32_t cpu, uint64_t time, const struct running *prev,
		       int state, const struct running *next)
{
	struct ctf_kernel *kernel = arg;
	struct buffer *to = begin_event(kernel, cpu, CTF_SCHED_SWITCH, time);
	struct running from = *prev, other = *next;

	name_idle(&from, cpu);
	name_idle(&other, cpu);
	put_context(to, &from);
	put_comm(to, &from);
	buffer_number(to, from.tid, 4);
	put_prio(to, from.prio);
	buffer_number(to, state, 8);
	put_comm(to, &other);
	buffer_number(to, other.tid, 4);
	put_prio(to, other.prio);
	end_event(kernel, cpu);
}

/* Writes both of LTTng's events for a wake-up: sched_waking, then sched_wakeup. */
static void put_wakeup(struct ctf_kernel *kernel, const struct event *event,
		       const struct kevent *kevent, const struct running *thread)
{
	const struct running waker = { .pid = kevent->waker_pid, .tid = kevent->waker_tid };
	unsigned int first = kevent->new ? CTF_SCHED_WAKEUP_NEW : CTF_SCHED_WAKING;
	unsigned int last = kevent->new ? CTF_SCHED_WAKEUP_NEW : CTF_SCHED_WAKEUP;

	for (unsigned int id = first; id <= last; id++) {
		struct buffer *to = begin_event(kernel, event->cpu, id, event->time);

		put_context(to, &waker);
		put_comm(to, thread);
		buffer_number(to, kevent->tid, 4);
		put_prio(to, kevent->prio);
		buffer_number(to, kevent->target_cpu, 4);
		buffer_number(to, kevent->waker_tid, 4);
		end_event(kernel, event->cpu);
	}
}

/* Appends LTTng's events sched_process_exit and sched_process_free. */
static void put_end(struct ctf_kernel *kernel, const struct event *event,
		    const struct kevent *kevent, unsigned int id, const struct running *thread,
		    pid_t tid)
{
	struct buffer *to = begin_event(kernel, event->cpu, id, event->time);

	put_context(to, thread);
	put_comm(to, thread);
	buffer_number(to, tid, 4);
	put_prio(to, thread->prio);
	if (id == CTF_SCHED_PROCESS_EXIT)
		buffer_number(to, kevent->exit_code, 4);
	end_event(kernel, event->cpu);
}

static void put_exit(struct ctf_kernel *kernel, const struct event *event,
		     const struct kevent *kevent, const struct running *thread)
{
	put_end(kernel, event, kevent, CTF_SCHED_PROCESS_EXIT, thread, thread->tid);
	if (!kevent->group_dead)
		return;
	switches_end_process(kernel->switches, thread, event->time);
	if (thread->tid != thread->pid)
		put_end(kernel, event, kevent, CTF_SCHED_PROCESS_FREE, thread, thread->tid);
	put_end(kernel, event, kevent, CTF_SCHED_PROCESS_FREE, thread, thread->pid);
}

static void put_irq(struct ctf_kernel *kernel, const struct event *event,
		    const struct kevent *kevent, const struct running *thread)
{
	uint64_t duration = kevent->duration;
	unsigned int id = ctf_kernel_irq(&kernel->types, kevent);

	if (duration > event->time)
		duration = event->time;
	for (int is_exit = 0; is_exit <= 1; is_exit++) {
		struct buffer *to = begin_event(kernel, event->cpu, id + is_exit,
						event->time - (is_exit ? 0 : duration));

		put_context(to, thread);
		buffer_number(to, kevent->number, id == CTF_SOFTIRQ_ENTRY ? 1 : 4);
		if (id == CTF_SOFTIRQ_ENTRY || (id == CTF_IRQ_ENTRY && !is_exit))
			put_field(to, &kevent->name);
		else if (id == CTF_IRQ_ENTRY)
			buffer_number(to, 1, 4);	/* handled */
		end_event(kernel, event->cpu);
	}
}

static void put_fault(struct buffer *to, const struct kevent *kevent)
{
	buffer_number(to, kevent->address, 8);
	buffer_number(to, kevent->ip, 8);
	buffer_number(to, (kevent->protection ? FAULT_PROTECTION : 0) |
		      (kevent->write ? FAULT_WRITE : 0) | (kevent->user ? FAULT_USER : 0) |
		      (kevent->exec ? FAULT_EXEC : 0), 1);
}

static void put_signal(struct buffer *to, const struct event *event, const struct kevent *kevent,
		       const struct running *thread)
{
	buffer_number(to, kevent->sig, 4);
	buffer_number(to, 0, 4);	/* errno */
	buffer_number(to, kevent->code, 4);
	if (event->type == POSIXTRACE_SIGNAL_GENERATE) {
		put_comm(to, thread);
		buffer_number(to, kevent->tid, 4);
		buffer_number(to, kevent->group, 4);
		buffer_number(to, kevent->result, 4);
	} else {
		buffer_number(to, kevent->action == KEVENT_HANDLER ? HANDLER_OTHER :
			      kevent->action == KEVENT_IGNORED, 8);
		buffer_number(to, kevent->flags, 8);
	}
}

/* Appends an argument. The text of a string argument is not recorded, only its address. */
static void put_arg(struct buffer *to, enum syscall_arg_type type, uint64_t word)
{
	switch (type) {
	case SYSCALL_ARG_TEXT:
		buffer_integer(to, word, 16, "0x", 0);
		buffer_byte(to, '\0');
		break;
	case SYSCALL_ARG_INT:
	case SYSCALL_ARG_UINT:
	case SYSCALL_ARG_BITS:
		buffer_number(to, word, 4);
		break;
	default:
		buffer_number(to, word, 8);
	}
}

static void put_args(struct buffer *to, const struct kevent *kevent, const char *args)
{
	struct syscall_arg arg = { .type = SYSCALL_ARG_WORD };

	for (int i = 0; i < KEVENT_ARGS && (!args || syscall_args_next(&args, &arg)); i++)
		put_arg(to, arg.type, (uint64_t)kevent->args[i]);
}

static void put_syscall(struct ctf_kernel *kernel, struct buffer *to, const struct event *event,
			const struct kevent *kevent, unsigned int id)
{
	char number[KEVENT_ERROR];
	struct kevent_text error;

	if (ctf_kernel_has_number(id))
		buffer_number(to, kevent->nr, 4);
	if (event->type == POSIXTRACE_SYSCALL_EXIT) {
		buffer_number(to, kevent->result, 8);
		/*
		 * Never write an empty text: babeltrace2 would show an earlier text in its place.
		 */
		error = kevent_error(event, kevent, number);
		put_field(to, &error);
	} else {
		put_args(to, kevent, ctf_kernel_args(&kernel->types, id));
	}
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Returns the id for an event that becomes a single event. */
static unsigned int find_id(struct ctf_kernel *kernel, const struct event *event,
			    const struct kevent *kevent)
{
	switch (event->type) {
	case POSIXTRACE_MIGRATE:
		return CTF_SCHED_MIGRATE_TASK;
	case POSIXTRACE_FORK:
		return CTF_SCHED_PROCESS_FORK;
	case POSIXTRACE_EXEC:
		return CTF_SCHED_PROCESS_EXEC;
	case POSIXTRACE_RENAME:
		return CTF_TASK_RENAME;
	case POSIXTRACE_SIGNAL_GENERATE:
		return CTF_SIGNAL_GENERATE;
	case POSIXTRACE_SIGNAL_DELIVER:
		return CTF_SIGNAL_DELIVER;
	case POSIXTRACE_PAGE_FAULT:
		return kevent->user ? CTF_PAGE_FAULT_USER : CTF_PAGE_FAULT_KERNEL;
	default:
		return ctf_kernel_syscall(&kernel->types, kevent,
					  event->type == POSIXTRACE_SYSCALL_EXIT);
	}
}

static void put_single(struct ctf_kernel *kernel, const struct event *event,
		       const struct kevent *kevent, const struct running *thread)
{
	const struct running sender = { .pid = kevent->sender_pid, .tid = kevent->sender_tid };
	static const struct running unknown;
	unsigned int id = find_id(kernel, event, kevent);
	struct buffer *to = begin_event(kernel, event->cpu, id, event->time);

	put_context(to, id == CTF_SCHED_MIGRATE_TASK ? &unknown :
		    id == CTF_SIGNAL_GENERATE ? &sender : thread);
	switch (event->type) {
	case POSIXTRACE_MIGRATE:
		put_comm(to, thread);
		buffer_number(to, kevent->tid, 4);
		put_prio(to, kevent->prio);
		buffer_number(to, kevent->orig_cpu, 4);
		buffer_number(to, kevent->dest_cpu, 4);
		break;
	case POSIXTRACE_FORK:
		put_comm(to, thread);
		buffer_number(to, kevent->tid, 4);
		buffer_number(to, event->pid, 4);
		/* A child inherits the name of its parent. */
		put_comm(to, thread);
		buffer_number(to, kevent->child_tid, 4);
		buffer_number(to, kevent->child_pid, 4);
		break;
	case POSIXTRACE_EXEC:
		put_field(to, &kevent->filename);
		buffer_number(to, kevent->tid, 4);
		buffer_number(to, kevent->tid, 4);
		break;
	case POSIXTRACE_RENAME:
		buffer_number(to, kevent->tid, 4);
		put_field(to, &kevent->oldcomm);
		put_field(to, &kevent->newcomm);
		break;
	case POSIXTRACE_SIGNAL_GENERATE:
	case POSIXTRACE_SIGNAL_DELIVER:
		put_signal(to, event, kevent, thread);
		break;
	case POSIXTRACE_PAGE_FAULT:
		put_fault(to, kevent);
		break;
	default:
		put_syscall(kernel, to, event, kevent, id);
	}
	end_event(kernel, event->cpu);
}

static void put_event(struct ctf_kernel *kernel, const struct event *event,
		      const struct kevent *kevent, const struct running *thread)
{
	switch (event->type) {
	case POSIXTRACE_SWITCH_OUT:
		switches_out(kernel->switches, event, kevent, thread);
		if (kevent->reason == KEVENT_ENDED && thread->tid != thread->pid) {
			switches_finish(kernel->switches, event->cpu);
			put_end(kernel, event, kevent, CTF_SCHED_PROCESS_FREE, thread, thread->tid);
		}
		break;
	case POSIXTRACE_SWITCH_IN:
		switches_in(kernel->switches, event, kevent, thread);
		break;
	case POSIXTRACE_WAKEUP:
		put_wakeup(kernel, event, kevent, thread);
		break;
	case POSIXTRACE_EXIT:
		put_exit(kernel, event, kevent, thread);
		break;
	case POSIXTRACE_IRQ:
		put_irq(kernel, event, kevent, thread);
		break;
	default:
		put_single(kernel, event, kevent, thread);
	}
}

int ctf_kernel_event(struct ctf_kernel *kernel, const struct event *event)
{
	struct running thread;
	struct kevent kevent;
	bool is_kernel = kevent_read(event, &kevent);
	uint32_t number;
	int err;

	/* LTTng has no such event types. These events are in the trace "user" instead. */
	if (event->type == POSIXTRACE_SYSCALL_TEXT || event->type == POSIXTRACE_FUTEX_WAIT)
		return 0;
	if (event->cpu >= CTF_CPUS_MAX || event->pid <= 0 || (!is_kernel && !event->user))
		return 0;
	err = threads_find(kernel->threads, event->pid, event_thread_key(event), &number);
	if (err < 0)
		return err;
	/*
	 * Threads beyond the limit share this number, so it cannot be shown where each of them
	 * runs.
	 */
	if (number == THREADS_OTHERS)
		return 0;
	if (is_kernel)
		kernel->lost += kernel->export->newly_lost;
	if (is_kernel && event->type <= POSIXTRACE_MIGRATE)
		switches_begin(kernel->switches);
	err = switches_see(kernel->switches, event, is_kernel ? &kevent : NULL, number, &thread);
	if (err)
		return err;
	if (is_kernel)
		put_event(kernel, event, &kevent, &thread);
	return kernel->err ? kernel->err : is_kernel;
}

/* ------------------------------------------------------------------ */
/* The trace								*/

static void put_environment(struct buffer *text, const struct posixtrace_host_info *host)
{
	buffer_text(text,
		    "env {\n"
		    "\tdomain = \"kernel\";\n"
		    "\tsysname = \"Linux\";\n"
		    "\ttracer_name = \"lttng-modules\";\n");
	buffer_printf(text,
		      "\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttracer_patchlevel = 0;\n",
		      LTTNG_MAJOR, LTTNG_MINOR);
	if (host->release[0]) {
		buffer_text(text, "\tkernel_release = ");
		escape_string(text, host->release, strlen(host->release), false);
		buffer_text(text, ";\n");
	}
	buffer_text(text, "\tmade_by = \"posixtrace\";\n};\n\n");
}

static void put_metadata(const struct ctf_kernel *kernel, struct buffer *text)
{
	struct posixtrace_host_info host = { };

	if (source_get_host(kernel->export->source, &host))
		memset(&host, 0, sizeof(host));
	ctf_metadata_trace(text, kernel->trace.uuid, host.boot_id);
	put_environment(text, &host);
	ctf_metadata_stream(text, CTF_CPU_STREAM,
			    "\t\tint32_t _pid;\n\t\tint32_t _tid;\n\t\tstring _procname;\n");
	ctf_kernel_describe(&kernel->types, text);
}

int ctf_kernel_end(struct ctf_kernel *kernel, uint64_t *changed)
{
	struct buffer text = { };
	int err;

	switches_finish_all(kernel->switches);
	err = kernel->err;
	for (size_t cpu = 0; !err && cpu < kernel->nr_holds; cpu++)
		err = release(kernel, cpu, 0);
	*changed += kernel->changed;
	/* Without kernel events there is no kernel trace. */
	if (err || kernel->trace.directory < 0)
		return err;
	put_metadata(kernel, &text);
	err = ctf_trace_end(&kernel->trace, kernel->export->last_time, &text);
	buffer_free(&text);
	return err;
}

int ctf_kernel_new(struct export *export, int directory, struct ctf_kernel **kernel)
{
	struct ctf_kernel *new = calloc(1, sizeof(*new));
	int err;

	*kernel = new;
	if (!new)
		return -ENOMEM;
	new->export = export;
	new->at = directory;
	new->trace.directory = -1;
	err = ctf_trace_uuid(new->trace.uuid);
	if (!err)
		err = switches_new(put_switch, new, &new->switches);
	if (!err)
		err = threads_new(EXPORT_THREADS, &new->threads);
	return err;
}

void ctf_kernel_free(struct ctf_kernel *kernel)
{
	if (!kernel)
		return;
	for (size_t cpu = 0; cpu < kernel->nr_holds; cpu++) {
		free(kernel->holds[cpu].events);
		buffer_free(&kernel->holds[cpu].bytes);
	}
	free(kernel->holds);
	ctf_trace_free(&kernel->trace);
	ctf_kernel_types_free(&kernel->types);
	switches_free(kernel->switches);
	threads_free(kernel->threads);
	free(kernel);
}
