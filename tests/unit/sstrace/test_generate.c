/* SPDX-License-Identifier: Apache-2.0 */

/* Tests statistics of generated and transformed traces; tests/data/sstrace has single cases. */

#include "base/owned.h"
#include "base/words.h"
#include "source.h"
#include "trace_options.h"
#include "trace_statistics.h"
#include "unit.h"

/* Returns the statistics of the trace that sstrace makes with these words. */
static struct sstrace_statistics measure(const char *line) {
    struct sstrace_statistics statistics = sstrace_statistics_open();
    struct ss_option_store store = {0};
    struct sstrace_request request;
    struct ss_error error = {0};
    SS_OWNED(free) char **words = ss_words_split(line, NULL, &error);
    assert_succeeds(sstrace_request_parse(words, &request, &store, &error), error);
    assert_succeeds(sstrace_run(&request, &statistics.sink, &error), error);
    ss_option_store_free(&store);
    return statistics;
}

TEST(resampling_keeps_the_total_work) {
    static const char *const steps[] = {"1s", "7s", "333m", "1M", "1h"};
    static const char random[] = "sstrace --random=5,interpolate=yes,step=1.7s,length=100s";
    struct sstrace_statistics before = measure(random);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s --resample %s", random, steps[i]);
        struct sstrace_statistics after = measure(line);
        assert_near(after.work, before.work, 1e-9);
        assert_near(after.duration, before.duration, 1e-9);
    }
}

TEST(bursts_have_the_expected_mean_load) {
    struct sstrace_statistics statistics =
        measure("sstrace --bursts 3,min=0,max=1,every=9s,lasting=1s,length=1d");
    /* The load is 1 for a tenth of the time; with 8640 bursts, two standard deviations are 2 %. */
    assert_that(statistics.mean, >, 0.098);
    assert_that(statistics.mean, <, 0.102);
    assert_int_equal(statistics.before.time, 86400 * SS_SECOND);
    assert_that(statistics.min, ==, 0);
    assert_that(statistics.max, ==, 1);
}

UNIT_RUN
