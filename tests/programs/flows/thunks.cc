/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thunks.cc: methods that are reached through thunks: of a second base, of a
 * virtual one, with another type of result; an exception through one.
 *
 *	calls
 *		second
 *			leaf
 *		virtually
 *			leaf
 *		other
 *			leaf
 *		throws  left
 *			throw int
 *		catch
 *		leaf
 *	last  open
 */
#include <cstdlib>

#include "flow.h"

namespace flow
{
FLOW void leaf()
{
	DONE;
}

struct one {
	virtual void unused() {}
	long filler = 0;
};
struct two {
	virtual void second() = 0;
	virtual two *other() = 0;
	virtual void throws() = 0;
	long filler = 0;
};
struct three {
	virtual void virtually() = 0;
	long filler = 0;
};
struct all : one, two, virtual three {
	FLOW void second() override
	{
		leaf();
		DONE;
	}
	FLOW all *other() override
	{
		leaf();
		DONE;
		return this;
	}
	FLOW void throws() override
	{
		throw 1;
	}
	FLOW void virtually() override
	{
		leaf();
		DONE;
	}
};

FLOW void calls(two *volatile a, three *volatile b)
{
	a->second();
	b->virtually();
	a->other();
	try {
		a->throws();
	} catch (int) {
		leaf();
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
	static flow::all object;

	flow::calls(&object, &object);
	flow::last();
}
