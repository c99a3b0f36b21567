// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/posixtrace: open files and their roles. command.c has the commands.
 *
 * A file gets its role from its first command and keeps it. It works only for the process that gave
 * it the role: other processes that inherited or received the descriptor cannot use it.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "device/attached.h"
#include "device/cdev.h"
#include "device/command.h"
#include "device/create.h"
#include "device/fdinfo.h"
#include "kevent/permission.h"
#include "kevent/tracepoints.h"
#include "log/log.h"
#include "log/pack.h"
#include "ring/clock.h"
#include "stream/wait.h"
#include "target/attachment.h"
#include "target/memory.h"
#include "task/end.h"
#include "teardown/mmap.h"
#include "teardown/shutdown.h"

static enum pxt_role role_of(const struct pxt_file *pf)
{
	/* Pairs with the release in end_role(): @stream or @att is set. */
	return smp_load_acquire(&pf->role);
}

/*
 * One CREATE or ATTACH at a time per file. Not a lock, because CREATE waits until the header of the
 * log is written: if the log is a pipe, its reader can delay that forever.
 */
static bool begin_role(struct pxt_file *pf)
{
	return cmpxchg(&pf->role, PXT_ROLE_NONE, PXT_ROLE_TAKEN) == PXT_ROLE_NONE;
}

static void end_role(struct pxt_file *pf, enum pxt_role role)
{
	/* Pairs with the acquire in role_of(). */
	smp_store_release(&pf->role, role);
}

static int info(void __user *uarg)
{
	struct posixtrace_info info = {
		.abi_version = POSIXTRACE_ABI_VERSION,
		.page_size = PAGE_SIZE,
		.features = POSIXTRACE_FEATURE_EVENT |
			    (pxt_pack_available() ? POSIXTRACE_FEATURE_LZ4 : 0),
		.classes = pxt_tracepoints_classes() & pxt_permission_classes(),
		.streams_max = POSIXTRACE_STREAMS_MAX,
		.slots_max = POSIXTRACE_SLOTS_MAX,
		.ids_max = POSIXTRACE_ID_MAX,
		.clock_resolution = pxt_clock_resolution(),
	};

	return copy_to_user(uarg, &info, sizeof(info)) ? -EFAULT : 0;
}

static int create(struct pxt_file *pf, struct file *file, void __user *uarg)
{
	struct posixtrace_create arg;
	struct pxt_stream *stream;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	stream = pxt_create(&arg, file);
	if (IS_ERR(stream))
		return PTR_ERR(stream);
	pxt_create_result(stream, &arg);
	if (copy_to_user(uarg, &arg, sizeof(arg))) {
		pxt_stream_abort(stream);
		return -EFAULT;
	}
	pf->stream = stream;
	return 0;
}

static int attach(struct pxt_file *pf, struct file *file, void __user *uarg)
{
	struct posixtrace_attach arg;
	struct pxt_attachment *att;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.flags & ~POSIXTRACE_ATTACH_ALONE || arg.reserved1 ||
	    memchr_inv(arg.reserved2, 0, sizeof(arg.reserved2)) ||
	    memchr_inv(&arg.gate, 0, sizeof(arg.gate)) || arg.target)
		return -EINVAL;
	if (arg.flags & POSIXTRACE_ATTACH_ALONE && pxt_target_shares_memory())
		return -EUSERS;
	arg.gate.size = PAGE_ALIGN(sizeof(struct posixtrace_gate));
	att = pxt_attachment_get(file->f_mapping->host);
	if (!att)
		return -ENOMEM;
	arg.target = att->number;
	if (copy_to_user(uarg, &arg, sizeof(arg))) {
		pxt_attachment_put(att);
		return -EFAULT;
	}
	pxt_mmap_join(file, att);
	pf->att = att;
	return 0;
}

static int take_role(struct pxt_file *pf, struct file *file, unsigned int cmd, void __user *uarg)
{
	bool creates = cmd == POSIXTRACE_IOC_CREATE;
	int err;

	if (!begin_role(pf))
		return -EBUSY;
	err = creates ? create(pf, file, uarg) : attach(pf, file, uarg);
	if (err)
		end_role(pf, PXT_ROLE_NONE);
	else
		end_role(pf, creates ? PXT_ROLE_STREAM : PXT_ROLE_TARGET);
	return err;
}

static bool is_command(unsigned int cmd)
{
	switch (cmd) {
	case POSIXTRACE_IOC_START:
	case POSIXTRACE_IOC_STOP:
	case POSIXTRACE_IOC_SHUTDOWN:
	case POSIXTRACE_IOC_GET_STATUS:
	case POSIXTRACE_IOC_GET_ATTR:
	case POSIXTRACE_IOC_EVENT_NAME:
	case POSIXTRACE_IOC_EVENT_TYPES:
	case POSIXTRACE_IOC_WAIT:
	case POSIXTRACE_IOC_RELEASE:
	case POSIXTRACE_IOC_SET_FILTER:
	case POSIXTRACE_IOC_GET_FILTER:
	case POSIXTRACE_IOC_CLEAR:
	case POSIXTRACE_IOC_GET_STATS:
	case POSIXTRACE_IOC_KERNEL_STATS:
	case POSIXTRACE_IOC_STATES:
	case POSIXTRACE_IOC_FILES:
	case POSIXTRACE_IOC_ADD:
	case POSIXTRACE_IOC_ROTATE:
	case POSIXTRACE_IOC_TRIGGER:
	case POSIXTRACE_IOC_TRIGGERED:
	case POSIXTRACE_IOC_CLOCK_ERROR:
	case POSIXTRACE_IOC_FLUSH:
	case POSIXTRACE_IOC_DEFER:
	case POSIXTRACE_IOC_WRITE_LOG:
	case POSIXTRACE_IOC_DESCRIPTION:
	case POSIXTRACE_IOC_SYNC:
	case POSIXTRACE_IOC_NEXT:
	case POSIXTRACE_IOC_EVENT:
	case POSIXTRACE_IOC_WAKE:
	case POSIXTRACE_IOC_MET:
	case POSIXTRACE_IOC_EVENTID_OPEN:
	case POSIXTRACE_IOC_DESCRIBE:
		return true;
	default:
		return false;
	}
}

static bool owns_stream(const struct pxt_stream *stream)
{
	return stream->owner == task_tgid(current);
}

static long role_command(struct pxt_file *pf, unsigned int cmd, void __user *uarg)
{
	switch (role_of(pf)) {
	case PXT_ROLE_STREAM:
		return owns_stream(pf->stream) ? pxt_command_stream(pf->stream, cmd, uarg)
					       : -EINVAL;
	case PXT_ROLE_TARGET:
		return pxt_attached_command(pf->att, cmd, uarg);
	default:
		return -EINVAL;
	}
}

/* The number compared by CHECKED: the number of the stream, 0 for a target. */
static int number_of(const struct pxt_file *pf, u64 *number)
{
	switch (role_of(pf)) {
	case PXT_ROLE_STREAM:
		*number = pf->stream->number;
		return owns_stream(pf->stream) ? 0 : -EINVAL;
	case PXT_ROLE_TARGET:
		*number = 0;
		return pxt_attached_acts(pf->att) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

/*
 * CHECKED: run the inner command if the file is the one that the caller expects. Another thread may
 * close the descriptor at any time and reuse its number for another file; the kernel holds the file
 * here, so check and command use the same one.
 */
static int unwrap(const struct pxt_file *pf, unsigned int *cmd, void __user **uarg)
{
	struct posixtrace_checked arg;
	u64 number;
	int err;

	err = number_of(pf, &number);
	if (err)
		return err;
	if (copy_from_user(&arg, *uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.reserved)
		return -EINVAL;
	if (arg.stream != number)
		return -ESTALE;
	*cmd = arg.cmd;
	*uarg = u64_to_user_ptr(arg.arg);
	return 0;
}

/* May the calling process map the memory of this role? */
static int may_map(const struct pxt_file *pf)
{
	switch (role_of(pf)) {
	case PXT_ROLE_STREAM:
		if (!owns_stream(pf->stream))
			return -EINVAL;
		return READ_ONCE(pf->stream->dead) ? -ESHUTDOWN : 0;
	case PXT_ROLE_TARGET:
		return pxt_attached_owns(pf->att) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static long cdev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pxt_file *pf = file->private_data;
	void __user *uarg = (void __user *)arg;
	long ret;

	if (cmd == POSIXTRACE_IOC_CHECKED) {
		ret = unwrap(pf, &cmd, &uarg);
		if (ret)
			return ret;
	}
	/* The code below does not accept CHECKED, so it cannot be nested. */
	switch (cmd) {
	case POSIXTRACE_IOC_INFO:
		return info(uarg);
	case POSIXTRACE_IOC_CREATE:
	case POSIXTRACE_IOC_ATTACH:
		return take_role(pf, file, cmd, uarg);
	case POSIXTRACE_IOC_MAP:
		ret = may_map(pf);
		return ret ? ret : pxt_mmap_command(file, uarg);
	default:
		if (!is_command(cmd))
			return -ENOTTY;
		ret = role_command(pf, cmd, uarg);
		/* -ENOTTY means that the command belongs to the other role. */
		return ret == -ENOTTY ? -EINVAL : ret;
	}
}

/* The kernel is about to map the file, so file->f_mapping must not change here. */
static int attach_new(struct pxt_file *pf, struct file *file)
{
	struct inode *inode = file->f_mapping->host;
	struct pxt_attachment *att = pxt_attachment_get(inode);

	if (!att)
		return -ENOMEM;
	if (att->inode != inode) {
		pxt_attachment_put(att);
		return -EBUSY;
	}
	pf->att = att;
	return 0;
}

static bool attaches(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff == POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION) >> PAGE_SHIFT;
}

/* Attach by mmap() instead of ATTACH. */
static int attach_and_map(struct pxt_file *pf, struct file *file, struct vm_area_struct *vma)
{
	int err;

	if (pxt_target_shares_memory())
		return -EUSERS;
	if (!begin_role(pf))
		return -EBUSY;
	err = attach_new(pf, file);
	end_role(pf, err ? PXT_ROLE_NONE : PXT_ROLE_TARGET);
	if (err)
		return err;
	vma->vm_pgoff = 0;
	return pxt_mmap_target(pf->att, vma);
}

static int cdev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pxt_file *pf = file->private_data;

	if (attaches(vma))
		return attach_and_map(pf, file, vma);
	if (may_map(pf))
		return -EINVAL;
	return pf->role == PXT_ROLE_STREAM ? pxt_mmap_stream(pf->stream, vma)
					   : pxt_mmap_target(pf->att, vma);
}

static __poll_t cdev_poll(struct file *file, poll_table *table)
{
	struct pxt_file *pf = file->private_data;

	if (role_of(pf) != PXT_ROLE_STREAM || !owns_stream(pf->stream))
		return EPOLLERR;
	return pxt_wait_poll(pf->stream, file, table);
}

static int cdev_open(struct inode *inode, struct file *file)
{
	struct pxt_file *pf = kzalloc(sizeof(*pf), GFP_KERNEL_ACCOUNT);
	int err;

	if (!pf)
		return -ENOMEM;
	err = pxt_mmap_open(file);
	if (err) {
		kfree(pf);
		return err;
	}
	file->private_data = pf;
	return 0;
}

static int is_same(const void *file, struct file *open, unsigned int fd)
{
	return open == file;
}

/*
 * Does the table have another descriptor of the file, as after dup()? The descriptor being closed
 * is already removed, so if two are closed concurrently, the later close finds no other.
 */
static bool has_another(struct files_struct *files, const struct file *file)
{
	return iterate_fd(files, 0, is_same, file);
}

/*
 * Called when a descriptor is closed. Only a close by the controller counts: a child with the
 * descriptor neither ends a stream nor keeps it alive. The exit of a thread with a separate
 * descriptor table is not a close; task/process.c detects the exit of the process.
 *
 * Ignore the close of a table copy left by a failed fork() or unshare(): it was never installed.
 * Also ignore the final close of a shared table that the thread has left: its new table has the
 * file.
 *
 * The stream continues while the table has another descriptor of the file.
 */
static int cdev_flush(struct file *file, fl_owner_t id)
{
	struct pxt_file *pf = file->private_data;

	if (role_of(pf) == PXT_ROLE_STREAM && owns_stream(pf->stream) &&
	    id == current->files && !(current->flags & PF_EXITING) &&
	    !has_another(current->files, file))
		pxt_stream_close(pf->stream, file);
	return 0;
}

/*
 * Runs in the task that puts the last reference: this may be another process that received the
 * descriptor, an io_uring worker, or a kernel thread. It therefore does not wait for a log.
 */
static int cdev_release(struct inode *inode, struct file *file)
{
	struct pxt_file *pf = file->private_data;

	switch (pf->role) {
	case PXT_ROLE_STREAM:
		pxt_stream_shutdown(pf->stream);
		if (pf->stream->log)
			pxt_log_abandon(pf->stream->log);
		pxt_stream_forget_file(pf->stream);
		pxt_stream_put(pf->stream);
		break;
	case PXT_ROLE_TARGET:
		pxt_attachment_put(pf->att);
		break;
	default:
		break;
	}
	pxt_mmap_release(file);
	kfree(pf);
	return 0;
}

/* The caller holds the file, and therefore the stream or the attachment. */
static void cdev_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct pxt_file *pf = file->private_data;

	switch (role_of(pf)) {
	case PXT_ROLE_STREAM:
		pxt_fdinfo_stream(m, pf->stream);
		break;
	case PXT_ROLE_TARGET:
		pxt_fdinfo_attachment(m, pf->att);
		break;
	default:
		pxt_fdinfo_none(m);
		break;
	}
}

static const struct file_operations pxt_fops = {
	.owner = THIS_MODULE,
	.open = cdev_open,
	.flush = cdev_flush,
	.release = cdev_release,
	.unlocked_ioctl = cdev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = cdev_mmap,
	.poll = cdev_poll,
	.show_fdinfo = cdev_show_fdinfo,
	.llseek = noop_llseek,
};

/* By default, any user may open the device: each command checks the rights of its caller. */
static struct miscdevice pxt_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "posixtrace",
	.fops = &pxt_fops,
	.mode = 0666,
};

static int set_device_mode(const char *val, const struct kernel_param *kp)
{
	u16 mode;
	int err = kstrtou16(val, 8, &mode);

	if (err)
		return err;
	/* With 0, devtmpfs would choose the mode. */
	if (!mode || mode & ~0777)
		return -EINVAL;
	pxt_misc.mode = mode;
	return 0;
}

static int get_device_mode(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "0%03o\n", pxt_misc.mode);
}

static const struct kernel_param_ops device_mode_ops = {
	.set = set_device_mode,
	.get = get_device_mode,
};

/* Read-only at run time: the device node is created once, when the module is loaded. */
module_param_cb(device_mode, &device_mode_ops, NULL, 0444);
__MODULE_PARM_TYPE(device_mode, "octal");
MODULE_PARM_DESC(device_mode, "Mode of /dev/posixtrace, octal (default 0666)");

/**
 * pxt_cdev_init() - register the device
 *
 * Return: 0 or negative errno.
 */
int pxt_cdev_init(void)
{
	return misc_register(&pxt_misc);
}

/**
 * pxt_cdev_exit() - unregister the device; it is not open
 */
void pxt_cdev_exit(void)
{
	misc_deregister(&pxt_misc);
}
