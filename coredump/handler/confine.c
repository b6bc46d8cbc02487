/* SPDX-License-Identifier: BSD-2-Clause */
/* confine.c: the filter is a list of numbers: a library that makes such filters would be linked
 * into what is to be small. */
#include "coredump/handler/confine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <signal.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- descriptors ---- */

static int by_number(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

void ep_confine_descriptors(int *keep, size_t count)
{
	unsigned from = 0;
	int null;

	qsort(keep, count, sizeof(*keep), by_number);
	for (size_t i = 0; i < count; i++) {
		if (keep[i] < 0)
			continue;
		if ((unsigned)keep[i] > from)
			syscall(SYS_close_range, from, keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
	null = open("/dev/null", O_RDWR);
	while (null >= 0 && null < 2)
		null = dup(null);
	if (null > 2)
		close(null);
}

/* ---- rights ---- */

/* The hard limit of processor time kills by SIGKILL, which would not say why. */
static bool limit(int which, uint64_t most)
{
	struct rlimit now = {most, which == RLIMIT_CPU ? most + 1 : most};

	return setrlimit(which, &now) == 0;
}

/* A core of its own would go to the handler that it is a part of: 1 is what the kernel gives a
 * handler, to refuse it (core(5)). */
static bool limits_set(const struct ep_confinement *confinement)
{
	return limit(RLIMIT_AS, confinement->memory) && limit(RLIMIT_FSIZE, confinement->file) &&
	       limit(RLIMIT_CPU, confinement->seconds) && limit(RLIMIT_NPROC, 0) &&
	       limit(RLIMIT_MEMLOCK, 0) && limit(RLIMIT_CORE, 0);
}

/* The bounding set too, where it may: nothing is executed any more. */
static bool capabilities_drop(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) == 0;
}

static bool ids_drop(const struct ep_confinement *confinement)
{
	uid_t uid = confinement->uid ? confinement->uid : EP_NOBODY;
	gid_t gid = confinement->gid ? confinement->gid : EP_NOBODY;

	return geteuid() != 0 || (setgroups(0, NULL) == 0 && setresgid(gid, gid, gid) == 0 &&
				  setresuid(uid, uid, uid) == 0);
}

/* ---- system calls ---- */

/* What glibc 2.36, libelf 0.188 and we call (qsort asks for the size of memory, and malloc for the
 * number of processors), what newer ones have for the same, and what tells no more than they
 * know. */
static const int allowed[] = {
	SYS_read,        SYS_pread64,       SYS_readv,
	SYS_preadv,      SYS_write,         SYS_pwrite64,
	SYS_writev,      SYS_lseek,         SYS_ftruncate,
	SYS_fstat,       SYS_fallocate,     SYS_close,
	SYS_brk,         SYS_munmap,        SYS_mremap,
	SYS_madvise,     SYS_futex,         SYS_poll,
	SYS_exit,        SYS_exit_group,    SYS_rt_sigreturn,
	SYS_getpid,      SYS_gettid,        SYS_rt_sigprocmask,
	SYS_getrandom,   SYS_clock_gettime, SYS_clock_getres,
	SYS_dup,         SYS_gettimeofday,  SYS_sysinfo,
	SYS_sched_yield, SYS_uname,         SYS_restart_syscall,
	SYS_getuid,      SYS_geteuid,       SYS_getgid,
	SYS_getegid,     SYS_getrusage,     SYS_sched_getaffinity,
};

/* Libraries look for files that need not be there. */
static const int refused[] = {
	SYS_open,    SYS_openat, SYS_access, SYS_faccessat,  SYS_faccessat2,
	SYS_stat,    SYS_lstat,  SYS_statx,  SYS_newfstatat, SYS_readlink,
	SYS_openat2, SYS_ioctl,  SYS_socket, SYS_readlinkat,
};

/*
 * glibc 2.33 to 2.38 make newfstatat(fd, "", …, AT_EMPTY_PATH) of fstat(3), and a filter does not
 * see that the name is empty: any could be asked for. So libelf and we have these.
 */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int fstat(int fd, struct stat *out)
{
	return (int)syscall(SYS_fstat, fd, out);
}

EXPORTED int fstat64(int fd, struct stat64 *out)
{
	return (int)syscall(SYS_fstat, fd, out);
}

/* Memory, but none that can be executed. */
static const int mapping[] = {SYS_mmap, SYS_mprotect};

/* Of fcntl: with F_SETOWN, F_SETSIG and O_ASYNC a pipe would send signals to other processes. */
static const int controls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST        160

struct filter {
	struct sock_filter code[MOST];
	unsigned short length;
};

static void put(struct filter *filter, struct sock_filter one)
{
	assert(filter->length < MOST);
	filter->code[filter->length++] = one;
}

static void load(struct filter *filter, size_t offset)
{
	put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct filter *filter, uint32_t action)
{
	put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* If what was loaded is that number: the answer. */
static void answer_if(struct filter *filter, uint32_t number, uint32_t action)
{
	put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
	answer(filter, action);
}

static void answer_all(struct filter *filter, const int *list, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++)
		answer_if(filter, (uint32_t)list[i], action);
}

/* The low half of argument `index`. */
static size_t argument(int index)
{
	return offsetof(struct seccomp_data, args) + 8 * (size_t)index;
}

/* mmap and mprotect without PROT_EXEC; what was loaded is gone. */
static void answer_mapping(struct filter *filter)
{
	for (size_t i = 0; i < COUNT(mapping); i++) {
		put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)mapping[i], 0, 4));
		load(filter, argument(2));
		put(filter,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
		answer(filter, SECCOMP_RET_KILL_PROCESS);
		answer(filter, SECCOMP_RET_ALLOW);
	}
}

/* What was loaded is gone where it is fcntl. */
static void answer_fcntl(struct filter *filter)
{
	put(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0,
						 2 * COUNT(controls) + 2));
	load(filter, argument(1));
	answer_all(filter, controls, COUNT(controls), SECCOMP_RET_ALLOW);
	answer(filter, SECCOMP_RET_KILL_PROCESS);
}

static bool filter_set(void)
{
	struct filter filter = {.length = 0};
	struct sock_fprog program = {.filter = filter.code};

	load(&filter, offsetof(struct seccomp_data, arch));
	put(&filter,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
	answer(&filter, SECCOMP_RET_KILL_PROCESS);
	load(&filter, offsetof(struct seccomp_data, nr));
	answer_all(&filter, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	answer_all(&filter, refused, COUNT(refused), SECCOMP_RET_ERRNO | EACCES);
	answer_mapping(&filter);
	answer_fcntl(&filter);
	answer(&filter, SECCOMP_RET_KILL_PROCESS);
	program.len = filter.length;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int ep_confine(const struct ep_confinement *confinement, struct ep_err *err)
{
	if (!limits_set(confinement) || !ids_drop(confinement) || !capabilities_drop() ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !filter_set())
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "no snapshot: its rights cannot be given up: %m");
	return EP_OK;
}
