#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH=off where code is not easily changed, and where somebody else changes it: the program says what it says, hooks go
# off where they can, a debugger's breakpoint stays one, and a core does not grow by the code.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/switching.bash"

"$BIN/epitaph-cc" -g -O2 "$TOP/tests/programs/switcher.c" -o prog
"$BIN/epitaph-cc" -g -O2 -static "$TOP/tests/programs/switcher.c" -o static 2>said

goes() { # WHAT FILE COMMAND...: all went off, and came back
	local what=$1
	switched "${@:2}"
	says "$what"
	grep -qx 'on 0' off.sites || say "$what: $(cat off.sites)"
	grep -qx 'off 0' on.sites || say "$what, back: $(cat on.sites)"
}

stays() { # WHAT FILE COMMAND...: none did
	local what=$1
	switched "${@:2}"
	says "$what"
	grep -qx 'off 0' off.sites || say "$what: $(cat off.sites)"
}

goes "by /proc/self/mem" prog ./prog
# Of what is left of the mapping of code in the core: nothing, as if nobody had written there.
[ "$(readelf -lW core | awk '$1 == "LOAD" && / R E / && $5 != "0x000000" && $6 != "0x001000" && $6 != "0x002000"' | wc -l)" = 0 ] ||
	{ say "code is in the core"; readelf -lW core; }
gdb -q -batch -ex bt prog core >out 2>&1
has out " main ("

# No descriptor is left, nor can there be one.
goes "without descriptors" static bash -c 'ulimit -n 3; exec ./static'

# There is no /proc: code is writable for the moment; and where it must not be, hooks run and do nothing.
printf '%s\n' 'import ctypes, os, sys' 'if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0): sys.exit(77)' \
	'os.execv(sys.argv[1], sys.argv[1:])' >mdwe.py
bare='mount -t tmpfs none /proc 2>/dev/null || exit 77; exec'
if unshare -rm sh -c "$bare true" 2>/dev/null; then
	goes "without /proc" prog unshare -rm sh -c "$bare ./prog"
	if python3 mdwe.py /bin/true; then
		stays "refused both" prog unshare -rm sh -c "$bare python3 mdwe.py ./prog"
	fi
fi
if python3 mdwe.py /bin/true; then
	goes "where no code may be written" prog python3 mdwe.py ./prog
fi

# A filter that was there before, as containers and services have one: it kills for what is there for debuggers, for namespaces
# and for memory that is writable and executable; files may be opened and written.
cat >filtered.py <<'PY'
import ctypes, os, struct, sys
KILL, ALLOW, READ, EQUAL, RETURN = 0x80000000, 0x7fff0000, 0x20, 0x15, 0x06
UNSHARE, PERF, READV, WRITEV, CLOSE_RANGE, MPROTECT = 272, 298, 310, 311, 436, 10
code = [(READ, 0, 0, 0)]
for number in UNSHARE, PERF, READV, WRITEV, CLOSE_RANGE:
    code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, KILL)]
code += [(EQUAL, 0, 3, MPROTECT), (READ, 0, 0, 32), (EQUAL, 0, 1, 7), (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW)]
filter = b"".join(struct.pack("HBBI", *one) for one in code)
libc = ctypes.CDLL(None)
bytes = ctypes.create_string_buffer(filter)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(bytes)))
assert not libc.prctl(38, 1, 0, 0, 0) and not libc.prctl(22, 2, program, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
PY
goes "under a filter from before" prog python3 filtered.py ./prog

# Breakpoints in a function, and on the byte of a hook's call that decides: they hit each time, and the code is as it was when
# they are deleted.
"$BIN/epitaph-cc" -g -O2 -no-pie -fno-pie "$TOP/tests/programs/switcher.c" -o fixed
cat >commands <<'GDB'
set confirm off
break half
break *leaf
run <input >from
echo first hit\n
ignore 1 990
ignore 2 990
continue
echo then hit\n
delete
break pause_for
continue
x/3i leaf
continue
x/3i leaf
delete
continue
GDB
printf '\n\n' >input
EPITAPH=off gdb -q -batch -x commands ./fixed >out 2>&1 || true
has out "half (x=990)" # its 991st call
tail -n +"$(grep -n ' "on")' out | cut -d: -f1)" out | grep -q '<leaf.*call .*<__fentry__>' ||
	say "leaf's hook is not back"
says "under gdb"
[ $failures = 0 ] || cat out

# Nothing is changed under valgrind.
if command -v valgrind >/dev/null; then
	no_core=1 stays "under valgrind" prog valgrind -q --log-file=errors ./prog
fi
[ $failures = 0 ]
