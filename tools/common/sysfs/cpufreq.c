/* SPDX-License-Identifier: Apache-2.0 */
#include "cpufreq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"

static double read_number(
    const struct sys_tree *tree, const struct cpufreq_policy *policy, const char *name) {
    return sys_tree_number(tree, "%s/%s", policy->folder, name);
}

static void read_word(const struct sys_tree *tree, const struct cpufreq_policy *policy,
    const char *name, char word[32]) {
    SS_OWNED(free) char *line = sys_tree_line(tree, "%s/%s", policy->folder, name);
    snprintf(word, 32, "%s", line ? line : "");
}

/* The kernel separates these CPUs with blanks, which ss_cpus_parse() does not accept. */
static void read_cpus(const struct sys_tree *tree, struct cpufreq_policy *policy) {
    SS_OWNED(free) char *line = sys_tree_line(tree, "%s/affected_cpus", policy->folder);
    char *end = line;
    for (char *at = line; at && *at; at = end) {
        unsigned long cpu = strtoul(at, &end, 10);
        if (end == at)
            break;
        if (cpu < SS_CPUS_MAX)
            ss_cpus_add(&policy->cpus, (uint32_t)cpu);
    }
}

/* Reads which frequencies can be set. Turbo frequencies are in a separate file. */
static int read_table(
    const struct sys_tree *tree, struct cpufreq_policy *policy, struct ss_error *error) {
    SS_OWNED(free)
    char *usual = sys_tree_line(tree, "%s/scaling_available_frequencies", policy->folder);
    SS_OWNED(free)
    char *turbo = sys_tree_line(tree, "%s/scaling_boost_frequencies", policy->folder);

    if (!usual)
        return 0;
    policy->frequencies = ss_words_format(error, "%s %s", usual, turbo ? turbo : "");
    return policy->frequencies ? 0 : -1;
}

static int read_policy(
    const struct sys_tree *tree, struct cpufreq_policy *policy, struct ss_error *error) {
    SS_OWNED(free)
    char *governors = sys_tree_line(tree, "%s/scaling_available_governors", policy->folder);
    policy->has_userspace = governors && ss_words_has(governors, ' ', "userspace");

    read_word(tree, policy, "scaling_driver", policy->driver);
    read_word(tree, policy, "scaling_governor", policy->governor);
    policy->lowest = read_number(tree, policy, "cpuinfo_min_freq");
    policy->highest = read_number(tree, policy, "cpuinfo_max_freq");
    policy->minimum = read_number(tree, policy, "scaling_min_freq");
    policy->maximum = read_number(tree, policy, "scaling_max_freq");
    policy->set_speed = read_number(tree, policy, "scaling_setspeed");
    return read_table(tree, policy, error);
}

static int compare_policies(const void *left, const void *right) {
    const struct cpufreq_policy *a = left, *b = right;
    return (int)(strtol(a->folder + sizeof CPUFREQ "/policy" - 1, NULL, 10) -
                 strtol(b->folder + sizeof CPUFREQ "/policy" - 1, NULL, 10));
}

static int add_policy(struct cpufreq_policies *policies, const struct sys_tree *tree,
    const char *name, struct ss_error *error) {
    struct cpufreq_policy policy = {0};
    snprintf(policy.folder, sizeof policy.folder, CPUFREQ "/%s", name);
    read_cpus(tree, &policy);
    if (ss_cpus_count(&policy.cpus) == 0)
        return 0;

    if (!SS_GROW(policies->items, policies->count + 1, policies->room))
        return ss_error_memory(error);
    policies->items[policies->count] = policy;
    return read_policy(tree, &policies->items[policies->count++], error);
}

int cpufreq_read(
    struct cpufreq_policies *policies, const struct sys_tree *tree, struct ss_error *error) {
    struct sys_tree_names names = sys_tree_list(tree, CPUFREQ);
    int status = 0;

    *policies = (struct cpufreq_policies){0};
    for (size_t i = 0; status == 0 && i < names.count; i++) {
        if (strncmp(names.list[i], "policy", 6) == 0)
            status = add_policy(policies, tree, names.list[i], error);
    }
    sys_tree_names_free(&names);

    if (policies->count > 0)
        qsort(policies->items, policies->count, sizeof *policies->items, compare_policies);
    return status;
}

void cpufreq_free(struct cpufreq_policies *policies) {
    for (size_t i = 0; i < policies->count; i++)
        free(policies->items[i].frequencies);
    free(policies->items);
    *policies = (struct cpufreq_policies){0};
}
