/* SPDX-License-Identifier: MIT */
/*
 * System calls that are no cancellation points, and the border between negative errno inside and
 * error numbers outside.
 */
#ifndef PXTU_SYS_H
#define PXTU_SYS_H

#include "common/pxtu.h"

/**
 * pxtu_open() - open a file
 * @path: its name
 * @flags: O_*
 *
 * Unlike open() no cancellation point: most functions of the standard must not
 * be one. Keeps errno, as all functions here do. Async-signal-safe.
 *
 * Return: a descriptor or negative errno.
 */
int pxtu_open(const char *path, int flags);

/**
 * pxtu_close() - close a descriptor
 * @fd: the descriptor
 *
 * Unlike close() no cancellation point. Async-signal-safe.
 */
void pxtu_close(int fd);

/**
 * pxtu_pread() - read at an offset, retry after a signal
 * @fd: the descriptor
 * @to: where to write it
 * @len: bytes
 * @offset: where to read; the file offset does not move
 *
 * Unlike pread() no cancellation point.
 *
 * Return: bytes read or negative errno.
 */
ssize_t pxtu_pread(int fd, void *to, size_t len, __u64 offset);

/**
 * pxtu_ioctl() - send one command to the module, retry after a signal
 * @fd: descriptor of the device
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * For commands that do not wait. Async-signal-safe.
 *
 * Return: what the command returned, or negative errno, never -EINTR; -EIO if a signal
 * interrupted every try.
 */
int pxtu_ioctl(int fd, unsigned long cmd, void *arg);

/**
 * pxtu_ioctl_once() - send one command to the module
 * @fd: descriptor of the device
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Return: what the command returned, or negative errno.
 */
int pxtu_ioctl_once(int fd, unsigned long cmd, void *arg);

/**
 * pxtu_rseq_forgotten() - is the calling thread without restartable sequences in the kernel?
 *
 * The C library registers each thread, and does not know that the kernel forgets the registration
 * of a child of vfork(), whose own children by fork() are without one as well. Changes nothing.
 *
 * Return: yes or no; no if the kernel does not say.
 */
bool pxtu_rseq_forgotten(void);

/**
 * pxtu_checked() - send one command, if the descriptor is still ours
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * The program may have closed the descriptor and opened another file under its number.
 * The module compares and executes in one step, so no other stream gets the command. A
 * file of another kind does not know the command. Retries after a signal.
 * Async-signal-safe.
 *
 * Return: what the command returned, or negative errno, never -EINTR: -EBADF,
 * -ENOTTY, -EINVAL or -ESTALE if it is not ours, or any error of a foreign file.
 */
int pxtu_checked(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_checked_once() - as pxtu_checked(), without a retry after a signal
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Return: as pxtu_checked(), or -EINTR.
 */
int pxtu_checked_once(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_checked_soon() - as pxtu_checked(), for commands that do not wait
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Async-signal-safe.
 *
 * Return: as pxtu_checked(), or -EIO if a signal interrupted every try.
 */
int pxtu_checked_soon(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_is_ours() - is a descriptor still ours?
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 *
 * Async-signal-safe.
 *
 * Return: true also for a stream that was shut down.
 */
bool pxtu_is_ours(int fd, __u64 stream);

/**
 * pxtu_map() - map memory of the module
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @map: the memory, from CREATE, ATTACH or SYNC
 * @flags: POSIXTRACE_MAPPING_*
 * @address: where to write the address of the mapping
 *
 * Not mmap(): it would map any file that has the number @fd at that moment, and a later
 * check cannot tell which file that was. Async-signal-safe.
 *
 * Return: 0 or negative errno, as pxtu_checked().
 */
int pxtu_map(int fd, __u64 stream, const struct posixtrace_map *map, __u32 flags,
	     void **address);

/**
 * pxtu_close_ours() - close a descriptor, if it is still ours
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 *
 * Works also if a filter of the program (seccomp) keeps the module from answering.
 * Async-signal-safe.
 *
 * Return: true if it was ours and is closed now.
 */
bool pxtu_close_ours(int fd, __u64 stream);

/**
 * pxtu_close_new() - close a descriptor without role, if it is still ours
 * @fd: of the device, opened a moment ago
 * @err: the error of CREATE or ATTACH, if one of them failed; else 0
 *
 * Async-signal-safe.
 *
 * Return: true if it was ours and is closed now.
 */
bool pxtu_close_new(int fd, int err);

/**
 * pxtu_futex_wait() - sleep until pxtu_futex_wake() or a signal, for a second at most
 * @word: of this process only
 * @value: returns at once if the word has another value
 *
 * May return earlier: the caller looks at the word again. No cancellation point.
 */
void pxtu_futex_wait(int *word, int value);

/**
 * pxtu_futex_wake() - wake up all threads that sleep in pxtu_futex_wait()
 * @word: its value has changed
 *
 * Async-signal-safe.
 */
void pxtu_futex_wake(int *word);

/**
 * pxtu_signals_block() - block all signals but SIGSYS, also those of the C library
 * @before: where to write which signals were blocked, for pxtu_signals_restore()
 *
 * Until pxtu_signals_restore(), no signal handler runs in this thread, and no cancellation ends it:
 * the thread may be in a signal handler that interrupts a cancellation point. Async-signal-safe.
 */
void pxtu_signals_block(__u64 *before);

/**
 * pxtu_signals_restore() - undo pxtu_signals_block()
 * @before: what pxtu_signals_block() wrote
 *
 * Async-signal-safe.
 */
void pxtu_signals_restore(__u64 before);

/**
 * pxtu_cancel_block() - block the signal that cancels this thread asynchronously
 * @before: where to write which signals were blocked, for pxtu_cancel_unblock()
 *
 * Until pxtu_cancel_unblock(), the signal interrupts only a system call that unblocks it.
 *
 * Return: the signal, as bits of a signal mask, for posixtrace_wait.unblock; 0 if it was
 * blocked before, or cannot be blocked.
 */
__u64 pxtu_cancel_block(__u64 *before);

/**
 * pxtu_cancel_unblock() - undo pxtu_cancel_block()
 * @before: what pxtu_cancel_block() wrote
 */
void pxtu_cancel_unblock(__u64 before);

/**
 * pxtu_device_missing() - is there no device for this process?
 * @err: what pxtu_open() returned for PXTU_DEVICE
 *
 * Return: true without the module, and without permission; false after other errors, which may
 * pass.
 */
bool pxtu_device_missing(int err);

/**
 * pxtu_map_over() - map a file for reading, in the place of what is there
 * @place: of whole pages
 * @size: bytes
 * @fd: the file
 * @offset: in it
 *
 * After a failure there may be nothing in the place. Not for processes of 32 bits.
 * Async-signal-safe.
 *
 * Return: 0 or negative errno.
 */
int pxtu_map_over(void *place, size_t size, int fd, __u64 offset);

/**
 * pxtu_device_open() - open the module's device
 *
 * The descriptor is above those of the standard streams, which programs close
 * and open again by number. exec closes it. Async-signal-safe.
 *
 * Return: a descriptor; -ENODEV without the module, -EPERM without permission to open
 * the device, -EOPNOTSUPP if the module has another ABI version, -EBADF if the program
 * closed the descriptor at once, other negative errno.
 */
int pxtu_device_open(void);

/**
 * pxtu_thread() - number of the calling thread
 *
 * Async-signal-safe. The C library may know another one after vfork().
 *
 * Return: thread id, as gettid() returns it.
 */
int pxtu_thread(void);

/**
 * pxtu_thread_name() - name the calling thread
 * @name: at most 15 bytes, for tools that show threads
 */
void pxtu_thread_name(const char *name);

/**
 * pxtu_pause() - sleep
 * @ms: milliseconds
 */
void pxtu_pause(long ms);

/**
 * pxtu_thread_ended() - has a thread ended?
 * @thread: number, as its process and this one see it
 *
 * Async-signal-safe.
 *
 * Return: false if it has not, or if that cannot be found out.
 */
bool pxtu_thread_ended(int thread);

/**
 * pxtu_coarse_ms() - a time for pauses between tries
 *
 * The time of the last tick of the kernel's clock: needs no system call. Async-signal-safe.
 *
 * Return: milliseconds; wraps around.
 */
__u32 pxtu_coarse_ms(void);

/**
 * pxtu_error() - turn an error into the return value of a standard function
 * @err: 0 or negative errno
 *
 * Return: 0 or the error number that the standard has for the cause.
 */
int pxtu_error(int err);

#endif /* PXTU_SYS_H */
