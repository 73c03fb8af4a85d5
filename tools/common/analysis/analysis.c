/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/words.h"
#include "platform/platform.h"

/* The program, in the folder that contains the folder of this one. */
static const char subpath[] = "/" ANALYSIS_LIBEXEC_SUBDIR "/analysis";

int analysis_execute(char **words, struct ss_error *error) {
    char path[4200];
    if (ss_platform_program_path(path, sizeof path - sizeof subpath) < 0)
        return ss_error_fail(error, "cannot locate the programs: %s", strerror(errno));
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    strcat(path, subpath);

    words[0] = path;
    execv(path, words);
    if (errno == ENOENT)
        return ss_error_fail(error,
            "%s is missing: install showstopper-analysis, or build with Python 3.11 or later and "
            "its packages numpy, pandas, scipy, matplotlib and jinja2",
            ss_words_show(path).text);
    return ss_error_fail(
        error, "%s cannot be executed: %s", ss_words_show(path).text, strerror(errno));
}
