/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes.h: what `epitaph calibrate` times: code with many calls, in three shapes. shapes.c is
 * compiled three times, with COPY as the names' ending: _plain and _excluded without hooks (equal,
 * so their difference is what the measurement is good for), _traced with them.
 */
#ifndef EPITAPH_CALIBRATION_SHAPES_H
#define EPITAPH_CALIBRATION_SHAPES_H

#include <stdint.h>

/* Each makes about `calls` calls, and returns how many; the call of itself is not counted. */
#define EP_SHAPE(name, copy)  EP_SHAPE_(name, copy)
#define EP_SHAPE_(name, copy) ep_shape_##name##copy
#define EP_SHAPES_OF(copy)                             \
	uint64_t EP_SHAPE(leaf, copy)(uint64_t calls); \
	uint64_t EP_SHAPE(tree, copy)(uint64_t calls); \
	uint64_t EP_SHAPE(wide, copy)(uint64_t calls)

EP_SHAPES_OF(_plain);
EP_SHAPES_OF(_excluded);
EP_SHAPES_OF(_traced);

#endif
