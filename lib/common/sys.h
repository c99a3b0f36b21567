/* SPDX-License-Identifier: MIT */
/*
 * System calls that are not cancellation points, and the conversion of negative errno, which the
 * library uses inside, to the error numbers that it returns.
 */
#ifndef PXTU_SYS_H
#define PXTU_SYS_H

#include "common/pxtu.h"

/**
 * pxtu_open() - open a file
 * @path: path
 * @flags: O_*
 *
 * Unlike open(), this is not a cancellation point: most functions of the standard must not
 * be one. Keeps errno, like all functions here. Async-signal-safe.
 *
 * Return: a descriptor or negative errno.
 */
int pxtu_open(const char *path, int flags);

/**
 * pxtu_open_new() - create a file and open it for writing
 * @path: path; nothing may exist there, not even a symbolic link
 *
 * Only its owner may use the file. The descriptor is closed on exec. It is greater than 2: if the
 * program has closed its standard streams, other threads may still write to their descriptors.
 * Async-signal-safe.
 *
 * Return: a descriptor or negative errno; then there is no file.
 */
int pxtu_open_new(const char *path);

/**
 * pxtu_close() - close a descriptor
 * @fd: the descriptor
 *
 * Unlike close(), this is not a cancellation point. Async-signal-safe.
 */
void pxtu_close(int fd);

/**
 * pxtu_pread() - read at an offset, retry after a signal
 * @fd: the descriptor
 * @to: buffer
 * @len: bytes
 * @offset: where to read; the file offset does not move
 *
 * Unlike pread(), this is not a cancellation point.
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
 * Return: the result of the command, or negative errno, never -EINTR; -EIO if a signal
 * interrupted every attempt.
 */
int pxtu_ioctl(int fd, unsigned long cmd, void *arg);

/**
 * pxtu_ioctl_once() - send one command to the module
 * @fd: descriptor of the device
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Return: the result of the command, or negative errno.
 */
int pxtu_ioctl_once(int fd, unsigned long cmd, void *arg);

/**
 * pxtu_rseq_forgotten() - check if the kernel has lost the calling thread's rseq registration
 *
 * The C library registers each thread. It does not know that the kernel drops the registration
 * of a child of vfork(), and that the children of such a child by fork() have no registration
 * either. Has no side effects.
 *
 * Return: true if the kernel has lost it; false if not, or if that cannot be determined.
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
 * The module compares the stream and executes the command in one step, so no other stream gets
 * the command. A file of another kind does not know the command. Retries after a signal.
 * Async-signal-safe.
 *
 * Return: the result of the command, or negative errno, never -EINTR: -EBADF,
 * -ENOTTY, -EINVAL or -ESTALE if it is not ours, or any error of a foreign file.
 */
int pxtu_checked(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_checked_once() - like pxtu_checked(), without retrying after a signal
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Return: as pxtu_checked(), or -EINTR.
 */
int pxtu_checked_once(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_checked_soon() - like pxtu_checked(), for commands that do not wait
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Async-signal-safe.
 *
 * Return: as pxtu_checked(), or -EIO if a signal interrupted every attempt.
 */
int pxtu_checked_soon(int fd, __u64 stream, unsigned long cmd, void *arg);

/**
 * pxtu_is_ours() - check if a descriptor is still ours
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 *
 * Async-signal-safe.
 *
 * Return: true if it is, also for a stream that was shut down.
 */
bool pxtu_is_ours(int fd, __u64 stream);

/**
 * pxtu_map() - map memory of the module
 * @fd: a descriptor that was ours
 * @stream: number of its stream; 0 for role target
 * @map: the memory, from CREATE, ATTACH or SYNC
 * @flags: POSIXTRACE_MAPPING_*
 * @address: result, address of the mapping
 *
 * Unlike mmap(), this never maps another file that has the number @fd at that moment; a later
 * check could not tell which file was mapped. Async-signal-safe.
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
 * Works even if a filter of the program (seccomp) keeps the module from answering.
 * Async-signal-safe.
 *
 * Return: true if it was ours and is closed now.
 */
bool pxtu_close_ours(int fd, __u64 stream);

/**
 * pxtu_close_new() - close a descriptor without role, if it is still ours
 * @fd: descriptor of the device, just opened
 * @err: the error of CREATE or ATTACH, if one of them failed; otherwise 0
 *
 * Async-signal-safe.
 *
 * Return: true if it was ours and is closed now.
 */
bool pxtu_close_new(int fd, int err);

/**
 * pxtu_futex_wait() - sleep until pxtu_futex_wake() or a signal, for at most a second
 * @word: private to this process
 * @value: returns immediately if the word has another value
 *
 * May return earlier: the caller checks the word again. Not a cancellation point.
 */
void pxtu_futex_wait(int *word, int value);

/**
 * pxtu_futex_wake() - wake up all threads that sleep in pxtu_futex_wait()
 * @word: the word, which has a new value
 *
 * Async-signal-safe.
 */
void pxtu_futex_wake(int *word);

/**
 * pxtu_signals_block() - block all signals except SIGSYS, also the C library's
 * @before: result: the signals that were blocked, for pxtu_signals_restore()
 *
 * Until pxtu_signals_restore(), no signal handler runs in this thread, and it is not cancelled. It
 * could be cancelled otherwise: it may be in a signal handler that interrupted a cancellation
 * point. Async-signal-safe.
 */
void pxtu_signals_block(__u64 *before);

/**
 * pxtu_signals_restore() - undo pxtu_signals_block()
 * @before: from pxtu_signals_block()
 *
 * Async-signal-safe.
 */
void pxtu_signals_restore(__u64 before);

/**
 * pxtu_cancel_block() - block the signal that cancels this thread asynchronously
 * @before: result: the signals that were blocked, for pxtu_cancel_unblock()
 *
 * Until pxtu_cancel_unblock(), the signal interrupts only a system call that unblocks it.
 *
 * Return: the signal, as bits of a signal mask, for posixtrace_wait.unblock; 0 if it was
 * blocked before, or cannot be blocked.
 */
__u64 pxtu_cancel_block(__u64 *before);

/**
 * pxtu_cancel_unblock() - undo pxtu_cancel_block()
 * @before: from pxtu_cancel_block()
 */
void pxtu_cancel_unblock(__u64 before);

/**
 * pxtu_device_missing() - check if the device is not available to this process
 * @err: result of pxtu_open() for PXTU_DEVICE
 *
 * Return: true without the module, and without permission; false after other errors, which may
 * be temporary.
 */
bool pxtu_device_missing(int err);

/**
 * pxtu_map_over() - map a file for reading, replacing the mapping at an address
 * @place: address of whole pages
 * @size: bytes
 * @fd: the file
 * @offset: offset in the file
 *
 * After a failure, @place may be unmapped. Not for 32-bit processes.
 * Async-signal-safe.
 *
 * Return: 0 or negative errno.
 */
int pxtu_map_over(void *place, size_t size, int fd, __u64 offset);

/**
 * pxtu_device_open() - open the module's device
 *
 * The descriptor is above the standard streams, which programs close and reopen by number. It is
 * closed on exec. Async-signal-safe.
 *
 * Return: a descriptor; -ENODEV without the module, -EPERM without permission to open
 * the device, -EOPNOTSUPP if the module has another ABI version, -EBADF if the program
 * closed the descriptor immediately, other negative errno.
 */
int pxtu_device_open(void);

/**
 * pxtu_device_open_high() - open the module's device with a high descriptor
 *
 * For a descriptor that stays open while the program does not know of it: the program gets the low
 * numbers that it expects, and loops that close the first few hundred do not reach it.
 * Async-signal-safe.
 *
 * Return: as pxtu_device_open().
 */
int pxtu_device_open_high(void);

/**
 * pxtu_tell() - write a line to standard error
 * @text: the line
 * @len: bytes, at most 4096
 *
 * Never waits, and raises no SIGPIPE: if the line cannot be written now, it is lost.
 * Async-signal-safe.
 */
void pxtu_tell(const char *text, size_t len);

/**
 * pxtu_thread() - get the id of the calling thread
 *
 * Async-signal-safe. After vfork(), the C library may cache another id.
 *
 * Return: thread id, as gettid() returns it.
 */
int pxtu_thread(void);

/**
 * pxtu_thread_name() - name the calling thread
 * @name: at most 15 bytes, shown by tools that list threads
 */
void pxtu_thread_name(const char *name);

/**
 * pxtu_pause() - sleep
 * @ms: milliseconds
 */
void pxtu_pause(long ms);

/**
 * pxtu_thread_ended() - check if a thread has ended
 * @thread: id, the same in its process and in this one
 *
 * Async-signal-safe.
 *
 * Return: false if it has not, or if that cannot be determined.
 */
bool pxtu_thread_ended(int thread);

/**
 * pxtu_coarse_ms() - get a time for pauses between attempts
 *
 * The time of the last tick of the kernel's clock, which takes no system call. Async-signal-safe.
 *
 * Return: milliseconds; wraps around.
 */
__u32 pxtu_coarse_ms(void);

/**
 * pxtu_error() - convert an error to the return value of a standard function
 * @err: 0 or negative errno
 *
 * Return: 0 or the error number that the standard specifies for the cause.
 */
int pxtu_error(int err);

#endif /* PXTU_SYS_H */
