/* SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/version.h"
#include "base/whole_file.h"

/* ---- text ---- */

static void show_cell(char text[512], const struct ssreport_sheet *sheet, size_t at) {
    const struct ssreport_cell *cell = &sheet->cells[at];
    const struct ssreport_column *column = &sheet->columns[at % sheet->column_count];
    if (cell->text)
        snprintf(text, 512, "%s", cell->text);
    else if (isfinite(cell->number))
        snprintf(text, 512, "%.*f", column->decimals,
            column->percent ? 100 * cell->number : cell->number);
    else
        snprintf(text, 512, "-");
}

static int width_of(const struct ssreport_sheet *sheet, size_t column) {
    char text[512];
    size_t width = strlen(sheet->columns[column].heading);
    for (size_t at = column; at < sheet->count; at += sheet->column_count) {
        show_cell(text, sheet, at);
        size_t length = strlen(text);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_cell(
    FILE *stream, const struct ssreport_sheet *sheet, size_t column, const char *text, bool left) {
    fprintf(stream, "  %*s", left ? -width_of(sheet, column) : width_of(sheet, column), text);
}

void ssprofile_print_text(FILE *stream, const struct ssreport_sheet *sheet) {
    if (ssreport_sheet_rows(sheet) == 0)
        return;
    fprintf(stream, "\n%s\n", sheet->title);
    for (size_t i = 0; i < sheet->column_count; i++) {
        if (sheet->columns[i].heading)
            print_cell(stream, sheet, i, sheet->columns[i].heading, sheet->cells[i].text != NULL);
    }
    fputc('\n', stream);
    for (size_t at = 0; at < sheet->count; at++) {
        char text[512];
        show_cell(text, sheet, at);
        if (sheet->columns[at % sheet->column_count].heading)
            print_cell(
                stream, sheet, at % sheet->column_count, text, sheet->cells[at].text != NULL);
        if ((at + 1) % sheet->column_count == 0)
            fputc('\n', stream);
    }
}

/* ---- files ---- */

static void print_json_sheet(struct ss_json *json, const struct ssreport_sheet *sheet) {
    ss_json_open(json, sheet->name, '[');
    for (size_t at = 0; at < sheet->count; at++) {
        size_t column = at % sheet->column_count;
        const struct ssreport_cell *cell = &sheet->cells[at];
        if (column == 0)
            ss_json_open(json, NULL, '{');
        if (cell->text)
            ss_json_text(json, sheet->columns[column].name, cell->text);
        else
            ss_json_number(json, sheet->columns[column].name, cell->number);
        if (column + 1 == sheet->column_count)
            ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

static void print_json(FILE *stream, const struct ssprofile_output *output) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "ssprofile", ss_version());
    for (size_t i = 0; i < output->count; i++)
        print_json_sheet(&json, &output->sheets[i]);
    ss_json_open(&json, "warnings", '[');
    for (size_t i = 0; i < output->note_count; i++)
        ss_json_text(&json, NULL, output->notes[i]);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

static const char head[] =
    "<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<style>body{margin:0 auto;max-width:80rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600}.wide{overflow-x:auto;margin:.8rem 0}\n"
    "th,td{padding:.2rem .55rem;text-align:right;border-bottom:1px solid #e4e4e4}\n"
    ".text{text-align:left}.note{background:#fff6e0;padding:.2rem .7rem;margin:.2rem 0}</style>\n";

static void print_page(FILE *stream, const struct ssprofile_output *output) {
    fprintf(stream,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
        "<title>%s</title>\n%s</head>\n<body>\n<h1>%s</h1>\n",
        output->title, head, output->title);
    for (size_t i = 0; i < output->count; i++) {
        if (ssreport_sheet_rows(&output->sheets[i]) > 0)
            ssreport_sheet_print_html(stream, &output->sheets[i], NULL);
    }
    for (size_t i = 0; i < output->note_count; i++) {
        fputs("<p class=\"note\">", stream);
        ssreport_html_text(stream, output->notes[i]);
        fputs("</p>\n", stream);
    }
    fprintf(stream, "<p><small>ssprofile %s</small></p>\n</body>\n</html>\n", ss_version());
}

static void path_of(
    char path[4300], const struct ssprofile_output *output, const char *name, const char *ending) {
    snprintf(path, 4300, "%.4000s/%.200s.%s", output->folder, name, ending);
}

static int cannot_write(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", path, strerror(errno));
}

/* A sheet without rows has no file, nor one from an earlier call. */
static int write_sheet(const struct ssprofile_output *output, const struct ssreport_sheet *sheet,
    struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    if (sheet->failed)
        return ss_error_memory(error);
    path_of(path, output, sheet->name, "csv");
    if (ssreport_sheet_rows(sheet) == 0)
        return unlink(path) < 0 && errno != ENOENT ? cannot_write(path, error) : 0;
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    ssreport_sheet_print_csv(file.stream, sheet);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_with(const struct ssprofile_output *output, const char *ending,
    void (*print)(FILE *stream, const struct ssprofile_output *output), struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    path_of(path, output, output->name, ending);
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    print(file.stream, output);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

int ssprofile_write(const struct ssprofile_output *output, struct ss_error *error) {
    if (mkdir(output->folder, 0777) < 0 && errno != EEXIST)
        return cannot_write(output->folder, error);
    for (size_t i = 0; i < output->count; i++) {
        if (write_sheet(output, &output->sheets[i], error) < 0)
            return -1;
    }
    if (write_with(output, "json", print_json, error) < 0)
        return -1;
    return write_with(output, "html", print_page, error);
}
