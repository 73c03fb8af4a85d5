/* SPDX-License-Identifier: Apache-2.0 */

/* Tests which control group or processes are read. The service is a child of this test. */

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "service_usage.h"
#include "service_world.h"
#include "unit.h"

#define GROUP  "/system.slice/web.service"
#define FILES  "groups" GROUP
#define CLOCKS "clocks of 1 process"

static pid_t child;
static struct service_usage *usage;
static struct ss_counters counters;

static int set_up(void **state) {
    (void)state;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    world_new();
    world_process(getpid(), 1, "ssrequest");
    world_group(getpid(), "/user.slice/user-0.slice/session-1.scope");
    world_group(child, GROUP);
    tree_write(FILES "/cgroup.events", "populated 1\nfrozen 0\n");
    return child > 0 ? 0 : -1;
}

static void end_child(void) {
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    child = 0;
}

static int tear_down(void **state) {
    (void)state;
    service_usage_close(usage);
    usage = NULL;
    end_child();
    return 0;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

static void open_child(const char *described) {
    struct service service = {.roots = {.items = &child, .count = 1}, .first = "web"};
    struct ss_error error = {0};
    char text[4200];
    usage = service_usage_open(&service, 1.5, 2, &world_roots, &error);
    if (!usage)
        fail_msg("%s", error.message);
    service_usage_describe(usage, text, sizeof text);
    assert_string_equal(text, described);
}

static void open_child_in_group(void) {
    char text[512];
    snprintf(text, sizeof text, "control group %s", tree_path(FILES));
    open_child(text);
}

static void use(unsigned microseconds) {
    char text[64];
    snprintf(text, sizeof text, "usage_usec %u\n", microseconds);
    tree_write(FILES "/cpu.stat", text);
}

static uint64_t read_used(void) {
    assert_int_equal(service_usage_read(usage, &counters), 0);
    return counters.used;
}

CASE(group_of_the_service_is_read) {
    use(7000);
    open_child_in_group();
    ss_time before = ss_platform_now();
    assert_int_equal(read_used(), 7 * SS_MILLISECOND);
    assert_in_range(counters.time, before, ss_platform_now());
    assert_true(counters.ran);
    assert_int_equal(counters.set, 1);
    assert_near(counters.capacity, 1.5, 0);
    assert_near(counters.cpus, 2, 0);
    assert_that(counters.grain, >=, SS_MILLISECOND);
    use(9000);
    assert_int_equal(read_used(), 9 * SS_MILLISECOND);
    /* The used time never falls. */
    use(8000);
    assert_int_equal(read_used(), 9 * SS_MILLISECOND);
}

CASE(empty_group_has_ended) {
    open_child_in_group();
    read_used();
    tree_write(FILES "/cgroup.events", "populated 0\nfrozen 0\n");
    assert_int_equal(service_usage_read(usage, &counters), -ESRCH);
}

CASE(group_of_version_1_ends_with_its_processes) {
    WORLD_NAME(name, "%d/cgroup", (int)child);
    char text[512];
    tree_write(name, "2:cpuacct:/web\n0::/\n");
    tree_write("groups/cpuacct/web/cpuacct.usage", "5000\n");
    snprintf(text, sizeof text, "control group %s", tree_path("groups/cpuacct/web"));
    open_child(text);
    assert_int_equal(read_used(), 5000);
    end_child();
    assert_int_equal(service_usage_read(usage, &counters), -ESRCH);
}

CASE(clocks_are_read_without_a_group_of_the_service) {
    world_group(getpid(), GROUP "/shell"); /* we are in it */
    open_child(CLOCKS);
    read_used();
    service_usage_close(usage);
    world_group(getpid(), "/user.slice/user-0.slice/session-1.scope");
    world_group(child, "/user.slice/user-0.slice/session-1.scope");
    open_child(CLOCKS);
}

CASE(clocks_are_read_if_a_process_is_outside_of_the_group) {
    pid_t both[] = {child, child};
    struct service service = {.roots = {.items = both, .count = 2}};
    char text[64];
    assert_int_equal(set_up(NULL), 0);
    both[1] = child;
    world_group(both[0], GROUP);
    world_group(both[1], "/system.slice/other.service");
    usage = service_usage_open(&service, 2, 2, &world_roots, NULL);
    assert_non_null(usage);
    service_usage_describe(usage, text, sizeof text);
    assert_string_equal(text, "clocks of 2 processes");
    child = both[0];
    end_child();
    child = both[1];
}

CASE(group_of_the_options_counts_without_us) {
    struct service service = {.group = GROUP};
    usage = service_usage_open(&service, 2, 2, &world_roots, NULL);
    assert_non_null(usage);
    use(3600 * 1000000u);
    assert_int_equal(read_used(), 3600 * SS_SECOND);
    service_usage_close(usage);

    world_group(getpid(), GROUP);
    usage = service_usage_open(&service, 2, 2, &world_roots, NULL);
    assert_non_null(usage);
    use(3600 * 1000000u);
    assert_that(read_used(), <, 3600 * SS_SECOND);
    assert_that(read_used(), >, 3000 * SS_SECOND);
}

CASE(absent_group_and_process_are_refused) {
    pid_t ended = child;
    end_child();
    const struct {
        struct service service;
        const char *words;
    } rows[] = {
        {{.group = "/nowhere"}, "/nowhere"},
        {{.roots = {.items = &ended, .count = 1}, .first = "web"}, "has ended"},
        {{.group = ""}, "no processes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ss_error error = {0};
        assert_null(service_usage_open(&rows[i].service, 2, 2, &world_roots, &error));
        assert_says(error.message, rows[i].words);
    }
}

UNIT_RUN
