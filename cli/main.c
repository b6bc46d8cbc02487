/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: the only main() of epitaph; all else is in libepitaph-tools.a. */
#include "cli/commands.h"

int main(int argc, char *argv[])
{
	return ep_main(argc, argv);
}
