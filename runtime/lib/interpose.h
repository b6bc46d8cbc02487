/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.h: the few functions that the runtime stands in front of.
 *
 * The shared runtime exports them under their own names. The static one holds them as epitaph_NAME
 * only, so that a program chooses; into a dynamically linked executable epitaph-cc puts, for each
 * NAME, a weak and exported jump to epitaph_NAME (cli/wrapper/kit/interpose.S): a program's own
 * function of that name stays. (--defsym would replace it without a word.) Into a static one it
 * puts __wrap_NAME (kit/wrapped.S) and links with --wrap=NAME.
 *
 * Only names whose definition always comes along with what calls them: a weak one in the program
 * keeps the linker from taking the real one out of an archive, so __cxa_throw of a static libstdc++
 * would be missing.
 */
#ifndef EPITAPH_INTERPOSE_H
#define EPITAPH_INTERPOSE_H

#include <stdbool.h>
#include <stdint.h>

/* Before a function of ours, and around its name. */
#define EP_INTERPOSER __attribute__((visibility("default")))
#ifdef EP_SHARED
#define EP_INTERPOSER_NAME(name) name
#else
#define EP_INTERPOSER_NAME(name) epitaph_##name
#endif

/* Modules come and go; a thread's name changes. Of no use in a static program, or, initgroups,
 * there by way of setgroups. */
#define EP_INTERPOSED_DYNAMIC(X) \
	X(dlopen)                \
	X(dlmopen)               \
	X(dlclose)               \
	X(pthread_setname_np)    \
	X(initgroups)            \
	X(_Fork)                 \
	X(clone)

/* Calls are left without a return (unwinding.c). In the order of the table in kit/wrapped.S, as the
 * next. */
#define EP_INTERPOSED_UNWINDING(X)   \
	X(_Unwind_RaiseException)    \
	X(_Unwind_Resume_or_Rethrow) \
	X(_Unwind_SetIP)

/* The same, or others go on (contexts.c). What is linked where ours are not found first has a stub
 * of each (kit/jumps.S): it hands the real one to epitaph_given_NAME (x86_64/interpose.S). */
#define EP_INTERPOSED_CONTEXTS(X) \
	X(setjmp)                 \
	X(_setjmp)                \
	X(__sigsetjmp)            \
	X(longjmp)                \
	X(_longjmp)               \
	X(siglongjmp)             \
	X(__longjmp_chk)          \
	X(getcontext)             \
	X(setcontext)             \
	X(swapcontext)            \
	X(makecontext)            \
	X(vfork)

/* Others whose real one such a stub hands over: what comes from libraries that were there before
 * us, or with their own way of doing it. */
#define EP_INTERPOSED_GIVEN(X) X(pthread_setname_np)
#define EP_INTERPOSED_LANGUAGES(X)                                     \
	X(__cxa_throw)                                                 \
	X(__cxa_rethrow)                                               \
	X(_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE) \
	X(__gxx_personality_v0)                                        \
	X(__gcc_personality_v0)

/* No thread of the runtime's own may be there meanwhile (privileges.c). */
#define EP_INTERPOSED_ALONE(X) \
	X(unshare)             \
	X(setns)               \
	X(setuid)              \
	X(setgid)              \
	X(seteuid)             \
	X(setegid)             \
	X(setreuid)            \
	X(setregid)            \
	X(setresuid)           \
	X(setresgid)           \
	X(setgroups)           \
	X(capset)

/* The same by other ways. */
#define EP_INTERPOSED_PRIVILEGES(X) \
	EP_INTERPOSED_ALONE(X)      \
	X(prctl)                    \
	X(syscall)

/* What the program does of signals that we have handlers for (fatal.c), and the stacks for these
 * (altstack.c). The table in kit/wrapped.S goes on with them.
 */
#define EP_INTERPOSED_SIGNALS(X) \
	X(sigaction)             \
	X(sigaltstack)           \
	X(signal)                \
	X(bsd_signal)            \
	X(ssignal)               \
	X(sysv_signal)           \
	X(__sysv_signal)

/* What the program does with memory, and how much of it it may have (memory.c). */
#define EP_INTERPOSED_MEMORY(X) \
	X(mmap)                 \
	X(mmap64)               \
	X(munmap)               \
	X(mprotect)             \
	X(mremap)               \
	X(madvise)              \
	X(mlockall)             \
	X(setrlimit)            \
	X(setrlimit64)          \
	X(prlimit)              \
	X(prlimit64)

/* The process is about to end, or to become another: what it counted is written (ending.c). */
#define EP_INTERPOSED_ENDS(X) \
	X(_exit)              \
	X(_Exit)              \
	X(execve)             \
	X(execv)              \
	X(execvp)             \
	X(execvpe)            \
	X(execl)              \
	X(execle)             \
	X(execlp)             \
	X(fexecve)            \
	X(execveat)

#define EP_INTERPOSED(X)            \
	EP_INTERPOSED_UNWINDING(X)  \
	EP_INTERPOSED_CONTEXTS(X)   \
	EP_INTERPOSED_PRIVILEGES(X) \
	EP_INTERPOSED_SIGNALS(X)    \
	EP_INTERPOSED_MEMORY(X)     \
	EP_INTERPOSED_ENDS(X)       \
	EP_INTERPOSED_DYNAMIC(X)

enum ep_interposed {
#define EP_NUMBER(name) EP_REAL_##name,
	EP_INTERPOSED(EP_NUMBER)
#undef EP_NUMBER
		EP_REAL_COUNT,
	/* Those that kit/wrapped.S has in a static program. */
	EP_REAL_WRAPPED = EP_REAL_execveat + 1
};

typedef void *(*ep_any_fn)(void);

/*
 * The real function; one that returns NULL when there is none. `place` is where it is called from:
 * a library that was loaded for itself has it in its own scope only. Once it was found:
 * async-signal-safe.
 */
ep_any_fn ep_interpose_real(enum ep_interposed which, uint64_t place);

/* The same; NULL when there is none. */
ep_any_fn ep_interpose_known(enum ep_interposed which, uint64_t place);

/* The same, without looking it up: for what an allocator calls, which a look-up may call in turn.
 */
ep_any_fn ep_interpose_ready(enum ep_interposed which);

/* Where the function that this is written in was called from. */
#define EP_PLACE ((uint64_t)__builtin_return_address(0))

/* ep_before_FUNCTION, which x86_64/interpose.S calls before the real NAME: does `...` with the
 * first two arguments `a` and `b`, and answers the real one. */
#define EP_BEFORE(function, name, ...)                                          \
	ep_any_fn ep_before_##function(uint64_t a, uint64_t b, uint64_t place); \
	ep_any_fn ep_before_##function(uint64_t a, uint64_t b, uint64_t place)  \
	{                                                                       \
		(void)a, (void)b;                                               \
		__VA_ARGS__;                                                    \
		return ep_interpose_real(EP_REAL_##name, place);                \
	}

/* Any function by its name, as `place` would find it after us, kept in *cache; NULL: there is none,
 * or no dynamic linker. As above. */
ep_any_fn ep_interpose_find(ep_any_fn *cache, const char *name, uint64_t place);

/* The same, always kept, if there is one: also of the library that holds `place`, which stays
 * loaded. */
void ep_interpose_keep(ep_any_fn *cache, const char *name, uint64_t place);

/* The one of the library that holds `neighbour`, past all that stand in front of it; where that
 * library is not known or has none, the real one. Not signal safe. */
ep_any_fn ep_interpose_beside(enum ep_interposed which, uint64_t neighbour);

/* The unwinder is the program's own (-static, -static-libgcc): none that the dynamic linker knows
 * must be mixed with it. */
bool ep_interpose_own_unwinder(void);

/* Looks up the real ones while that is safe. Not signal safe; once. */
void ep_interpose_start(void);

/* After that: shared libraries call the real one, past us. Not signal safe. */
bool ep_interpose_blind(enum ep_interposed which);

#endif
