/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.c: writes single words of a running process's arena, each by one store that can overwrite
 * nothing else: bytes of their own, a counter that only we count, or a time that holds nobody for
 * long, whatever becomes of it. Whose memory it is, is checked before and after.
 */
#include "coredump/live/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coredump/find/root_check.h"
#include "coredump/live/live.h"
#include "coredump/memory/source_impl.h"

#define EVERY_MOST  64
#define CLOCK_EVERY 256 /* of ep_control_work */
#ifdef __SANITIZE_ADDRESS__
#define TIME_MOST UINT64_C(15000000000) /* ns; all is slower then */
#else
#define TIME_MOST UINT64_C(1200000000)
#endif

/* Byte `n` of the gate, and its bits there. */
#define GATE_BYTE(bit)  (__builtin_ctz(bit) / 8)
#define GATE_VALUE(bit) ((uint8_t)((bit) >> (8 * GATE_BYTE(bit))))
static_assert(GATE_BYTE(EP_GATE_CONTROL) == 1 && GATE_BYTE(EP_GATE_OFF) == 2 &&
		      GATE_BYTE(EP_GATE_FLIP) == 2 && EP_GATE_API + EP_GATE_STOPPED < 0x100,
	      "what is written here has bytes of its own");

/* `n` is what pread or pwrite gave: 0 where there is no memory any more. */
static int gone(const struct ep_control *control, uint64_t address, ssize_t n, struct ep_err *err)
{
	if (n)
		return ep_fail(err, EP_E_IO, address,
			       "pid %d: its memory at 0x%" PRIx64 " is not what it was%s%s",
			       (int)control->pid, address, n < 0 ? ": " : "",
			       n < 0 ? strerror(errno) : "");
	return ep_fail(err, EP_E_IO, 0,
		       "pid %d: the process has ended, or has started another program",
		       (int)control->pid);
}

/* ns */
static uint64_t processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int ep_control_limit(struct ep_control *control, struct ep_err *err)
{
	if (!control->until)
		control->until = processor_time() + TIME_MOST;
	if (control->work - control->clocked >= CLOCK_EVERY) {
		control->clocked = control->work;
		if (processor_time() > control->until)
			control->work = EP_CONTROL_WORK + 1;
	}
	if (control->work <= EP_CONTROL_WORK)
		return EP_OK;
	return ep_fail(err, EP_E_LIMIT, 0,
		       "pid %d: what it says of its hooks would take too long to go through; "
		       "epitaph control pause works, and a narrower pattern may",
		       (int)control->pid);
}

int ep_control_peek(struct ep_control *control, uint64_t address, void *out, size_t size,
		    struct ep_err *err)
{
	ssize_t n;

	ep_control_work(control, 1 + size / EP_PAGE);
	if (ep_control_limit(control, err))
		return EP_E_LIMIT;
	n = pread(control->memory, out, size, (off_t)address);
	return n == (ssize_t)size ? EP_OK : gone(control, address, n, err);
}

int ep_control_poke(struct ep_control *control, uint64_t address, const void *bytes, size_t size,
		    struct ep_err *err)
{
	ssize_t n = pwrite(control->memory, bytes, size, (off_t)address);

	if (n == (ssize_t)size)
		return EP_OK;
	/* Some kernels let it be read and not written (proc_mem.*). */
	if (n < 0 && (errno == EACCES || errno == EPERM))
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "pid %d: this kernel does not let the memory of another process be "
			       "written: %m",
			       (int)control->pid);
	return gone(control, address, n, err);
}

static int get(struct ep_control *control, uint64_t offset, void *out, size_t size,
	       struct ep_err *err)
{
	ssize_t n = pread(control->memory, out, size, (off_t)(control->arena_address + offset));

	return n == (ssize_t)size ? EP_OK : gone(control, 0, 0, err);
}

static int put(struct ep_control *control, uint64_t offset, const void *bytes, size_t size,
	       struct ep_err *err)
{
	return ep_control_poke(control, control->arena_address + offset, bytes, size, err);
}

static bool is_ours(const struct ep_control *control, const struct ep_root *root)
{
	return root->identity == control->identity &&
	       ep_root_check(root, EP_ARENA_MAGIC, control->arena_address, NULL) == EP_OK;
}

/* The memory that was opened lives on where somebody shares it, whatever its process does. */
int ep_control_check(struct ep_control *control, struct ep_err *err)
{
	struct ep_root root;
	int rc = get(control, 0, &root, sizeof(root), err), now;
	bool same;

	if (rc)
		return rc;
	if (!is_ours(control, &root))
		return gone(control, 0, 0, err);
	now = ep_source_live_memory(control->source);
	if (now < 0)
		return gone(control, 0, 0, err);
	same = pread(now, &root, sizeof(root), (off_t)control->arena_address) == sizeof(root) &&
	       is_ours(control, &root);
	close(now);
	return same ? EP_OK : gone(control, 0, 0, err);
}

static int not_opened(const struct ep_control *control, int error, struct ep_err *err)
{
	if (error == EACCES || error == EPERM)
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "pid %d: permission denied: its memory may be read, not written; "
			       "run as the user of the process with its capabilities, or as root",
			       (int)control->pid);
	return gone(control, 0, 0, err);
}

int ep_control_open(struct ep_control *out, struct ep_source *source,
		    const struct ep_root_found *found, struct ep_err *err)
{
	struct ep_control control = {
		.source = source,
		.memory = source->fd,
		.pid = ep_source_pid(source),
		.arena_address = found->arena_address,
		.identity = found->root.identity,
	};
	int rc;

	if (source->kind != EP_SOURCE_LIVE)
		return gone(&control, 0, 0, err);
	if (source->unwritable)
		return not_opened(&control, source->unwritable, err);
	rc = ep_control_check(&control, err);
	if (rc == EP_OK)
		*out = control;
	return rc;
}

void ep_control_close(struct ep_control *control)
{
	control->memory = -1;
}

int ep_control_read(struct ep_control *control, struct ep_arena *out, struct ep_err *err)
{
	int rc = ep_control_check(control, err);

	return rc ? rc : get(control, 0, out, sizeof(*out), err);
}

/* One byte, and the look afterwards whether it was the right process. */
static int put_byte(struct ep_control *control, uint64_t offset, uint8_t value, struct ep_err *err)
{
	int rc = put(control, offset, &value, 1, err);

	return rc ? rc : ep_control_check(control, err);
}

/* All bits of the byte that the lowest one lies in. */
static int put_gate(struct ep_control *control, uint32_t bits, bool shut, struct ep_err *err)
{
	return put_byte(control, offsetof(struct ep_arena, gate) + (uint64_t)GATE_BYTE(bits),
			shut ? GATE_VALUE(bits) : 0, err);
}

/* Two of us at once may count one pause: another number than before it is all that matters. */
static int count_pause(struct ep_control *control, const struct ep_arena *arena, struct ep_err *err)
{
	uint64_t pauses = arena->control_pauses + 1;

	return put(control, offsetof(struct ep_arena, control_pauses), &pauses, sizeof(pauses),
		   err);
}

/* One by one: the call that takes many at once, process_vm_writev(2), goes by the pid. */
int ep_control_poke_each(struct ep_control *control, const uint64_t *places, size_t count,
			 uint8_t byte, struct ep_err *err)
{
	int rc = EP_OK;

	for (size_t i = 0; rc == EP_OK && i < count; i++) {
		ep_control_work(control, 1);
		rc = ep_control_limit(control, err);
		if (rc == EP_OK)
			rc = ep_control_poke(control, places[i], &byte, 1, err);
	}
	return rc;
}

int ep_control_pause(struct ep_control *control, struct ep_err *err)
{
	struct ep_arena arena;
	int rc = ep_control_read(control, &arena, err);

	if (rc || arena.gate & EP_GATE_CONTROL)
		return rc;
	rc = count_pause(control, &arena, err);
	return rc ? rc : put_gate(control, EP_GATE_CONTROL, true, err);
}

int ep_control_off(struct ep_control *control, bool flip, struct ep_err *err)
{
	struct ep_arena arena;
	int rc = ep_control_read(control, &arena, err);

	if (rc || arena.gate & EP_GATE_OFF)
		return rc;
	rc = count_pause(control, &arena, err);
	return rc ? rc : put_gate(control, EP_GATE_OFF | (flip ? EP_GATE_FLIP : 0), true, err);
}

int ep_control_resume(struct ep_control *control, struct ep_err *err)
{
	struct ep_arena arena;
	int rc = ep_control_read(control, &arena, err);

	if (rc == EP_OK && arena.gate & EP_GATE_CONTROL)
		rc = put_gate(control, EP_GATE_CONTROL, false, err);
	if (rc == EP_OK && arena.gate & EP_GATE_OFF)
		rc = put_gate(control, EP_GATE_OFF, false, err);
	return rc;
}

int ep_control_timing(struct ep_control *control, unsigned every, struct ep_err *err)
{
	struct ep_arena arena;
	int rc = ep_control_read(control, &arena, err);

	if (rc)
		return rc;
	if (every > EVERY_MOST || (every & (every - 1)))
		return ep_fail(err, EP_E_USAGE, 0,
			       "timing takes auto, 1, 2, 4, 8, 16, 32 or 64, not %u", every);
	if (every != 1 && arena.min_duration)
		return ep_fail(err, EP_E_USAGE, 0,
			       "pid %d: EPITAPH_MIN_DURATION is in force and needs every time: its "
			       "timing stays 1",
			       (int)control->pid);
	return put_byte(control, offsetof(struct ep_arena, timestamp_every), (uint8_t)every, err);
}

/* Its minor is known to the caller. Of two at once the later time counts. */
int ep_control_hold(struct ep_control *control, uint64_t *hold)
{
	uint64_t now = __builtin_ia32_rdtsc();
	uint64_t until = now + EP_HOLD_SET;
	int rc = put(control, offsetof(struct ep_arena, hold), &until, sizeof(until), NULL);

	if (rc == EP_OK)
		*hold = until;
	return rc;
}

void ep_control_release(struct ep_control *control, uint64_t hold)
{
	const uint64_t none = 0;
	uint64_t now;

	if (get(control, offsetof(struct ep_arena, hold), &now, sizeof(now), NULL) == EP_OK &&
	    now == hold)
		put(control, offsetof(struct ep_arena, hold), &none, sizeof(none), NULL);
}
