/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "grouped_values.h"

static void check(const struct grouped_values *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct grouped_group *group = &groups->groups[i];
        FUZZ_CHECK(*group->name && group->count > 0);
        for (size_t j = 0; j < group->count; j++)
            FUZZ_CHECK(
                !isnan(group->values[j]) && (j == 0 || group->values[j - 1] <= group->values[j]));
    }
}

static void read_groups(const char *path, const struct grouped_columns *columns) {
    struct grouped_values groups = {0};
    struct ss_error error = {0};
    if (grouped_values_read(&groups, path, columns, &error) == 0)
        check(&groups);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    grouped_values_free(&groups);
}

/* Reads the input as a table, and as a group on the command line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct grouped_values groups = {0};
    struct ss_error error = {0};
    char path[64], *text = fuzz_text(data, size);
    int file = memfd_create("table", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_groups(path, &(struct grouped_columns){"v", NULL, NULL});
    read_groups(path, &(struct grouped_columns){"v", "g", "r"});
    if (grouped_values_add(&groups, text, &error) == 0)
        FUZZ_CHECK(groups.count == 1 && *groups.groups[0].name);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    grouped_values_free(&groups);
    close(file);
    free(text);
    return 0;
}
