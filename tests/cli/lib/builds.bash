# SPDX-License-Identifier: BSD-2-Clause
# builds.bash: one program (tests/programs/truth.cc) built in many ways, for
# tests that source this. Each crashes; what is decoded from its core is the log
# that it kept itself.
source "$TOP/tests/cli/lib/core.bash"

# compile gcc|clang FLAGS...: truth.cc to "truth-$name".
compile() {
	local compiler=g++ status=0
	[ "$1" = gcc ] || compiler=clang++
	shift
	EPITAPH_CXX=$compiler "$BIN/epitaph-c++" -DEVENTS=6000 "$@" \
		"$TOP/tests/programs/truth.cc" -o "truth-$name" -lpthread \
		>compiler.txt 2>&1 || status=$?
	cat compiler.txt
	return $status
}

# How the program's log tells of calls that an exception left: gcc's
# -finstrument-functions calls the exit hook for them, the others don't.
unwinding() {
	local word
	for word; do
		[ "$word" != -epitaph-method=finstrument ] || {
			[ "$1" = clang ] || { echo returns; return; }
		}
	done
	echo leaves
}

# decoded NAME RETURNS: crashes truth-NAME and compares.
decoded() {
	local status=0
	crash 134 "./truth-$1"
	"$EPITAPH" replay --format=tsv core >tsv || status=$?
	[ "$status" -le 1 ] || fail "$1: replay ends with $status"
	python3 "$TOP/tests/cli/lib/truth.py" "$2" whole ||
		fail "$1: what was decoded is not what it did"
}

# build NAME gcc|clang FLAGS...: compiles, crashes, compares; prints its name.
build() {
	local name=$1
	shift
	compile "$@" || fail "$name does not build"
	decoded "$name" "$(unwinding "$@")"
}

# The report names the innermost function and its line in the source.
names_line() {
	local status=0 line
	line=$(grep -n 'abort();' "$TOP/tests/programs/truth.cc" | cut -d: -f1)
	"$EPITAPH" report core >report || status=$?
	[ "$status" -le 1 ] || fail "report ends with $status"
	grep -Eq "last_words.*truth\.cc:$line" report || {
		cat report
		fail "no last_words at truth.cc:$line"
	}
}
