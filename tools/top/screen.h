/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The screen of "posixtrace top": draws lines of text, and reads keys.
 */
#ifndef POSIXTRACE_TOP_SCREEN_H
#define POSIXTRACE_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

#define SCREEN_INPUT	512	/* bytes of a text that the user types, with the null byte */

enum screen_key {
	SCREEN_NONE,		/* no key was pressed */
	SCREEN_OTHER,		/* a key without a meaning */
	SCREEN_REDRAW,		/* the screen size or the text that the user types has changed */
	SCREEN_QUIT,
	SCREEN_PAUSE,
	SCREEN_TABLE,
	SCREEN_SORT,
	SCREEN_SORT_THREADS,
	SCREEN_REVERSE,
	SCREEN_TOTAL,
	SCREEN_FILTER,		/* ask the user for a filter: see screen_ask() */
	SCREEN_TYPED,		/* the user has finished typing the text */
	SCREEN_WRITE,
	SCREEN_HELP,
};

/* screen_check() - check that there is a terminal; returns 0, or -EINVAL after printing an error */
int screen_check(void);

/* screen_open() - take over the terminal; returns 0, or -EINVAL after printing an error */
int screen_open(void);

/* screen_lines() - get how many lines there are */
size_t screen_lines(void);

/* screen_begin() - begin to draw, at the top */
void screen_begin(void);

/*
 * screen_put() - draw lines of escaped text, cut at the right edge. @heading: the first line is a
 * heading.
 */
void screen_put(const struct buffer *text, bool heading);

/*
 * screen_end() - draw the last line, which is the text that the user types or @message, and show
 * the whole screen
 */
void screen_end(const struct buffer *message);

/* screen_key() - get the next key, without waiting */
enum screen_key screen_key(void);

/* screen_ask() - let the user type a text; its bytes follow @prompt */
void screen_ask(const char *prompt, const char *text);

/* screen_input() - get the text that was typed */
const char *screen_input(void);

/* screen_close() - give the terminal back; may be called more than once */
void screen_close(void);

#endif /* POSIXTRACE_TOP_SCREEN_H */
