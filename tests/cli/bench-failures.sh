#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/bench/run: a program that does not build, one that fails in its second round and one that is interrupted cost nothing of
# what was measured: each is a row or keeps its rows, the others are measured, and the status says that something failed.
# Nothing is timed here: the programs are made up.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >drive.py <<'END'
import importlib.machinery, importlib.util, os, sys
sys.dont_write_bytecode = True
top, how = os.environ["TOP"], sys.argv[1]
loader = importlib.machinery.SourceFileLoader("bench_run", f"{top}/tests/bench/run")
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
loader.exec_module(module)
import programs, servers

class Fake:
    fails_at = None # calls of run
    def __init__(self, folder):
        self.name, self.runs = type(self).__name__.lower(), 0
    def build(self, kind):
        pass
    def units(self, seconds):
        return 1
    def run(self, kind, units, env=None, prefix=()):
        self.runs += 1
        if self.runs == self.fails_at:
            self.fail()
        done = programs.Run()
        done.cpu, done.own = (1.0 if kind == "plain" else 1.25), 0.25
        return done

class First(Fake):
    pass
class Unbuilt(Fake):
    def build(self, kind):
        programs.quiet("build.log", "sh", "-c", "echo no such header; exit 2")
class Dies(Fake):
    fails_at = 8 # in the second round of six runs
    def fail(self):
        raise programs.Failure("dies, epitaph: exit status 139")
class Interrupted(Dies):
    def fail(self):
        raise KeyboardInterrupt
class Last(Fake):
    pass

chosen = [First, Interrupted, Last] if how == "interrupted" else [First, Unbuilt, Dies, Last]
servers.ALL.clear()
servers.ALL.update({one.__name__.lower(): one for one in chosen})
module.OUT = os.getcwd()
if how == "table": # a table that ends the whole run
    def broken(*_):
        sys.exit("steps: status 1")
    module.step_table = broken
module.need = lambda *_: None
only = "steps,servers" if how == "table" else "servers"
sys.argv = ["run", "--only", only, "--rounds", "3", "--builds", os.getcwd()]
module.main()
END

gives 1 python3 drive.py failing
has err 'no such header'
has err '2 failed; what was measured is in'
for row in '| unbuilt: failed | sh ended with 2, log build.log |' '| dies: failed | dies, epitaph: exit status 139 |'; do
	has table.md "$row"
	has out "$row"
done
for program in first dies last; do
	sed -n "/^### $program,/,/^### /p" table.md >part
	grep -q '^| epitaph | 1\.25 ' part || { say "$program: its rows are lost"; cat table.md; }
done
gives 1 python3 drive.py table
has table.md '| steps: failed | steps: status 1 |'
has table.md '### last, 3 rounds'
if python3 drive.py interrupted >out 2>err; then say 'an interrupted run ends well'; fi
for program in first interrupted; do
	sed -n "/^### $program,/,/^### /p" table.md >rows
	grep -q '^| epitaph | 1\.25 ' rows || { say "$program: its rows are lost"; cat table.md; }
done
hasnt table.md '### last'
[ $failures -eq 0 ]
