/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/words.h"

static bool exists(const char *path, bool *folder) {
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    *folder = S_ISDIR(status.st_mode);
    return true;
}

/* Splits MACHINE or MACHINE:LIMITS. */
static int split_names(struct ssprofile_choice *choice, const char *names, struct ss_error *error) {
    const char *colon = strrchr(names, ':');
    /* The name of a machine may be an IPv6 address, which may end with two colons. */
    if (colon && !colon[1] && colon > names && colon[-1] == ':')
        colon = NULL;
    size_t length = colon ? (size_t)(colon - names) : strlen(names);
    if (length == 0 || length >= sizeof choice->machine ||
        (colon && (!colon[1] || strlen(colon + 1) >= sizeof choice->limits)))
        return ss_error_fail(error,
            "'%s' names no machine: use FILE:MACHINE or FILE:MACHINE:LIMITS",
            ss_words_show(names).text);
    snprintf(choice->machine, sizeof choice->machine, "%.*s", (int)length, names);
    snprintf(choice->limits, sizeof choice->limits, "%s", colon ? colon + 1 : "");
    return 0;
}

int ssprofile_choose(struct ssprofile_choice *choice, const char *text, struct ss_error *error) {
    bool folder = false;
    size_t length = strlen(text);
    *choice = (struct ssprofile_choice){0};
    if (length > 4000)
        return ss_error_fail(error, "%s: the path is too long", ss_words_show(text).text);
    strcpy(choice->path, text);
    while (!exists(choice->path, &folder)) {
        char *colon = strrchr(choice->path, ':');
        if (!colon || colon == choice->path)
            return ss_error_fail(error, "%s: %s", ss_words_show(text).text, strerror(ENOENT));
        *colon = '\0';
    }
    length = strlen(choice->path);
    int result = text[length] ? split_names(choice, text + length + 1, error) : 0;
    if (folder)
        strcat(choice->path, "/results.csv");
    return result;
}

/* Lists profiles for messages: "a:without, a:quota-40, ...". */
static void name_profiles(
    char *text, size_t size, const struct ssprofile_results *results, const char *machine) {
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < results->count && used < size; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        if (*machine && strcmp(machine, profile->machine) != 0)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s", used > 0 ? ", " : "",
            profile->machine, profile->limits);
    }
}

/*
 * Returns whether a profile is a candidate. Without a chosen machine, its limits must match, if any
 * are chosen; otherwise its machine must be `name`, and its limits do not matter.
 */
static bool matches(const struct ssprofile_choice *choice, const struct ssprofile_profile *profile,
    const char *name) {
    if (!*choice->machine)
        return !*choice->limits || strcmp(choice->limits, profile->limits) == 0;
    return strcmp(name, profile->machine) == 0;
}

const struct ssprofile_profile *ssprofile_results_find(const struct ssprofile_results *results,
    const struct ssprofile_choice *choice, struct ss_error *error) {
    const struct ssprofile_profile *found = NULL, *plain = NULL;
    size_t count = 0;
    char names[600], name[1100];
    snprintf(
        name, sizeof name, "%s%s%s", choice->machine, *choice->limits ? ":" : "", choice->limits);
    for (size_t i = 0; i < results->count; i++) {
        const struct ssprofile_profile *profile = &results->profiles[i];
        size_t length = strlen(profile->machine);
        if (*choice->machine && strncmp(name, profile->machine, length) == 0 &&
            name[length] == ':' && strcmp(name + length + 1, profile->limits) == 0)
            return profile;
        if (!matches(choice, profile, name))
            continue;
        found = profile;
        count++;
        if (strcmp(profile->limits, SSPROFILE_WITHOUT) == 0)
            plain = profile;
    }
    if (count == 1)
        return found;
    if (count > 1 && *choice->machine && plain)
        return plain;
    name_profiles(names, sizeof names, results, count > 0 ? name : "");
    if (count == 0)
        ss_error_fail(
            error, "%s has no machine %s: its machines are %s", choice->path, name, names);
    else
        ss_error_fail(error, "%s has several machines: append a colon and one of these: %s",
            choice->path, names);
    return NULL;
}
