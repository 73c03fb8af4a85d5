/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "plan.h"
#include "quote.h"

/* Size limit of a line with its continuations, in bytes. */
#define LINE_SIZE_MAX (1 << 20)

struct reader {
    struct ssbatch_plan *plan;
    FILE *stream;
    const char *name;                /* the file, for messages */
    unsigned line;                   /* number of the line where the words begin, from 1 */
    unsigned lines_read;             /* number of lines read so far */
    bool begun;                      /* a line with words was read */
    bool in_run;                     /* the last line that is not a command began a run */
    struct ssbatch_columns set, own; /* columns of `set` so far, and of this line */
    char *piece, *text;              /* a line, and a line with its continuations */
    size_t piece_room, length, text_room;
};

/* Reads a line into `piece`, without its end. Returns 1, 0 at the end of the plan, or -1. */
static int read_piece(struct reader *reader, struct ss_error *error) {
    ssize_t length = getline(&reader->piece, &reader->piece_room, reader->stream);
    if (length < 0 && feof(reader->stream))
        return 0;
    if (length < 0)
        return ss_error_fail(error, "cannot read the plan: %s", strerror(errno));

    reader->lines_read++;
    if (strlen(reader->piece) < (size_t)length)
        return ss_error_fail(error, "the line contains a null byte: a plan is text");

    size_t end = strcspn(reader->piece, "\r\n");
    if (reader->piece[end] == '\r' && reader->piece[end + 1 + (reader->piece[end + 1] == '\n')])
        return ss_error_fail(error,
            "the line contains a carriage return, perhaps from a value that was read from a DOS "
            "file: remove it, or quote it as $'\\r'");

    reader->piece[end] = '\0';
    return 1;
}

static int append_piece(struct reader *reader, struct ss_error *error) {
    size_t size = strlen(reader->piece);
    if (reader->length + size > LINE_SIZE_MAX)
        return ss_error_fail(error,
            "the line is longer than %d KiB: move a part of the command to a script",
            LINE_SIZE_MAX >> 10);
    if (!SS_GROW(reader->text, reader->length + size + 1, reader->text_room))
        return ss_error_memory(error);
    memcpy(reader->text + reader->length, reader->piece, size + 1);
    reader->length += size;
    return 0;
}

/* Reads a line and its continuations into `text`. Returns 1, 0 at the end of the plan, or -1. */
static int read_text(struct reader *reader, struct ss_error *error) {
    reader->line = reader->lines_read + 1;
    reader->length = 0;

    int status = read_piece(reader, error);
    while (status > 0) {
        if (append_piece(reader, error) < 0)
            return -1;
        if (!quote_line_is_continued(reader->text))
            return 1;
        reader->text[--reader->length] = '\0';
        status = read_piece(reader, error);
        if (status == 0)
            return ss_error_fail(error,
                "the plan ends with a backslash, which continues a line: the next line is missing");
    }

    return status;
}

/*
 * Splits the line into words, which the plan then owns. Returns NULL with the error set on failure.
 */
static char **read_words(struct reader *reader, struct ss_error *error) {
    struct ssbatch_plan *plan = reader->plan;
    if (!SS_GROW(plan->blocks, plan->block_count + 1, plan->block_room)) {
        ss_error_memory(error);
        return NULL;
    }
    char **words = ss_words_split(reader->text, NULL, error);
    if (words)
        plan->blocks[plan->block_count++] = words;
    return words;
}

/* Checks a name. A comma would end it in a list, and a % or { would be replaced in a command. */
static int check_name(const char *name, struct ss_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._+-=@:";

    /* Files by which ssreport recognizes a run, a record, a list of records or a fleet. */
    if (ss_words_has(
            "run.json,plan.json,samples.csv,requests.csv,manifest.csv,fleet.csv", ',', name))
        return ss_error_fail(error,
            "'%s' cannot name a run: ssreport would mistake it for a file of a record", name);

    if (!*name)
        return ss_error_fail(error, "the name is empty: use a name that a file can have");
    if (strlen(name) > SSBATCH_NAME_MAX)
        return ss_error_fail(error, "the name '%s' is too long: use at most %d bytes",
            ss_words_show(name).text, SSBATCH_NAME_MAX);
    if (*name == '.' || *name == '-')
        return ss_error_fail(error,
            "the name '%s' begins with '%c': begin it with a letter or a digit, because a folder "
            "has this name",
            ss_words_show(name).text, *name);

    size_t length = strspn(name, plain);
    if (name[length])
        return ss_error_fail(error,
            "'%s' cannot name a run, because a folder has this name: use letters, digits and "
            "._+-=@:",
            ss_words_show(name).text);
    return 0;
}

/* Checks the role of a command or the name of a value, both of which are used in placeholders. */
static int check_role(const char *role, struct ss_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (!*role || !strchr(letters, *role) || role[strspn(role, others)])
        return ss_error_fail(error,
            "'%s' cannot be a role or name a value: use letters, digits, _ and -, and begin with "
            "a letter",
            ss_words_show(role).text);
    if (strlen(role) > SSBATCH_ROLE_MAX)
        return ss_error_fail(error, "'%s' is too long: use at most %d bytes",
            ss_words_show(role).text, SSBATCH_ROLE_MAX);
    if (ss_words_has("record,out,scratch,run,at", ',', role))
        return ss_error_fail(
            error, "'%s' is the placeholder {%s} in commands: choose another name", role, role);
    return 0;
}

static struct ssbatch_run *last_run(const struct reader *reader) {
    return reader->in_run ? &reader->plan->runs[reader->plan->run_count - 1] : NULL;
}

/* Checks that a role is free. A name has one meaning in a run, including the names of the study. */
static int check_role_is_free(
    const struct reader *reader, enum ssbatch_kind kind, const char *role, struct ss_error *error) {
    const struct ssbatch_plan *plan = reader->plan;
    const struct ssbatch_line *used = ssbatch_lines_find(&plan->study, role);
    if (!used && reader->in_run)
        used = ssbatch_lines_find(&last_run(reader)->lines, role);
    for (size_t i = 0; !used && kind == SSBATCH_ONCE && i < plan->run_count; i++)
        used = ssbatch_lines_find(&plan->runs[i].lines, role);

    if (!used)
        return 0;
    return ss_error_fail(
        error, "the name '%s' is already used in line %u: choose another name", role, used->number);
}

static int check_key(const char *key, struct ss_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789";

    if (!*key || strchr("-0123456789", *key) || key[strspn(key, plain)])
        return ss_error_fail(error,
            "'%s' cannot name a column: use letters, digits, _ and -, and begin with a letter",
            ss_words_show(key).text);
    if (ss_words_has("run,role,status,reason,begin,end,others,host,version", ',', key))
        return ss_error_fail(
            error, "the column '%s' is filled in when the run is done: choose another name", key);
    if (strcmp(key, "needs") == 0)
        return ss_error_fail(error, "needs= is allowed only in the line of a run: put it there, "
                                    "or give the column another name");
    return 0;
}

static int set_column(
    struct ssbatch_columns *columns, const char *key, const char *value, struct ss_error *error) {
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].key, key) == 0) {
            columns->items[i].value = value;
            return 0;
        }
    }
    if (!SS_GROW(columns->items, columns->count + 1, columns->room))
        return ss_error_memory(error);
    columns->items[columns->count++] = (struct ssbatch_column){key, value};
    return 0;
}

static int copy_columns(
    struct ssbatch_columns *to, const struct ssbatch_columns *from, struct ss_error *error) {
    for (size_t i = 0; i < from->count; i++) {
        if (set_column(to, from->items[i].key, from->items[i].value, error) < 0)
            return -1;
    }
    return 0;
}

struct pair {
    char *key, *value;
};

/* Splits KEY=VALUE in place. Without an `=`, changes nothing and returns false. */
static bool split_pair(char *word, struct pair *pair) {
    char *equals = strchr(word, '=');
    if (!equals)
        return false;
    *equals = '\0';
    *pair = (struct pair){word, equals + 1};
    return true;
}

static int add_own_column(struct reader *reader, const struct pair *pair, struct ss_error *error) {
    if (check_key(pair->key, error) < 0)
        return -1;
    if (ssbatch_columns_get(&reader->own, pair->key))
        return ss_error_fail(
            error, "the column '%s' appears twice in this line: remove one of them", pair->key);
    return set_column(&reader->own, pair->key, pair->value, error);
}

static int read_version(struct reader *reader, char **words, struct ss_error *error) {
    if (reader->begun)
        return ss_error_fail(error, "the version of the plan must be in its first line");
    if (!words[1] || words[2])
        return ss_error_fail(error, "expected the version of the plan: use 'plan 1'");
    if (strcmp(words[1], "1") != 0)
        return ss_error_fail(error,
            "the plan has version '%s', but this program reads only version 1: use the program "
            "that the plan was written for",
            ss_words_show(words[1]).text);
    return 0;
}

static int read_set(struct reader *reader, char **words, struct ss_error *error) {
    struct pair pair;
    if (!words[1])
        return ss_error_fail(error, "set has no column: use 'set KEY=VALUE...'");

    for (words++; *words; words++) {
        if (!split_pair(*words, &pair))
            return ss_error_fail(
                error, "'%s' is not a column: use KEY=VALUE", ss_words_show(*words).text);
        if (add_own_column(reader, &pair, error) < 0)
            return -1;
    }

    reader->in_run = false;
    return copy_columns(&reader->set, &reader->own, error);
}

static int refuse_second(const char *word, struct ss_error *error) {
    return ss_error_fail(error, "%s appears twice: remove one of them", word);
}

/*
 * Splits A,B in place and adds the names. check_need() checks later that they exist. A name may be
 * repeated, because existing plans do so.
 */
static int add_needs(struct ssbatch_run *run, char *list, struct ss_error *error) {
    char *rest;
    for (char *need = strtok_r(list, ",", &rest); need; need = strtok_r(NULL, ",", &rest)) {
        if (ssbatch_run_needs(run, need))
            continue;
        if (!SS_GROW(run->needs, run->need_count + 1, run->need_room))
            return ss_error_memory(error);
        run->needs[run->need_count++] = need;
    }

    if (run->need_count == 0)
        return ss_error_fail(error, "needs= is empty: name what the run needs");
    return 0;
}

/* Reads TIME after `takes` or `limit`. */
static int read_time(struct reader *reader, char **words, ss_time *time, struct ss_error *error) {
    struct ssbatch_plan *plan = reader->plan;
    struct ss_units_warning doubt;

    if (!words[1])
        return ss_error_fail(error, "%s has no time: use '%s 70s'", words[0], words[0]);
    if (ss_units_time_sensible(words[1], SS_SECOND, time, &doubt, error) < 0)
        return ss_error_wrap(error, "%s", words[0]);

    if (doubt.text[0] && plan->doubt_count++ == 0)
        snprintf(plan->doubt, sizeof plan->doubt, "%s:%u: %s %s", reader->name, reader->line,
            words[0], doubt.text);
    return 0;
}

/* Reads one or two words of a run. Returns their number, or -1. */
static int read_run_word(
    struct reader *reader, struct ssbatch_run *run, char **words, struct ss_error *error) {
    static const char *const names[] = {"takes", "limit", "keep", "needs=NAME", "KEY=VALUE"};
    static const struct ss_suggest_names known = {"word", SS_SUGGEST_ROWS(names), NULL};
    struct pair pair;

    if ((strcmp(words[0], "takes") == 0 && run->takes != SS_TIME_NEVER) ||
        (strcmp(words[0], "limit") == 0 && run->limit != SS_TIME_NEVER) ||
        (strcmp(words[0], "keep") == 0 && run->keep))
        return refuse_second(words[0], error);

    if (strcmp(words[0], "takes") == 0)
        return read_time(reader, words, &run->takes, error) < 0 ? -1 : 2;
    if (strcmp(words[0], "limit") == 0)
        return read_time(reader, words, &run->limit, error) < 0 ? -1 : 2;
    if (strcmp(words[0], "keep") == 0) {
        run->keep = true;
        return 1;
    }

    if (!split_pair(words[0], &pair))
        return ss_suggest_refuse(&known, words[0], error);
    if (strcmp(pair.key, "needs") == 0)
        return add_needs(run, pair.value, error) < 0 ? -1 : 1;
    return add_own_column(reader, &pair, error) < 0 ? -1 : 1;
}

/*
 * Adds a run, or a skipped one, with the columns of `set`. Returns NULL with the error set on
 * failure.
 */
static struct ssbatch_run *add_run(struct reader *reader, char **words, struct ss_error *error) {
    struct ssbatch_plan *plan = reader->plan;

    if (!words[1]) {
        ss_error_fail(error, "the %s has no name: use '%s NAME'", words[0], words[0]);
        return NULL;
    }
    if (check_name(words[1], error) < 0)
        return NULL;
    if (!SS_GROW(plan->runs, plan->run_count + 1, plan->run_room)) {
        ss_error_memory(error);
        return NULL;
    }

    struct ssbatch_run *run = &plan->runs[plan->run_count++];
    *run = (struct ssbatch_run){.name = words[1], .number = reader->line};
    return copy_columns(&run->columns, &reader->set, error) < 0 ? NULL : run;
}

static int read_run(struct reader *reader, char **words, struct ss_error *error) {
    struct ssbatch_run *run = add_run(reader, words, error);
    if (!run)
        return -1;

    run->takes = run->limit = SS_TIME_NEVER; /* not given */
    for (words += 2; *words;) {
        int read = read_run_word(reader, run, words, error);
        if (read < 0)
            return -1;
        words += read;
    }

    if (run->takes == SS_TIME_NEVER)
        return ss_error_fail(
            error, "run %s has no duration: add 'takes TIME', such as 'takes 70s'", run->name);
    if (run->limit == SS_TIME_NEVER)
        run->limit = 0;
    else if (run->limit == 0)
        return ss_error_fail(
            error, "run %s has a limit of 0: use a longer limit, or leave it out", run->name);
    else if (run->limit < run->takes)
        return ss_error_fail(error,
            "run %s has a limit that is shorter than the time it takes: use a longer limit",
            run->name);

    reader->in_run = true;
    return copy_columns(&run->columns, &reader->own, error);
}

static int read_skip(struct reader *reader, char **words, struct ss_error *error) {
    struct ssbatch_run *run = add_run(reader, words, error);
    struct pair pair;
    if (!run)
        return -1;

    for (words += 2; *words; words++) {
        if (!split_pair(*words, &pair))
            return ss_error_fail(error, "'%s' is not reason=TEXT or KEY=VALUE: quote the reason",
                ss_words_show(*words).text);
        if (strcmp(pair.key, "reason") == 0 && run->reason)
            return refuse_second("reason=", error);
        if (strcmp(pair.key, "reason") == 0)
            run->reason = pair.value;
        else if (add_own_column(reader, &pair, error) < 0)
            return -1;
    }

    if (!run->reason || !*run->reason)
        return ss_error_fail(error, "skip %s has no reason: add reason=TEXT", run->name);

    reader->in_run = false;
    return copy_columns(&run->columns, &reader->own, error);
}

static int read_ok(struct ssbatch_line *line, char *list, struct ss_error *error) {
    if (line->has_ok)
        return refuse_second("ok=", error);

    line->has_ok = true;
    struct ss_words_part part;
    for (const char *at = list; ss_words_next(&at, ',', &part);) {
        char text[sizeof "255"];
        uint64_t status = 256;
        snprintf(text, sizeof text, "%.*s", (int)part.length, part.text);
        if (part.length >= sizeof text || ss_units_count(text, &status, NULL) < 0 || status > 255)
            return ss_error_fail(error,
                "'%s' is not a list of exit statuses: use numbers from 0 to 255, such as ok=0,1",
                ss_words_show(list).text);
        line->ok[status / 64] |= UINT64_C(1) << status % 64;
    }
    return 0;
}

static int set_pattern(struct ssbatch_line *line, const struct pair *pair, struct ss_error *error) {
    if (line->pattern)
        return refuse_second(line->kind == SSBATCH_ONCE ? "match=" : "ready=", error);

    regex_t *regex = malloc(sizeof *regex);
    if (!regex)
        return ss_error_memory(error);
    if (ss_pattern_compile(regex, pair->value, error) < 0) {
        free(regex);
        return ss_error_wrap(error, "%s", pair->key);
    }

    line->pattern = pair->value;
    line->regex = regex;
    return 0;
}

static int set_ready_file(
    struct ssbatch_line *line, const struct pair *pair, struct ss_error *error) {
    if (line->kind != SSBATCH_BESIDE)
        return ss_error_fail(error, "ready-file= is for `beside`, not for `%s`: remove it",
            ssbatch_kind_name(line->kind));
    if (line->ready_file)
        return refuse_second("ready-file=", error);
    if (!*pair->value)
        return ss_error_fail(error, "ready-file= is empty: name a file");

    line->ready_file = pair->value;
    return 0;
}

/* Reads a word before the command, in a line of a run or the study. */
static int read_line_word(
    struct reader *reader, struct ssbatch_line *line, char *word, struct ss_error *error) {
    struct pair pair;
    if (!split_pair(word, &pair)) {
        if (line->role)
            return ss_error_fail(error,
                "'%s' follows the role '%s', but only KEY=VALUE and -- COMMAND may: put -- "
                "before the command",
                ss_words_show(word).text, line->role);
        if (check_role(word, error) < 0 || check_role_is_free(reader, line->kind, word, error) < 0)
            return -1;
        line->role = word;
        return 0;
    }

    if (line->kind == SSBATCH_ONCE)
        return strcmp(pair.key, "match") == 0
                   ? set_pattern(line, &pair, error)
                   : ss_error_fail(error, "'%s' is not match=REGEX: a value has no columns",
                         ss_words_show(pair.key).text);

    if (strcmp(pair.key, "ready") == 0)
        return set_pattern(line, &pair, error);
    if (strcmp(pair.key, "ready-file") == 0)
        return set_ready_file(line, &pair, error);
    if (strcmp(pair.key, "ok") == 0)
        return read_ok(line, pair.value, error);
    return add_own_column(reader, &pair, error);
}

/* Reads the words up to the command, which must not be empty. */
static int read_line_words(
    struct reader *reader, struct ssbatch_line *line, char **words, struct ss_error *error) {
    char **dashes = words;
    while (*dashes && strcmp(*dashes, "--") != 0)
        dashes++;
    if (!dashes[0] || !dashes[1] || !dashes[1][0])
        return ss_error_fail(error, "the line has no command: end it with -- COMMAND");

    line->words = dashes + 1;
    for (; words < dashes; words++) {
        if (read_line_word(reader, line, *words, error) < 0)
            return -1;
    }

    if (line->pattern && line->ready_file)
        return ss_error_fail(error, "the line has ready= and ready-file=: remove one of them");
    return copy_columns(&line->columns, &reader->own, error);
}

static int add_line(struct reader *reader, enum ssbatch_kind kind, char **words,
    struct ssbatch_lines *lines, struct ss_error *error) {
    if (!SS_GROW(lines->items, lines->count + 1, lines->room))
        return ss_error_memory(error);
    struct ssbatch_line *line = &lines->items[lines->count];
    *line = (struct ssbatch_line){.kind = kind, .number = reader->line};
    int status = read_line_words(reader, line, words + 1, error);
    lines->count++;
    return status;
}

static int read_once(struct reader *reader, char **words, struct ss_error *error) {
    struct ssbatch_lines *study = &reader->plan->study;
    if (add_line(reader, SSBATCH_ONCE, words, study, error) < 0)
        return -1;

    const struct ssbatch_line *line = &study->items[study->count - 1];
    if (!line->role || !line->pattern)
        return ss_error_fail(error, "a value needs a name and a pattern: use 'once NAME "
                                    "match=REGEX -- COMMAND'");
    if (line->regex->re_nsub == 0)
        return ss_error_fail(error,
            "match: '%s' has no group: put parentheses around the part that is the value",
            ss_words_show(line->pattern).text);

    reader->in_run = false;
    return 0;
}

static int check_unnamed_main(const struct ssbatch_lines *lines, struct ss_error *error) {
    for (size_t i = 0; i + 1 < lines->count; i++) {
        if (lines->items[i].kind == SSBATCH_MAIN && !lines->items[i].role)
            return ss_error_fail(error,
                "a main without a role is already in line %u: use 'main ROLE -- COMMAND', so that "
                "each has a record of its own",
                lines->items[i].number);
    }
    return 0;
}

static int read_command(
    struct reader *reader, enum ssbatch_kind kind, char **words, struct ss_error *error) {
    struct ssbatch_run *run = last_run(reader);
    if (!run && (reader->plan->run_count > 0 || kind == SSBATCH_MAIN))
        return ss_error_fail(
            error, "the %s is outside of a run: put it below a line 'run NAME'", words[0]);

    struct ssbatch_lines *lines = run ? &run->lines : &reader->plan->study;
    if (add_line(reader, kind, words, lines, error) < 0)
        return -1;

    if (kind == SSBATCH_MAIN && !lines->items[lines->count - 1].role)
        return check_unnamed_main(lines, error);
    return 0;
}

static int read_words_of_line(struct reader *reader, char **words, struct ss_error *error) {
    static const struct {
        const char *name;
        int (*read)(struct reader *reader, char **words, struct ss_error *error);
        enum ssbatch_kind kind; /* kind of command, if `read` is NULL */
    } rows[] = {
        {"run", read_run, 0},
        {"before", NULL, SSBATCH_BEFORE},
        {"beside", NULL, SSBATCH_BESIDE},
        {"main", NULL, SSBATCH_MAIN},
        {"after", NULL, SSBATCH_AFTER},
        {"set", read_set, 0},
        {"once", read_once, 0},
        {"skip", read_skip, 0},
        {"plan", read_version, 0},
    };
    static const struct ss_suggest_names known = {"first word", SS_SUGGEST_ROWS(rows), NULL};
    reader->own.count = 0;
    if (strncmp(words[0], "\xef\xbb\xbf", 3) == 0)
        return ss_error_fail(error, "the line begins with a byte order mark, which some editors "
                                    "add: save the plan as UTF-8 without it");

    int row = ss_suggest_find(&known, words[0], error);
    if (row < 0)
        return -1;
    return rows[row].read ? rows[row].read(reader, words, error)
                          : read_command(reader, rows[row].kind, words, error);
}

static int read_lines(struct reader *reader, struct ss_error *error) {
    int status;
    while ((status = read_text(reader, error)) > 0) {
        char **words = read_words(reader, error);
        if (!words)
            return -1;
        if (!words[0])
            continue;
        if (read_words_of_line(reader, words, error) < 0)
            return -1;
        reader->begun = true;
    }
    return status;
}

/* Orders runs by name, and runs with the same name by line. */
static int compare_runs(const void *one, const void *other) {
    const struct ssbatch_run *a = *(struct ssbatch_run *const *)one;
    const struct ssbatch_run *b = *(struct ssbatch_run *const *)other;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int sort_runs(struct reader *reader, struct ss_error *error) {
    struct ssbatch_plan *plan = reader->plan;
    plan->by_name = calloc(plan->run_count, sizeof *plan->by_name);
    if (!plan->by_name)
        return ss_error_memory(error);

    for (size_t i = 0; i < plan->run_count; i++)
        plan->by_name[i] = &plan->runs[i];
    qsort(plan->by_name, plan->run_count, sizeof *plan->by_name, compare_runs);

    for (size_t i = 1; i < plan->run_count; i++) {
        const struct ssbatch_run *first = plan->by_name[i - 1], *second = plan->by_name[i];
        if (strcmp(first->name, second->name) != 0)
            continue;
        reader->line = second->number;
        return ss_error_fail(error,
            "the name '%s' is already used in line %u: give each run a name of its own",
            second->name, first->number);
    }
    return 0;
}

static int check_need(const struct reader *reader, const struct ssbatch_run *run, const char *need,
    struct ss_error *error) {
    const struct ssbatch_line *value = ssbatch_lines_find(&reader->plan->study, need);
    if (value && value->kind == SSBATCH_ONCE && value->number < run->number)
        return 0;

    const struct ssbatch_run *other = ssbatch_plan_find(reader->plan, need);
    if (!other || other->number >= run->number)
        return ss_error_fail(error,
            "run %s needs '%s', but no line above it is 'once %s' or 'run %s'", run->name,
            ss_words_show(need).text, ss_words_show(need).text, ss_words_show(need).text);
    if (other->reason)
        return ss_error_fail(error,
            "run %s needs %s, which is skipped in line %u: skip this run, too", run->name, need,
            other->number);
    return 0;
}

static int check_run(
    const struct reader *reader, const struct ssbatch_run *run, struct ss_error *error) {
    if (!run->reason && !ssbatch_lines_have(&run->lines, SSBATCH_MAIN))
        return ss_error_fail(
            error, "run %s has no main: add a line 'main -- COMMAND' below it", run->name);
    for (size_t i = 0; i < run->need_count; i++) {
        if (check_need(reader, run, run->needs[i], error) < 0)
            return -1;
    }
    return 0;
}

static int check_plan(struct reader *reader, struct ss_error *error) {
    const struct ssbatch_plan *plan = reader->plan;
    if (plan->run_count == 0)
        return ss_error_fail(error, "the plan has no run: add a line 'run NAME takes TIME' and, "
                                    "below it, 'main -- COMMAND'");

    if (sort_runs(reader, error) < 0)
        return -1;

    for (size_t i = 0; i < plan->run_count; i++) {
        reader->line = plan->runs[i].number;
        if (check_run(reader, &plan->runs[i], error) < 0)
            return -1;
    }
    return 0;
}

int ssbatch_plan_read(
    struct ssbatch_plan *plan, FILE *stream, const char *name, struct ss_error *error) {
    *plan = (struct ssbatch_plan){0};
    struct reader reader = {.plan = plan, .stream = stream, .name = name};

    int status = read_lines(&reader, error);
    if (status == 0)
        status = check_plan(&reader, error);

    free(reader.set.items);
    free(reader.own.items);
    free(reader.piece);
    free(reader.text);

    if (status < 0)
        return ss_error_wrap(error, "%s:%u", name, reader.line);
    return 0;
}
