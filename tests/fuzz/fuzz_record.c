/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "run.h"

/*
 * The input holds all files of a record, one after another, each preceded by a line with its name:
 * "==> samples.csv". Text before the first such line or after an unknown name is ignored.
 */
static const char *const names[] = {"plan.json", "summary.json", "events.jsonl", "samples.csv",
    "decisions.csv", "iterations.csv", "energy.csv", "host-load.csv", "guest-clock.csv",
    "guest-vcpus.csv", "cpus.csv", "iteration-times.csv"};
#define NAMES (sizeof names / sizeof *names)

#define MARK "==> "

static char folder[] = "/tmp/fuzz-record-XXXXXX";

static void path_of(char path[64], size_t name) {
    snprintf(path, 64, "%s/%s", folder, names[name]);
}

static void clear(void) {
    for (size_t i = 0; i < NAMES; i++) {
        char path[64];
        path_of(path, i);
        unlink(path);
    }
}

static void remove_folder(void) {
    clear();
    rmdir(folder);
}

static void open_folder(void) {
    static int opened;
    if (opened++)
        return;
    FUZZ_CHECK(mkdtemp(folder));
    atexit(remove_folder);
}

static size_t find_name(const char *line, size_t length) {
    size_t i = 0;
    while (i < NAMES && (strlen(names[i]) != length || memcmp(names[i], line, length) != 0))
        i++;
    return i;
}

static void write_files(const char *text, size_t size) {
    const char *at = text, *end = text + size;
    FILE *stream = NULL;
    clear();
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at);
        size_t mark = strlen(MARK);
        if (length > mark && memcmp(at, MARK, mark) == 0) {
            size_t name = find_name(at + mark, length - mark);
            char path[64];
            if (stream)
                fclose(stream);
            if (name < NAMES)
                path_of(path, name);
            stream = name < NAMES ? fopen(path, "w") : NULL;
        } else if (stream) {
            fwrite(at, 1, length + (line_end != NULL), stream);
        }
        at += length + (line_end != NULL);
    }
    if (stream)
        fclose(stream);
}

static void check_record(const struct ssreport_record *record) {
    FUZZ_CHECK(record->sample_count > 0 && record->samples);
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        FUZZ_CHECK(sample->end > 0 && sample->begin < sample->end && isfinite(sample->load));
        FUZZ_CHECK(i == 0 || sample->end > sample[-1].end);
        FUZZ_CHECK(!sample->counted || isfinite(sample->target));
    }
    for (size_t i = 0; i < record->iteration_count; i++)
        FUZZ_CHECK(record->iterations[i].start <= record->iterations[i].end);
    for (size_t i = 0; i < record->instance_room; i++) {
        const struct ssreport_duty *all = &record->instances[i].all;
        FUZZ_CHECK(all->running >= 0 && all->running <= all->known);
        FUZZ_CHECK(!(all->known > 0) || record->instances[i].parts);
    }
    FUZZ_CHECK(record->counted_from >= 0 && record->first_end >= 0);
    FUZZ_CHECK(!strpbrk(record->notes.text, "\n\r"));
}

static void check_run(const struct ssreport_run *run) {
    size_t counted = 0, in_bins = 0;
    check_record(&run->record);
    for (size_t i = 0; i < run->record.sample_count; i++)
        counted += run->record.samples[i].counted;
    for (size_t i = 0; i < SSREPORT_BINS; i++)
        in_bins += run->errors.counts[i];
    FUZZ_CHECK(run->figures.samples == counted && in_bins == counted);
    FUZZ_CHECK(!(run->figures.iteration.median > run->figures.iteration.p95) &&
               !(run->figures.iteration.p95 > run->figures.iteration.p99));
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        FUZZ_CHECK(step->from < step->to && step->load.count > 0);
        FUZZ_CHECK(isnan(step->throughput) || step->throughput >= 0);
    }
}

static void check_energy(void) {
    struct ssreport_energy energy = {0};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    if (ssreport_energy_read(&energy, folder, &notes, &error) == 0) {
        struct ssreport_cost cost = ssreport_energy_between(&energy, -INFINITY, INFINITY);
        FUZZ_CHECK((cost.seconds + cost.unknown > 0) == (energy.count > 0) && cost.watt_hours >= 0);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssreport_energy_free(&energy);
}

static void check_surroundings(struct ssreport_record *record) {
    struct ssreport_surroundings surroundings;
    size_t samples;
    ssreport_surroundings_read(&surroundings, folder, record, true);
    double load = ssreport_surroundings_host_load(&surroundings, record, &samples);
    FUZZ_CHECK(samples <= surroundings.host_count && isnan(load) == (samples == 0));
    for (size_t i = 0; i < surroundings.cpu_count; i++)
        for (size_t j = 0; j < SSREPORT_CPU_PARTS; j++)
            FUZZ_CHECK(surroundings.cpus[i].parts[j].samples > 0 ||
                       !(fabs(surroundings.cpus[i].parts[j].sum) > 0));
    FUZZ_CHECK(!strpbrk(record->notes.text, "\n\r"));
    ssreport_surroundings_free(&surroundings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct ssreport_settings settings = {
        .edge = SSREPORT_EDGE_DEFAULT, .interval = 6, .confidence = 0.95};
    struct ssreport_run run;
    struct ss_error error = {0};
    open_folder();
    write_files((const char *)data, size);
    if (ssreport_run_read(&run, folder, "record", &settings, &error) == 0) {
        check_run(&run);
        check_surroundings(&run.record);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssreport_run_free(&run);
    check_energy();
    return 0;
}
