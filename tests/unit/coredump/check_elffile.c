/* SPDX-License-Identifier: BSD-2-Clause */
/* check_elffile.c: what compressed sections would become is found in their first bytes. */
#include "coredump/files/elffile.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/main.h"

#define SMALL UINT64_C(100000)
#define LARGE (UINT64_C(1) << 30)

static const char names[] = "\0.shstrtab\0.debug_info\0.zdebug_info";
enum { SHSTRTAB = 1, DEBUG_INFO = 11, ZDEBUG_INFO = 23 };

static void add(Elf *elf, GElf_Word name, GElf_Word type, uint64_t flags, const void *bytes,
		size_t size)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_type = ELF_T_BYTE;
	data->d_align = 8;
	ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
	header.sh_name = name;
	header.sh_type = type;
	header.sh_flags = flags;
	ck_assert_int_ne(gelf_update_shdr(section, &header), 0);
}

/* A file, "file", with one such section. */
static void make(int class, int order, GElf_Word name, uint64_t flags, const void *bytes,
		 size_t size)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	ck_assert_ptr_nonnull(gelf_newehdr(elf, class));
	ck_assert_ptr_nonnull(gelf_getehdr(elf, &header));
	header.e_ident[EI_DATA] = (unsigned char)order;
	header.e_type = ET_EXEC;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = 2;
	ck_assert_int_ne(gelf_update_ehdr(elf, &header), 0);
	add(elf, name, SHT_PROGBITS, flags, bytes, size);
	add(elf, SHSTRTAB, SHT_STRTAB, 0, names, sizeof(names));
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	close(fd);
}

static void make_packed(int class, int order, uint64_t unpacked)
{
	bool big = order == ELFDATA2MSB;
	unsigned char bytes[200] = {0};
	Elf64_Chdr wide = {.ch_type = big ? htobe32(1) : 1,
			   .ch_size = big ? htobe64(unpacked) : unpacked};
	Elf32_Chdr narrow = {.ch_type = big ? htobe32(1) : 1,
			     .ch_size = big ? htobe32((uint32_t)unpacked) : (uint32_t)unpacked};

	if (class == ELFCLASS64)
		memcpy(bytes, &wide, sizeof(wide));
	else
		memcpy(bytes, &narrow, sizeof(narrow));
	make(class, order, DEBUG_INFO, SHF_COMPRESSED, bytes, sizeof(bytes));
}

static void make_old(uint64_t unpacked)
{
	unsigned char bytes[200] = "ZLIB";

	unpacked = htobe64(unpacked);
	memcpy(bytes + 4, &unpacked, sizeof(unpacked));
	make(ELFCLASS64, ELFDATA2LSB, ZDEBUG_INFO, 0, bytes, sizeof(bytes));
}

static void opens(void)
{
	int fd = ep_elf_file_open("file");

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void is_too_much(void)
{
	errno = 0;
	ck_assert_int_eq(ep_elf_file_open("file"), -1);
	ck_assert_int_eq(errno, EFBIG);
}

START_TEST(what_becomes_too_much_is_refused_in_each_class_and_order)
{
	for (int class = ELFCLASS32; class <= ELFCLASS64; class ++)
		for (int order = ELFDATA2LSB; order <= ELFDATA2MSB; order++) {
			make_packed(class, order, LARGE);
			is_too_much();
			make_packed(class, order, SMALL);
			opens();
		}
}
END_TEST

START_TEST(what_becomes_too_much_the_older_way_is_refused)
{
	make_old(LARGE);
	is_too_much();
	make_old(SMALL);
	opens();
}
END_TEST

START_TEST(what_is_too_short_to_say_is_not_asked)
{
	unsigned char bytes[24];

	memset(bytes, 0x7f, sizeof(bytes));
	make(ELFCLASS64, ELFDATA2LSB, DEBUG_INFO, SHF_COMPRESSED, bytes, 24);
	is_too_much();
	make(ELFCLASS64, ELFDATA2LSB, DEBUG_INFO, SHF_COMPRESSED, bytes, 23);
	opens();
	make(ELFCLASS64, ELFDATA2LSB, ZDEBUG_INFO, 0, bytes, 12);
	is_too_much();
	make(ELFCLASS64, ELFDATA2LSB, ZDEBUG_INFO, 0, bytes, 11);
	opens();
}
END_TEST

/* libelf does not read it either, so it unpacks nothing. */
START_TEST(a_section_that_is_not_all_in_the_file_becomes_nothing)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	uint64_t place;
	int fd;

	make_packed(ELFCLASS64, ELFDATA2LSB, LARGE);
	fd = open("file", O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	place = header.e_shoff + sizeof(section);
	ck_assert_int_eq(pread(fd, &section, sizeof(section), (off_t)place), sizeof(section));
	section.sh_size = 1 << 20;
	ck_assert_int_eq(pwrite(fd, &section, sizeof(section), (off_t)place), sizeof(section));
	opens();
	section.sh_size = 24;
	section.sh_offset = UINT64_MAX - 8;
	ck_assert_int_eq(pwrite(fd, &section, sizeof(section), (off_t)place), sizeof(section));
	opens();
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elffile");
	TCase *tests = tcase_create("elffile");

	tcase_add_test(tests, what_becomes_too_much_is_refused_in_each_class_and_order);
	tcase_add_test(tests, what_becomes_too_much_the_older_way_is_refused);
	tcase_add_test(tests, what_is_too_short_to_say_is_not_asked);
	tcase_add_test(tests, a_section_that_is_not_all_in_the_file_becomes_nothing);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
