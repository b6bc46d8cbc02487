/* SPDX-License-Identifier: BSD-2-Clause */
/* system_module.c: by the path, as there is nothing else that tells. */
#include "decoder/names/system_module.h"

#include <string.h>

bool ep_module_is_system(const struct ep_trace_module *module)
{
	static const char *const folders[] = {"/lib/",     "/lib32/",     "/lib64/",
					      "/usr/lib/", "/usr/lib32/", "/usr/lib64/"};

	if (!module || module->flags & EP_MODULE_EXECUTABLE)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(module->path, folders[i], strlen(folders[i])) == 0)
			return true;
	return (module->flags & EP_MODULE_VDSO) != 0;
}

/* What the C library begins a thread or the program with. */
bool ep_function_is_start(const struct ep_function *function)
{
	static const char *const starts[] = {"start_thread",
					     "clone",
					     "clone3",
					     "__clone3",
					     "__clone",
					     "_start",
					     "__libc_start_main",
					     "__libc_start_call_main",
					     "__libc_start_main_impl"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strcmp(function->symbol, starts[i]) == 0)
			return true;
	return false;
}
