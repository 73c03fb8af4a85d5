/* SPDX-License-Identifier: Apache-2.0 */

#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree.h"

TEST(runnable_threads_are_read_from_loadavg) {
    static const struct {
        const char *text;
        long runnable;
    } cases[] = {{"0.20 0.18 0.12 1/80 11206\n", 1}, {"10.20 100.18 0.12 123/4567 11206\n", 123},
        {"0.20 0.18 0.12 0/80 11206\n", 0}, {"0.20 0.18 0.12\n", -1},
        {"0.20 0.18 0.12 x/80 11206\n", -1}, {"0.20 0.18 0.12 1 80\n", -1}, {"", -1}, {NULL, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree_new();
        if (cases[i].text)
            tree_write("loadavg", cases[i].text);
        struct ss_platform_roots roots = {.proc = tree_path(".")};
        assert_int_equal(ss_platform_count_runnable(&roots), cases[i].runnable);
    }
    assert_that(ss_platform_count_runnable(NULL), >=, 1); /* this thread */
}

static struct ss_perf_raw l2_of(const char *vendor, unsigned family, unsigned model) {
    char text[256];
    snprintf(text, sizeof text,
        "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: CPU 7\n\n"
        "processor\t: 1\nvendor_id\t: Other\ncpu family\t: 1\nmodel\t\t: 1\n",
        vendor, family, model);
    tree_new();
    tree_write("cpuinfo", text);
    struct ss_platform_roots roots = {.proc = tree_path(".")};
    return ss_platform_l2_events(&roots);
}

TEST(l2_events_depend_on_the_cpu_model) {
    assert_int_equal(l2_of("GenuineIntel", 6, 0x2d).misses, 0x07f1); /* Xeon E5-2620, E5-2680 */
    assert_int_equal(l2_of("GenuineIntel", 6, 0x2d).references, 0x80f0);
    assert_int_equal(l2_of("GenuineIntel", 6, 0x3f).misses, 0x3f24); /* Xeon E5-2620 v3 */
    assert_int_equal(l2_of("GenuineIntel", 6, 0x2c).misses, 0xaa24);
    assert_int_equal(l2_of("GenuineIntel", 6, 0xcf).references, 0xff24);
    assert_int_equal(l2_of("AuthenticAMD", 0x15, 1).misses, 0x077e); /* Opteron 6272 */
    assert_int_equal(l2_of("AuthenticAMD", 0x19, 0x11).misses, 0x0964);
    assert_int_equal(l2_of("GenuineIntel", 6, 0x0f).misses, 0);
    assert_int_equal(l2_of("GenuineIntel", 15, 0x3f).misses, 0);
    assert_int_equal(l2_of("AuthenticAMD", 0x16, 0).misses, 0);
    assert_int_equal(l2_of("ARM", 6, 0x3f).misses, 0);
    struct ss_platform_roots roots = {.proc = "/nowhere"};
    assert_int_equal(ss_platform_l2_events(&roots).references, 0);
}

static int open_clock(pid_t thread, bool after_exec) {
    struct ss_perf_request request = {
        .event = SS_PERF_TASK_CLOCK, .thread = thread, .after_exec = after_exec, .user_only = true};
    return ss_platform_perf.open(NULL, &request);
}

static uint64_t read_clock(int clock) {
    struct ss_perf_count count = {0};
    assert_int_equal(ss_platform_perf.read(NULL, clock, &count), 0);
    assert_that(count.enabled, >=, count.running);
    return count.value;
}

static void burn(void) {
    ss_time begin = ss_platform_process_cpu_time(getpid());
    while (ss_platform_process_cpu_time(getpid()) - begin < 30 * SS_MILLISECOND) {
    }
}

static void run_child(void) {
    pid_t child = fork();
    if (child == 0) {
        burn();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Starts a shell whose child does the work. The shell ends when its standard input does. */
static pid_t start_program(int gate[2], int end[2]) {
    assert_int_equal(pipe(gate) | pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(gate[1]);
        close(end[1]);
        burn();
        bool opened = read(gate[0], &byte, 1) == 0;
        if (opened && dup2(end[0], STDIN_FILENO) == 0)
            execl("/bin/sh", "sh", "-c",
                "(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); read line", (char *)NULL);
        _exit(1);
    }
    close(gate[0]);
    close(end[0]);
    return child;
}

/* Children count even after they have exited, but nothing before exec counts. */
TEST(program_events_are_counted_from_exec) {
    int gate[2], end[2];
    pid_t child = start_program(gate, end);
    int clock = open_clock(child, true);
    bool counts = clock >= 0;
    uint64_t before = counts ? read_clock(clock) : 0;
    close(gate[1]);
    close(end[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    SKIP_UNLESS(counts, "perf-events: the kernel does not permit counting");
    assert_int_equal(before, 0);
    assert_that(read_clock(clock), >=, SS_MILLISECOND);
    ss_platform_perf.close(NULL, clock);
}

TEST(thread_events_include_those_of_its_descendants) {
    int clock = open_clock(0, false);
    SKIP_UNLESS(clock >= 0, "perf-events: the kernel does not permit counting");
    burn();
    uint64_t used = read_clock(clock);
    assert_that(used, >=, 25 * SS_MILLISECOND);
    run_child();
    assert_that(read_clock(clock), >=, used + 25 * SS_MILLISECOND);
    ss_platform_perf.close(NULL, clock);
}

UNIT_RUN
