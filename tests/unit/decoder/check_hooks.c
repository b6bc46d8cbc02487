/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_hooks.c: functions of a few instructions, each a letter:
 *
 * 	F E  call __fentry__, __cyg_profile_func_enter
 * 	R X  call __return__, __cyg_profile_func_exit
 * 	W    call __wrap___fentry__, as in static programs
 * 	G    call __fentry__ through the global offset table, g through a slot
 * 	     of it that cannot be read
 * 	O U  call another function, one without a name
 * 	s x      clang's sleds as they were compiled: of an entry or before a tail
 * 	         call, of a return; S: that of an entry, prepared
 * 	n r u j  nop, ret, ud2, jmp to another function
 * 	w v      what a hook writes its record with, and what it keeps a register with
 * 	C J      call and jmp to what it leaves to C by
 * 	k b      a conditional jump, jmp to the first instruction
 * 	?    a byte that begins no instruction
 * 	^    pc is in the next one
 */
#include <elf.h>
#include <string.h>

#include "decoder/code/hooks.h"
#include "tests/unit/main.h"

#define START     UINT64_C(0x401000)
#define SLOT      UINT64_C(0x404000)
#define CODE_SIZE 70000u

static const struct {
	char letter;
	uint64_t address;
	const char *symbol;
} callees[] = {
	{'F', 0x402000, "__fentry__"},
	{'E', 0x402100, "__cyg_profile_func_enter"},
	{'R', 0x402200, "__return__"},
	{'X', 0x402300, "__cyg_profile_func_exit"},
	{'W', 0x402400, "__wrap___fentry__"},
	{'O', 0x402500, "__fentry__s"},
	{'U', 0x402600, ""},
	{'C', 0x402700, "ep_hook_slow"},
	{'Z', 0x402800, "slow_at_entry"},
};

#define CALLEES (sizeof(callees) / sizeof(*callees))

static uint8_t code[CODE_SIZE];
static size_t size, in_file, in_core;
static uint64_t pc;
static bool dynamic;

/* ---- names and memory ---- */

const struct ep_function *ep_names_find(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	static struct ep_function found;

	(void)names, (void)tsc;
	found = (struct ep_function){.symbol = "", .name = "?"};
	for (size_t i = 0; i < CALLEES; i++)
		if (callees[i].address == address) {
			found.symbol = callees[i].symbol;
			found.known = *found.symbol;
		}
	return &found;
}

size_t ep_names_code(struct ep_names *names, uint64_t address, void *out, size_t wanted)
{
	(void)names;
	ck_assert_uint_eq(address, START);
	if (wanted > in_file)
		wanted = in_file;
	memcpy(out, code, wanted);
	return wanted;
}

int ep_source_read(struct ep_source *source, uint64_t address, void *out, size_t wanted,
		   size_t *done, struct ep_err *err)
{
	(void)source, (void)err;
	if (address == SLOT) {
		memcpy(out, &callees[0].address, sizeof(uint64_t));
		return EP_OK;
	}
	if (address != START)
		return EP_E_UNMAPPED;
	*done = wanted < in_core ? wanted : in_core;
	memcpy(out, code, *done);
	return *done == wanted ? EP_OK : EP_E_UNMAPPED;
}

int ep_source_auxv(const struct ep_source *source, uint64_t type, uint64_t *value)
{
	(void)source;
	ck_assert_uint_eq(type, AT_BASE);
	*value = UINT64_C(0x7f0000000000);
	return dynamic ? EP_OK : EP_END;
}

/* For the builders, which nobody calls here. */
const char *ep_names_constant_string(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	(void)names, (void)address, (void)tsc;
	return NULL;
}

bool ep_names_word(const struct ep_names *names, uint64_t address, uint64_t *out)
{
	(void)names, (void)address, (void)out;
	return false;
}

const struct ep_function *ep_names_span(struct ep_names *names, const char *name)
{
	(void)names, (void)name;
	return NULL;
}

/* ---- letters to code ---- */

static void put(const void *bytes, size_t count)
{
	memcpy(code + size, bytes, count);
	size += count;
}

/* With the distance from behind it. */
static void put_relative(const char *opcode, size_t length, uint64_t target)
{
	int32_t distance = (int32_t)(target - (START + size + length + sizeof(distance)));

	put(opcode, length);
	put(&distance, sizeof(distance));
}

static void assemble(const char *words)
{
	size = 0;
	pc = 0;
	for (; *words; words++) {
		if (*words == '^')
			pc = START + size;
		for (size_t i = 0; i < CALLEES; i++)
			if (callees[i].letter == *words)
				put_relative("\xe8", 1, callees[i].address);
		if (*words == 'G' || *words == 'g')
			put_relative("\xff\x15", 2, *words == 'G' ? SLOT : SLOT + 8);
		else if (*words == 'j')
			put_relative("\xe9", 1, callees[5].address);
		else if (*words == 'J')
			put_relative("\xe9", 1, callees[CALLEES - 1].address);
		else if (*words == 'b')
			put_relative("\xe9", 1, START);
		else if (*words == 'k')
			put("\x74\x7f", 2);
		else if (*words == 'w')
			put("\x4d\x89\x5a\xf8", 4);
		else if (*words == 'v')
			put("\x4c\x89\x5c\x24\xf8", 5);
		else if (*words == 'u')
			put("\x0f\x0b", 2);
		else if (*words == 's')
			put("\xeb\x09\x66\x0f\x1f\x84\0\0\2\0\0", 11);
		else if (*words == 'S')
			put("\xeb\0\xe8\1\2\3\4\x0f\x1f\x40\0", 11);
		else if (*words == 'x')
			put("\xc3\x2e\x66\x0f\x1f\x84\0\0\2\0\0", 11);
		else if (strchr("nr?", *words))
			put(*words == 'n' ? "\x90" : *words == 'r' ? "\xc3" : "\x06", 1);
	}
	in_file = size;
	in_core = 0;
}

static enum ep_hooks look(size_t length)
{
	struct ep_function function = {.start = START, .end = START + length};

	return ep_hooks_look(NULL, NULL, &function, pc);
}

/* ---- the table ---- */

static const struct {
	const char *words;
	bool linked_static;
	enum ep_hooks want;
} functions[] = {
	{"nr", false, EP_HOOKS_NONE},
	{"nOr", false, EP_HOOKS_NONE},
	{"FnRr", false, EP_HOOKS_SOME},
	{"EnXr", false, EP_HOOKS_SOME},
	{"nRr", false, EP_HOOKS_SOME},
	{"Wnr", true, EP_HOOKS_SOME},
	{"Gnr", false, EP_HOOKS_SOME},
	{"gnr", false, EP_HOOKS_NONE},
	{"?Fnr", false, EP_HOOKS_SOME},
	{"n?nr", false, EP_HOOKS_NONE},
	/* Before the hook of the entry, and in it. */
	{"^nFnRr", false, EP_HOOKS_ENTERING},
	{"^FnRr", false, EP_HOOKS_ENTERING},
	{"^EnXr", false, EP_HOOKS_ENTERING},
	{"^Gnr", false, EP_HOOKS_ENTERING},
	/* Between the two, up to the call of the second. */
	{"F^nRr", false, EP_HOOKS_SOME},
	{"Fn^ORr", false, EP_HOOKS_SOME},
	{"Fn^Rr", false, EP_HOOKS_SOME},
	/* Behind it, up to the end of the straight line. */
	{"FnR^nr", false, EP_HOOKS_LEAVING},
	{"FnRn^r", false, EP_HOOKS_LEAVING},
	{"EnX^r", false, EP_HOOKS_LEAVING},
	{"FnR^j", false, EP_HOOKS_LEAVING},
	{"FnRr^n", false, EP_HOOKS_SOME},
	{"FnRj^n", false, EP_HOOKS_SOME},
	{"FnRu^n", false, EP_HOOKS_SOME},
	{"FnRr^nRr", false, EP_HOOKS_SOME},
	{"FnRrnR^r", false, EP_HOOKS_LEAVING},
	/* Sleds likewise. */
	{"snx", false, EP_HOOKS_SOME},
	{"Snr", false, EP_HOOKS_SOME},
	{"nx", false, EP_HOOKS_SOME},
	{"^snx", false, EP_HOOKS_ENTERING},
	{"^nsnx", false, EP_HOOKS_ENTERING},
	{"s^nx", false, EP_HOOKS_SOME},
	{"sn^x", false, EP_HOOKS_SOME},
	{"snx^nx", false, EP_HOOKS_SOME},
	{"sn^sj", false, EP_HOOKS_SOME},
	{"sns^j", false, EP_HOOKS_LEAVING},
	{"snsj^nx", false, EP_HOOKS_SOME},
	/* Where pc is says nothing when there is no hook. */
	{"^nr", false, EP_HOOKS_NONE},
	/* What has no name may be a hook in a static program only. */
	{"nUr", false, EP_HOOKS_NONE},
	{"nUr", true, EP_HOOKS_UNKNOWN},
	{"nOr", true, EP_HOOKS_NONE},
	{"FUr", true, EP_HOOKS_SOME},
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

START_TEST(what_a_function_calls_and_where_pc_stands_to_it)
{
	assemble(functions[_i].words);
	dynamic = !functions[_i].linked_static;
	ck_assert_msg(look(size) == functions[_i].want, "%s: %d, not %d", functions[_i].words,
		      look(size), functions[_i].want);
}
END_TEST

START_TEST(pc_may_be_anywhere_in_its_instruction)
{
	assemble("^FnR");
	for (unsigned i = 0; i < 5; i++, pc++)
		ck_assert_int_eq(look(size), EP_HOOKS_ENTERING);
	ck_assert_int_eq(look(size), EP_HOOKS_SOME);
}
END_TEST

START_TEST(a_sleds_hook_has_told_the_return_before_the_last_ret)
{
	assemble("sn^x");
	for (unsigned i = 0; i < 11; i++, pc++)
		ck_assert_int_eq(look(size), i == 9 ? EP_HOOKS_LEAVING : EP_HOOKS_SOME);
}
END_TEST

/* ---- code that is not all there ---- */

START_TEST(without_bounds_or_code_nothing_is_known)
{
	assemble("Fnr");
	ck_assert_int_eq(look(0), EP_HOOKS_UNKNOWN);
	ck_assert_int_eq(look((size_t)-1), EP_HOOKS_UNKNOWN);
	in_file = 0;
	ck_assert_int_eq(look(size), EP_HOOKS_UNKNOWN);
}
END_TEST

START_TEST(code_that_no_file_has_is_the_memorys)
{
	assemble("nnFnr");
	in_file = 2;
	in_core = size;
	ck_assert_int_eq(look(size), EP_HOOKS_SOME);
}
END_TEST

START_TEST(half_the_code_tells_of_hooks_but_not_of_none)
{
	assemble("nnnnnFnr");
	in_file = in_core = 4;
	ck_assert_int_eq(look(size), EP_HOOKS_UNKNOWN);
	assemble("Fnnnnnnnr");
	in_file = in_core = 7;
	ck_assert_int_eq(look(size), EP_HOOKS_SOME);
}
END_TEST

START_TEST(a_function_is_looked_at_for_64_KiB)
{
	assemble("F");
	memset(code + size, 0x90, CODE_SIZE - size);
	in_file = CODE_SIZE;
	ck_assert_int_eq(look(CODE_SIZE), EP_HOOKS_SOME);
	memset(code, 0x90, size);
	ck_assert_int_eq(look(CODE_SIZE), EP_HOOKS_UNKNOWN);
	ck_assert_int_eq(look(65536), EP_HOOKS_NONE);
}
END_TEST

/* ---- the hooks themselves ---- */

START_TEST(hooks_are_known_by_their_names)
{
	for (size_t i = 0; i < CALLEES; i++) {
		struct ep_function function = {.symbol = callees[i].symbol};

		ck_assert_int_eq(ep_is_hook(&function), !!strchr("FERXW", callees[i].letter));
	}
}
END_TEST

static const struct {
	const char *words;
	bool want;
} hooks[] = {
	{"^nwr", true},
	{"n^wr", true},
	{"nw^r", false},
	{"nw^nr", false},
	/* A pause, and what goes round it. */
	{"^nrwr", false},
	{"^nkrwr", false},
	{"^nkwr", true},
	{"n^vwr", true},
	{"nw^vr", false},
	/* Into C. */
	{"nwr^J", true},
	{"nwr^nCr", true},
	{"nwrC^r", false},
	/* On from elsewhere in it; for ever. */
	{"nwr^nb", true},
	{"nrw^b", false},
	{"^nb", false},
	/* What the runtime's hooks do not do. */
	{"^nOr", false},
	{"^nj", false},
	{"^nUr", false},
	{"^n?wr", false},
	{"^n", false},
};

START_TEST(a_hook_has_its_record_to_write_while_its_way_leads_there)
{
	struct ep_function hook = {.start = START};

	assemble(hooks[_i].words);
	hook.end = START + size;
	ck_assert_msg(ep_hook_is_to_record(NULL, NULL, &hook, pc) == hooks[_i].want, "%s",
		      hooks[_i].words);
	in_file = size - 1;
	ck_assert(!ep_hook_is_to_record(NULL, NULL, &hook, pc));
	ck_assert(!ep_hook_is_to_record(NULL, NULL, &hook, hook.end));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hooks");
	TCase *tests = tcase_create("hooks");

	tcase_add_loop_test(tests, what_a_function_calls_and_where_pc_stands_to_it, 0, FUNCTIONS);
	tcase_add_test(tests, pc_may_be_anywhere_in_its_instruction);
	tcase_add_test(tests, a_sleds_hook_has_told_the_return_before_the_last_ret);
	tcase_add_test(tests, without_bounds_or_code_nothing_is_known);
	tcase_add_test(tests, code_that_no_file_has_is_the_memorys);
	tcase_add_test(tests, half_the_code_tells_of_hooks_but_not_of_none);
	tcase_add_test(tests, a_function_is_looked_at_for_64_KiB);
	tcase_add_test(tests, hooks_are_known_by_their_names);
	tcase_add_loop_test(tests, a_hook_has_its_record_to_write_while_its_way_leads_there, 0,
			    sizeof(hooks) / sizeof(*hooks));
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
