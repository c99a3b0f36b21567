// SPDX-License-Identifier: MIT
/*
 * Starts the flight recorder in the constructor of the library, and in children if the options ask
 * for it. api/recorder.c has the functions for programs.
 *
 * This creates the stream without a trace id, without mapping its memory and without a thread for
 * its log: the kernel needs none of them to record, nor to write the log when the process ends. The
 * program notices only a high descriptor.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "attr/attr.h"
#include "common/host.h"
#include "common/sys.h"
#include "record/flight.h"

#define NAME		"flight recorder"

/* Room for the name of a log in a message. */
#define NAME_SHOWN	256

static struct pxtu_flight_plan plan;

/* Returns the classes of kernel events that the user may record. */
static unsigned int all_classes(int fd)
{
	struct posixtrace_info info = { 0 };

	return pxtu_ioctl(fd, POSIXTRACE_IOC_INFO, &info) ? 0 :
	       (unsigned int)info.classes & POSIXTRACE_CLASS_ALL;
}

/* Creates a running stream in the file of the device @fd. On error, the caller closes it. */
static int create(int fd, int log_fd, struct posixtrace_create *create)
{
	struct posixtrace_origin origin = { 0 };
	int err;

	memset(create, 0, sizeof(*create));
	create->log_fd = log_fd;
	pxtu_attr_to_uapi(&plan.attr, true, &create->attr);
	if (plan.all_classes)
		create->attr.classes |= all_classes(fd);
	pxtu_boot_id(create->boot_id);
	err = pxtu_ioctl(fd, POSIXTRACE_IOC_CREATE, create);
	if (err)
		return err;
	return pxtu_ioctl(fd, POSIXTRACE_IOC_START, &origin);
}

/* Creates a log and a stream that will write it. */
static int create_with_log(struct pxtu_flight *flight, int fd)
{
	int log_fd, err;

	flight->number = 0;
	log_fd = pxtu_flight_open(&flight->number);
	if (log_fd < 0)
		return log_fd;
	err = create(fd, log_fd, &flight->create);
	pxtu_close(log_fd);
	if (err)
		pxtu_flight_remove(flight->number);
	return err;
}

static int begin(void)
{
	struct pxtu_state *state = pxtu_state();
	struct pxtu_flight *flight;
	int fd, err;

	if (!state)
		return -ENOMEM;
	err = pxtu_flight_expand();
	if (err)
		return err;
	/* Open the device first: without the module, do not create a log. */
	fd = pxtu_device_open_high();
	if (fd < 0)
		return fd;
	flight = &state->flight;
	err = create_with_log(flight, fd);
	if (err) {
		pxtu_close(fd);
		return err;
	}
	flight->fd = fd;
	/* Pairs with the load in recorder_get(). */
	pxtu_store_release(&flight->phase, PXTU_FLIGHT_RECORDS);
	return 0;
}

/* Signal handlers may fork(), and must not interrupt CREATE. */
static int begin_undisturbed(void)
{
	int saved_errno = errno, err;
	__u64 signals;

	pxtu_signals_block(&signals);
	err = begin();
	pxtu_signals_restore(signals);
	errno = saved_errno;
	return err;
}

/*
 * Runs in a child of fork(), which may be a daemon that has another file in the place of standard
 * error: prints no errors.
 */
static void begin_in_child(void)
{
	begin_undisturbed();
}

static void complain(int err)
{
	char name[NAME_SHOWN];

	if (pxtu_flight_name(0, name, sizeof(name)) || !*name)
		memcpy(name, "the log", sizeof("the log"));
	pxtu_flight_complain(name, err);
}

/* Prints an error; returns false if there was one. */
static bool start(const char *pattern)
{
	int err;

	if (pxtu_flight_parse(secure_getenv(PXTU_FLIGHT_OPTIONS), &plan) ||
	    pxtu_flight_check(pattern))
		return false;
	err = pxtu_flight_pattern(pattern);
	if (!err)
		err = begin_undisturbed();
	if (err)
		complain(err);
	return !err;
}

/*
 * A set-user-ID program ignores the variables: the caller must not choose files for its owner.
 * Remove them from the environment, because the programs that it executes might not be
 * set-user-ID themselves, and would obey the variables.
 */
static void hide_if_untrusted(const char *name)
{
	if (getenv(name) && !secure_getenv(name))
		unsetenv(name);
}

void pxtu_flight_start(void)
{
	const char *pattern;
	int saved_errno = errno;

	/* Before main(), no other thread uses the environment. */
	hide_if_untrusted(PXTU_FLIGHT_FILE);
	hide_if_untrusted(PXTU_FLIGHT_OPTIONS);
	pattern = secure_getenv(PXTU_FLIGHT_FILE);
	if (!pattern || !*pattern)
		return;
	pxtu_attr_init(&plan.attr);
	plan.attr.__stream_policy = POSIX_TRACE_LOOP;
	plan.attr.__log_policy = POSIX_TRACE_APPEND;
	plan.attr.__compression = POSIXTRACE_COMPRESS_LZ4;
	memcpy(plan.attr.__name, NAME, sizeof(NAME));
	if (start(pattern) && plan.children)
		pthread_atfork(NULL, NULL, begin_in_child);
	errno = saved_errno;
}
