/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "base/streams.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "command.h"
#include "load_output.h"
#include "measure/load.h"
#include "program.h"
#include "trace/file.h"

/* Minimum length of the last sample: the counters are too coarse for a shorter one. */
#define SAMPLE_MIN (10 * SS_MILLISECOND)

/* Look for `free` sections within a sample in steps of this length. */
#define FREE_STEP (10 * SS_MILLISECOND)

struct measurement {
    const struct ssload_request *request;
    struct ss_load_meter meter;
    struct ss_trace_records target; /* played in a loop; empty without --target */
    struct ssload_report report;
    ss_time started;
    uint64_t taken;
    bool unwritable;   /* writing a sample failed */
    bool nobody_reads; /* the reader closed its end while a command runs; not an error */
};

static int read_meter(struct measurement *it, struct ss_error *error) {
    int why = ss_load_meter_read(&it->meter);
    if (why == 0)
        return 0;
    return ss_error_fail(error, "%s: %s", it->meter.reader.counters.path,
        why == -EBADMSG ? "the measured CPUs or control group disappeared" : strerror(-why));
}

/*
 * Fails if a CPU is missing at the start; later, CPUs may come and go. If the meter cannot be
 * opened, returns 0, because open_all() opens it again and reports why.
 */
static int check_cpus(const struct ss_cpus *cpus, struct ss_error *error) {
    struct ss_load_meter meter = SS_LOAD_METER_CLOSED;
    struct ss_source_request source = {.source = SS_SOURCE_SYSTEM};
    struct ss_error ignored = {0};
    struct ss_cpus all = {0}, online = {0};

    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++)
        ss_cpus_add(&all, cpu);

    if (ss_load_meter_open(&meter, &source, &all, NULL, &ignored) < 0)
        return 0;
    if (ss_load_meter_read(&meter) == 0) {
        for (uint32_t i = 0; i < meter.last.count; i++)
            ss_cpus_add(&online, meter.last.items[i].cpu);
    }
    ss_load_meter_close(&meter);

    char list[256];
    uint32_t missing = ss_cpus_first_outside(cpus, &online);
    if (missing >= SS_CPUS_MAX || ss_cpus_count(&online) == 0)
        return 0;
    ss_cpus_print(list, sizeof list, &online);
    return ss_error_fail(
        error, "--cpus: CPU %u does not exist or is offline; available: %s", missing, list);
}

static int open_all(struct measurement *it, struct ss_error *error) {
    const struct ssload_request *request = it->request;
    struct ss_cpus cpus = {0};

    /* Opening the output truncates it, which a mistyped command must not cause. */
    if (request->command && ssload_command_check(request->command, error) < 0)
        return -1;

    ss_platform_affinity(&cpus);
    if (request->cpus) {
        cpus = (struct ss_cpus){0};
        if (ss_cpus_parse(request->cpus, &cpus, error) < 0)
            return ss_error_wrap(error, "--cpus");
        if (!request->group && check_cpus(&cpus, error) < 0)
            return -1;
    }

    if (request->metrics && ss_whole_file_check(request->metrics, error) < 0)
        return ss_error_wrap(error, "--openmetrics");
    if (request->target && ss_trace_load(request->target, &it->target, error) != 0)
        return ss_error_wrap(error, "--target");

    struct ss_source_request source = {
        .source = request->group ? SS_SOURCE_CGROUP : SS_SOURCE_SYSTEM,
        .argument = request->group,
    };
    if (ss_load_meter_open(&it->meter, &source, &cpus, NULL, error) < 0 ||
        read_meter(it, error) < 0)
        return -1;
    return ssload_report_open(&it->report, request, error);
}

static bool add_row(struct measurement *it, struct ss_load_sample sample, int32_t cpu) {
    const struct ss_cpu_reading *before = &it->meter.previous, *last = &it->meter.last;
    struct ss_load_span span;

    if (!ss_load_span_between(before, last, cpu, &span))
        return false;

    double seconds = ss_time_seconds(last->counters.time - before->counters.time);
    sample.cpu = cpu;
    sample.capacity = span.capacity / 1e9 / seconds;
    ss_load_sample_set(&sample, &span);
    ssload_report_add(&it->report, &sample, &span, seconds);
    return true;
}

/* Drops the output after a signal interrupted a write: exiting must not wait for the reader. */
static int drop_output(struct measurement *it) {
    FILE *stream = it->report.stream ? it->report.stream : stdout;
    __fpurge(stream);
    clearerr(stream);
    it->unwritable = it->report.format == SSLOAD_TABLE; /* others print averages to stderr */
    return 0;
}

static int output_failed(struct measurement *it, struct ss_error *error) {
    if (ssload_command_is_over() && !it->request->command)
        return drop_output(it);

    it->unwritable = true;
    if (errno == EPIPE && it->request->command) {
        it->nobody_reads = true;
        clearerr(stdout); /* ss_program_main() checks it again */
        return -1;
    }

    return ss_error_fail(
        error, "%s: %s", ss_words_show(it->report.name).text, ss_streams_explain(errno));
}

/*
 * Returns the target of a sample between two times since the start: the one just before its end,
 * because a step at the end has had no effect yet. NaN if a part of the sample has no target.
 */
static double target_of(const struct ss_trace_records *target, ss_time from, ss_time to) {
    double last = ss_trace_load_at(target, ss_time_since(to, 1), true);
    for (ss_time at = from; !isnan(last) && at < to; at = ss_time_add(at, FREE_STEP)) {
        if (isnan(ss_trace_load_at(target, at, true)))
            return NAN;
    }
    return last;
}

/* Takes the sample that is due at `end`. If it is an interval late, uses the current target. */
static int take_sample(struct measurement *it, ss_time end, struct ss_error *error) {
    if (read_meter(it, error) < 0)
        return -1;

    const struct ss_cpu_reading *reading = &it->meter.last;
    double capacity = it->meter.previous.counters.capacity;
    if (reading->group && reading->counters.capacity != capacity && !it->request->quiet)
        fprintf(stderr, "ssload: note: 100 %% is now %g CPUs; it was %g\n",
            reading->counters.capacity, capacity);

    struct ss_load_sample sample = ss_load_sample_new();
    sample.time = ss_platform_wallclock() - (int64_t)(ss_platform_now() - reading->counters.time);
    sample.elapsed = ss_time_seconds(reading->counters.time - it->started);
    struct ss_load_sample of_all = sample;

    if (reading->counters.time >= ss_time_add(end, it->request->interval))
        end = reading->counters.time;
    of_all.target =
        target_of(&it->target, ss_time_since(it->meter.previous.counters.time, it->started),
            ss_time_since(end, it->started));
    of_all.pressure = reading->pressure;

    if (!add_row(it, of_all, SS_LOAD_ALL_CPUS))
        return 0;
    it->report.was_free =
        isnan(ss_trace_load_at(&it->target, ss_time_since(end, it->started), true));
    it->taken++;

    for (size_t i = 0; it->request->per_cpu && i < reading->count; i++)
        add_row(it, sample, (int32_t)reading->items[i].cpu);

    if ((ferror(it->report.stream) && ssload_command_is_over()) ||
        ssload_report_flush(&it->report) < 0)
        return output_failed(it, error);
    return it->request->metrics ? ssload_report_write_metrics(&it->report, error) : 0;
}

/*
 * Takes all samples, at absolute times, so that they do not drift. Skips missed samples: the next
 * one covers the whole time. Takes a last, shorter one when the command or the duration ends, but
 * not after a signal that ends ssload.
 */
static int take_samples(struct measurement *it, struct ss_error *error) {
    const struct ssload_request *request = it->request;
    ss_time end = ss_time_add(it->started, request->duration), next = it->started;

    for (bool last = false; !last;) {
        ss_time late = ss_time_since(ss_platform_now(), next);
        next = ss_time_add(next, request->interval * (1 + late / request->interval));
        ss_time due = next < end ? next : end;

        bool over = ssload_command_sleep(due);
        if (over && !request->command)
            break;
        last = over || due == end;

        ss_time length = ss_time_since(ss_platform_now(), it->meter.last.counters.time);
        if (last && length < SAMPLE_MIN)
            break;

        if (take_sample(it, over ? ss_platform_now() : due, error) < 0)
            return -1;
        last |= request->count > 0 && it->taken >= request->count;
    }
    return 0;
}

static int measure_all(struct measurement *it, int *status, struct ss_error *error) {
    ssload_command_catch(it->request->command);
    if (read_meter(it, error) < 0)
        return -1;

    it->started = it->meter.last.counters.time;
    it->report.was_free = isnan(ss_trace_load_at(&it->target, 0, true));
    if (it->request->command && ssload_command_start(it->request->command, error) < 0)
        return -1;

    ssload_report_begin(&it->report);
    int result = take_samples(it, error);
    if (!it->unwritable)
        ssload_report_end(&it->report);

    if (it->request->command)
        *status = ssload_command_wait();
    return it->nobody_reads ? 0 : result;
}

static int measure(const struct ssload_request *request, int *status, struct ss_error *error) {
    struct measurement *it = calloc(1, sizeof *it);
    if (!it)
        return ss_error_memory(error);

    it->request = request;
    it->meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;

    int result = open_all(it, error);
    if (result == 0)
        result = measure_all(it, status, error);

    if (ssload_report_close(&it->report) < 0 && result == 0 && !it->nobody_reads)
        result = output_failed(it, error);
    ss_load_meter_close(&it->meter);
    ss_trace_records_free(&it->target);
    free(it);
    return result;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssload_request request;
    int result = ssload_request_parse(&request, argv, error);
    const struct ss_option_store *warnings = request.quiet ? NULL : &request.store;
    if (result == 0 && !ss_program_print_requested("ssload", warnings, request.help,
                           request.version, ssload_request_print_help))
        result = measure(&request, status, error);
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("ssload", run, argc, argv);
}
