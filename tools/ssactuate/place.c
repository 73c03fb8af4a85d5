/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

int ssactuate_place_choose(struct ssactuate_place *place, const struct ssactuate_machine *machine,
    struct ssactuate_plan *plan, struct ss_error *error) {
    const struct topology_request request = {TOPOLOGY_FIRST, (uint32_t)plan->cpu_count, 0};
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    place->mask = cpus.usable;
    place->masked = false;

    if (!plan->pinned && plan->cpu_count == 0)
        return 0;
    if (!plan->ordered && topology_place(machine->root, &request, &plan->cpus, error) < 0)
        return -1;
    if (plan->cpu_count > 0)
        plan->cpus.count = (uint32_t)plan->cpu_count;

    place->mask = (struct ss_cpus){0};
    for (uint32_t i = 0; i < plan->cpus.count; i++)
        ss_cpus_add(&place->mask, plan->cpus.cpus[i]);
    place->masked = plan->cpus.count < ss_cpus_count(&cpus.usable);
    return 0;
}

unsigned ssactuate_place_limits(
    const struct ssactuate_machine *machine, struct ssactuate_plan *plan) {
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    bool fewer =
        plan->pinned || (plan->cpu_count > 0 && plan->cpu_count < ss_cpus_count(&cpus.usable));
    return (plan->quota > 0 ? 1U << LIMIT_QUOTA : 0) | (plan->memory > 0 ? 1U << LIMIT_MEMORY : 0) |
           (fewer ? 1U << LIMIT_CPUS : 0);
}

int ssactuate_place_find(struct ssactuate_place *place, const struct ssactuate_machine *machine,
    unsigned limits, const char *prefix, struct ss_error *error) {
    const struct ss_platform_roots *roots = &machine->roots;
    struct ss_error ignored = {0};

    place->has_group = limits != 0;
    if (!limits || limit_group_find(&place->group, limits, prefix, roots, &ignored) == 0)
        return 0;

    limits &= ~(1U << LIMIT_CPUS);
    place->has_group = limits != 0;
    return limits ? limit_group_find(&place->group, limits, prefix, roots, error) : 0;
}

int ssactuate_place_make(struct ssactuate_place *place, struct ss_error *error) {
    const struct limit_part *parts = place->group.parts;
    bool only_cpus = !*parts[LIMIT_QUOTA].folder && !*parts[LIMIT_MEMORY].folder;
    struct ss_error failure = {0};

    if (!place->has_group || limit_group_make(&place->group, &failure) == 0)
        return 0;

    place->has_group = false;
    return only_cpus ? 0 : ss_error_set(error, failure.status, "%s", failure.message);
}

int ssactuate_place_limit(const struct ssactuate_place *place, const struct ssactuate_plan *plan,
    struct ss_error *error) {
    const struct limit_group *group = &place->group;
    const struct limit_part *parts = group->parts;

    if (!place->has_group)
        return 0;

    if (*parts[LIMIT_CPUS].folder && limit_group_set_cpus(group, &place->mask, error) < 0)
        return ss_error_wrap(error, "cannot set the cpuset");
    if (*parts[LIMIT_QUOTA].folder &&
        limit_group_set_quota(group, plan->quota, plan->period, error) < 0)
        return ss_error_wrap(error, "cannot set quota");
    if (*parts[LIMIT_MEMORY].folder && limit_group_set_memory(group, plan->memory, error) < 0)
        return ss_error_wrap(error, "cannot set memory");

    return 0;
}
