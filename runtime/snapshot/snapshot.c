/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.c: the process writes an ELF core of what matters. One at a time; everything larger than
 * a few words is static, as the caller may be a handler on a small stack.
 *
 *   ELF header · program headers · notes · pages, by ascending address
 */
#include "runtime/snapshot/snapshot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/blockcopy.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/facts/maps.h"
#include "runtime/format.h"
#include "runtime/lib/files.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/table.h"
#include "runtime/record/tls.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/abortmessage.h"
#include "runtime/snapshot/copy_memory.h"
#include "runtime/snapshot/core_notes.h"
#include "runtime/snapshot/kept.h"
#include "runtime/snapshot/snapshot_ranges.h"
#include "runtime/x86_64/registers.h"
#include "runtime/x86_64/tsc.h"

#define PAGE        UINT64_C(4096) /* and a block */
#define STACK_BYTES (UINT64_C(64) << 10)
#define RED_ZONE    256         /* bytes below sp that may be in use: psABI, 128 */
#define OVERFLOW    STACK_BYTES /* how far beyond its end an sp may be */
#define BLOCKS      16          /* copied at once */
#define NUMBERS     1000000     /* names that %n tries */
#define YIELDS      1000000     /* while another thread writes */

static atomic_flag busy = ATOMIC_FLAG_INIT;
static const void *_Atomic holder; /* whose TLS, while busy */

static struct {
	struct ep_new_file output;
	struct ep_snapshot_ranges ranges;
	Elf64_Phdr segments[EP_RANGES + 1];
	struct user_regs_struct registers;
	const void *floating; /* fxsave's 512 bytes */
	struct ep_snapshot_note note;
	struct ep_snapshot_thread thread;
	struct ep_mapped_image executable;
	struct ep_copy_memory copy; /* of the arena; none: of itself */
	const struct ep_kept *kept; /* NULL: of the arena itself */
	ep_snapshot_name_fn name;   /* of the arena alone, with holes; NULL */
	const siginfo_t *info;      /* NULL: nobody dies */
	bool stack_found;
	struct ep_block blocks[BLOCKS];
	char maps[EP_MAPS_BUFFER];
	char path[EP_PATH_MAX];
} shot;

/* ---- what goes into it ---- */

static void add_page(uint64_t address)
{
	ep_snapshot_ranges_add(&shot.ranges, address, address + 1, EP_RANGE_PAGE);
}

static bool starts_with_elf(uint64_t address)
{
	char magic[SELFMAG];

	return ep_memory_read(address, magic, sizeof magic) &&
	       ep_bytes_equal(magic, ELFMAG, SELFMAG);
}

static void add_stack(const struct ep_map_line *line)
{
	uint64_t start = shot.registers.rsp - RED_ZONE;
	uint64_t end = shot.registers.rsp + STACK_BYTES;

	/* One that has overflown is at or below its lower end. */
	if (shot.stack_found || !(line->flags & EP_MAP_READ) || shot.registers.rsp >= line->end ||
	    (shot.registers.rsp < line->start && line->start - shot.registers.rsp > OVERFLOW))
		return;
	shot.stack_found = true;
	if (start < line->start)
		start = line->start;
	if (end > line->end)
		end = line->end;
	shot.thread.stack_wanted = end - (shot.registers.rsp > start ? shot.registers.rsp : start);
	ep_snapshot_ranges_add(&shot.ranges, start, end,
			       line->flags & EP_MAP_EXEC ? EP_RANGE_STACK | EP_RANGE_CODE
							 : EP_RANGE_STACK);
}

static void choose_line(const struct ep_map_line *line, uint64_t headers)
{
	uint32_t kind = EP_RANGE_PAGE | EP_RANGE_HEAD;

	kind |= line->flags & EP_MAP_EXEC ? EP_RANGE_CODE : 0;
	add_stack(line);
	if (ep_string_equal(line->path, "[vdso]"))
		ep_snapshot_ranges_add(&shot.ranges, line->start, line->end, kind);
	/* A program may have put its code into memory of no file, for huge pages. */
	if (line->inode ? line->file_offset != 0 : (line->flags & EP_MAP_WRITE) != 0)
		return;
	if (!(line->flags & EP_MAP_READ) || !starts_with_elf(line->start))
		return;
	ep_snapshot_ranges_add(&shot.ranges, line->start, line->start + 1, kind);
	if (headers >= line->start && headers < line->end &&
	    !ep_mapped_image_read(line->start, &shot.executable))
		shot.executable.dynamic_size = 0;
}

/* Without /proc, the stack as far as it turns out to be readable. */
static void guess_stack(void)
{
	uint64_t sp = shot.registers.rsp;

	shot.thread.stack_wanted = STACK_BYTES;
	ep_snapshot_ranges_add(&shot.ranges, sp - RED_ZONE, sp + STACK_BYTES, EP_RANGE_STACK);
}

static void choose_pages(void)
{
	uint64_t headers = ep_auxv(AT_PHDR);
	struct ep_map_line line;
	struct ep_maps maps;

	shot.executable.dynamic_size = 0;
	shot.stack_found = false;
	if (!ep_maps_open(&maps, shot.maps)) {
		guess_stack();
		return;
	}
	while (ep_maps_next(&maps, &line))
		choose_line(&line, headers);
	ep_maps_close(&maps);
	if (headers)
		add_page(headers);
	if (shot.executable.dynamic_size)
		ep_snapshot_ranges_add_link_maps(&shot.ranges, &shot.executable);
}

/* One that is given back meanwhile may be overwritten: its blocks tell. */
static void add_kept(void)
{
	uint64_t size;
	const struct ep_kept *kept = ep_arena_section(EP_SECTION_KEPT, &size);

	for (uint64_t i = 0; i < size / sizeof *kept; i++)
		if (kept[i].state == EP_KEPT_VALID)
			ep_snapshot_ranges_add(&shot.ranges, kept[i].address,
					       kept[i].address + kept[i].size, EP_RANGE_KEPT);
}

static void add_range(uint64_t start, uint64_t end)
{
	ep_snapshot_ranges_add(&shot.ranges, start, end, EP_RANGE_PAGE);
}

static void choose(void)
{
	uint64_t arena = (uint64_t)ep_arena;

	shot.ranges.count = 0;
	shot.ranges.left_out = 0;
	ep_bytes_zero(&shot.note, sizeof shot.note);
	ep_bytes_zero(&shot.thread, sizeof shot.thread);
	shot.thread.tid = (uint32_t)ep_syscall0(SYS_gettid);
	shot.note.arena_size = shot.copy.size ? shot.copy.size : ep_arena->committed;
	ep_snapshot_ranges_add(&shot.ranges, arena, arena + shot.note.arena_size, EP_RANGE_ARENA);
	add_kept();
	add_page((uint64_t)&epitaph_root);
	if (shot.info)
		ep_abort_message_ranges(add_range);
	choose_pages();
}

/* ---- the file ---- */

static void count_saved(const struct ep_snapshot_range *range, uint64_t saved)
{
	uint64_t wanted = range->end - range->start;
	uint64_t sp = shot.registers.rsp;

	if (range->kind & EP_RANGE_ARENA) {
		shot.note.arena_saved += saved;
		return;
	}
	if (range->kind & EP_RANGE_PAGE) {
		shot.note.pages_wanted += wanted / PAGE;
		shot.note.pages_saved += saved / PAGE;
	}
	if (range->kind & EP_RANGE_STACK && sp < range->start)
		shot.thread.stack_saved = saved;
	else if (range->kind & EP_RANGE_STACK && range->start + saved > sp)
		shot.thread.stack_saved = range->start + saved - sp;
	if (shot.thread.stack_saved > shot.thread.stack_wanted)
		shot.thread.stack_saved = shot.thread.stack_wanted;
}

/* As readers of a running process do it: coredump/live/live_read.h. */
static void copy_page(struct ep_block *to, const struct ep_block *from, uint64_t until)
{
	bool whole = ep_block_holds(from, UINT64_MAX);

	if (whole) {
		whole = ep_block_copy(to, from, until);
	} else {
		ep_bytes_copy(to, from, sizeof *to);
		/* Unless it has become one just now. */
		whole = !ep_block_holds(from, UINT64_MAX);
	}
	if (!whole)
		ep_bytes_zero(to, sizeof *to);
}

static bool is_empty(const struct ep_block *block)
{
	const uint64_t *words = (const void *)block;

	for (uint64_t i = 0; i < sizeof(*block) / sizeof(*words); i++)
		if (words[i])
			return false;
	return true;
}

/* With holes for what is empty; not at the end, if `last`: a file is as long as what is written. */
static int64_t write_sparse(uint64_t at, const struct ep_block *page, uint64_t count, bool last)
{
	for (uint64_t from = 0, to; from < count; from = to) {
		int64_t done;

		for (to = from; to < count && !is_empty(&page[to]); to++)
			;
		if (to == from && (++to < count || !last))
			continue;
		done = ep_new_file_write(&shot.output, at + from * PAGE, &page[from],
					 (to - from) * PAGE);
		if (done < 0)
			return done;
	}
	return (int64_t)(count * PAGE);
}

static int64_t write_blocks(uint64_t at, uint64_t start, uint64_t end)
{
	uint64_t until = ep_tsc(), from = start, count;

	for (; from < end; from += count * PAGE) {
		int64_t done;

		count = (end - from) / PAGE;
		if (count > BLOCKS)
			count = BLOCKS;
		for (uint64_t i = 0; i < count; i++)
			copy_page(&shot.blocks[i], (const struct ep_block *)from + i, until);
		if (shot.name)
			done = write_sparse(at + (from - start), shot.blocks, count,
					    from + count * PAGE == end);
		else
			done = ep_new_file_write(&shot.output, at + (from - start), shot.blocks,
						 count * PAGE);
		if (done < 0)
			return done;
	}
	return (int64_t)(end - start);
}

/* Rings change while they are written; the rest of the arena comes first, so that no thread has
 * entered more blocks by then than by its table. */
static int64_t write_arena(uint64_t at, const struct ep_snapshot_range *range)
{
	uint64_t rings = (uint64_t)ep_arena_section(EP_SECTION_RINGS, NULL);
	uint64_t head = rings - range->start;
	int64_t done;

	if (shot.name)
		return write_blocks(at, range->start, range->end);
	done = ep_new_file_write(&shot.output, at, (const void *)range->start, head);

	if (done < 0 || (uint64_t)done < head)
		return done;
	done = write_blocks(at + head, rings, range->end);
	return done < 0 ? done : (int64_t)head + done;
}

static int64_t write_bytes(uint64_t at, const struct ep_snapshot_range *range)
{
	if (range->kind & EP_RANGE_ARENA && shot.copy.size)
		return write_sparse(at, (const struct ep_block *)shot.copy.address,
				    shot.copy.size / PAGE, true);
	if (range->kind & EP_RANGE_ARENA && !shot.kept)
		return write_arena(at, range);
	return ep_new_file_write(&shot.output, at, (const void *)range->start,
				 range->end - range->start);
}

/* What turns out to be unreadable is left out of the file and counted. */
static int write_range(const struct ep_snapshot_range *range, Elf64_Phdr *segment, uint64_t *at)
{
	int64_t saved = write_bytes(*at, range);

	if (saved < 0)
		return (int)saved;
	saved &= ~(int64_t)(PAGE - 1);
	*segment = (Elf64_Phdr){
		.p_type = saved ? PT_LOAD : PT_NULL,
		.p_flags = PF_R | PF_W | (range->kind & EP_RANGE_CODE ? PF_X : 0),
		.p_offset = *at,
		.p_vaddr = range->start,
		.p_filesz = (uint64_t)saved,
		.p_memsz = (uint64_t)saved,
		.p_align = PAGE,
	};
	count_saved(range, (uint64_t)saved);
	*at += (uint64_t)saved;
	return 0;
}

/* Outside of this process a kept arena is an arena as any. */
static int write_root(uint64_t at)
{
	struct ep_root root;
	int64_t done;

	if (!shot.kept)
		return 0;
	ep_root_fill(&root, &((const struct ep_arena *)shot.kept->address)->root, EP_ARENA_MAGIC,
		     shot.kept->address);
	done = ep_new_file_write(&shot.output, at, &root, sizeof root);
	return done < 0 ? (int)done : 0;
}

static int write_pages(uint64_t at)
{
	uint64_t first = at;
	int error = 0;

	for (uint32_t i = 0; i < shot.ranges.count && !error; i++)
		error = write_range(&shot.ranges.list[i], &shot.segments[i + 1], &at);
	return error ? error : write_root(first);
}

/* Their registers are not to be had from inside. */
static void add_others(struct ep_notes *notes)
{
	const struct ep_thread *list = ep_arena_section(EP_SECTION_THREADS, NULL);
	uint32_t count = ep_thread_count();

	for (uint32_t i = 0; i < count; i++)
		if (list[i].state == EP_THREAD_LIVE && list[i].tid != shot.thread.tid)
			ep_notes_add_thread(notes, list[i].tid, NULL, NULL, 0);
}

/* Where our note begins, at its place after the kernel's. */
static uint64_t write_notes(struct ep_notes *notes)
{
	uint64_t ours;

	ep_notes_add_thread(notes, shot.thread.tid, &shot.registers, shot.floating,
			    shot.info ? shot.info->si_signo : 0);
	if (shot.info)
		ep_notes_add_siginfo(notes, shot.info);
	ep_notes_add_process(notes);
	ep_notes_add_auxv(notes);
	ep_notes_add_files(notes, shot.maps);
	if (shot.info)
		add_others(notes);
	ours = notes->at;
	ep_notes_add_snapshot(notes, &shot.note, &shot.thread);
	return ours;
}

static void fill_note(uint64_t tsc)
{
	const struct ep_kept *kept = shot.kept;

	shot.note.major = EP_FORMAT_MAJOR;
	shot.note.minor = EP_FORMAT_MINOR;
	shot.note.size = sizeof shot.note;
	shot.note.arena_address = kept ? kept->address : (uint64_t)ep_arena;
	shot.note.root_address = kept ? 0 : (uint64_t)&epitaph_root;
	shot.note.pages_wanted += shot.ranges.left_out;
	shot.note.taken_tsc = tsc;
	shot.note.found = kept ? EP_FOUND_KEPT : shot.info ? EP_FOUND_CRASH : EP_FOUND_SELF;
	shot.note.thread_count = 1;
	shot.thread.stack_pointer = shot.registers.rsp;
}

static int write_headers(uint64_t notes_from, uint64_t notes_to)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof header,
		.e_ehsize = sizeof header,
		.e_phentsize = sizeof *shot.segments,
		.e_phnum = (uint16_t)(shot.ranges.count + 1),
	};
	int64_t done;

	shot.segments[0] = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_offset = notes_from,
		.p_filesz = notes_to - notes_from,
		.p_align = 4,
	};
	done = ep_new_file_write(&shot.output, 0, &header, sizeof header);
	if (done < 0)
		return (int)done;
	done = ep_new_file_write(&shot.output, sizeof header, shot.segments,
				 header.e_phnum * sizeof *shot.segments);
	return done < 0 ? (int)done : 0;
}

/* The pages last of what may change, the headers when all is known. */
static int write_core(uint64_t tsc)
{
	uint64_t from = sizeof(Elf64_Ehdr) + (shot.ranges.count + 1) * sizeof *shot.segments;
	struct ep_notes notes = {&shot.output, from, 0};
	uint64_t ours = write_notes(&notes), to = notes.at;
	int error = notes.error;

	if (!error)
		error = write_pages((to + PAGE - 1) & ~(PAGE - 1));
	fill_note(tsc);
	notes.at = ours;
	ep_notes_add_snapshot(&notes, &shot.note, &shot.thread);
	if (!error)
		error = notes.error;
	return error ? error : write_headers(from, to);
}

/* ---- its name ---- */

static bool exists(const char *path)
{
	return !ep_syscall4(SYS_faccessat, AT_FDCWD, (long)path, 0, 0);
}

static int expand(const char *pattern, uint64_t number)
{
	struct ep_text text;

	ep_text_init(&text, shot.path, sizeof shot.path);
	ep_path_pattern_expand(pattern, number, &text);
	return text.cut ? -ENAMETOOLONG : text.used ? 0 : -ENOENT;
}

/* The smallest number from *number on whose file does not exist yet. */
static int expand_fresh(const char *pattern, uint64_t *number)
{
	int error = expand(pattern, *number);

	while (!error && exists(shot.path) && *number < NUMBERS)
		error = expand(pattern, ++*number);
	return error;
}

/* Somebody may take the name between the look and the renaming. */
static int name_numbered(const char *pattern, uint64_t number)
{
	int error;

	do {
		error = expand_fresh(pattern, &number);
		if (!error)
			error = ep_new_file_name(&shot.output, shot.path, true);
	} while (error == -EEXIST && number < NUMBERS);
	return error;
}

static int choose_path(const char *path, const char *pattern)
{
	uint64_t first = 1;
	struct ep_text text;

	if (!path)
		return ep_path_pattern_has(pattern, 'n') ? expand_fresh(pattern, &first)
							 : expand(pattern, first);
	ep_text_init(&text, shot.path, sizeof shot.path);
	ep_text_add(&text, path);
	return text.cut ? -ENAMETOOLONG : text.used ? 0 : -ENOENT;
}

static int write_file(const char *path, uint64_t tsc)
{
	const char *pattern = ep_settings.output;
	int error = choose_path(path, pattern);

	if (!error)
		error = ep_new_file_begin(&shot.output, shot.path);
	if (error)
		return error;
	error = write_core(tsc);
	if (!error && shot.name)
		error = shot.name(&shot.output);
	else if (!error && !path && ep_path_pattern_has(pattern, 'n'))
		error = name_numbered(pattern, 1);
	else if (!error)
		error = ep_new_file_name(&shot.output, shot.path, false);
	ep_new_file_end(&shot.output);
	return error;
}

static int take(const char *path)
{
	uint64_t tsc;
	int error;

	ep_clock_refresh(UINT64_MAX);
	ep_loadmap_stale();
	ep_loadmap_refresh();
	tsc = ep_tsc();
	/* Counts are where they are. */
	if (!ep_settings.counting && ep_copy_memory_take(&shot.copy))
		tsc = shot.copy.until;
	choose();
	ep_snapshot_ranges_settle(&shot.ranges);
	error = write_file(path, tsc);
	ep_copy_memory_free(&shot.copy);
	if (!error)
		__atomic_fetch_add(&ep_arena->snapshots_written, 1, __ATOMIC_RELAXED);
	return error;
}

/* One range, neither stacks nor registers. */
static void choose_only(uint32_t tid, uint64_t address, uint64_t size)
{
	shot.ranges.count = 0;
	shot.ranges.left_out = 0;
	ep_bytes_zero(&shot.registers, sizeof shot.registers);
	ep_bytes_zero(&shot.note, sizeof shot.note);
	ep_bytes_zero(&shot.thread, sizeof shot.thread);
	shot.floating = NULL;
	shot.thread.tid = tid;
	shot.note.arena_size = size;
	ep_snapshot_ranges_add(&shot.ranges, address, address + size, EP_RANGE_ARENA);
}

/* Nothing but the kept arena, which nobody changes any more. */
static int save(const struct ep_kept *kept, const char *path)
{
	shot.kept = kept;
	choose_only(kept->tid, kept->address, kept->size);
	return write_file(path, kept->tsc);
}

int ep_snapshot_save(uint64_t number, const char *path)
{
	const struct ep_kept *kept = ep_kept_find(number);
	int error;

	if (!kept)
		return -EINVAL;
	if (!ep_jail_permits(EP_JAIL_NO_SNAPSHOT))
		return -EPERM;
	if (atomic_flag_test_and_set(&busy))
		return -EBUSY;
	error = save(kept, path);
	shot.kept = NULL;
	atomic_flag_clear(&busy);
	return error;
}

/* Not for ever: the process is about to end, and should. */
static bool wait_for_turn(void)
{
	for (int i = 0; atomic_flag_test_and_set(&busy); i++) {
		if (holder == &ep_tls || i == YIELDS)
			return false;
		ep_syscall0(SYS_sched_yield);
	}
	holder = &ep_tls;
	return true;
}

int ep_snapshot_arena(const char *path, ep_snapshot_name_fn name)
{
	int error;

	if (!wait_for_turn())
		return -EBUSY;
	ep_clock_refresh(UINT64_MAX);
	shot.name = name;
	choose_only((uint32_t)ep_syscall0(SYS_gettid), (uint64_t)ep_arena, ep_arena->committed);
	error = write_file(path, ep_tsc());
	shot.name = NULL;
	holder = NULL;
	atomic_flag_clear(&busy);
	return error;
}

static void read_registers(const ucontext_t *context)
{
	ep_registers_from(&shot.registers, context);
	shot.floating = context->uc_mcontext.fpregs;
}

static void read_floating(void)
{
	static uint8_t state[512] __attribute__((aligned(16)));

	__asm__ volatile("fxsave64 %0" : "=m"(state));
	shot.floating = state;
}

/* Part of a function that is not inlined: the registers noted here are that one's, and its frame is
 * there until the stack has been copied. */
static inline __attribute__((always_inline)) int write_as(const char *path, const void *context,
							  const siginfo_t *info)
{
	int error;

	if (!ep_arena)
		return -ENODEV;
	if (!ep_jail_permits(EP_JAIL_NO_SNAPSHOT))
		return -EPERM;
	if (atomic_flag_test_and_set(&busy))
		return -EBUSY;
	shot.info = info;
	ep_bytes_zero(&shot.registers, sizeof shot.registers);
	if (context)
		read_registers(context);
	else
		EP_REGISTERS_HERE(&shot.registers);
	if (!context)
		read_floating();
	ep_registers_complete(&shot.registers);
	error = take(path);
	shot.info = NULL;
	atomic_flag_clear(&busy);
	return error;
}

__attribute__((noinline)) int ep_snapshot_write(const char *path, const void *context)
{
	return write_as(path, context, NULL);
}

int ep_snapshot_crash(const void *info, const void *context)
{
	return write_as(NULL, context, info);
}

void ep_snapshot_reset(void)
{
	if (!atomic_flag_test_and_set(&busy)) {
		/* No thread of the parent was at it: a child copies no page for nothing. */
		atomic_flag_clear(&busy);
		return;
	}
	ep_copy_memory_free(&shot.copy);
	shot.kept = NULL;
	shot.name = NULL;
	holder = NULL;
	shot.info = NULL;
	atomic_flag_clear(&busy);
}
