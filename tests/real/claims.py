# SPDX-License-Identifier: BSD-2-Clause
"""claims.py EPITAPH LOG FIRST LAST [WAYS]: programs by chance (claims_programs.py), numbers FIRST to LAST, die in ways by chance,
and what `epitaph report`, `info` and `replay` say is held against what the program wrote down, gdb's stacks and eu-stack's.
LOG has a line for each input: program, way, settings, how many statements were wrong; what is in it is not done again. Each
wrong statement is printed, and its folder stays. Status 1: there is one."""
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys

import claims_programs as programs

# Asked of gdb's own frames; those of inlined calls and of calls in a tail lie nowhere on the stack.
ASK = """
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() not in (gdb.TAILCALL_FRAME, gdb.INLINE_FRAME):
            pcs.append('%x' % frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    print('stack: %d %s' % (thread.ptid[1], ' '.join(pcs)))
"""
FAULTS = {"null-write": ("SIGSEGV", "null-pointer"), "null-read": ("SIGSEGV", "null-pointer"), "null-call": ("SIGSEGV", "null-call"),
          "trap": ("SIGILL", "trap"), "div": ("SIGFPE", "division-by-zero"), "wild": ("SIGSEGV", "non-canonical"),
          "overflow": ("SIGSEGV", "stack-overflow"), "snapshot": ("SIGSEGV", "null-pointer"), "first": ("SIGSEGV", "null-pointer"),
          "handler-raise": ("SIGSEGV", "null-pointer"), "doubled": ("SIGSEGV", "null-pointer"), "on-altstack": ("SIGSEGV", "null-pointer")}
CAUSES = {"abort": "abort", "snapped": "abort", "assert": "assertion", "raise-segv": "raised", "free": "heap"}
QUIET = {"no-symbols", "no-other-stacks"} # warnings that are true
ENDED = 2
OFF = {"switched-off", "was-off", "off-since"}


def read_truth(folder, program):
    """[(tid, names outermost first, of what index on since a fork, settled, how many)], {name: calls}, {name: how many were left}"""
    with open(folder + "/truth", "rb") as file:
        data = file.read()
    threads = []
    for slot in range(programs.THREADS):
        at = slot * programs.THREAD
        tid, depth, fork, settled = struct.unpack_from(programs.HEADER, data, at)
        numbers = struct.unpack_from("<%dH" % min(depth, programs.STACK), data, at + struct.calcsize(programs.HEADER))
        if tid:
            threads.append((tid, [program.names[number] for number in numbers], fork, settled, depth))
    totals = struct.unpack_from("<%dI" % (2 * programs.FUNCTIONS), data, programs.TOTALS)
    calls = {name: totals[number] for number, name in program.names.items()}
    left = {name: totals[programs.FUNCTIONS + number] for number, name in program.names.items()}
    return threads, calls, left


def plain(name):
    """f3(int, unsigned int) [clone .cold] and inner.4 as the program calls them"""
    name = re.sub(r"\)::(\{lambda|\$_).*", ")::lambda", name)
    name = re.sub(r"\(.*\)::", "::", name)
    name = re.sub(r"\(.*| \[clone .*", "", name)
    return re.sub(r"(\.(constprop|isra|part|cold|lto_priv|llvm))?(\.\d+)*$", "", name)


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=600, **more)


class Input:
    def __init__(self, epitaph, program, folder, way, settings, arguments):
        self.epitaph, self.program, self.folder, self.way = epitaph, program, folder, way
        self.settings, self.arguments = settings, arguments
        self.wrong, self.kinds = [], {}

    def say(self, kind, *words):
        """A few of each kind."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if self.kinds[kind] <= 4:
            self.wrong.append(" ".join(str(word)[:2000] for word in (kind, *words)))

    # ---- the death ----

    def die(self):
        """The sources that tell of it."""
        for name in ("truth", *(os.path.basename(path) for pattern in ("core*", "arena*", "snap*")
                                for path in glob.glob(self.folder + "/" + pattern))):
            if os.path.exists(self.folder + "/" + name):
                os.remove(self.folder + "/" + name)
        way, sources = self.way, []
        environment = {**os.environ, **self.settings}
        core = way not in ("sigterm", "kill9", "live", "snapshot", "snapped")
        if way in ("sigterm", "kill9", "file"):
            environment["EPITAPH_FILE"] = self.folder + "/arena"
        if way in ("snapshot", "snapped"):
            environment.update(EPITAPH_ON_CRASH="snapshot", EPITAPH_OUTPUT=self.folder + "/snap")

        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY if core else 0, resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 19, resource.RLIM_INFINITY))

        inner = {"file": "null-write"}.get(way, way)
        process = subprocess.Popen([self.folder + "/program", inner, *self.arguments], cwd=self.folder, env=environment, preexec_fn=limits,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            if way in ("sigterm", "kill9", "live", "term-core"):
                got = process.stdout.readline()
                if got != b"settled\n":
                    return None
                pid = read_truth(self.folder, self.program)[0][0][0]
                if way == "live":
                    done = run([self.epitaph, "extract", "-o", self.folder + "/snap", str(pid)])
                    if done.returncode:
                        self.say("extract ends with", done.returncode, done.stderr)
                    sources.append(self.folder + "/snap")
                how = {"sigterm": signal.SIGTERM, "kill9": signal.SIGKILL, "live": signal.SIGKILL, "term-core": signal.SIGABRT}[way]
                os.kill(pid, how)
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        for pattern in ("core*", "arena*", "snap*"):
            sources += [path for path in glob.glob(self.folder + "/" + pattern) if path not in sources]
        return sources

    # ---- what is said ----

    def judge_end(self, report):
        end, way = report["end"], self.way
        text = (end.get("because") or "") + " " + (end.get("text") or "")
        fault = end.get("fault", {}).get("kind")
        name = end.get("signal", {}).get("name")
        if re.search(r"return address|overwritten|longjmp", text):
            self.say("claim:", text)
        if report["source"]["kind"] in ("arena", "live") or way in ("live",):
            return
        if way in FAULTS and (name, fault) != FAULTS[way]:
            self.say("died of", name, fault, text)
        if way in CAUSES and end.get("cause") != CAUSES[way] and not (end.get("cause") is None and self.unreadable and not self.named):
            self.say("cause is", end.get("cause"), text)
        if way in CAUSES and self.named and not (end.get("cause_function") or "").startswith("die"):
            self.say("cause is in", end.get("cause_function"), text)
        if way in ("first", "on-altstack", "doubled") and "then" not in end:
            self.say("nothing came then:", text)
        if way not in ("first", "on-altstack", "doubled", "handler-raise") and "then" in end:
            self.say("then:", end["then"])

    def judge_rows(self, thread, truth, arena):
        stack, names = thread["stack"], set(self.program.names.values())
        _, called, fork, settled, depth = truth
        if stack.get("overwritten_from") is not None:
            self.say("stack overwritten from row", stack["overwritten_from"])
        forked = fork > 0 or len(self.arguments) > 2
        if stack.get("history_ends_at") is not None and not forked:
            self.say("history ends at row", stack["history_ends_at"])
        for i, row in enumerate(stack["rows"]):
            name, verdict, reason = plain(row.get("function") or "?"), row["verdict"], row.get("reason")
            mine = name in names and (row.get("module") or "").startswith(("program", "plugin", self.folder))
            if verdict in ("agree", "inlined") or (reason in OFF and not self.all_on):
                continue
            if not mine and (verdict == "not-instrumented" or (verdict == "unknown" and self.unreadable)):
                continue
            if mine and verdict == "not-instrumented" and reason in ("signal",):
                continue
            if verdict == "not-unwound" and reason == "no-unwind-information" and stack["rows"][0].get("function") == "clone3":
                continue # glibc ends its unwind information before the system call
            if verdict == "entering" and self.way == "overflow" and i < 2:
                continue
            if verdict == "trace-lost" and reason == "before-fork" and forked:
                continue
            if verdict == "not-unwound" and (arena or self.way == "live" or (self.way in ("snapshot", "snapped") and not thread["died"])):
                continue
            self.say("row", i, row.get("function"), verdict, reason)
        if not self.named:
            return
        optional = self.program.optional
        have = [plain(row["function"] or "?") for row in reversed(stack["rows"]) if "called" in row]
        have = [name for name in have if name in names and name not in optional]
        want = [name for name in called[fork:] if name not in optional]
        if not self.all_on and self.way == "overflow":
            pass
        elif not self.all_on:
            left = iter(want)
            if not all(name in left for name in have):
                self.say("open calls of thread", thread["tid"], "are", want, "said", have)
        elif self.way == "overflow" and thread["died"]:
            if abs(len(have) - depth) > 1 or have[:1500] != want[:1500][:len(have)]:
                self.say("open calls:", len(have), "true", depth, have[:20], want[:20])
        elif have != want:
            self.say("open calls of thread", thread["tid"], "are", want, "said", have)

    def judge(self, source):
        done = run([self.epitaph, "report", "--json", "--all", source], cwd=self.folder)
        if done.returncode:
            self.say("report ends with", done.returncode, done.stderr[:300])
        if done.returncode > 1:
            return
        report = json.loads(done.stdout)
        arena = report["source"]["kind"] == "arena"
        for warning in report["warnings"]:
            if warning["code"] not in QUIET and (self.all_on or "off" not in warning["text"]) and not (
                    warning["code"] == "no-stacks" and arena):
                self.say("warning", warning["code"], warning["text"])
        self.judge_end(report)
        threads, calls, left = read_truth(self.folder, self.program)
        told = {thread["tid"]: thread for thread in report["threads"]}
        # That it goes no further is said.
        self.cut = {tid for tid, thread in told.items() if thread["stack"]["end"] == "no-unwind-information"}
        for truth in threads:
            if truth[0] in told and truth[3] != ENDED:
                self.judge_rows(told[truth[0]], truth, arena)
            elif truth[3] != ENDED:
                self.say("no thread", truth[0])
        extra = [thread["tid"] for thread in report["threads"] if thread["tid"] not in {truth[0] for truth in threads}]
        if extra and self.program.threads == 0:
            self.say("threads that the program has not:", extra)
        page = run([self.epitaph, "report", "--all", source], cwd=self.folder).stdout
        for line in page.splitlines():
            if re.search(r"another one|switch(es|ed)? stacks|fibers|is overwritten|jumped|remapped|thread-local|runs past|other code|damaged", line):
                if not (self.way == "free" and "heap" in line):
                    self.say("page:", line.strip())
        done = run([self.epitaph, "info", source], cwd=self.folder)
        if done.returncode:
            self.say("info ends with", done.returncode, done.stderr)
        for line in done.stdout.splitlines():
            if re.match(r"lost +(?!nothing| )", line) or re.search(r"other code|another one|fibers|remapped", line):
                self.say("info:", line)
        self.judge_calls(source, calls, left)
        if source.endswith("arena") or "/core" not in source:
            return
        mine = {tid: [row["pc"] for row in sorted((row for row in thread["stack"]["rows"] if "frame" in row), key=lambda row: row["frame"])]
                for tid, thread in told.items()}
        mine = {tid: ["%x" % int(pc, 0) for pc in pcs] for tid, pcs in mine.items() if pcs}
        self.compare("gdb", mine, self.ask_gdb(source))
        self.compare("eu-stack", mine, self.ask_eu(source))

    def judge_calls(self, source, calls, left):
        done = run([self.epitaph, "replay", "--format=tsv", source], cwd=self.folder)
        if done.returncode:
            self.say("replay ends with", done.returncode, done.stderr[:300])
        counts, leaves, odd = {}, {}, {}
        for line in done.stdout.splitlines():
            columns = line.split("\t")
            if line.startswith("#") or len(columns) < 11:
                continue
            flags = set(columns[10].split(","))
            name = plain(columns[7])
            if columns[0] in "BS" and not flags & {"began-before"}:
                counts[name] = counts.get(name, 0) + 1
            if columns[0] in "ES" and flags & {"unwound", "abandoned"}:
                leaves[name] = leaves.get(name, 0) + 1
            if columns[0] == "G":
                self.say("replay:", line)
            for flag in flags & {"ambiguous", "across-gap", "hole", "lost-blocks", "text"}:
                odd[flag] = odd.get(flag, 0) + 1
        if self.program.gotos: # leave no mark: what was left is concluded
            odd.pop("ambiguous", None)
        if odd and self.all_on and len(self.arguments) < 3:
            self.say("replay has", odd)
        if not self.named or not self.all_on or len(self.arguments) > 2 or self.way == "overflow":
            return
        for name in sorted(set(self.program.names.values()) - self.program.optional):
            if counts.get(name, 0) != calls[name]:
                self.say("calls of", name, "true", calls[name], "said", counts.get(name, 0))
            if leaves.get(name, 0) > left[name]:
                self.say(name, "left without a return", left[name], "times, said", leaves.get(name, 0))

    def ask_gdb(self, core):
        done = run(["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set backtrace limit unlimited", "-iex",
                    "set backtrace past-main on", self.folder + "/program", core, "-ex", "python exec(%r)" % ASK], cwd=self.folder)
        return {int(tid): pcs.split() for tid, pcs in re.findall(r"^stack: (\d+) (.*)", done.stdout, re.MULTILINE)}

    def ask_eu(self, core):
        stacks, mine = {}, None
        done = run(["eu-stack", "-n", "0", "--core=" + core, "-e", self.folder + "/program"], cwd=self.folder)
        for line in done.stdout.splitlines():
            words = line.split()
            if words[:1] == ["TID"]:
                mine = stacks.setdefault(int(words[1].rstrip(":")), [])
            elif words and words[0][0] == "#":
                mine.append("%x" % int(words[1], 16))
        return stacks

    def compare(self, what, mine, theirs):
        for tid in sorted(mine):
            shorter = tid in self.cut or (what == "eu-stack" and len(theirs.get(tid, [])) < len(mine[tid]))
            if tid in theirs and mine[tid] != theirs[tid] and not shorter:
                self.say("%s: thread %d has %s, said %s" % (what, tid, " ".join(theirs[tid][:40]), " ".join(mine[tid][:40])))

    def judge_all(self):
        self.named = self.program.finish != "strip"
        self.unreadable = self.program.link.startswith("-static") # calls what has no name
        self.all_on = self.settings.get("EPITAPH_BUDGET") == "none"
        sources = self.die()
        if not sources:
            return None
        for source in sources:
            before = len(self.wrong)
            self.judge(source)
            if len(self.wrong) > before:
                os.rename(source, os.path.join(self.folder, "wrong.%s.%s" % (self.way, os.path.basename(source))))
            self.wrong[before:] = [os.path.basename(source) + ": " + words for words in self.wrong[before:]]
        return self.wrong


def choose(seed, ways, program):
    """Settings and arguments of each way that is taken."""
    chance = random.Random(seed + 1000003)
    for way in ways or chance.sample(programs.WAYS, 14):
        if way == "on-altstack" and program.trampolines:
            continue # the program's own alternate stack is not executable
        settings = {"EPITAPH_BUDGET": chance.choice(["none", "none", "5%"]),
                    "EPITAPH_TIMESTAMP_EVERY": chance.choice(["auto", "auto", "1", "64"])}
        if settings["EPITAPH_BUDGET"] == "5%":
            del settings["EPITAPH_BUDGET"]
        if chance.randrange(4) == 0:
            settings["EPITAPH_SCHED"] = "off"
        arguments = [str(chance.choice([100, 1001, 3000])), str(chance.choice([0, 50, 400]))]
        if chance.randrange(8) == 0 and way not in ("sigterm", "kill9", "file"): # a file is one process's
            arguments.append("fork")
        yield way, settings, arguments


def build(epitaph, program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in program.source.items():
        with open(folder + "/" + name, "w", encoding="ascii") as file:
            file.write(text)
    with open(folder + "/commands", "w", encoding="ascii") as file:
        for command in program.build(epitaph):
            file.write(" ".join(command) + "\n")
    for command in program.build(epitaph):
        done = run(command, cwd=folder, env={**os.environ, **program.environment()})
        if done.returncode:
            return "%s: %s" % (" ".join(command), done.stderr[:2000])
    return None


def main():
    epitaph, log, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    ways, done, inputs, wrong = sys.argv[5:], set(), 0, 0
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            done = {tuple(line.split("\t")[:2]) for line in file}
    for seed in range(first, last + 1):
        program, folder = programs.Program(seed), os.path.abspath("program.%d" % seed)
        left = [one for one in choose(seed, ways, program) if (str(seed), one[0]) not in done]
        if not left:
            continue
        why, bad = build(epitaph, program, folder), 0
        if why:
            print("program %d cannot be built: %s" % (seed, why), flush=True)
        for way, settings, arguments in left if not why else []:
            one = Input(epitaph, program, folder, way, settings, arguments)
            try:
                found = one.judge_all()
            except subprocess.TimeoutExpired as late:
                found = ["too late: %s" % late]
            words = " ".join(["%s=%s" % pair for pair in sorted(settings.items())] + arguments)
            if found is None:
                print("program %d %s (%s): leaves nothing" % (seed, way, words), flush=True)
                continue
            inputs += 1
            wrong += len(found)
            bad += len(found)
            with open(log, "a", encoding="utf-8") as file:
                file.write("%d\t%s\t%s\t%d\n" % (seed, way, words, len(found)))
            for text in found:
                print("program %d %s (%s): %s" % (seed, way, words, text), flush=True)
        if not bad and not why:
            shutil.rmtree(folder)
    print("%d inputs, %d wrong statements" % (inputs, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
