/* SPDX-License-Identifier: Apache-2.0 */
#include "responses.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/histogram.h"
#include "base/version.h"
#include "base/words.h"
#include "csv.h"
#include "json_document.h"
#include "row_times.h"

/* If two rows are more seconds apart, a row is missing. */
#define LENGTH_MAX 1.5

/* A percentile may exceed the maximum by this factor, because it is rounded to a bucket. */
#define ROUNDING 1.002

enum {
    EPOCH,
    ELAPSED,
    RATE,
    DUE,
    SENT,
    REFUSED,
    WAITING,
    UNFINISHED,
    COMPLETED,
    FAILED,
    TIMEOUTS,
    BYTES,
    LATENESS,
    RESPONSES,
    RESPONSE_COLUMNS = 5,
    COLUMNS = RESPONSES + RESPONSE_COLUMNS * SSREPORT_ORIGINS,
};

struct reader {
    struct ssreport_responses *responses;
    const char *why; /* why the last row was refused */
    double refused;  /* see ssreport_row_follows() */
};

static bool refuse(struct reader *reader, const char *why) {
    reader->why = why;
    return false;
}

static bool read_count(const struct sstrace_field *field, double *count) {
    return ssreport_csv_number(field, count) && *count >= 0 && *count == floor(*count);
}

static bool read_counts(
    struct ssreport_response_second *second, const struct sstrace_field *fields) {
    return read_count(&fields[DUE], &second->due) && read_count(&fields[SENT], &second->sent) &&
           read_count(&fields[REFUSED], &second->refused) &&
           read_count(&fields[WAITING], &second->waiting) &&
           read_count(&fields[UNFINISHED], &second->unfinished) &&
           read_count(&fields[COMPLETED], &second->completed) &&
           read_count(&fields[FAILED], &second->failed) &&
           read_count(&fields[TIMEOUTS], &second->timeouts) &&
           read_count(&fields[BYTES], &second->bytes);
}

/*
 * Reads the response times of a row. Percentiles must not decrease. All fields are empty if no
 * request succeeded.
 */
static bool read_response(struct ssreport_response *response, const struct sstrace_field *fields) {
    double *const values[] = {
        &response->mean, &response->p50, &response->p95, &response->p99, &response->most};
    for (size_t i = 0; i < RESPONSE_COLUMNS; i++) {
        if (!sstrace_field_number(&fields[i], false, values[i]) || *values[i] < 0 ||
            isinf(*values[i]))
            return false;
    }
    if (response->p50 > response->p95 || response->p95 > response->p99 ||
        response->p99 > ROUNDING * response->most || response->mean > ROUNDING * response->most)
        return false;
    for (size_t i = 0; i < RESPONSE_COLUMNS; i++)
        *values[i] = *values[i] > response->most ? response->most : *values[i];
    return true;
}

/*
 * Returns whether the numbers of requests agree with the previous row; true if rows in between are
 * missing.
 */
static bool adds_up(
    const struct ssreport_responses *responses, const struct ssreport_response_second *second) {
    static const struct ssreport_response_second none;
    const struct ssreport_response_second *last =
        responses->count > 0 ? &responses->seconds[responses->count - 1] : &none;
    if (!(second->end - last->end <= LENGTH_MAX))
        return true;
    return second->waiting == last->waiting + second->due - second->sent - second->refused &&
           second->unfinished ==
               last->unfinished + second->sent - second->completed - second->failed;
}

static bool take_second(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct ssreport_responses *responses = reader->responses;
    struct ssreport_response_second second = {0};
    double last = responses->count > 0 ? responses->seconds[responses->count - 1].end : 0;
    reader->why = NULL;
    if (!sstrace_field_number(&fields[EPOCH], false, &second.at) || isinf(second.at) ||
        !ssreport_csv_number(&fields[ELAPSED], &second.end))
        return refuse(reader, "invalid time");
    if (!sstrace_field_number(&fields[RATE], false, &second.rate) || second.rate < 0 ||
        isinf(second.rate))
        return refuse(reader, "invalid rate");
    if (!sstrace_field_number(&fields[LATENESS], false, &second.lateness_most) ||
        second.lateness_most < 0 || isinf(second.lateness_most))
        return refuse(reader, "invalid lateness");
    if (!read_counts(&second, fields))
        return refuse(reader, "invalid number of requests");
    for (int i = 0; i < SSREPORT_ORIGINS; i++) {
        if (!read_response(&second.response[i], &fields[RESPONSES + i * RESPONSE_COLUMNS]))
            return refuse(reader, "invalid response times");
    }
    if (!(second.end > last) || !ssreport_row_follows(&last, &reader->refused, second.end))
        return refuse(reader, "the time does not advance");
    second.begin = second.end - last <= LENGTH_MAX ? last : second.end - 1;
    if (!adds_up(responses, &second))
        return refuse(reader, "the numbers of requests do not add up");
    if (!SS_GROW(responses->seconds, responses->count + 1, responses->room))
        return refuse(reader, "out of memory");
    responses->seconds[responses->count++] = second;
    return true;
}

static int read_table(struct ssreport_responses *responses, struct ss_error *error) {
    static const char *const columns[] = {"epoch_seconds", "elapsed_seconds", "rate", "due", "sent",
        "refused", "waiting", "unfinished", "completed", "failed", "timeouts", "bytes",
        "lateness_most_seconds", "intended_mean_seconds", "intended_p50_seconds",
        "intended_p95_seconds", "intended_p99_seconds", "intended_most_seconds",
        "actual_mean_seconds", "actual_p50_seconds", "actual_p95_seconds", "actual_p99_seconds",
        "actual_most_seconds", NULL};
    _Static_assert(sizeof columns / sizeof *columns - 1 == COLUMNS, "a column has no name");
    _Static_assert(COLUMNS <= SSTRACE_PICKS, "too many fields for a row");
    struct reader reader = {.responses = responses};
    struct ssreport_csv csv = {.name = SSREPORT_RESPONSES_TABLE,
        .columns = columns,
        .take = take_second,
        .context = &reader,
        .why = &reader.why};
    return ssreport_csv_read(responses->path, &csv, &responses->notes, error);
}

/* Tolerance for the end of a second, which both files have with six decimals. */
#define SAME_END 1e-6

/* Width of the buckets in records of schema 1, which name each bucket by its middle. */
#define BITS_BEFORE 7

enum { END, INTENDED, ACTUAL, BUCKET, MIDDLE };

struct bucket_reader {
    struct ssreport_responses *responses;
    size_t second; /* index of the second of the previous row */
};

static bool read_tally(const struct sstrace_field *field, uint64_t *tally) {
    double count;
    if (!read_count(field, &count) || !(count < (double)UINT64_MAX))
        return false;
    *tally = (uint64_t)count;
    return true;
}

/*
 * Ignores rows whose second is not in requests.csv: those of the whole run, and of the last second
 * of a killed run.
 */
static bool take_bucket(void *context, const struct sstrace_field *fields) {
    struct bucket_reader *reader = context;
    struct ssreport_responses *responses = reader->responses;
    struct ssreport_response_bucket bucket;
    double end, time;
    bool is_fine = !sstrace_field_is(&fields[BUCKET], "");
    if (!sstrace_field_number(&fields[END], false, &end) ||
        !ssreport_csv_number(&fields[is_fine ? BUCKET : MIDDLE], &time) || time < 0 ||
        !read_tally(&fields[INTENDED], &bucket.counts[SSREPORT_INTENDED]) ||
        !read_tally(&fields[ACTUAL], &bucket.counts[SSREPORT_ACTUAL]))
        return false;
    while (reader->second < responses->count &&
           responses->seconds[reader->second].end < end - SAME_END)
        reader->second++;
    if (isnan(end) || reader->second == responses->count ||
        responses->seconds[reader->second].end > end + SAME_END)
        return true;
    struct ssreport_response_second *second = &responses->seconds[reader->second];
    second->bucket_bits = is_fine ? SS_HISTOGRAM_FINE : BITS_BEFORE;
    bucket.bucket =
        ss_histogram_bucket(ss_time_from_double(round(time * 1e9)), second->bucket_bits);
    if (!SS_GROW(responses->buckets, responses->bucket_count + 1, responses->bucket_room))
        return false;
    responses->buckets[responses->bucket_count++] = bucket;
    second->bucket_count++;
    return true;
}

/*
 * Assigns the buckets to their seconds. Drops the buckets of a second if their sum is not its
 * number of successes.
 */
static void share_out_buckets(struct ssreport_responses *responses) {
    const struct ssreport_response_bucket *buckets = responses->buckets;
    for (size_t i = 0; buckets && i < responses->count; i++) {
        struct ssreport_response_second *second = &responses->seconds[i];
        double sums[SSREPORT_ORIGINS] = {0};
        second->buckets = buckets;
        buckets += second->bucket_count;
        for (size_t j = 0; j < second->bucket_count; j++) {
            for (int origin = 0; origin < SSREPORT_ORIGINS; origin++)
                sums[origin] += (double)second->buckets[j].counts[origin];
        }
        if (sums[SSREPORT_INTENDED] != second->completed ||
            sums[SSREPORT_ACTUAL] != second->completed)
            second->bucket_count = 0;
    }
}

/* Reads response-times.csv, which early records lack. */
static void read_buckets(struct ssreport_responses *responses) {
    static const char *const columns[] = {
        "elapsed_seconds", "intended", "actual", "bucket_seconds", "response_seconds", NULL};
    struct bucket_reader reader = {.responses = responses};
    struct ssreport_csv csv = {.name = SSREPORT_RESPONSES_TIMES,
        .columns = columns,
        .optional = 1U << BUCKET | 1U << MIDDLE,
        .take = take_bucket,
        .context = &reader};
    struct ss_error error = {0};
    if (!ssreport_has_file(responses->path, SSREPORT_RESPONSES_TIMES))
        return;
    if (ssreport_csv_read(responses->path, &csv, &responses->notes, &error) < 0)
        ssreport_notes_add(&responses->notes, "%s", error.message);
    share_out_buckets(responses);
}

static char *copy(const char *text) {
    return text ? strdup(text) : NULL;
}

/* Prints the causes that occurred: "timeout 3, reset 1". */
static char *join_causes(struct json_object *causes) {
    char *text = NULL;
    size_t size = 0, count = 0;
    FILE *stream = causes ? open_memstream(&text, &size) : NULL;
    if (!stream)
        return NULL;
    json_object_object_foreach(causes, cause, value) {
        double number = json_object_get_double(value);
        if (number > 0)
            fprintf(stream, "%s%s %.0f", count++ > 0 ? ", " : "", cause, number);
    }
    fclose(stream);
    return text;
}

static struct ssreport_response read_figures(struct json_object *figures) {
    return (struct ssreport_response){
        .mean = document_number(figures, "mean_seconds"),
        .p50 = document_number(figures, "p50_seconds"),
        .p95 = document_number(figures, "p95_seconds"),
        .p99 = document_number(figures, "p99_seconds"),
        .most = document_number(figures, "most_seconds"),
    };
}

static void read_responses(struct ssreport_responses *responses, struct json_object *document) {
    static const char *const origins[] = {"intended", "actual"};
    struct json_object *response = document_get(document, "response", json_type_object);
    struct json_object *successes = document_get(response, "successes", json_type_object);
    struct json_object *all = document_get(response, "all", json_type_object);
    for (int i = 0; i < SSREPORT_ORIGINS; i++) {
        responses->successes[i] =
            read_figures(document_get(successes, origins[i], json_type_object));
        responses->all[i] = read_figures(document_get(all, origins[i], json_type_object));
    }
}

static void read_counters(struct ssreport_responses *responses, struct json_object *document) {
    const struct {
        const char *name;
        double *value;
    } rows[] = {{"cap", &responses->cap}, {"timeout_seconds", &responses->timeout},
        {"begin_epoch_seconds", &responses->begin}, {"end_epoch_seconds", &responses->ended},
        {"duration_seconds", &responses->duration}, {"intended", &responses->intended},
        {"sent", &responses->sent}, {"refused", &responses->refused},
        {"waiting", &responses->waiting}, {"unfinished", &responses->unfinished},
        {"succeeded", &responses->succeeded}, {"failed", &responses->failed},
        {"bytes", &responses->bytes}, {"success_ratio", &responses->success_ratio},
        {"throughput", &responses->throughput}, {"unfinished_most", &responses->unfinished_most},
        {"own_cpu_seconds", &responses->own_cpu}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i].value = document_number(document, rows[i].name);
    struct json_object *causes = document_get(document, "causes", json_type_object);
    responses->timeouts = causes ? fmax(0, document_number(causes, "timeout")) : NAN;
    responses->causes = join_causes(causes);
    struct json_object *lateness = document_get(document, "lateness", json_type_object);
    responses->lateness_p99 = document_number(lateness, "p99_seconds");
    responses->lateness_most = document_number(lateness, "most_seconds");
}

static bool is_true(struct json_object *of, const char *name) {
    return json_object_get_boolean(document_get(of, name, json_type_boolean));
}

static void read_capacity(struct ssreport_capacity *capacity, struct json_object *found) {
    capacity->demand = copy(document_text(found, "demand"));
    capacity->held = document_number(found, "held_rate");
    capacity->failed = document_number(found, "failed_rate");
    capacity->held_times = document_number(found, "held_times");
    capacity->failed_times = document_number(found, "failed_times");
    capacity->lower_bound = is_true(found, "lower_bound");
    capacity->upper_bound = is_true(found, "upper_bound");
}

static void read_per_target(struct ssreport_responses *responses, struct json_object *list) {
    size_t count = list ? json_object_array_length(list) : 0;
    responses->per_target = count > 0 ? calloc(count, sizeof *responses->per_target) : NULL;
    if (!responses->per_target)
        return;
    responses->per_target_count = count;
    for (size_t i = 0; i < count; i++) {
        struct json_object *target = json_object_array_get_idx(list, i);
        responses->per_target[i] = (struct ssreport_at_target){
            .url = copy(document_text(target, "url")),
            .sent = document_number(target, "sent"),
            .succeeded = document_number(target, "succeeded"),
            .failed = document_number(target, "failed"),
            .unfinished = document_number(target, "unfinished"),
            .mean = document_number(target, "mean_seconds"),
            .p95 = document_number(target, "p95_seconds"),
            .p99 = document_number(target, "p99_seconds"),
        };
    }
}

static void take_document(struct ssreport_responses *responses, struct json_object *document) {
    struct json_object *profile = document_get(document, "profile", json_type_object);
    const char *loop = document_text(document, "loop");
    ssreport_verdict_take(&responses->verdict, document);
    responses->version = copy(document_text(document, "version"));
    responses->arrival = copy(document_text(document, "arrival"));
    responses->balance = copy(document_text(document, "balance"));
    responses->when_full = copy(document_text(document, "when_full"));
    responses->profile = copy(document_text(profile, "kind"));
    responses->rate = document_number(profile, "rate");
    responses->profile_length = document_number(profile, "length_seconds");
    responses->targets = document_join(document_get(document, "targets", json_type_array));
    responses->closed = loop && strcmp(loop, "closed") == 0;
    read_counters(responses, document);
    read_responses(responses, document);
    read_per_target(responses, document_get(document, "per_target", json_type_array));
    read_capacity(&responses->capacity, document_get(document, "capacity", json_type_object));
    if (responses->version && strcmp(responses->version, ss_version()) != 0)
        ssreport_notes_add(&responses->notes, "recorded by version %s, but this is %s",
            ss_words_show(responses->version).text, ss_version());
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Reads requests.json of a folder, or the file itself. */
static struct json_object *open_document(const char *path, struct ss_error *error) {
    const char *slash = strrchr(path, '/');
    char folder[4100] = ".";
    if (!is_file(path))
        return document_read(path, SSREPORT_RESPONSES_DOCUMENT, "", error);
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return document_read(folder, slash ? slash + 1 : path, "", error);
}

bool ssreport_responses_are_file(const char *path) {
    struct ss_error error = {0};
    struct json_object *document = is_file(path) ? open_document(path, &error) : NULL;
    const char *program = document_text(document, "program");
    bool is_one =
        program && (strcmp(program, "ssrequest") == 0 || strcmp(program, "sssim queue") == 0);
    json_object_put(document);
    return is_one;
}

static bool has_document(const struct ssreport_responses *responses) {
    return ssreport_has_file(responses->path, SSREPORT_RESPONSES_DOCUMENT) ||
           is_file(responses->path);
}

/* Fails only if requests.json has a later schema. If it is missing, the run was interrupted. */
static int read_document(
    struct ssreport_responses *responses, struct ss_error *missing, struct ss_error *error) {
    struct json_object *document = open_document(responses->path, missing);
    int status = document_check_record(document, error);
    responses->interrupted = !document;
    if (status == 0)
        take_document(responses, document);
    responses->is_damaged =
        has_document(responses) && isnan(responses->succeeded) && !responses->capacity.demand;
    json_object_put(document);
    return status;
}

/* Computes the figures that an interrupted record lacks. */
static void sum_up(struct ssreport_responses *responses) {
    const struct ssreport_response_second *seconds = responses->seconds;
    double sums[6] = {0};
    for (size_t i = 0; i < responses->count; i++) {
        const struct ssreport_response_second *second = &seconds[i];
        const double values[] = {second->due, second->sent, second->refused, second->completed,
            second->failed, second->timeouts};
        for (size_t j = 0; j < sizeof sums / sizeof *sums; j++)
            sums[j] += values[j];
        responses->lateness_most = fmax(responses->lateness_most, second->lateness_most);
    }
    const struct ssreport_response_second *last = &seconds[responses->count - 1];
    responses->intended = sums[0];
    responses->sent = sums[1];
    responses->refused = sums[2];
    responses->succeeded = sums[3];
    responses->failed = sums[4];
    responses->timeouts = sums[5];
    responses->waiting = last->waiting;
    responses->unfinished = last->unfinished;
    responses->success_ratio = sums[3] / sums[0];
    responses->begin = last->at - last->end;
    responses->ended = last->at;
    responses->duration = last->end;
    responses->throughput = sums[3] / last->end;
    for (int i = 0; i < SSREPORT_ORIGINS; i++)
        responses->successes[i] =
            ssreport_responses_of(seconds, responses->count, (enum ssreport_origin)i);
}

/* Adds a note if the seconds do not add up to the figures, because rows are lost or damaged. */
static void compare_with_figures(struct ssreport_responses *responses) {
    double sent = 0;
    for (size_t i = 0; i < responses->count; i++)
        sent += responses->seconds[i].sent;
    if (responses->count > 0 && responses->sent != sent && !isnan(responses->sent))
        ssreport_notes_add(&responses->notes,
            "the summary counts %.0f sent requests, but the seconds add up to %.0f",
            responses->sent, sent);
}

/* Judges a record without a verdict (interrupted, or from an earlier version) by its figures. */
static void judge(struct ssreport_responses *responses) {
    struct ss_evidence evidence;
    ss_evidence_clear(&evidence);
    evidence.figures[SS_CHECK_INTERRUPTED] = responses->interrupted;
    evidence.interruption = SS_STOPPED_EARLY;
    if (!responses->capacity.demand) {
        evidence.figures[SS_CHECK_SUCCESSES] = responses->succeeded;
        evidence.figures[SS_CHECK_FAILED_REQUESTS] =
            100 * responses->failed / (responses->succeeded + responses->failed);
        evidence.figures[SS_CHECK_UNANSWERED_REQUESTS] =
            100 * (responses->refused + responses->waiting + responses->unfinished) /
            responses->intended;
    }
    ssreport_verdict_reach(&responses->verdict, &evidence);
    if (responses->is_damaged)
        ssreport_verdict_refuse(&responses->verdict,
            is_file(responses->path) ? "the file is damaged"
                                     : SSREPORT_RESPONSES_DOCUMENT " is damaged");
}

int ssreport_responses_read(struct ssreport_responses *responses, const char *path,
    const char *name, struct ss_error *error) {
    struct ss_error no_table = {0}, no_document = {0};
    *responses = (struct ssreport_responses){.name = strdup(name), .path = strdup(path)};
    if (!responses->name || !responses->path)
        return ss_error_memory(error);
    responses->title = responses->name;
    if (read_document(responses, &no_document, error) < 0)
        return -1;
    int table = is_file(path) ? 0 : read_table(responses, &no_table);
    read_buckets(responses);
    if (responses->interrupted && responses->count == 0)
        return ss_error_fail(
            error, "%s", table < 0 ? no_table.message : SSREPORT_RESPONSES_TABLE " has no rows");
    if (responses->interrupted)
        ssreport_notes_add(&responses->notes, "the run was interrupted: %s", no_document.message);
    /* A search for a capacity records no seconds. */
    if (table < 0 && !responses->capacity.demand)
        ssreport_notes_add(&responses->notes, "%s", no_table.message);
    if (responses->interrupted)
        sum_up(responses);
    else
        compare_with_figures(responses);
    if (!responses->verdict.recorded)
        judge(responses);
    return 0;
}

static bool take_load(void *context, const struct sstrace_field *fields) {
    struct ssreport_responses *responses = context;
    struct ssreport_response_load load;
    if (!ssreport_csv_number(&fields[2], &load.cpu))
        load.cpu = NAN; /* the field is `all`, or the column is missing */
    if (!ssreport_csv_time(&fields[0], &load.at) || !ssreport_csv_number(&fields[1], &load.load) ||
        !SS_GROW(responses->loads, responses->load_count + 1, responses->load_room))
        return false;
    responses->loads[responses->load_count++] = load;
    return true;
}

static int compare_loads(const void *left, const void *right) {
    const struct ssreport_response_load *one = left, *other = right;
    return (one->at > other->at) - (one->at < other->at);
}

/* Searches the record's folder, then its parent. */
static bool find_file(
    const struct ssreport_responses *responses, const char *name, char folder[4200]) {
    for (int up = 0; up < 2; up++) {
        snprintf(folder, 4200, "%.4000s%s", responses->path, up > 0 ? "/.." : "");
        if (ssreport_has_file(folder, name))
            return true;
    }
    return false;
}

void ssreport_responses_read_beside(struct ssreport_responses *responses) {
    static const char *const columns[] = {"time", "load", "cpu", NULL};
    struct ssreport_csv csv = {.name = "beside.csv",
        .columns = columns,
        .optional = 1U << 2,
        .take = take_load,
        .context = responses};
    struct ss_error error = {0};
    char folder[4200];
    if (find_file(responses, csv.name, folder) &&
        ssreport_csv_read(folder, &csv, &responses->notes, &error) < 0)
        ssreport_notes_add(
            &responses->notes, "the load in beside.csv is unknown: %s", error.message);
    if (responses->load_count > 0) /* rows are in this order, unless the clock was set back */
        qsort(responses->loads, responses->load_count, sizeof *responses->loads, compare_loads);
    error = (struct ss_error){0};
    if (find_file(responses, "energy.csv", folder) &&
        ssreport_energy_read(&responses->energy, folder, &responses->notes, &error) < 0)
        ssreport_notes_add(&responses->notes, "power is unknown: %s", error.message);
    error = (struct ss_error){0};
    if (find_file(responses, "idle.csv", folder) &&
        ssreport_idle_read(&responses->idle, folder, &responses->notes, &error) < 0)
        ssreport_notes_add(&responses->notes, "idle states are unknown: %s", error.message);
}
