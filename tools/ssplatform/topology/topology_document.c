/* SPDX-License-Identifier: Apache-2.0 */
#include "topology_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "json_fields.h"
#include "platform_document.h"

static void write_count(
    struct ss_json *json, const char *name, hwloc_topology_t topology, hwloc_obj_type_t type) {
    ss_json_number(json, name, topology ? hwloc_get_nbobjs_by_type(topology, type) : NAN);
}

/* Writes the objects of a type. `topology` is NULL if the type is unknown. */
static void write_objects(struct ss_json *json, const char *name, hwloc_topology_t topology,
    hwloc_obj_type_t type, const struct sys_tree *tree) {
    if (!ssplatform_open_list(json, name, topology))
        return;

    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object));) {
        struct ss_cpus cpus = topology_cpus_of(object);
        char path[64];
        snprintf(path, sizeof path, "sys/devices/system/node/node%u/meminfo", object->os_index);

        ss_json_open(json, NULL, '{');
        ss_json_number(json, "number", object->os_index);
        ssplatform_write_cpus(json, "cpus", &cpus);
        if (type == HWLOC_OBJ_NUMANODE)
            ss_json_number(json, "memory_bytes", ssplatform_memory(tree, path));
        ss_json_close(json, '}');
    }

    ss_json_close(json, ']');
}

static void write_threads(struct ss_json *json, const struct ssplatform_group *group) {
    double threads = sys_tree_parse_number(group->values[0]);
    ss_json_number(json, "cores", ss_cpus_count(&group->cpus) / threads);
    ss_json_number(json, "threads", threads);
}

static void write_cores(struct ss_json *json, hwloc_topology_t topology) {
    struct ssplatform_groups groups = {0};

    for (hwloc_obj_t core = NULL;
         topology && (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
        struct ss_cpus cpus = topology_cpus_of(core);
        char count[16];
        snprintf(count, sizeof count, "%u", ss_cpus_count(&cpus));

        for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
            char *values[SSPLATFORM_FIELDS_MAX] = {NULL};
            if (!ss_cpus_has(&cpus, cpu))
                continue;
            values[0] = strdup(count);
            ssplatform_groups_add(&groups, cpu, values);
        }
    }

    ssplatform_groups_write(&groups, json, "threads_per_core", write_threads);
}

/* Returns whether the kernel reports the same nodes. Without any, hwloc invents one. */
static bool knows_nodes(const struct sys_tree *tree, hwloc_topology_t topology) {
    char *line = sys_tree_line(tree, "sys/devices/system/node/online");
    struct ss_cpus nodes, found = {0}; /* lists of nodes have the same format */
    struct ss_error ignored = {0};
    bool reported = line && ss_cpus_parse(line, &nodes, &ignored) == 0;

    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
        ss_cpus_add(&found, node->os_index);

    free(line);
    return reported && ss_cpus_are_equal(&nodes, &found);
}

static const char *cache_type(hwloc_obj_t cache) {
    switch (cache->attr->cache.type) {
    case HWLOC_OBJ_CACHE_DATA:
        return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
        return "instruction";
    default:
        return "unified";
    }
}

/* Returns whether hwloc found the same number of caches per CPU as the kernel reports. */
static bool knows_caches(
    const struct sys_tree *tree, hwloc_topology_t topology, const struct ss_cpus *online) {
    bool any = false;

    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        int reported = 0, found = 0;
        if (!ss_cpus_has(online, cpu))
            continue;

        while (reported < 16 &&
               sys_tree_has(tree, "sys/devices/system/cpu/cpu%u/cache/index%d", cpu, reported))
            reported++;
        for (hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology, cpu); object;
             object = object->parent)
            found += hwloc_obj_type_is_cache(object->type) != 0;

        if (reported != found)
            return false;
        any |= reported > 0;
    }

    return any;
}

static bool is_same_kind(hwloc_obj_t left, hwloc_obj_t right) {
    const struct hwloc_cache_attr_s *one = &left->attr->cache, *other = &right->attr->cache;
    return left->type == right->type && one->size == other->size &&
           one->linesize == other->linesize && one->associativity == other->associativity &&
           hwloc_bitmap_weight(left->cpuset) == hwloc_bitmap_weight(right->cpuset);
}

static double positive(double number) {
    return number > 0 ? number : NAN;
}

/* Writes a cache together with all later caches of the same kind. */
static void write_cache(struct ss_json *json, hwloc_obj_t first) {
    int count = 0;

    ss_json_open(json, NULL, '{');
    ss_json_number(json, "level", first->attr->cache.depth);
    ss_json_text(json, "type", cache_type(first));
    ss_json_number(json, "size_bytes", positive((double)first->attr->cache.size));
    ss_json_number(json, "line_bytes", positive(first->attr->cache.linesize));
    ss_json_number(json, "ways", positive(first->attr->cache.associativity));

    ss_json_open(json, "cpus", '[');
    for (hwloc_obj_t cache = first; cache; cache = cache->next_cousin) {
        struct ss_cpus cpus = topology_cpus_of(cache);
        if (!is_same_kind(first, cache))
            continue;
        ssplatform_write_cpus(json, NULL, &cpus);
        count++;
    }

    ss_json_close(json, ']');
    ss_json_number(json, "count", count);
    ss_json_close(json, '}');
}

static bool is_first_of_kind(hwloc_obj_t cache) {
    for (hwloc_obj_t other = cache->prev_cousin; other; other = other->prev_cousin) {
        if (is_same_kind(other, cache))
            return false;
    }
    return true;
}

static void write_caches(struct ss_json *json, hwloc_topology_t topology) {
    if (!ssplatform_open_list(json, "caches", topology))
        return;

    /* Write caches from the innermost to the outermost level. */
    for (int depth = hwloc_topology_get_depth(topology) - 1; depth >= 0; depth--) {
        for (hwloc_obj_t cache = hwloc_get_obj_by_depth(topology, depth, 0); cache;
             cache = cache->next_cousin) {
            if (hwloc_obj_type_is_cache(cache->type) && is_first_of_kind(cache))
                write_cache(json, cache);
        }
    }

    ss_json_close(json, ']');
}

static void write_all(struct ss_json *json, const struct sys_tree *tree,
    const struct ss_cpus *online, hwloc_topology_t topology) {
    bool agreed = topology_covers(topology, HWLOC_OBJ_PU, online);
    bool packages = agreed && topology_covers(topology, HWLOC_OBJ_PACKAGE, online);
    bool cores = agreed && topology_covers(topology, HWLOC_OBJ_CORE, online);
    bool nodes = agreed && topology_covers(topology, HWLOC_OBJ_NUMANODE, online) &&
                 knows_nodes(tree, topology);
    bool caches = agreed && knows_caches(tree, topology, online);

    ss_json_open(json, "topology", '{');
    write_count(json, "sockets", packages ? topology : NULL, HWLOC_OBJ_PACKAGE);
    write_count(json, "cores", cores ? topology : NULL, HWLOC_OBJ_CORE);
    write_cores(json, cores ? topology : NULL);
    write_count(json, "numa_nodes", nodes ? topology : NULL, HWLOC_OBJ_NUMANODE);
    write_objects(json, "socket_list", packages ? topology : NULL, HWLOC_OBJ_PACKAGE, tree);
    write_objects(json, "numa_node_list", nodes ? topology : NULL, HWLOC_OBJ_NUMANODE, tree);
    ss_json_close(json, '}');

    write_caches(json, caches ? topology : NULL);
}

struct topic {
    const struct ss_json *json;
    const struct sys_tree *tree;
    const struct ss_cpus *online;
};

/* Writes the members in hwloc's process, continuing the document of `json`. */
static void write_isolated(FILE *stream, hwloc_topology_t topology, const void *context) {
    const struct topic *topic = context;
    struct ss_json own = *topic->json;
    own.stream = stream;
    write_all(&own, topic->tree, topic->online, topology);
}

void ssplatform_write_topology(
    struct ss_json *json, const struct sys_tree *tree, const struct ss_cpus *online) {
    struct topic topic = {json, tree, online};
    char *text = topology_run_isolated(tree->root, write_isolated, &topic);

    if (text) {
        fputs(text, json->stream);
        json->needs_comma = true;
    } else {
        ssplatform_write_unknown_topology(json, tree, online);
    }

    free(text);
}
