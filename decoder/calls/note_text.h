/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note_text.h: a note's format and recorded arguments → what printf would have printed in the C
 * locale with UTF-8. The format comes from a file or a core and the arguments from a trace: neither
 * is trusted, nor need they fit together. No format from outside ever reaches printf.
 */
#ifndef EPITAPH_NOTE_TEXT_H
#define EPITAPH_NOTE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define EP_NOTE_TEXT_MAX 4096u /* bytes; the rest is cut off */

/*
 * `data` are `count` payloads (26 bits each) as EP_MARK_NOTE has them behind its addresses. Writes
 * at most `size` bytes, no NUL, and returns how many. A string that was cut off when it was
 * recorded ends in "…"; what was not recorded, or is not what the conversion takes, comes out as
 * <?> or <value>.
 */
size_t ep_note_format(char *out, size_t size, const char *format, const uint32_t *data,
		      size_t count);

/*
 * As valid UTF-8 without control characters and without the newline at its end. `format` NULL: the
 * arguments as they are, behind `place`, which says where the format would be. The caller frees it.
 */
char *ep_note_text(const char *format, const char *place, const uint32_t *data, size_t count);

/* The texts of other points, as valid as that. The caller frees them. Of what was thrown the type's
 * name, from typeid, demangled; "" unknown. */
char *ep_type_text(const char *type);
/* Of a watchdog that was fed `late` ns too late. */
char *ep_watchdog_text(const char *name, uint64_t late);

#endif
