/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module_file.c: candidates in order, each checked before it is taken. The paths come from a core,
 * so anything may lie there: only regular files are opened, without blocking.
 */
#include "decoder/names/module_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "coredump/files/buildid.h"
#include "coredump/files/elffile.h"
#include "coredump/find/objectfile.h"
#include "coredump/util/alloc.h"
#include "coredump/util/hex.h"
#include "decoder/names/file_check.h"
#include "decoder/symbols/unpack.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define DELETED         " (deleted)"
#define NOT_ITS_FILE    "%s, from a debuginfod server, is damaged or not its file"

/* What is looked for, and what was found wrong on the way. */
struct search {
	struct ep_module_file *file;
	const struct ep_trace_module *module;
	const struct ep_names_options *options;
	char path[PATH_MAX];   /* the module's, without " (deleted)" */
	char rooted[PATH_MAX]; /* /usr/lib/debug below the sysroot; "" none */
	bool deleted;
	bool asked_refused; /* the file that the user named is not the one */
};

/* An ELF file that is open. */
struct candidate {
	int fd;
	Elf *elf;
};

const char *ep_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_loadable_x86_64(Elf *elf)
{
	GElf_Ehdr header;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64 &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/* 0, or an errno; ENOEXEC: not an ELF file of this machine. Takes the descriptor over, which may
 * be -1. */
static int candidate_of(struct candidate *out, int fd)
{
	Elf *elf;

	if (fd < 0)
		return errno;
	elf_version(EV_CURRENT);
	/* Not mapped: a file that shrinks meanwhile must not kill us. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !is_loadable_x86_64(elf)) {
		elf_end(elf);
		close(fd);
		return ENOEXEC;
	}
	*out = (struct candidate){.fd = fd, .elf = elf};
	return 0;
}

static int candidate_open(struct candidate *out, const char *path)
{
	return candidate_of(out, ep_elf_file_open(path));
}

static void candidate_close(struct candidate *candidate)
{
	elf_end(candidate->elf);
	close(candidate->fd);
}

/* Adds a sentence to the one line of warning. */
static void __attribute__((format(printf, 2, 3)))
warn(struct search *search, const char *format, ...)
{
	char *warning = search->file->warning;
	size_t size = sizeof(search->file->warning);
	size_t used = strlen(warning);
	va_list arguments;

	if (used == 0)
		used = (size_t)snprintf(warning, size, "%s: ", ep_path_base(search->path));
	else
		used += (size_t)snprintf(warning + used, size - used, "; ");
	if (used >= size)
		return;
	va_start(arguments, format);
	vsnprintf(warning + used, size - used, format, arguments);
	va_end(arguments);
}

/* Another place had the right file. That the user's own file was refused stays worth a word. */
static void forget_warning(struct search *search)
{
	if (search->asked_refused)
		return;
	search->file->warning[0] = '\0';
	search->file->other_build = false;
}

static const char *hex(char *out, const void *bytes, size_t size)
{
	return ep_hex(out, bytes, size < EP_BUILD_ID_MAX ? size : EP_BUILD_ID_MAX);
}

enum match { MATCH_YES, MATCH_UNKNOWN, MATCH_NO };

/* Is it the file that ran? A process that has a build-id did not come from a file without one. */
static enum match match_build_id(const struct ep_trace_module *module, Elf *elf)
{
	uint8_t id[EP_BUILD_ID_MAX];
	size_t size = ep_build_id_of_elf(elf, id, sizeof(id));

	if (module->build_id_size == 0)
		return MATCH_UNKNOWN;
	if (size != module->build_id_size)
		return MATCH_NO;
	return memcmp(id, module->build_id, size) == 0 ? MATCH_YES : MATCH_NO;
}

/* Bytes of a file that are held against memory: where a build-id is the same, it is not by
 * chance. */
#define COMPARED_IDENTIFIED (UINT64_C(1) << 20)
#define COMPARED_ALONE      (UINT64_C(64) << 20)

static void warn_mismatch(struct search *search, Elf *elf, const char *path)
{
	const struct ep_trace_module *module = search->module;
	char ours[2 * EP_BUILD_ID_MAX + 1], theirs[2 * EP_BUILD_ID_MAX + 1];
	uint8_t id[EP_BUILD_ID_MAX];
	size_t size = ep_build_id_of_elf(elf, id, sizeof(id));

	hex(ours, module->build_id, module->build_id_size);
	hex(theirs, id, size);
	search->file->other_build = true;
	warn(search, "build-id of %s differs (%s in the process, %s in the file)%s", path, ours,
	     size > 0 ? theirs : "none", search->options->force ? ", used all the same" : "");
}

/* The trace came from a funtrace.raw, maybe by way of a snapshot: its records have the addresses
 * that funtrace's own hooks tell. */
static bool is_funtrace(const struct search *search)
{
	const struct ep_trace *trace = search->options->trace;

	return trace && trace->process.runtime && strcmp(trace->process.runtime, "funtrace") == 0;
}

/* Takes the candidate as the module's own file, or closes it. `sure`: only when its build-id
 * matches. Whatever its build-id says, it is no file whose bytes are others than the process's. */
static bool consider_own(struct search *search, struct candidate *candidate, const char *path,
			 bool sure)
{
	enum match match = match_build_id(search->module, candidate->elf);
	enum ep_file_check check = EP_FILE_UNCHECKED;
	bool take = match == MATCH_YES;
	size_t wrong, asked;
	const char *what;

	if (match == MATCH_YES || (!sure && match == MATCH_UNKNOWN))
		check = ep_file_check(candidate->elf, search->module, search->options->memory,
				      match == MATCH_YES ? COMPARED_IDENTIFIED : COMPARED_ALONE,
				      &what);
	/* A file of the same sizes may have functions in another order, and few of them. What does
	 * not fit may also be damage, or a record of a module that was there before, unseen. */
	if (check != EP_FILE_OTHER && check != EP_FILE_SAME && !is_funtrace(search) &&
	    match != MATCH_NO && !(sure && match == MATCH_UNKNOWN)) {
		wrong = ep_file_check_calls(candidate->elf, search->module, search->options->trace,
					    &asked);
		if (wrong * 16 > asked) {
			check = EP_FILE_OTHER;
			what = "calls of the trace come from where it has no hooks";
		}
	}
	if (check == EP_FILE_OTHER) {
		take = search->options->force;
		search->file->other_build = true;
		warn(search, "%s is not the file that ran%s: %s%s", path,
		     match == MATCH_YES ? ", though its build-id is the same" : "", what,
		     take ? ", used all the same" : "");
		match = take ? MATCH_UNKNOWN : MATCH_NO;
	} else if (!sure && match == MATCH_UNKNOWN && check == EP_FILE_SAME) {
		match = MATCH_YES;
		take = true;
	} else if (!sure && match == MATCH_UNKNOWN) {
		take = !search->deleted || search->options->force;
		warn(search, "no build-id to check %s by%s%s", path,
		     check == EP_FILE_ALIKE ? ", only its headers and what else the process's "
					      "memory holds of it"
					    : "",
		     take ? "" : ", and it was deleted or replaced");
	} else if (!sure && match == MATCH_NO) {
		take = search->options->force;
		warn_mismatch(search, candidate->elf, path);
	}
	if (!take) {
		candidate_close(candidate);
		return false;
	}
	if (match == MATCH_YES)
		forget_warning(search);
	search->file->elf = candidate->elf;
	search->file->fd = candidate->fd;
	search->file->path = ep_strdup(path);
	return true;
}

/* A running process's file itself: it needs no build-id, and none that differs can be it but for
 * one that was written over. */
static bool try_mapped(struct search *search)
{
	const struct ep_names_options *options = search->options;
	const struct ep_trace_module *module = search->module;
	const struct ep_mapping *mappings;
	struct candidate candidate;
	char path[PATH_MAX];
	size_t count;
	int fd = -1;

	if (!options->memory || ep_source_folder(options->memory) < 0 || options->sysroot ||
	    module->unload_tsc)
		return false;
	mappings = ep_source_mappings(options->memory, &count);
	for (size_t i = 0; i < count && fd < 0; i++)
		if (mappings[i].start == module->start && mappings[i].file_offset == 0)
			fd = ep_object_file_mapped(options->memory, &mappings[i], path,
						   sizeof(path));
	if (fd < 0 || candidate_of(&candidate, ep_elf_file_judge(fd)) != 0)
		return false;
	if (match_build_id(module, candidate.elf) == MATCH_NO) {
		candidate_close(&candidate);
		return false;
	}
	search->file->elf = candidate.elf;
	search->file->fd = candidate.fd;
	search->file->path = ep_strdup(path);
	return true;
}

static bool try_own(struct search *search, const char *path, bool sure)
{
	struct candidate candidate;
	int error = candidate_open(&candidate, path);

	if (error == 0)
		return consider_own(search, &candidate, path, sure);
	if (!sure && error == ENOEXEC)
		warn(search, "%s is not an ELF file for x86-64", path);
	else if (!sure && error == EINVAL)
		warn(search, "%s is not a regular file", path);
	else if (!sure && error == EFBIG)
		warn(search, "%s would become far more than its size", path);
	else if (!sure)
		warn(search, "%s: %s%s", path, strerror(error),
		     error == ENOENT && !search->options->sysroot
			     ? " (elsewhere? --sysroot, --debug-path)"
			     : "");
	return false;
}

/* The directories for debug files; NULL after the last. */
static const char *debug_directory(const struct search *search, size_t index)
{
	const struct ep_names_options *options = search->options;

	if (index < options->debug_path_count)
		return options->debug_paths[index];
	index -= options->debug_path_count;
	if (search->rooted[0] && index-- == 0)
		return search->rooted;
	return index == 0 ? DEBUG_DIRECTORY : NULL;
}

/* DIR/.build-id/xx/yyyy + suffix; false: no build-id, or too long. */
static bool build_id_path(char out[PATH_MAX], const char *directory, const void *id, size_t id_size,
			  const char *suffix)
{
	char text[2 * EP_BUILD_ID_MAX + 1];
	int length;

	if (id_size < 2 || id_size > EP_BUILD_ID_MAX)
		return false;
	hex(text, id, id_size);
	length = snprintf(out, PATH_MAX, "%s/.build-id/%.2s/%s%s", directory, text, text + 2,
			  suffix);
	return length > 0 && length < PATH_MAX;
}

static bool join(char out[PATH_MAX], const char *a, const char *b, const char *c, const char *d)
{
	int length = snprintf(out, PATH_MAX, "%s%s%s%s", a, b, c, d);

	return length > 0 && length < PATH_MAX;
}

static bool ask_servers(struct search *search, char path[PATH_MAX], enum ep_debuginfod_kind kind,
			const void *id, size_t id_size)
{
	const char *why = "";
	bool found = search->options->debuginfod &&
		     ep_debuginfod_find(path, kind, id, id_size, ep_path_base(search->path),
					search->options->progress, &why);

	if (*why) {
		search->file->unanswered = why;
		warn(search, "%s", why);
	}
	return found;
}

static bool find_own(struct search *search)
{
	const struct ep_trace_module *module = search->module;
	const char *directory;
	char path[PATH_MAX];

	if (search->options->executable && (module->flags & EP_MODULE_EXECUTABLE)) {
		if (try_own(search, search->options->executable, false))
			return true;
		search->asked_refused = true;
	}
	if (try_mapped(search))
		return true;
	if (search->path[0] == '/' &&
	    join(path, search->options->sysroot ? search->options->sysroot : "", search->path, "",
		 "") &&
	    try_own(search, path, false))
		return true;
	for (size_t i = 0; (directory = debug_directory(search, i)); i++) {
		if (build_id_path(path, directory, module->build_id, module->build_id_size, "") &&
		    try_own(search, path, true))
			return true;
		if (join(path, directory, search->path, "", "") && try_own(search, path, true))
			return true;
	}
	if (!ask_servers(search, path, EP_DEBUGINFOD_EXECUTABLE, module->build_id,
			 module->build_id_size))
		return false;
	if (try_own(search, path, true))
		return true;
	warn(search, NOT_ITS_FILE, path);
	return false;
}

/* ---- the debug file ---- */

/* ".debug_x", or as gold compresses it ".zdebug_x", which libdw reads. */
static bool is_named(const char *text, const char *name)
{
	return strcmp(text, name) == 0 ||
	       (strncmp(text, ".z", 2) == 0 && strcmp(text + 2, name + 1) == 0);
}

static Elf_Scn *section_named(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *text;

		if (!gelf_getshdr(section, header))
			continue;
		text = elf_strptr(elf, names, header->sh_name);
		if (text && is_named(text, name))
			return section;
	}
	return NULL;
}

static bool has_section(Elf *elf, const char *name)
{
	GElf_Shdr header;

	return section_named(elf, name, &header) && header.sh_type != SHT_NOBITS;
}

static bool file_crc(int fd, uint32_t *out)
{
	unsigned char buffer[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		crc = crc32(crc, buffer, (uInt)got);
		at += got;
	}
	*out = (uint32_t)crc;
	return got == 0;
}

/* Does it have all the bytes that its headers promise? */
static bool is_whole(const struct candidate *candidate)
{
	struct stat status;
	GElf_Ehdr header;
	size_t names;

	return fstat(candidate->fd, &status) == 0 && gelf_getehdr(candidate->elf, &header) &&
	       elf_getshdrstrndx(candidate->elf, &names) == 0 &&
	       header.e_shoff <= (uint64_t)status.st_size &&
	       (uint64_t)header.e_shnum * header.e_shentsize <=
		       (uint64_t)status.st_size - header.e_shoff;
}

/* Takes the debug file when its build-id is the module's, or, where there is none to compare, when
 * the CRC of the link is its own. */
static bool try_debug(struct search *search, const char *path, const uint32_t *link_crc)
{
	struct ep_module_file *file = search->file;
	struct ep_trace_module like = *search->module;
	struct candidate candidate;
	uint8_t id[EP_BUILD_ID_MAX];
	size_t size;
	enum match match;
	uint32_t crc;

	if (candidate_open(&candidate, path) != 0)
		return false;
	if (!is_whole(&candidate)) {
		candidate_close(&candidate);
		return false;
	}
	/* It belongs to the file that was taken, forced or not. */
	size = file->elf ? ep_build_id_of_elf(file->elf, id, sizeof(id)) : 0;
	if (size > 0 && size <= EP_BUILD_ID_MAX) {
		memcpy(like.build_id, id, size);
		like.build_id_size = (uint32_t)size;
	}
	match = match_build_id(&like, candidate.elf);
	if (link_crc && match != MATCH_YES && (!file_crc(candidate.fd, &crc) || crc != *link_crc)) {
		warn(search, "CRC of %s is not that of the debug link", path);
		match = MATCH_NO;
	} else if (link_crc && match == MATCH_UNKNOWN) {
		match = MATCH_YES;
	}
	if (match == MATCH_YES && !ep_file_check_debug(candidate.elf, file->elf, search->module,
						       search->options->memory)) {
		warn(search, "%s is of another file, whose sections are of other sizes", path);
		match = MATCH_NO;
	}
	if (match != MATCH_YES) {
		candidate_close(&candidate);
		return false;
	}
	file->debug = candidate.elf;
	file->debug_fd = candidate.fd;
	file->debug_path = ep_strdup(path);
	return true;
}

/* The name in .gnu_debuglink: NUL-terminated, padded to 4, then the CRC. */
static bool debug_link(Elf *elf, char name[NAME_MAX + 1], uint32_t *crc)
{
	GElf_Shdr header;
	Elf_Scn *section = section_named(elf, ".gnu_debuglink", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	size_t length, at;

	if (!data || !data->d_buf)
		return false;
	length = strnlen(data->d_buf, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (length == 0 || length > NAME_MAX || at + 4 > data->d_size)
		return false;
	memcpy(name, data->d_buf, length + 1);
	memcpy(crc, (const char *)data->d_buf + at, 4);
	return !strchr(name, '/');
}

static void find_debug_by_link(struct search *search)
{
	char name[NAME_MAX + 1], folder[PATH_MAX], path[PATH_MAX];
	const char *directory;
	char *slash;
	uint32_t crc;

	if (!search->file->elf || !search->file->path || !debug_link(search->file->elf, name, &crc))
		return;
	if (!join(folder, search->file->path, "", "", ""))
		return;
	slash = strrchr(folder, '/');
	if (!slash)
		strcpy(folder, ".");
	else
		*slash = '\0';
	if ((join(path, folder, "/", name, "") && strcmp(path, search->file->path) != 0 &&
	     try_debug(search, path, &crc)) ||
	    (join(path, folder, "/.debug/", name, "") && try_debug(search, path, &crc)))
		return;
	for (size_t i = 0; (directory = debug_directory(search, i)); i++)
		if ((join(path, directory, folder, "/", name) && try_debug(search, path, &crc)) ||
		    (join(path, directory, "/", name, "") && try_debug(search, path, &crc)))
			return;
}

static void find_debug(struct search *search)
{
	const struct ep_trace_module *module = search->module;
	const uint8_t *id = module->build_id;
	uint8_t own[EP_BUILD_ID_MAX];
	size_t size =
		search->file->elf ? ep_build_id_of_elf(search->file->elf, own, sizeof(own)) : 0;
	const char *directory;
	char path[PATH_MAX];

	if (size && size <= sizeof(own))
		id = own;
	else
		size = module->build_id_size;
	for (size_t i = 0; (directory = debug_directory(search, i)); i++) {
		if (build_id_path(path, directory, id, size, ".debug") &&
		    try_debug(search, path, NULL))
			return;
		if (join(path, directory, search->path, ".debug", "") &&
		    try_debug(search, path, NULL))
			return;
	}
	find_debug_by_link(search);
	if (!search->file->debug && ask_servers(search, path, EP_DEBUGINFOD_DEBUGINFO, id, size) &&
	    !try_debug(search, path, NULL))
		warn(search, NOT_ITS_FILE, path);
}

/* ---- the vdso: the kernel's, which we have too when it is the same kernel */

/* Bytes of our own vdso, which the kernel wrote: up to its section headers. */
static size_t own_vdso(const void **out)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!header)
		return 0;
	*out = header;
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

static void open_vdso(struct search *search)
{
	struct ep_module_file *file = search->file;
	const void *image = NULL;
	size_t size = own_vdso(&image);

	if (!size)
		return;
	file->memory = ep_malloc(size);
	memcpy(file->memory, image, size);
	elf_version(EV_CURRENT);
	file->elf = elf_memory(file->memory, size);
	if (!file->elf || match_build_id(search->module, file->elf) != MATCH_YES) {
		elf_end(file->elf);
		free(file->memory);
		file->elf = NULL;
		file->memory = NULL;
	}
}

/* ---- the whole ---- */

static void search_init(struct search *search, struct ep_module_file *file,
			const struct ep_trace_module *module,
			const struct ep_names_options *options)
{
	static const struct ep_names_options defaults;
	size_t length = strlen(module->path);
	size_t tail = strlen(DELETED);

	search->file = file;
	search->asked_refused = false;
	search->module = module;
	search->options = options ? options : &defaults;
	search->rooted[0] = '\0';
	if (search->options->sysroot &&
	    !join(search->rooted, search->options->sysroot, DEBUG_DIRECTORY, "", ""))
		search->rooted[0] = '\0';
	search->deleted = length > tail && strcmp(module->path + length - tail, DELETED) == 0;
	if (search->deleted)
		length -= tail;
	snprintf(search->path, sizeof(search->path), "%.*s",
		 (int)(length < PATH_MAX ? length : PATH_MAX - 1), module->path);
}

void ep_module_file_open(struct ep_module_file *file, const struct ep_trace_module *module,
			 const struct ep_names_options *options)
{
	struct search search;

	*file = (struct ep_module_file){.fd = -1, .debug_fd = -1};
	search_init(&search, file, module, options);
	if (module->flags & EP_MODULE_VDSO) {
		open_vdso(&search);
		return;
	}
	if (!find_own(&search) && file->warning[0] == '\0')
		warn(&search, "no file of it was found");
	if (!has_section(file->elf, ".symtab") || !has_section(file->elf, ".debug_info"))
		find_debug(&search);
	/* The right debug file is as good for names: what was wrong with another file does not
	 * matter then. */
	if (file->debug && !file->elf && has_section(file->debug, ".symtab"))
		forget_warning(&search);
}

void ep_module_file_close(struct ep_module_file *file)
{
	if (file->elf && elf_end(file->elf) == 0 && file->fd >= 0)
		close(file->fd);
	if (file->debug && elf_end(file->debug) == 0 && file->debug_fd >= 0)
		close(file->debug_fd);
	free(file->path);
	free(file->debug_path);
	elf_end(file->unpacked);
	free(file->unpacked_memory);
	free(file->memory);
	*file = (struct ep_module_file){.fd = -1, .debug_fd = -1};
}

size_t ep_module_file_read(const struct ep_module_file *file, uint64_t address, void *out,
			   size_t size)
{
	size_t count;

	if (!file->elf || elf_getphdrnum(file->elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		Elf_Data *data;
		uint64_t within;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		within = address - header.p_vaddr;
		if (size > header.p_filesz - within)
			size = header.p_filesz - within;
		/* Not by libelf where there is a file: it goes through a list of all that was ever
		 * asked of it (0.188). */
		if (file->fd >= 0)
			return pread(file->fd, out, size, (off_t)(header.p_offset + within)) ==
					       (ssize_t)size
				       ? size
				       : 0;
		data = elf_getdata_rawchunk(file->elf, (int64_t)(header.p_offset + within), size,
					    ELF_T_BYTE);
		if (!data || !data->d_buf)
			return 0;
		memcpy(out, data->d_buf, size);
		return size;
	}
	return 0;
}

Elf *ep_module_file_lines(struct ep_module_file *file)
{
	bool own = !has_section(file->debug, ".debug_line");
	Elf *elf = own ? file->elf : file->debug;
	const char *why = "";

	if (file->unpacked)
		return file->unpacked;
	if (file->unread || !has_section(elf, ".debug_line"))
		return NULL;
	file->unpacked =
		ep_unpack(elf, own ? file->fd : file->debug_fd, &file->unpacked_memory, &why);
	if (*why)
		file->unread = why;
	return file->unpacked ? file->unpacked : *why ? NULL : elf;
}
