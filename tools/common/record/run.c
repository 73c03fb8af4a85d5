/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "measure/figures.h"
#include "statistics.h"

/* Tolerated difference in percent between a summary and its samples, which have six decimals. */
#define ROUNDING 0.01

/* Candidates for the width of bins, in percent. */
static const double widths[] = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

/*
 * Takes percentiles from the buckets and, if iterations.csv lacks rows, mean and deviation from the
 * run's own summary.
 */
static void take_times(struct ssreport_run *run, bool rows_lack) {
    const struct ss_histogram *times = &run->record.iteration_times;
    run->figures.iteration.median = ss_histogram_quantile(times, 0.5);
    run->figures.iteration.p95 = ss_histogram_quantile(times, 0.95);
    run->figures.iteration.p99 = ss_histogram_quantile(times, 0.99);
    if (!rows_lack)
        return;
    double mean = run->record.iteration_mean;
    run->figures.iteration.mean = isnan(mean) ? ss_histogram_mean(times) : mean;
    run->figures.iteration.deviation = run->record.iteration_deviation;
}

static void set_iterations(struct ssreport_run *run) {
    const struct ssreport_record *record = &run->record;
    double to = ssreport_record_counted_to(record);
    double *lengths = calloc(record->iteration_count + 1, sizeof *lengths);
    size_t count = 0;
    for (size_t i = 0; lengths && i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (iteration->end >= record->counted_from && iteration->end <= to)
            lengths[count++] = iteration->end - iteration->start;
    }
    struct ssreport_mean mean = ssreport_mean_of(lengths, count, 0.95);
    run->figures.iteration.mean = mean.mean;
    run->figures.iteration.deviation = mean.deviation;
    run->figures.iteration.median = ssreport_median_of(lengths, count);
    run->figures.iteration.p95 = ssreport_quantile_of(lengths, count, 0.95);
    run->figures.iteration.p99 = ssreport_quantile_of(lengths, count, 0.99);
    free(lengths);
    /* Buckets are complete, even if rows of iterations.csv are missing. */
    if (record->iteration_times.count >= count)
        take_times(run, record->iteration_times.count > count);
}

/* Judges a record without a verdict (interrupted, or from an earlier version) by its figures. */
static void judge(struct ssreport_run *run, const struct ss_figures *sums) {
    struct ssreport_record *record = &run->record;
    struct ss_evidence evidence;
    if (record->verdict.recorded)
        return;
    ss_evidence_clear(&evidence);
    evidence.figures[SS_CHECK_SAMPLES] = (double)sums->count;
    evidence.figures[SS_CHECK_STEAL] = 100 * record->steal;
    evidence.figures[SS_CHECK_INTERRUPTED] = record->interrupted;
    if (sums->count > 0 && !record->open_loop) {
        evidence.figures[SS_CHECK_MEAN_ERROR] = run->figures.error_mean_percent;
        evidence.figures[SS_CHECK_MEAN_SQUARED_ERROR] = run->figures.error_mse_e4;
        evidence.figures[SS_CHECK_SAMPLES_OFF] = 100 * ss_figures_part_beyond(sums, SS_OFF_TARGET);
    }
    if (record->has_iterations)
        evidence.figures[SS_CHECK_ITERATIONS] = record->iterations_done;
    ssreport_verdict_reach(&record->verdict, &evidence);
    if (record->is_damaged)
        ssreport_verdict_refuse(&record->verdict, "summary.json is damaged");
}

/* Adds the duty of a sample to a sum. It is unknown, for example, if no instance is left. */
static void add_duty(const struct ssreport_sample *sample, double *sum, double *count) {
    if (isnan(sample->duty))
        return;
    *sum += sample->duty;
    ++*count;
}

static void set_figures(struct ssreport_run *run) {
    const struct ssreport_record *record = &run->record;
    struct ssreport_figures *figures = &run->figures;
    struct ss_figures sums = {0};
    double duties = 0, duty_count = 0;
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        if (!sample->counted)
            continue;
        ss_figures_add(&sums, sample->target, sample->load);
        add_duty(sample, &duties, &duty_count);
    }
    *figures = (struct ssreport_figures){
        .samples = sums.count,
        .target_mean = ss_figures_target_mean(&sums),
        .load_mean = ss_figures_load_mean(&sums),
        .error_mean_percent = ss_figures_error_mean_percent(&sums),
        .error_mse_e4 = ss_figures_error_mse_e4(&sums),
        .error_p95_percent = ss_figures_error_p95_percent(&sums),
        .duty_mean = duties / duty_count,
        .throughput = ssreport_steps_throughput(
            record, record->counted_from, ssreport_record_counted_to(record)),
        .throughput_bound =
            ssreport_steps_bound(record, record->counted_from, ssreport_record_counted_to(record)),
    };
    judge(run, &sums);
    ss_figures_free(&sums);
    set_iterations(run);
}

static void compare_with_summary(struct ssreport_run *run) {
    double summary = run->record.error_mean_percent, mean = run->figures.error_mean_percent;
    if (fabs(mean - summary) > ROUNDING)
        ssreport_notes_add(&run->record.notes,
            "the mean error is %.3f %% in the summary and %.3f %% in the samples", summary, mean);
}

/* Sets the bins of errors: centered at 0, and wide enough for nearly all errors. */
static void set_distribution(struct ssreport_run *run) {
    size_t i = 0;
    double reach = run->figures.error_p95_percent * 1.5;
    while (i + 1 < sizeof widths / sizeof *widths && widths[i] * SSREPORT_BINS / 2 < reach)
        i++;
    struct ssreport_distribution *errors = &run->errors;
    errors->width = widths[i];
    errors->from = -errors->width * SSREPORT_BINS / 2;
    for (size_t j = 0; j < run->record.sample_count; j++) {
        const struct ssreport_sample *sample = &run->record.samples[j];
        if (!sample->counted)
            continue;
        double at = (100 * (sample->target - sample->load) - errors->from) / errors->width;
        errors->counts[(size_t)fmin(fmax(at, 0), SSREPORT_BINS - 1)]++;
    }
}

static double middle_of(const struct ssreport_sample *sample) {
    return (sample->begin + sample->end) / 2;
}

/* Returns the first sample whose middle is not before a time. Samples are in order of time. */
static size_t find_sample(const struct ssreport_record *record, double time) {
    size_t from = 0, to = record->sample_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (middle_of(&record->samples[middle]) < time)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct ssreport_means ssreport_run_means(
    const struct ssreport_record *record, double from, double to) {
    struct ssreport_means sums = {0};
    double count = 0, duty_count = 0;
    for (size_t i = find_sample(record, from); i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        if (middle_of(sample) >= to)
            break;
        sums.target += sample->target;
        sums.load += sample->load;
        add_duty(sample, &sums.duty, &duty_count);
        count++;
    }
    return (struct ssreport_means){sums.target / count, sums.load / count, sums.duty / duty_count};
}

/*
 * Returns whether iterations are longer than a step or interval. Neighboring steps then share
 * iterations, so their throughputs do not show the effect of their own loads.
 */
static bool is_exceeded(const struct ssreport_run *run, size_t i) {
    return run->fits_steps ? run->steps.items[i].is_exceeded
                           : run->rates.lengths[i] > run->rates.interval;
}

static void note_exceeded(struct ssreport_run *run) {
    if (run->exceeded > 0)
        ssreport_notes_add(&run->record.notes,
            "%zu of %zu %s are left out of the fit of throughput against load: they are shorter "
            "than an iteration",
            run->exceeded, run->exceeded + run->fit.count, run->fits_steps ? "steps" : "intervals");
}

/*
 * Collects the points of the line: steps if there are enough, otherwise intervals. A step with
 * target 0, in which no iteration can end, is left out without a note.
 */
static size_t collect(struct ssreport_run *run) {
    size_t used = 0;
    size_t count = run->fits_steps ? run->steps.count : run->rates.count;
    for (size_t i = 0; i < count; i++) {
        double from = run->rates.from + (double)i * run->rates.interval;
        double load = run->fits_steps
                          ? run->steps.items[i].load.mean
                          : ssreport_run_means(&run->record, from, from + run->rates.interval).load;
        double throughput = run->fits_steps ? run->steps.items[i].throughput : run->rates.parts[i];
        if (!isfinite(load) || !isfinite(throughput))
            continue;
        if (is_exceeded(run, i)) {
            run->exceeded += !run->fits_steps || run->steps.items[i].target > 0;
            continue;
        }
        run->loads[used] = load;
        run->throughputs[used++] = throughput;
    }
    return used;
}

bool ssreport_run_is_invalid(const struct ssreport_run *run) {
    return run->record.verdict.verdict.finding == SS_INVALID;
}

int ssreport_run_fit(struct ssreport_run *run) {
    run->fits_steps = run->steps.count > 1;
    size_t room = run->steps.count + run->rates.count + 1;
    run->loads = calloc(2 * room, sizeof *run->loads);
    if (!run->loads)
        return -1;
    run->throughputs = run->loads + room;
    run->exceeded = 0;
    run->fit = ssreport_fit_line(run->loads, run->throughputs, collect(run));
    if (run->fits_steps && run->record.has_iterations &&
        ssreport_curve_fit(&run->curve, run->loads, run->throughputs, run->fit.count) < 0)
        return -1;
    run->least_load = INFINITY;
    run->most_load = -INFINITY;
    for (size_t i = 0; i < run->fit.count; i++) {
        run->least_load = fmin(run->least_load, run->loads[i]);
        run->most_load = fmax(run->most_load, run->loads[i]);
    }
    return 0;
}

int ssreport_run_read(struct ssreport_run *run, const char *path, const char *name,
    const struct ssreport_settings *settings, struct ss_error *error) {
    *run = (struct ssreport_run){.confidence = settings->confidence, .others = NAN};
    if (ssreport_record_read(&run->record, path, name, error) < 0)
        return -1;
    set_figures(run);
    run->beside = ssreport_beside_read(&run->record, path);
    compare_with_summary(run);
    set_distribution(run);
    if (ssreport_steps_find(&run->steps, &run->record, settings) < 0 ||
        ssreport_steps_rates(&run->rates, &run->record, run->record.counted_from,
            ssreport_record_counted_to(&run->record), settings->interval) < 0 ||
        ssreport_run_fit(run) < 0)
        return ss_error_memory(error);
    note_exceeded(run);
    return 0;
}

const char *ssreport_environment_name(const char *label) {
    return !label || !*label || strcmp(label, "none") == 0 ? SSREPORT_HOST : label;
}

const char *ssreport_run_environment(const struct ssreport_run *run) {
    return ssreport_environment_name(run->environment);
}

const char *ssreport_run_published(const struct ssreport_run *run) {
    return run->published ? run->published : run->workload;
}

bool ssreport_run_is_on_host(const struct ssreport_run *run) {
    return strcmp(ssreport_run_environment(run), SSREPORT_HOST) == 0;
}

void ssreport_run_free(struct ssreport_run *run) {
    ssreport_record_free(&run->record);
    ssreport_steps_free(&run->steps);
    ssreport_rates_close(&run->rates);
    ssreport_energy_free(&run->energy);
    ssreport_idle_free(&run->idle);
    ssreport_curve_free(&run->curve);
    ssreport_surroundings_free(&run->surroundings);
    ssreport_columns_free(&run->columns);
    free(run->variant);
    free(run->family);
    free(run->trace);
    free(run->loads);
    free(run->experiment);
    free(run->method);
    free(run->group);
    free(run->power_source);
    free(run->placement);
    free(run->role);
    free(run->environment);
    free(run->measured_in);
    free(run->workload);
    free(run->published);
    free(run->knees);
    *run = (struct ssreport_run){0};
}
