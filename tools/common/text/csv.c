/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/wallclock.h"
#include "base/words.h"

bool ssreport_csv_number(const struct sstrace_field *field, double *value) {
    return sstrace_field_number(field, false, value) && isfinite(*value);
}

bool ssreport_csv_time(const struct sstrace_field *field, double *time) {
    char text[64];
    int64_t at;
    if (field->length >= sizeof text)
        return false;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    if (ss_wallclock_parse(text, 0, &at, NULL) < 0)
        return false;
    *time = (double)at / 1e9;
    return true;
}

bool ssreport_csv_make_room(void **items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? 2 * *capacity : 16;
    void *moved = reallocarray(*items, larger, size);
    if (!moved)
        return false;
    *items = moved;
    *capacity = larger;
    return true;
}

/* Finds the requested columns in the heading, the line that was read last. */
static int pick_columns(
    struct sstrace_table *table, const struct ssreport_csv *csv, struct sstrace_field *fields) {
    for (size_t i = 0; csv->columns[i]; i++) {
        struct sstrace_walk walk;
        struct sstrace_field field;
        size_t number = 0;
        bool found = false;
        sstrace_walk_begin(&walk, table->input, ',');
        while (!found && sstrace_walk_next(&walk, &field) > 0) {
            number++;
            found = sstrace_field_is(&field, csv->columns[i]);
        }
        fields[i] = (struct sstrace_field){.text = ""};
        if (found)
            sstrace_table_pick(table, number, &fields[i]);
        else if (!(csv->optional & 1U << i))
            return ss_error_fail(table->input->error,
                "%s has no column '%s': is it of another version?", csv->name, csv->columns[i]);
    }
    /* Every row has as many fields as the heading. */
    return sstrace_table_split(table) > 0 ? 0 : -1;
}

/* All columns, in their order. */
static int pick_all(
    struct sstrace_table *table, const struct ssreport_csv *csv, struct sstrace_field *fields) {
    struct sstrace_walk walk;
    size_t count = 0;
    int more;
    sstrace_walk_begin(&walk, table->input, ',');
    while (count < SSTRACE_PICKS && (more = sstrace_walk_next(&walk, &fields[count])) > 0) {
        sstrace_table_pick(table, count + 1, &fields[count]);
        count++;
    }
    if (more < 0)
        return -1;
    if (more > 0 || !csv->take_heading(csv->context, fields, count))
        return sstrace_input_blame(table->input, 1, "invalid heading");
    return sstrace_table_split(table) > 0 ? 0 : -1;
}

/* Reports the first one in full and counts the others. */
struct faults {
    size_t count;
    char first[256];
};

static void note_fault(struct faults *faults, const struct sstrace_input *input, const char *why) {
    if (faults->count++ == 0)
        snprintf(faults->first, sizeof faults->first, "%.255s",
            input->error->status ? input->error->message : "");
    if (faults->count == 1 && !*faults->first)
        snprintf(faults->first, sizeof faults->first, "%s:%llu: %s, in \"%s\"", input->name,
            (unsigned long long)input->line, why ? why : "this is no row of it",
            ss_words_show(input->text).text);
    *input->error = (struct ss_error){0};
}

/* A line that the file ends in may lack digits, and look whole. */
static bool take_line(struct sstrace_table *table, const struct ssreport_csv *csv,
    const struct sstrace_field *fields) {
    if (!sstrace_table_is_row(table->input))
        return true;
    if (feof(table->input->stream)) {
        sstrace_input_blame(table->input, table->input->length + 1, "the last line has no end");
        return false;
    }
    return sstrace_table_split(table) > 0 && csv->take(csv->context, fields);
}

static void read_rows(struct sstrace_table *table, const struct ssreport_csv *csv,
    const struct sstrace_field *fields, struct faults *faults) {
    struct sstrace_input *input = table->input;
    for (;;) {
        uint64_t before = input->line;
        int more = sstrace_input_read_line(input);
        if (more == 0)
            return;
        if (more < 0 || !take_line(table, csv, fields))
            note_fault(faults, input, csv->why ? *csv->why : NULL);
        /* A line that cannot be read at all is the last one. */
        if (more < 0 && (input->line == before || ferror(input->stream)))
            return;
    }
}

static int open_input(struct sstrace_input *input, const char *folder,
    const struct ssreport_csv *csv, struct ss_error *error) {
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/%s", folder, csv->name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return ss_error_fail(error, "%s: %s", csv->name, strerror(errno));
    return sstrace_input_open_descriptor(input, descriptor, csv->name, error);
}

int ssreport_csv_read(const char *folder, const struct ssreport_csv *csv,
    struct ssreport_notes *notes, struct ss_error *error) {
    struct sstrace_input input = {.descriptor = -1};
    struct sstrace_field fields[SSTRACE_PICKS];
    struct faults faults = {0};
    struct ss_error fault = {0};
    if (open_input(&input, folder, csv, &fault) == 0) {
        struct sstrace_table table = {.input = &input, .separator = ','};
        int more = sstrace_input_read_line(&input);
        if (more == 0)
            ss_error_fail(&fault, "%s is empty", csv->name);
        if (more > 0 && (csv->columns ? pick_columns : pick_all)(&table, csv, fields) == 0)
            read_rows(&table, csv, fields, &faults);
    }
    struct ss_error ignored = {0};
    input.error = &ignored;
    sstrace_input_close(&input);
    if (fault.status)
        return ss_error_fail(error, "%s", fault.message);
    if (faults.count > 1)
        ssreport_notes_add(notes, "%s (and %zu more)", faults.first, faults.count - 1);
    else if (faults.count == 1)
        ssreport_notes_add(notes, "%s", faults.first);
    return 0;
}
