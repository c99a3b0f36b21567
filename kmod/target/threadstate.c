// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the states of traced threads. There are no events about states that began before the
 * stream. Other tracers call this a state dump.
 *
 * Nothing here stops a thread, faults, or waits for a lock of the traced process. What a thread
 * waits for is in its registers, at the end of its kernel stack, and in its memory. A thread may
 * wake up, and even exit, while these are read. The result is only used if the thread has not run
 * in between.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "compat.h"
#include "ring/clock.h"
#include "target/callnames.h"
#include "target/gate.h"
#include "target/memory.h"
#include "target/target.h"
#include "target/threadstate.h"
#include "target/traced.h"

/* Maximum thread ids to look up in each call, traced or not: each may take a cache miss. */
#define IDS_MAX		4096
/* Maximum thread ids between two calls of cond_resched(). Callers with small rooms call often. */
#define STEP		64
/* Maximum attempts for a thread that changes its state all the time. */
#define TRIES		3

/* ------------------------------------------------------------------ */
/* What a blocked thread waits for					*/

/**
 * struct sample - what the scheduler knows of a thread
 * @on_cpu: it has a CPU
 * @runnable: it waits for one
 * @state: TASK_*; 0 unless it is blocked
 * @switches: how often it has left a CPU
 *
 * If two samples are equal, the thread did not change its state between them.
 */
struct sample {
	bool on_cpu;
	bool runnable;
	unsigned int state;
	unsigned long switches;
};

static struct sample take_sample(const struct task_struct *task)
{
	struct sample sample = { .on_cpu = pxt_task_on_cpu(task) };

	sample.runnable = !sample.on_cpu && pxt_task_runnable(task);
	if (!sample.on_cpu && !sample.runnable)
		sample.state = READ_ONCE(task->__state);
	/* The scheduler counts with plain stores. If it counts here, the second sample differs. */
	sample.switches = data_race(READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw));
	/* The caller reads the clock, registers and memory between two samples. */
	smp_rmb();
	return sample;
}

static bool is_unchanged(const struct task_struct *task, const struct sample *before)
{
	struct sample now;

	/*
	 * Read registers and memory before the second sample: pairs with the scheduler's barriers.
	 */
	smp_rmb();
	now = take_sample(task);
	return now.on_cpu == before->on_cpu && now.runnable == before->runnable &&
	       now.state == before->state && now.switches == before->switches;
}

/* Was the last system call of a thread a call of the 32-bit interface? */
static bool is_compat(struct task_struct *task)
{
#if defined(CONFIG_X86_64) && defined(CONFIG_IA32_EMULATION)
	return task_thread_info(task)->status & TS_COMPAT;
#elif defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
	return is_compat_thread(task_thread_info(task));
#else
	return false;
#endif
}

/*
 * Copy the registers of a thread that is still blocked. When it has exited, the kernel frees its
 * stack after a grace period, or gives it to another thread.
 */
static bool copy_regs(struct task_struct *task, const struct sample *sample, struct pt_regs *regs)
{
	bool copied;

	rcu_read_lock();
	copied = is_unchanged(task, sample) &&
		 !copy_from_kernel_nofault(regs, task_pt_regs(task), sizeof(*regs));
	rcu_read_unlock();
	return copied;
}

static void read_call(struct task_struct *task, const struct sample *sample,
		      struct posixtrace_state *to)
{
	struct pt_regs regs;
	unsigned long args[ARRAY_SIZE(to->args)];
	int nr;
	u32 i;

	if (!copy_regs(task, sample, &regs))
		return;
	to->flags |= POSIXTRACE_STATE_USER;
	to->ip = instruction_pointer(&regs);
	nr = syscall_get_nr(task, &regs);
	if (nr < 0)
		return;
	to->flags |= POSIXTRACE_STATE_CALL;
	if (is_compat(task))
		to->flags |= POSIXTRACE_STATE_COMPAT;
	to->call = nr;
	strscpy(to->call_name, pxt_call_name(nr, to->flags & POSIXTRACE_STATE_COMPAT),
		sizeof(to->call_name));
	syscall_get_arguments(task, &regs, args);
	for (i = 0; i < ARRAY_SIZE(args); i++)
		to->args[i] = args[i];
}

static bool is_futex_call(const struct posixtrace_state *state)
{
	if (!(state->flags & POSIXTRACE_STATE_CALL))
		return false;
#ifdef CONFIG_X86_64
	if (state->flags & POSIXTRACE_STATE_COMPAT)
		return state->call == __NR_ia32_futex;
#endif
	return !(state->flags & POSIXTRACE_STATE_COMPAT) && state->call == __NR_futex;
}

/* Copy from a resident page of @mm, with its lock held. Returns false if it is not resident. */
static bool copy_resident(struct mm_struct *mm, unsigned long address, void *to, size_t size)
{
	struct page *page;
	void *from;

	if (pxt_get_resident_page(mm, address & PAGE_MASK, &page) != 1)
		return false;
	from = kmap_local_page(page);
	memcpy(to, from + offset_in_page(address), size);
	kunmap_local(from);
	put_page(page);
	return true;
}

static bool copy_words(struct mm_struct *mm, unsigned long address, void *to, size_t size)
{
	size_t first = min_t(size_t, size, PAGE_SIZE - offset_in_page(address));

	return copy_resident(mm, address, to, first) &&
	       (first == size || copy_resident(mm, address + first, to + first, size - first));
}

/*
 * Does not wait for the lock of the address space: the process may hold it while it waits for a
 * file system of its user. Dropping the last reference could wait for such a file system as well,
 * so a worker drops it.
 */
static void read_futex(struct task_struct *task, struct posixtrace_state *to)
{
	unsigned long address = to->args[0];
	struct mm_struct *mm;

	if (!is_futex_call(to) || !IS_ALIGNED(address, sizeof(u32)))
		return;
	mm = get_task_mm(task);
	if (!mm)
		return;
	if (mmap_read_trylock(mm)) {
		if (copy_words(mm, address, to->futex, sizeof(to->futex)))
			to->flags |= POSIXTRACE_STATE_FUTEX;
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
}

/* May the controller know addresses of the thread? Not during execve(). */
static bool may_see(const struct pxt_target *target, const struct task_struct *task)
{
	const struct mm_struct *mm = READ_ONCE(target->mm);

	return !test_bit(PXT_TARGET_HIDDEN, &target->works) && mm && pxt_thread_uses(task, mm);
}

/* ------------------------------------------------------------------ */
/* The state of a thread							*/

/*
 * Convert @then from the scheduler's clock of @cpu to the clock that now shows @time. Returns 0 if
 * @then is unknown.
 */
static u64 time_of(u64 then, u32 cpu, u64 time)
{
	u64 now;

	if (!then)
		return 0;
	now = pxt_sched_clock(cpu);
	return now > then ? time - (now - then) : time;
}

#ifdef CONFIG_SCHED_INFO
static u64 arrived(const struct task_struct *task)
{
	/* As in take_sample(). */
	return data_race(READ_ONCE(task->sched_info.last_arrival));
}

static u64 queued(const struct task_struct *task)
{
	/* As in take_sample(). */
	return data_race(READ_ONCE(task->sched_info.last_queued));
}
#else
static u64 arrived(const struct task_struct *task)
{
	return 0;
}

static u64 queued(const struct task_struct *task)
{
	return 0;
}
#endif

/* For a thread that has a CPU, or waits for one. */
static void fill_runnable(const struct task_struct *task, struct posixtrace_state *to, bool on_cpu)
{
	u64 since = on_cpu ? arrived(task) : queued(task);

	if (on_cpu)
		to->flags |= POSIXTRACE_STATE_RUNNING;
	to->since = time_of(since, to->cpu, to->time);
	if (to->since)
		to->flags |= POSIXTRACE_STATE_SINCE;
}

static void fill_blocked(struct task_struct *task, const struct pxt_target *target,
			 struct pid_namespace *ns, const struct sample *sample,
			 struct posixtrace_state *to)
{
	/* in_iowait does not change while the thread is blocked. */
	if (data_race(!!task->in_iowait))
		to->flags |= POSIXTRACE_STATE_IO;
	if (task_active_pid_ns(task) == ns)
		to->flags |= POSIXTRACE_STATE_SAME_IDS;
	/* The thread last got a CPU at that time. When it blocked is not known. */
	to->since = time_of(arrived(task), to->cpu, to->time);
	if (may_see(target, task)) {
		read_call(task, sample, to);
		read_futex(task, to);
	}
}

/* Returns false if the thread has changed its state during the call. */
static bool fill_state(struct task_struct *task, const struct pxt_target *target,
		       struct pid_namespace *ns, struct posixtrace_state *to)
{
	const struct sample sample = take_sample(task);

	/* This is also 0 for a thread that is just being woken: it counts as runnable. */
	to->state = __task_state_index(sample.state, 0);
	to->cpu = task_cpu(task);
	to->time = pxt_clock_now();
	if (to->state)
		fill_blocked(task, target, ns, &sample, to);
	else
		fill_runnable(task, to, sample.on_cpu);
	return is_unchanged(task, &sample);
}

static void fill_ids(struct task_struct *task, struct pid_namespace *ns,
		     struct posixtrace_state *to)
{
	to->pid = task_tgid_nr_ns(task, ns);
	to->tid = task_pid_nr_ns(task, ns);
	rcu_read_lock();
	to->ppid = task_tgid_nr_ns(rcu_dereference(task->real_parent), ns);
	rcu_read_unlock();
	to->start = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(task->start_time)));
	/* The name may change during the copy, but is always terminated. */
	strscpy_pad(to->name, task->comm, sizeof(to->name));
}

/* Returns false if the thread has exited. */
static bool fill(struct task_struct *task, const struct pxt_target *target,
		 struct pid_namespace *ns, struct posixtrace_state *to)
{
	u32 tries = 0;

	do {
		memset(to, 0, sizeof(*to));
		fill_ids(task, ns, to);
	} while (!fill_state(task, target, ns, to) && ++tries < TRIES);
	if (tries == TRIES) {
		memset(to, 0, sizeof(*to));
		fill_ids(task, ns, to);
		to->cpu = task_cpu(task);
		to->time = pxt_clock_now();
		to->state = POSIXTRACE_STATE_UNKNOWN;
	}
	return to->pid && to->tid && !(READ_ONCE(task->flags) & PF_EXITING);
}

/* ------------------------------------------------------------------ */
/* All threads								*/

/**
 * pxt_threadstate_fill() - get the states of traced threads
 * @link: link of a stream with kernel events
 * @ns: pid namespace of its controller
 * @to: result
 * @room: number of states at @to
 * @next: id where to start; advances to the next one, -1 after the last thread
 *
 * Threads that are created or end during the call may be missed, but have events. A thread that has
 * exited but was not reaped has no state. Looks at a bounded number of ids, so there may be further
 * threads even if @room is not used up.
 *
 * Context: may sleep.
 * Return: number of states.
 */
u32 pxt_threadstate_fill(const struct pxt_link *link, struct pid_namespace *ns,
			 struct posixtrace_state *to, u32 room, pid_t *next)
{
	struct pxt_target *target;
	struct task_struct *task;
	u32 count = 0, i;

	for (i = 0; i < IDS_MAX && count < room && *next >= 0; i++) {
		if (i % STEP == 0)
			cond_resched();
		task = pxt_traced_next(link, ns, PIDTYPE_PID, next, &target);
		if (!task)
			continue;
		if (fill(task, target, ns, &to[count]))
			count++;
		pxt_target_put(target);
		put_task_struct(task);
	}
	return count;
}
