/* SPDX-License-Identifier: Apache-2.0 */
#include "output_file.h"

#include <errno.h>
#include <string.h>

#include "base/words.h"

FILE *output_file_create(const char *folder, const char *name, struct ss_error *error) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    if (!file)
        ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return file;
}
