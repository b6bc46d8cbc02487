/* SPDX-License-Identifier: BSD-2-Clause */
/* build_core.c: by elf(5) and Linux fs/binfmt_elf.c, without libelf and without the reader's
 * code. */
#include "tests/unit/build_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#define PAGE 4096u

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "build_core: %s\n", what);
	abort();
}

static size_t padded(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

struct build_core *build_core_create(void)
{
	struct build_core *core = calloc(1, sizeof(*core));

	must(core != NULL, "out of memory");
	core->fd = -1;
	return core;
}

void build_core_destroy(struct build_core *core)
{
	if (!core)
		return;
	if (core->fd >= 0)
		close(core->fd);
	for (size_t i = 0; i < core->load_count; i++)
		free(core->loads[i].bytes);
	free(core->loads);
	free(core->notes);
	free(core->bytes);
	free(core);
}

/* ---- notes ---- */

void build_core_note(struct build_core *core, const char *name, uint32_t type, const void *desc,
		     size_t size)
{
	size_t name_size = strlen(name) + 1;
	Elf64_Nhdr header = {(uint32_t)name_size, (uint32_t)size, type};
	size_t whole = sizeof(header) + padded(name_size, 4) + padded(size, 4);
	uint8_t *at;

	core->notes = realloc(core->notes, core->notes_size + whole);
	must(core->notes != NULL, "out of memory");
	at = core->notes + core->notes_size;
	memset(at, 0, whole);
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), name, name_size);
	if (size)
		memcpy(at + sizeof(header) + padded(name_size, 4), desc, size);
	core->notes_size += whole;
}

void build_core_thread(struct build_core *core, uint32_t tid, uint64_t pc, uint64_t sp, uint64_t fp,
		       int signal)
{
	struct elf_prstatus status = {0};
	struct user_regs_struct regs = {.rip = pc, .rsp = sp, .rbp = fp};

	status.pr_pid = (pid_t)tid;
	status.pr_cursig = (short)signal;
	memcpy(&status.pr_reg, &regs, sizeof(regs));
	build_core_note(core, "CORE", NT_PRSTATUS, &status, sizeof(status));
}

void build_core_process(struct build_core *core, uint32_t pid)
{
	struct elf_prpsinfo info = {.pr_pid = (pid_t)pid};

	strcpy(info.pr_fname, "server");
	build_core_note(core, "CORE", NT_PRPSINFO, &info, sizeof(info));
}

void build_core_signal(struct build_core *core, const siginfo_t *info)
{
	build_core_note(core, "CORE", NT_SIGINFO, info, sizeof(*info));
}

void build_core_auxv(struct build_core *core, const uint64_t (*pairs)[2], size_t count)
{
	uint64_t(*all)[2] = calloc(count + 1, sizeof(*all));

	must(all != NULL, "out of memory");
	memcpy(all, pairs, count * sizeof(*all));
	build_core_note(core, "CORE", NT_AUXV, all, (count + 1) * sizeof(*all));
	free(all);
}

void build_core_files(struct build_core *core, const struct build_core_file *files, size_t count)
{
	uint64_t head[2] = {count, PAGE};
	size_t size = 16 + 24 * count;
	uint8_t *desc = calloc(1, size + count * 4096);

	must(desc != NULL, "out of memory");
	memcpy(desc, head, sizeof(head));
	for (size_t i = 0; i < count; i++) {
		uint64_t range[3] = {files[i].start, files[i].end, files[i].offset};

		memcpy(desc + 16 + 24 * i, range, sizeof(range));
		strcpy((char *)desc + size, files[i].path);
		size += strlen(files[i].path) + 1;
	}
	build_core_note(core, "CORE", NT_FILE, desc, size);
	free(desc);
}

/* ---- memory ---- */

void build_core_memory(struct build_core *core, uint64_t address, const void *bytes,
		       uint64_t filesz, uint64_t memsz, uint32_t flags)
{
	struct build_core_load *load;

	/* doubling: a sanitizer's realloc always moves */
	if ((core->load_count & (core->load_count - 1)) == 0)
		core->loads = realloc(core->loads, (2 * core->load_count + 1) * sizeof(*load));
	must(core->loads != NULL, "out of memory");
	load = &core->loads[core->load_count++];
	*load = (struct build_core_load){address, filesz, memsz, flags, NULL};
	load->bytes = calloc(1, filesz + 1);
	must(load->bytes != NULL, "out of memory");
	if (bytes)
		memcpy(load->bytes, bytes, filesz);
}

void build_core_arena(struct build_core *core, const struct build_arena *arena)
{
	uint64_t address = arena->arena->root.self;

	build_core_memory(core, address, arena->bytes, arena->committed, arena->committed,
			  PF_R | PF_W);
	if (arena->committed < arena->size)
		build_core_memory(core, address + arena->committed, NULL, 0,
				  arena->size - arena->committed, 0);
}

/* ---- the file ---- */

Elf64_Ehdr *build_core_ehdr(struct build_core *core)
{
	return (Elf64_Ehdr *)core->bytes;
}

Elf64_Phdr *build_core_phdr(struct build_core *core, size_t index)
{
	must(index <= core->load_count, "no such program header");
	return (Elf64_Phdr *)(core->bytes + sizeof(Elf64_Ehdr)) + index;
}

static void headers_fill(struct build_core *core)
{
	Elf64_Ehdr *header = build_core_ehdr(core);
	size_t count = core->load_count + 1;

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_CORE;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_phoff = sizeof(*header);
	header->e_ehsize = sizeof(*header);
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_phnum = (uint16_t)count;
	if (core->many) {
		Elf64_Shdr section = {.sh_size = 1, .sh_info = (uint32_t)count};

		header->e_phnum = PN_XNUM;
		header->e_shoff = core->size - sizeof(section);
		header->e_shentsize = sizeof(section);
		header->e_shnum = 1;
		memcpy(core->bytes + header->e_shoff, &section, sizeof(section));
	}
}

void build_core_finish(struct build_core *core)
{
	size_t notes = sizeof(Elf64_Ehdr) + (core->load_count + 1) * sizeof(Elf64_Phdr);
	size_t data = padded(notes + core->notes_size, PAGE), at = data;

	for (size_t i = 0; i < core->load_count; i++)
		at += padded(core->loads[i].filesz, PAGE);
	core->size = at + (core->many ? sizeof(Elf64_Shdr) : 0);
	core->bytes = calloc(1, core->size);
	must(core->bytes != NULL, "out of memory");
	headers_fill(core);
	*build_core_phdr(core, 0) =
		(Elf64_Phdr){.p_type = PT_NOTE, .p_offset = notes, .p_filesz = core->notes_size};
	if (core->notes_size)
		memcpy(core->bytes + notes, core->notes, core->notes_size);
	for (size_t i = 0; i < core->load_count; i++) {
		const struct build_core_load *load = &core->loads[i];

		*build_core_phdr(core, i + 1) = (Elf64_Phdr){.p_type = PT_LOAD,
							     .p_flags = load->flags,
							     .p_offset = data,
							     .p_vaddr = load->address,
							     .p_filesz = load->filesz,
							     .p_memsz = load->memsz,
							     .p_align = PAGE};
		memcpy(core->bytes + data, load->bytes, load->filesz);
		data += padded(load->filesz, PAGE);
	}
}

const char *build_file(const void *bytes, size_t size, int *fd)
{
	static char path[64];
	size_t done = 0;

	*fd = memfd_create("core", 0);
	must(*fd >= 0, "memfd_create");
	while (done < size) {
		ssize_t n = write(*fd, (const char *)bytes + done, size - done);

		must(n > 0, "write");
		done += (size_t)n;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	return path;
}

const char *build_core_path(struct build_core *core)
{
	if (core->fd >= 0)
		close(core->fd);
	snprintf(core->path, sizeof(core->path), "%s",
		 build_file(core->bytes, core->size, &core->fd));
	return core->path;
}

struct build_core *build_core_usual(struct build_arena **arena, uint32_t blocks)
{
	struct build_core *core = build_core_create();
	struct build_arena *made = build_arena_create(NULL);
	struct ep_thread *thread = build_arena_thread(made, 101, "worker", blocks);
	uint8_t stack[8192];

	memset(stack, 0x5a, sizeof(stack));
	for (uint32_t i = 0; i < blocks * EP_BLOCK_RECORDS / 2; i++)
		build_event(made, thread, 0x401000, i & 1, 1000000 + i * 80);
	build_arena_seal(made);
	build_core_thread(core, 100, 0x401234, 0x7ffff0000800, 0x7ffff0000900, SIGSEGV);
	build_core_process(core, 100);
	build_core_signal(core, &(siginfo_t){.si_signo = SIGSEGV,
					     .si_code = SEGV_MAPERR,
					     .si_addr = (void *)0xdead});
	build_core_auxv(core, (const uint64_t[][2]){{AT_PAGESZ, PAGE}}, 1);
	build_core_files(core,
			 (struct build_core_file[]){{0x400000, 0x402000, 0, "/usr/bin/server"}}, 1);
	build_core_thread(core, 101, 0x401300, 0x7fff80000800, 0, 0);
	build_core_arena(core, made);
	build_core_memory(core, 0x7fff80000000, stack, sizeof(stack), sizeof(stack), PF_R | PF_W);
	build_core_memory(core, 0x7ffff0000000, stack, sizeof(stack), sizeof(stack), PF_R | PF_W);
	build_core_finish(core);
	if (arena)
		*arena = made;
	else
		build_arena_destroy(made);
	return core;
}
