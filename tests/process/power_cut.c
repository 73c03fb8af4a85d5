/* SPDX-License-Identifier: Apache-2.0 */
#include "power_cut.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <check.h>

#include "run.h"

#define ENTRIES_MAX 4000 /* operations, files and names */
#define NOWHERE     (-1)
#define MEMORY      "/dev/shm/"

struct operation {
    enum power_operation kind;
    char *path;
    int place, from; /* in `places`: the new name, and the old one of a move */
    int node;        /* the file or folder */
    int folder;      /* the change is on disk after a sync of this folder */
    char *contents;  /* of a file that is synced */
    size_t synced;   /* index of the sync that puts the change on disk; SIZE_MAX: none */
};

/* A name in a folder; it may refer to different files in turn. */
struct place {
    int folder;
    char *name;
};

struct power_log {
    const char *root;
    struct operation operations[ENTRIES_MAX];
    size_t count;
    struct place places[ENTRIES_MAX];
    int place_count, node_count;
    int held[ENTRIES_MAX]; /* by place: the node with this name, at the end of the log or a cut */
};

static const char *const words[] = {"make", "file", "write", "move", "drop", "sync", "mark"};

static int find_place(struct power_log *log, int folder, const char *name, size_t length) {
    for (int i = 0; i < log->place_count; i++) {
        const struct place *place = &log->places[i];
        if (place->folder == folder && strncmp(place->name, name, length) == 0 &&
            place->name[length] == '\0')
            return i;
    }
    ck_assert_int_lt(log->place_count, ENTRIES_MAX);
    log->places[log->place_count] = (struct place){folder, strndup(name, length)};
    log->held[log->place_count] = NOWHERE;
    return log->place_count++;
}

/* Returns the place of a path, or NOWHERE if a folder of it does not exist. Node 0 is the root. */
static int walk(struct power_log *log, const char *path) {
    int folder = 0;
    for (;;) {
        size_t length = strcspn(path, "/");
        int place = find_place(log, folder, path, length);
        if (path[length] == '\0')
            return place;
        folder = log->held[place];
        if (folder == NOWHERE)
            return NOWHERE;
        path += length + 1;
    }
}

/* Maps files in /dev/shm to names in the root. */
static const char *relative(const struct power_log *log, const char *path) {
    size_t length = strlen(log->root);
    if (strncmp(path, MEMORY, sizeof MEMORY - 1) == 0)
        return path + sizeof MEMORY - 1;
    ck_assert_msg(strncmp(path, log->root, length) == 0, "%s", path);
    return path + length + (path[length] == '/');
}

void power_log_mark(const char *log, const char *text) {
    FILE *file = fopen(log, "a");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "mark %s\n", text);
    fclose(file);
}

static int take_place(struct power_log *log, const char *path) {
    int place = walk(log, path);
    ck_assert_msg(place != NOWHERE, "%s is in a folder that is not in the log", path);
    return place;
}

static void apply(struct power_log *log, const struct operation *operation) {
    switch (operation->kind) {
    case POWER_MAKE:
    case POWER_FILE:
        log->held[operation->place] = operation->node;
        break;
    case POWER_MOVE:
        if (log->held[operation->from] == operation->node)
            log->held[operation->from] = NOWHERE;
        log->held[operation->place] = operation->node;
        break;
    case POWER_DROP:
        if (log->held[operation->place] == operation->node)
            log->held[operation->place] = NOWHERE;
        break;
    default:
        break;
    }
}

static void add_operation(struct power_log *log, struct operation *operation, const char *from) {
    bool is_root = operation->path[0] == '\0';
    if (is_root || operation->kind == POWER_MARK) {
        log->operations[log->count++] = *operation;
        return;
    }
    operation->place = take_place(log, operation->path);
    operation->folder = log->places[operation->place].folder;
    operation->from = from ? take_place(log, from) : operation->place;
    operation->node = operation->kind == POWER_MAKE || operation->kind == POWER_FILE
                          ? ++log->node_count
                          : log->held[operation->from];
    ck_assert_msg(operation->node != NOWHERE, "%s: %s is not in the log", words[operation->kind],
        from ? from : operation->path);
    apply(log, operation);
    log->operations[log->count++] = *operation;
}

static char *read_bytes(FILE *file, size_t size) {
    char *bytes = calloc(size + 1, 1);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    ck_assert_int_eq(fgetc(file), '\n');
    return bytes;
}

static bool read_operation(struct power_log *log, FILE *file) {
    char line[9000], word[8], first[4300] = "", second[4300] = "";
    struct operation operation = {.kind = POWER_MAKE};
    if (!fgets(line, sizeof line, file))
        return false;
    ck_assert_int_ge(sscanf(line, "%7s %4299s %4299s", word, first, second), 2);
    while (strcmp(words[operation.kind], word) != 0)
        operation.kind++;
    const char *path = operation.kind == POWER_MOVE ? second : first;
    operation.path = strdup(operation.kind == POWER_MARK ? path : relative(log, path));
    if (operation.kind == POWER_SYNC)
        operation.contents = read_bytes(file, strtoul(second, NULL, 10));
    ck_assert_uint_lt(log->count, ENTRIES_MAX);
    add_operation(log, &operation, operation.kind == POWER_MOVE ? relative(log, first) : NULL);
    return true;
}

static bool changes_folder(const struct operation *operation) {
    return operation->kind == POWER_MAKE || operation->kind == POWER_FILE ||
           operation->kind == POWER_MOVE || operation->kind == POWER_DROP;
}

/* Returns the first sync of this node at or after `from`, or SIZE_MAX. */
static size_t find_sync(const struct power_log *log, int node, size_t from) {
    for (size_t i = from; i < log->count; i++) {
        if (log->operations[i].kind == POWER_SYNC && log->operations[i].node == node)
            return i;
    }
    return SIZE_MAX;
}

struct power_log *power_log_read(const char *path, const char *root) {
    struct power_log *log = calloc(1, sizeof *log);
    FILE *file = fopen(path, "r");
    ck_assert(log && file);
    log->root = root;
    while (read_operation(log, file)) {
    }
    fclose(file);
    for (size_t i = 0; i < log->count; i++) {
        struct operation *operation = &log->operations[i];
        if (changes_folder(operation))
            operation->synced = find_sync(log, operation->folder, i);
    }
    return log;
}

size_t power_log_count(const struct power_log *log) {
    return log->count;
}

enum power_operation power_log_operation(const struct power_log *log, size_t index) {
    return log->operations[index].kind;
}

const char *power_log_path(const struct power_log *log, size_t index) {
    return log->operations[index].path;
}

size_t power_log_find(
    const struct power_log *log, size_t from, enum power_operation kind, const char *path) {
    while (from < log->count &&
           (log->operations[from].kind != kind || strcmp(log->operations[from].path, path) != 0))
        from++;
    return from;
}

bool power_is_free(const struct power_cut *cut, size_t index) {
    const struct operation *operation = &cut->log->operations[index];
    return changes_folder(operation) &&
           (operation->synced == SIZE_MAX || operation->synced >= cut->at);
}

static bool is_chosen(const struct power_cut *cut, size_t index) {
    switch (cut->choice) {
    case POWER_ALL:
        return true;
    case POWER_ONLY:
        return index == cut->chosen;
    case POWER_ALL_BUT:
        return index != cut->chosen;
    default:
        return false;
    }
}

void power_cut(const struct power_cut *cut) {
    struct power_log *log = cut->log;
    for (int i = 0; i < log->place_count; i++)
        log->held[i] = NOWHERE;
    for (size_t i = 0; i < cut->at; i++) {
        if (changes_folder(&log->operations[i]) && (!power_is_free(cut, i) || is_chosen(cut, i)))
            apply(log, &log->operations[i]);
    }
}

/* Returns the last synced contents of a file or, as `cut` selects, half or all of later ones. */
static const char *contents_of(const struct power_cut *cut, int node) {
    static char half[65536];
    const struct power_log *log = cut->log;
    const char *old = "";
    bool is_written = false;
    for (size_t i = 0; i < log->count; i++) {
        const struct operation *operation = &log->operations[i];
        if (operation->node != node || operation->kind == POWER_MARK)
            continue;
        if (i < cut->at && (operation->kind == POWER_FILE || operation->kind == POWER_WRITE))
            is_written = true;
        if (operation->kind != POWER_SYNC)
            continue;
        if (i < cut->at) {
            old = operation->contents;
            is_written = false;
        } else if (is_written && cut->contents == POWER_NEW) {
            return operation->contents;
        } else if (is_written && cut->contents == POWER_HALF) {
            snprintf(half, sizeof half, "%.*s", (int)strlen(operation->contents) / 2,
                operation->contents);
            return half;
        }
    }
    return old;
}

static bool is_folder(const struct power_log *log, int node) {
    for (size_t i = 0; i < log->count; i++) {
        if (log->operations[i].node == node && log->operations[i].kind == POWER_MAKE)
            return true;
    }
    return node == 0;
}

const char *power_read(const struct power_cut *cut, const char *path) {
    int place = walk(cut->log, path);
    int node = place == NOWHERE ? NOWHERE : cut->log->held[place];
    return node == NOWHERE ? NULL : contents_of(cut, node);
}

static void each_of(const struct power_cut *cut, int node, const char *folder,
    void (*see)(void *context, const char *path), void *context) {
    char path[5000];
    for (int i = 0; i < cut->log->place_count; i++) {
        const struct place *place = &cut->log->places[i];
        if (place->folder != node || cut->log->held[i] == NOWHERE)
            continue;
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", place->name);
        see(context, path);
    }
}

void power_each(const struct power_cut *cut, const char *folder,
    void (*see)(void *context, const char *path), void *context) {
    int place = *folder ? walk(cut->log, folder) : NOWHERE;
    int node = !*folder ? 0 : place == NOWHERE ? NOWHERE : cut->log->held[place];
    if (node != NOWHERE)
        each_of(cut, node, folder, see, context);
}

struct writing {
    const struct power_cut *cut;
    const char *folder;
};

static void write_one(void *context, const char *path) {
    const struct writing *writing = context;
    struct power_log *log = writing->cut->log;
    int node = log->held[walk(log, path)];
    const char *whole = run_path(writing->folder, path);
    if (is_folder(log, node)) {
        ck_assert_int_eq(mkdir(whole, 0777), 0);
        power_each(writing->cut, path, write_one, context);
    } else {
        run_write_file(whole, contents_of(writing->cut, node));
    }
}

void power_write(const struct power_cut *cut, const char *folder) {
    struct writing writing = {cut, folder};
    power_each(cut, "", write_one, &writing);
}
