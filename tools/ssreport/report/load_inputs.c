/* SPDX-License-Identifier: Apache-2.0 */
#include "load_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/words.h"
#include "csv.h"
#include "differences.h"

#define MANIFEST "manifest.csv"

static bool is_taken(const struct ssreport_report *report, const char *name) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (strcmp(report->runs[i].record.name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < report->response_count; i++) {
        if (strcmp(report->responses[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Returns the length of a path without trailing slashes. */
static int length_of(const char *path) {
    int length = (int)strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Chooses a unique name: the path without trailing slashes, with a number if that name is taken. */
static void choose_name(
    const struct ssreport_report *report, const char *path, char *name, size_t size) {
    int length = length_of(path);
    snprintf(name, size, "%.*s", length, path);
    for (size_t i = 2; is_taken(report, name); i++)
        snprintf(name, size, "%.*s (%zu)", length, path, i);
}

/* Returns where a record is, whatever its path: a link, or a path that begins with "./". */
static struct ssreport_place find_place(const char *path) {
    struct stat status = {0};
    bool known = stat(path, &status) == 0;
    return (struct ssreport_place){known, status.st_dev, status.st_ino};
}

static bool is_same_place(const struct ssreport_place *one, const struct ssreport_place *other) {
    return one->known && other->known && one->device == other->device && one->inode == other->inode;
}

/* Notes a record of a set that is given again: means and intervals take it for a repetition. */
static void note_repeated(struct ssreport_notes *notes, const struct ssreport_report *report,
    const struct ssreport_place *place, int set) {
    bool repeated = false;
    for (size_t i = 0; i < report->run_count; i++)
        repeated |= report->runs[i].set == set && is_same_place(&report->runs[i].place, place);
    for (size_t i = 0; i < report->response_count; i++)
        repeated |=
            report->responses[i].set == set && is_same_place(&report->responses[i].place, place);
    if (repeated)
        ssreport_notes_add(notes, "this record is given more than once, and counts each time");
}

int ssreport_add_failure(
    struct ssreport_report *report, const char *name, const char *why, enum ss_finding finding) {
    if (!SS_GROW(report->failures, report->failure_count + 1, report->failure_capacity))
        return -1;
    struct ssreport_failure *added = &report->failures[report->failure_count++];
    *added =
        (struct ssreport_failure){.name = strdup(name), .why = strdup(why), .finding = finding};
    return added->name && added->why ? 0 : -1;
}

/* Returns whether --leave-out excludes this record. If so, adds it to the failures. */
static bool is_left_out(struct ssreport_report *report, const char *name,
    const struct ssreport_verdict *verdict, int *result) {
    char why[SS_VERDICT_TEXT + 64];
    if (report->leave_out == SS_NOT_CHECKED || verdict->verdict.finding < report->leave_out)
        return false;
    snprintf(why, sizeof why, "left out: %s: %s", ss_verdict_word(&verdict->verdict),
        verdict->reasons ? verdict->reasons : "");
    *result = ssreport_add_failure(report, name, why, verdict->verdict.finding);
    return true;
}

/* Returns NULL if the run was not added. `result` is -1 if memory is exhausted, otherwise 0. */
static struct ssreport_run *add_run(
    struct ssreport_report *report, const char *path, int set, double edge, int *result) {
    char name[4200];
    struct ss_error error = {0};
    struct ssreport_settings settings = report->settings;
    settings.edge = edge;
    *result = 0;
    if (!SS_GROW(report->runs, report->run_count + 1, report->run_capacity)) {
        *result = -1;
        return NULL;
    }
    choose_name(report, path, name, sizeof name);
    struct ssreport_run *run = &report->runs[report->run_count];
    if (ssreport_run_read(run, path, name, &settings, &error) < 0) {
        ssreport_run_free(run);
        *result = ssreport_add_failure(report, name, error.message, SS_INVALID);
        return NULL;
    }
    run->place = find_place(path);
    note_repeated(&run->record.notes, report, &run->place, set);
    run->set = set;
    report->run_count++;
    return run;
}

/* Returns NULL if the record was not added. `result` is -1 if memory is exhausted, otherwise 0. */
static struct ssreport_responses *add_responses(
    struct ssreport_report *report, const char *path, int set, int *result) {
    char name[4200];
    struct ss_error error = {0};
    *result = 0;
    if (!SS_GROW(report->responses, report->response_count + 1, report->response_capacity)) {
        *result = -1;
        return NULL;
    }
    choose_name(report, path, name, sizeof name);
    struct ssreport_responses *responses = &report->responses[report->response_count];
    if (ssreport_responses_read(responses, path, name, &error) < 0) {
        ssreport_responses_free(responses);
        *result = ssreport_add_failure(report, name, error.message, SS_INVALID);
        return NULL;
    }
    ssreport_responses_read_beside(responses);
    responses->place = find_place(path);
    note_repeated(&responses->notes, report, &responses->place, set);
    responses->set = set;
    responses->edge = report->settings.edge;
    responses->others = NAN;
    report->response_count++;
    return responses;
}

/*
 * Indexes of the first columns in manifest_columns. WORKLOAD, METHOD and PLACEMENT name a run
 * without a record.
 */
enum { RUN, STATUS, REASON, EDGE, ROLE, WORKLOAD, METHOD, PLACEMENT };

#define NOWHERE SIZE_MAX
#define BOTH(member)                                                                               \
    offsetof(struct ssreport_run, member), offsetof(struct ssreport_responses, member)
#define RUN_ONLY(member) offsetof(struct ssreport_run, member), NOWHERE

// clang-format off
static const struct manifest_column {
    const char *name;
    size_t in_run, in_responses; /* offsets of the members that receive the value */
    enum { TEXT, NUMBER, SHARE } kind; /* a NUMBER is above 0, or 0 if absent; a SHARE is at least
                                          0, or NaN if absent */
} manifest_columns[] = {
    [RUN] = {"run", NOWHERE, NOWHERE},
    [STATUS] = {"status", NOWHERE, NOWHERE},
    [REASON] = {"reason", NOWHERE, NOWHERE},
    [EDGE] = {"edge_seconds", NOWHERE, offsetof(struct ssreport_responses, edge), SHARE},
    [ROLE] = {"role", RUN_ONLY(role)},
    [WORKLOAD] = {"workload", BOTH(workload)},
    [METHOD] = {"method", BOTH(method)},
    [PLACEMENT] = {"placement", RUN_ONLY(placement)},
    {"experiment", BOTH(experiment)},
    {"published", RUN_ONLY(published)},
    {"environment", BOTH(environment)},
    {"measured_in", RUN_ONLY(measured_in)},
    {"group", BOTH(group)},
    {"energy", BOTH(power_source)},
    {"target", BOTH(target), NUMBER},
    {"stands_for", RUN_ONLY(stands_for), NUMBER},
    {"tau_seconds", BOTH(tau), NUMBER},
    {"speed", RUN_ONLY(speed), NUMBER},
    {"trace", RUN_ONLY(trace)},
    {"round", BOTH(round), NUMBER},
    {"others", BOTH(others), SHARE},
    {"at", BOTH(at), NUMBER},
    {"predict", BOTH(predict), NUMBER},
    {"bursts", RUN_ONLY(bursts), NUMBER},
    {"knees", BOTH(knees), TEXT},
};
// clang-format on
#define MANIFEST_COLUMNS (sizeof manifest_columns / sizeof *manifest_columns)
_Static_assert(MANIFEST_COLUMNS <= SSREPORT_SOURCE_MAX, "too many columns");

size_t ssreport_source_column(const char *name) {
    for (size_t i = 0; i < MANIFEST_COLUMNS; i++) {
        if (strcmp(manifest_columns[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

bool ssreport_is_member(const char *column) {
    size_t number = ssreport_source_column(column);
    return number != SIZE_MAX && manifest_columns[number].in_run != NOWHERE;
}

bool ssreport_is_response_member(const char *column) {
    static const char *const levels[] = {"knobs", "cap", "balance"};
    size_t number = ssreport_source_column(column);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(column, levels[i]) == 0)
            return true;
    }
    return number != SIZE_MAX && manifest_columns[number].in_responses != NOWHERE;
}

struct manifest {
    struct ssreport_report *report;
    const char *folder;
    int set, result;
};

/* Returns the number in a field; NaN if the field is empty, invalid or negative. */
static double known_number(const struct sstrace_field *field) {
    double number;
    return ssreport_csv_number(field, &number) && number >= 0 ? number : NAN;
}

static void set_member(
    void *member, const struct manifest_column *column, const struct sstrace_field *field) {
    double number = known_number(field);
    if (column->kind == TEXT)
        *(char **)member = field->length > 0 ? strndup(field->text, field->length) : NULL;
    else
        *(double *)member = column->kind == SHARE || number > 0 ? number : 0;
}

/* Returns --edge if given, otherwise the edge of the row. */
static double choose_edge(const struct ssreport_report *report, double edge) {
    return report->settings.edge != SSREPORT_EDGE_DEFAULT || isnan(edge) ? report->settings.edge
                                                                         : edge;
}

/*
 * Sets members from the row of a manifest or, if a cell is empty, from a label of the record.
 * `fields` is NULL without a manifest.
 */
static void set_origin(struct ssreport_run *run, const struct sstrace_field *fields) {
    for (size_t i = 0; i < MANIFEST_COLUMNS; i++) {
        const struct manifest_column *column = &manifest_columns[i];
        const char *label = ssreport_record_label(&run->record, column->name);
        struct sstrace_field field = fields ? fields[i] : (struct sstrace_field){.text = ""};
        if (field.length == 0 && label && column->kind != SHARE)
            field = (struct sstrace_field){.text = label, .length = strlen(label)};
        if (column->in_run != NOWHERE)
            set_member((char *)run + column->in_run, column, &field);
    }
}

/*
 * Subtracts earlier pauses of the run from the time of a sample, in seconds since 1970. Returns
 * false for a sample in a pause.
 */
static bool leave_out_pauses(const struct ssreport_record *record, double *at) {
    double elapsed = *at - record->wall;
    if (record->pause_count == 0)
        return true;
    *at = record->wall + ssreport_record_run_time(record, elapsed);
    return !ssreport_record_is_paused(record, elapsed);
}

static void read_energy(struct ssreport_run *run, const char *folder) {
    struct ss_error error = {0};
    struct ssreport_energy *energy = &run->energy;
    size_t kept = 0;
    if (ssreport_energy_read(energy, folder, &run->record.notes, &error) < 0)
        ssreport_notes_add(&run->record.notes, "power is unknown: %s", error.message);
    for (size_t i = 0; i < energy->count; i++) {
        struct ssreport_power sample = energy->samples[i];
        if (leave_out_pauses(&run->record, &sample.at))
            energy->samples[kept++] = sample;
    }
    energy->count = kept;
}

static void read_idle(struct ssreport_run *run, const char *folder) {
    struct ss_error error = {0};
    struct ssreport_idle *idle = &run->idle;
    size_t kept = 0;
    if (ssreport_idle_read(idle, folder, &run->record.notes, &error) < 0)
        ssreport_notes_add(&run->record.notes, "idle states are unknown: %s", error.message);
    for (size_t i = 0; i < idle->count; i++) {
        struct ssreport_idle_second second = idle->seconds[i];
        if (leave_out_pauses(&run->record, &second.at))
            idle->seconds[kept++] = second;
    }
    idle->count = kept;
}

/*
 * Finds a file in the record's folder or, for runs side by side and runs of a study, in its parent.
 * Returns 0 or 1, the levels up, or -1 if absent.
 */
static int find_folder(
    const struct ssreport_run *run, const char *path, const char *name, char folder[8500]) {
    for (int up = 0; up < (run->role || run->columns.count > 0 ? 2 : 1); up++) {
        snprintf(folder, 8500, "%.8000s%s", path, up > 0 ? "/.." : "");
        if (ssreport_has_file(folder, name))
            return up;
    }
    return -1;
}

static void find_energy(struct ssreport_run *run, const char *path) {
    char folder[8500];
    int up = find_folder(run, path, "energy.csv", folder);
    run->energy.shared = up > 0 && run->role && !ssreport_is_word(run->role, SSREPORT_ALONE);
    if (up >= 0)
        read_energy(run, folder);
    if (find_folder(run, path, "idle.csv", folder) >= 0)
        read_idle(run, folder);
}

/*
 * Reads the load that ssload measured for a run of a study: in the parent of the record's folder.
 */
static void find_beside(struct ssreport_run *run, const char *path) {
    char folder[8500];
    snprintf(folder, sizeof folder, "%s/..", path);
    if (run->columns.count > 0 && run->beside.samples == 0)
        run->beside = ssreport_beside_read(&run->record, folder);
}

/*
 * Reads measurements made by other programs. Power comes last, because reading the host's samples
 * corrects `wall`.
 */
static void find_surroundings(struct ssreport_run *run, const char *path) {
    bool inside = !ssreport_is_word(run->measured_in, "host");
    ssreport_surroundings_read(&run->surroundings, path, &run->record, inside);
    find_beside(run, path);
    find_energy(run, path);
}

static int copy_text(char **text, const char *value) {
    if (!value || !*value)
        return 0;
    free(*text);
    *text = strdup(value);
    return *text ? 0 : -1;
}

/* Sets the members that separate series of a service: knobs, cap and balance. */
static int set_level(struct ssreport_responses *responses, const struct ssreport_columns *columns) {
    const char *cap = columns ? ssreport_columns_get(columns, "cap") : NULL;
    if (!columns || copy_text(&responses->knobs, ssreport_columns_get(columns, "knobs")) < 0)
        return columns ? -1 : 0;
    if (cap)
        ssreport_is_number(cap, &responses->cap);
    return copy_text(&responses->balance, ssreport_columns_get(columns, "balance"));
}

static int copy_columns(struct ssreport_columns *copy, const struct ssreport_columns *columns) {
    for (size_t i = 0; columns && i < columns->count; i++) {
        if (ssreport_columns_set(copy, columns->items[i].name, columns->items[i].value) < 0)
            return -1;
    }
    return 0;
}

/*
 * Judges a run of a study again. A run counts its neighbors as other processes, but ssbatch does
 * not: the true load is the smaller figure. A launch may end before the first sample.
 */
static void judge_in_study(struct ssreport_run *run) {
    struct ssreport_verdict *verdict = &run->record.verdict;
    struct ss_evidence evidence = verdict->verdict.evidence;
    double *figures = evidence.figures, others = 100 * run->others;
    bool is_refused = ss_verdict_reach(&evidence).finding != verdict->verdict.finding;
    bool is_less = figures[SS_CHECK_OTHERS] > others, is_launch = ssreport_run_is_launch(run);
    if (is_refused || !(is_less || is_launch))
        return;
    if (is_less)
        figures[SS_CHECK_OTHERS] = others;
    if (is_launch)
        figures[SS_CHECK_SAMPLES] = NAN;
    ssreport_verdict_reach(verdict, &evidence);
}

static int load_responses(struct ssreport_report *report, const struct ssreport_source *source) {
    int result;
    struct ssreport_responses *responses =
        add_responses(report, source->path, source->set, &result);
    if (!responses)
        return result;
    responses->manifest = source->fields ? report->manifest_count : 0;
    for (size_t i = 0; source->fields && i < MANIFEST_COLUMNS; i++) {
        const struct manifest_column *column = &manifest_columns[i];
        if (column->in_responses != NOWHERE)
            set_member((char *)responses + column->in_responses, column, &source->fields[i]);
    }
    responses->edge = choose_edge(report, responses->edge);
    if (copy_columns(&responses->columns, source->columns) < 0 ||
        set_level(responses, source->columns) < 0)
        return -1;
    if (is_left_out(report, responses->name, &responses->verdict, &result))
        ssreport_responses_free(&report->responses[--report->response_count]);
    return result;
}

static int load_run(struct ssreport_report *report, const struct ssreport_source *source) {
    int result;
    struct ssreport_run *run = add_run(report, source->path, source->set,
        choose_edge(report, source->fields ? known_number(&source->fields[EDGE]) : NAN), &result);
    if (!run)
        return result;
    run->manifest = source->fields ? report->manifest_count : 0;
    set_origin(run, source->fields);
    if (copy_columns(&run->columns, source->columns) < 0)
        return -1;
    find_surroundings(run, source->path);
    judge_in_study(run);
    if (is_left_out(report, run->record.name, &run->record.verdict, &result))
        ssreport_run_free(&report->runs[--report->run_count]);
    return result;
}

int ssreport_load_record(struct ssreport_report *report, const struct ssreport_source *source) {
    bool is_requests = source->is_requests || ssreport_responses_are_in(source->path);
    return is_requests ? load_responses(report, source) : load_run(report, source);
}

/* Adds a failure for a planned run that is missing. A skipped run is no invalid record. */
static int add_absent(struct manifest *manifest, const struct sstrace_field *fields) {
    char name[512], why[512];
    snprintf(name, sizeof name, "%.200s:", manifest->folder);
    for (int i = WORKLOAD; i <= PLACEMENT; i++) {
        size_t used = strlen(name);
        if (fields[i].length > 0)
            snprintf(
                name + used, sizeof name - used, " %.*s", (int)fields[i].length, fields[i].text);
    }
    snprintf(why, sizeof why, "%.*s", (int)fields[REASON].length, fields[REASON].text);
    return ssreport_add_failure(manifest->report, name, *why ? why : "there is no record",
        sstrace_field_is(&fields[STATUS], "skipped") ? SS_NOT_CHECKED : SS_INVALID);
}

static bool load_row(void *context, const struct sstrace_field *fields) {
    struct manifest *manifest = context;
    char path[8400];
    if (manifest->result < 0)
        return true;
    if (fields[RUN].length == 0) {
        manifest->result = add_absent(manifest, fields);
        return true;
    }
    bool is_absolute = *fields[RUN].text == '/';
    snprintf(path, sizeof path, "%.4000s%s%.*s", is_absolute ? "" : manifest->folder,
        is_absolute ? "" : "/", (int)fields[RUN].length, fields[RUN].text);
    path[length_of(path)] = '\0';
    const struct ssreport_source source = {.path = path,
        .set = manifest->set,
        .is_requests = sstrace_field_is(&fields[ROLE], "requests"),
        .fields = fields};
    manifest->result = ssreport_load_record(manifest->report, &source);
    return true;
}

static int load_manifest(struct ssreport_report *report, const char *folder, int set) {
    struct manifest manifest = {.report = report, .folder = folder, .set = set};
    const char *names[MANIFEST_COLUMNS + 1] = {0};
    struct ssreport_csv csv = {.name = MANIFEST,
        .columns = names,
        .optional = ~1U,
        .take = load_row,
        .context = &manifest};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    for (size_t i = 0; i < MANIFEST_COLUMNS; i++)
        names[i] = manifest_columns[i].name;
    report->manifest_count++;
    if (ssreport_csv_read(folder, &csv, &notes, &error) < 0)
        return ssreport_add_failure(report, folder, error.message, SS_INVALID);
    if (*notes.text && ssreport_add_failure(report, folder, notes.text, SS_INVALID) < 0)
        return -1;
    return manifest.result;
}

/* Adds the verdict on the record of a node. Returns -1 if memory is exhausted. */
static int check_node(struct ssreport_report *report, const struct ssreport_fleet *fleet,
    const struct ssreport_fleet_node *node) {
    char path[8400];
    struct ssreport_run run;
    struct ss_error error = {0};
    int result = 0;
    snprintf(path, sizeof path, "%.4000s/%.4000s", fleet->name, node->record);
    if (!SS_GROW(report->checked, report->checked_count + 1, report->checked_capacity))
        return -1;
    if (ssreport_run_read(&run, path, path, &report->settings, &error) < 0) {
        result = ssreport_add_failure(
            report, path, *node->reason ? node->reason : error.message, SS_INVALID);
    } else {
        report->checked[report->checked_count++] =
            (struct ssreport_checked){.name = strdup(path), .verdict = run.record.verdict};
        run.record.verdict.reasons = NULL; /* taken */
        result = report->checked[report->checked_count - 1].name ? 0 : -1;
    }
    ssreport_run_free(&run);
    return result;
}

/* Keeps only the verdict of each record: a fleet has more records than memory holds. */
static int check_nodes(struct ssreport_report *report, const struct ssreport_fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        if (check_node(report, fleet, &fleet->nodes[i]) < 0)
            return -1;
    }
    return 0;
}

static int add_fleet(struct ssreport_report *report, const char *path, int set) {
    struct ss_error error = {0};
    if (!SS_GROW(report->fleets, report->fleet_count + 1, report->fleet_capacity))
        return -1;
    struct ssreport_fleet *fleet = &report->fleets[report->fleet_count];
    if (ssreport_fleet_read(fleet, path, &report->notes, &error) < 0) {
        ssreport_fleet_free(fleet);
        return ssreport_add_failure(report, path, error.message, SS_INVALID);
    }
    fleet->set = set;
    report->fleet_count++;
    if (report->leave_out != SS_NOT_CHECKED)
        ssreport_notes_add(&report->notes,
            "%.300s: --leave-out leaves out no node of a fleet; --check names the invalid ones",
            path);
    return report->checks ? check_nodes(report, fleet) : 0;
}

int ssreport_gather(struct ssreport_report *report, const char *given, int set) {
    char path[4200];
    /* Files next to a record have its name, which a shell completes with a slash. */
    snprintf(path, sizeof path, "%.*s", length_of(given), given);
    if (ssreport_has_file(path, MANIFEST))
        return load_manifest(report, path, set);
    if (ssreport_fleet_is_in(path))
        return add_fleet(report, path, set);
    if (ssreport_study_is_in(path))
        return ssreport_study_load(report, path, set);
    return ssreport_load_record(report, &(struct ssreport_source){.path = path, .set = set});
}

void ssreport_inputs_free(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++)
        ssreport_run_free(&report->runs[i]);
    for (size_t i = 0; i < report->response_count; i++)
        ssreport_responses_free(&report->responses[i]);
    for (size_t i = 0; i < report->fleet_count; i++)
        ssreport_fleet_free(&report->fleets[i]);
    free(report->fleets);
    for (size_t i = 0; i < report->checked_count; i++) {
        free(report->checked[i].name);
        ssreport_verdict_free(&report->checked[i].verdict);
    }
    free(report->checked);
    for (size_t i = 0; i < report->failure_count; i++) {
        free(report->failures[i].name);
        free(report->failures[i].why);
    }
    for (size_t i = 0; i < report->table_count; i++)
        table_free(&report->tables[i]);
    published_free(&report->published);
    free(report->tables);
    free(report->runs);
    free(report->responses);
    free(report->failures);
    free(report->differences.names);
    free(report->differences.follows);
    free(report->study);
    free(report->prefix);
    *report = (struct ssreport_report){0};
}
