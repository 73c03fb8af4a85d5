/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_BATCH_H
#define SSBATCH_BATCH_H

#include "batch_options.h"

/* `status` becomes 1 if a run failed, was refused, or cannot start. */
typedef int ssbatch_action(
    const struct ssbatch_options *options, int *status, struct ss_error *error);

ssbatch_action ssbatch_carry_out, ssbatch_list, ssbatch_clean, ssbatch_dry_run;

#endif
