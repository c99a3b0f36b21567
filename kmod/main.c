// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace: the Tracing option of POSIX.1-2017. Module init and exit.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>

#include "version.h"
#include "device/cdev.h"
#include "device/door.h"
#include "kevent/tracepoints.h"
#include "kevent/waker.h"
#include "log/crc32c.h"
#include "ring/clock.h"
#include "ring/user.h"
#include "stream/stream.h"
#include "target/attachment.h"
#include "target/callnames.h"
#include "target/generation.h"
#include "target/target.h"
#include "target/targets.h"
#include "task/hotplug.h"
#include "task/process.h"
#include "teardown/mmap.h"

static int __init pxt_init(void)
{
	int err;

	pxt_crc32c_init();
	pxt_user_init();
	pxt_targets_init();
	pxt_stream_init();
	pxt_generation_init();
	pxt_target_init();
	pxt_attachment_init();
	err = pxt_call_names_init();
	if (err)
		goto fail;
	err = pxt_clock_init();
	if (err)
		goto exit_call_names;
	err = pxt_mmap_init(pxt_door_call);
	if (err)
		goto exit_clock;
	pxt_waker_init();
	pxt_tracepoints_init();
	err = pxt_process_init();
	if (err)
		goto exit_mmap;
	err = pxt_hotplug_init();
	if (err)
		goto exit_process;
	/* Last: from now on, processes can open the device. */
	err = pxt_cdev_init();
	if (err)
		goto exit_hotplug;
	return 0;

exit_hotplug:
	pxt_hotplug_exit();
exit_process:
	pxt_process_exit();
exit_mmap:
	pxt_mmap_exit();
exit_clock:
	pxt_clock_exit();
exit_call_names:
	pxt_call_names_exit();
fail:
	pr_err("initialization failed: error %d\n", err);
	return err;
}

/* Every open file holds a module reference, so no users are left. */
static void __exit pxt_exit(void)
{
	pxt_cdev_exit();
	pxt_hotplug_exit();
	pxt_tracepoints_exit();
	pxt_process_exit();
	pxt_target_exit();
	pxt_mmap_exit();
	pxt_clock_exit();
	pxt_call_names_exit();
	pxt_user_exit();
	/* RCU frees streams, targets and tables. */
	rcu_barrier();
}

module_init(pxt_init);
module_exit(pxt_exit);

MODULE_DESCRIPTION("POSIX.1-2017 tracing");
MODULE_AUTHOR("The posixtrace authors");
MODULE_LICENSE("GPL");
/* The device has no fixed number to use as an alias, so use the prefix of POSIX's functions. */
MODULE_ALIAS("posix_trace");
MODULE_VERSION(PXT_VERSION);
