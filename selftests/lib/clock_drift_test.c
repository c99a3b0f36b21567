// SPDX-License-Identifier: GPL-2.0
/* Timestamps do not drift from CLOCK_REALTIME. Takes a minute, mostly waiting. */
#include <poll.h>

#include "clock_scene.h"
#include "pxt_test.h"

FIXTURE(minute)
{
	struct scene scene;
};

FIXTURE_SETUP(minute)
{
	ASSERT_EQ(0, scene_set(&self->scene, COUNTER));
	/* A rate other than the one measured by the kernel at boot. */
	ASSERT_LE(0, set_frequency(100));
}

FIXTURE_TEARDOWN(minute)
{
	EXPECT_LE(0, set_frequency(0));
	EXPECT_EQ(0, scene_clear(&self->scene));
}

static void lower(unsigned long long *least, unsigned long long value)
{
	if (value < *least)
		*least = value;
}

static unsigned long long apart(const unsigned long long pair[2])
{
	return pair[0] > pair[1] ? pair[0] - pair[1] : pair[1] - pair[0];
}

/*
 * If the library used a counter as a separate clock, it would drift: the difference between the
 * time of an event and a clock call just before it would change. That difference may change by at
 * most 1 us more than the difference between two clock calls. Both depend on the speed of the
 * machine.
 */
TEST_F_TIMEOUT(minute, does_not_drift_within_a_minute, 120)
{
	unsigned long long least[2] = { ~0ULL, ~0ULL }, width[2] = { ~0ULL, ~0ULL }, end;
	static struct bracket bracket[BATCH];
	struct event event;

	end = now() + 60 * NSEC;
	for (int part = 0; part < 2; part++) {
		while (part && now() < end) {
			record_brackets(self->scene.type, bracket, 1);
			ASSERT_EQ(0, count_outside(self->scene.trid, bracket, 1));
			poll(NULL, 0, 10);
		}
		record_brackets(self->scene.type, bracket, BATCH);
		for (int i = 0; i < BATCH; i++) {
			ASSERT_EQ(1, take_user(self->scene.trid, &event));
			lower(&least[part], event_time(&event) - bracket[i].before);
			lower(&width[part], bracket[i].after - bracket[i].before);
		}
	}
	TH_LOG("%llu of %llu and %llu of %llu ns", least[0], width[0], least[1], width[1]);
	EXPECT_GT(1000U * pxt_time_scale() + apart(width), apart(least));
}

TEST_HARNESS_MAIN
