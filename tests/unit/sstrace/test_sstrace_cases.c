/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sstrace from a user's view: options and files in, text and messages out. The cases are in
 * tests/data/sstrace/, whose README describes their form.
 */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "import.h"
#include "output.h"
#include "source.h"
#include "unit.h"

#define DATA PROJECT_SOURCE_DIR "/tests/data/"

/* A text that grows. */
struct text {
    char *bytes;
    size_t length;
};

struct one_case {
    char title[256];
    char *words; /* the command line */
    struct text output;
    char *messages[8];
    size_t message_count;
    FILE *input; /* a file that is being written */
};

static unsigned failures;
static char folder[] = "/tmp/showstopper-cases-XXXXXX";

static void append(struct text *text, const char *bytes, size_t length) {
    text->bytes = realloc(text->bytes, text->length + length + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* Writes a line with its escapes: \\, \r, \xHH, and \c at its end for a line without a newline. */
static void write_line(FILE *stream, const char *line) {
    for (; *line; line++) {
        char digits[3] = "";
        if (*line != '\\') {
            fputc(*line, stream);
            continue;
        }
        switch (*++line) {
        case 'c':
            return;
        case 'r':
            fputc('\r', stream);
            break;
        case 'x':
            memcpy(digits, line + 1, 2);
            fputc((int)strtol(digits, NULL, 16), stream);
            line += 2;
            break;
        default:
            fputc(*line, stream);
        }
    }
    fputc('\n', stream);
}

static FILE *create(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    return stream;
}

/* Prints the trace of a request as text, or draws it. */
static int print(struct sstrace_request *request, FILE *stream, struct ss_error *error) {
    struct sstrace_spool spool;
    sstrace_spool_open(&spool);
    if (request->action == SSTRACE_COMPILE)
        request->action = SSTRACE_DUMP;
    int result = sstrace_run(request, &spool.strand.sink, error);
    if (result == 0)
        result = sstrace_output_print(request, &spool.strand, stream, error);
    sstrace_spool_close(&spool);
    return result;
}

/* Sets the variables at the beginning of a command line, and expands @FILE, a file of the data. */
static char **prepare(char **words, struct ss_option_store *store) {
    for (; *words && strchr(*words, '=') && **words != '-'; words++) {
        char *value = strchr(*words, '=');
        *value = '\0';
        setenv(*words, value + 1, 1);
    }
    for (char **word = words; *word; word++) {
        char path[512];
        snprintf(path, sizeof path, "%simport/%s", DATA, *word + 1);
        if (**word == '@')
            *word = (char *)ss_option_store_add(store, path);
    }
    return words - 1; /* the first word is the name of the program */
}

/* Runs sstrace, and sets what it has written to both standard streams, and its error. */
static int run(const char *line, struct text *output, struct text *heard) {
    struct ss_option_store store = {0};
    struct sstrace_request request;
    struct ss_error error = {0};
    char program_and_line[1024];
    snprintf(program_and_line, sizeof program_and_line, "sstrace %s", line);
    SS_OWNED(free) char **words = ss_words_split(program_and_line, NULL, &error);
    assert_non_null(words);
    char **argv = prepare(words + 1, &store);

    FILE *file = tmpfile(), *stream = open_memstream(&output->bytes, &output->length);
    assert_true(file && stream);
    fflush(NULL);
    int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int result = sstrace_request_parse(argv, &request, &store, &error);
    if (result == 0)
        result = print(&request, stream, &error);
    fclose(stream);
    ss_option_store_print_warnings(stderr, "sstrace", &store);
    ss_option_store_free(&store);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i ? STDERR_FILENO : STDOUT_FILENO);
        close(kept[i]);
    }

    char bytes[4096];
    rewind(file);
    append(heard, bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
    append(heard, error.message, strlen(error.message));
    return result;
}

/* Whether texts are equal except for errors in the last digits of their numbers. */
static bool is_same(const char *a, const char *b) {
    while (*a && *b) {
        char *after_a = (char *)a + 1, *after_b = (char *)b + 1;
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            if (fabs(strtod(a, &after_a) - strtod(b, &after_b)) > 1e-12)
                return false;
        } else if (*a != *b) {
            return false;
        }
        a = after_a;
        b = after_b;
    }
    return *a == *b;
}

/* Returns the first problem with what a case has written; NULL: it is as expected. */
static const char *judge(
    const struct one_case *it, int result, const char *output, const char *heard) {
    if ((result == 0) != (it->output.bytes != NULL))
        return result == 0 ? "accepted" : "refused";
    if (result == 0 && !is_same(output, it->output.bytes))
        return output;
    for (size_t i = 0; i < it->message_count; i++) {
        if (!strstr(heard, it->messages[i]))
            return it->messages[i];
    }
    return it->message_count == 0 && *heard ? "unexpected message" : NULL;
}

static void check(struct one_case *it) {
    struct text output = {0}, heard = {0};
    if (!it->words)
        return;
    if (it->input)
        fclose(it->input);
    int result = run(it->words, &output, &heard);
    if (result == 0 && output.length > 0)
        output.bytes[output.length - 1] = '\0';
    const char *problem = judge(it, result, output.bytes, heard.bytes);
    if (problem) {
        print_error("%s: %s\n%s\n", it->title, problem, heard.bytes);
        failures++;
    }
    for (size_t i = 0; i < it->message_count; i++)
        free(it->messages[i]);
    free(output.bytes);
    free(heard.bytes);
    free(it->words);
    free(it->output.bytes);
    *it = (struct one_case){0};
}

/* Takes a line of a file of cases; `line` has no newline. */
static void take(struct one_case *it, const char *line) {
    const char *rest = *line && line[1] == ' ' ? line + 2 : "";
    switch (*line) {
    case '=':
        check(it);
        snprintf(it->title, sizeof it->title, "%s", rest);
        break;
    case '$':
        it->words = strdup(rest);
        break;
    case '<':
        if (it->input)
            fclose(it->input);
        it->input = create(rest);
        break;
    case '|':
        write_line(it->input, line + 1);
        break;
    case '>':
        if (it->output.bytes)
            append(&it->output, "\n", 1);
        append(&it->output, rest, strlen(rest));
        for (char *comma = it->output.bytes; (comma = strchr(comma, ','));)
            *comma = '\n';
        break;
    case '!':
        assert_that(it->message_count, <, 8);
        it->messages[it->message_count++] = strdup(rest);
        break;
    default:
        if (*line)
            fail_msg("%s: invalid line: %s", it->title, line);
    }
}

static void run_cases(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%ssstrace/%s", DATA, name);
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    assert_non_null(stream);
    SS_OWNED(free) char *line = NULL;
    size_t size = 0;
    struct one_case it = {0};
    failures = 0;
    for (ssize_t length; (length = getline(&line, &size, stream)) > 0;) {
        line[length - 1] = '\0';
        take(&it, line);
    }
    check(&it);
    assert_that(failures, ==, 0);
}

static int enter_folder(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state) {
    char command[sizeof folder + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

static bool has_json(void) {
    for (size_t i = 0; sstrace_formats[i]; i++) {
        if (strcmp(sstrace_formats[i]->name, "sadf-json") == 0)
            return true;
    }
    return false;
}

TEST_WITH(tables_of_unknown_origin_are_imported, enter_folder, remove_folder) {
    run_cases("csv");
}

TEST_WITH(published_tables_and_monitors_are_imported, enter_folder, remove_folder) {
    run_cases("tables");
}

TEST_WITH(files_without_times_and_profiles_are_imported, enter_folder, remove_folder) {
    run_cases("lines");
}

TEST_WITH(json_of_sysstat_is_imported, enter_folder, remove_folder) {
    SKIP_UNLESS(has_json(), "left-out: built without yajl");
    run_cases("sysstat-json");
}

TEST_WITH(json_of_monitors_is_imported, enter_folder, remove_folder) {
    SKIP_UNLESS(has_json(), "left-out: built without yajl");
    run_cases("monitors-json");
}

TEST_WITH(formats_are_detected, enter_folder, remove_folder) {
    run_cases("detection");
}

TEST_WITH(traces_are_changed_and_generated, enter_folder, remove_folder) {
    run_cases("changes");
}

TEST_WITH(traces_are_drawn, enter_folder, remove_folder) {
    run_cases("plots");
}

/* A file that was cut off is refused, or its complete samples are used with a warning. */
static void check_truncated(const char *format, const char *name) {
    char path[512], words[64], bytes[8192];
    snprintf(path, sizeof path, "%simport/%s", DATA, name);
    snprintf(words, sizeof words, "--from %s in", format);
    SS_OWNED(fclose) FILE *whole = fopen(path, "re");
    assert_non_null(whole);
    size_t size = fread(bytes, 1, sizeof bytes, whole);
    assert_that(size, <, sizeof bytes);
    for (size_t length = 0; length + 1 < size; length++) {
        struct text output = {0}, heard = {0};
        FILE *stream = create("in");
        fwrite(bytes, 1, length, stream);
        fclose(stream);
        int result = run(words, &output, &heard);
        bool at_line_end = length > 0 && bytes[length - 1] == '\n';
        if (result == 0 && heard.length == 0 && !at_line_end)
            fail_msg("%s: %zu bytes of %s are accepted", format, length, name);
        free(output.bytes);
        free(heard.bytes);
    }
}

TEST_WITH(truncated_files_are_refused_or_cause_a_warning, enter_folder, remove_folder) {
    check_truncated("vmstat", "vmstat-t.txt");
    check_truncated("krash", "krash.profile");
    if (!has_json())
        return;
    check_truncated("mpstat-json", "mpstat.json");
    check_truncated("sadf-json", "sadf.json");
    check_truncated("prometheus", "prometheus.json");
}

UNIT_RUN
