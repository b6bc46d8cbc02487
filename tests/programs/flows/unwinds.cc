/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwinds.cc: exceptions: recursion in which an outer level catches, clean-up
 * code that calls and throws, one rethrown, one kept and thrown later, catchers
 * that are not traced, in a cold part, and main (without a line of its own).
 *
 *	recursive
 *		recursive
 *			recursive  left
 *				recursive  left
 *					throw int
 *			catch
 *			leaf
 *	cleans
 *		cleaned  left
 *			throw flow::odd
 *			cleaner
 *				leaf
 *				inner
 *					throw int
 *					catch
 *		catch
 *	rethrows
 *		again  left
 *			thrower  left
 *				throw flow::odd
 *			catch
 *			leaf
 *			rethrow
 *		catch
 *	keeps
 *		thrower  left
 *			throw flow::odd
 *		catch
 *	late  left
 *		leaf
 *		throw flow::odd
 *	catch
 *	unseen
 *		thrower  left
 *			throw flow::odd
 *		catch
 *		leaf
 *	cold
 *		thrower  left
 *			throw flow::odd
 *		catch
 *		seldom
 *			leaf
 *	thrower  left
 *		throw flow::odd
 *	catch
 *	last  open
 */
#include <cstdlib>
#include <exception>

#include "flow.h"

#define SELDOM __attribute__((noinline, cold))

static std::exception_ptr kept;

namespace flow
{
struct odd {
	long n;
};

FLOW void leaf()
{
	DONE;
}

FLOW void thrower()
{
	throw odd{sink};
}

FLOW void recursive(int n)
{
	if (n == 0)
		throw 1;
	if (n == 2) {
		try {
			recursive(n - 1);
		} catch (int) {
			leaf();
		}
	} else {
		recursive(n - 1);
	}
	DONE;
}

FLOW void inner()
{
	try {
		throw 2;
	} catch (int) {
		DONE;
	}
	DONE;
}

FLOW void cleaner()
{
	leaf();
	inner();
	DONE;
}

struct scope {
	__attribute__((no_instrument_function, always_inline)) ~scope()
	{
		cleaner();
	}
};

FLOW void cleaned()
{
	scope here;

	throw odd{3};
}

FLOW void cleans()
{
	try {
		cleaned();
	} catch (const odd &) {
		DONE;
	}
	DONE;
}

FLOW void again()
{
	try {
		thrower();
	} catch (...) {
		leaf();
		throw;
	}
	DONE;
}

FLOW void rethrows()
{
	try {
		again();
	} catch (...) {
		DONE;
	}
	DONE;
}

FLOW void keeps()
{
	try {
		thrower();
	} catch (...) {
		kept = std::current_exception();
	}
	DONE;
}

FLOW void late()
{
	leaf();
	std::rethrow_exception(kept);
}

QUIET void catcher()
{
	try {
		thrower();
	} catch (const odd &) {
		leaf();
	}
}

FLOW void unseen()
{
	catcher();
	DONE;
}

SELDOM void seldom()
{
	leaf();
	DONE;
}

FLOW void cold()
{
	try {
		thrower();
	} catch (const odd &) {
		seldom();
	}
	DONE;
}

FLOW void last()
{
	abort();
}
} // namespace flow

int main()
{
	flow::recursive(3);
	flow::cleans();
	flow::rethrows();
	flow::keeps();
	try {
		flow::late();
	} catch (const flow::odd &) {
		kept = nullptr;
	}
	flow::unseen();
	flow::cold();
	try {
		flow::thrower();
	} catch (...) {
		flow::last();
	}
}
