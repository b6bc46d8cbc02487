# SPDX-License-Identifier: BSD-2-Clause
"""one_off.py PROGRAM FUNCTION...: starts `PROGRAM names` (tests/programs/tableless.c), tells it each function's name, and
looks at the bytes of all their hooks: that function's are off, and no other one's. Prints what is otherwise.

What lies in a part elsewhere (NAME.cold) may be on: nothing says whose it is. So may, with a `+` behind the name, what
follows a jump by a table: where it leads is not known."""
import re
import subprocess
import sys

import sites


def parts(file, functions):
    """Of each function: addresses of hooks in its first part, and in others."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", file], capture_output=True, text=True, check=True).stdout
    starts = [(int(at, 16), name) for at, name in re.findall(r"^([0-9a-f]+) <([\w.]+)>:", text, re.M)]
    found = {name: ([], []) for name in functions}
    for address, function, _ in sites.places(file, set(functions)):
        name = [name for start, name in starts if start <= address][-1]
        found[function][name != function].append(address)
    return found


def main():
    file, functions = sys.argv[1], [word.rstrip("+") for word in sys.argv[2:]]
    partly = [word[:-1] for word in sys.argv[2:] if word.endswith("+")]
    found = parts(file, functions)
    with subprocess.Popen([f"./{file}", "names"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program, \
            open(f"/proc/{program.pid}/mem", "rb") as memory:
        def state(address):
            memory.seek(base + address)
            return sites.STATES.get(memory.read(1)[0], "?")

        base = None
        for wanted in functions:
            program.stdin.write(wanted + "\n")
            program.stdin.flush()
            said = program.stdout.readline().strip()
            if said != wanted:
                sys.exit(f"it says {said!r} for {wanted}")
            base = sites.bias(program.pid, file) if base is None else base
            for name, (own, elsewhere) in found.items():
                if not own:
                    print(f"{name} has no hooks")
                if name == wanted and name in partly:
                    own = own[:1]
                for address in own + (elsewhere if name != wanted else []):
                    if state(address) != ("off" if name == wanted else "on"):
                        print(f"with {wanted} off {name} at {address:x} is {state(address)}")
        program.stdin.close()


main()
