/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "base/words.h"
#include "parts.h"
#include "platform/platform.h"

void ssplatform_write_allowance(struct ss_json *json, const struct sys_tree *tree) {
    const char *root = tree->root ? tree->root : "";
    struct ss_allowance allowance = {0};
    SS_OWNED(free) char *proc = ss_words_format(NULL, "%s/proc", root);
    SS_OWNED(free) char *cgroup = ss_words_format(NULL, "%s/sys/fs/cgroup", root);
    const struct ss_platform_roots roots = {.proc = proc, .cgroup = cgroup};
    if (proc && cgroup)
        ss_platform_allowance_read(&roots, &allowance);

    bool is_limited = allowance.is_known && allowance.quota_cpus > 0;
    const char *limited = NULL;
    if (allowance.is_known)
        limited = is_limited ? "yes" : "no";

    ss_json_open(json, "allowance", '{');
    SS_OWNED(free) char *affinity = sys_tree_affinity(tree);
    ss_json_text(json, "affinity", affinity);
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
