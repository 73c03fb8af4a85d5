/* SPDX-License-Identifier: Apache-2.0 */
#include "points.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"

/* Returns the length of a path without its last component. */
static size_t parent_length(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

static bool is_beside(const struct ssreport_responses *responses, const struct ssreport_run *run) {
    if (responses->set != run->set || responses->manifest != run->manifest)
        return false;
    if (responses->manifest == 0)
        return true;
    if (responses->group || run->group)
        return ssreport_is_same(responses->group, run->group);
    size_t length = parent_length(responses->name);
    return length == parent_length(run->record.name) &&
           strncmp(responses->name, run->record.name, length) == 0;
}

static double overlap(const struct ssreport_responses *responses, const struct ssreport_run *run) {
    const struct ssreport_record *record = &run->record;
    double end = record->wall + ssreport_record_elapsed(record, ssreport_record_end(record));
    return fmin(responses->ended, end) - fmax(responses->begin, record->wall);
}

const struct ssreport_run *ssreport_responses_beside(
    const struct ssreport_report *report, const struct ssreport_responses *responses) {
    const struct ssreport_run *found = NULL;
    double most = 0;
    if (isnan(responses->begin + responses->ended))
        return NULL;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        double seconds = overlap(responses, run);
        if (!isnan(run->record.wall) && is_beside(responses, run) && seconds > most) {
            most = seconds;
            found = run;
        }
    }
    return found;
}

/* Returns the first load after a time. */
static size_t find_load(const struct ssreport_responses *responses, double time) {
    return ssreport_find_from(responses->loads, responses->load_count, sizeof *responses->loads,
        offsetof(struct ssreport_response_load, at), nextafter(time, INFINITY));
}

/* Returns the mean load of a CPU or, if `cpu` is NaN, of all CPUs. */
static double mean_load(
    const struct ssreport_responses *responses, double cpu, double from, double to) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = find_load(responses, from); i < responses->load_count; i++) {
        const struct ssreport_response_load *load = &responses->loads[i];
        if (!(load->at <= to))
            break;
        if (ssreport_compare_numbers(load->cpu, cpu) != 0)
            continue;
        sum += load->load;
        count++;
    }
    return count ? sum / (double)count : NAN;
}

/*
 * Returns the mean load of the busiest set of CPUs. Single CPUs are recorded if a thread or an
 * instance of the service may use only one CPU; otherwise all CPUs are one set.
 */
static double busiest_load(const struct ssreport_responses *responses, double from, double to) {
    double most = mean_load(responses, NAN, from, to);
    size_t first = find_load(responses, from);
    for (size_t i = first; i < responses->load_count; i++) {
        const struct ssreport_response_load *load = &responses->loads[i];
        if (!(load->at <= to))
            break;
        bool is_first = !isnan(load->cpu);
        for (size_t j = i; is_first && j-- > first;)
            is_first = responses->loads[j].cpu != load->cpu;
        if (is_first)
            most = fmax(most, mean_load(responses, load->cpu, from, to));
    }
    return most;
}

static void join_power(
    struct ssreport_joined *joined, const struct ssreport_energy *energy, double from, double to) {
    struct ssreport_cost cost = ssreport_energy_between(energy, from, to);
    joined->watts = cost.watts;
    joined->watts_deviation = cost.deviation;
    joined->watts_seconds = cost.seconds;
}

struct ssreport_joined ssreport_responses_join(const struct ssreport_responses *responses,
    const struct ssreport_run *beside, double from, double to) {
    struct ssreport_joined joined = {.load = mean_load(responses, NAN, from, to),
        .busiest = busiest_load(responses, from, to),
        .target = NAN,
        .duty = NAN};
    join_power(&joined, &responses->energy, from, to);
    if (!beside)
        return joined;
    const struct ssreport_record *record = &beside->record;
    from = ssreport_record_run_time(record, from - record->wall);
    to = ssreport_record_run_time(record, to - record->wall);
    struct ssreport_means means = ssreport_run_means(record, from, to);
    joined.target = means.target;
    joined.load = means.load;
    joined.busiest = fmax(joined.busiest, means.load);
    joined.duty = means.duty;
    if (beside->energy.count > 0)
        join_power(&joined, &beside->energy, record->wall + from, record->wall + to);
    return joined;
}

/*
 * Returns how many requests of a stretch were never sent or had no answer when the run ended. Only
 * those of the last stretch with requests can be among them.
 */
static double count_left(
    const struct ssreport_responses *responses, const struct ssreport_stretch *stretch) {
    double open = stretch->due - stretch->completed - stretch->failed - stretch->refused;
    double left = responses->waiting + responses->unfinished;
    for (size_t i = responses->count; i-- > 0 && responses->seconds[i].begin >= stretch->end;) {
        if (responses->seconds[i].due > 0)
            return 0;
    }
    return left > 0 && open > 0 ? fmin(left, open) : 0;
}

/*
 * Returns the part of due requests that succeeded. Requests that are still waiting or unfinished
 * when the stretch ends count when it is known what became of them.
 */
static double find_success_ratio(
    const struct ssreport_responses *responses, const struct ssreport_stretch *stretch) {
    return stretch->completed / (stretch->completed + stretch->failed + stretch->refused +
                                    count_left(responses, stretch));
}

static int add_point(struct ssreport_report *report, const struct ssreport_responses *responses,
    const struct ssreport_stretch *stretch, size_t step) {
    if (!SS_GROW(report->points, report->point_count + 1, report->point_capacity))
        return -1;
    struct ssreport_rate_point *point = &report->points[report->point_count++];
    double seconds = stretch->to - stretch->from;
    *point = (struct ssreport_rate_point){.of = responses,
        .beside = ssreport_responses_beside(report, responses),
        .step = step,
        .stretch = *stretch,
        .seconds = seconds,
        .success_ratio = find_success_ratio(responses, stretch),
        .throughput = stretch->completed / seconds,
        .in_time = stretch->completed / stretch->due};
    point->joined = ssreport_responses_join(responses, point->beside, stretch->from, stretch->to);
    return 0;
}

/* Uses the figures of the whole run, which are exact for a run at one rate. */
static void use_figures(struct ssreport_rate_point *point) {
    const struct ssreport_responses *responses = point->of;
    struct ssreport_stretch *stretch = &point->stretch;
    stretch->due = responses->intended;
    stretch->sent = responses->sent;
    stretch->refused = responses->refused;
    stretch->completed = responses->succeeded;
    stretch->failed = responses->failed;
    stretch->timeouts = responses->timeouts;
    stretch->lateness_most = responses->lateness_most;
    for (int origin = 0; origin < SSREPORT_ORIGINS; origin++) {
        struct ssreport_sureness sureness = stretch->response[origin].mean_sureness;
        stretch->response[origin] = responses->successes[origin];
        stretch->response[origin].mean_sureness = sureness;
    }
    point->step = 0;
    point->success_ratio = responses->success_ratio;
    point->throughput = responses->throughput;
}

static bool has_one_rate(const struct ssreport_responses *responses) {
    return !responses->interrupted &&
           (responses->closed || ssreport_is_word(responses->profile, "constant"));
}

static int add_points(struct ssreport_report *report, const struct ssreport_responses *responses) {
    size_t next = 0, step = 0, first = report->point_count;
    struct ssreport_stretch stretch;
    /* A search for a capacity changes the rate too often for steady figures. */
    if (responses->capacity.demand)
        return 0;
    double edge = has_one_rate(responses) ? 0 : responses->edge;
    while (ssreport_responses_stretch(responses, edge, &next, &stretch)) {
        /* A staircase has stretches without requests at its start and end. */
        if (stretch.due == 0 || stretch.rate == 0)
            continue;
        if (add_point(report, responses, &stretch, ++step) < 0)
            return -1;
        if (has_one_rate(responses)) {
            use_figures(&report->points[first]);
            return 0;
        }
    }
    return 0;
}

/* Sets `caps_differ` and `balances_differ` of records with knobs. */
static void compare_levels(struct ssreport_report *report) {
    const struct ssreport_responses *first = NULL;
    bool caps = false, balances = false;
    for (size_t i = 0; i < report->response_count; i++) {
        const struct ssreport_responses *of = &report->responses[i];
        if (!of->knobs)
            continue;
        first = first ? first : of;
        caps |= ssreport_compare_numbers(first->cap, of->cap) != 0;
        balances |= !ssreport_is_same(first->balance, of->balance);
    }
    for (size_t i = 0; i < report->response_count; i++) {
        report->responses[i].caps_differ = caps && report->responses[i].knobs;
        report->responses[i].balances_differ = balances && report->responses[i].knobs;
    }
}

int ssreport_points_find(struct ssreport_report *report) {
    compare_levels(report);
    for (size_t i = 0; i < report->response_count; i++) {
        if (add_points(report, &report->responses[i]) < 0)
            return -1;
    }
    return 0;
}

/* Compares services. If `context` is not NULL, their arrivals may differ. */
static int compare_services(const void *left, const void *right, void *context) {
    const struct ssreport_responses *one = ((const struct ssreport_rate_point *)left)->of;
    const struct ssreport_responses *other = ((const struct ssreport_rate_point *)right)->of;
    /* Without a workload, each record of a manifest is a separate service. */
    bool is_named = one->workload || one->manifest == 0;
    return STATS_ORDER(one->set - other->set,
        (one->manifest > other->manifest) - (one->manifest < other->manifest),
        ssreport_compare_words(one->workload, other->workload),
        ssreport_compare_words(one->variant, other->variant),
        ssreport_compare_words(one->environment, other->environment),
        context ? 0 : ssreport_compare_words(one->arrival, other->arrival),
        one->closed - other->closed, is_named ? 0 : (one > other) - (one < other));
}

static int compare_series(const void *left, const void *right, void *context) {
    const struct ssreport_responses *one = ((const struct ssreport_rate_point *)left)->of;
    const struct ssreport_responses *other = ((const struct ssreport_rate_point *)right)->of;
    return STATS_ORDER(compare_services(left, right, context), ssreport_compare_levels(one, other));
}

bool ssreport_rate_point_is_service(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    return compare_services(one, other, NULL) == 0;
}

bool ssreport_rate_point_is_service_at_any_arrival(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    bool any_arrival = true;
    return compare_services(one, other, &any_arrival) == 0;
}

bool ssreport_rate_point_is_series(
    const struct ssreport_rate_point *one, const struct ssreport_rate_point *other) {
    return compare_series(one, other, NULL) == 0;
}

struct stats_groups ssreport_points_by_service(const struct ssreport_report *report) {
    const struct stats_key key = {.size = sizeof *report->points, .compare = compare_services};
    return stats_group_by(report->points, report->point_count, &key);
}

struct stats_groups ssreport_points_by_series(const struct ssreport_report *report) {
    const struct stats_key key = {.size = sizeof *report->points, .compare = compare_series};
    return stats_group_by(report->points, report->point_count, &key);
}

static void append(char *text, size_t size, const char *format, ...) SS_FORMAT(3, 4);

static void append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void ssreport_rate_point_describe(
    const struct ssreport_rate_point *point, char *text, size_t size) {
    const struct ssreport_responses *of = point->of;
    const char *environment = ssreport_environment_name(of->environment);
    snprintf(text, size, "%s", of->workload ? of->workload : of->title);
    if (!of->workload)
        return;
    if (of->variant)
        append(text, size, ", %s", of->variant);
    if (strcmp(environment, SSREPORT_HOST) != 0)
        append(text, size, " in %s", environment);
    if (of->knobs)
        append(text, size, ", %s", of->knobs);
    if (of->balances_differ && of->balance)
        append(text, size, ", %s", of->balance);
    if (of->caps_differ && isfinite(of->cap))
        append(text, size, ", cap %g", of->cap);
    if (of->method && strcmp(of->method, "none") != 0)
        append(text, size, ", %s", of->method);
    if (of->target > 0)
        append(text, size, ", %g %%", 100 * of->target);
    if (of->arrival && !of->closed)
        append(text, size, ", %s", of->arrival);
    if (of->set > 0)
        append(text, size, ", second set");
}

void ssreport_rate_point_name_level(
    const struct ssreport_rate_point *point, char *text, size_t size) {
    const struct ssreport_responses *of = point->of;
    *text = '\0';
    if (of->method || of->knobs)
        append(text, size, "%.80s ", of->knobs ? of->knobs : of->method);
    if (of->balances_differ && of->balance)
        append(text, size, "%.30s ", of->balance);
    if (of->caps_differ)
        append(text, size, "cap %g ", of->cap);
    if (of->target > 0)
        append(text, size, "%g %%", 100 * of->target);
}
