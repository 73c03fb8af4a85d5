/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "comparison_topic.h"
#include "differences.h"
#include "html_page.h"
#include "load_inputs.h"
#include "ratio_tables.h"
#include "run_order.h"
#include "shaded_tables.h"

/* With more ratios than this, the page omits the table of ratios. */
#define RATIOS_MAX 200

// clang-format off
#define OF_BOTH                                                                                    \
    {"experiment", NULL},                                                                          \
    {"environment_a", "environment of A", .text = {"env. of A", 10}}, {"measured_in_a", NULL},     \
    {"environment_b", "of B", .text = {"env. of B", 10}}, {"measured_in_b", NULL},                 \
    {"placement", "placement", .text = {"placement", 10}},                                         \
    {"foreground", "foreground", .text = {"foreground", 11}},                                      \
    {"background", "background", .text = {"background", 11}}, {"method", "method"},                \
    {"tau_seconds", NULL}, {"speed", NULL}
static const struct table_column comparison_columns[] = {
    {"a", NULL}, {"b", NULL}, OF_BOTH,
    {"steps", "steps compared", .text = {"steps", 6}},
    {"ratio_min", "least A/B", 4, .text = {"min", 7}},
    {"ratio_median", "median", 4, .text = {"median", 7}},
    {"ratio_max", "largest", 4, .text = {"max", 7}}, {"left_out", "steps left out"},
    {"load_of", "load of", .if_known = true},
    {"at_load_steps", "at the load of A: steps", .if_known = true},
    {"at_load_min", "least A/B", 4, .if_known = true},
    {"at_load_median", "median", 4, .if_known = true},
    {"at_load_max", "largest", 4, .if_known = true}, {"variant", "variant", .if_known = true},
};
static const struct table_column ratio_columns[] = {
    OF_BOTH, {"round", "round"}, {"step", "step"}, {"half", "half"}, {"target", "target, %", 2, true},
    {"occurrence", NULL}, {"load_a", NULL}, {"load_b", NULL},
    {"iterations_per_second_a", "throughput of A, /s", 4},
    {"iterations_per_second_b", "of B, /s", 4}, {"ratio", "A/B", 4}, {"load_of", NULL},
    {"compared_load_a", NULL}, {"compared_load_b", NULL},
    {"iterations_per_second_b_at_load", "of B at the load of A, /s", 4, .if_known = true},
    {"ratio_at_load", "A/B at the load of A", 4, .if_known = true},
    {"others_a", "others of A, %", 1, true, true}, {"others_b", "of B, %", 1, true, true},
    {"record_a", NULL}, {"record_b", NULL}, {"variant", "variant", .if_known = true},
};
static const struct table_column unmatched_columns[] = {
    {"set", "set"}, {"record", "record"}, {"environment", "environment"}, {"measured_in", NULL},
    {"placement", "placement"}, {"foreground", "foreground"}, {"background", "background"},
    {"method", "method"}, {"round", "round"}, {"step", "step"}, {"half", "half"},
    {"target", "target, %", 2, true}, {"why", "why"}, {"variant", "variant", .if_known = true},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("comparison", "Throughput of A divided by that of B, by pair",
        comparison_columns),
    TABLE_INIT("ratios", "Throughput of both sets, step by step", ratio_columns),
    TABLE_INIT("unmatched", "Steps without a counterpart in the other set", unmatched_columns),
    {.name = NULL},
};
// clang-format on

#define COMPARISON_COLUMNS (sizeof comparison_columns / sizeof *comparison_columns)

/* A step, or a whole run that has no steps. */
struct part {
    size_t step; /* from 1; 0: the whole run */
    int half;
    double target, load, throughput; /* `throughput` is that of the foreground */
    double host_load;                /* load as the host measured it; NaN if unknown */
    /* why the part has no counterpart in the other set; NULL if it has one */
    const char *unmatched;
};

/* A single run, or a foreground with the steps of its background. */
struct entry {
    const struct ssreport_run *run, *background; /* `background` may be NULL */
    /* name that identifies a record without a manifest; NULL: its position does */
    const char *label;
    size_t copy; /* number of equal entries before this one */
    struct part *parts;
    size_t count;
};

struct ratio {
    const struct entry *entries[2];
    const struct part *parts[2];
    double value;
    double at_load; /* like `value`, with the throughput of B interpolated to the load of A; NaN
                       outside of the loads of B */
};

struct comparison {
    struct ssreport_report *report;
    struct entry *entries; /* entries of both sets */
    size_t count;
    bool is_across;  /* the sets have no environment in common, so different environments are
                        compared */
    bool has_traces; /* runs of one set have several traces, so the trace must be the same */
    bool pools_axis; /* runs along an axis of loads, or without an axis, are steps of one pair */
    struct ratio *ratios;
    size_t ratio_count, ratio_capacity;
    size_t unlike;    /* number of ratios whose loads are defined differently */
    size_t forbidden; /* number of ratios that are excluded, because other processes used different
                         parts of the machine */
};

/* Returns the run whose steps and method identify the entry. */
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
            .throughput = throughput,
            .host_load = ssreport_surroundings_host_load_between(
                &leader(entry)->surroundings, &leader(entry)->record, step->from, step->to)};
    }
    if (steps->count == 0)
        *entry->parts = (struct part){.target = NAN,
            .host_load = NAN,
            .load = leader(entry)->figures.load_mean,
            .throughput = entry->background ? NAN : entry->run->figures.throughput};
    return 0;
}

/* Returns the last component of a record's path, which names a record without a manifest. */
static const char *last_part(const struct entry *entry) {
    const char *name = entry->run->record.name;
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/*
 * Compares entries by everything except set, environment, machine, command and copy; by the trace
 * only if runs of one set have several.
 */
static int compare_entries(
    const struct comparison *comparison, const struct entry *left, const struct entry *right) {
    unsigned all = ~0U & ~(unsigned)(SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_CPUS |
                                     SSREPORT_BY_COMMAND);
    if (!comparison->has_traces)
        all &= ~(unsigned)SSREPORT_BY_TRACE;
    bool both = left->background && right->background;
    return STATS_ORDER(!left->background - !right->background,
        ssreport_run_compare(left->run, right->run, all),
        ssreport_compare_words(left->label, right->label),
        both ? ssreport_run_compare(left->background, right->background, all) : 0);
}

static int compare_copies(const void *left, const void *right, void *context) {
    const struct entry *one = left, *other = right;
    return STATS_ORDER(
        ssreport_run_compare(one->run, other->run, SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT),
        compare_entries(context, one, other));
}

static int compare_counterparts(const void *left, const void *right, void *context) {
    const struct comparison *comparison = context;
    const struct entry *one = left, *other = right;
    return STATS_ORDER(ssreport_run_compare(one->run, other->run,
                           comparison->is_across ? 0 : SSREPORT_BY_ENVIRONMENT),
        (one->copy > other->copy) - (one->copy < other->copy),
        compare_entries(comparison, one, other));
}

static int compare_environments(const void *left, const void *right, void *context) {
    (void)context;
    return ssreport_run_compare(((const struct entry *)left)->run,
        ((const struct entry *)right)->run, SSREPORT_BY_ENVIRONMENT);
}

static int compare_names(const void *left, const void *right, void *context) {
    (void)context;
    return strcmp(last_part(left), last_part(right));
}

static bool has_no_workload(const void *item, void *context) {
    (void)context;
    return !((const struct entry *)item)->run->workload;
}

static struct stats_groups group(const struct comparison *comparison,
    int (*compare)(const void *, const void *, void *), bool (*includes)(const void *, void *)) {
    const struct stats_key key = {.size = sizeof *comparison->entries,
        .compare = compare,
        .includes = includes,
        .context = (void *)comparison};
    return stats_group_by(comparison->entries, comparison->count, &key);
}

/* Returns whether a group has entries of both sets. */
static bool is_shared(
    const struct comparison *comparison, const struct stats_groups *groups, size_t number) {
    unsigned sets = 0;
    for (size_t i = groups->first[number]; i < groups->items; i = groups->next[i])
        sets |= 1U << comparison->entries[i].run->set;
    return sets == 3;
}

static int add_entry(struct comparison *comparison, const struct ssreport_run *run) {
    struct entry *entry = &comparison->entries[comparison->count];
    if (ssreport_is_word(run->role, "background"))
        return 0;
    *entry = (struct entry){.run = run};
    if (run->role)
        entry->background = ssreport_report_beside(comparison->report, run, "background");
    if (run->role && !entry->background)
        return 0; /* a note already says that the entry has no background */
    comparison->count++;
    return add_parts(entry);
}

/*
 * Labels records without a manifest by the names of their folders, if both sets have a record with
 * that name.
 */
static int set_labels(struct comparison *comparison) {
    SS_OWNED(groups)
    struct stats_groups groups = group(comparison, compare_names, has_no_workload);
    for (size_t i = 0; groups.first && i < groups.items; i++) {
        struct entry *entry = &comparison->entries[i];
        if (groups.group[i] < groups.count && is_shared(comparison, &groups, groups.group[i]))
            entry->label = last_part(entry);
    }
    return groups.first ? 0 : -1;
}

/* Sets `copy` of all entries. */
static int set_copies(struct comparison *comparison) {
    SS_OWNED(groups) struct stats_groups groups = group(comparison, compare_copies, NULL);
    for (size_t i = 0; groups.first && i < groups.items; i++) {
        if (groups.next[i] < groups.items)
            comparison->entries[groups.next[i]].copy = comparison->entries[i].copy + 1;
    }
    return groups.first ? 0 : -1;
}

/* Sets `is_across` if the sets have no environment in common. */
static int set_across(struct comparison *comparison) {
    SS_OWNED(groups) struct stats_groups groups = group(comparison, compare_environments, NULL);
    comparison->is_across = true;
    for (size_t i = 0; i < groups.count; i++)
        comparison->is_across &= !is_shared(comparison, &groups, i);
    return groups.first ? 0 : -1;
}

/* Sets `has_traces` if entries of one set have several traces. */
static void set_traces(struct comparison *comparison) {
    const struct entry *first[2] = {NULL, NULL};
    for (size_t i = 0; i < comparison->count; i++) {
        const struct entry *entry = &comparison->entries[i], **one = &first[entry->run->set];
        *one = *one ? *one : entry;
        comparison->has_traces |=
            ssreport_run_compare((*one)->run, entry->run, SSREPORT_BY_TRACE) != 0 ||
            ssreport_run_compare(leader(*one), leader(entry), SSREPORT_BY_TRACE) != 0;
    }
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

/*
 * Returns how the load of an entry is defined: `group` (the run time of its control group) or
 * `cpus` (all but the idle time of its CPUs); NULL if unknown.
 */
static const char *definition_of(const struct entry *entry) {
    return ssreport_record_label(&leader(entry)->record, "load_of");
}

/*
 * Returns a definition of the load for which both sides of a ratio are known: "" if a definition is
 * unknown, their own if it is the same, `host` if the host measured both; otherwise NULL.
 */
static const char *common_definition(const struct ratio *ratio) {
    const char *one = definition_of(ratio->entries[0]), *other = definition_of(ratio->entries[1]);
    if (!one || !other)
        return "";
    if (strcmp(one, other) == 0)
        return one;
    return isfinite(ratio->parts[0]->host_load) && isfinite(ratio->parts[1]->host_load) ? "host"
                                                                                        : NULL;
}

static double load_by(const struct part *part, const char *definition) {
    return strcmp(definition, "host") == 0 ? part->host_load : part->load;
}

/*
 * Returns the throughput of B at a load, interpolated between its nearest steps of the same half;
 * NaN outside the loads of B.
 */
static double throughput_at(const struct ratio *ratio, const char *definition, double load) {
    const struct entry *entry = ratio->entries[1];
    const struct part *below = NULL, *above = NULL;
    for (size_t i = 0; i < entry->count; i++) {
        const struct part *part = &entry->parts[i];
        double at = load_by(part, definition);
        if (part->half != ratio->parts[1]->half || !isfinite(at) || !isfinite(part->throughput))
            continue;
        if (at <= load && (!below || at > load_by(below, definition)))
            below = part;
        if (at >= load && (!above || at < load_by(above, definition)))
            above = part;
    }
    if (!below || !above)
        return NAN;
    double from = load_by(below, definition), to = load_by(above, definition);
    double share = to > from ? (load - from) / (to - from) : 0;
    return below->throughput + share * (above->throughput - below->throughput);
}

/* Returns the throughput of B at the load of A; NaN if the loads cannot be compared. */
static double interpolated(const struct ratio *ratio) {
    const char *definition = common_definition(ratio);
    if (!definition || ratio->parts[0]->step == 0)
        return NAN;
    return throughput_at(ratio, definition, load_by(ratio->parts[0], definition));
}

static int add_ratio(struct comparison *comparison, const struct ratio *ratio) {
    const struct ssreport_run *first = ratio->entries[0]->run, *second = ratio->entries[1]->run;
    double rates[2] = {ratio->parts[0]->throughput, ratio->parts[1]->throughput};
    bool forbidden = !ssreport_others_permit(first->others, second->others);
    if (!SS_GROW(comparison->ratios, comparison->ratio_count + 1, comparison->ratio_capacity))
        return -1;
    comparison->forbidden += forbidden;
    comparison->unlike += common_definition(ratio) == NULL;
    struct ratio *added = &comparison->ratios[comparison->ratio_count++];
    *added = *ratio;
    added->value = rates[1] > 0 && !forbidden ? rates[0] / rates[1] : NAN;
    added->at_load = forbidden ? NAN : rates[0] / interpolated(ratio);
    return 0;
}

/* Adds a ratio for each step that both entries have. */
static int match_entries(
    struct comparison *comparison, const struct entry *left, const struct entry *right) {
    for (size_t i = 0; i < left->count; i++) {
        struct part *part = &left->parts[i], *other = find_part(left, right, part);
        if (!other)
            continue;
        part->unmatched = other->unmatched = NULL;
        if (add_ratio(comparison, &(struct ratio){{left, right}, {part, other}, NAN, NAN}) < 0)
            return -1;
    }
    return 0;
}

static int match(struct comparison *comparison) {
    SS_OWNED(groups) struct stats_groups groups = group(comparison, compare_counterparts, NULL);
    const struct entry *entries = comparison->entries;
    for (size_t i = 0; groups.first && i < groups.items; i++) {
        const char *why = is_shared(comparison, &groups, groups.group[i])
                              ? "the other set has the run, but no such step"
                              : "the other set has no such run";
        for (size_t j = 0; j < entries[i].count; j++)
            entries[i].parts[j].unmatched = why;
    }
    for (size_t i = 0; groups.first && i < groups.items; i++) {
        size_t j = entries[i].run->set == 0 ? groups.first[groups.group[i]] : groups.items;
        for (; j < groups.items; j = groups.next[j]) {
            if (entries[j].run->set == 1 && match_entries(comparison, &entries[i], &entries[j]) < 0)
                return -1;
        }
    }
    return groups.first ? 0 : -1;
}

static double known(double number) {
    return number > 0 ? number : NAN;
}

/* Adds a row with the cells that describe the compared runs. */
static void add_row(struct table_sheet *sheet, const struct ratio *ratio) {
    const struct entry *entry = ratio->entries[0];
    const struct ssreport_run *run = entry->run, *other = ratio->entries[1]->run;
    TABLE_ROW(sheet, CELL("experiment", run->experiment),
        CELL("environment_a", ssreport_run_environment(run)),
        CELL("measured_in_a", run->measured_in),
        CELL("environment_b", ssreport_run_environment(other)),
        CELL("measured_in_b", other->measured_in), CELL("placement", run->placement),
        CELL("foreground", run->workload),
        CELL("background", entry->background ? entry->background->workload : ""),
        CELL("method", leader(entry)->method), CELL("tau_seconds", known(leader(entry)->tau)),
        CELL("speed", known(run->speed)));
}

/* Returns whether a value of the axis separates pairs, and has no other cell in their rows. */
static bool names_axis(const struct comparison *comparison, const struct ssreport_run *run) {
    const struct ssreport_differences *differences = &comparison->report->differences;
    size_t axis = differences->axis;
    return !comparison->pools_axis && axis < differences->count &&
           strcmp(differences->names[axis], "speed") != 0 &&
           strcmp(differences->names[axis], "tau_seconds") != 0 &&
           !ssreport_differences_in_variant(differences, run, axis);
}

/* Writes the columns of the plan that separate an entry from others: "size=large, threads=2". */
static void describe_variant(
    const struct comparison *comparison, const struct entry *entry, char text[300]) {
    const struct ssreport_differences *differences = &comparison->report->differences;
    const struct ssreport_run *run = entry->run;
    const char *variant = run->variant ? run->variant : leader(entry)->variant;
    snprintf(text, 300, "%.200s", variant ? variant : "");
    if (!names_axis(comparison, run))
        return;
    const char *axis = differences->names[differences->axis];
    const char *value = ssreport_columns_get(&run->columns, axis);
    if (*value)
        snprintf(text + strlen(text), 300 - strlen(text), "%s%.40s=%.40s", *text ? ", " : "", axis,
            value);
}

static void fill_ratios(const struct comparison *comparison) {
    struct table_sheet *sheet = ssreport_table(comparison->report, "ratios");
    for (size_t i = 0; i < comparison->ratio_count; i++) {
        const struct ratio *ratio = &comparison->ratios[i];
        const struct part *part = ratio->parts[0], *other = ratio->parts[1];
        const struct ssreport_run *runs[2] = {ratio->entries[0]->run, ratio->entries[1]->run};
        const char *definition = common_definition(ratio);
        char variant[300];
        describe_variant(comparison, ratio->entries[0], variant);
        add_row(sheet, ratio);
        TABLE_CELLS(sheet, CELL("load_of", definition), CELL("variant", variant));
        if (definition)
            TABLE_CELLS(sheet, CELL("compared_load_a", load_by(part, definition)),
                CELL("compared_load_b", load_by(other, definition)),
                CELL("iterations_per_second_b_at_load", interpolated(ratio)),
                CELL("ratio_at_load", ratio->at_load));
        TABLE_CELLS(sheet, CELL("round", known(runs[0]->round)),
            CELL("half", part->half ? part->half : NAN), CELL("target", part->target),
            CELL("load_a", part->load), CELL("load_b", other->load),
            CELL("iterations_per_second_a", part->throughput),
            CELL("iterations_per_second_b", other->throughput), CELL("ratio", ratio->value),
            CELL("others_a", runs[0]->others), CELL("others_b", runs[1]->others),
            CELL("record_a", runs[0]->record.name), CELL("record_b", runs[1]->record.name));
        if (part->step > 0)
            TABLE_CELLS(sheet, CELL("step", part->step),
                CELL("occurrence",
                    ssreport_steps_occurrence(&leader(ratio->entries[0])->steps, part->step - 1)));
    }
}

/*
 * Compares two entries by all that separates pairs. Runs at several loads are the steps of one
 * pair, but runs that differ in another axis, such as the number of instances, are not.
 */
static int compare_sides(
    const struct comparison *comparison, const struct entry *left, const struct entry *right) {
    return STATS_ORDER(!left->background - !right->background,
        ssreport_run_compare(left->run, right->run,
            SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |
                SSREPORT_BY_PLACEMENT | SSREPORT_BY_SPEED | SSREPORT_BY_TRACE),
        comparison->pools_axis ? 0 : ssreport_compare_numbers(left->run->axis, right->run->axis),
        ssreport_run_compare(leader(left), leader(right),
            SSREPORT_BY_WORKLOAD | SSREPORT_BY_METHOD | SSREPORT_BY_TAU));
}

/* Groups ratios by pair. The ratios of a pair differ only in step and round. */
static int compare_pairs(const void *left, const void *right, void *comparison) {
    const struct ratio *one = left, *other = right;
    return STATS_ORDER(compare_sides(comparison, one->entries[0], other->entries[0]),
        compare_sides(comparison, one->entries[1], other->entries[1]));
}

/* Counts the steps of a pair's runs without a counterpart. */
static size_t count_lost(const struct comparison *comparison, const struct ratio *pair) {
    size_t lost = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct entry *entry = &comparison->entries[i];
        bool belongs = compare_sides(comparison, entry, pair->entries[entry->run->set]) == 0;
        for (size_t j = 0; belongs && j < entry->count; j++)
            lost += entry->parts[j].unmatched != NULL;
    }
    return lost;
}

static int fill_comparison(const struct comparison *comparison) {
    const struct ssreport_report *report = comparison->report;
    struct table_sheet *sheet = ssreport_table(report, "comparison");
    const struct stats_key key = {
        .size = sizeof(struct ratio), .compare = compare_pairs, .context = (void *)comparison};
    SS_OWNED(free) double *values = calloc(comparison->ratio_count + 1, sizeof *values);
    SS_OWNED(groups)
    struct stats_groups pairs = stats_group_by(comparison->ratios, comparison->ratio_count, &key);
    if (!values || !pairs.first)
        return -1;
    for (size_t pair = 0; pair < pairs.count; pair++) {
        const struct ratio *first = &comparison->ratios[pairs.first[pair]];
        size_t used = 0, lost = count_lost(comparison, first);
        for (size_t i = pairs.first[pair]; i < pairs.items; i = pairs.next[i]) {
            if (isfinite(comparison->ratios[i].value))
                values[used++] = comparison->ratios[i].value;
            else
                lost++;
        }
        double median = ssreport_median_of(values, used);
        char variant[300];
        describe_variant(comparison, first->entries[0], variant);
        add_row(sheet, first);
        TABLE_CELLS(sheet, CELL("load_of", common_definition(first)), CELL("variant", variant));
        TABLE_CELLS(sheet, CELL("a", ssreport_report_set_name(report, 0)),
            CELL("b", ssreport_report_set_name(report, 1)), CELL("steps", used),
            CELL("ratio_min", used ? values[0] : NAN), CELL("ratio_median", median),
            CELL("ratio_max", used ? values[used - 1] : NAN), CELL("left_out", lost));
        used = 0;
        for (size_t i = pairs.first[pair]; i < pairs.items; i = pairs.next[i]) {
            if (isfinite(comparison->ratios[i].at_load))
                values[used++] = comparison->ratios[i].at_load;
        }
        median = ssreport_median_of(values, used);
        if (used > 0)
            TABLE_CELLS(sheet, CELL("at_load_steps", used), CELL("at_load_min", values[0]),
                CELL("at_load_median", median), CELL("at_load_max", values[used - 1]));
    }
    return 0;
}

static void add_unmatched(
    const struct comparison *comparison, const struct entry *entry, const struct part *part) {
    const struct ssreport_report *report = comparison->report;
    const struct ssreport_run *run = entry->run;
    char variant[300];
    describe_variant(comparison, entry, variant);
    TABLE_ROW(ssreport_table(report, "unmatched"),
        CELL("set", ssreport_report_set_name(report, run->set)), CELL("record", run->record.name),
        CELL("environment", ssreport_run_environment(run)), CELL("measured_in", run->measured_in),
        CELL("placement", run->placement), CELL("foreground", run->workload),
        CELL("background", entry->background ? entry->background->workload : ""),
        CELL("method", leader(entry)->method), CELL("round", known(run->round)),
        CELL("step", part->step ? (double)part->step : NAN),
        CELL("half", part->half ? part->half : NAN), CELL("target", part->target),
        CELL("why", part->unmatched), CELL("variant", variant));
}

static void fill_unmatched(const struct comparison *comparison) {
    struct ssreport_report *report = comparison->report;
    size_t lost[2] = {0};
    for (size_t i = 0; i < comparison->count; i++) {
        const struct entry *entry = &comparison->entries[i];
        for (size_t j = 0; j < entry->count; j++) {
            if (!entry->parts[j].unmatched)
                continue;
            add_unmatched(comparison, entry, &entry->parts[j]);
            lost[entry->run->set]++;
        }
    }
    if (comparison->unlike > 0)
        ssreport_notes_add(&report->notes,
            "%zu of %zu steps are not compared at equal loads: one set has the load of a control "
            "group, the other the load of CPUs; record both with --load-of cpus, or with the load "
            "measured by the host",
            comparison->unlike, comparison->ratio_count);
    if (comparison->forbidden > 0)
        ssreport_notes_add(&report->notes,
            "%zu of %zu steps are not compared: the share of the machine that other processes used "
            "differs by more than %g points between the sets, which may explain a difference in "
            "throughput",
            comparison->forbidden, comparison->ratio_count, 100 * SSREPORT_OTHERS_DIFFERENCE_MAX);
    if (lost[0] + lost[1] > 0)
        ssreport_notes_add(&report->notes,
            "not compared, because the other set has no such steps: %zu of %s, %zu of %s; see "
            "unmatched.csv",
            lost[0], ssreport_report_set_name(report, 0), lost[1],
            ssreport_report_set_name(report, 1));
}

static int compare(struct comparison *comparison) {
    const struct ssreport_report *report = comparison->report;
    comparison->entries = calloc(report->run_count + 1, sizeof *comparison->entries);
    for (size_t i = 0; comparison->entries && i < report->run_count; i++) {
        if (add_entry(comparison, &report->runs[i]) < 0)
            return -1;
    }
    if (!comparison->entries || set_labels(comparison) < 0)
        return -1;
    set_traces(comparison);
    if (set_copies(comparison) < 0 || set_across(comparison) < 0 || match(comparison) < 0)
        return -1;
    fill_ratios(comparison);
    fill_unmatched(comparison);
    return fill_comparison(comparison);
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    struct comparison comparison = {.report = report,
        .pools_axis = report->differences.axis == report->differences.count ||
                      ssreport_differences_axis_is_load(&report->differences)};
    int result = report->compares ? compare(&comparison) : 0;
    for (size_t i = 0; i < comparison.count; i++)
        free(comparison.entries[i].parts);
    free(comparison.entries);
    free(comparison.ratios);
    return result < 0 ? ss_error_memory(error) : 0;
}

static bool has_ratio(const struct table_sheet *sheet, size_t row) {
    return isfinite(table_cell_at(sheet, row, "ratio")->number);
}

/*
 * Stores the median difference of each two runs, because the steps of a run are not independent.
 * Returns their number, or -1 without memory.
 */
static ssize_t find_medians(const struct table_sheet *sheet, double **medians) {
    static const char *const records[] = {"record_a", "record_b", NULL};
    SS_OWNED(groups) struct stats_groups runs = ssreport_group_rows(sheet, records, has_ratio);
    SS_OWNED(free) double *percents = calloc(table_rows(sheet) + 1, sizeof *percents);
    *medians = calloc(table_rows(sheet) + 1, sizeof **medians);
    if (!runs.first || !percents || !*medians)
        return -1;
    for (size_t group = 0; group < runs.count; group++) {
        size_t count = 0;
        for (size_t i = runs.first[group]; i < runs.items; i = runs.next[i])
            percents[count++] = 100 * (table_cell_at(sheet, i, "ratio")->number - 1);
        (*medians)[group] = ssreport_median_of(percents, count);
    }
    return (ssize_t)runs.count;
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    const char *one = ssreport_report_set_name(report, 0);
    const char *other = ssreport_report_set_name(report, 1);
    if (!report->compares)
        return false;
    snprintf(headline->question, sizeof headline->question,
        "Is the throughput of %.128s higher than that of %.128s?", one, other);
    SS_OWNED(free) double *percents = NULL;
    ssize_t count = find_medians(ssreport_table(report, "ratios"), &percents);
    if (count <= 0)
        return true;
    double median = ssreport_median_of(percents, (size_t)count);
    struct ssreport_interval interval =
        ssreport_median_interval(percents, (size_t)count, report->settings.confidence);
    bool bounded = isfinite(interval.low) && isfinite(interval.high);
    bool certain = bounded && (interval.low > 0 || interval.high < 0);
    char range[80] = "", verdict[16] = "";
    if (bounded)
        snprintf(range, sizeof range, " (%.1f to %.1f)", median < 0 ? -interval.high : interval.low,
            median < 0 ? -interval.low : interval.high);
    if (certain)
        strcpy(verdict, median > 0 ? "Yes: " : "No: ");
    snprintf(headline->answer, sizeof headline->answer,
        "%sit is %.1f %%%s %s%s; median of %zd pair%s of runs%s.", verdict, fabs(median), range,
        median < 0 ? "lower" : "higher",
        bounded && !certain ? ", which is within the uncertainty" : "", count,
        count == 1 ? "" : "s", bounded ? "" : ", too few for an interval");
    if (!certain)
        *headline->answer = 'I';
    return true;
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    char heading[300];
    if (!report->compares)
        return;
    snprintf(heading, sizeof heading, "%s / %s", ssreport_report_set_name(report, 0),
        ssreport_report_set_name(report, 1));
    ssreport_page_open(page, heading);
    ssreport_ratio_tables_print(page->stream, report);
    page_sheet(page->stream, ssreport_table(report, "comparison"));
    page_sheet(page->stream, ssreport_table(report, "unmatched"));
    if (table_rows(ssreport_table(report, "ratios")) <= RATIOS_MAX)
        page_sheet(page->stream, ssreport_table(report, "ratios"));
    else
        fputs("<p>See <code>ratios.csv</code> for each ratio.</p>\n", page->stream);
    ssreport_page_close(page);
}

static bool is_known(const struct table_sheet *sheet, const char *column) {
    bool known = false;
    for (size_t i = 0; i < table_rows(sheet) && !known; i++)
        known = *table_cell_at(sheet, i, column)->text != '\0';
    return known;
}

/* Makes room for the variant on a terminal of 80 columns: instead of unknown columns or ranges. */
static void show_variants(
    const struct table_sheet *sheet, struct table_column columns[COMPARISON_COLUMNS]) {
    bool pairs = is_known(sheet, "placement") || is_known(sheet, "background");
    const char *const hidden[2][2] = {{"placement", "background"}, {"ratio_min", "ratio_max"}};
    for (size_t i = 0; i < COMPARISON_COLUMNS; i++) {
        const char *name = columns[i].name;
        if (strcmp(name, hidden[pairs][0]) == 0 || strcmp(name, hidden[pairs][1]) == 0)
            columns[i].text.heading = NULL;
        if (strcmp(name, "variant") == 0) {
            columns[i].text.heading = "variant";
            columns[i].text.width = pairs ? 14 : 21;
        }
    }
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    struct table_sheet sheet = *ssreport_table(report, "comparison");
    struct table_column columns[COMPARISON_COLUMNS];
    char title[400];
    memcpy(columns, comparison_columns, sizeof columns);
    if (is_known(&sheet, "variant"))
        show_variants(&sheet, columns);
    sheet.columns = columns;
    snprintf(title, sizeof title, "throughput, %.128s / %.128s",
        ssreport_report_set_name(report, 0), ssreport_report_set_name(report, 1));
    table_print_text(stream, &sheet, title);
}

const struct ssreport_topic ssreport_comparison_topic = {
    .name = "comparison",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
};
