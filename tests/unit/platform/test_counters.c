/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "counter_reader.h"
#include "measure/load.h"

/* One tick of /proc/stat; the same on every Linux. */
#define TICK (10 * SS_MILLISECOND)

static int open_with(const char *list, struct ss_error *error) {
    return try_to_open(SS_SOURCE_SYSTEM, tree_root, list, error);
}

static void open_stat(const char *list) {
    struct ss_error error = {0};
    assert_succeeds(open_with(list, &error), error);
}

/* Reads `text` as /proc/stat, for the CPUs in `list`. */
static void read_stat(const char *list, const char *text) {
    tree_new();
    tree_write("stat", text);
    open_stat(list);
    read_reader();
}

static void assert_ticks(uint64_t idle, uint64_t iowait, uint64_t steal, uint64_t busy) {
    assert_int_equal(counters.idle, idle * TICK);
    assert_int_equal(counters.iowait, iowait * TICK);
    assert_int_equal(counters.steal, steal * TICK);
    assert_int_equal(counters.busy_ticks, busy * TICK);
}

/* Columns: user nice system idle iowait irq softirq steal guest guest_nice. */
#define TWO_CPUS                                                                                   \
    "cpu  1100 220 330 44000 550 66 77 88 9 10\n"                                                  \
    "cpu0 1000 200 300 40000 500 60 70 80 9 10\n"                                                  \
    "cpu1 100 20 30 4000 50 6 7 8 0 0\n"
#define OTHER_LINES                                                                                \
    "ctxt 1990473\nbtime 1062191376\nprocesses 2915\nprocs_running 1\nprocs_blocked 0\n"           \
    "softirq 183433 0 21755 12 39 1137 231 21459 2263\n"

TEST(only_measured_cpus_of_proc_stat_are_summed) {
    ss_time before = ss_platform_now();
    read_stat("0-1", TWO_CPUS "intr 1 2 3\n" OTHER_LINES);
    /*
     * Idle 40000 + 500 + 4000 + 50; busy 1000 + 200 + 300 + 60 + 70 + 80, and a tenth of that on
     * CPU 1.
     */
    assert_ticks(44550, 550, 88, 1710 + 171);
    assert_that(counters.capacity, ==, 2);
    assert_in_range(counters.time, before, ss_platform_now());
    read_stat("0", TWO_CPUS OTHER_LINES);
    assert_ticks(40500, 500, 80, 1710);
    assert_that(counters.capacity, ==, 1);
    read_stat("1", TWO_CPUS OTHER_LINES);
    assert_ticks(4050, 50, 8, 171);
    assert_that(counters.capacity, ==, 1);
}

TEST(every_column_of_proc_stat_is_used) {
    static const struct {
        const char *stat;
        uint64_t idle, iowait, steal, busy;
    } columns[] = {
        {"cpu0 1 0 0 0 0 0 0 0 0 0\n", 0, 0, 0, 1}, {"cpu0 0 1 0 0 0 0 0 0 0 0\n", 0, 0, 0, 1},
        {"cpu0 0 0 1 0 0 0 0 0 0 0\n", 0, 0, 0, 1}, {"cpu0 0 0 0 1 0 0 0 0 0 0\n", 1, 0, 0, 0},
        {"cpu0 0 0 0 0 1 0 0 0 0 0\n", 1, 1, 0, 0}, /* iowait is idle */
        {"cpu0 0 0 0 0 0 1 0 0 0 0\n", 0, 0, 0, 1}, {"cpu0 0 0 0 0 0 0 1 0 0 0\n", 0, 0, 0, 1},
        {"cpu0 0 0 0 0 0 0 0 1 0 0\n", 0, 0, 1, 1},
        {"cpu0 0 0 0 0 0 0 0 0 1 1\n", 0, 0, 0, 0}, /* guest time is inside user time already */
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        read_stat("0", columns[i].stat);
        assert_ticks(columns[i].idle, columns[i].iowait, columns[i].steal, columns[i].busy);
    }
}

TEST(unmeasured_cpus_between_measured_ones_are_skipped) {
    char text[2048] = "cpu  0 0 0 0 0 0 0 0 0 0\n";
    for (int cpu = 0; cpu < 12; cpu++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "cpu%d %d 0 0 %d 0 0 0 0 0 0\n", cpu, 1 << cpu,
            3 << cpu);
    }
    read_stat("1,3-4,11", text);
    /* 2 + 8 + 16 + 2048 */
    assert_ticks(3 * 2074, 0, 0, 2074);
    assert_that(counters.capacity, ==, 4);
    read_stat("0-11", text);
    assert_ticks(3 * 4095, 0, 0, 4095);
    /* CPU 1 is not a prefix of CPU 10 or 11. */
    read_stat("1", text);
    assert_ticks(6, 0, 0, 2);
}

/* The line of interrupts is longer than all other lines together, as on large machines. */
TEST(proc_stat_with_256_cpus_is_read) {
    static char text[200000];
    size_t used = (size_t)snprintf(text, sizeof text, "cpu  1 2 3 4 5 6 7 8 9 10\n");
    for (int cpu = 0; cpu < 256; cpu++)
        used += (size_t)snprintf(text + used, sizeof text - used,
            "cpu%d 184467440737 0 0 1844674407370 0 0 0 0 0 0\n", cpu);
    used += (size_t)snprintf(text + used, sizeof text - used, "intr 4711");
    while (used < 120000)
        used += (size_t)snprintf(text + used, sizeof text - used, " 0");
    snprintf(text + used, sizeof text - used, "\n" OTHER_LINES);
    read_stat("0-255", text);
    assert_that(counters.capacity, ==, 256);
    assert_that(counters.idle, ==, UINT64_C(1844674407370) * 256 * TICK);
    assert_that(counters.busy_ticks, ==, UINT64_C(184467440737) * 256 * TICK);
}

/* The longest possible lines: ten numbers of 20 digits for each CPU. */
TEST(longest_possible_lines_of_proc_stat_are_read) {
    static char text[400000];
    size_t used = 0;
    for (int line = -1; line < 256; line++) {
        char name[8] = " ";
        if (line >= 0)
            snprintf(name, sizeof name, "%d", line);
        used += (size_t)snprintf(text + used, sizeof text - used, "cpu%s", name);
        for (int column = 0; column < 10; column++)
            used += (size_t)snprintf(text + used, sizeof text - used, " 18446744073709551615");
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    read_stat("0-255", text);
    assert_that(counters.capacity, ==, 256);
}

TEST(removed_cpus_change_the_set) {
    read_stat("0-1", TWO_CPUS OTHER_LINES);
    struct ss_counters both = counters;
    struct ss_load load;
    tree_write("stat", "cpu  1 1 1 1\ncpu1 101 20 30 4000 50 6 7 8 0 0\n" OTHER_LINES);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    struct ss_counters second = counters;
    assert_that(second.capacity, ==, 1);
    assert_int_not_equal(second.set, both.set);
    assert_false(ss_load_between(SS_SOURCE_SYSTEM, &both, &second, &load));
    /* CPUs were replaced: the number is the same, but the set differs. */
    tree_write("stat", "cpu  1 1 1 1\ncpu0 1000 200 300 40000 500 60 70 80 9 10\n" OTHER_LINES);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_that(counters.capacity, ==, 1);
    assert_int_not_equal(counters.set, second.set);
    assert_int_not_equal(counters.set, both.set);
    /* When the CPUs return, the set is the first one again, whatever their counters are. */
    tree_write("stat", "cpu  1 1 1 1\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 2 3 4 5 6 7 8 9 10 11\n");
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_int_equal(counters.set, both.set);
    assert_that(counters.capacity, ==, 2);
}

static void assert_refused_when_read(const char *text) {
    tree_new();
    tree_write("stat", "cpu0 1 2 3 4 5 6 7 8 9 10\n");
    open_stat("0");
    tree_write("stat", text);
    int why = ss_platform_counters_read(&reader, &counters);
    if (why != -EBADMSG)
        fail_msg("'%s': error %d (%s)", text, why, strerror(-why));
    struct ss_error error = {0};
    assert_fails(open_with("0", &error), error, "/stat: lists none of the measured CPUs");
}

/* Missing numbers read as zero would give a load of 1. */
TEST(garbled_proc_stat_is_refused) {
    static const char *const texts[] = {
        "",
        "\n",
        "\n\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
        "hello\n",
        "cpu  1 2 3 4 5 6 7 8 9 10\n",
        "cpu1 1 2 3 4 5 6 7 8 9 10\n",
        "intr 1 2 3\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
        "CPU0 1 2 3 4 5 6 7 8 9 10\n",
        "cpu8192 1 2 3 4\n",
        "cpu0\n",
        "cpu0 \n",
        "cpu0 a b c d\n",
        "cpu0 1 2 3\n",
        "cpu0 1 2 -3 4\n",
        "cpu0x 1 2 3 4\n",
        /* The last line may have been cut off. */
        "cpu0 1 2 3 4 5 6 7 8 9 10",
        "cpu0 1 2 3 4",
        "cpu",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused_when_read(texts[i]);
    read_stat("0-1", "cpu 1 2 3 4\ncpu0 1 2 3 4 0 0 0 0\ncpu1 10 20 30 4");
    assert_ticks(4, 0, 0, 6);
    assert_that(counters.capacity, ==, 1);
    /* A zero byte ends the text. */
    static const char text[] = "cpu0 1 2 3 4\ncpu1 10 20\0 30 40\n";
    tree_write_bytes("stat", text, sizeof text - 1);
    open_stat("0-1");
    read_reader();
    assert_ticks(4, 0, 0, 6);
    /* Lines with few columns or overlong numbers are valid. */
    read_stat("0-1", "cpu 11 0 0 22\ncpu0 1 2 3 4\ncpu1 10 20 30 40\nintr 1\n");
    assert_ticks(44, 0, 0, 66);
    read_stat("0-1", "cpu0 99999999999999999999999999999999999999999999999999999 1 1 1 1 1 1 1\n"
                     "cpu1 1 2 3 4\n");
    assert_that(counters.capacity, ==, 2);
}

TEST(missing_proc_stat_is_reported_by_path) {
    struct ss_error error = {0};
    tree_new();
    assert_fails(open_with("0", &error), error, "/stat: No such file or directory");
    assert_says(error.message, tree_root);
    assert_int_equal(reader.file, -1);
    assert_null(reader.buffer);
}

TEST(counter_reader_can_be_reopened) {
    read_stat("0", TWO_CPUS);
    int file = reader.file;
    assert_string_equal(reader.path, tree_path("stat"));
    assert_int_equal(ss_platform_counters_reopen(&reader), 0);
    assert_int_not_equal(reader.file, file);
    assert_int_equal(close(file), 0);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), 0);
    assert_ticks(40500, 500, 80, 1710);
    close(reader.file);
    assert_int_equal(remove(tree_path("stat")), 0);
    assert_int_equal(ss_platform_counters_reopen(&reader), -ENOENT);
    assert_int_equal(ss_platform_counters_read(&reader, &counters), -EBADF);
    reader.file = -1;
    ss_platform_counters_close(&reader);
    ss_platform_counters_close(&reader);
    read_stat("0", TWO_CPUS);
    file = reader.file;
    ss_platform_counters_close(&reader);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    assert_null(reader.buffer);
}

UNIT_RUN
