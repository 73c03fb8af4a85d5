/* SPDX-License-Identifier: Apache-2.0 */

#include "machine_tree.h"
#include "text.h"
#include "topology_document.h"

/* Checks the output for the machine below `root` and the returned status. */
static void expect_sets(
    const char *root, enum topology_division placement, int status, const char *expected) {
    struct ss_error error = {0};
    int got = ssplatform_write_sets(text_begin(), root, placement, &error);
    if (got < 0)
        fail_msg("%s", error.message);
    assert_string_equal(text_end(), expected);
    assert_int_equal(got, status);
}

/* Without `affinity`, the recorded machine keeps its own. */
static const struct {
    const char *machine, *affinity;
    enum topology_division placement;
    int status;
    const char *expected;
} rows[] = {
    {"m620", NULL, TOPOLOGY_PER_CHIP, 0,
        "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30/"
        "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\n"},
    {"m620", NULL, TOPOLOGY_PER_CORE, 0,
        "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29/"
        "2-3,6-7,10-11,14-15,18-19,22-23,26-27,30-31\n"},
    {"m620", NULL, TOPOLOGY_PER_THREAD, 0, "0-15/16-31\n"},
    /* The same machine with other CPU numbers. */
    {"m620-near", NULL, TOPOLOGY_PER_CHIP, 0, "0-15/16-31\n"},
    {"m620-near", NULL, TOPOLOGY_PER_CORE, 0,
        "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29/"
        "2-3,6-7,10-11,14-15,18-19,22-23,26-27,30-31\n"},
    {"m620-near", NULL, TOPOLOGY_PER_THREAD, 0,
        "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30/"
        "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\n"},
    /* Fast cores are paired with fast ones; slow cores have no second thread to share. */
    {"hybrid", NULL, TOPOLOGY_PER_CHIP, 1, "there is only one chip\n"},
    {"hybrid", NULL, TOPOLOGY_PER_CORE, 0, "0-1,4,6/2-3,5,7\n"},
    {"hybrid", NULL, TOPOLOGY_PER_THREAD, 0, "0,2/1,3\n"},
    {"hybrid", "0,4-6", TOPOLOGY_PER_CORE, 0, "4/5\n"},
    {"arm", "0-3", TOPOLOGY_PER_CORE, 0, "0,2/1,3\n"},
    {"arm", "0-3", TOPOLOGY_PER_THREAD, 1, "no core has two hardware threads\n"},
    /* CPUs outside of the affinity are in no set, and neither are CPUs that lose their partner. */
    {"xeon", NULL, TOPOLOGY_PER_CHIP, 0, "0,2,4,6/1,3,5,7\n"},
    {"xeon", "0-1,4-5,7", TOPOLOGY_PER_CHIP, 1, "the chips have different numbers of CPUs\n"},
    {"xeon", "0-1,4-5,7", TOPOLOGY_PER_CORE, 1, "no chip has two cores of the same kind\n"},
    {"xeon", "0-1,4-5,7", TOPOLOGY_PER_THREAD, 0, "0-1/4-5\n"},
    {"xeon", "0,2,4", TOPOLOGY_PER_CHIP, 1, "there is only one chip\n"},
    {"xeon", "", TOPOLOGY_PER_THREAD, 0, "0-3/4-7\n"},
};

TEST(machines_are_divided_into_sets) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *root = machine_unpack(rows[i].machine, NULL);
        char status[128];
        snprintf(status, sizeof status, "Name:\tx\nCpus_allowed_list:\t%s\n",
            rows[i].affinity ? rows[i].affinity : "");
        if (rows[i].affinity)
            tree_write("proc/self/status", status);
        expect_sets(root, rows[i].placement, rows[i].status, rows[i].expected);
    }
}

TEST(third_chip_is_left_out_of_all_sets) {
    const char *root = tree_new();
    tree_write("sys/devices/system/cpu/online", "0-2\n");
    for (int cpu = 0; cpu < 3; cpu++) {
        static const char *const names[] = {"core_cpus", "package_cpus", "physical_package_id"};
        for (int i = 0; i < 3; i++) {
            char path[128], text[16];
            snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/%s", cpu, names[i]);
            snprintf(text, sizeof text, "%d\n", i < 2 ? 1 << cpu : cpu);
            tree_write(path, text);
        }
    }
    expect_sets(root, TOPOLOGY_PER_CHIP, 0, "0/1\n");
}

TEST(unknown_topology_is_refused) {
    const char *root = machine_unpack("xeon", NULL);
    tree_write("sys/devices/system/cpu/online", "0-8\n");
    for (int placement = TOPOLOGY_PER_CHIP; placement <= TOPOLOGY_PER_THREAD; placement++)
        expect_sets(root, (enum topology_division)placement, 1,
            "the kernel does not report which CPUs share a core and a chip\n");
}

UNIT_RUN
