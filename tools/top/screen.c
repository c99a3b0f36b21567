// SPDX-License-Identifier: GPL-2.0
/*
 * The screen of "posixtrace top": see screen.h.
 *
 * ncurses handles SIGWINCH, SIGTSTP and SIGCONT. All other signals are blocked: the caller reads
 * them from a descriptor and then closes the screen.
 */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "top/screen.h"
#include "util/message.h"

#define ESCAPE		27
#define CTRL(key)	((key) & 0x1f)
#define ESCAPE_MS	25	/* a byte that comes later than this after ESC is a separate key */

static SCREEN *screen;
static int line;		/* next line to draw */
static bool typing;
static const char *question;
static char input[SCREEN_INPUT];
static size_t input_len;

int screen_check(void)
{
	const bool has_input = isatty(STDIN_FILENO);

	if (has_input && isatty(STDOUT_FILENO))
		return 0;
	tell("standard %s is not a terminal: use --batch", has_input ? "output" : "input");
	return -EINVAL;
}

int screen_open(void)
{
	const char *name = getenv("TERM");

	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		tell("the terminal \"%s\" is unknown: set TERM, or use --batch", name ? name : "");
		return -EINVAL;
	}
	set_term(screen);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	return 0;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

size_t screen_lines(void)
{
	return LINES > 0 ? (size_t)LINES : 0;
}

/* ------------------------------------------------------------------ */
/* Drawing								*/

/*
 * Returns how many bytes of a line fit into @columns. Does not split a character. A byte that is
 * not a character in the locale may take up to four columns.
 */
static size_t fitting(const char *text, size_t len, int columns)
{
	mbstate_t state = { };
	size_t at = 0, n;
	wchar_t wide;
	int width;

	while (at < len) {
		n = mbrtowc(&wide, text + at, len - at, &state);
		width = n - 1 < len ? wcwidth(wide) : -1;
		if (width < 0) {
			state = (mbstate_t){ };
			width = 4;
			n = 1;
		}
		if (width > columns)
			break;
		columns -= width;
		at += n;
	}
	return at;
}

static void put_line(const char *text, size_t len, attr_t attributes)
{
	/* Writing into the last column of the last line would scroll. */
	const int columns = COLS - 1;

	if (line >= LINES)
		return;
	move(line++, 0);
	attrset(attributes);
	addnstr(text, (int)fitting(text, len, columns));
	if (attributes & A_REVERSE)
		chgat(-1, A_REVERSE, 0, NULL);
	attrset(A_NORMAL);
}

void screen_begin(void)
{
	erase();
	line = 0;
}

void screen_put(const struct buffer *text, bool heading)
{
	const char *at = (const char *)text->data, *end = at + text->len, *next;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			next = end;
		put_line(at, (size_t)(next - at), heading ? A_REVERSE : A_NORMAL);
		heading = false;
	}
}

/* Shows the end of the text that the user types. */
static void put_input(void)
{
	const int columns = COLS - 2 - (int)strlen(question);
	size_t from = 0;

	while (from < input_len && fitting(input + from, input_len - from, columns) <
				   input_len - from)
		from++;
	mvaddstr(LINES - 1, 0, question);
	addnstr(input + from, (int)(input_len - from));
}

void screen_end(const struct buffer *message)
{
	if (LINES < 1)
		return;
	move(LINES - 1, 0);
	clrtoeol();
	if (typing) {
		put_input();
	} else if (message->len) {
		line = LINES - 1;
		put_line((const char *)message->data, message->len, A_BOLD);
	}
	curs_set(typing);
	refresh();
}

/* ------------------------------------------------------------------ */
/* Keys									*/

void screen_ask(const char *prompt, const char *text)
{
	question = prompt;
	typing = true;
	snprintf(input, sizeof(input), "%s", text);
	input_len = strlen(input);
}

const char *screen_input(void)
{
	return input;
}

/* Handles a key while the user types a text. */
static enum screen_key type(int key)
{
	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		typing = false;
		return SCREEN_TYPED;
	case ESCAPE:
	case CTRL('G'):
		typing = false;
		break;
	case KEY_BACKSPACE:
	case CTRL('H'):
	case 0x7f:
		/* Delete all bytes of the last character. */
		while (input_len && (input[--input_len] & 0xc0) == 0x80)
			;
		break;
	case CTRL('U'):
		input_len = 0;
		break;
	default:
		if (key < ' ' || key > 0xff || input_len + 1 >= sizeof(input))
			return SCREEN_OTHER;
		input[input_len++] = (char)key;
	}
	input[input_len] = '\0';
	return SCREEN_REDRAW;
}

static enum screen_key command(int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return SCREEN_QUIT;
	case 'p':
	case ' ':
		return SCREEN_PAUSE;
	case 't':
	case '\t':
		return SCREEN_TABLE;
	case 's':
		return SCREEN_SORT;
	case 'S':
		return SCREEN_SORT_THREADS;
	case 'r':
		return SCREEN_REVERSE;
	case 'i':
		return SCREEN_TOTAL;
	case 'f':
		return SCREEN_FILTER;
	case 'w':
		return SCREEN_WRITE;
	case 'h':
	case '?':
		return SCREEN_HELP;
	case CTRL('L'):
		clearok(curscr, TRUE);
		return SCREEN_REDRAW;
	default:
		return SCREEN_OTHER;
	}
}

enum screen_key screen_key(void)
{
	const int key = getch();

	if (key == ERR)
		return SCREEN_NONE;
	if (key == KEY_RESIZE)
		return SCREEN_REDRAW;
	return typing ? type(key) : command(key);
}
