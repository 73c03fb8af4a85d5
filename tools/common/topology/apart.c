/* SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys_tree.h"

/* Limits of hwloc's process: seconds, and bytes of output. */
#define SECONDS_MAX 10
#define TEXT_MAX    (64u << 20)

/* Removes hwloc's environment variables, which can make it describe another machine. */
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

/*
 * Restricts hwloc to the kernel's files. Its x86 component would run on each CPU in turn, and
 * describe this machine instead of a recorded one.
 */
static void set_environment(const char *root) {
    clear_environment();
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1); /* plugins would look for displays */
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    if (root)
        setenv("HWLOC_FSROOT", root, 1);
}

static hwloc_topology_t load(const char *root) {
    hwloc_topology_t topology;

    set_environment(root);
    if (hwloc_topology_init(&topology) < 0)
        return NULL;

    /* Load the whole machine, including CPUs outside of this process's control group. */
    bool loaded =
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
        hwloc_topology_load(topology) == 0;

    if (loaded)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

/* Runs hwloc in the child and writes to the pipe. */
static void write_and_exit(const char *root, topology_writer *write, const void *context, int to) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(SECONDS_MAX);

    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);

    FILE *stream = fdopen(to, "w");
    hwloc_topology_t topology = stream ? load(root) : NULL;
    if (!topology)
        _exit(1);

    write(stream, topology, context);
    _exit(fclose(stream) == 0 ? 0 : 1);
}

char *topology_run_isolated(const char *root, topology_writer *write, const void *context) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;

    pid_t child = fork();
    if (child == 0)
        write_and_exit(root, write, context, ends[1]);

    close(ends[1]);
    size_t length = 0;
    char *text = child < 0 ? NULL : sys_tree_read_all(ends[0], TEXT_MAX, &length);
    close(ends[0]);

    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;

    if (status == 0 && length > 0)
        return text;
    free(text);
    return NULL;
}

struct ss_cpus topology_cpus_of(hwloc_obj_t object) {
    struct ss_cpus cpus = {0};
    for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0 && cpu < SS_CPUS_MAX;
         cpu = hwloc_bitmap_next(object->cpuset, cpu))
        ss_cpus_add(&cpus, (uint32_t)cpu);
    return cpus;
}

void topology_join(struct ss_cpus *cpus, const struct ss_cpus *other) {
    for (size_t i = 0; i < SS_CPUS_MAX / 64; i++)
        cpus->bits[i] |= other->bits[i];
}

bool topology_covers(
    hwloc_topology_t topology, hwloc_obj_type_t type, const struct ss_cpus *online) {
    struct ss_cpus all = {0};
    uint32_t members = 0;
    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(topology, type, object));) {
        struct ss_cpus cpus = topology_cpus_of(object);
        members += ss_cpus_count(&cpus);
        topology_join(&all, &cpus);
    }
    return members > 0 && members == ss_cpus_count(online) && memcmp(&all, online, sizeof all) == 0;
}
