/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares the quantile of Student's t and spreads with R's, to ten digits. See make.R in
 * data/profile.
 */

#include "base/student.h"
#include "spread.h"
#include "unit.h"

#define DATA       TEST_SOURCE_DIR "/data/profile/"
#define TEN_DIGITS 5e-11

static void expect(const char *name, double said, double wanted) {
    if (!(fabs(said - wanted) <= TEN_DIGITS * fabs(wanted)))
        fail_msg("%s: %.15g, R says %.15g", name, said, wanted);
}

TEST(quantiles_of_student_agree_with_r) {
    static const struct {
        double freedom, quantile; /* qt(0.975, freedom) */
    } rows[] = {{1, 12.7062047361747}, {1.5, 6.01666310442793}, {2, 4.30265272974946},
        {5, 2.57058183563631}, {7.3, 2.3450667365477}, {30, 2.04227245630124},
        {100, 1.98397151852355}, {499.5, 1.96472460943458}, {500.5, 1.96471507505732},
        {1000, 1.96233908082641}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect("qt", ss_student_quantile(rows[i].freedom), rows[i].quantile);
}

static struct ssprofile_results read_file(const char *path) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    assert_succeeds(ssprofile_results_read(&results, path, &error), error);
    return results;
}

/* Returns the figure that R computed. */
static double recorded(const char *limits, const char *name) {
    char line[256], wanted[128];
    snprintf(wanted, sizeof wanted, "%s,%s,", limits, name);
    FILE *stream = fopen(DATA "figures.csv", "r");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream)) {
        if (strncmp(line, wanted, strlen(wanted)) == 0) {
            fclose(stream);
            return strtod(line + strlen(wanted), NULL);
        }
    }
    fclose(stream);
    fail_msg("figures.csv has no %s", wanted);
    return NAN;
}

TEST(spreads_agree_with_r) {
    struct ssprofile_results results = read_file(DATA "results.csv");
    const struct ssprofile_profile *base = ssprofile_results_profile(&results, "base", "without");
    static const char *const both[] = {"without", "quota-3900"};
    for (int i = 0; i < 2; i++) {
        const struct ssprofile_profile *here =
            ssprofile_results_profile(&results, "target", both[i]);
        expect("spread", ssprofile_spread(&here->benchmarks[0]), recorded(both[i], "spread"));
        expect("base_spread", ssprofile_spread(&base->benchmarks[24]),
            recorded(both[i], "base_spread"));
    }
    ssprofile_results_free(&results);
}

static char a[] = "a", c[] = "c";

TEST(equal_or_single_results_have_no_spread) {
    struct ssprofile_repetition equal[] = {{a, 0.1}, {a, 0.1}, {a, 0.1}};
    struct ssprofile_benchmark one = {.name = a, .class = c, .repetitions = equal, .count = 3};
    assert_true(ssprofile_spread(&one) == 0);
    one.count = 1;
    assert_true(isnan(ssprofile_spread(&one)));
}

TEST(names_are_chosen_by_patterns) {
    assert_true(ssprofile_is_chosen(NULL, "sort"));
    assert_true(ssprofile_is_chosen("so*,c?py", "sort"));
    assert_true(ssprofile_is_chosen("so*,c?py", "copy"));
    assert_false(ssprofile_is_chosen("so*,c?py", "ray"));
    assert_false(ssprofile_is_chosen("", "ray"));
}

UNIT_RUN
