# SPDX-License-Identifier: BSD-2-Clause
# exports.bash: what the tests of exports share: readers that others wrote, where ci/install-deps put them. Sourced after
# traced.bash.

NPM=$TOP/build/npm/node_modules
EXPORTS=$TOP/tests/cli/lib/exports.py

need_npm() { # PACKAGE...: skips the test when one is not there
	local package
	for package; do
		[ -f "$NPM/$package/package.json" ] && continue
		echo "npm package $package is not there (ci/install-deps gets it where a registry is in reach)"
		exit 77
	done
}

fits() { # SCHEMA FILE: the file is what the schema says: all_fit looks at it
	local place
	mkdir -p "fits/$1"
	# shellcheck disable=SC2012
	place=fits/$1/$(ls "fits/$1" | wc -l)
	mkdir "$place"
	cp "$2" "$place/"
}

all_fit() { # at the end: each schema is read once
	local folder schema
	for folder in fits/*; do
		schema=$TOP/tests/cli/lib/schemas/${folder#fits/}.json
		[ "$folder" != fits/speedscope ] || schema=$NPM/speedscope/dist/release/file-format-schema.json
		node "$TOP/tests/cli/lib/validate.js" "$NPM" "$schema" "$folder"/*/* >unfit ||
			{ say "no ${folder#fits/}:"; sed 's/^/	/' unfit; }
	done
}

import() { # FILE OUTPUT: by speedscope
	node "$TOP/tests/cli/lib/speedscope.js" "$NPM" "$1" >"$2" || { say "speedscope does not import $1:"; tail -n 3 "$2"; }
}

agrees() { # FORMAT TSV FILE...: the same calls as replay's
	python3 -B "$EXPORTS" "$@" >difference || { say "$*:"; sed 's/^/	/' difference; }
}

# A program whose functions have names that writers trip over: a semicolon, quotes, the end of a script, bytes
# that are no UTF-8, what clears a terminal, a newline.
odd_program() { # OUTPUT
	"$BIN/epitaph-c++" -g -O1 -fno-optimize-sibling-calls -c "$TOP/tests/programs/oddnames.cc" -o "$1.o"
	objcopy --redefine-sym 'odd_semicolon=semi;colon;' --redefine-sym 'odd_quote=quo"te\back</script><script>x' \
		--redefine-sym $'odd_bytes=by\xff\xfetes\ttab\e[2J' --redefine-sym $'odd_blank=blank and\nnewline 7' "$1.o"
	"$BIN/epitaph-c++" "$1.o" -o "$1" -lpthread
}

need_protoc() { # skips the test where it is not there
	command -v protoc >/dev/null && return 0
	echo "protoc is not there (ci/install-deps gets it)"
	exit 77
}

decoded() { # FILE: a Perfetto trace as text, by the numbers in schemas/perfetto.proto
	protoc -I "$TOP/tests/cli/lib/schemas" --decode=Trace "$TOP/tests/cli/lib/schemas/perfetto.proto" <"$1" ||
		{ say "protoc does not read $1" >&2; }
}

asks() { # FILE PYTHON: statements about `trace`, a Perfetto trace as decoded; see perfetto.py
	python3 -B - "$TOP/tests/cli/lib" "$1" "$2" >unasked 2>&1 <<'END' || { say 'not as it must be:'; tail -n 3 unasked; say "$2"; }
import collections, json, re, sys, time
sys.path.insert(0, sys.argv[1])
from perfetto import Trace, number, one
trace = Trace(sys.argv[2])
def slices():
    return sorted((s for track in trace.slices.values() for s in track), key=lambda s: s.begin)
def first(name):
    return next(s for s in slices() if s.name.split("(")[0] == name)
def instants():
    return sorted((i for track in trace.instants.values() for i in track), key=lambda i: i[0])
def counter(name):
    return [value for uuid, values in trace.counters.items() if trace.tracks[uuid]["name"] == [name] for value in values]
exec(sys.argv[3])
END
}
