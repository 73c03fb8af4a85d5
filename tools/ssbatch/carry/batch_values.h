/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_BATCH_VALUES_H
#define SSBATCH_BATCH_VALUES_H

#include <stddef.h>

#include <showstopper/error.h>

/* Values that the commands of `once` lines have printed. */
struct ssbatch_value {
    char *name, *value;
};

struct ssbatch_values {
    struct ssbatch_value *items;
    size_t count, room;
};

/* Returns NULL if the name is unknown. */
SS_NONNULL() const char *ssbatch_values_get(const struct ssbatch_values *values, const char *name);
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_values_set(
    struct ssbatch_values *values, const char *name, const char *value, struct ss_error *error);
SS_NONNULL() void ssbatch_values_free(struct ssbatch_values *values);

#endif
