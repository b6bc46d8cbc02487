/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_perf.c: context switches from perf_event_open(2), which an ordinary user may have of the
 * own processes where kernel.perf_event_paranoid is at most 2. One buffer per CPU; each thread's
 * event is inherited by the threads that it makes.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/kernel/sched_section.h"
#include "runtime/kernel/sched_sources.h"
#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"

#define PAGE  UINT64_C(4096)
#define CHUNK UINT64_C(4096) /* most bytes of records in one */
#define SMALL                                                                              \
	UINT64_C(262144) /* all buffers that were not asked for, if so many CPUs have room \
			  */

static struct {
	struct perf_event_mmap_page *page; /* NULL: CPU is not there */
	long fd;
} cpus[EP_SCHED_CPUS];
static unsigned cpu_end; /* one past the highest that is there */
static uint64_t data_size;
static int failure;
static bool threads_only = true; /* the kernel knows how: Linux 5.13 */

/* Which descriptors are open events: all of them end with the source, not only a CPU's first. */
#define FDS 65536
static uint64_t events[FDS / 64];
static unsigned events_end; /* one past the highest word that was written */

static struct perf_event_attr attributes(void)
{
	struct perf_event_attr attr;

	ep_bytes_zero(&attr, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER5;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.inherit = !ep_settings.sched_machine;
#ifdef PERF_ATTR_SIZE_VER7
	/* Forked children's events would push ours out. */
	attr.inherit_thread = attr.inherit && threads_only;
#endif
	attr.context_switch = attr.task = attr.comm = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	return attr;
}

/* A negative errno, or a descriptor. */
static long open_event(long tid, unsigned cpu)
{
	struct perf_event_attr attr = attributes();
	long fd = ep_syscall5(SYS_perf_event_open, (long)&attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd != -EINVAL || !threads_only)
		return fd;
	threads_only = false;
	return open_event(tid, cpu);
}

/* The kernel's bound on locked memory may want less. */
static long map_buffer(long fd)
{
	long got = -ENOMEM;

	for (; data_size >= PAGE; data_size /= 2) {
		got = ep_syscall6(SYS_mmap, 0, (long)(PAGE + data_size), PROT_READ | PROT_WRITE,
				  MAP_SHARED, fd, 0);
		if (got != -EPERM && got != -ENOMEM)
			return got;
	}
	return got;
}

/* The thread's event on each CPU; the first thread's has the buffer. */
static void add_thread(uint32_t tid)
{
	for (unsigned cpu = 0; cpu < cpu_end; cpu++) {
		long fd = open_event((int32_t)tid, cpu), got;

		if (fd == -ENODEV || fd == -ESRCH)
			continue;
		if (!ep_syscall_failed(fd) && fd >= FDS) {
			ep_fd_close(fd);
			fd = -EMFILE;
		}
		if (ep_syscall_failed(fd)) {
			failure = (int)-fd;
			return;
		}
		events[fd / 64] |= UINT64_C(1) << fd % 64;
		if (events_end <= fd / 64)
			events_end = (unsigned)fd / 64 + 1;
		if (cpus[cpu].page) {
			ep_syscall3(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, cpus[cpu].fd);
			continue;
		}
		got = map_buffer(fd);
		if (ep_syscall_failed(got)) {
			failure = (int)-got;
			return;
		}
		cpus[cpu].page = (struct perf_event_mmap_page *)got;
		cpus[cpu].fd = fd;
		ep_sched->kernel_bytes += PAGE + data_size;
		ep_sched->cpus++;
	}
}

/* "0-3,8" ends at 9. */
static unsigned highest_cpu(void)
{
	char list[1024];
	long got = ep_fd_load("/sys/devices/system/cpu/online", list, sizeof(list));
	const char *at = list, *end = list + (got > 0 ? got : 0);
	uint64_t last = 0;

	while (ep_text_number(&at, end, 10, &last) && at < end && (*at == '-' || *at == ','))
		at++;
	return last < EP_SCHED_CPUS ? (unsigned)last + 1 : EP_SCHED_CPUS;
}

int ep_perf_open(uint64_t bytes)
{
	/* The kernel fills pages with zeroes as it makes a buffer, 3 ms for 4 MiB; a small one
	 * holds 250 to 2,000 switches of a CPU, and is looked at the sooner the fuller it is. */
	if (!ep_settings.sched_asked && bytes > SMALL)
		bytes = SMALL;
	failure = 0;
	cpu_end = highest_cpu();
	ep_sched->cpus = 0;
	ep_sched->kernel_bytes = 0;
	data_size = PAGE;
	while ((PAGE + data_size * 2) * cpu_end <= bytes)
		data_size *= 2;
	if ((PAGE + data_size) * cpu_end > ep_settings.sched_memory / 2)
		return ENOSPC;
	if (ep_settings.sched_machine)
		add_thread((uint32_t)-1);
	else
		ep_sched_each_thread(add_thread);
	if (!failure && !ep_sched->cpus)
		failure = ENOENT;
	if (failure)
		ep_perf_close();
	return failure;
}

/* ---- reading ---- */

static uint64_t size_of(const struct perf_event_mmap_page *page)
{
	return page->data_size;
}

static void copy_out(const struct perf_event_mmap_page *page, void *to, uint64_t from,
		     uint64_t size)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t at = from & (size_of(page) - 1);
	uint64_t first = size_of(page) - at;

	if (first > size)
		first = size;
	ep_bytes_copy(to, data + at, first);
	ep_bytes_copy((char *)to + first, data, size - first);
}

/* Whole records from `tail` on that a chunk takes. */
static uint64_t whole_records(const struct perf_event_mmap_page *page, uint64_t tail, uint64_t head)
{
	uint64_t at = tail;

	while (at < head) {
		struct perf_event_header header;

		copy_out(page, &header, at, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at ||
		    at + header.size - tail > CHUNK)
			break;
		at += header.size;
	}
	return at - tail;
}

static unsigned drain_cpu(unsigned cpu)
{
	struct perf_event_mmap_page *page = cpus[cpu].page;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, begun = tail, size;

	while ((size = whole_records(page, tail, head)) > 0) {
		void *room = ep_sched_reserve(size);

		if (!room)
			break;
		copy_out(page, room, tail, size);
		ep_sched_commit(size, cpu, EP_SCHED_PERF);
		tail += size;
	}
	/* What makes no sense is skipped, or it would stay for ever. */
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return (unsigned)((head - begun) * 256 / size_of(page));
}

unsigned ep_perf_drain(void)
{
	unsigned most = 0;

	for (unsigned cpu = 0; cpu < cpu_end; cpu++) {
		unsigned full = cpus[cpu].page ? drain_cpu(cpu) : 0;

		if (full > most)
			most = full;
	}
	return most;
}

/* The kernel doesn't copy such mappings: something else may be there now. */
void ep_perf_forget(void)
{
	for (unsigned cpu = 0; cpu < cpu_end; cpu++)
		if (cpus[cpu].page)
			cpus[cpu].page = NULL;
	cpu_end = 0;
	ep_bytes_zero(events, sizeof(*events) * events_end);
	events_end = 0;
}

void ep_perf_close(void)
{
	for (unsigned cpu = 0; cpu < cpu_end; cpu++) {
		if (!cpus[cpu].page)
			continue;
		ep_syscall2(SYS_munmap, (long)cpus[cpu].page,
			    (long)(PAGE + size_of(cpus[cpu].page)));
		cpus[cpu].page = NULL;
	}
	for (long word = 0; word < (long)events_end; word++)
		for (; events[word]; events[word] &= events[word] - 1)
			ep_fd_close(word * 64 + __builtin_ctzl(events[word]));
}
