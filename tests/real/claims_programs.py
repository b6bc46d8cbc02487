# SPDX-License-Identifier: BSD-2-Clause
"""claims_programs.py: C and C++ programs by chance, each with a way to build it. A program keeps a log of its own in a file
that is mapped (truth): of each thread the functions that are open, and how often each was called and left by a jump."""
import random
import struct

THREADS, STACK, FUNCTIONS = 8, 2000, 96
HEADER = "<4I"  # tid, how many are open, of what depth on since a fork, is it settled
THREAD = struct.calcsize(HEADER) + 2 * STACK
TOTALS = THREADS * THREAD
SIZE = TOTALS + 2 * 4 * FUNCTIONS

PRELUDE = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __cplusplus
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>
extern "C" {
#endif
#define QUIET __attribute__((no_instrument_function, always_inline)) static inline
#define HUSHED __attribute__((no_instrument_function, noinline)) static
#define OWN __attribute__((noinline))
struct truth_thread { unsigned tid, depth, fork, settled; unsigned short open[STACK]; };
struct truth { struct truth_thread threads[THREADS]; unsigned calls[FUNCTIONS], left[FUNCTIONS]; };
struct state { unsigned depth; sigjmp_buf *landing; int catchers; };
struct mine { struct truth_thread *truth; sigjmp_buf *landing; int catchers, events, fiber, quiet; };
typedef int (*call_fn)(int, unsigned);
#ifdef PLUGIN
extern struct truth *truth;
extern __thread struct mine me;
extern int limit;
#else
struct truth *truth;
__thread struct mine me;
int limit = 3000;
#endif
/* A thread's calls that are open. What is being left is counted where it lands. */
QUIET unsigned enter(unsigned number)
{
	unsigned depth = me.truth->depth;
	if (depth < STACK)
		me.truth->open[depth] = (unsigned short)number;
	__asm__ volatile("" ::: "memory");
	me.truth->depth = depth + 1;
	__atomic_fetch_add(&truth->calls[number], 1, __ATOMIC_RELAXED);
	me.events++;
	return depth;
}
QUIET void leave(unsigned depth)
{
	__asm__ volatile("" ::: "memory");
	me.truth->depth = depth;
}
QUIET struct state keep(void)
{
	struct state now;
	now.depth = me.truth->depth; now.landing = me.landing; now.catchers = me.catchers;
	return now;
}
QUIET void land(const struct state *kept)
{
	for (unsigned i = kept->depth; i < me.truth->depth && i < STACK; i++)
		__atomic_fetch_add(&truth->left[me.truth->open[i]], 1, __ATOMIC_RELAXED);
	leave(kept->depth); me.landing = kept->landing; me.catchers = kept->catchers;
}
QUIET void use(void *memory) { __asm__ volatile("" :: "r"(memory) : "memory"); }
QUIET int spent(int fuel) { return fuel <= 0 || me.events > limit; }
#define ENTER(n) const unsigned depth_ = enter(n)
#define LEAVE leave(depth_)
#ifdef __cplusplus
}
#endif
"""

ASSEMBLY = r"""
	.text
	.globl by_assembly
	.type by_assembly, @function
by_assembly: # (fn, fuel, x): calls fn(fuel, x)
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %rdi, %rbx
	mov %esi, %edi
	mov %edx, %esi
	call *%rbx
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size by_assembly, .-by_assembly
	.section .note.GNU-stack,"",@progbits
"""

MAIN = r"""
#include <sys/syscall.h>
static const char *how;
static volatile int zero;
static void *volatile nowhere;
static volatile int fuse;
static pthread_barrier_t ready;
static char *arguments[8];
HUSHED void begin(int slot)
{
	me.truth = &truth->threads[slot];
	me.truth->tid = (unsigned)syscall(SYS_gettid);
}
HUSHED void write_all(const char *text) { if (write(1, text, strlen(text)) < 0) _exit(3); }
/* Whoever kills it from outside waits for the word. */
HUSHED void wait_for_end(void) { me.truth->settled = 1; write_all("settled\n"); for (;;) pause(); }
HUSHED void open_truth(void)
{
	int file = open("truth", O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof(*truth)) != 0)
		_exit(3);
	truth = (struct truth *)mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	begin(0);
}
"""

WAYS = """abort null-write null-read null-call trap assert div raise-segv overflow sigterm kill9 live term-core free
 wild first handler-raise doubled on-altstack snapshot file snapped""".split()


class Program:
    """source: {file: text}; names: {number: function}; optional: functions that may be missing."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.names, self.optional, self.source = {}, set(), {}
        self.plan()
        self.write()

    def chance(self, n):
        return self.random.random() < 1 / n

    def plan(self):
        r = self.random
        self.cxx = self.chance(2)
        self.compiler = "clang" if self.chance(3) else "gcc"
        self.level = r.choice(["-O0", "-O1", "-O2", "-O2", "-O3", "-Os", "-Og"])
        self.method = r.choice(["pg", "pg", "finstrument"] if self.compiler == "gcc" else ["after-inlining", "finstrument", "xray"])
        self.debug = r.choice(["-g", "-g", "-g", "-g0", "-gdwarf-4", "-ggdb3", "-g -gz", "-g1"])
        self.link = r.choice(["", "", "", "-no-pie", "-static", "-static-pie"])
        linkers = ["", "", "-fuse-ld=gold", "-fuse-ld=lld", "-fuse-ld=mold"]
        self.linker = r.choice(linkers) if self.link != "-static-pie" else ""
        self.threads = r.choice([0, 0, 1, 2, 4])
        # What is opened by a static program is another C library's.
        self.plugin = not self.link.startswith("-static") and self.chance(3)
        self.shared = not self.link.startswith("-static") and self.chance(6)
        self.flags = [flag for flag, n in (
            ("-fomit-frame-pointer", 4), ("-fno-omit-frame-pointer", 4), ("-fstack-protector-strong", 4), ("-fcf-protection=full", 4),
            ("-fstack-clash-protection", 5), ("-D_FORTIFY_SOURCE=2", 5), ("-ffunction-sections", 5), ("-mavx2", 6), ("-fPIC", 8),
            ("-fno-plt", 6), ("-fno-optimize-sibling-calls", 4), ("-fexceptions", 4), ("-funroll-loops", 8)) if self.chance(n)]
        self.lto = self.chance(8) and self.method != "xray"
        self.finish = r.choice(["", "", "", "strip", "split", "strip-debug"])

    def build(self, epitaph):
        """Commands, one after the other."""
        wrapper = epitaph + ("-c++" if self.cxx else "-cc")
        words = [wrapper, "-w", "-epitaph-method=" + self.method, self.level, *self.debug.split(), *self.flags]
        if self.level == "-O0":
            words = [word for word in words if "FORTIFY" not in word]
        linker = self.linker
        if self.lto:
            words.append("-flto")
            linker = "-fuse-ld=lld" if self.compiler == "clang" else ""
        if self.shared:
            words.append("-epitaph-runtime=shared")
        ending = ".cc" if self.cxx else ".c"
        libraries = ["-pthread", "-ldl"]
        link = [word for word in (self.link, linker) if word]
        if self.trampolines: # on the stack
            link.append("-Wl,-z,execstack")
        if self.plugin:
            link.append("-rdynamic")
        commands = []
        if self.plugin:
            commands.append([*words, "-fPIC", "-shared", "plugin" + ending, "-o", "plugin.so", *([linker] if linker else [])])
        commands.append(["cc", "-c", "by.S", "-o", "by.o"])
        commands.append([*words, "main" + ending, "second" + ending, "by.o", "-o", "program", *link, *libraries])
        if self.finish == "strip":
            commands.append(["strip", "program"])
        elif self.finish == "strip-debug":
            commands.append(["strip", "-g", "program"])
        elif self.finish == "split":
            commands += [["objcopy", "--only-keep-debug", "program", "program.debug"], ["strip", "-g", "program"],
                         ["objcopy", "--add-gnu-debuglink=program.debug", "program"]]
        return commands

    def environment(self):
        return {"EPITAPH_CC": self.compiler, "EPITAPH_CXX": {"gcc": "g++", "clang": "clang++"}[self.compiler]}

    # ---- text ----

    def number(self, name, optional=False):
        number = len(self.names)
        assert number < FUNCTIONS
        self.names[number] = name
        if optional:
            self.optional.add(name)
        return number

    def call(self, fuel="fuel - 1", x=None):
        r = self.random
        x = x or "x * %du + %du" % (r.randrange(3, 99, 2), r.randrange(99))
        kind = r.randrange(8)
        if kind == 0:
            return "table[(x >> 3) %% %d](%s, %s)" % (len(self.own), fuel, x)
        if kind == 1:
            return "by_assembly(%s, %s, %s)" % (r.choice(self.own), fuel, x)
        return "%s(%s, %s)" % (r.choice(self.own), fuel, x)

    def has_trampolines(self):
        """Code on the stack: of nested functions."""
        return self.compiler == "gcc" and not self.cxx

    def statement(self, name):
        r = self.random
        kinds = ["call", "call", "call", "loop", "alloca", "vla", "big", "setjmp", "setjmp", "jump", "raise", "computed", "sort", "cold",
                 "aligned", "inline", "fiber", "die", "switch", "many", "fork"]
        if self.cxx:
            kinds += ["try", "try", "throw", "virtual", "lambda", "cleanup", "string"]
        elif self.has_trampolines():
            kinds += ["nested", "nonlocal"]
        kind = r.choice(kinds)
        call, n = self.call(), r.randrange(2, 9)
        odd = "x %% %d == %d" % (n, r.randrange(n))
        if kind == "loop":
            return "for (unsigned i = 0; i <= x %% %d; i++) sum += %s;" % (r.randrange(1, 4), call)
        if kind == "alloca":
            return "{ char *room = (char *)alloca(16 + x %% 3000); use(room); sum += %s; use(room); }" % call
        if kind == "vla":
            return "{ int room[1 + x %% 200]; room[0] = 1; use(room); sum += %s + room[0]; }" % call
        if kind == "big":
            return "{ char room[%d]; room[0] = 0; use(room); sum += %s + room[0]; }" % (r.choice([300, 5000, 20000]), call)
        if kind == "aligned":
            return "{ char room[64] __attribute__((aligned(64))); room[0] = 0; use(room); sum += %s + room[0]; }" % call
        if kind == "setjmp":
            save = r.choice(["setjmp(here)", "_setjmp(here)", "sigsetjmp(here, 1)", "sigsetjmp(here, 0)"])
            return ("{ sigjmp_buf here; struct state kept = keep(); me.landing = &here; "
                    "if (%s == 0) { sum += %s; me.landing = kept.landing; } else { land(&kept); sum++; } }" % (save, call))
        if kind == "jump":
            return "if (me.landing && !me.fiber && %s) siglongjmp(*me.landing, 1);" % odd
        if kind == "raise":
            return "if (%s && me.events %% 4 == 0) raise(SIGUSR1);" % odd
        if kind == "computed":
            return ("{ static void *const labels[] = {&&l0, &&l1, &&l2}; unsigned pc = x; goto *labels[pc %% 3]; "
                    "l0: sum += %s; if ((pc /= 3) == 0) goto l2; goto *labels[pc %% 3]; l1: sum++; l2:; }" % call).replace(
                        "l0", "l0_%d" % self.labels).replace("l1", "l1_%d" % self.labels).replace("l2", "l2_%d" % self.labels)
        if kind == "sort":
            return "{ int list[] = {3, (int)(x % 7), 2, 1}; qsort(list, 4, sizeof(*list), compare); sum += list[0]; }"
        if kind == "cold":
            return "if (__builtin_expect(%s, 0)) { sum += cold(fuel - 1, x); sum += %s; }" % (odd, call)
        if kind == "inline":
            return "sum += small(fuel - 1, x);"
        if kind == "fiber":
            return "if (!me.fiber && me.events % 16 == 3) sum += fiber(fuel - 1, x);"
        if kind == "switch":
            return "switch (x %% 5) { case 0: sum += %s; break; case 1: sum++; break; case 2: sum += %s; break; case 3: sum += 9; break; case 4: sum *= 3; }" % (
                call, self.call())
        if kind == "many":
            return "sum += many(fuel - 1, x, 3, 4, 5, 6, 7, 8, 9, 1.5);"
        if kind == "fork":
            return "if (me.events % 64 == 9) sum += child(fuel - 1, x);"
        if kind == "die":
            return "if (fuse && !me.quiet && !me.fiber && me.events >= fuse) die0(fuel - 1, x);"
        if kind == "try":
            caught = self.random.choice(["int", "const std::exception &", "..."])
            return ("{ struct state kept = keep(); me.catchers++; try { sum += %s; me.catchers--; } catch (int) { land(&kept); } "
                    "catch (%s) { land(&kept); sum++; } }" % (call, caught if caught != "int" else "..."))
        if kind == "throw":
            return "if (me.catchers && !me.fiber && %s) { if (x & 1) throw 1; throw std::runtime_error(\"thrown\"); }" % odd
        if kind == "virtual":
            return "{ both object; second *base = &object; use(&base); sum += base->go(fuel - 1, x); }"
        if kind == "lambda":
            return "{ std::function<int(int)> step = [&](int n) { return n + %s; }; sum += step(1); }" % call
        if kind == "cleanup":
            return "{ guard one; sum += %s; }" % call
        if kind == "string":
            return "{ std::vector<std::string> list; for (unsigned i = 0; i < 3 + x % 5; i++) list.push_back(std::string(i * 9, 'a')); std::sort(list.begin(), list.end()); sum += list.size(); }"
        if kind in ("nested", "nonlocal"):
            self.trampolines = True
            inner = "inner_%s_%d" % (name, self.labels)
            number = self.number(inner, True)
            if kind == "nested":
                return ("{ OWN int %s(int fuel, unsigned x) { ENTER(%d); sum++; int got = spent(fuel) ? 0 : %s; LEAVE; return got; } "
                        "volatile call_fn by = %s; sum += by(fuel - 1, x); }" % (inner, number, call, inner))
            self.gotos = True
            return ("{ __label__ out; struct state kept = keep(); OWN int %s(int fuel, unsigned x) { ENTER(%d); "
                    "if (x %% 2 && !spent(fuel)) { land(&kept); goto out; } int got = spent(fuel) ? 0 : %s; LEAVE; return got; } "
                    "volatile call_fn by = %s; sum += by(fuel - 1, x); out:; }" % (inner, number, call, inner))
        return "sum += %s;" % call

    def function(self, name, optional=False, attributes="OWN"):
        tail = self.chance(6)
        number = self.number(name, optional or tail)
        lines = ["%s int %s(int fuel, unsigned x)" % (attributes, name), "{", "\tENTER(%d);" % number,
                 "\tvolatile int sum = (int)x;", "\tif (spent(fuel)) {", "\t\tLEAVE;", "\t\treturn sum;", "\t}"]
        for _ in range(self.random.randrange(1, 4)):
            self.labels += 1
            lines.append("\t" + self.statement(name))
        if tail:
            lines += ["\tLEAVE;", "\treturn %s;" % self.call(), "}"]
        else:
            lines += ["\tLEAVE;", "\treturn sum + 1;", "}"]
        return "\n".join(lines) + "\n"

    def write(self):
        self.labels, self.trampolines, self.gotos = 0, False, False
        r = self.random
        defines = "#define THREADS %d\n#define STACK %d\n#define FUNCTIONS %d\n" % (THREADS, STACK, FUNCTIONS)
        self.own = ["f%d" % i for i in range(r.randrange(6, 24))]
        declared = "int fiber(int, unsigned), child(int, unsigned);\n"
        declared += "".join("int %s(int fuel, unsigned x);\n" % name for name in [*self.own, "small", "cold", "die0"])
        declared += "int many(int, unsigned, int, int, int, int, int, int, int, double);\nint compare(const void *, const void *);\n"
        declared += "extern \"C\" {\nint by_assembly(call_fn, int, unsigned);\n}\n" if self.cxx else "int by_assembly(call_fn, int, unsigned);\n"
        declared += "extern call_fn volatile table[%d];\n" % len(self.own)
        if self.cxx:
            go = self.number("both::go")
            declared += ("struct first { virtual int one() { return 1; } long filler; };\n"
                         "struct second { virtual int go(int, unsigned) = 0; long other; };\n"
                         "struct both : first, virtual second { OWN int go(int fuel, unsigned x) override; };\n"
                         "struct guard { OWN ~guard(); };\n")
        functions = {name: None for name in self.own}
        defined_fuse = "extern volatile int fuse;\n"
        half = len(self.own) // 2
        for name in functions:
            functions[name] = self.function(name)
        main_number = self.number("main")
        small, cold = self.number("small", True), self.number("cold", True)
        many, compare = self.number("many", True), self.number("compare")
        others = ("__attribute__((cold)) int cold(int fuel, unsigned x) { ENTER(%d); int sum = spent(fuel) ? 1 : %s; LEAVE; return sum; }\n"
                  "int small(int fuel, unsigned x) { ENTER(%d); int sum = spent(fuel) ? 1 : %s; LEAVE; return sum; }\n"
                  "int many(int fuel, unsigned x, int a, int b, int c, int d, int e, int f, int g, double h)\n"
                  "{ ENTER(%d); volatile double keep_h = h; int sum = spent(fuel) ? 1 : %s; LEAVE; return sum + a + b + c + d + e + f + g + (int)keep_h; }\n"
                  "OWN int compare(const void *a, const void *b) { ENTER(%d); int sum = *(const int *)a - *(const int *)b; LEAVE; return sum; }\n"
                  % (cold, self.call(), small, self.call(), many, self.call(), compare))
        fiber, on_fiber, child = self.number("fiber"), self.number("on_fiber"), self.number("child")
        executable = ("\tmprotect((void *)((unsigned long)room & -4096l), sizeof(room) + 4096, PROT_READ | PROT_WRITE | PROT_EXEC);\n"
                      if self.has_trampolines() else "")
        others += ("static __thread struct { int fuel; unsigned x; ucontext_t self, back; } crossing;\n"
                   "OWN void on_fiber(void) { ENTER(%d); int sum = f0(crossing.fuel, crossing.x); crossing.fuel = sum; LEAVE; }\n"
                   "OWN int fiber(int fuel, unsigned x)\n{\n\tENTER(%d);\n\tstruct state kept = keep();\n\tme.fiber++; me.landing = NULL; me.catchers = 0;\n"
                   "\tstatic __thread char room[65536] __attribute__((aligned(16)));\n%s\tgetcontext(&crossing.self);\n"
                   "\tcrossing.self.uc_stack.ss_sp = room; crossing.self.uc_stack.ss_size = sizeof(room); crossing.self.uc_link = &crossing.back;\n"
                   "\tcrossing.fuel = fuel > 3 ? 3 : fuel; crossing.x = x;\n"
                   "\tmakecontext(&crossing.self, on_fiber, 0);\n\tswapcontext(&crossing.back, &crossing.self);\n"
                   "\tme.fiber--; me.landing = kept.landing; me.catchers = kept.catchers;\n\tLEAVE;\n\treturn crossing.fuel;\n}\n" % (on_fiber, fiber, executable))
        others += ("OWN int child(int fuel, unsigned x)\n{\n\tENTER(%d);\n\tpid_t pid = %s();\n\tif (pid == 0)\n\t\t_exit(0);\n"
                   "\tif (pid > 0) waitpid(pid, NULL, 0);\n\tLEAVE;\n\treturn fuel;\n}\n" % (child, r.choice(["fork", "vfork"])))
        if self.cxx:
            guard = self.number("guard::~guard")
            others += "int both::go(int fuel, unsigned x) { ENTER(%d); int sum = spent(fuel) ? 1 : %s; LEAVE; return sum; }\n" % (go, self.call())
            others += "guard::~guard() { ENTER(%d); LEAVE; }\n" % guard
        handler = self.number("handler")
        others += ("OWN void handler(int signal) { ENTER(%d); struct state kept = keep(); me.landing = NULL; me.catchers = 0; me.quiet++;"
                   " int sum = f1(2, (unsigned)signal); me.quiet--; land(&kept); LEAVE; use(&sum); }\n" % handler)
        declared += "void handler(int);\n"
        depth = r.randrange(1, 5)
        dying = "".join("int die%d(int fuel, unsigned x);\n" % i for i in range(1, depth + 1)) + "extern void end(int);\n"
        ends = "".join("OWN int die%d(int fuel, unsigned x) { ENTER(%d); int sum = die%d(fuel, x) + 1; LEAVE; return sum; }\n" % (
            i, self.number("die%d" % i), i + 1) for i in range(depth))
        ends += self.deaths("die%d" % depth)
        waiting = self.waiting()
        table = "call_fn volatile table[%d] = {%s};\n" % (len(self.own), ", ".join(self.own))
        common = defines + PRELUDE
        ending = ".cc" if self.cxx else ".c"
        first = "".join(functions[name] for name in self.own[:half])
        second = "".join(functions[name] for name in self.own[half:])
        self.source["second" + ending] = common.replace("struct truth *truth;\n__thread", "extern struct truth *truth;\nextern __thread").replace(
            "int limit = 3000;", "extern int limit;") + declared + defined_fuse + second
        self.source["main" + ending] = (common + MAIN.replace("static volatile int fuse;", "volatile int fuse;") + declared + table + dying + first + others +
                                        ends + waiting + self.main(main_number))
        self.source["by.S"] = ASSEMBLY
        if self.plugin:
            self.source["plugin" + ending] = ("#define PLUGIN\n" + common + "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
                                              "int plug(int fuel, unsigned x, call_fn back)\n{ ENTER(%d); int sum = spent(fuel) ? 1 : back(fuel - 1, x); LEAVE; return sum; }\n" % self.plug)

    def deaths(self, name):
        number, again, died, faulty = self.number(name), self.number("again"), self.number("died"), self.number("faulty")
        return """
OWN int again(int n) { ENTER(%(again)d); volatile char room[200]; room[0] = (char)n; int sum = again(n + 1) + room[0]; LEAVE; return sum; }
OWN void died(int caught)
{
	ENTER(%(died)d);
	write_all("a handler\\n");
	me.truth->settled = 1;
	if (strcmp(how, "first") == 0)
		abort();
	if (strcmp(how, "doubled") == 0)
		*(volatile int *)(8L + zero) = 1;
	signal(caught, SIG_DFL);
	if (strcmp(how, "on-altstack") == 0)
		abort();
	raise(caught);
	LEAVE;
}
OWN int faulty(int fuel) { ENTER(%(faulty)d); me.truth->settled = 1; *(volatile int *)(16L + zero) = fuel; LEAVE; return fuel; }
OWN int %(name)s(int fuel, unsigned x)
{
	ENTER(%(number)d);
	me.truth->settled = 1;
	if (strcmp(how, "abort") == 0 || strcmp(how, "snapped") == 0) abort();
	else if (strcmp(how, "null-write") == 0 || strcmp(how, "snapshot") == 0) *(volatile int *)(long)zero = 1;
	else if (strcmp(how, "null-read") == 0) fuel += *(volatile int *)(24L + zero);
	else if (strcmp(how, "null-call") == 0) fuel += ((int (*volatile)(int))nowhere)(fuel);
	else if (strcmp(how, "trap") == 0) __builtin_trap();
	else if (strcmp(how, "assert") == 0) assert(how == NULL);
	else if (strcmp(how, "div") == 0) { volatile int by = fuel / zero; fuel += by; }
	else if (strcmp(how, "raise-segv") == 0) raise(SIGSEGV);
	else if (strcmp(how, "wild") == 0) *(volatile int *)(0x4242424242424242L + zero) = 1;
	else if (strcmp(how, "overflow") == 0) fuel += again(zero);
	else if (strcmp(how, "free") == 0) { char *volatile p = (char *)malloc(2000), *volatile q = (char *)malloc(2000); free(p); free(p); free(q); }
	else if (strcmp(how, "first") == 0 || strcmp(how, "handler-raise") == 0 || strcmp(how, "doubled") == 0 || strcmp(how, "on-altstack") == 0) {
		struct sigaction action;
		memset(&action, 0, sizeof(action));
		action.sa_handler = died;
		action.sa_flags = strcmp(how, "handler-raise") == 0 ? (int)SA_RESETHAND : strcmp(how, "on-altstack") == 0 ? SA_ONSTACK : 0;
		sigaction(SIGSEGV, &action, NULL);
		fuel += faulty(fuel);
	}
	else wait_for_end();
	LEAVE;
	return fuel;
}
""" % {
            "number": number, "again": again, "died": died, "faulty": faulty, "name": name}

    def waiting(self):
        r = self.random
        text, self.workers = "static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;\n", []
        for i in range(self.threads):
            kind = r.choice(["pause", "sleep", "read", "lock", "cond", "poll", "ended", "cancelled", "exits"])
            name, number = "worker%d" % i, self.number("worker%d" % i)
            wait = {"pause": "pause();", "sleep": "sleep(1000);", "read": "{ char c; int ends[2]; if (pipe(ends) == 0 && read(ends[0], &c, 1) < 0) _exit(3); }",
                    "lock": "pthread_mutex_lock(&held);", "cond": "{ pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_mutex_lock(&m); for (;;) pthread_cond_wait(&c, &m); }",
                    "poll": "usleep(900000000);", "ended": "", "cancelled": "", "exits": "pthread_exit(NULL);"}[kind]
            waiter, waiter_number = "stay%d" % i, self.number("stay%d" % i)
            settle = "me.truth->settled = 1; pthread_barrier_wait(&ready);"
            over = "me.truth->settled = 2; " if kind in ("ended", "exits") else ""
            text += ("OWN int %s(int fuel) { ENTER(%d); %s %s %s LEAVE; return fuel; }\n" % (
                waiter, waiter_number, "me.truth->settled = 1;" if not over else over, "pthread_barrier_wait(&ready);", wait if kind != "cancelled" else "for (;;) sleep(100);"))
            text += ("OWN void *%s(void *argument) { begin(%d); ENTER(%d); me.quiet = 1; int sum = f%d(5, %du); sum += %s(3); LEAVE; return argument + (sum & 0); }\n" % (
                name, i + 1, number, r.randrange(len(self.own)), r.randrange(1000), waiter)).replace("argument + (sum & 0)", "(char *)argument + (sum & 0)")
            self.workers.append((name, kind))
        return text.replace("{}", "{ }")

    def main(self, number):
        r = self.random
        self.in_thread = bool(self.threads) and self.chance(3)
        start, join = "", ""
        for i, (name, kind) in enumerate(self.workers):
            start += "\tif (pthread_create(&threads[%d], NULL, %s, NULL) != 0) return 3;\n" % (i, name)
            if kind in ("ended", "exits"):
                join += "\tpthread_join(threads[%d], NULL);\n" % i
            elif kind == "cancelled":
                join += "\tpthread_cancel(threads[%d]); pthread_join(threads[%d], NULL); truth->threads[%d].settled = 2;\n" % (i, i, i + 1)
        plug = ""
        if self.plugin:
            self.plug = self.number("plug")
            plug = ("\tvoid *library = dlopen(\"./plugin.so\", %s);\n\tint (*plug)(int, unsigned, call_fn) = library ? (int (*)(int, unsigned, call_fn))dlsym(library, \"plug\") : NULL;\n"
                    "\tif (!plug) { write_all(dlerror()); return 3; }\n" % r.choice(["RTLD_NOW", "RTLD_LAZY | RTLD_GLOBAL"]))
            plug += "\tsum += plug(6, 77, %s);\n" % r.choice(self.own)
            if self.chance(2):
                plug += "\tdlclose(library);\n"
        else:
            self.plug = 0
        fork = "\tif (fork_first) { pid_t pid = fork(); if (pid > 0) { int status; waitpid(pid, &status, 0); _exit(0); } truth->threads[0].fork = truth->threads[0].depth; begin(0); me.events = 0; }\n"
        dying = self.number("last")
        last = "OWN int last(void) { ENTER(%d); int sum = die0(3, 5); LEAVE; return sum; }\n" % dying
        if self.in_thread:
            body = self.number("body")
            last += "OWN void *body(void *argument) { begin(7); ENTER(%d); f0(4, 3); last(); LEAVE; return argument; }\n" % body
        end = "last();" if not self.in_thread else ("{ pthread_t one; truth->threads[0].settled = 1; if (pthread_create(&one, NULL, body, NULL) != 0) return 3; pthread_join(one, NULL); }")
        self.depth_first = r.randrange(4, 9)
        return last + """
__attribute__((constructor, no_instrument_function)) static void early(void) { open_truth(); }
int main(int argc, char *argv[])
{
	ENTER(%(number)d);
	pthread_t threads[8];
	static char other_stack[65536];
	stack_t other;
	int sum = 0, fork_first;
	struct sigaction action;
	how = argv[1];
	limit = atoi(argv[2]);
	fuse = atoi(argv[3]);
	fork_first = argc > 4;
	memset(&other, 0, sizeof(other));
	other.ss_sp = other_stack;
	other.ss_size = sizeof(other_stack);
	if (atoi(argv[2]) %% 2 || strcmp(how, "on-altstack") == 0)
		sigaltstack(&other, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = limit %% 3 == 0 ? SA_ONSTACK : SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);
%(fork)s	pthread_mutex_lock(&held);
	pthread_barrier_init(&ready, NULL, %(count)d + 1);
	use(threads);
%(start)s	pthread_barrier_wait(&ready);
%(join)s%(plug)s	for (int i = 0; i < 5 && me.events < limit / 2; i++)
		sum += table[i %% %(own)d](%(depth)d, (unsigned)i * 77u);
	limit = 1 << 30;
	%(end)s
	LEAVE;
	return sum & 0;
}
""" % {"number": number, "fork": fork, "count": self.threads, "start": start, "join": join, "plug": plug, "own": len(self.own), "depth": self.depth_first, "end": end}
