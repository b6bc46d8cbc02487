/* SPDX-License-Identifier: BSD-2-Clause */
/* groups.c: one stack after the other is unwound, and only its functions are kept. */
#include "decoder/report/threads/groups.h"

#include <string.h>

#include "decoder/calls/open_calls.h"
#include "decoder/code/hooks.h"
#include "decoder/names/system_module.h"

#define FRAMES_MAX 64u   /* of a stack; those outside of them are not compared */
#define LOOKED_MAX 4096u /* threads whose stacks are unwound, each for some 0.1 ms */

/* ---- the functions of a stack ---- */

static bool is_reserved(const struct ep_function *function)
{
	return strncmp(function->name, "__", 2) == 0;
}

/* The C library's own below the function that the program called: "__futex_wait". In a static
 * program reserved names tell them. */
static size_t innermost(const struct ep_evidence *evidence, const struct ep_stack *stack)
{
	size_t i = ep_evidence_behind_hook(evidence, stack, 0);

	if (i)
		return i < stack->count ? i : 0;
	for (; i < stack->count; i++) {
		const struct ep_function *one = ep_evidence_function(evidence, &stack->frames[i]);

		if (!ep_module_is_system(one->in))
			break;
	}
	if (i == stack->count)
		return 0;
	if (i)
		return i - 1;
	while (i + 1 < stack->count &&
	       is_reserved(ep_evidence_function(evidence, &stack->frames[i])))
		i++;
	return i;
}

static void add_functions(struct ep_report_group *group, const struct ep_evidence *evidence,
			  const struct ep_stack *stack)
{
	size_t from = innermost(evidence, stack), to = stack->count;

	while (to > from + 1 &&
	       ep_function_is_start(ep_evidence_function(evidence, &stack->frames[to - 1])))
		to--;
	for (size_t i = from; i < to; i++)
		ep_array_push(&group->functions, ep_evidence_function(evidence, &stack->frames[i]));
	group->cut = stack->end == EP_STACK_LIMIT;
}

static void add_open_calls(struct ep_report_group *group, const struct ep_evidence *evidence,
			   const struct ep_trace_thread *trace)
{
	struct ep_open_calls open;

	ep_evidence_open_calls(evidence, trace, &open);
	for (size_t i = 0; i < open.count && i < FRAMES_MAX; i++)
		ep_array_push(&group->functions, ep_open_calls_inner(&open, i)->function);
	group->cut = open.count > FRAMES_MAX;
	group->from_trace = true;
	ep_open_calls_deinit(&open);
}

static void look(struct ep_report_group *group, const struct ep_evidence *evidence,
		 const struct ep_source_thread *core, const struct ep_trace_thread *trace)
{
	uint32_t tid = core ? core->tid : trace->tid;
	struct ep_systemcall call;
	struct ep_stack stack;

	if (!ep_evidence_unwind(evidence, tid, FRAMES_MAX, &stack)) {
		add_open_calls(group, evidence, trace);
		return;
	}
	group->known = core && core->has_registers;
	/* What a hook asks the kernel for is no wait of the program's. */
	group->inside = group->known && !ep_evidence_behind_hook(evidence, &stack, 0) &&
			ep_systemcall_of(evidence->source, core, &call);
	group->call = group->inside ? call.number : 0;
	if (group->known && !ep_evidence_behind_hook(evidence, &stack, 0))
		ep_lock_wait_find(&group->wait, evidence, &stack, core,
				  group->inside ? &call : NULL);
	add_functions(group, evidence, &stack);
	ep_stack_deinit(&stack);
}

/* ---- groups ---- */

static bool is_same(const struct ep_report_group *a, const struct ep_report_group *b)
{
	return a->functions.count == b->functions.count && a->cut == b->cut &&
	       a->known == b->known && a->inside == b->inside && a->call == b->call &&
	       ep_lock_wait_equal(&a->wait, &b->wait) &&
	       (!a->functions.count ||
		memcmp(a->functions.list, b->functions.list,
		       a->functions.count * sizeof(*a->functions.list)) == 0);
}

static void group_deinit(struct ep_report_group *group)
{
	ep_array_deinit(&group->members);
	ep_array_deinit(&group->functions);
}

static struct ep_report_group *find_same(struct ep_report_groups *groups,
					 const struct ep_report_group *group)
{
	for (size_t i = 0; i < groups->groups.count; i++)
		if (is_same(&groups->groups.list[i], group))
			return &groups->groups.list[i];
	return NULL;
}

void ep_report_groups_add(struct ep_report_groups *groups, const struct ep_evidence *evidence,
			  const struct ep_source_thread *core, const struct ep_trace_thread *trace)
{
	struct ep_report_group group = {0}, *same;
	struct ep_report_member member = {
		.tid = core ? core->tid : trace->tid,
		.name = trace && trace->name[0] ? trace->name
			: core                  ? core->name
						: "",
		.trace = trace,
	};

	if (groups->threads++ >= LOOKED_MAX) {
		groups->not_looked++;
		return;
	}
	look(&group, evidence, core, trace);
	same = find_same(groups, &group);
	if (same) {
		group_deinit(&group);
	} else {
		ep_array_push(&groups->groups, group);
		same = &groups->groups.list[groups->groups.count - 1];
	}
	ep_array_push(&same->members, member);
}

/* ---- who holds what others wait for ---- */

static const struct ep_report_group *group_of(const struct ep_report_groups *groups, uint32_t tid)
{
	for (size_t i = 0; tid && i < groups->groups.count; i++)
		for (size_t m = 0; m < groups->groups.list[i].members.count; m++)
			if (groups->groups.list[i].members.list[m].tid == tid)
				return &groups->groups.list[i];
	return NULL;
}

/* One that others wait for is a group of its own. */
static void part_holder(struct ep_report_groups *groups, uint32_t tid)
{
	struct ep_report_group *group = (struct ep_report_group *)group_of(groups, tid), own;
	size_t at = 0;

	if (!group || group->members.count == 1)
		return;
	own = *group;
	memset(&own.members, 0, sizeof(own.members));
	memset(&own.functions, 0, sizeof(own.functions));
	while (group->members.list[at].tid != tid)
		at++;
	ep_array_push(&own.members, group->members.list[at]);
	for (size_t i = 0; i < group->functions.count; i++)
		ep_array_push(&own.functions, group->functions.list[i]);
	memmove(&group->members.list[at], &group->members.list[at + 1],
		(group->members.count - at - 1) * sizeof(*group->members.list));
	group->members.count--;
	ep_array_push(&groups->groups, own);
}

const struct ep_lock_wait *ep_report_groups_wait(const struct ep_report_groups *groups,
						 uint32_t tid)
{
	const struct ep_report_group *group;

	if (tid && tid == groups->died)
		return &groups->died_wait;
	group = group_of(groups, tid);
	return group ? &group->wait : NULL;
}

/* Nobody's wait before that of group i is for the same lock. */
static bool is_first(const struct ep_report_groups *groups, size_t i)
{
	const struct ep_lock_wait *wait = &groups->groups.list[i].wait;

	for (size_t j = 0; j < i; j++)
		if (groups->groups.list[j].wait.holder == wait->holder &&
		    groups->groups.list[j].wait.lock == wait->lock)
			return false;
	return groups->died_wait.holder != wait->holder || groups->died_wait.lock != wait->lock;
}

static void add_waiters(struct ep_report_groups *groups, const struct ep_lock_wait *wait,
			size_t count, bool first)
{
	struct ep_report_group *group;
	struct ep_report_held *held;

	if (!wait->holder || wait->gone || !ep_lock_wait_blocks(wait))
		return;
	group = (struct ep_report_group *)group_of(groups, wait->holder);
	held = wait->holder == groups->died ? &groups->died_held : group ? &group->held : NULL;
	if (!held)
		return;
	held->waiters += count;
	held->locks += first;
	held->kind = wait->kind;
}

/* The writer that comes next is before whoever else waits for what readers hold. */
static void find_writer(struct ep_report_groups *groups, struct ep_lock_wait *wait)
{
	const struct ep_lock_wait *died = &groups->died_wait;

	if (wait->kind != EP_LOCK_RWLOCK || !wait->readers || wait->next)
		return;
	if (died->next && died->lock == wait->lock)
		wait->behind = groups->died;
	for (size_t i = 0; i < groups->groups.count; i++) {
		const struct ep_report_group *one = &groups->groups.list[i];

		if (one->wait.next && one->wait.lock == wait->lock)
			wait->behind = one->members.list[0].tid;
	}
}

/* ---- who waits for each other ---- */

static bool is_in_deadlock(const struct ep_report_groups *groups, uint32_t tid)
{
	for (size_t i = 0; i < groups->deadlocks.count; i++)
		for (size_t t = 0; t < groups->deadlocks.list[i].count; t++)
			if (groups->deadlocks.list[i].tids[t] == tid)
				return true;
	return false;
}

/* Each waits for one at most, so that from any of them there is one way. */
static void find_deadlock(struct ep_report_groups *groups, uint32_t first)
{
	struct ep_report_deadlock found = {.count = 0};
	uint32_t tid = first;

	while (tid && found.count < EP_DEADLOCK_MAX) {
		const struct ep_lock_wait *wait = ep_report_groups_wait(groups, tid);

		found.tids[found.count++] = tid;
		tid = wait ? ep_lock_wait_whom(wait) : 0;
		if (tid != first)
			continue;
		if (!is_in_deadlock(groups, first))
			ep_array_push(&groups->deadlocks, found);
		return;
	}
}

static int rank(const struct ep_report_group *group)
{
	return ep_lock_wait_blocks(&group->wait) ? 0
	       : group->held.waiters             ? 1
	       : group->known && !group->inside  ? 2
						 : 3;
}

/* Threads that run are few, and worth a look. */
static int compare(const void *a, const void *b)
{
	const struct ep_report_group *x = a, *y = b;

	if (rank(x) != rank(y))
		return rank(x) - rank(y);
	if (x->members.count != y->members.count)
		return x->members.count < y->members.count ? 1 : -1;
	return (x->members.list[0].tid > y->members.list[0].tid) -
	       (x->members.list[0].tid < y->members.list[0].tid);
}

void ep_report_groups_finish(struct ep_report_groups *groups, uint32_t died,
			     const struct ep_lock_wait *died_wait)
{
	groups->died = died;
	groups->died_wait = *died_wait;
	for (size_t i = 0; i < groups->groups.count; i++)
		if (ep_lock_wait_blocks(&groups->groups.list[i].wait))
			part_holder(groups, groups->groups.list[i].wait.holder);
	part_holder(groups, died_wait->holder);
	find_writer(groups, &groups->died_wait);
	add_waiters(groups, &groups->died_wait, 1, true);
	for (size_t i = 0; i < groups->groups.count; i++) {
		struct ep_report_group *one = &groups->groups.list[i];

		find_writer(groups, &one->wait);
		add_waiters(groups, &one->wait, one->members.count, is_first(groups, i));
	}
	find_deadlock(groups, died);
	for (size_t i = 0; i < groups->groups.count; i++)
		find_deadlock(groups, groups->groups.list[i].members.list[0].tid);
	ep_array_sort(&groups->groups, compare);
}

void ep_report_groups_deinit(struct ep_report_groups *groups)
{
	for (size_t i = 0; i < groups->groups.count; i++)
		group_deinit(&groups->groups.list[i]);
	ep_array_deinit(&groups->groups);
	ep_array_deinit(&groups->deadlocks);
}
