# SPDX-License-Identifier: BSD-2-Clause
# html.bash: what tests of `export -f html` share. PAGE_BROWSER is chromium or firefox: one program is the test's script for both.

PAGE_BROWSER=${PAGE_BROWSER:-chromium}

need_browser() { # skips the test where it is not there
	local program=$PAGE_BROWSER
	[ "$program" != firefox ] || program=${FIREFOX:-firefox-esr}
	command -v "$program" >/dev/null && return 0
	echo "$program is not there (ci/install-deps check gets chromium, ci/install-deps real firefox-esr)"
	exit 77
}

# in_browser PAGE JSONL SCENARIO...: 0 when the page is as it should be, else what is not is in `unlike`
in_browser() {
	python3 -B "$TOP/tests/cli/lib/html_page.py" "$PAGE_BROWSER" "$@" >unlike 2>&1
}
