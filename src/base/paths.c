/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/walk.h"
#include "base/words.h"

/* An existing file, or the folder and name of a file that does not exist yet. */
struct place {
    bool known, exists;
    struct stat status;
    char name[NAME_MAX + 1];
};

static void resolve(struct place *place, const char *path) {
    struct ss_walk walk;
    place->exists = stat(path, &place->status) == 0;
    place->known = place->exists;
    if (place->exists)
        return;

    if (ss_walk_begin(&walk, path) == 0 && walk.folder >= 0)
        place->known = fstat(walk.folder, &place->status) == 0;
    strcpy(place->name, walk.name);
    ss_walk_end(&walk);
}

/* Devices never count as the same file: several options may name one. */
static bool is_same(const struct place *a, const struct place *b) {
    bool is_device = S_ISCHR(a->status.st_mode) || S_ISBLK(a->status.st_mode);
    return a->known && b->known && a->exists == b->exists && a->status.st_dev == b->status.st_dev &&
           a->status.st_ino == b->status.st_ino &&
           (a->exists ? !is_device : strcmp(a->name, b->name) == 0);
}

static int check_pair(const struct ss_path *a, const struct ss_path *b, struct ss_error *error) {
    struct place first, second;
    if (!a->path || !b->path || (a->is_input && b->is_input))
        return 0;

    resolve(&first, a->path);
    resolve(&second, b->path);
    if (!is_same(&first, &second))
        return 0;

    if (a->is_input || b->is_input)
        return ss_error_fail(error, "%s would overwrite %s, which %s reads: choose another file",
            a->is_input ? b->option : a->option, ss_words_show(b->path).text,
            a->is_input ? a->option : b->option);
    return ss_error_fail(error, "%s and %s would both write to %s: choose another file", a->option,
        b->option, ss_words_show(b->path).text);
}

static int check_printed(const struct ss_path *path, int printed, struct ss_error *error) {
    struct place first, second = {.known = true, .exists = true};
    if (!path->path || fstat(printed, &second.status) < 0)
        return 0;

    resolve(&first, path->path);
    if (!is_same(&first, &second))
        return 0;
    return ss_error_fail(error,
        "%s: %s is standard output, where the results are printed: "
        "choose another file, or use --quiet",
        path->option, ss_words_show(path->path).text);
}

int ss_paths_check(const struct ss_path *paths, size_t count, int printed, struct ss_error *error) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (check_pair(&paths[j], &paths[i], error) < 0)
                return -1;
        }
        if (printed >= 0 && check_printed(&paths[i], printed, error) < 0)
            return -1;
    }
    return 0;
}

void ss_paths_drop_empty(void) {
    char *to = getenv("PATH");
    struct ss_words_part part;
    if (!to)
        return;

    char *begin = to;
    for (const char *at = to; ss_words_next(&at, ':', &part);) {
        if (part.length == 0)
            continue;
        if (to > begin)
            *to++ = ':';
        memmove(to, part.text, part.length);
        to += part.length;
    }

    *to = '\0';
    if (to == begin)
        unsetenv("PATH");
}

int ss_paths_fail(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", path, strerror(errno));
}
