/* SPDX-License-Identifier: BSD-2-Clause */
/* check_file_check.c: programs of the system, held at their end, when all of their libraries are
 * loaded and relocated. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/files/elffile.h"
#include "coredump/live/live.h"
#include "decoder/names/file_check.h"
#include "decoder/names/modules.h"
#include "tests/unit/main.h"

/* They print their version and end; those that are not here are left out. */
static const char *const programs[] = {
	"arch",      "awk",    "base32",   "base64",   "basename", "bash",      "cat",
	"chmod",     "chown",  "cksum",    "comm",     "cp",       "csplit",    "cut",
	"date",      "dd",     "df",       "diff",     "dir",      "dircolors", "dirname",
	"du",        "env",    "expand",   "expr",     "factor",   "find",      "fmt",
	"fold",      "gawk",   "gcc",      "gdb",      "git",      "grep",      "groups",
	"gzip",      "head",   "hostid",   "id",       "install",  "join",      "ld.bfd",
	"ld.gold",   "link",   "ln",       "logname",  "ls",       "m4",        "make",
	"mawk",      "md5sum", "mkdir",    "mkfifo",   "mknod",    "mktemp",    "mv",
	"nice",      "nl",     "nm",       "nohup",    "nproc",    "numfmt",    "objcopy",
	"objdump",   "od",     "openssl",  "paste",    "patch",    "pathchk",   "perl",
	"pinky",     "pr",     "printenv", "ptx",      "python3",  "readelf",   "readlink",
	"realpath",  "rm",     "rmdir",    "runcon",   "sed",      "seq",       "sha1sum",
	"sha256sum", "shred",  "shuf",     "size",     "sleep",    "sort",      "split",
	"stat",      "stdbuf", "strings",  "strip",    "stty",     "sum",       "tac",
	"tail",      "tar",    "tee",      "timeout",  "touch",    "tr",        "truncate",
	"tsort",     "tty",    "uname",    "unexpand", "uniq",     "unlink",    "users",
	"vdir",      "wc",     "who",      "whoami",   "xargs",    "xz",        "zstd",
};

/* PROGRAM --version, at its end; 0: it is not here, or is a script's and begins another. */
static pid_t hold(const char *path)
{
	int status, null;
	pid_t pid;

	if (access(path, X_OK) != 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, "--version", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0); /* at exec */
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
	do {
		int signal =
			WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;

		if (WIFEXITED(status) || WIFSIGNALED(status))
			return 0;
		ptrace(PTRACE_CONT, pid, NULL, signal);
		waitpid(pid, &status, 0);
	} while (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXIT << 8));
	return pid;
}

static void let_go(pid_t pid)
{
	int status = 0;

	do
		ptrace(PTRACE_CONT, pid, NULL, 0);
	while (waitpid(pid, &status, 0) == pid && !WIFEXITED(status) && !WIFSIGNALED(status));
}

struct counts {
	unsigned programs, same, alike, other;
};

/* `swap`: each is held against the file of the module that follows it. */
static void check_modules(struct counts *counts, struct ep_source *source, bool swap)
{
	size_t count;
	struct ep_trace_module *modules = ep_modules_from_source(&count, source, NULL);

	for (size_t i = 0; i < count; i++) {
		const char *path = modules[swap ? (i + 1) % count : i].path, *what = "";
		int fd = path[0] == '/' && modules[i].path[0] == '/' ? ep_elf_file_open(path) : -1;
		Elf *elf;

		if (fd < 0 || (swap && strcmp(path, modules[i].path) == 0)) {
			close(fd);
			continue;
		}
		elf = elf_begin(fd, ELF_C_READ, NULL);
		switch (ep_file_check(elf, &modules[i], source, UINT64_C(64) << 20, &what)) {
		case EP_FILE_SAME:
			counts->same++;
			break;
		case EP_FILE_OTHER:
			counts->other++;
			if (!swap)
				fprintf(stderr, "%s: %s\n", path, what);
			break;
		default:
			counts->alike++;
			break;
		}
		elf_end(elf);
		close(fd);
	}
	free(modules);
}

static void check_programs(struct counts *counts, bool swap)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct ep_source *source;
		char path[64];
		pid_t pid;

		snprintf(path, sizeof(path), "/usr/bin/%s", programs[i]);
		pid = hold(path);
		if (!pid)
			continue;
		if (ep_source_open_live(&source, pid, NULL) == EP_OK) {
			counts->programs++;
			check_modules(counts, source, swap);
			ep_source_close(source);
		}
		let_go(pid);
	}
}

START_TEST(files_of_the_system_are_the_ones_that_run)
{
	struct counts counts = {0};

	check_programs(&counts, false);
	ck_assert_uint_ge(counts.programs, 60);
	ck_assert_uint_eq(counts.other, 0);
	/* Of each all that is read-only is there to be compared. */
	ck_assert_uint_eq(counts.alike, 0);
	ck_assert_uint_ge(counts.same, 2 * counts.programs);
}
END_TEST

START_TEST(files_of_other_modules_are_others)
{
	struct counts counts = {0};

	check_programs(&counts, true);
	ck_assert_uint_ge(counts.other, counts.programs);
	ck_assert_uint_eq(counts.same + counts.alike, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file_check");
	TCase *real = tcase_create("programs of the system");

	elf_version(EV_CURRENT);
	tcase_set_timeout(real, 300);
	tcase_add_test(real, files_of_the_system_are_the_ones_that_run);
	tcase_add_test(real, files_of_other_modules_are_others);
	suite_add_tcase(suite, real);
	return ep_test_main(suite);
}
