#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a process died of by its instruction: each death is made here, and the report must say what was done, in the words of this
# table, and must not say what was not. Then deaths by chance, held against what the kernel told a handler of each.
# timeout: 600
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# HOW | kind in JSON, "-" none | words of `because` | what it must not say
deaths='
overflow                | stack-overflow     | stack overflow, likely                         |
overflow-frame          | stack-overflow     | stack overflow, likely                         |
overflow-thread         | stack-overflow     | stack overflow, likely                         |
overflow-thread-frame   | stack-overflow     | stack overflow, likely                         |
overflow-handler        | stack-overflow     | handler had no room on it                      | non-canonical
frame-room              | signal-frame       | no room for the frame of a signal              | non-canonical
sigreturn-unmapped      | signal-return      | rt_sigreturn could not use the signal frame    | non-canonical
sigreturn-floating      | kernel             | the frame that it returned by was overwritten  | non-canonical
rseq                    | kernel             | a restartable sequence (rseq) is not valid     | non-canonical
stack-unmapped          | stack-pointer      | the stack pointer is wild: rsp is 0x4242000    | overflow
stack-kernel            | stack-pointer      | rsp is 0xffff888000000000, an address of the kernel | overflow
stack-text              | stack-pointer      | rsp is 0x4141414141414141 ("AAAAAAAA"), a non-canonical address | sent by the kernel
stack-null              | stack-pointer      | the stack pointer is wild: rsp is 0x0          | null pointer
stack-heap-end          | stack-pointer      | the stack pointer is wild                      | overflow
frame-text              | non-canonical      | read of 0x4141414141414139                     | sent by the kernel
ret-text                | -                  | returned to 0x4141414141414141 ("AAAAAAAA")    | jump
ret-wild                | -                  | returned to 0x42424242 ("BBBB")                | jump
ret-null                | -                  | returned to 0x0                                | null
call-null               | null-call          | call of a null function pointer (0x0)          | returned
call-data               | not-executable     | readable and writable, not executable          | returned
call-kernel             | bad-jump           | jump to 0xffffffff81000000, where no code is: an address of the kernel | returned
call-text               | non-canonical      | jump to 0x4141414141414141 ("AAAAAAAA"), a non-canonical address | returned
code-ends               | bad-jump           | the code ends in the middle of an instruction  | returned
read-none               | no-access          | read of address                                | overflow
write-readonly          | read-only          | read-only                                      | overflow
write-code              | read-only          | code, not writable                             |
key                     | protection-key     | denied by a protection key                     |
beyond-file             | beyond-file        | beyond the end of that file, likely            |
null                    | null-pointer       | null pointer dereference, likely: address 0x0  |
null-field              | null-pointer       | null pointer dereference, likely: address 0x3e8|
kernel-read             | kernel-address     | 0xfffffffffffffff8, which is the kernel        | overflow
vsyscall-read           | kernel-address     | in the vsyscall page                           | overflow
text-pointer            | non-canonical      | read of 0x4242424242424242 ("BBBBBBBB")        | aligned
movaps                  | misaligned         | not aligned                                    | non-canonical
addps                   | misaligned         | addps takes multiples of 16 only               | non-canonical
cmpxchg16b              | misaligned         | cmpxchg16b takes multiples of 16 only          | non-canonical
fxsave                  | misaligned         | fxsave takes multiples of 16 only              | non-canonical
alignment-check         | misaligned         | the AC flag asks for a check                   | null
hlt                     | privileged         | hlt is a privileged instruction                | non-canonical
cr3                     | privileged         | mov is a privileged instruction                | non-canonical
out                     | port               | the process is not allowed that port           | non-canonical
int-81                  | interrupt          | instruction int $0x81                          | non-canonical
ss                      | segment            | loads a segment selector                       | non-canonical
ldmxcsr                 | value              | ldmxcsr was given a value that it does not allow | non-canonical
tsc                     | tsc                | rdtsc is not allowed in this process           | non-canonical
cpuid                   | cpuid              | cpuid is not allowed in this process           | non-canonical
divide                  | division-by-zero   | integer division by zero                       | fit
divide-overflow         | division-overflow  | does not fit                                   | by zero
float-divide            | floating-point     | floating-point division by zero                | x87
float-invalid           | floating-point     | invalid floating-point operation               | x87
x87-divide              | floating-point     | floating-point division by zero, by an x87 instruction before this one: 0x |
ud2                     | trap               | ud2, an instruction that traps on purpose      |
ud1                     | trap               | an instruction that traps on purpose           |
no-opcode               | no-instruction     | are no instruction that is known               | traps on purpose
lock                    | no-instruction     | are no instruction that is known               | traps on purpose
clac                    | privileged         | clac is a privileged instruction               | traps on purpose
int3                    | breakpoint         | breakpoint: int3                               | sent by
int1                    | breakpoint         | breakpoint: int1                               | sent by
step                    | single-step        | single step: the TF flag is set                | breakpoint
seccomp-kill            | -                  | system call 110 (getppid); denied by a seccomp filter |
seccomp-trap            | -                  | system call 110 (getppid); denied by a seccomp filter |
dispatch                | -                  | PR_SET_SYSCALL_USER_DISPATCH                   | seccomp
sent                    | -                  | sent it to its own process                     | null
queued                  | -                  | the process sent it to itself                  | null
'
flags=(-g -O1 -w -fno-omit-frame-pointer -fno-stack-protector -fno-optimize-sibling-calls -fcf-protection=none)
"$BIN/epitaph-cc" "${flags[@]}" "$TOP/tests/programs/dies_of.c" -o traced -lm -lpthread
gcc "${flags[@]}" "$TOP/tests/programs/dies_of.c" -o untraced -lm -lpthread
count=0
while IFS='|' read -r how kind words never; do
	read -r how <<<"$how" && [ -n "$how" ] || continue
	read -r kind <<<"$kind"
	read -r words <<<"$words"
	read -r never <<<"$never"
	# Without a trace there is the core alone.
	count=$((count + 1)) program=untraced
	[ $((count % 2)) = 0 ] || program=traced
	rm -rf crash.dir core.dead && mkdir crash.dir
	status=0
	{ (cd crash.dir && ulimit -s 8192 && GLIBC_TUNABLES=glibc.pthread.rseq=0 exec "../$program" "$how") >/dev/null 2>&1 || status=$?; } 2>/dev/null
	[ $status != 77 ] || { echo "$how: not on this machine"; continue; }
	mv crash.dir/core* core.dead 2>/dev/null || { say "$how: no core, status $status"; continue; }
	"$EPITAPH" report --json --last=0 core.dead >out 2>err || [ $? -eq 1 ] || say "$how: $(cat err)"
	python3 - "$how" "$kind" "$words" "$never" <<-'END' || failures=$((failures + 1))
	import json, struct, sys
	how, kind, words, never = sys.argv[1:]
	end = json.load(open("out"))["end"]
	got = end.get("fault", {}).get("kind", "-")
	because = end["because"] or ""
	if how == "x87-divide" and ": 0x" not in because:
	    # Seen once in hundreds of runs: is it that the core itself lacks the place?
	    core = open("core.dead", "rb").read(1 << 20)
	    at = core.find(struct.pack("<III8s", 5, 512, 2, b"CORE")) + 20
	    place, = struct.unpack_from("<Q", core, at + 8)
	    print(f"{how}: its place is {place:#x} in the core's floating-point registers")
	    words = words if at < 20 or place else words.removesuffix(": 0x")
	if got != kind or words not in because or (never and never in because):
	    sys.exit(f"{how}: {got}: {because} ({end.get('instruction')})")
	END
done <<<"$deaths"
[ $count -ge 60 ] || say "only $count deaths"

python3 "$TOP/tests/cli/lib/faults.py" build cases.S table "$((${SEED:-1}))" "${CASES:-60}"
gcc -O1 -w -static "$TOP/tests/programs/faults.c" cases.S -o faults
python3 "$TOP/tests/cli/lib/faults.py" check "$EPITAPH" faults table "${SEED:-1}" "${RANDOM_CASES:-60}" || say "claims that are false"
exit $((failures != 0))
