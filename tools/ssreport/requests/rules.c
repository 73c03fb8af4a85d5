/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "group_tests.h"
#include "knobs.h"
#include "levels.h"
#include "points.h"
#include "underload.h"

#define ROUNDS_MAX 64 /* maximum number of values of a series at one rate */

/* The figure that is compared. */
enum figure { WATTS, MEAN_TIME, P95_TIME, CAPACITY, CAPACITY_EACH };

/*
 * Series are compared at the highest rate at which both are in this state. The last two are
 * overloaded, and the second series is pinned.
 */
enum state { ANY, UNDERLOADED, UNSATURATED, SATURATED, OVERLOADED, SOME_CPUS, ALL_CPUS };

/* The published change: the difference between two series, relative to the first. */
#define EQUAL 0.05
#define NONE  -EQUAL, EQUAL
#define LESS  0, INFINITY  /* the second has less */
#define MORE  -INFINITY, 0 /* the second has more */

/*
 * A statement about two series that differ only in `of`. The first series has more of it: a higher
 * frequency, a larger number, no pinning, even arrivals, or round-robin.
 */
struct rule {
    const char *statement, *source;
    const char *of, *with; /* `with` is an arrival or a balance; NULL: any */
    enum state state;
    enum figure figure;
    double least, most; /* bounds of the difference */
};

// clang-format off
static const struct rule rules[] = {
    {"with concurrent arrivals, a lower frequency does not change the power of a machine that is not saturated",
        "Table 8", "frequency", "concurrent", UNSATURATED, WATTS, NONE},
    {"with even arrivals, a lower frequency saves up to 5 % of the power of a machine that is not saturated",
        "Table 8", "frequency", "even", UNSATURATED, WATTS, 0, 0.05},
    {"with even arrivals, a lower frequency lengthens the mean response time of a machine that is not saturated",
        "Table 8", "frequency", "even", UNSATURATED, MEAN_TIME, MORE},
    {"a lower frequency saves less than 5 % of the power of an underloaded service",
        "abstract", "frequency", NULL, UNDERLOADED, WATTS, -INFINITY, 0.05},
    {"a lower frequency saves 5 to 20 % of the power of a saturated machine",
        "abstract, Table 8", "frequency", NULL, SATURATED, WATTS, 0.05, 0.20},
    {"a lower frequency lengthens the mean response time of a saturated machine",
        "Table 8", "frequency", NULL, SATURATED, MEAN_TIME, MORE},
    {"pinning does not change the power of an underloaded service",
        "Table 8", "pin", NULL, UNDERLOADED, WATTS, NONE},
    {"pinning saves up to 7 % of the power of an underloaded service",
        "abstract; Table 8: nothing", "pin", NULL, UNDERLOADED, WATTS, 0, 0.07},
    {"pinning to a part of the CPUs saves power of an overloaded service",
        "Table 8", "pin", NULL, SOME_CPUS, WATTS, LESS},
    {"pinning to a part of the CPUs lengthens the mean response time of an overloaded service",
        "Table 8", "pin", NULL, SOME_CPUS, MEAN_TIME, MORE},
    {"pinning to all CPUs costs power of an overloaded service",
        "Table 8", "pin", NULL, ALL_CPUS, WATTS, MORE},
    {"pinning to all CPUs shortens the mean response time of an overloaded service",
        "Table 8", "pin", NULL, ALL_CPUS, MEAN_TIME, LESS},
    {"fewer instances do not change the power of an underloaded service",
        "Table 8", "instances", NULL, UNDERLOADED, WATTS, NONE},
    {"fewer instances do not change the mean response time of an underloaded service",
        "6.1.1", "instances", NULL, UNDERLOADED, MEAN_TIME, NONE},
    {"more instances shorten the mean response time of an overloaded service",
        "Table 8", "instances", NULL, OVERLOADED, MEAN_TIME, MORE},
    {"fewer instances save power of an overloaded service",
        "Table 8", "instances", NULL, OVERLOADED, WATTS, LESS},
    {"with round-robin, more instances do not shorten the 95th percentile of an overloaded service",
        "6.1.1", "instances", "round-robin", OVERLOADED, P95_TIME, -EQUAL, INFINITY},
    {"the capacity grows less than the number of instances",
        "6.1.1", "instances", NULL, ANY, CAPACITY_EACH, MORE},
    {"fewer CPUs do not change the power of an underloaded service",
        "Table 8", "cpus", NULL, UNDERLOADED, WATTS, NONE},
    {"more CPUs shorten the mean response time of an overloaded service",
        "Table 8", "cpus", NULL, OVERLOADED, MEAN_TIME, MORE},
    {"more CPUs shorten the 95th percentile of an overloaded service",
        "6.2.1", "cpus", NULL, OVERLOADED, P95_TIME, MORE},
    {"fewer CPUs save power of an overloaded service",
        "Table 8", "cpus", NULL, OVERLOADED, WATTS, LESS},
    {"the capacity grows less than the number of CPUs",
        "6.2.1", "cpus", NULL, ANY, CAPACITY_EACH, MORE},
    {"even arrivals need more power than concurrent ones if the service is underloaded",
        "4.2.3", "arrival", NULL, UNDERLOADED, WATTS, LESS},
    {"even and concurrent arrivals need the same power if the service is overloaded",
        "4.2.3", "arrival", NULL, OVERLOADED, WATTS, NONE},
    {"least connections shorten the 95th percentile, compared with round-robin",
        "6.1.4", "balance", NULL, ANY, P95_TIME, LESS},
    {"least connections lengthen the mean response time, compared with round-robin",
        "6.1.4", "balance", NULL, ANY, MEAN_TIME, MORE},
    {"least connections and round-robin need the same power",
        "6.1.4", "balance", NULL, ANY, WATTS, NONE},
};

/* A statement about two differences: the first exceeds `times` the second. */
static const struct comparison {
    const char *statement;
    struct rule greater, less;
    double times;
} comparisons[] = {
#define SAVED(knob) {.of = knob, .state = OVERLOADED, .figure = WATTS}
#define LOST(knob)  {.of = knob, .figure = CAPACITY}
    {"fewer instances save more power of an overloaded service than a lower frequency",
        SAVED("instances"), SAVED("frequency"), 1},
    {"fewer CPUs save more power of an overloaded service than a lower frequency",
        SAVED("cpus"), SAVED("frequency"), 1},
    {"a lower frequency saves more power of an overloaded service than pinning",
        SAVED("frequency"), SAVED("pin"), 1},
    {"a lower frequency costs at least twice as much capacity as it saves power",
        LOST("frequency"), SAVED("frequency"), 2},
    {"pinning costs at least twice as much capacity as it saves power", LOST("pin"), SAVED("pin"), 2},
    {"fewer instances cost at least twice as much capacity as they save power",
        LOST("instances"), SAVED("instances"), 2},
    {"fewer CPUs cost at least twice as much capacity as they save power", LOST("cpus"), SAVED("cpus"), 2},
};
// clang-format on

/* Two series, and the difference of their figures. */
struct contrast {
    const struct ssreport_responses *first, *second; /* NULL if no series differ in the knob */
    size_t groups[2];
    double distance; /* between both levels; the pair with the largest distance is tested */
    double rate;     /* NaN if a figure of all rates is compared */
    size_t runs;     /* number of runs, in the series with fewer */
    double difference;
    struct ssreport_interval interval;
    const char *missing; /* NULL if the difference is known */
};

struct test {
    const struct ssreport_report *report;
    struct stats_groups series;
};

/* Returns whether the series have the arrival, the balance and the pinned CPUs of the rule. */
static bool is_with(const struct rule *rule, const struct ssreport_responses *first,
    const struct ssreport_responses *second) {
    double pinned = ssreport_levels_pinned(second);
    double cpus = atof(ssreport_columns_get(&second->columns, "machine_cpus"));
    if (rule->with && !ssreport_is_word(first->arrival, rule->with) &&
        !ssreport_is_word(first->balance, rule->with))
        return false;
    return rule->state == SOME_CPUS ? pinned < cpus : rule->state != ALL_CPUS || pinned == cpus;
}

/* Returns by how much the first series has more of the knob; 0 if the series cannot be compared. */
static double find_distance(const struct rule *rule, const struct ssreport_responses *first,
    const struct ssreport_responses *second) {
    if (!first->knobs || !second->knobs || !is_with(rule, first, second))
        return 0;
    if (strcmp(rule->of, "arrival") == 0)
        return ssreport_compare_levels(first, second) == 0 &&
               ssreport_is_word(first->arrival, "even") &&
               ssreport_is_word(second->arrival, "concurrent");
    if (!ssreport_levels_are_one_step(first, second) ||
        !ssreport_is_same(first->arrival, second->arrival))
        return 0;
    const char *knob = ssreport_levels_knob(first, second);
    if (strcmp(rule->of, "balance") == 0)
        return !knob && ssreport_is_word(first->balance, "round-robin") &&
               ssreport_is_word(second->balance, "least-connections");
    double amounts[] = {
        ssreport_levels_amount(first, rule->of), ssreport_levels_amount(second, rule->of)};
    if (!ssreport_is_word(knob, rule->of) ||
        (rule->figure == CAPACITY_EACH && amounts[0] >= SSREPORT_UNLIMITED))
        return 0;
    return amounts[0] > amounts[1] ? amounts[0] - amounts[1] : 0;
}

static bool is_in_state(const struct ssreport_rate_point *point, enum state state) {
    switch (state) {
    case UNDERLOADED:
        return ssreport_point_is_underloaded(point);
    case OVERLOADED:
    case SOME_CPUS:
    case ALL_CPUS:
        return !ssreport_point_is_underloaded(point);
    case UNSATURATED:
        return point->joined.busiest < SSREPORT_SATURATED;
    case SATURATED:
        return point->joined.busiest >= SSREPORT_SATURATED;
    case ANY:
        break;
    }
    return true;
}

/* Returns whether a series has points at a rate, all of them in a state. */
static bool has_rate(const struct test *test, size_t group, double rate, enum state state) {
    size_t count = 0;
    for (size_t i = test->series.first[group]; i < test->series.items; i = test->series.next[i]) {
        const struct ssreport_rate_point *point = &test->report->points[i];
        if (ssreport_compare_numbers(point->stretch.rate, rate) != 0)
            continue;
        if (!is_in_state(point, state))
            return false;
        count++;
    }
    return count > 0;
}

/* Returns the highest rate at which both series are in the state of the rule; NaN without one. */
static double find_rate(const struct test *test, const struct rule *rule, const size_t groups[2]) {
    double highest = NAN;
    for (size_t i = test->series.first[groups[0]]; i < test->series.items;
         i = test->series.next[i]) {
        double rate = test->report->points[i].stretch.rate;
        if (!(rate <= highest) && has_rate(test, groups[0], rate, rule->state) &&
            has_rate(test, groups[1], rate, rule->state))
            highest = rate;
    }
    return highest;
}

static double figure_of(const struct ssreport_rate_point *point, enum figure figure) {
    double times[SSREPORT_CRITERIA];
    if (figure == WATTS)
        return point->joined.watts;
    ssreport_point_times(point, times);
    return times[figure == MEAN_TIME ? SSREPORT_MEAN : SSREPORT_P95];
}

/*
 * Collects the capacities of a series, one for each round. Returns their number; -1 if memory is
 * exhausted.
 */
static int collect_capacities(
    double values[ROUNDS_MAX], const struct test *test, const struct rule *rule, size_t group) {
    double rounds[ROUNDS_MAX];
    int count = 0;
    for (size_t i = test->series.first[group]; i < test->series.items && count < ROUNDS_MAX;
         i = test->series.next[i]) {
        const struct ssreport_responses *of = test->report->points[i].of;
        bool known = false;
        for (int j = 0; j < count; j++)
            known |= ssreport_compare_numbers(rounds[j], of->round) == 0;
        if (known)
            continue;
        rounds[count] = of->round;
        if (ssreport_series_capacity(
                &values[count], test->report, &test->series, group, of->round) < 0)
            return -1;
        if (rule->figure == CAPACITY_EACH)
            values[count] /= ssreport_levels_amount(of, rule->of);
        count++;
    }
    return count;
}

/* Collects the figures of a series at a rate. Returns their number; -1 if memory is exhausted. */
static int collect(double values[ROUNDS_MAX], const struct test *test, const struct rule *rule,
    size_t group, double rate) {
    int count = 0;
    if (rule->figure == CAPACITY || rule->figure == CAPACITY_EACH)
        return collect_capacities(values, test, rule, group);
    for (size_t i = test->series.first[group]; i < test->series.items && count < ROUNDS_MAX;
         i = test->series.next[i]) {
        const struct ssreport_rate_point *point = &test->report->points[i];
        if (ssreport_compare_numbers(point->stretch.rate, rate) == 0)
            values[count++] = figure_of(point, rule->figure);
    }
    return count;
}

static const char *const unknown[] = {[WATTS] = "no power was recorded",
    [MEAN_TIME] = "too many requests got no answer",
    [P95_TIME] = "too many requests got no answer",
    [CAPACITY] = "the capacity of a level is unknown",
    [CAPACITY_EACH] = "the capacity of a level is unknown"};

/* Compares the runs of both series by Welch's test. */
static int compare(const struct test *test, const struct rule *rule, struct contrast *contrast) {
    double values[2][ROUNDS_MAX];
    struct stats_sample samples[2];
    for (int i = 0; i < 2; i++) {
        int count = collect(values[i], test, rule, contrast->groups[i], contrast->rate);
        if (count < 0)
            return -1;
        for (int j = 0; j < count; j++) {
            if (!isfinite(values[i][j]))
                contrast->missing = unknown[rule->figure];
        }
        samples[i] = stats_sample_of(values[i], (size_t)count);
    }
    contrast->runs = samples[0].count < samples[1].count ? samples[0].count : samples[1].count;
    if (!contrast->missing && contrast->runs < 2)
        contrast->missing = "needs two rounds or more";
    if (contrast->missing)
        return 0;
    double whole = samples[0].mean;
    struct stats_difference found =
        stats_test_difference(&samples[0], &samples[1], test->report->settings.confidence);
    contrast->difference = found.difference / whole;
    contrast->interval =
        (struct ssreport_interval){found.interval.low / whole, found.interval.high / whole};
    /* Equal runs do not scatter: the difference is exact. */
    if (samples[0].variance == 0 && samples[1].variance == 0)
        contrast->interval = (struct ssreport_interval){contrast->difference, contrast->difference};
    else if (found.test.missing)
        contrast->missing = found.test.missing;
    return 0;
}

static const char *const no_rate[] = {[ANY] = "no common rate",
    [UNDERLOADED] = "no common rate at which both are underloaded",
    [UNSATURATED] = "no common rate at which no CPU set is 98 % busy",
    [SATURATED] = "no common rate at which a CPU set is at least 98 % busy",
    [OVERLOADED] = "no common rate at which both are overloaded"};

/* Finds the two series that are farthest apart, and compares them. */
static int find_contrast(
    const struct test *test, const struct rule *rule, struct contrast *contrast) {
    const struct ssreport_rate_point *points = test->report->points;
    const struct stats_groups *series = &test->series;
    *contrast = (struct contrast){
        .rate = NAN, .difference = NAN, .interval = {NAN, NAN}, .missing = "no two such levels"};
    for (size_t i = 0; i < series->count; i++) {
        for (size_t j = 0; j < series->count; j++) {
            const struct ssreport_rate_point *one = &points[series->first[i]];
            const struct ssreport_rate_point *other = &points[series->first[j]];
            bool is_service = strcmp(rule->of, "arrival") == 0
                                  ? ssreport_rate_point_is_service_at_any_arrival(one, other)
                                  : ssreport_rate_point_is_service(one, other);
            double distance = i != j && is_service ? find_distance(rule, one->of, other->of) : 0;
            if (distance > contrast->distance) {
                contrast->first = one->of;
                contrast->second = other->of;
                contrast->groups[0] = i;
                contrast->groups[1] = j;
                contrast->distance = distance;
            }
        }
    }
    if (!contrast->first)
        return 0;
    contrast->missing = NULL;
    if (rule->figure != CAPACITY && rule->figure != CAPACITY_EACH) {
        contrast->rate = find_rate(test, rule, contrast->groups);
        if (isnan(contrast->rate)) {
            contrast->missing = no_rate[rule->state < OVERLOADED ? rule->state : OVERLOADED];
            return 0;
        }
    }
    return compare(test, rule, contrast);
}

static void add_row(struct ssreport_report *report, const char *statement, const char *source,
    const struct contrast *contrast, double least, double most) {
    const struct ssreport_responses *first = contrast->first, *second = contrast->second;
    const char *verdict = "undecided";
    if (contrast->missing)
        verdict = "not tested";
    else if (contrast->interval.low > least && contrast->interval.high < most)
        verdict = "supported";
    else if (contrast->interval.high <= least || contrast->interval.low >= most)
        verdict = "contradicted";
    TABLE_ROW(ssreport_table(report, "requests-rules"), CELL("statement", statement),
        CELL("source", source), CELL("verdict", verdict), CELL("difference", contrast->difference),
        CELL("low", contrast->interval.low), CELL("high", contrast->interval.high),
        CELL("runs", contrast->runs > 0 ? (double)contrast->runs : NAN),
        CELL("rate", contrast->rate), CELL("first", first ? first->knobs : NULL),
        CELL("second", second ? second->knobs : NULL),
        CELL("arrival", first ? first->arrival : NULL),
        CELL("balance", first ? first->balance : NULL), CELL("why", contrast->missing));
}

/*
 * Subtracts `times` `other`, an independent difference, by adding the squared distances to the
 * bounds (MOVER).
 */
static void subtract(struct contrast *from, const struct contrast *other, double times) {
    double low = hypot(
        from->difference - from->interval.low, times * (other->interval.high - other->difference));
    double high = hypot(
        from->interval.high - from->difference, times * (other->difference - other->interval.low));
    if (!from->missing)
        from->missing = other->missing;
    from->difference -= times * other->difference;
    from->interval = (struct ssreport_interval){from->difference - low, from->difference + high};
    if (isnan(from->rate))
        from->rate = other->rate;
    if (other->runs < from->runs)
        from->runs = other->runs;
}

int ssreport_rules_fill(struct ssreport_report *report) {
    struct contrast contrast, other;
    if (!ssreport_knobs_are_compared(report))
        return 0;
    SS_OWNED(groups) struct stats_groups series = ssreport_points_by_series(report);
    const struct test test = {report, series};
    if (!series.first)
        return -1;
    for (const struct rule *rule = rules; rule < rules + sizeof rules / sizeof *rules; rule++) {
        if (find_contrast(&test, rule, &contrast) < 0)
            return -1;
        add_row(report, rule->statement, rule->source, &contrast, rule->least, rule->most);
    }
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (find_contrast(&test, &comparisons[i].greater, &contrast) < 0 ||
            find_contrast(&test, &comparisons[i].less, &other) < 0)
            return -1;
        subtract(&contrast, &other, comparisons[i].times);
        add_row(report, comparisons[i].statement, "Table 7", &contrast, LESS);
    }
    return 0;
}
