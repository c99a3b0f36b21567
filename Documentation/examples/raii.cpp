// SPDX-License-Identifier: MIT
/*
 * Streams and events as C++17 objects: a trace ends with its scope, even if an exception
 * leaves the scope.
 */
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <posixtrace/posixtrace.hpp>

static void work(const std::string &key)
{
	static const posixtrace::event_type halfway("raii:halfway");
	POSIXTRACE_SCOPE("raii:work", (u32, length, key.size()),
			 (text, key, key.data(), key.size()));

	halfway.record(key);
	throw std::runtime_error("no more");
}

static void print(const posixtrace::event &event)
{
	std::printf("%s", event.name().c_str());
	for (const posixtrace::field &field : event.fields()) {
		if (field.is_text())
			std::printf(" %s=\"%s\"", field.name.c_str(),
				    std::string(field.text()).c_str());
		else
			std::printf(" %s=%lld", field.name.c_str(), field.number<long long>());
	}
	std::printf("\n");
}

int main()
try {
	posixtrace::stream stream(0, posixtrace::attributes().name("raii"));

	stream.start();
	try {
		work("user:42");
	} catch (const std::runtime_error &error) {
		std::printf("caught: %s\n", error.what());
	}
	stream.stop();

	posixtrace::stream mine = std::move(stream);

	for (const posixtrace::event &event : posixtrace::reader(mine))
		print(event);
	return 0;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return 1;
}
