/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c: facts from /proc, the file, and the environment. What cannot be learnt is as if all
 * were well: doctor only says what it has seen. */
#include "cli/commands/doctor/target.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "coredump/files/buildid.h"
#include "coredump/files/elffile.h"
#include "coredump/files/procfile.h"
#include "coredump/find/root.h"
#include "coredump/handler/store.h"
#include "coredump/kinds/open.h"
#include "coredump/live/living.h"
#include "coredump/util/alloc.h"
#include "coredump/util/number.h"
#include "decoder/trace/trace.h"
#include "runtime/settings/settings_list.h"

/* A file of the process, or of ours where it does not run yet. */
static void own_path(const struct ep_doctor_target *target, const char *name, char *out,
		     size_t size)
{
	if (target->pid)
		snprintf(out, size, "/proc/self/fd/%d/%s", target->folder, name);
	else
		snprintf(out, size, "/proc/self/%s", name);
}

/* ---- the file ---- */

/* The first of the table counts: that of addresses has the others' symbols. */
static void look_sanitizer(struct ep_doctor_target *target, const char *symbol, bool defined)
{
	const struct ep_sanitizer *seen = ep_sanitizer_of_symbol(symbol, defined);

	if (seen && (!target->sanitizer || seen < target->sanitizer))
		target->sanitizer = seen;
}

static void symbols_look(struct ep_doctor_target *target, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name)
			continue;
		if (strcmp(name, "epitaph_root") == 0 && symbol.st_shndx != SHN_UNDEF)
			target->has_runtime = true;
		/* The runtime asks weakly whether there is one. */
		if (symbol.st_shndx != SHN_UNDEF || GELF_ST_BIND(symbol.st_info) != STB_WEAK)
			look_sanitizer(target, name, symbol.st_shndx != SHN_UNDEF);
		if (symbol.st_shndx == SHN_UNDEF &&
		    (strcmp(name, "epitaph___fentry__") == 0 || strcmp(name, "__fentry__") == 0 ||
		     strcmp(name, "__return__") == 0 ||
		     strcmp(name, "__cyg_profile_func_enter") == 0))
			target->has_hooks = true;
	}
}

/* In a stripped program the note is all that is left of the runtime. */
static void notes_look(struct ep_doctor_target *target, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name, desc, next;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &desc))) {
		const char *text = (const char *)data->d_buf + name;

		if (note.n_namesz == sizeof(EP_NOTE_NAME) &&
		    memcmp(text, EP_NOTE_NAME, sizeof(EP_NOTE_NAME)) == 0)
			target->has_runtime = true;
		at = next;
	}
}

static void sections_look(struct ep_doctor_target *target, Elf *elf)
{
	Elf_Scn *section = NULL;
	uint8_t first;
	size_t names;

	target->has_build_id = ep_build_id_of_elf(elf, &first, 1) > 0;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
			target->has_debug = true;
		if (header.sh_type == SHT_SYMTAB)
			target->has_symbols = true;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			symbols_look(target, elf, section, &header);
		if (header.sh_type == SHT_NOTE)
			notes_look(target, section);
	}
}

static void file_look(struct ep_doctor_target *target)
{
	int fd = ep_elf_file_open(target->program);
	struct stat st;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	target->readable = elf && elf_kind(elf) == ELF_K_ELF;
	if (target->readable)
		sections_look(target, elf);
	elf_end(elf);
	target->has_rights = (fstat(fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
			     fgetxattr(fd, "security.capability", NULL, 0) > 0;
	close(fd);
}

/* As a shell finds it. */
static int program_find(struct ep_doctor_target *target, const char *name, struct ep_err *err)
{
	const char *path = getenv("PATH");
	char *copy = ep_strdup(path ? path : "/usr/bin:/bin"), *save = NULL;
	bool found = strchr(name, '/') != NULL;
	int fd;

	snprintf(target->program, PATH_MAX, "%s", name);
	for (char *dir = strtok_r(copy, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		snprintf(target->program, PATH_MAX, "%s/%s", dir, name);
		found = access(target->program, X_OK) == 0;
	}
	free(copy);
	fd = found ? ep_elf_file_open(target->program) : -1;
	if (fd >= 0) {
		close(fd);
		return EP_OK;
	}
	if (found && (errno == EINVAL || errno == EFBIG))
		return ep_fail(err, EP_E_FORMAT, 0, "%s: %s", name,
			       errno == EFBIG ? "would become far more than its size"
					      : "not a regular file");
	return ep_fail(err, found && errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0, "%s: %s", name,
		       found ? strerror(errno) : "no such program in PATH");
}

/* ---- what it has, or would inherit ---- */

static void limit_look(struct ep_doctor_target *target)
{
	struct ep_procfile file;
	unsigned long long limit;
	char path[64], *line;

	target->core_limit = EP_UNLIMITED;
	own_path(target, "limits", path, sizeof(path));
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "Max core file size %llu", &limit) == 1)
			target->core_limit = limit;
	ep_procfile_close(&file);
}

static void parse_setting(struct ep_doctor_target *target, const char *setting)
{
	if (strncmp(setting, "EPITAPH_MEMORY=", 15) == 0)
		ep_size_parse(setting + 15, &target->memory);
	else if (strcmp(setting, "EPITAPH=off") == 0)
		target->off = true;
	else if (strncmp(setting, "EPITAPH_FILE=", 13) == 0)
		target->has_file = setting[13] != '\0';
	else if (strcmp(setting, "EPITAPH_ON_CRASH=snapshot") == 0)
		target->on_crash = true;
	else if (target->sanitizer && strncmp(setting, target->sanitizer->variable,
					      strlen(target->sanitizer->variable)) == 0)
		target->sanitizer_leaves_core =
			ep_sanitizer_leaves_core(setting + strlen(target->sanitizer->variable));
}

static void environment_look(struct ep_doctor_target *target)
{
	struct ep_procfile file;
	char path[64], *text;

	own_path(target, "environ", path, sizeof(path));
	ep_procfile_open(&file, path);
	while ((text = ep_procfile_next(&file, '\0')))
		parse_setting(target, text);
	ep_procfile_close(&file);
}

static bool same_namespace(const struct ep_doctor_target *target, const char *kind)
{
	char path[96], name[32], mine[64] = "", init[64] = "";

	snprintf(name, sizeof(name), "ns/%s", kind);
	own_path(target, name, path, sizeof(path));
	if (readlink(path, mine, sizeof(mine) - 1) < 0)
		return true;
	/* Who may not look at init's compares with his own. */
	snprintf(path, sizeof(path), "/proc/1/ns/%s", kind);
	if (readlink(path, init, sizeof(init) - 1) < 0) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
		if (readlink(path, init, sizeof(init) - 1) < 0)
			return true;
	}
	return strcmp(mine, init) == 0;
}

/* What is not dumpable has a /proc of root's (proc(5)). Of root's own processes it is not known. */
static bool is_dumpable(const struct ep_doctor_target *target)
{
	struct ep_procfile file;
	char path[64], *line;
	unsigned real, effective = 0;
	struct stat st;

	own_path(target, "status", path, sizeof(path));
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2)
			break;
	ep_procfile_close(&file);
	return stat(path, &st) != 0 || st.st_uid == effective;
}

static void process_look(struct ep_doctor_target *target)
{
	char path[64], text[64];

	own_path(target, "coredump_filter", path, sizeof(path));
	target->filter = ep_procfile_line(path, text, sizeof(text)) && *text
				 ? (uint32_t)strtoul(text, NULL, 16)
				 : 0x33;
	own_path(target, "cwd", path, sizeof(path));
	if (target->pid)
		snprintf(target->directory, PATH_MAX, "%s", path);
	else if (!getcwd(target->directory, PATH_MAX))
		target->directory[0] = '\0';
	target->dumpable = !target->pid || is_dumpable(target);
	target->contained = !same_namespace(target, "pid") || !same_namespace(target, "mnt");
	limit_look(target);
	environment_look(target);
}

static void arena_look(struct ep_doctor_target *target)
{
	struct ep_source *source;
	struct ep_root_found found;
	struct ep_arena arena;
	struct ep_thread thread;

	if (ep_source_open_live(&source, target->pid, &target->unseen))
		return;
	if (ep_root_find(source, &found, NULL) == EP_OK &&
	    ep_source_read(source, found.arena_address, &arena, sizeof(arena), NULL, NULL) ==
		    EP_OK) {
		target->traced =
			found.off_reason != EP_OFF_OVERWRITTEN && found.off_reason != EP_OFF_NO_TSC;
		target->has_runtime = true;
		target->off = arena.gate != 0;
		target->off_reason = found.off_reason ? found.off_reason : arena.off_reason;
		target->memory = found.root.arena_size;
		for (unsigned i = 0; i < EP_SECTION_MAX; i++)
			if (arena.sections[i].type == EP_SECTION_THREADS &&
			    ep_source_read(source, found.arena_address + arena.sections[i].offset,
					   &thread, sizeof(thread), NULL, NULL) == EP_OK)
				target->seen_events = thread.state != EP_THREAD_FREE;
	}
	ep_source_close(source);
}

/* ---- the system ---- */

static void system_look(struct ep_doctor_target *target)
{
	char number[32], folder[PATH_MAX];
	struct statvfs space;
	char *slash;

	if (!ep_procfile_line("/proc/sys/kernel/core_pattern", target->pattern,
			      sizeof(target->pattern)))
		target->pattern[0] = '\0';
	target->caught = ep_store_is_named(target->pattern, target->store);
	ep_procfile_line("/proc/sys/fs/suid_dumpable", number, sizeof(number));
	target->suid_dumpable = strtoull(number, NULL, 10);
	snprintf(folder, sizeof(folder), "%s",
		 target->pattern[0] == '/' ? target->pattern : target->directory);
	slash = strrchr(folder, '/');
	if (target->pattern[0] == '/' && slash)
		slash[slash == folder] = '\0';
	target->space_known = statvfs(folder, &space) == 0;
	if (target->space_known)
		target->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
}

int ep_doctor_target_examine(struct ep_doctor_target *target, const char *name, const char *store,
			     struct ep_err *err)
{
	struct ep_living living;
	char *end = NULL;
	int rc = EP_OK;

	memset(target, 0, sizeof(*target));
	target->folder = -1;
	target->memory = EP_MEMORY_DEFAULT;
	snprintf(target->store, sizeof(target->store), "%s", store);
	if (name && access(name, F_OK) != 0 && *name >= '1' && *name <= '9')
		target->pid = (pid_t)strtol(name, &end, 10);
	if (target->pid && *end)
		target->pid = 0;
	if (target->pid) {
		if (!ep_living_open(&living, target->pid))
			return ep_fail(err, EP_E_IO, 0, "%s: no such process, and no such file",
				       name);
		target->tid = living.tid;
		target->folder = living.folder;
		if (!target->tid)
			return ep_fail(err, EP_E_IO, 0,
				       "%s: a zombie: it has ended, and waits for its parent to "
				       "hear of it; name its core, or the program",
				       name);
		own_path(target, "exe", target->program, PATH_MAX);
	} else if (name) {
		rc = program_find(target, name, err);
	}
	if (rc)
		return rc;
	if (target->program[0])
		file_look(target);
	process_look(target);
	system_look(target);
	if (target->pid)
		arena_look(target);
	return EP_OK;
}
