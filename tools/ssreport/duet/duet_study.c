/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "statistics.h"

/* Maximum number of blocks; no study has as many. */
#define BLOCKS_MAX 1000000

/*
 * The answer is doubtful if the background's throughput differs by more than this between A and B,
 * in percent.
 */
#define BESIDE_MAX 1

/* Returns the value of a column; NaN if it is not a number. */
static double number(const struct ssreport_columns *columns, const char *name) {
    const char *text = ssreport_columns_get(columns, name);
    char *end;
    double value = strtod(text, &end);
    return *text && *end == '\0' ? value : NAN;
}

static bool is_set_to(const struct ssreport_columns *columns, const char *name, const char *value) {
    return strcmp(ssreport_columns_get(columns, name), value) == 0;
}

/*
 * Returns the block with this number, adding blocks as needed. Returns NULL if the number is
 * invalid or memory is exhausted.
 */
static struct duet_block *block_at(struct duet_blocks *blocks, double index) {
    size_t count = index >= 1 && index <= BLOCKS_MAX ? (size_t)index : 0;
    if (count == 0 || !SS_GROW(blocks->items, count, blocks->room))
        return NULL;
    for (; blocks->carried < count; blocks->carried++) {
        struct duet_block *block = &blocks->items[blocks->carried];
        *block = (struct duet_block){.background = NULL};
        for (int i = 0; i < 4; i++)
            block->runs[i] = (struct duet_run){.figure = NAN, .beside = NAN, .wall = NAN};
    }
    return &blocks->items[count - 1];
}

/*
 * Returns the iterations per second. A run whose iterations were read in bursts has no exact
 * throughput, so the number of iterations is divided by the counted time. That adds noise, which
 * the interval of the differences includes.
 */
static double throughput_of(const struct ssreport_run *run) {
    double seconds = ssreport_record_counted_to(&run->record) - run->record.counted_from;
    double exact = run->figures.throughput;
    return isfinite(exact) ? exact : run->record.iterations_done / seconds;
}

static double figure_of(const struct duet_study *study, const struct ssreport_run *run) {
    return study->by_time ? run->record.first_end : throughput_of(run);
}

/* Returns the figure of a run of requests; NaN if too many failed or there are too few. */
static double figure_of_responses(
    const struct duet_study *study, const struct ssreport_responses *responses) {
    const struct ssreport_response *successes = &responses->successes[SSREPORT_INTENDED];
    const struct {
        const char *name;
        double figure;
        bool is_percentile;
    } figures[] = {{"mean", successes->mean}, {"p50", successes->p50, true},
        {"p95", successes->p95, true}, {"p99", successes->p99, true},
        {"throughput", responses->throughput}};
    if (!(responses->success_ratio >= DUET_SUCCESS_MIN))
        return NAN;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(study->response, figures[i].name) != 0)
            continue;
        bool suffices = !figures[i].is_percentile || responses->succeeded >= DUET_ANSWERS_MIN;
        return suffices ? figures[i].figure : NAN;
    }
    return NAN;
}

/*
 * Returns the block of a run, and sets its `position`, from 0. Returns NULL if the columns are
 * invalid.
 */
static struct duet_block *block_of(
    struct duet_study *study, const struct ssreport_columns *columns, int *position) {
    bool same = is_set_to(columns, "pair", "aa");
    double value = number(columns, "position");
    struct duet_block *block =
        block_at(same ? &study->same : &study->different, number(columns, "block"));
    *position = value >= 1 && value <= 4 ? (int)value - 1 : 0;
    return value >= 1 && value <= 4 ? block : NULL;
}

static void add_run(struct duet_study *study, const struct ssreport_run *run) {
    int position;
    struct duet_block *block = block_of(study, &run->columns, &position);
    if (!block)
        return; /* without this run, the block is incomplete */
    struct duet_run *one = &block->runs[position];
    if (ssreport_is_word(run->role, "background")) {
        one->beside = throughput_of(run);
        block->background = &run->record;
        return;
    }
    if (study->order == DUET_ALTERNATE && position < 2)
        block->processes[position] = &run->record;
    if (*study->response)
        return; /* the record of the requests has the figure */
    one->name = run->record.name;
    one->figure = figure_of(study, run);
    one->wall = run->record.wall;
    one->is_b = is_set_to(&run->columns, "side", "b");
}

static void add_responses(struct duet_study *study, const struct ssreport_responses *responses) {
    int position;
    struct duet_block *block = block_of(study, &responses->columns, &position);
    if (!block)
        return;
    struct duet_run *one = &block->runs[position];
    one->name = responses->name;
    one->figure = figure_of_responses(study, responses);
    if (position < 2)
        block->services[position] = responses;
    one->wall = responses->begin;
    one->is_b = is_set_to(&responses->columns, "side", "b");
}

/*
 * Returns the difference of the logarithms of figures, B minus A; NaN unless there are two values
 * of each.
 */
static double difference_of(const struct duet_block *block, bool beside) {
    double values[2][2] = {{NAN, NAN}, {NAN, NAN}};
    int used[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        const struct duet_run *run = &block->runs[i];
        if (used[run->is_b] < 2)
            values[run->is_b][used[run->is_b]++] = beside ? run->beside : run->figure;
    }
    double difference = stats_block_difference(values[0], values[1]);
    return isfinite(difference) ? difference : NAN;
}

/* Returns the number of differences; 0 if a file of requests cannot be read. */
static size_t compare_services(const struct duet_study *study, const struct duet_block *block,
    double *values, struct ssreport_notes *notes) {
    struct duet_requests requests[2] = {0};
    struct ss_error error = {0};
    size_t count = 0;
    if (duet_requests_read(&requests[0], block->services[0]->path, notes, &error) < 0 ||
        duet_requests_read(&requests[1], block->services[1]->path, notes, &error) < 0) {
        ssreport_notes_add(notes, "%s", error.message);
    } else {
        for (int i = 0; i < 2; i++)
            requests[i].late = block->services[i]->begin - block->processes[0]->wall;
        count = duet_turns_compare_services(&study->turns, requests, study->response, values);
    }
    duet_requests_free(&requests[0]);
    duet_requests_free(&requests[1]);
    return count;
}

/*
 * Sets `values` to the differences between turns, B minus A. Returns their number; 0 with `failed`
 * set if memory is exhausted. Notes faults of files.
 */
static size_t compare_turns(struct duet_study *study, const struct duet_block *block, bool beside,
    double *values, struct ssreport_notes *notes) {
    const struct ssreport_record *first = block->processes[0], *second = block->processes[1];
    size_t count = 0;
    if (!first || !second || (beside && !block->background))
        return 0;
    if (beside)
        count = duet_turns_compare_beside(&study->turns, first, block->background, values);
    else if (!*study->response)
        count = duet_turns_compare(&study->turns, first, second, values);
    else if (block->services[0] && block->services[1])
        count = compare_services(study, block, values, notes);
    if (count == DUET_NO_MEMORY) {
        study->failed = true;
        return 0;
    }
    for (size_t i = 0; block->runs[0].is_b && i < count; i++)
        values[i] = -values[i];
    return count;
}

/* Returns the difference of a block; NaN if a run lacks a figure. */
static double compare_block(struct duet_study *study, const struct duet_block *block, bool beside) {
    double values[DUET_TURNS_MAX / 3];
    if (study->order != DUET_ALTERNATE)
        return difference_of(block, beside);
    size_t count = compare_turns(study, block, beside, values, &study->notes);
    return ssreport_mean_of(values, count, 0.95).mean;
}

static bool is_complete(const struct duet_study *study, const struct duet_block *block) {
    int runs = study->order == DUET_ALTERNATE ? 2 : 4;
    for (int i = 0; i < runs; i++) {
        if (!block->runs[i].name)
            return false;
    }
    return true;
}

/* Returns which of two processes has fewer iterations or answers. */
static bool is_second_worse(const struct duet_block *block) {
    if (block->services[0] && block->services[1])
        return block->services[1]->succeeded < block->services[0]->succeeded;
    return block->processes[1]->iteration_count < block->processes[0]->iteration_count;
}

/* Returns the name of a run without a figure or, of two processes, of the worse one. */
static const char *find_unmeasured(const struct duet_block *block) {
    if (block->processes[0] && block->processes[1])
        return block->runs[is_second_worse(block)].name;
    for (int i = 0; i < 3; i++) {
        if (!(block->runs[i].figure > 0 && isfinite(block->runs[i].figure)))
            return block->runs[i].name;
    }
    return block->runs[3].name;
}

/*
 * Returns the duration of a block in seconds: extrapolated from the starts of its runs or, with two
 * processes, up to the start of the next block; NaN for the last block.
 */
static double seconds_of(
    const struct duet_study *study, const struct duet_blocks *blocks, size_t index) {
    const struct duet_run *runs = blocks->items[index].runs;
    if (study->order == DUET_TURN)
        return (runs[3].wall - runs[0].wall) * 4 / 3;
    if (study->order == DUET_BESIDE)
        return (runs[2].wall - runs[0].wall) * 2;
    return index + 1 < blocks->carried ? blocks->items[index + 1].runs[0].wall - runs[0].wall : NAN;
}

static void add_block(struct duet_study *study, struct duet_blocks *blocks, size_t index) {
    const struct duet_block *block = &blocks->items[index];
    double difference = compare_block(study, block, false);
    double beside = compare_block(study, block, true);
    double seconds = seconds_of(study, blocks, index);
    if (isfinite(seconds))
        blocks->seconds[blocks->seconds_count++] = seconds;
    if (isnan(difference)) {
        if (!blocks->unmeasured)
            blocks->unmeasured = find_unmeasured(block);
        return;
    }
    if (isfinite(beside))
        blocks->beside[blocks->beside_count++] = beside;
    blocks->numbers[blocks->count] = index + 1;
    blocks->orders[blocks->count] = block->runs[0].is_b ? STATS_BAAB : STATS_ABBA;
    blocks->differences[blocks->count++] = difference;
}

/*
 * Compares the runs in each block, leaves out blocks without a figure, and drops all blocks after
 * the first incomplete one. Returns -1 if memory is exhausted.
 */
static int compare(struct duet_study *study, struct duet_blocks *blocks) {
    size_t complete = 0, room = blocks->carried + 1 + study->turns.count / 3;
    blocks->numbers = calloc(room, sizeof *blocks->numbers);
    blocks->differences = calloc(room, sizeof *blocks->differences);
    blocks->orders = calloc(room, sizeof *blocks->orders);
    blocks->beside = calloc(room, sizeof *blocks->beside);
    blocks->seconds = calloc(room, sizeof *blocks->seconds);
    if (!blocks->numbers || !blocks->differences || !blocks->orders || !blocks->beside ||
        !blocks->seconds)
        return -1;
    for (; complete < blocks->carried && is_complete(study, &blocks->items[complete]); complete++)
        add_block(study, blocks, complete);
    blocks->carried = complete;
    return 0;
}

/* Replaces the difference of the only block by the differences of its turns. */
static void use_turns(struct duet_study *study, struct duet_blocks *blocks) {
    struct ssreport_notes known = {0}; /* compare_block() has noted these faults */
    if (blocks->count == 0)
        return;
    size_t count = compare_turns(study, &blocks->items[0], false, blocks->differences, &known);
    blocks->beside_count = compare_turns(study, &blocks->items[0], true, blocks->beside, &known);
    for (size_t i = 0; i < count; i++) {
        blocks->numbers[i] = i + 1;
        blocks->orders[i] = blocks->orders[0];
    }
    blocks->count = count < 2 ? 0 : count;
    if (count < 2)
        blocks->unmeasured = find_unmeasured(&blocks->items[0]);
}

/* Returns whether too many blocks lack a figure for an answer. */
static bool lacks_figures(const struct duet_study *study, const struct duet_blocks *blocks) {
    if (study->of_two_processes)
        return blocks->carried > 0 && blocks->count == 0;
    if (blocks->carried >= DUET_FIRST)
        return 2 * blocks->count < blocks->carried;
    return blocks->carried > 1 && blocks->count == 0;
}

size_t duet_study_first(const struct duet_study *study) {
    return study->of_two_processes ? 1 : DUET_FIRST;
}

struct stats_look duet_study_look(const struct duet_study *study, size_t count) {
    const struct duet_blocks *blocks = &study->different;
    return stats_look_at(blocks->differences, blocks->orders, count, study->planned);
}

/*
 * Converts a mean difference of logarithms and half its interval to percent, positive if B is
 * worse.
 */
static struct duet_percent percent_of(const struct duet_study *study, double mean, double half) {
    double sign = study->by_time ? 1 : -1;
    double ends[2] = {sign * stats_percent_of(mean - half), sign * stats_percent_of(mean + half)};
    return (struct duet_percent){.mean = sign * stats_percent_of(mean),
        .low = fmin(ends[0], ends[1]),
        .high = fmax(ends[0], ends[1])};
}

/* Returns whether a look covers all planned blocks, except those that lack a figure. */
static bool is_last(const struct duet_study *study, const struct stats_look *look) {
    const struct duet_blocks *blocks = &study->different;
    return look->count == study->planned ||
           (study->planned > 0 && blocks->carried >= study->planned &&
               look->count == blocks->count);
}

static enum duet_decision decide(const struct duet_study *study, const struct stats_look *look) {
    struct duet_percent worse = percent_of(study, look->mean, look->half);
    if (!isfinite(look->half))
        return DUET_CONTINUES;
    if (worse.low > study->fail_above)
        return DUET_FAILED;
    if (worse.high < study->fail_above)
        return DUET_PASSED;
    if (fmax(worse.high - worse.mean, worse.mean - worse.low) <= study->until)
        return DUET_PRECISE;
    return is_last(study, look) ? DUET_ENDED : DUET_CONTINUES;
}

/* Judges by the first look that decides, because later runs must not change the answer. */
static void judge(struct duet_study *study) {
    size_t count = study->different.count, n = count < STATS_LOOK_MIN ? count : STATS_LOOK_MIN;
    bool ready = study->same.carried >= DUET_FIRST;
    do {
        study->look = duet_study_look(study, n);
        study->decision = ready ? decide(study, &study->look) : DUET_CONTINUES;
    } while (study->decision == DUET_CONTINUES && n++ < count);
    study->worse = percent_of(study, study->look.mean, study->look.half);
}

/* The turns of two processes are compared once, at the end. */
static void judge_two_processes(struct duet_study *study) {
    size_t count = study->different.count;
    struct ssreport_mean mean = ssreport_mean_of(study->different.differences, count, 0.95);
    study->look = (struct stats_look){
        .count = count, .mean = mean.mean, .deviation = mean.deviation, .half = INFINITY};
    if (study->same.count > 0)
        study->look.half = mean.high - mean.mean;
    study->planned = count;
    study->decision = decide(study, &study->look);
    study->worse = percent_of(study, study->look.mean, study->look.half);
}

/* A against A has a fixed number of blocks, so there is only one look. */
static void judge_same(struct duet_study *study) {
    size_t count = study->same.count;
    if (!study->of_two_processes && count > DUET_FIRST)
        count = DUET_FIRST;
    struct ssreport_mean mean = ssreport_mean_of(study->same.differences, count, 0.95);
    struct ssreport_mean sure = ssreport_mean_of(study->same.differences, count, 0.99);
    study->worse_same = percent_of(study, mean.mean, mean.high - mean.mean);
    study->same_differs = sure.low > 0 || sure.high < 0;
}

static void judge_beside(struct duet_study *study) {
    const struct duet_blocks *blocks = &study->different;
    struct ssreport_mean mean = ssreport_mean_of(blocks->beside, blocks->beside_count, 0.95);
    study->beside_more = (struct duet_percent){.mean = stats_percent_of(mean.mean),
        .low = stats_percent_of(mean.low),
        .high = stats_percent_of(mean.high)};
    study->beside_differs = fabs(study->beside_more.mean) > BESIDE_MAX;
    study->beside_unknown = *study->beside && 2 * blocks->beside_count < blocks->count;
}

/*
 * Returns the number of blocks of A and B that fit into the time, at least STATS_LOOK_MIN; 0
 * without a time limit. A block takes the median time of the blocks of A and A, so interruptions do
 * not count.
 */
static size_t plan_blocks(const struct duet_study *study) {
    double seconds = ssreport_median_of(study->same.seconds, study->same.seconds_count);
    double fit = floor(study->at_most / seconds) - DUET_FIRST;
    if (!(study->at_most > 0))
        return 0;
    return fit > STATS_LOOK_MIN && fit < BLOCKS_MAX ? (size_t)fit : STATS_LOOK_MIN;
}

static void take_turns(struct duet_study *study, const struct ssreport_columns *columns) {
    double count = number(columns, "turns");
    study->order = DUET_ALTERNATE;
    study->of_two_processes = is_set_to(columns, "pairs", "1");
    study->turns.begin = number(columns, "first_turn_seconds");
    study->turns.length = number(columns, "turn_seconds");
    study->turns.count = count >= 1 && count <= DUET_TURNS_MAX ? (size_t)count : 0;
}

static void take_settings(struct duet_study *study, const struct ssreport_columns *columns) {
    study->is_present = true;
    if (is_set_to(columns, "order", "alternate"))
        take_turns(study, columns);
    else if (is_set_to(columns, "order", "beside"))
        study->order = DUET_BESIDE;
    study->response = ssreport_columns_get(columns, "response");
    study->by_time = is_set_to(columns, "metric", "time") ||
                     (*study->response && strcmp(study->response, "throughput") != 0);
    study->a = ssreport_columns_get(columns, "a");
    study->b = ssreport_columns_get(columns, "b");
    study->beside = ssreport_columns_get(columns, "beside");
    study->until = number(columns, "until_percent");
    study->fail_above = number(columns, "fail_above_percent");
    study->at_most = number(columns, "at_most_seconds");
}

/*
 * Returns whether to add a record: whether it belongs to the study, which is that of the first
 * record given here. Takes the settings from that record, and sets `has_others` for one of another
 * study: blocks of several studies have the same numbers.
 */
static bool choose_record(
    struct duet_study *study, size_t manifest, const struct ssreport_columns *columns) {
    if (!study->is_present) {
        study->manifest = manifest;
        take_settings(study, columns);
    }
    study->has_others |= manifest != study->manifest;
    return manifest == study->manifest;
}

/* Adds the runs of the first study; sets `is_present` if there is one. */
static void add_runs(struct duet_study *study, const struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (!ssreport_is_word(run->experiment, "duet") || run->set != 0)
            continue;
        if (choose_record(study, run->manifest, &run->columns))
            add_run(study, run);
    }
    for (size_t i = 0; i < report->response_count; i++) {
        const struct ssreport_responses *responses = &report->responses[i];
        if (!ssreport_is_word(responses->experiment, "duet") || responses->set != 0)
            continue;
        if (choose_record(study, responses->manifest, &responses->columns))
            add_responses(study, responses);
    }
    if (study->has_others)
        ssreport_notes_add(&study->notes,
            "several studies of the experiment duet are given, but only the first one is answered: "
            "report each by itself");
}

int duet_study_read(struct duet_study *study, const struct ssreport_report *report) {
    *study = (struct duet_study){.a = "", .b = "", .beside = "", .response = ""};
    add_runs(study, report);
    if (compare(study, &study->same) < 0 || compare(study, &study->different) < 0) {
        duet_study_free(study);
        return -1;
    }
    if (study->of_two_processes) {
        use_turns(study, &study->same);
        use_turns(study, &study->different);
        judge_two_processes(study);
    } else {
        study->planned = plan_blocks(study);
        judge(study);
    }
    if (lacks_figures(study, &study->different))
        study->lacking = &study->different;
    if (lacks_figures(study, &study->same))
        study->lacking = &study->same;
    judge_same(study);
    judge_beside(study);
    study->worth = ssreport_worth_of(report);
    if (study->failed) {
        duet_study_free(study);
        return -1;
    }
    return 0;
}

static void free_blocks(struct duet_blocks *blocks) {
    free(blocks->items);
    free(blocks->numbers);
    free(blocks->differences);
    free(blocks->orders);
    free(blocks->beside);
    free(blocks->seconds);
}

void duet_study_free(struct duet_study *study) {
    free_blocks(&study->same);
    free_blocks(&study->different);
    *study = (struct duet_study){0};
}
