/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coroutines.cc: C++20 coroutines that are resumed in turn: each time a call
 * that returns when it suspends.
 *
 *	resume
 *		leaf
 *	resume
 *		leaf
 *	resume
 *		inner
 *			leaf
 *	resume
 *		inner
 *			leaf
 *	resume
 *		leaf
 *	last  open
 */
#include <coroutine>
#include <cstdlib>

#include "flow.h"

#define HIDDEN __attribute__((no_instrument_function, always_inline)) inline

struct task {
	struct promise_type {
		HIDDEN task get_return_object()
		{
			return {std::coroutine_handle<
				promise_type>::from_promise(*this)};
		}
		HIDDEN std::suspend_always initial_suspend() { return {}; }
		HIDDEN std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		HIDDEN void return_void() {}
		HIDDEN void unhandled_exception() { abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};

namespace flow
{
FLOW void leaf()
{
	DONE;
}

FLOW void inner()
{
	leaf();
	DONE;
}

FLOW void resume(task one)
{
	one.handle.resume();
	DONE;
}

FLOW void last()
{
	abort();
}
} // namespace flow

task body()
{
	flow::leaf();
	co_await std::suspend_always{};
	flow::inner();
	co_await std::suspend_always{};
	flow::leaf();
}

int main()
{
	task a = body(), b = body();

	flow::resume(a);
	flow::resume(b);
	flow::resume(b);
	flow::resume(a);
	flow::resume(a);
	flow::last();
}
