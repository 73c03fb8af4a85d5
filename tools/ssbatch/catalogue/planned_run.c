/* SPDX-License-Identifier: Apache-2.0 */
#include "planned_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "text_stream.h"

/* The control group of a run with a quota. ssbatch replaces both placeholders. */
#define GROUP "'{place}.{run}'"

#define NUMBER_ROOM 32

static void print_number(char text[NUMBER_ROOM], double number) {
    snprintf(text, NUMBER_ROOM, "%.15g", number);
    if (isnan(number))
        text[0] = '\0';
}

/*
 * Returns the text with {instances}, {stands_for} and {target} replaced; free() it. Returns NULL
 * with the error set if memory is exhausted.
 */
static char *replace(
    const char *template, const struct ssbatch_control *control, struct ss_error *error) {
    char instances[NUMBER_ROOM], stands_for[NUMBER_ROOM], target[NUMBER_ROOM];
    const struct ssbatch_part parts[] = {
        {"{instances}", "", instances},
        {"{stands_for}", "", stands_for},
        {"{target}", "", target},
    };
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;

    print_number(instances, (double)ssbatch_control_instances(control));
    print_number(stands_for, ssbatch_control_stands_for(control));
    print_number(target, control->target);
    ssbatch_put_parts(text.stream, template, parts, sizeof parts / sizeof *parts);
    return ss_text_close(&text, error);
}

/* Writes a blank and a word. */
static void put_word(FILE *stream, const char *word) {
    fputc(' ', stream);
    ss_words_quote(stream, word);
}

static void put_column(FILE *stream, const char *key, const char *value) {
    if (!value || !*value)
        return;
    fprintf(stream, " %s=", key);
    ss_words_quote(stream, value);
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
        SS_OWNED(free) char *text = replace(*word, run->control, error);
        if (!text)
            return -1;
        char *equals = strchr(text, '=');
        if (!equals)
            return ss_error_fail(error,
                "'%s' is not KEY=VALUE: put options of showstopper "
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
        SS_OWNED(free) char *text = replace(*word, run->control, error);
        if (!text)
            return -1;
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
    if (parts)
        fprintf(stream, " cpulimit -i -l %.2f -f --", fmax(percent, 1));
    else
        fprintf(stream, " cpulimit -q%s -l %.0f -f --", forks ? " -m" : "", fmax(percent, 1));
}

/* Writes the path of env/group, with % doubled if showstopper would replace it. */
static int put_group_tool(FILE *stream, const char *tools, bool doubled, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;
    for (const char *at = tools; *at; at++)
        fprintf(text.stream, "%s%c", *at == '%' && doubled ? "%" : "", *at);
    fputs("/env/group", text.stream);
    SS_OWNED(free) char *path = ss_text_close(&text, error);
    if (!path)
        return -1;
    put_word(stream, path);
    return 0;
}

/* Returns the words before the command, each after a blank; free() them. */
static char *print_before(const struct ssbatch_planned_run *run, struct ss_error *error) {
    enum ssbatch_limiter limiter = run->control->method->limiter;
    struct ss_text text;
    int status = 0;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    if (run->entering)
        fprintf(text.stream, " %s", run->entering);
    if (limiter == SSBATCH_LIMITER_CPULIMIT)
        put_cpulimit(text.stream, run);
    if (limiter == SSBATCH_LIMITER_GROUP) {
        status = put_group_tool(text.stream, run->tools, true, error);
        fputs(" enter " GROUP " --", text.stream);
    }
    char *before = ss_text_close(&text, error);
    if (status == 0)
        return before;
    free(before);
    return NULL;
}

/*
 * Drops the output of ssburn, because its iterations are in the record. Keeps the output of other
 * commands.
 */
static void put_output(FILE *stream, const struct ssbatch_planned_run *run) {
    const char *command = run->workload->values[SSBATCH_COMMAND];
    bool dropped = strncmp(command, "ssburn", 6) == 0 && strchr(" \t", command[6]);
    const char *role = run->use->role;
    fprintf(stream, " --output '{%s}/%s%soutput'", dropped ? "scratch" : "out", role ? role : "",
        role ? "." : "");
}

static int put_showstopper(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    SS_OWNED(free) char *before = print_before(run, error);
    if (!before)
        return -1;
    fputs(" --", stream);
    if (run->around)
        fprintf(stream, " %s", run->around);
    fprintf(stream, " showstopper --quiet --fail-fast%s --record '{record}'",
        run->counters ? " --counters" : "");
    put_output(stream, run);
    fprintf(stream, " -n %llu", (unsigned long long)ssbatch_control_instances(run->control));
    if (run->pinned) {
        fputs(" --cpus", stream);
        put_word(stream, run->pinned);
    }
    ssbatch_control_print(stream, run->control);
    if (put_options(stream, run, error) < 0)
        return -1;
    fputc(' ', stream);
    return ssbatch_workload_print(stream, run->workload, run->use, before, error);
}

/* Writes the line of a role, which has its own columns. */
static int print_role(FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    fputs("main", stream);
    if (run->use->role)
        put_word(stream, run->use->role);
    put_column(stream, "workload", run->workload->name);
    put_column(stream, "published", run->workload->values[SSBATCH_PUBLISHED]);
    put_column(stream, "method", run->control->method->name);
    fprintf(stream, " instances=%llu", (unsigned long long)ssbatch_control_instances(run->control));
    if (put_given_columns(stream, run, error) < 0 || put_tau(stream, run->control, error) < 0)
        return -1;
    return put_showstopper(stream, run, error);
}

/* Writes the first line of the run. A / in the workload's name becomes a dot in the run's. */
static int print_heading(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    SS_OWNED(free) char *name = replace(run->name, run->control, error);
    double stands_for = ssbatch_control_stands_for(run->control);
    if (!name)
        return -1;
    for (char *slash = name; (slash = strchr(slash, '/'));)
        *slash = '.';
    fputs("run", stream);
    put_word(stream, name);
    fputs(" takes", stream);
    put_word(stream, run->takes);
    put_column(stream, "method", run->control->method->name);
    put_column(stream, "workload", run->workload->name);
    put_column(stream, "published", run->workload->values[SSBATCH_PUBLISHED]);
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

int ssbatch_planned_run_print(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error) {
    const struct ssbatch_control *control = run->control;
    bool grouped = control->method->limiter == SSBATCH_LIMITER_GROUP;
    if (!run->name)
        return print_role(stream, run, error);
    if (print_heading(stream, run, error) < 0 ||
        ssbatch_workload_print_setup(stream, run->workload, run->use,
            (uint32_t)ssbatch_control_instances(control), error) < 0)
        return -1;
    if (run->lines)
        fprintf(stream, "%s%s", run->lines,
            *run->lines && run->lines[strlen(run->lines) - 1] != '\n' ? "\n" : "");
    if (grouped) {
        fputs("beside group 'ready=^open$' --", stream);
        if (put_group_tool(stream, run->tools, false, error) < 0)
            return -1;
        fprintf(stream, " hold " GROUP " --quota %.15g\n", control->target * (double)control->cpus);
    }
    fputs("main", stream);
    if (put_showstopper(stream, run, error) < 0)
        return -1;
    if (grouped) {
        fputs("after --", stream);
        if (put_group_tool(stream, run->tools, false, error) < 0)
            return -1;
        fputs(" close " GROUP "\n", stream);
    }
    return 0;
}
