/* SPDX-License-Identifier: Apache-2.0 */
#include "placement.h"

/* Maximum number of unpaired cores: each chip has at most one of each kind. */
#define WAITING_MAX 1024

struct sides {
    hwloc_topology_t topology;
    const struct ss_cpus *usable;
    struct ss_cpus cpus[2];
};

static struct ss_cpus usable_of(const struct sides *sides, hwloc_obj_t object) {
    struct ss_cpus cpus = topology_cpus_of(object);
    ss_cpus_intersect(&cpus, sides->usable);
    return cpus;
}

static uint32_t count_usable(const struct sides *sides, hwloc_obj_t object) {
    struct ss_cpus cpus = usable_of(sides, object);
    return ss_cpus_count(&cpus);
}

static void give(struct sides *sides, int side, hwloc_obj_t object) {
    struct ss_cpus cpus = usable_of(sides, object);
    topology_join(&sides->cpus[side], &cpus);
}

/* Returns the next object with a usable CPU. */
static hwloc_obj_t next(const struct sides *sides, hwloc_obj_type_t type, hwloc_obj_t object) {
    do
        object = hwloc_get_next_obj_by_type(sides->topology, type, object);
    while (object && count_usable(sides, object) == 0);
    return object;
}

static const char *divide_chips(struct sides *sides) {
    unsigned chips = 0, number = 0;
    for (hwloc_obj_t chip = NULL; (chip = next(sides, HWLOC_OBJ_PACKAGE, chip));)
        chips++;
    if (chips < 2)
        return "there is only one chip";

    for (hwloc_obj_t chip = NULL; (chip = next(sides, HWLOC_OBJ_PACKAGE, chip)); number++) {
        if (number < chips / 2 * 2)
            give(sides, number >= chips / 2, chip);
    }

    if (ss_cpus_count(&sides->cpus[0]) != ss_cpus_count(&sides->cpus[1]))
        return "the chips have different numbers of CPUs";
    return NULL;
}

static int kind_of(const struct sides *sides, hwloc_obj_t core) {
#if HWLOC_API_VERSION >= 0x00020400
    return hwloc_cpukinds_get_by_cpuset(sides->topology, core->cpuset, 0);
#else
    (void)sides, (void)core;
    return 0;
#endif
}

static bool alike(const struct sides *sides, hwloc_obj_t left, hwloc_obj_t right) {
    return hwloc_get_ancestor_obj_by_type(sides->topology, HWLOC_OBJ_PACKAGE, left) ==
               hwloc_get_ancestor_obj_by_type(sides->topology, HWLOC_OBJ_PACKAGE, right) &&
           kind_of(sides, left) == kind_of(sides, right) &&
           count_usable(sides, left) == count_usable(sides, right);
}

/* Puts neighboring cores on different sides, so that both sides share every cache above a core. */
static const char *divide_cores(struct sides *sides) {
    hwloc_obj_t waiting[WAITING_MAX];
    size_t count = 0;
    bool any = false;

    for (hwloc_obj_t core = NULL; (core = next(sides, HWLOC_OBJ_CORE, core));) {
        size_t at = 0;
        while (at < count && !alike(sides, waiting[at], core))
            at++;

        if (at < count) {
            give(sides, 0, waiting[at]);
            give(sides, 1, core);
            waiting[at] = waiting[--count];
            any = true;
        } else if (count < WAITING_MAX) {
            waiting[count++] = core;
        }
    }

    return any ? NULL : "no chip has two cores of the same kind";
}

static const char *divide_threads(struct sides *sides) {
    bool any = false;
    for (hwloc_obj_t core = NULL; (core = next(sides, HWLOC_OBJ_CORE, core));) {
        struct ss_cpus cpus = usable_of(sides, core);
        uint32_t half = ss_cpus_count(&cpus) / 2, number = 0;
        any |= half > 0;
        for (uint32_t cpu = 0; cpu < SS_CPUS_MAX && number < 2 * half; cpu++) {
            if (ss_cpus_has(&cpus, cpu))
                ss_cpus_add(&sides->cpus[number++ >= half], cpu);
        }
    }
    return any ? NULL : "no core has two hardware threads";
}

const char *topology_divide(hwloc_topology_t topology, const struct topology_usable *usable,
    enum topology_division division, struct ss_cpus cpus[2]) {
    static const char *(*const dividers[])(struct sides *) = {
        [TOPOLOGY_PER_CHIP] = divide_chips,
        [TOPOLOGY_PER_CORE] = divide_cores,
        [TOPOLOGY_PER_THREAD] = divide_threads,
    };
    static const hwloc_obj_type_t needed[] = {HWLOC_OBJ_PU, HWLOC_OBJ_CORE, HWLOC_OBJ_PACKAGE};
    struct sides sides = {.topology = topology, .usable = &usable->usable};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!topology_covers(topology, needed[i], &usable->online))
            return "the kernel does not report which CPUs share a core and a chip";
    }

    const char *reason = dividers[division](&sides);
    memcpy(cpus, sides.cpus, sizeof sides.cpus);
    return reason;
}
