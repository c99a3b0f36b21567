// SPDX-License-Identifier: GPL-2.0
/*
 * Uses all of <posixtrace/posixtrace.hpp>. The argument is the test case. Exits with 0 on success;
 * otherwise prints what is wrong.
 */
#include <posixtrace/posixtrace.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <signal.h>
#include <sys/wait.h>

namespace {

int failed;

#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			std::fprintf(stderr, "# line %d: %s\n", __LINE__, #condition); \
			failed = 1; \
		} \
	} while (0)

using posixtrace::attributes;
using posixtrace::event;
using posixtrace::event_type;
using posixtrace::field;
using posixtrace::reader;
using posixtrace::stream;

static_assert(!std::is_copy_constructible_v<stream> && !std::is_copy_assignable_v<stream>);
static_assert(std::is_nothrow_move_constructible_v<stream>);
static_assert(std::is_nothrow_move_assignable_v<stream>);
static_assert(std::is_nothrow_move_constructible_v<reader>);
static_assert(!std::is_copy_constructible_v<reader>);
static_assert(noexcept(std::declval<const event_type &>().record(7)));

template<typename T, typename = void> struct can_record : std::false_type {};
template<typename T> struct can_record<T, std::void_t<decltype(
	std::declval<const event_type &>().record(std::declval<T>()))>> : std::true_type {};

static_assert(can_record<int>::value && can_record<const char *>::value);
static_assert(can_record<std::string>::value);
static_assert(!can_record<int *>::value && !can_record<std::vector<int>>::value);
static_assert(!can_record<std::nullptr_t>::value);

/* Returns the error number of the exception that @f throws, or 0. */
template<typename F> int thrown(F &&f, const char *what)
{
	try {
		f();
	} catch (const std::system_error &error) {
		EXPECT(error.code().category() == std::generic_category());
		EXPECT(std::strstr(error.what(), what));
		return error.code().value();
	}
	return 0;
}

/* Reads all user events, and returns their data as strings. */
std::vector<std::string> texts(reader &from)
{
	std::vector<std::string> found;

	for (const event &each : from) {
		if (each.is_user())
			found.emplace_back(each.text());
	}
	return found;
}

void moves()
{
	const event_type type("moves");
	stream first;
	const trace_id_t id = first.id();
	stream second(std::move(first));

	EXPECT(first.id() == 0 && second.id() == id);
	EXPECT(thrown([&] { first.start(); }, "posix_trace_start") == EINVAL);
	second.start();
	type.record("one");

	stream third;
	const trace_id_t gone = third.id();

	/* The assignment shuts down the previous stream. */
	third = std::move(second);
	EXPECT(third.id() == id && second.id() == 0);
	EXPECT(posix_trace_shutdown(gone) == EINVAL);
	stream &same = third;

	third = std::move(same);
	EXPECT(third.id() == id);

	reader from(third);
	reader to(std::move(from));

	EXPECT(texts(to) == std::vector<std::string>({ "one" }));
	{
		const stream last(std::move(third));
	}
	EXPECT(posix_trace_shutdown(id) == EINVAL);
	EXPECT(thrown([&] { texts(to); }, "posixtrace_getevents") == EINVAL);
}

void errors()
{
	stream some;

	EXPECT(thrown([] { stream none(-1); }, "posix_trace_create") != 0);
	EXPECT(thrown([] { event_type none(""); }, "posix_trace_eventid_open") == EINVAL);
	EXPECT(thrown([] { event_type wrong("errors", "{ u33 id; }"); },
		      "posixtrace_eventid_open") == EINVAL);
	EXPECT(thrown([&] { some.flush(); }, "posix_trace_flush") == EINVAL);
	EXPECT(thrown([] { attributes().wakeup(0, std::chrono::nanoseconds(-1)); },
		      "posixtrace_attr_setwakeup") == EINVAL);
	EXPECT(thrown([] { attributes().stream_full_policy(posixtrace::full_policy::append); },
		      "posix_trace_attr_setstreamfullpolicy") == EINVAL);
	EXPECT(thrown([] { reader none("/nonexistent/log"); }, "/nonexistent/log") == ENOENT);
	EXPECT(thrown([] { reader none("/dev/null"); }, "posix_trace_open") == EINVAL);
	some.shutdown();
	EXPECT(thrown([&] { some.shutdown(); }, "posix_trace_shutdown") == EINVAL);
	EXPECT(thrown([&] { some.fd(); }, "posixtrace_fd") == EINVAL);
}

void attribute_values()
{
	const stream some(0, attributes().name("cpp").inherited().stream_size(1 << 20)
				.max_data_size(100).relaxed_order().log_size(1 << 16)
				.stream_full_policy(posixtrace::full_policy::until_full)
				.log_full_policy(posixtrace::full_policy::until_full)
				.wakeup(4096, std::chrono::milliseconds(1)));
	int inherited, policy, order;
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t size;
	uint64_t ns;

	EXPECT(!posix_trace_get_attr(some.id(), &attr));
	EXPECT(!posix_trace_attr_getname(&attr, name) && !std::strcmp("cpp", name));
	EXPECT(!posix_trace_attr_getinherited(&attr, &inherited));
	EXPECT(inherited == POSIX_TRACE_INHERITED);
	EXPECT(!posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT(policy == POSIX_TRACE_UNTIL_FULL);
	EXPECT(!posix_trace_attr_getmaxdatasize(&attr, &size) && size >= 100);
	EXPECT(!posix_trace_attr_getstreamsize(&attr, &size) && size >= 1 << 20);
	EXPECT(!posixtrace_attr_getwakeup(&attr, &size, &ns) && size == 4096 && ns == 1000000);
	EXPECT(!posixtrace_attr_getorder(&attr, &order) && order == POSIXTRACE_ORDER_RELAXED);
	EXPECT(some.status().posix_stream_status == POSIX_TRACE_SUSPENDED);
	EXPECT(some.fd() >= 0);
}

void values()
{
	const struct point { int x, y; } point = { 1, -2 };
	const event_type type("values");
	stream some;

	some.start();
	type.record();
	type.record(point);
	type.record(std::string("text"));
	type.record("literal");
	type.record(&point.y, sizeof(point.y));
	some.stop();
	EXPECT(some.stats().recorded == 5);

	reader from(some);
	const std::vector<std::string> found = texts(from);

	EXPECT(found.size() == 5);
	if (found.size() != 5)
		return;
	EXPECT(found[0].empty());
	EXPECT(found[1].size() == sizeof(point));
	EXPECT(!std::memcmp(&point, found[1].data(), found[1].size()));
	EXPECT(found[2] == "text" && found[3] == "literal");
	EXPECT(!std::memcmp(&point.y, found[4].data(), sizeof(point.y)));
	type.record(1);
	some.clear();
	EXPECT(texts(from).empty());
}

void iteration()
{
	const event_type type("iteration");
	stream some;
	int next = 0;

	some.start();
	for (int i = 0; i < 1000; i++)
		type.record(i);
	some.stop();

	reader from(some);

	for (int part = 0; part < 3; part++) {
		for (const event &each : from) {
			if (!each.is_user())
				continue;
			EXPECT(each.size() == sizeof(int));
			EXPECT(!std::memcmp(each.data(), &next, sizeof(int)));
			EXPECT(each.name() == "iteration" && each.id() == type.id());
			if (++next % 100 == 7)
				break;
		}
	}
	EXPECT(next == 207);
	EXPECT(std::count_if(from.begin(), from.end(),
			     [](const event &each) { return each.is_user(); }) == 1000 - 207);
	EXPECT(from.begin() == from.end());
}

void origin()
{
	const auto before = std::chrono::system_clock::now();
	const event_type type("origin");
	stream some;
	int seen = 0;

	some.start();
	type.record();
	some.stop();

	reader from(some);

	for (const event &each : from) {
		if (!each.is_user()) {
			EXPECT(each.name().compare(0, 12, "posix_trace_") == 0);
			EXPECT(each.fields().empty());
			continue;
		}
		seen++;
		EXPECT(each.pid() == ::getpid() && each.tid() == ::gettid());
		EXPECT(each.thread_name() == "cpp_helper");
		EXPECT(each.cpu().has_value());
		EXPECT(!each.lost() && !each.is_late() && !each.is_truncated());
		EXPECT(each.time() + std::chrono::seconds(1) > before);
		EXPECT(each.time() < std::chrono::system_clock::now() + std::chrono::seconds(1));
		EXPECT(each.raw().event.posix_prog_address);
	}
	EXPECT(seen == 1);
}

void field_values()
{
	const event_type type("fields", "{ u8 n; enum : i8 { no = -1, yes } e; bool b; x8 x;"
				  "f32 r \"ms\"; struct { u8 port; } from; i8 a[2]; text key; }");
	const char data[] = "\xff\xff\1\x10\0\0\300\77\7\1\376key";
	stream some;
	int seen = 0;

	some.start();
	type.record(data, sizeof(data) - 1);
	some.stop();

	reader events(some);

	for (const event &each : events) {
		if (!each.is_user())
			continue;
		std::string names;

		for (const field &value : each.fields())
			names += value.name + ' ';
		EXPECT(names == "n e b x r from.port a[0] a[1] key ");
		EXPECT(each.field("n")->number() == 255 && !each.field("n")->is_text());
		EXPECT(each.field("e")->number() == -1 && each.field("e")->text() == "no");
		EXPECT(std::get<bool>(each.field("b")->value));
		EXPECT(each.field("x")->number<unsigned int>() == 16);
		EXPECT(each.field("r")->number<double>() == 1.5);
		EXPECT(each.field("r")->unit == "ms");
		EXPECT(each.field("from.port")->number() == 7);
		EXPECT(each.field("a[1]")->number() == -2);
		EXPECT(each.field("key")->is_text() && each.field("key")->text() == "key");
		EXPECT(!each.field("other"));
		seen++;
	}
	EXPECT(seen == 1);
}

void mismatch()
{
	const event_type type("mismatch");
	stream some(0, attributes().max_data_size(8));
	std::vector<size_t> found;

	some.start();
	type.record();
	type.describe("{ u32 a; u64 b; }");
	type.record(7);
	type.record("more than eight bytes");
	some.stop();

	reader events(some);

	for (const event &each : events) {
		if (each.is_user())
			found.push_back(each.fields().size());
	}
	/* Of truncated data, the complete fields are returned. */
	EXPECT(found == std::vector<size_t>({ 0, 0, 1 }));
}

void follow()
{
	const event_type type("follow");
	int go[2], seen = 0;
	char byte = 0;

	if (::pipe(go)) {
		failed = 1;
		return;
	}
	const pid_t child = ::fork();

	if (!child) {
		/* End even if the parent fails. */
		::alarm(60);
		if (::read(go[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < 300; i++)
			type.record(i);
		_exit(0);
	}
	{
		stream some(child);
		reader events(some);

		some.start();
		EXPECT(::write(go[1], &byte, 1) == 1);
		for (const event &each : events.follow())
			seen += each.is_user() && each.pid() == child;
	}
	EXPECT(seen == 300);
	EXPECT(::waitpid(child, nullptr, 0) == child);
}

void log()
{
	char path[] = "/tmp/cpp_helper.XXXXXX";
	const event_type type("log", "{ i32 n; }");
	const int fd = ::mkstemp(path);

	EXPECT(fd >= 0);
	{
		stream some(0, attributes(), std::string(path));

		some.start();
		type.record(1);
		some.flush();
		type.record(2);
		EXPECT(thrown([&] { reader from(some); from.begin(); },
			      "posixtrace_getevents") == EINVAL);
		some.shutdown();
	}
	{
		stream some(0, attributes().log_full_policy(posixtrace::full_policy::append), fd);

		EXPECT(some.id() != 0);
	}
	{
		stream some(0, attributes(), std::string(path));

		some.start();
		type.record(1);
		type.record(2);
	}
	reader from{ std::string(path) };

	for (int round = 0; round < 2; round++) {
		int sum = 0;

		for (const event &each : from.follow()) {
			if (each.is_user()) {
				sum = 10 * sum + each.field("n")->number<int>();
				EXPECT(each.thread_name() == "cpp_helper");
			}
		}
		EXPECT(sum == 12);
		from.rewind();
	}
	EXPECT(from.log_info().flags == POSIXTRACE_LOG_ENDED);
	EXPECT(texts(from).size() == 2);
	reader other(fd);
	EXPECT(texts(other).size() == 2);
	::close(fd);
	::unlink(path);
}

} // namespace

int main(int argc, char **argv)
try {
	const std::map<std::string, void (*)()> cases = {
		{ "moves", moves }, { "errors", errors }, { "attributes", attribute_values },
		{ "values", values }, { "iteration", iteration }, { "origin", origin },
		{ "fields", field_values }, { "mismatch", mismatch }, { "follow", follow },
		{ "log", log },
	};

	cases.at(argc > 1 ? argv[1] : "")();
	return failed;
} catch (const std::exception &error) {
	std::fprintf(stderr, "# %s\n", error.what());
	return 1;
}
