/* SPDX-License-Identifier: BSD-2-Clause */
/* source_text.c: goes through the file up to the line: a file is as long as it likes, and no more
 * than three lines of it are kept. */
#include "decoder/names/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/regularfile.h"
#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/names/module_file.h"

#define LINE_MAX_BYTES 300u
#define FILE_MAX       ((off_t)64 << 20)
#define TAB            8u

static const char *const endings[] = {
	".c",   ".h",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".hh", ".hpp", ".hxx", ".h++",
	".ipp", ".inl", ".inc", ".tcc", ".tpp", ".def", ".s",   ".S",  ".asm", ".y",   ".l",
	".yy",  ".ll",  ".rs",  ".go",  ".d",   ".f",   ".f90", ".cu", ".m",   ".mm",  ".adb",
};

/* ---- which files ---- */

static bool is_hidden(const char *path)
{
	for (const char *at = path; (at = strchr(at, '/')); at++)
		if (at[1] == '.' && at[2] != '/' && !(at[2] == '.' && at[3] == '/'))
			return true;
	return false;
}

/* The C++ library's own headers have none. */
static bool is_source(const char *path)
{
	const char *dot = strrchr(ep_path_base(path), '.');

	if (!dot)
		return strncmp(path, "/usr/include/", 13) == 0 || strstr(path, "/include/c++/");
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(dot, endings[i]) == 0)
			return true;
	return false;
}

static void missing(struct ep_source_text *out, const char *path, const char *why)
{
	char *shown = ep_utf8_escape(path, strlen(path));

	snprintf(out->why, sizeof(out->why), "%.160s: %s", shown, why);
	free(shown);
}

static void close_missing(struct ep_source_text *out, const char *path, int fd, const char *why)
{
	missing(out, path, why);
	close(fd);
}

/* ---- lines ---- */

static char *without_tabs(const char *line, size_t size)
{
	char text[LINE_MAX_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < size && used < sizeof(text); i++) {
		if (line[i] != '\t') {
			text[used++] = line[i];
			continue;
		}
		do
			text[used++] = ' ';
		while (used % TAB && used < sizeof(text));
	}
	return ep_utf8_escape(text, used);
}

static void keep(struct ep_source_text *out, uint32_t number, const char *line, size_t size)
{
	while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	out->lines[out->count++] =
		(struct ep_source_line){.number = number, .text = without_tabs(line, size)};
}

/* A line that is longer than the buffer comes in parts: the first of them is kept. */
static void read_lines(struct ep_source_text *out, FILE *file, uint32_t wanted)
{
	char part[4 * LINE_MAX_BYTES];
	uint32_t number = 1;
	bool begins = true;

	while (number <= wanted + 1 && fgets(part, sizeof(part), file)) {
		size_t size = strlen(part);
		bool ends = size && part[size - 1] == '\n';

		if (begins && number + 1 >= wanted)
			keep(out, number, part, size);
		begins = ends;
		number += ends;
	}
}

static bool has_line(const struct ep_source_text *out, uint32_t wanted)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->lines[i].number == wanted)
			return true;
	return false;
}

/* A link whose name is a source's may lead to something else. */
static bool leads_to_source(int fd)
{
	char self[64], target[PATH_MAX];
	ssize_t size;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	size = readlink(self, target, sizeof(target) - 1);
	if (size <= 0)
		return false;
	target[size] = '\0';
	return is_source(target);
}

/* No text has a byte of zero. */
static bool is_text(int fd)
{
	char first[4096];
	ssize_t size = pread(fd, first, sizeof(first), 0);

	return size >= 0 && !memchr(first, 0, (size_t)size);
}

void ep_source_text_read(struct ep_source_text *out, const char *path, int fd, uint32_t line,
			 int64_t built)
{
	struct stat status;
	FILE *file;

	*out = (struct ep_source_text){0};
	if (fstat(fd, &status) != 0 || status.st_size > FILE_MAX) {
		close_missing(out, path, fd, "too large for a source file");
		return;
	}
	if (!is_text(fd)) {
		close_missing(out, path, fd, "it is no text");
		return;
	}
	file = fdopen(fd, "r");
	if (!file)
		ep_out_of_memory();
	out->newer = built && status.st_mtime > built;
	read_lines(out, file, line);
	fclose(file);
	if (has_line(out, line))
		return;
	ep_source_text_deinit(out);
	missing(out, path, "it has no such line: another version of it, likely");
}

/* What lies below a folder that the reader named may be anybody's, but no link leads out of it. */
static int open_below(const char *folder, const char *path)
{
	size_t length = folder ? strlen(folder) : 0;
	int top, fd, error;

	if (!length || strncmp(path, folder, length) != 0 || path[length] != '/')
		return -1;
	top = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = top < 0 ? -1
		     : ep_regular_file_open_below(top, path + length + strspn(path + length, "/"));
	error = errno;
	close(top);
	errno = error;
	return fd;
}

void ep_source_text_find(struct ep_source_text *out, const char *path, const char *folder,
			 uint32_t line, int64_t built)
{
	int fd;

	*out = (struct ep_source_text){0};
	if (!path || !line || line >= INT32_MAX)
		snprintf(out->why, sizeof(out->why), "no line is known");
	else if (path[0] != '/')
		missing(out, path, "the debug information does not say in which folder");
	else if (is_hidden(path))
		missing(out, path, "in a hidden folder, which the debug information must not open");
	else if (!is_source(path))
		missing(out, path, "its name is no source file's");
	else if ((fd = open_below(folder, path)) < 0 && (fd = ep_regular_file_open_owned(path)) < 0)
		missing(out, path,
			errno == EPERM
				? "not all of its path belongs to root or to you: --path-map "
				  "with its folder shows it"
				: strerror(errno));
	else if (!leads_to_source(fd))
		close_missing(out, path, fd, "it leads to a file whose name is no source file's");
	else
		ep_source_text_read(out, path, fd, line, built);
}

bool ep_source_text_is_name(const char *path)
{
	return path && path[0] == '/' && is_source(path);
}

void ep_source_text_copy(struct ep_source_text *out, const char *path, const char *copy,
			 uint32_t line)
{
	struct ep_source_text found = {0};
	int fd = line && line < INT32_MAX ? ep_regular_file_open(copy) : -1;

	if (fd < 0)
		return;
	ep_source_text_read(&found, path, fd, line, 0);
	if (!found.count)
		return;
	ep_source_text_deinit(out);
	*out = found;
}

void ep_source_text_deinit(struct ep_source_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		free(text->lines[i].text);
	*text = (struct ep_source_text){0};
}
