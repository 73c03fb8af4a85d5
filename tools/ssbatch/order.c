/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <string.h>

/* Returns the next number of splitmix64, so that a seed gives the same order on every system. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static const char *round_of(const struct ssbatch_run *run) {
    const char *round = ssbatch_columns_get(&run->columns, "round");
    return round ? round : "";
}

/* Moves the runs of each round together, in the order of their first runs. */
static void group_rounds(const struct ssbatch_run **runs, size_t count) {
    for (size_t first = 0; first < count;) {
        const char *round = round_of(runs[first]);
        size_t end = first + 1;
        for (size_t i = end; i < count; i++) {
            const struct ssbatch_run *run = runs[i];
            if (strcmp(round_of(run), round) != 0)
                continue;
            memmove(runs + end + 1, runs + end, (i - end) * sizeof(struct ssbatch_run *));
            runs[end++] = run;
        }
        first = end;
    }
}

void ssbatch_shuffle(const struct ssbatch_run **runs, size_t count, uint64_t seed) {
    group_rounds(runs, count);
    for (size_t first = 0; first < count;) {
        size_t end = first + 1;
        while (end < count && strcmp(round_of(runs[end]), round_of(runs[first])) == 0)
            end++;
        for (size_t i = end - 1; i > first; i--) {
            size_t other = first + next_random(&seed) % (i - first + 1);
            const struct ssbatch_run *run = runs[i];
            runs[i] = runs[other];
            runs[other] = run;
        }
        first = end;
    }
}
