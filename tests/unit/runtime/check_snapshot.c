/* SPDX-License-Identifier: BSD-2-Clause */
/* check_snapshot.c: the core that a process writes of itself, read with nothing but <elf.h>; and
 * what becomes of it when it cannot be written. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/settings/pattern.h"
#include "runtime/snapshot/snapshot_ranges.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/start.h"

static char directory[] = "/tmp/check_snapshot.XXXXXX";

static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert(ep_start());
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	(void)!system(command);
}

/* Names in the directory, hidden ones included. */
static int files(void)
{
	DIR *here = opendir(".");
	int count = 0;

	while (readdir(here))
		count++;
	closedir(here);
	return count - 2;
}

/* ---- a reader ---- */

static uint8_t *core;
static size_t core_size;

static void load(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	core_size = (size_t)status.st_size;
	core = mmap(NULL, core_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(core, MAP_FAILED);
	close(fd);
}

static const Elf64_Ehdr *header(void)
{
	return (const Elf64_Ehdr *)core;
}

static const Elf64_Phdr *segment(int index)
{
	return (const Elf64_Phdr *)(core + header()->e_phoff) + index;
}

/* Bytes of the process at an address, or NULL. */
static const uint8_t *saved(uint64_t address, uint64_t size)
{
	for (int i = 0; i < header()->e_phnum; i++) {
		const Elf64_Phdr *one = segment(i);

		if (one->p_type == PT_LOAD && address >= one->p_vaddr &&
		    address + size <= one->p_vaddr + one->p_filesz)
			return core + one->p_offset + (address - one->p_vaddr);
	}
	return NULL;
}

/* A copy of a note's descriptor, or NULL. */
static const uint8_t *note(const char *name, uint32_t type, uint32_t *size)
{
	static uint8_t copies[65536] __attribute__((aligned(16)));
	static uint64_t used;
	const Elf64_Phdr *notes = segment(0);
	uint64_t at = notes->p_offset;

	ck_assert_uint_eq(notes->p_type, PT_NOTE);
	while (at < notes->p_offset + notes->p_filesz) {
		const Elf64_Nhdr *one = (const Elf64_Nhdr *)(core + at);
		uint64_t desc = at + sizeof *one + ((one->n_namesz + 3u) & ~3u);

		if (one->n_type == type && !strcmp((char *)(core + at + sizeof *one), name)) {
			/* Notes are aligned to 4 only. */
			*size = one->n_descsz;
			at = used;
			used = (used + *size + 15) & ~UINT64_C(15);
			ck_assert_uint_le(used, sizeof copies);
			return memcpy(copies + at, core + desc, *size);
		}
		at = desc + ((one->n_descsz + 3u) & ~3u);
	}
	return NULL;
}

static const struct ep_snapshot_note *our_note(void)
{
	uint32_t size = 0;
	const void *found = note("EPITAPH", EP_NOTE_SNAPSHOT, &size);

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(size,
			  sizeof(struct ep_snapshot_note) + sizeof(struct ep_snapshot_thread));
	return found;
}

/* ---- what is in it ---- */

START_TEST(segments_ascend_apart_and_are_all_there)
{
	uint64_t end = 0;

	ck_assert_int_eq(epitaph_snapshot_write("s.core"), 0);
	load("s.core");
	ck_assert_mem_eq(core, ELFMAG, SELFMAG);
	ck_assert_uint_eq(header()->e_type, ET_CORE);
	ck_assert_uint_eq(header()->e_machine, EM_X86_64);
	ck_assert_int_gt(header()->e_phnum, 5);
	for (int i = 1; i < header()->e_phnum; i++) {
		const Elf64_Phdr *one = segment(i);

		ck_assert_uint_eq(one->p_type, PT_LOAD);
		ck_assert_uint_ge(one->p_vaddr, end);
		ck_assert_uint_eq(one->p_filesz, one->p_memsz);
		ck_assert_uint_gt(one->p_filesz, 0);
		ck_assert_uint_eq(one->p_offset % 4096, 0);
		ck_assert_uint_le(one->p_offset + one->p_filesz, core_size);
		end = one->p_vaddr + one->p_memsz;
	}
}
END_TEST

START_TEST(arena_root_and_headers_are_in_it)
{
	const struct ep_snapshot_note *told;
	const struct ep_arena *arena;
	const struct ep_root *root;

	ck_assert_int_eq(epitaph_snapshot_write("s.core"), 0);
	load("s.core");
	told = our_note();
	ck_assert_uint_eq(told->major, EP_FORMAT_MAJOR);
	ck_assert_uint_eq(told->size, sizeof *told);
	ck_assert_uint_eq(told->found, EP_FOUND_SELF);
	ck_assert_uint_eq(told->arena_address, (uint64_t)ep_arena);
	/* Of the arena what is in use. */
	ck_assert_uint_lt(told->arena_size, ep_arena->committed / 4);
	ck_assert_uint_eq(told->arena_saved, told->arena_size);
	ck_assert_uint_eq(told->pages_saved, told->pages_wanted);
	ck_assert_uint_gt(told->pages_saved, 4);
	ck_assert_uint_gt(told->taken_tsc, 0);
	ck_assert_ptr_nonnull(saved(told->arena_address, told->arena_size));
	arena = (const void *)saved(told->arena_address, sizeof *arena);
	ck_assert_uint_eq(arena->committed, told->arena_size);
	root = &arena->root;
	ck_assert_mem_eq(root->magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root = (const void *)saved((uint64_t)&epitaph_root, sizeof *root);
	ck_assert_mem_eq(root, &epitaph_root, sizeof *root);
	ck_assert_uint_eq(ep_arena->snapshots_written, 1);
}
END_TEST

/* Where a debugger's unwinding begins: in the frame that wrote it, with the stack as it was. */
__attribute__((noinline)) static int write_below(const char *path, uint64_t *mark)
{
	*mark = UINT64_C(0x5eed5eed5eed5eed);
	return epitaph_snapshot_write(path);
}

START_TEST(registers_and_stack_are_the_callers)
{
	volatile uint64_t mark;
	const struct elf_prstatus *status;
	const struct user_regs_struct *registers;
	const struct ep_snapshot_thread *thread;
	const uint64_t *found;
	uint32_t size;

	ck_assert_int_eq(write_below("s.core", (uint64_t *)&mark), 0);
	load("s.core");
	status = (const void *)note("CORE", NT_PRSTATUS, &size);
	ck_assert_ptr_nonnull(status);
	ck_assert_uint_eq(size, sizeof *status);
	ck_assert_int_eq(status->pr_pid, gettid());
	ck_assert_int_eq(status->pr_cursig, 0);
	registers = (const void *)&status->pr_reg;
	ck_assert_uint_lt(registers->rsp, (uint64_t)&mark);
	ck_assert_uint_gt(registers->rsp, (uint64_t)&mark - 16384);
	ck_assert_uint_ge(registers->rip, (uint64_t)ep_snapshot_write);
	ck_assert_uint_lt(registers->rip, (uint64_t)ep_snapshot_write + 8192);
	found = (const void *)saved((uint64_t)&mark, 8);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(*found, UINT64_C(0x5eed5eed5eed5eed));
	thread = (const void *)(our_note() + 1);
	ck_assert_uint_eq(thread->stack_pointer, registers->rsp);
	ck_assert_uint_gt(thread->stack_wanted, 0);
	ck_assert_uint_eq(thread->stack_saved, thread->stack_wanted);
}
END_TEST

START_TEST(auxv_process_and_files_are_the_kernels)
{
	const struct elf_prpsinfo *info;
	const uint64_t *list;
	const char *name;
	uint8_t auxv[4096];
	uint32_t size;
	int fd = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, auxv, sizeof auxv);

	ck_assert_int_eq(epitaph_snapshot_write("s.core"), 0);
	load("s.core");
	ck_assert_mem_eq(note("CORE", NT_AUXV, &size), auxv, got);
	ck_assert_int_eq(size, got);
	info = (const void *)note("CORE", NT_PRPSINFO, &size);
	ck_assert_int_eq(info->pr_pid, getpid());
	ck_assert_str_eq(info->pr_fname, "check_snapshot");
	list = (const void *)note("CORE", NT_FILE, &size);
	ck_assert_uint_gt(list[0], 4);
	ck_assert_uint_eq(list[1], 4096);
	name = (const char *)(list + 2 + 3 * list[0]);
	for (uint64_t i = 0; i < list[0]; i++) {
		ck_assert_uint_lt(list[2 + 3 * i], list[3 + 3 * i]);
		ck_assert_int_eq(name[0], '/');
		name += strlen(name) + 1;
	}
	ck_assert_uint_eq((uint64_t)(name - (const char *)list), size);
}
END_TEST

/* ---- from a signal handler ---- */

static volatile int handler_result;
static volatile uint64_t handler_rip, handler_rbx;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	handler_rip = (uint64_t)registers[REG_RIP];
	handler_rbx = (uint64_t)registers[REG_RBX];
	errno = 4711;
	handler_result = ep_snapshot_write("s.core", context);
	ck_assert_int_eq(errno, 4711);
}

START_TEST(a_handler_on_a_small_stack_can_write_one)
{
	const struct user_regs_struct *registers;
	const struct elf_prstatus *status;
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
	/* What MINSIGSTKSZ should be with AVX-512's frames, and 4 KiB. */
	stack_t stack = {.ss_size = 8192};
	uint32_t size;

	stack.ss_sp = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	action.sa_sigaction = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	ck_assert_int_eq(handler_result, 0);
	load("s.core");
	status = (const void *)note("CORE", NT_PRSTATUS, &size);
	registers = (const void *)&status->pr_reg;
	ck_assert_uint_eq(registers->rip, handler_rip);
	ck_assert_uint_eq(registers->rbx, handler_rbx);
	ck_assert_ptr_nonnull(note("CORE", NT_FPREGSET, &size));
	/* The stack of the interrupted, not of the handler. */
	ck_assert_ptr_nonnull(saved(registers->rsp, 256));
}
END_TEST

/* ---- when it cannot be written ---- */

START_TEST(a_missing_directory_is_an_error_that_leaves_nothing)
{
	errno = 0;
	ck_assert_int_eq(epitaph_snapshot_write("no/such/s.core"), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(files(), 0);
	ck_assert_int_eq(epitaph_snapshot_write(""), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(ep_arena->snapshots_written, 0);
}
END_TEST

START_TEST(a_file_size_limit_is_an_error_and_no_death)
{
	struct rlimit limit = {100000, 100000};

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(epitaph_snapshot_write("s.core"), -1);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_int_eq(files(), 0);
}
END_TEST

START_TEST(a_pending_limit_signal_of_the_programs_own_stays)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	ck_assert_int_eq(epitaph_snapshot_write("s.core"), 0);
	sigpending(&set);
	ck_assert_int_eq(sigismember(&set, SIGXFSZ), 1);
	sigprocmask(SIG_BLOCK, NULL, &set);
	ck_assert_int_eq(sigismember(&set, SIGXFSZ), 1);
}
END_TEST

START_TEST(a_name_of_full_length_works)
{
	char name[256];

	memset(name, 'n', 255);
	name[255] = '\0';
	ck_assert_int_eq(epitaph_snapshot_write(name), 0);
	ck_assert_int_eq(files(), 1);
}
END_TEST

START_TEST(a_path_too_long_is_refused)
{
	char name[5000];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ck_assert_int_eq(epitaph_snapshot_write(name), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
	ck_assert_int_eq(files(), 0);
}
END_TEST

START_TEST(an_older_file_is_replaced_whole)
{
	struct stat status;

	ck_assert_int_eq(system("echo old >s.core; chmod 644 s.core"), 0);
	ck_assert_int_eq(epitaph_snapshot_write("s.core"), 0);
	load("s.core");
	ck_assert_mem_eq(core, ELFMAG, SELFMAG);
	ck_assert_int_eq(stat("s.core", &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(files(), 1);
}
END_TEST

/* A process without stdin, stdout and stderr: what goes to 2 must not end up in the file. */
START_TEST(closed_standard_descriptors_stay_closed)
{
	close(0);
	close(1);
	close(2);
	int result = epitaph_snapshot_write("s.core");
	int back = open("/dev/null", O_RDWR);

	ck_assert_int_eq(back, 0);
	ck_assert_int_eq(result, 0);
}
END_TEST

static void *write_many(void *count)
{
	for (int i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof name, "t%ld.%d", (long)gettid(), i);
		if (!epitaph_snapshot_write(name))
			__atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
		else if (errno != EBUSY)
			__atomic_fetch_add((int *)count, 1000, 0);
	}
	return NULL;
}

START_TEST(threads_take_turns_or_hear_that_it_is_busy)
{
	pthread_t threads[4];
	int written = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, write_many, &written);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_ge(written, 1);
	ck_assert_int_lt(written, 1000);
	ck_assert_int_eq(files(), written);
}
END_TEST

/* ---- names ---- */

static const char *expanded(const char *pattern)
{
	static char bytes[256];
	struct ep_text text;

	ep_text_init(&text, bytes, sizeof bytes);
	ep_path_pattern_expand(pattern, 7, &text);
	ck_assert(!text.cut);
	return bytes;
}

START_TEST(patterns_are_expanded)
{
	char host[65] = "", pid[32], text[256];

	gethostname(host, sizeof host - 1);
	snprintf(pid, sizeof pid, "%d", getpid());
	ck_assert_str_eq(expanded("plain"), "plain");
	ck_assert_str_eq(expanded("%p"), pid);
	ck_assert_str_eq(expanded("a%%p"), "a%p");
	ck_assert_str_eq(expanded("%n%n"), "77");
	ck_assert_str_eq(expanded("%e"), "check_snapshot");
	snprintf(text, sizeof text, "/x/%s.core", host);
	ck_assert_str_eq(expanded("/x/%h.core"), text);
	ck_assert_int_le(labs(atol(expanded("%t")) - time(NULL)), 1);
}
END_TEST

START_TEST(numbers_make_names_new)
{
	ep_settings.output = "s.%n";
	ck_assert_int_eq(system("touch s.2"), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(epitaph_snapshot_write(NULL), 0);
	ck_assert_int_eq(files(), 4);
	ck_assert_int_eq(access("s.1", F_OK), 0);
	ck_assert_int_eq(access("s.4", F_OK), 0);
	load("s.3");
	ck_assert_mem_eq(core, ELFMAG, SELFMAG);
}
END_TEST

START_TEST(a_pattern_without_number_is_one_name)
{
	ep_settings.output = "same";
	ck_assert_int_eq(epitaph_snapshot_write(NULL), 0);
	ck_assert_int_eq(epitaph_snapshot_write(NULL), 0);
	ck_assert_int_eq(files(), 1);
}
END_TEST

START_TEST(a_device_or_a_pipe_is_never_replaced)
{
	static const char *const paths[] = {"pipe", "link"};
	struct stat status;

	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	ck_assert_int_eq(symlink("/dev/null", "link"), 0);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		ck_assert_int_eq(epitaph_snapshot_write(paths[i]), -1);
		ck_assert_int_eq(errno, EINVAL);
		ep_settings.output = paths[i];
		ck_assert_int_eq(epitaph_snapshot_write(NULL), -1);
	}
	ck_assert_int_eq(lstat("pipe", &status), 0);
	ck_assert(S_ISFIFO(status.st_mode));
	ck_assert_int_eq(lstat("link", &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	ck_assert_int_eq(files(), 2);
}
END_TEST

/* ---- ranges ---- */

START_TEST(ranges_are_joined_but_not_across_headers)
{
	static struct ep_snapshot_ranges ranges;

	ep_snapshot_ranges_add(&ranges, 0x9000, 0x9001, EP_RANGE_PAGE);
	ep_snapshot_ranges_add(&ranges, 0x5010, 0x6020, EP_RANGE_PAGE);
	ep_snapshot_ranges_add(&ranges, 0x1000, 0x3000, EP_RANGE_ARENA);
	ep_snapshot_ranges_add(&ranges, 0x3000, 0x4000, EP_RANGE_PAGE);
	ep_snapshot_ranges_add(&ranges, 0x4000, 0x5000, EP_RANGE_PAGE | EP_RANGE_HEAD);
	ep_snapshot_ranges_add(&ranges, 0x5fff, 0x6000, EP_RANGE_PAGE);
	ep_snapshot_ranges_add(&ranges, 0x8000, 0xa000, EP_RANGE_STACK);
	ep_snapshot_ranges_settle(&ranges);
	ck_assert_uint_eq(ranges.count, 4);
	ck_assert_uint_eq(ranges.list[0].end, 0x3000);
	ck_assert_uint_eq(ranges.list[1].start, 0x3000);
	ck_assert_uint_eq(ranges.list[1].end, 0x4000);
	ck_assert_uint_eq(ranges.list[2].start, 0x4000);
	ck_assert_uint_eq(ranges.list[2].end, 0x7000);
	ck_assert_uint_eq(ranges.list[3].start, 0x8000);
	ck_assert_uint_eq(ranges.list[3].end, 0xa000);
	ck_assert_uint_eq(ranges.list[3].kind, EP_RANGE_STACK | EP_RANGE_PAGE);
}
END_TEST

START_TEST(a_header_inside_a_range_splits_it)
{
	static struct ep_snapshot_ranges ranges;

	ep_snapshot_ranges_add(&ranges, 0x1000, 0x9000, EP_RANGE_STACK);
	ep_snapshot_ranges_add(&ranges, 0x4000, 0x5000, EP_RANGE_PAGE | EP_RANGE_HEAD);
	ep_snapshot_ranges_settle(&ranges);
	ck_assert_uint_eq(ranges.count, 2);
	ck_assert_uint_eq(ranges.list[0].end, 0x4000);
	ck_assert_uint_eq(ranges.list[1].end, 0x9000);
}
END_TEST

START_TEST(too_many_ranges_are_counted)
{
	static struct ep_snapshot_ranges ranges;

	for (uint64_t i = 0; i < EP_RANGES + 5; i++)
		ep_snapshot_ranges_add(&ranges, i * 0x2000, i * 0x2000 + 1, EP_RANGE_PAGE);
	ck_assert_uint_eq(ranges.count, EP_RANGES);
	ck_assert_uint_eq(ranges.left_out, 5);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("snapshot");
	TCase *one = tcase_create("snapshot");

	tcase_set_timeout(one, 60);
	tcase_add_checked_fixture(one, enter, leave);
	tcase_add_test(one, segments_ascend_apart_and_are_all_there);
	tcase_add_test(one, arena_root_and_headers_are_in_it);
	tcase_add_test(one, registers_and_stack_are_the_callers);
	tcase_add_test(one, auxv_process_and_files_are_the_kernels);
	tcase_add_test(one, a_handler_on_a_small_stack_can_write_one);
	tcase_add_test(one, a_missing_directory_is_an_error_that_leaves_nothing);
	tcase_add_test(one, a_file_size_limit_is_an_error_and_no_death);
	tcase_add_test(one, a_pending_limit_signal_of_the_programs_own_stays);
	tcase_add_test(one, a_name_of_full_length_works);
	tcase_add_test(one, a_path_too_long_is_refused);
	tcase_add_test(one, an_older_file_is_replaced_whole);
	tcase_add_test(one, closed_standard_descriptors_stay_closed);
	tcase_add_test(one, threads_take_turns_or_hear_that_it_is_busy);
	tcase_add_test(one, patterns_are_expanded);
	tcase_add_test(one, numbers_make_names_new);
	tcase_add_test(one, a_pattern_without_number_is_one_name);
	tcase_add_test(one, a_device_or_a_pipe_is_never_replaced);
	tcase_add_test(one, ranges_are_joined_but_not_across_headers);
	tcase_add_test(one, a_header_inside_a_range_splits_it);
	tcase_add_test(one, too_many_ranges_are_counted);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
