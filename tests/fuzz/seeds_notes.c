/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_notes.c: writes the first inputs of fuzz_notes into the folder named: the notes of a core
 * and of a snapshot, as the tests build them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/format.h"
#include "tests/unit/build_core.h"

static const char *folder;

static void save(struct build_core *core, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(core->notes, 1, core->notes_size, file) != core->notes_size ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
	build_core_destroy(core);
}

/* As the kernel writes them: thread, process, signal, auxv, files, thread. */
static struct build_core *usual(int signal)
{
	struct build_core *core = build_core_create();
	siginfo_t info = {.si_signo = signal, .si_code = SI_USER};

	info.si_pid = 7;
	build_core_thread(core, 100, 0x500010, 0x7ff000000800, 0x7ff000000900, signal);
	build_core_process(core, 100);
	build_core_signal(core, &info);
	build_core_auxv(core, (const uint64_t[][2]){{3, 0x500040}, {5, 2}, {9, 5}}, 3);
	build_core_files(core,
			 (struct build_core_file[]){{0x500000, 0x501000, 0, "/bin/a"},
						    {0x600000, 0x601000, 3, "/lib/b"}},
			 2);
	build_core_thread(core, 101, 0x500010, 0x7ff000001000, 0, 0);
	return core;
}

static void save_snapshot(void)
{
	struct build_core *core = usual(SIGSEGV);
	struct {
		struct ep_snapshot_note note;
		struct ep_snapshot_thread threads[2];
	} own = {.note = {.major = EP_FORMAT_MAJOR,
			  .minor = EP_FORMAT_MINOR,
			  .size = sizeof(own.note),
			  .arena_address = UINT64_C(0x200000000),
			  .arena_size = 49152,
			  .arena_saved = 49152,
			  .root_address = 0x500800,
			  .found = EP_FOUND_SEGMENT,
			  .thread_count = 2},
		 .threads = {{.tid = 100, .stack_wanted = 8192},
			     {.tid = 101, .stack_wanted = 4096}}};

	build_core_note(core, EP_NOTE_NAME, EP_NOTE_SNAPSHOT, &own, sizeof(own));
	save(core, "snapshot");
}

int main(int count, char **words)
{
	if (count != 2)
		return 64;
	folder = words[1];
	save(usual(SIGSEGV), "segv");
	save(usual(SIGABRT), "abort");
	save_snapshot();
	return 0;
}
