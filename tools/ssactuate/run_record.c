/* SPDX-License-Identifier: Apache-2.0 */
#include "run_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "show.h"

static int open_counter(enum ss_perf_event event, pid_t command) {
    const struct ss_perf_request request = {.event = event, .thread = command, .after_exec = true};
    return ss_platform_perf.open(ss_platform_perf.context, &request);
}

static bool open_counters(struct ssactuate_record *record, pid_t command) {
    record->counters.cycles = open_counter(SS_PERF_CYCLES, command);
    record->counters.clock =
        record->counters.cycles < 0 ? -1 : open_counter(SS_PERF_TASK_CLOCK, command);
    return record->counters.clock >= 0;
}

void ssactuate_record_sample(struct ssactuate_record *record) {
    if (!record->is_sampled)
        return;
    const struct ss_cpus cpus = sys_tree_online(&record->machine->tree);
    double hertz = ss_platform_frequency(&record->machine->roots, &cpus);
    if (isnan(hertz))
        return;
    record->sum += hertz;
    record->samples++;
}

void ssactuate_record_open(
    struct ssactuate_record *record, const struct ssactuate_machine *machine, pid_t command) {
    *record = (struct ssactuate_record){.machine = machine, .begin = ss_platform_now()};
    record->is_sampled = !open_counters(record, command);
    ssactuate_record_sample(record);
    record->is_sampled &= record->samples > 0;
}

/* Returns the actual frequency in Hz and its source; NaN and NULL if it is unknown. */
static double measure(const struct ssactuate_record *record, const char **source) {
    struct ss_perf_count cycles, clock;
    const struct ss_perf_calls *calls = &ss_platform_perf;
    *source = NULL;
    if (record->counters.clock >= 0 &&
        calls->read(calls->context, record->counters.cycles, &cycles) == 0 &&
        calls->read(calls->context, record->counters.clock, &clock) == 0 && cycles.running > 0 &&
        clock.value > 0) {
        *source = "cycles by task clock";
        return (double)cycles.value * (double)cycles.enabled / (double)cycles.running /
               (double)clock.value * 1e9;
    }
    if (record->samples == 0)
        return NAN;
    *source = "scaling_cur_freq";
    return record->sum / (double)record->samples;
}

void ssactuate_record_close(struct ssactuate_record *record) {
    if (record->machine && record->counters.cycles >= 0)
        ss_platform_perf.close(ss_platform_perf.context, record->counters.cycles);
    if (record->machine && record->counters.clock >= 0)
        ss_platform_perf.close(ss_platform_perf.context, record->counters.clock);
    *record = (struct ssactuate_record){0};
}

struct limits_call {
    struct ssactuate_limits *limits;
    const struct ssactuate_place *place;
    const struct ssactuate_plan *plan;
};

/* Returns the value that was written to a file of a quota. The caller frees it. */
static char *ask_quota(const struct ssactuate_plan *plan, const char *file) {
    struct limit_setting settings[LIMIT_QUOTA_SETTINGS];
    size_t count = limit_group_quota_settings(
        settings, strcmp(file, "cpu.max") == 0, plan->quota, plan->period);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].file, file) == 0)
            return strdup(settings[i].value);
    }
    return NULL;
}

static char *ask_cpus(const struct ss_cpus *cpus) {
    static char text[8 * SS_CPUS_MAX];
    ss_cpus_print(text, sizeof text, cpus);
    return strdup(text);
}

static char *ask_memory(const struct ssactuate_plan *plan) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)plan->memory);
    return strdup(text);
}

static void add_limit(void *context, enum limit limit, const char *path, const char *value) {
    const struct limits_call *call = context;
    struct ssactuate_limits *limits = call->limits;
    const char *file = strrchr(path, '/') + 1;
    if (!SS_GROW(limits->items, limits->count + 1, limits->room)) {
        limits->is_incomplete = true;
        return;
    }
    struct ssactuate_limit *item = &limits->items[limits->count++];
    *item = (struct ssactuate_limit){
        .path = strdup(path),
        .asked = limit == LIMIT_QUOTA  ? ask_quota(call->plan, file)
                 : limit == LIMIT_CPUS ? ask_cpus(&call->place->mask)
                                       : ask_memory(call->plan),
        .got = strdup(value),
    };
    limits->is_incomplete |= !item->path || !item->asked || !item->got;
}

void ssactuate_limits_read(struct ssactuate_limits *limits, const struct ssactuate_place *place,
    const struct ssactuate_plan *plan) {
    struct limits_call call = {limits, place, plan};
    if (place->has_group)
        limit_group_files(&place->group, add_limit, &call);
}

void ssactuate_limits_free(struct ssactuate_limits *limits) {
    for (size_t i = 0; i < limits->count; i++) {
        free(limits->items[i].path);
        free(limits->items[i].asked);
        free(limits->items[i].got);
    }
    free(limits->items);
    *limits = (struct ssactuate_limits){0};
}

static void write_files(struct ss_json *json, const struct ssactuate_journal *journal) {
    ss_json_open(json, "files", '[');
    for (size_t i = 0; journal && i < journal->count; i++) {
        const struct ssactuate_entry *entry = &journal->entries[i];
        char path[SSACTUATE_PATH + 1];
        snprintf(path, sizeof path, "/%s", entry->setting.path);
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "path", path);
        ss_json_text(json, "before", entry->before);
        ss_json_text(json, "asked", entry->setting.value);
        ss_json_text(json, "got", entry->got);
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

/* Writes the CPUs of the command, or `free`. */
static void write_place(struct ss_json *json, const struct ssactuate_result *result) {
    struct ss_cpus cpus = {0};
    static char text[8 * SS_CPUS_MAX];
    for (uint32_t i = 0; i < result->plan->cpus.count; i++)
        ss_cpus_add(&cpus, result->plan->cpus.cpus[i]);
    ss_cpus_print(text, sizeof text, &cpus);
    ss_json_text(json, "pin", result->masked ? text : "free");
    ss_json_bool(json, "each", result->plan->each);
    ss_json_text(json, "size", *result->plan->size ? result->plan->size : NULL);
    ss_json_bool(json, "cpuset", result->group && *result->group->parts[LIMIT_CPUS].folder);
}

/* Unlike files of the machine, limits have no previous values, because the group is new. */
static void write_limits(struct ss_json *json, const struct ssactuate_limits *limits) {
    ss_json_open(json, "limits", '[');
    for (size_t i = 0; i < limits->count; i++) {
        ss_json_open(json, NULL, '{');
        ss_json_text(json, "path", limits->items[i].path);
        ss_json_text(json, "asked", limits->items[i].asked);
        ss_json_text(json, "got", limits->items[i].got);
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

static void write_without_password(struct ss_json *json, const char *text) {
    SS_OWNED(free) char *shown = request_show_url(text);
    ss_json_text(json, NULL, shown);
}

static void write_urls(struct ss_json *json, const char *urls) {
    struct ss_words_part part;
    ss_json_open(json, "urls", '[');
    while (urls && ss_words_next(&urls, ' ', &part)) {
        char url[SSACTUATE_URL];
        snprintf(url, sizeof url, "%.*s", (int)part.length, part.text);
        write_without_password(json, url);
    }
    ss_json_close(json, ']');
}

void ssactuate_record_write_knobs(struct ss_json *json, const char *const *words) {
    ss_json_open(json, "knobs", '[');
    for (; *words; words++)
        write_without_password(json, *words);
    ss_json_close(json, ']');
}

static void write_result(
    const struct ssactuate_record *record, const struct ssactuate_result *result, FILE *stream) {
    struct ss_json json = {.stream = stream};
    const char *source;
    double hertz = measure(record, &source);
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSACTUATE_RECORD_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ssactuate_record_write_knobs(&json, result->words);
    ss_json_open(&json, "command", '[');
    for (char *const *word = result->command; *word; word++)
        ss_json_text(&json, NULL, *word);
    ss_json_close(&json, ']');
    write_files(&json, result->journal);
    write_place(&json, result);
    write_limits(&json, result->limits);
    write_urls(&json, result->urls);
    ss_json_number(&json, "actual_hz", hertz);
    ss_json_text(&json, "actual_hz_from", source);
    ss_json_number(
        &json, "seconds", ss_time_seconds(ss_time_since(ss_platform_now(), record->begin)));
    ss_json_number(&json, "status", result->status);
    ss_json_close(&json, '}');
}

int ssactuate_record_write(const struct ssactuate_record *record, const char *path,
    const struct ssactuate_result *result, struct ss_error *error) {
    struct ss_whole_file file;
    if (result->limits->is_incomplete)
        return ss_error_memory(error);
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    write_result(record, result, file.stream);
    return ss_whole_file_end(&file, path, error);
}
