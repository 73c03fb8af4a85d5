/* SPDX-License-Identifier: Apache-2.0 */
#include "spread.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

#include "base/student.h"
#include "base/words.h"

bool ssprofile_is_chosen(const char *patterns, const char *name) {
    struct ss_words_part part;
    if (!patterns)
        return true;

    while (ss_words_next(&patterns, ',', &part)) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, "%.*s", (int)(part.length < 255 ? part.length : 255),
            part.text);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

/* Returns the mean of the results. It is exact if all results are equal. */
static double mean_of(const struct ssprofile_benchmark *benchmark) {
    double mean = 0;
    for (size_t i = 0; i < benchmark->count; i++)
        mean += (benchmark->repetitions[i].result - mean) / (double)(i + 1);
    return mean;
}

double ssprofile_spread(const struct ssprofile_benchmark *benchmark) {
    double mean = mean_of(benchmark), squares = 0, count = (double)benchmark->count;
    if (benchmark->count < 2)
        return NAN;

    for (size_t i = 0; i < benchmark->count; i++) {
        double apart = benchmark->repetitions[i].result - mean;
        squares += apart * apart;
    }

    return ss_student_quantile(count - 1) * sqrt(squares / (count - 1) / count) / mean;
}
