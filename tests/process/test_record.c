/* SPDX-License-Identifier: Apache-2.0 */

/* The record is complete or marked as interrupted, however the run ends. */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "json_text.h"
#include "process.h"
#include "run.h"
#include "surroundings.h"

static const char *const tables[] = {
    "samples.csv", "cpus.csv", "decisions.csv", "iterations.csv", "iteration-times.csv"};

#define TABLES (sizeof tables / sizeof *tables)

static struct run_text read_record(const char *record, const char *name) {
    return run_read_file(run_path(record, name));
}

static bool has(const char *record, const char *name) {
    return run_exists(run_path(record, name));
}

static size_t count_columns(const char *line) {
    size_t count = 1;
    for (; *line && *line != '\n'; line++)
        count += *line == ',';
    return count;
}

/*
 * Fails unless every complete line has as many columns as the heading. Returns the number of rows.
 */
static size_t expect_table(const char *record, const char *name) {
    struct run_text text = read_record(record, name);
    ck_assert_msg(text.length > 0, "%s is empty", name);
    size_t columns = count_columns(text.bytes), lines = 0;
    for (char *line = text.bytes; *line; lines++) {
        char *end = strchr(line, '\n');
        if (!end)
            break;
        EXPECT(count_columns(line) == columns, "%s, line %zu: %.200s", name, lines, line);
        line = end + 1;
    }
    free(text.bytes);
    return lines - 1;
}

static bool is_whole(const char *record, const char *name) {
    struct run_text text = read_record(record, name);
    bool whole = text.length > 0 && text.bytes[text.length - 1] == '\n';
    free(text.bytes);
    return whole;
}

static size_t count_rows(const char *record, const char *name) {
    struct run_text text = read_record(record, name);
    size_t lines = run_count_text(&text, "\n");
    free(text.bytes);
    return lines > 0 ? lines - 1 : 0;
}

/*
 * Ends the run by a signal once it has so many samples, because a busy machine may need long for
 * them. The other tables are written at each sample.
 */
static void interrupt_after(struct run *run, const char *record, size_t samples) {
    RUN_UNTIL(run, run->ended || count_rows(record, "samples.csv") >= samples);
    run_end(run, SIGINT);
}

START_TEST(a_record_has_tables_events_and_summary) {
    const char *record = run_path(run_make_folder(), "record");
    double begin = run_now();
    struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "-D", "40m", "--iteration",
        "done ([0-9.]+) ms", "--record", record, PAYLOAD, "lines", "100000", "10");
    RUN_UNTIL(run, run->ended || (count_rows(record, "decisions.csv") >= 20 &&
                                     count_rows(record, "iterations.csv") >= 10));
    interrupt_after(run, record, 2);
    double took = run_now() - begin;
    /*
     * Two samples per second at most, and 100 decisions of two executors; a few more at the ends.
     */
    size_t samples = expect_table(record, "samples.csv");
    ck_assert_uint_ge(samples, 2);
    ck_assert_double_le((double)samples, 2 * took + 1);
    ck_assert_uint_eq(expect_table(record, "cpus.csv"), samples);
    size_t decisions = expect_table(record, "decisions.csv");
    ck_assert_uint_ge(decisions, 20);
    ck_assert_double_le((double)decisions, 134 * took);
    ck_assert_uint_ge(expect_table(record, "iterations.csv"), 10);
    for (size_t i = 0; i < TABLES; i++)
        ck_assert(is_whole(record, tables[i]));
    struct run_text events = read_record(record, "events.jsonl");
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"instance_started\""), 2);
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"counting\""), 1);
    struct run_text summary = read_record(record, "summary.json");
    ck_assert_double_eq(json_number(summary.bytes, "samples"), (double)samples);
    ck_assert(has(record, "plan.json"));
    ck_assert(!has(record, "interrupted"));
    run_expect_nothing_left();
    run_free(run);
}
END_TEST

START_TEST(a_run_that_ends_as_planned_completes_its_record) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = RUN("-q", "-n", "2", "-l", "50%", "-c", "fixed", "--duration", "600m",
        "--record", record, PAYLOAD, "spin");
    run_expect(run, 0);
    struct run_text events = read_record(record, "events.jsonl");
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"instance_ended\""), 2);
    ck_assert_uint_eq(run_count_text(&events, "\"text\":\"duration\""), 1);
    ck_assert(has(record, "summary.json"));
    ck_assert(!has(record, "interrupted"));
    run_free(run);
}
END_TEST

/* Computes the error from the table, as a reader would. */
START_TEST(summary_figures_match_the_samples_table) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = run_wait(START("-q", "-n", "2", "-l", "50%", "-c", "fixed", "--duration",
        "3s", "--record", record, PAYLOAD, "spin"));
    run_expect(run, 0);
    struct run_text text = read_record(record, "samples.csv");
    double sum = 0, squares = 0, count = 0;
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        double target, load, error;
        ck_assert_int_eq(sscanf(line, "%*[^,],%*[^,],%lf,%lf,%lf", &target, &load, &error), 3);
        ck_assert_double_eq_tol(target - load, error, 2e-6);
        sum += 100 * (target - load);
        squares += 1e4 * (target - load) * (target - load);
        count++;
    }
    struct run_text summary = read_record(record, "summary.json");
    ck_assert_double_eq_tol(json_number(summary.bytes, "error_mean_percent"), sum / count, 1e-3);
    ck_assert_double_eq_tol(json_number(summary.bytes, "error_mse_e4"), squares / count, 0.05);
    run_free(run);
}
END_TEST

/*
 * The first duty is chosen before anything is known about the instances. Load of other processes
 * can only lower it.
 */
START_TEST(many_instances_start_with_a_low_duty) {
    const char *record = run_path(run_make_folder(), "record");
    run_greedily();
    struct run *run = run_wait(START("-q", "-n", "64", "--cpus", run_first_cpu(), "-l", "20%",
        "--duration", "1s", "--record", record, PAYLOAD, "spin"));
    run_expect(run, 0);
    struct run_text events = read_record(record, "events.jsonl");
    char *counting = strstr(events.bytes, "\"event\":\"counting\"");
    ck_assert_ptr_nonnull(counting);
    *counting = 0;
    events.length = (size_t)(counting - events.bytes);
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"instance_started\""), 64);
    /* The last but one column is the chosen duty; a late executor carries out another one. */
    struct run_text decisions = read_record(record, "decisions.csv");
    char *row = strchr(decisions.bytes, '\n') + 1;
    row[strcspn(row, "\n")] = 0;
    *strrchr(row, ',') = 0;
    double duty = strtod(strrchr(row, ',') + 1, NULL);
    ck_assert_msg(duty > 0 && duty < 3 * 0.2 / 64, "a duty of %g: %s", duty, row);
    run_free(run);
}
END_TEST

/* A step at the very end of a sample does not count in that sample. */
START_TEST(a_step_at_the_end_of_a_sample_counts_for_the_next_one) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *trace = run_path(folder, "trace");
    run_write_file(trace, "0 10%\n1s 10%\n1s 90%\n9s 90%\n");
    struct run *run = run_wait(START("-q", "-n", "1", "-t", "file", "-T", trace, "-c", "fixed",
        "--duration", "2s", "--record", record, PAYLOAD, "spin"));
    run_expect(run, 0);
    struct run_text text = read_record(record, "samples.csv");
    int rows = 0;
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        double elapsed, target;
        ck_assert_int_eq(sscanf(line, "%*[^,],%lf,%lf", &elapsed, &target), 2);
        ck_assert_double_eq_tol(target, elapsed < 1.5 ? 0.1 : 0.9, 1e-6);
        rows++;
    }
    ck_assert_int_ge(rows, 1);
    run_free(run);
}
END_TEST

/* The columns of a row after the first six; -1 if empty. */
struct parts {
    double load, user, system, irq, steal, iowait, idle;
};

static double take_column(char **at) {
    char *column = strsep(at, ",");
    return column && *column ? strtod(column, NULL) : -1;
}

static struct parts take_parts(char *line) {
    struct parts parts;
    for (int i = 0; i < 3; i++)
        strsep(&line, ",");
    parts.load = take_column(&line);
    for (int i = 0; i < 2; i++)
        strsep(&line, ",");
    parts.user = take_column(&line);
    parts.system = take_column(&line);
    parts.irq = take_column(&line);
    parts.steal = take_column(&line);
    parts.iowait = take_column(&line);
    parts.idle = take_column(&line);
    return parts;
}

static void each_row(const char *record, void (*expect)(const struct parts *parts)) {
    struct run_text text = read_record(record, "samples.csv");
    size_t rows = 0;
    for (char *at = strchr(text.bytes, '\n') + 1, *line; *at && (line = strsep(&at, "\n"));) {
        struct parts parts = take_parts(line);
        expect(&parts);
        rows++;
    }
    ck_assert_uint_ge(rows, 2);
}

/*
 * Columns about the whole machine are empty. A load is at most 1, even if the group also has
 * processes on CPUs that the run may not use; user and system times are not limited.
 */
static void expect_group(const struct parts *parts) {
    ck_assert_double_eq(parts->irq, -1);
    ck_assert_double_eq(parts->steal, -1);
    ck_assert_double_eq(parts->iowait, -1);
    ck_assert((parts->user < 0) == (parts->system < 0));
    if (parts->user >= 0 && parts->load < 1)
        ck_assert_double_le(parts->user + parts->system, parts->load + 0.2);
}

static void expect_no_parts(const struct parts *parts) {
    ck_assert_double_eq_tol(parts->load, 0.25, 1e-6);
    ck_assert_double_eq(parts->user, -1);
    ck_assert_double_eq(parts->system, -1);
    ck_assert_double_eq(parts->iowait, -1);
    ck_assert_double_eq(parts->idle, -1);
}

START_TEST(rows_of_a_group_describe_only_the_group) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run =
        START("-n", "1", "-l", "20%", "-f", "cgroup", "--record", record, PAYLOAD, "spin");
    RUN_UNTIL(run, run->ended || count_rows(record, "samples.csv") >= 2);
    SKIP_UNLESS(!run->ended || run->status != 125 || !strstr(run->err.bytes, "control group"),
        "cgroup-cpu: our own control group counts no CPU time");
    interrupt_after(run, record, 2);
    run_expect_text(&run->err, "the allowance of the control group with");
    each_row(record, expect_group);
    struct run_text summary = read_record(record, "summary.json");
    ck_assert(json_is(summary.bytes, "scope", "\"cgroup\""));
    run_expect_nothing_left();
}
END_TEST

START_TEST(rows_of_a_sensor_have_empty_time_columns) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = START("-n", "1", "-l", "20%", "-f", "command", "-F",
        "sh -c 'while echo 0.25; do sleep 0.05; done'", "--record", record, PAYLOAD, "spin");
    interrupt_after(run, record, 2);
    run_expect_text(&run->err, "a value of 1 from the sensor: sh -c");
    each_row(record, expect_no_parts);
    struct run_text summary = read_record(record, "summary.json");
    ck_assert(json_is(summary.bytes, "scope", "\"sensor\""));
    run_expect_nothing_left();
}
END_TEST

/*
 * Every CPU has a column. Times are those of samples.csv, and loads are present for any source of
 * the run's load.
 */
static void expect_cpus(const char *record, const char *heading) {
    struct run_text cpus = read_record(record, "cpus.csv");
    struct run_text samples = read_record(record, "samples.csv");
    size_t rows = 0;
    ck_assert_msg(strncmp(cpus.bytes, heading, strlen(heading)) == 0, "%.200s", cpus.bytes);
    char *row = strchr(cpus.bytes, '\n') + 1, *sample = strchr(samples.bytes, '\n') + 1;
    for (; *row; row = strchr(row, '\n') + 1, sample = strchr(sample, '\n') + 1) {
        double load;
        size_t times = strcspn(row, ",") + 1;
        times += strcspn(row + times, ",") + 1;
        ck_assert_msg(strncmp(row, sample, times) == 0, "%.80s, %.80s", row, sample);
        ck_assert_int_eq(sscanf(row + times, "%lf", &load), 1);
        ck_assert(load >= 0 && load <= 1);
        rows++;
    }
    ck_assert(!*sample);
    ck_assert_uint_ge(rows, 2);
    struct run_text summary = read_record(record, "summary.json");
    double steal = json_number(summary.bytes, "steal_mean");
    ck_assert_msg(steal >= 0 && steal <= 1, "%.3000s", summary.bytes);
}

START_TEST(each_cpu_has_a_column) {
    static const char *const feedbacks[][3] = {{"realtime", "-q", "-q"}, {"exact", "-q", "-q"},
        {"own", "-q", "-q"}, {"command", "-F", "sh -c 'while echo 0.25; do sleep 0.05; done'"}};
    char heading[64];
    const char *folder = run_make_folder();
    snprintf(heading, sizeof heading, "time,elapsed_seconds,cpu%s\n", run_last_cpu());
    for (size_t i = 0; i < sizeof feedbacks / sizeof *feedbacks; i++) {
        const char *record = run_path(folder, feedbacks[i][0]);
        struct run *run = START("-q", "--cpus", run_last_cpu(), "-n", "1", "-l", "20%", "-f",
            feedbacks[i][0], feedbacks[i][1], feedbacks[i][2], "--record", record, PAYLOAD, "spin");
        interrupt_after(run, record, 2);
        expect_cpus(record, heading);
        run_free(run);
    }
}
END_TEST

/* With a time limit only the latest decisions are kept; with a limit of 0 no file is written. */
START_TEST(record_decisions_limits_the_recorded_decisions) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "none");
    run_expect(RUN("-q", "-n", "2", "-l", "50%", "--duration", "600m", "--record-decisions", "none",
                   "--record", record, PAYLOAD, "spin"),
        0);
    ck_assert_int_ne(access(run_path(record, "decisions.csv"), F_OK), 0);
    ck_assert(is_whole(record, "samples.csv"));
    record = run_path(folder, "last");
    double first = 0;
    /* The last second is kept, or more on a busy machine, which removes the others late. */
    for (const char *const *length = WORDS("5s", "20s", "60s"); *length && first <= 0.9; length++) {
        run_expect(RUN("-q", "-n", "2", "-l", "50%", "--duration", *length, "--record-decisions",
                       "1s", "--record", record, "--force", PAYLOAD, "spin"),
            0);
        ck_assert_int_ne(access(run_path(record, "decisions-before.csv"), F_OK), 0);
        struct run_text text = run_read_file(run_path(record, "decisions.csv"));
        char *row = strchr(text.bytes, '\n') + 1;
        ck_assert_ptr_nonnull(row);
        first = strtod(strchr(row, ',') + 1, NULL);
        free(text.bytes);
    }
    ck_assert_msg(first > 0.9, "the first decision is of %f s", first);
    struct run *run = RUN("--record-decisions", "few", "--record", run_path(folder, "few"), "-l",
        "50%", PAYLOAD, "spin");
    run_expect(run, 125);
    run_expect_text(&run->err, "--record-decisions: expected all, none or a time");
    run_remove_folder(folder);
}
END_TEST

/* Returns the duty of an instance with a planned duty of 0.3. */
static double measure_duty(const char *duration) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = run_wait(START("-q", "-n", "1", "-l", "30%", "-c", "fixed", "--duration",
        duration, "--record", record, PAYLOAD, "spin"));
    run_expect(run, 0);
    struct run_text text = read_record(record, "decisions.csv");
    double running = 0, stopped = 0, last_end = -1;
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        double begin, planned, real, local;
        char state[16];
        ck_assert_int_eq(sscanf(line, "%*[^,],%lf,0,%15[a-z],%lf,%lf,%*f,,%*f,%lf", &begin, state,
                             &planned, &real, &local),
            5);
        ck_assert_double_eq_tol(local, 0.3, 1e-6);
        /* Decisions follow one another without a gap. */
        if (last_end >= 0)
            ck_assert_double_eq_tol(begin, last_end, 2e-6);
        last_end = begin + real;
        *(strcmp(state, "running") == 0 ? &running : &stopped) += real;
    }
    run_free(run);
    return running / (running + stopped);
}

/* On a busy machine late switches make both shares more equal, and may last for seconds. */
START_TEST(decisions_match_the_target_without_gaps) {
    double duty = 1;
    for (const char *const *duration = WORDS("4s", "12s", "36s");
         *duration && fabs(duty - 0.3) > 0.3; duration++)
        duty = measure_duty(*duration);
    ck_assert_double_eq_tol(duty, 0.3, 0.3);
}
END_TEST

/* Returns the difference of the mean duties in the summary and in the decisions of a run. */
static double compare_duties(const char *duration) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *trace = run_path(folder, "trace");
    run_write_file(trace, "0 10%\n20ms 10%\n20ms 90%\n400ms 90%\n400ms 10%\n500ms 10%\n");
    struct run *run = run_wait(START("-q", "-n", "2", "-t", "file", "-T", trace, "-c", "fixed",
        "-D", "20m", "--duration", duration, "--record", record, PAYLOAD, "spin"));
    run_expect(run, 0);
    struct run_text text = read_record(record, "samples.csv");
    double sum = 0, count = 0, running = 0, all = 0;
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        ck_assert_int_eq(end[-1], '1');
        const char *duty = end - 2;
        while (duty[-1] != ',')
            duty--;
        sum += strtod(duty, NULL);
        count++;
    }
    text = read_record(record, "decisions.csv");
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        double real;
        char state[16];
        ck_assert_int_eq(sscanf(line, "%*[^,],%*[^,],%*d,%15[a-z],%*f,%lf", state, &real), 2);
        running += strcmp(state, "running") == 0 ? real : 0;
        all += real;
    }
    struct run_text summary = read_record(record, "summary.json");
    double duty = json_number(summary.bytes, "duty_mean");
    ck_assert_double_eq_tol(duty, sum / count, 1e-6);
    ck_assert_double_ge(duty, 0.2);
    run_free(run);
    return fabs(duty - running / all);
}

/*
 * The mean duty is the same in summary, samples and decisions, although samples end within
 * decisions. Late switches change the planned duty of 0.7; the last decisions end after the run.
 */
START_TEST(duty_agrees_in_summary_samples_and_decisions) {
    double difference = 1;
    for (const char *const *duration = WORDS("4s", "12s", "36s"); *duration && difference > 0.3;
         duration++)
        difference = compare_duties(*duration);
    ck_assert_double_le(difference, 0.3);
}
END_TEST

START_TEST(existing_record_is_kept) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    mkdir(record, 0777);
    run_write_file(run_path(record, "samples.csv"), "old\n");
    run_write_file(run_path(record, "notes"), "mine\n");
    run_write_file(run_path(record, "plan.json"), "{\n  \"schema\": 2,\n");
    struct run *run = RUN("-l", "100%", "-c", "fixed", "--record", record, PAYLOAD, "exit", "0");
    run_expect(run, 125);
    run_expect_text(&run->err, "--force");
    struct run_text text = read_record(record, "samples.csv");
    ck_assert_str_eq(text.bytes, "old\n");
    run_free(run);
    run =
        RUN("-q", "-l", "100%", "-c", "fixed", "--record", record, "--force", PAYLOAD, "exit", "0");
    run_expect(run, 0);
    ck_assert(has(record, "summary.json"));
    ck_assert(has(record, "notes"));
    expect_table(record, "samples.csv");
    run_free(run);
    const char *none = run_path(folder, "none/record");
    run = RUN("-l", "100%", "-c", "fixed", "--record", none, PAYLOAD, "exit", "0");
    run_expect(run, 125);
    run_expect_text(&run->err, "No such file or directory");
    run_free(run);
    run = RUN(
        "-l", "100%", "-c", "fixed", "--record", run_path(record, "notes"), PAYLOAD, "exit", "0");
    run_expect(run, 125);
    run_expect_text(&run->err, "is not a folder");
    run_free(run);
}
END_TEST

/* Without a plan of showstopper, these files are not those of a record. */
START_TEST(a_folder_that_is_not_a_record_is_kept) {
    static const char *const names[] = {
        "input-raw.csv", "iterations.csv", "plan.json", ".plan.json.7", "interrupted"};
    const char *data = run_path(run_make_folder(), "data");
    mkdir(data, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run_write_file(run_path(data, names[i]), "mine\n");
    for (const char *const *option = WORDS("--verbose", "--force"); *option; option++) {
        struct run *run =
            RUN("-l", "100%", "-c", "fixed", "--record", data, *option, PAYLOAD, "exit", "0");
        run_expect(run, 125);
        run_expect_text(&run->err, "is not a record");
        run_free(run);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(run_read_file(run_path(data, names[i])).bytes, "mine\n");
    ck_assert(!has(data, "summary.json"));
}
END_TEST

static void expect_interrupted(const char *record) {
    ck_assert(has(record, "interrupted"));
    ck_assert(!has(record, "summary.json"));
    for (size_t table = 0; table < TABLES; table++) {
        if (read_record(record, tables[table]).length > 0)
            expect_table(record, tables[table]);
    }
}

/*
 * Wherever a run is killed, its record is marked as interrupted and has complete lines, except for
 * the last one. Several runs at a time, because most of them wait.
 */
START_TEST(a_killed_run_leaves_whole_lines) {
    enum { ROUNDS = 10, AT_ONCE = 5 };
    const char *folder = run_make_folder();
    for (int round = 0; round < ROUNDS; round++) {
        struct run *runs[AT_ONCE];
        const char *records[AT_ONCE];
        double begin = run_now();
        for (int i = 0; i < AT_ONCE; i++) {
            char name[32];
            snprintf(name, sizeof name, "record%d.%d", round, i);
            records[i] = run_path(folder, name);
            runs[i] = START("-n", "2", "-l", "50%", "-c", "fixed", "-D", "5m", "--iteration",
                "done ([0-9.]+) ms", "--record", records[i], PAYLOAD, "lines", "100000", "5");
        }
        for (int i = 0; i < AT_ONCE; i++) {
            double moment = begin + 0.02 * (round * AT_ONCE + i);
            RUN_UNTIL(runs[i], run_now() >= moment && has(records[i], "events.jsonl"));
            kill(runs[i]->pid, SIGKILL);
            run_wait(runs[i]);
        }
        run_expect_nothing_left();
        for (int i = 0; i < AT_ONCE; i++) {
            expect_interrupted(records[i]);
            run_free(runs[i]);
        }
    }
    run_remove_folder(folder);
}
END_TEST

static bool is_full(const char *folder) {
    struct statvfs status;
    return statvfs(folder, &status) == 0 && status.f_bavail == 0;
}

/* The run continues and reports what was lost; the files contain complete lines. */
START_TEST(a_full_disk_is_reported) {
    SKIP_UNLESS(surroundings_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    char size[32]; /* a file needs at least a page, which may have 64 KiB */
    snprintf(size, sizeof size, "%ld", 18 * sysconf(_SC_PAGESIZE));
    surroundings_leave_mounts();
    ck_assert(surroundings_can_mount_small(folder, size));
    struct run *run = START(
        "-n", "4", "-l", "50%", "-c", "fixed", "-D", "4m", "--record", record, PAYLOAD, "spin");
    RUN_UNTIL(run, run->ended || is_full(folder));
    /* Some tens of decisions may still fit into the last page. There are 1000 per second. */
    double full = run_now();
    RUN_UNTIL(run, run->ended || run_now() >= full + 2);
    run_end(run, SIGINT);
    run_expect_text(&run->err, "decisions.csv: No space left on");
    run_expect_text(&run->err, "lines of the record were lost");
    ck_assert(is_whole(record, "decisions.csv"));
    ck_assert_uint_ge(expect_table(record, "decisions.csv"), 10);
    ck_assert_uint_ge(expect_table(record, "samples.csv"), 1);
    struct run_text summary = read_record(record, "summary.json");
    ck_assert_uint_ge(run_count_text(&summary, "lines of the record were lost"), 1);
    run_expect_nothing_left();
    run_free(run);
}
END_TEST

START_TEST(a_signaled_run_completes_its_record) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run =
        START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "--record", record, PAYLOAD, "spin");
    run_wait_text(run, "instances run");
    kill(run->pid, SIGINT);
    run_expect(run_wait(run), -SIGINT);
    ck_assert(has(record, "summary.json"));
    ck_assert(!has(record, "interrupted"));
    struct run_text events = read_record(record, "events.jsonl");
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"signal\",\"value\":2"), 1);
    run_free(run);
}
END_TEST

/* Starts a run that is late where `late` says; see shim_late.c. Returns when all instances run. */
static struct run *start_late(
    const char *late, const char *grace, const char *record, const char *payload) {
    struct run_setup setup = {.environment = WORDS(SHIM("shim_late"), late)};
    struct run *run =
        run_start(&setup, WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace",
                              grace, "--record", record, PAYLOAD, payload));
    run_wait_text(run, "instances run");
    return run;
}

/* The executor is killed before it can publish the end of its instance. */
START_TEST(the_end_of_an_instance_is_recorded_if_its_executor_is_late) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = start_late("SS_TEST_LATE=60000:ss-executor 0:reap", "10s", record, "spin");
    kill(run->pid, SIGINT);
    run_expect(run_wait(run), -SIGINT);
    struct run_text events = read_record(record, "events.jsonl");
    ck_assert_uint_eq(run_count_text(&events, "\"event\":\"instance_ended\""), 2);
    ck_assert_uint_eq(run_count_text(&events, "\"text\":\"killed with its executor\""), 1);
    run_free_clean(run);
}
END_TEST

/* The time in which the figures are read from /proc is not part of the grace period. */
START_TEST(slow_figures_do_not_shorten_the_grace_period) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = start_late("SS_TEST_LATE=12000:master:list", "10s", record, "spin");
    RUN_UNTIL(run, has(record, "events.jsonl"));
    kill(run->pid, SIGINT);
    run_expect(run_wait(run), -SIGINT);
    struct run_text events = read_record(record, "events.jsonl");
    ck_assert_uint_eq(run_count_text(&events, "\"text\":\"ended by the run\""), 2);
    run_free_clean(run);
}
END_TEST

static bool has_event(const char *record, const char *event) {
    if (!has(record, "events.jsonl"))
        return false;
    struct run_text events = read_record(record, "events.jsonl");
    return run_count_text(&events, event) > 0;
}

START_TEST(events_are_on_disk_while_instances_have_their_grace_period) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = START("-v", "-n", "2", "-l", "50%", "-c", "fixed", "--grace", "1h",
        "--record", record, PAYLOAD, "ignore-term");
    RUN_UNTIL(run, run_count(run, "ready\n") == 2);
    run_wait_text(run, "instances run");
    kill(run->pid, SIGTERM);
    RUN_UNTIL(run, has_event(record, "\"event\":\"ending\""));
    ck_assert(!run->ended);
    kill(run->pid, SIGKILL);
    run_expect(run_wait(run), -SIGKILL);
    run_free_clean(run);
}
END_TEST

/*
 * A replay runs the same options and command in the same folder; new options replace recorded ones.
 */
START_TEST(a_recorded_run_is_replayed_with_new_options) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record");
    const char *again = run_path(folder, "again");
    struct run_setup setup = {.folder = folder};
    struct run *run = run_start(
        &setup, WORDS(SHOWSTOPPER, "-q", "-n", "2", "-l", "50%", "-c", "fixed", "--duration", "1s",
                    "--record", "record", "--force", PAYLOAD, "spin"));
    run_expect(run_wait(run), 0);
    run_free(run);
    run = RUN("--replay", record, "-l", "30%", "--record", again, "--json", "-");
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    ck_assert_double_eq(json_number(run->out.bytes, "target_mean"), 0.3);
    ck_assert_double_eq(json_number(run->out.bytes, "instances"), 2);
    expect_table(again, "samples.csv");
    run_free(run);
    /* New relative paths are relative to the current folder, not to that of the recorded run. */
    const char *here = run_path(folder, "here");
    mkdir(here, 0777);
    struct run_setup elsewhere = {.folder = here};
    run = run_wait(run_start(&elsewhere, WORDS(SHOWSTOPPER, "-q", "--replay", record, "--json", "j",
                                             "--record", "r/", "--output", "o")));
    run_expect(run, 0);
    ck_assert(has(here, "j") && has(here, "r/samples.csv") && has(here, "o/0.out"));
    ck_assert(!has(folder, "j") && !has(folder, "r") && !has(folder, "o"));
    run_free(run);
    run = RUN("--replay", run_path(folder, "none"));
    run_expect(run, 125);
    run_expect_text(&run->err, "plan.json: No such file");
    run_free(run);
    run =
        run_wait(run_start(NULL, WORDS(TEST_BUILD_DIR "/libexec/showstopper/showstopper-replay")));
    run_expect(run, 125);
    run_expect_text(&run->err,
        "showstopper: --replay: the folder of a record is missing: showstopper --replay DIR");
    ck_assert_uint_eq(run->out.length, 0);
    run_free(run);
}
END_TEST

START_TEST(options_of_a_record_are_replayed_only_with_a_record) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record"), *again = run_path(folder, "again");
    struct run *run = RUN("-q", "-n", "1", "-l", "10%", "--duration", "600m", "--record-decisions",
        "1s", "--record-decisions=none", "--record", record, PAYLOAD, "spin");
    run_expect(run, 0);
    run = RUN("--replay", record, "--dry-run");
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    run_expect(RUN("-q", "--replay", record, "--record", again), 0);
    ck_assert(has(again, "samples.csv") && !has(again, "decisions.csv"));
    run_expect_nothing_left();
}
END_TEST

static void expect_labels(const char *record, const char *labels) {
    static const char *const names[] = {"plan.json", "summary.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run_text text = read_record(record, names[i]);
        ck_assert_msg(json_is(text.bytes, "labels", labels), "%s: %.400s", names[i], text.bytes);
    }
}

START_TEST(labels_are_recorded_and_replayed) {
    const char *folder = run_make_folder();
    const char *record = run_path(folder, "record"), *again = run_path(folder, "again");
    struct run *run = RUN("-q", "-n", "1", "-l", "10%", "--duration", "600m", "--label",
        "pair=a \"b\"", "--label=round=1", "--label", "last=", "--record", record, PAYLOAD, "spin");
    run_expect(run, 0);
    expect_labels(record,
        "{\n    \"pair\": \"a \\\"b\\\"\",\n    \"round\": \"1\",\n    \"last\": \"\"\n  }");
    run = RUN("-q", "--replay", record, "--record", again, "--label", "round=2", "--label=last=x",
        "--label", "roun=d");
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    expect_labels(again, "{\n    \"pair\": \"a \\\"b\\\"\",\n    \"round\": \"2\",\n    "
                         "\"last\": \"x\",\n    \"roun\": \"d\"\n  }");
    run = RUN("--replay", record, "--dry-run");
    run_expect(run, 0);
    run_expect_text(&run->out, "\nlabels     pair=a \"b\"\n           round=1\n           last=\n");
    run_expect_nothing_left();
}
END_TEST

START_TEST(a_replay_of_a_command_that_is_not_utf_8_is_refused) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    struct run *run = RUN("-q", "-n", "1", "-l", "100%", "-c", "fixed", "--record", record, PAYLOAD,
        "exit", "0", "caf\xe9");
    run_expect(run, 0);
    run = RUN("--replay", record);
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 125);
    run_expect_text(&run->err, "has bytes that are not UTF-8, which records do not keep: repeat");
    run_remove_folder(folder);
}
END_TEST

/* The recorded command line is one of sssim, not of showstopper. */
START_TEST(a_replay_of_a_simulated_run_is_refused) {
    const char *record = run_path(run_make_folder(), "record");
    mkdir(record, 0777);
    run_write_file(run_path(record, "plan.json"),
        "{\"command\": [\"serial\"], \"arguments\": [\"-l\", \"50%\"], \"options\": 2, "
        "\"folder\": \"/\", \"simulated\": true}\n");
    struct run *run = RUN("--replay", record);
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 125);
    run_expect_text(&run->err, "the recorded run was simulated: run sssim again instead\n");
    run_free(run);
}
END_TEST

/* Compares the sum of all buckets with the number of iterations, per second and in total. */
static void expect_iteration_times(const char *record, double iterations) {
    struct run_text text = read_record(record, "iteration-times.csv");
    double of_seconds = 0, of_run = 0, count;
    for (char *line = strchr(text.bytes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        ck_assert_int_eq(sscanf(strchr(line, ',') + 1, "%*[^,],%*[^,],%lf", &count), 1);
        *(*line == ',' ? &of_run : &of_seconds) += count;
    }
    ck_assert_double_eq(of_seconds, iterations);
    ck_assert_double_eq(of_run, iterations);
    free(text.bytes);
}

/* Returns the number of iterations in the seconds that are already written. */
static double count_in_seconds(const char *record) {
    struct run_text text = read_record(record, "iteration-times.csv");
    double sum = 0, count;
    for (char *line = strchr(text.bytes, '\n'); line; line = strchr(line + 1, '\n')) {
        if (sscanf(line, "\n%*[^,],%*[^,],%*[^,],%lf\n", &count) == 1)
            sum += count;
    }
    free(text.bytes);
    return sum;
}

/* Returns true twice a second: reading long tables takes the run's CPU time. */
static bool may_read(double *next) {
    double now = run_now();
    if (now < *next)
        return false;
    *next = now + 0.5;
    return true;
}

/* Starts `yes`, whose output is not kept. */
static struct run *start_yes(const char *record, const char *line, const char *pattern) {
    char assignment[4200];
    snprintf(assignment, sizeof assignment, "RECORD=%s", record);
    struct run_setup setup = {.environment = WORDS(assignment)};
    return run_start(&setup,
        WORDS("/bin/sh", "-c",
            "exec " SHOWSTOPPER " -n 1 -l 90% -c fixed --iteration \"$0\" --record \"$RECORD\" "
            "yes \"$1\" >/dev/null",
            pattern, line));
}

/* A program that prints continuously does not fill the disk, but all its iterations are counted. */
START_TEST(iterations_beyond_the_rate_limit_are_not_recorded) {
    const char *record = run_path(run_make_folder(), "record");
    struct run *run = start_yes(record, "y", "y");
    double written, next = 0;
    /* A busy machine may need long to exceed the limit, which is one of each second. */
    RUN_UNTIL(run, run->ended || (may_read(&next) && (written = count_in_seconds(record)) > 10000 &&
                                     written > (double)count_rows(record, "iterations.csv")));
    interrupt_after(run, record, 1);
    run_expect_text(&run->err, "iterations were counted but are not in iterations.csv");
    size_t rows = expect_table(record, "iterations.csv");
    ck_assert_uint_ge(rows, 10000);
    struct run_text summary = read_record(record, "summary.json");
    double left = json_number(summary.bytes, "iterations_left_out");
    ck_assert_double_gt(left, 0);
    expect_iteration_times(record, json_number(summary.bytes, "iterations"));
    /* Iterations before control begins and after it has ended are recorded but not counted. */
    ck_assert_double_ge((double)rows + left, json_number(summary.bytes, "iterations"));
    double end_first, end_last = 0;
    struct run_text text = read_record(record, "iterations.csv");
    char *line = strchr(text.bytes, '\n') + 1;
    ck_assert_int_eq(sscanf(line, "%*[^,],%*[^,],%lf", &end_first), 1);
    text.bytes[text.length - 1] = '\0';
    sscanf(strrchr(text.bytes, '\n'), "%*[^,],%*[^,],%lf", &end_last);
    ck_assert_double_le((double)rows, 10000 * (end_last - end_first + 2));
    run_expect_nothing_left();
}
END_TEST

/* Records a program whose iterations have a period of four. Returns whether its times are known. */
static bool is_periodic_recorded(const char *record) {
    struct run *run =
        start_yes(record, "done 1 ms\ndone 1 ms\ndone 1 ms\ndone 9 ms", "done ([0-9.]+) ms");
    double next = 0;
    RUN_UNTIL(run, run->ended || (may_read(&next) && count_in_seconds(record) > 65536));
    interrupt_after(run, record, 1);
    run_free(run);
    struct run_text summary = read_record(record, "summary.json");
    return !json_is(summary.bytes, "mean", "null");
}

/* Every fourth iteration is long. There are more iterations than fit into a list. */
START_TEST(iteration_times_of_a_periodic_program_are_summarized) {
    const char *record = run_path(run_make_folder(), "record");
    /* On a busy machine, lines may come in bursts, which leaves the times unknown. */
    for (int i = 0; i < 5 && !is_periodic_recorded(record); i++)
        record = run_path(run_make_folder(), "record");
    struct run_text summary = read_record(record, "summary.json");
    double iterations = json_number(summary.bytes, "iterations");
    ck_assert_double_gt(iterations, 65536);
    if (json_is(summary.bytes, "mean", "null")) {
        run_expect_text(&summary, "iterations ended in bursts");
    } else {
        ck_assert_double_eq_tol(json_number(summary.bytes, "mean"), 3e-3, 1e-5);
        ck_assert_double_eq_tol(json_number(summary.bytes, "median"), 1e-3, 1e-6);
        ck_assert_double_eq_tol(json_number(summary.bytes, "p95"), 9e-3, 9e-6);
    }
    expect_iteration_times(record, iterations);
    run_expect_nothing_left();
}
END_TEST

static void expect_same_file(const char *record, const char *name, const char *expected) {
    struct run_text text = read_record(record, name);
    ck_assert_str_eq(text.bytes, expected);
    free(text.bytes);
}

#define TRACE "0 10%\n4s 30%\n"
#define WORK  "1 " PAYLOAD " spin\n# two\n2 " PAYLOAD " spin\n"

/* Replays a record whose original input files are gone. */
static void expect_replay(const char *record, const char *again) {
    struct run *run = NULL;
    /*
     * The trace, played at twice the speed, rises from 20 % at the offset to 30 %. On a busy
     * machine, samples at its begin or end may be missing in the mean.
     */
    for (int i = 0;
         i < 5 && !(run && fabs(json_number(run->out.bytes, "target_mean") - 0.25) < 0.03); i++) {
        if (run)
            run_free(run);
        run = RUN("--replay", record, "--record", again, "--force", "--json", "-");
        run_expect(run, 0);
    }
    ck_assert_double_eq_tol(json_number(run->out.bytes, "target_mean"), 0.25, 0.03);
    ck_assert_double_eq(json_number(run->out.bytes, "instances"), 3);
    ck_assert(json_is(run->out.bytes, "ended_by", "\"trace\""));
    ck_assert(json_is(run->out.bytes, "loop", "\"no\""));
    expect_same_file(again, "input-trace-path", TRACE);
    expect_same_file(again, "input-workloads", WORK);
    run_free(run);
}

START_TEST(a_moved_record_is_replayed_without_its_originals) {
    const char *folder = run_make_folder(), *origin = run_path(folder, "origin");
    mkdir(origin, 0777);
    run_write_file(run_path(origin, "a,trace"), TRACE);
    run_write_file(run_path(origin, "work"), WORK);
    struct run_setup setup = {.folder = origin};
    struct run *run = run_wait(run_start(
        &setup, WORDS(SHOWSTOPPER, "-q", "-w", "work", "-t", "file", "-T",
                    "a\\,trace,scale=1/2,loop=no,offset=2s", "-c", "fixed", "--record", "record")));
    run_expect(run, 0);
    run_free(run);
    const char *moved = run_path(folder, "moved"), *again = run_path(folder, "again");
    ck_assert_int_eq(rename(run_path(origin, "record"), moved), 0);
    run_remove_folder(origin);
    run = RUN("--replay", moved, "--dry-run");
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    run_expect_text(&run->err, "running the command here instead");
    run_free(run);
    expect_replay(moved, again);
    run_remove_folder(moved);
    expect_replay(again, run_path(folder, "third"));
    run_expect_nothing_left();
}
END_TEST

START_TEST(a_replay_may_replace_its_record) {
    const char *folder = run_make_folder();
    const char *trace = run_path(folder, "trace"), *record = run_path(folder, "record");
    run_write_file(trace, TRACE);
    struct run *run = RUN("-q", "-n", "1", "-t", "file", "-T", trace, "-c", "fixed", "--duration",
        "600m", "--record", record, PAYLOAD, "spin");
    run_expect(run, 0);
    run_free(run);
    ck_assert_int_eq(unlink(trace), 0);
    run = RUN("-q", "--replay", record, "--record", record, "--force");
    SKIP_UNLESS(!strstr(run->err.bytes, "with json-c"), "left-out: built without json-c");
    run_expect(run, 0);
    expect_same_file(record, "input-trace-path", TRACE);
    /* A record without input files keeps no copy of an earlier one. */
    run = RUN("-q", "-n", "1", "-l", "10%", "--duration", "600m", "--record", record, "--force",
        PAYLOAD, "spin");
    run_expect(run, 0);
    ck_assert(!has(record, "input-trace-path"));
}
END_TEST

/* A trace from a pipe is copied, because it cannot be read again. */
START_TEST(a_trace_from_a_pipe_is_kept) {
    const char *record = run_path(run_make_folder(), "record");
    char assignment[4200];
    snprintf(assignment, sizeof assignment, "RECORD=%s", record);
    struct run_setup setup = {.environment = WORDS(assignment)};
    struct run *run = run_wait(run_start(
        &setup, WORDS("/bin/sh", "-c",
                    "printf '0 10%%\\n4s 30%%\\n' | " SHOWSTOPPER " -q -n 1 -t file -T /dev/stdin "
                    "-c fixed --duration 600m --record \"$RECORD\" " PAYLOAD " spin")));
    run_expect(run, 0);
    expect_same_file(record, "input-trace-path", TRACE);
    struct run_text plan = read_record(record, "plan.json");
    ck_assert(json_is(plan.bytes, "path", "\"/dev/stdin\""));
    run_expect_nothing_left();
}
END_TEST

START_TEST(a_run_whose_trace_cannot_be_copied_is_refused) {
    SKIP_UNLESS(surroundings_have_mounts(), "mounts: cannot create a mount namespace");
    const char *folder = run_make_folder(), *small = run_path(folder, "small");
    const char *trace = run_path(folder, "trace"), *record = run_path(small, "record");
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 20000; i++)
        fprintf(stream, "%ds 10%%\n", i);
    fclose(stream);
    run_write_file(trace, text);
    mkdir(small, 0777);
    surroundings_leave_mounts();
    surroundings_mount_small(small, "100k");
    struct run *run =
        RUN("-n", "1", "-t", "file", "-T", trace, "--record", record, PAYLOAD, "exit", "9");
    run_expect(run, 125);
    run_expect_text(&run->err, "input-trace-path: No space left on device");
    ck_assert(!run_exists(record));
    run_expect_nothing_left();
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_record_has_tables_events_and_summary),
    SS_CASE(a_run_that_ends_as_planned_completes_its_record),
    SS_CASE(summary_figures_match_the_samples_table),
    SS_CASE(many_instances_start_with_a_low_duty),
    SS_CASE(a_step_at_the_end_of_a_sample_counts_for_the_next_one),
    SS_CASE(rows_of_a_group_describe_only_the_group),
    SS_CASE(rows_of_a_sensor_have_empty_time_columns),
    SS_CASE(each_cpu_has_a_column),
    SS_CASE(record_decisions_limits_the_recorded_decisions),
    SS_CASE(decisions_match_the_target_without_gaps),
    SS_CASE(duty_agrees_in_summary_samples_and_decisions),
    SS_CASE(existing_record_is_kept),
    SS_CASE(a_folder_that_is_not_a_record_is_kept),
    SS_CASE(a_killed_run_leaves_whole_lines),
    SS_CASE(a_full_disk_is_reported),
    SS_CASE(a_signaled_run_completes_its_record),
    SS_CASE(the_end_of_an_instance_is_recorded_if_its_executor_is_late),
    SS_CASE(slow_figures_do_not_shorten_the_grace_period),
    SS_CASE(events_are_on_disk_while_instances_have_their_grace_period),
    SS_CASE(iterations_beyond_the_rate_limit_are_not_recorded),
    SS_CASE(iteration_times_of_a_periodic_program_are_summarized),
    SS_CASE(a_recorded_run_is_replayed_with_new_options),
    SS_CASE(options_of_a_record_are_replayed_only_with_a_record),
    SS_CASE(labels_are_recorded_and_replayed),
    SS_CASE(a_replay_of_a_command_that_is_not_utf_8_is_refused),
    SS_CASE(a_replay_of_a_simulated_run_is_refused),
    SS_CASE(a_moved_record_is_replayed_without_its_originals),
    SS_CASE(a_replay_may_replace_its_record),
    SS_CASE(a_trace_from_a_pipe_is_kept),
    SS_CASE(a_run_whose_trace_cannot_be_copied_is_refused))
/* clang-format on */
