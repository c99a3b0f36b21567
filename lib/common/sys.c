// SPDX-License-Identifier: MIT
/*
 * System calls as the library needs them: they are not cancellation points and keep errno.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/time_types.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/sys.h"

/* One system call; returns its error instead of setting errno. */
#define sys(...) ({					\
	int saved_errno = errno;			\
	long sys_ret = syscall(__VA_ARGS__);		\
	if (sys_ret < 0)				\
		sys_ret = -errno;			\
	errno = saved_errno;				\
	(int)sys_ret;					\
})

/*
 * Limits the tries of a command that does not wait: a filter of the program (seccomp) may answer
 * EINTR forever.
 */
#define INTERRUPTS_MAX	100

/* Descriptors of the library begin here, below the usual limit of 1024. */
#define HIGH_FD		1000

static int open_mode(const char *path, int flags, unsigned int mode)
{
	int tries = 0, fd;

	do {
		fd = sys(SYS_openat, AT_FDCWD, path, flags, mode);
	} while (fd == -EINTR && ++tries < INTERRUPTS_MAX);
	return fd == -EINTR ? -EIO : fd;
}

int pxtu_open(const char *path, int flags)
{
	return open_mode(path, flags, 0);
}

int pxtu_open_new(const char *path)
{
	int fd = open_mode(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	pxtu_close(fd);
	if (high < 0)
		sys(SYS_unlinkat, AT_FDCWD, path, 0);
	/* EINVAL: the limit of descriptors is lower. */
	return high == -EINVAL ? -EMFILE : high;
}

void pxtu_close(int fd)
{
	/* Do not retry: on Linux the descriptor is closed even after EINTR. */
	sys(SYS_close, fd);
}

ssize_t pxtu_pread(int fd, void *to, size_t len, __u64 offset)
{
	int saved_errno = errno, cancel;
	ssize_t ret;

	/* Use the C library: passing an offset is architecture-specific. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do {
		ret = pread64(fd, to, len, (off64_t)offset);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		ret = -errno;
	pthread_setcancelstate(cancel, NULL);
	errno = saved_errno;
	return ret;
}

bool pxtu_rseq_forgotten(void)
{
#ifdef __LP64__
	/*
	 * Try to register an invalid address. A registered thread has another address, and gets
	 * EINVAL. For an unregistered thread, the kernel checks the address, and returns EFAULT.
	 */
	return sys(SYS_rseq, -4096L, 32, 0, 0) == -EFAULT;
#else
	return false;
#endif
}

int pxtu_ioctl_once(int fd, unsigned long cmd, void *arg)
{
	return sys(SYS_ioctl, fd, cmd, arg);
}

int pxtu_ioctl(int fd, unsigned long cmd, void *arg)
{
	int tries = 0, ret;

	do {
		ret = pxtu_ioctl_once(fd, cmd, arg);
	} while (ret == -EINTR && ++tries < INTERRUPTS_MAX);
	return ret == -EINTR ? -EIO : ret;
}

int pxtu_checked_once(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	struct posixtrace_checked checked = {
		.stream = stream,
		.arg = (uintptr_t)arg,
		.cmd = (__u32)cmd,
	};

	return pxtu_ioctl_once(fd, POSIXTRACE_IOC_CHECKED, &checked);
}

int pxtu_checked(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = pxtu_checked_once(fd, stream, cmd, arg);
	} while (ret == -EINTR);
	return ret;
}

int pxtu_checked_soon(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	int tries = 0, ret;

	do {
		ret = pxtu_checked_once(fd, stream, cmd, arg);
	} while (ret == -EINTR && ++tries < INTERRUPTS_MAX);
	return ret == -EINTR ? -EIO : ret;
}

bool pxtu_is_ours(int fd, __u64 stream)
{
	struct posixtrace_info info = { 0 };

	/* Only the module sets this; some files return 0 for every command. */
	return !pxtu_checked_soon(fd, stream, POSIXTRACE_IOC_INFO, &info) && info.abi_version;
}

int pxtu_map(int fd, __u64 stream, const struct posixtrace_map *map, __u32 flags,
	     void **address)
{
	struct posixtrace_mapping mapping = { .map = *map, .flags = flags };
	int err;

	/* Too large for a 32-bit address space. */
	if (map->size != (size_t)map->size)
		return -ENOMEM;
	err = pxtu_checked_soon(fd, stream, POSIXTRACE_IOC_MAP, &mapping);
	if (err)
		return err;
	/* A file that returns 0 for every command has not mapped any memory. */
	if (!mapping.address)
		return -EBADF;
	*address = (void *)(uintptr_t)mapping.address;
	return 0;
}

#ifdef __LP64__
int pxtu_map_over(void *place, size_t size, int fd, __u64 offset)
{
	int saved_errno = errno, err = 0;

	if (syscall(SYS_mmap, place, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, offset) == -1)
		err = -errno;
	errno = saved_errno;
	return err;
}
#endif

enum identity {
	IS_DEVICE,
	IS_OTHER,
	IS_UNKNOWN,	/* a filter of the program refuses to say */
};

/* Does the descriptor refer to the device file? */
static enum identity identify(int fd)
{
	/* A filter may return 0 without writing the result. */
	struct stat ours = { 0 }, theirs = { 0 };
	enum identity identity = IS_OTHER;
	int saved_errno = errno, path_err, fd_err;

	path_err = stat(PXTU_DEVICE, &ours) ? errno : 0;
	fd_err = fstat(fd, &theirs) ? errno : 0;
	/*
	 * After EBADF, the descriptor is not ours: the program has closed it, and may be about to
	 * open another file under its number. But if stat() also returned EBADF, which it never
	 * does for a path, the answers come from a filter.
	 */
	if (fd_err)
		identity = fd_err == EBADF && path_err != EBADF ? IS_OTHER : IS_UNKNOWN;
	else if (path_err)
		identity = S_ISCHR(theirs.st_mode) ? IS_UNKNOWN : IS_OTHER;
	else if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		identity = IS_DEVICE;
	errno = saved_errno;
	return identity;
}

/*
 * The descriptor is the device, but CHECKED did not confirm that it is ours. Did the module answer,
 * or does a filter of the program (seccomp) forbid CHECKED or all commands? If the file has another
 * role of this process, the module returns ESTALE to CHECKED, and EFAULT to CHECKED without an
 * argument. To any other file of the device it returns EINVAL in both cases, and an error to the
 * command that every file of our role takes, but not to INFO. All other answers come from a filter.
 */
static bool is_filtered(int fd, __u64 stream)
{
	struct posixtrace_info info = { 0 };
	int answer = pxtu_checked_soon(fd, stream, POSIXTRACE_IOC_INFO, &info);
	int blank = pxtu_ioctl(fd, POSIXTRACE_IOC_CHECKED, NULL);
	struct posixtrace_attr attr;
	__u32 no_slot = 0;

	if (answer == -ESTALE && blank == -EFAULT)
		return false;
	if (answer != -EINVAL || blank != -EINVAL)
		return true;
	if (!(stream ? pxtu_ioctl(fd, POSIXTRACE_IOC_GET_ATTR, &attr) :
		       pxtu_ioctl(fd, POSIXTRACE_IOC_WAKE, &no_slot)))
		return true;
	return pxtu_ioctl(fd, POSIXTRACE_IOC_INFO, &info);
}

/*
 * No system call closes a descriptor only if it is a certain file. Between the check and the close,
 * another thread can close the descriptor and open another file under its number. Any library that
 * opens and closes a file has this race.
 */
bool pxtu_close_ours(int fd, __u64 stream)
{
	if (!pxtu_is_ours(fd, stream) && !(identify(fd) == IS_DEVICE && is_filtered(fd, stream)))
		return false;
	pxtu_close(fd);
	return true;
}

/* Does the file have a role? False if EBUSY came from a filter, which also answers EBUSY here. */
static bool has_role(int fd)
{
	return pxtu_ioctl(fd, POSIXTRACE_IOC_CHECKED, NULL) == -EFAULT;
}

bool pxtu_close_new(int fd, int err)
{
	/* EBUSY means that the file has a role. Ours has none, so this is another file. */
	if (identify(fd) == IS_OTHER || (err == -EBUSY && has_role(fd)))
		return false;
	pxtu_close(fd);
	return true;
}

void pxtu_futex_wait(int *word, int value)
{
	/*
	 * The time limit has two reasons. First, the other thread may be killed, and the caller has
	 * to notice that. Second, a signal handler may fork, and no thread would wake the child.
	 * The kernel does not restart a wait with a time limit after a handler with SA_RESTART, so
	 * the child returns.
	 */
	const struct __kernel_old_timespec limit = { .tv_sec = 1 };

	sys(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit);
}

void pxtu_futex_wake(int *word)
{
	sys(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

int pxtu_thread(void)
{
	return sys(SYS_gettid);
}

void pxtu_thread_name(const char *name)
{
	sys(SYS_prctl, PR_SET_NAME, name, 0UL, 0UL, 0UL);
}

void pxtu_pause(long ms)
{
	/* No thread changes this value or wakes this thread: only the time ends the wait. */
	int word = 0;
	const struct __kernel_old_timespec time = { .tv_nsec = ms * 1000000 };

	sys(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time);
}

bool pxtu_thread_ended(int thread)
{
	char byte;
	const struct iovec to = { &byte, 1 }, from = { &thread, 1 };

	/*
	 * Linux accepts the id of any thread in both calls. The second one detects a zombie, which
	 * no longer has memory. A filter of the program may return something else.
	 */
	return sys(SYS_kill, thread, 0) == -ESRCH ||
	       sys(SYS_process_vm_readv, thread, &to, 1UL, &from, 1UL, 0UL) == -ESRCH;
}

/*
 * Not pthread_sigmask(): in glibc and musl it does not block the signals of the C library, so
 * SIG_SETMASK would unblock the signal that cancels a thread.
 */
static bool set_mask(int how, __u64 signals, __u64 *before)
{
	return !sys(SYS_rt_sigprocmask, how, &signals, before, sizeof(signals));
}

#define SIGNAL(number)		(1ULL << ((number) - 1))

/* Not a valid mask of a thread: SIGKILL cannot be blocked. */
#define MASK_UNCHANGED		(~0ULL)

void pxtu_signals_block(__u64 *before)
{
	/* The kernel kills a program that blocks the signal of its filter (SECCOMP_RET_TRAP). */
	if (!set_mask(SIG_SETMASK, ~SIGNAL(SIGSYS), before))
		*before = MASK_UNCHANGED;
}

void pxtu_signals_restore(__u64 before)
{
	if (before != MASK_UNCHANGED)
		set_mask(SIG_SETMASK, before, NULL);
}

/* The C library uses this signal to cancel another thread. */
#ifdef __GLIBC__
#define CANCEL_SIGNAL	SIGNAL(__SIGRTMIN)
#else
#define CANCEL_SIGNAL	SIGNAL(33)	/* musl */
#endif

__u64 pxtu_cancel_block(__u64 *before)
{
	if (!set_mask(SIG_BLOCK, CANCEL_SIGNAL, before))
		*before = CANCEL_SIGNAL;
	return CANCEL_SIGNAL & ~*before;
}

void pxtu_cancel_unblock(__u64 before)
{
	if (!(before & CANCEL_SIGNAL))
		set_mask(SIG_UNBLOCK, CANCEL_SIGNAL, NULL);
}

/*
 * Refuse a module of another version, where the commands have other meanings. Accept all other
 * files, because their answers to ATTACH and CREATE are checked: a file that does not know INFO
 * does not know ATTACH or CREATE either, and a file that returns 0 for every command does not write
 * the result, and leaves the page size 0.
 */
static bool has_our_version(int fd)
{
	struct posixtrace_info info = { 0 };

	return pxtu_ioctl(fd, POSIXTRACE_IOC_INFO, &info) || !info.page_size ||
	       info.abi_version == POSIXTRACE_ABI_VERSION;
}

/* Map errors to ENODEV and EPERM; return any other error unchanged. */
static int why_not_open(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENXIO:
		return -ENODEV;
	case -EACCES:
		return -EPERM;
	default:
		return err;
	}
}

bool pxtu_device_missing(int err)
{
	int why = why_not_open(err);

	return why == -ENODEV || why == -EPERM;
}

/* Move a file without role to the number @from or above. Closing the old descriptor is harmless. */
static int move_above(int fd, int from)
{
	int high = sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);

	pxtu_close_new(fd, 0);
	return high;
}

int pxtu_device_open(void)
{
	int fd = pxtu_open(PXTU_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return why_not_open(fd);
	if (fd <= STDERR_FILENO)
		fd = move_above(fd, STDERR_FILENO + 1);
	if (fd < 0 || has_our_version(fd))
		return fd;
	return pxtu_close_new(fd, 0) ? -EOPNOTSUPP : -EBADF;
}

int pxtu_device_open_high(void)
{
	int fd = pxtu_device_open(), high;

	if (fd < 0)
		return fd;
	high = sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD);
	/* The limit of descriptors may be lower. */
	if (high < 0)
		return fd;
	pxtu_close_new(fd, 0);
	return high;
}

void pxtu_tell(const char *text, size_t len)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };
	const struct __kernel_old_timespec none = { 0 };
	const __u64 pipe = SIGNAL(SIGPIPE);
	__u64 before;

	/* A pipe or socket without reader reports other events besides POLLOUT. */
	if (sys(SYS_ppoll, &err, 1, &none, NULL, 0UL) != 1 || err.revents != POLLOUT)
		return;
	pxtu_signals_block(&before);
	/* If the last reader leaves now, the write raises SIGPIPE: consume it. */
	if (sys(SYS_write, STDERR_FILENO, text, len) == -EPIPE && !(before & pipe))
		sys(SYS_rt_sigtimedwait, &pipe, NULL, &none, sizeof(pipe));
	pxtu_signals_restore(before);
}

__u32 pxtu_coarse_ms(void)
{
	struct timespec time = { 0 };
	int saved_errno = errno;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	errno = saved_errno;
	return (__u32)time.tv_sec * 1000U + (__u32)(time.tv_nsec / 1000000);
}

int pxtu_error(int err)
{
	switch (err) {
	case -ESHUTDOWN:	/* the stream and its trace id are gone */
	case -EBADF:		/* the program closed our descriptor */
	case -ENOTTY:		/* the program opened another file under that number */
	case -ESTALE:		/* the program opened another stream under that number */
		return EINVAL;
	case -EOPNOTSUPP:
	case -EPROTONOSUPPORT:	/* a filter answers for the module */
		return ENOTSUP;
	default:
		return -err;
	}
}
