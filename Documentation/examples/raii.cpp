// SPDX-License-Identifier: MIT
/*
 * Streams and events as objects of C++17: a trace ends with its scope, even if an exception
 * leaves the scope.
 */
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <trace.h>

namespace tracing {

inline void check(int error, const char *what)
{
	if (error)
		throw std::system_error(error, std::generic_category(), what);
}

/* An event type, by its name. */
class event_type {
public:
	explicit event_type(const char *name)
	{
		check(::posix_trace_eventid_open(name, &id_), "posix_trace_eventid_open");
	}

	void record(std::string_view data) const noexcept
	{
		posix_trace_event(id_, data.data(), data.size());
	}

private:
	trace_event_id_t id_ = 0;
};

/* Records the begin and the end of its scope. */
class scope {
public:
	explicit scope(const event_type &type) noexcept : type_(type) { type_.record("begin"); }
	~scope() { type_.record("end"); }
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

private:
	const event_type &type_;
};

struct event {
	std::string name;
	std::string data;
	bool is_system;
	::timespec time;
};

/* A stream. Its owner shuts it down, and may move it to another owner. */
class stream {
public:
	explicit stream(pid_t pid = 0)
	{
		check(::posix_trace_create(pid, nullptr, &id_), "posix_trace_create");
	}

	stream(stream &&other) noexcept : id_(std::exchange(other.id_, 0)) {}

	stream &operator=(stream &&other) noexcept
	{
		std::swap(id_, other.id_);
		return *this;
	}

	~stream()
	{
		if (id_)
			::posix_trace_shutdown(id_);
	}

	void start() { check(::posix_trace_start(id_), "posix_trace_start"); }
	void stop() { check(::posix_trace_stop(id_), "posix_trace_stop"); }

	/* Returns the next event, if there is one. */
	std::optional<event> next()
	{
		::posix_trace_event_info info;
		char name[TRACE_EVENT_NAME_MAX + 1];
		char data[256];
		size_t len;
		int none;

		check(::posix_trace_trygetnext_event(id_, &info, data, sizeof(data), &len,
						     &none), "posix_trace_trygetnext_event");
		if (none)
			return std::nullopt;
		check(::posix_trace_eventid_get_name(id_, info.posix_event_id, name),
		      "posix_trace_eventid_get_name");
		return event{ name, std::string(data, len),
			      info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT,
			      info.posix_timestamp };
	}

private:
	trace_id_t id_ = 0;
};

/* The stream records during the lifetime of this object. */
class recording {
public:
	explicit recording(stream &what) : stream_(what) { stream_.start(); }

	~recording()
	{
		try {
			stream_.stop();
		} catch (const std::system_error &error) {
			std::fprintf(stderr, "%s\n", error.what());
		}
	}

	recording(const recording &) = delete;
	recording &operator=(const recording &) = delete;

private:
	stream &stream_;
};

} // namespace tracing

static void work()
{
	static const tracing::event_type type("raii:work");
	tracing::scope scope(type);

	type.record("halfway");
	throw std::runtime_error("no more");
}

int main()
try {
	tracing::stream stream;

	{
		tracing::recording recording(stream);

		try {
			work();
		} catch (const std::runtime_error &error) {
			std::printf("caught: %s\n", error.what());
		}
	}
	tracing::stream mine = std::move(stream);
	while (auto event = mine.next()) {
		/* The data of system events is binary. */
		if (event->is_system)
			std::printf("%s\n", event->name.c_str());
		else
			std::printf("%s \"%s\"\n", event->name.c_str(), event->data.c_str());
	}
	return 0;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return 1;
}
