/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the CPUs to which commands are pinned, on the machines of the published work. */
#include "placement.h"

#include "unit.h"

/* Two chips with two nodes each, of four pairs of cores that share a module: 32 CPUs. */
#define OPTERON "package:2 numa:2 l3:1 core:4 pu:2"

/* Two chips with six cores of two threads each; the second threads are numbered last. */
#define XEON "package:2 numa:1 l3:1 core:6 pu:2(indexes=2*12:1*2)"

static hwloc_topology_t topology;
static struct topology_usable usable;
static struct topology_order order;

/* The machine stays open until the next call. */
static void open_machine(const char *text) {
    if (topology)
        hwloc_topology_destroy(topology);
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, text), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    usable = (struct topology_usable){0};
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));)
        ss_cpus_add(&usable.online, pu->os_index);
    usable.usable = usable.online;
}

static const char *choose(enum topology_scheme scheme, uint32_t count, int side) {
    const struct topology_request request = {scheme, count, side};
    return topology_choose(topology, &usable, &request, &order);
}

/* Checks the CPUs in their order. */
static void expect(enum topology_scheme scheme, uint32_t count, const char *expected) {
    char text[400] = "";
    const char *reason = choose(scheme, count, 0);
    if (reason)
        fail_msg("%s", reason);
    for (uint32_t i = 0; i < order.count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%u", i ? " " : "", order.cpus[i]);
    }
    assert_string_equal(text, expected);
}

/* Checks the CPUs of a side as a set. */
static void expect_side(enum topology_scheme scheme, int side, const char *expected) {
    struct ss_cpus cpus = {0};
    char text[400];
    const char *reason = choose(scheme, 0, side);
    if (reason)
        fail_msg("%s", reason);
    for (uint32_t i = 0; i < order.count; i++)
        ss_cpus_add(&cpus, order.cpus[i]);
    ss_cpus_print(text, sizeof text, &cpus);
    assert_string_equal(text, expected);
}

/* A quarter of the CPUs: on one node, on one chip, and on both chips. */
TEST(published_placements_of_a_quarter_load_are_reproduced) {
    open_machine(OPTERON);
    expect(TOPOLOGY_ONE_NODE, 8, "0 2 4 6 1 3 5 7");
    expect(TOPOLOGY_ONE_CHIP, 8, "0 8 2 10 4 12 6 14");
    expect(TOPOLOGY_SPREAD, 8, "0 16 8 24 2 18 10 26");
    expect(TOPOLOGY_FIRST, 8, "0 1 2 3 4 5 6 7");
}

TEST(sides_get_the_cpus_of_each_sharing_scheme) {
    open_machine(OPTERON);
    expect_side(TOPOLOGY_SIDE_OF_CHIPS, 0, "0-15");
    expect_side(TOPOLOGY_SIDE_OF_CHIPS, 1, "16-31");
    expect_side(TOPOLOGY_SIDE_OF_CORES, 0, "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29");
    expect_side(TOPOLOGY_SIDE_OF_THREADS, 1, "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31");
}

TEST(xeon_uses_all_cores_before_second_threads) {
    open_machine(XEON);
    expect(TOPOLOGY_ONE_CHIP, 7, "0 1 2 3 4 5 12");
    expect(TOPOLOGY_SPREAD, 4, "0 6 1 7");
    expect(TOPOLOGY_ONE_NODE, 2, "0 1");
    expect_side(TOPOLOGY_SIDE_OF_THREADS, 0, "0-11");
}

TEST(requests_for_too_many_cpus_are_refused) {
    open_machine(XEON);
    static const char too_many[] = "the machine has fewer CPUs than requested";
    assert_string_equal(choose(TOPOLOGY_ONE_CHIP, 13, 0), too_many);
    assert_string_equal(choose(TOPOLOGY_FIRST, 25, 0), too_many);
    assert_null(choose(TOPOLOGY_ONE_CHIP, 12, 0));
    open_machine("package:1 core:4 pu:1");
    assert_string_equal(choose(TOPOLOGY_SIDE_OF_CHIPS, 0, 0), "there is only one chip");
    assert_string_equal(choose(TOPOLOGY_SIDE_OF_THREADS, 0, 0), "no core has two hardware threads");
}

TEST(only_usable_cpus_are_chosen) {
    open_machine(OPTERON);
    usable.usable = (struct ss_cpus){0};
    for (uint32_t cpu = 12; cpu < 24; cpu++)
        ss_cpus_add(&usable.usable, cpu);
    expect(TOPOLOGY_ONE_CHIP, 0, "16 18 20 22 17 19 21 23");
    expect(TOPOLOGY_FIRST, 2, "12 13");
}

UNIT_RUN
