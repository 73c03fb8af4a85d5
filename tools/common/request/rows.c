/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "base/words.h"

/* Size limit of a line: each field is at most as long as a number. */
#define FIELDS    25
#define LINE_ROOM (FIELDS * (SS_NUMBER_SIZE + 1))

static const char seconds_heading[] =
    "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"
    "timeouts,bytes,lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,"
    "intended_p95_seconds,intended_p99_seconds,intended_most_seconds,actual_mean_seconds,"
    "actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,actual_most_seconds";
static const char held_heading[] = ",target,load";

/*
 * One line for each bucket with successes in a second. At the end, lines without an elapsed time
 * have the buckets of the whole run. A bucket is identified by its smallest time.
 */
static const char times_heading[] = "elapsed_seconds,bucket_seconds,intended,actual\n";

static const char each_heading[] =
    "number,target,due_seconds,sent_seconds,finished_seconds,outcome,bytes,status\n";

struct request_rows {
    const struct request_tally *tally;
    const struct request_profile *profile;
    double override_rate; /* requests per second; negative: the profile's rate applies */
    double epoch;         /* seconds since 1970 at the start */
    ss_time begin;        /* start of the current second */
    ss_time since;        /* last change of the rate in this second, or its start */
    double requested; /* number of requests that the rate implies in this second before `since` */
    bool has_last;
    struct request_second last;

    /* Response times of the current second: */
    struct ss_histogram times[REQUEST_ORIGINS];
    struct ss_histogram before[REQUEST_ORIGINS]; /* sum of all previous seconds */
    double lateness_max;
    uint64_t failed, timeouts, bytes;
    uint64_t due, sent, refused; /* totals before this second */
    bool holds;                  /* the load of a service is held */
    double held, target, load;   /* sums over this second: seconds; target and load times seconds */

    const char *each_path;
    int each_folder; /* folder of `each` if the file is new, to remove it if the run does not
                        begin; -1 otherwise */
    char each_name[NAME_MAX + 1];
    struct ss_lines seconds, response_times, each;
};

int request_rows_open(struct request_rows **opened, const struct request_tally *tally,
    const struct request_profile *profile, struct ss_error *error) {
    struct request_rows *rows = *opened = calloc(1, sizeof *rows);
    if (!rows)
        return ss_error_memory(error);

    rows->tally = tally;
    rows->profile = profile;
    rows->override_rate = -1;
    rows->lateness_max = rows->epoch = NAN;
    rows->seconds.file = rows->response_times.file = rows->each.file = rows->each_folder = -1;

    for (int origin = 0; origin < REQUEST_ORIGINS; origin++) {
        if (ss_histogram_open(&rows->times[origin], SS_HISTOGRAM_FINE) < 0 ||
            ss_histogram_open(&rows->before[origin], SS_HISTOGRAM_FINE) < 0) {
            request_rows_close(rows, NULL);
            *opened = NULL;
            return ss_error_memory(error);
        }
    }
    return 0;
}

void request_rows_add_load_columns(struct request_rows *rows) {
    rows->holds = true;
}

void request_rows_add_load(struct request_rows *rows, double seconds, double target, double load) {
    rows->held += seconds;
    rows->target += target * seconds;
    rows->load += load * seconds;
}

/* Closes the folder of a new file of requests, and removes the file if `removes`. */
static void forget_folder(struct request_rows *rows, bool removes) {
    if (rows->each_folder < 0)
        return;
    if (removes)
        unlinkat(rows->each_folder, rows->each_name, 0);
    close(rows->each_folder);
    rows->each_folder = -1;
}

static int close_lines(struct ss_lines *lines, const char *name, struct ss_error *error) {
    ss_lines_close(lines);
    if (!lines->err)
        return 0;
    return ss_error_fail(error, "cannot write %s: %s; %llu line%s lost", ss_words_show(name).text,
        strerror(lines->err), (unsigned long long)lines->lost, lines->lost == 1 ? "" : "s");
}

int request_rows_close(struct request_rows *rows, struct ss_error *error) {
    if (!rows)
        return 0;

    int result = close_lines(&rows->seconds, REQUEST_SECONDS_FILE, error);
    if (close_lines(&rows->response_times, REQUEST_TIMES_FILE, error) < 0)
        result = -1;
    if (rows->each_path && close_lines(&rows->each, rows->each_path, error) < 0)
        result = -1;

    forget_folder(rows, true);
    for (int origin = 0; origin < REQUEST_ORIGINS; origin++) {
        ss_histogram_close(&rows->times[origin]);
        ss_histogram_close(&rows->before[origin]);
    }

    free(rows);
    return result;
}

static void add_heading(struct ss_lines *lines, const char *heading, size_t length) {
    ss_lines_end(lines, (char *)mempcpy(ss_lines_begin(lines, length), heading, length));
    ss_lines_flush(lines);
}

static int open_lines(
    struct ss_lines *lines, int folder, const char *name, struct ss_error *error) {
    int why = ss_lines_open(lines, folder, name);
    return why < 0 ? ss_error_fail(error, "cannot write %s: %s", name, strerror(-why)) : 0;
}

int request_rows_create_files(struct request_rows *rows, int folder, struct ss_error *error) {
    if (open_lines(&rows->seconds, folder, REQUEST_SECONDS_FILE, error) < 0)
        return -1;
    if (open_lines(&rows->response_times, folder, REQUEST_TIMES_FILE, error) < 0) {
        ss_lines_close(&rows->seconds);
        unlinkat(folder, REQUEST_SECONDS_FILE, 0);
        return -1;
    }

    char heading[sizeof seconds_heading + sizeof held_heading];
    int length = snprintf(
        heading, sizeof heading, "%s%s\n", seconds_heading, rows->holds ? held_heading : "");
    add_heading(&rows->seconds, heading, (size_t)length);
    add_heading(&rows->response_times, times_heading, sizeof times_heading - 1);
    return 0;
}

/*
 * Keeps the old content of the file until the run begins, because another option may still fail.
 * Opens it with O_NONBLOCK, because open() would wait for the reader of a pipe.
 */
int request_rows_open_each(
    struct request_rows *rows, const char *path, int interrupt, struct ss_error *error) {
    struct stat status;
    struct ss_walk walk;

    int file = ss_walk_begin(&walk, path);
    if (file == 0)
        file = ss_walk_open(&walk, O_WRONLY | O_NONBLOCK);
    if (file >= 0 && walk.was_created) {
        rows->each_folder = ss_owned_take(&walk.folder);
        strcpy(rows->each_name, walk.name);
    }
    ss_walk_end(&walk);

    if (file == -ENXIO)
        return ss_error_fail(error, "%s: no process reads this pipe: start its reader first",
            ss_words_show(path).text);
    if (file < 0)
        return ss_error_fail(error, "cannot write %s: %s", path, ss_walk_explain(&walk, file));

    bool is_pipe = fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
    if (!is_pipe)
        fcntl(file, F_SETFL, 0);

    ss_lines_adopt(&rows->each, file);
    rows->each.interrupt = is_pipe ? interrupt : -1;
    rows->each_path = path;
    return 0;
}

void request_rows_begin(struct request_rows *rows, double epoch) {
    struct stat status;

    rows->epoch = epoch;
    forget_folder(rows, false);
    if (rows->each.file < 0)
        return;

    if (fstat(rows->each.file, &status) == 0 && S_ISREG(status.st_mode) &&
        ftruncate(rows->each.file, 0) < 0)
        rows->each.err = errno;
    add_heading(&rows->each, each_heading, sizeof each_heading - 1);
}

/* Returns the number of requests that the rate implies between two times within a second. */
static double requested_between(const struct request_rows *rows, ss_time from, ss_time to) {
    if (to <= from)
        return 0;
    if (rows->override_rate < 0)
        return request_mean_rate(rows->profile, from, to) * ss_time_seconds(to - from);
    /* A rate set by request_rows_set_rate() ends with the profile. */
    ss_time length = request_profile_length(rows->profile);
    return rows->override_rate * ss_time_seconds(ss_time_since(length < to ? length : to, from));
}

void request_rows_set_rate(struct request_rows *rows, ss_time now, double rate) {
    request_rows_advance(rows, now);
    rows->requested += requested_between(rows, rows->since, now);
    rows->since = now > rows->since ? now : rows->since;
    rows->override_rate = rate;
}

static char *put_number(char *to, double number, int decimals) {
    *to++ = ',';
    return isnan(number) ? to : ss_number_put_fixed(to, number, decimals);
}

static char *put_count(char *to, uint64_t count) {
    return to + sprintf(to, ",%llu", (unsigned long long)count);
}

static char *put_times(char *to, const struct request_second *second, enum request_origin origin) {
    to = put_number(to, second->mean[origin], 9);
    to = put_number(to, second->median[origin], 9);
    to = put_number(to, second->p95[origin], 9);
    to = put_number(to, second->p99[origin], 9);
    return put_number(to, second->max[origin], 9);
}

static void write_second(struct request_rows *rows, const struct request_second *second) {
    double elapsed = ss_time_seconds(second->end);
    char *to = ss_lines_begin(&rows->seconds, LINE_ROOM);

    if (!isnan(rows->epoch))
        to = ss_number_put_fixed(to, rows->epoch + elapsed, 6);
    to = put_number(to, elapsed, 6);
    *to++ = ',';
    if (!isnan(second->rate))
        to = ss_number_put(to, second->rate);

    to = put_count(to, second->due);
    to = put_count(to, second->sent);
    to = put_count(to, second->refused);
    to = put_count(to, second->waiting);
    to = put_count(to, second->unfinished);
    to = put_count(to, second->completed);
    to = put_count(to, second->failed);
    to = put_count(to, second->timeouts);
    to = put_count(to, second->bytes);

    to = put_number(to, second->lateness_max, 9);
    for (int origin = 0; origin < REQUEST_ORIGINS; origin++)
        to = put_times(to, second, (enum request_origin)origin);

    if (rows->holds) {
        to = put_number(to, second->target, 6);
        to = put_number(to, second->load, 6);
    }

    *to++ = '\n';
    ss_lines_end(&rows->seconds, to);
    ss_lines_flush(&rows->seconds);
}

/* Advances `*bucket` to the next bucket that either histogram uses, possibly itself. */
static bool find_used(const struct ss_histogram times[REQUEST_ORIGINS], unsigned *bucket) {
    unsigned intended = *bucket, actual = *bucket;
    bool has_intended = ss_histogram_next(&times[REQUEST_INTENDED], &intended);
    bool has_actual = ss_histogram_next(&times[REQUEST_ACTUAL], &actual);
    *bucket = has_actual && !(has_intended && intended < actual) ? actual : intended;
    return has_intended || has_actual;
}

/* Writes the buckets of the second that ends at `end`, or of the whole run if SS_TIME_NEVER. */
static void write_times(
    struct request_rows *rows, const struct ss_histogram times[REQUEST_ORIGINS], ss_time end) {
    for (unsigned bucket = 0; find_used(times, &bucket); bucket++) {
        char *to = ss_lines_begin(&rows->response_times, LINE_ROOM);
        if (end != SS_TIME_NEVER)
            to = ss_number_put_fixed(to, ss_time_seconds(end), 6);
        *to++ = ',';
        to = ss_histogram_put_bucket(to, bucket, SS_HISTOGRAM_FINE);
        to = put_count(to, times[REQUEST_INTENDED].counts[bucket]);
        to = put_count(to, times[REQUEST_ACTUAL].counts[bucket]);
        *to++ = '\n';
        ss_lines_end(&rows->response_times, to);
    }

    ss_lines_flush(&rows->response_times);
}

static char *put_moment(char *to, ss_time moment) {
    *to++ = ',';
    return moment == SS_TIME_NEVER ? to : ss_number_put_fixed(to, ss_time_seconds(moment), 9);
}

static void write_each(struct request_rows *rows, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    static const char *const names[] = {[REQUEST_REFUSED] = "refused",
        [REQUEST_NEVER_SENT] = "waiting",
        [REQUEST_UNFINISHED] = "unfinished"};

    if (rows->each.file < 0)
        return;

    char *to = ss_lines_begin(&rows->each, LINE_ROOM);
    to += sprintf(to, "%llu,", (unsigned long long)one->number);
    if (one->sent != SS_TIME_NEVER)
        to += sprintf(to, "%u", one->label);
    to = put_moment(to, one->due);
    to = put_moment(to, one->sent);
    to = put_moment(to, ended->finished);
    *to++ = ',';
    to = stpcpy(to, fate == REQUEST_ENDED ? request_outcome_name(ended->outcome) : names[fate]);
    to = put_count(to, fate == REQUEST_ENDED ? ended->bytes : 0);
    *to++ = ',';
    if (fate == REQUEST_ENDED && ended->status > 0)
        to += sprintf(to, "%u", ended->status);
    *to++ = '\n';
    ss_lines_end(&rows->each, to);
}

/*
 * Returns the mean planned rate from the start of the current second to `end`; NaN without a
 * profile.
 */
static double rate_of(const struct request_rows *rows, ss_time end) {
    if (!rows->profile)
        return NAN;
    if (rows->since == rows->begin && rows->override_rate < 0)
        return request_mean_rate(rows->profile, rows->begin, end);
    if (end <= rows->begin)
        return 0;
    return (rows->requested + requested_between(rows, rows->since, end)) /
           ss_time_seconds(end - rows->begin);
}

static void fill_times(
    struct request_second *second, const struct ss_histogram *times, enum request_origin origin) {
    second->mean[origin] = ss_histogram_mean(times);
    second->median[origin] = ss_histogram_quantile(times, 0.5);
    second->p95[origin] = ss_histogram_quantile(times, 0.95);
    second->p99[origin] = ss_histogram_quantile(times, 0.99);
    second->max[origin] = ss_histogram_quantile(times, 1);
}

static void end_second(struct request_rows *rows, ss_time end) {
    const struct request_tally *tally = rows->tally;
    struct request_second second = {
        .begin = rows->begin,
        .end = end,
        .rate = rate_of(rows, end),
        .due = tally->intended - rows->due,
        .sent = tally->sent - rows->sent,
        .refused = tally->refused - rows->refused,
        .waiting = tally->waiting,
        .unfinished = tally->unfinished,
        .completed = rows->times[REQUEST_INTENDED].count,
        .failed = rows->failed,
        .timeouts = rows->timeouts,
        .bytes = rows->bytes,
        .lateness_max = rows->lateness_max,
        .target = rows->target / rows->held,
        .load = rows->load / rows->held,
    };

    /* Write the buckets before the line, so that a killed run leaves no line without buckets. */
    if (rows->response_times.file >= 0)
        write_times(rows, rows->times, end);
    ss_lines_flush(&rows->each); /* a program may read the file during the run */

    for (int origin = 0; origin < REQUEST_ORIGINS; origin++) {
        fill_times(&second, &rows->times[origin], (enum request_origin)origin);
        ss_histogram_merge(&rows->before[origin], &rows->times[origin]);
        ss_histogram_clear(&rows->times[origin]);
    }

    if (rows->seconds.file >= 0)
        write_second(rows, &second);

    rows->due = tally->intended;
    rows->sent = tally->sent;
    rows->refused = tally->refused;
    rows->failed = rows->timeouts = rows->bytes = 0;
    rows->held = rows->target = rows->load = 0;
    rows->lateness_max = NAN;
    rows->begin = rows->since = end;
    rows->requested = 0;
    rows->last = second;
    rows->has_last = true;
}

bool request_rows_advance(struct request_rows *rows, ss_time now) {
    bool ended = false;
    for (; now >= rows->begin + SS_SECOND; ended = true)
        end_second(rows, rows->begin + SS_SECOND);
    return ended;
}

/*
 * Turns totals before this second into counts of this second, and back. In between, the tally may
 * change as a whole.
 */
static void swap_totals(struct request_rows *rows, const struct request_tally *tally) {
    rows->due = tally->intended - rows->due;
    rows->sent = tally->sent - rows->sent;
    rows->refused = tally->refused - rows->refused;
}

void request_rows_clear(struct request_rows *rows, struct request_tally *tally) {
    swap_totals(rows, tally);
    request_tally_clear(tally);
    /* The totals may wrap below 0: only differences from them count. */
    swap_totals(rows, tally);
}

void request_rows_exchange(struct request_rows *rows, struct request_tally *tally,
    struct request_tally *other, ss_time now) {
    swap_totals(rows, tally);
    request_tally_exchange(tally, other, now);
    swap_totals(rows, tally);
}

void request_rows_finish(struct request_rows *rows, ss_time now) {
    request_rows_advance(rows, now);

    /* In virtual time the last request may end exactly at the end of a second. */
    bool has_news = rows->tally->intended != rows->due || rows->tally->sent != rows->sent ||
                    rows->tally->refused != rows->refused || rows->failed > 0 ||
                    rows->times[REQUEST_INTENDED].count > 0;

    if (now > rows->begin || has_news)
        end_second(rows, now);
    if (rows->response_times.file >= 0)
        write_times(rows, rows->before, SS_TIME_NEVER);
}

void request_rows_record_sent(struct request_rows *rows, const struct request_in_flight *one) {
    rows->lateness_max =
        fmax(rows->lateness_max, ss_time_seconds(ss_time_since(one->sent, one->due)));
}

static void count_ended(struct request_rows *rows, const struct request_ended *ended) {
    rows->bytes += ended->bytes;
    if (ended->outcome != REQUEST_SUCCESS) {
        rows->failed++;
        rows->timeouts += ended->outcome == REQUEST_TIMEOUT;
        return;
    }

    ss_histogram_add(&rows->times[REQUEST_INTENDED], ss_time_since(ended->finished, ended->due));
    ss_histogram_add(&rows->times[REQUEST_ACTUAL], ss_time_since(ended->finished, ended->sent));
}

void request_rows_observe(void *context, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    struct request_rows *rows = context;
    if (fate == REQUEST_ENDED)
        count_ended(rows, ended);
    write_each(rows, one, fate, ended);
}

const struct request_second *request_rows_last(const struct request_rows *rows) {
    return rows->has_last ? &rows->last : NULL;
}
