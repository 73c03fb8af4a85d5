/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of idle time in microseconds, from /proc/stat and cpuidle. */

#include <fcntl.h>
#include <math.h>
#include <sched.h>

#include "counter_reader.h"

#define STAT "cpu0 1 2 3 4\ncpu1 1 2 3 200 0\ncpu2 1 2 3 300 0\ncpu3 1 2 3 100 20\n"
#define NONE "cpuidle does not count idle time"

static struct ss_counter_reader other = {.file = -1};

static void write_state(unsigned cpu, unsigned state, unsigned long microseconds) {
    char name[128];
    char text[32];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/cpuidle/state%u/time", cpu, state);
    snprintf(text, sizeof text, "%lu\n", microseconds);
    tree_write(name, text);
}

/* Moves to CPU 0, so the states of other CPUs may be unfinished. */
static void leave_cpus(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    SKIP_UNLESS(sched_setaffinity(0, sizeof one, &one) == 0, "affinity: CPU 0 cannot be used");
}

static void make_machine(void) {
    leave_cpus();
    tree_new();
    tree_write("stat", STAT);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        write_state(cpu, 0, 0);
        write_state(cpu, 1, 1000 * cpu);
    }
}

static void open_into(struct ss_counter_reader *into, enum ss_source source, const char *list) {
    struct ss_error error = {0};
    struct ss_cpus cpus = cpus_of(list);
    struct ss_source_request request = {.source = source};
    struct ss_platform_roots roots = {.proc = tree_root, .sys = tree_path("sys")};
    ss_platform_counters_close(into);
    assert_succeeds(ss_platform_counters_open(into, &request, &cpus, &roots, &error), error);
}

static void assert_idle(double milliseconds) {
    read_reader();
    if (fabs((double)counters.idle / 1e6 - milliseconds) > 1e-9)
        fail_msg("%g ms, not %g", (double)counters.idle / 1e6, milliseconds);
}

/* The first reading adds a quarter of two ticks for each CPU. */
TEST(idle_time_combines_proc_stat_and_cpuidle) {
    make_machine();
    open_into(&reader, SS_SOURCE_IDLE, "1-2");
    assert_int_equal(reader.source, SS_SOURCE_IDLE);
    assert_string_equal(reader.path, tree_path("stat"));
    assert_string_equal(reader.reason, "");
    assert_idle(5010);
    assert_false(counters.ran);
    assert_that(counters.capacity, ==, 2);
    write_state(1, 1, 1000 + 1234);
    write_state(2, 0, 500);
    assert_idle(5010 + 1.234 + 0.5);
    /* /proc/stat shows the step before the state ends. */
    tree_write("stat", "cpu0 1 2 3 100 20\ncpu1 1 2 3 201 0\ncpu2 1 2 3 300 0\n");
    assert_idle(2010 + 3005.5);
    write_state(1, 1, 1000 + 12345);
    assert_idle(2005 + 12.345 + 3005.5);
    /* /proc/stat limits the sum. */
    write_state(2, 1, 2000 + 40000);
    assert_idle(2005 + 12.345 + 3020);
    /* Waiting for a disk is idle time. */
    tree_write("stat", STAT);
    open_into(&reader, SS_SOURCE_IDLE, "3");
    assert_idle(1205);
    assert_int_equal(counters.iowait, 200 * SS_MILLISECOND);
    write_state(3, 1, 3007);
    assert_idle(1205.007);
}

TEST(idle_time_replaces_unavailable_run_time) {
    make_machine();
    tree_write("self/mountinfo", "");
    open_into(&reader, SS_SOURCE_RUNTIME, "0-1");
    assert_int_equal(reader.source, SS_SOURCE_IDLE);
    assert_string_equal(reader.reason, "no control group counts CPU time");
}

static void assert_stat_alone(const char *list, const char *reason) {
    open_into(&reader, SS_SOURCE_IDLE, list);
    assert_int_equal(reader.source, SS_SOURCE_SYSTEM);
    assert_string_equal(reader.reason, reason);
    assert_int_equal(reader.residencies.count, 0);
    read_reader();
}

TEST(missing_cpuidle_falls_back_to_proc_stat) {
    tree_new();
    tree_write("stat", STAT);
    assert_stat_alone("0-2", NONE);
    /* cpuidle must be available on all measured CPUs. */
    write_state(0, 0, 5);
    write_state(2, 0, 5);
    assert_stat_alone("0-2", NONE);
    assert_stat_alone("1", NONE);
    open_into(&reader, SS_SOURCE_IDLE, "0,2");
    assert_int_equal(reader.source, SS_SOURCE_IDLE);
}

TEST(cpuidle_with_too_many_states_is_ignored) {
    static char stat[64 * 32];
    tree_new();
    for (unsigned cpu = 0; cpu < 64; cpu++) {
        sprintf(stat + strlen(stat), "cpu%u 1 2 3 4 5\n", cpu);
        for (unsigned i = 0; i < 3; i++)
            write_state(cpu, i, 1);
    }
    tree_write("stat", stat);
    assert_stat_alone("0-63", "with this many CPUs, idle time from /proc/stat is precise enough");
    open_into(&reader, SS_SOURCE_IDLE, "0-41");
    assert_int_equal(reader.source, SS_SOURCE_IDLE);
}

TEST(reopened_idle_time_reader_shares_no_descriptors) {
    make_machine();
    open_into(&reader, SS_SOURCE_IDLE, "1");
    int first = open("/proc/self/fd", O_RDONLY | O_CLOEXEC);
    SKIP_UNLESS(first >= 0, "proc: /proc/self/fd is missing");
    close(first);
    struct ss_combined_counter *shared = reader.residencies.counters;
    int file = reader.file;
    assert_int_equal(ss_platform_counters_reopen(&reader), 0);
    close(file);
    assert_ptr_equal(reader.residencies.counters, shared);
    write_state(1, 1, 1000 + 77);
    assert_idle(2005.077);
    file = reader.residencies.states[0].file;
    ss_platform_counters_close(&reader);
    assert_int_equal(fcntl(file, F_GETFD), -1);
}

TEST(readers_of_idle_time_agree_after_joining) {
    make_machine();
    open_into(&reader, SS_SOURCE_IDLE, "1");
    write_state(1, 1, 1000 + 4000);
    open_into(&other, SS_SOURCE_IDLE, "1");
    struct ss_counters theirs;
    assert_int_equal(ss_platform_counters_read(&other, &theirs), 0);
    assert_int_equal(theirs.idle, 2005 * SS_MILLISECOND);
    ss_platform_counters_share(&other, &reader);
    assert_int_equal(ss_platform_counters_read(&other, &theirs), 0);
    assert_int_equal(theirs.idle, 2009 * SS_MILLISECOND);
    ss_platform_counters_close(&other);
    assert_idle(2009);
    /* If the state becomes unreadable, only /proc/stat counts. */
    tree_write("sys/devices/system/cpu/cpu1/cpuidle/state1/time", "");
    assert_idle(2000);
}

/* On the reading CPU, the true value is at least the value in /proc/stat. */
TEST(missed_idle_time_is_added_at_the_next_reading) {
    cpu_set_t one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((unsigned)cpu, &one);
    SKIP_UNLESS(sched_setaffinity(0, sizeof one, &one) == 0, "affinity: cannot be set");
    char text[64];
    char list[16];
    tree_new();
    snprintf(list, sizeof list, "%d", cpu);
    snprintf(text, sizeof text, "cpu%d 1 2 3 100 0\n", cpu);
    tree_write("stat", text);
    write_state((unsigned)cpu, 0, 1000);
    open_into(&reader, SS_SOURCE_IDLE, list);
    assert_idle(1005);
    snprintf(text, sizeof text, "cpu%d 1 2 3 103 0\n", cpu);
    tree_write("stat", text);
    read_reader();
    assert_in_range(counters.idle, 1030 * SS_MILLISECOND, 1031 * SS_MILLISECOND);
    uint64_t idle = counters.idle;
    write_state((unsigned)cpu, 0, 1005);
    read_reader();
    assert_in_range(counters.idle, idle + 5 * SS_MICROSECOND, idle + SS_MILLISECOND);
}

UNIT_RUN
