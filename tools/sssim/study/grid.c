/* SPDX-License-Identifier: Apache-2.0 */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

int grid_add_axis(struct grid *grid, const char *text, struct ss_error *error) {
    size_t length = strcspn(text, "=");
    if (length == 0 || !text[length])
        return ss_error_fail(error, "'%s' is not an option with values: use --sweep NAME=VALUE,...",
            ss_words_show(text).text);
    if (grid->count == GRID_AXES_MAX)
        return ss_error_fail(error, "too many options to sweep (at most %d)", GRID_AXES_MAX);
    struct grid_axis *axis = &grid->axes[grid->count++];
    axis->values = ss_words_split_list(text + length + 1, &axis->count, error);
    axis->name = strndup(text, length);
    if (!axis->values || !axis->name)
        return ss_error_memory(error);
    if (strcmp(axis->name, "sweep") == 0)
        return ss_error_fail(error, "'sweep' cannot be swept: name another option");
    for (size_t i = 0; i + 1 < grid->count; i++) {
        if (strcmp(grid->axes[i].name, axis->name) == 0)
            return ss_error_fail(error, "--%s is swept twice: give all its values to one --sweep",
                ss_words_show(axis->name).text);
    }
    return 0;
}

size_t grid_count_runs(const struct grid *grid) {
    size_t count = 1;
    for (size_t i = 0; i < grid->count; i++)
        count *= grid->axes[i].count;
    return count;
}

void grid_close(struct grid *grid) {
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->axes[i].name);
        free(grid->axes[i].values);
    }
    *grid = (struct grid){0};
}
