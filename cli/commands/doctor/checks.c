/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.c: one function a question. core(5), proc(5), systemd-coredump(8). */
#include "cli/commands/doctor/checks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/find/root.h"
#include "coredump/handler/peer.h"
#include "coredump/handler/store.h"

#define LEAST_CORE       (UINT64_C(64) << 10) /* bytes: notes and the first blocks */
#define FILTER_ANONYMOUS 1u                   /* coredump_filter, bit 0 */

static bool __attribute__((format(printf, 3, 4)))
say(struct ep_finding *out, enum ep_health verdict, const char *format, ...)
{
	va_list list;

	out->verdict = verdict;
	out->remedy[0] = '\0';
	va_start(list, format);
	vsnprintf(out->text, sizeof(out->text), format, list);
	va_end(list);
	return true;
}

static bool __attribute__((format(printf, 2, 3)))
advise(struct ep_finding *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(out->remedy, sizeof(out->remedy), format, list);
	va_end(list);
	return true;
}

static bool is_pipe(const struct ep_doctor_target *target)
{
	return target->pattern[0] == '|';
}

static bool is_socket(const struct ep_doctor_target *target)
{
	return target->pattern[0] == '@';
}

static const char *socket_path(const struct ep_doctor_target *target)
{
	return target->pattern + strspn(target->pattern, "@");
}

static bool is_served(const struct ep_doctor_target *target)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path(target));
	return ep_peer_is_served(&address);
}

/* epitaph catch takes its snapshot whatever becomes of the core. */
static bool is_caught(const struct ep_doctor_target *target)
{
	return target->caught && (is_pipe(target) || is_served(target));
}

/* Another way than a core for the trace to come out. */
static bool has_other_way(const struct ep_doctor_target *target)
{
	return target->has_file || target->on_crash || is_caught(target);
}

/* ---- the program ---- */

static bool look_traced(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (!target->program[0])
		return false;
	if (target->pid && !target->traced && target->off_reason)
		return say(out, EP_LOST, "tracing is off for good: %s",
			   ep_off_text(target->off_reason));
	if (target->pid && target->unseen.code)
		return say(out, EP_DOUBT, "whether it is traced is not known: %s",
			   target->unseen.text);
	if (target->pid && !target->traced) {
		say(out, EP_LOST, "the process has no trace in its memory");
		return advise(out, "build it with epitaph-cc, or start it with "
				   "LD_PRELOAD=libepitaph.so if only its libraries are traced");
	}
	if (target->pid)
		return say(out, EP_WELL, "the process is traced");
	if (!target->readable)
		return say(out, EP_DOUBT,
			   "%s is no program that can be read (a script?): what it starts is not "
			   "known",
			   target->program);
	if (target->has_runtime)
		return say(out, EP_WELL, "it has epitaph's runtime");
	if (target->has_hooks) {
		say(out, EP_DOUBT, "it calls hooks, but the runtime is elsewhere");
		return advise(out, "it is traced if it links libepitaph.so or is started with "
				   "LD_PRELOAD=libepitaph.so");
	}
	say(out, EP_LOST, "it is not traced: no runtime, no hooks");
	return advise(out, "build it with epitaph-cc");
}

static bool look_off(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (!target->off)
		return false;
	say(out, EP_LOST, target->pid ? "tracing is paused" : "EPITAPH=off: it starts paused");
	return target->pid ? advise(out, "epitaph control %d resume", (int)target->pid)
			   : advise(out, "unset EPITAPH, or epitaph control PID resume");
}

static bool look_names(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (!target->program[0] || !target->readable)
		return false;
	if (!target->has_build_id) {
		say(out, EP_DOUBT,
		    "the program has no build-id: that a file is the one that ran is not known");
		return advise(out, "link with -Wl,--build-id");
	}
	if (!target->has_symbols && !target->has_debug) {
		say(out, EP_DOUBT,
		    "the program is stripped: functions have no names unless its debug file is "
		    "found by build-id");
		return advise(out, "keep the debug file (below /usr/lib/debug/.build-id, or on a "
				   "debuginfod server)");
	}
	if (!target->has_debug) {
		say(out, EP_DOUBT, "no debug information: names, but no lines");
		return advise(out, "compile with -g, and strip what is shipped only");
	}
	return say(out, EP_WELL, "names, lines and a build-id are there");
}

/* ---- will there be a core ---- */

static bool look_pattern_program(const struct ep_doctor_target *target, struct ep_finding *out)
{
	char program[256];

	sscanf(target->pattern + 1, "%255s", program);
	if (access(program, X_OK) != 0) {
		say(out, EP_LOST, "kernel.core_pattern names a handler that is not there: %s",
		    program);
		return advise(out, "install it, or sysctl -w kernel.core_pattern=core");
	}
	if (is_caught(target))
		return say(out, EP_WELL, "epitaph catch takes a snapshot of each crash");
	if (strstr(program, "systemd-coredump")) {
		say(out, EP_WELL, "cores go to systemd-coredump");
		return advise(out, "coredumpctl dump PID -o core; see that ProcessSizeMax and "
				   "ExternalSizeMax in coredump.conf are larger than the process");
	}
	if (strstr(program, "apport")) {
		say(out, EP_DOUBT,
		    "cores go to apport, which keeps those of packaged programs only");
		return advise(out, "epitaph catch --install");
	}
	say(out, EP_DOUBT, "cores go to %s, which is not known here", program);
	return advise(out,
		      "see that it keeps them; or epitaph catch --install, which goes before it");
}

/* "@/path", or "@@/path": the kernel drops cores that nobody takes. */
static bool look_pattern_socket(const struct ep_doctor_target *target, struct ep_finding *out)
{
	const char *path = socket_path(target);

	if (is_served(target) && target->caught)
		return say(out, EP_WELL,
			   "epitaph catch takes a snapshot of each crash, at the socket %s", path);
	if (is_served(target))
		return say(out, EP_WELL, "cores go to the socket %s", path);
	if (target->caught) {
		say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
		    "epitaph catch is installed at the socket %s, where nobody listens: neither a "
		    "core nor a snapshot is left",
		    path);
		return advise(out,
			      "start it (epitaph catch --listen=%s --store=%s, or its unit: "
			      "docs/catch.md), or epitaph catch --uninstall --store=%s",
			      path, target->store, target->store);
	}
	say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
	    "cores go to the socket %s, where nobody listens", path);
	return advise(out,
		      "start its server (epitaph catch --listen=%s), or sysctl -w "
		      "kernel.core_pattern=core",
		      path);
}

static bool look_pattern(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (is_pipe(target))
		return look_pattern_program(target, out);
	if (target->pattern[0] == '\0') {
		say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
		    "kernel.core_pattern is empty: no cores");
		return advise(out, "sysctl -w kernel.core_pattern=core");
	}
	if (is_socket(target))
		return look_pattern_socket(target, out);
	return say(out, EP_WELL, "cores go to files (%s)", target->pattern);
}

static const char *unit_of(uint64_t bytes)
{
	return bytes >> 20 ? "MiB" : "KiB";
}

static uint64_t in_units(uint64_t bytes)
{
	return bytes >> 20 ? bytes >> 20 : bytes >> 10;
}

static bool is_file_pattern(const struct ep_doctor_target *target)
{
	return target->pattern[0] && !is_pipe(target) && !is_socket(target);
}

static bool look_limit(const struct ep_doctor_target *target, struct ep_finding *out)
{
	enum ep_health bad = has_other_way(target) ? EP_DOUBT : EP_LOST;

	if (!is_file_pattern(target))
		return false;
	if (target->core_limit < LEAST_CORE) {
		say(out, bad, "RLIMIT_CORE is %" PRIu64 " bytes: no core", target->core_limit);
		return target->pid ? advise(out,
					    "prlimit --core=unlimited -p %d; for services "
					    "LimitCORE=infinity",
					    (int)target->pid)
				   : advise(out,
					    "ulimit -c unlimited; for services LimitCORE=infinity");
	}
	if (target->core_limit < target->memory) {
		say(out, EP_DOUBT,
		    "RLIMIT_CORE is %" PRIu64 " %s, and the trace alone may take %" PRIu64
		    ": the newest threads' history would be cut off",
		    in_units(target->core_limit), unit_of(target->core_limit),
		    target->memory >> 20);
		return advise(out, "ulimit -c unlimited, or a smaller EPITAPH_MEMORY");
	}
	return say(out, EP_WELL, "RLIMIT_CORE leaves room for the trace");
}

static bool look_filter(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (target->filter & FILTER_ANONYMOUS)
		return say(out, EP_WELL, "coredump_filter 0x%x keeps private memory",
			   target->filter);
	say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
	    "coredump_filter is 0x%x: private memory, and so the trace, is left out of cores",
	    target->filter);
	return target->pid
		       ? advise(out, "echo 0x33 > /proc/%d/coredump_filter", (int)target->tid)
		       : advise(out, "echo 0x33 > /proc/self/coredump_filter before it is started");
}

static bool look_dumpable(const struct ep_doctor_target *target, struct ep_finding *out)
{
	bool special = !target->dumpable || target->has_rights;

	if (!special)
		return false;
	if (target->suid_dumpable == 2 &&
	    (is_pipe(target) || is_socket(target) || target->pattern[0] == '/'))
		return say(out, EP_WELL, "it has rights of its own; its cores are root's");
	say(out, EP_LOST,
	    target->dumpable
		    ? "it is set-user-id or has capabilities: the kernel writes no core of it"
		    : "the process is not dumpable: the kernel writes no core of it");
	return advise(out, "sysctl -w fs.suid_dumpable=2 with a pipe, a socket or an absolute path "
			   "in kernel.core_pattern; or prctl(PR_SET_DUMPABLE, 1) in the program");
}

static bool look_space(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (!is_file_pattern(target))
		return false;
	if (target->pattern[0] != '/' && !target->pid && access(target->directory, W_OK) != 0) {
		say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
		    "the working directory cannot be written to: no core");
		return advise(out,
			      "start it elsewhere, or an absolute path in kernel.core_pattern");
	}
	if (!target->space_known)
		return false;
	if (target->free_bytes < LEAST_CORE) {
		say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
		    "no room where the core would go: %" PRIu64 " KiB", target->free_bytes >> 10);
		return advise(out, "make room, or epitaph catch --install");
	}
	if (target->free_bytes < 2 * target->memory) {
		say(out, EP_DOUBT,
		    "%" PRIu64 " %s are free where the core would go: it may be cut off",
		    in_units(target->free_bytes), unit_of(target->free_bytes));
		return advise(out, "make room, or epitaph catch --install");
	}
	return say(out, EP_WELL, "%" PRIu64 " MiB are free for a core", target->free_bytes >> 20);
}

static bool look_container(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (!target->contained)
		return false;
	if (is_pipe(target) || is_socket(target)) {
		say(out, EP_DOUBT,
		    "it runs in a container, and the handler in the host's namespaces: the core "
		    "goes there, and modules are found by build-id");
		return advise(out, "epitaph report --sysroot=ROOT, with the container's root");
	}
	say(out, EP_DOUBT,
	    "it runs in a container: the core goes to the container's file system, and ends with "
	    "it");
	return advise(out, "a volume for cores, or epitaph catch --install on the host");
}

/* They take the fatal signals and exit, and allow no core. */
static bool look_sanitizer(const struct ep_doctor_target *target, struct ep_finding *out)
{
	const struct ep_sanitizer *sanitizer = target->sanitizer;

	if (!sanitizer)
		return false;
	if (target->sanitizer_leaves_core)
		return say(out, EP_WELL, "%s is set to leave a core", sanitizer->name);
	say(out, has_other_way(target) ? EP_DOUBT : EP_LOST,
	    "%s leaves no core: by default it takes the signal, exits, and sets the core limit to "
	    "0",
	    sanitizer->name);
	return advise(out, "start it with %sdisable_coredump=0:abort_on_error=1",
		      sanitizer->variable);
}

/* ---- how good will it be ---- */

static bool look_clock(const struct ep_doctor_target *target, struct ep_finding *out)
{
	struct ep_procfile file;
	const char *flags = NULL;

	(void)target;
	ep_procfile_open(&file, "/proc/cpuinfo");
	while ((flags = ep_procfile_next(&file, '\n')))
		if (strncmp(flags, "flags", 5) == 0)
			break;
	ep_procfile_close(&file);
	if (!flags)
		return say(out, EP_DOUBT,
			   "whether the processor's clock (TSC) is steady is not known: "
			   "/proc/cpuinfo cannot be read");
	if (strstr(flags, " constant_tsc") && strstr(flags, " nonstop_tsc"))
		return say(out, EP_WELL, "the processor's clock is steady");
	say(out, EP_DOUBT,
	    "the processor's clock (TSC) may change its rate: times are approximate, their order "
	    "is exact");
	return advise(out, "nothing; a newer processor or hypervisor");
}

static bool look_sched(const struct ep_doctor_target *target, struct ep_finding *out)
{
	char paranoid[16] = "";

	(void)target;
	ep_procfile_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	if (access("/sys/kernel/tracing/instances", W_OK) == 0 ||
	    access("/sys/kernel/debug/tracing/instances", W_OK) == 0)
		return say(out, EP_WELL, "scheduling events come from ftrace");
	if (*paranoid &&
	    (geteuid() == 0 || paranoid[0] == '-' || (paranoid[0] >= '0' && paranoid[0] <= '2')))
		return say(out, EP_WELL, "scheduling events come from perf");
	say(out, EP_DOUBT, "no scheduling events: neither ftrace nor perf may be used");
	return advise(out,
		      "sysctl -w kernel.perf_event_paranoid=2, or mount tracefs and run as root");
}

static bool look_ways(const struct ep_doctor_target *target, struct ep_finding *out)
{
	if (target->has_file)
		return say(out, EP_WELL, "EPITAPH_FILE: the trace outlives also SIGKILL");
	if (target->on_crash)
		return say(out, EP_WELL, "EPITAPH_ON_CRASH=snapshot: it writes a snapshot itself");
	return false;
}

const struct ep_check ep_checks[] = {
	{"traced", look_traced},        {"paused", look_off},
	{"core_pattern", look_pattern}, {"core limit", look_limit},
	{"filter", look_filter},        {"dumpable", look_dumpable},
	{"disk", look_space},           {"container", look_container},
	{"sanitizer", look_sanitizer},  {"other ways", look_ways},
	{"names", look_names},          {"clock", look_clock},
	{"scheduling", look_sched},     {NULL, NULL},
};
