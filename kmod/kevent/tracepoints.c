// SPDX-License-Identifier: GPL-2.0
/*
 * Registers tracepoint handlers for kernel events; the other files here have the handlers.
 * Tracepoints are found by name. They have a handler only while a stream requests their class, and
 * for some time after the last such stream.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <linux/posixtrace.h>

#include "kevent/probe.h"
#include "kevent/runnable.h"
#include "kevent/tracepoints.h"
#include "kevent/watch.h"

/* ------------------------------------------------------------------ */
/* Registration								*/

static const struct pxt_probes *const all[] = {
	&pxt_probes_sched,
	&pxt_probes_process,
	&pxt_probes_signal,
	&pxt_probes_syscall,
	&pxt_probes_strings,
	&pxt_probes_fault,
	&pxt_probes_irq,
};

/*
 * Time for which handlers remain registered after the last stream of a class. Each registration and
 * removal interrupts all CPUs, so the delay limits how often users can cause that. The time is
 * shorter for system calls: their handlers slow down the system calls of all processes, and only
 * few users may request them.
 */
#define KEEP_SECONDS		60
#define KEEP_SYSCALL_SECONDS	10

/**
 * struct class_use - use of the handlers of a class
 * @users: streams that request the class
 * @ready: all handlers are registered, and remain so while there are users
 * @removal: removes the handlers; queued with a delay when the last user leaves
 *
 * @users changes, and @removal is queued, under pxt_class_use_lock. @ready changes under both
 * locks.
 */
struct class_use {
	unsigned int users;
	bool ready;
	struct delayed_work removal;
};

/* The use of each entry of all[]. */
static struct class_use uses[ARRAY_SIZE(all)];
static DEFINE_SPINLOCK(pxt_class_use_lock);

/*
 * Guards the set of registered handlers. May be held for long: it nests outside the kernel's
 * tracepoint locks, which are held while all CPUs are interrupted. Therefore only CREATE, which a
 * fatal signal can end, and the work that removes handlers take it.
 */
static DEFINE_MUTEX(pxt_tracepoints_lock);

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (j = 0; j < all[i]->count; j++) {
			if (!strcmp(tp->name, all[i]->probe[j].name))
				all[i]->probe[j].tp = tp;
		}
	}
}

/* Called with pxt_tracepoints_lock. A handler may still be running on return. */
static void unregister(const struct pxt_probes *probes)
{
	struct pxt_probe *probe;

	for (probe = probes->probe; probe < probes->probe + probes->count; probe++) {
		if (probe->registered)
			tracepoint_probe_unregister(probe->tp, probe->function, NULL);
		probe->registered = false;
	}
}

static bool begin_removal(struct class_use *use)
{
	bool unused;

	spin_lock(&pxt_class_use_lock);
	unused = !use->users;
	if (unused)
		use->ready = false;
	spin_unlock(&pxt_class_use_lock);
	return unused;
}

static void remove_unused(struct class_use *use)
{
	mutex_lock(&pxt_tracepoints_lock);
	if (begin_removal(use))
		unregister(all[use - uses]);
	mutex_unlock(&pxt_tracepoints_lock);
}

static void removal(struct work_struct *work)
{
	remove_unused(container_of(to_delayed_work(work), struct class_use, removal));
}

/* Called with pxt_class_use_lock. */
static void remove_later(struct class_use *use)
{
	bool short_time = all[use - uses]->class &
			  (POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_STRINGS);

	mod_delayed_work(system_unbound_wq, &use->removal,
			 HZ * (short_time ? KEEP_SYSCALL_SECONDS : KEEP_SECONDS));
}

/**
 * pxt_tracepoints_init() - find the tracepoints of this kernel
 */
void pxt_tracepoints_init(void)
{
	size_t i;

	pxt_runnable_init();
	pxt_watch_init();
	for (i = 0; i < ARRAY_SIZE(uses); i++)
		INIT_DELAYED_WORK(&uses[i].removal, removal);
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

/**
 * pxt_tracepoints_exit() - remove all handlers
 *
 * All streams are gone, and no stream can be created. pxt_process_exit() waits for running
 * handlers.
 * Context: may sleep.
 */
void pxt_tracepoints_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		cancel_delayed_work_sync(&uses[i].removal);
		remove_unused(&uses[i]);
	}
}

static bool is_complete(const struct pxt_probes *probes)
{
	size_t i;

	for (i = 0; i < probes->count; i++) {
		if (!probes->probe[i].tp && !probes->probe[i].optional)
			return false;
	}
	return probes->count;
}

/**
 * pxt_tracepoints_classes() - get the classes that this kernel can record
 *
 * Return: POSIXTRACE_CLASS_*.
 */
u64 pxt_tracepoints_classes(void)
{
	u64 classes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		classes |= is_complete(all[i]) ? all[i]->class : 0;
	return classes;
}

/*
 * Register all handlers not registered yet. After a failure, the caller must queue
 * class_use.removal, which removes the handlers registered here.
 */
static int register_all(const struct pxt_probes *probes)
{
	struct pxt_probe *probe;
	int err;

	if (probes->begin)
		probes->begin();
	for (probe = probes->probe; probe < probes->probe + probes->count; probe++) {
		if (!probe->tp || probe->registered)
			continue;
		err = tracepoint_probe_register_prio(probe->tp, probe->function, NULL,
						     TRACEPOINT_DEFAULT_PRIO - probe->last);
		if (err)
			return err;
		probe->registered = true;
	}
	return 0;
}

/* Add a user if the handlers are registered. */
static bool use_ready(struct class_use *use)
{
	bool ready;

	spin_lock(&pxt_class_use_lock);
	ready = use->ready;
	if (ready)
		use->users++;
	spin_unlock(&pxt_class_use_lock);
	return ready;
}

static int get_class(struct class_use *use)
{
	int err;

	if (use_ready(use))
		return 0;
	err = mutex_lock_killable(&pxt_tracepoints_lock);
	if (err)
		return err;
	if (!use_ready(use)) {
		err = register_all(all[use - uses]);
		spin_lock(&pxt_class_use_lock);
		if (err) {
			remove_later(use);
		} else {
			use->ready = true;
			use->users++;
		}
		spin_unlock(&pxt_class_use_lock);
	}
	mutex_unlock(&pxt_tracepoints_lock);
	return err;
}

/* Remove a user from each of @classes that is among the first @count entries of all[]. */
static void put_classes(u64 classes, size_t count)
{
	spin_lock(&pxt_class_use_lock);
	while (count--) {
		if (all[count]->class & classes && !--uses[count].users)
			remove_later(&uses[count]);
	}
	spin_unlock(&pxt_class_use_lock);
}

/**
 * pxt_tracepoints_get() - add a stream with kernel events
 * @classes: POSIXTRACE_CLASS_*, checked
 *
 * Context: may sleep. Waits only for classes without handlers.
 * Return: 0; -ENOMEM; -EINTR if the caller is killed.
 */
int pxt_tracepoints_get(u64 classes)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (!(all[i]->class & classes))
			continue;
		err = get_class(&uses[i]);
		if (err) {
			put_classes(classes, i);
			return err;
		}
	}
	return 0;
}

/**
 * pxt_tracepoints_put() - remove a stream with kernel events
 * @classes: from pxt_tracepoints_get()
 *
 * Does not wait for registrations. The handlers remain for a while, so one may still run after this
 * function returns.
 */
void pxt_tracepoints_put(u64 classes)
{
	if (classes)
		put_classes(classes, ARRAY_SIZE(all));
}
