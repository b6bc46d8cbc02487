#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The units for systemd: they are installed, say what they should, and the capabilities that the service has are those that it needs:
# with exactly these, and no way to new ones, all is as with root's; without any one of them something is missing.
# sanitized only
# alone
# timeout: 120
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
unit=$TOP/cli/systemd/epitaph-catch.service.in
for line in NoNewPrivileges=yes ProtectSystem=strict ProtectHome=yes PrivateNetwork=yes RestrictAddressFamilies=AF_UNIX \
	RestrictNamespaces=yes ProtectKernelTunables=yes ProtectKernelModules=yes ProtectKernelLogs=yes ProtectControlGroups=yes \
	MemoryDenyWriteExecute=yes SystemCallFilter=@system-service SystemCallArchitectures=native 'MemoryMax=.*' 'TasksMax=.*' UMask=0077 \
	LimitCORE=0 KillMode=process; do
	grep -qx "$line" "$unit" || fail "the service has no $line"
done
sed "s|@PREFIX@/bin/epitaph|$catch|" "$unit" >epitaph-catch.service
cp "$TOP/cli/systemd/epitaph-catch.socket" .
! command -v systemd-analyze >/dev/null || SYSTEMD_UNIT_PATH=$room: systemd-analyze verify --man=no ./epitaph-catch.service
caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")
[ "$(wc -w <<<"$caps")" -gt 3 ] || fail "no capabilities"
printf '@%s\n' "$socket" >$pattern_file 2>/dev/null || exit 0 # Linux before 6.16
printf '%s\n' "$pattern_before" >$pattern_file

# As numbers, for setpriv knows some by no other name.
number() {
	local names=(CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP)
	case $1 in CAP_SYS_PTRACE) echo 19 ;; CAP_CHECKPOINT_RESTORE) echo 40 ;; CAP_SYS_ADMIN) echo 21 ;; *)
		for i in "${!names[@]}"; do [ "CAP_${names[i]}" != "$1" ] || echo "$i"; done ;;
	esac
}
bounded() { # CAP...: the command's words
	local list=-all cap
	for cap; do list+=,+cap_$(number "$cap"); done
	confined=(unshare -m bash -c 'mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"' "$room"
		setpriv --no-new-privs --bounding-set="$list" --inh-caps=-all)
}
# A user's crash, in a folder and of a program that only he may read; what it said is known by its own libc; and one whose reader does
# not end by itself.
user=(setpriv --reuid=65533 --regid=65533 --clear-groups)
cat >said.c <<'SRC'
#include <assert.h>
static __attribute__((noinline)) void wrong(int n) { assert(n != 3 || !"said by it"); }
int main(void)
{
	for (int i = 0; i < 5; i++)
		wrong(i);
}
SRC
"$BIN/epitaph-cc" -g said.c -o deaths.own
chown 65533:65533 deaths.own && chmod 700 deaths.own
gcc -O1 -shared -fPIC -w "$TOP/tests/programs/possessed.c" -o demon.so -ldl
export DEMON=$room/demon
crash() { (cd here && ulimit -c unlimited && exec "${user[@]}" ../deaths.own) >/dev/null 2>&1; }
all_is_well() {
	rm -rf here "$store"/*.core "$store/log"
	mkdir -m 700 here && chown 65533:65533 here
	echo nothing >demon
	crash || true
	[ "$(stat -c %u:%a here/core 2>/dev/null)" = 65533:600 ] || { echo "no core"; return 1; }
	snapshot=$(ls "$store"/deaths.own.*.core 2>/dev/null) || { echo "no snapshot: $(cat "$store/log")"; return 1; }
	rm -f wanted
	"$EPITAPH" extract -q -o wanted here/core || [ $? -eq 1 ]
	cmp <(without_end wanted) <(without_end "$snapshot") || return 1
	"${user[@]}" head -c 1 "$snapshot" >/dev/null 2>&1 || { echo "not the user's"; return 1; }
}
ends_it() { # a reader that does not end
	echo "wait" >demon
	crash || true
	soon grep -q 'it took more than 1 second' "$store/log" || { cat "$store/log"; return 1; }
	! pgrep -u 65533 -f "catch --listen=$socket" >/dev/null || { echo "it still runs"; return 1; }
}
# shellcheck disable=SC2086
bounded $caps
LD_PRELOAD=$room/demon.so start "${confined[@]}"
installed core --listen="$socket" --timeout=1
all_is_well && ends_it || fail "with the unit's capabilities"
"$EPITAPH" report "$snapshot" | grep -q 'said by it' || fail "what it said"
stop
for missing in $caps; do
	# shellcheck disable=SC2046
	bounded $(tr ' ' '\n' <<<"$caps" | grep -vx "$missing")
	LD_PRELOAD=$room/demon.so start "${confined[@]}"
	! { all_is_well && { [ "$missing" != CAP_KILL ] || ends_it; }; } >why || fail "without $missing all is as with it"
	echo "$missing: $(cat why)"
	stop
done
