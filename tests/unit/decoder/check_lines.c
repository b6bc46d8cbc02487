/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_lines.c: lines of programs made by both compilers, in every DWARF version, against what the
 * source says and what llvm-addr2line says (that of binutils 2.40 names wrong files for gcc's DWARF
 * 5).
 */
#include "tests/unit/main.h"

#include <elfutils/libdwelf.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "decoder/names/names.h"

/* Compiled code that a header brings in comes first, and in a folder. */
static const char header[] = "static __attribute__((noinline))\n"
			     "int from_header(int x)\n"
			     "{\n"
			     "	return x * 7 + 1;\n"
			     "}\n";
static const char source[] = "#include \"sub/../sub/header.h\"\n"
			     "int second(int x);\n"
			     "\n"
			     "int first(int x) /* line 4 */\n"
			     "{\n"
			     "	return second(from_header(x)) * 3;\n"
			     "}\n"
			     "\n"
			     "__attribute__((noinline)) int second(int x)\n"
			     "{\n"
			     "	return x ^ 5;\n"
			     "}\n"
			     "\n"
			     "int main(int c, char **v) /* line 14 */\n"
			     "{\n"
			     "	(void)v;\n"
			     "	return first(c);\n"
			     "}\n";

/* Where the definition's name or its brace may lie, by the source above. */
static const struct {
	const char *function, *file;
	unsigned low, high;
} wanted[] = {
	{"from_header", "sub/header.h", 2, 3},
	{"first", "prog.c", 4, 5},
	{"second", "prog.c", 9, 10},
	{"main", "prog.c", 14, 15},
};

static const char *const flags[] = {
	"gcc -O0 -gdwarf-2",
	"gcc -O0 -gdwarf-3",
	"gcc -O0 -gdwarf-4",
	"gcc -O0 -gdwarf-5",
	"gcc -O2 -fno-inline -gdwarf-5 -no-pie",
	"gcc -O1 -fno-inline -gdwarf-5 -ffunction-sections -Wl,--gc-sections",
	"gcc -O0 -gdwarf-5 -gsplit-dwarf",
	"gcc -O0 -gdwarf-5 -gz",
	"clang -O0 -gdwarf-2",
	"clang -O0 -gdwarf-3",
	"clang -O0 -gdwarf-4",
	"clang -O0 -gdwarf-5",
	"clang -O0 -gdwarf-5 -no-pie",
	"clang -O2 -fno-inline -gdwarf-5 -ffunction-sections",
};

static struct ep_names *names;

static void setup(void)
{
	char folder[] = "lines.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	ep_names_destroy(names);
	names = NULL;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* Paths without symbolic links, so that the compiler and we agree. */
static const char *folder(void)
{
	static char path[4096];

	ck_assert_ptr_nonnull(getcwd(path, sizeof(path)));
	return path;
}

static void make(const char *compiler)
{
	static struct ep_names_options force = {.force = true};
	static struct ep_trace_module module;
	static char path[4200];
	char command[1024];

	ck_assert_int_eq(system("mkdir -p sub"), 0);
	write_text("sub/header.h", header);
	write_text("prog.c", source);
	snprintf(command, sizeof(command), "%s prog.c -o prog", compiler);
	ck_assert_int_eq(system(command), 0);
	snprintf(path, sizeof(path), "%s/prog", folder());
	module = (struct ep_trace_module){.end = UINT64_C(1) << 40, .path = path};
	names = ep_names_create(&module, 1, &force);
}

/* Calls back for each function of the program. */
static void each_function(void (*check)(uint64_t address, const char *symbol))
{
	char line[256], symbol[200];
	uint64_t address;
	FILE *nm = popen("nm prog | grep ' [Tt] '", "r");

	while (fgets(line, sizeof(line), nm))
		if (sscanf(line, "%lx %*c %199s", &address, symbol) == 2)
			check(address, symbol);
	pclose(nm);
}

static unsigned checked;

static void check_definition(uint64_t address, const char *symbol)
{
	const struct ep_function *found = ep_names_find(names, address, 0);
	struct ep_line line = ep_names_function_line(names, found);
	char path[4400];

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strcmp(wanted[i].function, symbol) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder(), wanted[i].file);
		ck_assert_str_eq(found->name, symbol);
		ck_assert_msg(line.file, "%s has no line", symbol);
		ck_assert_str_eq(line.file, path);
		ck_assert_uint_ge(line.line, wanted[i].low);
		ck_assert_uint_le(line.line, wanted[i].high);
		checked++;
		return;
	}
	/* The start-up code of the C library has no debug information here. */
	if (symbol[0] == '_')
		ck_assert_msg(!line.file || !strstr(line.file, "prog.c"), "%s is in %s", symbol,
			      line.file);
}

START_TEST(a_function_begins_where_the_source_says)
{
	make(flags[_i]);
	checked = 0;
	each_function(check_definition);
	ck_assert_uint_eq(checked, 4);
}
END_TEST

/* Every instruction of ours, not only entries. */
START_TEST(every_instruction_is_on_the_line_that_llvm_says)
{
	char line[8192], other[8192];
	FILE *list, *answers;
	unsigned count = 0;

	make(flags[_i]);
	ck_assert_int_eq(system("objdump -d --no-show-raw-insn prog | awk '/^[0-9a-f]+ "
				"</ { on = /<(first|second|main|from_header)>/ } on && "
				"/^ / { sub(\":\", \"\", $1); print $1 }' >addresses && "
				"llvm-addr2line -e prog <addresses >answers"),
			 0);
	list = fopen("addresses", "r");
	answers = fopen("answers", "r");
	while (fgets(line, sizeof(line), list)) {
		struct ep_line found = ep_names_address_line(names, strtoull(line, NULL, 16), 0);
		unsigned number = 0;
		char *colon;

		ck_assert_ptr_nonnull(fgets(other, sizeof(other), answers));
		if (strncmp(other, "??", 2) == 0) /* padding after the last */
			continue;
		colon = strrchr(other, ':');
		sscanf(colon, ":%u", &number);
		ck_assert_msg(found.line == number, "%s is line %u, not %s", line, found.line,
			      other);
		*colon = '\0';
		ck_assert_ptr_nonnull(found.file);
		ck_assert_str_eq(strrchr(found.file, '/'), strrchr(other, '/'));
		count++;
	}
	fclose(list);
	fclose(answers);
	ck_assert_uint_gt(count, 12);
}
END_TEST

/* The library's own debug file where the distribution's is installed is covered by the names; here:
 * no debug information at all. */
START_TEST(without_debug_information_there_is_no_line)
{
	make("gcc -g0 -O0");
	ck_assert_ptr_null(ep_names_address_line(names, 0x1139, 0).file);
	ck_assert_ptr_null(ep_names_function_line(names, ep_names_find(names, 0x1139, 0)).file);
}
END_TEST

/* Whatever it says. */
static void ask_everywhere(void)
{
	static struct ep_names_options force = {.force = true};
	char path[4200];
	struct ep_trace_module module = {.end = UINT64_C(1) << 40, .path = path};

	teardown();
	snprintf(path, sizeof(path), "%s/prog", folder());
	names = ep_names_create(&module, 1, &force);
	for (uint64_t a = 0x1100; a < 0x1200; a += 8)
		ep_names_address_line(names, a, 0);
	teardown();
}

static void put_byte(const char *path, unsigned long at, uint8_t byte)
{
	FILE *file = fopen(path, "r+");

	fseek(file, (long)at, SEEK_SET);
	ck_assert_uint_eq(fwrite(&byte, 1, 1, file), 1);
	fclose(file);
}

static uint8_t get_byte(const char *path, unsigned long at)
{
	FILE *file = fopen(path, "r");
	uint8_t byte;

	fseek(file, (long)at, SEEK_SET);
	ck_assert_uint_eq(fread(&byte, 1, 1, file), 1);
	fclose(file);
	return byte;
}

/* Bytes of the sections that libdw reads, spoiled one by one, the last one among them: no crash, no
 * hang. */
START_TEST(spoiled_debug_information_is_survived)
{
	static const char *const sections[] = {".debug_info", ".debug_abbrev", ".debug_line",
					       ".debug_line_str"};
	unsigned long offset, length;
	char command[256];
	FILE *pipe;

	make("gcc -O0 -gdwarf-5");
	snprintf(command, sizeof(command), "readelf -WS prog | sed -n 's/.* \\%s *PROGBITS *//p'",
		 sections[_i]);
	pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%*x %lx %lx", &offset, &length), 2);
	pclose(pipe);
	for (unsigned long at = 0; at < length; at += 1 + length / 150) {
		unsigned long place = offset + length - 1 - at;
		uint8_t byte = get_byte("prog", place);

		put_byte("prog", place, byte ^ 0xff);
		ask_everywhere();
		put_byte("prog", place, byte);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lines");
	TCase *tests = tcase_create("lines");
	int count = sizeof(flags) / sizeof(flags[0]);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, a_function_begins_where_the_source_says, 0, count);
	tcase_add_loop_test(tests, every_instruction_is_on_the_line_that_llvm_says, 0, count);
	tcase_add_test(tests, without_debug_information_there_is_no_line);
	tcase_add_loop_test(tests, spoiled_debug_information_is_survived, 0, 4);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
