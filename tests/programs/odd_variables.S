/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * odd_variables.S: dies in main, of which hand-written DWARF 4 says what no compiler would: types
 * that are their own parts, arrays that no memory holds, expressions without an end.
 */
	.text
	.globl main
	.type main, @function
main:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register 6
	subq $32, %rsp
	movl $42, -4(%rbp)
	movq %rbp, -16(%rbp)
	movl $0, 0
	leave
	ret
.Lend:
	.cfi_endproc
	.size main, . - main
	.section .note.GNU-stack, "", @progbits

	.section .debug_abbrev, "", @progbits
.Labbrev:
	.uleb128 1		/* unit: name, low, high, language */
	.uleb128 0x11
	.byte 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x13, 0x0b, 0, 0
	.uleb128 2		/* function: name, low, high, frame base */
	.uleb128 0x2e
	.byte 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x40, 0x18, 0, 0
	.uleb128 3		/* variable: name, type, location */
	.uleb128 0x34
	.byte 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0
	.uleb128 4		/* base type: name, encoding, size */
	.uleb128 0x24
	.byte 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0
	.uleb128 5		/* typedef: name, type */
	.uleb128 0x16
	.byte 0, 0x03, 0x08, 0x49, 0x13, 0, 0
	.uleb128 6		/* struct: name, size */
	.uleb128 0x13
	.byte 1, 0x03, 0x08, 0x0b, 0x07, 0, 0
	.uleb128 7		/* member: name, type, place */
	.uleb128 0x0d
	.byte 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x07, 0, 0
	.uleb128 8		/* array: type */
	.uleb128 0x01
	.byte 1, 0x49, 0x13, 0, 0
	.uleb128 9		/* its count */
	.uleb128 0x21
	.byte 0, 0x37, 0x07, 0, 0
	.uleb128 10		/* reference: type */
	.uleb128 0x10
	.byte 0, 0x49, 0x13, 0, 0
	.uleb128 11		/* base class: type, place */
	.uleb128 0x1c
	.byte 0, 0x49, 0x13, 0x38, 0x07, 0, 0
	.uleb128 12		/* bit-field: name, type, bits, from */
	.uleb128 0x0d
	.byte 0, 0x03, 0x08, 0x49, 0x13, 0x0d, 0x07, 0x6b, 0x07, 0, 0
	.uleb128 13		/* pointer: type */
	.uleb128 0x0f
	.byte 0, 0x49, 0x13, 0, 0
	.byte 0

	.macro variable name, type, expression:vararg
	.uleb128 3
	.asciz "\name"
	.long \type - .Lunit
	.uleb128 9f - 8f
8:	\expression
9:
	.endm

	.section .debug_info, "", @progbits
.Lunit:
	.long .Lunit_end - .Lversion
.Lversion:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.asciz "odd_variables"
	.quad main
	.quad .Lend - main
	.byte 0x0c		/* C99 */
	.uleb128 2
	.asciz "main"
	.quad main
	.quad .Lend - main
	.uleb128 1
	.byte 0x9c		/* the call frame's address */
	variable plain, .Lint, .byte 0x91, 0x6c
	variable ring, .Lring, .byte 0x91, 0x6c
	variable inside, .Lself, .byte 0x91, 0x60
	variable derived, .Lderived, .byte 0x91, 0x60
	variable turtles, .Lturtles, .byte 0x91, 0x60
	variable many, .Lmany, .byte 0x91, 0x60
	variable far, .Lmany, .byte 0x0e, 0, 0, 0, 0, 0, 0, 0x80, 0x7f
	variable wrapped, .Lmany, .byte 0x0e, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	variable overflow, .Loverflow, .byte 0x91, 0x60
	variable mirror, .Lmirror, .byte 0x91, 0x60
	variable endless, .Lint, .byte 0x2f, 0xfd, 0xff
	variable circling, .Lint, .byte 0x31, 0x28, 0xfc, 0xff
	variable into_the_middle, .Lint, .byte 0x2f, 0xfe, 0xff
	variable empty_stack, .Lint, .byte 0x22
	variable rotated, .Lint, .byte 0x31, 0x17
	variable heap_of_them, .Lint, .byte 0x31, 0x12, 0x2f, 0xfc, 0xff
	variable by_zero, .Lint, .byte 0x31, 0x30, 0x1b, 0x9f
	variable least, .Lint, .byte 0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x11, 0x7f, 0x1b, 0x9f
	variable unknown, .Lint, .byte 0xe7
	variable wild, .Lint, .byte 0x08, 0x10, 0x06
	variable no_register, .Lint, .byte 0x90, 0xff, 0xff, 0x03
	variable piece, .Lint, .byte 0x31, 0x9f, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
	variable bit_piece, .Lint, .byte 0x31, 0x9f, 0x9d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
	variable bits, .Lbits, .byte 0x91, 0x60
	variable odd_size, .Lodd, .byte 0x91, 0x60
	variable loop, .Lloop, .byte 0x91, 0x60
	.uleb128 3		/* a name that would steer a terminal */
	.asciz "red\033[31m\n\377"
	.long .Lint - .Lunit
	.uleb128 2
	.byte 0x91, 0x6c
	.byte 0			/* main's end */
.Lint:
	.uleb128 4
	.asciz "int"
	.byte 5, 4
.Lodd:
	.uleb128 4
	.asciz "odd"
	.byte 5, 13
.Lring:
	.uleb128 5
	.asciz "ring"
	.long .Lring2 - .Lunit
.Lring2:
	.uleb128 5
	.asciz "gnir"
	.long .Lring - .Lunit
.Lself:
	.uleb128 6
	.asciz "self"
	.quad 8
	.uleb128 7
	.asciz "me"
	.long .Lself - .Lunit
	.quad 0
	.uleb128 7
	.asciz "again"
	.long .Lself - .Lunit
	.quad 0
	.byte 0
.Lderived:
	.uleb128 6
	.asciz "derived"
	.quad 8
	.uleb128 11
	.long .Lderived - .Lunit
	.quad 0
	.uleb128 7
	.asciz "number"
	.long .Lint - .Lunit
	.quad 0
	.byte 0
.Lturtles:
	.uleb128 8
	.long .Lturtles - .Lunit
	.uleb128 9
	.quad 4
	.byte 0
.Lmany:
	.uleb128 8
	.long .Lint - .Lunit
	.uleb128 9
	.quad 0x0fffffffffffffff
	.byte 0
.Loverflow:
	.uleb128 8
	.long .Lint - .Lunit
	.uleb128 9
	.quad 0xffffffffffffffff
	.uleb128 9
	.quad 0xffffffffffffffff
	.uleb128 9
	.quad 0xffffffffffffffff
	.byte 0
.Lmirror:
	.uleb128 10
	.long .Lmirror - .Lunit
.Lbits:
	.uleb128 6
	.asciz "bits"
	.quad 8
	.uleb128 12
	.asciz "wide"
	.long .Lint - .Lunit
	.quad 0xffffffffffffffff
	.quad 0
	.uleb128 12
	.asciz "away"
	.long .Lint - .Lunit
	.quad 3
	.quad 0xffffffffffffffff
	.byte 0
.Lloop:
	.uleb128 13
	.long .Lloop - .Lunit
	.byte 0			/* the unit's end */
.Lunit_end:
