// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of a user: a share of the streams, locked memory, and processor time of kernel
 * threads. target/rights.c checks the right to trace a process.
 *
 * A stream is not counted if its creator has CAP_SYS_RESOURCE. Any other stream counts once for
 * each of these:
 *
 * - the effective user id of its creator;
 * - for each user namespace around the creator, the user that created the namespace, so that users
 *   do not get more streams by creating namespaces. If root created it, the namespace itself counts
 *   like a user, so that the containers of root do not share one limit.
 *
 * User ids are in the initial namespace. Each of these shares is limited to user_streams. If a
 * stream counts because of a namespace, the last eighth of the limit is reserved for processes with
 * CAP_SYS_RESOURCE in that namespace, so that other users of a container cannot lock out its root.
 *
 * The kernel threads that write the logs of a share may use 1 % of the time of one processor. They
 * may exceed this briefly, and then rest until the average is met. Until then the share is kept,
 * even without streams.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include <linux/posixtrace.h>

#include "ring/noalloc.h"
#include "ring/user.h"

/* Streams reserved for processes with CAP_SYS_RESOURCE. */
#define PXT_STREAMS_RESERVED	32

static unsigned int user_streams = 64;
module_param(user_streams, uint, 0644);
MODULE_PARM_DESC(user_streams, "Streams a user without CAP_SYS_RESOURCE may have (default 64)");

/*
 * A synchronization may interrupt CPUs that might not be running traced processes. Each share, and
 * each stream, may do so a hundred times per second, and ten times in a row after a pause.
 */
#define INTERRUPT_NS	(10 * NSEC_PER_MSEC)
#define INTERRUPT_BURST	(10 * INTERRUPT_NS)

/* A share takes 100 ns to pay back each nanosecond that its kernel threads run. */
#define WORK_RATIO	100

/* How far threads may run ahead after a sufficient pause, in ns. */
#define WORK_AHEAD	(10 * NSEC_PER_MSEC)

/**
 * struct pxt_share - the streams of a user, or of a namespace created by root
 * @node: in the list of shares
 * @uid: the user; unused if @ns is set
 * @ns: the namespace, a reference; or NULL
 * @streams: number of streams
 * @interrupts: when the interrupts of its streams so far would end if each took INTERRUPT_NS, ns of
 *	CLOCK_MONOTONIC; atomic
 * @threads: kernel threads that work for it
 * @paid: when the processor time of the threads is paid back, ns of CLOCK_MONOTONIC; guarded by
 *	pxt_paid_lock
 *
 * All other fields are guarded by pxt_shares_lock. There are about as many shares as users with
 * streams. A share is freed once it has neither streams nor threads, and its threads could again
 * run ahead by WORK_AHEAD. A new share may also run ahead by WORK_AHEAD, so a user gains nothing
 * when a share is freed and created again.
 */
struct pxt_share {
	struct list_head node;
	kuid_t uid;
	struct user_namespace *ns;
	unsigned int streams;
	atomic64_t interrupts;
	unsigned int threads;
	u64 paid;
};

/*
 * Guards the list of shares, and their members except @interrupts and @paid. Nests outside
 * pxt_paid_lock.
 */
static DEFINE_MUTEX(pxt_shares_lock);
static LIST_HEAD(pxt_shares);

/* Guards pxt_share.paid. A spinlock, so that no low-priority holder delays CREATE of others. */
static DEFINE_SPINLOCK(pxt_paid_lock);

static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(pxt_shares_sweep, sweep);

/* Check a capability in the initial namespace. Not audited, because most users lack it. */
static bool privileged(int cap)
{
	return ns_capable_noaudit(&init_user_ns, cap);
}

static struct pxt_share *find_share(kuid_t uid, struct user_namespace *ns)
{
	struct pxt_share *share;

	list_for_each_entry(share, &pxt_shares, node) {
		if (share->ns == ns && (ns || uid_eq(share->uid, uid)))
			return share;
	}
	return NULL;
}

static void free_spares(struct list_head *spares)
{
	struct pxt_share *share, *next;

	list_for_each_entry_safe(share, next, spares, node)
		kfree(share);
}

/* Called without the lock: a memory cgroup may make the caller wait, but must not delay others. */
static int make_spares(struct list_head *spares, u32 count)
{
	struct pxt_share *share;

	for (; count; count--) {
		share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
		if (!share) {
			free_spares(spares);
			return -ENOMEM;
		}
		list_add(&share->node, spares);
	}
	return 0;
}

static struct pxt_share *make_share(struct list_head *spares, kuid_t uid, struct user_namespace *ns)
{
	struct pxt_share *share = list_first_entry(spares, struct pxt_share, node);

	share->uid = uid;
	share->ns = ns ? get_user_ns(ns) : NULL;
	/*
	 * Start with no interrupts left. Otherwise a user could get more of them with a new share.
	 */
	atomic64_set(&share->interrupts, ktime_get_ns() + INTERRUPT_BURST + INTERRUPT_NS);
	share->paid = 0;
	list_move(&share->node, &pxt_shares);
	return share;
}

static void free_share(struct pxt_share *share)
{
	list_del(&share->node);
	if (share->ns)
		put_user_ns(share->ns);
	kfree(share);
}

/* When the threads of a share may again run ahead by WORK_AHEAD, in ns of CLOCK_MONOTONIC. */
static u64 rested(const struct pxt_share *share)
{
	u64 paid;

	spin_lock(&pxt_paid_lock);
	paid = share->paid;
	spin_unlock(&pxt_paid_lock);
	return paid ? paid + WORK_AHEAD * WORK_RATIO : 0;
}

/* Called with the lock after a stream or a thread has left the share. */
static void left_share(struct pxt_share *share)
{
	u64 now = ktime_get_ns();

	if (share->streams || share->threads)
		return;
	if (rested(share) <= now)
		free_share(share);
	else
		schedule_delayed_work(&pxt_shares_sweep, nsecs_to_jiffies(rested(share) - now) + 1);
}

/* Free shares that were kept because of a debt. */
static void sweep(struct work_struct *work)
{
	struct pxt_share *share, *next;
	u64 now = ktime_get_ns(), soonest = U64_MAX;

	mutex_lock(&pxt_shares_lock);
	list_for_each_entry_safe(share, next, &pxt_shares, node) {
		if (share->streams || share->threads)
			continue;
		if (rested(share) <= now)
			free_share(share);
		else
			soonest = min(soonest, rested(share));
	}
	mutex_unlock(&pxt_shares_lock);
	if (soonest != U64_MAX)
		schedule_delayed_work(&pxt_shares_sweep, nsecs_to_jiffies(soonest - now) + 1);
}

/**
 * pxt_user_init() - tell lockdep that memory is never allocated with the lock of the shares
 */
void pxt_user_init(void)
{
	pxt_noalloc(&pxt_shares_lock);
}

/**
 * pxt_user_exit() - free the remaining shares
 *
 * All streams are gone. Context: may sleep.
 */
void pxt_user_exit(void)
{
	struct pxt_share *share, *next;

	cancel_delayed_work_sync(&pxt_shares_sweep);
	list_for_each_entry_safe(share, next, &pxt_shares, node)
		free_share(share);
}

static bool counted(const struct pxt_charge *charge, const struct pxt_share *share)
{
	u32 i;

	for (i = 0; i < charge->nr_shares; i++) {
		if (charge->shares[i] == share)
			return true;
	}
	return false;
}

static int charge_share(struct pxt_charge *charge, struct list_head *spares, kuid_t uid,
			struct user_namespace *ns, unsigned int limit)
{
	struct pxt_share *share = find_share(uid, ns);

	if (share && counted(charge, share))
		return 0;
	if (share ? share->streams >= limit : !limit)
		return -EAGAIN;
	if (!share)
		share = make_share(spares, uid, ns);
	share->streams++;
	charge->shares[charge->nr_shares++] = share;
	return 0;
}

/*
 * Charge the user first: a share for a user has the full limit, a share for the creator of a
 * namespace a lower one. If the user is also the creator, charge only once, with the full limit.
 */
static int charge_shares(struct pxt_charge *charge, struct list_head *spares)
{
	unsigned int limit = READ_ONCE(user_streams), reserve = limit / 8;
	struct user_namespace *ns;
	int err;

	err = charge_share(charge, spares, current_euid(), NULL, limit);
	for (ns = current_user_ns(); !err && ns != &init_user_ns; ns = ns->parent) {
		bool root = ns_capable_noaudit(ns, CAP_SYS_RESOURCE);

		err = charge_share(charge, spares, ns->owner,
				   uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns : NULL,
				   root ? limit : limit - reserve);
	}
	return err;
}

/* Charge the user, and each namespace except the initial one, which is level 0. */
static int charge_all(struct pxt_charge *charge)
{
	u32 most = current_user_ns()->level + 1;
	LIST_HEAD(spares);
	int err;

	charge->shares = kcalloc(most, sizeof(*charge->shares), GFP_KERNEL_ACCOUNT);
	if (!charge->shares)
		return -ENOMEM;
	err = make_spares(&spares, most);
	if (err)
		return err;
	mutex_lock(&pxt_shares_lock);
	err = charge_shares(charge, &spares);
	mutex_unlock(&pxt_shares_lock);
	free_spares(&spares);
	return err;
}

static void uncharge_shares(struct pxt_charge *charge)
{
	struct pxt_share *share;

	mutex_lock(&pxt_shares_lock);
	while (charge->nr_shares) {
		share = charge->shares[--charge->nr_shares];
		share->streams--;
		left_share(share);
	}
	mutex_unlock(&pxt_shares_lock);
	kfree(charge->shares);
	charge->shares = NULL;
}

/**
 * pxt_user_charge_stream() - charge one more stream to the calling process
 * @charge: zeroed; on success, to be undone with pxt_user_uncharge()
 *
 * The capabilities of the caller are checked now, and never again for this stream.
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if a share is used up; -ENOMEM.
 */
int pxt_user_charge_stream(struct pxt_charge *charge)
{
	int err = 0;

	charge->places = POSIXTRACE_STREAMS_MAX;
	charge->memlock = rlimit(RLIMIT_MEMLOCK);
	if (!privileged(CAP_SYS_RESOURCE)) {
		charge->places -= PXT_STREAMS_RESERVED;
		err = charge_all(charge);
	}
	if (err)
		uncharge_shares(charge);
	else if (!privileged(CAP_IPC_LOCK))
		charge->cred = get_current_cred();
	return err;
}

/* The limit of the controller. A log thread cannot use rlimit(): it has the limits of kthreadd. */
static unsigned long memlock_limit(const struct pxt_charge *charge)
{
	return current->flags & PF_KTHREAD ? charge->memlock : rlimit(RLIMIT_MEMLOCK);
}

/**
 * pxt_user_memory_limit() - get the memory that the creator of a stream may lock
 * @charge: charge of a stream of the calling process
 *
 * Return: bytes; ~0 without a limit.
 */
u64 pxt_user_memory_limit(const struct pxt_charge *charge)
{
	return charge->cred ? memlock_limit(charge) : ~0ULL;
}

/**
 * pxt_user_memory_left() - get the memory that the creator of a stream may still lock
 * @charge: charge of a stream of the calling process
 *
 * The limit minus the memory that the real user has locked. May have shrunk by the time memory is
 * charged.
 *
 * Return: bytes; ~0 without a limit.
 */
u64 pxt_user_memory_left(const struct pxt_charge *charge)
{
	u64 limit = pxt_user_memory_limit(charge) >> PAGE_SHIFT, now;

	if (!charge->cred)
		return ~0ULL;
	now = atomic_long_read(&charge->cred->user->locked_vm);
	return now < limit ? (limit - now) << PAGE_SHIFT : 0;
}

/**
 * pxt_user_charge_memory() - charge memory that cannot be swapped
 * @charge: charge of a stream of the calling process, or of the calling log thread
 * @bytes: whole pages
 *
 * Counts as locked memory of the real user, as in perf and io_uring. A log thread uses the
 * RLIMIT_MEMLOCK of the creator at CREATE.
 *
 * Return: 0; -ENOMEM if the user would exceed RLIMIT_MEMLOCK of the process.
 */
int pxt_user_charge_memory(struct pxt_charge *charge, u64 bytes)
{
	unsigned long limit = memlock_limit(charge) >> PAGE_SHIFT;
	unsigned long pages = bytes >> PAGE_SHIFT;
	long now;

	if (!charge->cred)
		return 0;
	now = atomic_long_read(&charge->cred->user->locked_vm);
	do {
		if (now + pages > limit)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&charge->cred->user->locked_vm, &now, now + pages));
	charge->pages += pages;
	return 0;
}

/**
 * pxt_user_uncharge_memory() - uncharge memory that was freed
 * @charge: charge of a stream
 * @bytes: whole pages that were charged
 */
void pxt_user_uncharge_memory(struct pxt_charge *charge, u64 bytes)
{
	unsigned long pages = bytes >> PAGE_SHIFT;

	if (!charge->cred)
		return;
	charge->pages -= pages;
	atomic_long_sub(pages, &charge->cred->user->locked_vm);
}

/**
 * pxt_user_uncharge_stream() - uncharge a stream and most of its memory
 * @charge: from pxt_user_charge_stream()
 * @left: charged bytes that are not freed yet
 *
 * Context: may sleep, any process.
 */
void pxt_user_uncharge_stream(struct pxt_charge *charge, u64 left)
{
	uncharge_shares(charge);
	if (charge->cred)
		pxt_user_uncharge_memory(charge, ((u64)charge->pages << PAGE_SHIFT) - left);
}

/**
 * pxt_user_uncharge() - uncharge a stream and its memory
 * @charge: from pxt_user_charge_stream(); may be uncharged repeatedly
 *
 * Context: may sleep, any process.
 */
void pxt_user_uncharge(struct pxt_charge *charge)
{
	uncharge_shares(charge);
	if (!charge->cred)
		return;
	atomic_long_sub(charge->pages, &charge->cred->user->locked_vm);
	put_cred(charge->cred);
	charge->cred = NULL;
	charge->pages = 0;
}

/*
 * Count one interrupt. Returns the nanoseconds to wait before making it. If it must wait and @wait
 * is not set, returns -EAGAIN and does not count it.
 */
static s64 take_interrupt(atomic64_t *interrupts, u64 now, bool wait)
{
	s64 over = atomic64_read(interrupts), early;

	do {
		early = over - (s64)(now + INTERRUPT_BURST);
		if (early > 0 && !wait)
			return -EAGAIN;
	} while (!atomic64_try_cmpxchg(interrupts, &over, max_t(s64, over, now) + INTERRUPT_NS));
	return max_t(s64, early, 0);
}

/**
 * pxt_user_interrupt() - check if a stream may interrupt CPUs that might run other processes
 * @charge: charge of a stream that is locked and not uncharged
 * @wait: wait until it may
 *
 * The wait is at most ten milliseconds per stream of the share, because only one task waits for
 * each stream. Signals do not end it.
 *
 * Context: may sleep.
 * Return: true if so; always true with @wait.
 */
bool pxt_user_interrupt(struct pxt_charge *charge, bool wait)
{
	u64 now = ktime_get_ns();
	s64 delay = take_interrupt(&charge->interrupts, now, wait), more;
	u32 i;

	for (i = 0; i < charge->nr_shares && delay >= 0; i++) {
		more = take_interrupt(&charge->shares[i]->interrupts, now, wait);
		delay = more < 0 ? more : max(delay, more);
	}
	if (delay > 0)
		schedule_timeout_idle(nsecs_to_jiffies(delay) + 1);
	return delay >= 0;
}

/* ------------------------------------------------------------------ */
/* Kernel threads							*/

/**
 * pxt_user_work_init() - charge a kernel thread to the shares of a stream
 * @work: zeroed; to be undone with pxt_user_work_destroy()
 * @charge: charge of the stream
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_user_work_init(struct pxt_user_work *work, const struct pxt_charge *charge)
{
	u32 i;

	if (!charge->nr_shares)
		return 0;
	work->shares = kmemdup(charge->shares, charge->nr_shares * sizeof(*charge->shares),
			       GFP_KERNEL_ACCOUNT);
	if (!work->shares)
		return -ENOMEM;
	work->nr_shares = charge->nr_shares;
	mutex_lock(&pxt_shares_lock);
	for (i = 0; i < work->nr_shares; i++)
		work->shares[i]->threads++;
	mutex_unlock(&pxt_shares_lock);
	return 0;
}

/**
 * pxt_user_work_destroy() - undo pxt_user_work_init()
 * @work: from pxt_user_work_init()
 *
 * Context: may sleep.
 */
void pxt_user_work_destroy(struct pxt_user_work *work)
{
	struct pxt_share *share;

	mutex_lock(&pxt_shares_lock);
	while (work->nr_shares) {
		share = work->shares[--work->nr_shares];
		share->threads--;
		left_share(share);
	}
	mutex_unlock(&pxt_shares_lock);
	kfree(work->shares);
	work->shares = NULL;
}

/**
 * pxt_user_work() - charge processor time of a kernel thread
 * @work: account of the thread
 * @ns: nanoseconds
 *
 * Return: nanoseconds until all shares have paid for their threads, or 0.
 */
u64 pxt_user_work(const struct pxt_user_work *work, u64 ns)
{
	u64 now = ktime_get_ns(), ahead = WORK_AHEAD * WORK_RATIO, wait = 0;
	struct pxt_share *share;
	u32 i;

	spin_lock(&pxt_paid_lock);
	for (i = 0; i < work->nr_shares; i++) {
		share = work->shares[i];
		if (now > ahead)
			share->paid = max(share->paid, now - ahead);
		share->paid += ns * WORK_RATIO;
		if (share->paid > now)
			wait = max(wait, share->paid - now);
	}
	spin_unlock(&pxt_paid_lock);
	return wait;
}

/**
 * pxt_user_work_ahead() - charge processor time of a kernel thread in advance
 * @work: account of the thread
 * @ns: nanoseconds
 *
 * If threads were charged only after their work, all threads of a user would start at the same
 * time.
 *
 * Return: 0 if the time was charged. Otherwise, nanoseconds until all shares have paid for their
 * threads; no time was charged.
 */
u64 pxt_user_work_ahead(const struct pxt_user_work *work, u64 ns)
{
	u64 now = ktime_get_ns(), ahead = WORK_AHEAD * WORK_RATIO, wait = 0;
	struct pxt_share *share;
	u32 i;

	spin_lock(&pxt_paid_lock);
	for (i = 0; i < work->nr_shares; i++) {
		share = work->shares[i];
		if (share->paid > now)
			wait = max(wait, share->paid - now);
	}
	for (i = 0; !wait && i < work->nr_shares; i++) {
		share = work->shares[i];
		if (now > ahead)
			share->paid = max(share->paid, now - ahead);
		share->paid += ns * WORK_RATIO;
	}
	spin_unlock(&pxt_paid_lock);
	return wait;
}

/**
 * pxt_user_work_back() - refund unused time that was charged in advance
 * @work: from pxt_user_work_init()
 * @ns: nanoseconds, at most the charged time
 */
void pxt_user_work_back(const struct pxt_user_work *work, u64 ns)
{
	u32 i;

	spin_lock(&pxt_paid_lock);
	for (i = 0; i < work->nr_shares; i++)
		work->shares[i]->paid -= ns * WORK_RATIO;
	spin_unlock(&pxt_paid_lock);
}
