// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points in C++11: in a namespace, templates, lambdas, member functions and static objects,
 * and scopes that exceptions leave. Exits with 0 if the events are as expected; otherwise prints
 * the difference.
 */
#include <posixtrace.h>
#include <posixtrace/points.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace points {
POSIXTRACE_POINT(request, (u32, id), (bool, cached), (string, path));
}

namespace {

trace_id_t trid;

void check(int error, const char *what)
{
	if (error) {
		std::fprintf(stderr, "%s: error %d\n", what, error);
		std::exit(1);
	}
}

/* Traces this program before and after main(). */
struct Tracer {
	Tracer()
	{
		/* No stream traces this program yet. */
		POSIXTRACE_MARK("constructor");
		check(posix_trace_create(0, nullptr, &trid), "create");
		check(posix_trace_start(trid), "start");
		POSIXTRACE_MARK("constructor");
	}
	~Tracer()
	{
		POSIXTRACE_MARK("destructor");
	}
};

Tracer tracer;

template<typename T> T twice(T value)
{
	POSIXTRACE_SCOPE("twice", (u64, size, sizeof(T)));
	return value + value;
}

struct Cache {
	int depth = 3;

	void get(const std::string &key)
	{
		POSIXTRACE_SCOPE("get", (i32, depth), (text, key, key.data(), key.size()));
		POSIXTRACE_COUNTER("depth", ++depth);
		if (key.empty())
			throw std::runtime_error("no key");
	}
};

std::vector<std::string> recorded()
{
	char name[TRACE_EVENT_NAME_MAX + 1], data[256];
	struct posix_trace_event_info event;
	std::vector<std::string> names;
	size_t len;
	int none;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &event, data, sizeof(data), &len, &none),
		      "trygetnext_event");
		if (none)
			return names;
		if (event.posix_event_id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		check(posix_trace_eventid_get_name(trid, event.posix_event_id, name), "get_name");
		names.push_back(name + (" " + std::to_string(len)));
	}
}

} // namespace

int main()
{
	const std::vector<std::string> expected = {
		"constructor 0", "request 11", "twice:begin 8", "twice:end 0", "twice:begin 8",
		"twice:end 0", "get:begin 7", "depth 8", "get:end 0", "get:begin 4", "depth 8",
		"get:end 0", "lambda:begin 0", "lambda:end 0",
	};
	Cache cache;

	points::posixtrace_point_request(7, true, "/path");
	twice(1);
	twice(1.5);
	cache.get("key");
	try {
		cache.get("");
	} catch (const std::exception &) {
		[] { POSIXTRACE_SCOPE("lambda"); }();
	}
	const std::vector<std::string> found = recorded();

	if (found == expected)
		return 0;
	for (const std::string &name : found)
		std::fprintf(stderr, "# %s\n", name.c_str());
	return 1;
}
