/* SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "name_hash.h"
#include "output.h"
#include "pipeline.h"
#include "source.h"
#include "strands.h"

#define FILE_NAME      256
#define TEMPORARY_SIZE 4200
#define ATTEMPTS_MAX   100

struct machine {
    struct sstrace_samples samples;
    struct sstrace_strand strand;
    uint64_t hash;
    char name[]; /* as in the table */
};

struct machines {
    struct sstrace_split split;
    struct sstrace_request request; /* a copy that refers to `split` */
    struct sstrace_strands strands;
    struct machine **items; /* in the order of their first rows */
    size_t count, room;
    size_t *index; /* open addressing: 0, or the position in `items` plus 1 */
    size_t capacity;
    struct machine *latest;
    int64_t origin; /* time zero of all traces */
};

/* Returns the entry of the index that holds this name, or the empty one for it. */
static size_t *find_entry(const struct machines *machines, const char *name, uint64_t value) {
    for (size_t at = value & (machines->capacity - 1);; at = (at + 1) & (machines->capacity - 1)) {
        size_t entry = machines->index[at];
        if (entry == 0)
            return &machines->index[at];
        const struct machine *machine = machines->items[entry - 1];
        if (machine->hash == value && strcmp(machine->name, name) == 0)
            return &machines->index[at];
    }
}

/* Doubles the index when half of it is used. */
static bool grow_index(struct machines *machines) {
    if ((machines->count + 1) * 2 <= machines->capacity)
        return true;
    size_t capacity = machines->capacity ? machines->capacity * 2 : 1024;
    size_t *index = calloc(capacity, sizeof *index);
    if (!index)
        return false;
    free(machines->index);
    machines->index = index;
    machines->capacity = capacity;
    for (size_t i = 0; i < machines->count; i++)
        *find_entry(machines, machines->items[i]->name, machines->items[i]->hash) = i + 1;
    return true;
}

static struct machine *add_machine(struct machines *machines, const char *name, uint64_t value) {
    size_t length = strlen(name) + 1;
    struct machine *machine = NULL;
    if (!SS_GROW(machines->items, machines->count + 1, machines->room) ||
        !(machine = malloc(sizeof *machine + length)))
        return NULL;
    sstrace_strand_open(&machine->strand, &machines->strands);
    sstrace_samples_open(&machine->samples, &machines->request.import, &machine->strand.sink);
    machine->hash = value;
    memcpy(machine->name, name, length);
    machines->items[machines->count++] = machine;
    return machine;
}

static struct sstrace_samples *find_samples(struct sstrace_split *split, const char *name) {
    struct machines *machines = (struct machines *)split;
    if (machines->latest && strcmp(machines->latest->name, name) == 0)
        return &machines->latest->samples;
    if (!grow_index(machines))
        return NULL;
    uint64_t value = sstrace_name_hash(name);
    size_t *entry = find_entry(machines, name, value);
    if (*entry == 0) {
        if (!add_machine(machines, name, value))
            return NULL;
        *entry = machines->count;
    }
    machines->latest = machines->items[*entry - 1];
    return &machines->latest->samples;
}

/* How often a problem was found, and on how many machines. */
struct found {
    uint64_t count, machines;
};

static void add_found(struct found *found, uint64_t count) {
    found->count += count;
    found->machines += count > 0;
}

static void print_found(
    const struct machines *machines, const char *name, struct found found, const char *what) {
    if (found.count > 0)
        fprintf(stderr, "sstrace: %s: %s: %llu, in %llu of %zu machines\n",
            ss_words_show(name).text, what, (unsigned long long)found.count,
            (unsigned long long)found.machines, machines->count);
}

static void print_warnings(const struct machines *machines, const char *name) {
    struct found gaps = {0}, bad = {0}, late = {0}, limited = {0}, empty = {0};
    for (size_t i = 0; i < machines->count; i++) {
        const struct sstrace_samples *it = &machines->items[i]->samples;
        add_found(&gaps, it->gaps);
        add_found(&bad, it->bad);
        add_found(&late, it->late);
        add_found(&limited, it->limited);
        add_found(&empty, it->used == 0);
    }
    bool fills = machines->request.import.gaps == SSTRACE_GAPS_FILL;
    print_found(machines, name, gaps,
        fills ? "gaps, filled by straight lines" : "gaps, in which the previous load is held");
    print_found(machines, name, bad, "ignored samples without a number");
    print_found(machines, name, late,
        "ignored samples that go backward in time (sort the file by time to keep them)");
    print_found(machines, name, limited, SSTRACE_LIMITED);
    if (empty.count > 0)
        fprintf(stderr, "sstrace: %s: machines without any load, left out: %llu of %zu\n",
            ss_words_show(name).text, (unsigned long long)empty.count, machines->count);
}

/* Returns the shortest usual interval of a machine; 0 if no machine shows one. */
static int64_t find_usual(const struct machines *machines) {
    int64_t shortest = 0;
    for (size_t i = 0; i < machines->count; i++) {
        int64_t usual = machines->items[i]->samples.usual;
        if (usual && (!shortest || usual < shortest))
            shortest = usual;
    }
    return shortest;
}

static int end_table(struct sstrace_split *split, struct text_input *input) {
    struct machines *machines = (struct machines *)split;
    int64_t usual = find_usual(machines);
    uint64_t used = 0;
    for (size_t i = 0; i < machines->count; i++) {
        struct machine *machine = machines->items[i];
        if (sstrace_samples_flush(&machine->samples, input, usual) != 0)
            return ss_error_wrap(input->error, "%s", ss_words_show(machine->name).text);
        used += machine->samples.used;
    }
    if (used == 0)
        return ss_error_fail(input->error, "%s:%llu:1: the file has no samples",
            ss_words_show(input->name).text, (unsigned long long)input->line + 1);
    print_warnings(machines, input->name);
    return 0;
}

int sstrace_split_name(
    char file[FILE_NAME], const char *machine, const char *suffix, struct ss_error *error) {
    size_t used = 0, room = FILE_NAME - strlen(suffix) - 1;
    if (!*machine)
        return ss_error_fail(error, "a machine has no name, which --split gives to its file: "
                                    "complete the table");
    for (const char *at = machine; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        bool plain = isalnum(byte) || strchr("_-+=@:,", byte) || (byte == '.' && at > machine);
        if (used + (plain ? 1 : 3) > room)
            return ss_error_fail(error, "the name of machine %s is too long for a file",
                ss_words_show(machine).text);
        used += (size_t)snprintf(file + used, FILE_NAME - used, plain ? "%c" : "%%%02X", byte);
    }
    snprintf(file + used, FILE_NAME - used, "%s", suffix);
    return 0;
}

/* Returns the start of the first machine. All traces count from it. */
static int64_t find_origin(const struct machines *machines) {
    int64_t origin = INT64_MAX;
    for (size_t i = 0; i < machines->count; i++) {
        const struct sstrace_samples *samples = &machines->items[i]->samples;
        if (samples->used > 0 && samples->origin < origin)
            origin = samples->origin;
    }
    return origin;
}

/* Passes the trace of a machine to the sink, delayed by its start. */
static int play_machine(
    struct machine *machine, int64_t origin, struct ss_trace_sink *sink, struct ss_error *error) {
    struct sstrace_transform delay = {
        .kind = SSTRACE_LATER, .from = (ss_time)(machine->samples.origin - origin)};
    struct sstrace_stage later;
    if (sstrace_stage_open(&later, &delay, sink, error) != 0)
        return -1;
    int result = sstrace_strand_play(&machine->strand, &later.sink, error);
    if (result == 0)
        result = later.sink.end(&later.sink, error);
    sstrace_stage_close(&later);
    return result;
}

/* Writes directly: the folder is not yet visible, and is synced as a whole. */
static int write_file(const struct sstrace_request *request, struct sstrace_spool *spool,
    const char *path, struct ss_error *error) {
    FILE *stream = fopen(path, "wxe");
    if (stream && sstrace_output_print(request, spool, stream, error) != 0) {
        fclose(stream);
        return -1;
    }
    bool written = stream && !ferror(stream);
    if (stream && fclose(stream) != 0)
        written = false;
    return written ? 0
                   : ss_error_fail(error, "%s cannot be written: %s", ss_words_show(path).text,
                         strerror(errno));
}

static int write_machine(
    struct machines *machines, struct machine *machine, const char *path, struct ss_error *error) {
    struct sstrace_spool spool;
    struct sstrace_pipeline pipeline;
    if (sstrace_spool_open(&spool, error) != 0)
        return -1;
    int result = sstrace_pipeline_open(&pipeline, &machines->request, &spool.sink, error);
    if (result == 0) {
        result = play_machine(machine, machines->origin, pipeline.first, error);
        sstrace_pipeline_close(&pipeline);
    }
    if (result == 0)
        result = write_file(&machines->request, &spool, path, error);
    sstrace_spool_close(&spool);
    return result == 0 ? 0 : ss_error_wrap(error, "%s", ss_words_show(machine->name).text);
}

/* Fails if a signal, which the caller holds back, is to end the program. */
static int write_machines(
    struct machines *machines, const char *folder, const sigset_t *before, struct ss_error *error) {
    const char *suffix = machines->request.action == SSTRACE_DUMP ? ".txt" : ".trace";
    machines->origin = find_origin(machines);
    for (size_t i = 0; i < machines->count; i++) {
        struct machine *machine = machines->items[i];
        char path[4400], file[FILE_NAME];
        if (machine->samples.used == 0)
            continue;
        if (ss_end_signals_are_held(before))
            return ss_error_fail(error, "interrupted");
        if (sstrace_split_name(file, machine->name, suffix, error) != 0)
            return -1;
        snprintf(path, sizeof path, "%.4096s/%s", folder, file);
        if (write_machine(machines, machine, path, error) != 0)
            return -1;
    }
    return 0;
}

static void remove_folder(const char *folder) {
    SS_OWNED(closedir) DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        unlinkat(dirfd(open), entry->d_name, 0);
    rmdir(folder);
}

static int fail(const char *folder, struct ss_error *error) {
    return ss_error_fail(error, "%s cannot be written: %s", ss_words_show(folder).text,
        errno == ENOTEMPTY || errno == EEXIST ? "it exists and is not empty" : strerror(errno));
}

/* Syncs all files at once, which for thousands of files takes seconds less than one by one. */
static int sync_folder(const char *folder) {
    SS_OWNED(close) int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return descriptor < 0 ? -1 : syncfs(descriptor);
}

/*
 * Makes a folder with a new name next to the final one. A killed sstrace may have left a folder
 * with our pid, which in a PID namespace is the same in every run.
 */
static int make_temporary(char path[TEMPORARY_SIZE], const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    int used = snprintf(path, TEMPORARY_SIZE, "%.*s.%d", (int)(length < 4096 ? length : 4096),
        folder, (int)getpid());
    int result = mkdir(path, 0777);
    for (int i = 1; result != 0 && errno == EEXIST && i < ATTEMPTS_MAX; i++) {
        snprintf(path + used, TEMPORARY_SIZE - (size_t)used, ".%d", i);
        result = mkdir(path, 0777);
    }
    return result;
}

/* Writes the traces to a folder next to the final one, then renames it. */
static int write_folder(
    struct machines *machines, const char *folder, const sigset_t *before, struct ss_error *error) {
    char temporary[TEMPORARY_SIZE];
    struct stat replaced;
    if (make_temporary(temporary, folder) != 0)
        return fail(errno == EEXIST ? temporary : folder, error);
    if (stat(folder, &replaced) == 0)
        chmod(temporary, replaced.st_mode & 07777);
    int result = write_machines(machines, temporary, before, error);
    if (result == 0 && (sync_folder(temporary) != 0 || rename(temporary, folder) != 0))
        result = fail(folder, error);
    if (result != 0)
        remove_folder(temporary);
    return result;
}

/* Refuses a folder that has files or cannot be renamed, before hours are spent on the table. */
static int check_folder(const char *folder, struct ss_error *error) {
    char parent[TEMPORARY_SIZE];
    struct stat own, above;
    SS_OWNED(closedir) DIR *open = opendir(folder);
    if (!open)
        return errno == ENOENT ? 0 : fail(folder, error);
    for (struct dirent *entry; (entry = readdir(open));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            errno = ENOTEMPTY;
            return fail(folder, error);
        }
    }
    snprintf(parent, sizeof parent, "%.4096s/..", folder);
    if (stat(folder, &own) == 0 && stat(parent, &above) == 0 && own.st_dev != above.st_dev)
        return ss_error_fail(error,
            "%s is a mount point, which cannot be replaced: name a new folder in it",
            ss_words_show(folder).text);
    return 0;
}

/*
 * Returns the path of the folder. A symbolic link is followed, because the folder is replaced; so
 * it cannot be the current one, in which the caller would be left without the files.
 */
static char *find_folder(const char *name, struct ss_error *error) {
    char *path = realpath(name, NULL);
    SS_OWNED(free) char *here = realpath(".", NULL);
    if (path && here && strcmp(path, here) == 0) {
        free(path);
        ss_error_fail(
            error, "--split: %s is the current folder: name another one", ss_words_show(name).text);
        return NULL;
    }
    if (!path && lstat(name, &(struct stat){0}) == 0) {
        ss_error_fail(error, "--split: %s is a link to nothing: make its folder or remove it",
            ss_words_show(name).text);
        return NULL;
    }
    if (!path && !(path = strdup(name)))
        ss_error_memory(error);
    return path;
}

int sstrace_split_run(const struct sstrace_request *request, struct ss_error *error) {
    struct machines machines = {
        .split = {.find = find_samples, .end = end_table}, .request = *request};
    struct ss_trace_sink nowhere = sstrace_nowhere();
    machines.request.import.split = &machines.split;
    SS_OWNED(free) char *folder = find_folder(request->split, error);
    if (!folder || check_folder(folder, error) != 0 ||
        sstrace_strands_open(&machines.strands, error) != 0)
        return -1;
    int result = sstrace_source_run(&machines.request, &nowhere, error);
    if (result == 0) {
        sigset_t before;
        ss_end_signals_hold(&before);
        result = write_folder(&machines, folder, &before, error);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    for (size_t i = 0; i < machines.count; i++) {
        sstrace_samples_close(&machines.items[i]->samples);
        free(machines.items[i]);
    }
    free(machines.items);
    free(machines.index);
    sstrace_strands_close(&machines.strands);
    return result;
}
