/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "command/commands.h"
#include "text_stream.h"

/* Layout of the list of workloads, in columns. */
#define LIST_NAME  28
#define LIST_WIDTH 80

/* Writes the text as a word, after a blank, and releases it. */
static int end_word(struct ss_text *text, FILE *stream, struct ss_error *error) {
    SS_OWNED(free) char *word = ss_text_close(text, error);
    if (!word)
        return -1;
    fputc(' ', stream);
    ss_words_quote(stream, word);
    return 0;
}

static const char *value_of(const struct ssbatch_workload *workload, enum ssbatch_key key) {
    return workload->values[key] ? workload->values[key] : "";
}

static const char *memory_of(
    const struct ssbatch_workload *workload, const struct ssbatch_use *use) {
    return use->memory ? use->memory : value_of(workload, SSBATCH_MEMORY);
}

/* Returns the last part of the name: "h2" of "dacapo/h2". */
static const char *last_part(const struct ssbatch_workload *workload) {
    const char *slash = strrchr(workload->name, '/');
    return slash ? slash + 1 : workload->name;
}

/*
 * How placeholders are replaced: in a command of showstopper, which replaces %, or in a shell
 * script.
 */
struct filling {
    const struct ssbatch_workload *workload;
    const struct ssbatch_use *use;
    const char *instance; /* index of the instance, or % */
    bool for_shell;       /* the shell expands variables */
};

/*
 * Doubles { for the plan and, unless it is `bare`, % for showstopper, so that both stay as they
 * are.
 */
static void put_plain(FILE *stream, const char *text, bool bare) {
    for (; *text; text++) {
        if (*text == '{' || (*text == '%' && !bare))
            fputc(*text, stream);
        fputc(*text, stream);
    }
}

/* Writes the absolute path of the catalogue file's folder. */
static void put_here(FILE *stream, const struct filling *filling) {
    SS_OWNED(free) char *file = strdup(filling->workload->file);
    char folder[PATH_MAX];
    char *slash = file ? strrchr(file, '/') : NULL;
    if (slash)
        *slash = '\0';
    if (file && file[0] == '/') {
        put_plain(stream, slash == file ? "/" : file, filling->for_shell);
        return;
    }
    if (!getcwd(folder, sizeof folder))
        strcpy(folder, ".");
    put_plain(stream, folder, filling->for_shell);
    if (slash) {
        fputc('/', stream);
        put_plain(stream, file, filling->for_shell);
    }
}

/* Writes the name of the value that calibrates the command's work. */
static void put_work_name(
    FILE *stream, const struct ssbatch_workload *workload, const struct ssbatch_use *use) {
    fputs("work-", stream);
    for (const char *at = last_part(workload); *at; at++)
        fputc(isalnum((unsigned char)*at) || *at == '-' ? *at : '_', stream);
    if (*memory_of(workload, use))
        fprintf(stream, "-%s", memory_of(workload, use));
}

static void put_folder(FILE *stream, const struct filling *filling);

/*
 * Writes the placeholder at the beginning of the text. Returns its length, or 0 if there is no
 * placeholder. {work} is not available in typed commands.
 */
static size_t put_placeholder(FILE *stream, const char *text, const struct filling *filling) {
    static const char *const names[] = {
        "{side}", "{instance}", "{memory}", "{name}", "{scratch}", "{here}", "{work}"};
    const struct ssbatch_workload *workload = filling->workload;
    const char *role = filling->use->role;
    const char *const texts[] = {role ? role : "alone", filling->instance,
        memory_of(workload, filling->use), last_part(workload)};
    size_t count = sizeof names / sizeof *names - workload->typed, i = 0;

    while (i < count && strncmp(text, names[i], strlen(names[i])) != 0)
        i++;
    if (i == count)
        return 0;
    if (i < sizeof texts / sizeof *texts) {
        fputs(texts[i], stream);
    } else if (strcmp(names[i], "{scratch}") == 0) {
        put_folder(stream, filling);
    } else if (strcmp(names[i], "{here}") == 0) {
        put_here(stream, filling);
    } else {
        fputc('{', stream);
        put_work_name(stream, workload, filling->use);
        fputc('}', stream);
    }
    return strlen(names[i]);
}

/* Returns the length of $NAME, in capitals, at the beginning of the text; 0 if absent. */
static size_t variable_length(const char *text) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (text[0] != '$' || text[1] < 'A' || text[1] > 'Z')
        return 0;
    return 1 + strspn(text + 1, letters);
}

/* Returns the value of $NAME; "" if it is not set. */
static const char *variable_value(const char *text, size_t length) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)length - 1, text + 1);
    const char *value = getenv(name);
    return value ? value : "";
}

/* In a typed command, as in one of showstopper, % is the index of the instance. */
static void put_filled(FILE *stream, const char *text, const struct filling *filling) {
    while (*text) {
        size_t length = *text == '{' ? put_placeholder(stream, text, filling) : 0;
        if (length == 0 && !filling->for_shell && !filling->workload->typed &&
            (length = variable_length(text)) > 0)
            put_plain(stream, variable_value(text, length), false);
        if (length == 0) {
            const char plain[] = {*text, '\0'};
            put_plain(stream, plain, filling->for_shell || filling->workload->typed);
            length = 1;
        }
        text += length;
    }
}

/* Writes the path of an instance's folder, which is below the run's. */
static void put_folder(FILE *stream, const struct filling *filling) {
    const char *form = filling->workload->values[SSBATCH_FOLDER];
    fputs("{scratch}/data/", stream);
    put_filled(stream, form ? form : "{side}-{instance}", filling);
}

/* Writes a word with its placeholders replaced, after a blank. */
static int print_word(
    FILE *stream, const char *word, const struct filling *filling, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;
    put_filled(text.stream, word, filling);
    return end_word(&text, stream, error);
}

/* Returns whether the command is started again when it exits. */
static bool is_repeated_workload(const struct ssbatch_workload *workload) {
    const char *repeat = workload->values[SSBATCH_REPEAT];
    return repeat ? strcmp(repeat, "yes") == 0 : !workload->values[SSBATCH_ITERATION];
}

bool ssbatch_workload_is_counted(const struct ssbatch_workload *workload) {
    return workload->values[SSBATCH_ITERATION] || is_repeated_workload(workload);
}

/* Writes the options that count iterations, and the grace period of the command. */
static int print_counting(
    FILE *stream, const struct ssbatch_workload *workload, struct ss_error *error) {
    const char *iteration = workload->values[SSBATCH_ITERATION];
    const char *stop = workload->values[SSBATCH_STOP];
    if (iteration) {
        struct ss_text text;
        if (ss_text_open(&text, error) < 0)
            return -1;
        put_plain(text.stream, iteration, true);
        fputs(" --iteration", stream);
        if (end_word(&text, stream, error) < 0)
            return -1;
    }
    if (is_repeated_workload(workload))
        fputs(" --repeat", stream);
    if (stop) { /* a time without a unit is in seconds */
        bool has_unit = !isdigit((unsigned char)stop[strlen(stop) - 1]);
        fprintf(stream, " --grace %s%s", stop, has_unit ? "" : "s");
    }
    return 0;
}

static int print_command(FILE *stream, const struct filling *filling, struct ss_error *error) {
    SS_OWNED(free)
    char **words = ss_words_split(value_of(filling->workload, SSBATCH_COMMAND), NULL, error);
    if (!words)
        return -1;
    for (char **word = words; *word; word++) {
        if (print_word(stream, *word, filling, error) < 0)
            return -1;
    }
    const char *memory = memory_of(filling->workload, filling->use);
    if (words[0] && strcmp(words[0], "ssburn") == 0 && *memory && !filling->workload->typed)
        fprintf(stream, " --memory %s", memory);
    return 0;
}

/* Returns the words that follow the options of showstopper, after a blank; free() them. */
static char *print_line(const struct ssbatch_workload *workload, const struct ssbatch_use *use,
    const char *before, struct ss_error *error) {
    const struct filling filling = {.workload = workload, .use = use, .instance = "%"};
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    int status = print_counting(text.stream, workload, error);
    fprintf(text.stream, " --%s", before);
    if (status == 0)
        status = print_command(text.stream, &filling, error);
    char *line = ss_text_close(&text, error);
    if (status == 0)
        return line;
    free(line);
    return NULL;
}

int ssbatch_workload_print(FILE *stream, const struct ssbatch_workload *workload,
    const struct ssbatch_use *use, const char *before, struct ss_error *error) {
    SS_OWNED(free) char *line = print_line(workload, use, before, error);
    if (!line)
        return -1;
    fprintf(stream, "%s\n", line + 1);
    return 0;
}

/* Writes a line that makes the folder of an instance and runs the setup there. */
static int print_setup_line(FILE *stream, const struct filling *filling, struct ss_error *error) {
    const char *setup = filling->workload->values[SSBATCH_SETUP];
    if (!setup) {
        fputs("before -- mkdir -p", stream);
    } else {
        struct ss_text script;
        if (ss_text_open(&script, error) < 0)
            return -1;
        fputs("mkdir -p -- \"$1\" && cd -- \"$1\" || exit; ", script.stream);
        put_filled(script.stream, setup, filling);
        fputs("before -- sh -c", stream);
        if (end_word(&script, stream, error) < 0)
            return -1;
        fputs(" sh", stream);
    }
    if (print_word(stream, "{scratch}", filling, error) < 0)
        return -1;
    fputc('\n', stream);
    return 0;
}

int ssbatch_workload_print_setup(FILE *stream, const struct ssbatch_workload *workload,
    const struct ssbatch_use *use, uint32_t instances, struct ss_error *error) {
    for (uint32_t i = 0; i < instances; i++) {
        char index[16];
        ss_commands_print_number(index, sizeof index, i, instances);
        const struct filling filling = {
            .workload = workload, .use = use, .instance = index, .for_shell = true};
        if (print_setup_line(stream, &filling, error) < 0)
            return -1;
    }
    return 0;
}

int ssbatch_workload_print_definition(FILE *stream, const struct ssbatch_workload *workload,
    const struct ssbatch_use *use, struct ss_error *error) {
    bool ends = false;
    SS_OWNED(free) char *line = print_line(workload, use, "", error);
    SS_OWNED(free) char **words = line ? ss_words_split(line, NULL, error) : NULL;
    if (!words)
        return -1;
    for (char **word = words; *word; word++) {
        if (!ends && strcmp(*word, "--") == 0)
            ends = true;
        else
            fprintf(stream, "%s\n", *word);
    }
    return ssbatch_workload_print_setup(stream, workload, use, 1, error);
}

void ssbatch_workload_print_once(
    FILE *stream, const struct ssbatch_workload *workload, const struct ssbatch_use *use) {
    if (workload->typed || !strstr(value_of(workload, SSBATCH_COMMAND), "{work}"))
        return;
    fputs("once ", stream);
    put_work_name(stream, workload, use);
    fprintf(stream, " match='^# work (.+)$' -- ssburn %s --iterations 0", last_part(workload));
    if (*memory_of(workload, use))
        fprintf(stream, " --memory %s", memory_of(workload, use));
    fputc('\n', stream);
}

/* Returns a need with its variables replaced by their values; free() it. */
static char *expand(const char *need, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    while (*need) {
        size_t length = variable_length(need);
        if (length > 0)
            fputs(variable_value(need, length), text.stream);
        else
            fputc(*need, text.stream);
        need += length > 0 ? length : 1;
    }
    return ss_text_close(&text, error);
}

/*
 * If the machine lacks the need, writes `before` and what is missing, and returns 1. The value of a
 * variable may be anything, such as a number, but with a / it is a path.
 */
static int print_lack(FILE *stream, const char *before, const char *need, struct ss_error *error) {
    size_t variable = variable_length(need);
    if (variable > 0 && !need[variable]) {
        const char *value = variable_value(need, variable);
        if (!*value)
            fprintf(stream, "%s%s is not set", before, need);
        if (!*value || !strchr(value, '/'))
            return !*value;
    }
    SS_OWNED(free) char *expanded = expand(need, error);
    if (!expanded)
        return -1;
    bool is_file = strchr(expanded, '/');
    char *words[] = {expanded, NULL}, **command = words;
    const struct ss_commands commands = {.items = &command, .count = 1};
    if (is_file ? access(expanded, F_OK) == 0 : ss_commands_check(&commands, NULL) == 0)
        return 0;
    fprintf(stream, "%sno %s%s", before, is_file ? "file " : "", expanded);
    return 1;
}

/*
 * Returns the needs and, if the command begins with a word without quotes, its program. The words
 * are one block: free() it.
 */
static char **list_needs(const struct ssbatch_workload *workload, struct ss_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/+-";
    const char *command = value_of(workload, SSBATCH_COMMAND);
    size_t length = strcspn(command, " \t");
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    fputs(value_of(workload, SSBATCH_NEEDS), text.stream);
    if (strspn(command, plain) >= length)
        fprintf(text.stream, " %.*s", (int)length, command);
    SS_OWNED(free) char *list = ss_text_close(&text, error);
    return list ? ss_words_split(list, NULL, error) : NULL;
}

/* Returns whether an earlier word of the list is the same. */
static bool is_repeated(char *const *words, char *const *word) {
    for (; words < word; words++) {
        if (strcmp(*words, *word) == 0)
            return true;
    }
    return false;
}

int ssbatch_workload_find_lacks(
    const struct ssbatch_workload *workload, char **lacks, struct ss_error *error) {
    struct ss_text text;
    int status = 0, count = 0;
    *lacks = NULL;
    if (workload->typed)
        return 0;
    SS_OWNED(free) char **words = list_needs(workload, error);
    if (!words || ss_text_open(&text, error) < 0)
        return -1;

    for (char **word = words; *word && status >= 0; word++) {
        if (is_repeated(words, word))
            continue;
        status = print_lack(text.stream, count > 0 ? ", " : "", *word, error);
        count += status;
    }
    *lacks = ss_text_close(&text, error);
    if (status >= 0 && *lacks && count > 0)
        return 0;
    bool failed = status < 0 || !*lacks;
    free(*lacks);
    *lacks = NULL;
    return failed ? -1 : 0;
}

int ssbatch_workload_check(const struct ssbatch_workload *workload, const char *prefix,
    bool even_if_missing, struct ss_error *error) {
    SS_OWNED(free) char *lacks = NULL;
    if (ssbatch_workload_find_lacks(workload, &lacks, error) < 0)
        return -1;
    if (lacks && !even_if_missing)
        return ss_error_fail(error, "%s cannot run here: %s", workload->name, lacks);
    if (lacks)
        fprintf(stderr, "%s%s cannot run here: %s\n", prefix, workload->name, lacks);
    return 0;
}

const char *ssbatch_workload_unfit(const struct ssbatch_workload *workload) {
    static const char mark[] = "unfit:";
    const char *note = value_of(workload, SSBATCH_NOTE);
    if (strncmp(note, mark, sizeof mark - 1) != 0)
        return NULL;
    note += sizeof mark - 1;
    return note + strspn(note, " \t");
}

/* Writes the beginning of a line of the list, of at most LIST_WIDTH columns. */
static int list_workload(
    FILE *stream, const struct ssbatch_workload *workload, struct ss_error *error) {
    const char *note = value_of(workload, SSBATCH_NOTE);
    SS_OWNED(free) char *lacks = NULL;
    struct ss_text text;
    if (ssbatch_workload_find_lacks(workload, &lacks, error) < 0 || ss_text_open(&text, error) < 0)
        return -1;
    fprintf(text.stream, "%-*s ", LIST_NAME, workload->name);
    if (lacks)
        fprintf(
            text.stream, "missing  %s%s", lacks, ssbatch_workload_unfit(workload) ? "; unfit" : "");
    else
        fprintf(text.stream, "ready%s%s", *note ? "    " : "", note);
    SS_OWNED(free) char *line = ss_text_close(&text, error);
    if (!line)
        return -1;
    if (strlen(line) > LIST_WIDTH)
        fprintf(stream, "%.*s...\n", LIST_WIDTH - 3, line);
    else
        fprintf(stream, "%s\n", line);
    return 0;
}

int ssbatch_catalogue_list(
    FILE *stream, const struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    for (size_t i = 0; i < catalogue->count; i++) {
        if (list_workload(stream, &catalogue->items[i], error) < 0)
            return -1;
    }
    return 0;
}
