/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/words.h"
#include "text_stream.h"

int ssprofile_choose(struct ssprofile_choice *choice, const char *text, struct ss_error *error) {
    struct stat status;
    char *path = strdup(text);
    choice->path = path;
    if (!path)
        return ss_error_memory(error);
    while (stat(path, &status) < 0) {
        char *colon = strrchr(path, ':');
        if (!colon || colon == path)
            return ss_error_fail(error, "%s: %s", ss_words_show(text).text, strerror(ENOENT));
        *colon = '\0';
    }

    choice->names = text + strlen(path);
    if (*choice->names && !*++choice->names)
        return ss_error_fail(error,
            "'%s' names no machine: use FILE:MACHINE or FILE:MACHINE:LIMITS",
            ss_words_show(text).text);
    if (!S_ISDIR(status.st_mode))
        return 0;
    choice->path = ss_words_format(error, "%s/results.csv", path);
    free(path);
    /* A file in a folder must not block: only a file that is named may be a pipe. */
    SS_OWNED(close)
    int table = choice->path ? ss_input_open(AT_FDCWD, choice->path, INT64_MAX, error) : -1;
    return table < 0 ? -1 : 0;
}

/* Returns whether a profile is called MACHINE:LIMITS. */
static bool is_called(const struct ssprofile_profile *profile, const char *names) {
    size_t length = strlen(profile->machine);
    return strncmp(names, profile->machine, length) == 0 && names[length] == ':' &&
           strcmp(names + length + 1, profile->limits) == 0;
}

/* Fails with the names of the candidates or, without any, of all profiles. */
static void refuse(const struct ssprofile_choice *choice, const struct ssprofile_results *results,
    size_t candidates, struct ss_error *error) {
    struct ss_text list;
    if (ss_text_open(&list, error) < 0)
        return;
    const char *comma = "";
    for (size_t i = 0; i < results->count; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        if (candidates > 0 && *choice->names && strcmp(choice->names, profile->machine) != 0)
            continue;
        fprintf(list.stream, "%s%s:%s", comma, profile->machine, profile->limits);
        comma = ", ";
    }
    SS_OWNED(free) char *names = ss_text_close(&list, error);
    if (names && candidates == 0)
        ss_error_fail(
            error, "%s has no machine %s: its machines are %s", choice->path, choice->names, names);
    else if (names)
        ss_error_fail(error, "%s has several machines: append a colon and one of these: %s",
            choice->path, names);
}

const struct ssprofile_profile *ssprofile_choice_find(const struct ssprofile_choice *choice,
    const struct ssprofile_results *results, struct ss_error *error) {
    const struct ssprofile_profile *found = NULL, *plain = NULL;
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        if (is_called(profile, choice->names))
            return profile;
        if (*choice->names && strcmp(choice->names, profile->machine) != 0)
            continue;
        found = profile;
        count++;
        if (*choice->names && strcmp(profile->limits, SSPROFILE_WITHOUT) == 0)
            plain = profile;
    }
    if (count == 1 || plain)
        return plain ? plain : found;
    refuse(choice, results, count, error);
    return NULL;
}
