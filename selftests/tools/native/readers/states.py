# SPDX-License-Identifier: GPL-2.0
"""The states of threads: what the page draws, compared with the tables thread_state and ftrace_event
of Perfetto's trace processor, and with the times in "stat"."""

import bisect
import collections

from processor import ANOTHER, IDLE, LETTERS, number

State = collections.namedtuple("State", "begin end letter cpu")

# trace_processor's own names for what the page does not draw
ENDED, UNKNOWN = "X", ""
# a preempted thread is runnable
PREEMPTED = "R+"
FOREVER = 1 << 63


def merged(states):
    """Joins states without a change between them, and leaves out those without a length."""
    found = []
    for state in sorted(states, key=lambda state: state[:2]):
        last = found[-1] if found else None
        if last and last.end == state.begin and last[2:] == state[2:]:
            found[-1] = last._replace(end=state.end)
        elif state.end > state.begin:
            found.append(state)
    return found


def of_page(items, threads, first):
    """The states of each thread by its id, in order; the letter is None where it is unknown."""
    tids = {(process, label): tid for process, label, tid in threads}
    found = collections.defaultdict(list)
    for item in items:
        if item.kind == "state":
            running = item.name == "running"
            found[tids[item.process, item.thread]].append(State(
                first + item.begin, first + item.begin + item.length, LETTERS.get(item.name),
                item.args.get("cpu") if running else None))
    return {tid: merged(states) for tid, states in found.items()}


def of_perfetto(trace):
    """The states of each thread by its id, in order."""
    found = collections.defaultdict(list)
    for utid, begin, length, letter, cpu, _ in trace.states:
        tid = trace.threads[int(utid)][0]
        end = int(begin) + int(length) if int(length) >= 0 else FOREVER
        if tid not in (IDLE, ANOTHER):
            letter = "R" if letter == PREEMPTED else letter
            found[tid].append(State(int(begin), end, letter,
                                    number(cpu) if letter == "Running" else None))
    return found


class Facts:
    """What the events tell about differences that the format makes necessary."""

    def __init__(self, events):
        self.swapped = set()    # (thread, time of its switch, time at which the one before it left)
        self.woken = set()      # (thread, time)
        self.preempted = set()
        self.left = {}          # the state in which a thread left
        self.born = set()
        left = {}
        for event in events:
            fields = event.fields
            if not fields:
                continue
            if event.name == "sched_switch_out":
                left[event.cpu] = event
                if fields["state"] == "R":
                    self.preempted.add((fields["tid"], event.time))
                else:
                    self.left[fields["tid"], event.time] = fields["state"]
            elif event.name == "sched_switch_in":
                out = left.pop(event.cpu, None)
                if out and (fields["tid"] == out.fields["next_tid"] or
                            out.fields["tid"] == fields["prev_tid"]):
                    self.swapped.add((fields["tid"], event.time, out.time))
            elif event.name == "sched_wakeup":
                self.woken.add((fields["tid"], event.time))
            elif event.name == "sched_process_fork":
                self.born.add((fields["child_tid"], event.time))


def shifted(tid, states, shown, facts):
    """The states of the page as they must be in the trace. There, one switch is both events, the one
    of the thread that leaves and the one of the next, and happens when the first leaves. A thread
    that was woken before it left is blocked for one nanosecond: Perfetto ignores earlier wake-ups."""
    begins = {state.begin for state in shown if state.letter == "Running"}
    states = list(states)
    for at, state in enumerate(states):
        before = states[at - 1] if at and states[at - 1].end == state.begin else None
        if state.letter == "Running" and state.begin not in begins:
            for begin in sorted(begins):
                if (tid, state.begin, begin) in facts.swapped:
                    states[at] = state._replace(begin=begin)
                    if before:
                        states[at - 1] = before._replace(end=max(before.begin, begin))
                    break
        elif state.letter == "R" and facts.left.get((tid, state.begin), ENDED) not in "XZ":
            states[at] = state._replace(begin=state.begin + 1)
            states.append(State(state.begin, state.begin + 1, facts.left[tid, state.begin], None))
        elif state.letter == "R" and (tid, state.begin) in facts.left:
            states[at] = state._replace(letter=facts.left[tid, state.begin])
        elif state.letter == "R" and (not before or before.letter in (None, "Running")) and \
                (tid, state.begin) not in facts.woken | facts.preempted:
            states[at] = state._replace(letter=None)
    return merged(states)


def is_shown(state, after, lost, shown):
    """True if the states shown during a state of the page are that state alone. A thread that left
    its processor in a gap is shown as running until its last event there."""
    if state.letter is None:
        return True
    found = merged(other._replace(begin=max(other.begin, state.begin), end=min(other.end, state.end))
                   for other in shown)
    if found == [state]:
        return True
    # A wake-up in a gap is known by the time for which the thread was runnable.
    if len(found) == 2 and found[0] == state._replace(end=found[0].end) and \
       found[1].letter == "R" and lost:
        return True
    if state.letter == "Running" and after and after.letter is None and len(found) <= 2:
        return all(other.letter == UNKNOWN or other == state._replace(end=other.end)
                   for other in found)
    # another thread with this id ended at this time
    return [(other.letter, other.begin) for other in shown] == [(ENDED, state.begin)]


def compare_thread(tid, states, shown, facts, differences):
    begins = [state.begin for state in shown]
    for i, state in enumerate(states):
        after = next((other for other in states[i + 1:] if other.letter != "Running"), None)
        at = max(bisect.bisect_right(begins, state.begin) - 1, 0)
        during = [other for other in shown[at:] if other.begin < state.end and
                  other.end > state.begin]
        then = states[i + 1] if i + 1 < len(states) else None
        lost = not then or then.begin > state.end or then.letter is None or \
            (then.letter == "R" and (tid, then.begin) not in facts.woken | facts.preempted)
        if not is_shown(state, after, lost, during):
            differences.add("Perfetto, states", f"{tid}: lacks {state}, has {during}")
    ends = [state.end for state in states]
    for other in shown:
        known = any(state.begin < other.end and state.end > other.begin for state in
                    states[bisect.bisect_right(ends, other.begin):])
        # A new thread is runnable. A wake-up alone tells the page nothing.
        if not known and other.letter not in (ENDED, UNKNOWN) and \
           (tid, other.begin) not in facts.born and \
           ((tid, other.begin) not in facts.woken or other.letter != "R"):
            differences.add("Perfetto, states", f"{tid}: has {other}")


def compare_perfetto(trace, events, page, differences):
    """Each state of the page must be in the trace, from begin to end, and the trace must have no
    other ones, except where the page shows that the state is unknown."""
    facts, shown = Facts(events), of_perfetto(trace)
    for tid in page.keys() | shown.keys():
        states = merged(shown[tid])
        compare_thread(tid, shifted(tid, page.get(tid, []), states, facts), states, facts, differences)


def compare_ends(trace, differences):
    """No thread has a state after its end."""
    ended = {}
    for utid, begin, _, letter, *_ in sorted(trace.states, key=lambda row: int(row[1])):
        if utid in ended:
            differences.add("Perfetto, states", f"{trace.threads[int(utid)]} is {letter} at {begin}, "
                            f"but ended at {ended[utid]}")
        if letter == ENDED:
            ended[utid] = begin


# ----------------------------------------------------------------------
# Fields of switches

# as sched_switch of Linux numbers them
CODES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128}
PREEMPTED_CODE = 256


def code_of(fields):
    preempted = fields["state"] == "R" and fields["reason"] == "preempted"
    return PREEMPTED_CODE if preempted else CODES[fields["state"]]


def names_of(events, threads):
    """The names that each thread has in any event, and its labels."""
    names = collections.defaultdict(set)
    for _, label, tid in threads:
        names[tid].add(label)
    for event in events:
        tid = event.fields.get("tid") if event.fields else None
        for tid in {tid, event.raw_tid}:
            names[tid].add(event.comm or "")
        if event.name == "task_rename" and event.fields:
            names[tid] |= {event.fields["oldcomm"], event.fields["newcomm"]}
    return names


def compare_switches(trace, events, threads, differences):
    """Each switch of the log must be in the trace, with its priority, state and names. The name of a
    thread that leaves is its label or the name with which it came, because the compact form has
    names of the next threads only."""
    facts, names, ended = Facts(events), names_of(events, threads), set()
    swapped = {(tid, time): left for tid, time, left in facts.swapped}
    outs, ins = collections.defaultdict(list), collections.defaultdict(list)
    for ts, cpu, prev, prev_prio, prev_comm, state, next_, next_prio, next_comm in trace.switches:
        outs[int(ts), number(cpu), number(prev)].append((number(prev_prio), number(state), prev_comm))
        ins[int(ts), number(cpu), number(next_)].append((number(next_prio), next_comm))
    for event in events:
        fields = event.fields
        if event.name == "sched_process_fork" and fields:
            ended.discard(fields["child_tid"])
        elif event.name == "sched_process_exit" and fields and fields["group_dead"]:
            ended.add(fields["tid"])
        if event.name not in ("sched_switch_out", "sched_switch_in") or not fields or \
           fields["tid"] in ended:
            continue
        tid = fields["tid"]
        if event.name == "sched_switch_out":
            found = outs[event.time, event.cpu, tid]
            good = any((prio, state) == (fields["prio"], code_of(fields)) and name in names[tid]
                       for prio, state, name in found)
        else:
            found = [each for time in (event.time, swapped.get((tid, event.time)))
                     for each in ins[time, event.cpu, tid]]
            good = any(prio == fields["prio"] and name == (event.comm or "") for prio, name in found)
        if not good:
            differences.add("Perfetto, switches", f"{found} instead of {event}")
