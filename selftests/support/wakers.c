// SPDX-License-Identifier: GPL-2.0
/* The ways to wake a thread, and the scene for them: see wakers.h. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "credentials.h"
#include "loopback.h"
#include "wakers.h"

/* Stores the id of the sleeper, in the namespace of /proc, before it sleeps. */
static void announce(const struct meeting *meeting)
{
	char self[16] = "";

	if (readlink("/proc/self", self, sizeof(self) - 1) > 0)
		__atomic_store_n(meeting->tid, atoi(self), __ATOMIC_RELEASE);
}

static long read_one(const struct meeting *meeting)
{
	char c[8];

	announce(meeting);
	return read(meeting->in, c, sizeof(c)) > 0 ? 0 : -EIO;
}

/* Writes eight bytes, the size that an eventfd requires. */
static int write_one(const struct meeting *meeting)
{
	const uint64_t one = 1;

	return write(meeting->out, &one, sizeof(one)) == sizeof(one) ? 0 : -EIO;
}

/* ------------------------------------------------------------------ */
/* Descriptors								*/

static int take_ends(struct meeting *meeting, int ret, const int ends[2])
{
	meeting->in = ends[0];
	meeting->out = ends[1];
	return ret ? -errno : 0;
}

static int open_pipe(struct meeting *meeting)
{
	int ends[2];

	return take_ends(meeting, pipe2(ends, O_CLOEXEC), ends);
}

static int open_socketpair(struct meeting *meeting)
{
	int ends[2];

	return take_ends(meeting, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ends);
}

static int open_tcp(struct meeting *meeting)
{
	int ends[2], err = loopback_pair(ends);

	take_ends(meeting, 0, ends);
	return err;
}

static int open_eventfd(struct meeting *meeting)
{
	meeting->in = eventfd(0, EFD_CLOEXEC);
	meeting->out = dup(meeting->in);
	return meeting->out < 0 ? -errno : 0;
}

/* The waker connects to a listening socket. */
static int open_unix(struct meeting *meeting)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	meeting->in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	meeting->out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The kernel chooses an abstract name. */
	if (bind(meeting->in, (struct sockaddr *)&name, sizeof(name.sun_family)) ||
	    listen(meeting->in, 1))
		return -errno;
	return 0;
}

static long accept_one(const struct meeting *meeting)
{
	announce(meeting);
	return accept(meeting->in, NULL, NULL) < 0 ? -errno : 0;
}

static int connect_one(const struct meeting *meeting)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);

	if (getsockname(meeting->in, (struct sockaddr *)&name, &len) ||
	    connect(meeting->out, (struct sockaddr *)&name, len))
		return -errno;
	return 0;
}

static long epoll_one(const struct meeting *meeting)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC), ready;

	if (epoll_ctl(fd, EPOLL_CTL_ADD, meeting->in, &event))
		return -errno;
	announce(meeting);
	ready = epoll_wait(fd, &event, 1, -1);
	close(fd);
	return ready == 1 ? 0 : -EIO;
}

/* Waits for a descriptor with io_uring, without its library. */
static long uring_one(const struct meeting *meeting)
{
	struct io_uring_params params = { 0 };
	int fd = syscall(SYS_io_uring_setup, 1, &params), ret;
	struct io_uring_sqe *sqe;
	char *ring;

	if (fd < 0)
		return -errno;
	ring = mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(__u32),
		    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqe == MAP_FAILED)
		return -errno;
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = meeting->in,
		.poll32_events = POLLIN,
	};
	*(__u32 *)(ring + params.sq_off.array) = 0;
	__atomic_store_n((__u32 *)(ring + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	announce(meeting);
	ret = syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	close(fd);
	return ret == 1 ? 0 : -EIO;
}

const struct way way_pipe = { open_pipe, read_one, write_one, BY_THREAD };
const struct way way_socketpair = { open_socketpair, read_one, write_one, BY_THREAD };
const struct way way_tcp = { open_tcp, read_one, write_one, BY_SOFTIRQ };
const struct way way_unix = { open_unix, accept_one, connect_one, BY_THREAD };
const struct way way_epoll = { open_pipe, epoll_one, write_one, BY_THREAD };
const struct way way_eventfd = { open_eventfd, read_one, write_one, BY_THREAD };
const struct way way_io_uring = { open_pipe, uring_one, write_one, BY_THREAD };

/* ------------------------------------------------------------------ */
/* Others								*/

static long futex_one(const struct meeting *meeting)
{
	announce(meeting);
	while (!__atomic_load_n(meeting->word, __ATOMIC_ACQUIRE)) {
		if (syscall(SYS_futex, meeting->word, FUTEX_WAIT, 0, NULL, NULL, 0) &&
		    errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	__atomic_store_n(meeting->word, 0, __ATOMIC_RELEASE);
	return 0;
}

static int wake_futex(const struct meeting *meeting)
{
	__atomic_store_n(meeting->word, 1, __ATOMIC_RELEASE);
	return syscall(SYS_futex, meeting->word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0 ? -errno : 0;
}

static long sleep_some(const struct meeting *meeting)
{
	const struct timespec some = { .tv_nsec = 20000000 };

	announce(meeting);
	return nanosleep(&some, NULL) ? -errno : 0;
}

static int wake_not(const struct meeting *meeting)
{
	(void)meeting;
	return 0;
}

static void ignore(int sig)
{
	(void)sig;
}

static long pause_once(const struct meeting *meeting)
{
	signal(SIGUSR1, ignore);
	announce(meeting);
	return pause() < 0 && errno == EINTR ? 0 : -EIO;
}

static int wake_signal(const struct meeting *meeting)
{
	return kill(meeting->sleeper, SIGUSR1) ? -errno : 0;
}

/* Waits for a child. The waker makes that child end. */
static long wait_for(const struct meeting *meeting, pid_t pid)
{
	int status;

	if (pid < 0)
		return -errno;
	announce(meeting);
	return waitpid(pid, &status, 0) == pid && !status ? pid : -ECHILD;
}

static void end_when_told(const struct meeting *meeting)
{
	char c[8];

	_exit(read(meeting->in, c, sizeof(c)) <= 0);
}

static long wait_child(const struct meeting *meeting)
{
	pid_t pid = fork();

	if (!pid)
		end_when_told(meeting);
	return wait_for(meeting, pid);
}

static void *end_later(void *arg)
{
	const struct meeting *meeting = arg;

	/* Wait until the main thread is a zombie, so that this thread informs the parent. */
	while (!is_zombie(getpid()))
		sched_yield();
	end_when_told(meeting);
	return NULL;
}

static long wait_threaded_child(const struct meeting *meeting)
{
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		if (pthread_create(&thread, NULL, end_later, (void *)meeting))
			_exit(1);
		/* Do not use pthread_exit(), which loads a library. */
		syscall(SYS_exit, 0);
	}
	return wait_for(meeting, pid);
}

const struct way way_futex = { open_pipe, futex_one, wake_futex, BY_THREAD };
const struct way way_timer = { open_pipe, sleep_some, wake_not, BY_TIMER };
const struct way way_signal = { open_pipe, pause_once, wake_signal, BY_SIGNAL };
const struct way way_child = { open_pipe, wait_child, write_one, BY_CHILD };
const struct way way_threaded_child = { open_pipe, wait_threaded_child, write_one, BY_CHILD };

/* ------------------------------------------------------------------ */
/* The scene								*/

int scene_open(struct scene *scene, const struct way *way)
{
	int *shared = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*scene = (struct scene){ .way = way };
	if (shared == MAP_FAILED)
		return -errno;
	scene->meeting.tid = shared;
	scene->meeting.word = shared + 1;
	return way->open(&scene->meeting);
}

struct waker_is {
	struct scene *scene;
	int uid;
	int (*prepare)(void);
};

static int wake(void *arg, const struct talk *talk)
{
	const struct waker_is *is = arg;
	struct scene *scene = is->scene;
	int err = is->uid < 0 ? 0 : become_user(is->uid);
	long sleeper;

	if (!err && is->prepare)
		err = is->prepare();
	say(talk, err);
	while ((sleeper = hear(talk)) > 0) {
		scene->meeting.sleeper = (pid_t)sleeper;
		say(talk, scene->way->wake(&scene->meeting));
		hear(talk);
		say(talk, scene->change ? scene->change() : 0);
		scene->change = NULL;
	}
	return 0;
}

int scene_start_waker(struct scene *scene, int uid, int (*prepare)(void))
{
	struct waker_is is = { scene, uid, prepare };

	return child_start(&scene->waker, wake, &is) ?: (int)hear(&scene->waker.talk);
}

static int sleep_often(void *arg, const struct talk *talk)
{
	const struct scene *scene = arg;

	say(talk, 0);
	while (!hear(talk)) {
		__atomic_store_n(scene->meeting.tid, 0, __ATOMIC_RELEASE);
		say(talk, scene->way->sleep(&scene->meeting));
	}
	return 0;
}

int scene_start_sleeper(struct scene *scene, unsigned int classes)
{
	int err = child_start(&scene->sleeper, sleep_often, scene);

	if (!err)
		err = (int)hear(&scene->sleeper.talk);
	if (!err && scene->log)
		err = kernel_withlog(scene->sleeper.pid, classes, 1 << 20, POSIX_TRACE_APPEND,
				     scene->log, &scene->trid);
	else if (!err)
		err = kernel_stream(scene->sleeper.pid, classes, POSIX_TRACE_LOOP, &scene->trid);
	return err ?: posix_trace_start(scene->trid);
}

int scene_play(struct scene *scene)
{
	const int *tid = scene->meeting.tid;
	const bool sleeps = scene->way != &way_timer;
	int err = 0;

	__atomic_store_n(scene->meeting.tid, 0, __ATOMIC_RELEASE);
	say(&scene->sleeper.talk, 0);
	if (sleeps)
		falls_asleep(tid, NULL);
	say(&scene->waker.talk, scene->sleeper.pid);
	err = (int)hear(&scene->waker.talk);
	say(&scene->waker.talk, 1);
	err = (int)hear(&scene->waker.talk) ?: err;
	scene->result = hear(&scene->sleeper.talk);
	kernel_events_free(&scene->events);
	scene->events = (struct kernel_events){ .event = NULL };
	if (!err && !scene->log)
		err = kernel_events_read(&scene->events, scene->trid);
	return err;
}

void scene_close(struct scene *scene)
{
	if (scene->sleeper.pid > 0)
		child_kill(&scene->sleeper);
	/* The waker may run as another user, so do not kill it. It ends by itself. */
	if (scene->waker.pid > 0)
		child_wait(&scene->waker);
	if (scene->trid > 0)
		posix_trace_shutdown(scene->trid);
	kernel_events_free(&scene->events);
}

int scene_count(const struct scene *scene, uint8_t by, pid_t waker)
{
	const struct kernel_event *event;
	int count = 0;

	for (size_t i = 0; i < scene->events.count; i++) {
		event = &scene->events.event[i];
		count += event->id == POSIXTRACE_WAKEUP && event->pid == scene->sleeper.pid &&
			 event->data.wakeup.by == by && event->data.wakeup.waker_pid == waker &&
			 event->data.wakeup.waker_tid == waker;
	}
	return count;
}
