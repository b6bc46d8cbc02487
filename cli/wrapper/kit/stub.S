/* SPDX-License-Identifier: BSD-2-Clause */
/* stub.S: hooks that do nothing, for traced code that is linked without the C library and so
 * without a runtime. Weak: a program may have its own. */
	.text
	.weak	__fentry__, __return__
	.weak	__cyg_profile_func_enter, __cyg_profile_func_exit
	.type	__fentry__, @function
	.type	__return__, @function
	.type	__cyg_profile_func_enter, @function
	.type	__cyg_profile_func_exit, @function
__fentry__:
__return__:
__cyg_profile_func_enter:
__cyg_profile_func_exit:
	endbr64
	ret
	.size	__fentry__, . - __fentry__
	.size	__return__, . - __return__
	.size	__cyg_profile_func_enter, . - __cyg_profile_func_enter
	.size	__cyg_profile_func_exit, . - __cyg_profile_func_exit
	.section .note.GNU-stack,"",@progbits
