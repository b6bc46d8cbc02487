/* SPDX-License-Identifier: BSD-2-Clause */
/* interrupt.c: files that are being written go first. All that is called here is safe in a signal
 * handler. */
#include "cli/common/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "cli/common/progress.h"
#include "coredump/files/output.h"
#include "coredump/files/output_folder.h"

static void end_by(int number)
{
	ep_output_remove_asides();
	ep_output_folder_remove_aside();
	ep_progress_wipe();
	/* Also where somebody put this handler back with signal(2), which keeps it. It ends the
	 * process on return. */
	signal(number, SIG_DFL);
	raise(number);
}

void ep_interrupt_begin(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction ours = {.sa_handler = end_by}, theirs;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
			sigaction(numbers[i], &ours, NULL);
}
