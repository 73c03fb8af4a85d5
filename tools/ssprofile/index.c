/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/whole_file.h"
#include "choice.h"
#include "commands.h"
#include "html_page.h"
#include "json_document.h"
#include "options/arguments.h"
#include "profile_output.h"

#define PROFILES_MAX 64

struct request {
    const char *say;
    int help, quiet;
    char *words[1 + PROFILES_MAX]; /* the folder, the base and its targets */
    size_t count;
};

static int accept_word(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->count == sizeof request->words / sizeof *request->words)
        return ss_error_fail(error, "at most %d profiles can be described", PROFILES_MAX);
    request->words[request->count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "TEXT", {"say", SS_OPTION_TEXT, AT(say), .help = "begin with this sentence"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print nothing on standard output"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(accept_word),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile index [OPTION]... DIR [BASE [TARGET...]]\n"
           "Writes DIR/index.html, which leads to the pages in the folders of DIR that\n"
           "calibrate, compare, predict and sweep wrote, and has their findings and the\n"
           "ranges. BASE and TARGET are folders of ssprofile measure, which are described at\n"
           "its end. Prints the findings and the ranges.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static const char *const kinds[] = {"calibrate", "compare", "predict", "sweep"};

static const struct table_column range_columns[] = {{"target", "target"},
    {"benchmarks", "benchmarks", 0}, {"least", "least", 4}, {"most", "most", 4},
    {"median", "median", 4}, {"most_to_least", "most/least", 4},
    {"coverage_percent", "coverage, %", 1}};

struct section {
    char name[256]; /* of the folder */
    const char *kind;
    struct json_object *document;
};

struct index {
    const struct request *request;
    struct section *sections;
    size_t count;
    struct table_sheet ranges;
};

static void free_index(struct index *index) {
    for (size_t i = 0; i < index->count; i++)
        json_object_put(index->sections[i].document);
    free(index->sections);
    table_free(&index->ranges);
}

static void add_ranges(struct index *index, struct json_object *document) {
    struct json_object *rows_of = document_get(document, "ranges", json_type_array);
    for (size_t i = 0; rows_of && i < json_object_array_length(rows_of); i++) {
        const struct json_object *row = json_object_array_get_idx(rows_of, i);
        TABLE_ROW(&index->ranges, CELL("target", document_text(row, "target")));
        for (size_t j = 1; j < index->ranges.column_count; j++) {
            const char *column = range_columns[j].name;
            TABLE_CELLS(&index->ranges, CELL(column, document_number(row, column)));
        }
    }
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int add_section(
    struct index *index, const char *name, const char *kind, struct ss_error *error) {
    char folder[4300], file[64], path[4400];
    snprintf(folder, sizeof folder, "%.4000s/%.255s", index->request->words[0], name);
    snprintf(file, sizeof file, "%s.json", kind);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (access(path, F_OK) < 0)
        return 0;
    struct json_object *document = document_read(folder, file, "", error);
    if (document_check_schema(document, path, SSPROFILE_SCHEMA, error) < 0) {
        json_object_put(document);
        return -1;
    }
    if (!document)
        return -1;
    struct section *section = &index->sections[index->count++];
    *section = (struct section){.kind = kind, .document = document};
    snprintf(section->name, sizeof section->name, "%.255s", name);
    add_ranges(index, document);
    return 0;
}

static void free_names(struct dirent **names, int count) {
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Reads the documents in the order of their kinds, and each kind in the order of the folders. */
static int read_sections(struct index *index, struct ss_error *error) {
    const size_t kind_count = sizeof kinds / sizeof *kinds;
    struct dirent **names;
    int count = scandir(index->request->words[0], &names, is_visible, alphasort);
    if (count < 0)
        return ss_error_fail(error, "%s: %s", index->request->words[0], strerror(errno));
    index->sections = calloc((size_t)count * kind_count + 1, sizeof *index->sections);
    int result = index->sections ? 0 : ss_error_memory(error);
    for (size_t kind = 0; kind < kind_count; kind++) {
        for (int i = 0; result == 0 && i < count; i++)
            result = add_section(index, names[i]->d_name, kinds[kind], error);
    }
    free_names(names, count);
    if (result == 0 && index->count == 0)
        return ss_error_fail(error,
            "%s: no folder in it has a page of calibrate, compare, predict or sweep: write them "
            "with -o",
            index->request->words[0]);
    return result;
}

static void print_paragraph(FILE *page, const char *before, const char *text) {
    fprintf(page, "<p>%s", before);
    table_html_text(page, text);
    fputs("</p>\n", page);
}

/* Prints the name of a folder as a part of a link, in which #, % and others have a meaning. */
static void print_link(FILE *page, const char *name) {
    for (const char *at = name; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        fprintf(page, isalnum(byte) || strchr("-._~", byte) ? "%c" : "%%%02X", byte);
    }
}

static void print_section(FILE *page, const struct section *section) {
    const char *title = document_text(section->document, "title");
    const char *base = document_text(section->document, "base");
    struct json_object *findings = document_get(section->document, "findings", json_type_array);
    fputs("<h2><a href=\"", page);
    print_link(page, section->name);
    fprintf(page, "/%s.html\">", section->kind);
    table_html_text(page, title ? title : section->name);
    fputs("</a></h2>\n", page);
    if (base)
        print_paragraph(page, "Base: ", base);
    page_findings_begin(page);
    for (size_t i = 0; findings && i < json_object_array_length(findings); i++) {
        const char *sentence = document_as_text(json_object_array_get_idx(findings, i));
        if (sentence)
            page_finding(page, sentence);
    }
    page_findings_end(page);
}

/* Prints the available members of profile.json that distinguish machines. */
static void print_profile(FILE *page, const char *role, const char *folder) {
    static const char *const names[][2] = {{"machine", "machine"}, {"version", "version"},
        {"cpu", "cpu"}, {"quantum_seconds", "quantum seconds"}, {"idle_states", "idle states"},
        {"quota_around_cpus", "quota around cpus"}};
    struct ss_error ignored = {0};
    struct json_object *document = document_read(folder, "profile.json", "", &ignored);
    fprintf(page, "<li>%s: ", role);
    table_html_text(page, folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = document_text(document, names[i][0]);
        double number = document_number(document, names[i][0]);
        if (!text && isnan(number))
            continue;
        fprintf(page, "; %s ", names[i][1]);
        if (text)
            table_html_text(page, text);
        else
            fprintf(page, "%.6g", number);
    }
    fputs("</li>\n", page);
    json_object_put(document);
}

static void print_page(FILE *page, const struct index *index) {
    const struct request *request = index->request;
    page_begin(page, "Portability", "Portability");
    if (request->say)
        print_paragraph(page, "", request->say);
    page_sheet(page, &index->ranges);
    for (size_t i = 0; i < index->count; i++)
        print_section(page, &index->sections[i]);
    if (request->count > 1)
        fputs("<h2>Profiles</h2>\n<ul>\n", page);
    for (size_t i = 1; i < request->count; i++)
        print_profile(page, i == 1 ? "Base" : "Target", request->words[i]);
    if (request->count > 1)
        fputs("</ul>\n", page);
    fputs("<p>What this means: showstopper-portability(7), ssprofile(1).</p>\n", page);
    page_end(page, "ssprofile");
}

static int write_page(const struct index *index, struct ss_error *error) {
    struct ss_whole_file file;
    char path[4300];
    snprintf(path, sizeof path, "%.4000s/index.html", index->request->words[0]);
    if (ss_whole_file_open(&file, path) < 0)
        return ss_error_fail(error, "%s: %s", path, strerror(errno));
    print_page(file.stream, index);
    return ss_whole_file_commit(&file) < 0 ? ss_error_fail(error, "%s: %s", path, strerror(errno))
                                           : 0;
}

/* Prints the findings of calibrate and compare, and the ranges. */
static void print_text(const struct index *index) {
    if (index->request->say)
        printf("%s\n", index->request->say);
    for (size_t i = 0; i < index->count; i++) {
        const struct section *section = &index->sections[i];
        struct json_object *findings = document_get(section->document, "findings", json_type_array);
        for (size_t j = 0; findings && j < json_object_array_length(findings); j++) {
            const char *sentence = document_as_text(json_object_array_get_idx(findings, j));
            if (!sentence || strcmp(section->kind, "predict") == 0)
                continue;
            fputs("- ", stdout);
            ss_option_print_wrapped(stdout, 2, sentence);
        }
    }
    putchar('\n');
    table_print_markdown(stdout, &index->ranges);
}

static int check_profiles(const struct request *request, struct ss_error *error) {
    for (size_t i = 1; i < request->count; i++) {
        struct ssprofile_choice choice;
        if (ssprofile_choose(&choice, request->words[i], error) < 0)
            return -1;
    }
    return 0;
}

static int make_index(const struct request *request, struct ss_error *error) {
    struct index index = {
        .request = request, .ranges = TABLE_SHEET("ranges", "Ranges", range_columns)};
    int result = check_profiles(request, error);
    if (result == 0)
        result = read_sections(&index, error);
    if (result == 0)
        result = write_page(&index, error);
    if (result == 0 && !request->quiet)
        print_text(&index);
    free_index(&index);
    return result;
}

int ssprofile_index(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && request.count == 0)
        result = ss_error_fail(error, "name the folder with the pages: see --help");
    else if (result == 0)
        result = make_index(&request, error);
    ss_option_store_free(&store);
    return result;
}
