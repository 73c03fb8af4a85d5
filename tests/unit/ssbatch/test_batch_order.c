/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"
#include "progress.h"
#include "text.h"

static struct ssbatch_plan plan;
static const struct ssbatch_run *runs[64];

static void read_plan(const char *text) {
    struct ss_error error = {0};
    ssbatch_plan_free(&plan);
    FILE *stream = text_read(text);
    assert_succeeds(ssbatch_plan_read(&plan, stream, "plan", &error), error);
    fclose(stream);
    for (size_t i = 0; i < plan.run_count; i++)
        runs[i] = &plan.runs[i];
}

static void print_order(char text[500]) {
    text[0] = '\0';
    for (size_t i = 0; i < plan.run_count; i++) {
        strcat(text, runs[i]->name);
        strcat(text, " ");
    }
}

static void read_rounds(void) {
    char text[4000] = "";
    for (int i = 0; i < 24; i++) {
        char line[100];
        snprintf(line, sizeof line, "run %c%d takes 1s round=%d\nmain -- true\n", 'a' + i / 3,
            i % 3, i % 3);
        strcat(text, line);
    }
    read_plan(text);
}

TEST(shuffled_runs_stay_in_their_rounds) {
    unsigned seen = 0;
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 1);
    for (size_t i = 0; i < plan.run_count; i++) {
        assert_int_equal(runs[i]->name[1] - '0', i / 8);
        seen |= 1U << (runs[i] - plan.runs);
    }
    assert_int_equal(seen, (1U << 24) - 1); /* no run is lost */
}

static void print_shuffled(uint64_t seed, char text[500]) {
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, seed);
    print_order(text);
}

TEST(only_equal_seeds_give_equal_orders) {
    char first[500], second[500], other[500];
    print_shuffled(5, first);
    print_shuffled(5, second);
    print_shuffled(6, other);
    assert_string_equal(first, second);
    assert_string_not_equal(first, other);
}

static const char chain[] = "run a takes 1s\nmain -- true\n"
                            "run b takes 1s needs=a\nmain -- true\n"
                            "run c takes 1s\nmain -- true\n"
                            "run d takes 1s needs=c,b\nmain -- true\n";

TEST(needed_runs_are_moved_before_those_that_need_them) {
    char order[500];
    read_plan(chain);
    ssbatch_order_needs(&plan, runs, plan.run_count);
    print_order(order);
    assert_string_equal(order, "a b c d ");
    for (size_t i = 0; i < plan.run_count; i++)
        runs[i] = &plan.runs[plan.run_count - 1 - i];
    ssbatch_order_needs(&plan, runs, plan.run_count);
    print_order(order);
    assert_string_equal(order, "c a b d ");
}

TEST(a_list_of_runs_selects_each_of_them_once) {
    struct ssbatch_options options = {.only = "d,a,d,c"};
    struct ss_error error = {0};
    size_t count;
    read_plan(chain);
    assert_int_equal(ssbatch_choose_runs(&options, &plan, &plan, runs, &count, &error), 0);
    assert_int_equal(count, 3);
    assert_string_equal(runs[0]->name, "c"); /* d needs it */
    assert_string_equal(runs[1]->name, "d");
    assert_string_equal(runs[2]->name, "a");
    options.only = "a,x";
    assert_fails(ssbatch_choose_runs(&options, &plan, &plan, runs, &count, &error), error,
        "--only: the study has no run 'x': see --list");
}

TEST(the_time_left_is_scaled_by_the_times_of_earlier_runs) {
    struct ssbatch_progress progress = {.runs = 3, .left = 300};
    assert_near(ssbatch_progress_left(&progress), 300, 0);
    ssbatch_progress_end(&progress, 100, 150);
    assert_near(ssbatch_progress_left(&progress), 300, 1e-9);
    ssbatch_progress_end(&progress, 100, 0); /* failed at once */
    assert_near(ssbatch_progress_left(&progress), 150, 1e-9);
}

TEST(spans_are_printed_in_readable_units) {
    static const struct {
        double seconds;
        const char *expected;
    } rows[] = {
        {0.25, "0.25 s"},
        {59.4, "59.4 s"},
        {361, "6 min 01 s"},
        {7200, "2 h 00 min"},
        {7442.6, "2 h 04 min"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ssbatch_span_print(text_begin(), ss_time_from_double(rows[i].seconds * 1e9));
        assert_string_equal(text_end(), rows[i].expected);
    }
}

UNIT_RUN
