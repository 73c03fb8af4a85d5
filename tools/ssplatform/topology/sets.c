/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "topology_document.h"

struct task {
    struct topology_usable cpus;
    enum topology_division division;
};

/* Writes the sets, or '!' and the reason why the CPUs cannot be divided. */
static void write_sets(FILE *stream, hwloc_topology_t topology, const void *context) {
    const struct task *task = context;
    struct ss_cpus sides[2];
    const char *reason = topology_divide(topology, &task->cpus, task->division, sides);
    if (reason) {
        fprintf(stream, "!%s\n", reason);
        return;
    }

    char text[2][8 * SS_CPUS_MAX];
    for (int side = 0; side < 2; side++)
        ss_cpus_print(text[side], sizeof text[side], &sides[side]);
    fprintf(stream, "%s/%s\n", text[0], text[1]);
}

int ssplatform_write_sets(
    FILE *stream, const char *root, enum topology_division division, struct ss_error *error) {
    struct sys_tree tree;
    if (sys_tree_open(&tree, root, error) < 0)
        return -1;

    struct task task = {.cpus = topology_usable_read(&tree), .division = division};
    char *text = topology_run_isolated(tree.root, write_sets, &task);
    sys_tree_close(&tree);

    if (!text)
        return ss_error_fail(error, "hwloc cannot read the topology");

    bool none = *text == '!';
    fputs(text + none, stream);
    free(text);
    return none;
}
