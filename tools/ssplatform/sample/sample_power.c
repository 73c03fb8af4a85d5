/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/owned.h"
#include "platform/platform.h"

#define CLASS "sys/class/"

static double read_number(const struct sample_power *power, size_t index, const char *name) {
    return sys_tree_number(&power->tree, "%s/%s", power->files[index], name);
}

/* Adds a file or folder if there is room for it. */
static bool add_file(struct sample_power *power, const char *folder, const char *name) {
    char *path = NULL;
    if (power->count == SAMPLE_FILES_MAX || asprintf(&path, CLASS "%s/%s", folder, name) < 0)
        return false;
    power->files[power->count++] = path;
    return true;
}

/* Returns whether the zone is a whole package, such as intel-rapl:0, not a part of one. */
static bool is_package(const char *zone, const char *name) {
    const char *mark = strstr(zone, "-rapl:");
    return mark && mark > zone && mark[6] && !mark[6 + strspn(mark + 6, "0123456789")] && name &&
           strncmp(name, "package-", 8) == 0;
}

/*
 * Finds the packages that can be read; often only root may. Including their parts would count power
 * twice.
 */
static bool find_rapl(struct sample_power *power) {
    struct sys_tree_names zones = sys_tree_list(&power->tree, CLASS "powercap");
    size_t used = 0;

    for (size_t i = 0; i < zones.count; i++) {
        const char *zone = zones.list[i];
        SS_OWNED(free) char *name = sys_tree_line(&power->tree, CLASS "powercap/%s/name", zone);
        if (!is_package(zone, name) ||
            isnan(sys_tree_number(&power->tree, CLASS "powercap/%s/energy_uj", zone)) ||
            !add_file(power, "powercap", zone))
            continue;

        int length = snprintf(power->scope + used, sizeof power->scope - used, "%s%s",
            power->count > 1 ? " " : "rapl: CPU packages only (", name);
        used = used + (size_t)length < sizeof power->scope - 2 ? used + (size_t)length : used;
    }

    sys_tree_names_free(&zones);
    strcpy(power->scope + used, ")");
    return power->count > 0;
}

static bool find_sensor(struct sample_power *power, const char *file) {
    struct sys_tree_names sensors = sys_tree_list(&power->tree, CLASS "hwmon");

    for (size_t i = 0; i < sensors.count && power->count == 0; i++) {
        const char *sensor = sensors.list[i];
        char folder[300];
        snprintf(folder, sizeof folder, "hwmon/%s", sensor);
        if (isnan(sys_tree_number(&power->tree, CLASS "%s/%s", folder, file)) ||
            !add_file(power, folder, file))
            continue;

        SS_OWNED(free) char *name = sys_tree_line(&power->tree, CLASS "%s/name", folder);
        bool whole = name && strcmp(name, "power_meter") == 0;
        snprintf(power->scope, sizeof power->scope, "hwmon: %s%s%s",
            whole ? "the whole machine (" : "parts measured by sensor ", name ? name : "unknown",
            whole ? ")" : "");
    }

    sys_tree_names_free(&sensors);
    return power->count > 0;
}

static bool find_hwmon(struct sample_power *power) {
    return find_sensor(power, "power1_average") || find_sensor(power, "power1_input");
}

static bool has_line(
    const struct sample_power *power, const char *supply, const char *name, const char *text) {
    SS_OWNED(free)
    char *line = sys_tree_line(&power->tree, CLASS "power_supply/%s/%s", supply, name);
    return line && strcmp(line, text) == 0;
}

/* Finds batteries. They report the power of the machine only while discharging. */
static bool find_battery(struct sample_power *power) {
    struct sys_tree_names supplies = sys_tree_list(&power->tree, CLASS "power_supply");

    for (size_t i = 0; i < supplies.count; i++) {
        const char *supply = supplies.list[i];
        bool discharges = has_line(power, supply, "type", "Battery") &&
                          has_line(power, supply, "status", "Discharging");
        if (!discharges || !add_file(power, "power_supply", supply))
            continue;
        if (isnan(read_number(power, power->count - 1, "power_now")) &&
            isnan(read_number(power, power->count - 1, "current_now")))
            free(power->files[--power->count]);
    }

    sys_tree_names_free(&supplies);
    snprintf(power->scope, sizeof power->scope, "battery: the whole machine with its screen");
    return power->count > 0;
}

static const struct {
    const char *name;
    bool (*find)(struct sample_power *power);
} kinds[] = {
    [SAMPLE_RAPL] = {"rapl", find_rapl},
    [SAMPLE_HWMON] = {"hwmon", find_hwmon},
    [SAMPLE_BATTERY] = {"battery", find_battery},
};

#define KINDS (sizeof kinds / sizeof *kinds)

bool sample_power_find(struct sample_power *power, const char *name, const char *root) {
    bool is_automatic = strcmp(name, "auto") == 0, is_named = is_automatic;
    struct ss_error ignored = {0};
    *power = (struct sample_power){.kind = SAMPLE_COMMAND, .command = name};

    bool is_open = sys_tree_open(&power->tree, root, &ignored) == 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (!is_automatic && strcmp(name, kinds[i].name) != 0)
            continue;
        is_named = true;
        power->kind = (enum sample_power_kind)i;
        if (is_open && kinds[i].find(power))
            return true;
    }

    if (is_named)
        return false;

    snprintf(power->scope, sizeof power->scope, "command: what it measures (%s)", name);
    return true;
}

void sample_power_free(struct sample_power *power) {
    while (power->count > 0)
        free(power->files[--power->count]);
    sys_tree_close(&power->tree);
}

/* Returns the microjoules that a package has used since the last sample; NaN if unknown. */
static double used_energy(const struct sample_power *power, size_t index, double now) {
    double before = power->before[index], used = now - before;
    if (used >= 0)
        return used;
    /* A counter wraps at its range. One that was far below its range has been reset. */
    double range = read_number(power, index, "max_energy_range_uj");
    return before >= range / 2 && now <= range / 2 ? used + range : NAN;
}

/* Returns NaN in the first sample, or if a counter is unreadable or was reset. */
static double sample_rapl(struct sample_power *power, ss_time elapsed) {
    double sum = power->has_before && elapsed > 0 ? 0 : NAN;
    power->has_before = false;

    for (size_t i = 0; i < power->count; i++) {
        double now = read_number(power, i, "energy_uj");
        if (isnan(now))
            return NAN;
        sum += used_energy(power, i, now);
        power->before[i] = now;
    }

    power->has_before = true;
    return sum / ((double)elapsed / 1e3);
}

static double sample_battery(const struct sample_power *power) {
    double watts = 0;
    for (size_t i = 0; i < power->count; i++) {
        double microwatts = read_number(power, i, "power_now");
        if (isnan(microwatts))
            microwatts =
                read_number(power, i, "current_now") * read_number(power, i, "voltage_now") / 1e6;
        watts += fabs(microwatts) / 1e6;
    }
    return watts;
}

/* Returns the number in the first line of the command's output; NaN if it has none, or fails. */
static double sample_command(const struct sample_power *power) {
    char line[256] = "", rest[256];

    setenv("SHOWSTOPPER_POWER", power->command, 1);
    FILE *output = popen("exec bash -c \"$SHOWSTOPPER_POWER\"", "re");
    if (!output)
        return NAN;

    if (!fgets(line, sizeof line, output))
        line[0] = '\0';
    while (fgets(rest, sizeof rest, output))
        continue;

    line[strcspn(line, "\n")] = '\0';
    size_t whole = strspn(line, "0123456789");
    size_t parts = line[whole] == '.' ? strspn(line + whole + 1, "0123456789") : 0;
    bool is_number = whole > 0 && !line[whole + (parts > 0 ? 1 + parts : 0)];

    return pclose(output) == 0 && is_number ? strtod(line, NULL) : NAN;
}

static void print_columns(FILE *stream, void *source) {
    (void)source;
    fputs("watts", stream);
}

/* Takes a sample `elapsed` after the previous one. Returns watts; NaN if unknown. */
static double take_sample(struct sample_power *power, ss_time elapsed) {
    switch (power->kind) {
    case SAMPLE_RAPL:
        return sample_rapl(power, elapsed);
    case SAMPLE_HWMON:
        return sys_tree_number(&power->tree, "%s", power->files[0]) / 1e6;
    case SAMPLE_BATTERY:
        return sample_battery(power);
    case SAMPLE_COMMAND:
        return elapsed > 0 ? sample_command(power) : NAN;
    }
    return NAN;
}

static void print_sample(FILE *stream, void *source, ss_time elapsed) {
    double watts = take_sample(source, elapsed);
    if (!isnan(watts))
        fprintf(stream, "%.10g", watts);
}

struct sample_source sample_power_source(struct sample_power *power) {
    return (struct sample_source){print_columns, print_sample, power};
}

/* Waits a second and returns its mean power; NaN if unknown. */
static double measure_second(struct sample_power *power) {
    const struct timespec second = {.tv_sec = 1};
    take_sample(power, 0);
    ss_time begin = ss_platform_now();
    nanosleep(&second, NULL);
    return take_sample(power, ss_time_since(ss_platform_now(), begin));
}

double sample_power_mean(struct sample_power *power, unsigned seconds) {
    double sum = 0;
    unsigned known = 0;
    for (unsigned i = 0; i < seconds; i++) {
        double watts = measure_second(power);
        if (isnan(watts))
            continue;
        sum += watts;
        known++;
    }
    return known > 0 ? sum / known : NAN;
}

void sample_power_await(struct sample_power *power, double watts, unsigned seconds) {
    for (unsigned i = 0; i < seconds && !(measure_second(power) <= watts); i++)
        continue;
}
