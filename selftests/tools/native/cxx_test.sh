#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests <posixtrace/posixtrace.hpp> with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

stage=$native/../../../build/stage/usr

# cxx [ARGUMENT]...: builds and runs the program on standard input
cxx()
{
	{
		printf '#include <%s>\n' atomic cstdio iostream thread posixtrace/posixtrace.hpp
		cat
	} >program.cpp
	g++ -std=c++17 -Wall -Wextra -Werror -pthread -I"$stage/include" -o program program.cpp \
		"$stage/lib/libposixtrace.a"
	./program "$@"
}

test_events_of_the_kernel_have_fields()
{
	write_log log <<-'END'
		classes sched,process,syscall
		host h
		thread A 10 11 0xa
		task 10 11 1700000000000000001 worker
		program 10 1700000000000000001 /usr/bin/server\x00-x
		since 1700000000000000000
		block 0
		kernel sched_switch_in 1000 cpu=0 @A runnable=7
		kernel syscall_entry 2000 cpu=0 @A args=1,2,3
		kernel sched_switch_out 3000 cpu=0 @A state=83 reason=blocked
		end
	END
	cxx log >out <<-'END'
		int main(int, char **argv)
		{
			for (const auto &event : posixtrace::reader(std::string(argv[1]))) {
				std::cout << event.name() << ' ' << event.field("tid")->number() << ' ' << event.thread_name() << ' '
					  << event.process_name();
				for (const auto &word : event.program())
					std::cout << ' ' << word;
				std::cout << ' ' << (event.field("reason") ? event.field("reason")->text() : "-") << '\n';
			}
		}
	END
	prints out <<-'END'
		sched_switch_in 11 worker server /usr/bin/server -x -
		syscall_entry 11 worker server /usr/bin/server -x -
		sched_switch_out 11 worker server /usr/bin/server -x blocked
	END
}

test_states_and_files_of_a_log()
{
	{
		cat <<-'END'
			classes all,strings
			host h
			thread main 7 7 0x7f00
			thread worker 7 8 0x7f01
			block 4
			event 2 1000
			state main 1500 500 1 24 2 0 3 0 0 0 read
			state worker 1600 1500 0 3 1 0 0 0 0 0 -
		END
		seq -f 'file main 1800 %g 1 1 5 /etc/passwd' 0 199
		echo end
	} | write_log log
	cxx log >out <<-'END'
		int main(int, char **argv)
		{
			const posixtrace::reader reader{std::string(argv[1])};

			for (const auto &state : reader.states())
				std::cout << state.tid << ' ' << state.name << ' ' << state.state << ' ' << state.call_name << '\n';
			const auto files = reader.files();
			std::cout << files.size() << ' ' << files.back().fd << ' ' << files.back().text << '\n';
		}
	END
	prints out <<-'END'
		7 main 1 read
		8 worker 0 -
		200 199 /etc/passwd
	END
}

# Events that the library has already read ahead must not be returned after the seek.
test_seek()
{
	{ echo 'name 65 tick'; echo 'block 0'; seq -f 'event 65 17000000000000%05.0f' 1000; echo end; } | write_log log
	cxx log >out <<-'END'
		int main(int, char **argv)
		{
			posixtrace::reader reader{std::string(argv[1])};
			const posixtrace::time_point start{std::chrono::nanoseconds(1700000000000000000)};
			const auto count = [&](posixtrace::time_point from) {
				int found = 0;
				for (const auto &event : reader)
					found += event.time() >= from;
				return found;
			};

			(void)*reader.begin();
			reader.seek(start + std::chrono::nanoseconds(900));
			std::cout << count(start + std::chrono::nanoseconds(900));
			reader.seek(start);
			std::cout << ' ' << count(start) << '\n';
			try {
				reader.seek(posixtrace::time_point{std::chrono::nanoseconds(-1)});
			} catch (const std::system_error &error) {
				std::cout << error.what() << '\n';
			}
		}
	END
	prints out <<-'END'
		101 1000
		posixtrace_seek: Invalid argument
	END
}

test_types_without_a_name()
{
	printf '%s\n' 'block 0' 'event 70 1700000000000001000 text=a' 'block 4' 'event 2 1700000000000002000' end | write_log log
	cxx log >out <<-'END'
		int main(int, char **argv)
		{
			for (const auto &event : posixtrace::reader(std::string(argv[1])))
				std::cout << event.name() << ' ' << event.fields().size() << ' ' << event.program().size() << '\n';
		}
	END
	prints out <<-'END'
		(type 70) 0 0
		posix_trace_start 0 0
	END
}

# If two threads could read, each would get only some of the events.
test_two_threads_are_refused()
{
	{ echo 'name 65 tick'; echo 'block 0'; seq -f 'event 65 17000000000000%06.0f' 200000; echo end; } | write_log log
	cxx log >out <<-'END'
		int main(int, char **argv)
		{
			posixtrace::reader reader{std::string(argv[1])};
			std::atomic<int> ready{0}, refused{0};
			const auto read = [&] {
				for (ready++; ready < 2; )
					;
				try {
					for (const auto &event : reader)
						(void)event.id();
				} catch (const std::system_error &error) {
					refused += error.code() == std::errc::device_or_resource_busy;
				}
			};
			for (int i = 0; i < 100 && !refused; i++) {
				ready = 0;
				reader.rewind();
				std::thread other(read);
				read();
				other.join();
			}
			std::cout << (refused ? "refused" : "mixed") << '\n';
		}
	END
	prints out <<<refused
}

test_logs_are_for_the_user_only()
{
	[ ! -e /dev/posixtrace ] || return 0
	umask 0
	cxx new <<-'END'
		int main(int, char **argv)
		{
			try {
				posixtrace::stream stream(0, posixtrace::attributes(), std::string(argv[1]));
			} catch (const std::system_error &error) {
				return error.code().value() != ENODEV;
			}
			return 1;
		}
	END
	[ "$(stat -c %a new)" = 600 ]
}

run_cases
