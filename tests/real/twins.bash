# SPDX-License-Identifier: BSD-2-Clause
# twins.bash: servers that nobody here wrote, each built twice, traced and not, and run as an ordinary user, for scripts that source
# this after lib.bash.

# The user that servers run as: they refuse root. "ours" is what an ordinary user already is.
if [ "$(id -u)" -eq 0 ]; then
	ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp)
	owner=65534:65534
else
	ordinary=(env)
	owner=$(id -u):$(id -g)
fi

# A folder that the user may enter and write to, whatever the path to ours allows: "room".
room=$(mktemp -d "${TMPDIR:-/tmp}/epitaph-real-$name.XXXXXX")
chmod 755 "$room"
servers=()
tidy() {
	local pid
	for pid in "${servers[@]}"; do
		# shellcheck disable=SC2046
		kill -9 "$pid" $(ps -o pid= --ppid "$pid") 2>/dev/null || true
	done
	rm -rf "$room"
	machine_leave
}
trap tidy EXIT
trap 'exit 130' INT TERM

# Cores land where programs work, and what we began is tidied away all the same.
cores() {
	core_prepare
	trap tidy EXIT
	trap 'exit 130' INT TERM
}

own() { # FOLDER...: is the user's
	chown -R "$owner" "$@"
}

# same WHAT PLAIN TRACED: the two files are equal
same() {
	diff "$2" "$3" >difference || {
		cat difference
		fail "$1 differs from the untraced twin's (< plain, > traced)"
	}
	say "$1: as the untraced twin's ($(wc -l <"$2") lines)"
}
