/* SPDX-License-Identifier: Apache-2.0 */
#include "sys_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"

/*
 * Size limits of files. Files with one value are at most a page long; a kernel configuration has
 * 300 KB, and cpuinfo about 2 KB for each CPU.
 */
#define SMALL_MAX 65536
#define LARGE_MAX (64u << 20)
#define NAMES_MAX 4096

int sys_tree_open(struct sys_tree *tree, const char *root, struct ss_error *error) {
    tree->root = root;
    tree->folder = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree->folder < 0)
        return ss_error_fail(
            error, "cannot read %s: %s", ss_words_show(root ? root : "/").text, strerror(errno));
    return 0;
}

void sys_tree_close(struct sys_tree *tree) {
    if (tree->folder >= 0)
        close(tree->folder);
    tree->folder = -1;
}

/* Loops, because the kernel returns large files in pieces. */
char *sys_tree_read_all(int descriptor, size_t limit, size_t *length) {
    size_t room = 0, used = 0;
    char *text = NULL;

    while (SS_GROW(text, used + 4096, room)) {
        ssize_t got = read(descriptor, text + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;

        used += got > 0 ? (size_t)got : 0;
        if (got < 0 || used > limit)
            break;
        if (got == 0) {
            text[used] = '\0';
            *length = used;
            return text;
        }
    }

    free(text);
    return NULL;
}

static char *read_file(
    const struct sys_tree *tree, const char *path, size_t limit, size_t *length) {
    /* O_NONBLOCK: a pipe in a recorded tree must not block this process. */
    SS_OWNED(close)
    int file = openat(tree->folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return file < 0 ? NULL : sys_tree_read_all(file, limit, length);
}

#define FORMAT_PATH(path, format)                                                                  \
    char path[4096];                                                                               \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    vsnprintf(path, sizeof path, format, arguments);                                               \
    va_end(arguments)

char *sys_tree_read(const struct sys_tree *tree, const char *format, ...) {
    size_t length;
    FORMAT_PATH(path, format);
    return read_file(tree, path, SMALL_MAX, &length);
}

char *sys_tree_read_large(const struct sys_tree *tree, const char *path, size_t *length) {
    size_t ignored;
    return read_file(tree, path, LARGE_MAX, length ? length : &ignored);
}

char *sys_tree_trim(char *text) {
    text += strspn(text, " \t\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n", text[length - 1]))
        length--;
    text[length] = '\0';

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f)
            return NULL;
    }
    return length > 0 ? text : NULL;
}

static char *read_line(const struct sys_tree *tree, const char *path) {
    size_t length = 0;
    char *text = read_file(tree, path, SMALL_MAX, &length);
    char *line = text && strlen(text) == length ? sys_tree_trim(text) : NULL;
    if (line)
        memmove(text, line, strlen(line) + 1);
    else
        free(text);
    return line ? text : NULL;
}

char *sys_tree_line(const struct sys_tree *tree, const char *format, ...) {
    FORMAT_PATH(path, format);
    return read_line(tree, path);
}

char *sys_tree_value(const struct sys_tree *tree, const char *path, const char *key) {
    char *text = sys_tree_read(tree, "%s", path);
    char *at = text ? strstr(text, key) : NULL;
    char *rest = at ? at + strlen(key) : NULL;
    char *line = rest ? strsep(&rest, "\n") : NULL;
    char *trimmed = line ? sys_tree_trim(line) : NULL;
    char *value = trimmed ? strdup(trimmed) : NULL;
    free(text);
    return value;
}

double sys_tree_parse_number(const char *text) {
    const char *digits = text && *text == '-' ? text + 1 : text;
    size_t length = digits ? strspn(digits, "0123456789") : 0;
    if (length == 0 || length > 15 || digits[length])
        return NAN;
    return strtod(text, NULL);
}

double sys_tree_number(const struct sys_tree *tree, const char *format, ...) {
    FORMAT_PATH(path, format);
    char *line = read_line(tree, path);
    double number = sys_tree_parse_number(line);
    free(line);
    return number;
}

bool sys_tree_has(const struct sys_tree *tree, const char *format, ...) {
    FORMAT_PATH(path, format);
    return faccessat(tree->folder, path, F_OK, 0) == 0;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void collect_names(DIR *folder, struct sys_tree_names *names) {
    const struct dirent *entry;
    while (names->count < NAMES_MAX && (entry = readdir(folder))) {
        char *copy = *entry->d_name == '.' ? NULL : strdup(entry->d_name);
        if (copy)
            names->list[names->count++] = copy;
    }
    qsort(names->list, names->count, sizeof *names->list, compare_names);
}

struct sys_tree_names sys_tree_list(const struct sys_tree *tree, const char *path) {
    struct sys_tree_names names = {0};
    SS_OWNED(close) int descriptor = openat(tree->folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    SS_OWNED(closedir) DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (!folder)
        return names;
    ss_owned_take(&descriptor);

    names.list = calloc(NAMES_MAX, sizeof *names.list);
    if (names.list)
        collect_names(folder, &names);
    return names;
}

void sys_tree_names_free(struct sys_tree_names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct sys_tree_names){0};
}

/* Adds the CPU of a line "processor : 3". */
static void add_processor(struct ss_cpus *cpus, char *line) {
    char *colon = strchr(line, ':');
    if (!colon)
        return;
    *colon = '\0';
    char *key = sys_tree_trim(line);
    double number = sys_tree_parse_number(sys_tree_trim(colon + 1));
    if (key && strcmp(key, "processor") == 0 && number >= 0 && number < SS_CPUS_MAX)
        ss_cpus_add(cpus, (uint32_t)number);
}

struct ss_cpus sys_tree_online(const struct sys_tree *tree) {
    struct ss_cpus cpus = {0};
    struct ss_error ignored = {0};
    SS_OWNED(free) char *line = sys_tree_line(tree, "sys/devices/system/cpu/online");
    if (line && ss_cpus_parse(line, &cpus, &ignored) == 0)
        return cpus;

    SS_OWNED(free) char *text = sys_tree_read_large(tree, "proc/cpuinfo", NULL);
    char *rest = text;
    for (char *processor; (processor = strsep(&rest, "\n"));)
        add_processor(&cpus, processor);
    return cpus;
}

char *sys_tree_affinity(const struct sys_tree *tree) {
    return sys_tree_value(tree, "proc/self/status", "\nCpus_allowed_list:");
}
