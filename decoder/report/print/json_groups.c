/* SPDX-License-Identifier: BSD-2-Clause */
/* json_groups.c: the other threads in groups, and who waits for whom, as JSON. */
#include "decoder/report/print/json.h"

static const char *const kinds[] = {
	[EP_LOCK_MUTEX] = "mutex",         [EP_LOCK_RWLOCK] = "rwlock",
	[EP_LOCK_SPIN] = "spin-lock",      [EP_LOCK_CONDITION] = "condition",
	[EP_LOCK_SEMAPHORE] = "semaphore", [EP_LOCK_BARRIER] = "barrier",
	[EP_LOCK_THREAD] = "thread",
};

/* ---- one wait ---- */

static void write_rwlock(struct ep_json *json, const struct ep_lock_wait *wait)
{
	ep_json_member_text(json, "to", wait->writes ? "write" : "read");
	ep_json_member_uint(json, "readers", wait->readers);
	if (wait->behind)
		ep_json_member_uint(json, "behind", wait->behind);
}

void ep_report_json_wait(struct ep_json *json, const struct ep_lock_wait *wait)
{
	if (wait->kind == EP_LOCK_NONE)
		return;
	ep_json_member_object(json, "wait");
	ep_json_member_text(json, "for", kinds[wait->kind]);
	if (wait->kind != EP_LOCK_THREAD)
		ep_report_json_address(json, "address", wait->lock);
	if (wait->kind == EP_LOCK_CONDITION)
		ep_report_json_address(json, "mutex", wait->mutex);
	if (wait->kind == EP_LOCK_THREAD)
		ep_json_member_uint(json, "thread", wait->holder);
	else if (wait->holder) {
		ep_json_member_uint(json, "holder", wait->holder);
		ep_json_member_bool(json, "holder_gone", wait->gone);
	}
	if (wait->kind == EP_LOCK_RWLOCK)
		write_rwlock(json, wait);
	ep_json_member_bool(json, "likely", wait->likely);
	ep_json_object_end(json);
}

static void write_held(struct ep_json *json, const char *key, const struct ep_report_held *held)
{
	if (!held->waiters)
		return;
	ep_json_member_object(json, key);
	ep_json_member_uint(json, "locks", held->locks);
	ep_json_member_uint(json, "waiters", held->waiters);
	ep_json_object_end(json);
}

/* ---- groups ---- */

static void write_members(struct ep_json *json, const struct ep_report_group *group)
{
	ep_json_member_array(json, "threads");
	for (size_t i = 0; i < group->members.count; i++) {
		ep_json_object(json);
		ep_json_member_uint(json, "tid", group->members.list[i].tid);
		ep_report_json_text(json, "name", group->members.list[i].name);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

static void write_state(struct ep_json *json, const struct ep_report_group *group)
{
	ep_json_key(json, "runs");
	if (group->known)
		ep_json_bool(json, !group->inside);
	else
		ep_json_null(json);
	if (group->inside)
		ep_report_json_text(json, "system_call", ep_systemcall_name(group->call));
	ep_report_json_wait(json, &group->wait);
	write_held(json, "held", &group->held);
}

static void write_group(struct ep_json *json, const struct ep_report_group *group)
{
	ep_json_newline(json);
	ep_json_object(json);
	write_members(json, group);
	write_state(json, group);
	ep_json_member_array(json, "functions");
	for (size_t i = 0; i < group->functions.count; i++)
		ep_json_string(json, group->functions.list[i]->name);
	ep_json_array_end(json);
	ep_json_member_bool(json, "functions_cut", group->cut);
	ep_json_member_bool(json, "from_trace", group->from_trace);
	ep_json_object_end(json);
}

static void write_deadlocks(struct ep_json *json, const struct ep_report_groups *groups)
{
	ep_json_member_array(json, "deadlocks");
	for (size_t i = 0; i < groups->deadlocks.count; i++) {
		const struct ep_report_deadlock *one = &groups->deadlocks.list[i];

		ep_json_array(json);
		for (size_t t = 0; t < one->count; t++)
			ep_json_uint(json, one->tids[t]);
		ep_json_array_end(json);
	}
	ep_json_array_end(json);
}

void ep_report_json_groups(struct ep_json *json, const struct ep_report_groups *groups)
{
	write_deadlocks(json, groups);
	write_held(json, "died_holds", &groups->died_held);
	ep_json_member_array(json, "groups");
	for (size_t i = 0; i < groups->groups.count; i++)
		write_group(json, &groups->groups.list[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "groups_left_out", groups->not_looked);
}
