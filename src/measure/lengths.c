/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/lengths.h"

#include <math.h>
#include <stdlib.h>

/* Every second one goes: what is left is as evenly spread as before. */
static void thin_out(struct ss_lengths *lengths) {
    for (size_t i = 0; 2 * i < lengths->kept_count; i++)
        lengths->kept[i] = lengths->kept[2 * i];
    lengths->kept_count = (lengths->kept_count + 1) / 2;
    lengths->step *= 2;
}

static void keep(struct ss_lengths *lengths, double seconds) {
    if (lengths->kept_count == lengths->capacity) {
        size_t capacity = lengths->capacity ? 2 * lengths->capacity : 64;
        double *kept = reallocarray(lengths->kept, capacity, sizeof *kept);
        if (!kept)
            return;
        lengths->kept = kept;
        lengths->capacity = capacity;
    }
    lengths->kept[lengths->kept_count++] = seconds;
    if (lengths->kept_count == SS_LENGTHS_KEPT)
        thin_out(lengths);
}

void ss_lengths_add(struct ss_lengths *lengths, ss_time length) {
    double seconds = ss_time_seconds(length);
    double away = seconds - lengths->mean;
    if (lengths->step == 0)
        lengths->step = 1;
    if (lengths->count % lengths->step == 0)
        keep(lengths, seconds);
    lengths->count++;
    /* Welford: no difference of large sums. */
    lengths->mean += away / (double)lengths->count;
    lengths->squares += away * (seconds - lengths->mean);
}

double ss_lengths_mean(const struct ss_lengths *lengths) {
    return lengths->count ? lengths->mean : NAN;
}

double ss_lengths_deviation(const struct ss_lengths *lengths) {
    return lengths->count > 1 ? sqrt(lengths->squares / (double)(lengths->count - 1)) : NAN;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double ss_lengths_quantile(struct ss_lengths *lengths, double share) {
    if (lengths->kept_count == 0)
        return NAN;
    qsort(lengths->kept, lengths->kept_count, sizeof *lengths->kept, compare);
    double at = share * (double)(lengths->kept_count - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < lengths->kept_count ? below + 1 : below;
    double rest = at - (double)below;
    return lengths->kept[below] + rest * (lengths->kept[above] - lengths->kept[below]);
}

void ss_lengths_free(struct ss_lengths *lengths) {
    free(lengths->kept);
    *lengths = (struct ss_lengths){0};
}
