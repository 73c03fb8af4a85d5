/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/pattern.h"
#include "base/state.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/walk.h"
#include "base/words.h"
#include "platform/platform.h"

#define BLANKS " \t"

static const char *const key_names[SSBATCH_KEYS] = {"command", "iteration", "repeat", "warmup",
    "scratch", "memory", "setup", "stop", "note", "needs", "published"};

void ssbatch_catalogue_free(struct ssbatch_catalogue *catalogue) {
    for (size_t i = 0; i < catalogue->text_count; i++)
        free(catalogue->texts[i]);
    free(catalogue->texts);
    free(catalogue->items);
    *catalogue = (struct ssbatch_catalogue){0};
}

/* Takes ownership of a text. Returns the text; NULL if memory is exhausted. */
static const char *keep_text(struct ssbatch_catalogue *catalogue, char *text) {
    if (text && SS_GROW(catalogue->texts, catalogue->text_count + 1, catalogue->text_room))
        return catalogue->texts[catalogue->text_count++] = text;
    free(text);
    return NULL;
}

static struct ssbatch_workload *find_among(
    const struct ssbatch_catalogue *catalogue, size_t from, size_t to, const char *name) {
    for (size_t i = from; i < to; i++) {
        if (strcmp(catalogue->items[i].name, name) == 0)
            return &catalogue->items[i];
    }
    return NULL;
}

const struct ssbatch_workload *ssbatch_catalogue_find(
    const struct ssbatch_catalogue *catalogue, const char *name, struct ss_error *error) {
    const struct ss_suggest_names known = {"workload", catalogue->items, catalogue->count,
        sizeof *catalogue->items, "see ssbatch --list-workloads"};
    int found = ss_suggest_find(&known, name, error);
    return found < 0 ? NULL : &catalogue->items[found];
}

/* A number without a unit is in seconds. */
static int check_time(const char *value, struct ss_error *error) {
    ss_time time;
    size_t digits = strspn(value, "0123456789");
    const char *rest = value + digits;
    if (digits > 0 && *rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    return digits > 0 && !*rest ? 0 : ss_units_time(value, &time, error);
}

static int check_memory(const char *value, struct ss_error *error) {
    size_t digits = strspn(value, "0123456789");
    const char *unit = value + digits;
    if (digits > 0 && *value != '0' && (!*unit || (strchr("kKmMgG", *unit) && !unit[1])))
        return 0;
    return ss_error_fail(
        error, "'%s' is not a size: use a size such as 512M", ss_words_show(value).text);
}

static int check_folder(const char *value, struct ss_error *error) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._{}-";
    if (value[strspn(value, plain)])
        return ss_error_fail(error,
            "'%s' is not a valid name for a folder: use letters, digits, ._- and the placeholders",
            ss_words_show(value).text);
    if (!strstr(value, "{side}") || !strstr(value, "{instance}"))
        return ss_error_fail(error,
            "'%s' would be the folder of several instances: put {side} and {instance} into it",
            ss_words_show(value).text);
    return 0;
}

/*
 * Returns whether a name is valid: letters, digits and ._+- in parts that / separates; the first
 * character is a letter or a digit.
 */
static bool is_name(const char *name) {
    char previous = '/';
    if (!isalnum((unsigned char)*name))
        return false;
    for (; *name; previous = *name++) {
        if (*name == '/' ? previous == '/'
                         : !isalnum((unsigned char)*name) && !strchr("._+-", *name))
            return false;
    }
    return previous != '/';
}

int ssbatch_catalogue_check_value(enum ssbatch_key key, const char *value, struct ss_error *error) {
    if (!*value)
        return ss_error_fail(error, "the value is missing: put it after the =");
    switch (key) {
    case SSBATCH_COMMAND: {
        char **words = ss_words_split(value, NULL, error);
        free(words);
        return words ? 0 : -1;
    }
    case SSBATCH_REPEAT:
        return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0
                   ? 0
                   : ss_error_fail(error, "'%s' is not yes or no", ss_words_show(value).text);
    case SSBATCH_WARMUP:
    case SSBATCH_STOP:
        return check_time(value, error);
    case SSBATCH_MEMORY:
        return check_memory(value, error);
    case SSBATCH_FOLDER:
        return check_folder(value, error);
    case SSBATCH_PUBLISHED:
        return is_name(value) && strchr(value, '/')
                   ? 0
                   : ss_error_fail(error, "'%s' is not SUITE/PROGRAM, such as dacapo/fop",
                         ss_words_show(value).text);
    default:
        return 0;
    }
}

int ssbatch_catalogue_define(struct ssbatch_catalogue *catalogue,
    const struct ssbatch_definition *definition, struct ss_error *error) {
    regex_t compiled;
    if (!SS_GROW(catalogue->items, catalogue->count + 1, catalogue->room))
        return ss_error_memory(error);
    if (ssbatch_catalogue_check_value(SSBATCH_COMMAND, definition->command, error) < 0)
        return ss_error_wrap(error, "--command");
    if (definition->iteration && ss_pattern_compile(&compiled, definition->iteration, error) < 0)
        return ss_error_wrap(error, "--iteration");
    if (definition->iteration)
        regfree(&compiled);
    struct ssbatch_workload *workload = &catalogue->items[catalogue->count++];
    *workload =
        (struct ssbatch_workload){.name = definition->name, .file = "command line", .typed = true};
    workload->values[SSBATCH_COMMAND] = definition->command;
    workload->values[SSBATCH_ITERATION] = definition->iteration;
    workload->values[SSBATCH_REPEAT] = definition->repeat ? "yes" : NULL;
    return 0;
}

struct reader {
    struct ssbatch_catalogue *catalogue;
    const char *path;  /* owned by the catalogue */
    size_t first;      /* index of the first workload of this file */
    size_t section;    /* index of the first workload of this section */
    unsigned heading;  /* number of the line of the last heading; 0: no heading yet */
    unsigned line;     /* number of the line in messages, from 1 */
    unsigned read;     /* number of lines read so far */
    int key;           /* key of the value that may be continued; -1: none */
    unsigned key_line; /* number of the line where that value begins */
    char *value;       /* text of that value; owned */
};

static bool is_in_section(const struct reader *reader) {
    return reader->section < reader->catalogue->count;
}

/* Ends a value and gives it to all workloads of the section. */
static int end_value(struct reader *reader, struct ss_error *error) {
    struct ssbatch_catalogue *catalogue = reader->catalogue;
    int key = reader->key;
    if (key < 0)
        return 0;
    reader->key = -1;
    reader->line = reader->key_line;
    const char *value = keep_text(catalogue, reader->value);
    reader->value = NULL;
    if (!value)
        return ss_error_memory(error);
    if (ssbatch_catalogue_check_value((enum ssbatch_key)key, value, error) < 0)
        return ss_error_wrap(error, "%s", key_names[key]);
    for (size_t i = reader->section; i < catalogue->count; i++)
        catalogue->items[i].values[key] = value;
    return 0;
}

static int end_section(struct reader *reader, struct ss_error *error) {
    if (end_value(reader, error) < 0)
        return -1;
    if (!is_in_section(reader))
        return 0;
    const struct ssbatch_workload *first = &reader->catalogue->items[reader->section];
    reader->section = reader->catalogue->count;
    if (first->values[SSBATCH_COMMAND])
        return 0;
    reader->line = reader->heading;
    return ss_error_fail(
        error, "[%s] has no command: add a line 'command = ...'", ss_words_show(first->name).text);
}

static int add_name(
    struct reader *reader, const struct ss_words_part *part, struct ss_error *error) {
    struct ssbatch_catalogue *catalogue = reader->catalogue;
    const char *name = keep_text(catalogue, strndup(part->text, part->length));
    if (!name || !SS_GROW(catalogue->items, catalogue->count + 1, catalogue->room))
        return ss_error_memory(error);
    if (!is_name(name))
        return ss_error_fail(error,
            "'%s' cannot name a workload: use letters, digits and ._+-/, and begin with a letter "
            "or a digit",
            ss_words_show(name).text);
    const struct ssbatch_workload *other =
        find_among(catalogue, reader->first, catalogue->count, name);
    if (other)
        return ss_error_fail(error, "the workload '%s' is in this file twice: remove one of them",
            ss_words_show(name).text);
    catalogue->items[catalogue->count++] =
        (struct ssbatch_workload){.name = name, .file = reader->path};
    return 0;
}

/* Reads [NAME NAME...]. Consecutive headings begin one section. */
static int read_heading(struct reader *reader, char *line, struct ss_error *error) {
    bool adjacent = reader->heading > 0 && reader->heading == reader->read - 1;
    if (!adjacent && end_section(reader, error) < 0)
        return -1;
    reader->line = reader->heading = reader->read;
    line[strlen(line) - 1] = '\0';
    char *names = line + 1;
    size_t before = reader->catalogue->count;
    while (*(names += strspn(names, BLANKS))) {
        struct ss_words_part name = {names, strcspn(names, BLANKS)};
        names += name.length;
        if (add_name(reader, &name, error) < 0)
            return -1;
    }
    return reader->catalogue->count > before ? 0
                                             : ss_error_fail(error, "[] has no name: use [NAME]");
}

/* Returns the length of the key if the line is KEY = VALUE; 0 otherwise. */
static size_t key_length(const char *line) {
    size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    return line[length + strspn(line + length, BLANKS)] == '=' ? length : 0;
}

static int read_key(struct reader *reader, char *line, struct ss_error *error) {
    static const struct ss_suggest_names known = {"key", SS_SUGGEST_ROWS(key_names), NULL};
    char *value = strchr(line, '=') + 1;
    line[key_length(line)] = '\0';
    int key = ss_suggest_find(&known, line, error);
    if (key < 0)
        return -1;
    if (!is_in_section(reader))
        return ss_error_fail(
            error, "%s appears before the first [NAME]: put it below a heading", line);
    if (reader->catalogue->items[reader->section].values[key])
        return ss_error_fail(
            error, "%s appears twice in this section: remove one of the lines", line);
    reader->key = key;
    reader->key_line = reader->read;
    reader->value = strdup(value + strspn(value, BLANKS));
    return reader->value ? 0 : ss_error_memory(error);
}

static int continue_value(struct reader *reader, const char *line, struct ss_error *error) {
    if (reader->key < 0)
        return ss_error_fail(error,
            "the line begins with a blank, which continues a value, but there is no value above "
            "it");
    char *longer = ss_words_format(error, "%s %s", reader->value, line + strspn(line, BLANKS));
    if (!longer)
        return -1;
    free(reader->value);
    reader->value = longer;
    return 0;
}

static int read_line(struct reader *reader, char *line, struct ss_error *error) {
    reader->line = ++reader->read;
    size_t length = strlen(line);
    while (length > 0 && strchr(BLANKS "\r\n", line[length - 1]))
        line[--length] = '\0';
    if (!*line || *line == '#')
        return end_value(reader, error);
    if (strchr(BLANKS, *line))
        return continue_value(reader, line, error);
    if (end_value(reader, error) < 0)
        return -1;
    reader->line = reader->read;
    if (*line == '[' && line[length - 1] == ']')
        return read_heading(reader, line, error);
    if (key_length(line) > 0)
        return read_key(reader, line, error);
    return ss_error_fail(error, "the line is neither [NAME] nor KEY = VALUE");
}

static int read_file(struct reader *reader, FILE *file, struct ss_error *error) {
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, file)) >= 0) {
        if (strlen(line) < (size_t)length) {
            reader->line = reader->read + 1;
            return ss_error_fail(error, "the line contains a null byte: a catalogue is text");
        }
        if (read_line(reader, line, error) < 0)
            return -1;
    }
    if (ferror(file))
        return ss_error_fail(error, "%s", strerror(errno));
    return end_section(reader, error);
}

static int read_catalogue(
    struct ssbatch_catalogue *catalogue, FILE *file, const char *path, struct ss_error *error) {
    struct reader reader = {.catalogue = catalogue,
        .path = keep_text(catalogue, strdup(path)),
        .first = catalogue->count,
        .section = catalogue->count,
        .key = -1};
    if (!reader.path)
        return ss_error_memory(error);
    int status = read_file(&reader, file, error);
    free(reader.value);
    if (status < 0)
        return ss_error_wrap(error, "%s:%u", path, reader.line);

    /* An earlier file may have defined some of the names already. */
    size_t kept = reader.first;
    for (size_t i = reader.first; i < catalogue->count; i++) {
        if (!find_among(catalogue, 0, reader.first, catalogue->items[i].name))
            catalogue->items[kept++] = catalogue->items[i];
    }
    catalogue->count = kept;
    return 0;
}

int ssbatch_catalogue_read(
    struct ssbatch_catalogue *catalogue, const char *path, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    return file ? read_catalogue(catalogue, file, path, error) : ss_paths_fail(path, error);
}

/*
 * Opens the user's catalogue, which no option names, so that sudo may find that of another user.
 * Whoever owns its folder could put any file of root there. Returns SS_STATE_ABSENT if there is
 * none.
 */
static int open_own(const char *path, struct ss_error *error) {
    static const struct ss_trust trust;
    struct ss_walk walk;
    struct stat folder;
    int status = ss_walk_begin(&walk, path);
    SS_OWNED(close) int parent = walk.folder;
    if (status < 0 && *walk.why)
        return ss_error_fail(error, "%s: %s", path, walk.why);
    if (status < 0 || parent < 0 || fstat(parent, &folder) < 0 ||
        faccessat(parent, walk.name, R_OK, 0) < 0)
        return SS_STATE_ABSENT;
    SS_OWNED(close) int file = ss_state_file(parent, walk.name, O_RDONLY, &trust, path, error);
    if (file < 0)
        return file;
    if (!ss_walk_is_trusted(folder.st_uid))
        return ss_error_fail(error, "%s: its folder belongs to %s: make it yours, or remove it",
            path, ss_walk_user_name(folder.st_uid).text);
    return ss_owned_take(&file);
}

static int read_own(struct ssbatch_catalogue *catalogue, const char *path, struct ss_error *error) {
    SS_OWNED(close) int file = open_own(path, error);
    if (file < 0)
        return file == SS_STATE_ABSENT ? 0 : -1;
    SS_OWNED(fclose) FILE *stream = fdopen(file, "r");
    if (!stream)
        return ss_error_memory(error);
    ss_owned_take(&file);
    return read_catalogue(catalogue, stream, path, error);
}

static int read_named_by_environment(struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    const char *list = getenv("SHOWSTOPPER_CATALOGUE");
    struct ss_words_part part;
    while (list && ss_words_next(&list, ':', &part)) {
        if (part.length == 0)
            continue;
        SS_OWNED(free) char *path = strndup(part.text, part.length);
        if (!path)
            return ss_error_memory(error);
        if (ssbatch_catalogue_read(catalogue, path, error) < 0)
            return ss_error_wrap(error, "SHOWSTOPPER_CATALOGUE");
    }
    return 0;
}

int ssbatch_catalogue_read_default(struct ssbatch_catalogue *catalogue, struct ss_error *error) {
    const char *home = getenv("HOME");
    if (read_named_by_environment(catalogue, error) < 0)
        return -1;
    SS_OWNED(free)
    char *own = ss_words_format(error, "%s/.config/showstopper/workloads", home ? home : "");
    if (!own || read_own(catalogue, own, error) < 0)
        return -1;
    /* The build tree has one in the same place. */
    SS_OWNED(free) char *installed = ss_platform_installed_path("/" CATALOGUE_SUBDIR "/workloads");
    if (installed)
        return ssbatch_catalogue_read(catalogue, installed, error);
    return ssbatch_catalogue_read(catalogue, CATALOGUE_INSTALL_DIR "/workloads", error);
}
