/* SPDX-License-Identifier: Apache-2.0 */
#include "study_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "json_document.h"

/* Two depths are the same if they differ by less: the column has nine digits. */
#define DEPTH_TOLERANCE 1e-8

struct json_object *study_read_run(const char *study, const char *run) {
    char folder[4096];
    struct ss_error error = {0};
    snprintf(folder, sizeof folder, "%s/%s", study, run);
    struct json_object *document = document_read(folder, "run.json", "", &error);
    const char *status = document_text(document, "status");
    if (status && strcmp(status, "done") == 0)
        return document;
    json_object_put(document);
    return NULL;
}

/*
 * Prints a name as an item of a list. The kernel may cut a name inside a character, which JSON does
 * not allow: the next plan would have another column than the run that is done.
 */
static void print_item(FILE *stream, const char *name) {
    int length;
    for (; *name; name += length > 0 ? length : 1) {
        length = ss_json_utf8_length(name);
        if (*name == ',' || *name == '\\')
            fputc('\\', stream);
        if (length > 0)
            fwrite(name, 1, (size_t)length, stream);
        else
            fputc('?', stream);
    }
}

static void print_names(const struct suspects *suspects, FILE *stream) {
    char *text = NULL;
    size_t size;
    FILE *list = open_memstream(&text, &size);
    for (size_t i = 0; list && i < suspects->count; i++) {
        fputs(i > 0 ? "," : "", list);
        print_item(list, suspects->items[i].name);
    }
    if (list)
        fclose(list);
    ss_words_quote_line(stream, text ? text : "");
    free(text);
}

static const char *is_lower_better(const struct stages_options *options) {
    return watch_is_lower_better(&options->victim) ? "yes" : "no";
}

void study_columns_print(
    const struct stages_options *options, const struct suspects *suspects, FILE *stream) {
    fprintf(stream,
        " requested_depth=%.9g seed=%" PRIu64 " lower_is_better=%s names=", options->depth,
        options->seed, is_lower_better(options));
    print_names(suspects, stream);
    if (options->group) {
        fputs(" suspects_of=", stream);
        ss_words_quote_line(stream, options->group);
    }
}

/* Adds the suspects of a column such as 812@5,900@7+950@8, with names from another column. */
static bool add_suspects(struct suspects *suspects, const char *column, const char *names) {
    size_t count, place = 0;
    struct ss_error error = {0};
    SS_OWNED(free) char **items = ss_words_split_list(names, &count, &error);
    for (const char *at = column; items && at; place++) {
        struct suspect one = {0};
        int pid;
        if (place == count || sscanf(at, "%d@%" SCNu64, &pid, &one.started) != 2)
            return false;
        one.pid = pid;
        snprintf(one.name, sizeof one.name, "%s", items[place]);
        if (suspects_append(suspects, &one, &error) < 0)
            return false;
        at = strpbrk(at, ",+");
        at = at ? at + 1 : NULL;
    }
    return items && place == count;
}

/* The columns; texts are NULL if absent. */
struct columns {
    const char *suspects, *names, *lower, *group;
    double depth;
    uint64_t seed;
};

static bool get_columns(struct columns *columns, const struct json_object *object) {
    const char *depth = document_text(object, "requested_depth");
    const char *seed = document_text(object, "seed");
    *columns = (struct columns){
        .suspects = document_text(object, "suspects"),
        .names = document_text(object, "names"),
        .lower = document_text(object, "lower_is_better"),
        .group = document_text(object, "suspects_of"),
    };
    return columns->suspects && columns->names && columns->lower && depth && seed &&
           ss_units_number(depth, &columns->depth, NULL) == 0 &&
           ss_units_count(seed, &columns->seed, NULL) == 0;
}

/* Fails if an option that was given is another one than at the beginning of the study. */
static int check_options(
    const struct stages_options *options, const struct columns *columns, struct ss_error *error) {
    if (options->group && (!columns->group || strcmp(options->group, columns->group) != 0))
        return ss_error_fail(error,
            "--suspects-of: the study began with %s: write this, or use another folder",
            columns->group ? ss_words_show(columns->group).text : "--suspects");
    if (options->depth > 0 && fabs(options->depth - columns->depth) > DEPTH_TOLERANCE)
        return ss_error_fail(error,
            "--depth: the study began with %.9g %%: write this, or use another folder",
            100 * columns->depth);
    if (options->seed != 0 && options->seed != columns->seed)
        return ss_error_fail(error,
            "--seed: the study began with %" PRIu64 ": write this, or use another folder",
            columns->seed);
    if (strcmp(is_lower_better(options), columns->lower) != 0)
        return ss_error_fail(error,
            "in this study, %s figures are better: give the same --victim, --iteration and "
            "--lower-is-better as at its beginning",
            strcmp(columns->lower, "yes") == 0 ? "smaller" : "larger");
    return 0;
}

static int take_columns(struct stages_options *options, struct suspects *suspects,
    const struct json_object *object, struct ss_error *error) {
    struct columns columns;
    if (!get_columns(&columns, object) || !add_suspects(suspects, columns.suspects, columns.names))
        return ss_error_fail(error,
            "%s: the run look lacks columns, because another version began this study: use that "
            "version, or another folder",
            ss_words_show(options->folder).text);
    if (options->pids && suspects_match(suspects, options->pids, error) < 0)
        return ss_error_wrap(error, "--suspects");
    if (check_options(options, &columns, error) < 0)
        return -1;
    options->depth = columns.depth;
    options->seed = columns.seed;
    return 1;
}

int study_columns_read(
    struct stages_options *options, struct suspects *suspects, struct ss_error *error) {
    struct json_object *document = study_read_run(options->folder, STAGES_FIRST);
    int status = document ? take_columns(options, suspects,
                                document_get(document, "columns", json_type_object), error)
                          : 0;
    json_object_put(document);
    return status;
}
