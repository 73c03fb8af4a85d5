/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "differences.h"
#include "duet_words.h"
#include "hypotheses.h"
#include "load_inputs.h"
#include "memory_profile.h"
#include "page.h"
#include "placement_policy.h"
#include "platform/program.h"
#include "report_options.h"
#include "timeline.h"
#include "topics.h"
#include "verdicts_topic.h"

/* Exit status if nothing was measured, or if the requested table, column or test has no result. */
#define STATUS_NO_RESULTS 1
/* Exit status of --check if a record is invalid. */
#define STATUS_INVALID 3

static void print_note(const char *name, const char *text) {
    if (*text)
        fprintf(stderr, "ssreport: %s: %s\n", name, text);
}

/*
 * Prints the notes on records, the reasons why records are not reported, and the notes on the whole
 * report.
 */
static void print_notes(const struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++)
        print_note(report->runs[i].record.name, report->runs[i].record.notes.text);
    for (size_t i = 0; i < report->response_count; i++)
        print_note(report->responses[i].name, report->responses[i].notes.text);
    for (size_t i = 0; i < report->failure_count; i++)
        print_note(report->failures[i].name, report->failures[i].why);
    if (*report->notes.text)
        fprintf(stderr, "ssreport: %s\n", report->notes.text);
}

static int open_file(
    struct ss_whole_file *file, char path[8400], const char *folder, const char *name) {
    snprintf(path, 8400, "%.4000s/%.4000s", folder, name);
    return ss_whole_file_open(file, path);
}

static int cannot_write(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", path, strerror(errno));
}

/* If the table has no rows, removes the file that an earlier report may have left. */
static int write_sheet(
    const struct table_sheet *sheet, const char *folder, struct ss_error *error) {
    struct ss_whole_file file;
    char name[64], path[8400];
    snprintf(name, sizeof name, "%s.csv", sheet->name);
    if (table_rows(sheet) == 0) {
        snprintf(path, sizeof path, "%.4000s/%s", folder, name);
        return unlink(path) < 0 && errno != ENOENT ? cannot_write(path, error) : 0;
    }
    if (open_file(&file, path, folder, name) < 0)
        return cannot_write(path, error);
    table_print_csv(file.stream, sheet);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_sheets(
    const struct ssreport_report *report, const char *folder, struct ss_error *error) {
    for (size_t i = 0; i < report->table_count; i++) {
        if (write_sheet(&report->tables[i], folder, error) < 0)
            return -1;
    }
    return 0;
}

static int write_page(
    const struct ssreport_report *report, const char *folder, struct ss_error *error) {
    struct ss_whole_file file;
    struct ss_error without = {0};
    char path[8400];
    if (open_file(&file, path, folder, "report.html") < 0)
        return cannot_write(path, error);
    ssreport_page_print(file.stream, report, &without);
    if (ss_whole_file_commit(&file) < 0)
        return cannot_write(path, error);
    if (without.status)
        fprintf(stderr, "ssreport: cannot draw pictures: %s\n", without.message);
    return 0;
}

/* Fails unless exactly one record is reported. */
static int write_profile(
    const struct ssreport_report *report, const char *path, struct ss_error *error) {
    struct ss_whole_file file;
    if (report->run_count != 1)
        return ss_error_fail(error,
            "--profile takes one record, but %zu are reported: name only the record to make the "
            "profile from",
            report->run_count);
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    if (ssreport_profile_write(file.stream, &report->runs[0], error) < 0) {
        ss_whole_file_abandon(&file);
        return -1;
    }
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_timeline(
    const struct ssreport_report *report, const char *path, struct ss_error *error) {
    struct ss_whole_file file;
    size_t left_out;
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    if (ssreport_timeline_write(file.stream, report, &left_out, error) < 0) {
        ss_whole_file_abandon(&file);
        return -1;
    }
    if (left_out > 0)
        fprintf(stderr, "ssreport: --perfetto: left out %zu event%s at impossible times\n",
            left_out, left_out == 1 ? "" : "s");
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_policy(const struct ssreport_report *report,
    const struct ssreport_request *request, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, request->policy) < 0)
        return cannot_write(request->policy, error);
    if (ssreport_policy_write(file.stream, report, request->pair, request->best_by == 1, error) <
        0) {
        ss_whole_file_abandon(&file);
        return -1;
    }
    return ss_whole_file_commit(&file) < 0 ? cannot_write(request->policy, error) : 0;
}

#define IS_RECORD "a record, which the report would damage"

/* Files that a report reads: their paths begin with that of a record, a study or a fleet. */
static const struct input_file {
    const char *suffix;
    const char *held;    /* what a folder with this file holds, which --output refuses; NULL if it
                            may be the folder of a report */
    const char *heading; /* begins the table of this name that a report writes; NULL if none */
} input_files[] = {
    {"", NULL, NULL},
    {"/plan.json", IS_RECORD, NULL},
    {"/samples.csv", IS_RECORD, NULL},
    {"/requests.json", IS_RECORD, NULL},
    {"/run.json", IS_RECORD, NULL},
    {"/requests.csv", "a record of requests, which the report would replace", "record,"},
    {"/energy.csv", "samples of power in energy.csv, which the report would replace", "record,"},
    {"/fleet.csv", "the list of a fleet's nodes, fleet.csv, which the report would replace",
        "fleet,"},
    {"/summary.json", NULL, NULL},
    {"/platform.json", NULL, NULL},
    {"/events.jsonl", NULL, NULL},
    {"/decisions.csv", NULL, NULL},
    {"/decisions-before.csv", NULL, NULL},
    {"/cpus.csv", NULL, NULL},
    {"/iterations.csv", NULL, NULL},
    {"/iteration-times.csv", NULL, NULL},
    {"/counters.csv", NULL, NULL},
    {"/response-times.csv", NULL, NULL},
    {"/idle.csv", NULL, NULL},
    {"/beside.csv", NULL, NULL},
    {"/host-load.csv", NULL, NULL},
    {"/guest-clock.csv", NULL, NULL},
    {"/guest-vcpus.csv", NULL, NULL},
    {"/manifest.csv", NULL, NULL},
    /* Next to a record, and in the folder of a run of a study: */
    {"/../run.json", NULL, NULL},
    {"/../energy.csv", NULL, NULL},
    {"/../idle.csv", NULL, NULL},
    {"/../beside.csv", NULL, NULL},
    {".host-load.csv", NULL, NULL},
    {".guest-clock.csv", NULL, NULL},
    {".guest-vcpus.csv", NULL, NULL},
    {".each.csv", NULL, NULL},
};
#define INPUT_FILES (sizeof input_files / sizeof *input_files)

/* Returns whether a file exists and does not begin with a heading, if one is given. */
static bool holds_other(const char *path, const char *heading) {
    char line[64] = "";
    if (access(path, F_OK) < 0)
        return false;
    FILE *stream = heading ? fopen(path, "re") : NULL;
    bool is_read = stream && fgets(line, sizeof line, stream);
    if (stream)
        fclose(stream);
    return !is_read || strncmp(line, heading, strlen(heading)) != 0;
}

/*
 * Fails if the folder is a record, a run of a study or a fleet, because some tables have the names
 * of their files. A file with such a name may be replaced only if it begins as our table does: the
 * columns of an input have any order.
 */
static int check_output(const char *folder, struct ss_error *error) {
    for (size_t i = 0; i < INPUT_FILES; i++) {
        const struct input_file *file = &input_files[i];
        char path[8400];
        snprintf(path, sizeof path, "%.8000s%s", folder, file->suffix);
        if (file->held && holds_other(path, file->heading))
            return ss_error_fail(
                error, "--output: %s holds %s: choose another folder", folder, file->held);
    }
    return 0;
}

/* Returns whether a path, with a suffix, is this file. */
static bool is_at(const struct stat *file, const char *path, const char *suffix) {
    struct stat status;
    char joined[8400];
    snprintf(joined, sizeof joined, "%.8000s%s", path, suffix);
    return stat(joined, &status) == 0 && status.st_dev == file->st_dev &&
           status.st_ino == file->st_ino;
}

/* Returns whether the file is this path, or a file of the record, study or fleet there. */
static bool is_read_from(const struct stat *file, const char *path) {
    for (size_t i = 0; i < INPUT_FILES; i++) {
        if (is_at(file, path, input_files[i].suffix))
            return true;
    }
    return false;
}

static bool is_node_file(const struct stat *file, const struct ssreport_fleet *fleet) {
    char path[8400];
    for (size_t i = 0; i < fleet->count; i++) {
        snprintf(path, sizeof path, "%.4000s/%.4000s", fleet->name, fleet->nodes[i].record);
        if (is_read_from(file, path))
            return true;
    }
    return false;
}

static bool is_within(const struct stat *file, const char *folder) {
    SS_OWNED(closedir) DIR *open = opendir(folder);
    const struct dirent *entry;
    while (open && (entry = readdir(open))) {
        char suffix[300];
        snprintf(suffix, sizeof suffix, "/%s", entry->d_name);
        if (is_at(file, folder, suffix))
            return true;
    }
    return false;
}

static bool is_input(const struct stat *file, const struct ssreport_report *report,
    const struct ssreport_request *request) {
    bool found = (request->predict && is_at(file, request->predict, "")) ||
                 (request->published && is_within(file, request->published));
    for (size_t i = 0; i < request->count; i++)
        found |= is_read_from(file, request->folders[i]);
    for (size_t i = 0; i < report->run_count; i++)
        found |= is_read_from(file, report->runs[i].record.folder);
    for (size_t i = 0; i < report->response_count; i++)
        found |= is_read_from(file, report->responses[i].path);
    for (size_t i = 0; i < report->failure_count; i++) /* most of them are named by their path */
        found |= is_read_from(file, report->failures[i].name);
    for (size_t i = 0; i < report->fleet_count; i++)
        found |= is_node_file(file, &report->fleets[i]);
    return found;
}

/* Fails if a file to write is one that the report has read, even by another name. */
static int check_files(const struct ssreport_report *report, const struct ssreport_request *request,
    struct ss_error *error) {
    const struct ss_path outputs[] = {{"--profile", request->profile, false},
        {"--perfetto", request->perfetto, false}, {"--policy", request->policy, false}};
    size_t count = sizeof outputs / sizeof *outputs;
    struct stat file;
    for (size_t i = 0; i < count; i++) {
        if (outputs[i].path && stat(outputs[i].path, &file) == 0 && S_ISREG(file.st_mode) &&
            is_input(&file, report, request))
            return ss_error_fail(error,
                "%s would overwrite %s, which this report reads: choose another file",
                outputs[i].option, ss_words_show(outputs[i].path).text);
    }
    return ss_paths_check(outputs, count, -1, error);
}

/* Checks the name before any record is read. */
static int check_table(const char *name, struct ss_error *error) {
    char names[1000] = "";
    if (!name || ssreport_topics_table(name))
        return 0;
    ssreport_topics_name_tables(names, sizeof names);
    return ss_error_fail(error, "--table: there is no table \"%s\": choose one of %s",
        ss_words_show(name).text, names);
}

/* Prints the known values of a column, one per line. Fails if no value is known. */
static int print_column(
    const struct table_sheet *table, const char *column, struct ss_error *error) {
    size_t known = 0, at = 0;
    while (at < table->column_count && strcmp(table->columns[at].name, column) != 0)
        at++;
    if (at == table->column_count)
        return ss_error_fail(error, "--column: table %s has no column \"%s\"", table->name,
            ss_words_show(column).text);
    for (size_t row = 0; row < table_rows(table); row++) {
        const struct table_cell *cell = table_cell_at(table, row, column);
        bool is_known = cell->text ? *cell->text != '\0' : isfinite(cell->number);
        if (is_known && cell->text)
            printf("%s\n", cell->text);
        else if (is_known)
            printf("%.*g\n", TABLE_DIGITS, cell->number);
        known += is_known;
    }
    return known > 0 ? 0
                     : ss_error_set(error, STATUS_NO_RESULTS,
                           "column %s of table %s has no known values", column, table->name);
}

/* Prints a table, or one of its columns, for scripts. Fails if the table has no rows. */
static int print_table(const struct table_sheet *table, const struct ssreport_request *request,
    struct ss_error *error) {
    static void (*const print[])(FILE *, const struct table_sheet *) = {
        [SSREPORT_FORMAT_CSV] = table_print_csv,
        [SSREPORT_FORMAT_MARKDOWN] = table_print_markdown,
        [SSREPORT_FORMAT_JSON] = table_print_json};
    if (table_rows(table) == 0)
        return ss_error_set(error, STATUS_NO_RESULTS, "table %s has no rows", table->name);
    if (request->column)
        return print_column(table, request->column, error);
    print[request->format < 0 ? SSREPORT_FORMAT_CSV : request->format](stdout, table);
    return 0;
}

/* Prints the requested table or, if none was requested, the summary. */
static int print_output(const struct ssreport_report *report,
    const struct ssreport_request *request, struct ss_error *error) {
    if (request->table)
        return print_table(ssreport_table(report, request->table), request, error);
    if (!request->quiet)
        ssreport_text_print(stdout, report);
    return 0;
}

/* Fails if another file to write is one of the report. Its folder exists. */
static int check_folder(const struct ssreport_report *report,
    const struct ssreport_request *request, struct ss_error *error) {
    for (size_t i = 0; i <= report->table_count; i++) {
        bool is_table = i < report->table_count;
        char path[8400];
        snprintf(path, sizeof path, "%.4000s/%.200s%s", request->output,
            is_table ? report->tables[i].name : "report", is_table ? ".csv" : ".html");
        const struct ss_path outputs[] = {{"--output", path, false},
            {"--profile", request->profile, false}, {"--perfetto", request->perfetto, false},
            {"--policy", request->policy, false}};
        if (ss_paths_check(outputs, sizeof outputs / sizeof *outputs, -1, error) < 0)
            return -1;
    }
    return 0;
}

static int write_all(const struct ssreport_report *report, const struct ssreport_request *request,
    struct ss_error *error) {
    const char *folder = request->output;
    if (check_output(folder, error) < 0)
        return -1;
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return cannot_write(folder, error);
    if (check_folder(report, request, error) < 0)
        return -1;
    if (write_sheets(report, folder, error) < 0)
        return -1;
    return write_page(report, folder, error);
}

/* Copies the last component of a path or, if `up` is 1, of its parent. */
static void copy_part(char name[128], const char *path, int up) {
    size_t end = strlen(path);
    for (;; up--) {
        while (end > 1 && path[end - 1] == '/')
            end--;
        size_t begin = end;
        while (begin > 0 && path[begin - 1] != '/')
            begin--;
        if (up == 0 || begin == 0) {
            snprintf(name, 128, "%.*s", up == 0 ? (int)(end - begin) : 0, path + begin);
            return;
        }
        end = begin;
    }
}

/*
 * Copies the name of the only folder or, of several folders, the name of their parent; "" if their
 * parents have different names.
 */
static void name_set(char name[128], char *const *folders, size_t count) {
    char other[128];
    copy_part(name, folders[0], count > 1);
    for (size_t i = 1; i < count; i++) {
        copy_part(other, folders[i], 1);
        if (strcmp(name, other) != 0)
            *name = '\0';
    }
}

/*
 * Names the sets as requested by --names, otherwise after their folders if these have different
 * names.
 */
static void name_sets(struct ssreport_report *report, const struct ssreport_request *request) {
    const char *slash = request->names ? strchr(request->names, '/') : NULL;
    if (slash) {
        snprintf(report->names[0], 128, "%.*s", (int)(slash - request->names), request->names);
        snprintf(report->names[1], 128, "%s", slash + 1);
        return;
    }
    name_set(report->names[0], request->folders, request->first_set);
    name_set(report->names[1], request->folders + request->first_set,
        request->count - request->first_set);
    if (strcmp(report->names[0], report->names[1]) == 0)
        report->names[0][0] = report->names[1][0] = '\0';
}

/*
 * Reads published figures if the report has runs of an experiment. The experiment duet has none: it
 * compares commands of the user.
 */
static void read_published(struct ssreport_report *report, const char *folder) {
    char own[8400];
    bool wanted = false;
    for (size_t i = 0; i < report->run_count; i++)
        wanted |= report->runs[i].experiment && strcmp(report->runs[i].experiment, "duet") != 0;
    for (size_t i = 0; i < report->response_count; i++)
        wanted |= report->responses[i].knobs != NULL;
    if (!wanted)
        return;
    if (!folder)
        published_folder(own, sizeof own);
    folder = folder ? folder : own;
    if (access(folder, R_OK | X_OK) < 0)
        ssreport_notes_add(
            &report->notes, "no published figures: %.300s: %s", folder, strerror(errno));
    else
        published_read(&report->published, folder, "ssreport", &report->notes);
}

static int gather(struct ssreport_report *report, const struct ssreport_request *request,
    struct ss_error *error) {
    for (size_t i = 0; i < request->count; i++) {
        if (ssreport_gather(report, request->folders[i], i >= request->first_set) < 0)
            return ss_error_memory(error);
    }
    return 0;
}

static int fill(struct ssreport_report *report, const struct ssreport_request *request,
    struct ss_error *error) {
    if (gather(report, request, error) < 0)
        return -1;
    if (ssreport_differences_find(report) < 0)
        return ss_error_memory(error);
    report->trace = request->predict;
    report->compares = request->first_set < request->count;
    if (report->compares)
        name_sets(report, request);
    read_published(report, request->published);
    return ssreport_topics_build(report, error);
}

static bool has_results(const struct ssreport_report *report) {
    bool any = false;
    for (size_t i = 0; i < report->run_count; i++)
        any |= report->runs[i].figures.samples > 0;
    for (size_t i = 0; i < report->response_count; i++)
        any |= report->responses[i].succeeded > 0 || report->responses[i].capacity.demand;
    for (size_t i = 0; i < report->fleet_count; i++)
        any |= ssreport_fleet_used(&report->fleets[i]) > 0;
    return any;
}

/* Prints verdicts unless --quiet is given. Fails with STATUS_INVALID if a record is invalid. */
static int check_records(const struct ssreport_report *report,
    const struct ssreport_request *request, struct ss_error *error) {
    const struct table_sheet *verdicts = ssreport_table(report, "verdicts");
    size_t invalid = ssreport_verdicts_count(report, "invalid");
    if (table_rows(verdicts) == 0)
        return ss_error_fail(error, "no record to check: none of the given folders holds one");
    if (request->format == SSREPORT_FORMAT_JSON) {
        ssreport_verdicts_print_json(stdout, report);
    } else if (request->format >= 0) {
        if (print_table(verdicts, request, error) < 0)
            return -1;
    } else if (!request->quiet) {
        ssreport_verdicts_print(stdout, report);
    }
    if (invalid > 0)
        return ss_error_set(error, STATUS_INVALID, "%zu of %zu records %s invalid", invalid,
            table_rows(verdicts), invalid == 1 ? "is" : "are");
    return 0;
}

static struct ssreport_report begin_report(const struct ssreport_request *request) {
    struct ssreport_report report = {
        .settings = {
            .edge = request->edge == SS_TIME_NEVER ? SSREPORT_EDGE_DEFAULT
                                                   : ss_time_seconds(request->edge),
            .interval = ss_time_seconds(request->interval),
            .confidence = request->confidence,
            .deviation = request->deviation,
        }};
    report.checks = request->check;
    if (request->leave_out >= 0)
        report.leave_out = request->leave_out == 0 ? SS_DOUBTFUL : SS_INVALID;
    return report;
}

/* Prints the decision of a study of two commands, and sets `status` accordingly. */
static int decide(const struct ssreport_request *request, int *status, struct ss_error *error) {
    struct ssreport_report report = begin_report(request);
    struct duet_study study = {0};
    int result = gather(&report, request, error);
    if (result == 0 && duet_study_read(&study, &report) < 0)
        result = ss_error_memory(error);
    if (result == 0 && !study.is_present)
        result = ss_error_fail(
            error, "--decide: not a study of the experiment duet: name the folder of one");
    if (result == 0 && study.has_others)
        result = ss_error_fail(error,
            "--decide takes one study of the experiment duet, but several are given: name only the "
            "folder of one");
    if (result == 0 && *study.notes.text && !request->quiet)
        fprintf(stderr, "ssreport: %s\n", study.notes.text);
    if (result == 0 && study.lacking) {
        char lack[DUET_TEXT];
        duet_describe_lack(&study, study.lacking, lack, sizeof lack);
        result = ss_error_fail(error, "%s: there is no answer", lack);
    }
    if (result == 0) {
        *status = (int)duet_status_of(&study);
        if (request->format == SSREPORT_FORMAT_MARKDOWN)
            duet_print_markdown(stdout, &study);
        else if (!request->quiet)
            duet_print(stdout, &study);
    }
    duet_study_free(&study);
    ssreport_report_free(&report);
    return result;
}

static int make_report(const struct ssreport_request *request, struct ss_error *error) {
    struct ssreport_report report = begin_report(request);
    int result = check_table(request->table, error);
    if (result == 0)
        result = fill(&report, request, error);
    if (result == 0 && request->check) {
        result = check_records(&report, request, error);
        ssreport_report_free(&report);
        return result;
    }
    if (result == 0)
        print_notes(&report);
    bool empty = report.run_count + report.response_count + report.fleet_count == 0;
    if (result == 0 && empty && report.manifest_count == 0)
        result = ss_error_fail(
            error, "no record to report: none of the given folders holds one that can be read");
    if (result == 0)
        result = check_files(&report, request, error);
    if (result == 0 && request->output)
        result = write_all(&report, request, error);
    if (result == 0 && request->profile)
        result = write_profile(&report, request->profile, error);
    if (result == 0 && request->perfetto)
        result = write_timeline(&report, request->perfetto, error);
    if (result == 0 && request->policy)
        result = write_policy(&report, request, error);
    if (result == 0)
        result = print_output(&report, request, error);
    if (result == 0 && !has_results(&report))
        result = ss_error_set(error, STATUS_NO_RESULTS, "%s",
            empty ? "no results: no run has a record that can be reported"
                  : "no results: no run has a counted sample or an answered request");
    ssreport_report_free(&report);
    return result;
}

static int read_groups(
    struct grouped_values *groups, const struct ssreport_request *request, struct ss_error *error) {
    struct grouped_columns columns = {request->value, request->group, request->run};
    if (!request->of)
        return grouped_values_read(groups, request->folders[0], &columns, error);
    for (size_t i = 0; i < request->count; i++) {
        if (grouped_values_add(groups, request->folders[i], error) < 0)
            return ss_error_wrap(error, "--of");
    }
    return 0;
}

/* Returns the requested table of tests; NULL with the error set if there is no such table. */
static const struct table_sheet *find_test_table(
    const struct hypotheses *hypotheses, const char *name, struct ss_error *error) {
    for (size_t i = 0; i < HYPOTHESES_TABLES; i++) {
        if (strcmp(hypotheses_tables[i], name) == 0)
            return &hypotheses->tables[i];
    }
    ss_error_fail(error, "--table: --test has no table \"%s\": choose %s, %s or %s",
        ss_words_show(name).text, hypotheses_tables[0], hypotheses_tables[1], hypotheses_tables[2]);
    return NULL;
}

static int print_tests(const struct hypotheses *hypotheses, const struct ssreport_request *request,
    struct ss_error *error) {
    enum hypothesis asked = (enum hypothesis)request->test;
    const char *missing = hypotheses_missing(hypotheses, asked);
    const struct table_sheet *table = NULL;
    if (request->table && !(table = find_test_table(hypotheses, request->table, error)))
        return -1;
    if (table && print_table(table, request, error) < 0)
        return -1;
    if (!table && !request->quiet)
        hypotheses_print_text(stdout, hypotheses, asked);
    return missing ? ss_error_set(error, STATUS_NO_RESULTS, "no result: %s", missing) : 0;
}

static int test_groups(const struct ssreport_request *request, struct ss_error *error) {
    struct grouped_values groups = {0};
    struct hypotheses hypotheses = {0};
    int result = read_groups(&groups, request, error);
    if (result == 0 && groups.skipped > 0)
        fprintf(stderr, "ssreport: skipped %zu row%s without a value, a group or a run\n",
            groups.skipped, groups.skipped == 1 ? "" : "s");
    if (result == 0)
        result = hypotheses_test(&hypotheses, &groups, request->confidence, error);
    if (result == 0)
        result = print_tests(&hypotheses, request, error);
    hypotheses_free(&hypotheses);
    grouped_values_free(&groups);
    return result;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssreport_request request;
    int result = ssreport_request_parse(&request, argv, error);
    if (result == 0)
        ss_option_store_print_warnings(stderr, "ssreport", &request.store);
    if (result == 0 && request.help)
        ssreport_request_print_help();
    else if (result == 0 && request.version)
        ss_program_print_version("ssreport");
    else if (result == 0 && request.test >= 0)
        result = test_groups(&request, error);
    else if (result == 0 && request.decide)
        result = decide(&request, status, error);
    else if (result == 0)
        result = make_report(&request, error);
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssreport", run, argv);
}
