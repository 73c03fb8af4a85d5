/* SPDX-License-Identifier: Apache-2.0 */
#include "service_group.h"

#include <sys/stat.h>

#include "service_world.h"
#include "unit.h"

#define WEB 800

static struct service_group group;

static void expect(const char *path, bool found) {
    world_new();
    world_process(WEB, 1, "web");
    world_group(WEB, path);
    if (service_group_of(&world_roots, WEB, &group) != found)
        fail_msg("%s is %sa group of a service", path, found ? "not " : "");
    if (found)
        assert_string_equal(group.path, path);
}

#define MANAGER "/user.slice/user-1000.slice/user@1000.service"

TEST(groups_of_services_are_distinguished_from_sessions) {
    static const char *const services[] = {"/system.slice/nginx.service",
        "/system.slice/docker-0123.scope",
        "/kubepods.slice/kubepods-pod1.slice/cri-containerd-0123.scope", "/docker/0123",
        MANAGER "/app.slice/web.service", MANAGER "/user.slice/libpod-01.scope",
        "/system.slice/run-r12.scope"};
    static const char *const others[] = {"/", "/system.slice", "/init.scope",
        "/user.slice/user-1000.slice/session-3.scope", MANAGER,
        MANAGER "/app.slice/app-terminal-1.scope", MANAGER "/app.slice/vte-spawn-1.scope",
        "/../../system.slice/web.service"};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        expect(services[i], true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect(others[i], false);
}

TEST(group_without_cpu_time_is_not_used) {
    expect("/system.slice/web.service", true);
    assert_int_equal(unlink(tree_path("groups/system.slice/web.service/cpu.stat")), 0);
    assert_false(service_group_of(&world_roots, WEB, &group));
}

TEST(groups_of_both_versions_are_found) {
    world_new();
    tree_write("proc/800/cgroup", "2:cpuacct,cpu:/web\n1:cpuset:/other\n0::/\n");
    tree_write("groups/cpuacct/web/cpuacct.usage", "5\n");
    assert_true(service_group_of(&world_roots, WEB, &group));
    assert_string_equal(group.folder, tree_path("groups/cpuacct/web"));
    tree_write("proc/801/cgroup", "2:cpuacct,cpu:/web/part\n0::/\n");
    tree_write("proc/802/cgroup", "2:cpuacct,cpu:/webs\n0::/\n");
    assert_true(service_group_has(&world_roots, &group, 801));
    assert_false(service_group_has(&world_roots, &group, 802));
    assert_false(service_group_has(&world_roots, &group, 803));

    tree_write("proc/800/cgroup", "2:cpuacct,cpu:/web\n0::/system.slice/web.service\n");
    tree_write("groups/unified/system.slice/web.service/cpu.stat", "usage_usec 5\n");
    assert_true(service_group_of(&world_roots, WEB, &group));
    assert_string_equal(group.folder, tree_path("groups/unified/system.slice/web.service"));
}

TEST(ancestors_of_ours_count_as_ours) {
    expect("/docker/0123", true);
    world_process(getpid(), 700, "ssrequest");
    world_process(700, 1, "bash");
    world_group(getpid(), "/docker");
    world_group(700, "/docker/0124");
    assert_false(service_group_has_us(&world_roots, &group));
    world_group(700, "/docker/0123/exec");
    assert_true(service_group_has_us(&world_roots, &group));
}

TEST(own_group_is_known_by_its_file) {
    world_new();
    world_group(getpid(), "/docker/0123");
    assert_true(service_group_is_ours(&world_roots, tree_path("groups/docker/0123/cpu.stat")));
    assert_true(service_group_is_ours(&world_roots, tree_path("groups/docker/cpu.stat")));
    assert_true(service_group_is_ours(&world_roots, tree_path("groups/cpu.stat")));
    assert_false(service_group_is_ours(&world_roots, tree_path("groups/docker/012/cpu.stat")));
    assert_false(service_group_is_ours(&world_roots, tree_path("groups/docker/0123/x/cpu.stat")));
}

TEST(group_is_found_by_its_number) {
    struct stat status;
    world_new();
    tree_write("groups/unified/cgroup.controllers", "");
    tree_write("groups/unified/system.slice/web.service/cpu.stat", "usage_usec 5\n");
    assert_int_equal(stat(tree_path("groups/unified/system.slice/web.service"), &status), 0);
    assert_true(service_group_by_number(&world_roots, status.st_ino, &group));
    assert_string_equal(group.path, "/system.slice/web.service");
    assert_string_equal(group.folder, tree_path("groups/unified/system.slice/web.service"));
    assert_int_equal(stat(tree_path("groups/unified/system.slice"), &status), 0);
    assert_false(service_group_by_number(&world_roots, status.st_ino, &group));
    assert_false(service_group_by_number(&world_roots, 1, &group));
}

UNIT_RUN
