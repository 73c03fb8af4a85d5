/* SPDX-License-Identifier: Apache-2.0 */

/* The rows that --counters adds to a record. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "isolated.h"
#include "process.h"
#include "record.h"
#include "run.h"

struct row {
    double elapsed, runnable, instructions, page_faults, seconds;
};

#define ROWS_MAX 256

struct table {
    struct row rows[ROWS_MAX];
    size_t count;
    struct row sums; /* without empty cells */
    size_t filled;   /* rows with the CPU time */
};

static const char heading[] =
    "time,elapsed_seconds,runnable,instructions,cycles,stalled_frontend,stalled_backend,"
    "l1d_references,l1d_misses,cache_references,cache_misses,page_faults,context_switches,"
    "migrations,task_clock_seconds,l2_references,l2_misses\n";

static struct row take_row(const char *line) {
    return (struct row){run_cell(line, 1), run_cell(line, 2), run_cell(line, 3), run_cell(line, 11),
        run_cell(line, 14)};
}

static struct table read_table(const char *record) {
    struct table table = {0};
    char *text = record_read(record, "counters.csv").bytes, *rest = text;
    char *end = strrchr(text, '\n');
    if (!end)
        return table;
    end[1] = '\0';
    ck_assert_msg(strncmp(rest, heading, strlen(heading)) == 0, "%.300s", rest);
    rest += strlen(heading);
    for (char *line; *rest && (line = strsep(&rest, "\n"));) {
        struct row row = take_row(line);
        ck_assert_uint_lt(table.count, ROWS_MAX);
        table.rows[table.count++] = row;
        if (isnan(row.seconds))
            continue;
        table.filled++;
        table.sums.page_faults += row.page_faults;
        table.sums.seconds += row.seconds;
    }
    free(text);
    return table;
}

/* Uses the event that reports a kernel without counting, as late counts leave rows empty, too. */
static bool may_count(const char *record) {
    return record_count(record, "events.jsonl", "task_clock_seconds") == 0;
}

/* Reads the counters; skips the test if the kernel does not permit counting. */
static struct table expect_counts(const char *record) {
    struct table table = read_table(record);
    ck_assert_uint_ge(table.count, 1);
    SKIP_UNLESS(
        table.filled || may_count(record), "perf-events: the kernel does not permit counting");
    ck_assert_uint_gt(table.filled, 0);
    return table;
}

static bool has_hardware(const struct table *table) {
    for (size_t i = 0; i < table->count; i++) {
        if (!isnan(table->rows[i].instructions))
            return true;
    }
    return false;
}

TEST_CASE(a_counter_row_is_written_every_second) {
    const char *record = run_new_path("record");
    struct run *run = SUCCEED("-v", "-n", "2", "-f", "own", "-l", "50%", "-c", "fixed", "--warmup",
        "300m", "--duration", "2500m", "--counters", "--record", record, PAYLOAD, "spin");
    struct table table = expect_counts(record);
    /*
     * Rows are written every second from the warm-up on, or a little later, and at the end, which
     * may be late, too.
     */
    double elapsed = table.rows[table.count - 1].elapsed;
    ck_assert_uint_ge(table.count, 2);
    ck_assert_double_le((double)table.count, floor(elapsed + 0.3) + 1);
    ck_assert_double_ge(elapsed, 2.49);
    for (size_t i = 0; i < table.count; i++) {
        ck_assert_double_ge(table.rows[i].runnable, 1);
        ck_assert(i == 0 || table.rows[i].elapsed > table.rows[i - 1].elapsed);
    }
    ck_assert_double_gt(table.sums.seconds, 0);
    ck_assert_double_gt(table.sums.page_faults, 0);
    /* Each event that the machine does not count is reported once. */
    size_t said = run_count_text(&run->err, "this machine does not count them");
    record_expect_events(record, said, "this machine does not count them");
    record_expect_events(record, said, "\"event\":\"counters_missing\",\"text\":");
    if (!has_hardware(&table))
        ck_assert_uint_eq(said, 1);
}

/* Returns the number of rows with counts, or of all rows if the kernel does not permit counting. */
static size_t count_filled(const char *record) {
    struct table table = read_table(record);
    return may_count(record) ? table.filled : table.count;
}

static struct row first_filled(const struct table *table) {
    size_t i = 0;
    while (isnan(table->rows[i].seconds))
        i++;
    return table->rows[i];
}

/* Fails unless counting continues after an executor's first instance. */
static void expect_repeats(bool isolated) {
    const char *record = run_new_path("record");
    struct run *run = START("-q", isolated ? "--isolate" : "-q", "-n", "1", "-f", "own", "-l",
        "100%", "-c", "fixed", "--repeat", "--counters", "--record", record, "sh", "-c",
        "echo again; sleep 0.05");
    RUN_UNTIL(run, run->ended || count_filled(record) >= 1);
    size_t repeats = run_count_text(&run->out, "again");
    RUN_UNTIL(run, run_count_text(&run->out, "again") >= repeats + 2);
    size_t rows = count_filled(record);
    RUN_UNTIL(run, count_filled(record) > rows);
    run_end(run, SIGTERM);
    struct table table = expect_counts(record);
    struct row first = first_filled(&table);
    ck_assert_double_gt(first.page_faults, 0);
    ck_assert_double_gt(table.sums.page_faults - first.page_faults, 0);
    ck_assert_double_gt(table.sums.seconds - first.seconds, 0);
    run_expect_nothing_left();
}

TEST_CASE(repeated_instances_are_counted) {
    for (EACH_MODE(isolated)) {
        expect_repeats(isolated);
    }
}

static bool has_seconds(const char *record, double seconds) {
    struct table table = read_table(record);
    bool has = false;
    for (size_t i = 0; i < table.count; i++)
        has |= table.rows[i].seconds > seconds;
    return has;
}

/* The child is older than the run. */
TEST_CASE(attached_processes_are_counted) {
    const char *record = run_new_path("record");
    struct run *target =
        run_start(NULL, WORDS("sh", "-c", "sh -c 'echo ready; while :; do :; done'; exit 1"));
    run_wait_text(target, "ready");
    const char *pid = run_pid_text(target->pid);
    struct run *run = START("-q", "--attach", pid, "-f", "own", "-l", "100%", "-c", "fixed",
        "--counters", "--record", record);
    RUN_UNTIL(run, run->ended || has_seconds(record, 0.005) ||
                       (read_table(record).count >= 2 && !may_count(record)));
    run_end(run, SIGTERM);
    family_end_all();
    SKIP_UNLESS(has_seconds(record, 0.005) || may_count(record),
        "perf-events: the kernel does not permit counting");
}

/* The limit on open files leaves no descriptor for counters: all cells are empty. */
TEST_CASE(a_run_succeeds_if_counters_cannot_be_opened) {
    const char *record = run_new_path("record");
    const char *script = run_format("ulimit -n 200; exec " SHOWSTOPPER
                                    " -v -n 1 -f own -l 50%% -c fixed --repeat --duration "
                                    "1200m --counters --record %s " PAYLOAD " exit 0",
        record);
    struct run *run = run_succeed(CALL("sh", "-c", script));
    struct table table = read_table(record);
    ck_assert_uint_ge(table.count, 2);
    for (size_t i = 0; i < table.count; i++)
        ck_assert(isnan(table.rows[i].seconds) && isnan(table.rows[i].instructions));
    ck_assert_uint_gt(record_count(record, "events.jsonl", "task_clock_seconds: "), 0);
    run_expect_text(&run->err, "task_clock_seconds: ");
}

TEST_CASE(counters_are_recorded_and_replayed) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *again = run_path(folder, "again");
    struct run *run =
        SUCCEED("-l", "50%", "--counters", "--record", record, "--dry-run", PAYLOAD, "exit", "9");
    run_expect_text(&run->out, "\ncounters   events of the instances, every second\n");
    run = SUCCEED("-q", "-f", "own", "-l", "50%", "-n", "1", "--counters", "--record", record,
        PAYLOAD, "exit", "0");
    read_table(record);
    run = RUN("-q", "--replay", record);
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    run = SUCCEED("-q", "--replay", record, "--record", again);
    read_table(again);
    /* A record that replaces this one without --counters has no counters.csv. */
    run = SUCCEED("-q", "-f", "own", "-l", "50%", "-n", "1", "--force", "--record", record, PAYLOAD,
        "exit", "0");
    ck_assert(!record_has(record, "counters.csv"));
}
