/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "base/owned.h"
#include "base/words.h"

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
            size_t other = first + ss_random_hash(seed) % (i - first + 1);
            seed += UINT64_C(0x9e3779b97f4a7c15); /* the same order on every system */
            const struct ssbatch_run *run = runs[i];
            runs[i] = runs[other];
            runs[other] = run;
        }

        first = end;
    }
}

/* Returns the index of the first later run that the one at `index` needs, or `count`. */
static size_t find_later_need(
    const struct ssbatch_plan *plan, const struct ssbatch_run **runs, size_t count, size_t index) {
    const struct ssbatch_run *run = runs[index];
    for (size_t i = 0; i < run->need_count; i++) {
        const struct ssbatch_run *needed = ssbatch_plan_find(plan, run->needs[i]);
        for (size_t j = index + 1; needed && j < count; j++) {
            if (runs[j] == needed)
                return j;
        }
    }
    return count;
}

void ssbatch_order_needs(
    const struct ssbatch_plan *plan, const struct ssbatch_run **runs, size_t count) {
    for (size_t i = 0; i < count;) {
        size_t later = find_later_need(plan, runs, count, i);
        if (later == count) {
            i++;
            continue;
        }
        const struct ssbatch_run *needed = runs[later];
        memmove(runs + i + 1, runs + i, (later - i) * sizeof(struct ssbatch_run *));
        runs[i] = needed;
    }
}

static int choose_only(const struct ssbatch_plan *plan, const char *only,
    const struct ssbatch_run **runs, size_t *count, struct ss_error *error) {
    SS_OWNED(free) char **names = ss_words_split_list(only, NULL, error);
    for (char **name = names; name && *name; name++) {
        const struct ssbatch_run *run = ssbatch_plan_find(plan, *name);
        size_t i = 0;
        if (!run)
            return ss_error_fail(
                error, "--only: the study has no run '%s': see --list", ss_words_show(*name).text);

        while (i < *count && runs[i] != run)
            i++;
        if (i == *count)
            runs[(*count)++] = run;
    }

    return names ? 0 : -1;
}

int ssbatch_choose_runs(const struct ssbatch_options *options, const struct ssbatch_plan *plan,
    const struct ssbatch_plan *given, const struct ssbatch_run **runs, size_t *count,
    struct ss_error *error) {
    *count = 0;
    if (options->only && choose_only(plan, options->only, runs, count, error) < 0)
        return -1;

    for (size_t i = 0; !options->only && i < given->run_count; i++) {
        const struct ssbatch_run *run = ssbatch_plan_find(plan, given->runs[i].name);
        if (run)
            runs[(*count)++] = run;
    }

    if (options->shuffles)
        ssbatch_shuffle(runs, *count, options->seed);
    ssbatch_order_needs(plan, runs, *count);
    return 0;
}
