/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FUZZ_H
#define SHOWSTOPPER_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Like assert(), but not disabled by NDEBUG. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/*
 * Returns the input as a string, which the caller frees. Its block has the exact size, so that
 * overreads are detected.
 */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Returns a file with the input, which the caller closes, and sets its path. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[32]) {
    int file = memfd_create("input", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    snprintf(path, 32, "/proc/self/fd/%d", file);
    return file;
}

static inline FILE *fuzz_stream(const void *data, size_t size) {
    FILE *stream = size > 0 ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");
    FUZZ_CHECK(stream);
    return stream;
}

#endif
