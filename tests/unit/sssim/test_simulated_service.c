/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the service of sssim queue alone: which worker serves which request, and for how long.
 */

#include "queue_run.h"
#include "unit.h"

#define MS    SS_MILLISECOND
#define FIRST 3 /* sleeper of the first worker */
#define SLOTS 8

static struct {
    struct sleepers sleepers;
    struct queue_service service;
} rig;

/* Closes the previous service and opens a new one. */
static void open_rig(const struct queue_service_options *options) {
    struct ss_error error = {0};
    uint32_t sleepers = FIRST + queue_service_sleepers(options);
    queue_service_close(&rig.service);
    sleepers_close(&rig.sleepers);
    assert_succeeds(sleepers_open(&rig.sleepers, sleepers, &error), error);
    assert_succeeds(
        queue_service_open(&rig.service, options, &rig.sleepers, FIRST, SLOTS, &error), error);
}

static void take(uint32_t server, uint32_t slot, ss_time now) {
    assert_int_equal(queue_service_take(&rig.service, server, slot, slot, now), 0);
}

/* Checks that the next worker completes request `slot` at `when`. */
static void assert_done(ss_time when, uint32_t slot) {
    uint32_t done, sleeper = sleepers_first(&rig.sleepers);
    assert_int_equal(rig.sleepers.due[sleeper], when);
    assert_true(queue_service_wake(&rig.service, sleeper, &done, when));
    assert_int_equal(done, slot);
}

static void assert_nothing_due(void) {
    assert_that(rig.sleepers.due[sleepers_first(&rig.sleepers)], ==, SS_TIME_NEVER);
}

TEST(workers_of_a_server_share_one_queue) {
    open_rig(&(struct queue_service_options){.servers = 1, .workers = 1, .work = 10 * MS});
    take(0, 2, 0);
    take(0, 0, 3 * MS);
    take(0, 1, 3 * MS);
    assert_done(10 * MS, 2);
    assert_done(20 * MS, 0);
    assert_done(30 * MS, 1);
    assert_nothing_due();
    open_rig(&(struct queue_service_options){.servers = 1, .workers = 2, .work = 10 * MS});
    take(0, 0, 0);
    take(0, 1, 4 * MS);
    take(0, 2, 5 * MS);
    assert_done(10 * MS, 0);
    assert_done(14 * MS, 1);
    assert_done(20 * MS, 2);
    assert_nothing_due();
}

TEST(each_server_has_a_separate_queue_and_speed) {
    const double speeds[] = {1, 0.5};
    open_rig(&(struct queue_service_options){
        .servers = 2, .workers = 1, .speeds = speeds, .work = 10 * MS});
    take(1, 0, 0);
    take(1, 1, 0);
    take(0, 2, 25 * MS);
    assert_done(20 * MS, 0);
    assert_done(35 * MS, 2);
    assert_done(40 * MS, 1);
}

/* The server is stopped twice during a request and once while idle. */
TEST(stopped_server_resumes_its_request) {
    open_rig(&(struct queue_service_options){.servers = 1, .workers = 1, .work = 10 * MS});
    take(0, 0, 0);
    queue_service_set_running(&rig.service, 0, false, 4 * MS);
    assert_nothing_due();
    queue_service_set_running(&rig.service, 0, false, 5 * MS);
    take(0, 1, 50 * MS);
    queue_service_set_running(&rig.service, 0, true, 100 * MS);
    queue_service_set_running(&rig.service, 0, false, 101 * MS);
    queue_service_set_running(&rig.service, 0, true, 200 * MS);
    assert_done(205 * MS, 0);
    assert_done(215 * MS, 1);
    queue_service_set_running(&rig.service, 0, false, 300 * MS);
    take(0, 0, 310 * MS);
    assert_nothing_due();
    queue_service_set_running(&rig.service, 0, true, 400 * MS);
    assert_done(410 * MS, 0);
}

static void run_given_up(int given_up, ss_time last, uint64_t wasted) {
    uint32_t slot;
    open_rig(&(struct queue_service_options){
        .servers = 1, .workers = 1, .work = 10 * MS, .given_up = given_up});
    for (uint32_t i = 0; i < 3; i++)
        take(0, i, 0);
    queue_service_give_up(&rig.service, 0);
    queue_service_give_up(&rig.service, 1);
    assert_false(queue_service_wake(&rig.service, FIRST, &slot, 10 * MS));
    take(0, 0, 10 * MS); /* the slot is free, although the old request may still wait */
    if (given_up == QUEUE_SERVE)
        assert_false(queue_service_wake(&rig.service, FIRST, &slot, 20 * MS));
    assert_done(last, 2);
    assert_done(last + 10 * MS, 0);
    assert_nothing_due();
    assert_int_equal(rig.service.wasted, wasted);
}

TEST(abandoned_requests_are_served_or_skipped) {
    run_given_up(QUEUE_SERVE, 30 * MS, 2);
    run_given_up(QUEUE_SKIP, 20 * MS, 1);
}

TEST(work_of_a_request_does_not_depend_on_its_server) {
    struct queue_service_options options = {
        .servers = 2, .workers = 1, .work = 10 * MS, .spread = QUEUE_EXPONENTIAL, .seed = 7};
    ss_time due[2];
    for (uint32_t i = 0; i < 2; i++) {
        open_rig(&options);
        if (i > 0)
            take(0, 3, 0);
        take(i, 5, 0);
        due[i] = rig.sleepers.due[FIRST + i];
    }
    assert_int_equal(due[0], due[1]);
}

TEST(workers_share_the_cpus) {
    open_rig(
        &(struct queue_service_options){.servers = 1, .workers = 3, .cpus = 1, .work = 10 * MS});
    take(0, 0, 0);
    assert_near(queue_service_busy(&rig.service), 1, 1e-9);
    take(0, 1, 5 * MS);
    assert_near(queue_service_busy(&rig.service), 1, 1e-9);
    assert_done(15 * MS, 0);
    assert_done(20 * MS, 1);
    assert_near(queue_service_used(&rig.service, 30 * MS), 20 * MS, 1);
}

TEST(background_leaves_less_for_requests) {
    open_rig(&(struct queue_service_options){
        .servers = 1, .workers = 2, .cpus = 2, .background = 1, .work = 10 * MS});
    take(0, 0, 0);
    take(0, 1, 0);
    assert_done(20 * MS, 0);
    assert_done(20 * MS, 1);
    assert_near(queue_service_used(&rig.service, 20 * MS), 40 * MS, 1);
    assert_near(queue_service_used(&rig.service, 30 * MS), 50 * MS, 1);
}

/* Wakes sleepers until none is due. Fails if one of them completes a request. */
static void finish_late_work(ss_time last) {
    ss_time now = 0;
    for (;;) {
        uint32_t slot, sleeper = sleepers_first(&rig.sleepers);
        if (rig.sleepers.due[sleeper] == SS_TIME_NEVER)
            break;
        now = rig.sleepers.due[sleeper];
        assert_false(queue_service_wake(&rig.service, sleeper, &slot, now));
    }
    assert_that(now, ==, last);
}

TEST(late_work_begins_after_the_answer) {
    open_rig(&(struct queue_service_options){
        .servers = 1, .workers = 1, .cpus = 1, .work = 10 * MS, .late = 0.4, .late_by = 50 * MS});
    take(0, 0, 0);
    take(0, 1, 2 * MS);
    assert_done(6 * MS, 0);
    assert_done(12 * MS, 1);
    assert_near(queue_service_used(&rig.service, 55 * MS), 12 * MS, 1);
    finish_late_work(66 * MS);
    assert_near(queue_service_used(&rig.service, 100 * MS), 20 * MS, 1);
}

TEST(work_changes_gradually) {
    open_rig(&(struct queue_service_options){.servers = 1,
        .workers = 1,
        .work = 10 * MS,
        .change = 3,
        .change_from = 10 * MS,
        .change_over = 20 * MS});
    take(0, 0, 0);
    assert_done(10 * MS, 0);
    take(0, 1, 20 * MS);
    assert_done(40 * MS, 1);
    take(0, 2, 100 * MS);
    assert_done(130 * MS, 2);
}

UNIT_RUN
