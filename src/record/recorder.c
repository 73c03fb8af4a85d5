/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/number.h"
#include "base/wallclock.h"
#include "platform/platform.h"
#include "record/documents.h"
#include "record/sample_row.h"

static const struct {
    const char *name;
    const char *header; /* fixed heading of the table; NULL if absent or computed */
} files[] = {
    [SS_RECORD_SAMPLES] = {"samples.csv", NULL},
    [SS_RECORD_CPUS] = {"cpus.csv", NULL},
    [SS_RECORD_DECISIONS] = {"decisions.csv",
        "time,elapsed_seconds,executor,state,planned_seconds,real_seconds,target,load,"
        "global_duty,local_duty\n"},
    [SS_RECORD_ITERATIONS] = {"iterations.csv", "instance,start,end\n"},
    [SS_RECORD_ITERATION_TIMES] = {"iteration-times.csv", SS_ITERATION_TABLE_HEADING},
    [SS_RECORD_EVENTS] = {"events.jsonl", NULL},
    [SS_RECORD_COUNTERS] = {"counters.csv", NULL},
};

/* Room for a row of decisions or iterations; a row of counters gets twice as much. */
#define ROW_SIZE 512

/* Room for an event with the longest warning or error, even if much of it has to be escaped. */
#define EVENT_SIZE (4 * SS_WARNING_SIZE)

static void set_wall(struct ss_recorder *recorder) {
    recorder->wall = ss_plan_wallclock(recorder->plan) - (int64_t)ss_plan_now(recorder->plan);
}

/* Width of a load in cpus.csv, "0.1234,": the ticks of /proc/stat allow no higher precision. */
#define CPU_DECIMALS 4
#define CPU_COLUMN   7

/* The heading fits, too: with all CPUs it has 64 447 bytes, with columns up to ",cpu8191". */
_Static_assert(SS_LINES_SIZE >= 128 + CPU_COLUMN * SS_CPUS_MAX && SS_CPUS_MAX <= 8192,
    "a row of cpus.csv has room for every CPU");

static void write_cpus_heading(struct ss_recorder *recorder, struct ss_lines *lines) {
    char *to = ss_lines_begin(lines, SS_LINES_SIZE);
    to = stpcpy(to, "time,elapsed_seconds");
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        if (ss_cpus_has(&recorder->plan->cpus, cpu))
            to += sprintf(to, ",cpu%u", cpu);
    }
    ss_lines_end(lines, stpcpy(to, "\n"));
}

static void write_counters_heading(struct ss_lines *lines) {
    char *to = stpcpy(ss_lines_begin(lines, ROW_SIZE), "time,elapsed_seconds,runnable");
    for (int event = 0; event < SS_PERF_EVENTS; event++)
        to = stpcpy(stpcpy(to, ","), ss_perf_names[event]);
    ss_lines_end(lines, stpcpy(to, "\n"));
}

static void write_heading(struct ss_recorder *recorder, enum ss_record_file file) {
    struct ss_lines *lines = &recorder->files[file];
    char *to = ss_lines_begin(lines, SS_SAMPLE_ROW_SIZE);
    if (file == SS_RECORD_SAMPLES)
        ss_lines_end(lines, to + ss_sample_row_heading(to, SS_SAMPLE_COLUMNS_RUN));
    else if (file == SS_RECORD_CPUS)
        write_cpus_heading(recorder, lines);
    else if (file == SS_RECORD_COUNTERS)
        write_counters_heading(lines);
    else if (files[file].header)
        ss_lines_end(lines, stpcpy(to, files[file].header));
    ss_lines_flush(lines);
}

static int open_files(struct ss_recorder *recorder, struct ss_error *error) {
    for (int i = 0; i < SS_RECORD_FILES; i++) {
        struct ss_lines *lines = &recorder->files[i];

        if ((i == SS_RECORD_COUNTERS && !recorder->plan->counters) ||
            (i == SS_RECORD_DECISIONS && recorder->plan->no_decisions))
            continue;

        int why = ss_lines_open(lines, recorder->record.folder, files[i].name);
        if (!why) {
            write_heading(recorder, i);
            why = -lines->err;
        }

        if (why)
            return ss_error_fail(error, "--record: cannot write %s/%s: %s", recorder->plan->record,
                files[i].name, strerror(-why));
    }
    return 0;
}

static int open_iteration_times(struct ss_recorder *recorder, struct ss_error *error) {
    const struct ss_plan *plan = recorder->plan;
    if (!plan->repeat && !plan->has_iteration)
        return 0;
    if (ss_iteration_table_open(&recorder->iteration_times, plan->commands.line_count) < 0)
        return ss_error_memory(error);
    return 0;
}

void ss_recorder_abandon(struct ss_recorder *recorder) {
    ss_iteration_table_close(&recorder->iteration_times);
    for (int i = 0; i < SS_RECORD_FILES; i++)
        ss_lines_close(&recorder->files[i]);
    ss_record_folder_remove(&recorder->record, recorder->plan->record);
}

int ss_recorder_open(struct ss_recorder *recorder, struct ss_plan *plan, struct ss_error *error) {
    recorder->plan = plan;
    recorder->record = (struct ss_record_folder){.folder = -1, .mark = -1};
    recorder->origin = SS_TIME_NEVER;
    recorder->iterations_second = -1;
    recorder->iterations_kept = 0;
    recorder->iterations_omitted = 0;
    recorder->iteration_times = (struct ss_iteration_table){0};
    for (int i = 0; i < SS_RECORD_FILES; i++)
        recorder->files[i].file = -1;
    if (!plan->record)
        return 0;

    set_wall(recorder);
    if (ss_record_begin(&recorder->record, plan, error) < 0)
        return -1;

    ss_inputs_close(&plan->inputs);
    if (open_files(recorder, error) == 0 && open_iteration_times(recorder, error) == 0)
        return 0;
    ss_recorder_abandon(recorder);
    return -1;
}

void ss_recorder_set_origin(struct ss_recorder *recorder, ss_time origin) {
    recorder->origin = origin;
}

static char *put_wall_time(char *to, int64_t wall) {
    ss_wallclock_print(to, 64, wall);
    return to + strlen(to);
}

static char *put_time(const struct ss_recorder *recorder, char *to, ss_time at) {
    return put_wall_time(to, (int64_t)at + recorder->wall);
}

static char *put_elapsed(const struct ss_recorder *recorder, char *to, ss_time at) {
    if (recorder->origin == SS_TIME_NEVER)
        return to;
    return ss_number_put_seconds(to, (int64_t)(at - recorder->origin));
}

static char *put_part(char *to, double value) {
    *to++ = ',';
    return ss_number_put_fixed(to, value, 6);
}

/* Writes a row with the same time as the row in samples.csv. */
static void put_cpus(struct ss_recorder *recorder, const struct ss_monitor_sample *sample,
    const struct ss_load_sample *row) {
    struct ss_lines *lines = &recorder->files[SS_RECORD_CPUS];
    const struct ss_cpus *cpus = &recorder->plan->cpus;
    uint32_t count = ss_cpus_count(cpus);

    if (sample->cpus)
        ss_load_of_each_cpu(&sample->cpus->previous, &sample->cpus->last, cpus, recorder->loads);
    char *to = ss_lines_begin(lines, 128 + CPU_COLUMN * (size_t)count);
    to = put_wall_time(to, row->time);
    *to++ = ',';
    if (isfinite(row->elapsed))
        to = ss_number_put_fixed(to, row->elapsed, 6);
    for (uint32_t i = 0; i < count; i++) {
        *to++ = ',';
        if (sample->cpus && isfinite(recorder->loads[i]))
            to = ss_number_put_fixed(to, recorder->loads[i], CPU_DECIMALS);
    }

    *to++ = '\n';
    ss_lines_end(lines, to);
}

void ss_recorder_sample(struct ss_recorder *recorder, const struct ss_monitor_sample *sample) {
    if (recorder->record.folder < 0)
        return;

    struct ss_lines *lines = &recorder->files[SS_RECORD_SAMPLES];
    struct ss_load_sample row = ss_load_sample_new();
    set_wall(recorder); /* the wall clock may have been set */
    if (sample->parts.capacity > 0)
        ss_load_sample_set(&row, &sample->parts);
    if (sample->parts.capacity > 0 && sample->load.seconds > 0)
        row.capacity = sample->parts.capacity / 1e9 / sample->load.seconds;
    row.pressure = sample->pressure;
    row.time = (int64_t)sample->time + recorder->wall;
    row.elapsed = recorder->origin == SS_TIME_NEVER
                      ? NAN
                      : (double)(int64_t)(sample->time - recorder->origin) / 1e9;

    /* The counted load and the parts may come from different sources. Run time has no ticks. */
    row.load = sample->load.load;
    if (isfinite(sample->load.load_ticks))
        row.load_ticks = sample->load.load_ticks;
    row.target = sample->target;
    row.error = sample->target - sample->load.load;
    row.duty = sample->duty;
    row.counted = sample->counted;
    char *to = ss_lines_begin(lines, SS_SAMPLE_ROW_SIZE);
    ss_lines_end(lines, to + ss_sample_row_csv(to, &row, SS_SAMPLE_COLUMNS_RUN));
    put_cpus(recorder, sample, &row);
}

/* Returns false if iterations.csv has reached its limit for this second. */
static bool keep_iteration(struct ss_recorder *recorder, ss_time end) {
    int64_t second = (int64_t)(end / SS_SECOND);
    if (second > recorder->iterations_second) {
        recorder->iterations_second = second;
        recorder->iterations_kept = 0;
    }
    if (recorder->iterations_kept < SS_RECORDER_ITERATIONS_MAX) {
        recorder->iterations_kept++;
        return true;
    }
    recorder->iterations_omitted++;
    return false;
}

static void put_iteration(struct ss_recorder *recorder, const struct ss_iteration *iteration) {
    struct ss_lines *lines = &recorder->files[SS_RECORD_ITERATIONS];
    char *to = ss_lines_begin(lines, ROW_SIZE);
    to = stpcpy(to, recorder->plan->numbers[iteration->instance]);
    *to++ = ',';
    to = put_elapsed(recorder, to, iteration->start);
    *to++ = ',';
    to = put_elapsed(recorder, to, iteration->end);
    *to++ = '\n';
    ss_lines_end(lines, to);
}

void ss_recorder_iteration(struct ss_recorder *recorder, const struct ss_iteration *iteration) {
    /* Before the warm-up, elapsed time has no origin yet, and no iteration counts. */
    if (recorder->record.folder < 0 || recorder->origin == SS_TIME_NEVER)
        return;
    if (keep_iteration(recorder, iteration->end))
        put_iteration(recorder, iteration);
    if (iteration->counted)
        ss_iteration_table_add(&recorder->iteration_times,
            &recorder->files[SS_RECORD_ITERATION_TIMES], iteration,
            ss_time_since(iteration->end, recorder->origin));
}

static void put_interval(
    struct ss_recorder *recorder, uint32_t executor, const struct ss_interval *interval) {
    struct ss_lines *lines = &recorder->files[SS_RECORD_DECISIONS];
    char *to = put_time(recorder, ss_lines_begin(lines, ROW_SIZE), interval->begin);

    *to++ = ',';
    to = put_elapsed(recorder, to, interval->begin);
    *to++ = ',';
    to = stpcpy(to, recorder->plan->numbers[executor]);
    to = stpcpy(to, interval->state == SS_STATE_STOPPED ? ",stopped," : ",running,");
    to = ss_number_put_seconds(to, (int64_t)interval->planned);
    *to++ = ',';
    to = ss_number_put_seconds(to, (int64_t)interval->length);
    to = put_part(to, interval->target);
    to = put_part(to, interval->load);
    to = put_part(to, interval->global_duty);
    to = put_part(to, interval->local_duty);
    *to++ = '\n';
    ss_lines_end(lines, to);
}

void ss_recorder_counts(struct ss_recorder *recorder, const struct ss_record_counts *counts) {
    if (recorder->record.folder < 0)
        return;

    struct ss_lines *lines = &recorder->files[SS_RECORD_COUNTERS];
    char *to = put_time(recorder, ss_lines_begin(lines, 2 * ROW_SIZE), counts->at);
    *to++ = ',';
    to = put_elapsed(recorder, to, counts->at);
    *to++ = ',';
    if (counts->runnable >= 0)
        to += sprintf(to, "%ld", counts->runnable);
    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        double value = counts->values[event];
        *to++ = ',';
        if (isfinite(value) && event == SS_PERF_TASK_CLOCK)
            to = ss_number_put_fixed(to, value / 1e9, 6);
        else if (isfinite(value))
            to += sprintf(to, "%.0f", value);
    }

    *to++ = '\n';
    ss_lines_end(lines, to);
}

void ss_recorder_event(struct ss_recorder *recorder, const struct ss_record_event *event) {
    if (recorder->record.folder < 0)
        return;

    struct ss_lines *lines = &recorder->files[SS_RECORD_EVENTS];
    char *to = ss_lines_begin(lines, EVENT_SIZE);
    char *end = to + EVENT_SIZE - 64;
    to = stpcpy(to, "{\"time\":\"");
    to = put_time(recorder, to, event->at);
    to = stpcpy(to, "\",\"elapsed_seconds\":");
    if (recorder->origin == SS_TIME_NEVER)
        to = stpcpy(to, "null");
    to = put_elapsed(recorder, to, event->at);
    to = stpcpy(to, ",\"event\":");
    to = ss_json_quote(to, end, event->name);
    if (event->instance >= 0) {
        to = stpcpy(to, ",\"instance\":");
        to = ss_number_put(to, (double)event->instance);
    }

    if (event->text) {
        to = stpcpy(to, ",\"text\":");
        to = ss_json_quote(to, end, event->text);
    }

    if (isfinite(event->value)) {
        to = stpcpy(to, ",\"value\":");
        to = ss_number_put(to, event->value);
    }

    *to++ = '}';
    *to++ = '\n';
    ss_lines_end(lines, to);
}

void ss_recorder_flush(struct ss_recorder *recorder, struct ss_board *board) {
    if (recorder->record.folder < 0)
        return;

    struct ss_interval interval;
    for (uint32_t i = 0; i < board->instances; i++) {
        struct ss_ring *ring = ss_board_ring(board, i);
        while (ring && ss_ring_take(ring, &interval))
            put_interval(recorder, i, &interval);
    }

    if (recorder->origin != SS_TIME_NEVER)
        ss_iteration_table_advance(&recorder->iteration_times,
            &recorder->files[SS_RECORD_ITERATION_TIMES],
            ss_time_since(ss_plan_now(recorder->plan), recorder->origin));

    for (int i = 0; i < SS_RECORD_FILES; i++)
        ss_lines_flush(&recorder->files[i]);
}

static uint64_t count_lost(struct ss_board *board) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < board->instances; i++) {
        struct ss_ring *ring = ss_board_ring(board, i);
        lost += ring ? atomic_load(&ring->lost) : 0;
    }
    return lost;
}

void ss_recorder_close(
    struct ss_recorder *recorder, struct ss_board *board, struct ss_outcome *outcome) {
    if (recorder->record.folder < 0)
        return;

    if (board) {
        ss_recorder_flush(recorder, board);
        uint64_t lost = count_lost(board);
        outcome->lines_lost += lost;
        if (lost > 0)
            ss_outcome_warn(outcome,
                "%llu decision%s missing from the record: they were made faster than they could be "
                "written",
                (unsigned long long)lost, lost == 1 ? " is" : "s are");
    }

    ss_iteration_table_finish(
        &recorder->iteration_times, &recorder->files[SS_RECORD_ITERATION_TIMES]);
    ss_iteration_table_close(&recorder->iteration_times);
    outcome->iterations_omitted = recorder->iterations_omitted;
    if (recorder->iterations_omitted > 0)
        ss_outcome_warn(outcome,
            "%llu iteration%s not in iterations.csv, which keeps %d per second",
            (unsigned long long)recorder->iterations_omitted,
            recorder->iterations_omitted == 1 ? " was counted but is" : "s were counted but are",
            SS_RECORDER_ITERATIONS_MAX);

    for (int i = 0; i < outcome->warning_count; i++)
        ss_recorder_event(recorder, &(struct ss_record_event){ss_plan_now(recorder->plan),
                                        "warning", -1, outcome->warnings[i], NAN});

    for (int i = 0; i < SS_RECORD_FILES; i++) {
        struct ss_lines *lines = &recorder->files[i];
        ss_lines_close(lines);
        outcome->lines_lost += lines->lost;
        if (lines->err)
            ss_outcome_warn_of_loss(outcome,
                "cannot write %s/%s: %s: %llu line%s of the record %s lost", recorder->plan->record,
                files[i].name, strerror(lines->err), (unsigned long long)lines->lost,
                lines->lost == 1 ? "" : "s", lines->lost == 1 ? "was" : "were");
    }

    outcome->record = recorder->record;
    recorder->record = (struct ss_record_folder){.folder = -1, .mark = -1};
}
