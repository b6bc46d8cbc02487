#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""faults.py: faults that the report explains, held against what the kernel knew of them.

faults.py build FILE.S TABLE.json SEED COUNT   instructions by chance, for tests/programs/faults.c, and what each will die of
faults.py check EPITAPH PROGRAM TABLE.json SEED RANDOM   runs all of the table, and RANDOM programs of random bytes

A claim (end.fault of report --json) is false when it contradicts the trap, the error code or the address that the handler got from
the kernel, or what the table says of the instruction. The last line has the counts; status 1: a claim is false.
"""
import json
import os
import random
import struct
import subprocess
import sys

RW, RO, NONE, GAP, CODE, CUT = 0x10000000, 0x10010000, 0x10020000, 0x10030000, 0x10040000, 0x10050000
REGISTERS = "rax rbx rcx rdx rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()

# Instruction with an operand M in memory: (text, bytes, way, alignment). Ways: r, w, m (both), which the processor asks for at once.
MEMORY = [
    ("movb $1, M", 1, "w", 1), ("movw $1, M", 2, "w", 1), ("movl $1, M", 4, "w", 1), ("movq $1, M", 8, "w", 1),
    ("movb M, %bpl", 1, "r", 1), ("movzwl M, %ebp", 2, "r", 1), ("mov M, %ebp", 4, "r", 1), ("mov M, %rbp", 8, "r", 1),
    ("addl $1, M", 4, "m", 1), ("orq $0, M", 8, "m", 1), ("incw M", 2, "m", 1), ("notq M", 8, "m", 1), ("shll $3, M", 4, "m", 1),
    ("lock addl $1, M", 4, "m", 1), ("lock cmpxchg %rbp, M", 8, "m", 1), ("xchg %ebp, M", 4, "m", 1), ("xadd %ebp, M", 4, "m", 1),
    ("cmpl $5, M", 4, "r", 1), ("testq $5, M", 8, "r", 1), ("cmp %rbp, M", 8, "r", 1), ("imul M, %rbp", 8, "r", 1),
    ("pushq M", 8, "r", 1), ("popq M", 8, "w", 1), ("call *M", 8, "r", 1), ("jmp *M", 8, "r", 1), ("sete M", 1, "w", 1),
    ("cmove M, %ebp", 4, "r", 1), ("bsf M, %ebp", 4, "r", 1), ("popcnt M, %rbp", 8, "r", 1), ("movbe M, %ebp", 4, "r", 1),
    ("movnti %rbp, M", 8, "w", 1), ("clflush M", 1, "r", 1), ("btl $3, M", 4, "r", 1), ("btsl $3, M", 4, "m", 1),
    ("movups M, %xmm1", 16, "r", 1), ("movups %xmm1, M", 16, "w", 1), ("movdqu M, %xmm1", 16, "r", 1), ("movdqu %xmm1, M", 16, "w", 1),
    ("lddqu M, %xmm1", 16, "r", 1), ("movss M, %xmm1", 4, "r", 1), ("movsd %xmm1, M", 8, "w", 1), ("movq M, %xmm1", 8, "r", 1),
    ("addsd M, %xmm1", 8, "r", 1), ("cvtsi2sdl M, %xmm1", 4, "r", 1), ("ucomisd M, %xmm1", 8, "r", 1), ("movhps %xmm1, M", 8, "w", 1),
    ("movaps M, %xmm1", 16, "r", 16), ("movaps %xmm1, M", 16, "w", 16), ("movdqa M, %xmm1", 16, "r", 16),
    ("movdqa %xmm1, M", 16, "w", 16), ("movapd M, %xmm1", 16, "r", 16), ("movntps %xmm1, M", 16, "w", 16),
    ("movntdq %xmm1, M", 16, "w", 16), ("movntdqa M, %xmm1", 16, "r", 16), ("addps M, %xmm1", 16, "r", 16),
    ("mulpd M, %xmm1", 16, "r", 16), ("pxor M, %xmm1", 16, "r", 16), ("paddd M, %xmm1", 16, "r", 16), ("pshufb M, %xmm1", 16, "r", 16),
    ("shufps $1, M, %xmm1", 16, "r", 16), ("pcmpeqb M, %xmm1", 16, "r", 16), ("cvtdq2ps M, %xmm1", 16, "r", 16),
    ("sqrtps M, %xmm1", 16, "r", 16), ("aesenc M, %xmm1", 16, "r", 16), ("punpcklbw M, %xmm1", 16, "r", 16),
    ("pcmpistri $0, M, %xmm1", 16, "r", 1), ("pcmpestrm $0, M, %xmm1", 16, "r", 1), ("cvtdq2pd M, %xmm1", 8, "r", 1),
    ("pmovzxbw M, %xmm1", 8, "r", 1), ("movq M, %mm1", 8, "r", 1), ("paddd M, %mm1", 8, "r", 1), ("unpcklps M, %xmm1", 16, "r", 16),
    ("vmovaps M, %xmm1", 16, "r", 16), ("vmovaps M, %ymm1", 32, "r", 32), ("vmovdqa %ymm1, M", 32, "w", 32),
    ("vmovntps %ymm1, M", 32, "w", 32), ("vmovups M, %ymm1", 32, "r", 1), ("vaddps M, %ymm1, %ymm2", 32, "r", 1),
    ("vpxor M, %xmm1, %xmm2", 16, "r", 1), ("vmovdqu %ymm1, M", 32, "w", 1), ("vbroadcastss M, %ymm1", 4, "r", 1),
    ("cmpxchg16b M", 16, "m", 16), ("fxsave M", 512, "w", 16), ("fxrstor M", 512, "r", 16), ("flds M", 4, "r", 1), ("fldl M", 8, "r", 1),
    ("fstpl M", 8, "w", 1), ("fldt M", 10, "r", 1), ("fstpt M", 10, "w", 1), ("fildl M", 4, "r", 1), ("fnstcw M", 2, "w", 1),
    ("fldcw M", 2, "r", 1), ("fnsave M", 108, "w", 1), ("stmxcsr M", 4, "w", 1), ("adcl %ebp, M", 4, "m", 1), ("rolb $1, M", 1, "m", 1),
    ("divl M", 4, "r", 1), ("crc32q M, %rbp", 8, "r", 1), ("pinsrd $1, M, %xmm1", 4, "r", 1), ("pextrd $1, %xmm1, M", 4, "w", 1),
    ("vextractf128 $1, %ymm1, M", 16, "w", 1), ("haddps M, %xmm1", 16, "r", 16), ("xsave M", 576, "w", 64), ("lodsb", 1, "rsi", 1),
    ("lodsq", 8, "rsi", 1), ("stosb", 1, "rdi", 1), ("stosq", 8, "rdi", 1), ("rep stosb", 1, "rdi", 1), ("scasb", 1, "rdi-r", 1),
]
with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
    CPU = cpuinfo.read()
if "avx512f" in CPU:
    MEMORY += [("vmovaps M, %zmm1", 64, "r", 64), ("vmovdqa64 %zmm1, M", 64, "w", 64), ("vmovdqu64 M, %zmm1", 64, "r", 1),
               ("vmovdqa32 %ymm1, M", 32, "w", 32)]

# Without: (text, kinds that are right).
OTHERS = [
    (text, ["privileged"]) for text in
    "hlt|cli|sti|clts|invd|wbinvd|rdmsr|wrmsr|mov %cr0, %rax|mov %rax, %cr3|mov %db7, %rax|swapgs|lgdt (%rbx)|lidt (%rbx)|"
    "lldt %ax|ltr %ax|lmsw %ax|invlpg (%rbx)|xsetbv|sysretq|clac|stac".split("|")
] + [
    (text, ["port"]) for text in "in $0x60, %al|in %dx, %eax|out %al, $0x80|outl %eax, %dx|insb|outsb|rep insl".split("|")
] + [
    (f"int $0x{n:x}", ["interrupt"]) for n in (0x20, 0x21, 0x81, 0xff, 1, 2, 8, 13, 14)
] + [
    ("mov $0x1234, %eax; mov %eax, %ss", ["segment"]), ("mov $0x4b, %eax; mov %eax, %ds", ["segment"]),
    ("mov $0x777, %eax; mov %eax, %fs", ["segment"]), ("xor %eax, %eax; mov %eax, %ss", ["segment"]),
    ("pushq $0x1234; popq %fs", ["segment"]), ("lss (%rbx), %ebp", ["segment"]), ("ljmp *(%rbx)", ["segment"]),
    ("lretq", ["segment"]), ("mov $0x10000000, %eax; movl $-1, (%rax); ldmxcsr (%rax)", ["value"]),
    ("mov $9, %ecx; xgetbv", ["value"]), ("mov $0x4142434445464748, %rax; wrfsbase %rax", ["value"]),
    # Without protection keys it is no instruction (SDM, WRPKRU: #UD if CR4.PKE = 0).
    ("mov $1, %ecx; xor %eax, %eax; xor %edx, %edx; wrpkru", ["value", None] if " ospke" in CPU else ["unknown-instruction"]), ("mov $0x40000000, %ecx; rdpmc", ["counter"]),
    ("xor %ecx, %ecx; div %ecx", ["division-by-zero"]), ("xor %ecx, %ecx; idiv %rcx", ["division-by-zero"]),
    ("mov $0x100, %ecx; div %cl", ["division-by-zero"]), ("mov $2, %edx; mov $1, %ecx; div %ecx", ["division-overflow"]),
    ("mov $-1, %rcx; mov $1, %eax; shl $63, %rax; cqto; idiv %rcx", ["division-overflow"]),
    ("mov $0x1000, %eax; mov $1, %ecx; div %cl", ["division-overflow"]), ("mov $0x1000, %eax; mov $0x100, %ecx; idiv %ch", ["division-overflow"]),
    ("ud2", ["trap"]), (".byte 0x0f, 0xb9, 0xc0", ["trap"]), (".byte 0x06", ["no-instruction"]), (".byte 0xf0, 0x90", ["unknown-instruction", "no-instruction"]),
    (".byte 0xf0, 0x89, 0xc0", ["unknown-instruction", "no-instruction"]), (".byte 0x0f, 0x0c", ["no-instruction"]),
    ("int3", ["breakpoint"]), (".byte 0xcd, 3", ["breakpoint"]), (".byte 0xf1", ["breakpoint"]),
    ("pushf; orl $0x100, (%rsp); popf; nop; nop; nop", ["single-step"]),
    ("pushf; orl $0x40000, (%rsp); popf; mov $0x10000001, %eax; movl $1, (%rax)", ["misaligned"]),
    ("pushf; orl $0x40000, (%rsp); popf; mov $0x10000007, %eax; movq (%rax), %rbx", ["misaligned"]),
    ("xor %eax, %eax; call *%rax", ["null-call"]), ("xor %eax, %eax; jmp *%rax", ["null-call"]),
    ("mov $0x10000000, %eax; call *%rax", ["not-executable"]), ("mov $0x10030000, %eax; jmp *%rax", ["bad-jump"]),
    ("mov $0xffffffff81000000, %rax; call *%rax", ["bad-jump"]), ("mov $0x4141414141414141, %rax; jmp *%rax", ["non-canonical"]),
    ("mov $0x800000000000, %rax; call *%rax", ["non-canonical"]), ("mov $0x10040ffe, %eax; jmp *%rax", ["bad-jump", "unmapped-code"]),
] + [
    (f"mov ${value}, %rsp; {text}", [kind])
    for value, kind in (("0x4141414141414141", "stack-pointer"), ("0x10030800", "stack-pointer"), ("0xffff888000000000", "stack-pointer"),
                        ("0x100", "stack-pointer"), ("0x10020800", "stack-pointer"))
    for text in ("push %rax", "call 1f; 1:", "pop %rax", "ret", "pushf", "popf", "enter $16, $0", "push $1", "lretq", "iretq")
] + [
    ("mov $0x4141414141414141, %rbp; leave", ["non-canonical", "stack-pointer"]), ("mov $0x4141414141414141, %rbp; mov -8(%rbp), %rax", ["non-canonical"]),
    ("mov $0x10030800, %ebp; leave", ["not-mapped"]),
    ("mov $0x10000ff0, %edi; mov $0x10000000, %esi; mov $64, %ecx; rep movsb", ["not-mapped"]),
    ("mov $0x10000000, %edi; mov $0x10000fe0, %esi; mov $64, %ecx; rep movsb", ["not-mapped"]),
    ("mov $0x10000000, %edi; xor %esi, %esi; mov $64, %ecx; rep cmpsb", ["null-pointer"]),
    ("mov $0x10000000, %ebx; mov $0x180000, %eax; bts %rax, (%rbx)", ["not-mapped"]),
    ("mov $0x10000000, %ebx; mov $-0x80000, %rax; bt %rax, (%rbx)", ["not-mapped"]),
    ("mov $0x1002fff0, %ebx; mov $0x20, %eax; xlat", ["not-mapped"]),
    ("mov $-8, %rax; movq %fs:(%rax), %rbx; mov $0x7fffffff, %eax; mov %fs:0x7fffffff(%rax), %rbx", ["not-mapped", "non-canonical"]),
    ("mov 0, %eax", ["null-pointer"]), ("mov $0x8, %ebx; mov 0x18(%rbx), %rax", ["null-pointer"]), ("mov $0x4242, %ebx; mov (%rbx), %rax", ["wild-pointer"]),
]


def memory_case(rng):
    text, size, way, alignment = rng.choice(MEMORY)
    base = rng.choice(REGISTERS)
    index = rng.choice([r for r in REGISTERS if r != base])
    scale, disp, offset = rng.choice([1, 2, 4, 8]), rng.choice([0, 0, 8, -8, 0x40, -0x7c, 0x1234]), rng.choice([0, 0, 3, 5, -17])
    if way.startswith(("rsi", "rdi")):
        base, index, disp, offset = way[:3], None, 0, 0
        way = "w" if "stos" in text else "r"
    uses = {"cmpxchg": "rax", "divl": "rax rdx", "cmpxchg16b": "rax rbx rcx rdx", "pcmpestrm": "rax rdx"}
    place = rng.choice("good good ro none gap null null cut low noncanonical noncanonical kernel code".split())
    edge = rng.choice([64, 128, 256])
    within = rng.choice([edge, edge + rng.randrange(1, 64)])
    address = {"good": RW + within, "ro": RO + within, "none": NONE + within, "gap": GAP + within, "null": within % 512, "cut": CUT + within,
               "low": 0x4000 + within, "noncanonical": rng.choice([0x800000000000, 0x4141414141414100, 0xdead000000000000]) + within,
               "kernel": 0xffff888000000000 + within, "code": CODE + within}[place]
    writes = way in "wm"
    misaligned = address % alignment != 0
    lines = []
    if rng.random() < 0.5 or index is None:
        value, operand = address - disp, f"{disp}(%{base})"
    else:
        value, operand = address - disp - offset * scale, f"{disp}(%{base}, %{index}, {scale})"
        lines.append(f"movabs ${offset}, %{index}")
    lines.append(f"movabs ${value & (1 << 64) - 1}, %{base}")
    if text.startswith("rep"):
        lines.append("mov $16, %ecx")
    lines.append(text.replace("M", operand))
    if place == "noncanonical":
        kinds = ["non-canonical"]
    elif misaligned and "fx" not in text:
        kinds = ["misaligned"]
    elif misaligned:
        kinds = ["misaligned", "null-pointer", "read-only", "no-access", "not-mapped", "kernel-address", "wild-pointer", "beyond-file"]
    elif place in ("good", "code", "ro") and not (writes and place != "good"):
        return None # it may do that
    elif place == "low":
        kinds = ["wild-pointer"] if value else ["null-pointer"]
    else:
        kinds = {"ro": ["read-only"], "code": ["read-only"], "none": ["no-access"], "gap": ["not-mapped"], "null": ["null-pointer"], "cut": ["beyond-file"],
                 "kernel": ["kernel-address"]}[place]
    return {"text": "; ".join(lines), "kinds": kinds, "address": address, "access": "write" if writes else "read"}


def build(assembly, table, seed, count):
    rng = random.Random(seed)
    cases = [{"text": text, "kinds": kinds} for text, kinds in OTHERS]
    while len(cases) < count:
        case = memory_case(rng)
        if case:
            cases.append(case)
    rng.shuffle(cases)
    cases = cases[:count]
    with open(assembly, "w", encoding="ascii") as out:
        print('.section .note.GNU-stack, "", @progbits\n.text', file=out)
        for i, case in enumerate(cases):
            print(f"case_{i}: mov $0x10000000, %ebx; mov %ebx, %esi; mov %ebx, %edi; mov $0x1111111111111111, %rbp\n\t{case['text']}\n\tud2", file=out)
        print(".data\n.globl cases\ncases:", file=out)
        for i in range(len(cases)):
            print(f"\t.quad case_{i}", file=out)
    with open(table, "w", encoding="ascii") as out:
        json.dump(cases, out)


# Each kind: the traps that it can be of (arch/x86/include/asm/trapnr.h).
TRAPS = {
    "null-pointer": (14,), "null-call": (14,), "bad-jump": (14,), "not-executable": (14,), "wild-pointer": (14,), "kernel-address": (14,),
    "read-only": (14,), "no-access": (14,), "not-mapped": (14,), "protection-key": (14,), "beyond-file": (14,), "no-memory": (14,),
    "stack-pointer": (12, 13, 14), "non-canonical": (12, 13), "misaligned": (13, 17), "privileged": (13, 6), "port": (13,), "interrupt": (13,),
    "segment": (10, 11, 12, 13), "tsc": (13,), "cpuid": (13,), "counter": (13,), "value": (13,), "division-by-zero": (0,), "division-overflow": (0,),
    "floating-point": (16, 19), "trap": (6,), "unknown-instruction": (6,), "no-instruction": (6,), "breakpoint": (3, 1), "single-step": (1,),
    "watchpoint": (1,),
}


def contradiction(fault, truth, end):
    """Why the claim is false; None: it isn't."""
    kind = fault["kind"]
    trap, error, cr2, rsp = (truth[name] for name in ("trap", "error", "cr2", "rsp"))
    if kind not in TRAPS:
        return f"{kind}: an instruction did it, by trap {trap}"
    if trap not in TRAPS[kind]:
        return f"{kind} by trap {trap}"
    address = int(fault["address"], 16) if "address" in fault else None
    if trap == 14 and address is not None and address != cr2:
        return f"address {address:#x}, not {cr2:#x}"
    if trap == 14 and fault.get("access") and fault["access"] != ("execute" if error & 16 else "write" if error & 2 else "read"):
        return f"access {fault['access']}, error code {error:#x}"
    if kind in ("null-call", "bad-jump", "not-executable") and not error & 16:
        return f"{kind} of data"
    if kind in ("null-pointer", "wild-pointer") and cr2 >= 65536:
        return f"{kind}: {cr2:#x}"
    if kind == "non-canonical" and address is not None and (address + (1 << 47)) >> 48 in (0, 1 << 16):
        return f"canonical address {address:#x}"
    if kind == "misaligned" and not address % 64:
        return f"aligned address {address:#x}"
    if kind == "stack-pointer" and end["real_stack"][0] <= rsp < end["real_stack"][1]:
        return f"rsp {rsp:#x} is in the stack"
    return None


def read_truth(path):
    data = open(path, "rb").read()
    signal, code, address, *registers = struct.unpack_from("<26Q", data)
    # REG_RSP, REG_RIP, REG_ERR, REG_TRAPNO, REG_CR2 of sys/ucontext.h
    return {"signal": signal, "code": code & 0xffffffff, "address": address, "rsp": registers[15], "rip": registers[16],
            "error": registers[19], "trap": registers[20], "cr2": registers[22]}


def die(program, words):
    for name in os.listdir("."):
        if name.startswith("core"):
            os.unlink(name)
    subprocess.run(["bash", "-c", 'ulimit -c unlimited; exec "$@"', "sh", program, "truth", *words], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return next((name for name in os.listdir(".") if name.startswith("core")), None)


def check(epitaph, program, table, seed, count):
    cases = json.load(open(table, encoding="ascii"))
    runs = [([str(i)], case) for i, case in enumerate(cases)] + [(["random", str(seed + i)], None) for i in range(count)]
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    stack = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" stack"))
    counts = {"deaths": 0, "settled": 0, "silent": 0, "false": 0, "no core": 0}
    for words, case in runs:
        core = die(program, words)
        if not core:
            counts["no core"] += 1
            if case:
                print(f"{case['text']}: no core")
                counts["false"] += 1
            continue
        truth = read_truth("truth")
        ran = subprocess.run([epitaph, "report", "--json", "--last=0", core], check=False, capture_output=True, text=True)
        if "32-bit" in ran.stderr: # a far jump into that mode
            continue
        report = json.loads(ran.stdout)
        end, fault = report["end"], report["end"].get("fault")
        if not truth["signal"]: # a filter's SIGSYS kills at once
            continue
        end["real_stack"] = (stack, stack + 65536) if not case else (0x7ff000000000, 0x800000000000)
        counts["deaths"] += 1
        counts["settled" if fault else "silent"] += 1
        if not fault and "cause" in end:
            continue
        wrong = contradiction(fault, truth, end) if fault else None
        if case and fault and not wrong and fault["kind"] not in case["kinds"]:
            wrong = f"{fault['kind']}, not {case['kinds']}"
        if case and fault and not wrong and "address" in case and "address" in fault and int(fault["address"], 16) != case["address"] and \
                truth["trap"] != 14 and fault["kind"] != "non-canonical":
            wrong = f"address {fault['address']}, not {case['address']:#x}"
        if wrong:
            counts["false"] += 1
            print(f"{' '.join(words)} {case['text'] if case else ''}: {wrong}\n    {end['because']}\n    {end.get('instruction')}")
        elif not fault and "-v" in sys.argv:
            print(f"silent: {' '.join(words)} {end['because']} {end.get('instruction')} trap {truth['trap']}")
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    # What the disassembler does not know may stay silent, and is seldom.
    sys.exit(counts["false"] != 0 or counts["silent"] * 50 > counts["deaths"])


if sys.argv[1] == "build":
    build(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
else:
    check(os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]), os.path.abspath(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
