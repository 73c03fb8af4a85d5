/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/iterations.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/words.h"
#include "measure/unfinished.h"

/* An instance explains a change if it causes at least this fraction of it. */
#define CHANGE_SHARE_MIN 0.6

void ss_iterations_count_from(struct ss_iterations *iterations, ss_time from) {
    iterations->from = iterations->throughput.from = iterations->parts_in_time.from = from;
}

void ss_iterations_pause(struct ss_iterations *iterations, ss_time begin, ss_time length) {
    /* SS_TIME_NEVER stays SS_TIME_NEVER. */
    iterations->from = ss_time_add(iterations->from, length);
    iterations->throughput.from = ss_time_add(iterations->throughput.from, length);
    iterations->parts_in_time.from = ss_time_add(iterations->parts_in_time.from, length);
    if (SS_GROW(iterations->pauses, iterations->pause_count + 1, iterations->pause_room))
        iterations->pauses[iterations->pause_count++] =
            (struct ss_pause){.begin = begin, .length = length};
    else if (iterations->pause_count > 0)
        iterations->pauses[iterations->pause_count - 1].length += length;
}

/* Converts a time to a clock that stops in pauses and agrees with the monotonic clock now. */
static ss_time move_up(const struct ss_iterations *iterations, ss_time time) {
    ss_time moved = time;
    for (size_t i = iterations->pause_count; i-- > 0;) {
        const struct ss_pause *pause = &iterations->pauses[i];
        ss_time passed = ss_time_since(time, pause->begin);
        moved = ss_time_add(moved, ss_time_since(pause->length, passed));
    }
    return moved;
}

int ss_iterations_keep_apart(
    struct ss_iterations *iterations, uint32_t instances, uint32_t line_count) {
    iterations->shares = calloc(instances, sizeof *iterations->shares);
    iterations->line_of = calloc(instances, sizeof *iterations->line_of);
    iterations->lengths = calloc(line_count, sizeof *iterations->lengths);
    if (!iterations->shares || !iterations->line_of || !iterations->lengths)
        return -1;

    iterations->instances = instances;
    iterations->line_count = line_count;
    for (uint32_t i = 0; i < instances; i++)
        iterations->shares[i].since = SS_TIME_NEVER;
    for (uint32_t i = 0; i < line_count; i++) {
        if (ss_histogram_open(&iterations->lengths[i], SS_HISTOGRAM_FINE) < 0)
            return -1;
    }

    return 0;
}

void ss_iterations_free(struct ss_iterations *iterations) {
    ss_throughput_free(&iterations->throughput);
    for (uint32_t i = 0; i < iterations->line_count; i++)
        ss_histogram_close(&iterations->lengths[i]);
    free(iterations->lengths);
    free(iterations->line_of);
    free(iterations->shares);
    iterations->lengths = NULL;
    iterations->line_of = NULL;
    iterations->shares = NULL;
    iterations->line_count = 0;
    iterations->instances = 0;
    free(iterations->pauses);
    iterations->pauses = NULL;
    iterations->pause_count = 0;
}

void ss_iterations_start(struct ss_iterations *iterations, uint32_t instance, ss_time now) {
    /* Ignore a start that is noticed after the first iteration has ended. */
    if (iterations->shares && iterations->shares[instance].since == SS_TIME_NEVER)
        iterations->shares[instance].since = now;
}

void ss_iterations_stop(struct ss_iterations *iterations, uint32_t instance) {
    if (iterations->shares)
        iterations->shares[instance].exited = true;
}

void ss_iterations_mismatch(struct ss_iterations *iterations, const char *line, ss_time now) {
    if (iterations->from <= now && now <= iterations->to)
        iterations->unmatched_counted++;
    if (iterations->unmatched++ == 0)
        snprintf(iterations->example, sizeof iterations->example, "%s", ss_words_show(line).text);
}

void ss_iterations_untimed(struct ss_iterations *iterations, const char *text) {
    if (iterations->untimed++ == 0)
        snprintf(iterations->untimed_example, sizeof iterations->untimed_example, "%s",
            ss_words_show(text).text);
}

/* Adds a length by Welford's method, which avoids differences of large sums. */
static void add_length(struct ss_iteration_share *share, double seconds) {
    double mean = share->ended ? share->seconds / (double)share->ended : 0;
    share->ended++;
    share->seconds += seconds;
    share->squares += (seconds - mean) * (seconds - share->seconds / (double)share->ended);
}

/*
 * Returns the part of an iteration that is in the window. An iteration that took no time counts
 * where it ended.
 */
static double compute_part(const struct ss_iterations *iterations, ss_time start, ss_time end) {
    ss_time from = start > iterations->from ? start : iterations->from;
    ss_time to = end < iterations->to ? end : iterations->to;
    if (iterations->from == SS_TIME_NEVER || to < from)
        return 0;
    return end == start ? 1 : (double)(to - from) / (double)(end - start);
}

/* Counts an iteration that ended `at` after the start of the window; widens all cells if needed. */
static void count_in_time(
    struct ss_iterations *iterations, struct ss_iteration_share *share, ss_time at) {
    iterations->cell_width = iterations->cell_width ? iterations->cell_width : SS_MILLISECOND;
    while (at / iterations->cell_width >= SS_SHARE_CELLS) {
        iterations->cell_width *= 2;
        for (uint32_t i = 0; i < iterations->instances; i++) {
            uint32_t *cells = iterations->shares[i].cells;
            for (size_t cell = 0; cell < SS_SHARE_CELLS; cell++)
                cells[cell] = cell < SS_SHARE_CELLS / 2 ? cells[2 * cell] + cells[2 * cell + 1] : 0;
        }
    }
    share->cells[at / iterations->cell_width]++;
}

/* Returns by how much the iterations per cell differ after cell `at` from those before it. */
static double compute_change(const struct ss_iteration_share *share, size_t at, size_t count) {
    double sums[2] = {0};
    for (size_t cell = 0; cell < count; cell++)
        sums[cell > at] += cell == at ? 0 : share->cells[cell];
    return sums[1] / (double)(count - at - 1) - sums[0] / (double)at;
}

bool ss_iterations_find_changed(
    const struct ss_iterations *iterations, double at, uint32_t *instance) {
    if (iterations->instances < 2 || iterations->cell_width == 0)
        return false;
    ss_time length = iterations->to - iterations->from;
    size_t count = length / iterations->cell_width;
    size_t step = (size_t)(at * (double)length / (double)iterations->cell_width);
    double all = 0, most = 0;
    if (count > SS_SHARE_CELLS || step < 1 || step + 1 >= count)
        return false;

    for (uint32_t i = 0; i < iterations->instances; i++) {
        double change = compute_change(&iterations->shares[i], step, count);
        all += change;
        if (fabs(change) > fabs(most)) {
            most = change;
            *instance = i;
        }
    }
    return most / all > CHANGE_SHARE_MIN;
}

/* Adds the iteration to its instance and command. `start` excludes pauses. */
static void add_share(struct ss_iterations *iterations, const struct ss_iteration *iteration,
    ss_time start, double part) {
    struct ss_iteration_share *share = &iterations->shares[iteration->instance];
    double gap = NAN;

    if (share->begun)
        gap = ss_time_seconds(ss_time_since(start, move_up(iterations, share->since)));
    share->since = iteration->end;
    share->last = iteration->length;
    share->begun = true;
    share->parts += part;
    if (!iteration->counted)
        return;

    add_length(share, ss_time_seconds(iteration->length));
    count_in_time(iterations, share, ss_time_since(start + iteration->length, iterations->from));
    ss_histogram_add(&iterations->lengths[iteration->line], iteration->length);
    if (!isnan(gap)) {
        share->gap_count++;
        share->gap_sum += gap;
    }
}

void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end) {
    start = start < end ? start : end;

    /* Exclude the pauses. */
    ss_time from = move_up(iterations, start), to = move_up(iterations, end);
    struct ss_iteration iteration = {
        .instance = instance,
        .line = iterations->line_of ? iterations->line_of[instance] : 0,
        .start = start,
        .end = end,
        .length = to - from,
        .counted =
            iterations->from != SS_TIME_NEVER && to >= iterations->from && to <= iterations->to,
    };
    double part = compute_part(iterations, from, to);
    iterations->seen++;
    iterations->ended += iteration.counted;
    iterations->parts += part;
    ss_throughput_add(&iterations->throughput, from, to);
    ss_windows_add(&iterations->parts_in_time, from, to, 1);
    if (iterations->shares)
        add_share(iterations, &iteration, from, part);
    if (iterations->on_add)
        iterations->on_add(iterations->context, &iteration);
}

void ss_iterations_add_evenly(
    struct ss_iterations *iterations, uint32_t instance, uint32_t count, ss_time now) {
    ss_time from = iterations->shares ? iterations->shares[instance].since : now;
    from = from < now ? from : now;
    ss_time start = from;
    for (uint32_t i = 1; i <= count; i++) {
        ss_time end = i == count ? now : from + (ss_time)((double)(now - from) * i / count);
        ss_iterations_add(iterations, instance, start, end);
        start = end;
    }
}

void ss_iterations_report_read(struct ss_iterations *iterations, uint32_t instance, uint32_t count,
    ss_time now, ss_time late, double duty) {
    struct ss_iteration_share *share = iterations->shares ? &iterations->shares[instance] : NULL;

    if (!share || share->since == SS_TIME_NEVER)
        return;

    ss_time silence = ss_time_since(ss_time_since(now, move_up(iterations, share->since)), late);
    uint32_t before = 0;
    if (silence > SS_BURST_SILENCE && (double)silence * duty > (double)SS_BURST_RUNNING)
        share->burst_from = now;
    else if (share->burst_size > 0 && ss_time_since(now, share->burst_from) <= SS_BURST_LENGTH)
        before = share->burst_size;
    else
        count = 0;

    share->burst_size = count > 0 ? before + count : 0;
    if (share->burst_size < 2 || iterations->from == SS_TIME_NEVER || now < iterations->from ||
        now > iterations->to)
        return;

    /*
     * The first iteration is part of the burst, too, but was not counted as such before the second
     * one.
     */
    share->in_bursts += before == 1 ? 1 + (uint64_t)count : count;
}

uint64_t ss_iterations_in_bursts(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++)
        sum += iterations->shares[i].in_bursts;
    return sum;
}

bool ss_iterations_are_counted(const struct ss_iterations *iterations, ss_time now) {
    ss_time to = now < iterations->to ? now : iterations->to;
    return iterations->from != SS_TIME_NEVER && to > iterations->from;
}

/* Returns the mean length in the window, or the last length before it; NaN if none is known. */
static double usual_length(const struct ss_iteration_share *share) {
    if (share->ended > 0)
        return share->seconds / (double)share->ended;
    return share->begun ? ss_time_seconds(share->last) : NAN;
}

/*
 * Finds the iteration that an instance has in progress at `to`, the end of the window. Returns
 * false if no iteration is in progress then.
 */
static bool find_unfinished(const struct ss_iterations *iterations, uint32_t instance, ss_time to,
    struct ss_unfinished *unfinished) {
    const struct ss_iteration_share *share = &iterations->shares[instance];

    if (share->since == SS_TIME_NEVER || share->exited)
        return false;

    /* Assume the usual gap between iterations. */
    double gap = share->gap_count ? share->gap_sum / (double)share->gap_count : 0;
    ss_time start = ss_time_add(move_up(iterations, share->since), ss_time_from_double(gap * 1e9));
    if (start >= to)
        return false;

    ss_time from = start > iterations->from ? start : iterations->from;
    *unfinished = (struct ss_unfinished){
        .elapsed = ss_time_seconds(to - start),
        .counted = ss_time_seconds(to - from),
        .mean = usual_length(share),
        .deviation = share->ended > 1 ? sqrt(share->squares / (double)(share->ended - 1)) : NAN,
    };

    return true;
}

static struct ss_iteration_rate compute_rate(const struct ss_iterations *iterations, double parts,
    uint32_t first, uint32_t count, ss_time now) {
    ss_time to = now < iterations->to ? now : iterations->to;
    struct ss_iteration_rate rate = {NAN, NAN, NAN, NAN};
    double estimated = 0, max = 0, squares = 0;

    if (!ss_iterations_are_counted(iterations, now))
        return rate;

    double seconds = ss_time_seconds(to - iterations->from);
    for (uint32_t i = first; i < first + count; i++) {
        struct ss_unfinished unfinished;
        if (!find_unfinished(iterations, i, to, &unfinished))
            continue;
        double deviation = ss_unfinished_part_deviation(&unfinished);
        estimated += ss_unfinished_part(&unfinished);
        max += ss_unfinished_part_max(&unfinished);
        squares += deviation * deviation;
    }

    rate.estimated = estimated;
    if (!(parts + estimated > 0)) {
        rate.bound = max / seconds;
        return rate;
    }

    rate.per_second = (parts + estimated) / seconds;
    rate.uncertainty = sqrt(squares) / seconds;
    return rate;
}

struct ss_iteration_rate ss_iterations_rate(const struct ss_iterations *iterations, ss_time now) {
    return compute_rate(iterations, iterations->parts, 0, iterations->instances, now);
}

struct ss_iteration_rate ss_iterations_rate_of(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count, ss_time now) {
    double parts = 0;
    for (uint32_t i = first; i < first + count; i++)
        parts += iterations->shares[i].parts;
    return compute_rate(iterations, parts, first, count, now);
}

static bool is_among(uint32_t line, uint32_t first, uint32_t count) {
    return line >= first && line - first < count;
}

/* Combines the mean and deviation of several instances. */
static void compute_moments(const struct ss_iterations *iterations, uint32_t first, uint32_t count,
    struct ss_iteration_times *times) {
    double ended = 0, seconds = 0, squares = 0;

    for (uint32_t i = 0; i < iterations->instances; i++) {
        if (!is_among(iterations->line_of[i], first, count))
            continue;
        ended += (double)iterations->shares[i].ended;
        seconds += iterations->shares[i].seconds;
    }

    for (uint32_t i = 0; i < iterations->instances && ended > 0; i++) {
        const struct ss_iteration_share *share = &iterations->shares[i];
        if (!is_among(iterations->line_of[i], first, count) || share->ended == 0)
            continue;
        double away = share->seconds / (double)share->ended - seconds / ended;
        squares += share->squares + (double)share->ended * away * away;
    }

    times->mean = ended > 0 ? seconds / ended : NAN;
    times->deviation = ended > 1 ? sqrt(squares / (ended - 1)) : NAN;
}

struct ss_iteration_times ss_iterations_times(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count) {
    struct ss_iteration_times times = {NAN, NAN, NAN, NAN, NAN};
    struct ss_histogram all;

    compute_moments(iterations, first, count, &times);
    if (ss_histogram_open(&all, SS_HISTOGRAM_FINE) < 0)
        return times;

    for (uint32_t i = first; i < first + count; i++)
        ss_histogram_merge(&all, &iterations->lengths[i]);
    times.median = ss_histogram_quantile(&all, 0.5);
    times.p95 = ss_histogram_quantile(&all, 0.95);
    times.p99 = ss_histogram_quantile(&all, 0.99);
    ss_histogram_close(&all);

    return times;
}

void ss_iterations_finish(struct ss_iterations *iterations) {
    for (uint32_t i = 0; i < iterations->instances; i++) {
        struct ss_unfinished unfinished;

        if (!find_unfinished(iterations, i, iterations->to, &unfinished))
            continue;

        ss_time start = iterations->to - ss_time_from_double(unfinished.elapsed * 1e9);
        double length = ss_unfinished_length(&unfinished);
        if (!isfinite(length))
            continue;

        ss_time end = ss_time_add(start, ss_time_from_double(length * 1e9));
        ss_throughput_add(&iterations->throughput, start, end);
        ss_windows_add(&iterations->parts_in_time, start, end, 1);
    }
}
