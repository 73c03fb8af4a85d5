/* SPDX-License-Identifier: Apache-2.0 */
#include "load_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "points.h"

#define EXPERIMENT "loadline"

/* A level with at least this target is at full load. */
#define FULL 0.995

/* A service that answers this part of its highest rate has capacity left. */
#define RATE_ANSWERED 0.98

/* Properties common to runs and records of requests. */
struct origin {
    int set;
    size_t manifest;
    const char *workload, *variant, *environment, *method, *name, *knees;
    double at, predict;
    bool is_service;
};

static bool is_like(const struct ssreport_load_series *series, const struct origin *origin) {
    return series->set == origin->set && ssreport_is_same(series->workload, origin->workload) &&
           ssreport_is_same(series->variant, origin->variant) &&
           ssreport_is_same(series->environment, origin->environment) &&
           ssreport_is_same(series->method, origin->method);
}

/* Sets the label: the workload, its variant, and the number of the study if there are several. */
static void set_label(struct ssreport_load_series *series, size_t copy) {
    const char *workload = series->workload ? series->workload : series->name;
    const char *variant = series->variant;
    int used = snprintf(series->label, sizeof series->label, "%.300s%s%.150s", workload,
        variant ? ", " : "", variant ? variant : "");
    if (copy > 1)
        snprintf(series->label + used, sizeof series->label - (size_t)used, " (%zu)", copy);
}

/*
 * Returns the series that a record belongs to, adding it if needed. Returns NULL if memory is
 * exhausted.
 */
static struct ssreport_load_series *find_series(
    struct ssreport_report *report, const struct origin *origin) {
    size_t copy = 1;
    for (size_t i = 0; i < report->load_series_count; i++) {
        struct ssreport_load_series *series = &report->load_series[i];
        if (!is_like(series, origin))
            continue;
        if (series->manifest == origin->manifest)
            return series;
        copy++;
    }
    if (!SS_GROW(report->load_series, report->load_series_count + 1, report->load_series_room))
        return NULL;
    struct ssreport_load_series *series = &report->load_series[report->load_series_count++];
    *series = (struct ssreport_load_series){.set = origin->set,
        .manifest = origin->manifest,
        .workload = origin->workload,
        .variant = origin->variant,
        .environment = origin->environment,
        .method = origin->method,
        .name = origin->name,
        .is_service = origin->is_service,
        .at = origin->at,
        .predict = origin->predict,
        .knees = origin->knees,
        .done = {NAN, NAN, NAN}};
    set_label(series, copy);
    return series;
}

static int add_visit(struct ssreport_load_series *series, const struct ssreport_load_visit *visit) {
    if (!SS_GROW(series->visits, series->count + 1, series->room))
        return -1;
    series->visits[series->count++] = *visit;
    return 0;
}

static int add_run(struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_response unknown = {.mean = NAN, .p50 = NAN, .p95 = NAN};
    const struct origin origin = {.set = run->set,
        .manifest = run->manifest,
        .variant = run->variant,
        .workload = run->workload,
        .environment = run->environment,
        .method = run->method,
        .name = run->record.title ? run->record.title : run->record.name,
        .knees = run->knees,
        .at = run->at,
        .predict = run->predict};
    struct ssreport_load_series *series = find_series(report, &origin);
    double most = 0;
    if (!series)
        return -1;
    for (size_t i = 0; i < run->steps.count; i++)
        most = fmax(most, run->steps.items[i].target);
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        double wall = run->record.wall;
        const char *direction = ssreport_steps_direction(&run->steps, step->half);
        bool is_burst = run->bursts > 0 && step->target >= most;
        if (run->bursts > 0 && !is_burst)
            continue;
        struct ssreport_load_visit visit = {
            .visit = {.target = step->target,
                .load = step->load.mean,
                .throughput = step->is_exceeded ? NAN : step->throughput,
                .watts =
                    ssreport_energy_between(&run->energy, wall + step->from, wall + step->to).watts,
                .round = run->round >= 1 ? (int)run->round : 1,
                .way = strcmp(direction, "down") == 0 ? LOADLINE_DOWN : LOADLINE_UP},
            .response = unknown,
            .is_burst = is_burst,
            .is_invalid = ssreport_run_is_invalid(run)};
        if (add_visit(series, &visit) < 0)
            return -1;
    }
    return 0;
}

/* Returns whether the last rate of a record is at least the first. */
static bool do_rates_rise(const struct ssreport_responses *responses) {
    struct ssreport_stretch stretch;
    double first = NAN, last = NAN;
    size_t next = 0;
    while (ssreport_responses_stretch(responses, responses->edge, &next, &stretch)) {
        first = isnan(first) ? stretch.rate : first;
        last = stretch.rate;
    }
    return !(last < first);
}

/* Adds the rates as targets; divide_targets() later divides them by the highest rate. */
static int add_responses(
    struct ssreport_report *report, const struct ssreport_responses *responses) {
    const struct origin origin = {.set = responses->set,
        .manifest = responses->manifest,
        .workload = responses->workload,
        .variant = responses->variant,
        .environment = responses->environment,
        .method = responses->method,
        .name = responses->title,
        .knees = responses->knees,
        .at = responses->at,
        .predict = responses->predict,
        .is_service = true};
    struct ssreport_load_series *series = find_series(report, &origin);
    enum loadline_way way = do_rates_rise(responses) ? LOADLINE_UP : LOADLINE_DOWN;
    struct ssreport_stretch stretch;
    size_t next = 0;
    if (!series)
        return -1;
    while (ssreport_responses_stretch(responses, responses->edge, &next, &stretch)) {
        struct ssreport_joined joined =
            ssreport_responses_join(responses, NULL, stretch.from, stretch.to);
        struct ssreport_load_visit visit = {
            .visit = {.target = stretch.rate,
                .load = joined.load,
                .throughput = stretch.completed / (stretch.to - stretch.from),
                .watts = joined.watts,
                .round = responses->round >= 1 ? (int)responses->round : 1,
                .way = way},
            .response = stretch.response[SSREPORT_INTENDED]};
        if (add_visit(series, &visit) < 0)
            return -1;
    }
    return 0;
}

static int gather(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (ssreport_is_word(report->runs[i].experiment, EXPERIMENT) &&
            add_run(report, &report->runs[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < report->response_count; i++) {
        if (ssreport_is_word(report->responses[i].experiment, EXPERIMENT) &&
            add_responses(report, &report->responses[i]) < 0)
            return -1;
    }
    return 0;
}

static void divide_targets(struct ssreport_load_series *series) {
    double most = 0;
    for (size_t i = 0; i < series->count; i++)
        most = fmax(most, series->visits[i].visit.target);
    if (!series->is_service || !(most > 0))
        return;
    for (size_t i = 0; i < series->count; i++)
        series->visits[i].visit.target /= most;
    series->highest_rate = most;
}

/* Extends a range; NaN changes nothing. */
static void include(struct ssreport_range *range, double value) {
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
}

static void average_responses(struct ssreport_load_series *series) {
    for (size_t i = 0; i < series->line.count; i++) {
        struct ssreport_load_responses *level = &series->responses[i];
        double count = 0;
        level->p95_range = level->watts_range = (struct ssreport_range){NAN, NAN};
        for (size_t j = 0; j < series->count; j++) {
            const struct ssreport_load_visit *one = &series->visits[j];
            if (one->is_burst || fabs(one->visit.target - series->line.levels[i].target) > 1e-4)
                continue;
            level->mean += one->response.mean;
            level->p50 += one->response.p50;
            level->p95 += one->response.p95;
            include(&level->p95_range, one->response.p95);
            include(&level->watts_range, one->visit.watts);
            count++;
        }
        level->mean /= count;
        level->p50 /= count;
        level->p95 /= count;
    }
}

/*
 * Reads a list such as "0.5,0.75" up to the first text that is not a number. Ignores knees that are
 * not between 0 and 1.
 */
static void read_knees(struct loadline_question *question, const char *text) {
    while (text && *text && question->knee_count < LOADLINE_KNEES_MAX) {
        char *end;
        double knee = strtod(text, &end);
        if (end == text)
            return;
        if (knee > 0 && knee < 1)
            question->knees[question->knee_count++] = knee;
        text = *end ? end + 1 : end;
    }
}

static bool is_counted_burst(const struct ssreport_load_visit *visit) {
    return visit->is_burst && visit->visit.throughput > 0;
}

/*
 * Sets the geometric mean of the throughput of bursts, and the error of its logarithm. Returns
 * their mean load.
 */
static double read_bursts(
    struct loadline_question *question, const struct ssreport_load_series *series) {
    double sum = 0, loads = 0, squares = 0, count = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (!is_counted_burst(&series->visits[i]))
            continue;
        sum += log(series->visits[i].visit.throughput);
        loads += series->visits[i].visit.load;
        count++;
    }
    if (count < 2)
        return NAN;
    for (size_t i = 0; i < series->count; i++) {
        if (is_counted_burst(&series->visits[i]))
            squares += pow(log(series->visits[i].visit.throughput) - sum / count, 2);
    }
    question->burst = exp(sum / count);
    question->burst_error =
        (struct ssreport_sureness){sqrt(squares / (count - 1) / count), count - 1};
    return loads / count;
}

/* Returns a throughput relative to that of bursts. Their errors are independent. */
static struct ssreport_band relate_to_bursts(
    const struct ssreport_load_series *series, struct ssreport_band work, double confidence) {
    double half = hypot(
        log(work.high / work.y), ssreport_mean_interval(0, series->burst_error, confidence).high);
    double done = work.y / series->full_throughput;
    return (struct ssreport_band){done, done * exp(-half), done * exp(half)};
}

struct ssreport_band ssreport_load_series_done_at(
    const struct ssreport_load_series *series, size_t level, double confidence) {
    struct loadline_bands bands;
    loadline_bands_of_level(&series->line, level, confidence, &bands);
    return series->has_bursts ? relate_to_bursts(series, bands.throughput, confidence) : bands.done;
}

static struct ssreport_band find_done(
    const struct ssreport_load_series *series, double confidence) {
    if (!series->has_bursts)
        return loadline_done(&series->line, series->at, confidence);
    return relate_to_bursts(
        series, loadline_throughput(&series->line, series->at, confidence), confidence);
}

/*
 * Returns whether bursts are the maximum: no level exceeds them by more than three standard errors.
 */
static bool are_bursts_highest(
    const struct loadline *line, const struct loadline_question *question) {
    double error = hypot(line->error.error / M_SQRT2, question->burst_error.error);
    return line->levels[line->full].log_mean <= log(question->burst) + 3 * error;
}

static void answer(struct ssreport_load_series *series, double confidence) {
    struct loadline_question question = {
        .load = series->predict, .burst = NAN, .confidence = confidence};
    read_knees(&question, series->knees);
    double burst_load = read_bursts(&question, series);
    const struct loadline_level *full = &series->line.levels[series->line.full];
    series->uses_bursts = isfinite(question.burst);
    series->has_bursts = series->uses_bursts && are_bursts_highest(&series->line, &question);
    series->burst_error = question.burst_error;
    series->full_load = series->has_bursts ? burst_load : full->load;
    series->full_throughput = series->has_bursts ? question.burst : exp(full->log_mean);
    if (series->at > 0)
        series->done = find_done(series, confidence);
    if (series->predict > 0)
        series->unpredicted = loadline_predict(&series->prediction, &series->line, &question);
}

static int compute(struct ssreport_load_series *series, double confidence) {
    SS_OWNED(free)
    struct loadline_visit *visits = calloc(series->count + 1, sizeof *visits);
    size_t count = 0;
    if (!visits)
        return -1;
    divide_targets(series);
    for (size_t i = 0; i < series->count; i++) {
        if (!series->visits[i].is_burst)
            visits[count++] = series->visits[i].visit;
    }
    series->failure = loadline_of(&series->line, visits, count);
    if (series->failure)
        return 0;
    average_responses(series);
    series->has_power = loadline_power_of(&series->power, &series->line);
    answer(series, confidence);
    return 0;
}

int ssreport_load_series_find(struct ssreport_report *report) {
    if (gather(report) < 0)
        return -1;
    for (size_t i = 0; i < report->load_series_count; i++) {
        if (compute(&report->load_series[i], report->settings.confidence) < 0)
            return -1;
    }
    return 0;
}

void ssreport_load_series_free(struct ssreport_report *report) {
    for (size_t i = 0; i < report->load_series_count; i++)
        free(report->load_series[i].visits);
    free(report->load_series);
    report->load_series = NULL;
    report->load_series_count = report->load_series_room = 0;
}

/*
 * Returns whether the maximum is probably higher than the highest level: its load is below 100 %,
 * or the service still answers its rate.
 */
static bool is_below_maximum(const struct ssreport_load_series *series) {
    const struct loadline_level *full = &series->line.levels[series->line.full];
    if (series->line.is_capped || series->has_bursts)
        return false;
    if (series->is_service)
        return exp(full->log_mean) >= RATE_ANSWERED * series->highest_rate;
    return full->target < FULL;
}

double ssreport_load_series_left(const struct ssreport_load_series *series) {
    /* Below 0 are noise, and rounding errors that would print as -0.0. */
    double left = 1 / series->done.y - 1;
    return left < 0 ? 0 : left;
}

/*
 * Returns the standard deviation between a level's two visits in a round, apart from hysteresis and
 * drift, as a ratio minus 1. The error of a level is that of a mean over all visits, see
 * loadline.h.
 */
static double noise_of(const struct loadline *line) {
    return expm1(line->error.error * sqrt(2 * (double)line->rounds));
}

/* Prints one decimal only if the interval is narrow. */
static void print_done(const struct ssreport_load_series *series, char *text, size_t size) {
    const struct ssreport_band *done = &series->done;
    int decimals = done->high - done->low < 0.01 ? 1 : 0;
    const struct loadline *line = &series->line;
    const char *below =
        series->is_service ? " at the highest rate measured" : " at the highest load measured";
    if (isnan(done->y)) {
        snprintf(text, size,
            "What is left at %.3g %% load is unknown: loads from %.3g to %.3g %% were measured.",
            100 * series->at, 100 * line->levels[0].load, 100 * line->levels[line->count - 1].load);
        return;
    }
    snprintf(text, size,
        "At %.3g %% load it has done %.*f %% (%.*f to %.*f) of what it can do%s; %.*f %% more is "
        "left; two measurements of a level differ by about %.1f %%.",
        100 * series->at, decimals, 100 * done->y, decimals, 100 * done->low, decimals,
        100 * done->high, is_below_maximum(series) ? below : "", decimals,
        100 * ssreport_load_series_left(series), 100 * noise_of(line));
}

/* Writes "3 to 5", or "at least 3" for a range without an upper end. */
static void write_range(char text[40], const struct ssreport_band *range) {
    if (isfinite(range->high))
        snprintf(text, 40, "%.4g to %.4g", range->low, range->high);
    else
        snprintf(text, 40, "at least %.4g", range->low);
}

static void print_prediction(const struct ssreport_load_series *series, char *text, size_t size) {
    const struct loadline_prediction *prediction = &series->prediction;
    char range[40], free[40];
    write_range(range, &prediction->range);
    write_range(free, &prediction->free);
    const char *unit = series->is_service ? "requests" : "iterations";
    bool is_measured = prediction->fit_count == 0;
    size_t used = (size_t)snprintf(text, size, " At %.3g %% load it %s %.4g (%s) %s per second",
        100 * series->predict, is_measured ? "does" : "would do", prediction->range.y, range, unit);
    if (is_measured)
        snprintf(text + used, size - used, ", as measured.");
    else if (series->uses_bursts)
        snprintf(
            text + used, size - used, ", judging from the levels below and bursts at full load.");
    else
        used += (size_t)snprintf(text + used, size - used,
            ", but %s if nothing limits it above the measured %.3g %%", free,
            100 * prediction->highest);
    if (is_measured || series->uses_bursts)
        return;
    if (isnan(prediction->unidentified))
        snprintf(text + used, size - used, ", which only bursts can show.");
    else
        snprintf(text + used, size - used,
            ": the knee at %.3g %% is not identified without bursts.",
            100 * prediction->unidentified);
}

void ssreport_load_series_answer(
    const struct ssreport_load_series *series, char *text, size_t size) {
    *text = '\0';
    if (series->failure) {
        snprintf(text, size, "What is left is unknown: %s.", series->failure);
        return;
    }
    if (series->at > 0)
        print_done(series, text, size);
    size_t used = strlen(text);
    if (series->unpredicted)
        snprintf(text + used, size - used, " There is no prediction: %s.", series->unpredicted);
    else if (series->predict > 0)
        print_prediction(series, text + used, size - used);
}
