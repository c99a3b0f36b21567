// SPDX-License-Identifier: GPL-2.0
/*
 * Names and fields of LTTng's kernel tracer in TSDL: see ctf_kernel_types.h. ctf_kernel.c writes
 * the fields in the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "export/ctf_kernel_types.h"
#include "export/ctf_metadata.h"
#include "util/escape.h"

#define NAME_MAX_LEN	48

#define WAKEUP		"string _comm; int32_t _tid; int32_t _prio; int32_t _target_cpu; " \
			"int32_t _waker_tid;"
#define PROCESS		"string _comm; int32_t _tid; int32_t _prio;"
#define FAULT		"xint64_t _address; xint64_t _ip; xint8_t _error_code;"
#define SOFTIRQ		"uint8_t _vec; string _name;"
#define VECTOR		"int32_t _vector;"
#define ARGS		"xint64_t _args[6];"
#define RET		"int64_t _ret; string _error;"
#define ID		"int32_t _id; "

static const struct {
	const char *name;
	const char *fields;
} fixed[CTF_FIXED_TYPES] = {
	[CTF_SCHED_SWITCH] = { "sched_switch",
		"string _prev_comm; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state; "
		"string _next_comm; int32_t _next_tid; int32_t _next_prio;" },
	[CTF_SCHED_WAKING] = { "sched_waking", WAKEUP },
	[CTF_SCHED_WAKEUP] = { "sched_wakeup", WAKEUP },
	[CTF_SCHED_WAKEUP_NEW] = { "sched_wakeup_new", WAKEUP },
	[CTF_SCHED_MIGRATE_TASK] = { "sched_migrate_task",
		"string _comm; int32_t _tid; int32_t _prio; int32_t _orig_cpu; "
		"int32_t _dest_cpu;" },
	[CTF_SCHED_PROCESS_FORK] = { "sched_process_fork",
		"string _parent_comm; int32_t _parent_tid; int32_t _parent_pid; "
		"string _child_comm; int32_t _child_tid; int32_t _child_pid;" },
	[CTF_SCHED_PROCESS_EXEC] = { "sched_process_exec",
		"string _filename; int32_t _tid; int32_t _old_tid;" },
	[CTF_SCHED_PROCESS_EXIT] = { "sched_process_exit", PROCESS " int32_t _exit_code;" },
	[CTF_SCHED_PROCESS_FREE] = { "sched_process_free", PROCESS },
	[CTF_TASK_RENAME] = { "task_rename",
		"int32_t _tid; string _oldcomm; string _newcomm;" },
	[CTF_SIGNAL_GENERATE] = { "signal_generate",
		"int32_t _sig; int32_t _errno; int32_t _code; string _comm; int32_t _pid; "
		"int32_t _group; int32_t _result;" },
	[CTF_SIGNAL_DELIVER] = { "signal_deliver",
		"int32_t _sig; int32_t _errno; int32_t _code; uint64_t _sa_handler; "
		"uint64_t _sa_flags;" },
	[CTF_PAGE_FAULT_USER] = { "x86_exceptions_page_fault_user", FAULT },
	[CTF_PAGE_FAULT_KERNEL] = { "x86_exceptions_page_fault_kernel", FAULT },
	[CTF_IRQ_ENTRY] = { "irq_handler_entry", "int32_t _irq; string _name;" },
	[CTF_IRQ_EXIT] = { "irq_handler_exit", "int32_t _irq; int32_t _ret;" },
	[CTF_SOFTIRQ_ENTRY] = { "irq_softirq_entry", SOFTIRQ },
	[CTF_SOFTIRQ_EXIT] = { "irq_softirq_exit", SOFTIRQ },
	[CTF_VECTOR_ENTRY] = { "irq_vector_entry", VECTOR },
	[CTF_VECTOR_EXIT] = { "irq_vector_exit", VECTOR },
	[CTF_SYSCALL_ENTRY] = { "syscall_entry_unknown", ID ARGS },
	[CTF_SYSCALL_EXIT] = { "syscall_exit_unknown", ID RET },
	[CTF_COMPAT_SYSCALL_ENTRY] = { "compat_syscall_entry_unknown", ID ARGS },
	[CTF_COMPAT_SYSCALL_EXIT] = { "compat_syscall_exit_unknown", ID RET },
};

void ctf_kernel_types_free(struct ctf_kernel_types *types)
{
	for (size_t i = 0; i < CTF_NAMED; i++)
		free(types->names[i]);
}

static bool is_name(const struct kevent_text *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if (!text->len || text->len > NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < text->len; i++) {
		if (!text->at[i] || !strchr(letters, text->at[i]))
			return false;
	}
	return true;
}

/*
 * Notes the name of a number. A forged log may have several names for a number: the first one is
 * used. It may also have several numbers with the same name: type names must be unique, so only the
 * first of them gets the name.
 */
static const char *learn(char **names, size_t count, size_t number, const struct kevent_text *name)
{
	if (names[number] || !is_name(name))
		return names[number];
	for (size_t i = 0; i < count; i++) {
		if (names[i] && strlen(names[i]) == name->len &&
		    !memcmp(names[i], name->at, name->len))
			return NULL;
	}
	names[number] = strndup(name->at, name->len);
	return names[number];
}

/* Notes the name of a system call. LTTng uses the name of the kernel function. */
static const char *learn_syscall(struct ctf_kernel_types *types, const struct kevent *kevent)
{
	const struct syscall_args *args = NULL;
	struct kevent_text name = kevent->name;

	if (kevent->compat)
		return learn(types->names + CTF_SYSCALLS, CTF_SYSCALLS, kevent->nr, &name);
	if (types->names[kevent->nr])
		return types->names[kevent->nr];
	if (is_name(&name))
		args = syscall_args_find(name.at, name.len);
	if (args && args->function)
		name = (struct kevent_text){ args->function, strlen(args->function) };
	if (!learn(types->names, CTF_SYSCALLS, kevent->nr, &name))
		return NULL;
	types->args[kevent->nr] = args;
	return types->names[kevent->nr];
}

unsigned int ctf_kernel_syscall(struct ctf_kernel_types *types, const struct kevent *kevent,
				bool is_exit)
{
	size_t first = kevent->compat ? CTF_SYSCALLS : 0;
	unsigned int id = kevent->compat ? CTF_COMPAT_SYSCALL_ENTRY : CTF_SYSCALL_ENTRY;

	/* LTTng calls system calls without a name "unknown". */
	if (kevent->nr >= 0 && kevent->nr < CTF_SYSCALLS &&
	    !(kevent->name.len == 7 && !memcmp(kevent->name.at, "unknown", 7)) &&
	    learn_syscall(types, kevent))
		id = CTF_FIRST_NAMED + 2 * (first + kevent->nr);
	id += is_exit;
	types->used[id] = true;
	return id;
}

unsigned int ctf_kernel_irq(struct ctf_kernel_types *types, const struct kevent *kevent)
{
	unsigned int id = CTF_VECTOR_ENTRY;

	if (kevent->kind == KEVENT_IRQ)
		id = CTF_IRQ_ENTRY;
	else if (kevent->kind == KEVENT_SOFTIRQ)
		id = CTF_SOFTIRQ_ENTRY;
	else if (kevent->number >= 0 && kevent->number < CTF_VECTORS &&
		 learn(types->names + 2 * CTF_SYSCALLS, CTF_VECTORS, kevent->number, &kevent->name))
		id = CTF_FIRST_NAMED + 2 * (2 * CTF_SYSCALLS + kevent->number);
	types->used[id] = true;
	types->used[id + 1] = true;
	return id;
}

const char *ctf_kernel_args(const struct ctf_kernel_types *types, unsigned int id)
{
	unsigned int nr = (id - CTF_FIRST_NAMED) / 2;

	return id >= CTF_FIRST_NAMED && nr < CTF_SYSCALLS && types->args[nr] ?
		types->args[nr]->args : NULL;
}

bool ctf_kernel_has_number(unsigned int id)
{
	return id >= CTF_SYSCALL_ENTRY && id <= CTF_COMPAT_SYSCALL_EXIT;
}

/* ------------------------------------------------------------------ */
/* TSDL									*/

static void put_args(struct buffer *text, const char *args)
{
	struct syscall_arg arg;
	const char *type;

	while (syscall_args_next(&args, &arg)) {
		switch (arg.type) {
		case SYSCALL_ARG_INT:
			type = "int32_t";
			break;
		case SYSCALL_ARG_LONG:
			type = "int64_t";
			break;
		case SYSCALL_ARG_UINT:
			type = "uint32_t";
			break;
		case SYSCALL_ARG_ULONG:
			type = "uint64_t";
			break;
		case SYSCALL_ARG_BITS:
			type = "xint32_t";
			break;
		case SYSCALL_ARG_TEXT:
			type = "string";
			break;
		default:
			type = "xint64_t";
		}
		buffer_printf(text, "%s _%.*s; ", type, arg.name_len, arg.name);
	}
}

static void put_event(struct buffer *text, unsigned int id, const char *prefix, const char *name,
		      const char *suffix, const char *fields)
{
	buffer_printf(text, "event {\n\tname = \"%s%s%s\";\n\tid = %u;\n", prefix, name, suffix,
		      id);
	buffer_printf(text, "\tstream_id = %d;\n\tfields := struct { %s };\n};\n\n",
		      CTF_CPU_STREAM, fields);
}

static void put_syscall(struct buffer *text, const struct ctf_kernel_types *types, unsigned int id,
			bool is_exit)
{
	const char *name = types->names[(id - CTF_FIRST_NAMED) / 2];
	const char *args = ctf_kernel_args(types, id);
	struct buffer fields = { };

	if (is_exit) {
		put_event(text, id, "syscall_exit_", name, "", RET);
		return;
	}
	if (args)
		put_args(&fields, args);
	else
		buffer_text(&fields, ARGS);
	buffer_byte(&fields, '\0');
	if (fields.failed)
		text->failed = true;
	else
		put_event(text, id, "syscall_entry_", name, "", (const char *)fields.data);
	buffer_free(&fields);
}

void ctf_kernel_describe(const struct ctf_kernel_types *types, struct buffer *text)
{
	for (unsigned int id = 0; id < CTF_TYPES; id++) {
		unsigned int at = (id - CTF_FIRST_NAMED) / 2;
		bool is_exit = (id - CTF_FIRST_NAMED) % 2;

		if (!types->used[id])
			continue;
		if (id < CTF_FIRST_NAMED)
			put_event(text, id, fixed[id].name, "", "", fixed[id].fields);
		else if (at >= 2 * CTF_SYSCALLS)
			put_event(text, id, "x86_irq_vectors_", types->names[at],
				  is_exit ? "_exit" : "_entry", VECTOR);
		else if (at >= CTF_SYSCALLS)
			put_event(text, id, is_exit ? "compat_syscall_exit_" :
				  "compat_syscall_entry_", types->names[at], "",
				  is_exit ? RET : ARGS);
		else
			put_syscall(text, types, id, is_exit);
	}
}
