/* SPDX-License-Identifier: BSD-2-Clause */
/* exclude_check.c: exclude --check: names in lists that no function of a linked file has. */
#include "cli/commands/count/exclude.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/util/readfile.h"
#include "decoder/symbols/symbol_table.h"
#include "funcount/filter/rules.h"

#define FILE_MAX      ((size_t)8 << 30)
#define UNMATCHED_MAX 5 /* names that are printed one by one */
#define RANK_FUNCTION 10u

/* Functions that were inlined everywhere have no name either. */
static void warn_unmatched(const struct ep_list *list, const char *path)
{
	size_t missing = 0;

	for (size_t i = 0; i < list->patterns.count; i++) {
		const struct ep_pattern *one = &list->patterns.list[i];

		if (one->matched || (i && !strcmp(one->text, list->patterns.list[i - 1].text)))
			continue;
		if (missing++ < UNMATCHED_MAX)
			ep_say("%s:%u: %s is no function of %s", ep_list_file(list, one), one->line,
			       one->text, path);
	}
	if (missing > UNMATCHED_MAX)
		ep_say("… and %zu more", missing - UNMATCHED_MAX);
	if (missing)
		ep_say("%zu of %zu names are no function of %s: misspelt, inlined everywhere, or "
		       "not linked",
		       missing, list->patterns.count, path);
}

static bool is_cut_off(Elf *elf, size_t size)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_shoff > size;
}

/* Counts in the list what each function of the file matches, as the filter does. */
static int match(struct ep_rules *rules, const char *path, char *bytes, size_t size)
{
	struct ep_raw_symbols raw = {0};
	struct ep_err damage = {0};
	size_t functions = 0;
	bool locals;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(bytes, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		ep_say("%s: no ELF file", path);
		elf_end(elf);
		return EP_EXIT_UNREADABLE;
	}
	if (is_cut_off(elf, size)) {
		ep_say("%s: the file is cut off: its sections lie behind its end", path);
		elf_end(elf);
		return EP_EXIT_UNREADABLE;
	}
	ep_raw_symbols_add(&raw, elf, &damage);
	locals = raw.has_symtab;
	for (size_t i = 0; i < raw.count; i++) {
		const struct ep_raw_symbol *symbol = &raw.list[i];

		if (symbol->rank < RANK_FUNCTION || symbol->end <= symbol->start)
			continue;
		ep_rules_judge(rules,
			       &(struct ep_subject){.names = &symbol->name, .name_count = 1});
		functions++;
	}
	ep_raw_symbols_deinit(&raw);
	elf_end(elf);
	if (functions && locals)
		return EP_EXIT_COMPLETE;
	ep_say("%s: it has no .symtab: functions that it doesn't export have no names here%s%s",
	       path, damage.code ? ": " : "", damage.code ? damage.text : "");
	return EP_EXIT_NOTHING;
}

int ep_exclude_check(const char *path, const struct ep_arguments *arguments)
{
	struct ep_rules rules = {0};
	struct ep_err err;
	char *bytes;
	size_t size;
	int result = EP_EXIT_COMPLETE;

	for (int i = 0; i < arguments->operand_count && !result; i++)
		if (ep_list_read(&rules.no_trace, arguments->operands[i], &err))
			result = EP_EXIT_UNREADABLE;
	if (!result && ep_file_read_all(&bytes, &size, NULL, path, FILE_MAX, &err))
		result = EP_EXIT_UNREADABLE;
	if (result) {
		ep_say("%s", err.text);
	} else {
		result = match(&rules, path, bytes, size);
		if (!result)
			warn_unmatched(&rules.no_trace, path);
		free(bytes);
	}
	ep_rules_deinit(&rules);
	return result;
}
