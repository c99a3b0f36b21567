// SPDX-License-Identifier: GPL-2.0
/*
 * Tests each pointer argument of a command with memory that is missing, unreadable, unwritable, or
 * only partly accessible. The command must return EFAULT and have no partial effect, and the next
 * attempt must succeed.
 */
#define _GNU_SOURCE
#include <stddef.h>

#include "pxt_test.h"
#include "foreign.h"
#include "uapi.h"

/* The kind of memory that contains the argument, or to which a pointer in the argument points. */
enum place {
	GOOD,
	READ_ONLY,
	UNMAPPED,
	NO_ACCESS,
	INTO_UNMAPPED,		/* accessible, but the last byte is in a missing page */
	INTO_NO_ACCESS,
};

FIXTURE(pointer)
{
	struct target target;
	struct stream stream;
	char *pages[6];		/* two pages for each place */
	size_t page;
	int fresh;		/* a file that has no role yet */
	int name;
	unsigned long long address;
	__u32 slots[POSIXTRACE_SLOTS_MAX * sizeof(struct posixtrace_slot) / sizeof(__u32)];
};

typedef struct _test_data_pointer pointer_data;

FIXTURE_VARIANT(pointer)
{
	unsigned long cmd;
	bool target;		/* the command has the role target */
	bool fresh;		/* the command gives the file its role */
	bool result;		/* the command also writes to the argument */
	size_t inner;		/* offset of the tested pointer in the argument, or 0 */
	size_t inner_size;	/* size of the memory to which that pointer points */
	bool inner_result;
	const char *inner_text;	/* contents of that memory; NULL: zeros */
	/* Fills in a valid argument; @there is the memory for @inner. */
	void (*init)(struct _test_data_pointer *self, void *arg, void *there);
};

static void init_nothing(pointer_data *self, void *arg, void *there)
{
	(void)self;
	(void)arg;
	(void)there;
}

static void init_create(pointer_data *self, void *arg, void *there)
{
	(void)self;
	(void)there;
	create_init(arg, 0);
}

static void init_name(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_eventid *eventid = arg;

	(void)there;
	snprintf(eventid->name, sizeof(eventid->name), "pointer %d", self->name);
}

static void init_id(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_eventid *eventid = arg;

	(void)self;
	(void)there;
	eventid->id = POSIXTRACE_ID_START;
}

static void init_types(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_event_types *types = arg;

	types->ids = (uintptr_t)(there ? there : self->slots);
	types->count = 4;
}

#define TEXT	"{ u32 pointer; }"

static void init_describe(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_description *description = arg;
	char name[32];

	snprintf(name, sizeof(name), "pointer %d", self->name);
	description->text = (uintptr_t)(there ? there : TEXT);
	description->id = eventid_open(self->target.fd, name);
	description->size = sizeof(TEXT);
}

static void init_description(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_description *description = arg;

	init_describe(self, arg, NULL);
	command(self->target.fd, POSIXTRACE_IOC_DESCRIBE, arg);
	description->text = (uintptr_t)(there ? there : self->slots);
}

static void init_wait(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_wait *wait = arg;

	(void)self;
	(void)there;
	wait->flags = POSIXTRACE_WAIT_DEADLINE;
	wait->deadline = 1;
}

static void init_sync(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_sync *sync = arg;

	sync->slots = (uintptr_t)(there ? there : self->slots);
}

static void init_met(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_met *met = arg;

	(void)self;
	(void)there;
	met->number = 1;
	met->count = 1;
}

static void init_next(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_next *next = arg;

	(void)there;
	next->slot = self->stream.arg.slot;
	next->stream = self->stream.arg.stream;
	next->size = POSIXTRACE_RECORD_SIZE(8);
}

/* Too large for the module's on-stack copy. */
#define LARGE	1000

static void init_event(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_event *event = arg;

	event->event_id = POSIXTRACE_ID_UNNAMED;
	event->data = (uintptr_t)(there ? there : self->slots);
	event->data_len = 8;
}

static void init_large_event(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_event *event = arg;

	init_event(self, arg, there);
	event->data_len = LARGE;
}

static void init_map(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_mapping *mapping = arg;

	(void)there;
	mapping->map = self->target.arg.gate;
}

static void init_checked(pointer_data *self, void *arg, void *there)
{
	struct posixtrace_checked *checked = arg;

	checked->stream = self->stream.arg.stream;
	checked->arg = (uintptr_t)(there ? there : self->slots);
	checked->cmd = POSIXTRACE_IOC_GET_STATUS;
}

FIXTURE_VARIANT_ADD(pointer, INFO) {
	.cmd = POSIXTRACE_IOC_INFO,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, CREATE) {
	.cmd = POSIXTRACE_IOC_CREATE,
	.fresh = true,
	.init = init_create,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, ATTACH) {
	.cmd = POSIXTRACE_IOC_ATTACH,
	.fresh = true,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, START) {
	.cmd = POSIXTRACE_IOC_START,
	.init = init_nothing,
};

FIXTURE_VARIANT_ADD(pointer, STOP) {
	.cmd = POSIXTRACE_IOC_STOP,
	.init = init_nothing,
};

FIXTURE_VARIANT_ADD(pointer, GET_STATUS) {
	.cmd = POSIXTRACE_IOC_GET_STATUS,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, GET_ATTR) {
	.cmd = POSIXTRACE_IOC_GET_ATTR,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, GET_STATS) {
	.cmd = POSIXTRACE_IOC_GET_STATS,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, KERNEL_STATS) {
	.cmd = POSIXTRACE_IOC_KERNEL_STATS,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, GET_FILTER) {
	.cmd = POSIXTRACE_IOC_GET_FILTER,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, SET_FILTER) {
	.cmd = POSIXTRACE_IOC_SET_FILTER,
	.init = init_nothing,
};

FIXTURE_VARIANT_ADD(pointer, EVENT_NAME) {
	.cmd = POSIXTRACE_IOC_EVENT_NAME,
	.init = init_id,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, EVENT_TYPES) {
	.cmd = POSIXTRACE_IOC_EVENT_TYPES,
	.init = init_types,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, EVENT_TYPES_ids) {
	.cmd = POSIXTRACE_IOC_EVENT_TYPES,
	.init = init_types,
	.inner = offsetof(struct posixtrace_event_types, ids) + 1,
	.inner_size = 16,
	.inner_result = true,
};

FIXTURE_VARIANT_ADD(pointer, EVENTID_OPEN) {
	.cmd = POSIXTRACE_IOC_EVENTID_OPEN,
	.init = init_name,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, EVENTID_OPEN_target) {
	.cmd = POSIXTRACE_IOC_EVENTID_OPEN,
	.target = true,
	.init = init_name,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, DESCRIBE) {
	.cmd = POSIXTRACE_IOC_DESCRIBE,
	.init = init_describe,
};

FIXTURE_VARIANT_ADD(pointer, DESCRIBE_text) {
	.cmd = POSIXTRACE_IOC_DESCRIBE,
	.target = true,
	.init = init_describe,
	.inner = 1,
	.inner_size = sizeof(TEXT),
	.inner_text = TEXT,
};

FIXTURE_VARIANT_ADD(pointer, DESCRIPTION) {
	.cmd = POSIXTRACE_IOC_DESCRIPTION,
	.init = init_description,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, DESCRIPTION_text) {
	.cmd = POSIXTRACE_IOC_DESCRIPTION,
	.init = init_description,
	.inner = 1,
	.inner_size = sizeof(TEXT),
	.inner_result = true,
};

FIXTURE_VARIANT_ADD(pointer, WAIT) {
	.cmd = POSIXTRACE_IOC_WAIT,
	.init = init_wait,
};

FIXTURE_VARIANT_ADD(pointer, DEFER) {
	.cmd = POSIXTRACE_IOC_DEFER,
	.init = init_nothing,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, CHECKED) {
	.cmd = POSIXTRACE_IOC_CHECKED,
	.init = init_checked,
};

FIXTURE_VARIANT_ADD(pointer, CHECKED_arg) {
	.cmd = POSIXTRACE_IOC_CHECKED,
	.init = init_checked,
	.inner = 1,
	.inner_size = sizeof(struct posixtrace_status),
	.inner_result = true,
};

FIXTURE_VARIANT_ADD(pointer, MAP) {
	.cmd = POSIXTRACE_IOC_MAP,
	.target = true,
	.init = init_map,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, SYNC) {
	.cmd = POSIXTRACE_IOC_SYNC,
	.target = true,
	.init = init_sync,
	.result = true,
};

FIXTURE_VARIANT_ADD(pointer, SYNC_slots) {
	.cmd = POSIXTRACE_IOC_SYNC,
	.target = true,
	.init = init_sync,
	.inner = 1,
	.inner_size = POSIXTRACE_SLOTS_MAX * sizeof(struct posixtrace_slot),
	.inner_result = true,
};

FIXTURE_VARIANT_ADD(pointer, NEXT) {
	.cmd = POSIXTRACE_IOC_NEXT,
	.target = true,
	.init = init_next,
};

FIXTURE_VARIANT_ADD(pointer, WAKE) {
	.cmd = POSIXTRACE_IOC_WAKE,
	.target = true,
	.init = init_nothing,
};

FIXTURE_VARIANT_ADD(pointer, MET) {
	.cmd = POSIXTRACE_IOC_MET,
	.target = true,
	.init = init_met,
};

FIXTURE_VARIANT_ADD(pointer, EVENT) {
	.cmd = POSIXTRACE_IOC_EVENT,
	.target = true,
	.init = init_event,
};

FIXTURE_VARIANT_ADD(pointer, EVENT_data) {
	.cmd = POSIXTRACE_IOC_EVENT,
	.target = true,
	.init = init_event,
	.inner = 1,
	.inner_size = 8,
};

FIXTURE_VARIANT_ADD(pointer, EVENT_large_data) {
	.cmd = POSIXTRACE_IOC_EVENT,
	.target = true,
	.init = init_large_event,
	.inner = 1,
	.inner_size = LARGE,
};

static char *two_pages(size_t page, int second)
{
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	if (second == UNMAPPED)
		munmap(pages + page, page);
	else if (second == NO_ACCESS)
		mprotect(pages + page, page, PROT_NONE);
	return pages;
}

FIXTURE_SETUP(pointer)
{
	/* The range begins with two pages of slots. */
	self->page = 4 * sysconf(_SC_PAGESIZE);
	self->pages[GOOD] = two_pages(self->page, GOOD);
	self->pages[READ_ONLY] = two_pages(self->page, GOOD);
	self->pages[INTO_UNMAPPED] = two_pages(self->page, UNMAPPED);
	self->pages[INTO_NO_ACCESS] = two_pages(self->page, NO_ACCESS);
	self->pages[UNMAPPED] = self->pages[INTO_UNMAPPED];
	self->pages[NO_ACCESS] = self->pages[INTO_NO_ACCESS];
	ASSERT_EQ(0, target_open(&self->target));
	create_init(&self->stream.arg, 0);
	self->stream.arg.attr.max_data_size = 2 * LARGE;
	ASSERT_EQ(0, stream_open(&self->stream));
	ASSERT_EQ(0, stream_start(&self->stream));
	self->fresh = -1;
}

FIXTURE_TEARDOWN(pointer)
{
	stream_close(&self->stream);
	target_close(&self->target);
	for (int i = 0; i < 6; i++)
		munmap(self->pages[i], 2 * self->page);
}

/* Copies @size bytes of @what to a place. */
static void *put(pointer_data *self, enum place place, const void *what, size_t size)
{
	char *to = self->pages[place];

	switch (place) {
	case UNMAPPED:
	case NO_ACCESS:
		return to + self->page;
	case INTO_UNMAPPED:
	case INTO_NO_ACCESS:
		to += self->page - size + 1;
		memcpy(to, what, size - 1);
		return to;
	default:
		mprotect(to, 2 * self->page, PROT_READ | PROT_WRITE);
		memcpy(to, what, size);
		if (place == READ_ONLY)
			mprotect(to, 2 * self->page, PROT_READ);
		return to;
	}
}

static int call(pointer_data *self, const struct _fixture_variant_pointer *variant,
		enum place place)
{
	size_t size = variant->inner ? variant->inner_size : _IOC_SIZE(variant->cmd);
	__u64 arg[512] = { 0 }, zeros[1024] = { 0 };
	void *there;
	int fd = variant->target ? self->target.fd : self->stream.fd;

	if (variant->inner) {
		there = put(self, place, variant->inner_text ? variant->inner_text :
			    (const void *)zeros, size);
		variant->init(self, arg, there);
		return command(fd, variant->cmd, arg);
	}
	variant->init(self, arg, NULL);
	there = put(self, place, arg, size);
	return command(variant->fresh ? self->fresh : fd, variant->cmd, there);
}

/* Must the command fail? Read-only memory is bad only if the command writes to it. */
static bool is_bad(const struct _fixture_variant_pointer *variant, enum place place)
{
	if (place == READ_ONLY)
		return variant->inner ? variant->inner_result : variant->result;
	return place != GOOD;
}

/* Returns the result on success. WAIT times out, because there is no event. */
static int good(const struct _fixture_variant_pointer *variant)
{
	return variant->cmd == POSIXTRACE_IOC_WAIT ? -ETIMEDOUT : 0;
}

TEST_F(pointer, to_bad_memory_is_EFAULT_and_changes_nothing)
{
	struct posixtrace_stats before, after;
	struct posixtrace_status status;
	struct record record;

	for (int place = GOOD + 1; place <= INTO_NO_ACCESS; place++) {
		int mapped = count_device_maps();

		self->name = place;
		self->fresh = device_open();
		ASSERT_LE(0, self->fresh);
		while (stream_take(&self->stream, &record, NULL, 0) == 1)
			;
		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_STATS, &before));
		if (is_bad(variant, place)) {
			EXPECT_EQ(-EFAULT, call(self, variant, place)) {
				TH_LOG("place %d", place);
			}
			ASSERT_EQ(0, stream_status(&self->stream, &status));
			EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, status.flags);
			ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_STATS, &after));
			EXPECT_EQ(before.recorded, after.recorded);
			EXPECT_EQ(1, target_streams(&self->target));
			EXPECT_EQ(mapped, count_device_maps());
			EXPECT_EQ(1, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
		} else {
			EXPECT_EQ(good(variant), call(self, variant, place));
		}
		while (stream_take(&self->stream, &record, NULL, 0) == 1)
			;
		EXPECT_EQ(variant->fresh && !is_bad(variant, place) ? -EBUSY : good(variant),
			  call(self, variant, GOOD)) {
			TH_LOG("after place %d", place);
		}
		close(self->fresh);
		ASSERT_EQ(0, stream_start(&self->stream));
	}
}

TEST_HARNESS_MAIN
