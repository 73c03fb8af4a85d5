/* SPDX-License-Identifier: Apache-2.0 */
#include "origin.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/words.h"

char *ssprofile_beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    return ss_words_format(NULL, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
}

struct ssprofile_origin ssprofile_origin_of(const char *results_path) {
    struct ssprofile_origin origin = {0};
    SS_OWNED(free) char *profile = ssprofile_beside(results_path, "profile.json");
    SS_OWNED(free) char *version = ssprofile_beside(results_path, "version.txt");
    origin.measured = profile && ss_input_exists(AT_FDCWD, profile);
    SS_OWNED(fclose)
    FILE *stream = version ? ss_input_stream(AT_FDCWD, version, INT64_MAX, NULL) : NULL;
    if (!stream || !fgets(origin.version, sizeof origin.version, stream))
        origin.version[0] = '\0';
    origin.version[strcspn(origin.version, "\n")] = '\0';
    return origin;
}
