/* SPDX-License-Identifier: BSD-2-Clause */
/* assembly.c: the functions of an assembly file and their calls of hooks, in one pass over its
 * lines. */
#include "funcount/filter/assembly.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "funcount/filter/statement.h"

/* ---- labels, by a hash of their names ---- */

struct label {
	struct ep_piece name; /* borrowed */
	uint32_t line;        /* last seen there; UINT32_MAX: not yet */
	uint32_t function;    /* that it lies in, or EP_NO_FUNCTION */
	uint32_t named;       /* function that it is the name of, or the same */
	bool taken;           /* its address is in a table */
};

struct labels {
	EP_ARRAY(struct label) list;
	struct ep_hash index; /* by name */
};

static struct label *look_up(const struct labels *labels, struct ep_piece name, uint32_t hash)
{
	uint32_t at = 0, number;

	while ((number = ep_hash_next(&labels->index, hash, &at)) != EP_HASH_NONE)
		if (ep_piece_equal(labels->list.list[number].name, name))
			return &labels->list.list[number];
	return NULL;
}

/* The label of this name, made when it is not there. Borrowed until another is. */
static struct label *label_at(struct labels *labels, struct ep_piece name)
{
	uint32_t hash = ep_hash_bytes(name.at, name.size);
	struct label *label = look_up(labels, name, hash);

	if (label)
		return label;
	ep_hash_add(&labels->index, hash, (uint32_t)labels->list.count);
	label = ep_array_add(&labels->list);
	*label = (struct label){name, UINT32_MAX, UINT32_MAX, UINT32_MAX, false};
	return label;
}

/* NULL: none. */
static struct label *label_find(const struct labels *labels, struct ep_piece name)
{
	return look_up(labels, name, ep_hash_bytes(name.at, name.size));
}

static void labels_deinit(struct labels *labels)
{
	ep_array_deinit(&labels->list);
	ep_hash_deinit(&labels->index);
}

/* The address of a hook in a register, until it is called or the code goes elsewhere. */
struct load {
	struct ep_piece where;
	bool arguments;
	uint32_t line; /* 0: none */
};

struct reader {
	struct ep_assembly *out;
	struct labels labels;
	struct ep_piece typed; /* the last .type NAME, @function */
	uint32_t line;         /* being read */
	uint32_t current;      /* function, or EP_NO_FUNCTION */
	bool user, intel;
	bool gcc;    /* all that is not between #APP and #NO_APP is gcc's */
	bool tables; /* in a section where addresses of labels are tables of jumps: not in what
			debuggers and unwinders read */
	struct load load;
};

static struct ep_assembly_function *current(struct reader *reader)
{
	return reader->current == EP_NO_FUNCTION ? NULL
						 : &reader->out->functions.list[reader->current];
}

static void call_strange(struct reader *reader, const char *why)
{
	struct ep_assembly_function *function = current(reader);

	if (!function || function->strange)
		return;
	function->strange = why;
	function->strange_line = reader->line;
}

/* ---- functions ---- */

/* f for f.cold and f.cold.3: where a compiler put what is seldom run. */
static bool cold_root(struct ep_piece name, struct ep_piece *root)
{
	const char *at = memmem(name.at, name.size, ".cold", 5);

	if (!at || at == name.at)
		return false;
	*root = (struct ep_piece){name.at, (size_t)(at - name.at)};
	at += 5;
	return at == name.at + name.size || *at == '.';
}

static void begin_function(struct reader *reader, struct ep_piece name)
{
	struct ep_assembly *out = reader->out;
	struct label *label = label_at(&reader->labels, name);

	label->named = reader->current = (uint32_t)out->functions.count;
	ep_array_push(&out->functions, ((struct ep_assembly_function){
					       .name = ep_strndup(name.at, name.size),
					       .line = reader->line,
					       .intel = reader->intel,
				       }));
	out->defines_hooks |= ep_hook_named(name);
}

static void on_function_label(struct reader *reader, struct ep_piece name)
{
	struct label *root;
	struct ep_piece stem;

	reader->load.line = 0;
	reader->typed = (struct ep_piece){0};
	if (cold_root(name, &stem)) {
		root = label_find(&reader->labels, stem);
		if (root && root->named != EP_NO_FUNCTION) {
			reader->current = root->named;
			return;
		}
	}
	begin_function(reader, name);
}

static void on_label(struct reader *reader, struct ep_piece name)
{
	struct ep_assembly_function *function;
	struct label *label;

	if (!reader->user && ep_piece_equal(name, reader->typed)) {
		on_function_label(reader, name);
		return;
	}
	/* From elsewhere the register may hold something else. */
	if (reader->load.line && !ep_piece_starts(name, ".LVL") &&
	    !ep_piece_starts(name, ".Ltmp")) {
		reader->load.line = 0;
		call_strange(reader, "a hook's address is kept in a register");
	}
	function = current(reader);
	if (function && !reader->user &&
	    (ep_piece_starts(name, ".LFB") || ep_piece_starts(name, ".LFSB") ||
	     ep_piece_starts(name, ".Lfunc_")))
		function->compiled = true;
	label = label_at(&reader->labels, name);
	label->line = reader->line;
	label->function = reader->current;
}

/* ---- directives ---- */

static void on_section(struct reader *reader, struct ep_piece name)
{
	reader->tables = !ep_piece_starts(name, ".debug") &&
			 !ep_piece_starts(name, ".gcc_except_table") &&
			 !ep_piece_starts(name, ".eh_frame");
}

/* .set NAME, FUNCTION; resolved when all functions are known. */
static void on_set(struct reader *reader, struct ep_piece args)
{
	struct ep_piece name, value;
	struct label *label;

	if (!ep_piece_next(&args, ',', &name) || !ep_piece_next(&args, ',', &value) ||
	    !value.size || !name.size)
		return;
	label = label_find(&reader->labels, value);
	if (label && label->named != EP_NO_FUNCTION)
		ep_array_push(&reader->out->aliases,
			      ((struct ep_alias){ep_strndup(name.at, name.size), label->named}));
}

/* .quad .L5 and .long .L5-.L3: an indirect jump may lead there. */
static void on_addresses(struct reader *reader, struct ep_piece args)
{
	struct ep_piece one, stem;

	while (reader->tables && ep_piece_next(&args, ',', &one)) {
		if (ep_piece_next(&one, '-', &stem) && ep_piece_starts(stem, ".L"))
			label_at(&reader->labels, stem)->taken = true;
	}
}

static void on_size(struct reader *reader, struct ep_piece args)
{
	struct ep_piece name, root;
	struct ep_assembly_function *function;

	if (!ep_piece_next(&args, ',', &name))
		return;
	if (cold_root(name, &root))
		name = root;
	function = current(reader);
	if (function && ep_piece_is(name, function->name))
		reader->current = EP_NO_FUNCTION;
}

static void on_directive(struct reader *reader, const struct ep_statement *statement)
{
	struct ep_piece op = statement->op, args = statement->args, name;

	if (ep_piece_is(op, ".type")) {
		if (ep_piece_next(&args, ',', &name) && ep_piece_has(args, "@function"))
			reader->typed = name;
	} else if (ep_piece_is(op, ".size")) {
		on_size(reader, args);
	} else if (ep_piece_is(op, ".section") || ep_piece_is(op, ".pushsection")) {
		if (ep_piece_next(&args, ',', &name))
			on_section(reader, name);
	} else if (ep_piece_is(op, ".text") || ep_piece_is(op, ".data")) {
		on_section(reader, op);
	} else if (ep_piece_is(op, ".file")) {
		if (!reader->out->source.size && ep_piece_starts(args, "\""))
			ep_piece_next(&args, ' ', &reader->out->source);
	} else if (ep_piece_is(op, ".ident")) {
		reader->gcc |= ep_piece_starts(args, "\"GCC: ") && !reader->user;
	} else if (ep_piece_is(op, ".set")) {
		on_set(reader, args);
	} else if (ep_piece_is(op, ".quad") || ep_piece_is(op, ".long")) {
		on_addresses(reader, args);
	} else if (ep_piece_is(op, ".intel_syntax")) {
		reader->intel = true;
	} else if (ep_piece_is(op, ".att_syntax")) {
		reader->intel = false;
	}
}

/* ---- instructions ---- */

static void on_jump(struct reader *reader, struct ep_piece target)
{
	struct ep_assembly_function *function = current(reader);
	struct label *label;

	if (target.size && (target.at[0] == '*' || target.at[0] == '[')) {
		function->indirect = reader->line;
		return;
	}
	/* 1b: the nearest 1: above. */
	if (target.size >= 2 && target.at[target.size - 1] == 'b' &&
	    strspn(target.at, "0123456789") == target.size - 1)
		target.size--;
	label = label_find(&reader->labels, target);
	if (label && label->line != UINT32_MAX && label->function == reader->current)
		function->loop = true;
}

static void add_site(struct reader *reader, struct ep_hook hook, uint32_t load)
{
	ep_array_push(&reader->out->sites,
		      ((struct ep_site){reader->line, reader->current, hook, load}));
	current(reader)->sites++;
}

/* call *%rax: by a hook's address that was loaded on the way here. */
static bool calls_loaded(const struct reader *reader, const struct ep_statement *statement)
{
	struct ep_piece args = statement->args;

	return reader->load.line && args.size == reader->load.where.size + 2 &&
	       ep_piece_starts(args, "*%") &&
	       !memcmp(args.at + 2, reader->load.where.at, args.size - 2);
}

/* Between loading a hook's address and calling it: only what leaves it where it is. `addq %r15,
 * %rax` makes an address of an offset. */
static bool keeps_load(const struct reader *reader, const struct ep_statement *statement)
{
	struct ep_piece rest = statement->args, from, to = {0};

	if (!ep_piece_starts(statement->op, "mov") && !ep_piece_starts(statement->op, "lea") &&
	    !ep_piece_is(statement->op, "addq"))
		return false;
	if (!ep_piece_next(&rest, ',', &from) || !ep_piece_next(&rest, ',', &to) || rest.size)
		return false;
	return ep_piece_is(statement->op, "addq") || to.size < 2 || to.at[0] != '%' ||
	       !ep_piece_equal((struct ep_piece){to.at + 1, to.size - 1}, reader->load.where);
}

static void on_hook(struct reader *reader, const struct ep_statement *statement,
		    struct ep_hook hook)
{
	uint32_t load;

	switch (hook.form) {
	case EP_HOOK_CALL:
	case EP_HOOK_JUMP:
		add_site(reader, hook, 0);
		return;
	case EP_HOOK_LOAD:
		if (reader->load.line)
			break;
		reader->load = (struct load){hook.where, hook.arguments, reader->line};
		return;
	case EP_HOOK_NONE:
		if (!reader->load.line || keeps_load(reader, statement))
			return;
		if (!calls_loaded(reader, statement))
			break;
		hook.form = ep_piece_starts(statement->op, "j") ? EP_HOOK_JUMP : EP_HOOK_CALL;
		hook.arguments = reader->load.arguments;
		load = reader->load.line;
		reader->load.line = 0;
		add_site(reader, hook, load);
		return;
	case EP_HOOK_OTHER:
		break;
	}
	reader->load.line = 0;
	call_strange(reader, "a hook is used in a way that is not known here");
}

static void on_instruction(struct reader *reader, const struct ep_statement *statement)
{
	struct ep_assembly_function *function = current(reader);
	struct ep_hook hook;

	if (!function)
		return;
	function->instructions++;
	if (!reader->user) {
		hook = ep_hook_read(statement);
		if (hook.form != EP_HOOK_NONE || reader->load.line) {
			on_hook(reader, statement, hook);
			return;
		}
	}
	if (statement->op.at[0] == 'j' || ep_piece_starts(statement->op, "loop") ||
	    ep_piece_is(statement->op, "notrack"))
		on_jump(reader, statement->args);
}

/* ---- lines ---- */

/* All statements of a line; only the user's have more than one. */
static void on_statements(struct reader *reader, struct ep_piece line)
{
	struct ep_statement statement;

	do {
		const char *end = line.at + line.size;

		statement = ep_statement_read(line);
		if (statement.label.size)
			on_label(reader, statement.label);
		if (statement.op.size && ep_statement_is_code(&statement))
			on_instruction(reader, &statement);
		else if (statement.op.size)
			on_directive(reader, &statement);
		if (statement.more) {
			line.at = statement.args.at + statement.args.size;
			line.at = memchr(line.at, ';', (size_t)(end - line.at));
			line.at++;
			line.size = (size_t)(end - line.at);
		}
	} while (statement.more);
}

static void note_user(struct reader *reader, struct ep_piece line)
{
	size_t blanks = 0;

	while (blanks < line.size && (line.at[blanks] == ' ' || line.at[blanks] == '\t'))
		blanks++;
	line.at += blanks;
	line.size -= blanks;
	if (ep_piece_starts(line, "#APP"))
		reader->user = true;
	else if (ep_piece_starts(line, "#NO_APP"))
		reader->user = false;
}

static void on_line(struct reader *reader, struct ep_piece line)
{
	struct ep_assembly *out = reader->out;

	reader->line = (uint32_t)out->lines.count;
	note_user(reader, line);
	on_statements(reader, line);
	ep_array_push(&out->lines, ((struct ep_assembly_line){(uint32_t)(line.at - out->text),
							      (uint32_t)line.size, reader->current,
							      reader->user}));
}

static void read_lines(struct reader *reader)
{
	const char *at = reader->out->text, *end = at + reader->out->size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((stop ? stop : end) - at);

		on_line(reader, (struct ep_piece){at, size});
		at += size + 1;
	}
}

/* A jump through a table that names a place above it. */
static void find_table_loops(struct reader *reader)
{
	for (size_t i = 0; i < reader->labels.list.count; i++) {
		const struct label *label = &reader->labels.list.list[i];
		struct ep_assembly_function *function;

		if (!label->taken || label->function == EP_NO_FUNCTION)
			continue;
		function = &reader->out->functions.list[label->function];
		function->loop |= function->indirect > label->line;
	}
}

int ep_assembly_read(struct ep_assembly *assembly, const char *text, size_t size,
		     struct ep_err *err)
{
	struct ep_assembly out = {.text = text, .size = size};
	struct reader reader = {.out = &out, .current = EP_NO_FUNCTION, .tables = true};

	if (size > EP_ASSEMBLY_MAX)
		return ep_fail(err, EP_E_LIMIT, 0, "assembly of %zu bytes: the most is %zu", size,
			       EP_ASSEMBLY_MAX);
	read_lines(&reader);
	find_table_loops(&reader);
	for (uint32_t i = 0; reader.gcc && i < out.functions.count; i++)
		out.functions.list[i].compiled = true;
	labels_deinit(&reader.labels);
	*assembly = out;
	return EP_OK;
}

void ep_assembly_deinit(struct ep_assembly *assembly)
{
	for (uint32_t i = 0; i < assembly->functions.count; i++)
		free(assembly->functions.list[i].name);
	for (uint32_t i = 0; i < assembly->aliases.count; i++)
		free(assembly->aliases.list[i].name);
	ep_array_deinit(&assembly->lines);
	ep_array_deinit(&assembly->functions);
	ep_array_deinit(&assembly->sites);
	ep_array_deinit(&assembly->aliases);
	*assembly = (struct ep_assembly){0};
}
