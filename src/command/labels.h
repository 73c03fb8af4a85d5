/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_LABELS_H
#define SHOWSTOPPER_COMMAND_LABELS_H

#include <stddef.h>

#include <showstopper/error.h>

#include "options/values.h"

#define SS_LABELS_MAX      64
#define SS_LABEL_NAME_MAX  64   /* limit of characters in a name */
#define SS_LABEL_VALUE_MAX 1024 /* limit of bytes in a value */

/* A user's note about a run, kept in its record. */
struct ss_label {
    const char *name;
    const char *value;
};

struct ss_labels {
    struct ss_label items[SS_LABELS_MAX];
    size_t count;
};

/* Adds NAME=VALUE. The store owns the texts. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ss_labels_add(struct ss_labels *labels, const char *text,
    struct ss_option_store *store, struct ss_error *error);

#endif
