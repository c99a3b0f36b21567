/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PROBE_H
#define PXT_PROBE_H

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

struct tracepoint;

/**
 * struct pxt_probe - a tracepoint and its handler
 * @name: name of the tracepoint
 * @function: handler, with arguments as in its TP_PROTO
 * @optional: some kernels lack this tracepoint; the class works without it
 * @last: call it after the other handlers of the module
 * @tp: the tracepoint, or NULL if missing in this kernel; constant once the module is loaded
 * @registered: the handler is registered; guarded by pxt_tracepoints_lock
 */
struct pxt_probe {
	const char *name;
	void *function;
	bool optional;
	bool last;
	struct tracepoint *tp;
	bool registered;
};

/**
 * struct pxt_probes - the probes of a class
 * @class: POSIXTRACE_CLASS_*
 * @probe: array of probes
 * @count: number of probes; 0 if the class does not exist on this architecture
 * @begin: called before handlers are registered, if not NULL; may sleep
 */
struct pxt_probes {
	u64 class;
	struct pxt_probe *probe;
	size_t count;
	void (*begin)(void);
};

/* The number of a class. */
#define PXT_CLASS(name)		const_ilog2(POSIXTRACE_CLASS_##name)

extern const struct pxt_probes pxt_probes_sched;
extern const struct pxt_probes pxt_probes_process;
extern const struct pxt_probes pxt_probes_signal;
extern const struct pxt_probes pxt_probes_syscall;
extern const struct pxt_probes pxt_probes_strings;
extern const struct pxt_probes pxt_probes_fault;
extern const struct pxt_probes pxt_probes_irq;

#endif /* PXT_PROBE_H */
