/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching.c: entries of ours first, then bytes of code, then a look whether the reasons are still
 * the same; the process does likewise, so whoever comes last sees what the other one wants.
 */
#include "coredump/live/switching.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "coredump/files/procfile.h"
#include "coredump/live/reasons.h"
#include "coredump/live/site_bytes.h"
#include "coredump/live/sleds.h"
#include "coredump/util/alloc.h"
#include "runtime/site_code.h"

#define WORK_ENTRIES 256u /* compared: one of ep_control_work */

#define LOCK_WAIT  1500u   /* ms: whoever means well is done after some 50 */
#define LOCKS_MOST 100000u /* lines */

#define ROUNDS 4 /* looks; who still changes something then is left to it */

static uint64_t now(void)
{
	return __builtin_ia32_rdtsc();
}

/* ---- opening ---- */

static uint64_t milliseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The pid of the process that holds the lock, by the kernel's list (proc_locks(5)); 0: unknown. */
static int holder_of(int lock)
{
	unsigned major, minor, lines = 0;
	unsigned long inode;
	struct ep_procfile file;
	int pid, holder = 0;
	struct stat st;
	char *line;

	if (fstat(lock, &st))
		return 0;
	ep_procfile_open(&file, "/proc/locks");
	while (!holder && lines++ < LOCKS_MOST && (line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) ==
			    4 &&
		    makedev(major, minor) == st.st_dev && inode == st.st_ino)
			holder = pid;
	ep_procfile_close(&file);
	return holder;
}

/* By the descriptor of its memory: strangers cannot open that. The process itself can, and whoever
 * may trace it, so nobody waits for them for ever. */
static int lock_process(struct ep_control *control, struct ep_err *err)
{
	const struct timespec moment = {0, 5000000};
	uint64_t begun = milliseconds();
	char by[64] = "somebody";
	int holder;

	while (flock(control->memory, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return ep_fail(err, EP_E_IO, 0, "pid %d: its memory cannot be locked: %m",
				       (int)control->pid);
		if (milliseconds() - begun < LOCK_WAIT) {
			nanosleep(&moment, NULL);
			continue;
		}
		holder = holder_of(control->memory);
		if (holder == control->pid)
			snprintf(by, sizeof(by), "the process itself");
		else if (holder > 0)
			snprintf(by, sizeof(by), "pid %d", holder);
		return ep_fail(
			err, EP_E_LIMIT, 0,
			"pid %d: %s has kept its hooks locked for 1.5 s (flock on its mem in "
			"/proc, as epitaph control takes it); nothing was changed: try "
			"again, or end that first",
			(int)control->pid, by);
	}
	return EP_OK;
}

static int refresh(struct ep_switching *switching, struct ep_err *err)
{
	struct ep_switched_list list;
	int rc = ep_switched_read(&list, switching->source, switching->found, err);

	if (rc)
		return rc;
	ep_switched_deinit(&switching->list);
	switching->list = list;
	ep_control_work(switching->control, EP_CONTROL_SORT(list.own_count + list.control_count));
	return ep_control_limit(switching->control, err);
}

int ep_switching_open(struct ep_switching *out, struct ep_control *control,
		      struct ep_source *source, const struct ep_root_found *found,
		      struct ep_err *err)
{
	int rc = lock_process(control, err);

	if (rc)
		return rc;
	*out = (struct ep_switching){.control = control, .source = source, .found = found};
	rc = refresh(out, err);
	if (rc)
		flock(control->memory, LOCK_UN);
	else
		ep_hook_finder_init(&out->finder, control, out->list.head.hooks);
	return rc;
}

void ep_switching_close(struct ep_switching *switching)
{
	flock(switching->control->memory, LOCK_UN);
	ep_hook_finder_deinit(&switching->finder);
	ep_switched_deinit(&switching->list);
}

/* As they are now. */
static int reasons_read(struct ep_reasons *reasons, struct ep_switching *switching,
			struct ep_err *err)
{
	int rc = refresh(switching, err);

	return rc ? rc : ep_reasons_read(reasons, switching->control, &switching->list, err);
}

/* ---- what is not as it should be ---- */

static int compare_sites(const void *a, const void *b)
{
	const struct ep_found_site *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* All sites that were ever switched: of the process's table, and of the entries from outside. */
static int known_sites(struct ep_switching *switching, const struct ep_reasons *reasons,
		       struct ep_found_sites *sites, struct ep_err *err)
{
	const struct ep_switched_list *list = &switching->list;

	for (size_t i = 0; i < reasons->rows.count; i++) {
		const struct ep_hook_site *site = &reasons->rows.list[i].site;

		ep_array_push(sites, ((struct ep_found_site){.place = site->place,
							     .kind = site->kind,
							     .is_return = site->is_return}));
	}
	for (size_t i = 0; i < list->control_count; i++) {
		int rc = list->control[i].start
				 ? ep_hook_sites_find(&switching->finder, list->control[i].start,
						      list->control[i].end, sites, err)
				 : EP_OK;

		if (rc && rc != EP_E_CORRUPT)
			return rc;
	}
	ep_control_work(switching->control, EP_CONTROL_SORT(sites->count));
	ep_array_sort(sites, compare_sites);
	return EP_OK;
}

/* Those of them that are not as the reasons want them. Where a breakpoint is nobody knows. */
static size_t keep_stale(struct ep_switching *switching, const struct ep_reasons *reasons,
			 struct ep_found_sites *sites)
{
	size_t kept = 0;

	ep_hook_sites_look(&switching->finder, sites->list, sites->count);
	for (size_t i = 0; i < sites->count; i++) {
		struct ep_found_site *site = &sites->list[i];

		if (site->held || site->replaced ||
		    site->off == ep_reasons_off(reasons, site->place) ||
		    (kept && sites->list[kept - 1].place == site->place))
			continue;
		sites->list[kept++] = *site;
	}
	return kept;
}

/* Who debugs puts back the byte that was there when the breakpoint came, whatever was switched
 * meanwhile: a whole instruction, but perhaps the other one. */
static int stale_sites(struct ep_switching *switching, struct ep_found_sites *sites,
		       struct ep_err *err)
{
	struct ep_reasons reasons = {0};
	int rc = reasons_read(&reasons, switching, err);

	rc = rc ? rc : known_sites(switching, &reasons, sites, err);
	if (rc == EP_OK)
		sites->count = keep_stale(switching, &reasons, sites);
	ep_reasons_deinit(&reasons);
	return rc ? rc : ep_control_limit(switching->control, err);
}

/* The process has changed code meanwhile, which may have been written back as it was before, with
 * what lies around it: site by site there is nothing around. In the same order. */
static int mend(struct ep_switching *switching, struct ep_err *err)
{
	struct ep_found_sites stale = {0};
	size_t flipped = 0;
	int rc = stale_sites(switching, &stale, err);

	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; rc == EP_OK && i < stale.count; i++) {
			struct ep_found_site *site = &stale.list[i];
			struct ep_found_sites one = {site, 1, 1};

			site->want_off = !site->off;
			if (site->is_return == (turn == (unsigned)site->want_off))
				rc = ep_sites_flip(switching->control, &one, &flipped, err);
		}
	ep_array_deinit(&stale);
	return rc;
}

/* Makes bytes agree with reasons. */
static int settle(struct ep_switching *switching, struct ep_found_sites *sites,
		  struct ep_switching_sum *sum, struct ep_err *err)
{
	const uint64_t flips = switching->list.head.flips;
	struct ep_reasons reasons = {0};
	size_t flipped = 1;
	int rc = EP_OK;

	ep_control_work(switching->control, EP_CONTROL_SORT(sites->count));
	ep_array_sort(sites, compare_sites);
	for (unsigned round = 0; round < ROUNDS && flipped && rc == EP_OK; round++) {
		flipped = 0;
		rc = reasons_read(&reasons, switching, err);
		if (rc)
			break;
		ep_hook_sites_look(&switching->finder, sites->list, sites->count);
		rc = ep_control_limit(switching->control, err);
		if (rc)
			break;
		for (size_t i = 0; i < sites->count; i++)
			sites->list[i].want_off = ep_reasons_off(&reasons, sites->list[i].place);
		rc = ep_sites_flip(switching->control, sites, &flipped, err);
		sum->flipped += flipped;
	}
	ep_reasons_deinit(&reasons);
	if (rc == EP_OK && switching->list.head.flips != flips)
		rc = mend(switching, err);
	sum->sites = sites->count;
	for (size_t i = 0; i < sites->count; i++) {
		sum->held += sites->list[i].held;
		sum->replaced += sites->list[i].replaced;
		sum->still_off += sites->list[i].want_off;
	}
	return rc ? rc : ep_control_check(switching->control, err);
}

/* ---- entries ---- */

static uint64_t entry_address(const struct ep_switching *switching, size_t number)
{
	return ep_switched_address(&switching->list, switching->list.head.capacity + number);
}

/* Of a function that begins there, wherever other symbols said that it ends; control_count:
 * none. */
static size_t entry_find(const struct ep_switching *switching, const struct ep_code_range *range)
{
	const struct ep_switched_list *list = &switching->list;
	size_t i = 0;

	ep_control_work(switching->control, list->control_count / WORK_ENTRIES);
	while (i < list->control_count && list->control[i].start != range->start)
		i++;
	return i;
}

static struct ep_off_interval *latest(struct ep_switched *entry)
{
	return &entry->off[(entry->count - 1) % EP_SWITCHED_OFF];
}

/* What is wanted is in the entry: it goes to the process. */
static int entry_write(struct ep_switching *switching, size_t number,
		       const struct ep_switched *entry, struct ep_err *err)
{
	return ep_control_poke(switching->control, entry_address(switching, number), entry,
			       sizeof(*entry), err);
}

static int count_write(struct ep_switching *switching, size_t count, struct ep_err *err)
{
	uint32_t value = (uint32_t)count;

	return ep_control_poke(switching->control,
			       switching->list.address +
				       offsetof(struct ep_switches, control_count),
			       &value, sizeof(value), err);
}

static bool is_as_wanted(const struct ep_switched *entry, bool off)
{
	return entry->reasons == (off ? EP_SWITCH_CONTROL : EP_SWITCH_KEPT);
}

static void entry_begin(struct ep_switched *entry, bool off)
{
	if (off) {
		entry->count++;
		*latest(entry) = (struct ep_off_interval){.off_begin = now()};
	} else if (entry->reasons & EP_SWITCH_CONTROL && entry->count) {
		latest(entry)->on_begin = now();
	}
	entry->reasons = off ? EP_SWITCH_CONTROL : EP_SWITCH_KEPT;
}

/* `failed`: its bytes could not be changed, so it never was off. */
static void entry_end(struct ep_switched *entry, bool off, bool failed)
{
	if (off) {
		latest(entry)->off_end = now();
	} else if (entry->count && latest(entry)->on_begin && !latest(entry)->on_end) {
		latest(entry)->on_end = now();
	}
	if (off && failed) {
		latest(entry)->on_begin = latest(entry)->on_end = now();
		entry->reasons = 0;
	}
}

/* First the entry, then that there is one more. */
static int entry_open(struct ep_switching *switching, struct ep_code_range *range, bool off,
		      struct ep_err *err)
{
	struct ep_switched_list *list = &switching->list;
	size_t number = entry_find(switching, range);
	bool made = number == list->control_count;
	struct ep_switched *entry;
	int rc;

	if (made) {
		list->control = ep_reallocarray(list->control, number + 1, sizeof(*list->control));
		list->control[number] = (struct ep_switched){range->start, range->end, .rate = 0};
		list->control_count++;
	}
	entry = &list->control[number];
	range->already = is_as_wanted(entry, off);
	if (range->already)
		return EP_OK;
	entry->end = range->end;
	entry_begin(entry, off);
	rc = entry_write(switching, number, entry, err);
	return rc == EP_OK && made ? count_write(switching, number + 1, err) : rc;
}

static int entry_close(struct ep_switching *switching, const struct ep_code_range *range, bool off,
		       bool failed, struct ep_err *err)
{
	size_t number = entry_find(switching, range);
	struct ep_switched *entry = &switching->list.control[number];

	if (number == switching->list.control_count || range->already)
		return EP_OK;
	entry_end(entry, off, failed);
	return entry_write(switching, number, entry, err);
}

/* ---- what the budget had switched off ---- */

static bool is_in(const struct ep_code_range *ranges, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].sites && address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

/* The process does not do it by itself then: the entry from outside says that they are kept. */
static int end_budget_of_sites(struct ep_switching *switching, const struct ep_code_range *ranges,
			       size_t count, struct ep_err *err)
{
	const uint8_t none = 0;
	struct ep_site_rows rows = {0};
	int rc = ep_site_rows_read(&rows, switching->control, &switching->list.head, err);

	for (size_t i = 0; rc == EP_OK && i < rows.count; i++)
		if (rows.list[i].site.budget && is_in(ranges, count, rows.list[i].site.place))
			rc = ep_control_poke(switching->control,
					     rows.list[i].address +
						     offsetof(struct ep_hook_site, budget),
					     &none, 1, err);
	ep_array_deinit(&rows);
	return rc;
}

/* The process's own entry, where nothing else keeps the function off; `ended`: it is on by now. */
static int end_budget_of_entry(struct ep_switching *switching, size_t number, bool ended,
			       struct ep_err *err)
{
	struct ep_switched *entry = &switching->list.own[number];
	const uint64_t at = ep_switched_address(&switching->list, number), tsc = now();
	const uint64_t interval = at + offsetof(struct ep_switched, off) +
				  (entry->count - 1) % EP_SWITCHED_OFF * sizeof(entry->off[0]);
	uint8_t reasons = entry->reasons & (uint8_t)~EP_SWITCH_BUDGET;
	int rc = EP_OK;

	if (!(reasons & EP_SWITCH_NAME) && entry->count)
		rc = ep_control_poke(switching->control,
				     interval +
					     (ended ? offsetof(struct ep_off_interval, on_end)
						    : offsetof(struct ep_off_interval, on_begin)),
				     &tsc, sizeof(tsc), err);
	if (rc == EP_OK && ended)
		rc = ep_control_poke(switching->control, at + offsetof(struct ep_switched, reasons),
				     &reasons, 1, err);
	return rc;
}

static int end_budget(struct ep_switching *switching, const struct ep_code_range *ranges,
		      size_t count, bool ended, struct ep_err *err)
{
	int rc = ended ? EP_OK : end_budget_of_sites(switching, ranges, count, err);

	for (size_t i = 0; rc == EP_OK && i < switching->list.own_count; i++)
		if (switching->list.own[i].reasons & EP_SWITCH_BUDGET &&
		    is_in(ranges, count, switching->list.own[i].start))
			rc = end_budget_of_entry(switching, i, ended, err);
	return rc;
}

/* ---- functions ---- */

static int can_change(const struct ep_switching *switching, struct ep_err *err)
{
	const struct ep_switches *head = &switching->list.head;

	if (head->how == EP_FLIP_NONE && head->why_not == EP_FLIP_EMULATOR)
		return ep_fail(err, EP_E_VERSION, 0,
			       "pid %d: valgrind runs it, which has translated its code already; "
			       "epitaph control pause works",
			       (int)switching->control->pid);
	return EP_OK;
}

/* They stay off until everything is on. */
static int prepare_sleds(struct ep_switching *switching, struct ep_err *err)
{
	const struct ep_switches *head = &switching->list.head;
	struct ep_found_sites sites = {0};
	int rc = ep_sleds_prepare(switching->control, head->sleds, head->hooks, &sites, err);

	ep_array_deinit(&sites);
	return rc;
}

static int find_sites(struct ep_switching *switching, struct ep_code_range *ranges, size_t count,
		      struct ep_found_sites *sites, struct ep_err *err)
{
	for (size_t i = 0; i < count; i++) {
		size_t before = sites->count;
		int rc = ep_hook_sites_find(&switching->finder, ranges[i].start, ranges[i].end,
					    sites, err);

		if (rc && rc != EP_E_CORRUPT)
			return rc;
		ranges[i].sites = (uint32_t)(sites->count - before);
	}
	return EP_OK;
}

static int has_room(const struct ep_switching *switching, const struct ep_code_range *ranges,
		    size_t count, struct ep_err *err)
{
	const struct ep_switched_list *list = &switching->list;
	size_t wanted = 0, room = list->head.control_capacity - list->control_count;

	for (size_t i = 0; i < count && !ep_control_limit(switching->control, err); i++)
		wanted +=
			ranges[i].sites && entry_find(switching, &ranges[i]) == list->control_count;
	if (ep_control_limit(switching->control, err))
		return EP_E_LIMIT;
	if (wanted <= room)
		return EP_OK;
	return ep_fail(err, EP_E_LIMIT, 0,
		       "pid %d: %zu functions more, and there is room for %zu by name; nothing was "
		       "changed: take a narrower pattern, or epitaph control %d off",
		       (int)switching->control->pid, wanted, room, (int)switching->control->pid);
}

static int entries_close(struct ep_switching *switching, const struct ep_code_range *ranges,
			 size_t count, bool off, bool failed, struct ep_err *err)
{
	int rc = EP_OK;

	for (size_t i = 0; rc == EP_OK && i < count; i++)
		if (ranges[i].sites)
			rc = entry_close(switching, &ranges[i], off, failed, err);
	return rc;
}

/* Also when the bytes could not be changed: what was begun is ended. */
static int switch_ranges(struct ep_switching *switching, struct ep_code_range *ranges, size_t count,
			 bool off, struct ep_found_sites *sites, struct ep_switching_sum *sum,
			 struct ep_err *err)
{
	int rc = EP_OK;

	for (size_t i = 0; rc == EP_OK && i < count; i++)
		if (ranges[i].sites)
			rc = entry_open(switching, &ranges[i], off, err);
	if (rc == EP_OK && !off)
		rc = end_budget(switching, ranges, count, false, err);
	if (rc)
		return rc;
	rc = settle(switching, sites, sum, err);
	if (rc) {
		entries_close(switching, ranges, count, off, true, NULL);
		return rc;
	}
	rc = entries_close(switching, ranges, count, off, false, err);
	return rc || off ? rc : end_budget(switching, ranges, count, true, err);
}

int ep_switching_functions(struct ep_switching *switching, struct ep_code_range *ranges,
			   size_t count, bool off, struct ep_switching_sum *sum, struct ep_err *err)
{
	struct ep_found_sites sites = {0};
	int rc = can_change(switching, err);

	*sum = (struct ep_switching_sum){0};
	if (rc == EP_OK)
		rc = prepare_sleds(switching, err);
	if (rc == EP_OK)
		rc = find_sites(switching, ranges, count, &sites, err);
	if (rc == EP_OK)
		rc = has_room(switching, ranges, count, err);
	if (rc == EP_OK && sites.count)
		rc = switch_ranges(switching, ranges, count, off, &sites, sum, err);
	ep_array_deinit(&sites);
	return rc;
}

/* ---- everything ---- */

static int all_write(struct ep_switching *switching, const struct ep_off_interval *interval,
		     struct ep_err *err)
{
	const struct ep_switches *head = &switching->list.head;
	uint64_t at = switching->list.address + offsetof(struct ep_switches, all) +
		      (head->all_count - 1) % EP_ALL_OFF * sizeof(*interval);

	return ep_control_poke(switching->control, at, interval, sizeof(*interval), err);
}

static int all_begin(struct ep_switching *switching, struct ep_off_interval *interval,
		     struct ep_err *err)
{
	struct ep_switches *head = &switching->list.head;
	int rc;

	*interval = (struct ep_off_interval){.off_begin = now()};
	head->all_count++;
	rc = all_write(switching, interval, err);
	return rc ? rc
		  : ep_control_poke(switching->control,
				    switching->list.address +
					    offsetof(struct ep_switches, all_count),
				    &head->all_count, sizeof(head->all_count), err);
}

int ep_switching_all_off(struct ep_switching *switching, bool *before, struct ep_err *err)
{
	struct ep_off_interval interval;
	struct ep_arena arena;
	int rc = ep_control_read(switching->control, &arena, err);

	*before = arena.gate & EP_GATE_OFF;
	if (rc || *before)
		return rc;
	rc = all_begin(switching, &interval, err);
	if (rc == EP_OK)
		rc = ep_control_off(switching->control, switching->list.head.how != EP_FLIP_NONE,
				    err);
	interval.off_end = now();
	return rc ? rc : all_write(switching, &interval, err);
}

/* ---- what others have put back ---- */

/* The process may be at them right now: it has written down what it wants, and changes bytes. */
int ep_switching_stale(struct ep_switching *switching, size_t *count, struct ep_err *err)
{
	const struct timespec moment = {0, 2000000};
	int rc = EP_OK;

	*count = 1;
	for (unsigned round = 0; round < ROUNDS && *count && rc == EP_OK; round++) {
		struct ep_found_sites sites = {0};

		if (round)
			nanosleep(&moment, NULL);
		rc = stale_sites(switching, &sites, err);
		*count = rc ? 0 : sites.count;
		ep_array_deinit(&sites);
	}
	return rc;
}

/* ---- everything on ---- */

/* The sites that are out because everything was off, which is their reason no more. */
static int end_all(struct ep_switching *switching, struct ep_found_sites *sites, struct ep_err *err)
{
	EP_ARRAY(uint64_t) reasons = {0};
	struct ep_site_rows rows = {0};
	int rc = refresh(switching, err);

	rc = rc ? rc : ep_site_rows_read(&rows, switching->control, &switching->list.head, err);
	for (size_t i = 0; rc == EP_OK && i < rows.count; i++) {
		const struct ep_hook_site *site = &rows.list[i].site;

		if (!site->all)
			continue;
		ep_array_push(sites, ((struct ep_found_site){.place = site->place,
							     .kind = site->kind,
							     .is_return = site->is_return}));
		ep_array_push(&reasons, rows.list[i].address + offsetof(struct ep_hook_site, all));
	}
	rc = rc ? rc
		: ep_control_poke_each(switching->control, reasons.list, reasons.count, 0, err);
	ep_array_deinit(&reasons);
	ep_array_deinit(&rows);
	return rc;
}

/* Without those that are in the list. */
static int add_stale(struct ep_switching *switching, struct ep_found_sites *sites,
		     struct ep_err *err)
{
	struct ep_found_sites stale = {0};
	int rc = stale_sites(switching, &stale, err);
	size_t known = sites->count, i = 0;

	ep_array_sort(sites, compare_sites);
	for (size_t k = 0; rc == EP_OK && k < stale.count; k++) {
		while (i < known && sites->list[i].place < stale.list[k].place)
			i++;
		if (i == known || sites->list[i].place != stale.list[k].place)
			ep_array_push(sites, stale.list[k]);
	}
	ep_array_deinit(&stale);
	return rc;
}

int ep_switching_all_on(struct ep_switching *switching, struct ep_switching_sum *sum,
			struct ep_err *err)
{
	const struct ep_switches *head = &switching->list.head;
	struct ep_off_interval interval = {0};
	struct ep_found_sites sites = {0};
	bool open;
	int rc;

	*sum = (struct ep_switching_sum){0};
	if (head->all_count)
		interval = head->all[(head->all_count - 1) % EP_ALL_OFF];
	open = head->all_count && !interval.on_begin;
	interval.on_begin = now();
	rc = open ? all_write(switching, &interval, err) : EP_OK;
	rc = rc ? rc : ep_control_resume(switching->control, err);
	rc = rc ? rc : end_all(switching, &sites, err);
	rc = rc ? rc : ep_sleds_prepare(switching->control, head->sleds, head->hooks, &sites, err);
	rc = rc ? rc : add_stale(switching, &sites, err);
	rc = rc ? rc : settle(switching, &sites, sum, err);
	rc = rc ? rc : ep_sleds_done(switching->control, head->sleds, err);
	interval.on_end = now();
	ep_array_deinit(&sites);
	return rc || !open ? rc : all_write(switching, &interval, err);
}
