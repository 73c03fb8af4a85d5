/* SPDX-License-Identifier: Apache-2.0 */
#include "run_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_document.h"

static struct json_object *read_file(const struct ssreport_record *record, const char *name) {
    struct ss_error error = {0};
    return record->folder ? document_read(record->folder, name, "", &error) : NULL;
}

static struct json_object *object_in(const struct json_object *object, const char *name) {
    return document_get(object, name, json_type_object);
}

/* Prints the call as it was typed; records of earlier versions have only the command. */
static void print_call(
    FILE *stream, const struct ssreport_record *record, const struct json_object *plan) {
    char *arguments = document_join(document_get(plan, "arguments", json_type_array));
    const char *command = record->command ? record->command : "command not known";
    fputs(arguments ? "<p><code>showstopper " : "<p><code>", stream);
    table_html_text(stream, arguments ? arguments : command);
    fputs("</code></p>\n", stream);
    free(arguments);
}

/* Prints "; NAME: VALUE", without what is unknown. */
static void print_item(FILE *stream, const char *name, const char *value) {
    if (!value)
        return;
    fprintf(stream, "; %s: ", name);
    table_html_text(stream, value);
}

/* Prints "; trace: file, file=day.trace, speed=2". */
static void print_trace(FILE *stream, const struct json_object *plan) {
    struct json_object *trace = object_in(object_in(plan, "modules"), "trace");
    struct json_object *options = object_in(trace, "options");
    print_item(stream, "trace", document_text(trace, "name"));
    if (!options)
        return;
    json_object_object_foreach(options, name, value) {
        fprintf(stream, ", %s=", name);
        table_html_text(stream, json_object_get_string(value));
    }
}

static void print_machine(FILE *stream, const struct json_object *platform) {
    struct json_object *kernel = object_in(platform, "kernel");
    struct json_object *models = document_get(platform, "models", json_type_array);
    struct json_object *model = models ? json_object_array_get_idx(models, 0) : NULL;
    double cpus = document_number(object_in(platform, "cpus"), "count");
    print_item(stream, "CPU", document_text(model, "model"));
    if (isfinite(cpus))
        fprintf(stream, "; CPUs: %.0f", cpus);
    print_item(stream, "kernel", document_text(kernel, "release"));
}

void ssreport_run_head(struct ssreport_page *page, const struct ssreport_run *run) {
    FILE *stream = page->stream;
    const struct ssreport_record *record = &run->record;
    struct json_object *plan = read_file(record, "plan.json");
    struct json_object *platform = read_file(record, "platform.json");
    struct json_object *made_by = run->manifest > 0 ? read_file(record, "../run.json") : NULL;
    print_call(stream, record, plan);
    fputs("<p><small>started: ", stream);
    table_html_text(stream, record->started ? record->started : "unknown");
    print_item(stream, "host", document_text(made_by, "host"));
    print_machine(stream, platform);
    print_item(stream, "Showstopper", record->version);
    print_trace(stream, plan);
    if (run->speed > 0)
        fprintf(stream, "; speed: %g", run->speed);
    fputs("</small></p>\n", stream);
    json_object_put(plan);
    json_object_put(platform);
    json_object_put(made_by);
}
