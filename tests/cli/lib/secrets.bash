# SPDX-License-Identifier: BSD-2-Clause
# secrets.bash: a program with a secret in every place that a snapshot takes bytes from (tests/programs/secrets.c), and which
# of them a file tells. Sourced after traced.bash.

main="Argv Env Cwd Exe Prg Lib So Run Thr Vec Gpr Heap Span Note Stack Abort Dog"
all="$main Fil" # of an arena in a file
tail=Q7w2Zx9

build_secrets() { # in the present folder
	mkdir -p "Exe$tail" "Cwd$tail" "Lib$tail"
	echo 'int library(void) { return 1; }' >library.c
	gcc -shared -fPIC library.c -o "Lib$tail/So$tail"
	# Its link map's name is in the RUNPATH's folder, which is in the first page.
	"$BIN/epitaph-cc" -g -O1 -I"$TOP" "$TOP/tests/programs/secrets.c" -o "Exe$tail/Prg$tail" -ldl -lpthread \
		-Wl,--disable-new-dtags "-Wl,-rpath,/nowhere/Run$tail"
	secrets=("$PWD/Exe$tail/Prg$tail" "$PWD/Lib$tail/So$tail" "Argv$tail")
}

# run_secrets [WORD]: it, in its folder. EPITAPH_SCHED= and others come from the caller.
# Its pid is then in the file pid.
run_secrets() { (echo "$BASHPID" >pid && cd "Cwd$tail" && exec env "Secret=Env$tail" "${secrets[@]}" "$@"); }

# told FILE: those that it tells, in its bytes or by the reader's words, as one line. What of the program a reader takes from
# elsewhere is not told by the file: so its files are away meanwhile.
told() {
	local file=$1 word found
	[ -s "$file" ] || echo "no file $file"
	mv "Exe$tail" exe.away && mv "Lib$tail" lib.away
	{
		cat "$file"
		"$EPITAPH" info --modules "$file"
		"$EPITAPH" info --json "$file"
		"$EPITAPH" report --all "$file"
		"$EPITAPH" replay "$file"
		"$EPITAPH" export --format=jsonl -o - "$file"
	} >told.txt 2>&1 || true
	mv exe.away "Exe$tail" && mv lib.away "Lib$tail"
	# The register holds eight bytes.
	LC_ALL=C grep -aoE '[A-Z][a-z]{1,4}Q7w2Z(x9)?' told.txt | sort -u >told.words
	for word in $all; do
		if [ "$word" = Gpr ]; then found=GprQ7w2Z; else found=$word$tail; fi
		! grep -qF "$found" told.words || printf '%s ' "$word"
	done
	echo
}

# shows FILE WORDS WHAT: these at least
shows() {
	local got word
	got=" $(told "$1")"
	for word in $2; do
		[[ $got == *" $word "* ]] || say "$3 does not show $word, but$got"
	done
}

# tells FILE WORDS WHAT: exactly these, in the order of $all
tells() {
	local got
	got=$(told "$1")
	[ "$got" = "$2${2:+ }" ] || say "$3 tells \"$got\", not \"$2\""
}
