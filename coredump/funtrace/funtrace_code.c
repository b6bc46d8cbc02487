/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_code.c: the pieces that code consists of, by the modules' files: the search table of
 * .eh_frame_hdr has the start of each, and a function with a cold part has two. A file is opened
 * when it is first asked for. Files are untrusted: what makes no sense tells nothing.
 */
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/find/objectfile.h"

#define COLD ".cold"

struct row { /* of the table, both relative to the section */
	int32_t start;
	int32_t entry;
};

struct table_head {
	uint8_t version, frame_encoding, count_encoding, row_encoding;
	int32_t frame;
	uint32_t count;
};

struct file {
	bool tried;
	int fd;
	Elf *elf;
	uint64_t bias;
	uint64_t section; /* p_vaddr of .eh_frame_hdr */
	const uint8_t *rows;
	size_t count; /* 0: nothing is known */
};

/* Pieces that were asked about: the same few come again and again. */
#define ANSWERS 256u

struct answer {
	uint64_t piece; /* 0: free */
	uint64_t low, high;
	enum ep_funtrace_parent what;
};

struct ep_funtrace_code {
	const struct ep_source *source;
	const struct ep_funtrace_module *modules;
	size_t module_count, program;
	struct answer answers[ANSWERS];
	struct file files[]; /* of each module */
};

struct ep_funtrace_code *ep_funtrace_code_create(const struct ep_source *source,
						 const struct ep_funtrace_module *modules,
						 size_t count, size_t program)
{
	struct ep_funtrace_code *code = calloc(1, sizeof(*code) + count * sizeof(*code->files));

	if (!code)
		return NULL;
	code->source = source;
	code->modules = modules;
	code->module_count = count;
	code->program = program;
	return code;
}

void ep_funtrace_code_destroy(struct ep_funtrace_code *code)
{
	for (size_t i = 0; code && i < code->module_count; i++) {
		elf_end(code->files[i].elf);
		if (code->files[i].tried && code->files[i].fd >= 0)
			close(code->files[i].fd);
	}
	free(code);
}

/* ---- a file ---- */

static bool has_build_id(Elf *elf, const struct ep_funtrace_module *module)
{
	size_t count = 0, at = 0, name, text;
	GElf_Phdr header;
	GElf_Nhdr note;
	Elf_Data *data;

	if (!module->build_id_size)
		return true;
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					    header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		for (at = 0; data && (at = gelf_getnote(data, at, &note, &name, &text));)
			if (note.n_type == NT_GNU_BUILD_ID &&
			    note.n_namesz == sizeof(ELF_NOTE_GNU) &&
			    !memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
				return note.n_descsz == module->build_id_size &&
				       !memcmp((char *)data->d_buf + text, module->build_id,
					       note.n_descsz);
	}
	return false;
}

/* The only form that linkers make has rows of two numbers of 4 bytes. */
static void take_table(struct file *file, const GElf_Phdr *header)
{
	struct table_head head;
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset,
					      header->p_filesz, ELF_T_BYTE);

	if (!data || data->d_size < sizeof(head))
		return;
	memcpy(&head, data->d_buf, sizeof(head));
	if (head.version != 1 || head.frame_encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
	    head.count_encoding != DW_EH_PE_udata4 ||
	    head.row_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    head.count > (data->d_size - sizeof(head)) / sizeof(struct row))
		return;
	file->section = header->p_vaddr;
	file->rows = (const uint8_t *)data->d_buf + sizeof(head);
	file->count = head.count;
}

static void file_read(struct file *file, const struct ep_funtrace_module *module)
{
	struct ep_funtrace_object object = {.count = 0};
	size_t count = 0;
	GElf_Phdr header;

	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || !ep_funtrace_object_read(&object, file->elf) ||
	    !ep_funtrace_bias(&object, module->start, module->offset, module->end - module->start,
			      &file->bias) ||
	    !has_build_id(file->elf, module))
		return;
	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count && !file->count; i++)
		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME)
			take_table(file, &header);
}

/* The file of the module that `address` lies in, with a table; or NULL. */
static struct file *file_at(struct ep_funtrace_code *code, uint64_t address)
{
	char path[EP_FUNTRACE_PATH];
	struct file *file;
	size_t i = ep_funtrace_module_at(code->modules, code->module_count, address);

	if (i == SIZE_MAX)
		return NULL;
	file = &code->files[i];
	if (!file->tried) {
		file->tried = true;
		ep_funtrace_path(path, sizeof(path), code->source, i == code->program,
				 code->modules[i].path, code->modules[i].path_size);
		file->fd = ep_object_file_descriptor(path);
		if (file->fd >= 0)
			file_read(file, &code->modules[i]);
	}
	return file->count ? file : NULL;
}

/* ---- asking ---- */

static uint64_t row_start(const struct file *file, size_t i)
{
	struct row row;

	memcpy(&row, file->rows + i * sizeof(row), sizeof(row));
	return file->section + (uint64_t)(int64_t)row.start + file->bias;
}

uint64_t ep_funtrace_piece(struct ep_funtrace_code *code, uint64_t address)
{
	const struct file *file = code ? file_at(code, address) : NULL;
	size_t low = 0, high = file ? file->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row_start(file, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? row_start(file, low - 1) : 0;
}

struct symbols {
	Elf *elf;
	Elf_Data *data;
	size_t count, names; /* section of the names */
};

static bool symbols_open(struct symbols *symbols, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB &&
		    header.sh_entsize) {
			*symbols = (struct symbols){elf, elf_getdata(section, NULL),
						    header.sh_size / header.sh_entsize,
						    header.sh_link};
			return symbols->data != NULL;
		}
	return false;
}

/* Its name; NULL: there is none. */
static const char *symbol_at(const struct symbols *symbols, size_t i, GElf_Sym *symbol)
{
	if (i > INT32_MAX || !gelf_getsym(symbols->data, (int)i, symbol))
		return NULL;
	return elf_strptr(symbols->elf, symbols->names, symbol->st_name);
}

/* "f.cold", "f.cold.12": the bytes of "f"; 0: it is no cold part. */
static size_t parent_size(const char *name)
{
	const char *end = strstr(name, COLD);

	return end && (end[sizeof(COLD) - 1] == 0 || end[sizeof(COLD) - 1] == '.')
		       ? (size_t)(end - name)
		       : 0;
}

/* The function of that name: of the source file whose local symbols lie around `cold`, else the
 * global one. */
static bool parent_find(const struct symbols *symbols, size_t cold, const char *name, size_t size,
			GElf_Sym *out)
{
	bool same_file = true, found = false;
	GElf_Sym symbol;
	const char *text;
	size_t first = cold;

	for (; first > 0; first--)
		if (symbol_at(symbols, first, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			break;
	for (size_t i = first + 1; i < symbols->count; i++) {
		bool local;

		text = symbol_at(symbols, i, &symbol);
		local = text && GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
		if (local && GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			same_file = false;
		if (!text || (local && !same_file) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    strncmp(text, name, size) != 0 || text[size])
			continue;
		*out = symbol;
		found = true;
		if (local)
			break;
	}
	return found;
}

static enum ep_funtrace_parent parent(struct ep_funtrace_code *code, uint64_t piece, uint64_t *low,
				      uint64_t *high)
{
	const struct file *file = file_at(code, piece);
	struct symbols symbols;
	GElf_Sym symbol;
	bool named = false;

	if (!file || !symbols_open(&symbols, file->elf))
		return EP_FUNTRACE_UNNAMED;
	for (size_t i = 1; i < symbols.count; i++) {
		const char *name = symbol_at(&symbols, i, &symbol);
		size_t size;

		if (!name || symbol.st_value + file->bias != piece ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		named = true;
		size = parent_size(name);
		if (!size || !parent_find(&symbols, i, name, size, &symbol))
			continue;
		*low = symbol.st_value + file->bias;
		*high = *low + (symbol.st_size ? symbol.st_size : 1);
		return EP_FUNTRACE_PARENT;
	}
	return named ? EP_FUNTRACE_WHOLE : EP_FUNTRACE_UNNAMED;
}

enum ep_funtrace_parent ep_funtrace_parent(struct ep_funtrace_code *code, uint64_t piece,
					   uint64_t *low, uint64_t *high)
{
	struct answer *answer = &code->answers[piece / 16 % ANSWERS];

	if (answer->piece != piece) {
		*answer = (struct answer){.piece = piece};
		answer->what = parent(code, piece, &answer->low, &answer->high);
	}
	*low = answer->low;
	*high = answer->high;
	return answer->what;
}
