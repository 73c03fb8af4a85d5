/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

#include "nearest.h"

/* One option of the command line: a module option's row, with what a command line adds. */
struct row {
    char letter;       /* 0: none */
    const char *value; /* what the help calls its argument; NULL: it takes none */
    struct ss_option option;
};

#define FIELD(member) .offset = offsetof(struct ss_cli, member)
#define FLAG(name_, member, help_) {.option = {.name = name_, FIELD(member), .help = help_}}
#define FLAG_LETTER(letter_, name_, member, help_)                                                 \
    {.letter = letter_, .option = {.name = name_, FIELD(member), .help = help_}}
/* The rows stand in the order of the help. A row's name is unique, so is its letter. */
static const struct row rows[] = {
    {'n', "N", {.name = "instances", .type = SS_OPTION_COUNT, FIELD(instances), .min = "1",
                   .max = "1000000", .help = "how many copies of the command to run; default: as "
                                             "many as there are measured CPUs"}},
    {'l', "LOAD", {.name = "load", .type = SS_OPTION_TEXT, FIELD(load),
                      .help = "hold this load: short for -t constant -T LOAD"}},
#define KIND(small, large, kind, constant, initial_, what)                                         \
    {small, "NAME",                                                                                \
        {.name = kind, .type = SS_OPTION_TEXT, .initial = initial_,                                \
            .offset = offsetof(struct ss_cli, modules) + sizeof(char *) * constant,                \
            .help = "module that says " what}},                                                    \
    {                                                                                              \
        large, "OPTS", {                                                                           \
            .name = kind "-options", .type = SS_OPTION_TEXT,                                       \
            .offset = offsetof(struct ss_cli, options) + sizeof(char *) * constant,                \
            .help = "its options: MAIN,name=value,..."                                             \
        }                                                                                          \
    }
    KIND('t', 'T', "trace", SS_KIND_TRACE, "constant", "what load is wanted"),
    KIND('f', 'F', "feedback", SS_KIND_FEEDBACK, "realtime", "what the load is"),
    KIND('c', 'C', "control", SS_KIND_CONTROL, "rbpid", "how much may run"),
    KIND('s', 'S', "space", SS_KIND_SPACE, "even", "who runs"),
    KIND('d', 'D', "dithering", SS_KIND_DITHERING, "averageq", "when"),
    {'w', "FILE", {.name = "workloads", .type = SS_OPTION_TEXT, FIELD(workloads),
                      .help = "run different commands together: a line each, COUNT COMMAND..."}},
    {'p', "STR", {.name = "placeholder", .type = SS_OPTION_TEXT, FIELD(placeholder),
                     .initial = "%", .help = "the text in the command that becomes the instance's "
                                             "number; doubled it stands for itself, '' is none"}},
    {0, "LIST", {.name = "cpus", .type = SS_OPTION_TEXT, FIELD(cpus),
                    .help = "pin all instances to these CPUs and measure only these, as 0-3,8"}},
    {0, "TIME", {.name = "warmup", .type = SS_OPTION_TIME, FIELD(warmup), .initial = "0",
                    .help = "run uncontrolled first; the trace starts after it"}},
    {0, "TIME", {.name = "settle", .type = SS_OPTION_TIME, FIELD(settle), .initial = "0",
                    .help = "controlled, but counted in no figure"}},
    {0, "TIME", {.name = "duration", .type = SS_OPTION_TIME, FIELD(duration), .min = "1u",
                    .help = "end after so much controlled time; default: with a trace that does "
                            "not loop, else when the workloads end"}},
    {0, "TIME", {.name = "start-at", .type = SS_OPTION_TEXT, FIELD(start_at),
                    .help = "start the trace at this wall-clock time: RFC 3339, HH:MM[:SS] or "
                            "@EPOCH"}},
    FLAG("fail-fast", fail_fast, "an instance that fails ends the run"),
    FLAG("repeat", repeat, "start an instance again when it ends with status 0; each end is one "
                           "iteration"),
    {0, "REGEX", {.name = "iteration", .type = SS_OPTION_TEXT, FIELD(iteration),
                     .help = "each line of output that matches ends one iteration; the first "
                             "group, if any, is its time in milliseconds"}},
    {0, "DIR", {.name = "output", .type = SS_OPTION_TEXT, FIELD(output),
                   .help = "keep each instance's output in DIR/NN.out and DIR/NN.err"}},
    {0, "FILE", {.name = "json", .type = SS_OPTION_TEXT, FIELD(json),
                    .help = "write the end summary for machines; - is standard output"}},
    {0, "WHEN", {.name = "progress", .type = SS_OPTION_CHOICE, FIELD(progress),
                    .choices = "auto always never", .initial = "auto",
                    .help = "a live line on standard error; auto: on a terminal"}},
    {0, "TIME", {.name = "grace", .type = SS_OPTION_TIME, FIELD(grace), .initial = "5s",
                    .help = "how long an instance may take to end after the polite signal"}},
    FLAG("keep", keep, "leave instances running when Showstopper ends"),
    {0, "PID LOAD", {.name = "set", .type = SS_OPTION_TEXT, FIELD(set_pid),
                        .help = "change the target of a running Showstopper of one's own; "
                                "`trace` goes back to the trace"}},
    FLAG_LETTER('q', "quiet", quiet, "no summary"),
    FLAG_LETTER('v', "verbose", verbose, "more about what is decided"),
    {0, "PERCENT", {.name = "tolerance", .type = SS_OPTION_NUMBER, FIELD(tolerance),
                       .help = "end with status 3 if the mean error at the end is larger"}},
    FLAG("dry-run", dry_run, "check everything, print the plan, start nothing"),
    FLAG("list-modules", list_modules, "list the modules that can be found"),
    {0, "KIND/NAME", {.name = "help-module", .type = SS_OPTION_TEXT, FIELD(help_module),
                         .help = "what a module does and its options"}},
    FLAG_LETTER('h', "help", help, "print this help"),
    FLAG("version", version, "print the version"),
};

#define ROWS (sizeof rows / sizeof *rows)

static const struct row *find_letter(char letter) {
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].letter && rows[i].letter == letter)
            return &rows[i];
    }
    return NULL;
}

static const struct row *find_name(const char *name, size_t length, struct ss_error *error) {
    const char *names[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        names[i] = rows[i].option.name;
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return &rows[i];
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = ss_nearest(word, names, ROWS);
    if (nearest)
        ss_error_set(error, SS_ERROR_FAILED, "there is no option --%s: did you mean --%s?", word,
            nearest);
    else
        ss_error_set(error, SS_ERROR_FAILED, "there is no option --%s: see --help", word);
    return NULL;
}

/* Where the parser stands. */
struct cursor {
    char **argv;
    int argc;
    int at;
};

static const char *next_word(struct cursor *cursor) {
    return cursor->at + 1 < cursor->argc ? cursor->argv[++cursor->at] : NULL;
}

/* Sets one option. `value` is what was joined to it (--name=value, -n12), or NULL. */
static int take(struct ss_cli *cli, const struct row *row, const char *value,
    struct cursor *cursor, struct ss_error *error) {
    const char *name = row->option.name;
    if (!row->value) {
        if (value)
            return ss_error_set(error, SS_ERROR_FAILED, "--%s takes no value, but got '%s'", name,
                value);
        *(int *)((char *)cli + row->option.offset) = 1;
        return 0;
    }
    if (!value)
        value = next_word(cursor);
    if (!value)
        return ss_error_set(error, SS_ERROR_FAILED, "--%s wants a value: --%s %s", name, name,
            row->value);
    /* The one option with two values. */
    if (row->option.offset == offsetof(struct ss_cli, set_pid)) {
        cli->set_load = next_word(cursor);
        if (!cli->set_load)
            return ss_error_set(error, SS_ERROR_FAILED, "--set wants two values: --set PID LOAD");
    }
    if (ss_option_set(&row->option, value, cli, &cli->store, error) < 0) {
        struct ss_error bare = {0};
        snprintf(bare.message, sizeof bare.message, "--%.900s", error->message);
        bare.status = error->status;
        *error = bare;
        return -1;
    }
    return 0;
}

static int take_letters(struct ss_cli *cli, const char *letters, struct cursor *cursor,
    struct ss_error *error) {
    for (; *letters; letters++) {
        const struct row *row = find_letter(*letters);
        if (!row)
            return ss_error_set(error, SS_ERROR_FAILED, "there is no option -%c: see --help",
                *letters);
        bool joined = row->value && letters[1];
        if (take(cli, row, joined ? letters + 1 : NULL, cursor, error) < 0)
            return -1;
        if (joined)
            break;
    }
    return 0;
}

int ss_cli_parse(struct ss_cli *cli, int argc, char **argv, struct ss_error *error) {
    *cli = (struct ss_cli){.duration = SS_TIME_NEVER, .tolerance = NAN};
    for (size_t i = 0; i < ROWS; i++) {
        const struct ss_option *option = &rows[i].option;
        if (option->initial &&
            ss_option_set(option, option->initial, cli, &cli->store, error) < 0)
            return -1;
    }
    struct cursor cursor = {argv, argc, 1};
    for (; cursor.at < argc; cursor.at++) {
        const char *word = argv[cursor.at];
        if (strcmp(word, "--") == 0) {
            cursor.at++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0')
            break;
        int status;
        if (word[1] != '-') {
            status = take_letters(cli, word + 1, &cursor, error);
        } else {
            size_t length = strcspn(word + 2, "=");
            const struct row *row = find_name(word + 2, length, error);
            const char *value = word[2 + length] ? word + 3 + length : NULL;
            status = row ? take(cli, row, value, &cursor, error) : -1;
        }
        if (status < 0)
            return -1;
    }
    cli->command = argv + (cursor.at < argc ? cursor.at : argc);
    return 0;
}

void ss_cli_free(struct ss_cli *cli) {
    ss_option_store_free(&cli->store);
}

/* The help text of one option, broken into lines behind a margin. */
static void print_wrapped(FILE *stream, const char *text) {
    const int margin = 30;
    int width = 79 - margin;
    while (*text) {
        int length = (int)strlen(text);
        if (length > width) {
            length = width;
            while (length > 0 && text[length] != ' ')
                length--;
        }
        fprintf(stream, "%.*s\n", length, text);
        text += length + (text[length] == ' ');
        if (*text)
            fprintf(stream, "%*s", margin, "");
    }
}

void ss_cli_help(FILE *stream) {
    fprintf(stream,
        "Usage: showstopper [OPTION]... [--] COMMAND [ARGUMENT]...\n"
        "Runs copies of COMMAND and holds the CPU load at a target, or makes it follow a trace,\n"
        "by stopping and continuing them.\n\n"
        "Times: 20s, 107m (milliseconds), 2M (minutes), 1h. Loads: 60%%, 0.6 or 6/10.\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        const struct ss_option *option = &rows[i].option;
        char left[64];
        snprintf(left, sizeof left, "  %c%c%s--%s%s%s", rows[i].letter ? '-' : ' ',
            rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ", " : "  ", option->name,
            rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
        fprintf(stream, "%-29s ", left);
        char text[512];
        snprintf(text, sizeof text, "%s%s%s", option->help, option->initial ? "; default " : "",
            option->initial ? option->initial : "");
        if (strlen(left) > 29)
            fprintf(stream, "\n%30s", "");
        print_wrapped(stream, text);
    }
    fprintf(stream,
        "\nExample: hold this machine at half of its capacity for 20 seconds.\n"
        "  showstopper -l 50%% --duration 20s ssburn serial\n");
}
