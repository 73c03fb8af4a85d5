/* SPDX-License-Identifier: Apache-2.0 */
#include "command/plan.h"

#include <math.h>

#include "base/units.h"
#include "base/wallclock.h"
#include "base/words.h"

/* Whether run time includes steal depends on the kernel, see PARAVIRT_TIME_ACCOUNTING. */
#define RUNTIME_COUNTS                                                                             \
    "idle and iowait count as idle, guest time as work, steal as the kernel counts it"

static void print_command(FILE *stream, char *const *words) {
    for (; *words; words++) {
        fputc(' ', stream);
        ss_words_quote(stream, *words);
    }
    fputc('\n', stream);
}

static void print_time(FILE *stream, const char *name, ss_time time) {
    char text[SS_UNITS_TEXT_SIZE];
    ss_units_show_time(text, time);
    fprintf(stream, "%-11s%s\n", name, text);
}

static void print_times(FILE *stream, const struct ss_plan *plan) {
    print_time(stream, "window", plan->set.window);
    print_time(stream, "warm-up", plan->warmup);
    print_time(stream, "settle", plan->settle);
    if (plan->duration == SS_TIME_NEVER)
        fprintf(stream, "%-11suntil the workloads end\n", "duration");
    else
        print_time(stream, "duration", plan->duration);
    if (plan->has_start_at) {
        char text[64];
        ss_wallclock_print(text, sizeof text, plan->start_at);
        fprintf(stream, "%-11s%s\n", "start at", text);
    }

    print_time(stream, "grace", plan->grace);
}

const char *ss_plan_load_subject(const struct ss_plan *plan) {
    switch (plan->source.source) {
    case SS_SOURCE_SENSOR:
        return "load from a sensor";
    case SS_SOURCE_OWN:
        return "load of these instances alone";
    case SS_SOURCE_CGROUP:
        return "load of the control group";
    default:
        return "load of the machine";
    }
}

void ss_plan_describe_load(char *buffer, size_t size, const struct ss_plan *plan) {
    char from[4200], text[64] = "these CPUs together";

    ss_platform_counters_print_paths(from, sizeof from, &plan->reader);
    switch (plan->source.source) {
    case SS_SOURCE_SENSOR:
        snprintf(buffer, size, "a value of 1 from the sensor: %s", plan->source.argument);
        break;
    case SS_SOURCE_OWN:
        if (plan->source.cpus > 0)
            snprintf(text, sizeof text, "%g of these CPUs", plan->source.cpus);
        snprintf(buffer, size, "%s; work is the CPU time of the run's own processes alone; from %s",
            text, from);
        break;
    case SS_SOURCE_CGROUP:
        snprintf(buffer, size,
            "%g CPU%s, the allowance of the control group with %s; " RUNTIME_COUNTS,
            plan->reader.capacity, plan->reader.capacity == 1 ? "" : "s", plan->reader.path);
        break;
    case SS_SOURCE_RUNTIME:
        snprintf(buffer, size,
            "these CPUs together; work is the time that processes ran on them; " RUNTIME_COUNTS
            "; from %s",
            from);
        break;
    default:
        snprintf(buffer, size,
            "these CPUs together; idle and iowait count as idle, all else as work, with steal and "
            "guest time; from %s",
            from);
    }
}

static void print_source(FILE *stream, const struct ss_plan *plan) {
    char list[512], load[8192];
    ss_cpus_print(list, sizeof list, &plan->cpus);
    ss_plan_describe_load(load, sizeof load, plan);
    fprintf(stream, "%-11s%u (%s)%s\n", "CPUs", plan->cpu_count, list,
        plan->pinned ? ", instances pinned to them" : "");
    fprintf(stream, "%-11s", "100 % is");
    ss_option_print_wrapped(stream, 11, load);
}

/* Explains a replacement that the user may not have meant. */
static void print_placeholder(FILE *stream, const struct ss_plan *plan) {
    const char *word = ss_commands_find_before_digit(&plan->commands, plan->placeholder);
    char text[600];
    if (!word)
        return;
    snprintf(text, sizeof text,
        "%s in %s is the instance's index: use %s%s to keep it, or -p '' if no index is needed",
        plan->placeholder, ss_words_show(word).text, plan->placeholder, plan->placeholder);
    fprintf(stream, "%-11s", "note");
    ss_option_print_wrapped(stream, 11, text);
}

void ss_plan_print(FILE *stream, const struct ss_plan *plan) {
    fprintf(stream, "%-11s%u\n", "instances", plan->instances);
    fprintf(stream, "%-11s", "command");
    print_command(stream, plan->commands.items[0]);
    for (uint32_t i = 1; i < plan->instances; i++) {
        fprintf(stream, "%-11s", "");
        if (i == 3 && plan->instances > 5) {
            fprintf(stream, " ...\n");
            i = plan->instances - 2;
            continue;
        }
        print_command(stream, plan->commands.items[i]);
    }

    print_placeholder(stream, plan);
    print_source(stream, plan);
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        char options[4096];
        ss_plan_print_options(options, sizeof options, plan, kind);
        fprintf(stream, "%-11s%s%s%s\n", ss_kind_names[kind], plan->set.modules[kind].head->name,
            *options ? "  " : "", options);
        if (*plan->found[kind]) {
            fprintf(stream, "%-11s", "");
            ss_option_print_wrapped(stream, 11, plan->found[kind]);
        }
    }

    print_times(stream, plan);
    for (size_t i = 0; i < plan->labels.count; i++)
        fprintf(stream, "%-11s%s=%s\n", i ? "" : "labels", plan->labels.items[i].name,
            plan->labels.items[i].value);

    if (plan->counters)
        fprintf(stream, "%-11s%s\n", "counters", "events of the instances, every second");
    if (!isnan(plan->tolerance_percent))
        fprintf(stream, "%-11s%g %% mean error\n", "tolerance", plan->tolerance_percent);
    if (plan->tty)
        fprintf(stream, "%-11s%s\n", "output", "standard output is a pseudo-terminal");
    if (plan->isolate)
        fprintf(stream, "%-11s%s\n", "isolated", "in a PID namespace of their own");
    fprintf(stream, "%-11s%s\n", "at the end",
        plan->keep ? "instances are continued and left running" : "nothing is left running");
}
