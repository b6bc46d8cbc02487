/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: what such commands have in common. */
#include "cli/common/layout.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/say.h"
#include "coredump/util/utf8.h"

int ep_choose_form(struct ep_table_form *form, const struct ep_arguments *arguments)
{
	bool csv = ep_argument_given(arguments, "csv");
	bool json = ep_argument_given(arguments, "json");

	if (csv && json) {
		ep_say("--csv or --json, not both");
		return EP_EXIT_USAGE;
	}
	form->layout = csv ? EP_LAYOUT_CSV : json ? EP_LAYOUT_JSON : EP_LAYOUT_TEXT;
	return ep_argument_number(arguments, "limit", 1, UINT64_MAX,
				  "a number of functions, from 1", &form->limit);
}

size_t ep_form_rows(const struct ep_table_form *form, size_t count)
{
	return form->limit && form->limit < count ? (size_t)form->limit : count;
}

void ep_csv_field(const char *text)
{
	size_t left = strlen(text), taken;
	char shown[5];

	putchar('"');
	if (ep_is_formula(text))
		putchar('\'');
	for (; left; text += taken, left -= taken) {
		if (*text == '"')
			putchar('"');
		taken = ep_utf8_show(text, left, shown);
		fputs(shown, stdout);
	}
	putchar('"');
}
