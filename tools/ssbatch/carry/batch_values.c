/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *ssbatch_values_get(const struct ssbatch_values *values, const char *name) {
    for (size_t i = 0; i < values->count; i++) {
        if (strcmp(values->items[i].name, name) == 0)
            return values->items[i].value;
    }
    return NULL;
}

int ssbatch_values_set(
    struct ssbatch_values *values, const char *name, const char *value, struct ss_error *error) {
    struct ssbatch_value item = {strdup(name), strdup(value)};
    if (item.name && item.value && SS_GROW(values->items, values->count + 1, values->room)) {
        values->items[values->count++] = item;
        return 0;
    }
    free(item.name);
    free(item.value);
    return ss_error_memory(error);
}

void ssbatch_values_free(struct ssbatch_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        free(values->items[i].name);
        free(values->items[i].value);
    }
    free(values->items);
    *values = (struct ssbatch_values){0};
}
