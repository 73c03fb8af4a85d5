/* SPDX-License-Identifier: Apache-2.0 */
#include "binding.h"

#include "unit.h"

static char bound[400];

static void bind_thread(void *context, pid_t id, uint32_t cpu) {
    size_t length = strlen(bound);
    (void)context;
    snprintf(bound + length, sizeof bound - length, "%d:%u ", (int)id, cpu);
}

/* Looks at threads whose start times equal their ids, and checks which are bound. */
static void scan(struct ssactuate_binding *binding, const pid_t *threads, const char *expected) {
    *bound = '\0';
    ssactuate_binding_begin(binding);
    for (; *threads; threads++)
        ssactuate_binding_visit(binding, *threads, (uint64_t)*threads);
    ssactuate_binding_end(binding, bind_thread, NULL);
    assert_string_equal(bound, expected);
}

#define SCAN(binding, expected, ...) scan(binding, (const pid_t[]){__VA_ARGS__, 0}, expected)

static const struct topology_order three = {3, {4, 0, 2}};

TEST(threads_are_bound_in_the_order_of_their_births) {
    struct ssactuate_binding binding = {.cpus = &three};
    SCAN(&binding, "10:4 ", 10);
    SCAN(&binding, "11:0 12:2 ", 12, 10, 11);
    SCAN(&binding, "", 10, 11, 12);
    assert_false(binding.is_oversubscribed);
    ssactuate_binding_free(&binding);
}

TEST(more_threads_than_cpus_reuse_cpus) {
    struct ssactuate_binding binding = {.cpus = &three};
    SCAN(&binding, "10:4 11:0 12:2 13:4 14:0 ", 10, 11, 12, 13, 14);
    assert_true(binding.is_oversubscribed);
    ssactuate_binding_free(&binding);
}

TEST(cpu_of_an_ended_thread_is_used_again) {
    struct ssactuate_binding binding = {.cpus = &three};
    SCAN(&binding, "10:4 11:0 12:2 ", 10, 11, 12);
    SCAN(&binding, "13:0 ", 10, 12, 13);
    assert_false(binding.is_oversubscribed);
    ssactuate_binding_free(&binding);
}

TEST(thread_with_a_reused_id_is_bound_again) {
    struct ssactuate_binding binding = {.cpus = &three};
    SCAN(&binding, "10:4 11:0 ", 10, 11);
    *bound = '\0';
    ssactuate_binding_begin(&binding);
    ssactuate_binding_visit(&binding, 10, 99);
    ssactuate_binding_visit(&binding, 11, 11);
    ssactuate_binding_end(&binding, bind_thread, NULL);
    assert_string_equal(bound, "10:4 ");
    ssactuate_binding_free(&binding);
}

UNIT_RUN
