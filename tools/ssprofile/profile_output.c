/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_output.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "html_page.h"
#include "options/option.h"
#include "picture.h"

static void show_cell(char text[512], const struct table_sheet *sheet, size_t at) {
    const struct table_cell *cell = &sheet->cells[at];
    const struct table_column *column = &sheet->columns[at % sheet->column_count];
    if (cell->text)
        snprintf(text, 512, "%s", cell->text);
    else if (isfinite(cell->number))
        snprintf(text, 512, "%.*f", column->decimals,
            column->percent ? 100 * cell->number : cell->number);
    else
        snprintf(text, 512, "-");
}

static int width_of(const struct table_sheet *sheet, size_t column) {
    char text[512];
    size_t width = strlen(sheet->columns[column].heading);
    for (size_t at = column; at < sheet->count; at += sheet->column_count) {
        show_cell(text, sheet, at);
        size_t length = strlen(text);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_cell(FILE *stream, int width, const char *text, bool left) {
    fprintf(stream, "  %*s", left ? -width : width, text);
}

void ssprofile_print_text(FILE *stream, const struct table_sheet *sheet) {
    SS_OWNED(free) int *widths = calloc(sheet->column_count, sizeof *widths);
    if (!widths || table_rows(sheet) == 0)
        return;
    fprintf(stream, "\n%s\n", sheet->title);
    for (size_t i = 0; i < sheet->column_count; i++) {
        if (!sheet->columns[i].heading)
            continue;
        widths[i] = width_of(sheet, i);
        print_cell(stream, widths[i], sheet->columns[i].heading, sheet->cells[i].text != NULL);
    }
    fputc('\n', stream);
    for (size_t at = 0; at < sheet->count; at++) {
        char text[512];
        size_t column = at % sheet->column_count;
        show_cell(text, sheet, at);
        if (sheet->columns[column].heading)
            print_cell(stream, widths[column], text, sheet->cells[at].text != NULL);
        if (column + 1 == sheet->column_count)
            fputc('\n', stream);
    }
}

void ssprofile_print_findings(FILE *stream, const struct table_sheet *findings) {
    for (size_t i = 0; i < table_rows(findings); i++) {
        fputs("- ", stream);
        ss_option_print_wrapped(stream, 2, findings->cells[i].text);
    }
}

FILE *ssprofile_pictures_add(struct ssprofile_pictures *pictures, bool is_tall,
    const char *explanation, const char *caption, ...) {
    if (pictures->count == SSPROFILE_PICTURES_MAX)
        return NULL;
    struct ssprofile_picture *picture = &pictures->items[pictures->count];
    va_list arguments;
    va_start(arguments, caption);
    vsnprintf(picture->caption, sizeof picture->caption, caption, arguments);
    va_end(arguments);
    picture->explanation = explanation;
    picture->is_tall = is_tall;
    picture->script = tmpfile();
    if (picture->script)
        pictures->count++;
    else
        pictures->failure = errno;
    return picture->script;
}

void ssprofile_pictures_free(struct ssprofile_pictures *pictures) {
    for (size_t i = 0; i < pictures->count; i++)
        fclose(pictures->items[i].script);
    pictures->count = 0;
}

static void print_json(FILE *stream, const struct ssprofile_output *output) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSPROFILE_SCHEMA);
    ss_json_text(&json, "ssprofile", ss_version());
    ss_json_text(&json, "title", output->title);
    if (output->base)
        ss_json_text(&json, "base", output->base);
    ss_json_open(&json, output->findings->name, '[');
    for (size_t i = 0; i < table_rows(output->findings); i++)
        ss_json_text(&json, NULL, output->findings->cells[i].text);
    ss_json_close(&json, ']');
    for (size_t i = 0; i < output->count; i++)
        table_print_json_rows(&json, output->sheets[i].name, &output->sheets[i]);
    ss_json_open(&json, "warnings", '[');
    if (output->warnings) {
        struct ssprofile_warnings kept =
            ssprofile_warnings_shorten(output->warnings, SSPROFILE_WARNINGS_KEPT);
        for (size_t i = 0; i < kept.count; i++)
            ss_json_text(&json, NULL, kept.items[i].text);
        ssprofile_warnings_free(&kept);
    }
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    fputc('\n', stream);
}

/* If there are more warnings than this, they are folded. */
#define NOTES_OPEN_MAX 6

/* A table with more columns than this uses the whole width of the page. */
#define COLUMNS_BELOW_MAX 6

static void print_findings(FILE *stream, const struct table_sheet *findings) {
    if (table_rows(findings) == 0)
        return;
    fputs("<h2>Findings</h2>\n", stream);
    page_findings_begin(stream);
    for (size_t i = 0; i < table_rows(findings); i++)
        page_finding(stream, findings->cells[i].text);
    page_findings_end(stream);
}

static void print_pictures(FILE *stream, const struct ssprofile_pictures *pictures, bool tall,
    unsigned *number, struct ss_error *without) {
    for (size_t i = 0; pictures && i < pictures->count && !without->status; i++) {
        const struct ssprofile_picture *picture = &pictures->items[i];
        if (picture->is_tall == tall)
            page_figure(stream,
                &(struct page_figure){picture->script, picture->caption, picture->explanation},
                number, without);
    }
}

static bool has_tall(const struct ssprofile_pictures *pictures) {
    for (size_t i = 0; pictures && i < pictures->count; i++) {
        if (pictures->items[i].is_tall)
            return true;
    }
    return false;
}

/* Returns whether a table is narrow and short enough for the column of the findings. */
static bool is_narrow(const struct table_sheet *sheet) {
    size_t columns = 0;
    for (size_t i = 0; i < sheet->column_count; i++)
        columns += sheet->columns[i].heading != NULL;
    return columns <= COLUMNS_BELOW_MAX && table_rows(sheet) <= PAGE_ROWS_OPEN_MAX;
}

static void print_sheets(FILE *stream, const struct ssprofile_output *output, bool narrow) {
    for (size_t i = 0; i < output->count; i++) {
        if (is_narrow(&output->sheets[i]) == narrow)
            page_sheet(stream, &output->sheets[i]);
    }
}

/* Prints the findings, the pictures and the narrow tables. */
static void print_first(
    FILE *stream, const struct ssprofile_output *output, struct ss_error *without) {
    unsigned number = 0;
    fputs("<div class=\"beside\">\n<div>\n", stream);
    print_findings(stream, output->findings);
    print_pictures(stream, output->pictures, false, &number, without);
    print_sheets(stream, output, true);
    fputs("</div>\n", stream);
    if (has_tall(output->pictures) && !without->status) {
        fputs("<div>\n", stream);
        print_pictures(stream, output->pictures, true, &number, without);
        fputs("</div>\n", stream);
    }
    fputs("</div>\n", stream);
}

/* Prints the first few warnings of each kind. */
static void print_warnings(FILE *stream, const struct ssprofile_warnings *warnings) {
    struct ssprofile_warnings shown =
        ssprofile_warnings_shorten(warnings, SSPROFILE_WARNINGS_SHOWN);
    bool folds = shown.count > NOTES_OPEN_MAX;
    if (folds)
        page_fold(stream, "Warnings", shown.count, "lines");
    for (size_t i = 0; i < shown.count; i++)
        page_note(stream, NULL, shown.items[i].text);
    if (folds)
        page_unfold(stream);
    ssprofile_warnings_free(&shown);
}

static void print_page(
    FILE *stream, const struct ssprofile_output *output, struct ss_error *without) {
    page_begin(stream, output->title, output->title);
    if (output->base) {
        fputs("<p>Base: <b>", stream);
        table_html_text(stream, output->base);
        fputs("</b>. A ratio above 1 means faster than the base.</p>\n", stream);
    }
    print_first(stream, output, without);
    print_sheets(stream, output, false);
    if (output->warnings)
        print_warnings(stream, output->warnings);
    if (without->status)
        page_note(stream, "No pictures", without->message);
    page_end(stream, "ssprofile");
}

static void path_of(
    char path[4300], const struct ssprofile_output *output, const char *name, const char *ending) {
    snprintf(path, 4300, "%.4000s/%.200s.%s", output->folder, name, ending);
}

static int cannot_write(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", path, strerror(errno));
}

/* Writes a sheet to its file. If it has no rows, removes the file of an earlier call. */
static int write_sheet(const struct ssprofile_output *output, const struct table_sheet *sheet,
    struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    if (sheet->failed)
        return ss_error_memory(error);
    path_of(path, output, sheet->name, "csv");
    if (table_rows(sheet) == 0)
        return unlink(path) < 0 && errno != ENOENT ? cannot_write(path, error) : 0;
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    table_print_csv(file.stream, sheet);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_json(const struct ssprofile_output *output, struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    path_of(path, output, output->name, "json");
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    print_json(file.stream, output);
    return ss_whole_file_commit(&file) < 0 ? cannot_write(path, error) : 0;
}

static int write_page(const struct ssprofile_output *output, struct ss_error *error) {
    struct ss_whole_file file;
    struct ss_error without = {0};
    char path[4300];
    path_of(path, output, output->name, "html");
    if (output->pictures && output->pictures->failure)
        ss_error_fail(&without, "cannot create a temporary file for gnuplot: %s",
            strerror(output->pictures->failure));
    if (ss_whole_file_open(&file, path) < 0)
        return cannot_write(path, error);
    print_page(file.stream, output, &without);
    if (ss_whole_file_commit(&file) < 0)
        return cannot_write(path, error);
    if (without.status)
        fprintf(stderr, "ssprofile: cannot draw pictures: %s\n", without.message);
    return 0;
}

int ssprofile_write(const struct ssprofile_output *output, struct ss_error *error) {
    if (mkdir(output->folder, 0777) < 0 && errno != EEXIST)
        return cannot_write(output->folder, error);
    for (size_t i = 0; i < output->count; i++) {
        if (write_sheet(output, &output->sheets[i], error) < 0)
            return -1;
    }
    return write_json(output, error) < 0 ? -1 : write_page(output, error);
}
