/* SPDX-License-Identifier: BSD-2-Clause */
/* incarnation.c: asked of /proc. */
#include "runtime/lib/incarnation.h"

#include <fcntl.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

/* "12345678-9abc-…": 16 bytes. */
static void parse_boot_id(const char *text, long length, uint8_t id[16])
{
	unsigned digits = 0;

	for (long i = 0; i < length && digits < 32; i++) {
		const char *at = text + i;
		uint64_t digit;

		if (ep_text_number(&at, text + i + 1, 16, &digit)) {
			id[digits / 2] |= (uint8_t)(digit << (digits % 2 ? 0 : 4));
			digits++;
		}
	}
}

/* Field 22; the name, field 2, may hold anything, parentheses too. */
uint64_t ep_process_start_ticks(uint32_t pid)
{
	char path[32], stat[1024];
	struct ep_text text;
	const char *at = stat, *end;
	uint64_t ticks = 0;
	int fields = 2;
	long got;

	ep_text_init(&text, path, sizeof path);
	ep_text_add(&text, "/proc/");
	if (pid)
		ep_text_add_number(&text, pid);
	else
		ep_text_add(&text, "self");
	ep_text_add(&text, "/stat");
	got = ep_fd_load(path, stat, sizeof stat);
	if (got <= 0)
		return 0;
	end = stat + got;
	for (const char *c = stat; c < end; c++)
		at = *c == ')' ? c : at;
	for (; at < end && fields < 22; at++)
		fields += *at == ' ';
	return ep_text_number(&at, end, 10, &ticks) ? ticks : 0;
}

void ep_process_incarnation(struct ep_process *process)
{
	char text[64];
	long got = ep_fd_load("/proc/sys/kernel/random/boot_id", text, sizeof text);

	ep_bytes_zero(process->boot_id, sizeof process->boot_id);
	parse_boot_id(text, got, process->boot_id);
	ep_process_incarnation_child(process);
}

void ep_process_incarnation_child(struct ep_process *process)
{
	char text[64];
	const char *at;
	long got;

	process->start_ticks = ep_process_start_ticks(0);
	/* "pid:[4026531836]" */
	got = ep_syscall4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)text,
			  sizeof text);
	at = text + 5;
	if (got < 6 || !ep_text_number(&at, text + got, 10, &process->pid_namespace))
		process->pid_namespace = 0;
}
