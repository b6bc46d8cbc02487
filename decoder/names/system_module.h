/* SPDX-License-Identifier: BSD-2-Clause */
/* system_module.h: is a module the system's, not the user's own code? */
#ifndef EPITAPH_SYSTEM_MODULE_H
#define EPITAPH_SYSTEM_MODULE_H

#include "decoder/names/names.h"

/* A shared library where distributions put them, or the kernel's vdso. A program is none, nor is
 * what lies in /usr/local or /opt. NULL, no module: false. */
bool ep_module_is_system(const struct ep_trace_module *module);

/* What the C library begins a thread or the program with: "start_thread", "_start". */
bool ep_function_is_start(const struct ep_function *function);

#endif
