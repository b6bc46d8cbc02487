/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow.h: what the programs of this folder share. Each says in its opening comment, in lines that
 * begin with a tab, which calls it makes; a test holds its trace against that
 * (tests/cli/flow-matrix.sh). A line is a function without flow_ or flow::, one tab deeper than its
 * caller's, and what became of it:
 *
 * 	[NAME]         thread of that name: its calls follow. The program's
 * 	               name is main's; without such a line all are main's
 * 	outer          called, returned
 * 		inner  left     by an exception, longjmp or the end of its
 * thread leaf   3 times next   tail     may be entered when its caller has ended
 * 		last   open     did not return
 * 		other  before   began before the trace: only its return is known
 * 		throw int, rethrow, catch, longjmp: what happened there
 * 	left           has no end of its own where the return hook is called in
 * 	               clean-up code (gcc -finstrument-functions)
 */
#ifndef FLOW_H
#define FLOW_H

#define FLOW __attribute__((noinline))
#ifdef __clang__
#define QUIET __attribute__((noinline, no_instrument_function, xray_never_instrument))
#else
#define QUIET __attribute__((noinline, no_instrument_function))
#endif

/* So that no call is the last thing that its caller does. */
static volatile int sink;
#define DONE (sink = sink + 1)

#endif
