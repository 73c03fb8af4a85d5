/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/words.h"
#include "csv.h"
#include "json_document.h"
#include "record_tables.h"

/* Maximum number of failed instances that are named; others are only counted. */
#define FAILURES_NAMED 3

struct event_reader {
    struct ssreport_record *record;
    bool ending;
    size_t failed;      /* number of instances that ended by themselves with a failure */
    char failures[400]; /* descriptions of the first FAILURES_NAMED */
};

/* Prints the instance of an event: a number or, in older records, a text. */
static void print_instance(char *buffer, size_t size, struct json_object *event) {
    const char *text = document_text(event, "instance");
    double number = document_number(event, "instance");
    if (isnan(number))
        snprintf(buffer, size, "%.20s", text ? ss_words_show(text).text : "?");
    else
        snprintf(buffer, size, "%.0f", number);
}

/*
 * Appends an instance to the failures, with its status if the event has no description, as in older
 * records.
 */
static void name_failure(
    struct event_reader *reader, struct json_object *event, double status, double at) {
    char instance[24];
    print_instance(instance, sizeof instance, event);
    const char *how = document_text(event, "text");
    size_t used = strlen(reader->failures);
    char words[64];
    snprintf(words, sizeof words, "status %.0f", status);
    snprintf(reader->failures + used, sizeof reader->failures - used,
        "%sinstance %.20s ended after %.1f s: %.60s", used > 0 ? ", " : "", instance, at,
        how ? ss_words_show(how).text : words);
}

/* Earlier records have another text for this. */
static bool is_by_the_run(const char *how) {
    return how && (strcmp(how, "ended by the run") == 0 || strcmp(how, "as it was told to") == 0);
}

/* Handles the end of an instance. Iterations are expected from it only until then. */
static void take_end(struct event_reader *reader, struct json_object *event, double elapsed) {
    struct ssreport_record *record = reader->record;
    double status = document_number(event, "value");
    const char *how = document_text(event, "text");
    if (reader->ending || is_by_the_run(how))
        return;
    double at = elapsed > 0 ? elapsed : 0; /* unknown during the warm-up */
    record->first_end = fmin(record->first_end, ssreport_record_run_time(record, at));
    double instance = document_number(event, "instance");
    if (instance >= 0 && SS_GROW(record->over, record->over_count + 1, record->over_capacity))
        record->over[record->over_count++] = instance;
    if (status != 0 && reader->failed++ < FAILURES_NAMED)
        name_failure(reader, event, status, at);
}

/* Ignores a pause during the warm-up, because times count from the start of control. */
static void take_pause(struct ssreport_record *record, double elapsed) {
    if (elapsed > 0 && SS_GROW(record->pauses, record->pause_count + 1, record->pause_capacity))
        record->pauses[record->pause_count++] =
            (struct ssreport_pause){.begin = elapsed, .end = INFINITY};
}

static void take_continue(struct ssreport_record *record, double elapsed) {
    if (record->pause_count > 0 && elapsed > 0)
        record->pauses[record->pause_count - 1].end = elapsed;
}

static void take_ending(struct event_reader *reader, double elapsed) {
    reader->ending = true;
    if (elapsed > 0)
        reader->record->ended = ssreport_record_run_time(reader->record, elapsed);
}

/* Returns false if the line is not an event. */
static bool take_event(struct event_reader *reader, const char *line) {
    char why[128];
    struct json_object *event = document_parse(line, why, sizeof why);
    const char *name = document_text(event, "event");
    double elapsed = document_number(event, "elapsed_seconds");
    bool known = name != NULL;
    struct ssreport_record *record = reader->record;
    if (known && strcmp(name, "settling") == 0)
        record->counted_from = INFINITY; /* counting has not begun yet */
    else if (known && strcmp(name, "counting") == 0)
        record->counted_from = ssreport_record_run_time(record, fmax(elapsed, 0));
    else if (known && strcmp(name, "paused") == 0)
        take_pause(record, elapsed);
    else if (known && strcmp(name, "continued") == 0)
        take_continue(record, elapsed);
    else if (known && strcmp(name, "ending") == 0)
        take_ending(reader, elapsed);
    else if (known && strcmp(name, "instance_ended") == 0)
        take_end(reader, event, elapsed);
    json_object_put(event);
    return known;
}

void ssreport_record_read_events(struct ssreport_record *record) {
    struct event_reader reader = {.record = record};
    char path[4200], *line = NULL;
    size_t size = 0, number = 0, broken = 0, first = 0;
    snprintf(path, sizeof path, "%.4000s/events.jsonl", record->folder);
    FILE *stream = fopen(path, "re");
    if (!stream) {
        ssreport_notes_add(&record->notes, "events.jsonl: %s", strerror(errno));
        return;
    }
    while (getline(&line, &size, stream) >= 0) {
        number++;
        if (!take_event(&reader, line) && broken++ == 0)
            first = number;
    }
    free(line);
    fclose(stream);
    if (broken > 0)
        ssreport_notes_add(&record->notes, "events.jsonl:%zu: invalid event%s", first,
            broken > 1 ? " (and more)" : "");
    if (reader.failed > FAILURES_NAMED)
        ssreport_notes_add(&record->notes, "%s, and %zu more failed", reader.failures,
            reader.failed - FAILURES_NAMED);
    else if (reader.failed > 0)
        ssreport_notes_add(&record->notes, "%s", reader.failures);
}
