/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "groups.h"
#include "report.h"

/*
 * hwloc invents what the kernel does not tell: one node, one package, as many CPUs as we run on.
 * Nothing of it is believed that does not cover exactly the CPUs that are online.
 */

/* So long may it take, and so much may it write. */
#define SECONDS_MAX 10
#define TEXT_MAX    (64u << 20)

extern char **environ;

/* Its variables would let us describe any machine but this one. */
static void clear_environment(void) {
    for (char **at = environ; *at;) {
        char name[64];
        size_t length = strcspn(*at, "=");
        bool ours = strncmp(*at, "HWLOC_", 6) == 0 && length < sizeof name;
        snprintf(name, sizeof name, "%.*s", (int)length, *at);
        if (!ours || unsetenv(name) < 0)
            at++;
    }
}

/* Only what the kernel says: to ask the processors would mean to run on each of them in turn, and
 * they know nothing of a recorded machine. */
static void set_environment(const char *root) {
    clear_environment();
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1); /* they look for displays */
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    if (root)
        setenv("HWLOC_FSROOT", root, 1);
}

static hwloc_topology_t load(const char *root) {
    hwloc_topology_t topology;
    set_environment(root);
    if (hwloc_topology_init(&topology) < 0)
        return NULL;
    /* The machine, not what a control group leaves of it. */
    bool loaded =
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
        hwloc_topology_load(topology) == 0;
    if (loaded)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

/* ---- sets ---- */

static struct ss_cpus to_cpus(hwloc_const_bitmap_t set) {
    struct ss_cpus cpus = {0};
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && cpu < SS_CPUS_MAX;
         cpu = hwloc_bitmap_next(set, cpu))
        ss_cpus_add(&cpus, (uint32_t)cpu);
    return cpus;
}

static bool same_cpus(const struct ss_cpus *left, const struct ss_cpus *right) {
    return memcmp(left, right, sizeof *left) == 0;
}

/* Whether every CPU is in one and only one object of the type. */
static bool is_complete(
    hwloc_topology_t topology, hwloc_obj_type_t type, const struct ss_cpus *online) {
    struct ss_cpus all = {0};
    uint32_t members = 0;
    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object));) {
        struct ss_cpus cpus = to_cpus(object->cpuset);
        members += ss_cpus_count(&cpus);
        for (size_t i = 0; i < SS_CPUS_MAX / 64; i++)
            all.bits[i] |= cpus.bits[i];
    }
    return members > 0 && members == ss_cpus_count(online) && same_cpus(&all, online);
}

/* ---- sockets, cores, nodes ---- */

static void write_count(
    struct ss_json *json, const char *name, hwloc_topology_t topology, hwloc_obj_type_t type) {
    ss_json_number(json, name, topology ? hwloc_get_nbobjs_by_type(topology, type) : NAN);
}

/* `topology` is NULL where the type is not known. */
static void write_objects(struct ss_json *json, const char *name, hwloc_topology_t topology,
    hwloc_obj_type_t type, const struct ssplatform_tree *tree) {
    if (!topology) {
        ss_json_text(json, name, NULL);
        return;
    }
    ss_json_open(json, name, '[');
    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object));) {
        struct ss_cpus cpus = to_cpus(object->cpuset);
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

static void write_threads(
    struct ss_json *json, const struct ssplatform_group *group, const void *context) {
    (void)context;
    double threads = ssplatform_number(group->values[0]);
    ss_json_number(json, "cores", ss_cpus_count(&group->cpus) / threads);
    ss_json_number(json, "threads", threads);
}

static void write_cores(struct ss_json *json, hwloc_topology_t topology) {
    struct ssplatform_groups groups = {0};
    for (hwloc_obj_t core = NULL;
         topology && (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
        struct ss_cpus cpus = to_cpus(core->cpuset);
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
    ssplatform_groups_write(&groups, json, "threads_per_core", write_threads, NULL);
    ssplatform_groups_free(&groups);
}

/* Where the kernel tells no nodes, hwloc makes one up. */
static bool nodes_are_told(const struct ssplatform_tree *tree, hwloc_topology_t topology) {
    char *line = ssplatform_tree_line(tree, "sys/devices/system/node/online");
    struct ss_cpus nodes, found = {0}; /* a list of nodes looks the same */
    struct ss_error ignored = {0};
    bool told = line && ss_cpus_parse(line, &nodes, &ignored) == 0;
    for (hwloc_obj_t node = NULL;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
        ss_cpus_add(&found, node->os_index);
    free(line);
    return told && same_cpus(&nodes, &found);
}

/* ---- caches ---- */

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

/* As many caches over each CPU as the kernel counts there. */
static bool caches_are_told(
    const struct ssplatform_tree *tree, hwloc_topology_t topology, const struct ss_cpus *online) {
    bool any = false;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        int told = 0, found = 0;
        if (!ss_cpus_has(online, cpu))
            continue;
        while (told < 16 &&
               ssplatform_tree_has(tree, "sys/devices/system/cpu/cpu%u/cache/index%d", cpu, told))
            told++;
        for (hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology, cpu); object;
             object = object->parent)
            found += hwloc_obj_type_is_cache(object->type) != 0;
        if (told != found)
            return false;
        any |= told > 0;
    }
    return any;
}

static bool alike(hwloc_obj_t left, hwloc_obj_t right) {
    const struct hwloc_cache_attr_s *one = &left->attr->cache, *other = &right->attr->cache;
    return left->type == right->type && one->size == other->size &&
           one->linesize == other->linesize && one->associativity == other->associativity &&
           hwloc_bitmap_weight(left->cpuset) == hwloc_bitmap_weight(right->cpuset);
}

static double positive(double number) {
    return number > 0 ? number : NAN;
}

/* This cache with all behind it that are like it. */
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
        struct ss_cpus cpus = to_cpus(cache->cpuset);
        if (!alike(first, cache))
            continue;
        ssplatform_write_cpus(json, NULL, &cpus);
        count++;
    }
    ss_json_close(json, ']');
    ss_json_number(json, "count", count);
    ss_json_close(json, '}');
}

static bool is_first_of_its_like(hwloc_obj_t cache) {
    for (hwloc_obj_t before = cache->prev_cousin; before; before = before->prev_cousin) {
        if (alike(before, cache))
            return false;
    }
    return true;
}

static void write_caches(struct ss_json *json, hwloc_topology_t topology) {
    if (!topology) {
        ss_json_text(json, "caches", NULL);
        return;
    }
    ss_json_open(json, "caches", '[');
    /* From the CPUs outwards. */
    for (int depth = hwloc_topology_get_depth(topology) - 1; depth >= 0; depth--) {
        for (hwloc_obj_t cache = hwloc_get_obj_by_depth(topology, depth, 0); cache;
             cache = cache->next_cousin) {
            if (hwloc_obj_type_is_cache(cache->type) && is_first_of_its_like(cache))
                write_cache(json, cache);
        }
    }
    ss_json_close(json, ']');
}

/* `topology` is NULL where nothing is known. */
static void write_all(struct ss_json *json, const struct ssplatform_tree *tree,
    const struct ss_cpus *online, hwloc_topology_t topology) {
    bool agreed = topology && is_complete(topology, HWLOC_OBJ_PU, online);
    bool packages = agreed && is_complete(topology, HWLOC_OBJ_PACKAGE, online);
    bool cores = agreed && is_complete(topology, HWLOC_OBJ_CORE, online);
    bool nodes = agreed && is_complete(topology, HWLOC_OBJ_NUMANODE, online) &&
                 nodes_are_told(tree, topology);
    bool caches = agreed && caches_are_told(tree, topology, online);
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

/* ---- a process apart ---- */

/* In the child; what it writes goes into the pipe. */
static void write_apart(const struct ss_json *json, const struct ssplatform_tree *tree,
    const struct ss_cpus *online, int to) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(SECONDS_MAX);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    struct ss_json own = *json;
    own.stream = fdopen(to, "w");
    hwloc_topology_t topology = own.stream ? load(tree->root) : NULL;
    if (!topology)
        _exit(1);
    write_all(&own, tree, online, topology);
    _exit(fclose(own.stream) == 0 ? 0 : 1);
}

/* Its text as it follows in `json`; NULL: nothing is known. */
static char *take_apart(
    const struct ss_json *json, const struct ssplatform_tree *tree, const struct ss_cpus *online) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        write_apart(json, tree, online, ends[1]);
    close(ends[1]);
    size_t length = 0;
    char *text = child < 0 ? NULL : ssplatform_read_all(ends[0], TEXT_MAX, &length);
    close(ends[0]);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status == 0 && length > 0)
        return text;
    free(text);
    return NULL;
}

/* hwloc ends the process where it thinks that the kernel cannot have said so, and the rest of the
 * report must not go with it. */
void ssplatform_write_topology(
    struct ss_json *json, const struct ssplatform_tree *tree, const struct ss_cpus *online) {
    char *text = take_apart(json, tree, online);
    if (text) {
        fputs(text, json->stream);
        json->follows = true;
    } else {
        write_all(json, tree, online, NULL);
    }
    free(text);
}
