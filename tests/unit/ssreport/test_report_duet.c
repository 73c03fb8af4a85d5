/* SPDX-License-Identifier: Apache-2.0 */

#include <stdlib.h>

#include "duet_words.h"
#include "load_inputs.h"
#define FOLDER_VERSION "9.8.7"
#include "report_folder.h"
#include "unit.h"

#define HOUR 3600

static struct ssreport_report report;
static struct duet_study study;

/* Values of the columns in all runs of the following blocks. */
static struct settings { const char *metric, *beside, *until, *at_most, *fail_above; } settings;

static void set(struct ssreport_run *run, const char *name, const char *value) {
    if (value)
        assert_int_equal(ssreport_columns_set(&run->columns, name, value), 0);
}

static struct ssreport_run *add_run(const char *pair, int block, int position, bool is_b) {
    char text[20];
    report.runs = realloc(report.runs, (report.run_count + 1) * sizeof *report.runs);
    assert_non_null(report.runs);
    struct ssreport_run *run = &report.runs[report.run_count++];
    *run = (struct ssreport_run){.experiment = strdup("duet"), .figures.throughput = NAN};
    run->record.name = strdup("study/run");
    run->record.wall = NAN;
    set(run, "metric", settings.metric ? settings.metric : "throughput");
    set(run, "beside", settings.beside);
    set(run, "until_percent", settings.until);
    set(run, "at_most_seconds", settings.at_most);
    set(run, "fail_above_percent", settings.fail_above);
    set(run, "pair", pair);
    set(run, "a", "./old");
    set(run, "b", "./new");
    set(run, "side", is_b ? "b" : "a");
    snprintf(text, sizeof text, "%d", block);
    set(run, "block", text);
    snprintf(text, sizeof text, "%d", position);
    set(run, "position", text);
    return run;
}

/* Returns the noise of a block. It has no trend, and a mean of 0 over four blocks. */
static double noise(int block) {
    static const double noises[] = {0.01, -0.02, 0.02, -0.01};
    return noises[block % 4];
}

/*
 * Adds four runs of 3 s with one second between them; the figures of B are higher by `difference`.
 */
static void add_block(const char *pair, int block, double difference) {
    for (int i = 0; i < 4; i++) {
        bool is_b = (i == 1 || i == 2) == (block % 2 == 1);
        struct ssreport_run *run = add_run(pair, block, i + 1, is_b);
        double figure = 100 * exp(is_b ? difference + noise(block / 2) : 0);
        run->figures.throughput = figure;
        run->record.first_end = figure;
        run->record.wall = HOUR * block + 4 * i;
        if (!settings.beside)
            continue;
        run->role = strdup("program");
        run = add_run(pair, block, i + 1, is_b);
        run->role = strdup("background");
        run->figures.throughput = is_b ? 50 * exp(difference / 4) : 50;
    }
}

static void add_blocks(const char *pair, int count, double difference) {
    for (int i = 1; i <= count; i++)
        add_block(pair, i, difference);
}

static void judge(void) {
    assert_int_equal(duet_study_read(&study, &report), 0);
}

static void end(void) {
    duet_study_free(&study);
    ssreport_inputs_free(&report);
    settings = (struct settings){0};
}

static void assert_says(const char *text) {
    char answer[DUET_TEXT];
    duet_answer(&study, answer, sizeof answer);
    assert_string_equal(answer, text);
}

/* A block takes 16 s: 25 blocks take 400 s, and the first ten compare A with A. */
static void number_of_blocks_follows_from_the_first_ten(void **state) {
    (void)state;
    settings.at_most = "400";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 12, -0.02);
    judge();
    assert_int_equal(study.planned, 15);
    assert_int_equal(duet_status_of(&study), DUET_STATUS_CONTINUES);
    end();
}

static void study_ends_after_the_planned_blocks(void **state) {
    (void)state;
    settings.at_most = "400";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 18, -0.02);
    judge();
    assert_int_equal(study.look.count, 15);
    assert_int_equal(study.decision, DUET_ENDED);
    assert_int_equal(duet_status_of(&study), DUET_STATUS_DONE);
    end();
}

/* 16 values with a deviation of 0.0169 within each order: half the width is 2.51 * 0.0169 / 4. */
static void slower_command_is_named_with_its_interval(void **state) {
    (void)state;
    settings.at_most = "416";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(0.9));
    judge();
    assert_says("B is 10.0 % (9.0 to 10.9) slower than A; A against A: 0.1 % (-1.1 to 1.3)");
    assert_near(study.worse.mean, -stats_percent_of(study.look.mean), 1e-9);
    end();
}

static void faster_command_is_named(void **state) {
    (void)state;
    settings.at_most = "416";
    settings.beside = "h2@60%";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(1.1));
    judge();
    assert_near(study.worse.mean, -10, 1e-9);
    char answer[DUET_TEXT];
    duet_answer(&study, answer, sizeof answer);
    assert_non_null(strstr(answer, "faster than A beside h2 at 60 %; A against A:"));
    end();
}

static void longer_times_count_as_slower(void **state) {
    (void)state;
    settings.at_most = "416";
    settings.metric = "time";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(1.1));
    judge();
    assert_near(study.worse.mean, 10, 1e-9);
    char answer[DUET_TEXT];
    duet_answer(&study, answer, sizeof answer);
    assert_non_null(strstr(answer, "B takes 10.0 % ("));
    assert_non_null(strstr(answer, ") more time than A;"));
    end();
}

static void no_difference_is_reported_within_the_noise(void **state) {
    (void)state;
    settings.at_most = "400";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 15, 0);
    judge();
    char answer[DUET_TEXT];
    duet_answer(&study, answer, sizeof answer);
    assert_true(strncmp(answer, "No certain difference: B is ", 28) == 0);
    end();
}

static void requested_precision_ends_the_study(void **state) {
    (void)state;
    settings.until = "4%";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 200, -0.02);
    judge();
    assert_int_equal(study.planned, 0);
    assert_int_equal(study.decision, DUET_CONTINUES); /* "4%" is not a number */
    end();
    settings.until = "1";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 200, -0.02);
    judge();
    assert_int_equal(study.decision, DUET_PRECISE);
    assert_that(study.look.count, <, 100);
    assert_that(study.worse.high - study.worse.low, <=, 2);
    assert_that(stats_percent_of(duet_study_look(&study, study.look.count - 1).half), >, 1);
    end();
}

static void study_ends_when_the_interval_excludes_the_limit(void **state) {
    (void)state;
    static const struct {
        double difference;
        const char *limit;
        enum duet_status status;
    } cases[] = {{-0.10, "2", DUET_STATUS_FAILED}, {0.05, "2", DUET_STATUS_DONE},
        {-0.02, "2", DUET_STATUS_UNDECIDED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings.at_most = "480";
        settings.fail_above = cases[i].limit;
        add_blocks("aa", 10, 0);
        add_blocks("ab", 20, cases[i].difference);
        judge();
        assert_int_equal(duet_status_of(&study), cases[i].status);
        assert_int_equal(study.look.count, cases[i].status == DUET_STATUS_UNDECIDED ? 20 : 10);
        end();
    }
}

static void nothing_is_decided_before_ten_blocks_of_each(void **state) {
    (void)state;
    settings.at_most = "400";
    add_blocks("aa", 9, 0);
    judge();
    assert_int_equal(duet_status_of(&study), DUET_STATUS_CONTINUES);
    assert_says("No answer yet: 9 of at least 20 blocks are done");
    end();
    add_blocks("aa", 10, 0);
    add_blocks("ab", 9, -0.5);
    judge();
    assert_int_equal(duet_status_of(&study), DUET_STATUS_CONTINUES);
    end();
}

/* A block that lacks a run does not count yet, nor do those after it. */
static void blocks_from_an_incomplete_one_on_are_left_out(void **state) {
    (void)state;
    add_blocks("aa", 10, 0);
    add_blocks("ab", 12, -0.02);
    add_run("ab", 13, 1, false)->figures.throughput = 100;
    add_block("ab", 14, -0.02);
    judge();
    assert_int_equal(study.different.carried, 12);
    assert_null(study.different.unmeasured);
    end();
}

/* Removes the figure of a run of this block. */
static void spoil(const char *pair, const char *block) {
    for (size_t i = 0; i < report.run_count; i++) {
        struct ssreport_run *run = &report.runs[i];
        if (strcmp(ssreport_columns_get(&run->columns, "pair"), pair) == 0 &&
            strcmp(ssreport_columns_get(&run->columns, "block"), block) == 0 &&
            strcmp(ssreport_columns_get(&run->columns, "position"), "3") == 0) {
            run->figures.throughput = NAN;
            run->record.iterations_done = 0;
        }
    }
}

/* The planned blocks include those without a figure: the study does not last longer. */
static void run_without_iterations_is_left_out_with_its_block(void **state) {
    (void)state;
    char doubt[DUET_TEXT];
    settings.at_most = "416";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(0.9));
    spoil("aa", "4");
    spoil("ab", "2");
    spoil("ab", "7");
    judge();
    assert_null(study.lacking);
    assert_int_equal(study.planned, 16);
    assert_int_equal(study.look.count, 14);
    assert_int_equal(study.decision, DUET_ENDED);
    assert_int_equal(study.different.numbers[1], 3);
    assert_near(study.worse.mean, 10, 0.3);
    duet_doubt(&study, doubt, sizeof doubt);
    assert_string_equal(doubt,
        "1 of 10 blocks of A and A is left out, because no iteration ended in study/run; "
        "2 of 16 blocks of A and B are left out, because no iteration ended in study/run");
    end();
}

/* With fewer than ten figures there is no interval, so more blocks are carried out. */
static void study_continues_until_ten_blocks_have_figures(void **state) {
    (void)state;
    settings.at_most = "320";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 10, -0.02);
    spoil("ab", "2");
    judge();
    assert_int_equal(study.planned, 10);
    assert_int_equal(duet_status_of(&study), DUET_STATUS_CONTINUES);
    add_block("ab", 11, -0.02);
    duet_study_free(&study);
    judge();
    assert_int_equal(study.decision, DUET_ENDED);
    end();
}

static void too_few_blocks_with_figures_give_no_answer(void **state) {
    (void)state;
    static const char *const blocks[] = {"1", "2", "3", "4", "5", "6"};
    add_blocks("aa", 10, 0);
    add_blocks("ab", 10, -0.02);
    for (int i = 0; i < 5; i++)
        spoil("aa", blocks[i]);
    judge();
    assert_null(study.lacking);
    duet_study_free(&study);
    spoil("aa", blocks[5]);
    judge();
    assert_ptr_equal(study.lacking, &study.same);
    end();
}

/* Iterations that are longer than runs are noticed before all runs are carried out. */
static void study_ends_after_two_blocks_without_figures(void **state) {
    (void)state;
    add_blocks("aa", 1, 0);
    spoil("aa", "1");
    judge();
    assert_null(study.lacking);
    duet_study_free(&study);
    add_block("aa", 2, 0);
    spoil("aa", "2");
    judge();
    assert_ptr_equal(study.lacking, &study.same);
    end();
}

/* Iterations read in bursts give no exact throughput, but can be counted. */
static void iterations_in_bursts_are_counted_without_their_times(void **state) {
    (void)state;
    add_blocks("aa", 10, 0);
    add_block("ab", 1, 0);
    for (size_t i = report.run_count - 4; i < report.run_count; i++) {
        report.runs[i].record.iterations_done = report.runs[i].figures.throughput * 3;
        report.runs[i].record.ended = 3;
        report.runs[i].figures.throughput = NAN;
    }
    judge();
    assert_null(study.different.unmeasured);
    assert_int_equal(study.different.count, 1);
    assert_near(study.different.differences[0], noise(0), 1e-9);
    end();
}

static void background_that_differs_between_commands_is_doubtful(void **state) {
    (void)state;
    char doubt[DUET_TEXT];
    settings.at_most = "400";
    settings.beside = "serial@60%";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 15, -0.02);
    judge();
    duet_doubt(&study, doubt, sizeof doubt);
    assert_string_equal(doubt, "");
    end();
    settings.beside = "serial@60%";
    settings.at_most = "400";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 15, -0.08);
    judge();
    duet_doubt(&study, doubt, sizeof doubt);
    assert_string_equal(doubt,
        "the background did 2.0 % (2.0 to 2.0) less beside B than beside A, so A and B "
        "did not run under the same load");
    end();
}

#define TURN  3.
#define TURNS 6

/*
 * Sets the columns of a study of alternating processes. One uncounted turn of each comes first, so
 * counted turns begin after 6 s.
 */
static void set_turns(struct ssreport_run *run, const char *pairs) {
    set(run, "order", "alternate");
    set(run, "turn_seconds", "3");
    set(run, "first_turn_seconds", "6");
    set(run, "turns", "6");
    set(run, "pairs", pairs);
}

static void add_iteration(struct ssreport_run *run, double start, double end) {
    struct ssreport_record *record = &run->record;
    record->iterations =
        realloc(record->iterations, (record->iteration_count + 1) * sizeof *record->iterations);
    assert_non_null(record->iterations);
    record->iterations[record->iteration_count++] =
        (struct ssreport_iteration){.start = start, .end = end};
}

/*
 * Adds a pair whose turns have iterations of this length. One that ends right after the switch and
 * one across the next switch are longer.
 */
static void add_pair(const char *pair, int block, const char *pairs, double b_percent) {
    for (int position = 1; position <= 2; position++) {
        bool is_b = (position == 2) == (block % 2 == 1);
        struct ssreport_run *run = add_run(pair, block, position, is_b);
        double length = 0.1 * exp(is_b ? -b_percent / 100 : 0);
        set_turns(run, pairs);
        run->record.wall = HOUR + 30 * block;
        for (int turn = position - 1; turn < TURNS; turn += 2) {
            double begin = (2 + turn) * TURN, at = begin + DUET_SWITCH;
            double noise = exp(0.005 * turn); /* a drift, which cancels */
            add_iteration(run, begin, at + 0.01);
            for (at += 0.01; at + length * noise < begin + TURN; at += length * noise)
                add_iteration(run, at, at + length * noise);
            add_iteration(run, at, begin + 2 * TURN);
        }
    }
}

static double turn_throughput(const struct ssreport_run *run, double from, double to) {
    return duet_turn_throughput(run->record.iterations, run->record.iteration_count, from, to);
}

static void only_iterations_inside_a_turn_count(void **state) {
    (void)state;
    struct ssreport_run *run = add_run("aa", 1, 1, false);
    add_iteration(run, 0.4, 0.6);
    add_iteration(run, 0.6, 1.6);
    add_iteration(run, 1.6, 2.1);
    add_iteration(run, 2.1, 5);
    assert_near(turn_throughput(run, 0.5, 3), 2 / 1.5, 1e-12);
    assert_true(isnan(turn_throughput(run, 2.5, 3)));
    end();
}

/* Pairs begin 30 s apart: 25 of them fit, and the first ten compare A with A. */
static void each_pair_of_processes_is_one_value(void **state) {
    (void)state;
    settings.at_most = "750";
    for (int block = 1; block <= 10; block++)
        add_pair("aa", block, "", 0);
    for (int block = 1; block <= 15; block++)
        add_pair("ab", block, "", 5);
    judge();
    assert_int_equal(study.planned, 15);
    assert_int_equal(study.look.count, 15);
    assert_near(study.look.mean, 0.05, 1e-3);
    char text[DUET_TEXT];
    duet_answer(&study, text, sizeof text);
    assert_true(strncmp(text, "B is 5.", 7) == 0);
    assert_null(strstr(text, "of these two processes"));
    duet_describe_size(&study, text, sizeof text);
    assert_string_equal(text, "15 pairs of processes");
    end();
}

static void a_single_pair_answer_is_limited_to_its_processes(void **state) {
    (void)state;
    add_pair("aa", 1, "1", 0);
    judge();
    assert_says("No answer yet: 1 of at least 2 pairs of processes are done");
    end();
    add_pair("aa", 1, "1", 0);
    add_pair("ab", 1, "1", 20);
    judge();
    assert_int_equal(study.decision, DUET_ENDED);
    assert_int_equal(study.look.count, 2);
    char text[DUET_TEXT];
    duet_answer(&study, text, sizeof text);
    assert_non_null(strstr(text, " faster than A, of these two processes; A against A: "));
    duet_describe_size(&study, text, sizeof text);
    assert_string_equal(text, "one pair of processes, 6 turns");
    end();
}

/* Instances that end their iterations in another order than they begin them are recorded so. */
static void order_of_iterations_in_a_record_does_not_matter(void **state) {
    (void)state;
    double worse[2];
    for (int i = 0; i < 2; i++) {
        add_pair("aa", 1, "1", 0);
        add_pair("ab", 1, "1", 20);
        struct ssreport_record *record = &report.runs[3].record;
        for (size_t j = 0; i == 1 && j < record->iteration_count / 2; j++) {
            struct ssreport_iteration moved = record->iterations[j];
            record->iterations[j] = record->iterations[record->iteration_count - 1 - j];
            record->iterations[record->iteration_count - 1 - j] = moved;
        }
        judge();
        worse[i] = study.worse.mean;
        end();
    }
    assert_near(worse[1], worse[0], 1e-9);
    assert_that(worse[0], <, -10);
}

static void process_without_iterations_has_no_answer(void **state) {
    (void)state;
    add_pair("aa", 1, "1", 0);
    report.runs[1].record.iteration_count = 2;
    judge();
    assert_ptr_equal(study.lacking, &study.same);
    char text[DUET_TEXT];
    duet_describe_lack(&study, study.lacking, text, sizeof text);
    assert_string_equal(text, "1 of 1 blocks of A and A is left out, because no iteration ended in "
                              "study/run");
    end();
}

/*
 * The background does 3 % more in the turns of B. Its clock starts 7 s before the clock of the
 * pair.
 */
static void background_is_compared_by_turns(void **state) {
    (void)state;
    settings.beside = "serial@60%";
    for (int block = 1; block <= 10; block++)
        add_pair("aa", block, "", 0);
    for (int block = 1; block <= 10; block++) {
        add_pair("ab", block, "", 0);
        struct ssreport_run *run = add_run("ab", block, 1, false);
        set_turns(run, "");
        run->role = strdup("background");
        run->record.wall = HOUR + 30 * block - 7;
        for (int turn = 0; turn < TURNS; turn++) {
            bool of_b = (turn % 2 == 1) == (block % 2 == 1);
            double length = 0.1 / (of_b ? 1.03 : 1), at = 7 + (2 + turn) * TURN + 0.6;
            for (int i = 0; i < 20; i++, at += length)
                add_iteration(run, at, at + length);
        }
    }
    judge();
    assert_near(study.beside_more.mean, 3, 1e-6);
    char text[DUET_TEXT];
    duet_doubt(&study, text, sizeof text);
    assert_string_equal(text, "the background did 3.0 % (3.0 to 3.0) more beside B than beside A, "
                              "so A and B did not run under the same load");
    end();
}

static void background_may_differ_by_chance(void **state) {
    (void)state;
    char text[DUET_TEXT];
    study = (struct duet_study){
        .beside_more = {.mean = -1.5, .low = -4, .high = 1}, .beside_differs = true};
    duet_doubt(&study, text, sizeof text);
    assert_string_equal(text, "the background did 1.5 % (-1.0 to 4.0) less beside B than beside A, "
                              "which may be chance");
}

/* An iteration of the background takes longer than a run. */
static void background_without_iterations_is_not_compared(void **state) {
    (void)state;
    char text[DUET_TEXT];
    settings.beside = "serial@60%";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 10, 0);
    for (size_t i = 0; i < report.run_count; i++) {
        if (ssreport_is_word(report.runs[i].role, "background"))
            report.runs[i].figures.throughput = 0;
    }
    judge();
    assert_true(isnan(study.beside_more.mean));
    duet_doubt(&study, text, sizeof text);
    assert_non_null(strstr(text, "as much beside A as beside B is unknown"));
    end();
}

/*
 * Both commands run at once. A block of two runs takes 8 s, so 20 blocks of A and B fit into 240 s.
 */
static void side_by_side_commands_have_blocks_of_two_runs(void **state) {
    (void)state;
    settings.at_most = "240";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 20, log(0.9));
    for (size_t i = 0; i < report.run_count; i++) {
        struct ssreport_run *run = &report.runs[i];
        set(run, "order", "beside");
        run->record.wall = floor(run->record.wall / 8) * 4;
    }
    judge();
    assert_int_equal(study.planned, 20);
    assert_int_equal(study.decision, DUET_ENDED);
    assert_near(study.worse.mean, 10, 0.1);
    char text[DUET_TEXT];
    duet_describe_size(&study, text, sizeof text);
    assert_string_equal(text, "20 blocks of two runs of both");
    end();
}

static struct ssreport_responses *add_requests(
    const char *pair, int block, int position, bool is_b, const char *response) {
    char text[20];
    report.responses =
        realloc(report.responses, (report.response_count + 1) * sizeof *report.responses);
    assert_non_null(report.responses);
    struct ssreport_responses *responses = &report.responses[report.response_count++];
    *responses = (struct ssreport_responses){.experiment = strdup("duet"),
        .name = strdup("study/requests"),
        .begin = 4 * position,
        .success_ratio = 1,
        .succeeded = DUET_ANSWERS_MIN};
    struct ssreport_columns *columns = &responses->columns;
    assert_int_equal(ssreport_columns_set(columns, "metric", "http://localhost/"), 0);
    assert_int_equal(ssreport_columns_set(columns, "response", response), 0);
    assert_int_equal(ssreport_columns_set(columns, "at_most_seconds", "320"), 0);
    assert_int_equal(ssreport_columns_set(columns, "pair", pair), 0);
    assert_int_equal(ssreport_columns_set(columns, "side", is_b ? "b" : "a"), 0);
    snprintf(text, sizeof text, "%d", block);
    assert_int_equal(ssreport_columns_set(columns, "block", text), 0);
    snprintf(text, sizeof text, "%d", position);
    assert_int_equal(ssreport_columns_set(columns, "position", text), 0);
    return responses;
}

/* Adds a study in which the means of B are 10 % longer, its medians twice as long, and its rate
 * half. */
static void add_services(const char *response) {
    for (int block = 1; block <= 20; block++) {
        for (int position = 1; position <= 4; position++) {
            bool is_b = (position == 2 || position == 3) == (block % 2 == 1);
            struct ssreport_responses *responses = add_requests(block <= 10 ? "aa" : "ab",
                block <= 10 ? block : block - 10, position, is_b, response);
            double more = is_b && block > 10;
            responses->successes[SSREPORT_INTENDED].mean = 0.1 + 0.01 * more;
            responses->successes[SSREPORT_INTENDED].p50 = 0.1 + 0.1 * more;
            responses->throughput = 100 - 50 * more;
        }
    }
}

static void assert_asks(const char *expected) {
    char question[DUET_TEXT];
    duet_ask(&study, question, sizeof question);
    assert_string_equal(question, expected);
}

static void response_times_are_compared(void **state) {
    (void)state;
    add_services("mean");
    judge();
    assert_asks("Which responds faster, A or B?");
    assert_says(
        "B's mean response time is 10.0 % (10.0 to 10.0) longer than A's; A against A: 0.0 % "
        "(0.0 to 0.0)");
    end();
    add_services("p50");
    judge();
    assert_near(study.worse.mean, 100, 1e-6);
    end();
    add_services("throughput");
    judge();
    assert_asks("Which is faster, A or B?");
    assert_says("B is 50.0 % (50.0 to 50.0) slower than A; A against A: 0.0 % (0.0 to 0.0)");
    end();
}

static void unknown_noise_is_not_printed_as_a_number(void **state) {
    (void)state;
    settings.at_most = "416";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(0.9));
    for (size_t i = 0; i < 36; i++) /* all but one block of A against A */
        report.runs[i].figures.throughput = report.runs[i].record.first_end = NAN;
    judge();
    char answer[DUET_TEXT];
    duet_answer(&study, answer, sizeof answer);
    assert_null(strstr(answer, "nan"));
    assert_non_null(strstr(answer, "A against A: unknown"));
    end();
}

/* A mean needs no such number. More than one failure in a hundred excludes both. */
static void percentiles_need_two_hundred_answers(void **state) {
    (void)state;
    static const char *const kinds[] = {"p50", "mean"};
    for (int kind = 0; kind < 2; kind++) {
        add_services(kinds[kind]);
        report.responses[4].succeeded = DUET_ANSWERS_MIN - 1;
        report.responses[8].success_ratio = 0.98;
        judge();
        assert_int_equal(study.same.count, 8 + kind);
        char text[DUET_TEXT];
        duet_describe_lack(&study, &study.same, text, sizeof text);
        assert_non_null(strstr(text, "too few requests were answered in study/requests"));
        end();
    }
}

static void requests_count_if_due_and_answered_in_time(void **state) {
    (void)state;
    struct duet_request items[] = {
        {0.4, 0.6, true},
        {0.5, 0.6, true},
        {1.0, 1.3, true},
        {1.4, 1.6, true},
        {1.5, 1.9, true},
        {1.6, 2.1, true},
    };
    double answers[] = {0.6, 0.6, 1.3, 1.6, 1.9, 2.1};
    const struct duet_requests requests = {
        .items = items, .count = 6, .answers = answers, .answered = 6};
    const struct duet_part part = {0.5, 1.5, 2};
    assert_near(duet_requests_figure(&requests, "mean", &part), 0.2, 1e-12);
    assert_near(duet_requests_figure(&requests, "throughput", &part), 5 / 1.5, 1e-12);
    assert_true(isnan(duet_requests_figure(&requests, "p50", &part)));
    items[3].finished = 2; /* answered after the turn */
    assert_true(isnan(duet_requests_figure(&requests, "mean", &part)));
    items[3] = (struct duet_request){1.4, 1.5, false};
    assert_true(isnan(duet_requests_figure(&requests, "mean", &part)));
}

static void percentiles_of_a_turn_need_two_hundred_answers(void **state) {
    (void)state;
    struct duet_request items[DUET_ANSWERS_MIN];
    struct duet_requests requests = {.items = items, .count = DUET_ANSWERS_MIN};
    const struct duet_part part = {0, 10, 20};
    for (int i = 0; i < DUET_ANSWERS_MIN; i++)
        items[i] = (struct duet_request){0.01 * i, 0.01 * i + 0.001 * (i + 1), true};
    assert_near(duet_requests_figure(&requests, "p95", &part), 0.19005, 1e-9);
    requests.count--;
    assert_true(isnan(duet_requests_figure(&requests, "p95", &part)));
}

/*
 * Adds a pair of services. Requests begin 3 s after the clock of the turns. Each takes 10 ms, and
 * longer with B; right after a switch and across one, it takes 1 s.
 */
static void add_serving_pair(const char *pair, double b_percent) {
    for (int position = 1; position <= 2; position++) {
        char name[40], *text;
        size_t size;
        struct ssreport_run *run = add_run(pair, 1, position, position == 2);
        struct ssreport_responses *services =
            add_requests(pair, 1, position, position == 2, "mean");
        FILE *stream = open_memstream(&text, &size);
        set_turns(run, "1");
        set(run, "response", "mean");
        run->record.wall = HOUR;
        services->begin = HOUR + 3;
        fputs("number,target,due_seconds,sent_seconds,finished_seconds,outcome,bytes,status\n",
            stream);
        for (int turn = position - 1; turn < TURNS; turn += 2) {
            double begin = (2 + turn) * TURN - 3,
                   length = position == 2 ? 0.01 + b_percent / 1e4 : 0.01;
            for (double at = 0.05; at < TURN; at += 0.1)
                fprintf(stream, "0,0,%.6f,0,%.6f,success,1,200\n", begin + at,
                    begin + at + (at < 0.5 || at > TURN - 0.5 ? 1 : length));
        }
        fclose(stream);
        snprintf(name, sizeof name, "%s-%d", pair, position);
        services->path = strdup(folder_file(name));
        snprintf(name, sizeof name, "%s-%d.each.csv", pair, position);
        folder_write(name, text);
        free(text);
    }
}

static void services_that_take_turns_are_compared(void **state) {
    (void)state;
    folder_open();
    add_serving_pair("aa", 0);
    add_serving_pair("ab", 10);
    judge();
    assert_near(study.worse.mean, 10, 1e-3);
    assert_near(study.worse_same.mean, 0, 1e-9);
    char text[DUET_TEXT];
    duet_answer(&study, text, sizeof text);
    assert_non_null(strstr(text, " longer than A's, of these two processes; A against A: "));
    end();
}

static void service_without_its_requests_has_no_answer(void **state) {
    (void)state;
    folder_open();
    add_serving_pair("aa", 0);
    unlink(folder_file("aa-2.each.csv"));
    report.responses[1].succeeded = 0;
    free(report.responses[1].name);
    report.responses[1].name = strdup("study/lost");
    judge();
    char text[DUET_TEXT];
    assert_ptr_equal(study.lacking, &study.same);
    duet_describe_lack(&study, study.lacking, text, sizeof text);
    assert_string_equal(text, "1 of 1 blocks of A and A is left out, because too few requests were "
                              "answered in study/lost");
    end();
}

static void invalid_requests_are_left_out_and_noted(void **state) {
    (void)state;
    struct duet_requests requests;
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    char expected[300];
    folder_open();
    folder_write("r.each.csv", "due_seconds,finished_seconds,outcome\n"
                               "0,4,success\n?,2,success\n2,3,success\n2,3,timeout\n"
                               "3,4,succ");
    assert_int_equal(duet_requests_read(&requests, folder_file("r"), &notes, &error), 0);
    assert_int_equal(requests.count, 3);
    assert_near(requests.items[1].due, 2, 0);
    assert_int_equal(requests.answered, 2);
    assert_true(requests.answers[0] == 3 && requests.answers[1] == 4);
    snprintf(expected, sizeof expected,
        "%s.each.csv:3: invalid row, in \"?,2,success\" (and 1 more)", folder_file("r"));
    assert_string_equal(notes.text, expected);
    duet_requests_free(&requests);
}

/* The files of a single pair are read twice. */
static void fault_in_the_requests_of_a_study_is_noted_once(void **state) {
    (void)state;
    char expected[300], missing[300];
    folder_open();
    add_serving_pair("aa", 0);
    add_serving_pair("ab", 10);
    FILE *stream = fopen(folder_file("ab-2.each.csv"), "a");
    fputs("0,0,999,0,999.01,success,1,20", stream);
    fclose(stream);
    judge();
    assert_near(study.worse.mean, 10, 1e-3);
    snprintf(expected, sizeof expected, "%s:", folder_file("ab-2.each.csv"));
    const char *at = strstr(study.notes.text, expected);
    assert_ptr_equal(at, study.notes.text);
    assert_non_null(strstr(at, ": the last line has no newline"));
    assert_null(strstr(at + 1, expected));
    duet_study_free(&study);
    unlink(folder_file("aa-1.each.csv"));
    judge();
    snprintf(
        missing, sizeof missing, "%s: No such file or directory; ", folder_file("aa-1.each.csv"));
    assert_ptr_equal(strstr(study.notes.text, missing), study.notes.text);
    end();
}

static void difference_of_a_against_a_is_doubtful(void **state) {
    (void)state;
    char doubt[DUET_TEXT];
    settings.at_most = "400";
    add_blocks("aa", 10, 0.05);
    add_blocks("ab", 15, -0.02);
    judge();
    duet_doubt(&study, doubt, sizeof doubt);
    assert_string_equal(doubt,
        "A against A differs from 0 at 99 %, so even runs of one command differ on this machine");
    end();
}

static void markdown_answer_is_one_line_with_the_commands(void **state) {
    (void)state;
    char *text;
    size_t size;
    settings.at_most = "400";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 15, -0.1);
    judge();
    FILE *stream = open_memstream(&text, &size);
    duet_print_markdown(stream, &study);
    fclose(stream);
    assert_non_null(strstr(text, "** (A: `./old`, B: `./new`; 15 blocks of four runs)\n"));
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    free(text);
    end();
}

/* The blocks of the second study have the numbers of the first one, and B is faster there. */
static void only_the_first_of_several_studies_is_answered(void **state) {
    (void)state;
    settings.at_most = "416";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(0.9));
    size_t count = report.run_count;
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(1.2));
    for (size_t i = 0; i < report.run_count; i++)
        report.runs[i].manifest = i < count ? 1 : 2;
    judge();
    assert_says("B is 10.0 % (9.0 to 10.9) slower than A; A against A: 0.1 % (-1.1 to 1.3)");
    assert_true(study.has_others);
    assert_non_null(strstr(study.notes.text, "several studies of the experiment duet are given"));
    end();
}

static void invalid_runs_decide_nothing(void **state) {
    (void)state;
    char text[DUET_TEXT];
    struct ss_evidence evidence;
    ss_evidence_clear(&evidence);
    evidence.figures[SS_CHECK_OTHERS] = 61;
    settings.fail_above = "1";
    add_blocks("aa", 10, 0);
    add_blocks("ab", 16, log(0.9));
    for (size_t i = 0; i < report.run_count; i++)
        ssreport_verdict_reach(&report.runs[i].record.verdict, &evidence);
    judge();
    assert_says("All 104 records are invalid, the first because of load of other processes 61 % "
                "(invalid above 10). Repeat them on a quiet machine");
    assert_int_equal(duet_status_of(&study), DUET_STATUS_UNDECIDED);
    duet_study_free(&study);
    evidence.figures[SS_CHECK_OTHERS] = 5;
    ssreport_verdict_reach(&report.runs[0].record.verdict, &evidence);
    judge();
    assert_int_equal(duet_status_of(&study), DUET_STATUS_FAILED);
    duet_doubt(&study, text, sizeof text);
    assert_string_equal(
        text, "of 104 records 103 are invalid and 1 is disturbed by other processes");
    end();
}

static void runs_of_one_study_have_one_number(void **state) {
    (void)state;
    folder_open();
    report.settings = (struct ssreport_settings){
        .edge = SSREPORT_EDGE_DEFAULT, .interval = 6, .confidence = 0.95};
    for (int i = 0; i < 4; i++) {
        char name[40], path[60];
        snprintf(name, sizeof name, "%s/%c", i < 2 ? "one" : "two", "abcd"[i]);
        snprintf(path, sizeof path, "%s/run.json", name);
        folder_write(path, "{\"schema\": 1, \"status\": \"done\", \"commands\": "
                           "[{\"record\": \"record\"}]}");
        snprintf(path, sizeof path, "%s/record", name);
        folder_write_record(path);
        assert_int_equal(ssreport_gather(&report, folder_file(name), 0), 0);
    }
    assert_int_equal(report.run_count, 4);
    assert_int_equal(report.runs[0].manifest, report.runs[1].manifest);
    assert_int_equal(report.runs[2].manifest, report.runs[3].manifest);
    assert_that(report.runs[1].manifest, !=, report.runs[2].manifest);
    assert_int_equal(ssreport_gather(&report, folder_file("two"), 0), 0);
    assert_that(report.runs[4].manifest, !=, report.runs[3].manifest);
    end();
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(only_the_first_of_several_studies_is_answered),
    cmocka_unit_test(invalid_runs_decide_nothing),
    cmocka_unit_test(runs_of_one_study_have_one_number),
    cmocka_unit_test(number_of_blocks_follows_from_the_first_ten),
    cmocka_unit_test(study_ends_after_the_planned_blocks),
    cmocka_unit_test(slower_command_is_named_with_its_interval),
    cmocka_unit_test(faster_command_is_named),
    cmocka_unit_test(longer_times_count_as_slower),
    cmocka_unit_test(no_difference_is_reported_within_the_noise),
    cmocka_unit_test(requested_precision_ends_the_study),
    cmocka_unit_test(study_ends_when_the_interval_excludes_the_limit),
    cmocka_unit_test(nothing_is_decided_before_ten_blocks_of_each),
    cmocka_unit_test(blocks_from_an_incomplete_one_on_are_left_out),
    cmocka_unit_test(run_without_iterations_is_left_out_with_its_block),
    cmocka_unit_test(study_continues_until_ten_blocks_have_figures),
    cmocka_unit_test(too_few_blocks_with_figures_give_no_answer),
    cmocka_unit_test(study_ends_after_two_blocks_without_figures),
    cmocka_unit_test(iterations_in_bursts_are_counted_without_their_times),
    cmocka_unit_test(background_that_differs_between_commands_is_doubtful),
    cmocka_unit_test(only_iterations_inside_a_turn_count),
    cmocka_unit_test(each_pair_of_processes_is_one_value),
    cmocka_unit_test(a_single_pair_answer_is_limited_to_its_processes),
    cmocka_unit_test(order_of_iterations_in_a_record_does_not_matter),
    cmocka_unit_test(process_without_iterations_has_no_answer),
    cmocka_unit_test(background_is_compared_by_turns),
    cmocka_unit_test(background_may_differ_by_chance),
    cmocka_unit_test(background_without_iterations_is_not_compared),
    cmocka_unit_test(side_by_side_commands_have_blocks_of_two_runs),
    cmocka_unit_test(response_times_are_compared),
    cmocka_unit_test(unknown_noise_is_not_printed_as_a_number),
    cmocka_unit_test(percentiles_need_two_hundred_answers),
    cmocka_unit_test(requests_count_if_due_and_answered_in_time),
    cmocka_unit_test(percentiles_of_a_turn_need_two_hundred_answers),
    cmocka_unit_test(services_that_take_turns_are_compared),
    cmocka_unit_test(service_without_its_requests_has_no_answer),
    cmocka_unit_test(invalid_requests_are_left_out_and_noted),
    cmocka_unit_test(fault_in_the_requests_of_a_study_is_noted_once),
    cmocka_unit_test(difference_of_a_against_a_is_doubtful),
    cmocka_unit_test(markdown_answer_is_one_line_with_the_commands))
