/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "import_json.h"
#include "scale.h"
#include "stamp.h"

enum { TOP, TOP_ALONE };

static const struct sstrace_json_place places[] = {
    [TOP] = {-1, "", SSTRACE_JSON_OBJECT},
    [TOP_ALONE] = {0},
};

struct ssload {
    struct sstrace_samples *samples;
    struct sstrace_scale scale;
    char cpu[32];   /* "all", a number, or "" without this key */
    bool any;       /* an object was read */
    bool has_whole; /* the first one is the load of all CPUs together */
    bool has_time, has_load, is_dated;
    int64_t date; /* of the sample's end, ns since 1970 */
    struct sstrace_origin origin;
    struct sstrace_sample sample;
    struct sstrace_json_mark mark;
};

static int take_time(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct ssload *it = json->context;
    if (sstrace_json_expect(json, event, SSTRACE_JSON_NUMBER) != 0)
        return -1;
    it->has_time = true;
    if (!event->cut && sstrace_stamp_number(event->text, event->length, 1000000000, &it->sample.to))
        return 0;
    return sstrace_json_blame(json, "'elapsed_seconds' must be a number of seconds");
}

/* Reads the date of the time, which other monitors may lack. */
static int take_date(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct ssload *it = json->context;
    it->is_dated = event->kind == SSTRACE_JSON_TEXT_VALUE && !event->cut &&
                   sstrace_stamp_date(event->text, event->length, &it->date);
    return 0;
}

/* Reads a load. A missing measurement is null. */
static int take_load(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct ssload *it = json->context;
    it->mark = sstrace_json_mark(json);
    it->has_load = true;
    it->sample.load = NAN;
    if (event->kind == SSTRACE_JSON_NULL)
        return 0;
    it->sample.load = event->number / it->scale.full;
    return sstrace_json_expect_finite(json, event);
}

/* Reads "all" or the number of a CPU. */
static int take_cpu(struct sstrace_json *json, const struct sstrace_json_event *event) {
    struct ssload *it = json->context;
    bool known = event->kind == SSTRACE_JSON_TEXT_VALUE || event->kind == SSTRACE_JSON_NUMBER;
    if (!known || event->length == 0 || event->length >= sizeof it->cpu)
        return sstrace_json_blame(json, "'cpu' must be \"all\" or the number of a CPU");
    memcpy(it->cpu, event->text, event->length + 1);
    return 0;
}

/* Returns whether the object belongs to the selected CPU; by default, to all CPUs together. */
static bool wants(struct ssload *it) {
    bool whole = strcmp(it->cpu, "all") == 0, select = it->samples->options->select;
    if (!it->any)
        it->has_whole = whole;
    it->any = true;
    if (it->has_whole && !whole && !select)
        return false;
    return (!*it->cpu && !select) || sstrace_samples_wants(it->samples, it->cpu);
}

static int end_object(struct sstrace_json *json) {
    struct ssload *it = json->context;
    if (!it->has_time || !it->has_load)
        return sstrace_json_blame(
            json, "'%s' is missing in this object", it->has_time ? "load" : "elapsed_seconds");
    if (!*it->cpu && it->samples->options->select)
        return sstrace_json_blame(json, "'cpu' is missing in this object: remove --select");
    const int64_t *date = it->is_dated ? &it->date : NULL;
    it->has_time = it->has_load = it->is_dated = false;
    bool wanted = wants(it);
    *it->cpu = '\0';
    if (!wanted)
        return 0;
    json->input->line = it->mark.line;
    if (sstrace_samples_place(it->samples, json->input, &it->origin, date, &it->sample.to) != 0)
        return -1;
    return sstrace_samples_add(it->samples, json->input, it->mark.column, &it->sample);
}

static int take(struct sstrace_json *json, const struct sstrace_json_event *event) {
    if (event->kind == SSTRACE_JSON_END)
        return end_object(json);
    if (strcmp(event->key, "elapsed_seconds") == 0)
        return take_time(json, event);
    if (strcmp(event->key, "time") == 0)
        return take_date(json, event);
    if (strcmp(event->key, "load") == 0)
        return take_load(json, event);
    if (strcmp(event->key, "cpu") == 0)
        return take_cpu(json, event);
    return 0;
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct ssload it = {.samples = samples};
    struct sstrace_json json = {
        .input = input, .places = places, .take = take, .context = &it, .several = true};
    if (sstrace_scale_set(&it.scale, samples->options, SSTRACE_UNIT_FRACTION, input->error) != 0)
        return -1;
    samples->stamp = SSTRACE_STAMP_END;
    return sstrace_json_read(&json);
}

static bool detect(const char *head) {
    static const char *const names[] = {"\"elapsed_seconds\"", "\"load\"", NULL};
    return sstrace_json_has(head, names);
}

const struct sstrace_format sstrace_format_ssload_json = {
    .name = "ssload-json",
    .summary = "JSON Lines of a load monitor: elapsed_seconds and load in each object",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .detect = detect,
    .import = import,
};
