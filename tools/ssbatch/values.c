/* SPDX-License-Identifier: Apache-2.0 */
/* The values of `once` lines in the folder of a study, as lines NAME VALUE. */

#include <errno.h>
#include <stdlib.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/words.h"
#include "carry_run.h"
#include "placeholders.h"
#include "text_stream.h"

int ssbatch_values_read(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, ".study/values");
    SS_OWNED(free) char *line = NULL;
    size_t room = 0, count;
    struct ss_error why = {0};
    SS_OWNED(fclose) FILE *file = ssbatch_study_open_file(study, "values", &why);
    if (!file)
        return why.status ? ss_error_fail(error, "%s", why.message) : 0;

    while (getline(&line, &room, file) > 0) {
        SS_OWNED(free) char **words = ss_words_split(line, &count, error);
        if (!words || (count == 2 && ssbatch_values_set(values, words[0], words[1], error) < 0))
            return ss_error_wrap(error, "%s", path.text);
    }
    return 0;
}

static int write_all(const struct ssbatch_values *values, const struct ssbatch_study *study,
    struct ss_error *error) {
    const struct ssbatch_path path = ssbatch_study_path(study, ".study/values");
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    for (size_t i = 0; i < values->count; i++) {
        fprintf(text.stream, "%s ", values->items[i].name);
        ss_words_quote(text.stream, values->items[i].value);
        fputc('\n', text.stream);
    }

    SS_OWNED(free) char *lines = ss_text_close(&text, error);
    return lines ? ssbatch_disk_write(study->state, "values", path.text, lines, error) : -1;
}

static int add_missing(
    struct ssbatch_values *kept, const struct ssbatch_values *values, struct ss_error *error) {
    for (size_t i = 0; i < values->count; i++) {
        const struct ssbatch_value *value = &values->items[i];
        if (!ssbatch_values_get(kept, value->name) &&
            ssbatch_values_set(kept, value->name, value->value, error) < 0)
            return -1;
    }
    return 0;
}

int ssbatch_values_store(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error) {
    struct ssbatch_values kept = {0};
    if (values->count == 0)
        return 0;

    SS_OWNED(close) int lock = ssbatch_study_lock(study, error);
    if (lock < 0)
        return -1;
    if (ssbatch_values_read(&kept, study, error) < 0 || add_missing(&kept, values, error) < 0 ||
        write_all(&kept, study, error) < 0) {
        ssbatch_values_free(&kept);
        return -1;
    }

    ssbatch_values_free(values);
    *values = kept;
    return 0;
}
