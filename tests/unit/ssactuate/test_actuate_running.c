/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the affinity of a running process group, here the group of this process. */
#include "journal.h"
#include "running.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tree.h"

/* Replaces sched_getaffinity() and sched_setaffinity() with a simulated affinity. */

static struct ss_cpus affinity;
static int lost;    /* how many of the next calls have no effect */
static int refusal; /* errno of every call; 0 if they succeed */
static size_t calls;

/* A second thread, which starts during the first call. */
static pthread_t newborn;
static bool births;           /* whether it starts */
static atomic_int newborn_id; /* 0 if it does not exist */
static struct ss_cpus newborn_affinity;
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* held while the thread has to exist */

static void *live(void *context) {
    (void)context;
    newborn_id = (int)gettid();
    pthread_mutex_lock(&life);
    pthread_mutex_unlock(&life);
    return NULL;
}

static void bear(void) {
    births = false;
    newborn_affinity = affinity;
    pthread_mutex_lock(&life);
    assert_int_equal(pthread_create(&newborn, NULL, live, NULL), 0);
    while (newborn_id == 0)
        sched_yield();
}

static void bury(void) {
    pthread_mutex_unlock(&life);
    pthread_join(newborn, NULL);
    newborn_id = 0;
}

static struct ss_cpus *affinity_of(pid_t thread) {
    return newborn_id > 0 && thread == newborn_id ? &newborn_affinity : &affinity;
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *mask) {
    memcpy(mask, affinity_of(thread), size < sizeof affinity ? size : sizeof affinity);
    return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *mask) {
    calls++;
    if (births)
        bear();
    if (refusal) {
        errno = refusal;
        return -1;
    }
    if (lost-- > 0)
        return 0;
    memcpy(affinity_of(thread), mask, size < sizeof affinity ? size : sizeof affinity);
    return 0;
}

static struct ssactuate_running running;
static struct ss_cpus one, two;

static struct ss_cpus parse(const char *list) {
    struct ss_cpus cpus;
    assert_int_equal(ss_cpus_parse(list, &cpus, NULL), 0);
    return cpus;
}

static void assert_affinity(const char *list) {
    struct ss_cpus expected = parse(list);
    assert_memory_equal(&affinity, &expected, sizeof expected);
}

/*
 * Puts this process into a group of its own, with CPUs 0 and 1. The thread sanitizer adds a thread
 * when the first one is started, and a thread that was joined may still exist.
 */
static void begin(void) {
    assert_true(setpgid(0, 0) == 0 || getpgrp() == getpid());
    running = (struct ssactuate_running){.group = getpid()};
    one = parse("0");
    two = parse("1");
    affinity = parse("0-1");
    lost = refusal = 0;
    calls = 0;
    assert_true(ssactuate_running_scan(&running));
    assert_that(running.count, >, 0);
    assert_true(ssactuate_running_add_affinity(&running, &one));
}

TEST(confined_affinity_is_verified_and_restored) {
    struct ss_error error = {0};
    begin();
    assert_int_equal(ssactuate_running_confine(&running, &one, &error), 0);
    assert_affinity("0");
    lost = 1; /* as if a cpuset excluded these CPUs */
    assert_fails(ssactuate_running_confine(&running, &two, &error), error,
        "the kernel does not allow these CPUs");
    error = (struct ss_error){0};
    refusal = EPERM;
    assert_fails(
        ssactuate_running_confine(&running, &two, &error), error, "Operation not permitted");
    refusal = ESRCH; /* the thread has just ended */
    assert_int_equal(ssactuate_running_confine(&running, &two, &error), 0);
    ssactuate_running_free(&running);
}

TEST(restored_affinity_is_written_again_if_it_differs) {
    struct ss_error error = {0};
    size_t foreign;
    begin();
    affinity = one;
    lost = 1;
    assert_int_equal(ssactuate_running_restore(&running, &foreign, &error), 0);
    assert_affinity("0-1");
    assert_int_equal(foreign, 0);
    affinity = one;
    lost = 2;
    assert_fails(ssactuate_running_restore(&running, &foreign, &error), error,
        "cannot restore the affinity of thread");
    affinity = two; /* not an affinity that the run has set */
    error = (struct ss_error){0};
    assert_int_equal(ssactuate_running_restore(&running, &foreign, &error), 0);
    assert_affinity("1");
    assert_int_equal(foreign, 1);
    ssactuate_running_free(&running);
}

TEST(thread_with_a_reused_id_is_left_alone) {
    struct ss_error error = {0};
    begin();
    running.members[0].started--;
    assert_int_equal(ssactuate_running_confine(&running, &one, &error), 0);
    assert_int_equal(calls, 0);
    ssactuate_running_free(&running);
}

/* Opens a journal of this process group, which replaces `running`. */
static void open_journal(struct ssactuate_state *folder, struct ssactuate_journal *journal) {
    struct ss_error error = {0};
    ssactuate_running_free(&running);
    assert_int_equal(ssactuate_state_open(folder, tree_new(), &error), 0);
    assert_int_equal(ssactuate_journal_create(journal, folder, &error), 0);
    assert_int_equal(ssactuate_journal_add_running(journal, getpid(), &error), 0);
    assert_int_equal(ssactuate_journal_arm(journal, &error), 0);
}

/* The new thread has the old affinity and was missed by the first scan. */
TEST(thread_started_while_confining_is_confined) {
    struct ss_error error = {0};
    struct ssactuate_state folder;
    struct ssactuate_journal journal;
    begin();
    open_journal(&folder, &journal);
    births = true;
    assert_int_equal(ssactuate_journal_confine(&journal, 0, &one, &error), 0);
    assert_that(newborn_id, >, 0);
    assert_memory_equal(&newborn_affinity, &one, sizeof one);
    bury();
    ssactuate_journal_close(&journal);
    ssactuate_state_close(&folder);
}

/* A keeper rereads the journal, in which the first note failed because the disk was full. */
TEST(affinity_is_noted_again_after_a_failure) {
    struct ss_error error = {0};
    struct ssactuate_state folder;
    struct ssactuate_journal journal;
    begin();
    open_journal(&folder, &journal);
    tree_limit_size(1);
    assert_int_equal(ssactuate_journal_confine(&journal, 0, &one, &error), -1);
    assert_affinity("0-1");
    tree_limit_size(RLIM_INFINITY);
    error = (struct ss_error){0};
    assert_int_equal(ssactuate_journal_confine(&journal, 0, &one, &error), 0);
    assert_int_equal(ssactuate_journal_reload(&journal, &error), 0);
    assert_true(ssactuate_running_has_affinity(&journal.running[0], &one));
    ssactuate_journal_close(&journal);
    ssactuate_state_close(&folder);
}

/* The new thread has inherited the affinity of the run and was missed by the first scan. */
TEST(thread_started_while_restoring_is_restored) {
    struct ss_error error = {0};
    struct ss_cpus both = parse("0-1");
    size_t foreign;
    begin();
    assert_int_equal(ssactuate_running_confine(&running, &one, &error), 0);
    births = true;
    assert_int_equal(ssactuate_running_restore(&running, &foreign, &error), 0);
    assert_that(newborn_id, >, 0);
    assert_affinity("0-1");
    assert_memory_equal(&newborn_affinity, &both, sizeof both);
    assert_int_equal(foreign, 0);
    bury();
    ssactuate_running_free(&running);
}

UNIT_RUN
