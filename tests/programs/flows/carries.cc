/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carries.cc: exceptions that get out of a thread: caught by what started it
 * and thrown again where the result is fetched (std::async, promise), caught
 * where the thread begins, and one that nobody catches, which ends the process.
 *
 *	[async]
 *	body  left
 *		name
 *		thrower  left
 *			throw flow::odd
 *	[promise]
 *	keeper
 *		name
 *		thrower  left
 *			throw flow::odd
 *		catch
 *	[starts]
 *	begins
 *		name
 *		deeper  left
 *			thrower  left
 *				throw flow::odd
 *		catch
 *	[carries]
 *	fetch
 *		catch
 *	fetch
 *		catch
 *	waits  open
 *	[dies]
 *	body  open
 *		name
 *		thrower  open
 *			throw flow::odd
 */
#include <future>
#include <pthread.h>
#include <thread>

#include "flow.h"

namespace flow
{
struct odd {
	long n;
};

FLOW void name(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	DONE;
}

FLOW void thrower()
{
	throw odd{sink};
}

FLOW void body(const char *of)
{
	name(of);
	thrower();
	DONE;
}

FLOW void keeper(std::promise<int> &promise)
{
	try {
		name("promise");
		thrower();
	} catch (...) {
		promise.set_exception(std::current_exception());
	}
	DONE;
}

FLOW void deeper()
{
	thrower();
	DONE;
}

FLOW void begins()
{
	try {
		name("starts");
		deeper();
	} catch (const odd &) {
		DONE;
	}
	DONE;
}

template <typename T> QUIET void wait_for(T &&future)
{
	future.get();
}

FLOW void fetch(std::future<void> *one, std::future<int> *other)
{
	try {
		if (one)
			wait_for(*one);
		else
			wait_for(*other);
	} catch (const odd &) {
		DONE;
	}
	DONE;
}

FLOW void waits()
{
	std::thread(body, "dies").join();
	DONE;
}
} // namespace flow

int main()
{
	std::promise<int> promise;
	auto one = std::async(std::launch::async, flow::body, "async");

	flow::fetch(&one, nullptr);
	auto other = promise.get_future();
	std::thread keeper(flow::keeper, std::ref(promise));
	flow::fetch(nullptr, &other);
	keeper.join();
	std::thread(flow::begins).join();
	flow::waits();
}
