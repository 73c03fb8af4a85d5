/* SPDX-License-Identifier: Apache-2.0 */

#include "platform_report.h"

/* "CONFIG_HZ=300" and other options, compressed by gzip. */
// clang-format off
static const unsigned char packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x73, 0xf6, 0xf7, 0x73,
    0xf3, 0x74, 0x8f, 0xf7, 0x88, 0x8a, 0x37, 0x36, 0x30, 0xb0, 0xad, 0xe4, 0x72, 0x86,
    0xf1, 0x6d, 0x81, 0x7c, 0x18, 0xcf, 0xcf, 0x1f, 0xa4, 0xc0, 0xd3, 0xc5, 0xc7, 0x15,
    0xa1, 0x22, 0xc4, 0xd3, 0xd9, 0x3b, 0xde, 0x39, 0x20, 0x34, 0xde, 0xd1, 0xd9, 0xd9,
    0x3f, 0xd4, 0x2f, 0xc4, 0xd3, 0xcf, 0x1d, 0x21, 0x19, 0x10, 0xe4, 0xea, 0xea, 0x1b,
    0x10, 0x02, 0xd4, 0xe8, 0x07, 0xd2, 0x02, 0x00, 0xfb, 0xea, 0xe8, 0xde, 0x65, 0x00,
    0x00, 0x00,
};
// clang-format on

TEST(compressed_kernel_configuration_is_read) {
    const char *root = machine_unpack("xeon", NULL);
    tree_write_bytes("proc/config.gz", packed, sizeof packed);
    REPORT_EXPECT(root, {"kernel.tick_hz", "300"}, {"kernel.tick", "\"stopped_when_idle\""},
        {"kernel.time_accounting", "\"tick\""}, {"kernel.preemption", "\"none\""});
    tree_write_bytes("proc/config.gz", packed, sizeof packed - 9);
    REPORT_EXPECT(root, {"kernel.tick_hz", "250"});
}

static void allowance_is(
    const char *group, const char *file, const char *text, const char *limited, const char *cpus) {
    const char *root = machine_unpack("hybrid", NULL);
    tree_write("proc/self/cgroup", group);
    tree_write(file, text);
    REPORT_EXPECT(root, {"allowance.limited", limited}, {"allowance.quota_cpus", cpus});
}

TEST(cpu_quotas_of_groups_are_read) {
    static const char group[] = "0::/a/b\n", above[] = "sys/fs/cgroup/a/cpu.max";
    allowance_is(group, above, "50000 100000\n", "\"yes\"", "0.5");
    allowance_is(group, above, "max 100000\n", "\"no\"", "null");
    /* An unreadable limit may be the smallest one. */
    allowance_is(group, above, "50000\n", "null", "null");
    allowance_is(group, above, "50000 0\n", "null", "null");
    allowance_is(group, above, "0 100000\n", "null", "null");
    allowance_is(group, above, "-5 100000\n", "null", "null");
    allowance_is(group, above, "many 100000\n", "null", "null");
    allowance_is(group, above, "50000x 100000\n", "null", "null");
    /* The quota of another group does not apply to us. */
    allowance_is("0::/ab\n", above, "50000 100000\n", "\"no\"", "null");
    /* The group is outside of the visible hierarchy. */
    allowance_is("0::/../a\n", "sys/fs/cgroup/cpu.max", "50000 100000\n", "null", "null");
    allowance_is("no group\n", above, "50000 100000\n", "null", "null");
    /* A unified hierarchy next to those of version 1, which have the controller. */
    allowance_is("4:cpuset:/\n3:cpuacct,cpu:/a\n0::/\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us",
        "7\n", "null", "null");
    allowance_is("3:cpuset:/a\n0::/a\n", above, "70000 50000\n", "\"yes\"", "1.4");
}

static void container_is(const char *file, const char *text, size_t size, const char *kind) {
    const char *root = machine_unpack("container", NULL);
    assert_int_equal(remove(tree_path(".dockerenv")), 0);
    tree_write_bytes(file, text, size);
    REPORT_EXPECT(root, {"container.kind", kind});
}

TEST(containers_are_recognized_by_their_signs) {
    static const char environment[] = "A=container=no\0container=lxc\0B=1";
    static const char groups[] = "0::/kubepods.slice/kubepods-pod7.slice/cri-1.scope\n";
    static const char user[] = "0::/user.slice/mydocker.slice\n";
    static const char nested[] = "0::/mydocker.slice/docker/7\n";
    static const char first[] = "pid:[4026531836]\n";
    container_is("run/.containerenv", "", 0, "\"podman\"");
    container_is("proc/1/environ", environment, sizeof environment, "\"lxc\"");
    container_is("proc/1/cgroup", groups, strlen(groups), "\"kubernetes\"");
    container_is("proc/1/cgroup", user, strlen(user), "null");
    container_is("proc/1/cgroup", nested, strlen(nested), "\"docker\"");
    container_is("proc/1/cgroup", "docker/7\n", 9, "null"); /* not a path */
    container_is("proc/self/ns/pid", first, strlen(first), "\"none\"");
    container_is("proc/1/environ", "A=1", 4, "null");
}

TEST(hypervisors_are_recognized_by_their_signs) {
    const char *root = machine_unpack("arm", NULL);
    tree_write_bytes("proc/device-tree/hypervisor/compatible", "linux,kvm", 10);
    REPORT_EXPECT(root, {"hypervisor.present", "\"yes\""}, {"hypervisor.type", "\"linux,kvm\""});
    tree_write("sys/hypervisor/type", "xen\n");
    REPORT_EXPECT(root, {"hypervisor.type", "\"xen\""});
}

UNIT_RUN
