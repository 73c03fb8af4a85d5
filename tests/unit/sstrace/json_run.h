/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_JSON_RUN_H
#define SHOWSTOPPER_TESTS_JSON_RUN_H

/* Helpers for formats that a build may lack, and for checking warnings. */

#include "import_run.h"

static inline const struct sstrace_format *find_format(const char *name) {
    for (size_t i = 0; sstrace_formats[i]; i++) {
        if (strcmp(sstrace_formats[i]->name, name) == 0)
            return sstrace_formats[i];
    }
    return NULL;
}

#define JSON_MAIN(...)                                                                             \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        if (!find_format("sadf-json")) {                                                           \
            fputs("skipped: left-out: built without yajl\n", stderr);                              \
            return UNIT_SKIPPED;                                                                   \
        }                                                                                          \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        return unit_status(cmocka_run_group_tests(tests, NULL, NULL),                              \
            argc > 1 ? 1 : sizeof tests / sizeof *tests);                                          \
    }

/* Like import_named(); also stores the import's standard error. */
static inline struct import_run import_heard(const struct sstrace_format *format,
    const import_options *options, const char *text, size_t size, char heard[1024]) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_that(kept, >=, 0);
    assert_that(dup2(fileno(file), STDERR_FILENO), >=, 0);
    struct import_run run = import_named(format, options, "in", text, size);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    heard[fread(heard, 1, 1023, file)] = '\0';
    fclose(file);
    return run;
}

/* Returns the contents of a file of tests/data/import/; the caller frees them. */
static inline char *read_data(const char *name, size_t *size) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", IMPORT_DATA, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = malloc(65536);
    assert_non_null(text);
    *size = fread(text, 1, 65535, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

/* Returns `before`, `count` times the same letter, and `behind`; the caller frees it. */
static inline char *around(const char *before, size_t count, const char *behind) {
    size_t length = strlen(before);
    char *text = malloc(length + count + strlen(behind) + 1);
    assert_non_null(text);
    memcpy(text, before, length);
    memset(text + length, 'x', count);
    strcpy(text + length + count, behind);
    return text;
}

/*
 * Fails unless the import is refused with "LINE:COLUMN" equal to `place` and a message containing
 * `part`.
 */
static inline void assert_blamed(const struct sstrace_format *format, const import_options *options,
    const char *text, const char *place, const char *part) {
    char begin[64];
    struct import_run run = import_text(format, options, text);
    snprintf(begin, sizeof begin, "in:%s: ", place);
    if (run.result != 0 && strncmp(run.error.message, begin, strlen(begin)) != 0)
        fail_msg("not at %s: %s", place, run.error.message);
    assert_not_imported(&run, part);
}

#endif
