/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUN_HEAD_H
#define SSREPORT_RUN_HEAD_H

#include "page_parts.h"
#include "report.h"

/* Prints how a run was made: its call, date, machine and trace, as far as its files say. */
SS_NONNULL() void ssreport_run_head(struct ssreport_page *page, const struct ssreport_run *run);

#endif
