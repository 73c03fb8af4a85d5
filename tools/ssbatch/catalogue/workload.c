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

/* Layout of the list of workloads, in columns. */
#define LIST_NAME  28
#define LIST_WIDTH 80

/* A text that is being written to memory. */
struct text {
    FILE *stream;
    char *bytes;
    size_t size;
};

static int open_text(struct text *text, struct ss_error *error) {
    *text = (struct text){0};
    text->stream = open_memstream(&text->bytes, &text->size);
    return text->stream ? 0 : ss_error_memory(error);
}

/* Writes the text as a word, after a blank, and releases it. */
static int end_word(struct text *text, FILE *stream, struct ss_error *error) {
    bool whole = fclose(text->stream) == 0;
    if (whole) {
        fputc(' ', stream);
        ss_words_quote_line(stream, text->bytes);
    }
    free(text->bytes);
    return whole ? 0 : ss_error_memory(error);
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

static void put_side(FILE *stream, const struct filling *filling) {
    fputs(filling->use->role ? filling->use->role : "alone", stream);
}

static void put_instance(FILE *stream, const struct filling *filling) {
    fputs(filling->instance, stream);
}

static void put_memory(FILE *stream, const struct filling *filling) {
    fputs(memory_of(filling->workload, filling->use), stream);
}

static void put_name(FILE *stream, const struct filling *filling) {
    fputs(last_part(filling->workload), stream);
}

static void put_work(FILE *stream, const struct filling *filling) {
    fputc('{', stream);
    put_work_name(stream, filling->workload, filling->use);
    fputc('}', stream);
}

static const struct {
    const char *text;
    void (*put)(FILE *stream, const struct filling *filling);
} placeholders[] = {
    {"{scratch}", put_folder},
    {"{side}", put_side},
    {"{instance}", put_instance},
    {"{memory}", put_memory},
    {"{name}", put_name},
    {"{here}", put_here},
    {"{work}", put_work},
};

/*
 * Writes the placeholder at the beginning of the text. Returns its length, or 0 if there is no
 * placeholder. The last one, {work}, is not available in typed commands.
 */
static size_t put_placeholder(FILE *stream, const char *text, const struct filling *filling) {
    size_t count = sizeof placeholders / sizeof *placeholders - filling->workload->typed;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(placeholders[i].text);
        if (strncmp(text, placeholders[i].text, length) == 0) {
            placeholders[i].put(stream, filling);
            return length;
        }
    }
    return 0;
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
    struct text text;
    if (open_text(&text, error) < 0)
        return -1;
    put_filled(text.stream, word, filling);
    return end_word(&text, stream, error);
}

/* Prints the time that the command may take to end. A time without a unit is in seconds. */
static void print_grace(FILE *stream, const char *stop) {
    fprintf(
        stream, " --grace %s%s", stop, isdigit((unsigned char)stop[strlen(stop) - 1]) ? "s" : "");
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
    if (iteration) {
        struct text text;
        if (open_text(&text, error) < 0)
            return -1;
        put_plain(text.stream, iteration, true);
        fputs(" --iteration", stream);
        if (end_word(&text, stream, error) < 0)
            return -1;
    }
    if (is_repeated_workload(workload))
        fputs(" --repeat", stream);
    if (workload->values[SSBATCH_STOP])
        print_grace(stream, workload->values[SSBATCH_STOP]);
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

int ssbatch_workload_print(FILE *stream, const struct ssbatch_workload *workload,
    const struct ssbatch_use *use, struct ss_error *error) {
    const struct filling filling = {.workload = workload, .use = use, .instance = "%"};
    struct text text;
    if (open_text(&text, error) < 0)
        return -1;
    int status = print_counting(text.stream, workload, error);
    fputs(" --", text.stream);
    if (status == 0)
        status = print_command(text.stream, &filling, error);
    bool whole = fclose(text.stream) == 0;
    if (status == 0 && whole)
        fprintf(stream, "%s\n", text.bytes + 1);
    free(text.bytes);
    return status == 0 && !whole ? ss_error_memory(error) : status;
}

/* Writes a line that makes the folder of an instance and runs the setup there. */
static int print_setup_line(FILE *stream, const struct filling *filling, struct ss_error *error) {
    const char *setup = filling->workload->values[SSBATCH_SETUP];
    if (!setup) {
        fputs("before -- mkdir -p", stream);
    } else {
        struct text script;
        if (open_text(&script, error) < 0)
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
    struct text text;
    bool ends = false;
    if (open_text(&text, error) < 0)
        return -1;
    int status = ssbatch_workload_print(text.stream, workload, use, error);
    bool whole = fclose(text.stream) == 0;
    SS_OWNED(free) char *line = text.bytes;
    SS_OWNED(free)
    char **words = status == 0 && whole ? ss_words_split(line, NULL, error) : NULL;
    if (!words)
        return whole ? -1 : ss_error_memory(error);
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

/* Writes a need with its variables replaced by their values. */
static void put_expanded(FILE *stream, const char *need) {
    while (*need) {
        size_t length = variable_length(need);
        if (length > 0)
            fputs(variable_value(need, length), stream);
        else
            fputc(*need, stream);
        need += length > 0 ? length : 1;
    }
}

static bool can_be_executed(const char *program) {
    char *words[] = {(char *)program, NULL};
    char **command = words;
    const struct ss_commands commands = {.items = &command, .count = 1};
    return ss_commands_check(&commands, NULL) == 0;
}

/*
 * If the machine lacks the need, writes `before` and what is missing, and returns true. The value
 * of a variable may be anything, such as a number, but with a / it is a path.
 */
static bool print_lack(FILE *stream, const char *before, const char *need) {
    size_t variable = variable_length(need);
    char expanded[PATH_MAX] = "";
    if (variable > 0 && !need[variable]) {
        const char *value = variable_value(need, variable);
        if (!*value)
            fprintf(stream, "%s%s is not set", before, need);
        if (!*value || !strchr(value, '/'))
            return !*value;
    }
    FILE *text = fmemopen(expanded, sizeof expanded - 1, "w");
    if (!text)
        return false;
    put_expanded(text, need);
    fclose(text);
    bool is_file = strchr(expanded, '/');
    if (is_file ? access(expanded, F_OK) == 0 : can_be_executed(expanded))
        return false;
    fprintf(stream, "%sno %s%s", before, is_file ? "file " : "", expanded);
    return true;
}

/*
 * Returns the needs and, if the command begins with a word without quotes, its program; free() the
 * result.
 */
static char *list_needs(const struct ssbatch_workload *workload) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/+-";
    const char *needs = value_of(workload, SSBATCH_NEEDS);
    const char *command = value_of(workload, SSBATCH_COMMAND);
    int length = (int)strcspn(command, " \t");
    if ((int)strspn(command, plain) < length)
        length = 0;
    char *list;
    return asprintf(&list, "%s %.*s", needs, length, command) < 0 ? NULL : list;
}

/* Returns whether an earlier word of the list is the same. */
static bool is_repeated(char *const *words, char *const *word) {
    for (; words < word; words++) {
        if (strcmp(*words, *word) == 0)
            return true;
    }
    return false;
}

bool ssbatch_workload_print_missing(FILE *stream, const struct ssbatch_workload *workload) {
    if (workload->typed)
        return false;
    SS_OWNED(free) char *needs = list_needs(workload);
    SS_OWNED(free) char **words = needs ? ss_words_split(needs, NULL, NULL) : NULL;
    bool any = false;
    for (char **word = words; word && *word; word++) {
        if (!is_repeated(words, word))
            any |= print_lack(stream, any ? ", " : "", *word);
    }
    return any;
}

const char *ssbatch_workload_unfit(const struct ssbatch_workload *workload) {
    static const char mark[] = "unfit:";
    const char *note = value_of(workload, SSBATCH_NOTE);
    if (strncmp(note, mark, sizeof mark - 1) != 0)
        return NULL;
    note += sizeof mark - 1;
    return note + strspn(note, " \t");
}

static void list_workload(FILE *stream, const struct ssbatch_workload *workload) {
    const char *note = value_of(workload, SSBATCH_NOTE);
    SS_OWNED(free) char *lacks = NULL;
    size_t size;
    FILE *text = open_memstream(&lacks, &size);
    if (!text)
        return;
    bool missing = ssbatch_workload_print_missing(text, workload);
    if (fclose(text) != 0)
        return;
    SS_OWNED(free) char *line = NULL;
    if (missing ? asprintf(&line, "%-*s missing  %s%s", LIST_NAME, workload->name, lacks,
                      ssbatch_workload_unfit(workload) ? "; unfit" : "") < 0
                : asprintf(&line, "%-*s ready%s%s", LIST_NAME, workload->name, *note ? "    " : "",
                      note) < 0)
        return;
    if (strlen(line) > LIST_WIDTH)
        fprintf(stream, "%.*s...\n", LIST_WIDTH - 3, line);
    else
        fprintf(stream, "%s\n", line);
}

void ssbatch_catalogue_list(FILE *stream, const struct ssbatch_catalogue *catalogue) {
    for (size_t i = 0; i < catalogue->count; i++)
        list_workload(stream, &catalogue->items[i]);
}
