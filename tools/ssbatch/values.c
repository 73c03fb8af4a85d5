/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <errno.h>
#include <stdlib.h>

#include "base/owned.h"
#include "base/words.h"

static int read_line(struct ssbatch_values *values, const char *line, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;
    return count == 2 ? ssbatch_values_set(values, words[0], words[1], error) : 0;
}

int ssbatch_values_read(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error) {
    char path[SSBATCH_PATH];
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;
    int status = 0;
    ssbatch_study_file(study, "values", path);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT
                   ? 0
                   : ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    while (status == 0 && getline(&line, &room, file) > 0)
        status = read_line(values, line, error);
    return status < 0 ? ss_error_wrap(error, "%s", path) : 0;
}

static int write_all(const struct ssbatch_values *values, const struct ssbatch_study *study,
    struct ss_error *error) {
    char path[SSBATCH_PATH];
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return ss_error_memory(error);
    for (size_t i = 0; i < values->count; i++) {
        fprintf(stream, "%s ", values->items[i].name);
        ss_words_quote_line(stream, values->items[i].value);
        fputc('\n', stream);
    }
    ssbatch_study_file(study, "values", path);
    int status = fclose(stream) == EOF ? ss_error_memory(error)
                                       : ssbatch_disk_write(study->disk, path, text, error);
    free(text);
    return status;
}

int ssbatch_values_keep(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error) {
    struct ssbatch_values kept = {0};
    if (values->count == 0)
        return 0;
    SS_OWNED(close) int lock = ssbatch_study_lock(study, error);
    int status = lock < 0 ? -1 : ssbatch_values_read(&kept, study, error);
    for (size_t i = 0; status == 0 && i < values->count; i++) {
        if (!ssbatch_values_get(&kept, values->items[i].name))
            status =
                ssbatch_values_set(&kept, values->items[i].name, values->items[i].value, error);
    }
    if (status == 0 && write_all(&kept, study, error) == 0) {
        struct ssbatch_values found = *values;
        *values = kept;
        kept = found;
    } else {
        status = -1;
    }
    ssbatch_values_free(&kept);
    return status;
}
