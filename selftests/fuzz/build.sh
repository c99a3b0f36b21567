#!/bin/bash -eu
# SPDX-License-Identifier: GPL-2.0
# Builds the fuzzers as OSS-Fuzz does, with its variables CC, CFLAGS, LIB_FUZZING_ENGINE and OUT. An
# OSS-Fuzz project needs clang, make, zip and linux-libc-dev, and runs this script from any
# directory. On this machine:
#
#	CC=clang CFLAGS='-O1 -g -fsanitize=address,fuzzer-no-link' LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
#		OUT=/tmp/fuzzers selftests/fuzz/build.sh
#
# "make fuzz-log" and similar targets build the same programs and run them for some time: see run.
cd "$(dirname "$0")/../.."
: "${CC:=clang}" "${CFLAGS:=-O1 -g -fsanitize=address,fuzzer-no-link}"
: "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}" "${OUT:=$PWD/build/oss-fuzz}"
work=${WORK:-$PWD/build/oss-fuzz-work}/posixtrace
rm -rf "$work"
mkdir -p "$OUT" "$work"/{lib,support,tools,seeds}
read -ra flags <<<"$CFLAGS -std=gnu11 -D_GNU_SOURCE= -pthread"
include=(-Ilib -Ilib/include -Iuapi -Iselftests/include -Itools)

# compile DIRECTORY FILE...: compiles into $work/DIRECTORY
compile()
{
	local directory=$work/$1 file
	shift
	for file in "$@"; do
		echo "$CC ${flags[*]} ${include[*]} -c -o $directory/$(tr / - <<<"${file%.c}").o $file"
	done | xargs -P "$(nproc)" -d '\n' -n 1 sh -ec
}

mapfile -t lib < <(find lib -name '*.c')
compile lib "${lib[@]}"
compile support selftests/support/*.c
mapfile -t tools < <(find tools -name buffer.c -o -name description.c -o -name event.c -o -name 'filter*.c' \
	-o -name duration.c -o -name kevent.c -o -name layout.c)
compile tools "${tools[@]}"
ar rcs "$work/support.a" "$work"/support/*.o
ar rcs "$work/lib.a" "$work"/lib/*.o

for name in log fields filter; do
	others=()
	[ "$name" != filter ] || others=("$work"/tools/*.o)
	"$CC" "${flags[@]}" "${include[@]}" -c -o "$work/${name}_fuzz.o" "selftests/fuzz/${name}_fuzz.c"
	"${CXX:-clang++}" "${flags[@]}" -o "$OUT/${name}_fuzz" "$work/${name}_fuzz.o" "${others[@]}" \
		"$work/support.a" "$work/lib.a" "$LIB_FUZZING_ENGINE"
done

# The files that OSS-Fuzz expects beside the programs: seed corpora, dictionaries and options.
"$CC" "${flags[@]}" "${include[@]}" -o "$work/log_corpus" selftests/fuzz/log_corpus.c "$work/support.a"
"$work/log_corpus" "$work/seeds"
(cd "$work/seeds" && zip -q -r - .) >"$OUT/log_fuzz_seed_corpus.zip"
cp selftests/fuzz/fields.dict "$OUT/fields_fuzz.dict"
cp selftests/fuzz/filter.dict "$OUT/filter_fuzz.dict"
printf '[libfuzzer]\nmax_len = 32768\ntimeout = 20\n' >"$OUT/log_fuzz.options"
printf '[libfuzzer]\nmax_len = 8192\n' >"$OUT/fields_fuzz.options"
printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/filter_fuzz.options"
