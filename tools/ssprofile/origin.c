/* SPDX-License-Identifier: Apache-2.0 */
#include "origin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

void ssprofile_folder_of(char *folder, size_t size, const char *path) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

struct ssprofile_origin ssprofile_origin_of(const char *results_path) {
    struct ssprofile_origin origin = {0};
    char folder[4200], path[4300];
    ssprofile_folder_of(folder, sizeof folder, results_path);
    snprintf(path, sizeof path, "%s/profile.json", folder);
    origin.measured = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "%s/version.txt", folder);
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    if (!stream || !fgets(origin.version, sizeof origin.version, stream))
        origin.version[0] = '\0';
    origin.version[strcspn(origin.version, "\n")] = '\0';
    return origin;
}

int ssprofile_origin_check(const struct ssprofile_origin *base,
    const struct ssprofile_origin *target, const char *results, struct ss_error *error) {
    if (!*base->version || !*target->version || strcmp(base->version, target->version) == 0)
        return 0;
    return ss_error_fail(error,
        "%s was measured with '%s', but the base with '%s': these are different benchmarks; "
        "--force compares them",
        results, ss_words_show(target->version).text, ss_words_show(base->version).text);
}
