/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwinding.c: exceptions, of any language whose personality routines use the unwinder of the
 * Itanium C++ ABI (level I): it says which frames are left before each landing pad is entered,
 * while they are all still there.
 *
 * Called by x86_64/interpose.S before the real functions. Nothing here is compiled for vectors, and
 * nothing is looked up in a signal handler that was not when the first exception flew.
 */
#include <unwind.h>

#include "runtime/budget/budget.h"
#include "runtime/budget/marks.h"
#include "runtime/intercept/frames.h"
#include "runtime/lib/interpose.h"
#include "runtime/record/mark.h"
#include "runtime/record/ring.h"

/* The unwinder's functions that are needed here, of the same library as the interposed ones. A
 * static program has them, or has no exceptions. */
#define UNWINDER(X)                      \
	X(_Unwind_Backtrace)             \
	X(_Unwind_GetIPInfo)             \
	X(_Unwind_GetCFA)                \
	X(_Unwind_GetGR)                 \
	X(_Unwind_FindEnclosingFunction) \
	X(_Unwind_Resume)                \
	X(_Unwind_ForcedUnwind)

#define DECLARE(name) static __typeof__(&(name)) own##name;
UNWINDER(DECLARE)
#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetIPInfo
#pragma weak _Unwind_GetCFA
#pragma weak _Unwind_GetGR
#pragma weak _Unwind_FindEnclosingFunction
#pragma weak _Unwind_Resume
#pragma weak _Unwind_ForcedUnwind

/*
 * Those that are interposed, as the unwinder itself has them. What the next in line has by that
 * name may be another's wrapper (libasan's) that ends in a jump, and so is on no stack.
 */
static ep_any_fn own_raise, own_rethrow;

static void find_entries(void)
{
	own_raise =
		ep_interpose_beside(EP_REAL__Unwind_RaiseException, (uint64_t)own_Unwind_GetCFA);
	own_rethrow =
		ep_interpose_beside(EP_REAL__Unwind_Resume_or_Rethrow, (uint64_t)own_Unwind_GetCFA);
}

static bool find_unwinder(uint64_t place)
{
	bool all = true;

	/* The last to be found. */
	if (own_Unwind_ForcedUnwind && own_rethrow)
		return true;

#define FIND(name)                                                        \
	if (ep_interpose_own_unwinder())                                  \
		own##name = name;                                         \
	else                                                              \
		ep_interpose_keep((ep_any_fn *)&own##name, #name, place); \
	all &= own##name != NULL;
	UNWINDER(FIND)
#undef FIND
	if (all && !own_rethrow)
		find_entries();
	return all;
}

/* What is thought to be paid for a throw's mark, a landing's, and a frame that is met, which is
 * remembered or not; ns. */
#define THROW_NS     (2 * EP_MARK_NS)
#define LANDING_NS   (2 * EP_MARK_NS)
#define STEP_NS      8
#define SLOW_STEP_NS 320

/* Bytes: frames that lie so near each other are of one stack. */
#define SAME_STACK 16384

/* ---- what is thrown ------------------------------------------------------ */

/* Itanium C++ ABI: Exception Handling 2.2.1: the header before the unwinder's begins with the type,
 * 80 bytes in front of it in 64-bit programs; the class is vendor and language, its last byte 1
 * when the object is another's. */
#define CLASS_GNU      UINT64_C(0x474e5543432b2b00) /* GNUCC++\0 */
#define CLASS_CLANG    UINT64_C(0x434c4e47432b2b00) /* CLNGC++\0 */
#define TYPE_OFFSET    80
#define PRIMARY_OFFSET 112

/* By a std::type_info: what it inherits comes first, then its name. */
static const char *name_of(const char *const *type)
{
	if (!type || !type[1])
		return "";
	/* A * says that addresses of names are to be compared. */
	return type[1] + (*type[1] == '*');
}

static const char *type_name(const struct _Unwind_Exception *exception)
{
	const char *header = (const char *)exception - TYPE_OFFSET;
	uint64_t class = exception->exception_class;

	if ((class & ~UINT64_C(1)) != CLASS_GNU && (class & ~UINT64_C(1)) != CLASS_CLANG)
		return "";
	if (class & 1)
		header = *(const char *const *)header - PRIMARY_OFFSET;
	return name_of(*(const char *const *const *)header);
}

/* ---- frames -------------------------------------------------------------- */

/* The frame after the one that goes on at `place`. */
struct next {
	uint64_t place;
	bool met;
	uint64_t address;
};

static uint64_t address_of(struct _Unwind_Context *context)
{
	int before = 0;
	uint64_t ip = own_Unwind_GetIPInfo(context, &before);

	/* A call's return address may lie beyond its function. */
	return before ? ip : ip - 1;
}

static _Unwind_Reason_Code look_for_next(struct _Unwind_Context *context, void *argument)
{
	struct next *next = argument;
	uint64_t address = address_of(context);

	if (next->met) {
		next->address = address;
		return _URC_NORMAL_STOP;
	}
	next->met = address == next->place - 1;
	return _URC_NO_REASON;
}

/* Who called an interposed function, whose return address lies at `at` (x86_64/interpose.S). */
static struct ep_resumption caller_at(const uint64_t *at)
{
	return (struct ep_resumption){*at, (uint64_t)(at + 1), at[-9]};
}

/* The traced function that throws: it called the language's runtime, which called the unwinder from
 * `frame`. 0 unknown. */
static uint64_t thrower(struct ep_resumption frame)
{
	struct next next = {.place = frame.place};
	uint64_t place = frame.place;

	if (ep_frame_caller(&frame, place))
		return frame.place - 1;
	if (find_unwinder(place))
		own_Unwind_Backtrace(look_for_next, &next);
	return next.address;
}

void ep_before_throw(uint64_t object, const char *const *type, uint64_t place);
void ep_before_throw_kept(const uint64_t *kept, uint64_t unused, uint64_t place);
void ep_before_throw_again(uint64_t a, uint64_t b, uint64_t place);
ep_any_fn ep_before_raise(const struct _Unwind_Exception *exception, uint64_t unused,
			  uint64_t place, uint64_t third, uint64_t fourth, const uint64_t *at);
ep_any_fn ep_before_rethrow(const struct _Unwind_Exception *exception, uint64_t unused,
			    uint64_t place, uint64_t third, uint64_t fourth, const uint64_t *at);
ep_any_fn ep_before_landing(struct _Unwind_Context *context, uint64_t pad, uint64_t place,
			    uint64_t third, uint64_t fourth, const uint64_t *at);

/*
 * What stubs of __cxa_throw and the like (the wrapper's kit/jumps.S) have told of: the unwinder may
 * come here as well, or by another's way. By the object that is thrown, or, where there is none
 * yet, by the thread. An entry that was lost to another has one exception told twice.
 */
static uint64_t noted[64];

static uint64_t *note_of(uint64_t key)
{
	return &noted[key * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static void note(uint64_t key)
{
	__atomic_store_n(note_of(key), key, __ATOMIC_RELAXED);
}

static bool was_noted(uint64_t key)
{
	return __atomic_compare_exchange_n(note_of(key), &key, 0, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

enum again { RETHROWS = 1, THROWS_KEPT };

/* The thread's own place, which no object has. */
static uint64_t thread_key(enum again again)
{
	return (uint64_t)__builtin_thread_pointer() + again;
}

/* An exception begins to fly. False: marks cost too much, and one more would change nothing. */
static bool is_to_tell(void)
{
	struct ep_quiet *quiet = ep_quiet_here();

	if (!quiet || !ep_budget_thin || !quiet->until)
		return true;
	quiet->unthrown = true;
	ep_quiet_spare(quiet, THROW_NS);
	return false;
}

static void tell_throw(unsigned kind, uint64_t address, const char *type)
{
	struct ep_quiet *quiet = ep_quiet_here();
	struct ep_mark mark;

	ep_mark_init(&mark, kind);
	ep_mark_value(&mark, address);
	ep_mark_text(&mark, type);
	ep_mark_record(&mark);
	if (!quiet)
		return;
	quiet->unthrown = false;
	ep_quiet_note(quiet, THROW_NS);
}

static void throws(const char *const *type, uint64_t place, uint64_t key)
{
	if (!ep_ring_recording())
		return;
	if (is_to_tell())
		tell_throw(EP_MARK_THROW, place - 1, name_of(type));
	note(key);
}

void ep_before_throw(uint64_t object, const char *const *type, uint64_t place)
{
	throws(type, place, object);
}

/* std::rethrow_exception: a std::exception_ptr is an object's address. */
void ep_before_throw_kept(const uint64_t *kept, uint64_t unused, uint64_t place)
{
	const uint64_t *header = (const uint64_t *)(*kept - PRIMARY_OFFSET);

	(void)unused;
	if (*kept)
		throws((const char *const *)*header, place, thread_key(THROWS_KEPT));
}

void ep_before_throw_again(uint64_t a, uint64_t b, uint64_t place)
{
	(void)a, (void)b;
	if (!ep_ring_recording())
		return;
	if (is_to_tell())
		tell_throw(EP_MARK_RETHROW, place - 1, "");
	note(thread_key(RETHROWS));
}

ep_any_fn ep_before_raise(const struct _Unwind_Exception *exception, uint64_t unused,
			  uint64_t place, uint64_t third, uint64_t fourth, const uint64_t *at)
{
	(void)unused, (void)third, (void)fourth;
	if (!was_noted((uint64_t)(exception + 1)) && !was_noted(thread_key(THROWS_KEPT)) &&
	    ep_ring_recording() && is_to_tell())
		tell_throw(EP_MARK_THROW, thrower(caller_at(at)), type_name(exception));
	return ep_interpose_real(EP_REAL__Unwind_RaiseException, place);
}

ep_any_fn ep_before_rethrow(const struct _Unwind_Exception *exception, uint64_t unused,
			    uint64_t place, uint64_t third, uint64_t fourth, const uint64_t *at)
{
	(void)exception, (void)unused, (void)third, (void)fourth;
	if (!was_noted(thread_key(RETHROWS)) && ep_ring_recording() && is_to_tell())
		tell_throw(EP_MARK_RETHROW, thrower(caller_at(at)), "");
	return ep_interpose_real(EP_REAL__Unwind_Resume_or_Rethrow, place);
}

/* ---- landing ------------------------------------------------------------- */

/* From the thrower, or the clean-up code that has ended, outwards. */
struct walk {
	uint64_t until; /* CFA of the frame that is landed in */
	uint64_t cfa;   /* of the frame before */
	bool begun;     /* the unwinder's own frames are passed */
	unsigned steps; /* frames met */
	struct ep_mark mark;
};

static bool is_unwinder_slow(uint64_t address)
{
	const void *function = own_Unwind_FindEnclosingFunction((void *)address);

	return function == (void *)own_Unwind_Resume ||
	       function == (void *)own_Unwind_ForcedUnwind || function == (void *)own_raise ||
	       function == (void *)own_rethrow;
}

/*
 * The frames between here and the thrower are the same few each time, and a look-up takes as long
 * as unwinding a frame. The cache has address * 2, and 1 for the unwinder's own; any thread may
 * write it, a word at a time.
 */
static bool is_unwinder(uint64_t address)
{
	static uint64_t cache[16];
	uint64_t *slot = &cache[address * UINT64_C(0x9e3779b97f4a7c15) >> 60];
	uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (known / 2 != address) {
		known = address * 2 + is_unwinder_slow(address);
		__atomic_store_n(slot, known, __ATOMIC_RELAXED);
	}
	return known % 2;
}

static void flush(struct walk *walk)
{
	if (walk->mark.count)
		ep_mark_record(&walk->mark);
	walk->mark.count = 0;
}

static _Unwind_Reason_Code leave_frame(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	uint64_t cfa = own_Unwind_GetCFA(context), address;

	/* Equal but for an unwinder that counts otherwise; an alternate stack may lie anywhere. */
	if (cfa == walk->until || (walk->cfa < walk->until && walk->cfa && cfa > walk->until))
		return _URC_NORMAL_STOP;
	walk->cfa = cfa;
	walk->steps++;
	address = address_of(context);
	if (!walk->begun) {
		walk->begun = is_unwinder(address);
	} else if (!ep_mark_value(&walk->mark, address)) {
		flush(walk);
		ep_mark_value(&walk->mark, address);
	}
	return _URC_NO_REASON;
}

/*
 * As leave_frame, by the tables that are remembered. False: they do not lead to that frame, and
 * nothing was recorded. Where more frames are left than a mark has room for they are walked twice,
 * as nothing may be recorded before all of them are known.
 */
static bool leave_known_frames(struct walk *walk, const struct ep_resumption *from)
{
	bool fits = true, sure;

	do {
		struct ep_resumption frame = *from;

		sure = !fits;
		fits = true;
		walk->begun = false;
		walk->mark.count = 0;
		while (frame.sp != walk->until) {
			uint64_t address = frame.place - 1;

			walk->steps++;
			if (!walk->begun) {
				walk->begun = is_unwinder(address);
			} else if (!ep_mark_value(&walk->mark, address)) {
				fits = false;
				if (sure)
					flush(walk);
				walk->mark.count = 0;
				ep_mark_value(&walk->mark, address);
			}
			if (!ep_frame_caller(&frame, from->place) || frame.sp > walk->until)
				return false;
		}
	} while (!fits && !sure);
	return true;
}

/* Gathers the frames that are left, and records all but the last mark's worth of them. */
static void leave_frames(struct walk *walk, const struct ep_resumption *from)
{
	if (leave_known_frames(walk, from))
		return;
	walk->begun = false;
	walk->mark.count = 0;
	own_Unwind_Backtrace(leave_frame, walk);
	walk->steps *= SLOW_STEP_NS / STEP_NS;
}

static unsigned add_mark(uint64_t *words, unsigned at, struct ep_mark *mark)
{
	if (!mark->count)
		return at;
	ep_mark_finish(mark);
	for (unsigned i = 0; i <= mark->count; i++)
		words[at++] = mark->words[i];
	return at;
}

/* The second register for landing pads is 0 for clean-up code, else it selects the handler. */
static void note_landing(struct _Unwind_Context *context, uint64_t pad,
			 const struct ep_resumption *from)
{
	uint64_t words[3 * 3 + 1 + EP_MARK_DATA_MAX], until;
	struct ep_mark landed, thrown;
	struct ep_quiet *quiet;
	struct walk walk;
	unsigned count = 0;

	if (!ep_ring_recording() || !find_unwinder(from->place))
		return;
	until = own_Unwind_GetCFA(context);
	quiet = ep_quiet_here();
	if (quiet && ep_budget_thin && until <= quiet->until &&
	    quiet->until - until <= SAME_STACK) {
		ep_quiet_spare(quiet, LANDING_NS);
		return;
	}
	walk = (struct walk){.until = until};
	ep_mark_init(&walk.mark, EP_MARK_LEFT);
	leave_frames(&walk, from);
	/* Its throw was left out, and there was something to leave after all. */
	if (quiet && quiet->unthrown) {
		ep_mark_init(&thrown, EP_MARK_THROW);
		ep_mark_value(&thrown, 0);
		count = add_mark(words, count, &thrown);
		quiet->unthrown = false;
	}
	count = add_mark(words, count, &walk.mark);
	ep_mark_init(&landed, own_Unwind_GetGR(context, __builtin_eh_return_data_regno(1))
				      ? EP_MARK_CAUGHT
				      : EP_MARK_LANDED);
	ep_mark_value(&landed, pad);
	count = add_mark(words, count, &landed);
	ep_ring_mark(words, count);
	if (!quiet)
		return;
	for (unsigned i = 0; i < EP_QUIET_BUFFERS; i++)
		quiet->buffers[i] = 0; /* calls have ended since */
	if (quiet->until < until)
		quiet->until = until;
	ep_quiet_note(quiet, LANDING_NS + STEP_NS * walk.steps);
}

static unsigned landings; /* how many came by way of _Unwind_SetIP */

/* A personality routine has chosen where to go on, and sets that last (both of gcc and of LLVM). */
ep_any_fn ep_before_landing(struct _Unwind_Context *context, uint64_t pad, uint64_t place,
			    uint64_t third, uint64_t fourth, const uint64_t *at)
{
	struct ep_resumption from = caller_at(at);

	(void)third, (void)fourth;
	__atomic_fetch_add(&landings, 1, __ATOMIC_RELAXED);
	note_landing(context, pad, &from);
	return ep_interpose_real(EP_REAL__Unwind_SetIP, place);
}

/*
 * In front of the personality routine of code whose language runtime calls _Unwind_SetIP past us,
 * as it was loaded before we were (kit/jumps.S). All frames are there until this returns. Does it
 * call ours, ours has told.
 */
_Unwind_Reason_Code ep_personality(int version, _Unwind_Action actions,
				   _Unwind_Exception_Class class,
				   struct _Unwind_Exception *exception,
				   struct _Unwind_Context *context, _Unwind_Personality_Fn real);

_Unwind_Reason_Code ep_personality(int version, _Unwind_Action actions,
				   _Unwind_Exception_Class class,
				   struct _Unwind_Exception *exception,
				   struct _Unwind_Context *context, _Unwind_Personality_Fn real)
{
	const uint64_t *frame = __builtin_frame_address(0);
	struct ep_resumption from = {frame[1], (uint64_t)&frame[2], frame[0]};
	unsigned before = __atomic_load_n(&landings, __ATOMIC_RELAXED);
	_Unwind_Reason_Code code = real(version, actions, class, exception, context);
	int ignored;

	if (code == _URC_INSTALL_CONTEXT && find_unwinder(from.place) &&
	    before == __atomic_load_n(&landings, __ATOMIC_RELAXED))
		note_landing(context, own_Unwind_GetIPInfo(context, &ignored), &from);
	return code;
}
