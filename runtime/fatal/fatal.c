/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fatal.c: the program's actions for signals that we have handlers for. The kernel gets the
 * program's flags and mask with our handler, so that it blocks, restarts and chooses the stack as
 * it would for the program's own.
 */
#include "runtime/fatal/fatal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ucontext.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/arena/inherit.h"
#include "runtime/arena/rescue.h"
#include "runtime/counting/counts_file.h"
#include "runtime/fatal/crash.h"
#include "runtime/fatal/delivery.h"
#include "runtime/fatal/front.h"
#include "runtime/fatal/handled.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/altstack.h"
#include "runtime/record/faults.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/abortmessage.h"

#define MIRRORED (SA_ONSTACK | SA_NODEFER | SA_RESTART)

static struct {
	uint32_t lock;
	bool owned[EP_SIGNALS];
	bool by_default[EP_SIGNALS]; /* wanted while the action is SIG_DFL */
	struct ep_kernel_action program[EP_SIGNALS];
} fatal;

/* Held with all signals blocked, for a few instructions. */
static uint64_t lock(void)
{
	uint64_t mask = ep_signals_block(0);

	while (__atomic_exchange_n(&fatal.lock, 1, __ATOMIC_ACQUIRE))
		ep_syscall0(SYS_sched_yield);
	return mask;
}

static void unlock(uint64_t mask)
{
	__atomic_store_n(&fatal.lock, 0, __ATOMIC_RELEASE);
	ep_signals_restore(mask);
}

static bool is_handler(const struct ep_kernel_action *action)
{
	return action->handler != SIG_DFL && action->handler != SIG_IGN;
}

/* ---- a signal came ---- */

/* The program's action at this moment, which SA_RESETHAND then ends. */
static struct ep_kernel_action current_action(int signal)
{
	struct ep_kernel_action action;
	uint64_t mask;

	mask = lock();
	action = fatal.program[signal];
	if (is_handler(&action) && action.flags & SA_RESETHAND && ep_inherit() != EP_INHERIT_SHARED)
		fatal.program[signal].handler = SIG_DFL;
	unlock(mask);
	return action;
}

/* A filter of the program's denies what the snapshot asks for: it goes without. */
static bool deny(int signal, ucontext_t *context)
{
	if (signal != SIGSYS || !ep_crash_writing())
		return false;
	context->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
	return true;
}

struct call {
	void *handler;                  /* NULL: none */
	struct ep_handler_frame *frame; /* NULL: the one that the kernel made */
};

void ep_fatal_entry(int signal, siginfo_t *info, void *context);

/* Called by x86_64/fatal.S, which becomes the handler that this answers. */
struct call ep_fatal_signal(int signal, siginfo_t *info, ucontext_t *context);

/* SIGSYS comes to us while it is handled, too (deny). */
static void block_as_asked(int signal, const struct ep_kernel_action *action)
{
	uint64_t mask = EP_SIGNAL_BIT(signal);

	if (signal == SIGSYS && !(action->flags & SA_NODEFER))
		ep_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, 0, 8);
}

/* As the kernel does where a frame finds no room (Linux kernel/signal.c, force_sigsegv): SIGSEGV,
 * for a handler if that may come now. */
static struct call force_segv(int signal, ucontext_t *context)
{
	static siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
	uint64_t *mask = (uint64_t *)&context->uc_sigmask;
	uint64_t segv = EP_SIGNAL_BIT(SIGSEGV);

	if (signal == SIGSEGV || *mask & segv)
		ep_signal_die(SIGSEGV, &info);
	else
		ep_signal_send(SIGSEGV, &info);
	*mask &= ~segv;
	return (struct call){NULL, NULL};
}

static struct call deliver(int signal, siginfo_t *info, ucontext_t *context,
			   const struct ep_kernel_action *action, bool written)
{
	struct ep_handler_frame *frame = NULL;

	if (!ep_delivery_frame(context, action->flags & SA_ONSTACK, &frame))
		return force_segv(signal, context);
	if (frame) {
		info = (siginfo_t *)frame->info;
		context = (ucontext_t *)frame->context;
	}
	ep_delivery_begin(context);
	if (written)
		ep_handled_begin(info, context);
	ep_faults_begin(context);
	block_as_asked(signal, action);
	return (struct call){action->handler, frame};
}

struct call ep_fatal_signal(int signal, siginfo_t *info, ucontext_t *context)
{
	bool fault = ep_signal_is_fault(signal, info), written = false;
	struct call none = {NULL, NULL};
	struct ep_kernel_action action;

	if (signal == SIGBUS && fault && ep_rescue((uint64_t)info->si_addr))
		return none;
	if (fault && deny(signal, context))
		return none;
	action = current_action(signal);
	if (action.handler == SIG_IGN && !fault)
		return none;
	if (ep_settings.crash_snapshot)
		written = ep_crash(signal, info, context, !is_handler(&action));
	if (is_handler(&action))
		return deliver(signal, info, context, &action, written);
	if (ep_settings.counting)
		ep_counting_write();
	ep_signal_die(signal, info);
	return none;
}

/* Called by ep_fatal_restorer, where handlers return to. */
void ep_fatal_returned(ucontext_t *context);
void ep_fatal_returned(ucontext_t *context)
{
	ep_handled_end(context);
	ep_delivery_end(context);
}

/* Nobody in between: an ignored signal stays ignored also after exec. */
static void install_program(int signal)
{
	struct ep_kernel_action action = fatal.program[signal];

	action.flags |= EP_SA_RESTORER;
	action.restorer = ep_restorer;
	ep_signal_action(signal, &action, NULL);
}

static void install(int signal)
{
	const struct ep_kernel_action *program = &fatal.program[signal];
	struct ep_kernel_action ours = {ep_fatal_entry, SA_SIGINFO | SA_ONSTACK | SA_RESTART,
					ep_fatal_restorer, 0};

	if (fatal.by_default[signal] && program->handler != SIG_DFL) {
		install_program(signal);
		return;
	}
	if (is_handler(program)) {
		ours.flags = SA_SIGINFO | (program->flags & MIRRORED);
		ours.mask = program->mask;
	}
	/* A stack that has overflown has no room for us. */
	if (ep_settings.crash_snapshot)
		ours.flags |= SA_ONSTACK;
	if (ep_settings.crash_snapshot && signal == SIGSYS)
		ours.flags |= SA_NODEFER;
	ours.flags |= EP_SA_RESTORER;
	ep_signal_action(signal, &ours, NULL);
}

/* A library's constructor may have set a handler before ours ran. */
static void own(int signal)
{
	struct ep_kernel_action *program = &fatal.program[signal];

	if (fatal.owned[signal] || signal == ep_settings.snapshot_signal ||
	    ep_signal_action(signal, NULL, program))
		return;
	if (program->handler == (void *)ep_front)
		program->handler = ep_front_handler(signal);
	fatal.owned[signal] = true;
	install(signal);
}

/* Not those that end no process, that no handler can have, or that glibc has for itself. */
static bool is_deadly(int signal)
{
	static const uint8_t harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN,
					   SIGTTOU, SIGURG,  32,      33,      SIGWINCH};

	for (unsigned i = 0; i < sizeof harmless; i++)
		if (signal == harmless[i])
			return false;
	return true;
}

static void own_deadly(void)
{
	for (int signal = 1; signal < EP_SIGNALS; signal++) {
		if (!is_deadly(signal) || fatal.owned[signal])
			continue;
		fatal.by_default[signal] = true;
		own(signal);
	}
	ep_altstack_start();
}

void ep_fatal_start(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

	if (ep_backing_on())
		own(SIGBUS);
	for (unsigned i = 0; ep_settings.crash_snapshot && i < sizeof crashes / sizeof *crashes;
	     i++)
		own(crashes[i]);
	if (ep_settings.crash_snapshot)
		ep_abort_message_start();
	if (ep_settings.counting || ep_settings.crash_snapshot)
		own_deadly();
}

void ep_fatal_end(void)
{
	for (int signal = 1; signal < EP_SIGNALS; signal++) {
		uint64_t mask;

		if (!fatal.owned[signal])
			continue;
		mask = lock();
		install_program(signal);
		fatal.owned[signal] = false;
		unlock(mask);
	}
}

void ep_fatal_reset(void)
{
	fatal.lock = 0;
}

/* ---- what the program asks for ---- */

/* The runtime stands between the kernel and the program's action for it. In a vfork child, whose
 * actions are its own while its memory is not, the kernel is asked as ever. */
static bool owns(int signal)
{
	return signal > 0 && signal < EP_SIGNALS && fatal.owned[signal] &&
	       ep_inherit() != EP_INHERIT_SHARED;
}

static void to_program(struct sigaction *out, const struct ep_kernel_action *from)
{
	ep_bytes_zero(out, sizeof *out);
	out->sa_sigaction = (void (*)(int, siginfo_t *, void *))from->handler;
	ep_bytes_copy(&out->sa_mask, &from->mask, sizeof from->mask);
	out->sa_flags = (int)from->flags;
	out->sa_restorer = from->restorer;
}

/* What the program believes to do by sigaction(2), for a signal that is owned: either may be NULL.
 */
static void set_action(int signal, const struct sigaction *new, struct sigaction *old)
{
	struct ep_kernel_action before, after = {0};
	uint64_t mask;

	if (new) {
		after.handler = (void *)new->sa_sigaction;
		/* libc sets that bit, and shows it. */
		after.flags = (unsigned long)new->sa_flags | EP_SA_RESTORER;
		ep_bytes_copy(&after.mask, &new->sa_mask, sizeof after.mask);
	}
	mask = lock();
	before = fatal.program[signal];
	if (new) {
		fatal.program[signal] = after;
		install(signal);
	}
	unlock(mask);
	if (old)
		to_program(old, &before);
}

/* ---- interposers ---- */

typedef void (*handler_fn)(int);

EP_INTERPOSER int EP_INTERPOSER_NAME(sigaction)(int signal, const struct sigaction *new,
						struct sigaction *old);
EP_INTERPOSER handler_fn EP_INTERPOSER_NAME(signal)(int signal, handler_fn handler);
EP_INTERPOSER handler_fn EP_INTERPOSER_NAME(bsd_signal)(int signal, handler_fn handler);
EP_INTERPOSER handler_fn EP_INTERPOSER_NAME(ssignal)(int signal, handler_fn handler);
EP_INTERPOSER handler_fn EP_INTERPOSER_NAME(sysv_signal)(int signal, handler_fn handler);
EP_INTERPOSER handler_fn EP_INTERPOSER_NAME(__sysv_signal)(int signal, handler_fn handler);

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);

static bool fronted(int signal, void *handler)
{
	return signal > 0 && signal < EP_SIGNALS && handler == (void *)ep_front;
}

/* libc's, with ep_front in front of a handler that wants it. */
static int act_fronted(sigaction_fn real, int signal, const struct sigaction *new,
		       struct sigaction *old)
{
	void *handler = new ? (void *)new->sa_sigaction : NULL;
	struct sigaction ours, before;
	uint64_t mask;
	void *kept;
	int result;

	if (!ep_front_wanted(signal, handler)) {
		result = real(signal, new, old);
		if (!result && old && fronted(signal, (void *)old->sa_sigaction))
			old->sa_sigaction = ep_front_handler(signal);
		return result;
	}
	mask = lock();
	kept = ep_front_handler(signal);
	ep_bytes_copy(&ours, new, sizeof ours);
	ours.sa_sigaction = ep_front;
	ep_front_set(signal, handler);
	result = real(signal, &ours, &before);
	if (result)
		ep_front_set(signal, kept);
	unlock(mask);
	if (result || !old)
		return result;
	ep_bytes_copy(old, &before, sizeof before);
	if (fronted(signal, (void *)old->sa_sigaction))
		old->sa_sigaction = kept;
	return 0;
}

int EP_INTERPOSER_NAME(sigaction)(int signal, const struct sigaction *new, struct sigaction *old)
{
	ep_any_fn real;

	if (owns(signal)) {
		set_action(signal, new, old);
		return 0;
	}
	real = ep_interpose_known(EP_REAL_sigaction, EP_PLACE);
	if (real)
		return act_fronted((sigaction_fn)(void (*)(void))real, signal, new, old);
	errno = ENOSYS;
	return -1;
}

/* As libc makes them of sigaction. */
static handler_fn set_handler(int signal, handler_fn handler, int flags)
{
	struct sigaction new = {.sa_flags = flags}, old;
	uint64_t mask =
		flags & (int)SA_RESETHAND || signal < 1 ? 0 : UINT64_C(1) << ((signal - 1) & 63);

	new.sa_handler = handler;
	ep_bytes_copy(&new.sa_mask, &mask, sizeof mask);
	return EP_INTERPOSER_NAME(sigaction)(signal, &new, &old) ? SIG_ERR : old.sa_handler;
}

typedef handler_fn (*signal_fn)(int, handler_fn);

/* As act_fronted. */
static handler_fn set_fronted(signal_fn real, int signal, handler_fn handler)
{
	bool wanted = ep_front_wanted(signal, (void *)handler);
	void *kept = NULL;
	handler_fn before;
	uint64_t mask;

	if (!wanted) {
		before = real(signal, handler);
		return fronted(signal, (void *)before) ? (handler_fn)ep_front_handler(signal)
						       : before;
	}
	mask = lock();
	kept = ep_front_handler(signal);
	ep_front_set(signal, (void *)handler);
	before = real(signal, (handler_fn)(void (*)(void))ep_front);
	if (before == SIG_ERR)
		ep_front_set(signal, kept);
	unlock(mask);
	return fronted(signal, (void *)before) ? (handler_fn)kept : before;
}

/* libc's own where it may be asked: it knows of siginterrupt. */
static handler_fn set_by(enum ep_interposed which, int signal, handler_fn handler, int flags,
			 uint64_t place)
{
	ep_any_fn real = NULL;

	if (!owns(signal) || handler == SIG_ERR)
		real = ep_interpose_known(which, place);
	if (real)
		return set_fronted((signal_fn)(void (*)(void))real, signal, handler);
	return set_handler(signal, handler, flags);
}

#define SETTER(name, flags)                                                        \
	handler_fn EP_INTERPOSER_NAME(name)(int signal, handler_fn handler)        \
	{                                                                          \
		return set_by(EP_REAL_##name, signal, handler, (flags), EP_PLACE); \
	}

SETTER(signal, SA_RESTART)
SETTER(bsd_signal, SA_RESTART)
SETTER(ssignal, SA_RESTART)
SETTER(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SETTER(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
