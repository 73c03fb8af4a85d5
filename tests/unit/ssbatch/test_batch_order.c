/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "order.h"
#include "progress.h"
#include "unit.h"

static struct ssbatch_plan plan;
static const struct ssbatch_run *runs[64];

static void read_plan(const char *text) {
    struct ss_error error = {0};
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    if (ssbatch_plan_read(&plan, stream, "plan", &error) < 0)
        fail_msg("%s", error.message);
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

static void shuffled_runs_stay_in_their_rounds(void **state) {
    (void)state;
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 1);
    for (size_t i = 0; i < plan.run_count; i++)
        assert_int_equal(runs[i]->name[1] - '0', i / 8);
    ssbatch_plan_free(&plan);
}

static void a_shuffle_loses_no_run(void **state) {
    unsigned seen = 0;
    (void)state;
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 7);
    for (size_t i = 0; i < plan.run_count; i++)
        seen |= 1U << (runs[i] - plan.runs);
    assert_int_equal(seen, (1U << 24) - 1);
    ssbatch_plan_free(&plan);
}

static void equal_seeds_give_equal_orders(void **state) {
    char first[500], second[500], other[500];
    (void)state;
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 5);
    print_order(first);
    ssbatch_plan_free(&plan);
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 5);
    print_order(second);
    ssbatch_plan_free(&plan);
    read_rounds();
    ssbatch_shuffle(runs, plan.run_count, 6);
    print_order(other);
    ssbatch_plan_free(&plan);
    assert_string_equal(first, second);
    assert_string_not_equal(first, other);
}

static void the_time_left_is_scaled_by_the_times_of_earlier_runs(void **state) {
    struct ssbatch_progress progress = {.runs = 3, .left = 300};
    (void)state;
    assert_near(ssbatch_progress_left(&progress), 300, 0);
    ssbatch_progress_end(&progress, 100, 150);
    assert_near(ssbatch_progress_left(&progress), 300, 1e-9);
    ssbatch_progress_end(&progress, 100, 0); /* failed at once */
    assert_near(ssbatch_progress_left(&progress), 150, 1e-9);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(shuffled_runs_stay_in_their_rounds),
    cmocka_unit_test(a_shuffle_loses_no_run),
    cmocka_unit_test(equal_seeds_give_equal_orders),
    cmocka_unit_test(the_time_left_is_scaled_by_the_times_of_earlier_runs))
