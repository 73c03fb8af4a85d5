/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "platform/platform.h"

int analysis_execute(const char *program, char *const *arguments, struct ss_error *error) {
    size_t count = ss_words_count(arguments);
    SS_OWNED(free) char *own = ss_platform_program_path(0, "");
    SS_OWNED(free)
    char *path = ss_platform_program_path(2, "/" ANALYSIS_LIBEXEC_SUBDIR "/analysis");
    if (!own || !path)
        return ss_error_fail(error, "cannot locate the programs: %s", strerror(errno));

    SS_OWNED(free) const char **words = calloc(count + 3, sizeof *words);
    if (!words || setenv("SHOWSTOPPER_PROGRAM", own, 1) < 0)
        return ss_error_memory(error);

    words[0] = path;
    words[1] = program;
    memcpy(words + 2, arguments, count * sizeof *words);

    SS_OWNED(free)
    char *installed = ss_platform_installed_path("/" ANALYSIS_LIBEXEC_SUBDIR "/analysis");
    if (installed)
        execv(installed, (char *const *)words);

    if (errno == ENOENT)
        return ss_error_fail(error,
            "%s is missing: install showstopper-analysis, or build with Python 3.11 or later and "
            "its packages numpy, pandas, scipy, matplotlib and jinja2",
            ss_words_show(path).text);
    return ss_error_fail(error, "cannot execute %s: %s", ss_words_show(path).text, strerror(errno));
}
