/* SPDX-License-Identifier: Apache-2.0 */

#include "sample_idle.h"
#include "text.h"
#include "tree.h"

static void write_state(unsigned cpu, unsigned number, const char *name, const char *time) {
    char path[128];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cpuidle/state%u/name", cpu, number);
    tree_write(path, name);
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cpuidle/state%u/time", cpu, number);
    tree_write(path, time);
}

static void write_frequency(unsigned cpu, const char *frequency) {
    char path[128];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
    tree_write(path, frequency);
}

static void assert_columns(struct sample_idle *idle, const char *expected) {
    const struct sample_source source = sample_idle_source(idle);
    source.print_columns(text_begin(), source.source);
    assert_string_equal(text_end(), expected);
}

static void assert_sample(struct sample_idle *idle, ss_time spent, const char *expected) {
    const struct sample_source source = sample_idle_source(idle);
    source.print_sample(text_begin(), source.source, spent);
    const char *text = text_end();
    if (expected)
        assert_string_equal(text, expected);
}

/* Finds the idle states of these CPUs, or of all if NULL. */
static void find(struct sample_idle *idle, const char *root, const char *list) {
    struct ss_error error = {0};
    struct ss_cpus cpus = {0};
    if (list)
        assert_int_equal(ss_cpus_parse(list, &cpus, &error), 0);
    assert_int_equal(sample_idle_find(idle, root, list ? &cpus : NULL, &error), 0);
}

static const char *write_machine(void) {
    const char *root = tree_new();
    write_state(0, 0, "POLL\n", "7\n");
    write_state(0, 1, "C1-HSW\n", "1000\n");
    write_state(0, 2, "C6\n", "500\n");
    write_state(1, 0, "POLL\n", "9\n");
    write_state(1, 1, "C1-HSW\n", "2000\n");
    write_state(1, 2, "C6\n", "500\n");
    return root;
}

/* In one second, CPU 0 is idle for 0.4 s and CPU 1 for 0.6 s: 0.1 s in C1, the rest in C6. */
TEST(idle_states_are_printed_as_shares_of_idle_time) {
    struct sample_idle idle;
    const char *root = write_machine();
    write_frequency(0, "1400000\n");
    write_frequency(1, "2100500\n");
    find(&idle, root, NULL);
    assert_columns(&idle, "active,frequency_mhz,POLL,C1_HSW,C6");
    assert_sample(&idle, 0, NULL);
    write_state(0, 1, "C1-HSW\n", "101000\n");
    write_state(0, 2, "C6\n", "300500\n");
    write_state(1, 2, "C6\n", "600500\n");
    assert_sample(&idle, SS_SECOND, "0.5000,1750.250,0.0000,0.1000,0.9000");
    sample_idle_free(&idle);
}

TEST(a_second_without_idle_time_has_no_shares) {
    struct sample_idle idle;
    const char *root = write_machine();
    find(&idle, root, NULL);
    assert_sample(&idle, 0, NULL);
    /* The counters of a CPU that was offline restart at 0. */
    write_state(1, 1, "C1-HSW\n", "0\n");
    write_state(1, 2, "C6\n", "0\n");
    assert_sample(&idle, SS_SECOND, "1.0000,,,,");
    sample_idle_free(&idle);
}

/* CPU 0 is idle for half of each second. CPU 1 keeps its counters while it is offline. */
TEST(offline_cpus_do_not_count) {
    static const struct {
        const char *online, *time, *sample;
    } cases[] = {{"1\n", "1002000\n", "0.2500,,0.0000,1.0000,0.0000"},
        {"0\n", "1002000\n", "0.5000,,0.0000,1.0000,0.0000"},
        {"1\n", "1002000\n", "0.5000,,0.0000,1.0000,0.0000"},
        {"1\n", "unreadable\n", "0.5000,,0.0000,1.0000,0.0000"}};
    struct sample_idle idle;
    const char *root = write_machine();
    find(&idle, root, NULL);
    assert_sample(&idle, 0, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char time[32];
        snprintf(time, sizeof time, "%u\n", 1000 + (i + 1) * 500000);
        write_state(0, 1, "C1-HSW\n", time);
        write_state(1, 1, "C1-HSW\n", cases[i].time);
        tree_write("sys/devices/system/cpu/cpu1/online", cases[i].online);
        assert_sample(&idle, SS_SECOND, cases[i].sample);
    }
    sample_idle_free(&idle);
}

TEST(only_cpus_with_idle_states_count) {
    static const struct {
        const char *cpus;
        size_t count;
    } cases[] = {{NULL, 3}, {"5", 0}, {"0-5", 2}};
    const char *root = write_machine();
    write_state(10, 0, "POLL\n", "9\n");
    write_frequency(5, "1000000\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample_idle idle;
        find(&idle, root, cases[i].cpus);
        assert_int_equal(idle.cpu_count, cases[i].count);
        assert_false(ss_cpus_has(&idle.with_states, 5));
        sample_idle_free(&idle);
    }
}

UNIT_RUN
