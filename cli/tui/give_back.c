/* SPDX-License-Identifier: BSD-2-Clause */
/* give_back.c: bytes and modes that stand ready. All that the handler calls is safe in one. */
#include "cli/tui/give_back.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define STACK_SIZE 32768 /* of the handler's own: the process may have run out of its own */

static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define ASKED  (sizeof(asked) / sizeof(*asked))
#define FAULTS (sizeof(faults) / sizeof(*faults))

static struct {
	int in, out;
	struct termios modes;
	bool known; /* the modes */
	struct ending {
		char bytes[500];
		size_t size;
	} endings[2]; /* one is made while the other counts */
	struct sigaction before[ASKED + FAULTS];
} terminal;

static volatile sig_atomic_t held, interrupted, ending;
static char stack[STACK_SIZE];

/* ---- the handler ---- */

static void give_back(void)
{
	const struct ending *this = &terminal.endings[ending];

	/* Where it cannot be written to there is nobody who looks at it. */
	if (write(terminal.out, this->bytes, this->size) < 0)
		return;
	if (terminal.known)
		tcsetattr(terminal.in, TCSANOW, &terminal.modes);
}

/* The process ends on return: of a fault by the fault again, so that its core shows it. */
static void end_by(int number)
{
	if (number == SIGINT && held && !interrupted) {
		interrupted = 1;
		return;
	}
	give_back();
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- what stands ready ---- */

static bool is_ours(const struct sigaction *before, bool fault)
{
	return before->sa_handler != SIG_IGN && (!fault || before->sa_handler == SIG_DFL);
}

static void take(int number, struct sigaction *before, bool fault)
{
	struct sigaction ours = {.sa_handler = end_by, .sa_flags = fault ? SA_ONSTACK : 0};

	sigaction(number, NULL, before);
	if (is_ours(before, fault))
		sigaction(number, &ours, NULL);
}

void ep_give_back_begin(int in, int out)
{
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};

	terminal.in = in;
	terminal.out = out;
	terminal.known = tcgetattr(in, &terminal.modes) == 0;
	terminal.endings[ending].size = 0;
	for (size_t i = 0; i < ASKED; i++)
		take(asked[i], &terminal.before[i], false);
	for (size_t i = 0; i < FAULTS; i++)
		take(faults[i], &terminal.before[ASKED + i], true);
	if (is_ours(&terminal.before[ASKED], true))
		sigaltstack(&own, NULL);
}

void ep_give_back_end(void)
{
	for (size_t i = 0; i < ASKED; i++)
		sigaction(asked[i], &terminal.before[i], NULL);
	for (size_t i = 0; i < FAULTS; i++)
		sigaction(faults[i], &terminal.before[ASKED + i], NULL);
}

/* "$<5/>" is a delay. */
static void append(struct ending *made, const char *sequence)
{
	for (; *sequence; sequence++) {
		const char *end = strncmp(sequence, "$<", 2) ? NULL : strchr(sequence, '>');

		if (end)
			sequence = end;
		else if (made->size < sizeof(made->bytes))
			made->bytes[made->size++] = *sequence;
	}
}

void ep_give_back_set(const char *const *sequences, size_t count)
{
	struct ending *made = &terminal.endings[!ending];

	made->size = 0;
	for (size_t i = 0; i < count; i++)
		if (sequences[i])
			append(made, sequences[i]);
	ending = !ending;
}

/* ---- Ctrl-C ---- */

void ep_give_back_hold_interrupt(bool hold)
{
	held = hold;
	interrupted = 0;
}

bool ep_give_back_interrupted(void)
{
	return interrupted;
}
