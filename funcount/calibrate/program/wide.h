/* SPDX-License-Identifier: BSD-2-Clause */
/* wide.h: the sizes of wide.S, which it shares with who walks over it. */
#ifndef EPITAPH_CALIBRATION_WIDE_H
#define EPITAPH_CALIBRATION_WIDE_H

#define EP_WIDE_SIZE    128 /* bytes of each function */
#define EP_WIDE_LEAVES  256 /* of a region */
#define EP_WIDE_GROUPS  64
#define EP_WIDE_REGIONS 32
#define EP_WIDE_KIB     40 /* of a region */
#define EP_WIDE_CALLS   4  /* that a group makes, its own among them */
#define EP_WIDE_DATA    66 /* words that they work on */

#ifndef __ASSEMBLER__
/* Their groups, each of EP_WIDE_SIZE bytes: long group(long data[EP_WIDE_DATA], long value) */
extern const char ep_wide_groups_plain[], ep_wide_groups_traced[];
#endif

#endif
