/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLACEHOLDERS_H
#define SSBATCH_PLACEHOLDERS_H

#include "act.h"

/* Returns NULL if the name is unknown. */
SS_NONNULL() const char *ssbatch_values_get(const struct ssbatch_values *values, const char *name);
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_values_set(
    struct ssbatch_values *values, const char *name, const char *value, struct ss_error *error);
SS_NONNULL() void ssbatch_values_free(struct ssbatch_values *values);

/*
 * Replaces the placeholders in the words of an act, which must not have been replaced before, and
 * adds --record to `showstopper`. With `fixed`, refuses placeholders that depend on what happens in
 * the run.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_act_replace(
    struct ssbatch_stage *stage, struct ssbatch_act *act, bool fixed, struct ss_error *error);

/*
 * Returns a text with its placeholders replaced, which the caller frees; NULL with the error set.
 * `{{` becomes `{`, and other braces stay.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) char *ssbatch_act_replace_text(struct ssbatch_stage *stage,
    const struct ssbatch_act *act, const char *text, struct ss_error *error);

#endif
