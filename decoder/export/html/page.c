/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: the page's own files, as they were when the tool was built. Each ends in a NUL. */
#include "decoder/export/html/html.h"

#define BEGIN(name)                                   \
	".section .rodata." name ",\"a\",@progbits\n" \
	".globl " name "\n"                           \
	".type " name ", @object\n" name ":\n"
#define FILE_OF(file) ".incbin \"decoder/export/html/" file "\"\n"
#define END(name)                        \
	".byte 0\n"                      \
	".size " name ", . - " name "\n" \
	".previous\n"

__asm__(BEGIN("ep_html_page") FILE_OF("page.html") END("ep_html_page"));
__asm__(BEGIN("ep_html_style") FILE_OF("page.css") END("ep_html_style"));
__asm__(BEGIN("ep_html_script") FILE_OF("read.js") FILE_OF("draw.js") FILE_OF("panel.js")
		FILE_OF("input.js") END("ep_html_script"));
