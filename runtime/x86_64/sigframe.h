/* SPDX-License-Identifier: BSD-2-Clause */
/* sigframe.h: offsets in the kernel's signal frame (Linux arch/x86/include/asm/sigframe.h, struct
 * rt_sigframe); for assembly, too. */
#ifndef EPITAPH_X86_64_SIGFRAME_H
#define EPITAPH_X86_64_SIGFRAME_H

#define EP_FRAME_CONTEXT 8   /* behind the handler's return address */
#define EP_FRAME_INFO    312 /* siginfo */

#endif
