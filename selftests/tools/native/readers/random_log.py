# SPDX-License-Identifier: GPL-2.0
"""Writes the script of a log, for write_log, with every kind of event: threads and processes are born,
run, wait, change their names, execute programs and end, and their ids are reused; they record events
with and without fields, pairs and counters; some data is truncated or does not match; events are lost.

usage: random_log.py SEED >SCRIPT"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from random_fields import Generator

BASE = 1700000000000000000
CPUS = 3
END = 120000        # nanoseconds
NAMES = ["a", "git-upload-pack", "a b", "x\\x1b[1m", "ä", "\\xff\\xfe", "\\x5cback", "q\"uote", "<b>&"]
PROGRAMS = ["/usr/bin/a", "/opt/a b/c d\\x00-x", "e\\x0af", "/bin/a-name-that-is-longer-than-that-of-a-thread"]
# Two types share a name, but have different fields. Type 90 has no name.
TYPES = """name 65 req_begin
name 66 req_end
name 67 inner:begin
name 68 inner:end
name 69 queue
name 70 load
name 71 plain
name 72 twice
name 73 twice
name 74 wrong
name 75 \\xff\\x0a"<&\\x5c
name 76 signed
describe 65 { u32 id; text key; }
describe 66 { enum : u8 { ok, "not ok", none = 200 } result; }
describe 69 { u32 counter "B"; u8 other; }
describe 70 { f64 counter "1/s"; }
describe 72 { u32 x; }
describe 73 { string y; x16 z[2] "ns"; }
describe 74 { u33 x; }
describe 76 { i64 counter; }"""
FIRST_RANDOM, RANDOM_TYPES = 80, 9
UNNAMED = 90


class Thread:
    def __init__(self, pid, tid, born, comm):
        self.pid, self.tid, self.born, self.comm = pid, tid, born, comm
        self.cpu = None
        self.words = f"pid={pid} tid={tid} thread={0x7f0000000000 + tid * 4096:#x}"


class Log:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.kernel = seed % 5 != 0
        self.missing = seed % 4 * 0.01
        self.head, self.lines = [], []
        self.threads = {}       # threads that are alive, by tid
        self.running = {}       # running thread, by cpu
        self.time = 100
        self.types = []
        for number in range(FIRST_RANDOM, FIRST_RANDOM + RANDOM_TYPES):
            members = Generator(self.rng).members(0, True)
            self.types.append((number, members))

    def event(self, text):
        if self.rng.random() < self.missing:
            self.lines.append(f"epoch\nlost 1 {BASE + self.time}\nblock 0")
        else:
            self.lines.append(text)

    def kernel_event(self, cpu, thread, name, words=""):
        if self.kernel:
            self.event(f"kernel {name} {self.time} cpu={cpu} {thread.words} {words}")

    # ------------------------------------------------------------------
    # Threads

    def name_at(self, thread, since, comm):
        self.head.append(f"born {BASE + thread.born}")
        self.head.append(f"task {thread.pid} {thread.tid} {BASE + since} {comm}")
        thread.comm = comm

    def birth(self, pid, tid):
        thread = Thread(pid, tid, self.time, None)
        self.threads[tid] = thread
        # Without a fork, only the birth in the log distinguishes a thread from an earlier one with
        # the same id.
        self.name_at(thread, self.time, self.rng.choice(NAMES))
        if tid == pid and self.rng.random() < 0.5:
            self.head.append(f"born {BASE + self.time}")
            self.head.append(f"program {pid} {BASE + self.time} {self.rng.choice(PROGRAMS)}")
        return thread

    def group(self, pid):
        return [thread for thread in self.threads.values() if thread.pid == pid]

    def switch_in(self, cpu):
        rng = self.rng
        pid = 10 + rng.randrange(4)
        tid = pid if rng.random() < 0.5 else pid * 10 + rng.randrange(3)
        thread = self.threads.get(tid)
        if not thread:
            # the id of a main thread is free after its process has ended
            if tid == pid and self.group(pid):
                return
            if tid != pid and pid not in self.threads:
                return
            thread = self.birth(pid, tid)
        if thread.cpu is not None:
            return
        thread.cpu = cpu
        self.running[cpu] = thread
        self.kernel_event(cpu, thread, "sched_switch_in", f"runnable={rng.randrange(2) * 9} prio=120")

    def switch_out(self, cpu, thread, words):
        self.kernel_event(cpu, thread, "sched_switch_out", words)
        thread.cpu = None
        del self.running[cpu]

    def end(self, cpu, thread):
        if len(self.group(thread.pid)) == 1:
            self.kernel_event(cpu, thread, "sched_process_exit", "group_dead=true")
            self.time += 1
            self.kernel_event(cpu, thread, "irq", "number=2 kind=irq")
            del self.threads[thread.tid]
            del self.running[cpu]
        elif thread.tid == thread.pid:
            self.switch_out(cpu, thread, "state=S reason=blocked")
        else:
            self.kernel_event(cpu, thread, "sched_process_exit")
            self.time += 1
            self.switch_out(cpu, thread, "state=X reason=ended")
            del self.threads[thread.tid]

    def rename(self, cpu, thread):
        comm = self.rng.choice(NAMES)
        if " " in thread.comm + comm:
            return      # write_log reads words, so it cannot read this name
        self.kernel_event(cpu, thread, "task_rename", f"oldcomm={thread.comm} newcomm={comm}")
        self.name_at(thread, self.time, comm)

    def execute(self, cpu, thread):
        if thread.tid == thread.pid and len(self.group(thread.pid)) == 1:
            self.rename(cpu, thread)
            self.time += 1
            self.kernel_event(cpu, thread, "sched_process_exec", "filename=/usr/bin/x")
            self.head.append(f"born {BASE + thread.born}")
            self.head.append(f"program {thread.pid} {BASE + self.time} {self.rng.choice(PROGRAMS)}")

    # ------------------------------------------------------------------
    # Events

    def user_event(self, cpu, thread):
        rng = self.rng
        kind = rng.random()
        cut = ""
        if kind < 0.4:
            number, data = rng.choice((
                (65, rng.randbytes(4) + b"key"), (66, bytes([rng.choice((0, 1, 200, 7))])),
                (67, b""), (68, b"\0")))
        elif kind < 0.5:
            number, data = rng.choice((
                (69, rng.randbytes(5)), (70, rng.randbytes(8)), (76, rng.randbytes(8)),
                (69, b"\1")))
        elif kind < 0.75:
            number, members = rng.choice(self.types)
            data = b"".join(make() for _, make in members)
            data = data[:rng.randint(0, len(data))] if rng.random() < 0.2 else data
            cut = "cut" if rng.random() < 0.2 else ""
        else:
            number = rng.choice((71, 72, 73, 74, 75, UNNAMED))
            data = rng.choice((b"", b"text", b"text\0", rng.randbytes(4), b"y\0\1\2\3\4", b"<\\\n>"))
        address = f"address={rng.randrange(1, 1 << 40):#x}" if rng.random() < 0.5 else ""
        self.event(f"event {number} {self.time} cpu={cpu} {thread.words} {address} hex={data.hex()} {cut}")

    def syscall(self, cpu, thread):
        rng = self.rng
        number, name = rng.choice(((1, "write"), (15, "rt_sigreturn"), (0, "read"), (999, "")))
        self.kernel_event(cpu, thread, "syscall_entry", f"nr={number} args=1,2,0xffffffffffffffff" +
                          (f" name={name}" if name else ""))
        if rng.random() < 0.2:
            self.time += 1
            self.kernel_event(cpu, thread, "syscall_text", f"nr={number} address=0x7f00 arg=1 "
                              f"state={rng.choice(('whole', 'cut', 'absent'))} value=/tmp/\\x0a\\xff")
        if rng.random() < 0.8:
            self.time += rng.randint(1, 30)
            if rng.random() < 0.3:
                self.user_event(cpu, thread)
                self.time += 1
            if number == 15:
                number, name = -1, ""
            self.kernel_event(cpu, thread, "syscall_exit",
                              f"nr={number} result={rng.choice((0, -2, 5, -4000))}" +
                              (f" name={name}" if name else ""))

    def wakeup(self, cpu, thread):
        others = [other for other in self.threads.values() if other.cpu is None]
        if not others:
            return
        other = self.rng.choice(others)
        self.kernel_event(cpu, other, "sched_wakeup", self.rng.choice((
            "by=interrupt", "by=another", "by=timer", "by=kernel", "by=signal",
            f"by=softirq waker_pid={thread.pid} waker_tid={thread.tid}",
            f"by=thread waker_pid={thread.pid} waker_tid={thread.tid}")) + f" target_cpu={cpu} prio=120")

    def signal(self, cpu, thread):
        self.kernel_event(cpu, thread, self.rng.choice(("signal_generate", "signal_deliver")), "sig=SIGUSR1")

    def fork(self, cpu, thread):
        tid = thread.pid * 10 + self.rng.randrange(3)
        if tid not in self.threads and thread.pid in self.threads:
            self.kernel_event(cpu, thread, "sched_process_fork", f"child_pid={thread.pid} child_tid={tid}")
            self.birth(thread.pid, tid)

    def sleepers(self):
        """Threads that exist from the start: some have no events, others a few before all others."""
        rng = random.Random(self.rng.getrandbits(32))
        lines = []
        for tid in range(40, 46):
            states = [(1, 8), (2, 4), (3, 0), (0, 2), (0xffffffff, 0)]
            # the thread runs on its own processor until its first event
            states += [(0, 3)] if tid - 40 < CPUS else []
            state, flags = rng.choice(states)
            self.head.append(f"born 0\ntask 40 {tid} {BASE} sleeper\nthread s{tid} 40 {tid} {tid:#x}")
            self.head.append(f"since {BASE}\nstate s{tid} {rng.randrange(2, 60)} 0 {state} {flags} "
                             f"{(tid - 40) % CPUS} 0 0 0 0 0 -")
            words = f"cpu={(tid - 40) % CPUS} @s{tid}"
            if (state, flags) == (0, 3):
                lines.append(f"kernel sched_switch_out {60 + tid - 40} {words} state=S reason=blocked")
            elif rng.random() < 0.5:
                lines.append(f"kernel sched_wakeup {60 + tid - 40} {words} by=timer")
        if self.kernel:
            self.lines[:0] = lines
        else:
            self.head = [line for line in self.head if "sleeper" not in line and " s4" not in line]

    def step(self):
        rng = self.rng
        cpu = rng.randrange(CPUS)
        thread = self.running.get(cpu)
        if not thread:
            self.switch_in(cpu)
            return
        what = rng.random()
        if what < 0.3:
            self.user_event(cpu, thread)
        elif what < 0.4:
            self.kernel_event(cpu, thread, "irq", f"duration={rng.randrange(2)} number=1 kind=" +
                              rng.choice(("irq", "softirq", "vector name=local_timer")))
        elif what < 0.45:
            self.kernel_event(cpu, thread, "page_fault", f"user={rng.choice(('true', 'false'))} address=0xffffffffff600000")
        elif what < 0.55:
            self.syscall(cpu, thread)
        elif what < 0.6:
            self.wakeup(cpu, thread)
        elif what < 0.63:
            self.signal(cpu, thread)
        elif what < 0.67:
            self.fork(cpu, thread)
        elif what < 0.7:
            self.rename(cpu, thread)
        elif what < 0.72:
            self.execute(cpu, thread)
        elif what < 0.95:
            self.switch_out(cpu, thread, rng.choice((
                "state=R reason=preempted", "state=S reason=blocked", "state=D reason=io")))
        else:
            self.end(cpu, thread)

    def print(self):
        print(f"cpus {CPUS}")
        if self.kernel:
            print("classes all,strings")
        print("host h")
        print(TYPES)
        for number, members in self.types:
            print(f"name {number} random{number}")
            print(f"describe {number} {{ {' '.join(text for text, _ in members)} }}")
        while self.time < END:
            self.step()
            self.time += self.rng.randrange(1, 60)
        self.sleepers()
        print("\n".join(self.head))
        print(f"since {BASE}\nblock {CPUS}\nevent 2 1 pid=9\nblock 0")
        print("\n".join(self.lines))
        print(f"block {CPUS}\nevent 3 {self.time} pid=9\nend")


if __name__ == "__main__":
    Log(int(sys.argv[1])).print()
