/* SPDX-License-Identifier: Apache-2.0 */
#include "run_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "show.h"

static int open_counter(enum ss_perf_event event, pid_t command) {
    const struct ss_perf_request request = {.event = event, .thread = command, .after_exec = true};
    return ss_platform_perf.open(ss_platform_perf.context, &request);
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
    record->counters.cycles = open_counter(SS_PERF_CYCLES, command);
    record->counters.clock =
        record->counters.cycles < 0 ? -1 : open_counter(SS_PERF_TASK_CLOCK, command);

    record->is_sampled = record->counters.clock < 0;
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

static void write_files(struct ss_json *json, const struct ssactuate_journal *journal) {
    ss_json_open(json, "files", '[');

    for (size_t i = 0; i < journal->count; i++) {
        const struct ssactuate_entry *entry = &journal->entries[i];
        char path[SSACTUATE_PATH_SIZE + 1];

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
static void write_place(struct ss_json *json, const struct ssactuate_session *session) {
    const struct ssactuate_plan *plan = &session->plan;
    const struct ssactuate_place *place = &session->parties[0].place;
    struct ss_cpus cpus = {0};
    static char text[8 * SS_CPUS_MAX];

    for (uint32_t i = 0; i < plan->cpus.count; i++)
        ss_cpus_add(&cpus, plan->cpus.cpus[i]);
    ss_cpus_print(text, sizeof text, &cpus);

    ss_json_text(json, "pin", place->masked ? text : "free");
    ss_json_bool(json, "each", plan->binds_threads);
    ss_json_text(json, "size", *plan->size ? plan->size : NULL);
    ss_json_bool(json, "cpuset", place->has_group && *place->group.parts[LIMIT_CPUS].folder);
}

struct limits {
    struct ss_json *json;
    const struct ssactuate_session *session;
};

/* Unlike files of the machine, limits have no previous values, because the group is new. */
static void write_limit(void *context, enum limit limit, const char *path, const char *got) {
    const struct limits *limits = context;
    const struct ssactuate_plan *plan = &limits->session->plan;
    struct limit_setting settings[LIMIT_QUOTA_SETTINGS];
    static char cpus[8 * SS_CPUS_MAX];
    char memory[32];
    const char *asked = limit == LIMIT_CPUS ? cpus : memory;

    ss_cpus_print(cpus, sizeof cpus, &limits->session->parties[0].place.mask);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)plan->memory);

    size_t count = limit_group_quota_settings(
        settings, strcmp(strrchr(path, '/'), "/cpu.max") == 0, plan->quota, plan->period);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].file, strrchr(path, '/') + 1) == 0)
            asked = settings[i].value;
    }

    ss_json_open(limits->json, NULL, '{');
    ss_json_text(limits->json, "path", path);
    ss_json_text(limits->json, "asked", asked);
    ss_json_text(limits->json, "got", got);
    ss_json_close(limits->json, '}');
}

static void write_without_password(struct ss_json *json, const char *text) {
    SS_OWNED(free) char *shown = request_show_url(text);
    ss_json_text(json, NULL, shown);
}

static void write_urls(struct ss_json *json, const char *urls) {
    struct ss_words_part part;
    ss_json_open(json, "urls", '[');
    while (urls && ss_words_next(&urls, ' ', &part)) {
        char url[SSACTUATE_URL_SIZE];
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
    const struct ssactuate_record *record, const struct ssactuate_session *session, FILE *stream) {
    struct ss_json json = {.stream = stream};
    struct limits limits = {&json, session};
    const char *source;
    double hertz = measure(record, &source);

    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSACTUATE_RECORD_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ssactuate_record_write_knobs(&json, (const char *const *)session->options->words);

    ss_json_open(&json, "command", '[');
    for (char *const *word = session->options->command; *word; word++)
        ss_json_text(&json, NULL, *word);
    ss_json_close(&json, ']');

    write_files(&json, &session->undoing.journal);
    write_place(&json, session);
    ss_json_open(&json, "limits", '[');
    if (session->parties[0].place.has_group)
        limit_group_files(&session->parties[0].place.group, write_limit, &limits);
    ss_json_close(&json, ']');

    write_urls(&json, session->copies.urls);
    ss_json_number(&json, "actual_hz", hertz);
    ss_json_text(&json, "actual_hz_from", source);
    ss_json_number(
        &json, "seconds", ss_time_seconds(ss_time_since(ss_platform_now(), record->begin)));
    ss_json_number(&json, "status", ssactuate_session_status(session));
    ss_json_close(&json, '}');
}

int ssactuate_record_write(const struct ssactuate_record *record,
    const struct ssactuate_session *session, struct ss_error *error) {
    struct ss_whole_file file;
    const char *path = session->options->record;
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    write_result(record, session, file.stream);
    return ss_whole_file_end(&file, path, error);
}
