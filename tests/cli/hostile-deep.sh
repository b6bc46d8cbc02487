# SPDX-License-Identifier: BSD-2-Clause
# Recursion without end: a quarter of a million calls are open when the stack is full. Every command and every format takes time in
# proportion to them: 10 s of the processor, where the square of them takes more.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
cat >deep.c <<'END'
volatile int sink;
__attribute__((noinline)) static int deep(int n)
{
	int r = deep(n + 1);

	sink++;
	return r + 1;
}
int main(void)
{
	return deep(0);
}
END
"$BIN/epitaph-cc" -O1 -w deep.c -o deep
EPITAPH_RING=8M EPITAPH_MEMORY=16M crash core "$PWD/deep"
calls=$("$BIN/epitaph" replay --format=tsv core | grep -c '^B.*did-not-return')
[ "$calls" -gt 200000 ] || { echo "only $calls open calls"; exit 1; }
ulimit -t 10
for command in report stats replay 'diff core' 'export -f viztracer' 'export -f jsonl' 'export -f speedscope' 'export -f funtrace -o raw'; do
	# shellcheck disable=SC2086
	"$BIN/epitaph" $command core >out 2>err || [ $? -eq 1 ] || say "$command: $(tail -n 1 err)"
done
exit $((failures != 0))
