/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "json_stream.h"
#include "scale.h"
#include "stamp.h"
#include "sysstat.h"

/*
 * Imports sadf -j and mpstat -o JSON. They have the same structure, but mpstat writes only the time
 * of day.
 */

enum { TOP, SYSSTAT, HOSTS, HOST, STATISTICS, SAMPLE, LOADS, LOADS_OLD, LOAD, LOAD_OLD, STAMP };

#define ENVELOPE                                                                                   \
    [TOP] = {-1, "", SSTRACE_JSON_OBJECT}, [SYSSTAT] = {TOP, "sysstat", SSTRACE_JSON_OBJECT},      \
    [HOSTS] = {SYSSTAT, "hosts", SSTRACE_JSON_LIST}, [HOST] = {HOSTS, "[]", SSTRACE_JSON_OBJECT},  \
    [STATISTICS] = {HOST, "statistics", SSTRACE_JSON_LIST},                                        \
    [SAMPLE] = {STATISTICS, "[]", SSTRACE_JSON_OBJECT},                                            \
    [LOADS] = {SAMPLE, "cpu-load", SSTRACE_JSON_LIST},                                             \
    [LOADS_OLD] = {SAMPLE, "cpu-load-all", SSTRACE_JSON_LIST},                                     \
    [LOAD] = {LOADS, "[]", SSTRACE_JSON_OBJECT},                                                   \
    [LOAD_OLD] = {LOADS_OLD, "[]", SSTRACE_JSON_OBJECT}

static const struct sstrace_json_place sadf_places[] = {
    ENVELOPE, [STAMP] = {SAMPLE, "timestamp", SSTRACE_JSON_OBJECT}, [STAMP + 1] = {0}};
static const struct sstrace_json_place mpstat_places[] = {ENVELOPE, [STAMP] = {0}};

#define NAME 256

struct sysstat {
    struct sstrace_samples *samples;
    bool times_only;
    bool any_statistics, any_sample, any_loads;

    struct sstrace_sysstat cpus;
    int64_t day;    /* date of the host, ns; 0 if unknown */
    bool is_dated;  /* the date is known */
    bool is_placed; /* a sample of this file was read */
    struct sstrace_clock clock;

    /* The current sample: */
    char date[NAME], time[NAME];
    struct sstrace_json_mark stamp_mark;
    int64_t interval; /* ns; 0 if unknown */
    bool has_load;
    double load;
    struct sstrace_json_mark load_mark;

    /* The current CPU: */
    char cpu[NAME];
    bool has_idle;
    bool any;            /* at least one figure is not 0 */
    double idle, iowait; /* in percent */
    struct sstrace_json_mark mark;
};

static int take_text(struct sstrace_json *json, const struct sstrace_json_event *event, char *to) {
    if (sstrace_json_expect(json, event, SSTRACE_JSON_TEXT_VALUE) != 0)
        return -1;
    if (event->length >= NAME)
        return sstrace_json_blame(json, "'%s' has more than %d characters", event->key, NAME - 1);
    memcpy(to, event->text, event->length + 1);
    return 0;
}

/*
 * Parses the date of the file, whose format depends on the locale. Returns false if it is unknown.
 * A wrong guess affects only the time between several files.
 */
static bool read_day(const char *date, int64_t *ns) {
    char text[32];
    unsigned int month, day, year;
    if (sstrace_stamp_date(date, strlen(date), ns))
        return true;
    if (sscanf(date, "%2u/%2u/%4u", &month, &day, &year) != 3)
        return false;
    snprintf(text, sizeof text, "%04u-%02u-%02u", year < 100 ? 2000 + year : year, month, day);
    return sstrace_stamp_date(text, strlen(text), ns);
}

static int take_host(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct sysstat *it = json->context;
    if (strcmp(event->key, "nodename") == 0)
        return take_text(json, event, it->cpus.host);
    if (!it->times_only || strcmp(event->key, "date") != 0)
        return 0;
    char date[NAME];
    if (take_text(json, event, date) != 0)
        return -1;
    it->is_dated = read_day(date, &it->day);
    if (!it->is_dated)
        it->day = 0;
    return 0;
}

static int take_time(struct sstrace_json *json, const struct sstrace_json_event *event, char *to) {
    struct sysstat *it = json->context;
    it->stamp_mark = sstrace_json_mark(json);
    return take_text(json, event, to);
}

static int take_stamp(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct sysstat *it = json->context;
    if (strcmp(event->key, "date") == 0)
        return take_text(json, event, it->date);
    if (strcmp(event->key, "time") == 0)
        return take_time(json, event, it->time);
    if (strcmp(event->key, "interval") != 0)
        return 0;

    if (sstrace_json_expect(json, event, SSTRACE_JSON_NUMBER) != 0)
        return -1;
    if (!sstrace_stamp_number(event->text, event->length, 1000000000, &it->interval) ||
        it->interval < 0)
        return sstrace_json_blame(
            json, "'interval' must be a number of seconds, not %s", event->text);
    return 0;
}

static int take_load(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct sysstat *it = json->context;
    if (strcmp(event->key, "cpu") == 0)
        return take_text(json, event, it->cpu);

    bool idle = strcmp(event->key, "idle") == 0;
    bool iowait = strcmp(event->key, "iowait") == 0;
    if (event->kind == SSTRACE_JSON_NUMBER)
        it->any |= event->number != 0;
    if (!idle && !iowait)
        return 0;

    if (sstrace_json_expect(json, event, SSTRACE_JSON_NUMBER) != 0)
        return -1;
    if (!isfinite(event->number))
        return sstrace_json_blame(
            json, "the number '%s' is out of range", ss_words_show(event->text).text);

    *(idle ? &it->idle : &it->iowait) = event->number;
    if (idle)
        it->mark = sstrace_json_mark(json);
    it->has_idle |= idle;
    return 0;
}

static int end_load(struct sstrace_json *json) {
    struct sysstat *it = json->context;
    it->any_loads = true;

    if (!*it->cpu)
        return sstrace_json_blame(json, "'cpu' is missing in this object");

    int selected = sstrace_sysstat_select(&it->cpus, it->cpu, sstrace_json_locate(json));
    if (selected <= 0)
        return selected;

    if (!it->has_idle)
        return sstrace_json_blame(json, "'idle' is missing in this object");
    if (it->has_load)
        return sstrace_json_blame(
            json, "duplicate load of '%s' in this sample", ss_words_show(it->cpu).text);

    it->has_load = true;
    it->load_mark = it->mark;
    /* All figures are 0 if the CPU was offline. */
    it->load =
        it->any ? sstrace_scale_from_idle(it->idle + it->iowait, SSTRACE_ROUNDING_PERCENT) : NAN;
    return 0;
}

static int end_sample(struct sstrace_json *json) {
    struct sysstat *it = json->context;
    char stamp[2 * NAME];
    struct sstrace_sample sample = {.load = it->load};
    it->any_sample = true;

    if (!it->has_load)
        return 0;

    if (!*it->time)
        return sstrace_json_blame(json, "'timestamp' is missing in this object");
    snprintf(stamp, sizeof stamp, "%s%s%s", it->date, *it->date ? " " : "", it->time);
    if (!sstrace_stamp_read(&it->clock, stamp, strlen(stamp), &sample.to)) {
        json->input->line = it->stamp_mark.line;
        return text_input_blame(json->input, it->stamp_mark.column,
            "'%s' is not a time: expected " SSTRACE_STAMP_EXPECTED, ss_words_show(stamp).text);
    }

    if (__builtin_add_overflow(sample.to, it->day, &sample.to) ||
        __builtin_sub_overflow(sample.to, it->interval, &sample.from))
        return sstrace_json_blame(json, "a time is out of range");
    if (it->times_only && !it->is_placed &&
        sstrace_samples_date(it->samples, json->input, it->is_dated) != 0)
        return -1;
    it->is_placed = true;

    json->input->line = it->load_mark.line;
    if (!it->samples->any && !it->samples->has_held)
        it->samples->stamp = it->interval ? SSTRACE_STAMP_SPAN : SSTRACE_STAMP_END;
    if (it->samples->stamp == SSTRACE_STAMP_SPAN && it->interval == 0)
        return sstrace_json_blame(json, "'interval' is missing, but earlier samples have it");

    return sstrace_samples_add(it->samples, json->input, it->load_mark.column, &sample);
}

static void begin(struct sysstat *it, int place) {
    switch (place) {
    case HOST:
        *it->cpus.host = '\0';
        it->day = 0;
        it->is_dated = false;
        it->clock = (struct sstrace_clock){0};
        break;

    case STATISTICS:
        it->any_statistics = true;
        break;

    case SAMPLE:
        *it->date = *it->time = '\0';
        it->interval = 0;
        it->has_load = false;
        break;

    case LOADS:
    case LOADS_OLD:
        it->cpus.any = false;
        break;

    case LOAD:
    case LOAD_OLD:
        *it->cpu = '\0';
        it->has_idle = it->any = false;
        it->iowait = 0;
        break;
    }
}

static int take(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct sysstat *it = json->context;
    bool end = event->kind == SSTRACE_JSON_END;

    if (event->opens >= 0) {
        if (event->kind != SSTRACE_JSON_NULL)
            begin(it, event->opens);
        return 0;
    }

    if (event->place == LOAD || event->place == LOAD_OLD)
        return end ? end_load(json) : take_load(json, event);

    if (event->place == SAMPLE && end)
        return end_sample(json);
    if (event->place == SAMPLE && it->times_only && strcmp(event->key, "timestamp") == 0)
        return take_time(json, event, it->time);

    if (event->place == HOST && !end)
        return take_host(json, event);
    if (event->place == STAMP && !it->times_only && !end)
        return take_stamp(json, event);

    return 0;
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    const struct sstrace_json_place *places = format->layout;
    struct sysstat it = {.samples = samples,
        .times_only = places == mpstat_places,
        .cpus = {.samples = samples, .input = input}};
    struct sstrace_json json = {
        .input = input, .places = places, .take = take, .context = &it, .may_break = it.times_only};

    if (sstrace_json_read(&json) != 0)
        return -1;

    if (json.broken)
        fprintf(stderr,
            "sstrace: %s:%llu: the file is truncated: using only its complete samples\n",
            ss_words_show(input->name).text, (unsigned long long)json.line);

    if (!it.any_statistics || (it.any_sample && !it.any_loads))
        return sstrace_json_blame(
            &json, "the file has no sysstat.hosts[].statistics[] with cpu-load");
    return 0;
}

static bool detect_sadf(const char *head) {
    static const char *const names[] = {"\"sysstat\"", "\"hosts\"", "\"file-date\"", NULL};
    return sstrace_json_has(head, names);
}

static bool detect_mpstat(const char *head) {
    static const char *const names[] = {
        "\"sysstat\"", "\"hosts\"", "\"timestamp\"", "\"usr\"", NULL};
    return sstrace_json_has(head, names) && !detect_sadf(head);
}

const struct sstrace_format sstrace_format_sadf_json = {
    .name = "sadf-json",
    .summary = "sysstat's sadf -j -- -u: all CPUs, or --select CPU or HOST/CPU",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .detect = detect_sadf,
    .import = import,
    .layout = sadf_places,
};

const struct sstrace_format sstrace_format_mpstat_json = {
    .name = "mpstat-json",
    .summary = "mpstat -o JSON: all CPUs, or --select CPU or HOST/CPU",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .detect = detect_mpstat,
    .import = import,
    .layout = mpstat_places,
};
