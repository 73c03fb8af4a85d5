/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "html_page.h"
#include "sheet.h"

#define SENTENCE 800

/*
 * Above this standard deviation, a loss of 30 % in two slots may be chance: it is less than three
 * standard deviations.
 */
#define NOISE_MAX 0.12

/* Smaller relative changes of a suspect's CPU time are not worth a sentence. */
#define CHANGE_MIN 0.001

/* The results of a suspect; pointers are NULL if the result is absent. */
struct result {
    const struct suspect *suspect;
    const struct stage *stage; /* throttled together with other suspects */
    size_t group;
    const struct effects_one *together;
    const struct effects_one *alone;
};

static const char *const verdict_names[] = {
    [EFFECTS_NOTHING] = "no effect",
    [EFFECTS_HURTS] = "hurts",
    [EFFECTS_SHIFTS] = "hurts, but only shifts its work",
    [EFFECTS_SUPPORTS] = "is needed",
    [EFFECTS_UNTESTABLE] = "not testable",
};

static struct result result_of(const struct stages *stages, size_t suspect) {
    struct result result = {.suspect = &stages->suspects->items[suspect]};
    size_t group;
    const struct stage *alone = stages_of_suspect(stages, suspect, true, &group);
    if (alone)
        result.alone = &alone->effects.codes[group];
    result.stage = stages_of_suspect(stages, suspect, false, &result.group);
    if (result.stage)
        result.together = &result.stage->effects.codes[result.group];
    return result;
}

/* Orders verdicts: suspects that hurt come first. */
static int rank_of(const struct result *result) {
    static const int ranks[] = {
        [EFFECTS_HURTS] = 0,
        [EFFECTS_SHIFTS] = 1,
        [EFFECTS_SUPPORTS] = 2,
        [EFFECTS_UNTESTABLE] = 3,
        [EFFECTS_NOTHING] = 4,
    };
    return result->together ? ranks[result->together->verdict] : 5;
}

static int compare_results(const void *left, const void *right) {
    const struct result *a = left, *b = right;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) - rank_of(b);
    if (!a->together)
        return 0;
    double one = fabs(a->together->cost.value), other = fabs(b->together->cost.value);
    return (one < other) - (one > other);
}

/* Returns the results in the order of display; the caller frees them. */
static struct result *sort_results(const struct stages *stages) {
    size_t count = stages->suspects->count;
    struct result *results = calloc(count, sizeof *results);
    for (size_t i = 0; results && i < count; i++)
        results[i] = result_of(stages, i);
    if (results)
        qsort(results, count, sizeof *results, compare_results);
    return results;
}

/* A number printed with two significant digits. */
struct digits {
    char text[32];
};

static struct digits digits_of(double number) {
    struct digits digits;
    bool whole = fabs(number) >= 9.95;
    snprintf(digits.text, sizeof digits.text, whole ? "%.0f" : "%.2g", number);
    return digits;
}

static bool is_lower_better(const struct stages *stages) {
    return watch_is_lower_better(&stages->options->victim);
}

/* Returns the percentage by which a gain raises a throughput, or reduces a time. */
static double gain_percent(const struct stages *stages, double gain) {
    return is_lower_better(stages) ? -effects_percent(-gain) : effects_percent(gain);
}

/* Returns the percentage by which a cost reduces a throughput, or raises a time. */
static double cost_percent(const struct stages *stages, double cost) {
    return is_lower_better(stages) ? effects_percent(cost) : -effects_percent(-cost);
}

static size_t group_size(const struct stage *stage, size_t group) {
    return stage->bounds[group + 1] - stage->bounds[group];
}

static void write_name(const struct result *result, char text[100]) {
    size_t size = result->stage ? group_size(result->stage, result->group) : 1;
    int used = snprintf(text, 100, "pid %d (%s)", (int)result->suspect->pid, result->suspect->name);
    if (size > 1)
        snprintf(text + used, 100 - (size_t)used, ", in a group of %zu", size);
}

static const struct suspect *first_of(
    const struct stages *stages, const struct stage *stage, size_t group) {
    return &stages->suspects->items[stage->members[stage->bounds[group]]];
}

/* How the CPU time of a group changed while a group, maybe the same one, was throttled. */
struct crossing {
    size_t group, throttled;
    double change; /* relative */
    bool significant;
};

/* Returns the number of pairs of groups, each with itself, too; 0 if there is no estimate. */
static size_t count_crossings(const struct stage *stage) {
    return stage->estimated ? stage->groups * stage->groups : 0;
}

static struct crossing crossing_at(const struct stage *stage, size_t place) {
    size_t group = place / stage->groups, throttled = place % stage->groups;
    return (struct crossing){group, throttled, stage->effects.crossed[group][throttled],
        stage->effects.crossed_found[group][throttled]};
}

/* Writes the name of a suspect, or of the first in a group. */
static void write_group(
    const struct stages *stages, const struct stage *stage, size_t group, char text[100]) {
    const struct suspect *first = first_of(stages, stage, group);
    size_t size = group_size(stage, group);
    int used = snprintf(text, 100, "pid %d (%s)", (int)first->pid, first->name);
    if (size > 1)
        snprintf(text + used, 100 - (size_t)used, " and %zu more", size - 1);
}

/*
 * Returns how the CPU time of a group that hurts rose while this one was throttled: of the group
 * that gained most; the change is 0 if none gained.
 */
static struct crossing find_gaining(const struct stage *stage, size_t throttled) {
    struct crossing most = {.change = 0};
    for (size_t group = 0; group < stage->groups; group++) {
        struct crossing crossing = crossing_at(stage, group * stage->groups + throttled);
        enum effects_verdict verdict = stage->effects.codes[group].verdict;
        if ((verdict == EFFECTS_HURTS || verdict == EFFECTS_SHIFTS) && crossing.significant &&
            crossing.change >= fmax(most.change, CHANGE_MIN))
            most = crossing;
    }
    return most;
}

static void write_hurt(const struct stages *stages, const struct effects_one *one, char *text) {
    bool lower = is_lower_better(stages);
    snprintf(text, SENTENCE / 2,
        "withholding %.0f %% of its CPU time %s %s %% (%s to %s) %s; all of it %s about %s %%%s, "
        "by extrapolation",
        100 * one->withheld, lower ? "makes the victim's times" : "gives",
        digits_of(gain_percent(stages, one->now.value)).text,
        digits_of(gain_percent(stages, one->now.interval.low)).text,
        digits_of(gain_percent(stages, one->now.interval.high)).text, lower ? "shorter" : "more",
        lower ? "makes them" : "costs", digits_of(cost_percent(stages, one->cost.value)).text,
        lower ? " longer" : "");
}

static void write_support(const struct stages *stages, const struct result *result, char *text) {
    const struct effects_one *one = result->together;
    struct crossing gaining = find_gaining(result->stage, result->group);
    char name[100];
    snprintf(text, SENTENCE / 2,
        "the service depends on it: withholding %.0f %% of its CPU time costs %s %% (%s to %s); "
        "look for sockets, pipes or memory that they share",
        100 * one->withheld, digits_of(cost_percent(stages, -one->now.value)).text,
        digits_of(cost_percent(stages, -one->now.interval.high)).text,
        digits_of(cost_percent(stages, -one->now.interval.low)).text);
    if (gaining.change > 0) {
        write_group(stages, result->stage, gaining.group, name);
        snprintf(text + strlen(text), 220,
            "; or it holds back %s, found to hurt, which used %s %% more CPU time meanwhile", name,
            digits_of(100 * gaining.change).text);
    }
}

static void write_verdict(const struct stages *stages, const struct result *result, char *text) {
    const struct effects_one *one = result->together;
    switch (one->verdict) {
    case EFFECTS_HURTS:
        write_hurt(stages, one, text);
        if (one->grew)
            snprintf(text + strlen(text), 160,
                "; its load has risen since the run look, so it is unknown whether it did the work "
                "later");
        break;
    case EFFECTS_SHIFTS:
        write_hurt(stages, one, text);
        if (isfinite(one->returned.value) && !one->grew)
            snprintf(text + strlen(text), 160,
                "; but throttling only shifts its work: it did %.0f %% of it later",
                100 * fmin(fmax(one->returned.value, 0), 1));
        else
            snprintf(text + strlen(text), 160, "; but throttling only shifts its work");
        break;
    case EFFECTS_SUPPORTS:
        write_support(stages, result, text);
        break;
    case EFFECTS_UNTESTABLE:
        if (one->withheld >= 0.0005) /* rounds to at least 0.1 % */
            snprintf(text, SENTENCE / 2,
                "not testable: it lost only %.1f %% of its CPU time while it was throttled, "
                "because it catches up",
                100 * one->withheld);
        else if (isfinite(one->withheld))
            snprintf(text, SENTENCE / 2,
                "not testable: it did not use less CPU time while it was throttled, because it "
                "catches up or hardly runs");
        else
            snprintf(text, SENTENCE / 2, "not testable: %s",
                result->stage->unrecorded[result->group] ? "its CPU time was not recorded"
                                                         : "it used hardly any CPU time");
        break;
    case EFFECTS_NOTHING:
        snprintf(text, SENTENCE / 2, "no effect was found; all of it costs at most %s %%",
            digits_of(fmax(cost_percent(stages, one->cost.interval.high), 0)).text);
        break;
    }
}

static void write_alone(
    const struct stages *stages, const struct effects_one *one, char *text, size_t size) {
    switch (one->verdict) {
    case EFFECTS_HURTS:
    case EFFECTS_SHIFTS:
        snprintf(text, size, "; alone, all of it costs about %s %% (%s to %s)",
            digits_of(cost_percent(stages, one->cost.value)).text,
            digits_of(cost_percent(stages, one->cost.interval.low)).text,
            digits_of(cost_percent(stages, one->cost.interval.high)).text);
        break;
    case EFFECTS_SUPPORTS:
        snprintf(text, size, "; alone, the service depends on it");
        break;
    case EFFECTS_UNTESTABLE:
        snprintf(text, size, "; alone, not testable");
        break;
    case EFFECTS_NOTHING:
        snprintf(text, size, "; alone, no effect was found");
        break;
    }
}

static void write_sentence(
    const struct stages *stages, const struct result *result, char text[SENTENCE]) {
    write_name(result, text);
    size_t used = strlen(text);
    if (!result->together) {
        snprintf(text + used, SENTENCE - used,
            stages_are_done(stages) ? ": no estimate" : ": not measured yet");
        return;
    }
    snprintf(text + used, 3, ": ");
    write_verdict(stages, result, text + used + 2);
    used = strlen(text);
    if (result->alone)
        write_alone(stages, result->alone, text + used, SENTENCE - used);
}

/* Suspects without an estimate come last. */
static bool has_estimate(const struct result *results) {
    return results[0].together != NULL;
}

/* Returns the number of suspects that were throttled, but lost too little CPU time. */
static size_t count_untestable(const struct stages *stages, const struct result *results) {
    size_t count = 0;
    for (size_t i = 0; i < stages->suspects->count; i++)
        count += results[i].together && results[i].together->verdict == EFFECTS_UNTESTABLE;
    return count;
}

/* Returns whether there is an estimate for a suspect that could be tested. */
static bool is_answered(const struct stages *stages, const struct result *results) {
    return has_estimate(results) && count_untestable(stages, results) < stages->suspects->count;
}

/* Writes the first line if no suspect was found to hurt the victim. */
static void write_none(
    const struct stages *stages, const struct result *results, char text[SENTENCE]) {
    size_t untestable = count_untestable(stages, results), count = stages->suspects->count;
    const char *none = "No suspect was found to hurt the victim";
    if (!has_estimate(results))
        snprintf(text, SENTENCE, "The question is not answered%s",
            stages_are_done(stages) ? ": too few slots have a figure above 0 for an estimate"
                                    : " yet: no suspect was throttled so far");
    else if (untestable == count)
        snprintf(text, SENTENCE, "The question is not answered: no suspect could be tested");
    else if (untestable > 0)
        snprintf(text, SENTENCE, "%s; %zu of %zu could not be tested", none, untestable, count);
    else
        snprintf(text, SENTENCE, "%s", none);
}

/*
 * Returns the standard deviation, as a logarithm, of the figures around the fit that gave the first
 * line, or before it around a line; NaN if unknown.
 */
static double noise_of(const struct stages *stages, const struct result *results) {
    return results[0].stage ? results[0].stage->effects.deviation
                            : slots_deviation(&stages->items[0].slots);
}

/* Passes a sentence for each suspect to `take`, the most harmful suspect first. */
static void list_results(const struct stages *stages, const struct result *results,
    void (*take)(void *context, const char *sentence), void *context) {
    char text[SENTENCE], noise[60] = "";
    double deviation = noise_of(stages, results);
    bool is_none = rank_of(&results[0]) > 1;
    if (isfinite(deviation))
        snprintf(noise, sizeof noise, "; the noise is %s %% per slot",
            digits_of(effects_percent(deviation)).text);
    if (is_none) {
        write_none(stages, results, text);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", noise);
        take(context, text);
    }
    for (size_t i = 0; i < stages->suspects->count; i++) {
        write_sentence(stages, &results[i], text);
        if (i == 0 && !is_none)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s", noise);
        take(context, text);
    }
}

/* Passes a sentence for each suspect whose CPU time changed with another's code to `take`. */
static void list_crossed(const struct stages *stages, const struct stage *stage,
    void (*take)(void *context, const char *sentence), void *context) {
    char text[SENTENCE], name[100], throttled[100];
    for (size_t i = 0; i < count_crossings(stage); i++) {
        struct crossing crossing = crossing_at(stage, i);
        if (crossing.group == crossing.throttled || !crossing.significant ||
            fabs(crossing.change) < CHANGE_MIN)
            continue;
        write_group(stages, stage, crossing.group, name);
        write_group(stages, stage, crossing.throttled, throttled);
        snprintf(text, sizeof text, "While %s was throttled, %s used %s %% %s CPU time", throttled,
            name, digits_of(100 * fabs(crossing.change)).text,
            crossing.change > 0 ? "more" : "less");
        take(context, text);
    }
}

/*
 * Passes a sentence for each combined effect to `take`. If several pairs throttle in the same slots
 * together, the data do not tell which of them has the effect.
 */
static void list_pairs(const struct stages *stages, const struct stage *stage,
    void (*take)(void *context, const char *sentence), void *context) {
    const struct effects *effects = &stage->effects;
    char names[2][100];
    for (size_t i = 0, next; i < effects->pairs; i = next) {
        SS_OWNED(free) char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        if (!stream)
            return;
        fputs("The combined effect of ", stream);
        for (next = i; next < effects->pairs && effects->pair[next].t == effects->pair[i].t;
             next++) {
            write_group(stages, stage, effects->pair[next].one, names[0]);
            write_group(stages, stage, effects->pair[next].other, names[1]);
            fprintf(stream, "%s%s and %s", next > i ? ", or of " : "", names[0], names[1]);
        }
        fprintf(stream, " is not the sum of their effects (t = %.1f)", effects->pair[i].t);
        if (fclose(stream) == 0)
            take(context, text);
    }
}

/*
 * Passes each reason to doubt the answer and each change of a suspect's CPU time to `take`, then
 * the condition under which costs are valid.
 */
static void list_warnings(
    const struct stages *stages, void (*take)(void *context, const char *sentence), void *context) {
    char text[SENTENCE];
    for (size_t i = 1; i < stages->count; i++) {
        const struct stage *stage = &stages->items[i];
        const struct effects *effects = &stage->effects;
        if (stage->done && !stage->estimated) {
            snprintf(text, sizeof text, "%s: too few slots with a figure above 0 for an estimate",
                stage->name);
            take(context, text);
        }
        if (stage->estimated && effects->ghost_found) {
            snprintf(text, sizeof text,
                "Doubtful: in %s, a code that throttles nothing seems to have an effect",
                stage->name);
            take(context, text);
        }
        if (stage->estimated)
            list_pairs(stages, stage, take, context);
        list_crossed(stages, stage, take, context);
    }
    take(context, "Costs are valid while the other suspects run");
}

static void print_sentence(void *context, const char *sentence) {
    fprintf(context, "%s\n", sentence);
}

bool answer_is_missing(const struct stages *stages) {
    SS_OWNED(free) struct result *results = sort_results(stages);
    return results && stages_are_done(stages) && !is_answered(stages, results);
}

void answer_print(const struct stages *stages, FILE *stream) {
    SS_OWNED(free) struct result *results = sort_results(stages);
    if (!results)
        return;
    list_results(stages, results, print_sentence, stream);
    list_warnings(stages, print_sentence, stream);
}

void answer_print_forecast(const struct stages *stages, FILE *stream) {
    const struct stage *next = &stages->items[stages->count - 1];
    /* The noise of a mean falls with the square root of the time. */
    double deviation =
        slots_deviation(&stages->items[0].slots) * sqrt(stages->items[0].slot / next->slot);
    if (stages->count != 2 || next->done || !isfinite(deviation))
        return;
    double found = effects_found_from(&next->codes, deviation, next->depth);
    fprintf(stream,
        "The next run takes %.1f minutes. In 9 of 10 cases, it finds suspects that cost %s %% or "
        "more. Meanwhile each suspect that does not catch up loses %.0f %% of its CPU time.\n",
        (double)next->codes.slots * next->slot / 60, digits_of(cost_percent(stages, found)).text,
        50 * next->depth);
    if (deviation > NOISE_MAX)
        fprintf(stream,
            "Warning: the figure varies by %.0f %% from slot to slot, so two slots may lose 30 %% "
            "by chance, which ends the study. Choose a longer --slot.\n",
            effects_percent(deviation));
}

// clang-format off
static const struct table_column suspect_columns[] = {
    {"pid", "pid"}, {"name", "name"}, {"verdict", "verdict"},
    {"withheld", "CPU time withheld, %", 1, true},
    {"effect", "effect, log", 4}, {"effect_low", "from", 4}, {"effect_high", "to", 4},
    {"after", "in the slot after", 4},
    {"returned", "CPU time used later, %", 0, true},
    {"cost", "cost of all of it, log", 4}, {"cost_low", "from", 4}, {"cost_high", "to", 4},
    {"net", "net, log", 4}, {"net_low", "from", 4}, {"net_high", "to", 4},
    {"cost_alone", "cost alone, log", 4, .if_known = true},
    {"cost_alone_low", "from", 4, .if_known = true}, {"cost_alone_high", "to", 4, .if_known = true},
    {"group", NULL},
};
static const struct table_column crossed_columns[] = {
    {"pid", "pid"}, {"throttled", "while this one is throttled"},
    {"change", "change of its CPU time, %", 1, true}, {"significant", "significant"},
};
// clang-format on

static void add_suspect(struct table_sheet *sheet, const struct result *result) {
    const struct effects_one *one = result->together, *alone = result->alone;
    char name[60];
    TABLE_ROW(sheet, CELL("pid", (double)result->suspect->pid),
        CELL("name", (const char *)result->suspect->name));
    if (!one)
        return;
    snprintf(name, sizeof name, "%s/s%zu", result->stage->name, result->group + 1);
    TABLE_CELLS(sheet, CELL("verdict", verdict_names[one->verdict]),
        CELL("withheld", one->withheld), CELL("effect", one->now.value),
        CELL("effect_low", one->now.interval.low), CELL("effect_high", one->now.interval.high),
        CELL("after", one->after.value), CELL("returned", one->returned.value),
        CELL("cost", one->cost.value), CELL("cost_low", one->cost.interval.low),
        CELL("cost_high", one->cost.interval.high), CELL("net", one->net.value),
        CELL("net_low", one->net.interval.low), CELL("net_high", one->net.interval.high),
        CELL("group", (const char *)name));
    if (alone)
        TABLE_CELLS(sheet, CELL("cost_alone", alone->cost.value),
            CELL("cost_alone_low", alone->cost.interval.low),
            CELL("cost_alone_high", alone->cost.interval.high));
}

/* Adds how the CPU time of each suspect depends on the codes of the others. */
static void add_crossed(
    struct table_sheet *sheet, const struct stages *stages, const struct stage *stage) {
    for (size_t i = 0; i < count_crossings(stage); i++) {
        struct crossing crossing = crossing_at(stage, i);
        TABLE_ROW(sheet, CELL("pid", (double)first_of(stages, stage, crossing.group)->pid),
            CELL("throttled", (double)first_of(stages, stage, crossing.throttled)->pid),
            CELL("change", crossing.change));
        if (isfinite(crossing.change))
            TABLE_CELLS(sheet, CELL("significant", crossing.significant));
    }
}

static void json_value(struct ss_json *json, const char *name, const struct effects_value *value) {
    ss_json_open(json, name, '{');
    ss_json_number(json, "value", value->value);
    ss_json_number(json, "low", value->interval.low);
    ss_json_number(json, "high", value->interval.high);
    ss_json_close(json, '}');
}

static void json_suspect(
    struct ss_json *json, const struct stages *stages, const struct result *result) {
    char text[SENTENCE];
    write_sentence(stages, result, text);
    ss_json_open(json, NULL, '{');
    ss_json_number(json, "pid", result->suspect->pid);
    ss_json_text(json, "name", result->suspect->name);
    ss_json_text(json, "answer", text);
    if (result->together) {
        ss_json_text(json, "verdict", verdict_names[result->together->verdict]);
        ss_json_number(json, "withheld", result->together->withheld);
        json_value(json, "effect", &result->together->now);
        json_value(json, "after", &result->together->after);
        json_value(json, "returned", &result->together->returned);
        json_value(json, "cost", &result->together->cost);
        json_value(json, "net", &result->together->net);
    }
    if (result->alone)
        json_value(json, "cost_alone", &result->alone->cost);
    ss_json_close(json, '}');
}

/* Prints the rows of crossed.csv. */
static void json_crossed(
    struct ss_json *json, const struct stages *stages, const struct stage *stage) {
    for (size_t i = 0; i < count_crossings(stage); i++) {
        struct crossing crossing = crossing_at(stage, i);
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "run", stage->name);
        ss_json_number(json, "pid", first_of(stages, stage, crossing.group)->pid);
        ss_json_number(json, "throttled", first_of(stages, stage, crossing.throttled)->pid);
        ss_json_number(json, "change", crossing.change);
        if (isfinite(crossing.change))
            ss_json_bool(json, "significant", crossing.significant);
        else
            ss_json_text(json, "significant", NULL);
        ss_json_close(json, '}');
    }
}

static void add_text(void *context, const char *sentence) {
    ss_json_text(context, NULL, sentence);
}

void answer_print_json(const struct stages *stages, FILE *stream) {
    SS_OWNED(free) struct result *results = sort_results(stages);
    struct ss_json json = {.stream = stream};
    if (!results)
        return;
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "program", "ssantagonist");
    ss_json_number(&json, "schema", ANSWER_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ss_json_bool(&json, "complete", stages_are_done(stages) && is_answered(stages, results));
    ss_json_bool(&json, "lower_is_better", is_lower_better(stages));
    ss_json_number(&json, "noise", noise_of(stages, results));
    ss_json_open(&json, "suspects", '[');
    for (size_t i = 0; i < stages->suspects->count; i++)
        json_suspect(&json, stages, &results[i]);
    ss_json_close(&json, ']');
    ss_json_open(&json, "crossed", '[');
    for (size_t i = 1; i < stages->count; i++)
        json_crossed(&json, stages, &stages->items[i]);
    ss_json_close(&json, ']');
    ss_json_open(&json, "notes", '[');
    list_warnings(stages, add_text, &json);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

struct telling {
    FILE *page;
    bool answered;
};

static void print_finding(void *context, const char *sentence) {
    struct telling *telling = context;
    if (!telling->answered) {
        page_answer(telling->page, sentence);
        page_findings_begin(telling->page);
        telling->answered = true;
    } else {
        page_finding(telling->page, sentence);
    }
}

static void print_page(const struct stages *stages, const struct result *results,
    const struct table_sheet sheets[2], FILE *page) {
    struct telling telling = {.page = page};
    page_begin(page, "Who is hurting me?", "Who is hurting me?");
    list_results(stages, results, print_finding, &telling);
    list_warnings(stages, print_finding, &telling);
    page_findings_end(page);
    fputs(
        "<p>All suspects were throttled at once, each by its own code, and the victim's figure was "
        "regressed on the codes. Effects are natural logarithms of ratios, above 0 if the victim "
        "is better off; intervals cover the effects of all suspects at once with a probability of "
        "95 %. ssantagonist(1) explains the method.</p>\n",
        page);
    page_sheet(page, &sheets[0]);
    page_sheet(page, &sheets[1]);
    page_end(page, "ssantagonist");
}

static int cannot_write(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
}

static int write_table(
    const struct table_sheet *sheet, const char *folder, struct ss_error *error) {
    struct ss_whole_file file;
    char path[4200];
    snprintf(path, sizeof path, "%s/%s.csv", folder, sheet->name);
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    table_print_csv(file.stream, sheet);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_files(const struct stages *stages, const struct result *results,
    const struct table_sheet sheets[2], const char *folder, struct ss_error *error) {
    struct ss_whole_file file;
    char path[4200];
    if (sheets[0].failed || sheets[1].failed)
        return ss_error_memory(error);
    if (write_table(&sheets[0], folder, error) < 0 || write_table(&sheets[1], folder, error) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    print_page(stages, results, sheets, file.stream);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

int answer_write_page(const struct stages *stages, const char *folder, struct ss_error *error) {
    SS_OWNED(free) struct result *results = sort_results(stages);
    struct table_sheet sheets[2] = {
        TABLE_SHEET("suspects", "Suspects", suspect_columns),
        TABLE_SHEET("crossed", "CPU time of each suspect against the codes", crossed_columns),
    };
    if (!results)
        return ss_error_memory(error);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return cannot_write(folder, error);
    for (size_t i = 0; i < stages->suspects->count; i++)
        add_suspect(&sheets[0], &results[i]);
    for (size_t i = 1; i < stages->count; i++)
        add_crossed(&sheets[1], stages, &stages->items[i]);
    int status = write_files(stages, results, sheets, folder, error);
    table_free(&sheets[0]);
    table_free(&sheets[1]);
    return status;
}
