/* SPDX-License-Identifier: Apache-2.0 */
#include "halves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *label) {
    return *label && label[strspn(label, "0123456789")] == '\0';
}

static bool has_numbers(const struct ssprofile_benchmark *benchmark) {
    for (size_t i = 0; i < benchmark->count; i++) {
        if (!is_number(benchmark->repetitions[i].label))
            return false;
    }
    return true;
}

/*
 * Returns 0 if the repetition is odd, 1 if it is even. Looks at the last digit, so that numbers may
 * have any length.
 */
static int half_of(const struct ssprofile_benchmark *benchmark, size_t repetition, bool numbered) {
    const char *label = benchmark->repetitions[repetition].label;
    if (!numbered)
        return repetition % 2 != 0;
    return (label[strlen(label) - 1] - '0') % 2 == 0;
}

static int make_half(
    struct ssprofile_profile *half, const struct ssprofile_profile *whole, int which) {
    char limits[600];
    snprintf(limits, sizeof limits, "%.580s-%s", whole->limits, which == 0 ? "odd" : "even");
    half->machine = strdup(whole->machine);
    half->limits = strdup(limits);
    if (!half->machine || !half->limits)
        return -1;
    for (size_t i = 0; i < whole->count; i++) {
        const struct ssprofile_benchmark *benchmark = &whole->benchmarks[i];
        bool numbered = has_numbers(benchmark);
        for (size_t j = 0; j < benchmark->count; j++) {
            if (half_of(benchmark, j, numbered) == which &&
                ssprofile_profile_add(half, benchmark, benchmark->repetitions[j].result) < 0)
                return -1;
        }
    }
    return 0;
}

int ssprofile_halves_make(struct ssprofile_results *halves, const struct ssprofile_profile *whole,
    struct ss_error *error) {
    *halves = (struct ssprofile_results){
        .profiles = calloc(2, sizeof *halves->profiles), .count = 2, .capacity = 2};
    if (!halves->profiles) {
        halves->count = 0;
        return ss_error_memory(error);
    }
    for (int which = 0; which < 2; which++) {
        if (make_half(&halves->profiles[which], whole, which) < 0)
            return ss_error_memory(error);
    }
    if (ssprofile_halves_least(halves) > 0)
        return 0;
    return ss_error_fail(error,
        "%s:%s has no benchmark with an odd and an even repetition: measure it more often",
        whole->machine, whole->limits);
}

size_t ssprofile_halves_least(const struct ssprofile_results *halves) {
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < halves->profiles[0].count; i++) {
        const struct ssprofile_benchmark *odd = &halves->profiles[0].benchmarks[i];
        const struct ssprofile_benchmark *even =
            ssprofile_profile_find(&halves->profiles[1], odd->name, odd->class);
        if (!even)
            continue;
        size_t fewer = odd->count < even->count ? odd->count : even->count;
        least = fewer < least ? fewer : least;
    }
    return least == SIZE_MAX ? 0 : least;
}
