/* SPDX-License-Identifier: Apache-2.0 */
#include "load_source.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/words.h"
#include "measure/load.h"
#include "trace/file.h"

/* If a record gets no row for longer, its run has ended or is suspended. */
#define ROW_GAP_SECONDS_MAX 60

static int open_reader(struct ssactuate_load *load, const struct ssactuate_policy *policy,
    const struct ssactuate_machine *machine, struct ss_error *error) {
    const struct ss_source_request request = {
        .source = policy->source == SSACTUATE_GROUP ? SS_SOURCE_CGROUP : SS_SOURCE_RUNTIME,
        .argument = policy->argument,
    };
    struct topology_usable cpus = topology_usable_read(&machine->tree);

    if (ss_platform_counters_open(&load->reader, &request, &cpus.online, &machine->roots, error) <
        0)
        return ss_error_wrap(error, "load");

    load->is_open = true;
    int status = ss_platform_counters_read(&load->reader, &load->last);
    if (status < 0)
        return ss_error_fail(error, "load: %s: %s", load->reader.path, strerror(-status));
    return 0;
}

int ssactuate_load_open(struct ssactuate_load *load, const struct ssactuate_policy *policy,
    const struct ssactuate_machine *machine, struct ss_error *error) {
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    *load = (struct ssactuate_load){.source = policy->source, .begin = ss_platform_now()};
    load->last_time = load->begin;
    load->cpus = ss_cpus_count(&cpus.usable);

    if (policy->source == SSACTUATE_MACHINE || policy->source == SSACTUATE_GROUP)
        return open_reader(load, policy, machine, error);

    if (policy->source == SSACTUATE_TRACE)
        return ss_trace_load(policy->argument, &load->trace, error) != 0
                   ? ss_error_wrap(error, "load")
                   : 0;

    if (policy->source != SSACTUATE_RECORD)
        return 0;

    load->samples_path = ss_words_format(error, "%s/samples.csv", policy->argument);
    return load->samples_path ? 0 : -1;
}

static double sample_reader(struct ssactuate_load *load) {
    struct ss_counters now;
    struct ss_load between;

    if (ss_platform_counters_read(&load->reader, &now) < 0)
        return NAN;

    bool known = ss_load_between(load->reader.source, &load->last, &now, &between);
    load->last = now;
    return known ? between.load : NAN;
}

static void add_time(void *context, pid_t pid) {
    struct ss_process_times times;
    if (!ss_platform_process_times(pid, &times))
        return;
    *(uint64_t *)context += times.used + times.waited;
    ss_platform_process_children(pid, add_time, context);
}

/*
 * Returns NaN if the sum falls: when a process exits whose parent does not wait for it, its CPU
 * time is lost. The load of a side that has exited is 0.
 */
static double sample_side(struct ssactuate_load *load, ss_time now) {
    uint64_t used = 0, before = load->used;
    double capacity = (double)ss_time_since(now, load->last_time) * load->cpus;

    if (load->side == 0 && !load->running)
        return 0;

    if (load->running)
        used = load->running->used;
    else
        add_time(&used, load->side);

    load->used = used;
    return used < before || capacity <= 0 ? NAN
                                          : ss_load_of_used((double)(used - before), capacity);
}

/* Returns the index of the column "load" in a heading, or -1. */
static int find_column(const char *heading) {
    struct ss_words_part part;
    int column = 0;
    for (const char *at = heading; ss_words_next(&at, ',', &part); column++) {
        if (ss_words_is(&part, "load"))
            return column;
    }
    return -1;
}

static double read_column(const char *line, int column) {
    struct ss_words_part part;
    for (const char *at = line; ss_words_next(&at, ',', &part); column--) {
        char *end;
        double value = column == 0 ? strtod(part.text, &end) : 0;
        if (column == 0)
            return end == part.text + part.length && part.length > 0 ? value : NAN;
    }
    return NAN;
}

double ssactuate_load_of_samples(const char *path) {
    struct ss_error ignored = {0};
    int opened = ss_input_open(AT_FDCWD, path, INT64_MAX, &ignored);
    SS_OWNED(fclose) FILE *stream = opened < 0 ? NULL : fdopen(opened, "r");
    SS_OWNED(free) char *line = NULL;
    struct stat file;
    size_t room = 0;
    double load = NAN;

    if (!stream || fstat(fileno(stream), &file) < 0 ||
        time(NULL) - file.st_mtim.tv_sec > ROW_GAP_SECONDS_MAX ||
        getline(&line, &room, stream) <= 0)
        return NAN;

    line[strcspn(line, "\n")] = '\0';
    int column = find_column(line);

    /* Read only the end of a long file. The first line read is incomplete. */
    if (column < 0 || (fseek(stream, -1000, SEEK_END) == 0 && getline(&line, &room, stream) <= 0))
        return NAN;

    for (ssize_t length; (length = getline(&line, &room, stream)) > 0;) {
        if (line[length - 1] != '\n')
            break;
        line[length - 1] = '\0';
        load = read_column(line, column);
    }

    return load;
}

double ssactuate_load_sample(struct ssactuate_load *load, ss_time now) {
    double value = NAN;

    switch (load->source) {
    case SSACTUATE_MACHINE:
    case SSACTUATE_GROUP:
        value = sample_reader(load);
        break;
    case SSACTUATE_TRACE:
        value = ss_trace_load_at(&load->trace, ss_time_since(now, load->begin), false);
        break;
    case SSACTUATE_RECORD:
        value = ssactuate_load_of_samples(load->samples_path);
        break;
    case SSACTUATE_SIDE:
        value = sample_side(load, now);
        break;
    }

    load->last_time = now;
    return value;
}

void ssactuate_load_close(struct ssactuate_load *load) {
    if (load->is_open)
        ss_platform_counters_close(&load->reader);
    ss_trace_records_free(&load->trace);
    free(load->samples_path);
    *load = (struct ssactuate_load){0};
}
