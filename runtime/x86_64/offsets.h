/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offsets.h: struct ep_tls, the arena's gate and struct ep_thread as assembly sees them. Checked
 * against the C layout in tls.c.
 */
#ifndef EPITAPH_OFFSETS_H
#define EPITAPH_OFFSETS_H

#define TLS_CURSOR   0
#define TLS_TIMING   8
#define TLS_BOUNDARY 12
#define TLS_LAST     16
#define TLS_GATE     24
#define TLS_THREAD   32
#define TLS_COUNTERS 16 /* of a thread that counts */
#define TLS_LIMIT    48 /* of a thread that counts */

/* struct ep_thread */
#define THREAD_FLAGS      4
#define THREAD_ASKED      0x8000 /* EP_THREAD_ASKED */
#define THREAD_STACK_LOW  104
#define THREAD_STACK_HIGH 112

/* The hooks' descriptors (lib/hookcode.c): room, of which what is 256-byte aligned is used; and
 * where the one that times the next record lies in that. */
#define HOOK_DESCRIPTORS 804
#define HOOK_NEXT        0x200

#endif
