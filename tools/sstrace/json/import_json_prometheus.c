/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "json_stream.h"
#include "scale.h"
#include "stamp.h"

enum { TOP, DATA, RESULT, SERIES, METRIC, VALUES, VALUE, PLACES_END };

static const struct sstrace_json_place places[] = {
    [TOP] = {-1, "", SSTRACE_JSON_OBJECT},
    [DATA] = {TOP, "data", SSTRACE_JSON_OBJECT},
    [RESULT] = {DATA, "result", SSTRACE_JSON_LIST},
    [SERIES] = {RESULT, "[]", SSTRACE_JSON_OBJECT},
    [METRIC] = {SERIES, "metric", SSTRACE_JSON_OBJECT},
    [VALUES] = {SERIES, "values", SSTRACE_JSON_LIST},
    [VALUE] = {VALUES, "[]", SSTRACE_JSON_LIST},
    [PLACES_END] = {0},
};

#define NAME 4096

struct prometheus {
    struct sstrace_samples *samples;
    struct sstrace_scale scale;
    bool any_result, failed;
    struct sstrace_json_mark failed_mark;
    double max; /* maximum of the selected series */
    bool any;

    /* The current series: */
    char metric[NAME], labels[NAME];
    bool has_metric, selected;

    /* The current value: */
    uint64_t parts;
    struct sstrace_sample sample;
    struct sstrace_json_mark mark;
};

/* Reads the status and the error, which may come in any order among other members. */
static int take_top(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct prometheus *it = json->context;
    if (event->kind == SSTRACE_JSON_END || event->kind == SSTRACE_JSON_NULL)
        return 0;

    if (strcmp(event->key, "status") == 0) {
        if (sstrace_json_expect(json, event, SSTRACE_JSON_TEXT_VALUE) != 0)
            return -1;
        it->failed = strcmp(event->text, "success") != 0;
        it->failed_mark = sstrace_json_mark(json);
    }

    if (strcmp(event->key, "error") == 0 && event->kind == SSTRACE_JSON_TEXT_VALUE)
        return sstrace_json_blame(json, "Prometheus refused the query: %s", event->text);
    return 0;
}

static int take_data(struct sstrace_json *json, const struct sstrace_json_event *event) {
    if (event->kind == SSTRACE_JSON_END || strcmp(event->key, "resultType") != 0)
        return 0;
    if (sstrace_json_expect(json, event, SSTRACE_JSON_TEXT_VALUE) != 0)
        return -1;
    if (strcmp(event->text, "matrix") == 0)
        return 0;
    return sstrace_json_blame(json,
        "the result is a %s: expected a matrix, as from query_range (not query)",
        ss_words_show(event->text).text);
}

/* Appends a label, to form METRIC{name="value",...} as in PromQL. */
static int take_label(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct prometheus *it = json->context;

    if (sstrace_json_expect(json, event, SSTRACE_JSON_TEXT_VALUE) != 0)
        return -1;

    char *to = strcmp(event->key, "__name__") == 0 ? it->metric : it->labels;
    size_t used = strlen(to);
    /* Each character may need a backslash; the extra bytes are for quotes, commas and braces. */
    if (event->is_truncated || used + strlen(event->key) + 2 * event->length + 8 > NAME)
        return sstrace_json_blame(json, "the labels of a series are too long");

    if (to == it->metric) {
        memcpy(to, event->text, event->length + 1);
        return 0;
    }

    used += (size_t)sprintf(to + used, "%s%s=\"", used ? "," : "", event->key);
    for (const char *from = event->text; *from; from++) {
        if (*from == '"' || *from == '\\')
            to[used++] = '\\';
        to[used++] = *from;
    }

    memcpy(to + used, "\"", 2);
    return 0;
}

static int end_metric(struct sstrace_json *json) {
    struct prometheus *it = json->context;
    char name[2 * NAME + 2];
    snprintf(name, sizeof name, "%s{%s}", it->metric, it->labels);
    if (it->has_metric)
        return sstrace_json_blame(json, "duplicate 'metric' in this series");
    it->has_metric = true;
    it->selected = sstrace_samples_select(it->samples, name);
    return 0;
}

static int take_number(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct prometheus *it = json->context;
    struct text_field field = {.text = event->text, .length = event->length};
    double value;
    it->mark = sstrace_json_mark(json);

    if (sstrace_json_expect(json, event, SSTRACE_JSON_TEXT_VALUE) != 0)
        return -1;
    if (strcmp(event->text + strspn(event->text, "+-"), "Inf") == 0)
        value = NAN;
    else if (event->length == 0 || !text_field_number(&field, false, &value))
        return sstrace_json_blame(json, "'%s' is not a number", ss_words_show(event->text).text);

    it->sample.load = value / it->scale.full;
    return 0;
}

/* Finishes the current value. Prometheus writes the labels of a series before its values. */
static int end_value(struct sstrace_json *json) {
    struct prometheus *it = json->context;

    if (it->parts != 2)
        return sstrace_json_blame(json, "expected [TIME, \"VALUE\"]");
    if (!it->has_metric)
        return sstrace_json_blame(json, "'metric' is missing before the values of this series");

    if (!it->selected)
        return 0;
    double value = it->sample.load * it->scale.full;
    if (value > it->max)
        it->max = value;
    it->any |= !isnan(value);

    json->input->line = it->mark.line;
    return sstrace_samples_add(it->samples, json->input, it->mark.column, &it->sample);
}

static int take_value(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct prometheus *it = json->context;
    it->parts = event->index + 1;
    if (event->index == 1)
        return take_number(json, event);
    if (event->index > 1)
        return sstrace_json_blame(json, "expected [TIME, \"VALUE\"]");

    if (sstrace_json_expect(json, event, SSTRACE_JSON_NUMBER) != 0)
        return -1;
    if (!event->is_truncated &&
        sstrace_stamp_number(event->text, event->length, 1000000000, &it->sample.to))
        return 0;
    return sstrace_json_blame(
        json, "'%s' is not a time: expected seconds since 1970", ss_words_show(event->text).text);
}

static void begin(struct prometheus *it, int place) {
    if (place == RESULT)
        it->any_result = true;
    if (place == SERIES)
        it->has_metric = false;
    if (place == SERIES || place == METRIC)
        *it->metric = *it->labels = '\0';
    if (place == VALUE)
        it->parts = 0;
}

static int take(struct sstrace_json *json, const struct sstrace_json_event *event) {
    if (event->opens >= 0) {
        if (event->kind != SSTRACE_JSON_NULL)
            begin(json->context, event->opens);
        return 0;
    }

    bool end = event->kind == SSTRACE_JSON_END;
    switch (event->place) {
    case TOP:
        return take_top(json, event);
    case DATA:
        return take_data(json, event);
    case METRIC:
        return end ? end_metric(json) : take_label(json, event);
    case VALUES:
        return end ? 0 : sstrace_json_blame(json, "expected [TIME, \"VALUE\"]");
    case VALUE:
        return end ? end_value(json) : take_value(json, event);
    default:
        return 0;
    }
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct prometheus it = {.samples = samples};
    struct sstrace_json json = {.input = input, .places = places, .take = take, .context = &it};

    if (sstrace_scale_set(&it.scale, samples->options, SSTRACE_UNIT_FRACTION, input->error) != 0)
        return -1;
    samples->stamp = SSTRACE_STAMP_END;

    if (sstrace_json_read(&json) != 0)
        return -1;

    if (it.failed) {
        input->line = it.failed_mark.line;
        return text_input_blame(
            input, it.failed_mark.column, "Prometheus refused the query and does not say why");
    }
    if (!it.any_result)
        return sstrace_json_blame(&json, "the file has no data.result[] of a query_range");

    if (it.any && it.max <= 1 && it.scale.full > 1)
        fprintf(stderr,
            "sstrace: %s: no value is above %g: if 1 is full load, use --unit fraction\n",
            ss_words_show(input->name).text, it.max);
    return 0;
}

static bool detect(const char *head) {
    static const char *const answer[] = {"\"status\"", "\"data\"", "\"resultType\"", NULL};
    static const char *const refusal[] = {"\"status\"", "\"errorType\"", NULL};
    return sstrace_json_has(head, answer) || sstrace_json_has(head, refusal);
}

const struct sstrace_format sstrace_format_prometheus = {
    .name = "prometheus",
    .summary = "response of Prometheus to query_range; fractions, or --unit percent",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_UNIT | SSTRACE_TAKES_CPUS,
    .detect = detect,
    .import = import,
};
