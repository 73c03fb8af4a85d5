/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "measure/perf.h"
#include "unit.h"

#define MS SS_MILLISECOND

/*
 * The simulated kernel: its answers, and the requests it received. A descriptor is the index of its
 * request.
 */
static struct {
    int refuses[SS_PERF_EVENTS];         /* error for this event; 0 if it is counted */
    int refuses_without_rights;          /* error for events inside the kernel */
    pid_t gone;                          /* a thread that has ended */
    int full_from;                       /* limit of descriptors; 0 if unlimited */
    struct ss_perf_request requests[64]; /* accepted requests */
    struct ss_perf_count counts[64];     /* of each request */
    bool broken[64];                     /* cannot be read */
    int count, open;
} kernel;

static int take_request(void *context, const struct ss_perf_request *request) {
    assert_ptr_equal(context, &kernel);
    if (request->thread == kernel.gone && kernel.gone)
        return -ESRCH;
    if (kernel.refuses[request->event])
        return -kernel.refuses[request->event];
    if (!request->user_only && kernel.refuses_without_rights)
        return -kernel.refuses_without_rights;
    if (kernel.full_from && kernel.count >= kernel.full_from)
        return -EMFILE;
    kernel.requests[kernel.count] = *request;
    kernel.open++;
    return kernel.count++;
}

static int read_count(void *context, int descriptor, struct ss_perf_count *count) {
    assert_ptr_equal(context, &kernel);
    assert_that(descriptor, >=, 0);
    assert_that(descriptor, <, kernel.count);
    *count = kernel.counts[descriptor];
    return kernel.broken[descriptor] ? -EIO : 0;
}

static void close_count(void *context, int descriptor) {
    assert_ptr_equal(context, &kernel);
    assert_that(descriptor, >=, 0);
    assert_that(descriptor, <, kernel.count);
    kernel.open--;
}

static const struct ss_perf_calls calls = {take_request, read_count, close_count, &kernel};
static struct ss_perf_meter meter;
static double counts[SS_PERF_EVENTS];

static void begin(void) {
    ss_perf_close(&meter);
    memset(&kernel, 0, sizeof kernel);
    meter = (struct ss_perf_meter){.calls = &calls};
}

static int find(enum ss_perf_event event, pid_t thread) {
    for (int i = 0; i < kernel.count; i++) {
        if (kernel.requests[i].event == event && kernel.requests[i].thread == thread)
            return i;
    }
    fail_msg("event %d of thread %d was not requested", (int)event, (int)thread);
    return -1;
}

/* Adds to a count whose event had a counter for `running` of `enabled` milliseconds. */
static void add_count(
    enum ss_perf_event event, pid_t thread, uint64_t value, uint64_t enabled, uint64_t running) {
    struct ss_perf_count *count = &kernel.counts[find(event, thread)];
    count->value += value;
    count->enabled += enabled * MS;
    count->running += running * MS;
}

TEST(every_perf_event_is_counted_after_exec) {
    begin();
    assert_int_equal(ss_perf_add(&meter, 0, true), 0);
    assert_int_equal(kernel.count, SS_PERF_EVENTS);
    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        const struct ss_perf_request *request = &kernel.requests[find(event, 0)];
        assert_true(request->after_exec && !request->user_only);
        assert_non_null(ss_perf_names[event]);
    }
    int at = 0;
    char text[256];
    assert_false(ss_perf_explain(&meter, &at, text, sizeof text));
    ss_perf_close(&meter);
    assert_int_equal(kernel.open, 0);
}

TEST(perf_counts_are_increments) {
    begin();
    assert_int_equal(ss_perf_add(&meter, 0, true), 0);
    add_count(SS_PERF_CYCLES, 0, 1000, 10, 10);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_CYCLES], 1000, 1e-6);
    assert_near(
        counts[SS_PERF_INSTRUCTIONS], 0, 1e-6); /* nothing ran that could have been counted */
    add_count(SS_PERF_CYCLES, 0, 500, 10, 10);
    add_count(SS_PERF_TASK_CLOCK, 0, 10 * MS, 10, 10);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_CYCLES], 500, 1e-6);
    assert_near(counts[SS_PERF_TASK_CLOCK], 10 * MS, 1e-6);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_CYCLES], 0, 1e-6);
    kernel.counts[find(SS_PERF_CYCLES, 0)].value = 900; /* less than before */
    ss_perf_read(&meter, counts);
    assert_true(isnan(counts[SS_PERF_CYCLES]));
}

/* Each event is counted for part of the time, because there are more events than counters. */
TEST(counts_of_shared_counters_are_extrapolated) {
    begin();
    assert_int_equal(ss_perf_add(&meter, 0, true), 0);
    add_count(SS_PERF_L1D_MISSES, 0, 300, 100, 25);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_L1D_MISSES], 1200, 1e-6);
    /* Extrapolates by the share since the last reading, not by the share before. */
    add_count(SS_PERF_L1D_MISSES, 0, 300, 100, 50);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_L1D_MISSES], 600, 1e-6);
    /*
     * The event had no counter at all: its count is unknown, and the next reading covers both
     * intervals.
     */
    add_count(SS_PERF_L1D_MISSES, 0, 0, 100, 0);
    ss_perf_read(&meter, counts);
    assert_true(isnan(counts[SS_PERF_L1D_MISSES]));
    add_count(SS_PERF_L1D_MISSES, 0, 100, 100, 100);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_L1D_MISSES], 200, 1e-6);
}

TEST(perf_counts_are_summed_over_threads) {
    begin();
    for (pid_t thread = 7; thread <= 9; thread++)
        assert_int_equal(ss_perf_add(&meter, thread, false), 0);
    assert_false(kernel.requests[0].after_exec);
    add_count(SS_PERF_PAGE_FAULTS, 7, 3, 10, 10);
    add_count(SS_PERF_PAGE_FAULTS, 8, 4, 10, 10);
    add_count(SS_PERF_PAGE_FAULTS, 9, 5, 10, 5);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_PAGE_FAULTS], 3 + 4 + 2 * 5, 1e-6);
    /* One unreadable event does not affect the others. */
    kernel.broken[find(SS_PERF_PAGE_FAULTS, 8)] = true;
    add_count(SS_PERF_PAGE_FAULTS, 7, 3, 10, 10);
    ss_perf_read(&meter, counts);
    assert_near(counts[SS_PERF_PAGE_FAULTS], 3, 1e-6);
    ss_perf_close(&meter);
    assert_int_equal(kernel.open, 0);
}

/* Expects each reason once with its events, and no others. */
static void expect_reasons(const char *const *reasons) {
    char text[512];
    int at = 0;
    for (; *reasons; reasons++) {
        assert_true(ss_perf_explain(&meter, &at, text, sizeof text));
        assert_string_equal(text, *reasons);
    }
    assert_false(ss_perf_explain(&meter, &at, text, sizeof text));
    assert_false(ss_perf_explain(&meter, &at, text, sizeof text));
}

TEST(unavailable_perf_events_are_empty_and_explained) {
    begin();
    kernel.refuses[SS_PERF_CYCLES] = ENOENT;
    kernel.refuses[SS_PERF_STALLED_BACKEND] = EOPNOTSUPP;
    kernel.refuses[SS_PERF_L1D_MISSES] = EINVAL;
    kernel.refuses[SS_PERF_CACHE_MISSES] = ENOMEM;
    kernel.refuses[SS_PERF_PAGE_FAULTS] = EACCES;
    kernel.refuses[SS_PERF_MIGRATIONS] = EPERM;
    kernel.refuses[SS_PERF_TASK_CLOCK] = ENOSYS;
    assert_int_equal(ss_perf_add(&meter, 0, true), 0);
    assert_int_equal(kernel.count, SS_PERF_EVENTS - 7);
    ss_perf_read(&meter, counts);
    for (int event = 0; event < SS_PERF_EVENTS; event++)
        assert_int_equal(isnan(counts[event]) != 0, kernel.refuses[event] != 0);
    char exhausted[100];
    snprintf(exhausted, sizeof exhausted, "cache_misses: %s", strerror(ENOMEM));
    expect_reasons((const char *const[]){
        "cycles, stalled_backend, l1d_misses: this machine does not count them", exhausted,
        "page_faults, migrations: not permitted: see kernel.perf_event_paranoid",
        "task_clock_seconds: the kernel does not support perf events", NULL});
}

/*
 * Events that happen only in the kernel would count as 0, which is wrong. The task clock is not
 * affected.
 */
TEST(kernel_only_counts_are_unknown_without_permission) {
    begin();
    kernel.refuses_without_rights = EACCES;
    kernel.refuses[SS_PERF_STALLED_FRONTEND] = ENOENT;
    assert_int_equal(ss_perf_add(&meter, 0, true), 0);
    assert_true(kernel.requests[find(SS_PERF_CYCLES, 0)].user_only);
    ss_perf_read(&meter, counts);
    assert_true(isnan(counts[SS_PERF_CONTEXT_SWITCHES]) && isnan(counts[SS_PERF_MIGRATIONS]));
    assert_near(counts[SS_PERF_PAGE_FAULTS], 0, 1e-6);
    expect_reasons((const char *const[]){
        "instructions, cycles, stalled_backend, l1d_references, l1d_misses, cache_references, "
        "cache_misses, page_faults, l2_references, l2_misses: only events in user mode are "
        "counted: "
        "see kernel.perf_event_paranoid",
        "stalled_frontend: this machine does not count them",
        "context_switches, migrations: not permitted: see kernel.perf_event_paranoid", NULL});
}

TEST(number_of_uncounted_threads_is_reported) {
    begin();
    kernel.full_from = SS_PERF_EVENTS;
    kernel.gone = 8;
    for (pid_t thread = 5; thread <= 8; thread++)
        assert_int_equal(ss_perf_add(&meter, thread, false), 0);
    assert_int_equal(meter.uncounted, 2);
    expect_reasons((const char *const[]){NULL});
    begin();
    kernel.gone = 6;
    assert_int_equal(ss_perf_add(&meter, 5, false), 0);
    assert_int_equal(ss_perf_add(&meter, 6, false), 0);
    assert_int_equal(meter.uncounted, 0);
    expect_reasons((const char *const[]){NULL});
}

UNIT_RUN
