# SPDX-License-Identifier: BSD-2-Clause
# epitaph: one makefile, nothing recursive but the sanitizer runs of `check`. Everything goes to build/ (see `make help`).

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
SAN     ?=
CC      ?= cc
BUILD   ?= build$(if $(SAN),/$(subst $(comma),-,$(SAN)))
RUNTIME_BUILD ?= $(BUILD)
comma   := ,

.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

# `make V=1` shows the commands, else what is made.
Q   := $(if $(V),,@)
SAY  = $(if $(V),,; echo '  $@')

# ---- flags ----------------------------------------------------------------------------------------------------------

WERROR   ?=
WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
	$(if $(WERROR),-Werror)
CFLAGS   ?= -O2 -g
BASE     := -std=gnu11 -I. -D_GNU_SOURCE -DEP_VERSION='"$(VERSION)"' $(WARN) -MMD -MP
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
LIBS     := -lncursesw -ltinfo -ltraceevent -ldw -lelf -liberty -lz -lm -lpthread

# The runtime runs inside somebody else's program: no tracing flags, no sanitizer, no vector registers, no libc memcpy
# that the program might have replaced by an instrumented one. So a sanitized build can take its objects from another: RUNTIME_BUILD.
CLANG         := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
NO_LIBC_CALLS := $(if $(CLANG),-fno-builtin,-fno-tree-loop-distribute-patterns)
TRACING       := -p -pg -mfentry -finstrument% -minstrument% -fsanitize% -flto% -fprofile% -ftest-coverage --coverage
RUNTIME_FLAGS := $(filter-out $(TRACING),$(CFLAGS)) $(BASE) -fvisibility=hidden -fno-stack-protector \
	-mgeneral-regs-only $(NO_LIBC_CALLS) -fcf-protection=branch -fasynchronous-unwind-tables

# ---- sources: a new file in a folder is part of it -------------------------------------------------------------------

RUNTIME_C := $(filter-out runtime/dso/%,$(wildcard runtime/*.c runtime/*/*.c))
RUNTIME_S := $(wildcard runtime/x86_64/*.S)
FILTER_C  := $(wildcard funcount/filter/*.c)
TOOL_C    := $(wildcard coredump/*/*.c decoder/*/*.c decoder/*/*/*.c funcount/*/*.c \
	cli/common/*.c cli/tui/*.c cli/commands/*.c cli/commands/*/*.c cli/commands.c cli/help.c)
WRAPPER_C := $(wildcard cli/wrapper/*.c)
GDB_PY    := $(wildcard gdb-ext/*.py)
# What says "plain only" is not run with the sanitizers (tests/run).
PLAIN_C   := $(if $(SAN),$(shell grep -lE '^(/?[ ]?\*) plain only:' tests/unit/*/check_*.c))
UNIT_C    := $(filter-out $(PLAIN_C),$(wildcard tests/unit/*/check_*.c))
UNIT_HELP := $(wildcard tests/unit/*.c)

RUNTIME_A_OBJ  := $(RUNTIME_C:%.c=$(RUNTIME_BUILD)/obj/a/%.o) $(RUNTIME_S:%.S=$(RUNTIME_BUILD)/obj/a/%.o)
RUNTIME_SO_OBJ := $(RUNTIME_C:%.c=$(RUNTIME_BUILD)/obj/so/%.o) $(RUNTIME_S:%.S=$(RUNTIME_BUILD)/obj/so/%.o)
TOOL_OBJ       := $(TOOL_C:%.c=$(BUILD)/obj/%.o)
KIT            := $(addprefix $(BUILD)/lib/epitaph/,runtime.o dso.o keeps.o sleds.o stub.o early.o hooks.o jumps.a own.a own.h \
	interpose.o wrapped.o pg.specs) \
	$(BUILD)/include/epitaph/epitaph.h
FILTER_OBJ     := $(FILTER_C:%.c=$(BUILD)/obj/%.o) $(addprefix $(BUILD)/obj/coredump/util/,alloc.o array.o error.o hash.o readfile.o utf8.o)
WRAPPER_OBJ    := $(WRAPPER_C:%.c=$(BUILD)/obj/%.o)
AS_OBJ         := $(patsubst %,$(BUILD)/obj/cli/wrapper/%.o,as/main filtering compiler command words say) $(FILTER_OBJ)
GATE_OBJ       := $(BUILD)/obj/cli/gate/main.o $(addprefix $(BUILD)/obj/coredump/,handler/store.o handler/store_limits.o \
	handler/crash.o handler/core_pattern.o files/procfile.o live/living.o snapshot/redacted.o files/output.o util/alloc.o \
	files/target.o util/array.o util/error.o util/number.o util/readfile.o util/utf8.o)
UNIT_OBJ       := $(UNIT_HELP:%.c=$(BUILD)/obj/%.o)
UNIT_BIN       := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(UNIT_C)))

# ---- what `make` gives ------------------------------------------------------------------------------------------------

.PHONY: all
all: $(BUILD)/bin/epitaph $(BUILD)/bin/epitaph-cc $(BUILD)/bin/epitaph-c++ \
	$(BUILD)/lib/libepitaph.a $(BUILD)/lib/libepitaph.so $(BUILD)/lib/pkgconfig/epitaph.pc $(KIT) \
	$(BUILD)/lib/epitaph/calibrate $(BUILD)/lib/epitaph/filter/as $(BUILD)/lib/epitaph/catch $(BUILD)/gdb-ext/epitaph.py

# One object of many, its variables in the order of their sizes: so all small state lies in few pages, and a process that
# starts and each forked child touch and copy no more than those.
define MERGE
	$(Q)nm -AS $(filter %.o,$^) | awk -F'[: ]' '$$4 ~ /[bBdD]/ { print $$3, "\"" $$1 "\"", $$5 }' | LC_ALL=C sort | awk ' \
		{ bss = bss " " $$2 "(.bss." $$3 ")"; data = data " " $$2 "(.data." $$3 " .data.rel." $$3 " .data.rel.local." $$3 ")" } \
		END { print "SECTIONS { .data 0 : {" data " *(.data) } .bss 0 : {" bss " *(.bss) } }" }' >$@.ld
	$(Q)ld -r -T $@.ld -o $@.new $(filter %.o,$^) && rm $@.ld
endef

# Static: for executables (local-exec TLS). One object, its hidden names made local, so that nothing of it can clash.
$(RUNTIME_BUILD)/obj/a/%.o: %.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -fPIE -fdata-sections -ftls-model=local-exec -c $< -o $@
$(RUNTIME_BUILD)/obj/a/%.o: %.S
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -fPIE -c $< -o $@
$(BUILD)/lib/epitaph/runtime.o: $(RUNTIME_A_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(MERGE)
	$(Q)objcopy --localize-hidden $@.new && mv $@.new $@
$(BUILD)/lib/libepitaph.a: $(BUILD)/lib/epitaph/runtime.o
	@mkdir -p $(@D)$(SAY)
	$(Q)rm -f $@ && ar rcsD $@ $<

# The same objects unmerged, for unit tests that call inside.
$(BUILD)/obj/runtime-parts.a: $(RUNTIME_A_OBJ)
	$(Q)rm -f $@ && ar rcsD $@ $^

# Shared: for shared libraries, plug-ins and LD_PRELOAD (initial-exec TLS).
$(RUNTIME_BUILD)/obj/so/%.o: %.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -DEP_SHARED -fPIC -fdata-sections -ftls-model=initial-exec -c $< -o $@
$(RUNTIME_BUILD)/obj/so/%.o: %.S
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -DEP_SHARED -fPIC -c $< -o $@
$(RUNTIME_BUILD)/obj/so/runtime.o: $(RUNTIME_SO_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(MERGE)
	$(Q)mv $@.new $@
$(BUILD)/lib/libepitaph.so: $(RUNTIME_BUILD)/obj/so/runtime.o runtime/epitaph.map
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) -shared -Wl,-soname,libepitaph.so.0 -Wl,--version-script=runtime/epitaph.map -Wl,-z,now -Wl,-z,noexecstack \
		-Wl,-z,defs -Wl,--build-id -Wl,-z,nodelete $< -o $@
	$(Q)ln -sf libepitaph.so $(@D)/libepitaph.so.0

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(SANFLAGS) -c $< -o $@
# Names of system calls, by the kernel's header.
$(BUILD)/obj/decoder/code/systemcall_names.h:
	@mkdir -p $(@D)$(SAY)
	$(Q)echo '#include <asm/unistd_64.h>' | $(CC) -E -dM -x c - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort -t[ -k2n >$@.new && mv $@.new $@
$(BUILD)/obj/decoder/code/systemcall.o: $(BUILD)/obj/decoder/code/systemcall_names.h
$(BUILD)/obj/decoder/code/systemcall.o: override CFLAGS += -I$(BUILD)/obj/decoder/code
$(BUILD)/obj/decoder/export/html/page.o: $(addprefix decoder/export/html/,page.html page.css read.js draw.js panel.js input.js)
$(BUILD)/obj/decoder/export/flame/flamegraph.o: decoder/export/flame/flamegraph.html
$(BUILD)/lib/libepitaph-tools.a: $(TOOL_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(Q)rm -f $@ && ar rcsD $@ $^
$(BUILD)/bin/epitaph: $(BUILD)/obj/cli/main.o $(BUILD)/lib/libepitaph-tools.a
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@
# The kernel starts it for each crash: with libc alone, and only what it calls.
$(BUILD)/lib/epitaph/catch: $(GATE_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/bin/epitaph-cc: $(WRAPPER_OBJ) $(FILTER_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/lib/epitaph/filter/as: $(AS_OBJ)
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) $^ -o $@
$(BUILD)/bin/epitaph-c++: $(BUILD)/bin/epitaph-cc
	$(Q)ln -sf epitaph-cc $@

# What the wrapper finds beside itself: an object that registers each traced shared library, hooks that are empty or wait,
# gcc's specs, and epitaph.h in a folder of its own.
$(BUILD)/lib/epitaph/dso.o: runtime/dso/registrar.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -DEP_SHARED -fPIC -MF $(BUILD)/obj/dso.d -c $< -o $@
$(BUILD)/lib/epitaph/keeps.o: runtime/dso/keeps.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -DEP_SHARED -fPIC -MF $(BUILD)/obj/keeps.d -c $< -o $@
$(BUILD)/obj/sleds.o: runtime/dso/sleds.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -DEP_SHARED -fPIC -MF $(BUILD)/obj/sleds.d -c $< -o $@
$(BUILD)/obj/sledhooks.o: cli/wrapper/kit/sledhooks.S
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -g0 -MF $(BUILD)/obj/sledhooks.d -c $< -o $@
$(BUILD)/lib/epitaph/sleds.o: $(BUILD)/obj/sleds.o $(BUILD)/obj/sledhooks.o
	@mkdir -p $(@D)$(SAY)
	$(Q)ld -r -o $@ $(filter %.o,$^)
# Without debug information: of a __wrap_NAME in it ld 2.40 looks for NAME, and dies where nobody has one.
$(BUILD)/lib/epitaph/%.o: cli/wrapper/kit/%.S
	@mkdir -p $(@D) $(BUILD)/obj$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -g0 -MF $(BUILD)/obj/$*.d -c $< -o $@
$(BUILD)/obj/own.o: cli/wrapper/kit/own.S
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(RUNTIME_FLAGS) -g0 -MF $(BUILD)/obj/own.d -c $< -o $@
# A member for each name, for the linker to take those that are called.
JUMPS := setjmp _setjmp __sigsetjmp longjmp _longjmp siglongjmp __longjmp_chk getcontext setcontext swapcontext makecontext vfork \
	pthread_setname_np __cxa_throw __cxa_rethrow _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE \
	__gxx_personality_v0 __gcc_personality_v0
$(BUILD)/obj/jumps/%.o: cli/wrapper/kit/jumps.S Makefile
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(filter-out -MMD -MP,$(RUNTIME_FLAGS)) -g0 -DNAME=$* -c $< -o $@
$(BUILD)/lib/epitaph/jumps.a: $(JUMPS:%=$(BUILD)/obj/jumps/%.o)
	@mkdir -p $(@D)$(SAY)
	$(Q)rm -f $@ && ar rcsD $@ $^
# Taken only where what is linked asks for it.
$(BUILD)/lib/epitaph/own.a: $(BUILD)/obj/own.o
	@mkdir -p $(@D)$(SAY)
	$(Q)rm -f $@ && ar rcsD $@ $^
$(BUILD)/lib/epitaph/own.h: cli/wrapper/kit/own.h
	@mkdir -p $(@D)$(SAY)
	$(Q)cp $< $@
$(BUILD)/lib/epitaph/pg.specs: cli/wrapper/kit/pg.specs
	@mkdir -p $(@D)$(SAY)
	$(Q)cp $< $@
$(BUILD)/include/epitaph/epitaph.h: runtime/epitaph.h
	@mkdir -p $(@D)$(SAY)
	$(Q)cp $< $@
	$(Q)ln -sf epitaph/epitaph.h $(BUILD)/include/epitaph.h

# What `epitaph calibrate` times: the same code three times, once with hooks, by our own wrapper; never sanitized.
CALIBRATION := $(addprefix $(BUILD)/obj/calibration/,main.o plain.o excluded.o traced.o wide-plain.o wide-traced.o)
TRACED_CC   := EPITAPH_CC='$(CC)' $(BUILD)/bin/epitaph-cc
$(BUILD)/obj/calibration/wide-%.o: funcount/calibrate/program/wide.S funcount/calibrate/program/wide.h
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) $(if $(filter traced,$*),-DTRACED) -c $< -o $@
$(BUILD)/obj/calibration/main.o: funcount/calibrate/program/main.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -O2 -c $< -o $@
$(BUILD)/obj/calibration/plain.o $(BUILD)/obj/calibration/excluded.o: funcount/calibrate/program/shapes.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -O2 -DCOPY=_$(basename $(@F)) -c $< -o $@
$(BUILD)/obj/calibration/traced.o: funcount/calibrate/program/shapes.c $(BUILD)/bin/epitaph-cc $(BUILD)/lib/epitaph/filter/as $(KIT) \
		| $(BUILD)/lib/libepitaph.a $(BUILD)/lib/libepitaph.so
	@mkdir -p $(@D)$(SAY)
	$(Q)$(TRACED_CC) $(BASE) -O2 -DCOPY=_traced -c $< -o $@
$(BUILD)/lib/epitaph/calibrate: $(CALIBRATION) $(BUILD)/lib/libepitaph.a | $(BUILD)/lib/libepitaph.so
	@mkdir -p $(@D)$(SAY)
	$(Q)$(TRACED_CC) $(CALIBRATION) -o $@

$(BUILD)/lib/pkgconfig/epitaph.pc: runtime/epitaph.pc.in Makefile
	@mkdir -p $(@D)$(SAY)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< >$@

# gdb's Python gets its constants from format.h, by the compiler's own reckoning.
$(BUILD)/gdb-ext/constants: gdb-ext/constants.c runtime/format.h runtime/format_switches.h
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) $< -o $@
$(BUILD)/gdb-ext/epitaph.py: $(GDB_PY) $(BUILD)/gdb-ext/constants
	$(Q)rm -f $(@D)/*.py
	$(Q)$(BUILD)/gdb-ext/constants >$(@D)/epitaph_format.py
	$(Q)cp $(GDB_PY) $(@D)/

# ---- tests ------------------------------------------------------------------------------------------------------------

# A test's own file is not optimized, which took most of the time to build it.
vpath check_%.c $(wildcard tests/unit/*/)
$(BUILD)/tests/check_%: check_%.c $(UNIT_OBJ) $(BUILD)/lib/libepitaph-tools.a $(BUILD)/obj/runtime-parts.a
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -MF $@.d -Itests/unit $(CFLAGS) -O0 $(SANFLAGS) $(LDFLAGS) $< $(UNIT_OBJ) \
		$(BUILD)/lib/libepitaph-tools.a $(BUILD)/obj/runtime-parts.a -lcheck -lsubunit -lrt $(LIBS) -o $@

# What we say of addresses, for comparison with others; and the commands, each in a forked process.
$(BUILD)/tests/addresses: tests/real/addresses.c
$(BUILD)/tests/readers: tests/cli/lib/readers.c
$(BUILD)/tests/addresses $(BUILD)/tests/readers: $(BUILD)/lib/libepitaph-tools.a
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -MF $@.d $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $(filter %.c,$^) $(BUILD)/lib/libepitaph-tools.a $(LIBS) -o $@

# What libdwarf says of them, and libunwind of stacks; only make real needs them.
$(BUILD)/tests/dwarf: SECOND := -ldwarf
$(BUILD)/tests/stacks: SECOND := -lunwind-ptrace -lunwind-generic
$(BUILD)/tests/dwarf $(BUILD)/tests/stacks: $(BUILD)/tests/%: tests/real/%.c
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -MF $@.d $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $< $(SECOND) -o $@

.PHONY: unit deps test check compile_commands.json bench demo real fuzz fuzz-targets coverage
unit: $(UNIT_BIN) $(BUILD)/tests/addresses $(BUILD)/tests/readers

# Fuzz targets: with libFuzzer when SAN says so, else with tests/fuzz/replay.c, which takes files as inputs.
FUZZ_BIN  := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/fuzz/fuzz_% tests/fuzz/seeds_% tests/fuzz/replay.c, \
	$(wildcard tests/fuzz/*.c)) $(wildcard tests/unit/build_*.c))
FUZZ_MAIN := $(if $(findstring fuzzer,$(SAN)),-fsanitize=fuzzer,$(BUILD)/obj/tests/fuzz/replay.o)
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ) $(filter %.o,$(FUZZ_MAIN)) $(BUILD)/lib/libepitaph-tools.a \
		$(BUILD)/obj/runtime-parts.a
	@mkdir -p $(@D)$(SAY)
	$(Q)$(CC) $(BASE) -MF $@.d -Itests/unit $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $< $(FUZZ_OBJ) $(FUZZ_MAIN) \
		$(BUILD)/lib/libepitaph-tools.a $(BUILD)/obj/runtime-parts.a $(LIBS) -o $@
fuzz-targets: $(FUZZ_BIN)

deps:
	@ci/install-deps

# Two at a time, unless make was told otherwise.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j2)

# What is sanitized is there to find faults in: -O2 took twice as long to compile and runs as long. Where it lies is known, as
# 160,000 relocations at each start took half of what it runs.
SAN_CFLAGS  := -O1 -g1 -fno-pie
SAN_LDFLAGS := -no-pie

check: NAME :=
check: test

# make test NAME='report unit/calls': builds what there is to build, and runs those.
test: deps
	@$(MAKE) --no-print-directory $(PARALLEL) WERROR=1 all unit
	@$(MAKE) --no-print-directory $(PARALLEL) SAN=address,undefined BUILD=$(BUILD)/sanitized RUNTIME_BUILD=$(BUILD) \
		CFLAGS='$(SAN_CFLAGS)' LDFLAGS='$(SAN_LDFLAGS)' all unit fuzz-targets
	@BUILD=$(BUILD) tests/run $(NAME)

compile_commands.json:
	@$(MAKE) --no-print-directory -nB V=1 all unit | ci/compile-commands >$@.new && mv $@.new $@

demo:
	@ci/install-deps demo
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@BUILD=$(abspath $(BUILD)) tests/demo/run

real:
	@ci/install-deps real
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@BUILD=$(abspath $(BUILD)) tests/real/run $(ONLY)

bench:
	@ci/install-deps bench
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@tests/bench/run

fuzz: deps
	@tests/fuzz/run

coverage: deps
	@tests/fuzz/coverage

# ---- install ----------------------------------------------------------------------------------------------------------

.PHONY: install uninstall
install: all
	$(BUILD)/bin/epitaph help --man-pages $(BUILD)/man
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/lib/epitaph \
		$(DESTDIR)$(PREFIX)/lib/epitaph/filter $(DESTDIR)$(PREFIX)/include/epitaph/compat \
		$(DESTDIR)$(PREFIX)/share/epitaph/gdb $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/lib/systemd/system
	install $(BUILD)/bin/epitaph $(BUILD)/bin/epitaph-cc $(DESTDIR)$(PREFIX)/bin/
	ln -sf epitaph-cc $(DESTDIR)$(PREFIX)/bin/epitaph-c++
	install -m 644 $(BUILD)/lib/libepitaph.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(BUILD)/lib/libepitaph.so $(DESTDIR)$(PREFIX)/lib/libepitaph.so.0
	ln -sf libepitaph.so.0 $(DESTDIR)$(PREFIX)/lib/libepitaph.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' runtime/epitaph.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/epitaph.pc
	install -m 644 $(filter $(BUILD)/lib/%,$(KIT)) $(DESTDIR)$(PREFIX)/lib/epitaph/
	install $(BUILD)/lib/epitaph/calibrate $(BUILD)/lib/epitaph/catch $(DESTDIR)$(PREFIX)/lib/epitaph/
	install $(BUILD)/lib/epitaph/filter/as $(DESTDIR)$(PREFIX)/lib/epitaph/filter/
	install -m 644 runtime/epitaph.h $(DESTDIR)$(PREFIX)/include/epitaph/
	ln -sf epitaph/epitaph.h $(DESTDIR)$(PREFIX)/include/epitaph.h
	install -m 644 compat/funtrace.h $(DESTDIR)$(PREFIX)/include/epitaph/compat/
	install -m 644 $(BUILD)/gdb-ext/*.py $(DESTDIR)$(PREFIX)/share/epitaph/gdb/
	install -m 644 cli/systemd/epitaph-catch.socket $(DESTDIR)$(PREFIX)/lib/systemd/system/
	sed -e 's|@PREFIX@|$(PREFIX)|' cli/systemd/epitaph-catch.service.in \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/epitaph-catch.service
	install -m 644 docs/report.schema.json docs/info.schema.json $(DESTDIR)$(PREFIX)/share/epitaph/
	sed -e 's|@PREFIX@|$(PREFIX)|' gdb-ext/autoload.py.in >$(DESTDIR)$(PREFIX)/lib/libepitaph.so.0-gdb.py
	install -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	$(BUILD)/bin/epitaph help --completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/epitaph
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/epitaph bin/epitaph-cc bin/epitaph-c++ lib/libepitaph.a \
		lib/libepitaph.so lib/libepitaph.so.0 lib/libepitaph.so.0-gdb.py lib/pkgconfig/epitaph.pc include/epitaph.h include/epitaph/epitaph.h \
		share/man/man1/epitaph*.1 share/bash-completion/completions/epitaph \
		lib/systemd/system/epitaph-catch.socket lib/systemd/system/epitaph-catch.service)
	rm -rf $(DESTDIR)$(PREFIX)/share/epitaph $(DESTDIR)$(PREFIX)/lib/epitaph
	rm -rf $(DESTDIR)$(PREFIX)/include/epitaph/compat
	rmdir $(DESTDIR)$(PREFIX)/include/epitaph 2>/dev/null || true

.PHONY: clean help format docs
clean:
	rm -rf build
# The table of settings (cli/settings.sh compares): five bars a line, which no other table of the page has.
docs: $(BUILD)/bin/epitaph
	$< help --settings >$(BUILD)/settings.table
	sed -i -e '/^|.*|.*|.*|.*|$$/d' -e '/make docs/r $(BUILD)/settings.table' docs/settings.md
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

help:
	@echo 'make            build/bin/{epitaph,epitaph-cc,epitaph-c++} build/lib/libepitaph.{a,so}'
	@echo 'make check      every test, also under the address and undefined sanitizers'
	@echo "make test       NAME='report unit/calls': those of the tests alone"
	@echo 'make demo       crash a small server under load and print its report'
	@echo 'make real       build, trace, test and crash Lua, xz, JsonCpp, SQLite and servers (ONLY=redis); compare with other readers'
	@echo 'make docs       write the table of docs/settings.md anew'
	@echo 'make bench      what tracing costs, interleaved with its peers'
	@echo 'make fuzz       libFuzzer on each reader, FUZZ_SECONDS=60'
	@echo 'make coverage   lines of the readers that the corpus reaches, and the unit tests'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'variables       V=1 SAN=address|thread|undefined, CC, CFLAGS, BUILD'

# A changed flag in this file rebuilds; a changed header rebuilds what includes it.
$(RUNTIME_A_OBJ) $(RUNTIME_SO_OBJ) $(TOOL_OBJ) $(WRAPPER_OBJ) $(AS_OBJ) $(UNIT_OBJ) $(FUZZ_OBJ) \
	$(BUILD)/obj/tests/fuzz/replay.o $(BUILD)/obj/cli/main.o $(KIT) $(CALIBRATION): Makefile
-include $(patsubst %.o,%.d,$(RUNTIME_A_OBJ) $(RUNTIME_SO_OBJ) $(TOOL_OBJ) $(WRAPPER_OBJ) $(AS_OBJ) $(UNIT_OBJ) $(FUZZ_OBJ)) \
	$(BUILD)/obj/tests/fuzz/replay.d $(BUILD)/obj/cli/main.d $(BUILD)/obj/cli/gate/main.d $(BUILD)/obj/dso.d $(BUILD)/obj/keeps.d $(BUILD)/obj/sleds.d $(BUILD)/obj/sledhooks.d $(CALIBRATION:.o=.d) $(addsuffix .d,$(UNIT_BIN) $(FUZZ_BIN) $(BUILD)/tests/readers)
