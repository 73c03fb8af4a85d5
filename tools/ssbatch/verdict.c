/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <fcntl.h>
#include <stdbool.h>

#include "base/input_file.h"
#include "command/cli.h"
#include "json_document.h"

/*
 * Instances may print this many lines each before the first iteration ends. If they print more in
 * the counted time and none matches, the pattern is wrong; if they print fewer, the iteration takes
 * longer than the run.
 */
#define HEADING_LINES_MAX 2

/* Returns the words from `showstopper` on, which may follow other words; NULL without it. */
static char *const *find_showstopper(char *const *words) {
    for (; *words; words++) {
        const char *slash = strrchr(*words, '/');
        if (strcmp(slash ? slash + 1 : *words, "showstopper") == 0)
            return words;
    }
    return NULL;
}

/*
 * Parses the options of `showstopper`, up to the command that it runs. If a word is refused, such
 * as a placeholder that is not replaced yet, the options before it are still parsed.
 */
static void parse(struct ss_cli *cli, char *const *words) {
    static char *const none[] = {NULL};
    struct ss_error ignored = {0};
    char *const *own = find_showstopper(words);
    if (ss_cli_parse(cli, (char **)(uintptr_t)(own ? own : none), &ignored) < 0)
        return;
}

bool ssbatch_follows_trace(char *const *words) {
    struct ss_cli cli;
    parse(&cli, words);
    const char *trace = cli.modules[SS_KIND_TRACE];
    bool follows = trace && strcmp(trace, "constant") != 0;
    ss_cli_free(&cli);
    return follows;
}

/* Describes why the run was shorter than planned; "" if it was not. */
static const char *describe_early_end(const struct json_object *summary, char *const *words) {
    const char *by = document_text(summary, "ended_by");
    struct ss_cli cli;
    if (!by || strcmp(by, "workloads") != 0)
        return "";

    parse(&cli, words);
    bool is_attached = cli.attach || cli.attach_name || cli.attach_group;
    ss_cli_free(&cli);
    return is_attached ? "the attached processes ended by themselves"
                       : "the command ended by itself; --repeat starts it again";
}

static bool has_file(const char *record, const char *name) {
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", record, name);
    return ss_input_exists(AT_FDCWD, path);
}

/* Lists the causes of failures: "9 connection_refused, 1 status". */
static void print_causes(struct json_object *causes, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    if (!causes)
        return;
    json_object_object_foreach(causes, cause, value) {
        double count = json_object_get_double(value);
        if (count > 0 && used < size)
            used += (size_t)snprintf(
                text + used, size - used, "%s%.0f %s", used ? ", " : ": ", count, cause);
    }
}

/* Fails if no request succeeded. Failures of some requests are a result. */
static int check_requests(const char *record, struct ss_error *error) {
    char causes[400];
    struct json_object *document = document_read(record, "requests.json", "", error);
    if (!document)
        return -1;
    print_causes(document_get(document, "causes", json_type_object), causes, sizeof causes);
    bool none = document_number(document, "succeeded") == 0;
    json_object_put(document);
    return none ? ss_error_fail(error, "no request succeeded%s", causes) : 0;
}

static int check_summary(
    const char *record, char *const *words, bool has_trace, struct ss_error *error) {
    struct json_object *summary = document_read(record, "summary.json", "", error);
    if (!summary)
        return -1;

    double samples = document_number(summary, "samples");
    double instances = document_number(summary, "instances");
    double unmatched = document_number(summary, "lines_unmatched");
    const char *early = describe_early_end(summary, words);
    json_object_put(summary);

    if (samples == 0)
        return ss_error_fail(
            error, "nothing was counted: %s", *early ? early : "the run has no samples");
    if (*early && ssbatch_follows_trace(words))
        return ss_error_fail(error, "the trace was not followed to its end: %s", early);
    if (*early && has_trace)
        return ss_error_fail(error, "it ended before the trace of the run did: %s", early);
    if (unmatched > HEADING_LINES_MAX * instances)
        return ss_error_fail(
            error, "no line of output matched --iteration (%.0f lines)", unmatched);
    return 0;
}

int ssbatch_check_record(
    const char *record, char *const *words, bool has_trace, struct ss_error *error) {
    if (has_file(record, "requests.json") && check_requests(record, error) < 0)
        return -1;
    return has_file(record, "summary.json") ? check_summary(record, words, has_trace, error) : 0;
}
