/* SPDX-License-Identifier: Apache-2.0 */
#include "placement.h"

#include <string.h>

#include "base/owned.h"

struct topology_usable topology_usable_read(const struct sys_tree *tree) {
    struct topology_usable cpus = {.online = sys_tree_online(tree)};
    struct ss_error ignored = {0};
    struct ss_cpus allowed;
    char *affinity = sys_tree_affinity(tree);

    cpus.usable = cpus.online;
    if (affinity && ss_cpus_parse(affinity, &allowed, &ignored) == 0)
        ss_cpus_intersect(&cpus.usable, &allowed);
    free(affinity);
    return cpus;
}

static void add_cpu(struct topology_order *order, uint32_t cpu) {
    if (order->count < SS_CPUS_MAX)
        order->cpus[order->count++] = cpu;
}

/* Takes a CPU from each list in turn. */
static void interleave(
    struct topology_order *order, const struct topology_order *lists, unsigned count) {
    bool any = true;
    for (uint32_t at = 0; any; at++) {
        any = false;
        for (unsigned i = 0; i < count; i++) {
            if (at < lists[i].count) {
                add_cpu(order, lists[i].cpus[at]);
                any = true;
            }
        }
    }
}

/*
 * Orders the CPUs below an object so that neighbors share as little as possible. Returns false if
 * memory is exhausted.
 */
static bool spread(hwloc_obj_t object, const struct ss_cpus *usable, struct topology_order *order) {
    order->count = 0;
    if (object->type == HWLOC_OBJ_PU) {
        if (object->os_index < SS_CPUS_MAX && ss_cpus_has(usable, object->os_index))
            add_cpu(order, object->os_index);
        return true;
    }

    if (object->arity == 1)
        return spread(object->children[0], usable, order);

    struct topology_order *lists = calloc(object->arity + 1, sizeof *lists);
    bool done = lists != NULL;
    for (unsigned i = 0; done && i < object->arity; i++)
        done = spread(object->children[i], usable, &lists[i]);
    if (done)
        interleave(order, lists, object->arity);
    free(lists);
    return done;
}

static void keep_only(struct topology_order *order, const struct ss_cpus *cpus) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        if (ss_cpus_has(cpus, order->cpus[i]))
            order->cpus[kept++] = order->cpus[i];
    }
    order->count = kept;
}

/* Keeps the CPUs of the object with the most usable CPUs, or of the first such object. */
static const char *keep_one(hwloc_topology_t topology, hwloc_obj_type_t type,
    const struct topology_usable *usable, struct topology_order *order) {
    struct ss_cpus best = {0};

    if (!topology_covers(topology, type, &usable->online))
        return type == HWLOC_OBJ_PACKAGE ? "the kernel does not report which CPUs share a chip"
                                         : "the kernel does not report which CPUs share a node";

    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object));) {
        struct ss_cpus cpus = topology_cpus_of(object);
        ss_cpus_intersect(&cpus, &usable->usable);
        if (ss_cpus_count(&cpus) > ss_cpus_count(&best))
            best = cpus;
    }

    keep_only(order, &best);
    return NULL;
}

static const char *keep_side(hwloc_topology_t topology, const struct topology_usable *usable,
    const struct topology_request *request, struct topology_order *order) {
    struct ss_cpus sides[2];
    enum topology_division division =
        (enum topology_division)(request->scheme - TOPOLOGY_SIDE_OF_CHIPS);

    const char *reason = topology_divide(topology, usable, division, sides);
    if (!reason)
        keep_only(order, &sides[request->side]);
    return reason;
}

const char *topology_choose(hwloc_topology_t topology, const struct topology_usable *usable,
    const struct topology_request *request, struct topology_order *order) {
    const char *reason = NULL;
    order->count = 0;

    for (uint32_t cpu = 0; request->scheme == TOPOLOGY_FIRST && cpu < SS_CPUS_MAX; cpu++) {
        if (ss_cpus_has(&usable->usable, cpu))
            add_cpu(order, cpu);
    }

    if (request->scheme != TOPOLOGY_FIRST &&
        !spread(hwloc_get_root_obj(topology), &usable->usable, order))
        return "out of memory";

    if (request->scheme == TOPOLOGY_ONE_NODE)
        reason = keep_one(topology, HWLOC_OBJ_NUMANODE, usable, order);
    else if (request->scheme == TOPOLOGY_ONE_CHIP)
        reason = keep_one(topology, HWLOC_OBJ_PACKAGE, usable, order);
    else if (request->scheme >= TOPOLOGY_SIDE_OF_CHIPS)
        reason = keep_side(topology, usable, request, order);

    if (reason)
        return reason;
    if (order->count < request->count || order->count == 0)
        return "the machine has fewer CPUs than requested";

    if (request->count)
        order->count = request->count;
    return NULL;
}

struct task {
    struct topology_usable usable;
    const struct topology_request *request;
};

/* Writes the CPUs in order, or '!' and the reason why the machine lacks the placement. */
static void write_order(FILE *stream, hwloc_topology_t topology, const void *context) {
    static struct topology_order order;
    const struct task *task = context;
    const char *reason = topology_choose(topology, &task->usable, task->request, &order);
    if (reason)
        fprintf(stream, "!%s", reason);
    for (uint32_t i = 0; !reason && i < order.count; i++)
        fprintf(stream, "%u ", order.cpus[i]);
}

int topology_place(const char *root, const struct topology_request *request,
    struct topology_order *order, struct ss_error *error) {
    struct sys_tree tree;
    if (sys_tree_open(&tree, root, error) < 0)
        return -1;

    struct task task = {.usable = topology_usable_read(&tree), .request = request};
    sys_tree_close(&tree);
    if (request->scheme == TOPOLOGY_FIRST) { /* needs no topology */
        const char *reason = topology_choose(NULL, &task.usable, request, order);
        return reason ? ss_error_fail(error, "%s", reason) : 0;
    }

    SS_OWNED(free) char *text = topology_run_isolated(root, write_order, &task);
    if (!text)
        return ss_error_fail(error, "hwloc cannot read the topology");
    if (*text == '!')
        return ss_error_fail(error, "%s", text + 1);

    order->count = 0;
    for (char *at = text, *end; *at; at = end + 1)
        add_cpu(order, (uint32_t)strtoul(at, &end, 10));
    return 0;
}
