/* SPDX-License-Identifier: MIT */
/*
 * <posixtrace/posixtrace.hpp> - streams, event types, events and logs as C++17 objects.
 *
 *	posixtrace::stream stream;
 *	stream.start();
 *	for (const posixtrace::event &event : posixtrace::reader(stream))
 *		std::puts(event.name().c_str());
 *
 * Everything is inline and calls the C functions. A function that fails throws std::system_error
 * with an error number of std::generic_category() and the name of the C function. Recording never
 * throws. Threads must not use an object concurrently, except event types.
 */
#ifndef _POSIXTRACE_POSIXTRACE_HPP
#define _POSIXTRACE_POSIXTRACE_HPP	1

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <posixtrace/points.h>
#include <posixtrace/trace.h>

namespace posixtrace {

namespace detail {

inline void check(int error, const char *function)
{
	if (error)
		throw std::system_error(error, std::generic_category(), function);
}

/*
 * A file that is open until the end of its scope. The library duplicates the descriptor. A new
 * file is private to the user: a log contains data and command lines.
 */
class file {
public:
	file(const std::string &path, int flags)
		: fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600))
	{
		if (fd_ < 0)
			check(errno, path.c_str());
	}
	~file() { ::close(fd_); }
	file(const file &) = delete;
	file &operator=(const file &) = delete;

	int fd() const noexcept { return fd_; }

private:
	int fd_;
};

} // namespace detail

/* ------------------------------------------------------------------ */
/* Streams								*/

/* What happens when a stream or a log is full. flush is for streams only, append for logs only. */
enum class full_policy {
	loop = POSIX_TRACE_LOOP,
	until_full = POSIX_TRACE_UNTIL_FULL,
	flush = POSIX_TRACE_FLUSH,
	append = POSIX_TRACE_APPEND,
};

/* The attributes of a new stream: attributes().name("server").inherited().stream_size(1 << 20) */
class attributes {
public:
	attributes() { detail::check(::posix_trace_attr_init(&attr_), "posix_trace_attr_init"); }

	attributes &name(const std::string &text)
	{
		detail::check(::posix_trace_attr_setname(&attr_, text.c_str()),
			      "posix_trace_attr_setname");
		return *this;
	}

	/* Also trace the children of the process. */
	attributes &inherited(bool yes = true)
	{
		detail::check(::posix_trace_attr_setinherited(&attr_, yes ?
							      POSIX_TRACE_INHERITED :
							      POSIX_TRACE_CLOSE_FOR_CHILD),
			      "posix_trace_attr_setinherited");
		return *this;
	}

	attributes &stream_full_policy(full_policy policy)
	{
		detail::check(::posix_trace_attr_setstreamfullpolicy(&attr_,
								     static_cast<int>(policy)),
			      "posix_trace_attr_setstreamfullpolicy");
		return *this;
	}

	attributes &log_full_policy(full_policy policy)
	{
		detail::check(::posix_trace_attr_setlogfullpolicy(&attr_, static_cast<int>(policy)),
			      "posix_trace_attr_setlogfullpolicy");
		return *this;
	}

	/* Bytes for user events. */
	attributes &stream_size(std::size_t bytes)
	{
		detail::check(::posix_trace_attr_setstreamsize(&attr_, bytes),
			      "posix_trace_attr_setstreamsize");
		return *this;
	}

	/* Bytes of data of one event. */
	attributes &max_data_size(std::size_t bytes)
	{
		detail::check(::posix_trace_attr_setmaxdatasize(&attr_, bytes),
			      "posix_trace_attr_setmaxdatasize");
		return *this;
	}

	attributes &log_size(std::size_t bytes)
	{
		detail::check(::posix_trace_attr_setlogsize(&attr_, bytes),
			      "posix_trace_attr_setlogsize");
		return *this;
	}

	/* When a stream wakes a sleeping reader, see posixtrace_attr_setwakeup(3). */
	attributes &wakeup(std::size_t bytes, std::chrono::nanoseconds age)
	{
		detail::check(age.count() < 0 ? EINVAL :
			      ::posixtrace_attr_setwakeup(&attr_, bytes,
							  static_cast<std::uint64_t>(age.count())),
			      "posixtrace_attr_setwakeup");
		return *this;
	}

	/* Use the relaxed order of timestamps across CPUs, to record faster. */
	attributes &relaxed_order(bool yes = true)
	{
		detail::check(::posixtrace_attr_setorder(&attr_, yes ? POSIXTRACE_ORDER_RELAXED :
							 POSIXTRACE_ORDER_CAUSAL),
			      "posixtrace_attr_setorder");
		return *this;
	}

	/* For the C functions. */
	const ::trace_attr_t *get() const noexcept { return &attr_; }

private:
	::trace_attr_t attr_;
};

/*
 * A stream. Its owner shuts it down: by the destructor, or by shutdown(), which reports errors. It
 * can be moved. After a move or shutdown(), the id is 0, which all C functions refuse with
 * EINVAL.
 */
class stream {
public:
	/* Traces a process: 0 is this one. Recording starts with start(). */
	explicit stream(::pid_t pid = 0, const attributes &attr = attributes())
	{
		detail::check(::posix_trace_create(pid, attr.get(), &id_), "posix_trace_create");
	}

	/* The same, with a log: an open file, which the library duplicates, or a new file. */
	stream(::pid_t pid, const attributes &attr, int log)
	{
		create(pid, attr, log);
	}

	stream(::pid_t pid, const attributes &attr, const std::string &log)
	{
		create(pid, attr, detail::file(log, O_WRONLY | O_CREAT | O_TRUNC).fd());
	}

	stream(stream &&other) noexcept : id_(std::exchange(other.id_, 0)) {}

	/* Shuts down its previous stream. */
	stream &operator=(stream &&other) noexcept
	{
		stream taken(std::move(other));

		std::swap(id_, taken.id_);
		return *this;
	}

	stream(const stream &) = delete;
	stream &operator=(const stream &) = delete;

	~stream()
	{
		if (id_)
			::posix_trace_shutdown(id_);
	}

	void start() { detail::check(::posix_trace_start(id_), "posix_trace_start"); }
	void stop() { detail::check(::posix_trace_stop(id_), "posix_trace_stop"); }
	void clear() { detail::check(::posix_trace_clear(id_), "posix_trace_clear"); }

	/* Start to write the recorded events to the log. */
	void flush() { detail::check(::posix_trace_flush(id_), "posix_trace_flush"); }

	/* End the stream. The log is complete afterwards. */
	void shutdown()
	{
		detail::check(::posix_trace_shutdown(std::exchange(id_, 0)),
			      "posix_trace_shutdown");
	}

	/* For the C functions; 0 if there is no stream. */
	::trace_id_t id() const noexcept { return id_; }

	/* A descriptor for poll(), for a stream without log. */
	int fd() const
	{
		const int fd = ::posixtrace_fd(id_);

		if (fd < 0)
			detail::check(errno, "posixtrace_fd");
		return fd;
	}

	::posix_trace_status_info status() const
	{
		::posix_trace_status_info info;

		detail::check(::posix_trace_get_status(id_, &info), "posix_trace_get_status");
		return info;
	}

	::posixtrace_stats_info stats() const
	{
		::posixtrace_stats_info info;

		detail::check(::posixtrace_get_stats(id_, &info), "posixtrace_get_stats");
		return info;
	}

private:
	void create(::pid_t pid, const attributes &attr, int log)
	{
		detail::check(::posix_trace_create_withlog(pid, attr.get(), log, &id_),
			      "posix_trace_create_withlog");
	}

	::trace_id_t id_ = 0;
};

/* ------------------------------------------------------------------ */
/* Recording								*/

/* A user event type of this process. Copyable. */
class event_type {
public:
	explicit event_type(const std::string &name)
	{
		detail::check(::posix_trace_eventid_open(name.c_str(), &id_),
			      "posix_trace_eventid_open");
	}

	/*
	 * A worker that gave up root may not describe the types of its server (EPERM). Then the
	 * server has to describe them, and the worker still records.
	 */
	event_type(const std::string &name, const std::string &description)
	{
		int err = ::posixtrace_eventid_open(name.c_str(), description.c_str(), &id_);

		if (err == EPERM)
			err = ::posix_trace_eventid_open(name.c_str(), &id_);
		detail::check(err, "posixtrace_eventid_open");
	}

	/* Describe the data, such as "{ u32 id; text key; }": see posixtrace-fields(7). */
	void describe(const std::string &description) const
	{
		detail::check(::posixtrace_eventid_describe(id_, description.c_str()),
			      "posixtrace_eventid_describe");
	}

	/*
	 * Record an event: without data, with bytes, with a text, or with the bytes of a value,
	 * including its padding. The address of the event is in the caller, because these functions
	 * are inlined.
	 */
	[[gnu::always_inline]] void record() const noexcept { record(nullptr, 0); }

	[[gnu::always_inline]] void record(const void *data, std::size_t size) const noexcept
	{
		posix_trace_event(id_, data, size);
	}

	[[gnu::always_inline]] void record(std::string_view text) const noexcept
	{
		record(text.data(), text.size());
	}

	template<typename T, typename = std::enable_if_t<std::is_trivially_copyable_v<T> &&
							 !std::is_convertible_v<const T &,
										std::string_view> &&
							 !std::is_pointer_v<std::decay_t<T>> &&
							 !std::is_member_pointer_v<T>>>
	[[gnu::always_inline]] void record(const T &value) const noexcept
	{
		record(std::addressof(value), sizeof(value));
	}

	void record(std::nullptr_t) const = delete;

	::trace_event_id_t id() const noexcept { return id_; }

private:
	::trace_event_id_t id_ = 0;
};

/* ------------------------------------------------------------------ */
/* Reading								*/

/* A value in the data of an event. Its texts are valid as long as the event. */
struct field {
	using value_type = std::variant<std::uint64_t, std::int64_t, double, bool,
					std::string_view>;

	std::string name;	/* "id"; in a struct "from.port", in an array "sizes[1]" */
	value_type value;
	std::string_view label;	/* enumeration: label of the value, or empty */
	std::string_view unit;	/* or empty */

	bool is_text() const noexcept { return std::holds_alternative<std::string_view>(value); }

	/* The text or label. Empty for other numbers. */
	std::string_view text() const noexcept
	{
		const std::string_view *found = std::get_if<std::string_view>(&value);

		return found ? *found : label;
	}

	/* The number, converted to T like static_cast. 0 for texts. */
	template<typename T = std::int64_t>
	T number() const noexcept
	{
		static_assert(std::is_arithmetic_v<T>);
		if (const auto *found = std::get_if<std::uint64_t>(&value))
			return static_cast<T>(*found);
		if (const auto *found = std::get_if<std::int64_t>(&value))
			return static_cast<T>(*found);
		if (const auto *found = std::get_if<double>(&value))
			return static_cast<T>(*found);
		if (const auto *found = std::get_if<bool>(&value))
			return static_cast<T>(*found);
		return T();
	}
};

namespace detail {

struct free_fields {
	void operator()(::posixtrace_fields *fields) const noexcept
	{
		::posixtrace_fields_free(fields);
	}
};

/* An event type of a stream or log. */
struct type {
	std::string name;
	std::unique_ptr<::posixtrace_fields, free_fields> fields;
	bool is_described = false;	/* if the description is invalid, fields is null */
	bool is_asked = false;		/* fields_of() looked for it at asked_at */
	::timespec asked_at = {};
};

inline field to_field(std::string name, const ::posixtrace_value &value)
{
	field made = { std::move(name), value.number, {}, {} };

	switch (value.field->type) {
	case POSIXTRACE_FIELD_FLOAT:
		made.value = value.real;
		break;
	case POSIXTRACE_FIELD_BOOL:
		made.value = value.number != 0;
		break;
	case POSIXTRACE_FIELD_CHARS:
	case POSIXTRACE_FIELD_STRING:
	case POSIXTRACE_FIELD_TEXT:
		made.value = std::string_view(static_cast<const char *>(value.data),
					      value.text_len);
		break;
	default:
		if (value.field->is_signed)
			made.value = static_cast<std::int64_t>(value.number);
		break;
	}
	if (value.label)
		made.label = value.label;
	if (value.field->unit)
		made.unit = value.field->unit;
	return made;
}

/* The name of a value in the struct or array that contains it. */
inline std::string path(const std::string &around, bool is_array, const ::posixtrace_value &value)
{
	if (is_array)
		return around + '[' + std::to_string(value.index) + ']';
	if (!value.field->name)
		return around;
	return around.empty() ? value.field->name : around + '.' + value.field->name;
}

/* Returns false if the data does not match. The fields before the mismatch are stored anyway. */
inline bool decode(const ::posixtrace_fields *fields, const void *data, std::size_t size,
		   std::vector<field> &to)
{
	std::vector<std::pair<std::string, bool>> around = { { "", false } };
	::posixtrace_value value;
	::posixtrace_walk walk;
	int ret;

	::posixtrace_fields_begin(&walk, fields, data, size);
	while ((ret = ::posixtrace_fields_next(&walk, &value)) == 1) {
		if (value.what == POSIXTRACE_END) {
			around.pop_back();
			continue;
		}
		std::string name = path(around.back().first, around.back().second, value);

		if (value.what == POSIXTRACE_BEGIN)
			around.emplace_back(std::move(name),
					    value.field->type == POSIXTRACE_FIELD_ARRAY);
		else
			to.push_back(to_field(std::move(name), value));
	}
	return ret == 0;
}

/* A stream or a log, from which many events are read in one call. */
class source {
public:
	source(::trace_id_t id, bool is_log)
		: id_(id), is_log_(is_log), events_(new ::posixtrace_batch_event[batch]),
		  buffer_(new unsigned char[buffer_size])
	{
	}

	~source()
	{
		if (is_log_)
			::posix_trace_close(id_);
	}

	source(const source &) = delete;
	source &operator=(const source &) = delete;

	::trace_id_t id() const noexcept { return id_; }

	/* The next event, or null. With waits, null means that all traced processes have ended. */
	const ::posixtrace_batch_event *next(bool waits)
	{
		const turn only(busy_);

		while (at_ == count_) {
			const bool is_last = waits && !is_log_ && wait();

			read();
			if (!count_ && (!waits || is_log_ || is_last))
				return nullptr;
		}
		return &events_[at_++];
	}

	void rewind()
	{
		check(::posix_trace_rewind(id_), "posix_trace_rewind");
		at_ = count_ = 0;
	}

	void seek(const ::timespec &time)
	{
		check(::posixtrace_seek(id_, &time), "posixtrace_seek");
		at_ = count_ = 0;
	}

	/* All rows of posixtrace_get_states() or posixtrace_get_files(). */
	template<typename Row>
	std::vector<Row> rows(int (*get)(::trace_id_t, Row *, std::size_t, std::size_t *,
					 unsigned long long *), const char *function) const
	{
		std::vector<Row> found;
		unsigned long long next = 0;
		std::size_t count, size;

		do {
			size = found.size();
			found.resize(size + batch);
			check(get(id_, &found[size], batch, &count, &next), function);
			found.resize(size + count);
		} while (count);
		return found;
	}

	const type &type_of(::trace_event_id_t event)
	{
		return named(event);
	}

	/* A type may be described later: look again, but at most once per second of event time. */
	const ::posixtrace_fields *fields_of(const ::posix_trace_event_info &event)
	{
		type &found = named(event.posix_event_id);

		if (!found.is_described &&
		    (!found.is_asked || event.posix_timestamp.tv_sec != found.asked_at.tv_sec)) {
			found.is_described = describe(event.posix_event_id, found);
			found.is_asked = true;
			found.asked_at = event.posix_timestamp;
		}
		return found.fields.get();
	}

private:
	/* Throws if another thread is in next(), because each thread would get only some events. */
	class turn {
	public:
		explicit turn(std::atomic_flag &busy) : busy_(busy)
		{
			if (busy_.test_and_set(std::memory_order_acquire))
				check(EBUSY, "posixtrace::reader: used by two threads");
		}
		~turn() { busy_.clear(std::memory_order_release); }
		turn(const turn &) = delete;
		turn &operator=(const turn &) = delete;

	private:
		std::atomic_flag &busy_;
	};

	static constexpr std::size_t batch = 64;
	/* More than the largest data of an event. */
	static constexpr std::size_t buffer_size = 128 * 1024;

	/* Returns true if all traced processes have ended. */
	bool wait() const
	{
		::pollfd fd = { ::posixtrace_fd(id_), POLLIN, 0 };

		if (fd.fd < 0)
			check(errno, "posixtrace_fd");
		if (::poll(&fd, 1, -1) < 0)
			check(errno, "poll");
		return fd.revents & (POLLHUP | POLLERR | POLLNVAL);
	}

	void read()
	{
		at_ = count_ = 0;
		check(::posixtrace_getevents(id_, events_.get(), batch, buffer_.get(), buffer_size,
					     &count_, POSIXTRACE_NOWAIT), "posixtrace_getevents");
	}

	type &named(::trace_event_id_t event)
	{
		const auto found = types_.find(event);
		char name[TRACE_EVENT_NAME_MAX + 1];

		if (found != types_.end())
			return found->second;
		const int error = ::posix_trace_eventid_get_name(id_, event, name);

		if (error != EINVAL)
			check(error, "posix_trace_eventid_get_name");
		type &made = types_[event];

		made.name = error ? "(type " + std::to_string(event) + ")" : name;
		return made;
	}

	bool describe(::trace_event_id_t event, type &to) const
	{
		char text[POSIXTRACE_DESCRIPTION_MAX + 1];
		::posixtrace_fields *fields;
		int error = ::posixtrace_eventid_get_description(id_, event, text, sizeof(text),
								 nullptr);

		/* A type without a name has no description. */
		if (error == ENOENT || error == EINVAL)
			return false;
		check(error, "posixtrace_eventid_get_description");
		error = ::posixtrace_fields_parse(text, &fields, nullptr);
		if (!error)
			to.fields.reset(fields);
		else if (error != EINVAL)
			check(error, "posixtrace_fields_parse");
		return true;
	}

	::trace_id_t id_;
	bool is_log_;
	std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
	std::size_t at_ = 0;
	std::size_t count_ = 0;
	std::unique_ptr<::posixtrace_batch_event[]> events_;
	std::unique_ptr<unsigned char[]> buffer_;
	std::unordered_map<::trace_event_id_t, type> types_;
};

} // namespace detail

/* Nanoseconds of CLOCK_REALTIME. */
using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/* An event, valid until its reader takes the next one or ends. */
class event {
public:
	/* "(type 70)" if its type has no name. */
	const std::string &name() const { return source_->type_of(id()).name; }
	::trace_event_id_t id() const noexcept { return raw_->event.posix_event_id; }

	/* Did a program record it, rather than the system? */
	bool is_user() const noexcept { return id() >= POSIX_TRACE_UNNAMED_USEREVENT; }

	time_point time() const noexcept
	{
		const ::timespec &time = raw_->event.posix_timestamp;

		return time_point(std::chrono::seconds(time.tv_sec) +
				  std::chrono::nanoseconds(time.tv_nsec));
	}

	/* Ids of the process and the thread, or 0. */
	::pid_t pid() const noexcept { return raw_->event.posix_pid; }
	::pid_t tid() const noexcept { return raw_->tid; }

	/* Empty if it is not known. */
	std::string thread_name() const
	{
		char name[POSIXTRACE_THREAD_NAME_SIZE];
		const int error = ::posixtrace_get_thread_name(source_->id(), pid(), tid(),
							       &raw_->event.posix_timestamp, name);

		if (error == ENOENT)
			return {};
		detail::check(error, "posixtrace_get_thread_name");
		return name;
	}

	/* Command line of the process at that time. Empty if it is not known. */
	std::vector<std::string> program() const
	{
		std::unique_ptr<char[]> text(new char[POSIXTRACE_PROGRAM_SIZE]);
		std::vector<std::string> words;
		std::size_t size = 0;
		const int error = ::posixtrace_get_program(source_->id(), pid(),
							   &raw_->event.posix_timestamp, text.get(),
							   POSIXTRACE_PROGRAM_SIZE, &size);

		if (error == ENOENT)
			return {};
		detail::check(error, "posixtrace_get_program");
		for (std::size_t at = 0; at < size; at += words.back().size() + 1)
			words.emplace_back(&text[at]);
		return words;
	}

	/* Last part of the path of the program. Empty if it is not known. */
	std::string process_name() const
	{
		const std::vector<std::string> words = program();

		return words.empty() ? std::string() : words[0].substr(words[0].rfind('/') + 1);
	}

	/* The CPU that recorded it. */
	std::optional<unsigned int> cpu() const noexcept
	{
		if (raw_->cpu == POSIXTRACE_NO_CPU)
			return std::nullopt;
		return raw_->cpu;
	}

	/* How many events were lost before it. */
	unsigned long long lost() const noexcept { return raw_->lost; }

	/* Was an event with a later time reported before it? */
	bool is_late() const noexcept { return raw_->flags & POSIXTRACE_EVENT_LATE; }

	/* Did the program have more data? */
	bool is_truncated() const noexcept
	{
		return raw_->event.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	}

	/* The data, aligned to 8 bytes. */
	const void *data() const noexcept { return raw_->data; }
	std::size_t size() const noexcept { return raw_->data_len; }

	std::string_view text() const noexcept
	{
		return { static_cast<const char *>(raw_->data), raw_->data_len };
	}

	/*
	 * The values in the data, in the order of the description. Empty if the type has no
	 * description, or the data does not match it. If the data was truncated, only the values
	 * that are complete.
	 */
	std::vector<posixtrace::field> fields() const
	{
		const ::posixtrace_fields *description = source_->fields_of(raw_->event);
		std::vector<posixtrace::field> found;

		if (description && !detail::decode(description, data(), size(), found) &&
		    !is_truncated())
			found.clear();
		return found;
	}

	/* The first of fields() with this name. */
	std::optional<posixtrace::field> field(std::string_view name) const
	{
		for (posixtrace::field &each : fields()) {
			if (each.name == name)
				return std::move(each);
		}
		return std::nullopt;
	}

	/* Everything that the C functions report. */
	const ::posixtrace_batch_event &raw() const noexcept { return *raw_; }

private:
	friend class event_iterator;

	event(detail::source *from, const ::posixtrace_batch_event *raw) noexcept
		: source_(from), raw_(raw)
	{
	}

	detail::source *source_;
	const ::posixtrace_batch_event *raw_;
};

/* An input iterator: each step takes the next event from the reader. */
class event_iterator {
public:
	using iterator_category = std::input_iterator_tag;
	using value_type = event;
	using difference_type = std::ptrdiff_t;
	using pointer = const event *;
	using reference = const event &;

	event_iterator() noexcept = default;

	event_iterator(detail::source *from, bool waits) : event_(from, nullptr), waits_(waits)
	{
		++*this;
	}

	reference operator*() const noexcept { return event_; }
	pointer operator->() const noexcept { return &event_; }

	event_iterator &operator++()
	{
		event_.raw_ = event_.source_->next(waits_);
		return *this;
	}

	void operator++(int) { ++*this; }

	/* All iterators that have reached the end are equal. */
	friend bool operator==(const event_iterator &a, const event_iterator &b) noexcept
	{
		return a.has_same(b);
	}

	friend bool operator!=(const event_iterator &a, const event_iterator &b) noexcept
	{
		return !(a == b);
	}

private:
	bool has_same(const event_iterator &other) const noexcept
	{
		return event_.raw_ == other.event_.raw_;
	}

	event event_{ nullptr, nullptr };
	bool waits_ = false;
};

/* For a loop over the events of a reader. */
class event_range {
public:
	event_range(detail::source *from, bool waits) noexcept : source_(from), waits_(waits) {}

	event_iterator begin() const { return event_iterator(source_, waits_); }
	event_iterator end() const noexcept { return event_iterator(); }

private:
	detail::source *source_;
	bool waits_;
};

/*
 * Reads a stream or a log, oldest event first. It takes many events from a stream in one call, so
 * do not read the stream in other ways at the same time, and keep the reader as long as its events
 * are used. The stream must outlive the reader, and may be moved.
 */
class reader {
public:
	/* A stream without log. */
	explicit reader(const stream &from)
		: source_(std::make_unique<detail::source>(from.id(), false))
	{
	}

	/* A log: a file, or a descriptor, which the library duplicates. Needs no kernel module. */
	explicit reader(const std::string &log) : reader(detail::file(log, O_RDONLY).fd()) {}

	explicit reader(int log)
	{
		::trace_id_t id;

		detail::check(::posix_trace_open(log, &id), "posix_trace_open");
		try {
			source_ = std::make_unique<detail::source>(id, true);
		} catch (...) {
			::posix_trace_close(id);
			throw;
		}
	}

	/* The events that are available; for a log, all events up to its end. */
	event_iterator begin() { return event_iterator(source_.get(), false); }
	event_iterator end() noexcept { return event_iterator(); }

	/*
	 * The events of a stream as they arrive, until all traced processes have ended. A signal
	 * handler that runs during a wait ends the loop with EINTR; a new loop continues.
	 */
	event_range follow() & { return event_range(source_.get(), true); }

	/* Go back to the oldest event of a log. */
	void rewind() { source_->rewind(); }

	/* Go to the first event of a log at or after a time, or to an earlier event. */
	void seek(time_point time)
	{
		const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
		::timespec at = {};

		at.tv_sec = static_cast<::time_t>(seconds.time_since_epoch().count());
		at.tv_nsec = static_cast<long>((time - seconds).count());
		source_->seek(at);
	}

	/*
	 * The states of the traced threads, and their open files: of a log, each time that
	 * recording started; of a stream, now. A log without kernel events has no states, and a log
	 * without the class strings has no files.
	 */
	std::vector<::posixtrace_thread_state> states() const
	{
		return source_->rows<::posixtrace_thread_state>(::posixtrace_get_states,
								"posixtrace_get_states");
	}

	std::vector<::posixtrace_open_file> files() const
	{
		return source_->rows<::posixtrace_open_file>(::posixtrace_get_files,
							     "posixtrace_get_files");
	}

	::posixtrace_log_info log_info() const
	{
		::posixtrace_log_info info;

		detail::check(::posixtrace_get_log_info(id(), &info), "posixtrace_get_log_info");
		return info;
	}

	/* For the C functions. */
	::trace_id_t id() const noexcept { return source_->id(); }

private:
	std::unique_ptr<detail::source> source_;
};

} // namespace posixtrace

#endif /* _POSIXTRACE_POSIXTRACE_HPP */
