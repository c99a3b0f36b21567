// SPDX-License-Identifier: MIT
/*
 * The names of the logs of the flight recorder. If NAME.log exists, the next one is NAME.1.log, as
 * "posixtrace record --rotate" names its logs: an exec keeps the process id, and a snapshot begins
 * a new log. No file that exists is opened, however it came there.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/sys.h"
#include "record/flight.h"

#define SUFFIX		".log"
#define SUFFIX_LEN	(sizeof(SUFFIX) - 1)

/* Maximum number of tries: in a directory that others can write to, all names may exist. */
#define NUMBERS_MAX	1000

/* The decimal digits of a 32-bit number. */
#define DIGITS_MAX	10

/*
 * The pattern of the name, and the name for this process. Not on the stack: a child may be in a
 * signal handler with a small stack.
 */
static char pattern[PATH_MAX];
static size_t directory_len;	/* the pattern has no % up to there */
static char first[PATH_MAX];
static char other[PATH_MAX];	/* for pxtu_flight_open(), which one thread calls at a time */

/* Appends text; returns false if it does not fit with its NUL. */
static bool append(char *to, size_t size, size_t *len, const char *text, size_t text_len)
{
	if (text_len >= size - *len)
		return false;
	memcpy(to + *len, text, text_len);
	*len += text_len;
	to[*len] = '\0';
	return true;
}

static bool append_number(char *to, size_t size, size_t *len, unsigned int number)
{
	char digits[DIGITS_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return append(to, size, len, digits + at, sizeof(digits) - at);
}

int pxtu_flight_check(const char *text)
{
	for (; (text = strchr(text, '%')); text += 2) {
		if (text[1] != 'p' && text[1] != '%')
			return pxtu_flight_refuse(PXTU_FLIGHT_FILE, "only %p and %% are known",
						  text, text[1] ? 2 : 1);
	}
	return 0;
}

int pxtu_flight_pattern(const char *text)
{
	size_t len = 0;

	if (*text != '/') {
		if (!getcwd(pattern, sizeof(pattern)))
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		len = strlen(pattern);
		if (!append(pattern, sizeof(pattern), &len, "/", 1))
			return -ENAMETOOLONG;
	}
	directory_len = len;
	return append(pattern, sizeof(pattern), &len, text, strlen(text)) ? 0 : -ENAMETOOLONG;
}

int pxtu_flight_expand(void)
{
	const char *at = pattern + directory_len;
	bool fits = true;
	size_t len = 0;

	append(first, sizeof(first), &len, pattern, directory_len);
	for (; *at && fits; at++) {
		if (*at != '%')
			fits = append(first, sizeof(first), &len, at, 1);
		else if (*++at == 'p')
			fits = append_number(first, sizeof(first), &len, (unsigned int)getpid());
		else
			fits = append(first, sizeof(first), &len, "%", 1);
	}
	return fits ? 0 : -ENAMETOOLONG;
}

int pxtu_flight_name(unsigned int number, char *to, size_t size)
{
	size_t all = strlen(first), stem = all, len = 0;
	bool fits;

	/* The number goes before the suffix, unless the suffix is the whole name. */
	if (all > SUFFIX_LEN && first[all - SUFFIX_LEN - 1] != '/' &&
	    !strcmp(first + all - SUFFIX_LEN, SUFFIX))
		stem = all - SUFFIX_LEN;
	fits = size && append(to, size, &len, first, stem);
	if (fits && number)
		fits = append(to, size, &len, ".", 1) && append_number(to, size, &len, number);
	return fits && append(to, size, &len, first + stem, all - stem) ? 0 : -ERANGE;
}

int pxtu_flight_open(unsigned int *number)
{
	unsigned int tries;
	int fd = -EEXIST;

	for (tries = 0; tries < NUMBERS_MAX && fd == -EEXIST; tries++) {
		if (tries)
			++*number;
		if (pxtu_flight_name(*number, other, sizeof(other)))
			return -ENAMETOOLONG;
		fd = pxtu_open_new(other);
	}
	return fd;
}

void pxtu_flight_remove(unsigned int number)
{
	int saved_errno = errno;

	if (!pxtu_flight_name(number, other, sizeof(other)))
		unlink(other);
	errno = saved_errno;
}
