/* SPDX-License-Identifier: Apache-2.0 */

/* Prints the table of all runs, from the plan that the study keeps and from each run.json. */

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/number.h"
#include "base/words.h"
#include "batch_options.h"
#include "merge.h"
#include "quote.h"
#include "run_document.h"

/* One row: a run, or one role of it. Unknown values are NULL and NaN. */
struct row {
    const struct ssbatch_run *run;
    const struct ssbatch_line *line; /* NULL: the run has no such line */
    const char *status, *reason, *begin, *end, *host, *version, *record;
    double seconds, others;
};

struct table {
    FILE *stream;
    struct ss_json json;
    char **keys; /* keys of all columns of the plan and of results; owned */
    size_t key_count, key_room;
    size_t counts[SSBATCH_STATUSES];
};

/* Returns whether a line has a row: each `main`, and each `beside` with columns. */
static bool has_row(const struct ssbatch_line *line) {
    return line->kind == SSBATCH_MAIN || (line->kind == SSBATCH_BESIDE && line->columns.count > 0);
}

static struct row read_row(const struct ssbatch_run *run, const struct json_object *document) {
    return (struct row){
        .run = run,
        .status = ssbatch_status_name(ssbatch_run_document_status(document)),
        .reason = document_text(document, "reason"),
        .begin = document_text(document, "begin"),
        .end = document_text(document, "end"),
        .host = document_text(document, "host"),
        .version = document_text(document, "version"),
        .seconds = document_number(document, "seconds"),
        .others = document_number(document, "others"),
    };
}

static void print_number(FILE *stream, double value, int decimals) {
    if (isnan(value))
        fprintf(stream, " %9s", "-");
    else
        fprintf(stream, " %9.*f", decimals, value);
}

static void print_text_row(struct table *table, const struct row *row) {
    FILE *stream = table->stream;
    fprintf(stream, "%-24s %-8s", row->run->name, row->status);
    print_number(stream, ss_time_seconds(row->run->takes), 0);
    print_number(stream, row->seconds, 1);
    print_number(stream, 100 * row->others, 1);
    fputs("  ", stream);
    ss_words_print(stream, row->begin ? row->begin : "-");
    fputs(row->reason ? "  " : "", stream);
    ss_words_print(stream, row->reason ? row->reason : "");
    fputc('\n', stream);
}

static const char *column_of(const struct row *row, const char *key) {
    const char *value = row->line ? ssbatch_columns_get(&row->line->columns, key) : NULL;
    return value ? value : ssbatch_columns_get(&row->run->columns, key);
}

/* The columns before those of the plan: texts, then numbers. */
static const char *const names[] = {"run", "role", "status", "reason", "begin", "end", "host",
    "version", "record", "takes", "seconds", "others", "limit"};

#define TEXTS   9
#define NUMBERS (sizeof names / sizeof *names - TEXTS)

struct cells {
    const char *texts[TEXTS];
    double numbers[NUMBERS];
};

static struct cells get_cells(const struct row *row) {
    ss_time limit = row->run->limit;
    return (struct cells){
        .texts = {row->run->name, row->line ? row->line->role : NULL, row->status, row->reason,
            row->begin, row->end, row->host, row->version, row->record},
        .numbers = {ss_time_seconds(row->run->takes), row->seconds, row->others,
            limit ? ss_time_seconds(limit) : (double)NAN},
    };
}

/* Columns of the plan that have the name of one of ours, such as seconds, are renamed. */
static void print_csv_heading(const struct table *table) {
    for (size_t i = 0; i < TEXTS + NUMBERS; i++)
        fprintf(table->stream, "%s%s", i ? "," : "", names[i]);
    for (size_t i = 0; i < table->key_count; i++) {
        bool is_own = false;
        for (size_t j = 0; j < TEXTS + NUMBERS; j++)
            is_own |= strcmp(names[j], table->keys[i]) == 0;
        fprintf(table->stream, ",%s%s", is_own ? "plan_" : "", table->keys[i]);
    }
    fputc('\n', table->stream);
}

static void print_csv_row(struct table *table, const struct row *row) {
    const struct cells cells = get_cells(row);
    for (size_t i = 0; i < TEXTS; i++) {
        if (i)
            fputc(',', table->stream);
        quote_csv(table->stream, cells.texts[i] ? cells.texts[i] : "");
    }

    for (size_t i = 0; i < NUMBERS; i++) {
        char text[SS_NUMBER_SIZE] = "";
        if (!isnan(cells.numbers[i]))
            ss_number_put(text, cells.numbers[i]);
        fprintf(table->stream, ",%s", text);
    }

    for (size_t i = 0; i < table->key_count; i++) {
        const char *value = column_of(row, table->keys[i]);
        fputc(',', table->stream);
        quote_csv(table->stream, value ? value : "");
    }
    fputc('\n', table->stream);
}

static void print_json_row(struct table *table, const struct row *row) {
    const struct cells cells = get_cells(row);
    struct ss_json *json = &table->json;

    ss_json_open(json, NULL, '{');
    for (size_t i = 0; i < TEXTS; i++)
        ss_json_text(json, names[i], cells.texts[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        ss_json_number(json, names[TEXTS + i], cells.numbers[i]);

    ss_json_open(json, "columns", '{');
    for (size_t i = 0; i < table->key_count; i++) {
        const char *value = column_of(row, table->keys[i]);
        if (value)
            ss_json_text(json, table->keys[i], value);
    }
    ss_json_close(json, '}');
    ss_json_close(json, '}');
}

static int add_keys(
    struct table *table, const struct ssbatch_columns *columns, struct ss_error *error) {
    for (size_t i = 0; i < columns->count; i++) {
        size_t j = 0;
        while (j < table->key_count && strcmp(table->keys[j], columns->items[i].key) != 0)
            j++;
        if (j < table->key_count)
            continue;

        if (!SS_GROW(table->keys, table->key_count + 1, table->key_room))
            return ss_error_memory(error);
        table->keys[table->key_count] = strdup(columns->items[i].key);
        if (!table->keys[table->key_count++])
            return ss_error_memory(error);
    }
    return 0;
}

typedef void print_row(struct table *table, const struct row *row);

static void print_rows(
    struct table *table, struct row row, const struct json_object *document, print_row *print) {
    const struct ssbatch_lines *lines = &row.run->lines;
    struct json_object *commands = document_get(document, "commands", json_type_array);
    bool printed = false;

    for (size_t i = 0; i < lines->count && print != print_text_row; i++) {
        if (!has_row(&lines->items[i]))
            continue;
        row.line = &lines->items[i];
        row.record = NULL;
        if (commands && i < json_object_array_length(commands))
            row.record = document_text(json_object_array_get_idx(commands, i), "record");
        print(table, &row);
        printed = true;
    }

    if (!printed)
        print(table, &row);
}

static int read_columns(
    struct ssbatch_columns *columns, const struct json_object *of, struct ss_error *error) {
    struct json_object *object = document_get(of, "columns", json_type_object);
    if (!object)
        return 0;
    json_object_object_foreach(object, key, value) {
        const char *text = document_as_text(value);
        if (!SS_GROW(columns->items, columns->count + 1, columns->room))
            return ss_error_memory(error);
        columns->items[columns->count++] = (struct ssbatch_column){key, text ? text : ""};
    }
    return 0;
}

/*
 * Takes the columns and commands of the run from its result: the plan may have changed them for a
 * --redo that has not been carried out yet. The strings belong to the document.
 */
static int read_carried_out(
    struct ssbatch_run *run, const struct json_object *document, struct ss_error *error) {
    struct json_object *commands = document_get(document, "commands", json_type_array);
    size_t count = commands ? json_object_array_length(commands) : 0;

    run->columns = (struct ssbatch_columns){0};
    run->lines = (struct ssbatch_lines){.items = calloc(count + 1, sizeof *run->lines.items)};
    if (!run->lines.items)
        return ss_error_memory(error);

    while (run->lines.count < count) {
        const struct json_object *command = json_object_array_get_idx(commands, run->lines.count);
        struct ssbatch_line *line = &run->lines.items[run->lines.count++];
        const char *kind = document_text(command, "kind");
        while (
            kind && line->kind < SSBATCH_KINDS && strcmp(ssbatch_kind_name(line->kind), kind) != 0)
            line->kind++;
        line->role = document_text(command, "role");
        if (read_columns(&line->columns, command, error) < 0)
            return -1;
    }

    return read_columns(&run->columns, document, error);
}

static void free_carried_out(struct ssbatch_run *run) {
    for (size_t i = 0; i < run->lines.count; i++)
        free(run->lines.items[i].columns.items);
    free(run->lines.items);
    free(run->columns.items);
}

static int add_keys_of_run(
    struct table *table, const struct ssbatch_run *run, struct ss_error *error) {
    if (add_keys(table, &run->columns, error) < 0)
        return -1;
    for (size_t i = 0; i < run->lines.count; i++) {
        if (has_row(&run->lines.items[i]) &&
            add_keys(table, &run->lines.items[i].columns, error) < 0)
            return -1;
    }
    return 0;
}

/* Adds the columns of a result. If it cannot be read, print_run() will fail and say why. */
static int add_keys_of_result(struct table *table, const struct ssbatch_study *study,
    const struct ssbatch_run *run, struct ss_error *error) {
    struct ss_error unread = {0};
    struct json_object *document = ssbatch_run_document_read(study, run->name, &unread);
    if (!document)
        return 0;

    struct ssbatch_run carried_out = *run;
    int status = read_carried_out(&carried_out, document, error);
    if (status == 0)
        status = add_keys_of_run(table, &carried_out, error);
    free_carried_out(&carried_out);
    json_object_put(document);
    return status;
}

static int print_run(struct table *table, const struct ssbatch_study *study,
    const struct ssbatch_run *run, print_row *print, struct ss_error *error) {
    char who[160];
    struct ssbatch_holder holder;
    struct json_object *document = ssbatch_run_document_read(study, run->name, error);
    if (error->status)
        return -1;

    struct ssbatch_run carried_out = *run;
    int status = document ? read_carried_out(&carried_out, document, error) : 0;
    struct row row = read_row(&carried_out, document);
    enum ssbatch_status counted = ssbatch_run_document_status(document);

    /* A run that failed before may be running again. */
    enum ssbatch_lock lock = counted == SSBATCH_DONE
                                 ? SSBATCH_FREE
                                 : ssbatch_study_lock_state(study, run->name, &holder);
    if (lock != SSBATCH_FREE) {
        snprintf(who, sizeof who, "%son %s by process %d",
            lock == SSBATCH_MAYBE_LOCKED ? "or interrupted: " : "", holder.host, (int)holder.pid);
        row.status = "running";
        row.reason = who;
        counted = SSBATCH_PENDING;
    }

    table->counts[counted]++;
    if (status == 0)
        print_rows(table, row, document, print);
    if (document)
        free_carried_out(&carried_out);
    json_object_put(document);
    return status;
}

static int print_table(struct table *table, const struct ssbatch_options *options,
    const struct ssbatch_study *study, const struct ssbatch_plan *plan, struct ss_error *error) {
    print_row *print = print_text_row;
    if (options->csv || options->json)
        print = options->csv ? print_csv_row : print_json_row;

    /* The columns of the plan come first. */
    for (size_t i = 0; print != print_text_row && i < plan->run_count; i++) {
        if (add_keys_of_run(table, &plan->runs[i], error) < 0)
            return -1;
    }
    for (size_t i = 0; print != print_text_row && i < plan->run_count; i++) {
        if (add_keys_of_result(table, study, &plan->runs[i], error) < 0)
            return -1;
    }

    if (options->csv)
        print_csv_heading(table);
    else if (options->json)
        ss_json_open(&table->json, NULL, '[');
    else
        fprintf(table->stream, "%-24s %-8s %9s %9s %9s  %s\n", "run", "status", "takes/s", "took/s",
            "others/%", "begin");

    for (size_t i = 0; i < plan->run_count; i++) {
        if (print_run(table, study, &plan->runs[i], print, error) < 0)
            return -1;
    }

    if (options->json)
        ss_json_close(&table->json, ']');
    else if (!options->csv)
        fprintf(table->stream, "%zu done, %zu failed, %zu skipped, %zu to come\n",
            table->counts[SSBATCH_DONE], table->counts[SSBATCH_FAILED],
            table->counts[SSBATCH_SKIPPED], table->counts[SSBATCH_PENDING]);
    return 0;
}

int ssbatch_list(const struct ssbatch_options *options, int *status, struct ss_error *error) {
    struct ssbatch_study study;
    struct ssbatch_plan plan = {0};
    struct table table = {.stream = stdout, .json = {.stream = stdout}};
    int result = 0;

    if (ssbatch_study_open(&study, options->study, SSBATCH_STUDY_READ, NULL, error) < 0 ||
        ssbatch_kept_plan_read(&plan, &study, error) < 0 ||
        print_table(&table, options, &study, &plan, error) < 0)
        result = -1;
    if (table.counts[SSBATCH_FAILED] > 0)
        *status = 1;

    for (size_t i = 0; i < table.key_count; i++)
        free(table.keys[i]);
    free(table.keys);
    ssbatch_plan_free(&plan);
    ssbatch_study_close(&study);
    return result;
}
