/* SPDX-License-Identifier: Apache-2.0 */
#include "hypotheses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"

const char *const hypotheses_tables[HYPOTHESES_TABLES] = {"groups", "tests", "differences"};

// clang-format off
static const struct table_column group_columns[] = {
    {"group", "group", .text = {"group", 24}}, {"n", "n", .text = {"n", 9}},
    {"mean", "mean", 2, .text = {"mean", 13}},
    {"deviation", "standard deviation", 2, .text = {"deviation", 12}},
    {"w", "W", 4, .if_known = true, .text = {"W", 9}},
    {"p", "p (normal)", 4, .if_known = true, .text = {"p (normal)", 12}, .small = true},
    {"note", "note", .if_known = true},
};
static const struct table_column test_columns[] = {
    {"test", "test", .text = {"test", 18}}, {"of", "of equal", .text = {"of equal", 15}},
    {"statistic", "statistic", 4, .text = {"statistic", 13}},
    {"freedom", "degrees of freedom", 2, .text = {"freedom", 10}},
    {"freedom_within", "within groups", 2, .if_known = true, .text = {"within", 11}},
    {"p", "p", 4, .text = {"p", 12}, .small = true}, {"note", "note", .if_known = true},
};
static const struct table_column difference_columns[] = {
    {"group", "group", .text = {"group", 15}}, {"other", "other", .text = {"other", 15}},
    {"difference", "group - other", 2, .text = {"difference", 12}},
    {"low", "low", 2, .text = {"low", 9}}, {"high", "high", 2, .text = {"high", 9}},
    {"t", "t", 3}, {"freedom", "degrees of freedom", 2},
    {"p", "p", 4, .text = {"p", 10}, .small = true},
    {"p_holm", "p (Holm)", 4, .text = {"p (Holm)", 10}, .small = true},
    {"note", "note", .if_known = true},
};
static const struct table_sheet sheets[HYPOTHESES_TABLES] = {
    TABLE_INIT("groups", "Groups, each tested for a normal distribution (Shapiro-Wilk)", group_columns),
    TABLE_INIT("tests", "Tests of all groups together", test_columns),
    TABLE_INIT("differences", "Differences of means (Welch)", difference_columns),
};
// clang-format on

/* Sets the decimals of the columns that have the unit of the values. */
static void choose_decimals(struct table_column *columns, size_t count, int decimals) {
    static const char *const names[] = {"mean", "deviation", "difference", "low", "high"};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (strcmp(columns[i].name, names[j]) == 0)
                columns[i].decimals = decimals;
        }
    }
}

static int find_decimals(const struct grouped_values *groups) {
    double least = INFINITY;
    for (size_t i = 0; i < groups->count; i++) {
        double variance = groups->groups[i].sample.variance;
        least = variance > 0 ? fmin(least, sqrt(variance)) : least;
    }
    double decimals = isfinite(least) ? 2 - floor(log10(least)) : 2;
    return (int)fmin(fmax(decimals, 0), 12);
}

static int make_tables(struct hypotheses *hypotheses, int decimals) {
    for (size_t i = 0; i < HYPOTHESES_TABLES; i++) {
        size_t count = sheets[i].column_count;
        struct table_column *columns = calloc(count, sizeof *columns);
        if (!columns)
            return -1;
        memcpy(columns, sheets[i].columns, count * sizeof *columns);
        choose_decimals(columns, count, decimals);
        hypotheses->columns[i] = columns;
        hypotheses->tables[i] = sheets[i];
        hypotheses->tables[i].columns = columns;
    }
    return 0;
}

/* Returns true if the p-value is unknown. */
static bool is_normal(const struct stats_test *test) {
    return !(test->p < HYPOTHESES_NORMALITY);
}

/* Adds the row of a group. Returns false if its values are not normally distributed. */
static bool add_group(struct table_sheet *table, const struct grouped_values *groups,
    const struct grouped_group *group) {
    struct stats_test test = stats_test_normality(
        group->values ? group->values : &(double){0}, group->values ? group->count : 0);
    const char *note = !is_normal(&test) ? "not normally distributed" : test.missing;
    TABLE_ROW(table, CELL("group", group->name), CELL("n", group->count),
        CELL("mean", groups->origin + group->sample.mean),
        CELL("deviation", sqrt(group->sample.variance)), CELL("w", test.statistic),
        CELL("p", test.p),
        CELL("note", group->values ? note : "requires values, not their mean and deviation"));
    return is_normal(&test);
}

static void add_test(
    struct table_sheet *table, const char *name, const char *of, struct stats_test test) {
    TABLE_ROW(table, CELL("test", name), CELL("of", of), CELL("statistic", test.statistic),
        CELL("freedom", test.freedom), CELL("freedom_within", test.freedom_within),
        CELL("p", test.p), CELL("note", test.missing ? test.missing : ""));
}

/* Adds nothing for only one group. */
static int add_tests(struct table_sheet *table, const struct grouped_values *groups, bool normal) {
    SS_OWNED(free) struct stats_sample *samples = calloc(groups->count, sizeof *samples);
    SS_OWNED(free) struct stats_values *values = calloc(groups->count, sizeof *values);
    if (!samples || !values)
        return -1;
    if (groups->count < 2)
        return 0;
    for (size_t i = 0; i < groups->count; i++) {
        samples[i] = groups->groups[i].sample;
        values[i] = (struct stats_values){groups->groups[i].values, groups->groups[i].count};
    }
    add_test(table, "Bartlett", "variances", stats_test_variances(samples, groups->count));
    add_test(table, "Welch's ANOVA", "means", stats_test_means(samples, groups->count));
    if (!normal)
        add_test(table, "Kruskal-Wallis", "distributions", stats_test_ranks(values, groups->count));
    return 0;
}

static struct stats_difference compare(
    const struct hypotheses *hypotheses, const struct grouped_group *pair[2]) {
    return stats_test_difference(&pair[0]->sample, &pair[1]->sample, hypotheses->confidence);
}

static void add_difference(struct table_sheet *table, const struct grouped_group *pair[2],
    const struct stats_difference *found, double holm) {
    TABLE_ROW(table, CELL("group", pair[0]->name), CELL("other", pair[1]->name),
        CELL("difference", found->difference), CELL("low", found->interval.low),
        CELL("high", found->interval.high), CELL("t", found->test.statistic),
        CELL("freedom", found->test.freedom), CELL("p", found->test.p), CELL("p_holm", holm),
        CELL("note", found->test.missing ? found->test.missing : ""));
}

static int add_differences(struct hypotheses *hypotheses, const struct grouped_values *groups) {
    struct table_sheet *table = &hypotheses->tables[HYPOTHESES_DIFFERENCES];
    size_t n = groups->count, pairs = n * (n - 1) / 2, at = 0;
    SS_OWNED(free) struct stats_difference *found = calloc(pairs + 1, sizeof *found);
    SS_OWNED(free) double *p = calloc(2 * pairs + 1, sizeof *p);
    if (!found || !p)
        return -1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++, at++) {
            const struct grouped_group *pair[] = {&groups->groups[i], &groups->groups[j]};
            found[at] = compare(hypotheses, pair);
            p[at] = found[at].test.p;
        }
    }
    if (stats_adjust_holm(p, p + pairs, pairs) < 0)
        return -1;
    at = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++, at++) {
            const struct grouped_group *pair[] = {&groups->groups[i], &groups->groups[j]};
            add_difference(table, pair, &found[at], p[pairs + at]);
        }
    }
    return 0;
}

int hypotheses_test(struct hypotheses *hypotheses, const struct grouped_values *groups,
    double confidence, struct ss_error *error) {
    bool normal = true, failed = false;
    hypotheses->confidence = confidence;
    if (groups->count == 0)
        return ss_error_fail(error, "there are no values to test");
    if (make_tables(hypotheses, find_decimals(groups)) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; i < groups->count; i++)
        normal &= add_group(&hypotheses->tables[HYPOTHESES_GROUPS], groups, &groups->groups[i]);
    if (add_tests(&hypotheses->tables[HYPOTHESES_TESTS], groups, normal) < 0 ||
        add_differences(hypotheses, groups) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; i < HYPOTHESES_TABLES; i++)
        failed |= hypotheses->tables[i].failed;
    return failed ? ss_error_memory(error) : 0;
}

void hypotheses_free(struct hypotheses *hypotheses) {
    for (size_t i = 0; i < HYPOTHESES_TABLES; i++) {
        table_free(&hypotheses->tables[i]);
        free(hypotheses->columns[i]);
    }
}
