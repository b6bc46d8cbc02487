/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.c: the only file that knows ncurses. */
#include "cli/tui/screen.h"
#include "decoder/util/fit.h" /* before term.h makes a macro of columns */

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/common/progress.h"
#include "cli/tui/give_back.h"
#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/names/short_name.h"

#define ESCAPE_MS 25 /* after which ESC is a key of its own, and begins no other */

#define DOUBLE_MS 400 /* between the two clicks of one, at most */
#define AHEAD     64  /* keys that are kept while something is read */

static bool begun, colored, full_names, mouse;
static int clicked; /* line */
static struct {
	int keys[AHEAD];
	size_t count;
} ahead;
static SCREEN *screen;
static FILE *keys; /* of a terminal that is not standard input */

/* ---- the terminal ---- */

const char *ep_screen_unfit(void)
{
	const char *name = getenv("TERM");
	int known;

	if (!isatty(STDOUT_FILENO))
		return "stdout is no terminal";
	if (!name || !*name)
		return "TERM is not set, so it is not known what the terminal can do";
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
		return "terminfo does not know the terminal (TERM)";
	known = cursor_address != NULL;
	del_curterm(cur_term);
	return known ? NULL : "the terminal (TERM) cannot move its cursor";
}

static void choose_inks(bool colors)
{
	colored = colors && has_colors();
	if (!colored)
		return;
	start_color();
	use_default_colors();
	init_pair(EP_INK_NAME, COLOR_CYAN, -1);
	init_pair(EP_INK_WARN, COLOR_YELLOW, -1);
}

/* As endwin has it, which is not for a signal handler. */
static void prepare_to_give_back(void)
{
	const char *there = cursor_address ? tiparm(cursor_address, ep_screen_rows() - 1, 0) : NULL;
	const char *const sequences[] = {
		exit_attribute_mode,
		mouse ? "\033[?1006l\033[?1000l" : NULL,
		there,
		exit_ca_mode,
		keypad_local,
		cursor_normal,
	};

	ep_give_back_set(sequences, sizeof(sequences) / sizeof(*sequences));
}

bool ep_screen_begin(bool colors)
{
	FILE *in = stdin;

	/* A core may come by standard input. */
	if (!isatty(STDIN_FILENO)) {
		keys = fopen("/dev/tty", "re");
		in = keys;
	}
	/* Before ncurses, which leaves signals alone that somebody has. */
	if (in)
		ep_give_back_begin(fileno(in), STDOUT_FILENO);
	screen = in ? newterm(NULL, stdout, in) : NULL;
	if (!screen) {
		if (in)
			ep_give_back_end();
		return false;
	}
	set_term(screen);
	begun = true;
	atexit(ep_screen_end);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	choose_inks(colors);
	prepare_to_give_back();
	return true;
}

void ep_screen_end(void)
{
	if (begun) {
		endwin();
		ep_give_back_end();
	}
	if (screen)
		delscreen(screen);
	screen = NULL;
	begun = false;
	if (keys)
		fclose(keys);
	keys = NULL;
}

int ep_screen_rows(void)
{
	return LINES > 0 ? LINES : 1;
}

int ep_screen_columns(void)
{
	return COLS > 0 ? COLS : 1;
}

void ep_screen_clear(void)
{
	erase();
}

void ep_screen_show(void)
{
	refresh();
}

void ep_screen_redraw(void)
{
	clearok(curscr, TRUE);
}

/* ---- keys ---- */

void ep_screen_mouse(bool on)
{
	mouse = on;
	mouseinterval(0);
	mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
	prepare_to_give_back();
}

bool ep_screen_has_mouse(void)
{
	return mouse;
}

int ep_screen_clicked(void)
{
	return clicked;
}

/* Twice on a line is a double click. */
static int mouse_key(void)
{
	static int64_t before;
	static int line;
	int64_t now = ep_progress_now();
	bool twice;
	MEVENT event;

	if (getmouse(&event) != OK)
		return EP_KEY_NONE;
	clicked = event.y;
	if (event.bstate & BUTTON4_PRESSED)
		return EP_KEY_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return EP_KEY_WHEEL_DOWN;
	twice = before && now - before < DOUBLE_MS && line == event.y;
	before = twice ? 0 : now;
	line = event.y;
	return twice ? EP_KEY_DOUBLE_CLICK : EP_KEY_CLICK;
}

static int translate(int key)
{
	static const struct {
		int theirs, ours;
	} table[] = {
		{ERR, EP_KEY_NONE},          {KEY_RESIZE, EP_KEY_RESIZE},
		{KEY_UP, EP_KEY_UP},         {KEY_DOWN, EP_KEY_DOWN},
		{KEY_LEFT, EP_KEY_LEFT},     {KEY_RIGHT, EP_KEY_RIGHT},
		{KEY_PPAGE, EP_KEY_PAGE_UP}, {KEY_NPAGE, EP_KEY_PAGE_DOWN},
		{KEY_HOME, EP_KEY_HOME},     {KEY_END, EP_KEY_END},
		{KEY_ENTER, EP_KEY_ENTER},   {'\r', EP_KEY_ENTER},
		{'\n', EP_KEY_ENTER},        {KEY_BACKSPACE, EP_KEY_BACKSPACE},
		{127, EP_KEY_BACKSPACE},     {'\b', EP_KEY_BACKSPACE},
		{27, EP_KEY_ESCAPE},         {'\t', EP_KEY_TAB},
		{KEY_BTAB, EP_KEY_BACKTAB},  {KEY_F(1), EP_KEY_F1},
		{KEY_F(3), EP_KEY_F3},       {KEY_F(10), EP_KEY_F10},
	};

	if (key == KEY_RESIZE)
		prepare_to_give_back();
	if (key == KEY_MOUSE)
		return mouse_key();
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].theirs == key)
			return table[i].ours;
	return key >= 0 && key < 256 ? key : EP_KEY_NONE;
}

/* getch answers the same for a terminal that went away, at once and for ever. */
static bool is_gone(void)
{
	struct pollfd one = {.fd = fileno(keys ? keys : stdin), .events = POLLIN};

	return poll(&one, 1, 0) > 0 && one.revents & (POLLHUP | POLLERR | POLLNVAL);
}

int ep_screen_key(int ms)
{
	int key;

	if (ahead.count) {
		key = ahead.keys[0];
		memmove(ahead.keys, ahead.keys + 1, --ahead.count * sizeof(*ahead.keys));
		return key;
	}
	timeout(ms);
	key = getch();
	return key == ERR && is_gone() ? EP_KEY_GONE : translate(key);
}

/* Behind / and : letters are words. */
static bool types_words(void)
{
	for (size_t i = ahead.count; i > 0; i--)
		if (ahead.keys[i - 1] == '/' || ahead.keys[i - 1] == ':')
			return true;
		else if (ahead.keys[i - 1] == EP_KEY_ENTER)
			return false;
	return false;
}

bool ep_screen_leaves(void)
{
	int key;

	timeout(0);
	while (!ep_give_back_interrupted() && (key = getch()) != ERR) {
		key = translate(key);
		if ((key == 'q' || key == 'Q' || key == EP_KEY_ESCAPE) && !types_words()) {
			ahead.count = 0;
			return true;
		}
		if (ahead.count < AHEAD)
			ahead.keys[ahead.count++] = key;
	}
	return ep_give_back_interrupted() || is_gone();
}

/* ---- characters ---- */

/* One that is fit to be drawn, and its cells. */
struct cell {
	char text[5];
	size_t taken; /* bytes of the text */
	int width;
};

/* `size` is more than 0. Characters of no width are left out: there is nothing to count them by.
 * What the user's locale cannot show is as wide as it would be. */
static struct cell cell_of(const char *text, size_t size)
{
	struct cell cell = {.width = 1};
	mbstate_t state = {0};

	cell.taken = ep_utf8_show(text, size, cell.text);
	if ((unsigned char)cell.text[0] < 0x80) {
		cell.width = (int)strlen(cell.text);
		return cell;
	}
	cell.width = (int)ep_fit_character(cell.text, strlen(cell.text));
	if (!cell.width)
		cell.text[0] = '\0';
	else if (mbrtowc(NULL, cell.text, strlen(cell.text), &state) > 4)
		strcpy(cell.text, cell.width > 1 ? "??" : strcmp(cell.text, "…") ? "?" : ".");
	return cell;
}

int ep_screen_width(const char *text)
{
	char *shown = ep_utf8_escape(text, strlen(text));
	int width = (int)ep_fit_columns(shown);

	free(shown);
	return width;
}

static attr_t attributes(const struct ep_row *line, enum ep_ink ink)
{
	attr_t attr = line->selected ? A_REVERSE : A_NORMAL;

	if (ink == EP_INK_BOLD || (ink == EP_INK_WARN && !colored))
		attr |= A_BOLD;
	if (ink == EP_INK_DIM && !line->selected)
		attr |= A_DIM;
	if (ink == EP_INK_BAR)
		attr |= A_REVERSE;
	if (colored && (ink == EP_INK_NAME || ink == EP_INK_WARN))
		attr |= (attr_t)COLOR_PAIR(ink);
	return attr;
}

/* False: the line is full. */
static bool put_cell(struct ep_row *line, const struct cell *cell)
{
	if (line->skip >= cell->width && cell->width) {
		line->skip -= cell->width;
		return true;
	}
	line->skip = 0;
	if (line->x + cell->width > line->end)
		return false;
	if (cell->width)
		mvaddstr(line->y, line->x, cell->text);
	line->x += cell->width;
	return true;
}

/* ---- lines ---- */

struct ep_row ep_row_at(int y, bool selected)
{
	return (struct ep_row){.y = y, .end = ep_screen_columns(), .selected = selected};
}

static void put(struct ep_row *line, const char *text, size_t size)
{
	while (size) {
		struct cell cell = cell_of(text, size);

		if (!put_cell(line, &cell)) {
			line->end = line->x;
			return;
		}
		text += cell.taken;
		size -= cell.taken;
	}
}

void ep_row_text(struct ep_row *line, enum ep_ink ink, const char *text)
{
	attrset(attributes(line, ink));
	put(line, text, strlen(text));
}

void ep_row_format(struct ep_row *line, enum ep_ink ink, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		ep_out_of_memory();
	va_end(list);
	ep_row_text(line, ink, text);
	free(text);
}

void ep_row_number(struct ep_row *line, enum ep_ink ink, int cells, const char *text)
{
	int width = ep_screen_width(text), blanks = cells > width ? cells - width : 0;

	if (line->x + blanks + width + 1 > line->end) {
		line->end = line->x;
		return;
	}
	attrset(attributes(line, EP_INK_PLAIN));
	for (int i = 0; i < blanks; i++)
		put(line, " ", 1);
	ep_row_text(line, ink, text);
	attrset(attributes(line, EP_INK_PLAIN));
	put(line, " ", 1);
}

void ep_row_name(struct ep_row *line, enum ep_ink ink, const char *text, int reserve)
{
	int room = line->end - line->x - reserve;
	char *shown = ep_utf8_escape(text, strlen(text)), *cut = NULL;

	if (room >= 3)
		cut = ep_fit_name(shown, (size_t)room);
	if (cut || (int)ep_fit_columns(shown) <= room)
		ep_row_text(line, ink, cut ? cut : shown);
	free(cut);
	free(shown);
}

void ep_screen_full_names(bool full)
{
	full_names = full;
}

bool ep_screen_has_full_names(void)
{
	return full_names;
}

void ep_row_function(struct ep_row *row, const char *name, int reserve)
{
	char *text = full_names ? ep_strdup(name) : ep_short_name(name);

	ep_row_name(row, EP_INK_NAME, text, reserve);
	free(text);
}

void ep_row_blank(struct ep_row *row)
{
	attrset(attributes(row, EP_INK_PLAIN));
	while (row->x < row->end)
		put(row, " ", 1);
}

void ep_row_finish(struct ep_row *line, enum ep_ink ink)
{
	line->end = ep_screen_columns();
	line->skip = 0;
	if (!line->selected && ink == EP_INK_PLAIN)
		return;
	attrset(attributes(line, ink));
	while (line->x < line->end)
		put(line, " ", 1);
}
