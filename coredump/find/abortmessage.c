/* SPDX-License-Identifier: BSD-2-Clause */
/* abortmessage.c: the symbol from the C library's file, the words from the process. Nothing is
 * believed of a file of another build, nor of pages that are not as glibc makes them. */
#include "coredump/find/abortmessage.h"

#include <string.h>

#include "coredump/find/objectfile.h"
#include "coredump/memory/source_impl.h"

#define SIZE_MOST (1u << 20) /* bytes that glibc would map for a text */

static bool may_hold_libc(const struct ep_source *source, const struct ep_mapping *mapping)
{
	const char *base = strrchr(mapping->path, '/');
	uint64_t headers;

	base = base ? base + 1 : mapping->path;
	if (strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-", 5) == 0)
		return true;
	/* A static program is its own. */
	return ep_source_auxv(source, AT_PHDR, &headers) == EP_OK && headers >= mapping->start &&
	       headers < mapping->end;
}

static bool text_read(struct ep_abort_message *message, struct ep_source *source)
{
	uint32_t size;
	size_t length;
	int rc;

	if (ep_source_read(source, message->pointer, &message->address, sizeof(message->address),
			   NULL, NULL) ||
	    message->address == 0 || message->address % EP_PAGE ||
	    ep_source_read(source, message->address, &size, sizeof(size), NULL, NULL) ||
	    size == 0 || size % EP_PAGE || size > SIZE_MOST)
		return false;
	message->size = size;
	rc = ep_source_read_string(source, message->address + sizeof(size), message->text,
				   sizeof(message->text), NULL);
	if (rc != EP_OK && rc != EP_E_LIMIT)
		return false;
	length = strlen(message->text);
	while (length && message->text[length - 1] == '\n')
		message->text[--length] = '\0';
	return length != 0;
}

/* Where `__abort_msg` lies in the process, by the file of that mapping. */
static bool pointer_find(struct ep_abort_message *out, struct ep_source *source,
			 const struct ep_mapping *mapping)
{
	struct ep_object_file file;
	bool found;

	if (ep_object_file_open(&file, source, mapping))
		return false;
	found = ep_object_file_matches(&file, source) &&
		ep_object_file_symbol(&file, "__abort_msg", &out->pointer) == EP_OK;
	ep_object_file_close(&file);
	return found;
}

bool ep_abort_message_find(struct ep_abort_message *out, struct ep_source *source)
{
	unsigned tried = 0;

	for (size_t i = 0; i < source->mappings.count && tried < EP_OBJECT_LOADED_MAX; i++) {
		const struct ep_mapping *mapping = &source->mappings.list[i];

		if (mapping->file_offset != 0 || !may_hold_libc(source, mapping))
			continue;
		tried++;
		if (pointer_find(out, source, mapping) && text_read(out, source))
			return true;
	}
	return false;
}
