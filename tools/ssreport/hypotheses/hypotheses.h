/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_HYPOTHESES_H
#define SSREPORT_HYPOTHESES_H

/*
 * Tests of groups. All tests are run, because the requested one assumes what others check: normal
 * distributions and equal variances.
 */

#include <stdio.h>

#include "grouped_values.h"
#include "sheet.h"

/* A p-value below this rejects a normal distribution. */
#define HYPOTHESES_NORMALITY 0.05

/* In the order of the names of --test. */
enum hypothesis {
    HYPOTHESIS_DIFFERENCES, /* welch: which means differ */
    HYPOTHESIS_MEANS,       /* anova: do the means differ */
    HYPOTHESIS_VARIANCES,   /* bartlett: do the variances differ */
    HYPOTHESIS_NORMALITY,   /* shapiro: are the values normally distributed */
};

enum { HYPOTHESES_GROUPS, HYPOTHESES_TESTS, HYPOTHESES_DIFFERENCES, HYPOTHESES_TABLES };

struct hypotheses {
    double confidence; /* 0 to 1 */
    struct table_sheet tables[HYPOTHESES_TABLES];
    /* Columns of the tables, owned because their decimals depend on the values. */
    struct table_column *columns[HYPOTHESES_TABLES];
};

extern const char *const hypotheses_tables[HYPOTHESES_TABLES];

/* Runs all tests. Free the result in any case. */
SS_MUST_USE SS_NONNULL() int hypotheses_test(struct hypotheses *hypotheses,
    const struct grouped_values *groups, double confidence, struct ss_error *error);

/* Returns why the requested test has no result; NULL if it has one. */
SS_NONNULL()
const char *hypotheses_missing(const struct hypotheses *hypotheses, enum hypothesis asked);

/* Prints the answer of the requested test, and all tables. */
SS_NONNULL()
void hypotheses_print_text(
    FILE *stream, const struct hypotheses *hypotheses, enum hypothesis asked);

SS_NONNULL() void hypotheses_free(struct hypotheses *hypotheses);

#endif
