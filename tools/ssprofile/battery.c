/* SPDX-License-Identifier: Apache-2.0 */
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <showstopper/random.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/pattern.h"
#include "base/words.h"
#include "csv.h"
#include "platform/platform.h"
#include "results.h"
#include "text_stream.h"

#define FIELDS 6

static const char *const field_names[FIELDS] = {
    "name", "class", "unit", "direction", "command", "regular expression"};

const struct ssprofile_task *ssprofile_battery_find_task(
    const struct ssprofile_battery *battery, const char *name, const char *class) {
    for (size_t i = 0; i < battery->count; i++) {
        if (strcmp(battery->tasks[i].name, name) == 0 &&
            strcmp(battery->tasks[i].class, class) == 0)
            return &battery->tasks[i];
    }
    return NULL;
}

/* Compiles the regular expression of a result, which must have a group. */
static int compile_result(regex_t *result, const char *text, struct ss_error *error) {
    char reason[128] = "put parentheses around the result";
    int why = regcomp(result, text, REG_EXTENDED);
    if (why == 0 && result->re_nsub > 0)
        return 0;

    if (why != 0)
        regerror(why, result, reason, sizeof reason);
    else
        regfree(result);
    return ss_error_set(
        error, 2, "the regular expression '%s': %s", ss_words_show(text).text, reason);
}

static int add_task(struct ssprofile_battery *battery, char **words, struct ss_error *error) {
    if (ssprofile_battery_find_task(battery, words[0], words[1]))
        return ss_error_set(error, 2, "benchmark %s of class %s appears twice: remove one of them",
            ss_words_show(words[0]).text, ss_words_show(words[1]).text);
    if (strcmp(words[3], "higher") != 0 && strcmp(words[3], "lower") != 0)
        return ss_error_set(
            error, 2, "'%s' is not a direction: use higher or lower", ss_words_show(words[3]).text);

    struct ssprofile_task task = {.words = words,
        .name = words[0],
        .class = words[1],
        .unit = words[2],
        .lower_is_better = strcmp(words[3], "lower") == 0};

    if (ss_pattern_check(words[5], error) < 0)
        return -1;
    if (!SS_GROW(battery->tasks, battery->count + 1, battery->capacity))
        return ss_error_memory(error);

    SS_OWNED(free) char **command = ss_words_split(words[4], NULL, error);
    if (!command)
        return -1;
    if (!command[0])
        return ss_error_set(error, 2, "the command is empty");
    if (compile_result(&task.result_pattern, words[5], error) < 0)
        return -1;

    task.command = command;
    command = NULL;
    battery->tasks[battery->count++] = task;
    return 0;
}

/*
 * Parses the words of a line. Returns 0 if the battery now owns the words, 1 if the caller still
 * does, -1 on error.
 */
static int parse_words(
    struct ssprofile_battery *battery, char **words, size_t count, struct ss_error *error) {
    if (strcmp(words[0], "version") == 0 && count == 2) {
        if (battery->version)
            return ss_error_set(error, 2, "the version command is given twice: remove one of them");
        battery->version = ss_words_split(words[1], NULL, error);
        return battery->version ? 1 : -1;
    }

    if (count < FIELDS)
        return ss_error_set(error, 2,
            "the %s is missing: use NAME CLASS UNIT higher|lower "
            "'COMMAND' 'REGEX'",
            field_names[count]);
    if (count > FIELDS)
        return ss_error_set(error, 2,
            "unexpected '%s': quote the command and the regular expression",
            ss_words_show(words[FIELDS]).text);

    for (size_t i = 0; i < 3; i++) {
        const char *fault = ssprofile_name_fault(words[i]);
        if (fault)
            return ss_error_set(error, 2, "the %s %s", field_names[i], fault);
    }
    return add_task(battery, words, error);
}

static int parse_line(struct ssprofile_battery *battery, const char *line, struct ss_error *error) {
    size_t count;
    char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;
    int result = count > 0 ? parse_words(battery, words, count, error) : 1;
    if (result != 0)
        free(words);
    return result < 0 ? -1 : 0;
}

int ssprofile_battery_parse(
    struct ssprofile_battery *battery, const char *text, const char *name, struct ss_error *error) {
    *battery = (struct ssprofile_battery){.text = strdup(text)};
    SS_OWNED(free) char *lines = strdup(text);
    if (!lines || !battery->text)
        return ss_error_memory(error);

    char *rest = lines, *line;
    /* Accept a byte order mark at the beginning, and CRLF at the ends of lines. */
    if (strncmp(lines, "\xef\xbb\xbf", 3) == 0)
        rest += 3;

    for (unsigned number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        if (parse_line(battery, line, error) < 0) {
            error->status = 2;
            return ss_error_wrap(error, "%s:%u", name, number);
        }
    }

    return battery->count > 0 ? 0
                              : ss_error_set(error, 2, "%s: the file contains no benchmark", name);
}

int ssprofile_battery_read(
    struct ssprofile_battery *battery, const char *path, struct ss_error *error) {
    *battery = (struct ssprofile_battery){0};
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    SS_OWNED(free) char *text = NULL;
    size_t size = 0;
    ssize_t length = stream ? getdelim(&text, &size, '\0', stream) : -1;

    if (!stream || (length < 0 && ferror(stream)))
        return ss_error_fail(error,
            "cannot read %s: %s: name a file, or use own, stress-ng or applications",
            ss_words_show(path).text, strerror(errno));

    if (length > 0 && text[length - 1] == '\0')
        return ss_error_set(error, 2, "%s: the file contains a null byte: it is not text",
            ss_words_show(path).text);
    return ssprofile_battery_parse(battery, length > 0 ? text : "", path, error);
}

#define KERNEL "'ssburn kernel "

/* Returns the text with --time added to commands of kernels; NULL if memory is exhausted. */
static char *add_time(const char *text, const char *time, struct ss_error *error) {
    struct ss_text timed;
    if (ss_text_open(&timed, error) < 0)
        return NULL;

    for (const char *at; (at = strstr(text, KERNEL)); text = at) {
        at += strlen(KERNEL);
        bool is_option = *at == '-';
        at += strcspn(at, "' \n");
        fwrite(text, 1, (size_t)(at - text), timed.stream);
        if (*at == '\'' && !is_option)
            fprintf(timed.stream, " --time %s", time);
    }

    fputs(text, timed.stream);
    return ss_text_close(&timed, error);
}

int ssprofile_battery_set_time(
    struct ssprofile_battery *battery, const char *time, struct ss_error *error) {
    SS_OWNED(free) char *text = add_time(battery->text, time, error);
    if (!text)
        return -1;

    if (strcmp(text, battery->text) == 0)
        return ss_error_fail(error,
            "--time has no effect: the battery has no command of the form " KERNEL
            "NAME': remove --time");

    ssprofile_battery_free(battery);
    return ssprofile_battery_parse(battery, text, "the battery", error);
}

void ssprofile_battery_free(struct ssprofile_battery *battery) {
    for (size_t i = 0; i < battery->count; i++) {
        regfree(&battery->tasks[i].result_pattern);
        free(battery->tasks[i].command);
        free(battery->tasks[i].words);
    }
    free(battery->tasks);
    free(battery->version);
    free(battery->text);
    *battery = (struct ssprofile_battery){0};
}

/* A file in the current folder may be another user's, so it must not replace one of these. */
static bool is_shipped(const char *name) {
    return strcmp(name, "own") == 0 || strcmp(name, "stress-ng") == 0 ||
           strcmp(name, "applications") == 0;
}

int ssprofile_battery_find(
    struct ssprofile_battery *battery, const char *name, struct ss_error *error) {
    SS_OWNED(free)
    char *end = ss_words_format(error, "/" SSPROFILE_BATTERIES_SUBDIR "/%s.txt", name);
    if (!end)
        return -1;

    SS_OWNED(free) char *path = strchr(name, '/') ? NULL : ss_platform_installed_path(end);
    if (path || !is_shipped(name))
        return ssprofile_battery_read(battery, path ? path : name, error);

    return ss_error_fail(
        error, "cannot find the installed %s: %s: use a file", end + 1, strerror(errno));
}

bool ssprofile_task_result(const struct ssprofile_task *task, const char *output, double *result) {
    SS_OWNED(free) char *lines = strdup(output);
    char *rest = lines, *line;

    while (lines && (line = strsep(&rest, "\n")) != NULL) {
        regmatch_t groups[2];
        if (regexec(&task->result_pattern, line, 2, groups, 0) != 0 || groups[1].rm_so < 0)
            continue;
        struct text_field field = {
            line + groups[1].rm_so, (size_t)(groups[1].rm_eo - groups[1].rm_so), 1};
        return csv_number(&field, result) && *result > 0;
    }
    return false;
}

void ssprofile_shuffle(size_t *order, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(ss_random(seed, i) * (double)i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}
