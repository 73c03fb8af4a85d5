/* SPDX-License-Identifier: Apache-2.0 */

/* Knobs of the command alone: its CPUs, its share of the machine, and its copies. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator.h"
#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "quantity.h"

#define PERIOD_MIN     SS_MILLISECOND
#define PERIOD_MAX     SS_SECOND
#define QUOTA_TIME_MIN SS_MILLISECOND /* the kernel's minimum of CPU time per period */
#define MEMORY_MIN     (UINT64_C(1) << 20)

/* Fails, with the reason, if no control group with this limit can be created. */
static int may_limit(
    const struct ssactuate_machine *machine, enum limit limit, struct ss_error *reason) {
    struct limit_group group;
    return limit_group_find(&group, 1U << limit, "ssactuate", &machine->roots, reason);
}

/* Splits "LEVEL,NAME=VALUE" into the level and the value of the option, or NULL without one. */
static int split_option(const struct ssactuate_knob *knob, const char *name, char level[64],
    const char **value, struct ss_error *error) {
    const char *comma = strchr(knob->level, ',');
    *value = NULL;
    snprintf(level, 64, "%.*s", (int)strcspn(knob->level, ","), knob->level);

    if (!comma)
        return 0;
    if (strncmp(comma + 1, name, strlen(name)) != 0 || comma[1 + strlen(name)] != '=')
        return ss_error_fail(
            error, "%s: unknown part '%s': use %s", knob->text, comma + 1, knob->actuator->syntax);

    *value = comma + strlen(name) + 2;
    return 0;
}

static const struct {
    const char *name;
    enum topology_scheme scheme;
    bool needs_count;
} schemes[] = {
    {"first", TOPOLOGY_FIRST, true}, {"one-node", TOPOLOGY_ONE_NODE},
    {"one-chip", TOPOLOGY_ONE_CHIP}, {"spread", TOPOLOGY_SPREAD},
    {"per-chip", TOPOLOGY_SIDE_OF_CHIPS}, {"per-core", TOPOLOGY_SIDE_OF_CORES},
    {"per-thread", TOPOLOGY_SIDE_OF_THREADS}, {"free"}, /* all CPUs: takes no number */
};

/* Sets `order` to the CPUs of a list. Fails unless this process may use all of them. */
static int take_list(const struct ssactuate_machine *machine, const char *text,
    struct topology_order *order, struct ss_error *error) {
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    struct ss_cpus requested;

    if (ss_cpus_parse(text, &requested, error) < 0)
        return -1;

    uint32_t outside = ss_cpus_first_outside(&requested, &cpus.usable);
    if (outside < SS_CPUS_MAX)
        return ss_error_fail(error,
            "ssactuate may not use CPU %u: taskset -cp $$ shows the allowed CPUs",
            (unsigned)outside);

    order->count = 0;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        if (ss_cpus_has(&requested, cpu))
            order->cpus[order->count++] = cpu;
    }
    return 0;
}

static int take_scheme(const struct ssactuate_machine *machine, const char *text, int side,
    struct topology_order *order, struct ss_error *error) {
    static const struct ss_suggest_names known = {"scheme", SS_SUGGEST_ROWS(schemes), NULL};
    const char *colon = strchr(text, ':');
    SS_OWNED(free) char *name = strndup(text, strcspn(text, ":"));
    uint64_t count = 0;

    if (!name)
        return ss_error_memory(error);

    int i = ss_suggest_find(&known, name, error);
    if (i < 0 || (colon && ss_units_count(colon + 1, &count, error) < 0))
        return -1;

    if (colon && strcmp(name, "free") == 0)
        return ss_error_fail(error, "free takes no number of CPUs");
    if (count > SS_CPUS_MAX || (colon && count == 0))
        return ss_error_fail(
            error, "'%s' is not a number of CPUs: use 1 to %d", colon + 1, SS_CPUS_MAX);
    if (schemes[i].needs_count && !colon)
        return ss_error_fail(
            error, "%s requires a number of CPUs: use %s:2", schemes[i].name, schemes[i].name);

    const struct topology_request request = {schemes[i].scheme, (uint32_t)count, side};
    return topology_place(machine->root, &request, order, error);
}

int ssactuate_pin_place(const struct ssactuate_machine *machine, const char *level, int side,
    struct ssactuate_plan *plan, struct ss_error *error) {
    size_t length = strlen(level), suffix = sizeof ",each" - 1;
    plan->binds_threads = length > suffix && strcmp(level + length - suffix, ",each") == 0;
    SS_OWNED(free) char *place = strndup(level, plan->binds_threads ? length - suffix : length);
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    struct topology_request all = {.scheme = TOPOLOGY_SPREAD};
    struct ss_error ignored = {0};

    if (!place)
        return ss_error_memory(error);

    plan->pinned = plan->ordered = strcmp(place, "free") != 0;
    if (!plan->pinned) {
        /* Binding needs an order of the CPUs. Without a topology, use the numerical one. */
        if (plan->binds_threads && topology_place(machine->root, &all, &plan->cpus, &ignored) < 0) {
            all.scheme = TOPOLOGY_FIRST;
            return topology_place(machine->root, &all, &plan->cpus, error);
        }
        return 0;
    }

    if (place[0] >= '0' && place[0] <= '9') {
        if (take_list(machine, place, &plan->cpus, error) < 0)
            return -1;
    } else if (take_scheme(machine, place, side, &plan->cpus, error) < 0) {
        return -1;
    }

    /* A mask of all usable CPUs restricts nothing. */
    plan->pinned = plan->cpus.count < ss_cpus_count(&cpus.usable);
    return 0;
}

static int set_pin(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    if (ssactuate_pin_place(knob->machine, knob->level, 0, plan, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);
    return 0;
}

static int get_pin(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    struct topology_usable cpus = topology_usable_read(&knob->machine->tree);
    char text[8 * SS_CPUS_MAX];
    (void)error;
    ss_cpus_print(text, sizeof text, &cpus.usable);
    bool is_free = ss_cpus_count(&cpus.usable) == ss_cpus_count(&cpus.online);
    fprintf(stream, "%s=%s\n", knob->text, is_free ? "free" : text);
    return 0;
}

const struct ssactuate_actuator ssactuate_pin = {
    .name = "pin",
    .syntax = "free|first:N|one-node[:N]|one-chip[:N]|spread[:N]|per-chip[:N]|per-core[:N]|"
              "per-thread[:N]|LIST[,each]",
    .mechanism = "affinity, and a cpuset if a control group can be created",
    .get = get_pin,
    .set = set_pin,
};

static void print_cpus(const struct ssactuate_machine *machine, FILE *stream) {
    struct topology_usable cpus = topology_usable_read(&machine->tree);
    struct ss_error reason = {0};
    fprintf(stream, "1 to %u", (unsigned)ss_cpus_count(&cpus.usable));
    if (may_limit(machine, LIMIT_CPUS, &reason) < 0)
        fprintf(stream, ", by affinity alone: %s", reason.message);
}

static int get_cpus(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    struct topology_usable cpus = topology_usable_read(&knob->machine->tree);
    (void)error;
    fprintf(stream, "%s=%u\n", knob->text, (unsigned)ss_cpus_count(&cpus.usable));
    return 0;
}

static int set_cpus(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    struct topology_usable cpus = topology_usable_read(&knob->machine->tree);
    uint32_t count = ss_cpus_count(&cpus.usable);

    if (ss_units_count(knob->level, &plan->cpu_count, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    if (plan->cpu_count == 0 || plan->cpu_count > count)
        return ss_error_fail(
            error, "%s: use a number of CPUs from 1 to %u", knob->text, (unsigned)count);
    return 0;
}

const struct ssactuate_actuator ssactuate_cpus = {
    .name = "cpus",
    .syntax = "N",
    .mechanism = "a cpuset, or affinity",
    .levels = print_cpus,
    .get = get_cpus,
    .set = set_cpus,
};

static int probe_quota(const struct ssactuate_knob *knob, struct ss_error *reason) {
    return may_limit(knob->machine, LIMIT_QUOTA, reason);
}

static int get_quota(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    struct ss_quota quota = {0};
    (void)error;
    ss_platform_quota_read(&knob->machine->roots, &quota);
    if (quota.cpus > 0)
        fprintf(stream, "%s=%g%%\n", knob->text, 100 * quota.cpus);
    else
        fprintf(stream, "%s=none\n", knob->text);
    return 0;
}

static int set_quota(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    char level[64];
    const char *period;
    double percent;

    if (split_option(knob, "period", level, &period, error) < 0)
        return -1;

    if (period && ss_units_time(period, &plan->period, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);
    if (plan->period < PERIOD_MIN || plan->period > PERIOD_MAX)
        return ss_error_fail(error, "%s: the period must be from 1ms to 1s", knob->text);

    if (strcmp(level, "none") == 0) {
        plan->quota = 0;
        return 0;
    }

    if (ss_units_percent(level, &percent, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    plan->quota = percent / 100;
    if (plan->quota * (double)plan->period < (double)QUOTA_TIME_MIN)
        return ss_error_fail(error,
            "%s: the CPU time per period is below the kernel's minimum of 1 ms: use a larger "
            "percentage or a longer period",
            knob->text);
    return 0;
}

const struct ssactuate_actuator ssactuate_quota = {
    .name = "quota",
    .syntax = "150%|none[,period=100ms]",
    .mechanism = "a control group: cpu.max, or cpu.cfs_quota_us",
    .probe = probe_quota,
    .get = get_quota,
    .set = set_quota,
};

static int probe_memory(const struct ssactuate_knob *knob, struct ss_error *reason) {
    return may_limit(knob->machine, LIMIT_MEMORY, reason);
}

static int get_memory(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error) {
    uint64_t bytes = limit_group_inherited_memory(&knob->machine->roots);
    char text[40] = "none";
    (void)error;
    if (bytes > 0)
        quantity_print(&quantity_size, text, sizeof text, bytes);
    fprintf(stream, "%s=%s\n", knob->text, text);
    return 0;
}

static int set_memory(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    plan->memory = 0;
    if (strcmp(knob->level, "none") == 0)
        return 0;
    if (quantity_parse(&quantity_size, knob->level, &plan->memory, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    return plan->memory >= MEMORY_MIN
               ? 0
               : ss_error_fail(error, "%s: use at least 1M, or `none`", knob->text);
}

const struct ssactuate_actuator ssactuate_memory = {
    .name = "memory",
    .syntax = "4G|none",
    .mechanism = "a control group: memory.max, or memory.limit_in_bytes",
    .probe = probe_memory,
    .get = get_memory,
    .set = set_memory,
};

static void print_instances(const struct ssactuate_machine *machine, FILE *stream) {
    (void)machine;
    fprintf(stream, "1 to %d", SSACTUATE_INSTANCES_MAX);
}

static int set_instances(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    char count[64];
    const char *url;
    uint64_t instances;

    if (split_option(knob, "url", count, &url, error) < 0)
        return -1;

    if (ss_units_count(count, &instances, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);
    if (instances == 0 || instances > SSACTUATE_INSTANCES_MAX)
        return ss_error_fail(error, "%s: use a number of instances from 1 to %d", knob->text,
            SSACTUATE_INSTANCES_MAX);

    if (url && !strstr(url, "{port}"))
        return ss_error_fail(
            error, "%s: the URL has no {port}: put {port} in place of the port number", knob->text);

    plan->instances = (uint32_t)instances;
    snprintf(plan->instance_url, sizeof plan->instance_url, "%s",
        url ? url : "http://127.0.0.1:{port}/");
    return 0;
}

const struct ssactuate_actuator ssactuate_instances = {
    .name = "instances",
    .syntax = "N[,url=http://127.0.0.1:{port}/]",
    .mechanism = "ssactuate, which starts and ends copies of the command",
    .levels = print_instances,
    .constant_level = "1",
    .set = set_instances,
};

char *ssactuate_find_showstopper(void) {
    const char *at = getenv("PATH");
    struct ss_words_part part;
    char *path = ss_platform_program_path(1, "/showstopper");

    while (path && access(path, X_OK) < 0) {
        free(path);
        bool more = at && ss_words_next(&at, ':', &part);
        path = more ? ss_words_format(NULL, "%.*s/showstopper", (int)part.length, part.text) : NULL;
    }
    return path;
}

static int probe_duty(const struct ssactuate_knob *knob, struct ss_error *reason) {
    SS_OWNED(free) char *path = ssactuate_find_showstopper();
    (void)knob;
    return path ? 0 : ss_error_fail(reason, "showstopper is neither next to ssactuate nor in PATH");
}

static int set_duty(
    const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error) {
    char level[64];
    const char *tau;

    plan->tau = 20 * SS_MILLISECOND;
    if (split_option(knob, "tau", level, &tau, error) < 0)
        return -1;

    if ((tau && ss_units_time(tau, &plan->tau, error) < 0) ||
        ss_units_load(level, 0, &plan->duty, error) < 0)
        return ss_error_wrap(error, "%s", knob->text);

    if (plan->duty < 1e-8 || plan->tau < SS_MILLISECOND || plan->tau > 3600 * SS_SECOND)
        return ss_error_fail(
            error, "%s: the duty must be at least 0.000001%%, and tau from 1ms to 1h", knob->text);
    return 0;
}

const struct ssactuate_actuator ssactuate_duty = {
    .name = "duty",
    .syntax = "50%[,tau=20ms]",
    .mechanism = "showstopper, which stops and continues the command",
    .probe = probe_duty,
    .constant_level = "100%",
    .set = set_duty,
};
