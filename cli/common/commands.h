/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h: the commands, each in a file of its own name. */
#ifndef EPITAPH_COMMANDS_H
#define EPITAPH_COMMANDS_H

#include "cli/common/option.h"

extern const struct ep_command ep_command_report;
extern const struct ep_command ep_command_extract;
extern const struct ep_command ep_command_info;
extern const struct ep_command ep_command_replay;
extern const struct ep_command ep_command_stats;
extern const struct ep_command ep_command_export;
extern const struct ep_command ep_command_tui;
extern const struct ep_command ep_command_diff;
extern const struct ep_command ep_command_catch;
extern const struct ep_command ep_command_list;
extern const struct ep_command ep_command_doctor;
extern const struct ep_command ep_command_control;
extern const struct ep_command ep_command_count_report;
extern const struct ep_command ep_command_count_merge;
extern const struct ep_command ep_command_count_diff;
extern const struct ep_command ep_command_calibrate;
extern const struct ep_command ep_command_exclude;
extern const struct ep_command ep_command_budget_check;
extern const struct ep_command ep_command_budget_run;
extern const struct ep_command ep_command_run;
extern const struct ep_command ep_command_help;

#endif
