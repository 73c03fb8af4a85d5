/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <time.h>

#include "load_source.h"
#include "tree.h"

static struct ssactuate_load load;

static int try_to_open(enum ssactuate_source source, const char *argument, struct ss_error *error) {
    const struct ssactuate_policy policy = {
        .source = source, .argument = (char *)(uintptr_t)argument};
    struct ssactuate_machine machine;
    assert_int_equal(ssactuate_machine_open(&machine, tree_root, error), 0);
    int status = ssactuate_load_open(&load, &policy, &machine, error);
    ssactuate_machine_close(&machine);
    return status;
}

static void open_load(enum ssactuate_source source, const char *argument) {
    struct ss_error error = {0};
    assert_succeeds(try_to_open(source, argument, &error), error);
}

static void refuse(enum ssactuate_source source, const char *argument, const char *words) {
    struct ss_error error = {0};
    assert_int_equal(try_to_open(source, argument, &error), -1);
    ssactuate_load_close(&load);
    assert_says(error.message, words);
}

/* A machine with two CPUs, whose time is counted only by /proc/stat. */
static void make_machine(void) {
    tree_new();
    tree_write("sys/devices/system/cpu/online", "0-1\n");
    tree_write("proc/self/mountinfo", "");
    tree_write("proc/stat", "cpu0 10 0 0 10\ncpu1 10 0 0 10\n");
}

/* The time between samples is real, so only the ends of the scale are exact. */
TEST(load_of_the_machine_excludes_idle_time) {
    make_machine();
    open_load(SSACTUATE_MACHINE, NULL);
    tree_write("proc/stat", "cpu0 11 0 0 10\ncpu1 11 0 0 10\n");
    assert_near(ssactuate_load_sample(&load, ss_platform_now()), 1, 1e-12);
    tree_write("proc/stat", "cpu0 11 0 0 99999999\ncpu1 11 0 0 99999999\n");
    assert_near(ssactuate_load_sample(&load, ss_platform_now()), 0, 1e-12);
    tree_write("proc/stat", "cpu0 11 0 0 9\ncpu1 11 0 0 9\n"); /* counts backward */
    assert_true(isnan(ssactuate_load_sample(&load, ss_platform_now())));
    ssactuate_load_close(&load);
}

TEST(load_of_a_group_is_its_cpu_time) {
    make_machine();
    tree_write("sys/fs/cgroup/web/cpu.stat", "usage_usec 5\n");
    open_load(SSACTUATE_GROUP, "web");
    assert_near(ssactuate_load_sample(&load, ss_platform_now()), 0, 1e-12);
    tree_write("sys/fs/cgroup/web/cpu.stat", "usage_usec 99999999999\n");
    assert_near(ssactuate_load_sample(&load, ss_platform_now()), 1, 1e-12);
    ssactuate_load_close(&load);
}

TEST(load_of_a_trace_follows_the_current_time) {
    make_machine();
    tree_write("trace", "1s 0.2\n3s 0.6\n4s free\n6s 0.5\n");
    open_load(SSACTUATE_TRACE, tree_path("trace"));
    static const struct {
        double at, load;
    } rows[] = {{0, 0.2}, {1, 0.2}, {2, 0.4}, {2.5, 0.5}, {5, NAN}, {6, 0.5}, {100, 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double at = ssactuate_load_sample(&load, load.begin + (ss_time)(rows[i].at * SS_SECOND));
        if (!(fabs(at - rows[i].load) < 1e-9) && !(isnan(at) && isnan(rows[i].load)))
            fail_msg("the load at %g s is %g, not %g", rows[i].at, at, rows[i].load);
    }
    ssactuate_load_close(&load);
}

TEST(sources_that_cannot_be_read_are_refused) {
    make_machine();
    tree_write("trace", "0 60%\nnonsense\n");
    refuse(SSACTUATE_TRACE, tree_path("trace"), "load: ");
    refuse(SSACTUATE_GROUP, "none", "load: ");
    tree_write("proc/stat", "");
    refuse(SSACTUATE_MACHINE, NULL, "load: ");
}

TEST(load_is_read_from_the_last_complete_row_of_a_record) {
    tree_new();
    assert_true(isnan(ssactuate_load_of_samples(tree_path("samples.csv"))));
    tree_write("samples.csv", "time,target,load\n");
    assert_true(isnan(ssactuate_load_of_samples(tree_path("samples.csv"))));
    tree_write("samples.csv", "time,target,load\n1,0.5,0.4\n2,0.5,0.45\n3,0.5,0.");
    assert_near(ssactuate_load_of_samples(tree_path("samples.csv")), 0.45, 1e-12);
    char text[9000] = "time,target,load\n";
    for (int i = 0; i < 500; i++)
        snprintf(text + strlen(text), 40, "%d,0.5,0.%03d\n", i, i);
    tree_write("samples.csv", text);
    assert_near(ssactuate_load_of_samples(tree_path("samples.csv")), 0.499, 1e-12);
    remove(tree_path("samples.csv"));
    assert_int_equal(mkfifo(tree_path("samples.csv"), 0600), 0); /* open() must not wait for it */
    assert_true(isnan(ssactuate_load_of_samples(tree_path("samples.csv"))));
}

TEST(load_of_a_record_without_new_rows_is_unknown) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
    tree_new();
    tree_write("samples.csv", "time,target,load\n1,0.5,0.4\n");
    assert_near(ssactuate_load_of_samples(tree_path("samples.csv")), 0.4, 1e-12);
    times[1].tv_sec = time(NULL) - 90;
    assert_int_equal(utimensat(AT_FDCWD, tree_path("samples.csv"), times, 0), 0);
    assert_true(isnan(ssactuate_load_of_samples(tree_path("samples.csv"))));
}

UNIT_RUN
