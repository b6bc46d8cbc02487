/* SPDX-License-Identifier: BSD-2-Clause */
/* strip.c: the functions of a linked file, their instructions one after the other (libcapstone),
 * and what is to become of those that call hooks. */
#include "funcount/strip/strip.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/code/disassembler.h"
#include "decoder/symbols/symbol_table.h"
#include "funcount/strip/strip_targets.h"

#define NAMES 64 /* of one function */

/* A symbol of a function or of its cold part. */
struct part {
	uint64_t start, end;
	const char *name;
	uint32_t object;
	size_t owner; /* index of its function */
	bool cold;
};

struct file {
	Elf *elf;
	const uint8_t *bytes;
	size_t size;
	struct ep_raw_symbols raw;
	struct ep_strip_targets targets;
	struct part *parts; /* ascending start */
	size_t part_count;
	struct part **by_name;  /* those that are not cold */
	struct part **by_owner; /* those that are */
	size_t name_count, cold_count;
	csh capstone;
	cs_insn *insn;
};

/* ---- functions and their parts ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* f.cold and f.cold.3: the length of f; 0: it is no cold part. */
static size_t cold_stem(const char *name)
{
	const char *at = strstr(name, ".cold");

	return at && at != name && (!at[5] || at[5] == '.') ? (size_t)(at - name) : 0;
}

static void list_parts(struct file *file)
{
	struct part *parts = ep_calloc(file->raw.count, sizeof *parts);
	size_t count = 0;

	for (size_t i = 0; i < file->raw.count; i++) {
		const struct ep_raw_symbol *raw = &file->raw.list[i];

		/* Typed as functions (rank), with a size. */
		if (raw->rank < 10 || raw->end <= raw->start || ep_strip_hook_named(raw->name))
			continue;
		parts[count++] = (struct part){
			.start = raw->start,
			.end = raw->end,
			.name = raw->name,
			.object = raw->object,
			.owner = SIZE_MAX,
			.cold = cold_stem(raw->name) != 0,
		};
	}
	qsort(parts, count, sizeof *parts, compare_parts);
	file->parts = parts;
	file->part_count = count;
}

/* One function for all symbols that begin at an address. */
static void make_functions(struct ep_strip *strip, struct file *file)
{
	strip->functions = ep_calloc(file->part_count, sizeof *strip->functions);
	for (size_t i = 0; i < file->part_count; i++) {
		struct part *part = &file->parts[i];
		struct ep_strip_function *last =
			strip->count ? &strip->functions[strip->count - 1] : NULL;

		if (part->cold)
			continue;
		if (!last || last->start != part->start) {
			last = &strip->functions[strip->count++];
			last->name = part->name;
			last->start = part->start;
		}
		if (part->end > last->end)
			last->end = part->end;
		part->owner = (size_t)(last - strip->functions);
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct part *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static int compare_owners(const void *a, const void *b)
{
	const struct part *const *one = a, *const *other = b;

	if ((*one)->owner != (*other)->owner)
		return (*one)->owner < (*other)->owner ? -1 : 1;
	return ((*one)->start > (*other)->start) - ((*one)->start < (*other)->start);
}

static void index_parts(struct file *file)
{
	file->by_name = ep_calloc(file->part_count, sizeof *file->by_name);
	file->by_owner = ep_calloc(file->part_count, sizeof *file->by_owner);
	for (size_t i = 0; i < file->part_count; i++)
		if (file->parts[i].cold)
			file->by_owner[file->cold_count++] = &file->parts[i];
		else
			file->by_name[file->name_count++] = &file->parts[i];
	qsort(file->by_name, file->name_count, sizeof *file->by_name, compare_names);
}

/* The first in by_name that does not come before the first `size` bytes of `name`. */
static size_t first_named(const struct file *file, const char *name, size_t size)
{
	size_t low = 0, high = file->name_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(file->by_name[middle]->name, name, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The function that a cold part is of: of the same object file, else a global one. SIZE_MAX: it is
 * not known. */
static size_t cold_owner(const struct file *file, const struct part *cold)
{
	size_t stem = cold_stem(cold->name), found = SIZE_MAX;

	for (size_t i = first_named(file, cold->name, stem); i < file->name_count; i++) {
		const struct part *part = file->by_name[i];

		if (strncmp(part->name, cold->name, stem) || part->name[stem])
			break;
		if (part->object == cold->object)
			return part->owner;
		if (!part->object)
			found = part->owner;
	}
	return found;
}

static void refuse(struct ep_strip_function *function, const char *format, uint64_t address)
{
	if (!function->refused[0])
		snprintf(function->refused, sizeof function->refused, format, address);
}

static void find_owners(struct ep_strip *strip, struct file *file)
{
	uint64_t end = 0;
	size_t before = SIZE_MAX;

	for (size_t i = 0; i < file->cold_count; i++)
		file->by_owner[i]->owner = cold_owner(file, file->by_owner[i]);
	qsort(file->by_owner, file->cold_count, sizeof *file->by_owner, compare_owners);
	for (size_t i = 0; i < file->part_count; i++) {
		const struct part *part = &file->parts[i];

		if (part->start < end && part->owner != before) {
			if (part->owner != SIZE_MAX)
				refuse(&strip->functions[part->owner],
				       "another function overlaps it at 0x%" PRIx64, part->start);
			if (before != SIZE_MAX)
				refuse(&strip->functions[before],
				       "another function overlaps it at 0x%" PRIx64, part->start);
		}
		if (part->end > end) {
			end = part->end;
			before = part->owner;
		}
	}
}

/* ---- code ---- */

/* Where [start, end) lies in the file; 0: not all of it is there. */
static uint64_t offset_of(const struct file *file, uint64_t start, uint64_t end)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    start >= header.p_vaddr && end - header.p_vaddr <= header.p_filesz &&
		    header.p_offset <= file->size &&
		    end - header.p_vaddr <= file->size - header.p_offset)
			return header.p_offset + (start - header.p_vaddr);
	return 0;
}

/* What one instruction does with hooks. */
enum use { NONE, CALL, JUMP, STRANGE };

static enum use use_of(const struct file *file, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool call = insn->id == X86_INS_CALL, jump = insn->id == X86_INS_JMP;

	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		uint64_t at = (uint64_t)op->imm;
		bool direct;

		if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			at = insn->address + insn->size + (uint64_t)op->mem.disp;
		else if (op->type != X86_OP_IMM)
			continue;
		direct = op->type == X86_OP_IMM;
		if (!ep_addresses_have(&file->targets.code, at) &&
		    (direct || !ep_addresses_have(&file->targets.slots, at)))
			continue;
		if ((call || jump) && insn->size <= EP_PATCH_MAX &&
		    (direct || ep_addresses_have(&file->targets.slots, at)))
			return call ? CALL : JUMP;
		return STRANGE;
	}
	return NONE;
}

static bool jumps_back(const cs_insn *insn, const struct part *part)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint64_t target = (uint64_t)x86->operands[0].imm;

	for (uint8_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == X86_GRP_JUMP)
			return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM &&
			       target <= insn->address && target >= part->start;
	return false;
}

static void add_patch(const struct file *file, struct ep_strip_patches *patches,
		      const cs_insn *insn, uint64_t offset, bool jump)
{
	struct ep_strip_patch *patch = ep_array_add(patches);

	patch->offset = offset;
	patch->size = (uint8_t)insn->size;
	patch->jump = jump;
	memcpy(patch->before, file->bytes + offset, insn->size);
}

static void look_at_one(struct file *file, struct ep_strip_function *function,
			const struct part *part, uint64_t offset, struct ep_strip_patches *patches)
{
	const cs_insn *insn = file->insn;

	switch (use_of(file, insn)) {
	case STRANGE:
		refuse(function, "at 0x%" PRIx64 " a hook is used in a way that is not known here",
		       insn->address);
		break;
	case CALL:
	case JUMP:
		if (ep_addresses_between(&file->targets.writes, insn->address - 7,
					 insn->address + insn->size))
			refuse(function, "a relocation writes the call at 0x%" PRIx64,
			       insn->address);
		function->hooks++;
		add_patch(file, patches, insn, offset, insn->id == X86_INS_JMP);
		break;
	case NONE:
		function->instructions++;
		function->loop |= jumps_back(insn, part);
	}
}

static void look_at_part(struct file *file, struct ep_strip_function *function,
			 const struct part *part, struct ep_strip_patches *patches)
{
	uint64_t offset = offset_of(file, part->start, part->end);
	const uint8_t *at = file->bytes + offset;
	size_t left = part->end - part->start;
	uint64_t address = part->start;

	if (!offset) {
		refuse(function, "the file does not hold 0x%" PRIx64, part->start);
		return;
	}
	while (left) {
		uint64_t here = (uint64_t)(at - file->bytes);

		if (!ep_disassembler.cs_disasm_iter(file->capstone, &at, &left, &address,
						    file->insn)) {
			refuse(function, "no instruction at 0x%" PRIx64, address);
			return;
		}
		look_at_one(file, function, part, here, patches);
	}
}

/* The function's main part, then its cold ones. */
static void look(struct file *file, struct ep_strip_function *function, size_t index,
		 struct ep_strip_patches *patches)
{
	struct part main = {.start = function->start, .end = function->end};
	size_t low = 0, high = file->cold_count;

	look_at_part(file, function, &main, patches);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->by_owner[middle]->owner < index)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < file->cold_count && file->by_owner[low]->owner == index; low++)
		look_at_part(file, function, file->by_owner[low], patches);
}

/* ---- verdicts ---- */

static struct ep_rule_verdict judge(const struct ep_strip_function *function,
				    const struct part *parts, size_t count, struct ep_rules *rules,
				    bool measured)
{
	const char *names[NAMES];
	struct ep_subject subject = {
		.names = names,
		.instructions = function->instructions,
		.loop = function->loop,
		.measured = measured && !function->refused[0],
	};

	for (size_t i = 0;
	     i < count && subject.name_count < NAMES && parts[i].start == function->start; i++)
		if (!parts[i].cold)
			names[subject.name_count++] = parts[i].name;
	return ep_rules_judge(rules, &subject);
}

static void decide_one(struct ep_strip *strip, struct file *file, size_t index, size_t first,
		       struct ep_rules *rules, bool all)
{
	struct ep_strip_function *function = &strip->functions[index];
	struct ep_strip_patches patches = {0};
	size_t count = file->part_count - first;
	bool look_now = all || rules->threshold;

	function->verdict =
		judge(function, file->parts + first, look_now ? 0 : count, rules, false);
	if (!look_now)
		look_now = function->verdict.strip;
	if (look_now)
		look(file, function, index, &patches);
	if (look_now && (all || rules->threshold))
		function->verdict = judge(function, file->parts + first, count, rules, true);
	if (function->verdict.strip && patches.count) {
		function->stripped = !function->refused[0];
		strip->stripped += function->stripped;
		strip->refused += !function->stripped;
		for (size_t i = 0; function->stripped && i < patches.count; i++)
			ep_array_push(&strip->patches, patches.list[i]);
	}
	if (!function->verdict.strip || !patches.count)
		function->refused[0] = 0;
	ep_array_deinit(&patches);
}

static void decide(struct ep_strip *strip, struct file *file, struct ep_rules *rules, bool all)
{
	size_t first = 0;

	for (size_t i = 0; i < strip->count; i++) {
		while (file->parts[first].start < strip->functions[i].start)
			first++;
		decide_one(strip, file, i, first, rules, all);
	}
}

/* ---- the file ---- */

static int open_file(struct file *file, struct ep_err *err)
{
	GElf_Ehdr header;
	int rc;

	elf_version(EV_CURRENT);
	/* libelf writes nothing, but its interface knows no const. */
	file->elf = elf_memory((char *)(uintptr_t)file->bytes, file->size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header) ||
	    gelf_getclass(file->elf) != ELFCLASS64 || header.e_machine != EM_X86_64)
		return ep_fail(err, EP_E_FORMAT, 0, "no ELF file for x86-64, 64 bit");
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return ep_fail(err, EP_E_FORMAT, 0,
			       "neither an executable nor a shared library (objects: compile them "
			       "with epitaph-cc -epitaph-no-trace=)");
	rc = ep_disassembler_open(&file->capstone, err);
	if (rc)
		return rc;
	file->insn = ep_disassembler.cs_malloc(file->capstone);
	if (!file->insn)
		ep_out_of_memory();
	return EP_OK;
}

static int read_file(struct ep_strip *strip, struct file *file, struct ep_err *err)
{
	struct ep_err damage = {0};

	ep_raw_symbols_add(&file->raw, file->elf, &damage);
	ep_strip_targets_read(&file->targets, file->elf, &file->raw);
	list_parts(file);
	make_functions(strip, file);
	index_parts(file);
	find_owners(strip, file);
	strip->hooks = file->targets.code.count || file->targets.slots.count;
	strip->locals = file->raw.has_symtab;
	if (!strip->count)
		return ep_fail(err, EP_END, 0,
			       "no names of functions in it%s%s: a list needs them (was it "
			       "stripped of its symbols?)",
			       damage.code ? ": " : "", damage.code ? damage.text : "");
	return EP_OK;
}

static void close_file(struct file *file)
{
	if (file->insn)
		ep_disassembler.cs_free(file->insn, 1);
	if (file->capstone)
		ep_disassembler.cs_close(&file->capstone);
	free(file->parts);
	free(file->by_name);
	free(file->by_owner);
	ep_strip_targets_deinit(&file->targets);
	ep_raw_symbols_deinit(&file->raw);
	elf_end(file->elf);
}

int ep_strip_decide(struct ep_strip *strip, const uint8_t *bytes, size_t size,
		    struct ep_rules *rules, bool all, struct ep_err *err)
{
	struct ep_strip out = {0};
	struct file *file = ep_calloc(1, sizeof *file);
	int rc;

	file->bytes = bytes;
	file->size = size;
	out.impl = file;
	rc = open_file(file, err);
	if (!rc)
		rc = read_file(&out, file, err);
	if (rc) {
		ep_strip_deinit(&out);
		return rc;
	}
	decide(&out, file, rules, all);
	*strip = out;
	return EP_OK;
}

void ep_strip_deinit(struct ep_strip *strip)
{
	if (strip->impl)
		close_file(strip->impl);
	free(strip->impl);
	free(strip->functions);
	ep_array_deinit(&strip->patches);
	*strip = (struct ep_strip){0};
}
