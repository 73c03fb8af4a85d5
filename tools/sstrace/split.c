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
#include "base/walk.h"
#include "base/words.h"
#include "output.h"
#include "source.h"
#include "trace_spool.h"
#include "trace_statistics.h"

#define FILE_NAME 256

struct machine {
    struct sstrace_samples samples;
    struct sstrace_spooled_trace trace;
    char name[]; /* as in the table */
};

struct machines {
    struct sstrace_split split;
    struct sstrace_request request; /* a copy that refers to `split` */
    struct sstrace_spool_file file; /* stores all traces */
    struct machine **items;         /* in the order of their first rows */
    size_t count, room;
    struct sstrace_names names; /* indexes of `items` by name */
    int64_t origin;             /* time zero of all traces */
};

static bool add_machine(struct machines *machines, const char *name) {
    size_t length = strlen(name) + 1;
    struct machine *machine = NULL;
    if (!SS_GROW(machines->items, machines->count + 1, machines->room) ||
        !(machine = malloc(sizeof *machine + length)))
        return false;

    sstrace_spooled_trace_open(&machine->trace, &machines->file);
    sstrace_samples_open(&machine->samples, &machines->request.import, &machine->trace.sink);
    memcpy(machine->name, name, length);
    machines->items[machines->count++] = machine;
    return true;
}

static struct sstrace_samples *find_or_add_samples(struct sstrace_split *split, const char *name) {
    struct machines *machines = (struct machines *)split;
    size_t number = sstrace_names_number(&machines->names, name);
    bool is_new = number == machines->count;
    if (is_new ? !add_machine(machines, name) : number > machines->count)
        return NULL;
    return &machines->items[number]->samples;
}

/* Prints how often a problem was found, and on how many machines. */
static void print_problem(
    const struct machines *machines, const char *name, const struct sstrace_problem *problem) {
    uint64_t found = 0, affected = 0;
    for (size_t i = 0; i < machines->count; i++) {
        uint64_t count = sstrace_problem_count(problem, &machines->items[i]->samples);
        found += count;
        affected += count > 0;
    }

    if (found > 0)
        fprintf(stderr, "sstrace: %s: %s: %llu, in %llu of %zu machines\n",
            ss_words_show(name).text, problem->text, (unsigned long long)found,
            (unsigned long long)affected, machines->count);
}

static void print_warnings(const struct machines *machines, const char *name) {
    bool fills = machines->request.import.gaps == SSTRACE_GAPS_FILL;
    struct sstrace_problem gaps = {offsetof(struct sstrace_samples, gaps),
        fills ? "gaps, filled by straight lines" : "gaps, in which the previous load is held"};
    print_problem(machines, name, &gaps);
    for (size_t i = 0; i < SSTRACE_PROBLEMS; i++)
        print_problem(machines, name, &sstrace_problems[i]);

    size_t empty = 0;
    for (size_t i = 0; i < machines->count; i++)
        empty += machines->items[i]->samples.used == 0;
    if (empty > 0)
        fprintf(stderr, "sstrace: %s: ignored machines without a load: %zu of %zu\n",
            ss_words_show(name).text, empty, machines->count);
}

/* Returns the shortest usual interval of a machine; 0 if no machine has one. */
static int64_t find_usual(const struct machines *machines) {
    int64_t shortest = 0;
    for (size_t i = 0; i < machines->count; i++) {
        int64_t usual = machines->items[i]->samples.usual_interval;
        if (usual && (!shortest || usual < shortest))
            shortest = usual;
    }
    return shortest;
}

/* Ends all series. Time zero of all traces is the earliest start of a machine. */
static int end_table(struct sstrace_split *split, struct text_input *input) {
    struct machines *machines = (struct machines *)split;
    int64_t usual = find_usual(machines);

    machines->origin = INT64_MAX;
    for (size_t i = 0; i < machines->count; i++) {
        struct sstrace_samples *samples = &machines->items[i]->samples;
        if (sstrace_samples_flush(samples, input, usual) != 0)
            return ss_error_wrap(input->error, "%s", ss_words_show(machines->items[i]->name).text);
        if (samples->used > 0 && samples->origin < machines->origin)
            machines->origin = samples->origin;
    }

    if (machines->origin == INT64_MAX)
        return ss_error_fail(input->error, "%s:%llu:1: the file has no samples",
            ss_words_show(input->name).text, (unsigned long long)input->line + 1);

    print_warnings(machines, input->name);
    return 0;
}

int sstrace_split_name(
    char file[FILE_NAME], const char *machine, const char *suffix, struct ss_error *error) {
    size_t used = 0, room = FILE_NAME - strlen(suffix) - 1;
    if (!*machine)
        return ss_error_fail(
            error, "--split needs the name of each machine, but one is empty: complete the table");

    for (const char *at = machine; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        bool plain = isalnum(byte) || strchr("_-+=@:,", byte) || (byte == '.' && at > machine);
        if (used + (plain ? 1 : 3) > room)
            return ss_error_fail(error, "the name of machine %s is too long for a file name",
                ss_words_show(machine).text);
        used += (size_t)snprintf(file + used, FILE_NAME - used, plain ? "%c" : "%%%02X", byte);
    }

    snprintf(file + used, FILE_NAME - used, "%s", suffix);
    return 0;
}

static int fail(const char *path, struct ss_error *error) {
    return ss_error_fail(error, "cannot write %s: %s", ss_words_show(path).text,
        errno == EEXIST ? "it already exists: choose another folder" : strerror(errno));
}

/* Needs no temporary file: the folder is not yet visible, and is synced as a whole. */
static int write_file(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, int folder, const char *path,
    struct ss_error *error) {
    SS_OWNED(close)
    int file = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    if (!stream)
        return fail(path, error);
    ss_owned_take(&file);

    int result = sstrace_output_print(request, trace, stream, error);
    bool written = !ferror(stream);
    if (fclose(stream) != 0)
        written = false;
    return result == 0 && !written ? fail(path, error) : result;
}

/* Writes the trace of a machine, delayed by its start. */
static int write_machine(struct machines *machines, struct machine *machine, int folder,
    const char *file, struct ss_error *error) {
    struct sstrace_request *request = &machines->request;
    struct sstrace_spool spool;
    struct sstrace_pipeline pipeline;
    request->transforms[0].from = (ss_time)(machine->samples.origin - machines->origin);
    sstrace_spool_open(&spool);
    sstrace_pipeline_open(
        &pipeline, request->transforms, request->transform_count, &spool.trace.sink);

    int result = -1;
    if (sstrace_spooled_trace_play(&machine->trace, pipeline.first, error) == 0 &&
        pipeline.first->end(pipeline.first, error) == 0)
        result = write_file(request, &spool.trace, folder, file, error);
    sstrace_pipeline_close(&pipeline);
    sstrace_spool_file_close(&spool.file);

    if (result != 0)
        return ss_error_wrap(error, "%s", ss_words_show(machine->name).text);
    return 0;
}

/* Fails if a signal that ends the program is pending. The caller has blocked these signals. */
static int write_machines(
    struct machines *machines, int folder, const sigset_t *before, struct ss_error *error) {
    const char *suffix = machines->request.dump ? ".txt" : ".trace";
    for (size_t i = 0; i < machines->count; i++) {
        struct machine *machine = machines->items[i];
        char file[FILE_NAME];
        if (machine->samples.used == 0)
            continue;
        if (ss_end_signal_is_pending(before))
            return ss_error_fail(error, "interrupted");
        if (sstrace_split_name(file, machine->name, suffix, error) != 0)
            return -1;
        if (write_machine(machines, machine, folder, file, error) != 0)
            return -1;
    }
    return 0;
}

static void remove_folder(int parent, const char *name, int folder) {
    int listing = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    SS_OWNED(closedir) DIR *open = listing < 0 ? NULL : fdopendir(listing);
    for (struct dirent *entry; open && (entry = readdir(open));)
        unlinkat(folder, entry->d_name, 0);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Writes the traces to a folder next to the final one, then renames it. */
static int write_next_to(struct machines *machines, const struct ss_walk *walk, const char *folder,
    const sigset_t *before, struct ss_error *error) {
    char name[NAME_MAX + 1];
    struct ss_error why = {0};
    snprintf(name, sizeof name, "%.240s.%d", walk->name, (int)getpid());
    SS_OWNED(close)
    int opened = ss_walk_folder_below(walk->folder, name, O_RDONLY | O_CREAT | O_EXCL, &why);
    if (opened < 0)
        return ss_error_fail(error, "cannot write %s: %s", ss_words_show(folder).text, why.message);

    int result = write_machines(machines, opened, before, error);
    /* For thousands of files, one syncfs() is seconds faster than an fsync() of each. */
    if (result == 0 &&
        (syncfs(opened) != 0 || renameat(walk->folder, name, walk->folder, walk->name) != 0))
        result = fail(folder, error);
    if (result != 0)
        remove_folder(walk->folder, name, opened);
    return result;
}

static int write_folder(
    struct machines *machines, const char *folder, const sigset_t *before, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, folder);
    if (status == 0 && walk.exists)
        status = -EEXIST;
    errno = -status;
    int result = 0;
    if (*walk.why)
        result = ss_error_fail(error, "cannot write %s: %s", ss_words_show(folder).text, walk.why);
    else if (status < 0)
        result = fail(folder, error);
    else
        result = write_next_to(machines, &walk, folder, before, error);
    ss_walk_end(&walk);
    return result;
}

int sstrace_split_run(const struct sstrace_request *request, struct ss_error *error) {
    struct machines machines = {.split = {.find = find_or_add_samples, .end = end_table},
        .request = *request,
        .file = SSTRACE_SPOOL_FILE_NEW};

    struct sstrace_statistics unused =
        sstrace_statistics_open(); /* each machine has its own sink */
    machines.request.import.split = &machines.split;
    memmove(machines.request.transforms + 1, request->transforms,
        request->transform_count * sizeof *request->transforms);
    machines.request.transforms[0] = (struct sstrace_transform){.kind = SSTRACE_LATER};
    machines.request.transform_count++;

    /* Check this first: reading the table may take hours. */
    if (lstat(request->split, &(struct stat){0}) == 0) {
        errno = EEXIST;
        return fail(request->split, error);
    }

    int result = sstrace_source_run(&machines.request, &unused.sink, error);
    if (result == 0) {
        sigset_t before;
        ss_end_signals_block(&before);
        result = write_folder(&machines, request->split, &before, error);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }

    for (size_t i = 0; i < machines.count; i++) {
        sstrace_samples_close(&machines.items[i]->samples);
        free(machines.items[i]);
    }
    free(machines.items);
    sstrace_names_close(&machines.names);
    sstrace_spool_file_close(&machines.file);
    return result;
}
