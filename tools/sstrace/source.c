/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <stdlib.h>

#include "base/owned.h"
#include "base/suggest.h"
#include "base/words.h"
#include "import.h"
#include "trace/compiled.h"
#include "trace/file.h"

#define FORMATS_MAX 64

static const struct sstrace_format *find_format(const char *name, struct ss_error *error) {
    const char *names[FORMATS_MAX];
    struct ss_suggest_names known = {
        "format", names, 0, sizeof *names, "sstrace --help lists them"};

    for (; sstrace_formats[known.count]; known.count++)
        names[known.count] = sstrace_formats[known.count]->name;

    int found = ss_suggest_find(&known, name, error);
    if (found >= 0)
        return sstrace_formats[found];
    ss_error_wrap(error, "--from");
    return NULL;
}

static const struct sstrace_format *detect(const char *head) {
    for (size_t i = 0; sstrace_formats[i]; i++) {
        const struct sstrace_format *format = sstrace_formats[i];
        bool begins = format->begins && strncmp(head, format->begins, strlen(format->begins)) == 0;
        if (begins || (format->detect && format->detect(head)))
            return format;
    }
    return NULL;
}

/* Refuses other output of sysstat; the message names the forms that can be imported. */
static int refuse_sysstat(const struct text_input *input, struct ss_error *error) {
    const char *head = input->head;
    const unsigned char *magic = (const unsigned char *)head;
    const char *cpus = strstr(head, " CPU)");
    bool binary = (magic[0] == 0x96 && magic[1] == 0xd5) || (magic[0] == 0xd5 && magic[1] == 0x96);

    if (binary)
        return ss_error_fail(
            error, "%s is a binary sar file: convert it with sadf -d FILE | sstrace", input->name);

    if (strncmp(head, "Linux ", 6) == 0 && cpus && cpus < head + strcspn(head, "\n"))
        return ss_error_fail(error,
            "%s is text of mpstat, sar or iostat: use mpstat -o JSON, or sadf -d for files of "
            "sar",
            input->name);

    /* HOST INTERVAL TIME DEVICE FIELD VALUE, separated by tabs */
    const char *field = strstr(head, "\t%");
    if (field && field < head + strcspn(head, "\n"))
        return ss_error_fail(error,
            "%s is the default output of sadf, one value per line: use sadf -d", input->name);
    return 0;
}

/* Refuses options that the format does not support. `format` is NULL for a trace or a generator. */
static int check_options(const struct sstrace_request *request, const struct sstrace_format *format,
    struct ss_error *error) {
    const struct sstrace_import_options *options = &request->import;
    const struct {
        bool given;
        unsigned taken;
        const char *name;
    } words[] = {
        {options->format, ~0u, "from"},
        {options->gaps != SSTRACE_GAPS_KEEP, ~0u, "gaps"},
        {options->select, SSTRACE_TAKES_SELECT, "select"},
        {options->split, SSTRACE_TAKES_SPLIT, "split"},
        {options->every, SSTRACE_TAKES_EVERY, "every"},
        {options->unit != SSTRACE_UNIT_DEFAULT, SSTRACE_TAKES_UNIT, "unit"},
        {options->cpus, SSTRACE_TAKES_CPUS, "cpus"},
        {options->time_column, SSTRACE_TAKES_COLUMNS, "time-column"},
        {options->load_column, SSTRACE_TAKES_COLUMNS, "load-column"},
        {options->idle_column, SSTRACE_TAKES_COLUMNS, "idle-column"},
        {options->series_column, SSTRACE_TAKES_COLUMNS, "series-column"},
        {options->separator, SSTRACE_TAKES_COLUMNS, "separator"},
        {options->time_unit, SSTRACE_TAKES_COLUMNS, "time-unit"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].given && !format)
            return ss_error_fail(error,
                "--%s is for measurements, but the input is a trace: remove --%s, or use --from",
                words[i].name, words[i].name);
        if (words[i].given && !(words[i].taken & format->takes))
            return ss_error_fail(error, "--%s has no effect with %s: remove --%s", words[i].name,
                format->name, words[i].name);
    }
    return 0;
}

static int import_file(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    if (format->import(format, input, samples) != 0)
        return -1;
    return sstrace_samples_end_file(samples, input);
}

/* Imports the files in order; a series continues from file to file. */
static int import_files(const struct sstrace_request *request, const struct sstrace_format *format,
    struct text_input *input, struct sstrace_samples *samples, struct ss_error *error) {
    if (import_file(format, input, samples) != 0)
        return -1;

    for (int i = 1; i < request->file_count; i++) {
        if (text_input_close(input) != 0 || text_input_open(input, request->files[i], error) != 0 ||
            import_file(format, input, samples) != 0)
            return -1;
    }

    return sstrace_samples_end(samples, input);
}

static int import(const struct sstrace_request *request, const struct sstrace_format *format,
    struct text_input *input, struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_samples samples;
    sstrace_samples_open(&samples, &request->import, sink);
    samples.takes_unit = format->takes & SSTRACE_TAKES_UNIT;

    int result = import_files(request, format, input, &samples, error);
    sstrace_samples_close(&samples);
    return result;
}

/* Returns the format that the first line of an invalid trace may have; NULL if it is unclear. */
static const char *guess_format(const char *head) {
    size_t field = strcspn(head, " \t\r\n"), number = strspn(head, "0123456789.%");
    size_t separator = strcspn(head, ",;");
    if (separator < field && *head != '#')
        return "csv";
    char after = head[number + strspn(head + number, " \t\r")];
    return number > 0 && (after == '\n' || !after) ? "levels --every TIME" : NULL;
}

static int read_trace(
    struct text_input *input, struct ss_trace_sink *sink, struct ss_error *error) {
    if (ss_trace_read(input->stream, input->name, sink, error) == 0)
        return 0;
    const char *format = guess_format(input->head);
    size_t used = strlen(error->message);
    if (format)
        snprintf(error->message + used, sizeof error->message - used,
            "; if this is not a trace, name the format: --from %s", format);
    return -1;
}

static int read_input(const struct sstrace_request *request, struct text_input *input,
    struct ss_trace_sink *sink, struct ss_error *error) {
    const char *name = request->import.format;
    bool compiled = (unsigned char)*input->head == SS_TRACE_MAGIC_FIRST;
    const struct sstrace_format *format = name ? find_format(name, error) : NULL;

    if (name && !format)
        return -1;
    if (!name && !compiled)
        format = detect(input->head);

    if (!format && !compiled && refuse_sysstat(input, error) != 0)
        return -1;
    if (check_options(request, format, error) != 0)
        return -1;

    if (format)
        return import(request, format, input, sink, error);

    if (request->file_count > 1)
        return ss_error_fail(error,
            "unexpected argument '%s': only measurements may be in several files",
            ss_words_show(request->files[1]).text);

    return read_trace(input, sink, error);
}

static int read_files(
    const struct sstrace_request *request, struct ss_trace_sink *sink, struct ss_error *error) {
    SS_OWNED(free) struct text_input *input = malloc(sizeof *input);
    if (!input)
        return ss_error_memory(error);
    if (text_input_open(input, request->file_count ? request->files[0] : NULL, error) != 0)
        return -1;

    int result = read_input(request, input, sink, error);
    return text_input_close(input) == 0 ? result : -1;
}

int sstrace_source_run(
    const struct sstrace_request *request, struct ss_trace_sink *sink, struct ss_error *error) {
    if (!request->generation.name) {
        if (read_files(request, sink, error) != 0)
            return -1;
    } else if (check_options(request, NULL, error) != 0 ||
               sstrace_generate(&request->generation, request->store, sink, error) != 0) {
        return -1;
    }

    return sink->end(sink, error);
}

int sstrace_run(
    const struct sstrace_request *request, struct ss_trace_sink *end, struct ss_error *error) {
    struct sstrace_pipeline pipeline;
    sstrace_pipeline_open(&pipeline, request->transforms, request->transform_count, end);
    int result = sstrace_source_run(request, pipeline.first, error);
    sstrace_pipeline_close(&pipeline);
    return result;
}
