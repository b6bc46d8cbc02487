# SPDX-License-Identifier: BSD-2-Clause
"""sites.py PID FILE FUNCTION...: what the bytes of those functions' hooks are in the process PID.

objdump says where FILE's hooks are called, once for each FILE (kept beside it, as FILE.places, for what it is then); the
process's memory says what lies there now. Prints a line a kind: "on N", "off N", and the places that are neither."""
import json
import os
import re
import subprocess
import sys

HOOK = re.compile(r"\s+([0-9a-f]+):\s((?:[0-9a-f]{2} )+)\s*(.*)<(?:__wrap_|epitaph_|ep_hook_)?"
                  r"(?:__fentry__|__return__|__cyg_profile_func_\w+|entry|return|enter|exit)(?:@plt|[$]plt|@@.*)?>")
STATES = {0xe8: "on", 0xa9: "off", 0xe9: "on", 0xc3: "off", 0x48: "on", 0x00: "on", 0x09: "off"}
# clang's sleds, by the nop in them: the byte that decides is the second of a `jmp .+11`, or the `ret` before the nop.
SLED = re.compile(r"\s+([0-9a-f]+):\s((?:[0-9a-f]{2} )+)\s*(?:cs )?nopw\s+(?:%cs:)?0x200\(%rax,%rax,1\)")


def places(file, functions):
    """(address in the file, function, what objdump says) of each."""
    function = None
    text = subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <([\w.]+)>:", line)
        if head:
            function = head[1].split(".")[0]
        found = HOOK.match(line)
        if found and function in functions and re.search(r"call|j\w+", found[3]):
            prefix = 1 if found[2].startswith("67 ") else 0
            yield int(found[1], 16) + prefix, function, found[3].strip()
        sled = SLED.match(line)
        if sled and function in functions:
            yield int(sled[1], 16) - 1, function, "sled"


def kept_places(file, functions):
    """The same, of before if the file is what it was."""
    status, kept = os.stat(file), file + ".places"
    key = [status.st_ino, status.st_size, status.st_mtime_ns, sorted(functions)]
    try:
        with open(kept, encoding="utf-8") as known:
            known_key, found = json.load(known)
        if known_key == key:
            return found
    except FileNotFoundError:
        pass
    found = list(places(file, functions))
    own = f"{kept}.{os.getpid()}"
    with open(own, "w", encoding="utf-8") as out:
        json.dump([key, found], out)
    os.rename(own, kept)
    return found


def bias(pid, file):
    """What is added to an address of the file."""
    kind = subprocess.run(["readelf", "-hlW", file], capture_output=True, text=True, check=True).stdout
    if re.search(r"Type:\s+EXEC", kind):
        return 0
    name = file.split("/")[-1]
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            parts = line.split()
            if len(parts) > 5 and parts[5].split("/")[-1] in (name, name.replace(".whole", "")) and int(parts[2], 16) == 0:
                return int(parts[0].split("-")[0], 16)
    sys.exit(f"{file} is not in process {pid}")


def main():
    pid, file, functions = sys.argv[1], sys.argv[2], set(sys.argv[3:])
    base, counts = bias(pid, file), {"on": 0, "off": 0}
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for address, function, text in kept_places(file, functions):
            memory.seek(base + address)
            state = STATES.get(memory.read(1)[0])
            if state:
                counts[state] += 1
            else:
                print(f"{function} {text}")
    for state, count in counts.items():
        print(state, count)


if __name__ == "__main__":
    main()
