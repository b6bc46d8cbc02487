# SPDX-License-Identifier: BSD-2-Clause
# --help, man pages and completions come from one table: each names every command and every option of it, groff finds
# nothing to say of the pages, and bash completes what there is.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

gives 0 "$EPITAPH" --version
grep -qE '^epitaph [0-9]+\.[0-9]+\.[0-9]+$' out || say 'no version'
gives 0 "$EPITAPH" --help
mv out help
# A name is one word or two; two blanks end it.
commands=$(sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' help)
[ "$(wc -l <<<"$commands")" -ge 6 ] || say "commands: $commands"
for status in 0 1 2 3 64; do grep -qE "^  $status +[a-z]" help || say "status $status is not explained"; done
gives 0 "$EPITAPH" help
cmp -s out help || say 'help and --help differ'

gives 3 "$EPITAPH" help --man-pages no/such/folder
has err no/such/folder
gives 0 "$EPITAPH" help --man-pages man
tr -d '\\' <man/epitaph.1 >plain.1
gives 0 "$EPITAPH" help --completion bash
mv out completion
bash -n completion || say "bash does not read its completion"
not_completed() { # OPTION...: those of the command $words that four letters of theirs do not give
	(
		source ./completion
		compopt() { :; }
		for option; do
			COMP_WORDS=(epitaph "${words[@]}" "${option:0:4}") COMP_CWORD=$((${#words[@]} + 1)) COMPREPLY=()
			_epitaph
			[[ ${COMPREPLY[*]} == *"$option"* ]] || echo "$option"
		done
	)
}
while read -r command; do
	read -ra words <<<"$command"
	page=epitaph-${command// /-}.1
	grep -q "^\.BR epitaph-${command// /-} " plain.1 || say "epitaph.1 has no $command"
	gives 0 "$EPITAPH" "${words[@]}" --help
	mv out "help.$command"
	gives 0 "$EPITAPH" help "${words[@]}"
	cmp -s out "help.$command" || say "help $command and $command --help differ"
	# What it does in one line, an example, the options; the rest is the man page's.
	sed -n 5p out | grep -qx 'example:' && sed -n 6p out | grep -q "^  epitaph $command" || say "$command --help: no example"
	has out "man ${page%.1} has more."
	grep -q '^\.SH EXAMPLE' "man/$page" && grep -q '^\.SH DESCRIPTION' "man/$page" || say "$page has no example, or no text"
	options=$(grep -oE '^ +(-[a-zA-Z], +)?--[a-z-]+' "help.$command" | grep -oE -- '--[a-z-]+')
	[ -n "$options" ] || say "$command has no options"
	plain=$(tr -d '\\' <"man/$page")
	for option in $options; do
		[[ $plain == *"$option"* ]] || say "$page has no $option"
	done
	# shellcheck disable=SC2086
	not_completed $options >missed
	[ ! -s missed ] || say "$command does not complete $(xargs <missed)"
	# Lines fit a terminal.
	awk -v command="$command" 'length($0) > 80 { print command ": " $0; exit 1 }' "help.$command" || say 'a line is too long'
done <<<"$commands"
# export's formats are those of its table, wherever they are named; so is which of them an option is for.
tr -s ' \n' ' ' <help.export >help.words
tr -d '\\' <man/epitaph-export.1 >plain
tr '\n' ' ' <plain >plain.words
gives 64 "$EPITAPH" export -f flowers core
formats=$(sed -n 's/^.*formats are: //p' err | tr -d ,)
[ "$(wc -w <<<"$formats")" -ge 12 ] || say "formats: $formats"
grep -qF "one of $formats;" help.words || say "export --help has other formats than $formats"
said=$(sed -nE '/^\.SH DESCRIPTION/,/^\.SH EXAMPLE/s/^([a-z]+): .*/\1/p' plain | tr '\n' ' ')
[ "$said" = "$formats " ] || say "epitaph-export.1 explains $said, not $formats"
for ending in .html .htm .pftrace .perfetto-trace .jsonl .ndjson .collapsed .folded .speedscope.json .dot .gv .raw .svg; do
	gives 3 "$EPITAPH" export -o "a$ending" no/core
	grep -qF " $ending " plain.words || say "epitaph-export.1 does not have $ending"
done
for option in sources=. raw-timestamps weight=calls merge-threads min-percent=1 zstd overwrite; do
	gives 64 "$EPITAPH" export -f perfetto --$option no/core
	of=$(sed -n 's/^.* is for --format=\(.*\) only$/\1/p' err | sed 's/ and --format=/, /g')
	grep -q "^$of: " plain && grep -qE -- "--${option%%=*}[A-Z=]* $of: " help.words ||
		say "--${option%%=*} is for $of, and help or man page say otherwise"
done
for words in 'count --help' 'budget -h' 'help count'; do
	# shellcheck disable=SC2086
	gives 0 "$EPITAPH" $words
	grep -qE '^  (count|budget) (merge|run) ' out && [ ! -s err ] || say "$words: $(cat out err)"
done
gives 64 "$EPITAPH" count
gives 64 "$EPITAPH" count --help more
# All in one go: each begins anew with its .TH.
groff -man -ww -Tutf8 -z man/*.1 2>warnings >/dev/null || say "groff refuses a page"
[ ! -s warnings ] || { say "groff:"; cat warnings; }
MANWIDTH=80 man -l man/*.1 >text 2>warnings
[ ! -s warnings ] || { say "man:"; cat warnings; }
for page in man/*.1; do
	grep -q '^\.SH EXIT STATUS\|^\.SH "EXIT STATUS"' "$page" || say "$page has no exit statuses"
done
pages=(man/*.1)
[ "$(grep -c 'EXIT STATUS' text)" -ge ${#pages[@]} ] || say "man shows exit statuses of $(grep -c 'EXIT STATUS' text) of ${#pages[@]} pages"
for shell in zsh fish; do
	gives 0 "$EPITAPH" help --completion $shell
	grep -q replay out || say "the completion for $shell has no commands"
done

# Words that are not understood: 64, on stderr, with the nearest one.
gives 64 "$EPITAPH"
[ ! -s out ] || say 'usage goes to stderr'
gives 64 "$EPITAPH" repotr core
has err 'did you mean report?'
gives 64 "$EPITAPH" help repotr
gives 64 "$EPITAPH" count
has err 'report, merge, diff'
gives 64 "$EPITAPH" count reprot file
has err 'report, merge, diff'
gives 64 "$EPITAPH" help report core
gives 64 "$EPITAPH" flowers
gives 64 "$EPITAPH" replay --lsat=3 core
has err 'did you mean --last?'
gives 64 "$EPITAPH" replay --last
has err 'needs a value'
gives 64 "$EPITAPH" replay
gives 64 "$EPITAPH" replay one two
gives 64 "$EPITAPH" replay --merged=3 core
gives 64 "$EPITAPH" replay -Q core
has err '-Q'
gives 64 "$EPITAPH" replay --color=blue core
gives 64 "$EPITAPH" help --completion tcsh
for bad in --last=x --last=-3 --last=5 --since=10ms --since=-10 --until=x --depth=0 --depth=x --min-duration=5 --format=x; do
	[ $bad = --last=5 ] && continue
	gives 64 "$EPITAPH" replay $bad core
	has err "${bad%%=*}"
done
# They need no source to be refused; one that is not there is another thing.
gives 3 "$EPITAPH" replay --last=5 core
has err core
exit $((failures != 0))
