/* SPDX-License-Identifier: BSD-2-Clause */
/* linkmap.c: each list's nodes as they were last seen, in the order of the list. */
#include "runtime/facts/linkmap.h"

#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"

#define LISTS 16 /* namespaces of glibc */
#define MOST  8192
#define STEPS 1024 /* entries of a dynamic section */

/* <link.h>, as far as it is public; r_next since glibc 2.35, where the version is 2. */
struct debug {
	int32_t version;
	uint64_t map, brk;
	int32_t state;
	uint64_t base, next;
};

struct node {
	uint64_t bias, name, dynamic, next, before;
};

struct seen {
	uint64_t address; /* of the node */
	struct ep_linked object;
	uint32_t list, gone;
};

static struct {
	bool begun;
	uint64_t debug; /* address of the first list's */
	uint32_t count, lists;
	struct seen *seen; /* MOST; by list, then in its order */
	uint64_t heads[LISTS], tails[LISTS];
} links;

static bool read_node(uint64_t address, struct node *node)
{
	return ep_memory_read(address, node, sizeof *node);
}

static bool find_debug(uint64_t dynamic, uint64_t size)
{
	Elf64_Dyn entries[16];

	for (uint64_t at = 0; at < size && at < STEPS * sizeof *entries; at += sizeof entries) {
		uint64_t count = (size - at) / sizeof *entries;

		if (count > 16)
			count = 16;
		if (!ep_memory_read(dynamic + at, entries, count * sizeof *entries))
			return false;
		for (uint64_t i = 0; i < count; i++) {
			if (entries[i].d_tag == DT_DEBUG)
				links.debug = entries[i].d_un.d_ptr;
			if (entries[i].d_tag == DT_NULL || links.debug)
				return links.debug != 0;
		}
	}
	return false;
}

/* *lists: the first node of each, 0: it is empty. */
static bool read_heads(uint64_t heads[LISTS], uint32_t *lists)
{
	uint64_t at = links.debug;

	for (*lists = 0; at; ++*lists) {
		struct debug debug = {0};

		if (*lists == LISTS || !ep_memory_read(at, &debug, offsetof(struct debug, next)))
			return false;
		if (debug.version > 1 && !ep_memory_read(at, &debug, sizeof debug))
			return false;
		heads[*lists] = debug.map;
		at = debug.next;
	}
	return true;
}

/* A node that follows `before` in its list. */
static bool append(uint32_t list, uint64_t address, const struct node *node, uint64_t before,
		   ep_linked_come_fn *come)
{
	struct seen *seen = &links.seen[links.count];

	if (links.count == MOST || node->before != before)
		return false;
	*seen = (struct seen){address, {node->bias, node->dynamic, 0}, list, 0};
	if (!come(&seen->object))
		return false;
	links.tails[list] = address;
	links.count++;
	return true;
}

/* From `address` to the list's end. */
static bool follow(uint32_t list, uint64_t address, ep_linked_come_fn *come)
{
	uint64_t before = links.tails[list];
	struct node node;

	for (; address; before = address, address = node.next)
		if (!read_node(address, &node) || !append(list, address, &node, before, come))
			return false;
	return true;
}

static const struct seen *last_of(uint32_t list)
{
	for (uint32_t i = links.count; i > 0; i--)
		if (links.seen[i - 1].list == list)
			return &links.seen[i - 1];
	return NULL;
}

static bool read_new(uint32_t list, uint64_t head, ep_linked_come_fn *come)
{
	const struct seen *last = last_of(list);
	struct node node;

	if (!last) {
		links.tails[list] = 0;
		return follow(list, head, come);
	}
	return read_node(last->address, &node) && node.bias == last->object.bias &&
	       node.dynamic == last->object.dynamic && follow(list, node.next, come);
}

/* What is still in its list follows from its head, node by node; all that is passed over is gone.
 */
static bool find_gone(const uint64_t heads[LISTS], uint32_t lists)
{
	struct node nodes[EP_MEMORY_PLACES];
	uint64_t next[LISTS], places[EP_MEMORY_PLACES];
	unsigned have = 0, from = 0;

	for (uint32_t i = 0; i < lists; i++)
		next[i] = heads[i];
	for (uint32_t i = 0; i < links.count; i++) {
		struct seen *seen = &links.seen[i];
		const struct node *node;

		if (seen->list >= lists)
			return false;
		if (i >= from + have) {
			unsigned count = links.count - i;

			count = count > EP_MEMORY_PLACES ? EP_MEMORY_PLACES : count;
			for (unsigned j = 0; j < count; j++)
				places[j] = links.seen[i + j].address;
			from = i;
			have = ep_memory_read_places(places, count, nodes, sizeof *nodes);
		}
		seen->gone = seen->address != next[seen->list];
		if (seen->gone && !have)
			have = 1; /* its memory is gone, too */
		else if (seen->gone)
			continue;
		else if (!have)
			return false;
		else {
			node = &nodes[i - from];
			if (node->bias != seen->object.bias ||
			    node->dynamic != seen->object.dynamic)
				return false;
			next[seen->list] = node->next;
		}
	}
	return true;
}

static void drop_gone(ep_linked_go_fn *go)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < links.count; i++) {
		struct seen seen = links.seen[i];

		if (seen.gone)
			go(&seen.object);
		else
			links.seen[kept++] = seen;
	}
	links.count = kept;
	for (uint32_t i = 0; i < LISTS; i++) {
		const struct seen *last = last_of(i);

		links.tails[i] = last ? last->address : 0;
	}
}

bool ep_linkmap_begin(uint64_t dynamic, uint64_t dynamic_size, ep_linked_come_fn *known)
{
	uint64_t heads[LISTS];

	links.begun = false;
	links.count = 0;
	if (!links.debug && !find_debug(dynamic, dynamic_size))
		return false;
	if (!links.seen) {
		long got =
			ep_syscall6(SYS_mmap, 0, MOST * sizeof *links.seen, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (ep_syscall_failed(got))
			return false;
		links.seen = (struct seen *)got;
	}
	if (!read_heads(heads, &links.lists))
		return false;
	for (uint32_t i = 0; i < links.lists; i++)
		if (!read_new(i, heads[i], known))
			return false;
	links.begun = true;
	return true;
}

bool ep_linkmap_look(ep_linked_come_fn *come, ep_linked_go_fn *gone)
{
	uint64_t heads[LISTS];
	bool done;

	done = links.begun && read_heads(heads, &links.lists) &&
	       (!gone || find_gone(heads, links.lists));
	if (done && gone)
		drop_gone(gone);
	for (uint32_t i = 0; i < links.lists && done; i++)
		done = read_new(i, heads[i], come);
	links.begun = done;
	return done;
}
