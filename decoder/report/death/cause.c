/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cause.c: an abort's stack, from abort() outwards up to the program's own function: which of the
 * libraries' functions lie in between says who gave up and why.
 */
#include "decoder/report/death/cause.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/names/short_name.h"
#include "decoder/report/death/bad_return.h"
#include "decoder/report/signature.h"

#define FRAMES_MAX 64u
#define NAMES_MAX  8u /* in a text */

/* ---- what the libraries' functions stand for ---- */

enum part {
	PART_NONE,
	PART_OTHER, /* of the way to abort(), and says nothing */
	PART_ABORT,
	PART_RAISE,
	PART_SMASHED,
	PART_FORTIFY,
	PART_ASSERT,
	PART_HEAP,
	PART_PURE,
	PART_DELETED,
	PART_TERMINATE,
	PART_PERSONALITY,
	PART_NOEXCEPT,
	PART_THROW,
	PART_RETHROW,
};

/* A name that ends with * stands for all that begin so; the first that fits. */
static const struct {
	const char *symbol;
	enum part part;
} parts[] = {
	{"abort", PART_ABORT},
	{"raise", PART_RAISE},
	{"gsignal", PART_RAISE},
	{"kill", PART_RAISE},
	{"pthread_kill*", PART_RAISE},
	{"__pthread_kill*", PART_RAISE},
	{"__stack_chk_fail*", PART_SMASHED},
	{"__chk_fail", PART_FORTIFY},
	{"__fortify_fail*", PART_FORTIFY},
	{"__assert*", PART_ASSERT},
	{"_ZSt21__glibcxx_assert_fail*", PART_ASSERT},
	{"malloc_printerr", PART_OTHER},
	{"__malloc_assert", PART_OTHER},
	{"malloc", PART_HEAP},
	{"calloc", PART_HEAP},
	{"realloc", PART_HEAP},
	{"free", PART_HEAP},
	{"cfree*", PART_HEAP},
	{"memalign", PART_HEAP},
	{"aligned_alloc", PART_HEAP},
	{"posix_memalign", PART_HEAP},
	{"__libc_malloc*", PART_HEAP},
	{"__libc_calloc", PART_HEAP},
	{"__libc_realloc", PART_HEAP},
	{"__libc_free", PART_HEAP},
	{"_int_malloc", PART_OTHER},
	{"_int_free*", PART_OTHER},
	{"_int_realloc", PART_OTHER},
	{"sysmalloc", PART_OTHER},
	{"munmap_chunk", PART_OTHER},
	{"unlink_chunk*", PART_OTHER},
	{"malloc_consolidate", PART_OTHER},
	{"tcache_*", PART_OTHER},
	{"_Znw*", PART_OTHER},
	{"_Zna*", PART_OTHER},
	{"_Zdl*", PART_OTHER},
	{"_Zda*", PART_OTHER},
	{"__cxa_pure_virtual", PART_PURE},
	{"__cxa_deleted_virtual", PART_DELETED},
	{"_ZSt9terminatev", PART_TERMINATE},
	{"_ZN10__cxxabiv111__terminate*", PART_TERMINATE},
	{"__cxa_call_terminate", PART_NOEXCEPT},
	{"__clang_call_terminate", PART_NOEXCEPT},
	{"__gxx_personality*", PART_PERSONALITY},
	{"__cxa_throw", PART_THROW},
	{"__cxa_rethrow", PART_RETHROW},
};

static enum part part_of(const struct ep_function *function)
{
	const char *symbol = function->symbol;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t length = strcspn(parts[i].symbol, "*");

		if (strncmp(symbol, parts[i].symbol, length) == 0 &&
		    (parts[i].symbol[length] || !symbol[length]))
			return parts[i].part;
	}
	return ep_signature_counts(function) ? PART_NONE : PART_OTHER;
}

/* ---- the stack ---- */

/* From abort() to the program's own function. */
struct way {
	const struct ep_evidence *evidence;
	const struct ep_stack *stack;
	size_t next;                     /* frame, outside of what was read */
	uint32_t parts;                  /* bits of those that were met */
	const struct ep_function *heap;  /* "free"; NULL */
	const struct ep_function *check; /* "__strcpy_chk"; NULL */
	const struct ep_function *user;  /* NULL: the stack ends before */
	enum ep_cause_names names;       /* of the text that is being written */
	char *owned[NAMES_MAX];          /* names in it */
	size_t owned_count;
};

static bool met(const struct way *way, enum part part)
{
	return (way->parts & 1u << part) != 0;
}

static bool is_check(const char *symbol)
{
	size_t length = strlen(symbol);

	return length > 6 && strncmp(symbol, "__", 2) == 0 &&
	       strcmp(symbol + length - 4, "_chk") == 0;
}

static const struct ep_function *function_at(const struct way *way, size_t i)
{
	return ep_evidence_function(way->evidence, &way->stack->frames[i]);
}

/* clang's way from a noexcept function lies in the program's own file. */
static void walk(struct way *way)
{
	way->user = way->heap = way->check = NULL;
	way->parts = 0;
	while (way->next < way->stack->count && !way->user) {
		const struct ep_function *function = function_at(way, way->next++);
		enum part part = is_check(function->symbol) ? PART_FORTIFY : part_of(function);

		way->parts |= 1u << part;
		if (part == PART_NONE)
			way->user = function;
		if (part == PART_HEAP)
			way->heap = function;
		if (part == PART_FORTIFY && is_check(function->symbol))
			way->check = function;
	}
}

/* The program's own handler of std::terminate aborts. */
static bool walk_terminate(struct way *way)
{
	for (size_t i = way->next; i < way->stack->count && i < way->next + 2; i++) {
		struct way outer = *way;

		if (part_of(function_at(way, i)) != PART_TERMINATE)
			continue;
		outer.next = i;
		walk(&outer);
		*way = outer;
		return true;
	}
	return false;
}

/* ---- exceptions ---- */

char *ep_cause_name(const char *name, enum ep_cause_names names)
{
	char *text = names == EP_CAUSE_FULL ? ep_strdup(name) : ep_short_name(name);

	if (names == EP_CAUSE_BARE)
		ep_cut_parameters(text);
	return text;
}

/* Borrowed until the text is written. */
static const char *keep(struct way *way, char *text)
{
	assert(way->owned_count < NAMES_MAX);
	return way->owned[way->owned_count++] = text;
}

static const char *name_of(struct way *way, const struct ep_function *function)
{
	return function ? keep(way, ep_cause_name(function->name, way->names))
			: "a function that is not known";
}

static const char *type_of(struct way *way, const char *type)
{
	return way->names == EP_CAUSE_FULL ? type : keep(way, ep_short_name(type));
}

static bool is_library(const struct ep_function *function)
{
	return strncmp(function->module, "libstdc++", 9) == 0 ||
	       strncmp(function->module, "libc++", 6) == 0;
}

/* "the exception of type std::bad_alloc, thrown in f() by libstdc++.so.6" */
static void exception_text(char *out, size_t size, struct way *way,
			   const struct ep_exception *thrown)
{
	const struct ep_function *where = thrown->where;
	bool library = where && is_library(where);

	if (library)
		where = thrown->from ? thrown->from : way->user;
	snprintf(out, size, "%s%s%s%s%s%s",
		 thrown->type ? "the exception of type " : "an exception",
		 thrown->type ? type_of(way, thrown->type) : "", where ? ", thrown in " : "",
		 where ? name_of(way, where) : "", library && where ? " by " : "",
		 library && where ? thrown->where->module : "");
}

static void __attribute__((format(printf, 4, 5)))
settle(struct ep_report_cause *cause, const struct way *way, const char *code, const char *format,
       ...)
{
	va_list list;

	cause->code = code;
	va_start(list, format);
	vsnprintf(cause->text[way->names], sizeof(cause->text[0]), format, list);
	va_end(list);
}

static void settle_exception(struct ep_report_cause *cause, struct way *way,
			     const struct ep_open_calls *open)
{
	const struct ep_exception *thrown = &open->exception;
	bool seen = open->known && !(open->trace->arena.blind & EP_BLIND_EXCEPTIONS);
	const char *name = name_of(way, way->user);
	char exception[640];

	exception_text(exception, sizeof(exception), way, thrown);
	if (met(way, PART_NOEXCEPT) || met(way, PART_PERSONALITY))
		settle(cause, way, "noexcept",
		       "%s, came to a function that is noexcept (as destructors are)%s%s",
		       exception, met(way, PART_THROW) ? "" : ": ",
		       met(way, PART_THROW) ? "" : name);
	else if (!met(way, PART_RETHROW))
		settle(cause, way, "uncaught-exception", "nobody caught %s", exception);
	else if (thrown->flying)
		settle(cause, way, "uncaught-exception", "nobody caught %s; %s threw it again",
		       exception, name);
	else if (seen)
		settle(cause, way, "rethrow-nothing",
		       "`throw;` in %s, where no exception was being handled", name);
	else
		settle(cause, way, "uncaught-exception",
		       "`throw;`: nobody caught %s that %s threw again, or there was none",
		       exception, name);
}

/* Whether one was on its way, and which, only the trace knows. */
static void settle_terminate(struct ep_report_cause *cause, struct way *way,
			     const struct ep_death *death)
{
	struct ep_open_calls open;

	if (!met(way, PART_THROW) && !met(way, PART_RETHROW) && !met(way, PART_NOEXCEPT) &&
	    !met(way, PART_PERSONALITY)) {
		settle(cause, way, "terminate",
		       "%s called std::terminate(), with no exception on its way (a joinable "
		       "std::thread that is destroyed does)",
		       name_of(way, way->user));
		return;
	}
	ep_evidence_open_calls(way->evidence, ep_evidence_trace_thread(way->evidence, death->tid),
			       &open);
	settle_exception(cause, way, &open);
	ep_open_calls_deinit(&open);
}

/* ---- aborts ---- */

/* "free": without what stands before and behind. */
static void check_name(char out[64], const struct ep_function *check)
{
	const char *symbol = check->symbol;
	size_t length;

	while (*symbol == '_')
		symbol++;
	length = strlen(symbol);
	snprintf(out, 64, "%.*s", (int)(length - strlen("_chk")), symbol);
}

static void settle_fortify(struct ep_report_cause *cause, struct way *way)
{
	const char *user = name_of(way, way->user);
	char called[64];

	if (!way->check) {
		settle(cause, way, "fortify",
		       "a check of the C library failed, in a call by %s (_FORTIFY_SOURCE)", user);
		return;
	}
	check_name(called, way->check);
	settle(cause, way, "fortify", "%s in %s was to go %s (_FORTIFY_SOURCE)", called, user,
	       strcmp(called, "longjmp") == 0 ? "on in a function that has returned"
					      : "beyond its buffer");
}

static bool is_terminate(const struct way *way)
{
	return met(way, PART_TERMINATE) || met(way, PART_NOEXCEPT) || met(way, PART_PERSONALITY);
}

/* `said`: NULL none. */
static void settle_abort(struct ep_report_cause *cause, struct way *way,
			 const struct ep_death *death, const char *said)
{
	const char *user = name_of(way, way->user);

	if (met(way, PART_SMASHED))
		settle(cause, way, "stack-smashed",
		       "a buffer in the frame of %s was written beyond its end (-fstack-protector)",
		       user);
	else if (met(way, PART_FORTIFY))
		settle_fortify(cause, way);
	else if (met(way, PART_PURE))
		settle(cause, way, "pure-virtual",
		       "%s called a pure virtual function, of an object that is being made or "
		       "destroyed",
		       user);
	else if (met(way, PART_DELETED))
		settle(cause, way, "deleted-virtual", "%s called a deleted virtual function", user);
	else if (met(way, PART_ASSERT))
		settle(cause, way, "assertion", "an assertion failed in %s", user);
	else if (way->heap)
		settle(cause, way, "heap",
		       "%s(), called by %s, found the heap damaged, or was given a wrong "
		       "pointer%s%s",
		       way->heap->name, user, said ? ": " : "", said ? said : "");
	else if (is_terminate(way) || walk_terminate(way))
		settle_terminate(cause, way, death);
	else if (met(way, PART_ABORT) && way->user)
		settle(cause, way, "abort", "%s called abort()", user);
	else if (met(way, PART_RAISE) && way->user)
		settle(cause, way, "raised", "%s sent it to its own process: raise()", user);
	cause->function = way->user;
}

/* The text with each kind of names. */
static void settle_all(struct ep_report_cause *cause, const struct way *way,
		       const struct ep_death *death, const char *said)
{
	for (unsigned names = 0; names < EP_CAUSE_NAMES; names++) {
		struct way own = *way;

		own.names = names;
		settle_abort(cause, &own, death, said);
		while (own.owned_count)
			free(own.owned[--own.owned_count]);
	}
}

/* The process itself, by what the core says; where that is not known the stack is enough. */
static bool by_itself(const struct ep_evidence *evidence, const struct ep_death *death)
{
	pid_t self = ep_source_pid(evidence->source);

	return death->has_siginfo ? death->code <= 0 && self && death->sender_pid == (uint32_t)self
				  : death->signal == SIGABRT;
}

static void look_at_stack(struct ep_report_cause *cause, const struct ep_evidence *evidence,
			  const struct ep_death *death, size_t from, const char *said)
{
	struct way way = {.evidence = evidence};
	struct ep_stack stack, own;

	if (!ep_evidence_unwind(evidence, death->tid, FRAMES_MAX, &stack))
		return;
	own = stack;
	from = from < stack.count ? from : stack.count;
	own.frames += from;
	own.count -= from;
	/* The handler's own frames, up to the signal frame. */
	if (from < evidence->first.frame && evidence->first.frame <= stack.count)
		own.count = evidence->first.frame - 1 - from;
	way.stack = &own;
	walk(&way);
	if (met(&way, PART_RAISE) || (met(&way, PART_ABORT) && death->signal == SIGABRT))
		settle_all(cause, &way, death, said);
	ep_stack_deinit(&stack);
}

void ep_report_cause_init(struct ep_report_cause *cause, const struct ep_evidence *evidence,
			  const struct ep_death *death, const struct ep_source_thread *thread,
			  size_t from, const char *said)
{
	*cause = (struct ep_report_cause){0};
	if (by_itself(evidence, death))
		look_at_stack(cause, evidence, death, from, said);
	else if (thread && thread->has_registers)
		ep_report_return_init(cause, evidence, death, thread);
}
