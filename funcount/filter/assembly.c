/* SPDX-License-Identifier: BSD-2-Clause */
/* assembly.c: the functions of an assembly file and their calls of hooks, in one pass over its
 * lines. */
#include "funcount/filter/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "funcount/filter/labels.h"

/* The address of a hook in a register, until it is called or the code goes elsewhere. */
struct load {
	struct ep_piece where;
	bool arguments;
	uint32_t line; /* 0: none */
};

struct reader {
	struct ep_assembly *out;
	struct ep_labels labels;
	struct ep_piece typed; /* the last .type NAME, @function */
	uint32_t line;         /* being read */
	uint32_t current;      /* function, or EP_NO_FUNCTION */
	bool user, intel;
	bool gcc;    /* all that is not between #APP and #NO_APP is gcc's */
	bool tables; /* in a section where addresses of labels are tables of
			jumps: not in what debuggers and unwinders read */
	struct load load;
	uint32_t line_room, function_room, site_room, alias_room;
};

/* Room for one more, by doubling. */
static int make_room(void *list, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 64;
	void *grown, *old;

	if (count < *room)
		return EP_OK;
	memcpy(&old, list, sizeof old);
	grown = reallocarray(old, more, size);
	if (!grown)
		return EP_E_MEMORY;
	memcpy(list, &grown, sizeof grown);
	*room = more;
	return EP_OK;
}

static struct ep_assembly_function *current(struct reader *reader)
{
	return reader->current == EP_NO_FUNCTION ? NULL : &reader->out->functions[reader->current];
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

/* A copy with a NUL; the assembly's bytes have none. */
static char *text_of(struct ep_piece piece)
{
	char *copy = malloc(piece.size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, piece.at, piece.size);
	copy[piece.size] = '\0';
	return copy;
}

static int begin_function(struct reader *reader, struct ep_piece name)
{
	struct ep_assembly *out = reader->out;
	struct ep_label *label = ep_labels_at(&reader->labels, name);
	struct ep_assembly_function *function;

	if (!label || make_room(&out->functions, out->function_count, &reader->function_room,
				sizeof *function))
		return EP_E_MEMORY;
	function = &out->functions[out->function_count];
	*function = (struct ep_assembly_function){
		.name = text_of(name),
		.line = reader->line,
		.intel = reader->intel,
	};
	if (!function->name)
		return EP_E_MEMORY;
	label->named = reader->current = out->function_count++;
	out->defines_hooks |= ep_hook_named(name);
	return EP_OK;
}

static int on_function_label(struct reader *reader, struct ep_piece name)
{
	struct ep_label *root;
	struct ep_piece stem;

	reader->load.line = 0;
	reader->typed = (struct ep_piece){0};
	if (cold_root(name, &stem)) {
		root = ep_labels_find(&reader->labels, stem);
		if (root && root->named != EP_NO_FUNCTION) {
			reader->current = root->named;
			return EP_OK;
		}
	}
	return begin_function(reader, name);
}

static int on_label(struct reader *reader, struct ep_piece name)
{
	struct ep_assembly_function *function;
	struct ep_label *label;

	if (!reader->user && ep_piece_equal(name, reader->typed))
		return on_function_label(reader, name);
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
	label = ep_labels_at(&reader->labels, name);
	if (!label)
		return EP_E_MEMORY;
	label->line = reader->line;
	label->function = reader->current;
	return EP_OK;
}

/* ---- directives ---- */

static void on_section(struct reader *reader, struct ep_piece name)
{
	reader->tables = !ep_piece_starts(name, ".debug") &&
			 !ep_piece_starts(name, ".gcc_except_table") &&
			 !ep_piece_starts(name, ".eh_frame");
}

/* .set NAME, FUNCTION; resolved when all functions are known. */
static int on_set(struct reader *reader, struct ep_piece args)
{
	struct ep_assembly *out = reader->out;
	struct ep_piece name, value;
	struct ep_label *label;

	if (!ep_piece_next(&args, ',', &name) || !ep_piece_next(&args, ',', &value) ||
	    !value.size || !name.size)
		return EP_OK;
	label = ep_labels_find(&reader->labels, value);
	if (!label || label->named == EP_NO_FUNCTION)
		return EP_OK;
	if (make_room(&out->aliases, out->alias_count, &reader->alias_room, sizeof *out->aliases))
		return EP_E_MEMORY;
	out->aliases[out->alias_count].function = label->named;
	out->aliases[out->alias_count].name = text_of(name);
	if (!out->aliases[out->alias_count].name)
		return EP_E_MEMORY;
	out->alias_count++;
	return EP_OK;
}

/* .quad .L5 and .long .L5-.L3: an indirect jump may lead there. */
static int on_addresses(struct reader *reader, struct ep_piece args)
{
	struct ep_piece one, stem;
	struct ep_label *label;

	while (reader->tables && ep_piece_next(&args, ',', &one)) {
		if (!ep_piece_next(&one, '-', &stem) || !ep_piece_starts(stem, ".L"))
			continue;
		label = ep_labels_at(&reader->labels, stem);
		if (!label)
			return EP_E_MEMORY;
		label->taken = true;
	}
	return EP_OK;
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

static int on_directive(struct reader *reader, const struct ep_statement *statement)
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
		return on_set(reader, args);
	} else if (ep_piece_is(op, ".quad") || ep_piece_is(op, ".long")) {
		return on_addresses(reader, args);
	} else if (ep_piece_is(op, ".intel_syntax")) {
		reader->intel = true;
	} else if (ep_piece_is(op, ".att_syntax")) {
		reader->intel = false;
	}
	return EP_OK;
}

/* ---- instructions ---- */

static void on_jump(struct reader *reader, struct ep_piece target)
{
	struct ep_assembly_function *function = current(reader);
	struct ep_label *label;

	if (target.size && (target.at[0] == '*' || target.at[0] == '[')) {
		function->indirect = reader->line;
		return;
	}
	/* 1b: the nearest 1: above. */
	if (target.size >= 2 && target.at[target.size - 1] == 'b' &&
	    strspn(target.at, "0123456789") == target.size - 1)
		target.size--;
	label = ep_labels_find(&reader->labels, target);
	if (label && label->line != UINT32_MAX && label->function == reader->current)
		function->loop = true;
}

static int add_site(struct reader *reader, struct ep_hook hook, uint32_t load)
{
	struct ep_assembly *out = reader->out;

	if (make_room(&out->sites, out->site_count, &reader->site_room, sizeof *out->sites))
		return EP_E_MEMORY;
	out->sites[out->site_count++] = (struct ep_site){reader->line, reader->current, hook, load};
	current(reader)->sites++;
	return EP_OK;
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

static int on_hook(struct reader *reader, const struct ep_statement *statement, struct ep_hook hook)
{
	uint32_t load;

	switch (hook.form) {
	case EP_HOOK_CALL:
	case EP_HOOK_JUMP:
		return add_site(reader, hook, 0);
	case EP_HOOK_LOAD:
		if (reader->load.line)
			break;
		reader->load = (struct load){hook.where, hook.arguments, reader->line};
		return EP_OK;
	case EP_HOOK_NONE:
		if (!reader->load.line || keeps_load(reader, statement))
			return EP_OK;
		if (!calls_loaded(reader, statement))
			break;
		hook.form = ep_piece_starts(statement->op, "j") ? EP_HOOK_JUMP : EP_HOOK_CALL;
		hook.arguments = reader->load.arguments;
		load = reader->load.line;
		reader->load.line = 0;
		return add_site(reader, hook, load);
	case EP_HOOK_OTHER:
		break;
	}
	reader->load.line = 0;
	call_strange(reader, "a hook is used in a way that is not known here");
	return EP_OK;
}

static int on_instruction(struct reader *reader, const struct ep_statement *statement)
{
	struct ep_assembly_function *function = current(reader);
	struct ep_hook hook;

	if (!function)
		return EP_OK;
	function->instructions++;
	if (!reader->user) {
		hook = ep_hook_read(statement);
		if (hook.form != EP_HOOK_NONE || reader->load.line)
			return on_hook(reader, statement, hook);
	}
	if (statement->op.at[0] == 'j' || ep_piece_starts(statement->op, "loop") ||
	    ep_piece_is(statement->op, "notrack"))
		on_jump(reader, statement->args);
	return EP_OK;
}

/* ---- lines ---- */

/* All statements of a line; only the user's have more than one. */
static int on_statements(struct reader *reader, struct ep_piece line)
{
	struct ep_statement statement;
	int rc = EP_OK;

	do {
		const char *end = line.at + line.size;

		statement = ep_statement_read(line);
		if (statement.label.size)
			rc = on_label(reader, statement.label);
		if (!rc && statement.op.size)
			rc = ep_statement_is_code(&statement) ? on_instruction(reader, &statement)
							      : on_directive(reader, &statement);
		if (statement.more) {
			line.at = statement.args.at + statement.args.size;
			line.at = memchr(line.at, ';', (size_t)(end - line.at));
			line.at++;
			line.size = (size_t)(end - line.at);
		}
	} while (!rc && statement.more);
	return rc;
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

static int on_line(struct reader *reader, struct ep_piece line)
{
	struct ep_assembly *out = reader->out;
	struct ep_assembly_line *entry;
	int rc;

	if (make_room(&out->lines, out->line_count, &reader->line_room, sizeof *entry))
		return EP_E_MEMORY;
	reader->line = out->line_count;
	note_user(reader, line);
	rc = on_statements(reader, line);
	entry = &out->lines[out->line_count++];
	*entry = (struct ep_assembly_line){(uint32_t)(line.at - out->text), (uint32_t)line.size,
					   reader->current, reader->user};
	return rc;
}

static int read_lines(struct reader *reader)
{
	const char *at = reader->out->text, *end = at + reader->out->size;
	int rc = EP_OK;

	while (!rc && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((stop ? stop : end) - at);

		rc = on_line(reader, (struct ep_piece){at, size});
		at += size + 1;
	}
	return rc;
}

/* A jump through a table that names a place above it. */
static void find_table_loops(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->labels.room; i++) {
		const struct ep_label *label = &reader->labels.slots[i];
		struct ep_assembly_function *function;

		if (!label->name.at || !label->taken || label->function == EP_NO_FUNCTION)
			continue;
		function = &reader->out->functions[label->function];
		function->loop |= function->indirect > label->line;
	}
}

int ep_assembly_read(struct ep_assembly *assembly, const char *text, size_t size,
		     struct ep_err *err)
{
	struct ep_assembly out = {.text = text, .size = size};
	struct reader reader = {.out = &out, .current = EP_NO_FUNCTION, .tables = true};
	int rc;

	if (size > EP_ASSEMBLY_MAX)
		return ep_fail(err, EP_E_LIMIT, 0, "assembly of %zu bytes: the most is %zu", size,
			       EP_ASSEMBLY_MAX);
	rc = read_lines(&reader);
	if (!rc)
		find_table_loops(&reader);
	for (uint32_t i = 0; !rc && reader.gcc && i < out.function_count; i++)
		out.functions[i].compiled = true;
	ep_labels_deinit(&reader.labels);
	if (rc) {
		ep_assembly_deinit(&out);
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	}
	*assembly = out;
	return EP_OK;
}

void ep_assembly_deinit(struct ep_assembly *assembly)
{
	for (uint32_t i = 0; i < assembly->function_count; i++)
		free(assembly->functions[i].name);
	for (uint32_t i = 0; i < assembly->alias_count; i++)
		free(assembly->aliases[i].name);
	free(assembly->lines);
	free(assembly->functions);
	free(assembly->sites);
	free(assembly->aliases);
	*assembly = (struct ep_assembly){0};
}
