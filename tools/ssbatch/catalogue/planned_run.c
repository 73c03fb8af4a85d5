/* SPDX-License-Identifier: Apache-2.0 */
#include "planned_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"

/* The control group of a run with a quota. ssbatch replaces both placeholders. */
#define GROUP "'{place}.{run}'"

static void put_number(FILE *stream, double number) {
    if (!isnan(number))
        fprintf(stream, "%.15g", number);
}

/* Writes a text with {instances}, {stands_for} and {target} replaced. Keeps `{{`. */
static void put_replaced(FILE *stream, const char *text, const struct ssbatch_control *control) {
    const struct {
        const char *name;
        double value;
    } places[] = {{"{instances}", (double)ssbatch_control_instances(control)},
        {"{stands_for}", ssbatch_control_stands_for(control)}, {"{target}", control->target}};
    while (*text) {
        size_t length = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (strncmp(text, places[i].name, strlen(places[i].name)) != 0)
                continue;
            put_number(stream, places[i].value);
            length = strlen(places[i].name);
        }
        if (length == 0 && text[0] == '{' && text[1] == '{')
            fputc(*text++, stream);
        if (length == 0)
            fputc(*text, stream);
        text += length > 0 ? length : 1;
    }
}

/* Returns the text with its placeholders replaced; free() it. NULL if memory is exhausted. */
static char *replace(const char *text, const struct ssbatch_control *control) {
    char *bytes = NULL;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);
    if (!stream)
        return NULL;
    put_replaced(stream, text, control);
    if (fclose(stream) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

/* Writes a blank and a word. */
static void put_word(FILE *stream, const char *word) {
    fputc(' ', stream);
    ss_words_quote_line(stream, word);
}

static void put_column(FILE *stream, const char *key, const char *value) {
    if (!value || !*value)
        return;
    fprintf(stream, " %s=", key);
    ss_words_quote_line(stream, value);
}

static int put_tau(FILE *stream, const struct ssbatch_control *control, struct ss_error *error) {
    ss_time tau;
    if (!control->tau || !ssbatch_method_has_rounds(control->method))
        return 0;
    if (ss_units_time(control->tau, &tau, error) < 0)
        return ss_error_wrap(error, "--tau");
    fprintf(stream, " tau_seconds=%.10g", ss_time_seconds(tau));
    return 0;
}

/* Writes KEY=VALUE with placeholders replaced. */
static int put_given_columns(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    for (char *const *word = run->columns; *word && strcmp(*word, "--") != 0; word++) {
        SS_OWNED(free) char *text = replace(*word, run->control);
        char *equals = text ? strchr(text, '=') : NULL;
        if (!text)
            return ss_error_memory(error);
        if (!equals)
            return ss_error_fail(error,
                "'%s' is not KEY=VALUE: write options of showstopper "
                "after --",
                ss_words_show(*word).text);
        *equals = '\0';
        put_column(stream, text, equals + 1);
    }
    return 0;
}

static int put_options(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    char *const *word = run->columns;
    while (*word && strcmp(*word, "--") != 0)
        word++;
    for (word += *word != NULL; *word; word++) {
        SS_OWNED(free) char *text = replace(*word, run->control);
        if (!text)
            return ss_error_memory(error);
        put_word(stream, text);
    }
    return 0;
}

/* Returns whether the installed cpulimit accepts fractions of a percent, and -i for children. */
static bool cpulimit_knows_parts(void) {
    char text[4096];
    FILE *help = popen("cpulimit --help 2>&1", "re");
    if (!help)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, help);
    text[length] = '\0';
    pclose(help);
    return strstr(text, "--include-children") != NULL;
}

/*
 * Two programs are named cpulimit. One accepts fractions of a percent, and -i to include children;
 * the other only whole percents, and -m.
 */
static void put_cpulimit(FILE *stream, const struct ssbatch_planned_run *run) {
    const struct ssbatch_control *control = run->control;
    bool parts = cpulimit_knows_parts();
    bool forks = !ss_words_has("serial,blocking,parallel", ',', run->workload->name);
    double percent =
        100 * control->target * (double)control->cpus / (double)ssbatch_control_instances(control);
    fprintf(stream, " cpulimit%s -l %.*f -f --",
        parts   ? " -i"
        : forks ? " -q -m"
                : " -q",
        parts ? 2 : 0, fmax(percent, 1));
}

/* Writes the path of env/group, with % doubled if showstopper would replace it. */
static void put_group_tool(FILE *stream, const char *tools, bool doubled) {
    SS_OWNED(free) char *path = calloc(2, strlen(tools) + sizeof "/env/group");
    char *to = path;
    for (const char *at = tools; to && *at; at++) {
        if (*at == '%' && doubled)
            *to++ = '%';
        *to++ = *at;
    }
    if (to) {
        strcpy(to, "/env/group");
        put_word(stream, path);
    }
}

static void put_limiter(FILE *stream, const struct ssbatch_planned_run *run) {
    switch (run->control->method->limiter) {
    case SSBATCH_LIMITER_CPULIMIT:
        put_cpulimit(stream, run);
        break;
    case SSBATCH_LIMITER_GROUP:
        put_group_tool(stream, run->tools, true);
        fputs(" enter " GROUP " --", stream);
        break;
    case SSBATCH_LIMITER_NONE:
        break;
    }
}

/* Writes the words of the workload: the option that counts iterations, `--`, and the command. */
static int put_workload(FILE *stream, const struct ssbatch_planned_run *run, char *const *words) {
    char *const *word = words;
    for (; *word && strcmp(*word, "--") != 0; word++)
        put_word(stream, *word);
    fputs(" --", stream);
    if (run->entering)
        fprintf(stream, " %s", run->entering);
    put_limiter(stream, run);
    for (word += *word != NULL; *word; word++)
        put_word(stream, *word);
    return 0;
}

/* Returns the words of the workload; free() them. */
static char **read_words(const struct ssbatch_planned_run *run, struct ss_error *error) {
    SS_OWNED(free) char *line = NULL;
    size_t size;
    FILE *stream = open_memstream(&line, &size);
    if (!stream) {
        ss_error_memory(error);
        return NULL;
    }
    int status = ssbatch_workload_print(stream, run->workload, run->use, error);
    if (fclose(stream) != 0)
        status = ss_error_memory(error);
    return status < 0 ? NULL : ss_words_split(line, NULL, error);
}

/*
 * Drops the output of ssburn, because its iterations are in the record. Keeps the output of other
 * commands.
 */
static void put_output(FILE *stream, const struct ssbatch_planned_run *run, char *const *words) {
    while (*words && strcmp(*words, "--") != 0)
        words++;
    bool dropped = words[0] && words[1] && strcmp(words[1], "ssburn") == 0;
    const char *role = run->use->role;
    fprintf(stream, " --output '{%s}/%s%soutput'", dropped ? "scratch" : "out", role ? role : "",
        role ? "." : "");
}

static int put_showstopper(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    SS_OWNED(free) char **words = read_words(run, error);
    if (!words)
        return -1;
    fputs(" --", stream);
    if (run->around)
        fprintf(stream, " %s", run->around);
    fprintf(stream, " showstopper --quiet --fail-fast%s --record '{record}'",
        run->counters ? " --counters" : "");
    put_output(stream, run, words);
    fprintf(stream, " -n %llu", (unsigned long long)ssbatch_control_instances(run->control));
    if (run->pinned) {
        fputs(" --cpus", stream);
        put_word(stream, run->pinned);
    }
    ssbatch_control_print(stream, run->control);
    if (put_options(stream, run, error) < 0)
        return -1;
    put_workload(stream, run, words);
    fputc('\n', stream);
    return 0;
}

static const char *published_of(const struct ssbatch_workload *workload) {
    return workload->values[SSBATCH_PUBLISHED];
}

/* Writes the line of a role, which has its own columns. */
static int print_role(FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    fputs("main", stream);
    if (run->use->role)
        put_word(stream, run->use->role);
    put_column(stream, "workload", run->workload->name);
    put_column(stream, "published", published_of(run->workload));
    put_column(stream, "method", run->control->method->name);
    fprintf(stream, " instances=%llu", (unsigned long long)ssbatch_control_instances(run->control));
    if (put_given_columns(stream, run, error) < 0 || put_tau(stream, run->control, error) < 0)
        return -1;
    return put_showstopper(stream, run, error);
}

/* Writes the first line of the run. A / in the workload's name becomes a dot in the run's. */
static int print_heading(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    SS_OWNED(free) char *name = replace(run->name, run->control);
    double stands_for = ssbatch_control_stands_for(run->control);
    if (!name)
        return ss_error_memory(error);
    for (char *slash = name; (slash = strchr(slash, '/'));)
        *slash = '.';
    fputs("run", stream);
    put_word(stream, name);
    fputs(" takes", stream);
    put_word(stream, run->takes);
    put_column(stream, "method", run->control->method->name);
    put_column(stream, "workload", run->workload->name);
    put_column(stream, "published", published_of(run->workload));
    put_column(stream, "round", run->round);
    if (put_tau(stream, run->control, error) < 0)
        return -1;
    fprintf(stream, " instances=%llu", (unsigned long long)ssbatch_control_instances(run->control));
    if (!isnan(stands_for))
        fprintf(stream, " stands_for=%.15g", stands_for);
    if (put_given_columns(stream, run, error) < 0)
        return -1;
    fputc('\n', stream);
    return 0;
}

static void print_group(FILE *stream, const struct ssbatch_planned_run *run) {
    const struct ssbatch_control *control = run->control;
    fputs("beside group 'ready=^open$' --", stream);
    put_group_tool(stream, run->tools, false);
    fprintf(stream, " hold " GROUP " --quota %.15g\n", control->target * (double)control->cpus);
}

int ssbatch_planned_run_print(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    bool grouped = run->control->method->limiter == SSBATCH_LIMITER_GROUP;
    if (!run->name)
        return print_role(stream, run, error);
    if (print_heading(stream, run, error) < 0 ||
        ssbatch_workload_print_setup(stream, run->workload, run->use,
            (uint32_t)ssbatch_control_instances(run->control), error) < 0)
        return -1;
    if (run->lines)
        fprintf(stream, "%s%s", run->lines,
            *run->lines && run->lines[strlen(run->lines) - 1] != '\n' ? "\n" : "");
    if (grouped)
        print_group(stream, run);
    fputs("main", stream);
    if (put_showstopper(stream, run, error) < 0)
        return -1;
    if (grouped) {
        fputs("after --", stream);
        put_group_tool(stream, run->tools, false);
        fputs(" close " GROUP "\n", stream);
    }
    return 0;
}
