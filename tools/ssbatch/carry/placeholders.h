/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLACEHOLDERS_H
#define SSBATCH_PLACEHOLDERS_H

#include "stage.h"

/*
 * Replaces the placeholders in the words of an act, which had none so far, and adds --record to
 * `showstopper`. With `fixed`, placeholders that depend on what happens in the run are refused.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_act_replace(
    struct ssbatch_stage *stage, struct ssbatch_act *act, bool fixed, struct ss_error *error);

/* Returns a text with its placeholders replaced, to be freed; NULL with the error set. */
SS_MUST_USE SS_NONNULL(1, 2, 3) char *ssbatch_act_replace_text(struct ssbatch_stage *stage,
    const struct ssbatch_act *act, const char *text, struct ss_error *error);

#endif
