/* SPDX-License-Identifier: Apache-2.0 */
#include "command/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/grow.h"
#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "platform/platform.h"

#define COMMANDS_MAX 1000000

/* Limits of the kernel: bytes that it reads of a script's first line, and nested interpreters. */
#define FIRST_LINE_MAX 256
#define SCRIPTS_MAX    5

/* Size limit of a workload file, in bytes: enough for one line per instance. */
#define WORKLOADS_MAX (16 << 20)

static void free_words(char **words) {
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

void ss_commands_free(struct ss_commands *commands) {
    for (uint32_t i = 0; i < commands->count; i++)
        free_words(commands->items[i]);
    free(commands->items);
    for (uint32_t i = 0; i < commands->line_count; i++)
        free_words(commands->lines[i].words);
    free(commands->lines);
    *commands = (struct ss_commands){0};
}

static char **copy_words(char *const *words) {
    size_t count = ss_words_count(words);
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(words[i]);
        if (!copy[i]) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

static int add_line(struct ss_commands *commands, char *const *words, uint32_t count) {
    if (!SS_GROW(commands->lines, commands->line_count + 1, commands->line_room))
        return -1;
    struct ss_command_line *line = &commands->lines[commands->line_count];
    *line = (struct ss_command_line){copy_words(words), commands->count, count};
    if (!line->words)
        return -1;
    commands->line_count++;
    return 0;
}

int ss_commands_repeat(
    struct ss_commands *commands, char *const *words, uint64_t count, struct ss_error *error) {
    if (count == 0)
        return ss_error_fail(error, "0 instances: use at least 1");
    if (count > COMMANDS_MAX)
        return ss_error_fail(error, "too many instances: %llu (at most %d)",
            (unsigned long long)count, COMMANDS_MAX);
    if (commands->count + count > COMMANDS_MAX)
        return ss_error_fail(error,
            "too many instances: %llu, and %u on earlier lines (at most %d)",
            (unsigned long long)count, commands->count, COMMANDS_MAX);
    if (add_line(commands, words, (uint32_t)count) < 0)
        return ss_error_memory(error);
    if (!SS_GROW(commands->items, commands->count + count, commands->room))
        return ss_error_memory(error);

    for (uint64_t i = 0; i < count; i++) {
        commands->items[commands->count] = copy_words(words);
        if (!commands->items[commands->count])
            return ss_error_memory(error);
        commands->count++;
    }

    return 0;
}

static int read_line(struct ss_commands *commands, const char *line, struct ss_error *error) {
    size_t count = 0;
    uint64_t copies = 0;

    SS_OWNED(free) char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;
    if (count == 0)
        return 0;

    if (count < 2)
        return ss_error_fail(error, "'%s' is not a workload: use COUNT COMMAND...", words[0]);
    if (ss_units_count(words[0], &copies, error) < 0)
        return ss_error_wrap(error, "expected COUNT COMMAND...");
    return ss_commands_repeat(commands, words + 1, copies, error);
}

/* Reads up to one byte more than the limit, so that the caller notices a file that is too large. */
static char *read_bounded(FILE *file, size_t *length) {
    char *text = malloc(WORKLOADS_MAX + 2);
    if (text) {
        *length = fread(text, 1, WORKLOADS_MAX + 1, file);
        text[*length] = '\0';
    }
    return text;
}

/* Splits the text into lines, in place. `*number` is the current line, for messages. */
static int read_lines(
    struct ss_commands *commands, char *text, size_t length, int *number, struct ss_error *error) {
    for (char *line = text, *end; line < text + length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + length - line));
        end = end ? end : text + length;
        *end = '\0';
        ++*number;
        if (strlen(line) < (size_t)(end - line))
            return ss_error_fail(error, "the line contains a null byte: a workload file is text, "
                                        "one COUNT COMMAND... per line");

        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        if (strchr(line, '\r'))
            return ss_error_fail(error, "the line contains a carriage return: save the file with "
                                        "Unix line endings");
        if (read_line(commands, line, error) < 0)
            return -1;
    }
    return 0;
}

static int read_text(struct ss_commands *commands, const char *path, char *text, size_t length,
    struct ss_error *error) {
    static const char mark[] = "\xef\xbb\xbf";
    int number = 0;

    if (length > WORKLOADS_MAX)
        return ss_error_fail(error,
            "%s: the file is larger than %d MiB: a workload file has one COUNT COMMAND... per line",
            path, WORKLOADS_MAX >> 20);

    /* Some editors write a byte order mark. */
    size_t skipped = strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    if (read_lines(commands, text + skipped, length - skipped, &number, error) < 0)
        return ss_error_wrap(error, "%s:%d", path, number);
    if (commands->count == 0)
        return ss_error_fail(
            error, "%s: the file contains no workload: use one per line, COUNT COMMAND...", path);

    return 0;
}

int ss_commands_read(struct ss_commands *commands, const char *path, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return ss_error_fail(
            error, "cannot read %s: %s%s", path, strerror(errno), ss_advice_to_read(errno));
    size_t length = 0;
    SS_OWNED(free) char *text = read_bounded(file, &length);
    if (!text)
        return ss_error_memory(error);
    if (ferror(file))
        return ss_error_fail(error, "cannot read %s: %s", path, strerror(errno));
    return read_text(commands, path, text, length, error);
}

void ss_commands_print_number(char *buffer, size_t size, uint32_t index, uint32_t count) {
    int width = snprintf(NULL, 0, "%u", count - 1);
    snprintf(buffer, size, "%0*u", width, index);
}

/* Returns a copy of the word with the placeholder replaced. */
static char *fill_in(const char *word, const char *placeholder, const char *number) {
    size_t mark = strlen(placeholder);
    char *result = NULL;
    size_t size = 0;

    FILE *stream = open_memstream(&result, &size);
    if (!stream)
        return NULL;

    while (*word) {
        if (strncmp(word, placeholder, mark) != 0) {
            fputc(*word++, stream);
            continue;
        }
        int doubled = strncmp(word + mark, placeholder, mark) == 0;
        fputs(doubled ? placeholder : number, stream);
        word += doubled ? 2 * mark : mark;
    }

    return fclose(stream) == 0 ? result : NULL;
}

int ss_commands_fill_in(
    struct ss_commands *commands, const char *placeholder, struct ss_error *error) {
    for (uint32_t i = 0; *placeholder && i < commands->count; i++) {
        char number[16];

        ss_commands_print_number(number, sizeof number, i, commands->count);
        for (char **word = commands->items[i]; *word; word++) {
            char *filled = fill_in(*word, placeholder, number);
            if (!filled)
                return ss_error_memory(error);
            free(*word);
            *word = filled;
        }
    }
    return 0;
}

/* Returns whether the word ends with a digit and one placeholder. */
static bool looks_like_percentage(const char *word, const char *placeholder) {
    size_t length = strlen(word), mark = strlen(placeholder);
    if (length <= mark || strcmp(word + length - mark, placeholder) != 0)
        return false;
    return word[length - mark - 1] >= '0' && word[length - mark - 1] <= '9';
}

const char *ss_commands_find_percentage(
    const struct ss_commands *commands, const char *placeholder) {
    for (uint32_t i = 0; strcmp(placeholder, "%") == 0 && i < commands->count; i++) {
        for (char **word = commands->items[i]; *word; word++) {
            if (looks_like_percentage(*word, placeholder))
                return *word;
        }
    }
    return NULL;
}

/* Returns the first single placeholder that is followed by a digit; NULL if absent. */
static const char *find_before_digit(const char *word, const char *placeholder) {
    size_t mark = strlen(placeholder);
    for (const char *at; (at = strstr(word, placeholder)); word = at + mark) {
        if (strncmp(at + mark, placeholder, mark) == 0)
            at += mark;
        else if (at[mark] >= '0' && at[mark] <= '9')
            return at;
    }
    return NULL;
}

const char *ss_commands_find_before_digit(
    const struct ss_commands *commands, const char *placeholder) {
    for (uint32_t i = 0; *placeholder && i < commands->line_count; i++) {
        for (char **word = commands->lines[i].words; *word; word++) {
            if (find_before_digit(*word, placeholder))
                return *word;
        }
    }
    return NULL;
}

/* Returns 0 if the file can be executed, otherwise the errno that executing it would give. */
static int try_execute(const char *path) {
    struct stat status;
    if (stat(path, &status) < 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/*
 * Searches PATH as execvp() does, and sets `file` to the first executable. Otherwise returns an
 * errno, preferably one that explains more than ENOENT, such as EACCES.
 */
static int search_path(const char *name, char *file, size_t size) {
    const char *path = getenv("PATH");
    int why = ENOENT;
    struct ss_words_part folder;

    for (path = path ? path : "/bin:/usr/bin"; ss_words_next(&path, ':', &folder);) {
        snprintf(file, size, "%.*s%s%s", (int)folder.length, folder.text, folder.length ? "/" : "",
            name);
        int here = try_execute(file);
        if (here == 0)
            return 0;
        if (here != ENOENT && here != ENOTDIR && here != EISDIR)
            why = here;
    }

    return why;
}

int ss_commands_use_installed(struct ss_commands *commands, struct ss_error *error) {
    SS_OWNED(free) char *folder = ss_platform_program_path(1, "/");
    for (uint32_t i = 0; folder && i < commands->count; i++) {
        char **name = commands->items[i];
        char found[4096];
        if (!**name || strchr(*name, '/') || search_path(*name, found, sizeof found) != ENOENT)
            continue;

        char *path = ss_words_format(error, "%s%s", folder, *name);
        if (!path)
            return -1;
        if (try_execute(path) == 0) {
            free(*name);
            *name = path;
        } else {
            free(path);
        }
    }
    return 0;
}

/* Reads the interpreter from a script's first line. Returns false if the file is not a script. */
static bool read_interpreter(const char *path, char interpreter[FIRST_LINE_MAX]) {
    char line[FIRST_LINE_MAX];
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return false;
    line[fread(line, 1, sizeof line - 1, file)] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return false;
    const char *begin = line + 2 + strspn(line + 2, " \t");
    snprintf(interpreter, FIRST_LINE_MAX, "%.*s", (int)strcspn(begin, " \t\n"), begin);
    return *interpreter;
}

/*
 * Checks that a script's interpreter exists: the error of execvp() would read as if the script
 * itself were missing.
 */
static int check_interpreter(const char *path, struct ss_error *error) {
    char interpreter[FIRST_LINE_MAX], script[FIRST_LINE_MAX];

    for (int depth = 0; depth < SCRIPTS_MAX && read_interpreter(path, interpreter); depth++) {
        int why = try_execute(interpreter);
        bool missing = why == ENOENT || why == ENOTDIR;
        const char *end = strchr(interpreter, '\r');
        if (missing && end)
            return ss_error_set(error, SS_ERROR_NOT_FOUND,
                "interpreter %.*s is followed by a carriage return: save the script with Unix "
                "line endings",
                (int)(end - interpreter), interpreter);
        if (missing)
            return ss_error_set(error, SS_ERROR_NOT_FOUND,
                "interpreter %s does not exist: install it, or correct the script's first line",
                interpreter);
        if (why)
            return ss_error_set(error, SS_ERROR_NOT_EXECUTABLE, "cannot execute interpreter %s: %s",
                interpreter, strerror(why));
        strcpy(script, interpreter);
        path = script;
    }

    return 0;
}

int ss_commands_check_program(const char *name, struct ss_error *error) {
    char path[4096];

    if (!*name)
        return ss_error_set(error, SS_ERROR_NOT_FOUND, "the command is empty: name a program");

    snprintf(path, sizeof path, "%s", name);
    int why = strchr(name, '/') ? try_execute(name) : search_path(name, path, sizeof path);
    if (why == 0)
        return check_interpreter(path, error) < 0 ? ss_error_wrap(error, "%s", name) : 0;
    if (why == ENOENT && strchr(name, ' '))
        return ss_error_set(error, SS_ERROR_NOT_FOUND,
            "%s: command not found: its name contains spaces: remove the quotes around it, or "
            "run it with sh -c",
            name);
    if (why == ENOENT || why == ENOTDIR)
        return ss_error_set(error, SS_ERROR_NOT_FOUND, "%s: %s", name,
            strchr(name, '/') ? "no such file: check the path"
                              : "command not found: check its name and PATH");

    return ss_error_set(
        error, SS_ERROR_NOT_EXECUTABLE, "%s: cannot execute the command: %s", name, strerror(why));
}

int ss_commands_check(const struct ss_commands *commands, struct ss_error *error) {
    for (uint32_t i = 0; i < commands->count; i++) {
        const char *name = commands->items[i][0];
        /* Skip copies, which are adjacent. */
        if (i > 0 && strcmp(name, commands->items[i - 1][0]) == 0)
            continue;
        if (ss_commands_check_program(name, error) < 0)
            return -1;
    }
    return 0;
}
