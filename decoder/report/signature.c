/* SPDX-License-Identifier: BSD-2-Clause */
/* signature.c: which functions count, and their hash (FNV-1a, 64 bits). */
#include "decoder/report/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/report/death/death.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t hash(uint64_t key, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		key = (key ^ (uint8_t)bytes[i]) * FNV_PRIME;
	return key;
}

/* ---- what does not count ---- */

/*
 * Below a crash and above main: they say how it ended, which the signal does, and differ between
 * versions of the C library. A name that ends with * stands for all that begin so.
 */
static const char *const libraries[] = {
	"libc.so*",  "libc-2.*",    "libpthread*", "ld-linux*",    "libgcc_s*",   "libstdc++.so*",
	"libc++*",   "linux-vdso*", "[vdso]",      "libm.so*",     "libm-2.*",    "libmvec*",
	"libdl.so*", "libdl-2.*",   "librt.so*",   "librt-2.*",    "libanl*",     "libresolv*",
	"libnss_*",  "libasan.so*", "libtsan.so*", "libubsan.so*", "liblsan.so*",
};

/* The same in a static program. */
static const char *const functions[] = {
	"_start",
	"__libc_start_*",
	"start_thread",
	"__clone",
	"clone3",
	"__clone3",
	"raise",
	"gsignal",
	"abort",
	"__pthread_kill*",
	"__libc_message*",
	"malloc_printerr",
	"__assert_fail*",
	"__stack_chk_fail*",
	"__fortify_fail*",
	"__restore_rt",
	"_ZSt9terminatev",
	"_ZN10__cxxabiv1*",
	"__cxa_*",
	"__clang_call_terminate",
	"_Unwind_*",
	"__gxx_personality*",
	"__fentry__",
	"__return__",
	"epitaph___xray_*",
	"__cyg_profile_func_*",
};

static bool is_one_of(const char *text, size_t size, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(list[i], "*");

		if (size >= length && memcmp(text, list[i], length) == 0 &&
		    (list[i][length] || size == length))
			return true;
	}
	return false;
}

/* Up to the compiler's suffix: f.constprop.0, f.isra.1, f.cold, f.llvm.123. One without a name is
 * known by its module. */
static size_t stem(const struct ep_function *function, const char **out)
{
	*out = function->known && function->symbol[0] ? function->symbol : function->module;
	if (**out == '\0')
		return 0;
	return *out == function->symbol ? strcspn(*out + 1, ".@") + 1 : strlen(*out);
}

bool ep_signature_counts(const struct ep_function *function)
{
	const char *name;
	size_t size = stem(function, &name);

	return size > 0 &&
	       !is_one_of(function->module, strlen(function->module), libraries,
			  sizeof(libraries) / sizeof(libraries[0])) &&
	       !is_one_of(name, size, functions, sizeof(functions) / sizeof(functions[0]));
}

static bool same(const struct ep_function *a, const struct ep_function *b)
{
	const char *left, *right;
	size_t size = stem(a, &left);

	return size == stem(b, &right) && memcmp(left, right, size) == 0;
}

/* ---- the key ---- */

void ep_signature_init(struct ep_signature *signature, int signal)
{
	memset(signature, 0, sizeof(*signature));
	signature->signal = signal;
	signature->key = FNV_START;
}

void ep_signature_add(struct ep_signature *signature, const struct ep_function *function)
{
	const char *name;
	size_t size;

	if (signature->full || !ep_signature_counts(function))
		return;
	for (unsigned i = 0; i < signature->count; i++)
		if (same(signature->functions[i], function))
			return;
	size = stem(function, &name);
	signature->key = hash(hash(signature->key, name, size), "<", 1);
	signature->functions[signature->count++] = function;
	/* What lies outside of main is the C library's, whatever it is called. */
	signature->full =
		signature->count == EP_SIGNATURE_FUNCTIONS || strcmp(function->symbol, "main") == 0;
}

void ep_signature_key(const struct ep_signature *signature, char out[EP_SIGNATURE_KEY_MAX])
{
	char name[20];

	ep_death_signal_text(name, sizeof(name), signature->signal);
	name[strcspn(name, " ")] = '\0';
	snprintf(out, EP_SIGNATURE_KEY_MAX, "%s-%016" PRIx64, signature->signal ? name : "none",
		 signature->key);
}
