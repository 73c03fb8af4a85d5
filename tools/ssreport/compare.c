/* SPDX-License-Identifier: Apache-2.0 */

/* Two sets of runs: the throughput of the first divided by that of the second, step by step. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "report.h"

/* Numbers stand in a manifest with ten digits. */
#define SAME 1e-9

// clang-format off
#define OF_BOTH                                                                                    \
    {"experiment", NULL}, {"environment_a", "environment of A"}, {"measured_in_a", NULL},  \
    {"environment_b", "of B"}, {"measured_in_b", NULL}, {"placement", "placement"},                \
    {"foreground", "foreground"}, {"background", "background"}, {"method", "method"},              \
    {"tau_seconds", NULL}, {"speed", NULL}
static const struct ssreport_column comparison_columns[] = {
    {"a", NULL}, {"b", NULL}, OF_BOTH,
    {"steps", "steps compared"}, {"ratio_min", "least A/B", 4}, {"ratio_median", "median", 4},
    {"ratio_max", "largest", 4}, {"left_out", "steps left out"},
};
static const struct ssreport_column ratio_columns[] = {
    OF_BOTH, {"round", "round"}, {"step", "step"}, {"half", "half"}, {"target", "target, %", 2, true},
    {"occurrence", NULL}, {"load_a", NULL}, {"load_b", NULL},
    {"iterations_per_second_a", "throughput of A, /s", 4},
    {"iterations_per_second_b", "of B, /s", 4}, {"ratio", "A/B", 4},
    {"others_a", "others of A, %", 1, true, true}, {"others_b", "of B, %", 1, true, true},
    {"record_a", NULL}, {"record_b", NULL},
};
static const struct ssreport_column unmatched_columns[] = {
    {"set", "set"}, {"record", "record"}, {"environment", "environment"}, {"measured_in", NULL},
    {"placement", "placement"}, {"foreground", "foreground"}, {"background", "background"},
    {"method", "method"}, {"round", "round"}, {"step", "step"}, {"half", "half"},
    {"target", "target, %", 2, true}, {"why", "why"},
};
// clang-format on

/* One step, or a whole run that has none. */
struct part {
    size_t step; /* from 1; 0: the whole run */
    int half;
    double target, load, throughput; /* throughput is the foreground's */
    const char *unmatched;           /* NULL: it has a counterpart */
};

/* A run that was alone, or a foreground with its background, which then gives the steps. */
struct entry {
    const struct ssreport_run *run, *background; /* `background` may be NULL */
    const char *label; /* what names a record that no manifest names; NULL: its position does */
    size_t copy;       /* so many before it are the same in all */
    struct part *parts;
    size_t count;
};

struct ratio {
    const struct entry *entries[2];
    const struct part *parts[2];
    double value;
    size_t next; /* the first ratio of the next two runs */
};

struct comparison {
    struct ssreport_report *report;
    struct entry *entries[2];
    size_t counts[2];
    bool is_across; /* the sets differ in the environment, which need not be the same then */
    struct ratio *ratios;
    size_t ratio_count, ratio_capacity;
    size_t forbidden; /* ratios of runs during which others used different parts of the machine */
};

const char *ssreport_report_set_name(const struct ssreport_report *report, int set) {
    static const char *const numbers[] = {"first set", "second set"};
    return *report->names[set] ? report->names[set] : numbers[set];
}

bool ssreport_is_one_environment(
    const struct ssreport_run *left, const struct ssreport_run *right) {
    return strcmp(ssreport_run_environment(left), ssreport_run_environment(right)) == 0;
}

/* ---- what there is ---- */

/* The run that gives the steps and the method. */
static const struct ssreport_run *leader(const struct entry *entry) {
    return entry->background ? entry->background : entry->run;
}

static int add_parts(struct entry *entry) {
    const struct ssreport_steps *steps = &leader(entry)->steps;
    entry->count = steps->count ? steps->count : 1;
    entry->parts = calloc(entry->count, sizeof *entry->parts);
    if (!entry->parts)
        return -1;
    for (size_t i = 0; i < steps->count; i++) {
        const struct ssreport_step *step = &steps->items[i];
        double throughput = entry->background ? ssreport_report_throughput_beside(entry->run,
                                                    entry->background, step->from, step->to)
                                              : step->throughput;
        entry->parts[i] = (struct part){.step = i + 1,
            .half = step->half,
            .target = step->target,
            .load = step->load.mean,
            .throughput = throughput};
    }
    if (steps->count == 0)
        *entry->parts = (struct part){.target = NAN,
            .load = leader(entry)->figures.load_mean,
            .throughput = entry->background ? NAN : entry->run->figures.throughput};
    return 0;
}

static bool is_same_number(double left, double right) {
    return fabs(left - right) <= SAME || (isnan(left) && isnan(right));
}

static bool is_same_place(const struct entry *left, const struct entry *right) {
    return ssreport_is_one_environment(left->run, right->run) &&
           ssreport_is_same(left->run->measured_in, right->run->measured_in);
}

/* The last part of a record's path names what no manifest names. */
static const char *last_part(const struct entry *entry) {
    const char *name = entry->run->record.name;
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static bool is_same_run(const struct ssreport_run *left, const struct ssreport_run *right) {
    return is_same_number(left->tau, right->tau) && is_same_number(left->speed, right->speed) &&
           is_same_number(left->target, right->target) &&
           is_same_number(left->round, right->round) &&
           ssreport_is_same(left->workload, right->workload) &&
           ssreport_is_same(left->placement, right->placement) &&
           ssreport_is_same(left->method, right->method) &&
           ssreport_is_same(left->experiment, right->experiment);
}

/* In all but environment, and copy. */
static bool is_same_entry(const struct entry *left, const struct entry *right) {
    if (!left->background != !right->background || !is_same_run(left->run, right->run) ||
        !ssreport_is_same(left->label, right->label))
        return false;
    return !left->background || is_same_run(left->background, right->background);
}

static int add_entry(struct comparison *comparison, const struct ssreport_run *run) {
    struct entry *entries = comparison->entries[run->set];
    struct entry *entry = &entries[comparison->counts[run->set]];
    if (ssreport_is_word(run->role, "background"))
        return 0;
    *entry = (struct entry){.run = run};
    if (run->role)
        entry->background = ssreport_report_beside(comparison->report, run, "background");
    if (run->role && !entry->background)
        return 0; /* a note says that it has no background */
    comparison->counts[run->set]++;
    return add_parts(entry);
}

/* Records without a manifest go by their folders' names where both sets have one of that name. */
static void set_labels(struct comparison *comparison) {
    for (size_t i = 0; i < comparison->counts[0]; i++) {
        for (size_t j = 0; j < comparison->counts[1]; j++) {
            struct entry *left = &comparison->entries[0][i], *right = &comparison->entries[1][j];
            if (!left->run->workload && !right->run->workload &&
                strcmp(last_part(left), last_part(right)) == 0)
                left->label = right->label = last_part(left);
        }
    }
}

static void set_copies(struct comparison *comparison) {
    for (int set = 0; set < 2; set++) {
        struct entry *entries = comparison->entries[set];
        for (size_t i = 0; i < comparison->counts[set]; i++) {
            for (size_t j = 0; j < i; j++)
                entries[i].copy += is_same_entry(&entries[j], &entries[i]) &&
                                   is_same_place(&entries[j], &entries[i]);
        }
    }
}

/* Whether no environment of one set is one of the other. */
static bool differ_in_environment(const struct comparison *comparison) {
    for (size_t i = 0; i < comparison->counts[0]; i++) {
        for (size_t j = 0; j < comparison->counts[1]; j++) {
            if (is_same_place(&comparison->entries[0][i], &comparison->entries[1][j]))
                return false;
        }
    }
    return true;
}

/* ---- counterparts ---- */

static bool is_counterpart(
    const struct comparison *comparison, const struct entry *left, const struct entry *right) {
    return is_same_entry(left, right) && left->copy == right->copy &&
           (comparison->is_across || is_same_place(left, right));
}

static struct part *find_part(
    const struct entry *of, const struct entry *in, const struct part *part) {
    const struct ssreport_steps *steps = &leader(in)->steps;
    if (part->step == 0)
        return in->parts[0].step == 0 ? in->parts : NULL;
    const struct ssreport_step *step =
        ssreport_steps_counterpart(&leader(of)->steps, part->step - 1, steps);
    return step ? &in->parts[step - steps->items] : NULL;
}

static int add_ratio(struct comparison *comparison, const struct entry *const entries[2],
    const struct part *const parts[2]) {
    if (!ssreport_csv_make_room((void **)&comparison->ratios, comparison->ratio_count,
            &comparison->ratio_capacity, sizeof *comparison->ratios))
        return -1;
    double first = parts[0]->throughput, second = parts[1]->throughput;
    bool forbidden = !ssreport_others_permit(entries[0]->run->others, entries[1]->run->others);
    comparison->forbidden += forbidden;
    comparison->ratios[comparison->ratio_count++] = (struct ratio){
        .entries = {entries[0], entries[1]},
        .parts = {parts[0], parts[1]},
        .value = second > 0 && !forbidden ? first / second : NAN,
    };
    return 0;
}

/* Marks what has a counterpart; 1: there is such a run. */
static int match_entries(struct comparison *comparison, struct entry *left, struct entry *right) {
    size_t first = comparison->ratio_count;
    if (!is_counterpart(comparison, left, right))
        return 0;
    for (size_t i = 0; i < left->count; i++) {
        struct part *part = &left->parts[i], *other = find_part(left, right, part);
        if (!other)
            continue;
        part->unmatched = other->unmatched = NULL;
        if (add_ratio(comparison, (const struct entry *const[]){left, right},
                (const struct part *const[]){part, other}) < 0)
            return -1;
    }
    for (size_t i = first; i < comparison->ratio_count; i++)
        comparison->ratios[i].next = comparison->ratio_count;
    return 1;
}

static void set_unmatched(struct entry *entry, const char *from, const char *why) {
    for (size_t i = 0; i < entry->count; i++) {
        if (!from || entry->parts[i].unmatched == from)
            entry->parts[i].unmatched = why;
    }
}

static int match(struct comparison *comparison) {
    static const char no_run[] = "the other set has no such run";
    static const char no_step[] = "the other set has the run, but no such step";
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < comparison->counts[set]; i++)
            set_unmatched(&comparison->entries[set][i], NULL, no_run);
    }
    for (size_t i = 0; i < comparison->counts[0]; i++) {
        for (size_t j = 0; j < comparison->counts[1]; j++) {
            struct entry *left = &comparison->entries[0][i], *right = &comparison->entries[1][j];
            int found = match_entries(comparison, left, right);
            if (found < 0)
                return -1;
            if (found == 0)
                continue;
            set_unmatched(left, no_run, no_step);
            set_unmatched(right, no_run, no_step);
        }
    }
    return 0;
}

/* ---- tables ---- */

static double known(double number) {
    return number > 0 ? number : NAN;
}

static void add_origin(struct ssreport_sheet *sheet, const struct ratio *ratio) {
    const struct entry *entry = ratio->entries[0], *other = ratio->entries[1];
    SSREPORT_TEXTS(sheet, entry->run->experiment, ssreport_run_environment(entry->run),
        entry->run->measured_in, ssreport_run_environment(other->run), other->run->measured_in,
        entry->run->placement, entry->run->workload,
        entry->background ? entry->background->workload : NULL, leader(entry)->method);
    SSREPORT_NUMBERS(sheet, known(leader(entry)->tau), known(entry->run->speed));
}

static void fill_ratios(const struct comparison *comparison) {
    struct ssreport_sheet *sheet = &comparison->report->sheets[SSREPORT_RATIOS];
    for (size_t i = 0; i < comparison->ratio_count; i++) {
        const struct ratio *ratio = &comparison->ratios[i];
        const struct part *part = ratio->parts[0], *other = ratio->parts[1];
        const struct ssreport_run *runs[2] = {ratio->entries[0]->run, ratio->entries[1]->run};
        const struct ssreport_steps *steps = &leader(ratio->entries[0])->steps;
        add_origin(sheet, ratio);
        SSREPORT_NUMBERS(sheet, known(runs[0]->round), part->step ? (double)part->step : NAN,
            part->half ? part->half : NAN, part->target,
            part->step ? (double)ssreport_steps_occurrence(steps, part->step - 1) : NAN, part->load,
            other->load, part->throughput, other->throughput, ratio->value, runs[0]->others,
            runs[1]->others);
        SSREPORT_TEXTS(sheet, runs[0]->record.name, runs[1]->record.name);
    }
}

/* Whether two ratios are of the same pair: they differ in step and round only. */
static bool is_same_pair(const struct ratio *left, const struct ratio *right) {
    for (int set = 0; set < 2; set++) {
        const struct entry *one = left->entries[set], *other = right->entries[set];
        if (!is_same_place(one, other) || !one->background != !other->background ||
            !ssreport_is_same(one->run->experiment, other->run->experiment) ||
            !ssreport_is_same(one->run->workload, other->run->workload) ||
            !ssreport_is_same(one->run->placement, other->run->placement) ||
            !ssreport_is_same(leader(one)->workload, leader(other)->workload) ||
            !ssreport_is_same(leader(one)->method, leader(other)->method) ||
            !is_same_number(leader(one)->tau, leader(other)->tau) ||
            !is_same_number(one->run->speed, other->run->speed))
            return false;
    }
    return true;
}

/* Steps of the pair's own runs that have no ratio. */
static size_t count_lost(const struct comparison *comparison, const struct ratio *pair) {
    size_t lost = 0;
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < comparison->counts[set]; i++) {
            const struct entry *entry = &comparison->entries[set][i];
            struct ratio as = *pair;
            as.entries[set] = entry;
            for (size_t j = 0; is_same_pair(&as, pair) && j < entry->count; j++)
                lost += entry->parts[j].unmatched != NULL;
        }
    }
    return lost;
}

static void add_pair(const struct comparison *comparison, size_t first, double *values) {
    struct ssreport_report *report = comparison->report;
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_COMPARISON];
    const struct ratio *pair = &comparison->ratios[first];
    size_t used = 0, lost = 0;
    for (size_t i = 0; i < comparison->ratio_count; i = comparison->ratios[i].next) {
        if (!is_same_pair(&comparison->ratios[i], pair))
            continue;
        if (i < first)
            return;
        for (size_t j = i; j < comparison->ratios[i].next; j++) {
            bool is_known = isfinite(comparison->ratios[j].value);
            if (is_known)
                values[used++] = comparison->ratios[j].value;
            lost += !is_known;
        }
    }
    lost += count_lost(comparison, pair);
    double median = ssreport_median_of(values, used);
    SSREPORT_TEXTS(sheet, ssreport_report_set_name(report, 0), ssreport_report_set_name(report, 1));
    add_origin(sheet, pair);
    SSREPORT_NUMBERS(sheet, (double)used, used ? values[0] : NAN, median,
        used ? values[used - 1] : NAN, (double)lost);
}

static int fill_comparison(const struct comparison *comparison) {
    double *values = calloc(comparison->ratio_count + 1, sizeof *values);
    for (size_t i = 0; values && i < comparison->ratio_count; i = comparison->ratios[i].next)
        add_pair(comparison, i, values);
    free(values);
    return values ? 0 : -1;
}

static void add_unmatched(
    struct ssreport_report *report, const struct entry *entry, const struct part *part) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_UNMATCHED];
    const struct ssreport_run *run = entry->run;
    SSREPORT_TEXTS(sheet, ssreport_report_set_name(report, run->set), run->record.name,
        ssreport_run_environment(run), run->measured_in, run->placement, run->workload,
        entry->background ? entry->background->workload : NULL, leader(entry)->method);
    SSREPORT_NUMBERS(sheet, known(run->round), part->step ? (double)part->step : NAN,
        part->half ? part->half : NAN, part->target);
    SSREPORT_TEXTS(sheet, part->unmatched);
}

static void fill_unmatched(const struct comparison *comparison) {
    struct ssreport_report *report = comparison->report;
    size_t lost[2] = {0};
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < comparison->counts[set]; i++) {
            const struct entry *entry = &comparison->entries[set][i];
            for (size_t j = 0; j < entry->count; j++) {
                if (!entry->parts[j].unmatched)
                    continue;
                add_unmatched(report, entry, &entry->parts[j]);
                lost[set]++;
            }
        }
    }
    if (comparison->forbidden > 0)
        ssreport_notes_add(&report->notes,
            "%zu of %zu steps are not compared, as what other processes used of the machine "
            "differs by more than %g points between the sets: a difference in throughput may be "
            "theirs",
            comparison->forbidden, comparison->ratio_count, 100 * SSREPORT_OTHERS_DIFFERENCE_MAX);
    if (lost[0] + lost[1] > 0)
        ssreport_notes_add(&report->notes,
            "steps without a counterpart in the other set: %zu of %s, %zu of %s; they are not "
            "compared, unmatched.csv names them",
            lost[0], ssreport_report_set_name(report, 0), lost[1],
            ssreport_report_set_name(report, 1));
}

static int compare(struct comparison *comparison) {
    const struct ssreport_report *report = comparison->report;
    for (int set = 0; set < 2; set++) {
        comparison->entries[set] = calloc(report->run_count + 1, sizeof *comparison->entries[set]);
        if (!comparison->entries[set])
            return -1;
    }
    for (size_t i = 0; i < report->run_count; i++) {
        if (add_entry(comparison, &report->runs[i]) < 0)
            return -1;
    }
    set_labels(comparison);
    set_copies(comparison);
    comparison->is_across = differ_in_environment(comparison);
    if (match(comparison) < 0)
        return -1;
    fill_ratios(comparison);
    fill_unmatched(comparison);
    return fill_comparison(comparison);
}

int ssreport_report_compare(struct ssreport_report *report) {
    struct comparison comparison = {.report = report};
    report->sheets[SSREPORT_COMPARISON] = SSREPORT_SHEET(
        "comparison", "Throughput of A divided by that of B, by pair", comparison_columns);
    report->sheets[SSREPORT_RATIOS] =
        SSREPORT_SHEET("ratios", "Throughput of both sets, step by step", ratio_columns);
    report->sheets[SSREPORT_UNMATCHED] = SSREPORT_SHEET(
        "unmatched", "Steps without a counterpart in the other set", unmatched_columns);
    int result = report->compares ? compare(&comparison) : 0;
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < comparison.counts[set]; i++)
            free(comparison.entries[set][i].parts);
        free(comparison.entries[set]);
    }
    free(comparison.ratios);
    return result;
}
