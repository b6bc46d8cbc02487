/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loadmap.c: the MODULES section follows the kernel's map. An entry is filled, then marked valid,
 * and later at most marked unloaded; so a crash in the middle of a refresh leaves a map that was
 * right a moment ago.
 *
 * What dlopen and dlclose change is found by the dynamic linker's lists, so that each costs what it
 * changes and not what is there: of an object that came the kernel is asked for the mapping that
 * begins it. All of the map is read at the start, where that does not fit together or cannot be
 * asked (Linux before 6.11), and once more when a second has passed without news.
 */
#include "runtime/facts/loadmap.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <elf.h>
#include <fcntl.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/integrity.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/linkmap.h"
#include "runtime/facts/maps.h"
#include "runtime/format.h"
#include "runtime/lib/files.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/tsc.h"

/* An entry and its path: what an average module takes. */
#define BYTES_PER_MODULE (sizeof(struct ep_module) + 80)
#define CAPACITY_MOST    8192

static struct ep_modules *modules;
static struct ep_module *entries;
static uint64_t section_size;
static uint32_t capacity;
static uint64_t program; /* an address inside the main program, 0 unknown */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static const struct ep_loadmap_watch *watch EP_IN_DATA;

/* When a change was announced last, and from when on to look for it (0: none is expected). */
static _Atomic uint64_t announced, look_at;

/* What was announced since the map was last read whole. */
#define CAME       1u
#define WENT       2u
#define ALL        4u                   /* by other ways, or the lists are not known yet */
#define LAST_AFTER UINT64_C(1000000000) /* ns */
static _Atomic uint32_t expected = ALL;

/* Of the refresh that runs; too large for the stack of a signal handler. */
static char buffer[EP_MAPS_BUFFER];
static uint8_t seen[CAPACITY_MOST / 8];

/* ---- entries ---- */

static void note_seen(const struct ep_module *module)
{
	uint32_t index = (uint32_t)(module - entries);

	seen[index / 8] |= (uint8_t)(1u << index % 8);
}

static bool was_seen(uint32_t index)
{
	return seen[index / 8] & 1u << index % 8;
}

/* What the section says is bounded by what it was laid out for: somebody may have written over
 * it. */
static uint32_t known_count(void)
{
	return modules->count < capacity ? modules->count : capacity;
}

static bool path_holds(const struct ep_module *module)
{
	return module->path.offset <= section_size &&
	       module->path.length <= section_size - module->path.offset;
}

static bool same_path(const struct ep_module *module, const struct ep_map_line *line)
{
	return path_holds(module) && module->path.length == line->path_length &&
	       ep_bytes_equal((char *)modules + module->path.offset, line->path, line->path_length);
}

static bool same_file(const struct ep_module *module, const struct ep_map_line *line)
{
	return module->device == line->device && module->inode == line->inode &&
	       same_path(module, line);
}

/* The module of line's file that is loaded at `start`, or NULL. */
static struct ep_module *find_loaded(uint64_t start, const struct ep_map_line *line)
{
	for (uint32_t i = 0; i < known_count(); i++) {
		struct ep_module *module = &entries[i];

		if (!module->unload_tsc && module->start == start && same_file(module, line))
			return module;
	}
	return NULL;
}

/* Has any other module been where this one was, since it was unloaded? */
static bool overlaid(const struct ep_module *gone)
{
	for (uint32_t i = 0; i < known_count(); i++) {
		const struct ep_module *module = &entries[i];

		if (module != gone && module->start < gone->end && gone->start < module->end &&
		    (!module->unload_tsc || module->unload_tsc > gone->unload_tsc))
			return true;
	}
	return false;
}

static bool same_image(const struct ep_module *module, const struct ep_mapped_image *image)
{
	return module->start == image->start && module->end == image->end &&
	       module->bias == image->bias && module->build_id_size == image->build_id_size &&
	       ep_bytes_equal(module->build_id, image->build_id, image->build_id_size);
}

/* Memory of no file on a disk, though the kernel gives it a name: programs put their code there for
 * huge pages (memfd_create(2), MAP_SHARED and MAP_HUGETLB of mmap(2), shmget(2)). */
static bool is_memory(const struct ep_map_line *line)
{
	return ep_string_starts(line->path, "/memfd:") ||
	       ep_string_starts(line->path, "/dev/zero") ||
	       ep_string_starts(line->path, "/anon_hugepage") ||
	       ep_string_starts(line->path, "/SYSV");
}

/* The loaded module whose header was put there, with its code. A library in a file of its own may
 * be another copy. */
static struct ep_module *find_remapped(const struct ep_map_line *line,
				       const struct ep_mapped_image *image)
{
	for (uint32_t i = 0; i < known_count(); i++) {
		struct ep_module *module = &entries[i];

		if (!module->unload_tsc && same_image(module, image) &&
		    (module->flags & EP_MODULE_EXECUTABLE || is_memory(line)))
			return module;
	}
	return NULL;
}

/* Does the code lie in a module that is still there? Its own code, then, put elsewhere. */
static bool is_of_seen(const struct ep_map_line *line)
{
	for (uint32_t i = 0; i < known_count(); i++)
		if (was_seen(i) && !entries[i].unload_tsc && entries[i].start <= line->start &&
		    line->end <= entries[i].end)
			return true;
	return false;
}

/* All of it, its header too, may have become memory without a name. The program itself cannot
 * go. */
static bool still_there(const struct ep_module *module)
{
	struct ep_mapped_image image;

	return module->flags & EP_MODULE_EXECUTABLE ||
	       (module->build_id_size && ep_mapped_image_read(module->start, &image) &&
		same_image(module, &image) && !overlaid(module));
}

/*
 * A plug-in that comes and goes at one address would fill the table. Its old entry serves again as
 * long as nothing else was there in between: each address means at any time what it meant before.
 */
static struct ep_module *find_returned(const struct ep_map_line *line,
				       const struct ep_mapped_image *image)
{
	for (uint32_t i = 0; i < known_count(); i++) {
		struct ep_module *module = &entries[i];

		if (module->unload_tsc && same_image(module, image) && same_file(module, line) &&
		    !overlaid(module))
			return module;
	}
	return NULL;
}

/* Many entries may share one path: a plug-in that moves at each load. */
static bool keep_path(const struct ep_map_line *line, struct ep_string *out)
{
	uint32_t end = modules->strings_end;

	for (uint32_t i = 0; i < known_count(); i++) {
		if (same_path(&entries[i], line)) {
			*out = entries[i].path;
			return true;
		}
	}
	if (end > section_size || line->path_length > section_size - end)
		return false;
	ep_bytes_copy((char *)modules + end, line->path, line->path_length);
	out->offset = end;
	out->length = (uint32_t)line->path_length;
	modules->strings_end = end + out->length;
	return true;
}

static uint32_t flags_of(const struct ep_map_line *line, const struct ep_mapped_image *image,
			 bool header)
{
	uint32_t flags = header ? 0 : EP_MODULE_NO_HEADER;

	if (program >= image->start && program < image->end)
		flags |= EP_MODULE_EXECUTABLE;
	if (ep_string_equal(line->path, "[vdso]"))
		flags |= EP_MODULE_VDSO;
	return flags;
}

static void add(const struct ep_map_line *line, const struct ep_mapped_image *image, bool header)
{
	uint32_t count = known_count();
	struct ep_module *module = &entries[count];

	if (count == capacity || !keep_path(line, &module->path)) {
		ep_arena->modules_untold++;
		return;
	}
	module->flags = flags_of(line, image, header);
	module->start = image->start;
	module->end = image->end;
	module->bias = image->bias;
	module->load_tsc = ep_tsc();
	module->unload_tsc = 0;
	module->device = line->device;
	module->inode = line->inode;
	module->build_id_size = image->build_id_size;
	ep_bytes_copy(module->build_id, image->build_id, image->build_id_size);
	note_seen(module);
	__atomic_store_n(&module->state, EP_MODULE_VALID, __ATOMIC_RELEASE);
	__atomic_store_n(&modules->count, count + 1, __ATOMIC_RELEASE);
}

/* ---- the kernel's map ---- */

/* The file that was last met at its first byte, and what it spans. */
struct scan {
	uint64_t device, inode;
	uint64_t end;                 /* one past its last address */
	bool pending;                 /* it is ELF, but has not shown code yet */
	bool gone;                    /* unmapped since its line was read */
	struct ep_mapped_image image; /* when pending */
};

/* Does the line belong to the file that was begun? */
static bool continues(const struct scan *scan, const struct ep_map_line *line)
{
	return line->start < scan->end && line->device == scan->device &&
	       line->inode == scan->inode;
}

static void begin_known(struct scan *scan, const struct ep_module *module)
{
	note_seen(module);
	scan->end = module->end;
	scan->pending = false;
}

/* The first bytes of a file: perhaps a module, if code follows. */
static void begin(struct scan *scan, const struct ep_map_line *line)
{
	struct ep_module *known = find_loaded(line->start, line);

	scan->device = line->device;
	scan->inode = line->inode;
	scan->end = 0;
	scan->pending = scan->gone = false;
	if (!known) {
		if (!(line->flags & EP_MAP_READ))
			return;
		if (!ep_mapped_image_read(line->start, &scan->image)) {
			scan->gone = scan->image.gone;
			return;
		}
		known = find_loaded(scan->image.start, line);
		if (!known)
			known = find_remapped(line, &scan->image);
	}
	if (known) {
		begin_known(scan, known);
	} else {
		scan->end = scan->image.end;
		scan->pending = true;
	}
}

static void admit(const struct ep_map_line *line, const struct ep_mapped_image *image, bool header)
{
	struct ep_module *returned = find_returned(line, image);

	if (!returned) {
		add(line, image, header);
		return;
	}
	note_seen(returned);
	if (watch)
		watch->returns(returned);
	returned->unload_tsc = 0;
}

/* Code without an ELF header before it: a packed file, a JIT's memory. */
static void admit_headless(const struct ep_map_line *line)
{
	struct ep_module *known = find_loaded(line->start, line);
	struct ep_mapped_image image = {
		.bias = line->start - line->file_offset,
		.start = line->start,
		.end = line->end,
	};

	if (known)
		note_seen(known);
	else
		admit(line, &image, false);
}

/* Only what has code is a module: data files may be ELF too. */
static void read_line(struct scan *scan, const struct ep_map_line *line)
{
	if (!line->inode && !ep_string_equal(line->path, "[vdso]"))
		return;
	if (!line->file_offset && !continues(scan, line))
		begin(scan, line);
	if (!(line->flags & EP_MAP_EXEC))
		return;
	/* Another thread unloads it: what is left of it here is no module. */
	if (scan->gone && line->device == scan->device && line->inode == scan->inode)
		return;
	if (!continues(scan, line)) {
		if (!is_of_seen(line))
			admit_headless(line);
	} else if (scan->pending) {
		admit(line, &scan->image, true);
		scan->pending = false;
	}
}

static void mark_gone(uint32_t index)
{
	entries[index].unload_tsc = ep_tsc();
	if (watch)
		watch->goes(&entries[index]);
}

static void mark_unloaded(void)
{
	for (uint32_t i = 0; i < known_count(); i++)
		if (!was_seen(i) && !entries[i].unload_tsc && !still_there(&entries[i]))
			mark_gone(i);
}

/*
 * A record has 47 bits for an address, and the hooks do not look: code above that (5-level paging,
 * on request only: Documentation/arch/x86/x86_64/5level-paging.rst) ends tracing before it can be
 * truncated. The vsyscall page lies in the kernel's half and is no code of the program's.
 */
static void check_reach(const struct ep_map_line *line)
{
	if (line->flags & EP_MAP_EXEC && line->end > EP_RETURN_BIT && line->end <= INT64_MAX)
		ep_arena_stop(EP_OFF_ADDRESS);
}

static void compare(void)
{
	struct scan scan = {.end = 0};
	struct ep_map_line line;
	struct ep_maps maps;

	if (!ep_maps_open(&maps, buffer))
		return;
	ep_bytes_zero(seen, sizeof seen);
	while (ep_maps_next(&maps, &line)) {
		check_reach(&line);
		read_line(&scan, &line);
	}
	ep_maps_close(&maps);
	/* Who stands in what could not be read is not gone. */
	if (!maps.failed)
		mark_unloaded();
	modules->refreshed_tsc = ep_tsc();
}

/* ---- the dynamic linker's lists ---- */

static long maps_fd; /* for questions; negative: not open */

#define NOWHERE UINT32_MAX

static struct ep_module *find_live(uint64_t address)
{
	for (uint32_t i = known_count(); i > 0; i--)
		if (!entries[i - 1].unload_tsc && address >= entries[i - 1].start &&
		    address < entries[i - 1].end)
			return &entries[i - 1];
	return NULL;
}

static bool overlaps_live(const struct ep_mapped_image *image)
{
	for (uint32_t i = 0; i < known_count(); i++)
		if (!entries[i].unload_tsc && entries[i].start < image->end &&
		    image->start < entries[i].end)
			return true;
	return false;
}

/* One that is there already; what is none (it has no code) is nowhere. */
static bool come_known(struct ep_linked *object)
{
	const struct ep_module *module = find_live(object->dynamic);

	object->index = module ? (uint32_t)(module - entries) : NOWHERE;
	return true;
}

/* Its first mapping is what its program headers say, and some of it is code. */
static bool come(struct ep_linked *object)
{
	struct ep_mapped_image image;
	struct ep_map_line line, code;

	if (!ep_mapped_image_read(object->bias, &image) || image.bias != object->bias ||
	    image.start != object->bias || image.dynamic != object->dynamic ||
	    !ep_maps_ask(maps_fd, image.start, 0, buffer, &line) || line.start != image.start ||
	    line.file_offset || !line.inode || !(line.flags & EP_MAP_READ) ||
	    !ep_maps_ask(maps_fd, image.start, EP_MAP_EXEC, NULL, &code) ||
	    code.start >= image.end || code.inode != line.inode)
		return false;
	check_reach(&code);
	if (!find_loaded(image.start, &line)) {
		/* One that went unannounced lay there: all of the map tells. */
		if (overlaps_live(&image))
			return false;
		admit(&line, &image, true);
	}
	/* Where the table is full, it is nowhere. */
	return come_known(object);
}

static void go(const struct ep_linked *object)
{
	if (object->index != NOWHERE && !entries[object->index].unload_tsc)
		mark_gone(object->index);
}

static bool compare_links(uint32_t what)
{
	bool done;

	maps_fd = ep_fd_open_own("maps", O_RDONLY);
	done = maps_fd >= 0 && ep_linkmap_look(come, what & WENT ? go : NULL);
	if (maps_fd >= 0)
		ep_fd_close(maps_fd);
	if (done)
		modules->refreshed_tsc = ep_tsc();
	return done;
}

static void begin_links(void)
{
	struct ep_mapped_image image;
	const struct ep_module *module = program ? find_live(program) : NULL;

	if (module && ep_mapped_image_read(module->start, &image))
		ep_linkmap_begin(image.dynamic, image.dynamic_size, come_known);
}

/* ---- when to look ---- */

/*
 * dlopen announces when it is entered and may take long to map: after the first look come others,
 * at growing distances, until a second has passed. `looked` is what look_at was; when it no longer
 * is, another change was announced.
 */
static void look_again(uint64_t looked, uint64_t now, uint64_t since)
{
	uint64_t next = 0;

	if (since < ep_clock_cycles(LAST_AFTER))
		next = now + since + ep_clock_cycles(1000000);
	if (atomic_compare_exchange_strong(&look_at, &looked, next) && !next)
		__atomic_store_n(&modules->stale, 0, __ATOMIC_RELAXED);
}

static void announce(uint32_t what)
{
	uint64_t now = ep_tsc();

	if (!modules || ep_overwritten())
		return;
	atomic_fetch_or(&expected, what);
	__atomic_store_n(&modules->stale, 1, __ATOMIC_RELAXED);
	atomic_store(&announced, now);
	atomic_store(&look_at, now);
}

void ep_loadmap_stale(void)
{
	announce(ALL);
}

void ep_loadmap_loads(void)
{
	announce(CAME);
}

void ep_loadmap_unloads(void)
{
	announce(WENT);
}

void ep_loadmap_refresh(void)
{
	uint32_t what;
	uint64_t at = atomic_load_explicit(&look_at, memory_order_relaxed);
	uint64_t now, since;

	if (!at || (now = ep_tsc()) < at || !ep_arena_intact())
		return;
	if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return;
	since = now - atomic_load(&announced);
	what = atomic_load(&expected);
	if (what & ALL || since >= ep_clock_cycles(LAST_AFTER) || !compare_links(what)) {
		/* What comes meanwhile announces itself anew. */
		atomic_store(&expected, 0);
		compare();
		begin_links();
	}
	look_again(at, now, since);
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* The arena is fresh, so all entries are free already. */
static void lay_out(void)
{
	uint64_t most = (section_size - sizeof *modules) / BYTES_PER_MODULE;

	capacity = most < CAPACITY_MOST ? (uint32_t)most : CAPACITY_MOST;
	modules->count = 0;
	modules->capacity = capacity;
	modules->strings = (uint32_t)(sizeof *modules + (uint64_t)capacity * sizeof *entries);
	modules->strings_end = modules->strings;
	modules->refreshed_tsc = 0;
	modules->stale = 0;
}

static bool anything_unloaded(void)
{
	for (uint32_t i = 0; i < known_count(); i++)
		if (entries[i].unload_tsc)
			return true;
	return false;
}

void ep_loadmap_inherit(const struct ep_loadmap_watch *others)
{
	if (atomic_flag_test_and_set(&busy) || anything_unloaded()) {
		ep_bytes_zero((char *)modules, section_size);
		ep_loadmap_start(others);
		return;
	}
	atomic_flag_clear(&busy);
}

void ep_loadmap_start(const struct ep_loadmap_watch *others)
{
	watch = others;
	modules = ep_arena_section(EP_SECTION_MODULES, &section_size);
	entries = (struct ep_module *)(modules + 1);
	lay_out();
	program = ep_auxv(AT_PHDR);
	atomic_store(&look_at, 0);
	atomic_store(&expected, ALL);
	compare();
	atomic_flag_clear(&busy);
}
