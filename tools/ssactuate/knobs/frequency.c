/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The frequency of CPUs, by cpufreq policies. The governor `userspace` sets a single frequency; if
 * it is not available, minimum and maximum are made equal.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actuator.h"
#include "base/words.h"
#include "cpufreq.h"
#include "quantity.h"

#define NO_TURBO "sys/devices/system/cpu/intel_pstate/no_turbo"
#define BOOST    CPUFREQ "/boost"

/* In kHz: the kernel lowers it to the highest frequency, whatever that is. */
#define UNLIMITED INT32_MAX

/* Drops policies outside the target. Fails if a policy has CPUs both inside and outside of it. */
static int keep_target(
    struct cpufreq_policies *policies, const struct ssactuate_knob *knob, struct ss_error *error) {
    struct ss_cpus requested;
    size_t kept = 0;

    if (!*knob->target)
        return 0;
    if (ss_cpus_parse(knob->target, &requested, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    for (size_t i = 0; i < policies->count; i++) {
        struct cpufreq_policy *policy = &policies->items[i];
        struct ss_cpus common = policy->cpus;
        char all[200];
        ss_cpus_intersect(&common, &requested);
        ss_cpus_print(all, sizeof all, &policy->cpus);
        if (ss_cpus_count(&common) > 0 && ss_cpus_count(&common) < ss_cpus_count(&policy->cpus))
            return ss_error_fail(error, "%s: CPUs %s share one frequency: name all of them or none",
                knob->text, all);
    }

    for (size_t i = 0; i < policies->count; i++) {
        if (ss_cpus_first_outside(&policies->items[i].cpus, &requested) == SS_CPUS_MAX)
            policies->items[kept++] = policies->items[i];
        else
            free(policies->items[i].frequencies);
    }
    policies->count = kept;
    return kept > 0 ? 0 : ss_error_fail(error, "%s: these CPUs have no cpufreq policy", knob->text);
}

static bool has_writable(
    const struct ssactuate_machine *machine, const struct cpufreq_policy *policy) {
    static const char *const files[] = {"scaling_min_freq", "scaling_max_freq"};
    char path[SSACTUATE_PATH_SIZE];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", policy->folder, files[i]);
        if (!ssactuate_file_is_writable(machine->tree.folder, path))
            return false;
    }

    return true;
}

static int check_policies(const struct ssactuate_machine *machine,
    const struct cpufreq_policies *policies, struct ss_error *reason) {
    if (policies->count == 0)
        return ss_error_fail(reason,
            "the kernel has no cpufreq policy in /" CPUFREQ ": no driver, or a virtual machine");

    for (size_t i = 0; i < policies->count; i++) {
        if (!has_writable(machine, &policies->items[i]))
            return ss_error_fail(reason, "cannot write /%s: run as root, outside a container",
                policies->items[i].folder);
    }

    return 0;
}

static int probe(const struct ssactuate_knob *knob, struct ss_error *reason) {
    struct cpufreq_policies policies;
    int status = cpufreq_read(&policies, &knob->machine->tree, reason);
    if (status == 0)
        status = check_policies(knob->machine, &policies, reason);
    cpufreq_free(&policies);
    return status;
}

/* Finds the turbo switch of a policy. `inverted` means that writing 1 switches turbo off. */
static bool find_switch(const struct ssactuate_machine *machine,
    const struct cpufreq_policy *policy, char path[SSACTUATE_PATH_SIZE], bool *inverted) {
    *inverted = sys_tree_has(&machine->tree, NO_TURBO);

    if (*inverted)
        snprintf(path, SSACTUATE_PATH_SIZE, NO_TURBO);
    else if (sys_tree_has(&machine->tree, BOOST))
        snprintf(path, SSACTUATE_PATH_SIZE, BOOST);
    else
        snprintf(path, SSACTUATE_PATH_SIZE, "%s/boost", policy->folder);

    return sys_tree_has(&machine->tree, "%s", path);
}

/* Returns the state of turbo as a part of a level, or "" if unknown. */
static const char *turbo_of(
    const struct ssactuate_machine *machine, const struct cpufreq_policy *policy) {
    char path[SSACTUATE_PATH_SIZE], value[SSACTUATE_VALUE_SIZE];
    bool inverted;

    if (!find_switch(machine, policy, path, &inverted) ||
        ssactuate_file_read(machine->tree.folder, path, value) < 0)
        return "";

    return (strcmp(value, "1") == 0) != inverted ? ",turbo=on" : ",turbo=off";
}

static void print_frequency(char text[32], double kilohertz) {
    if (isnan(kilohertz))
        snprintf(text, 32, "unknown");
    else
        quantity_print(&quantity_frequency, text, 32, (uint64_t)(1000 * kilohertz + 0.5));
}

static void print_levels(const struct ssactuate_machine *machine, FILE *stream) {
    struct cpufreq_policies policies;
    struct ss_error ignored = {0};
    char text[2][32];

    if (cpufreq_read(&policies, &machine->tree, &ignored) < 0 || policies.count == 0) {
        cpufreq_free(&policies);
        return;
    }

    const struct cpufreq_policy *policy = policies.items;
    char *rest = policy->frequencies;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        print_frequency(text[0], sys_tree_parse_number(word));
        fprintf(stream, "%s|", text[0]);
    }

    if (!policy->frequencies) {
        print_frequency(text[0], policy->lowest);
        print_frequency(text[1], policy->highest);
        fprintf(stream, "any from %s to %s|", text[0], text[1]);
    }

    fprintf(stream, "min|max%s", *turbo_of(machine, policy) ? "[,turbo=on|off]" : "");
    cpufreq_free(&policies);
}

/* Writes the level of a policy: one frequency, or a range. */
static void print_level(
    const struct ssactuate_machine *machine, const struct cpufreq_policy *policy, char level[100]) {
    char text[2][32];
    print_frequency(text[0], policy->minimum);
    print_frequency(text[1], policy->maximum);

    if (strcmp(policy->governor, "userspace") == 0 && !isnan(policy->set_speed)) {
        print_frequency(text[0], policy->set_speed);
        snprintf(level, 100, "%s%s", text[0], turbo_of(machine, policy));
    } else if (strcmp(text[0], text[1]) == 0) {
        snprintf(level, 100, "%s%s", text[0], turbo_of(machine, policy));
    } else {
        snprintf(level, 100, "%s-%s%s", text[0], text[1], turbo_of(machine, policy));
    }
}

static int get(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    struct cpufreq_policies policies;
    char level[2][100];
    bool alike = true;

    if (cpufreq_read(&policies, &knob->machine->tree, error) < 0 ||
        keep_target(&policies, knob, error) < 0) {
        cpufreq_free(&policies);
        return -1;
    }

    print_level(knob->machine, &policies.items[0], level[0]);
    for (size_t i = 1; i < policies.count; i++) {
        print_level(knob->machine, &policies.items[i], level[1]);
        alike &= strcmp(level[0], level[1]) == 0;
    }

    if (alike)
        fprintf(stream, "%s=%s\n", knob->text, level[0]);

    for (size_t i = 0; !alike && i < policies.count; i++) {
        char cpus[8 * SS_CPUS_MAX];
        ss_cpus_print(cpus, sizeof cpus, &policies.items[i].cpus);
        print_level(knob->machine, &policies.items[i], level[1]);
        fprintf(stream, "frequency@%s=%s\n", cpus, level[1]);
    }

    cpufreq_free(&policies);
    return 0;
}

struct level {
    char low[32], high[32]; /* as written; equal for a single frequency */
    bool range;
    int turbo; /* -1: not given */
};

static int parse_level(
    const struct ssactuate_knob *knob, struct level *level, struct ss_error *error) {
    struct ss_words_part part;
    const char *at = knob->level;
    char first[sizeof level->low] = "";
    *level = (struct level){.turbo = -1};

    for (bool is_first = true; ss_words_next(&at, ',', &part); is_first = false) {
        if (is_first && part.length < sizeof first)
            snprintf(first, sizeof first, "%.*s", (int)part.length, part.text);
        else if (ss_words_is(&part, "turbo=off") || ss_words_is(&part, "turbo=on"))
            level->turbo = ss_words_is(&part, "turbo=on");
        else
            return ss_error_fail(error, "%s: unknown part '%.*s': use %s", knob->text,
                (int)part.length, part.text, knob->actuator->syntax);
    }

    const char *dash = strchr(first, '-');
    level->range = dash != NULL;
    snprintf(level->low, sizeof level->low, "%.*s", dash ? (int)(dash - first) : 31, first);
    snprintf(level->high, sizeof level->high, "%s", dash ? dash + 1 : first);

    return 0;
}

struct speed {
    uint64_t kilohertz;
    enum ssactuate_tolerance tolerance;
};

/*
 * Parses a frequency. Fails if the policy does not have that frequency. Lets the kernel lower
 * `max`, as intel_pstate does without turbo. `switched` means that the plan turns turbo on or off.
 */
static int find_speed(const struct cpufreq_policy *policy, bool switched, const char *text,
    struct speed *speed, struct ss_error *error) {
    char number[32], limits[2][32];
    uint64_t hertz;

    if (strcmp(text, "min") == 0 && policy->lowest > 0) {
        *speed = (struct speed){(uint64_t)policy->lowest, SSACTUATE_ROUNDED};
        return 0;
    }

    if (strcmp(text, "max") == 0 && (switched || policy->highest > 0)) {
        *speed =
            (struct speed){switched ? UNLIMITED : (uint64_t)policy->highest, SSACTUATE_LOWERED};
        return 0;
    }

    if (quantity_parse(&quantity_frequency, text, &hertz, error) < 0)
        return -1;
    *speed = (struct speed){(hertz + 500) / 1000, SSACTUATE_ROUNDED};
    print_frequency(limits[0], policy->lowest);
    print_frequency(limits[1], policy->highest);

    if ((double)speed->kilohertz < policy->lowest || (double)speed->kilohertz > policy->highest)
        return ss_error_fail(
            error, "'%s' is out of range: these CPUs have %s to %s", text, limits[0], limits[1]);

    snprintf(number, sizeof number, "%llu", (unsigned long long)speed->kilohertz);
    if (policy->frequencies && !ss_words_has(policy->frequencies, ' ', number))
        return ss_error_fail(
            error, "'%s' is not a frequency of these CPUs: `ssactuate list` prints them", text);
    return 0;
}

static int add(struct ssactuate_plan *plan, const struct cpufreq_policy *policy, const char *file,
    const char *value, enum ssactuate_tolerance tolerance, struct ss_error *error) {
    struct ssactuate_setting setting = {.tolerance = tolerance};
    snprintf(setting.knob, sizeof setting.knob, "frequency-%s", strrchr(policy->folder, '/') + 1);
    snprintf(setting.path, sizeof setting.path, "%s/%s", policy->folder, file);
    snprintf(setting.value, sizeof setting.value, "%s", value);
    return ssactuate_plan_add(plan, &setting, error);
}

static int add_speed(struct ssactuate_plan *plan, const struct cpufreq_policy *policy,
    const char *file, struct speed speed, struct ss_error *error) {
    char value[32];
    snprintf(value, sizeof value, "%llu", (unsigned long long)speed.kilohertz);
    return add(plan, policy, file, value, speed.tolerance, error);
}

/* Adds the limits in the order that never sets the minimum above the maximum. */
static int add_range(struct ssactuate_plan *plan, const struct cpufreq_policy *policy,
    struct speed low, struct speed high, struct ss_error *error) {
    bool maximum_first = (double)low.kilohertz > policy->maximum;

    if (maximum_first && add_speed(plan, policy, "scaling_max_freq", high, error) < 0)
        return -1;

    if (add_speed(plan, policy, "scaling_min_freq", low, error) < 0)
        return -1;

    return maximum_first ? 0 : add_speed(plan, policy, "scaling_max_freq", high, error);
}

/* Adds a single frequency, set by the governor `userspace`. The limits must include it. */
static int add_single(struct ssactuate_plan *plan, const struct cpufreq_policy *policy,
    struct speed speed, struct ss_error *error) {
    if ((double)speed.kilohertz > policy->maximum &&
        add_speed(plan, policy, "scaling_max_freq", speed, error) < 0)
        return -1;

    if ((double)speed.kilohertz < policy->minimum &&
        add_speed(plan, policy, "scaling_min_freq", speed, error) < 0)
        return -1;

    if (add(plan, policy, "scaling_governor", "userspace", SSACTUATE_EXACT, error) < 0)
        return -1;

    return add_speed(plan, policy, "scaling_setspeed", speed, error);
}

/* Plans the turbo switch: one for the whole machine, or one for each policy. */
static int add_turbo(const struct ssactuate_machine *machine, const struct cpufreq_policy *policy,
    int turbo, struct ssactuate_plan *plan, struct ss_error *error) {
    struct ssactuate_setting setting = {0};
    bool inverted;

    if (!find_switch(machine, policy, setting.path, &inverted))
        return ss_error_fail(
            error, "these CPUs have no turbo switch: leave out turbo=%s", turbo ? "on" : "off");

    bool is_own = strstr(setting.path, "policy");
    snprintf(setting.knob, sizeof setting.knob, "frequency-%s",
        is_own ? strrchr(policy->folder, '/') + 1 : "turbo");
    snprintf(setting.value, sizeof setting.value, "%d", (turbo != 0) != inverted);

    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->settings[i].path, setting.path) == 0) {
            plan->settings[i] = setting; /* keeps its place before the limits of all policies */
            return 0;
        }
    }

    return ssactuate_plan_add(plan, &setting, error);
}

static int set_policy(const struct ssactuate_machine *machine, struct cpufreq_policy *policy,
    const struct level *level, struct ssactuate_plan *plan, struct ss_error *error) {
    struct speed low, high;
    char beginning[SSACTUATE_PATH_SIZE];
    const char *turbo = turbo_of(machine, policy);

    /* The switch may change the highest frequency, but only after the plan is made. */
    bool switched =
        level->turbo >= 0 && strcmp(turbo, level->turbo ? ",turbo=on" : ",turbo=off") != 0;
    if (switched && level->turbo)
        policy->highest = NAN;

    /* Drop all that earlier knobs have planned for this policy, except turbo. */
    snprintf(beginning, sizeof beginning, "%s/scaling_", policy->folder);
    ssactuate_plan_remove(plan, beginning);

    if (find_speed(policy, switched, level->low, &low, error) < 0 ||
        find_speed(policy, switched, level->high, &high, error) < 0)
        return -1;

    if (low.kilohertz > high.kilohertz)
        return ss_error_fail(
            error, "invalid range '%s-%s': put the lower frequency first", level->low, level->high);

    /* Turbo comes first, because it changes which maximum the kernel accepts. */
    if (level->turbo >= 0 && add_turbo(machine, policy, level->turbo, plan, error) < 0)
        return -1;

    if (!level->range && policy->has_userspace)
        return add_single(plan, policy, low, error);
    return add_range(plan, policy, low, high, error);
}

static int set_policies(const struct ssactuate_knob *knob, struct cpufreq_policies *policies,
    struct ssactuate_plan *plan, struct ss_error *error) {
    struct level level;
    if (parse_level(knob, &level, error) < 0 || keep_target(policies, knob, error) < 0)
        return -1;

    for (size_t i = 0; i < policies->count; i++) {
        if (set_policy(knob->machine, &policies->items[i], &level, plan, error) < 0)
            return -1;
    }

    return 0;
}

static int set(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    struct cpufreq_policies policies;
    int status = cpufreq_read(&policies, &knob->machine->tree, error);
    if (status == 0)
        status = set_policies(knob, &policies, plan, error);
    cpufreq_free(&policies);
    return status < 0 ? ss_error_wrap(error, "frequency") : 0;
}

const struct ssactuate_actuator ssactuate_frequency = {
    .name = "frequency",
    .syntax = "1.4GHz|min|max|LOW-HIGH[,turbo=on|off]",
    .mechanism = "cpufreq: governor and speed, or minimum and maximum; turbo and boost switches",
    .probe = probe,
    .levels = print_levels,
    .get = get,
    .set = set,
    .has_targets = true,
};
