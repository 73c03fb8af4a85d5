/* SPDX-License-Identifier: Apache-2.0 */
#include "forwarded.h"

size_t ssprofile_forward(
    const struct ssprofile_forwarded *options, char *words[SSPROFILE_FORWARDED_WORDS]) {
    const char *const pairs[][2] = {{"--benchmarks", options->only}, {"--time", options->time},
        {"--cpu", options->cpu}, {"--repetitions", options->repetitions},
        {"--period", options->period}, {"--quantum", options->quantum}, {"--root", options->root}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!pairs[i][1])
            continue;
        words[count++] = (char *)pairs[i][0];
        words[count++] = (char *)pairs[i][1];
    }
    if (options->idle_states)
        words[count++] = (char *)"--idle-states";
    if (options->quiet)
        words[count++] = (char *)"--quiet";
    return count;
}
