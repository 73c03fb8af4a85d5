/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "measure/conditions.h"
#include "tree.h"
#include "unit.h"

static struct ss_conditions conditions;
static struct ss_platform_roots roots;
static struct ss_cpus cpus;

static void write_frequency(unsigned cpu, const char *kilohertz) {
    char name[128];
    snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
    tree_write(name, kilohertz);
}

static int set_up(void **state) {
    roots = (struct ss_platform_roots){.sys = tree_new()};
    cpus = (struct ss_cpus){0};
    ss_cpus_add(&cpus, 0);
    ss_cpus_add(&cpus, 2);
    return 0;
}

static struct ss_evidence end_at(double second) {
    struct ss_evidence evidence;
    ss_evidence_clear(&evidence);
    ss_conditions_end(&conditions, (ss_time)(second * 1e9), &evidence);
    return evidence;
}

TEST_WITH(frequency_is_the_mean_of_up_to_sixteen_measured_cpus, set_up, NULL) {
    write_frequency(0, "2000000\n");
    write_frequency(1, "9000000\n");
    write_frequency(2, "1000000\n");
    assert_near(ss_platform_frequency(&roots, &cpus), 1.5e9, 1);
    write_frequency(2, "<unknown>\n");
    assert_near(ss_platform_frequency(&roots, &cpus), 2e9, 1);
    for (unsigned cpu = 0; cpu < 40; cpu++) {
        ss_cpus_add(&cpus, cpu);
        write_frequency(cpu, cpu % 3 == 0 ? "1000000" : "7000000");
    }
    assert_near(ss_platform_frequency(&roots, &cpus), 1e9, 1);
}

/* From 2 GHz in the first third to 1.9 GHz in the last; the middle third is ignored. */
TEST_WITH(frequency_change_is_from_the_first_third_to_the_last, set_up, NULL) {
    for (int second = 0; second <= 90; second++) {
        const char *kilohertz = second < 32 ? "2000000" : second < 58 ? "800000" : "1900000";
        write_frequency(0, kilohertz);
        write_frequency(2, kilohertz);
        if (second == 0)
            ss_conditions_begin(&conditions, &cpus, &roots, 0);
        else
            ss_conditions_sample(&conditions, (ss_time)second * SS_SECOND);
    }
    assert_near(end_at(90).figures[SS_CHECK_FREQUENCY], -5, 0.2);
}

TEST_WITH(frequency_is_read_once_a_second, set_up, NULL) {
    write_frequency(0, "2000000");
    ss_conditions_begin(&conditions, &cpus, &roots, 0);
    write_frequency(0, "1000000");
    for (int i = 1; i < 10; i++)
        ss_conditions_sample(&conditions, (ss_time)i * 100 * SS_MILLISECOND);
    assert_true(isnan(end_at(0.9).figures[SS_CHECK_FREQUENCY]));
}

TEST_WITH(machine_without_frequencies_is_not_checked, set_up, NULL) {
    ss_conditions_begin(&conditions, &cpus, &roots, 0);
    assert_that(conditions.due, ==, SS_TIME_NEVER);
    ss_conditions_sample(&conditions, 10 * SS_SECOND);
    assert_true(isnan(end_at(20).figures[SS_CHECK_FREQUENCY]));
}

TEST_WITH(clocks_are_compared_with_the_beginning, set_up, NULL) {
    ss_conditions_begin(&conditions, &cpus, &roots, 0);
    conditions.begin.wall -= 75 * (int64_t)SS_MILLISECOND;
    /* A suspension moves both clocks. */
    conditions.begin.wall -= 3 * (int64_t)SS_SECOND;
    conditions.begin.boot -= 3 * (int64_t)SS_SECOND;
    struct ss_evidence evidence = end_at(1);
    assert_near(evidence.figures[SS_CHECK_CLOCK], 75, 20);
    assert_near(evidence.figures[SS_CHECK_SUSPENDED], 3, 0.02);
    conditions.begin.boot += 9 * (int64_t)SS_SECOND;
    assert_near(end_at(1).figures[SS_CHECK_SUSPENDED], 0, 0);
}

UNIT_RUN
