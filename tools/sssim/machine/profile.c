/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"

#define THREADS_MAX 1000000

struct reader {
    struct profile *profile;
    size_t room;                 /* number of allocated segments */
    ss_time time;                /* time of the last line */
    struct profile_segment next; /* the segment from `time` on; its length is still unknown */
    uint64_t number;             /* number of the current line, from 1 */
    uint64_t records;
};

static int keep(struct reader *reader, struct ss_error *error) {
    struct profile *profile = reader->profile;
    if (!SS_GROW(profile->segments, profile->count + 1, reader->room))
        return ss_error_memory(error);
    reader->next.length = reader->time - profile->length;
    profile->segments[profile->count++] = reader->next;
    profile->length = reader->time;
    return 0;
}

/* Parses a number of accesses. Accepts exponents, because programs write large numbers as 2e+07. */
static int read_accesses(const char *word, double *accesses, struct ss_error *error) {
    char *end = NULL;
    *accesses = word[strspn(word, "0123456789.eE+")] ? NAN : strtod(word, &end);
    if (end && end != word && !*end && *accesses >= 0 && isfinite(*accesses))
        return 0;
    return ss_error_fail(
        error, "'%s' is not a valid number of accesses per second", ss_words_show(word).text);
}

static int read_use(struct memory_use *use, char **words, struct ss_error *error) {
    if (read_accesses(words[0], &use->accesses, error) < 0 ||
        ss_units_load(words[1], 0, &use->waiting, error) < 0)
        return -1;
    if (use->waiting > 0 && use->accesses == 0)
        return ss_error_fail(error, "WAITING must be 0 if ACCESSES is 0");
    return 0;
}

static int take_record(struct reader *reader, char **words, size_t count, struct ss_error *error) {
    ss_time time;
    uint64_t threads;
    struct memory_use use = {0};

    if (ss_units_time(words[0], &time, error) < 0 || ss_units_count(words[1], &threads, error) < 0)
        return -1;
    if (count == 4 && read_use(&use, words + 2, error) < 0)
        return -1;
    if (threads > THREADS_MAX)
        return ss_error_fail(error, "too many threads: %s (at most %d)", words[1], THREADS_MAX);
    if (reader->records == 0 && time != 0)
        return ss_error_fail(error, "the first time is %s, but a profile must begin at 0",
            ss_words_show(words[0]).text);
    if (time < reader->time)
        return ss_error_fail(error, "time goes backward to %s", ss_words_show(words[0]).text);

    bool apart = time > reader->time;
    reader->time = time;
    if (apart && keep(reader, error) < 0)
        return -1;

    reader->next =
        (struct profile_segment){.threads = (uint32_t)threads, .has_use = count == 4, .use = use};
    reader->records++;
    return 0;
}

static int take_line(struct reader *reader, const char *line, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;
    if (count == 0)
        return 0;
    if (count == 2 || count == 4)
        return take_record(reader, words, count, error);
    return ss_error_fail(error,
        "invalid line \"%s\": use TIME THREADS, or TIME THREADS ACCESSES WAITING",
        ss_words_show(line).text);
}

int profile_read_stream(
    struct profile *profile, FILE *stream, const char *path, struct ss_error *error) {
    struct reader reader = {.profile = profile};
    SS_OWNED(free) char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stream) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        reader.number++;
        if (take_line(&reader, line, error) < 0)
            return ss_error_wrap(
                error, "%s:%llu", ss_words_show(path).text, (unsigned long long)reader.number);
    }

    if (ferror(stream))
        return ss_error_fail(
            error, "cannot read %s: %s", ss_words_show(path).text, strerror(errno));
    if (profile->length == 0)
        return ss_error_fail(error,
            "%s has no length: use at least two lines of TIME THREADS; the last one ends the "
            "profile",
            ss_words_show(path).text);
    return 0;
}

int profile_read(struct profile *profile, const char *path, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return ss_error_fail(
            error, "cannot open %s: %s", ss_words_show(path).text, strerror(errno));
    return profile_read_stream(profile, file, path, error);
}

void profile_free(struct profile *profile) {
    free(profile->segments);
    *profile = (struct profile){0};
}
