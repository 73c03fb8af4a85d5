/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "csv.h"
#include "json_document.h"
#include "record_tables.h"
#include "row_times.h"

#define TABLE "fleet.csv"
/*
 * Bins at the end are dropped if they have at most this part of the fullest bin's samples: nodes
 * begin, and therefore end, some milliseconds apart.
 */
#define END_PART 0.05

#define BIN_FIRST 1.0 /* width of a bin in seconds, until it doubles */
#define PATH_ROOM 8400

/* Maximum number of nodes whose invalid samples are noted; others are only counted, in the room
 * left. */
#define FAULTS_MAX 3

enum { NODE, RECORD, TRACE, STATUS, REASON, START, OFFSET, OFFSET_ERROR, CLOCK, CLOCK_ERROR };

/* Copies the text of a field; two quotes in a row are one. Returns NULL if memory is exhausted. */
static char *copy_field(const struct sstrace_field *field) {
    char *copy = strndup(field->text, field->length), *end = copy;
    for (size_t i = 0; copy && i < field->length; i++) {
        *end++ = field->text[i];
        i += field->text[i] == '"' && i + 1 < field->length && field->text[i + 1] == '"';
    }
    if (copy)
        *end = '\0';
    return copy;
}

static double number_of(const struct sstrace_field *field) {
    double number;
    return ssreport_csv_number(field, &number) ? number : (double)NAN;
}

static bool take_node(void *context, const struct sstrace_field *fields) {
    struct ssreport_fleet *fleet = context;
    if (fields[NODE].length == 0)
        return false;
    if (!SS_GROW(fleet->nodes, fleet->count + 1, fleet->capacity))
        return false;
    fleet->nodes[fleet->count++] = (struct ssreport_fleet_node){
        .name = copy_field(&fields[NODE]),
        .record = copy_field(&fields[fields[RECORD].length > 0 ? RECORD : NODE]),
        .trace = copy_field(&fields[TRACE]),
        .reason = copy_field(&fields[REASON]),
        .failed = !sstrace_field_is(&fields[STATUS], "done"),
        .start = number_of(&fields[START]),
        .offset = number_of(&fields[OFFSET]),
        .offset_error = number_of(&fields[OFFSET_ERROR]),
        .clock = copy_field(&fields[CLOCK]),
        .clock_error = number_of(&fields[CLOCK_ERROR]),
        .late = NAN,
        .cpus = NAN,
    };
    const struct ssreport_fleet_node *node = &fleet->nodes[fleet->count - 1];
    return node->name && node->record && node->trace && node->reason && node->clock;
}

static int read_table(struct ssreport_fleet *fleet, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error) {
    static const char *const columns[] = {"node", "record", "trace", "status", "reason", "start",
        "offset_seconds", "offset_error_seconds", "clock", "clock_error_seconds", NULL};
    const struct ssreport_csv csv = {.name = TABLE,
        .columns = columns,
        .optional = 1U << RECORD | 1U << TRACE | 1U << REASON | 1U << CLOCK | 1U << CLOCK_ERROR,
        .take = take_node,
        .context = fleet};
    return ssreport_csv_read(folder, &csv, notes, error);
}

enum { TIME, ELAPSED, TARGET, LOAD, COUNTED };

struct reader {
    struct ssreport_fleet *fleet;
    struct ssreport_fleet_node *node;
    struct ssreport_record record;  /* only the events of the record */
    struct ssreport_fleet_sum *row; /* row of the map */
    struct ssreport_fleet_sum span; /* sums over the current span */
    double last;                    /* end of the previous sample */
    double refused;                 /* see ssreport_row_follows() */
    bool any;                       /* there was a previous sample */
    double shift;                   /* time from the planned start to elapsed time 0 */
};

static void merge(struct ssreport_fleet_sum *bins) {
    for (size_t i = 0; i < SSREPORT_FLEET_BINS; i++) {
        struct ssreport_fleet_sum sum = {0};
        for (size_t k = 2 * i; k < 2 * i + 2 && k < SSREPORT_FLEET_BINS; k++) {
            sum.cpu += bins[k].cpu;
            sum.load += bins[k].load;
            sum.target += bins[k].target;
        }
        bins[i] = sum;
    }
}

static void widen(struct ssreport_fleet *fleet) {
    fleet->width *= 2;
    merge(fleet->bins);
    for (size_t row = 0; row < fleet->rows; row++)
        merge(fleet->map[row]);
}

static void add_to(struct ssreport_fleet_sum *sum, double cpu, double load, double target) {
    sum->cpu += cpu;
    sum->load += cpu * load;
    sum->target += cpu * target;
}

/* Adds a sample to all bins that it covers. */
static void add_span(const struct reader *reader, double from, double to, const double values[2]) {
    struct ssreport_fleet *fleet = reader->fleet;
    while (to > SSREPORT_FLEET_BINS * fleet->width)
        widen(fleet);
    for (size_t bin = (size_t)(from / fleet->width); bin < SSREPORT_FLEET_BINS; bin++) {
        double begin = fmax(from, (double)bin * fleet->width);
        double end = fmin(to, (double)(bin + 1) * fleet->width);
        if (end <= begin)
            break;
        double cpu = (end - begin) * reader->node->cpus;
        add_to(&fleet->bins[bin], cpu, values[0], values[1]);
        add_to(&reader->row[bin], cpu, values[0], values[1]);
    }
}

static void end_span(struct reader *reader) {
    reader->node->apart += fabs(reader->span.load - reader->span.target);
    reader->span = (struct ssreport_fleet_sum){0};
}

/* Returns when a sample began: at the end of the previous sample or of a later pause. */
static double find_begin(const struct reader *reader, double end) {
    double begin = reader->last;
    for (size_t i = 0; i < reader->record.pause_count; i++) {
        double at = reader->record.pauses[i].end;
        if (at > begin && at < end)
            begin = at;
    }
    return begin;
}

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct ssreport_fleet_node *node = reader->node;
    double time, end, load, counted, target = number_of(&fields[TARGET]);
    if (!ssreport_csv_time(&fields[TIME], &time) || !ssreport_csv_number(&fields[ELAPSED], &end) ||
        !ssreport_csv_number(&fields[LOAD], &load) ||
        !ssreport_csv_number(&fields[COUNTED], &counted))
        return false;
    double begin = find_begin(reader, end);
    if ((reader->any && end <= reader->last) ||
        !ssreport_row_follows(&begin, &reader->refused, end))
        return false;
    reader->last = end;
    reader->any = true;
    if (counted == 0 || isnan(target) || end <= begin)
        return true;
    if (isnan(node->late) && isfinite(node->start))
        node->late = time - end - node->start - (isnan(node->offset) ? 0 : node->offset);
    if (node->covered == 0)
        reader->shift = isnan(node->late) ? 0 : node->late;
    double length = end - begin, from = begin + reader->shift, to = end + reader->shift;
    node->ended = to;
    node->covered += length;
    node->load += length * load; /* sums, until finish_node() */
    node->target += length * target;
    node->error_abs += length * fabs(load - target);
    add_to(&reader->span, length, load, target);
    if (reader->span.cpu >= SSREPORT_FLEET_SPAN - 1e-6)
        end_span(reader);
    if (to > 0)
        add_span(reader, fmax(from, 0), to, (const double[]){load, target});
    return true;
}

/* Returns the number of CPUs that are busy at a load of 1 in a record; NaN if unknown. */
static double read_cpus(const char *folder, struct ss_error *error) {
    struct json_object *plan = document_read(folder, "plan.json", "", error);
    double cpus =
        document_number(document_get(plan, "measured", json_type_object), "capacity_cpus");
    if (isnan(cpus))
        cpus = document_number(plan, "cpu_count");
    json_object_put(plan);
    return cpus > 0 ? cpus : (double)NAN;
}

static void read_verdict(struct ssreport_verdict *verdict, const char *folder) {
    struct ss_error error = {0};
    struct json_object *summary = document_read(folder, "summary.json", "", &error);
    ssreport_verdict_take(verdict, summary);
    json_object_put(summary);
}

static void fail_node(struct ssreport_fleet_node *node, const char *why) {
    node->failed = true;
    if (*node->reason)
        return;
    free(node->reason);
    node->reason = strdup(why);
}

static void finish_node(struct ssreport_fleet_node *node) {
    bool any = node->covered > 0;
    node->load = any ? node->load / node->covered : (double)NAN;
    node->target = any ? node->target / node->covered : (double)NAN;
    node->error_abs = any ? node->error_abs / node->covered : (double)NAN;
    node->apart = any ? node->apart / node->covered : (double)NAN;
    node->error = node->target - node->load;
}

/* Adds the faults of a node's samples if it is one of the first FAULTS_MAX with faults. */
static void note_faults(
    struct ssreport_fleet *fleet, const char *node, const char *faults, struct ssreport_notes *to) {
    if (*faults && fleet->faulty++ < FAULTS_MAX)
        ssreport_notes_add(to, "%.60s: %.150s", node, faults);
}

static int read_record(struct ssreport_fleet *fleet, size_t index, const char *folder,
    struct ssreport_notes *report_notes) {
    static const char *const columns[] = {
        "time", "elapsed_seconds", "target", "load", "counted", NULL};
    struct ssreport_fleet_node *node = &fleet->nodes[index];
    struct reader reader = {
        .fleet = fleet, .node = node, .row = fleet->map[index * fleet->rows / fleet->count]};
    const struct ssreport_csv csv = {
        .name = "samples.csv", .columns = columns, .take = take_sample, .context = &reader};
    char path[PATH_ROOM];
    struct ss_error error = {0};
    struct ssreport_notes notes = {0};
    snprintf(path, sizeof path, "%.4000s/%.4000s", folder, node->record);
    reader.record.folder = strdup(path);
    if (!reader.record.folder)
        return -1;
    node->cpus = read_cpus(path, &error);
    read_verdict(&node->verdict, path);
    ssreport_record_read_events(&reader.record);
    if (isnan(node->cpus) || ssreport_csv_read(path, &csv, &notes, &error) < 0)
        fail_node(node,
            error.status ? error.message : "its record does not say how many CPUs the node has");
    else if (node->covered == 0)
        fail_node(node, "its record has no counted sample");
    note_faults(fleet, node->name, notes.text, report_notes);
    ssreport_record_free(&reader.record);
    end_span(&reader);
    finish_node(node);
    return node->reason ? 0 : -1;
}

bool ssreport_fleet_is_in(const char *folder) {
    return ssreport_has_file(folder, TABLE);
}

int ssreport_fleet_read(struct ssreport_fleet *fleet, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error) {
    *fleet = (struct ssreport_fleet){.name = strdup(folder), .width = BIN_FIRST};
    if (!fleet->name)
        return ss_error_memory(error);
    if (read_table(fleet, folder, notes, error) < 0)
        return -1;
    fleet->rows = fleet->count < SSREPORT_FLEET_ROWS ? fleet->count : SSREPORT_FLEET_ROWS;
    for (size_t i = 0; i < fleet->count; i++) {
        if (read_record(fleet, i, folder, notes) < 0)
            return ss_error_memory(error);
    }
    if (fleet->faulty > FAULTS_MAX)
        ssreport_notes_add(notes, "%zu more nodes have invalid or incomplete lines of samples",
            fleet->faulty - FAULTS_MAX);
    return 0;
}

bool ssreport_fleet_trusts_clock(const struct ssreport_fleet_node *node) {
    return isnan(node->offset) || (fabs(node->offset) <= SSREPORT_CLOCK_TRUSTED &&
                                      !(node->offset_error > SSREPORT_CLOCK_TRUSTED));
}

size_t ssreport_fleet_used(const struct ssreport_fleet *fleet) {
    size_t used = SSREPORT_FLEET_BINS;
    double most = 0;
    for (size_t i = 0; i < used; i++)
        most = fmax(most, fleet->bins[i].cpu);
    while (used > 0 && !(fleet->bins[used - 1].cpu > END_PART * most))
        used--;
    return used;
}

void ssreport_fleet_free(struct ssreport_fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        free(fleet->nodes[i].name);
        free(fleet->nodes[i].record);
        free(fleet->nodes[i].trace);
        free(fleet->nodes[i].reason);
        free(fleet->nodes[i].clock);
        ssreport_verdict_free(&fleet->nodes[i].verdict);
    }
    free(fleet->nodes);
    free(fleet->name);
    fleet->nodes = NULL;
    fleet->name = NULL;
    fleet->count = 0;
}
