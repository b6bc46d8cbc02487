/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_function.c: names are POSIX's, with what glibc puts before and behind them. A call is read
 * back from its return address: Intel's manual, volume 2, CALL and JMP; through the procedure
 * linkage table as in the psABI, section 5.2.
 */
#include "decoder/report/locks/lock_function.h"

#include <string.h>

#define INNERMOST 8u /* frames in which the function is looked for */

static const struct {
	const char *name;
	enum ep_lock_function function;
} functions[] = {
	{"pthread_mutex_lock", EP_IN_MUTEX_LOCK},
	{"pthread_mutex_timedlock", EP_IN_MUTEX_LOCK},
	{"pthread_mutex_clocklock", EP_IN_MUTEX_LOCK},
	{"pthread_mutex_cond_lock", EP_IN_MUTEX_LOCK},
	{"pthread_rwlock_rdlock", EP_IN_READ_LOCK},
	{"pthread_rwlock_timedrdlock", EP_IN_READ_LOCK},
	{"pthread_rwlock_clockrdlock", EP_IN_READ_LOCK},
	{"pthread_rwlock_wrlock", EP_IN_WRITE_LOCK},
	{"pthread_rwlock_timedwrlock", EP_IN_WRITE_LOCK},
	{"pthread_rwlock_clockwrlock", EP_IN_WRITE_LOCK},
	{"pthread_cond_wait", EP_IN_CONDITION_WAIT},
	{"pthread_cond_timedwait", EP_IN_CONDITION_WAIT},
	{"pthread_cond_clockwait", EP_IN_CONDITION_WAIT},
	{"sem_wait", EP_IN_SEMAPHORE_WAIT},
	{"sem_timedwait", EP_IN_SEMAPHORE_WAIT},
	{"sem_clockwait", EP_IN_SEMAPHORE_WAIT},
	{"pthread_barrier_wait", EP_IN_BARRIER_WAIT},
	{"pthread_spin_lock", EP_IN_SPIN_LOCK},
	{"pthread_join", EP_IN_JOIN},
	{"pthread_timedjoin", EP_IN_JOIN},
	{"pthread_clockjoin", EP_IN_JOIN},
};

/* ---- names ---- */

/* "__new_sem_wait_slow64": without what stands before. */
static const char *plain(const char *symbol)
{
	symbol += strspn(symbol, "_");
	if (strncmp(symbol, "GI_", 3) == 0)
		symbol += 3 + strspn(symbol + 3, "_");
	return strncmp(symbol, "new_", 4) == 0 ? symbol + 4 : symbol;
}

/* What glibc puts behind: a version, a clone, a part of it. A program's sem_wait_for_work is
 * another function. */
static bool is_end(const char *text)
{
	static const char *const ends[] = {"@", ".", "_full", "_common", "_slow", "_np", "_ex"};

	if (!*text)
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (strncmp(text, ends[i], strlen(ends[i])) == 0)
			return true;
	return false;
}

static enum ep_lock_function by_name(const struct ep_function *function)
{
	const char *name = plain(function->symbol);

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		size_t length = strlen(functions[i].name);

		if (strncmp(name, functions[i].name, length) == 0 && is_end(name + length))
			return functions[i].function;
	}
	return EP_IN_OTHER;
}

/* ---- what was called ---- */

#define CALL_SIZE 5u
#define SLOT_SIZE 6u /* of an instruction with the address of a slot in the offset table */

static uint64_t displaced(const uint8_t *displacement, uint64_t next)
{
	int32_t value;

	memcpy(&value, displacement, sizeof(value));
	return next + (uint64_t)(int64_t)value;
}

/* The pointer in a slot of the global offset table; 0 unknown. */
static uint64_t read_slot(const struct ep_evidence *evidence, uint64_t slot)
{
	uint64_t target;

	return ep_source_read(evidence->source, slot, &target, sizeof(target), NULL, NULL) == EP_OK
		       ? target
		       : 0;
}

/* Where a stub of the procedure linkage table leads; `address` itself when it is none. */
static uint64_t through_stub(const struct ep_evidence *evidence, uint64_t address)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	uint8_t code[sizeof(landing) + 1 + SLOT_SIZE];
	size_t at = 0;

	if (!ep_evidence_code(evidence, address, code, sizeof(code)))
		return address;
	at += memcmp(code, landing, sizeof(landing)) == 0 ? sizeof(landing) : 0;
	at += code[at] == 0xf2 ? 1 : 0; /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return address;
	return read_slot(evidence, displaced(code + at + 2, address + at + SLOT_SIZE));
}

/* 0: unknown, or by a pointer. */
static uint64_t called_address(const struct ep_evidence *evidence, uint64_t after)
{
	uint8_t code[SLOT_SIZE];

	if (!ep_evidence_code(evidence, after - SLOT_SIZE, code, SLOT_SIZE))
		return 0;
	if (code[0] == 0xff && code[1] == 0x15)
		return read_slot(evidence, displaced(code + 2, after));
	if (code[SLOT_SIZE - CALL_SIZE] != 0xe8)
		return 0;
	return through_stub(evidence, displaced(code + SLOT_SIZE - CALL_SIZE + 1, after));
}

/* The first frame outside of the module that waits has called into it. */
static enum ep_lock_function by_call(const struct ep_evidence *evidence,
				     const struct ep_stack *stack, size_t *frame)
{
	const struct ep_trace_module *in = ep_evidence_function(evidence, &stack->frames[0])->in;
	struct ep_frame called = {.activation = true};
	size_t i = 1;

	while (i < stack->count && i < INNERMOST &&
	       ep_evidence_function(evidence, &stack->frames[i])->in == in)
		i++;
	if (i == stack->count || i == INNERMOST || stack->frames[i].activation)
		return EP_IN_UNNAMED;
	called.pc = called_address(evidence, stack->frames[i].pc);
	*frame = i - 1;
	return called.pc ? by_name(ep_evidence_function(evidence, &called)) : EP_IN_UNNAMED;
}

enum ep_lock_function ep_lock_function_find(const struct ep_evidence *evidence,
					    const struct ep_stack *stack, size_t *frame)
{
	enum ep_lock_function found;

	*frame = 0;
	for (size_t i = 0; i < stack->count && i < INNERMOST; i++) {
		found = by_name(ep_evidence_function(evidence, &stack->frames[i]));
		if (found == EP_IN_OTHER)
			continue;
		*frame = i;
		return found;
	}
	if (!stack->count || *ep_evidence_function(evidence, &stack->frames[0])->symbol)
		return EP_IN_OTHER;
	return by_call(evidence, stack, frame);
}
