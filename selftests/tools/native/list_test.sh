#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace list PROGRAM" with files that no compiler would write.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# forge KIND FILE: writes an ELF file of 1.4 MiB with many section headers for the same bytes
forge()
{
	python3 - "$@" <<-'END'
		import struct, sys, zlib
		kind, path = sys.argv[1:]
		SYMTAB, STRTAB, NOTE = 2, 3, 7
		COMPRESSED = 0x800
		symbol = struct.pack("<IBBHQQ", 1, 2, 0, 1, 0x1000, 0x100)
		note = struct.pack("<III", 11, 23, 1) + b"posixtrace\0\0" + struct.pack("<QI", 0x1010, 7) \
		       + b"tick\0\0a.c\0\0\0"
		long_name = b"\0" + b"f" * 700000 + b"\0"
		names = b"\0.note.posixtrace\0"
		bytes_of = {"symbols": symbol * 29000, "strings": symbol + long_name, "notes": note * 14000,
		            "compressed": symbol * 100, "name": symbol * 15000 + long_name}[kind]
		at = 64
		data = bytes_of + names
		sections = [(0, 0, 0, 0, 0, 0, 0)]
		def section(name, type, flags, offset, size, link, entry):
		    sections.append((name, type, flags, offset, size, link, entry))
		section(0, STRTAB, 0, at + len(bytes_of), len(names), 0, 0)
		if kind == "symbols":
		    for i in range(11000):
		        section(0, SYMTAB, 0, at, len(bytes_of), 1, 24)
		elif kind == "strings":
		    for i in range(5500):
		        section(0, SYMTAB, 0, at, 24, len(sections) + 1, 24)
		        section(0, STRTAB, 0, at + 24, len(long_name), 0, 0)
		elif kind == "notes":
		    for i in range(11000):
		        section(1, NOTE, 0, at, len(bytes_of), 0, 0)
		elif kind == "compressed":
		    bomb = b"\0" * (1000 << 20)
		    packed = struct.pack("<IIQQ", 1, 0, len(bomb), 1) + zlib.compress(bomb, 9)
		    section(0, SYMTAB, 0, at, len(bytes_of), 3, 24)
		    section(0, STRTAB, COMPRESSED, at + len(data), len(packed), 0, 0)
		    data += packed
		else:
		    section(0, SYMTAB, 0, at, 15000 * 24, 3, 24)
		    section(0, STRTAB, 0, at + 15000 * 24, len(long_name), 0, 0)
		data += b"\0" * (-len(data) % 8)
		header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
		    "<HHIQQQIHHHHHH", 2, 62, 1, 0x1000, 0, at + len(data), 0, 64, 0, 0, 64, len(sections), 1)
		with open(path, "wb") as file:
		    file.write(header + data)
		    for name, type, flags, offset, size, link, entry in sections:
		        file.write(struct.pack("<IIQQQQIIQQ", name, type, flags, 0, offset, size, link, 0, 8, entry))
	END
}

# A forged file must not take much time or memory.
test_forged_files_cost_little()
{
	local kind
	for kind in symbols strings notes compressed name; do
		forge "$kind" "$kind"
		( ulimit -v 262144; timeout 10 posixtrace list "$kind" ) >out 2>err || [ $? -eq 1 ] || {
			echo "$kind: $(tail -n 1 err)"
			return 1
		}
		lacks 'Cannot allocate' err
	done
}

run_cases
