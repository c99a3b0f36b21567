# SPDX-License-Identifier: MIT
"""POSIX tracing: streams, logs and events as objects.

Record events:

    import posixtrace

    point = posixtrace.EventType("cache:get", "{ u32 id; text key; }")
    point.record(id=7, key="user:42")

Read the events of a process, or of this one (pid 0):

    with posixtrace.Stream(pid) as stream:
        for event in stream.follow():
            print(event.name, event.fields)

Read a log, without the kernel module:

    with posixtrace.Log("trace.log") as log:
        for event in log:
            print(event.time, event.name, event.fields)

Needs libposixtrace. Its man pages have the details; posixtrace-fields(7) has the grammar of
descriptions.
"""

import collections
import ctypes
import errno
import os
import select
import struct
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_longlong
from ctypes import c_double, c_size_t, c_ubyte, c_uint, c_uint64, c_ulong, c_ulonglong, c_void_p

__all__ = ["ClockPair", "ClockTime", "Error", "DescriptionError", "Event", "EventType", "Fields",
           "Log", "OpenFile", "Stream", "ThreadState", "LOOP", "UNTIL_FULL", "FLUSH", "APPEND"]

# Full policies: the first three are for streams, all but FLUSH for logs.
LOOP = 0
UNTIL_FULL = 1
FLUSH = 2
APPEND = 3

_NAME_SIZE = 64
_DESCRIPTION_SIZE = 4096
_DATA_MAX = 65488
_BATCH = 64
_NO_CPU = 0xffffffff
_FIRST_USER = 64
_LATE = 1
_NOWAIT = 1
_TRUNCATED_RECORD = 1
_LOG_ENDED = 1
_LOG_DAMAGED = 2
_LOG_CONTINUED = 4
_THREAD_NAME_SIZE = 16
_PROGRAM_SIZE = 4096
_ASK_AGAIN = 1000000000


class Error(OSError):
    """An error of the library: errno, its message, and the function that failed."""

    def __init__(self, number, function):
        super().__init__(number, os.strerror(number))
        self.function = function

    def __str__(self):
        return f"{self.function}: {self.strerror}"


class DescriptionError(ValueError):
    """An invalid description: the error and its position (from 1)."""

    def __init__(self, message, line, column):
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


# ----------------------------------------------------------------------
# The structures of <posixtrace/trace.h>, <posixtrace.h> and <posixtrace/fields.h>

class _Attr(ctypes.Structure):
    _fields_ = [("magic", c_ulonglong), ("inherited", c_int), ("stream_policy", c_int),
                ("log_policy", c_int), ("clock_resolution", c_uint),
                ("stream_size", c_ulonglong), ("max_data_size", c_ulonglong),
                ("log_size", c_ulonglong), ("creation_time", c_ulonglong),
                ("name", c_char * _NAME_SIZE), ("version", c_char * _NAME_SIZE),
                ("wakeup_bytes", c_ulonglong), ("wakeup_ns", c_ulonglong),
                ("order", c_int), ("reserved2", c_int), ("reserved", c_ulonglong * 6)]


class _Timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]


class _Info(ctypes.Structure):
    _fields_ = [("event_id", c_uint), ("pid", c_int), ("prog_address", c_void_p),
                ("thread_id", c_ulong), ("timestamp", _Timespec),
                ("truncation_status", c_int), ("reserved1", c_int),
                ("reserved2", c_ulonglong * 3)]


class _BatchEvent(ctypes.Structure):
    _fields_ = [("event", _Info), ("data", c_void_p), ("data_len", c_size_t),
                ("lost", c_ulonglong), ("cpu", c_uint), ("flags", c_uint),
                ("tid", c_int), ("reserved", c_uint * 3)]


class _LogInfo(ctypes.Structure):
    _fields_ = [("size", c_ulonglong), ("read", c_ulonglong), ("lost", c_ulonglong),
                ("overwritten", c_ulonglong), ("flags", c_uint),
                ("part", c_uint), ("series", c_ulonglong), ("reserved", c_uint * 4)]


class _Stats(ctypes.Structure):
    _fields_ = [(name, c_ulonglong) for name in (
        "recorded", "read", "dropped", "overwritten", "skipped", "damaged", "system_lost",
        "memory", "processes", "untraced")] + [("reserved", c_ulonglong * 6)]


class _ClockPair(ctypes.Structure):
    _fields_ = [("time", ctypes.c_uint64), ("value", ctypes.c_int64),
                ("error", ctypes.c_uint64), ("clock", c_int), ("flags", c_uint),
                ("reserved", c_uint * 8)]


class _ClockTime(ctypes.Structure):
    _fields_ = [("value", ctypes.c_int64), ("error", ctypes.c_uint64)]


class _ThreadState(ctypes.Structure):
    _fields_ = [("time", _Timespec), ("since", _Timespec), ("start", _Timespec), ("pid", c_int),
                ("tid", c_int), ("ppid", c_int), ("state", c_uint), ("cpu", c_uint),
                ("flags", c_uint), ("call", c_uint), ("call_name", c_char * 32),
                ("futex", c_uint * 5), ("args", c_ulonglong * 6), ("ip", c_ulonglong),
                ("name", c_char * _THREAD_NAME_SIZE), ("reserved", c_uint * 8)]


class _OpenFile(ctypes.Structure):
    _fields_ = [("time", _Timespec), ("inode", c_ulonglong), ("pid", c_int), ("fd", c_int),
                ("kind", c_uint), ("flags", c_uint), ("text", c_char * 224),
                ("reserved", c_uint * 8)]


class _Label(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_longlong)]


class _CField(ctypes.Structure):
    pass


_CField._fields_ = [("name", c_char_p), ("unit", c_char_p), ("members", POINTER(_CField)),
                    ("length", POINTER(_CField)), ("labels", POINTER(_Label)),
                    ("size", c_size_t), ("count", c_size_t), ("type", c_int),
                    ("is_signed", c_int), ("slot", c_uint), ("reserved", c_uint * 5)]


class _FieldsError(ctypes.Structure):
    _fields_ = [("offset", c_size_t), ("line", c_uint), ("column", c_uint),
                ("message", c_char * 112)]


class _Value(ctypes.Structure):
    _fields_ = [("field", c_void_p), ("data", c_void_p), ("size", c_size_t),
                ("index", c_size_t), ("text_len", c_size_t), ("number", c_uint64),
                ("real", c_double), ("label", c_char_p), ("what", c_int), ("reserved1", c_int),
                ("reserved2", c_ulonglong * 3)]


class _Level(ctypes.Structure):
    _fields_ = [("field", c_void_p), ("next", c_uint), ("count", c_uint)]


class _Walk(ctypes.Structure):
    _fields_ = [("fields", c_void_p), ("at", c_void_p), ("end", c_void_p),
                ("left", c_ulonglong), ("result", c_int), ("depth", c_uint),
                ("levels", _Level * 8), ("lengths", c_uint * 64), ("reserved", c_ulonglong * 4)]


_VALUE, _BEGIN, _END = 1, 2, 3
_UNSIGNED, _SIGNED, _HEX, _FLOAT, _BOOL, _ENUM = 1, 2, 3, 4, 5, 6
_CHARS, _STRING, _TEXT, _PAD, _STRUCT, _ARRAY = 7, 8, 9, 10, 11, 12


# ----------------------------------------------------------------------
# The library

def _load():
    library = ctypes.CDLL("libposixtrace.so.1", use_errno=True)
    attr, info = POINTER(_Attr), POINTER(_LogInfo)
    functions = {
        "posix_trace_attr_init": [attr],
        "posix_trace_attr_setname": [attr, c_char_p],
        "posix_trace_attr_setinherited": [attr, c_int],
        "posix_trace_attr_setstreamfullpolicy": [attr, c_int],
        "posix_trace_attr_setlogfullpolicy": [attr, c_int],
        "posix_trace_attr_setstreamsize": [attr, c_size_t],
        "posix_trace_attr_setmaxdatasize": [attr, c_size_t],
        "posix_trace_attr_setlogsize": [attr, c_size_t],
        "posixtrace_attr_setwakeup": [attr, c_size_t, c_uint64],
        "posix_trace_create": [c_int, attr, POINTER(c_int)],
        "posix_trace_create_withlog": [c_int, attr, c_int, POINTER(c_int)],
        "posix_trace_start": [c_int],
        "posix_trace_stop": [c_int],
        "posix_trace_flush": [c_int],
        "posix_trace_clear": [c_int],
        "posix_trace_shutdown": [c_int],
        "posix_trace_open": [c_int, POINTER(c_int)],
        "posix_trace_close": [c_int],
        "posix_trace_rewind": [c_int],
        "posix_trace_get_attr": [c_int, attr],
        "posix_trace_eventid_open": [c_char_p, POINTER(c_uint)],
        "posix_trace_eventid_get_name": [c_int, c_uint, c_char_p],
        "posixtrace_eventid_open": [c_char_p, c_char_p, POINTER(c_uint)],
        "posixtrace_eventid_get_description": [c_int, c_uint, c_char_p, c_size_t, c_void_p],
        "posixtrace_fields_parse": [c_char_p, POINTER(c_void_p), POINTER(_FieldsError)],
        "posixtrace_fields_next": [POINTER(_Walk), POINTER(_Value)],
        "posixtrace_get_thread_name": [c_int, c_int, c_int, POINTER(_Timespec), c_char_p],
        "posixtrace_get_program": [c_int, c_int, POINTER(_Timespec), c_char_p, c_size_t,
                                   POINTER(c_size_t)],
        "posixtrace_getevents": [c_int, POINTER(_BatchEvent), c_size_t, c_void_p, c_size_t,
                                 POINTER(c_size_t), c_int],
        "posixtrace_get_log_info": [c_int, info],
        "posixtrace_seek": [c_int, POINTER(_Timespec)],
        "posixtrace_get_states": [c_int, POINTER(_ThreadState), c_size_t, POINTER(c_size_t),
                                  POINTER(c_ulonglong)],
        "posixtrace_get_files": [c_int, POINTER(_OpenFile), c_size_t, POINTER(c_size_t),
                                 POINTER(c_ulonglong)],
        "posixtrace_get_clock_pairs": [c_int, POINTER(_ClockPair), c_size_t, POINTER(c_size_t),
                                       POINTER(c_ulonglong)],
        "posixtrace_convert_times": [c_int, c_int, POINTER(ctypes.c_uint64), c_size_t,
                                     POINTER(_ClockTime)],
        "posixtrace_setclockerror": [c_int, ctypes.c_uint64],
        "posixtrace_get_stats": [c_int, POINTER(_Stats)],
        "posixtrace_fd": [c_int],
    }
    for name, arguments in functions.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int
    library.posix_trace_event.argtypes = [c_uint, c_char_p, c_size_t]
    library.posix_trace_event.restype = None
    library.posixtrace_fields_begin.argtypes = [POINTER(_Walk), c_void_p, c_char_p, c_size_t]
    library.posixtrace_fields_begin.restype = None
    library.posixtrace_fields_root.argtypes = [c_void_p]
    library.posixtrace_fields_root.restype = POINTER(_CField)
    library.posixtrace_fields_text.argtypes = [c_void_p]
    library.posixtrace_fields_text.restype = c_char_p
    library.posixtrace_fields_free.argtypes = [c_void_p]
    library.posixtrace_fields_free.restype = None
    return library


_library = _load()


def _call(name, *arguments):
    number = getattr(_library, name)(*arguments)
    if number:
        raise Error(number, name)


# ----------------------------------------------------------------------
# Fields

class _Field:
    """A field, like struct posixtrace_field."""

    _FORMATS = {(_UNSIGNED, 1): "=B", (_UNSIGNED, 2): "=H", (_UNSIGNED, 4): "=I",
                (_UNSIGNED, 8): "=Q", (_SIGNED, 1): "=b", (_SIGNED, 2): "=h",
                (_SIGNED, 4): "=i", (_SIGNED, 8): "=q", (_FLOAT, 4): "=f", (_FLOAT, 8): "=d"}

    def __init__(self, field, known):
        self.name = field.name.decode() if field.name else None
        self.unit = field.unit.decode("utf-8", "replace") if field.unit else None
        self.type = field.type
        self.is_signed = bool(field.is_signed)
        self.size = field.size
        self.count = field.count
        # Earlier fields are known by their C address, not as Python objects.
        self.length = known[ctypes.addressof(field.length.contents)] if field.length else None
        known[ctypes.addressof(field)] = self
        self.members = []
        if field.members:
            count = field.count if field.type == _STRUCT else 1
            self.members = [_Field(field.members[i], known) for i in range(count)]
        labels = [field.labels[i] for i in range(field.count)] if field.type == _ENUM else []
        self.labels = {}
        self.values = {}
        for label in labels:
            name = label.name.decode("utf-8", "replace")
            self.labels.setdefault(label.value, name)
            self.values[name] = label.value
        kind = _SIGNED if field.type == _ENUM and field.is_signed else field.type
        kind = _UNSIGNED if kind in (_HEX, _BOOL, _ENUM) else kind
        self.format = self._FORMATS.get((kind, field.size))

    def elements(self, numbers):
        """The number of elements or characters."""
        if self.length:
            return numbers[self.length]
        return self.size if self.type == _CHARS else self.count

    def units(self, around):
        """The units of this field and of the fields in it, by their full names."""
        path = ".".join(name for name in (around, self.name) if name)
        found = {path: self.unit} if self.unit else {}
        for member in self.members:
            found |= member.units(path)
        return found

    def value(self, found):
        """The value that the library has found."""
        if self.type in (_CHARS, _STRING, _TEXT):
            text = ctypes.string_at(found.data, found.text_len) if found.text_len else b""
            return text.decode("utf-8", "surrogateescape")
        if self.type == _FLOAT:
            return found.real
        if self.type == _BOOL:
            return found.number != 0
        if found.label is not None:
            return found.label.decode("utf-8", "replace")
        number = found.number
        return number - (1 << 64) if self.is_signed and number >= 1 << 63 else number

    def encode(self, value, numbers):
        """Returns the bytes of a value."""
        if self.type == _STRUCT:
            return self.encode_struct(value, numbers)
        if self.type == _ARRAY:
            values = list(value)
            if len(values) != self.elements(numbers):
                raise ValueError(f"{self.name}: {len(values)} elements instead of "
                                 f"{self.elements(numbers)}")
            return b"".join(self.members[0].encode(element, numbers) for element in values)
        if self.type == _PAD:
            return bytes(self.size)
        if self.type in (_CHARS, _STRING, _TEXT):
            data = value if isinstance(value, bytes) else str(value).encode("utf-8",
                                                                             "surrogateescape")
            if self.type == _STRING:
                if b"\0" in data:
                    raise ValueError(f"{self.name}: a string has no null byte")
                return data + b"\0"
            if self.type == _TEXT:
                return data
            size = self.elements(numbers)
            if len(data) > size:
                raise ValueError(f"{self.name}: {len(data)} bytes instead of {size}")
            return data.ljust(size, b"\0")
        if self.type == _ENUM and isinstance(value, str):
            value = self.values[value]
        numbers[self] = value
        try:
            return struct.pack(self.format, value)
        except struct.error as error:
            raise ValueError(f"{self.name}: {error}") from None

    def encode_struct(self, values, numbers):
        names = {member.name for member in self.members if member.name is not None}
        wrong = set(values) ^ names
        if wrong:
            missing = wrong & names
            raise TypeError(f"{'missing' if missing else 'unknown'} field "
                            f"{sorted(missing or wrong)[0]!r}")
        return b"".join(member.encode(values[member.name] if member.name else None, numbers)
                        for member in self.members)


def _bytes(data):
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"data must be bytes, not {type(data).__name__}")


class Fields:
    """The fields of an event type, parsed from its description."""

    def __init__(self, description):
        self._fields = None
        fields, error = c_void_p(), _FieldsError()
        text = description if isinstance(description, bytes) else description.encode()
        number = _library.posixtrace_fields_parse(text, byref(fields), byref(error))
        if number == errno.EINVAL:
            raise DescriptionError(error.message.decode("ascii", "replace"), error.line,
                                   error.column)
        if number:
            raise Error(number, "posixtrace_fields_parse")
        self._fields = fields
        self.description = _library.posixtrace_fields_text(fields).decode("utf-8", "replace")
        self._known = {}
        self._root = _Field(_library.posixtrace_fields_root(fields).contents, self._known)

    def __del__(self, free=_library.posixtrace_fields_free):
        if self._fields:
            free(self._fields)

    def __repr__(self):
        return f"Fields({self.description!r})"

    @property
    def names(self):
        """The names of the fields, in order."""
        return [member.name for member in self._root.members if member.name is not None]

    @property
    def units(self):
        """The units of the fields that have a unit, by name: "at.x" for a field of a struct."""
        return self._root.units("")

    def decode(self, data, truncated=False):
        """The values by name, or None if the data does not match.

        If the data is truncated, only the complete values, also in the last list or dict."""
        data = _bytes(data)
        walk, found = _Walk(), _Value()
        around, root, any_value = [], {}, False
        _library.posixtrace_fields_begin(byref(walk), self._fields, data, len(data))
        while (result := _library.posixtrace_fields_next(byref(walk), byref(found))) == 1:
            if found.what == _END:
                around.pop()
                continue
            field = self._known[found.field]
            if found.what == _VALUE:
                value = field.value(found)
                any_value = True
            elif not around:
                around.append(root)
                continue
            else:
                value = [] if field.type == _ARRAY else {}
            if isinstance(around[-1], list):
                around[-1].append(value)
            else:
                around[-1][field.name] = value
            if found.what == _BEGIN:
                around.append(value)
        return root if not result or (truncated and any_value) else None

    def encode(self, values):
        """The data of an event with these values by name."""
        return self._root.encode_struct(values, {})


# ----------------------------------------------------------------------
# Recording

class EventType:
    """A user event type of this process, for recording."""

    def __init__(self, name, description=None):
        self.name = name
        self.fields = Fields(description) if description is not None else None
        self.id = self._open()

    def _open(self):
        number = c_uint()
        if self.fields:
            try:
                _call("posixtrace_eventid_open", self.name.encode(),
                      self.fields.description.encode(), byref(number))
                return number.value
            except Error as error:
                # A worker that gave up root may not describe the type: its server has to.
                if error.errno != errno.EPERM:
                    raise
        _call("posix_trace_eventid_open", self.name.encode(), byref(number))
        return number.value

    def __repr__(self):
        return f"EventType({self.name!r})"

    def record(self, data=None, /, **values):
        """Records an event: with bytes, or with values for all fields of the description."""
        if data is not None:
            if values:
                raise TypeError("either bytes or fields")
            data = _bytes(data)
        elif self.fields:
            data = self.fields.encode(values)
        elif values:
            raise TypeError(f"{self.name}: has no description, so no field "
                            f"{sorted(values)[0]!r}")
        else:
            data = b""
        _library.posix_trace_event(self.id, data, len(data))


# ----------------------------------------------------------------------
# Reading

class Event:
    """An event of a stream or a log.

    type        number of the event type
    name        its name, or "(type 70)"
    user        recorded by a program, not by the system
    time        nanoseconds since the Epoch
    pid         process, 0 if no process caused it
    tid         the kernel's id of the thread, 0 if it is not known
    thread      pthread_t of the thread
    thread_name, process_name, program
                names of thread and process at that time, and the command line as a list; None
                if they are not known, or the stream or log has been closed
    address     the instruction after the call that recorded it
    cpu         the CPU, or None
    data        bytes
    truncated   the program had more data than the stream allows
    late        an event with a later time was reported before it
    lost        how many events were lost before it
    fields      values by name, also for kernel events; None without description, or if the
                data does not match it
    """

    __slots__ = ("type", "name", "user", "time", "pid", "tid", "thread", "address", "cpu", "data",
                 "truncated", "late", "lost", "fields", "_source")

    def __repr__(self):
        shown = self.fields if self.fields is not None else self.data
        return f"<{self.name} {self.time} {shown!r}>"


    def _ask(self, function, *arguments):
        """Calls a function about the thread or process at the time of the event."""
        trid = self._source._trid
        error = getattr(_library, function)(trid, self.pid, *arguments) if trid else errno.ENOENT
        if error not in (0, errno.ENOENT):
            raise Error(error, function)
        return not error

    def _at(self):
        return byref(_Timespec(*divmod(self.time, 1000000000)))

    @property
    def thread_name(self):
        """The name that the thread had."""
        name = ctypes.create_string_buffer(_THREAD_NAME_SIZE)
        if not self._ask("posixtrace_get_thread_name", self.tid, self._at(), name):
            return None
        return name.value.decode("utf-8", "surrogateescape")

    @property
    def program(self):
        """The command line of the process."""
        text, size = ctypes.create_string_buffer(_PROGRAM_SIZE), c_size_t()
        if not self._ask("posixtrace_get_program", self._at(), text, len(text), byref(size)):
            return None
        return text.raw[:size.value - 1].decode("utf-8", "surrogateescape").split("\0")

    @property
    def process_name(self):
        """The last part of the path of the program."""
        program = self.program
        return program[0].rpartition("/")[2] if program else None


_TWO_THREADS = "two threads read the same stream or log: open the log once for each"


class _Source:
    """The common part of streams and logs."""

    def __init__(self):
        self._trid = 0
        self._names = {}
        self._fields = {}
        self._asked = {}
        self._lock = threading.Lock()
        self._reader = None
        self._events = (_BatchEvent * _BATCH)()
        self._buffer = ctypes.create_string_buffer(2 * _DATA_MAX)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        raise NotImplementedError

    def name(self, number):
        """The name of an event type, or "(type 70)" without a name, as the command shows it."""
        if number not in self._names:
            name = ctypes.create_string_buffer(_NAME_SIZE)
            error = _library.posix_trace_eventid_get_name(self._trid, number, name)
            if error and (error != errno.EINVAL or not self._trid):
                raise Error(error, "posix_trace_eventid_get_name")
            self._names[number] = (f"(type {number})" if error else
                                   name.value.decode("utf-8", "surrogateescape"))
        return self._names[number]

    def fields(self, number):
        """The Fields of an event type; None without a description, or if it is invalid."""
        if self._fields.get(number) is None:
            text = ctypes.create_string_buffer(_DESCRIPTION_SIZE)
            error = _library.posixtrace_eventid_get_description(
                self._trid, number, text, _DESCRIPTION_SIZE, None)
            # A type may be described later. A type without a name has no description.
            if error == errno.ENOENT or (error == errno.EINVAL and self._trid):
                return None
            if error:
                raise Error(error, "posixtrace_eventid_get_description")
            try:
                self._fields[number] = Fields(text.value)
            except DescriptionError:
                self._fields[number] = False
        return self._fields[number] or None

    def _fields_at(self, number, time):
        """Like fields(), but asks again only after a second of event time."""
        if self._fields.get(number) is None:
            asked = self._asked.get(number)
            if asked is not None and 0 <= time - asked < _ASK_AGAIN:
                return None
            self._asked[number] = time
        return self.fields(number)

    def _make(self, raw):
        info, event = raw.event, Event()
        event.type = info.event_id
        event.name = self.name(info.event_id)
        event.user = info.event_id >= _FIRST_USER
        event.time = info.timestamp.sec * 1000000000 + info.timestamp.nsec
        event.pid = info.pid
        event.tid = raw.tid
        event._source = self
        event.thread = info.thread_id
        event.address = info.prog_address or 0
        event.cpu = None if raw.cpu == _NO_CPU else raw.cpu
        event.data = ctypes.string_at(raw.data, raw.data_len) if raw.data_len else b""
        event.truncated = info.truncation_status == _TRUNCATED_RECORD
        event.late = bool(raw.flags & _LATE)
        event.lost = raw.lost
        fields = self._fields_at(event.type, event.time)
        event.fields = fields.decode(event.data, event.truncated) if fields else None
        return event

    def read(self, wait=False):
        """A list of the next events, oldest first. Empty if there are no events.

        With wait, a stream sleeps until there is an event."""
        count = c_size_t()
        # Two threads can get here: the interpreter lock is not held during calls of the library.
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(_TWO_THREADS)
        try:
            while True:
                error = _library.posixtrace_getevents(
                    self._trid, self._events, _BATCH, self._buffer, len(self._buffer),
                    byref(count), 0 if wait else _NOWAIT)
                # Python has run its signal handlers by now. If no handler raised, try again.
                if error != errno.EINTR:
                    break
            if error:
                raise Error(error, "posixtrace_getevents")
            return [self._make(self._events[i]) for i in range(count.value)]
        finally:
            self._lock.release()

    def _take_turn(self):
        """Rejects a second thread while another one iterates."""
        thread = threading.get_ident()
        if self._reader not in (None, thread):
            raise RuntimeError(_TWO_THREADS)
        self._reader = thread

    def __iter__(self):
        """Iterates over the available events, without waiting."""
        self._take_turn()
        try:
            while events := self.read():
                yield from events
        finally:
            self._reader = None


def _nanoseconds(time):
    return time.sec * 1000000000 + time.nsec


def _text(text):
    return text.decode("utf-8", "surrogateescape")


_STATES = "RSDTtXZPI"
_RUNNING, _SINCE, _IO, _IN_USER = 1, 2, 4, 8
_IN_CALL, _COMPAT, _IN_FUTEX, _SAME_IDS = 16, 32, 64, 128


class ThreadState(collections.namedtuple("ThreadState", (
        "time", "since", "exact", "start", "pid", "tid", "ppid", "name", "state", "running", "io",
        "cpu", "call", "call_name", "compat", "args", "ip", "futex", "same_ids"))):
    """What a thread did when recording started.

    time        the moment, nanoseconds since the Epoch
    since       when it got into the state; None if it is not known
    exact       exactly then; otherwise then or later
    start       when the thread was created
    pid, tid, ppid
                ids of process, thread and parent process; ppid None if it is not known
    name        its name
    state       letter as in ps(1): R running or runnable, S, D, ...; None if it is not known
    running     it had a CPU
    io          it waited for a block device
    cpu         where it ran, or ran last
    call, call_name, args
                number, name ("" if it is not known) and six arguments of the system call in
                which it was blocked; None if it was in none, or that is not known
    compat      of the 32-bit interface
    ip          next instruction in user mode; None if it is not known
    futex       five words of memory at the futex that it waits for; or None
    same_ids    the ids in that memory are those of the log
    """

    __slots__ = ()

    @classmethod
    def _of(cls, raw):
        flags = raw.flags
        in_call = flags & _IN_CALL
        return cls(
            _nanoseconds(raw.time), _nanoseconds(raw.since) or None, bool(flags & _SINCE),
            _nanoseconds(raw.start), raw.pid, raw.tid, raw.ppid or None, _text(raw.name),
            _STATES[raw.state] if raw.state < len(_STATES) else None, bool(flags & _RUNNING),
            bool(flags & _IO), raw.cpu, raw.call if in_call else None,
            _text(raw.call_name) if in_call else None, bool(flags & _COMPAT),
            tuple(raw.args) if in_call else None, raw.ip if flags & _IN_USER else None,
            tuple(raw.futex) if flags & _IN_FUTEX else None, bool(flags & _SAME_IDS))


_KINDS = ("table", "path", "socket", "pipe", "other", "more")
_READS, _WRITES, _UNSURE, _CLOEXEC = 1, 2, 4, 8


class OpenFile(collections.namedtuple("OpenFile", (
        "time", "pid", "fd", "kind", "text", "inode", "reads", "writes", "cloexec", "unsure"))):
    """A descriptor of a process when recording started.

    time        the moment, nanoseconds since the Epoch
    pid         the process
    fd          the descriptor; -1 for the kinds "table" and "more"
    kind        "table" (begins the rows of a process), "path", "socket", "pipe", "other" (text
                as in /proc/PID/fd), "more" (inode descriptors have no row; with pid 0: further
                processes have none), or a number
    text        the path ("" if it is too long), or the protocol and addresses of a socket
    inode       number of the inode
    reads, writes
                how the file is open
    cloexec     closed when the process executes a program
    unsure      the descriptors may change without a system call of the process
    """

    __slots__ = ()

    @classmethod
    def _of(cls, raw):
        return cls(_nanoseconds(raw.time), raw.pid, raw.fd,
                   _KINDS[raw.kind] if raw.kind < len(_KINDS) else raw.kind, _text(raw.text),
                   raw.inode, *(bool(raw.flags & flag) for flag in (_READS, _WRITES, _CLOEXEC,
                                                                    _UNSURE)))


# The clocks of a log; UTC is estimated by CLOCK_REALTIME.
CLOCK_REALTIME = 0
CLOCK_MONOTONIC = 1
CLOCK_BOOTTIME = 7
CLOCK_TAI = 11
CLOCKID_UTC = 1024

_CLOCK_UNKNOWN = (1 << 64) - 1
_CLOCK_STEPPED = 1

ClockTime = collections.namedtuple("ClockTime", ("value", "error"))
ClockTime.__doc__ = """A time of another clock: it was within error of value, nanoseconds. An error
of None is not known."""


class ClockPair(collections.namedtuple("ClockPair", (
        "time", "value", "error", "clock", "stepped"))):
    """Readings of the clock of the events and of another clock at one moment, nanoseconds.

    time        the clock of the events
    value       the other clock
    error       its maximum error, or None if it is not known
    clock       CLOCK_REALTIME, CLOCK_TAI, CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCKID_UTC
    stepped     one of the clocks was set since the previous pair of this clock
    """

    __slots__ = ()

    @classmethod
    def _of(cls, raw):
        return cls(raw.time, raw.value, _clock_error(raw.error), raw.clock,
                   bool(raw.flags & _CLOCK_STEPPED))


def _clock_error(error):
    return None if error == _CLOCK_UNKNOWN else error


class Log(_Source):
    """A log that is open for reading."""

    def __init__(self, path):
        super().__init__()
        trid = c_int()
        with open(path, "rb") as file:
            _call("posix_trace_open", file.fileno(), byref(trid))
        self._trid = trid.value

    def close(self):
        """Closes the log."""
        if self._trid:
            trid, self._trid = self._trid, 0
            _call("posix_trace_close", trid)

    def rewind(self):
        """Goes back to the oldest event."""
        _call("posix_trace_rewind", self._trid)

    def seek(self, time):
        """Goes to the oldest event that is not older than TIME, ns since the Epoch, or one before
        it, without reading what precedes it."""
        _call("posixtrace_seek", self._trid, byref(_Timespec(*divmod(time, 1000000000))))

    def _rows(self, function, row):
        rows, count, position = (row * _BATCH)(), c_size_t(), c_ulonglong()
        found = []
        while True:
            _call(function, self._trid, rows, _BATCH, byref(count), byref(position))
            if not count.value:
                return found
            found += rows[:count.value]
            rows = (row * _BATCH)()

    def states(self):
        """A list with the ThreadState of each traced thread when recording started, and again at
        each later start. Empty without kernel events."""
        return [ThreadState._of(raw) for raw in self._rows("posixtrace_get_states", _ThreadState)]

    def files(self):
        """A list with the OpenFile of each descriptor of the traced processes when recording
        started, and again at each later start. Empty without the class strings."""
        return [OpenFile._of(raw) for raw in self._rows("posixtrace_get_files", _OpenFile)]

    def clock_pairs(self):
        """A list with each ClockPair, in the order of clocks and times."""
        return [ClockPair._of(raw) for raw in
                self._rows("posixtrace_get_clock_pairs", _ClockPair)]

    def convert_times(self, times, clock=CLOCKID_UTC):
        """Converts times of events, ns since the Epoch, to another clock. Returns a list with a
        ClockTime for each."""
        times = list(times)
        results = (_ClockTime * len(times))()
        _call("posixtrace_convert_times", self._trid, clock,
              (ctypes.c_uint64 * len(times))(*times), len(times), results)
        return [ClockTime(raw.value, _clock_error(raw.error)) for raw in results]

    @property
    def info(self):
        """A dict: size, read, lost, overwritten, part, series; and the flags ended, damaged and
        continued."""
        info = _LogInfo()
        _call("posixtrace_get_log_info", self._trid, byref(info))
        return {"size": info.size, "read": info.read, "lost": info.lost,
                "overwritten": info.overwritten, "ended": bool(info.flags & _LOG_ENDED),
                "damaged": bool(info.flags & _LOG_DAMAGED), "part": info.part,
                "series": info.series, "continued": bool(info.flags & _LOG_CONTINUED)}


def _create(path, flags):
    """Private to the user, as with "posixtrace record": a log contains data and command lines."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


class Stream(_Source):
    """A stream that traces a process, and is started immediately.

    pid             process, 0 for this one
    log             path or descriptor of a log; the events are read from there
    name            name of the stream
    inherit         also trace the children
    policy          LOOP, UNTIL_FULL or FLUSH
    log_policy      LOOP, UNTIL_FULL or APPEND
    size            bytes of memory for user events
    max_data        bytes of data of one event
    log_size        bytes of events in a log with LOOP or UNTIL_FULL
    wakeup          (bytes, nanoseconds): when to wake a sleeping reader
    start           False: call start() later
    """

    def __init__(self, pid=0, *, log=None, name=None, inherit=False, policy=None,
                 log_policy=None, size=None, max_data=None, log_size=None, wakeup=None,
                 start=True):
        super().__init__()
        attr, trid = _Attr(), c_int()
        _call("posix_trace_attr_init", byref(attr))
        settings = (("posix_trace_attr_setname", name.encode() if name else None),
                    ("posix_trace_attr_setinherited", 1 if inherit else None),
                    ("posix_trace_attr_setstreamfullpolicy", policy),
                    ("posix_trace_attr_setlogfullpolicy", log_policy),
                    ("posix_trace_attr_setstreamsize", size),
                    ("posix_trace_attr_setmaxdatasize", max_data),
                    ("posix_trace_attr_setlogsize", log_size))
        for function, value in settings:
            if value is not None:
                _call(function, byref(attr), value)
        if wakeup:
            _call("posixtrace_attr_setwakeup", byref(attr), *wakeup)
        if log is None:
            _call("posix_trace_create", pid, byref(attr), byref(trid))
        elif isinstance(log, int):
            _call("posix_trace_create_withlog", pid, byref(attr), log, byref(trid))
        else:
            with open(log, "wb", opener=_create) as file:
                _call("posix_trace_create_withlog", pid, byref(attr), file.fileno(),
                      byref(trid))
        self._trid = trid.value
        if start:
            self.start()

    def start(self):
        """Starts recording."""
        _call("posix_trace_start", self._trid)

    def stop(self):
        """Stops recording."""
        _call("posix_trace_stop", self._trid)

    def flush(self):
        """Writes the recorded events to the log."""
        _call("posix_trace_flush", self._trid)

    def clear(self):
        """Discards all events."""
        _call("posix_trace_clear", self._trid)

    def close(self):
        """Ends the stream; the log is complete afterwards."""
        if self._trid:
            trid, self._trid = self._trid, 0
            _call("posix_trace_shutdown", trid)

    def fileno(self):
        """A descriptor for poll() and select(), readable when there is an event."""
        fd = _library.posixtrace_fd(self._trid)
        if fd < 0:
            raise Error(ctypes.get_errno(), "posixtrace_fd")
        return fd

    def follow(self):
        """Iterates over the events as they arrive, until all traced processes have ended."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        self._take_turn()
        try:
            while True:
                (_, ready), = poll.poll()
                events = self.read()
                yield from events
                if not events and ready & (select.POLLHUP | select.POLLERR):
                    return
        finally:
            self._reader = None

    @property
    def stats(self):
        """A dict of counters: recorded, read, dropped, overwritten, skipped, damaged, ..."""
        stats = _Stats()
        _call("posixtrace_get_stats", self._trid, byref(stats))
        return {name: getattr(stats, name) for name, _ in _Stats._fields_ if name != "reserved"}
