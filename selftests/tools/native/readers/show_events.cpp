// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the events of a log as seen by <posixtrace/posixtrace.hpp>, one JSON object per line. Texts
 * are printed as hexadecimal digits, since they may contain any bytes.
 *
 * usage: show_events LOG
 */
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>

#include <posixtrace/posixtrace.hpp>

static std::string hex(std::string_view text)
{
	static const char digits[] = "0123456789abcdef";
	std::string made = "\"";

	for (const unsigned char byte : text) {
		made += digits[byte >> 4];
		made += digits[byte & 15];
	}
	return made + '"';
}

/* Shows a float by the bits of its double. */
static std::string value_of(const posixtrace::field &field)
{
	std::uint64_t bits;

	if (!field.label.empty())
		return "[\"label\"," + hex(field.label) + ']';
	if (field.is_text())
		return "[\"text\"," + hex(field.text()) + ']';
	if (const auto *found = std::get_if<bool>(&field.value))
		return *found ? "[\"bool\",1]" : "[\"bool\",0]";
	if (const auto *found = std::get_if<double>(&field.value)) {
		std::memcpy(&bits, found, sizeof(bits));
		return "[\"float\"," + std::to_string(bits) + ']';
	}
	if (const auto *found = std::get_if<std::int64_t>(&field.value))
		return "[\"int\"," + std::to_string(*found) + ']';
	return "[\"int\"," + std::to_string(std::get<std::uint64_t>(field.value)) + ']';
}

static void show(const posixtrace::event &event)
{
	const char *separator = "";

	std::cout << '[' << hex(event.name()) << ',' << event.id() << ',' << event.is_user() << ','
		  << event.time().time_since_epoch().count() << ',' << event.pid() << ',' << event.tid()
		  << ',' << event.raw().event.posix_thread_id << ','
		  << reinterpret_cast<std::uintptr_t>(event.raw().event.posix_prog_address) << ','
		  << (event.cpu() ? static_cast<long>(*event.cpu()) : -1) << ',' << event.lost() << ','
		  << event.is_late() << ',' << event.is_truncated() << ',' << hex(event.text()) << ','
		  << hex(event.thread_name()) << ',' << hex(event.process_name()) << ",[";
	for (const std::string &word : event.program()) {
		std::cout << separator << hex(word);
		separator = ",";
	}
	std::cout << "],[";
	separator = "";
	for (const posixtrace::field &field : event.fields()) {
		std::cout << separator << '[' << hex(field.name) << ',' << value_of(field) << ','
			  << hex(field.unit) << ']';
		separator = ",";
	}
	std::cout << "]]\n";
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: show_events LOG\n";
		return 2;
	}
	for (const posixtrace::event &event : posixtrace::reader(std::string(argv[1])))
		show(event);
	return 0;
}
