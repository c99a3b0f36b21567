// SPDX-License-Identifier: GPL-2.0
/*
 * MET and the conditions of TRIGGER on events, through the raw interface: what a traced process
 * claims, and what the controller gets. settrigger_test.c has the library.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>

#include "pxt_test.h"
#include "polling.h"
#include "uapi.h"

#define THRESHOLD	1000
#define LABEL		77

/* The stream and the target are in the same process. */
FIXTURE(met)
{
	struct target target;
	struct stream stream;
	struct posixtrace_condition condition[2];
	struct posixtrace_trigger trigger;
	struct posixtrace_met event;
	struct posixtrace_met scope;
};

typedef struct _test_data_met met_data;

static int set(met_data *self)
{
	return command(self->stream.fd, POSIXTRACE_IOC_TRIGGER, &self->trigger);
}

static const struct posixtrace_gate_condition *shown(const met_data *self, int i)
{
	return &self->target.gate->condition[self->stream.arg.slot][i];
}

/* Makes valid claims for the conditions that the gate has now. */
static void make_claims(met_data *self)
{
	struct posixtrace_met arg = {
		.time = now(),
		.slot = self->stream.arg.slot,
		.count = 1,
	};

	self->event = arg;
	self->event.number = LOAD(shown(self, 0)->number);
	self->scope = arg;
	self->scope.condition = 1;
	self->scope.number = LOAD(shown(self, 1)->number);
	self->scope.duration = THRESHOLD + 1;
}

FIXTURE_SETUP(met)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_LT(0, eventid_open(self->target.fd, "event"));
	ASSERT_LT(0, eventid_open(self->target.fd, "begin"));
	ASSERT_LT(0, eventid_open(self->target.fd, "end"));
	memset(self->condition, 0, sizeof(self->condition));
	strcpy(self->condition[0].end, "event");
	strcpy(self->condition[1].begin, "begin");
	strcpy(self->condition[1].end, "end");
	self->condition[1].threshold = THRESHOLD;
	self->condition[1].label = LABEL;
	self->trigger = (struct posixtrace_trigger){
		.conditions = (uintptr_t)self->condition,
		.count = 2,
	};
	ASSERT_EQ(0, set(self));
	make_claims(self);
	ASSERT_NE(0, self->event.number);
	ASSERT_NE(0, self->scope.number);
}

FIXTURE_TEARDOWN(met)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static int met(const met_data *self, const struct posixtrace_met *arg)
{
	return command(self->target.fd, POSIXTRACE_IOC_MET, (void *)arg);
}

static struct posixtrace_triggered take(const met_data *self)
{
	struct posixtrace_triggered arg;

	memset(&arg, 0xff, sizeof(arg));
	if (command(self->stream.fd, POSIXTRACE_IOC_TRIGGERED, &arg))
		arg.kind = ~0U;
	return arg;
}

TEST_F(met, claim_is_reported)
{
	struct posixtrace_triggered got;

	ASSERT_EQ(0, met(self, &self->event));
	got = take(self);
	EXPECT_EQ(1, got.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_EVENT, got.kind);
	EXPECT_EQ(self->event.time, got.time);
	EXPECT_EQ(0, got.duration);
	EXPECT_EQ(0, got.label);
	EXPECT_EQ(getpid(), got.pid);
	EXPECT_EQ(getpid(), got.tid);

	ASSERT_EQ(0, met(self, &self->scope));
	got = take(self);
	EXPECT_EQ(1, got.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_SCOPE, got.kind);
	EXPECT_EQ(THRESHOLD + 1, got.duration);
	EXPECT_EQ(LABEL, got.label);
	EXPECT_EQ(0, take(self).count);
}

TEST_F(met, wrong_arguments_are_refused)
{
	struct posixtrace_met arg = self->event;

	arg.slot = POSIXTRACE_SLOTS_MAX;
	EXPECT_EQ(-EINVAL, met(self, &arg));
	arg.slot = ~0U;
	EXPECT_EQ(-EINVAL, met(self, &arg));
	arg = self->event;
	arg.condition = POSIXTRACE_CONDITIONS_MAX;
	EXPECT_EQ(-EINVAL, met(self, &arg));
	arg = self->event;
	arg.number = 0;
	EXPECT_EQ(-EINVAL, met(self, &arg));
	arg = self->event;
	arg.count = 0;
	EXPECT_EQ(-EINVAL, met(self, &arg));
	EXPECT_EQ(-EFAULT, met(self, BAD_POINTER));
	EXPECT_EQ(0, take(self).count);
}

TEST_F(met, claim_for_another_number_or_slot_is_ignored)
{
	struct posixtrace_met arg = self->event;

	arg.number++;
	EXPECT_EQ(0, met(self, &arg));
	arg = self->event;
	arg.condition = 2;
	EXPECT_EQ(0, met(self, &arg));
	arg = self->event;
	arg.slot = self->stream.arg.slot ? 0 : POSIXTRACE_SLOTS_MAX - 1;
	EXPECT_EQ(0, met(self, &arg));
	/* The same conditions, chosen again, have other numbers. */
	ASSERT_EQ(0, set(self));
	EXPECT_EQ(0, met(self, &self->event));
	EXPECT_EQ(0, met(self, &self->scope));
	EXPECT_EQ(0, take(self).count);
	make_claims(self);
	EXPECT_EQ(0, met(self, &self->event));
	EXPECT_EQ(1, take(self).count);
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, met(self, &self->event));
	EXPECT_EQ(0, take(self).count);
}

TEST_F(met, forged_times_stay_within_the_life_of_the_stream)
{
	unsigned long long before = now();
	struct posixtrace_triggered got;

	self->event.time = ~0ULL;
	ASSERT_EQ(0, met(self, &self->event));
	got = take(self);
	EXPECT_LE(before, got.time);
	EXPECT_GE(now(), got.time);
	self->event.time = 1;
	ASSERT_EQ(0, met(self, &self->event));
	got = take(self);
	EXPECT_LT(1, got.time);
	EXPECT_GE(before, got.time);

	self->scope.duration = THRESHOLD;
	EXPECT_EQ(0, met(self, &self->scope));
	self->scope.duration = 3600 * NSEC;
	EXPECT_EQ(0, met(self, &self->scope));
	self->scope.duration = ~0ULL;
	EXPECT_EQ(0, met(self, &self->scope));
	EXPECT_EQ(0, take(self).count);
}

TEST_F(met, flood_wakes_once_and_is_counted)
{
	const unsigned long long many = 10000;
	struct epoll_event event;
	int epfd = epoll_with(self->stream.fd, EPOLLPRI | EPOLLET);

	ASSERT_LE(0, epfd);
	while (epoll_wait(epfd, &event, 1, 0) > 0)
		;
	ASSERT_EQ(0, met(self, &self->event));
	ASSERT_EQ(1, epoll_wait(epfd, &event, 1, 0));
	EXPECT_TRUE(event.events & EPOLLPRI);
	EXPECT_EQ(1, LOAD(self->target.gate->pending[self->stream.arg.slot]));
	self->event.count = 3;
	for (unsigned long long i = 0; i < many; i++)
		ASSERT_EQ(0, met(self, &self->event));
	EXPECT_EQ(0, epoll_wait(epfd, &event, 1, 0));
	EXPECT_EQ(1 + 3 * many, take(self).count);
	EXPECT_EQ(0, LOAD(self->target.gate->pending[self->stream.arg.slot]));
	EXPECT_EQ(0, take(self).count);
	close(epfd);
}

/* ------------------------------------------------------------------ */
/* TRIGGER								*/

TEST_F(met, malformed_conditions_are_refused)
{
	struct posixtrace_condition *first = &self->condition[0];

	self->trigger.count = POSIXTRACE_CONDITIONS_MAX + 1;
	EXPECT_EQ(-EINVAL, set(self));
	self->trigger.count = ~0U;
	EXPECT_EQ(-EINVAL, set(self));
	self->trigger.count = 0;
	EXPECT_EQ(-EINVAL, set(self));
	self->trigger.count = 2;
	self->trigger.reserved = 1;
	EXPECT_EQ(-EINVAL, set(self));
	self->trigger.reserved = 0;
	self->trigger.conditions = (uintptr_t)BAD_POINTER;
	EXPECT_EQ(-EFAULT, set(self));
	self->trigger.conditions = (uintptr_t)self->condition;

	first->threshold = 1;
	EXPECT_EQ(-EINVAL, set(self));
	first->threshold = 0;
	first->reserved = 1;
	EXPECT_EQ(-EINVAL, set(self));
	first->reserved = 0;
	first->end[POSIXTRACE_EVENT_NAME_SIZE - 1] = 'x';
	EXPECT_EQ(-EINVAL, set(self));
	memset(first->end, 'x', sizeof(first->end));
	EXPECT_EQ(-EINVAL, set(self));
	memset(first->end, 0, sizeof(first->end));
	EXPECT_EQ(-EINVAL, set(self));
	strcpy(first->end, "event");
	memset(first->begin, 'x', sizeof(first->begin));
	EXPECT_EQ(-EINVAL, set(self));

	/* None of these has replaced the conditions. */
	EXPECT_EQ(0, met(self, &self->event));
	EXPECT_EQ(1, take(self).count);
}

/* ------------------------------------------------------------------ */
/* EVENT								*/

TEST_F(met, event_returns_the_time_of_its_record)
{
	struct posixtrace_event arg = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.flags = POSIXTRACE_EVENT_TIME,
		.skip = ~(1U << self->stream.arg.slot),
		.time = 1,
	};
	struct record record = { .event_id = 0 };

	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
	while (record.event_id != POSIXTRACE_ID_UNNAMED)
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(record.timestamp, arg.time);

	ASSERT_EQ(0, stream_stop(&self->stream));
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
	EXPECT_EQ(0, arg.time);
}

TEST_F(met, time_of_several_records_is_refused)
{
	struct posixtrace_event arg = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.flags = POSIXTRACE_EVENT_TIME,
	};

	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
	arg.skip = ~3U;
	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
	arg.skip = ~0U;
	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
	/* Bit 31 is no slot. */
	arg.skip = ~POSIXTRACE_GATE_CONDITION;
	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENT, &arg));
}

TEST_HARNESS_MAIN
