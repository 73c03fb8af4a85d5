/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "parts.h"
#include "platform/platform.h"

/* Reads how much of the machine the control groups allow this process to use. */
static void read_allowance(const struct sys_tree *tree, struct ss_allowance *allowance) {
    char proc[4200], cgroup[4200];
    struct ss_platform_roots roots = {.proc = proc, .cgroup = cgroup};
    snprintf(proc, sizeof proc, "%.4000s/proc", tree->root ? tree->root : "");
    snprintf(cgroup, sizeof cgroup, "%.4000s/sys/fs/cgroup", tree->root ? tree->root : "");
    ss_platform_allowance_read(&roots, allowance);
}

void ssplatform_write_allowance(struct ss_json *json, const struct sys_tree *tree) {
    struct ss_allowance allowance;
    read_allowance(tree, &allowance);
    bool is_limited = allowance.is_known && allowance.quota_cpus > 0;
    const char *limited = is_limited ? "yes" : allowance.is_known ? "no" : NULL;
    ss_json_open(json, "allowance", '{');
    char *affinity = sys_tree_affinity(tree);
    ss_json_text(json, "affinity", affinity);
    free(affinity);
    ss_json_text(json, "cpuset", *allowance.cpus ? allowance.cpus : NULL);
    ss_json_number(json, "cgroup_version", allowance.version ? allowance.version : NAN);
    ss_json_text(json, "cgroup", allowance.version ? allowance.own : NULL);
    ss_json_text(json, "limited", limited);
    ss_json_number(json, "quota_cpus", is_limited ? allowance.quota_cpus : NAN);
    ss_json_number(json, "quota_us", is_limited ? (double)allowance.time / SS_MICROSECOND : NAN);
    ss_json_number(json, "period_us", is_limited ? (double)allowance.period / SS_MICROSECOND : NAN);
    ss_json_text(json, "quota_cgroup", is_limited ? allowance.group : NULL);
    ss_json_close(json, '}');
}
