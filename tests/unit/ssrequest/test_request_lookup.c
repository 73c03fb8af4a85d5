/* SPDX-License-Identifier: Apache-2.0 */
/* The word pthread_create, here of the tested code, makes CMake run this file under TSan, too. */
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "unit.h"

/*
 * Initialized once: the thread of a case may still be inside sem_post() when the next case begins.
 * `discarded` is posted once per lookup, by its last owner, caller or thread.
 */
static sem_t answers, discarded;
static const char *wanted_socket;

__attribute__((constructor)) static void initialize(void) {
    if (sem_init(&answers, 0, 0) < 0 || sem_init(&discarded, 0, 0) < 0)
        abort();
}

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) < 0) {
    }
}

/* The linker replaces both functions in the lookup with these. */
int __wrap_ssrequest_targets_make(const char *const *urls, uint32_t count, const char *socket,
    struct ssrequest_targets *targets, struct ss_error *error);
void __wrap_ssrequest_targets_free(struct ssrequest_targets *targets);

int __wrap_ssrequest_targets_make(const char *const *urls, uint32_t count, const char *socket,
    struct ssrequest_targets *targets, struct ss_error *error) {
    wait_for(&answers);
    if (strcmp(urls[0], "http://nowhere/") == 0)
        return ss_error_fail(error, "nowhere: no address");
    if ((socket == NULL) != (wanted_socket == NULL))
        return ss_error_fail(error, "another socket");
    *targets =
        (struct ssrequest_targets){.list = calloc(count, sizeof *targets->list), .count = count};
    return targets->list ? 0 : ss_error_memory(error);
}

void __wrap_ssrequest_targets_free(struct ssrequest_targets *targets) {
    free(targets->list);
    *targets = (struct ssrequest_targets){0};
    sem_post(&discarded);
}

static struct ssrequest_lookup *open_it(const char *socket) {
    struct ssrequest_lookup *lookup;
    wanted_socket = socket;
    assert_int_equal(ssrequest_lookup_open(&lookup, socket, NULL), 0);
    return lookup;
}

/* Closes the lookup and waits for its thread, which may be the last owner, before the next case. */
static void close_it(struct ssrequest_lookup *lookup) {
    ssrequest_lookup_close(lookup);
    wait_for(&discarded);
}

static bool is_ready(const struct ssrequest_lookup *lookup, int milliseconds) {
    struct pollfd ready = {.fd = ssrequest_lookup_descriptor(lookup), .events = POLLIN};
    return poll(&ready, 1, milliseconds) == 1;
}

static const char *const urls[] = {"http://a/", "http://b/"};

TEST(lookup_does_not_block_its_caller) {
    struct ssrequest_lookup *lookup = open_it("/run/x");
    struct ssrequest_targets targets;
    struct ss_error error = {0};
    assert_int_equal(ssrequest_lookup_begin(lookup, urls, 2, &error), 0);
    assert_false(is_ready(lookup, 0));
    assert_fails(ssrequest_lookup_begin(lookup, urls, 1, &error), error,
        "a lookup is in progress: wait for its answer");
    sem_post(&answers);
    assert_true(is_ready(lookup, 60000));
    assert_int_equal(ssrequest_lookup_take(lookup, &targets, NULL), 0);
    assert_int_equal(targets.count, 2);
    assert_string_equal(ssrequest_lookup_urls(lookup)[1], "http://b/");
    assert_false(is_ready(lookup, 0));
    free(targets.list);
    close_it(lookup);
}

TEST(lookup_failures_are_reported_and_can_be_retried) {
    struct ssrequest_lookup *lookup = open_it(NULL);
    struct ssrequest_targets targets;
    struct ss_error error = {0};
    assert_int_equal(
        ssrequest_lookup_begin(lookup, (const char *const[]){"http://nowhere/"}, 1, NULL), 0);
    sem_post(&answers);
    assert_true(is_ready(lookup, 60000));
    assert_fails(ssrequest_lookup_take(lookup, &targets, &error), error, "nowhere: no address");
    assert_int_equal(ssrequest_lookup_begin(lookup, urls, 1, NULL), 0);
    sem_post(&answers);
    assert_true(is_ready(lookup, 60000));
    assert_int_equal(ssrequest_lookup_take(lookup, &targets, NULL), 0);
    assert_int_equal(targets.count, 1);
    free(targets.list);
    close_it(lookup);
}

/* The thread must free its result; sanitizers report a leak or a use after free. */
TEST(closing_does_not_wait_for_an_unfinished_lookup) {
    struct ssrequest_lookup *lookup = open_it(NULL);
    assert_int_equal(ssrequest_lookup_begin(lookup, urls, 2, NULL), 0);
    ssrequest_lookup_close(lookup);
    assert_int_equal(sem_trywait(&discarded), -1);
    sem_post(&answers);
    wait_for(&discarded);
}

TEST(unread_lookup_result_is_freed) {
    struct ssrequest_lookup *lookup = open_it(NULL);
    assert_int_equal(ssrequest_lookup_begin(lookup, urls, 2, NULL), 0);
    sem_post(&answers);
    assert_true(is_ready(lookup, 60000));
    close_it(lookup);
}

UNIT_RUN
