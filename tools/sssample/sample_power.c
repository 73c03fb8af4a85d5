/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_power.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/platform.h"

/* Reads the first line of FOLDER/NAME; without a name, of the file FOLDER. */
static bool read_line(const char *folder, const char *name, char *text, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder, name ? "/" : "", name ? name : "");
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file || !fgets(text, (int)size, file))
        return false;
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static bool read_number(const char *folder, const char *name, int64_t *number) {
    char text[64];
    char *rest;
    if (!read_line(folder, name, text, sizeof text))
        return false;
    *number = strtoll(text, &rest, 10);
    return rest > text && !*rest;
}

static bool add_file(struct sssample_power *power, const char *path) {
    char *copy = power->count < SSSAMPLE_FILES_MAX ? strdup(path) : NULL;
    if (!copy)
        return false;
    power->files[power->count++] = copy;
    return true;
}

static bool find_files(const char *root, const char *pattern, glob_t *found) {
    char path[4096];
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/')
        length--;
    snprintf(path, sizeof path, "%.*s/sys/class/%s", (int)length, root, pattern);
    return glob(path, 0, NULL, found) == 0;
}

/* Returns whether the folder is a whole package, such as intel-rapl:0, but not a part of it. */
static bool is_package(const char *folder) {
    char name[64];
    const char *zone = strrchr(folder, '/') + 1;
    const char *mark = strstr(zone, "-rapl:");
    if (!mark || mark == zone || !mark[6] || mark[6 + strspn(mark + 6, "0123456789")])
        return false;
    return read_line(folder, "name", name, sizeof name) && strncmp(name, "package-", 8) == 0;
}

static void name_package(struct sssample_power *power, const char *folder) {
    size_t used = strlen(power->scope);
    char name[64] = "";
    read_line(folder, "name", name, sizeof name);
    snprintf(power->scope + used, sizeof power->scope - used, "%s%s",
        power->count > 1 ? " " : "rapl: CPU packages only (", name);
}

/*
 * Finds readable packages, which often only root may read. Including their parts would count power
 * twice.
 */
static bool find_rapl(struct sssample_power *power, const char *root) {
    glob_t found;
    int64_t number;
    if (!find_files(root, "powercap/*-rapl:*", &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *folder = found.gl_pathv[i];
        if (is_package(folder) && read_number(folder, "energy_uj", &number) &&
            add_file(power, folder))
            name_package(power, folder);
    }
    globfree(&found);
    size_t used = strlen(power->scope);
    if (power->count > 0)
        snprintf(power->scope + used, sizeof power->scope - used, ")");
    return power->count > 0;
}

static bool find_sensor(struct sssample_power *power, const char *root, const char *pattern) {
    glob_t found;
    char device[64] = "unknown";
    if (!find_files(root, pattern, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc && power->count == 0; i++) {
        if (access(found.gl_pathv[i], R_OK) == 0)
            add_file(power, found.gl_pathv[i]);
    }
    globfree(&found);
    if (power->count == 0)
        return false;
    SS_OWNED(free) char *folder = strdup(power->files[0]);
    if (folder) {
        *strrchr(folder, '/') = '\0';
        read_line(folder, "name", device, sizeof device);
    }
    bool whole = strcmp(device, "power_meter") == 0;
    snprintf(power->scope, sizeof power->scope,
        whole ? "hwmon: the whole machine (%s)" : "hwmon: parts measured by sensor %s", device);
    return true;
}

static bool find_hwmon(struct sssample_power *power, const char *root) {
    return find_sensor(power, root, "hwmon/hwmon*/power1_average") ||
           find_sensor(power, root, "hwmon/hwmon*/power1_input");
}

/* Finds a battery. It reports the power of the machine only while discharging. */
static bool find_battery(struct sssample_power *power, const char *root) {
    glob_t found;
    int64_t number;
    char text[64];
    if (!find_files(root, "power_supply/*", &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *folder = found.gl_pathv[i];
        if (read_line(folder, "type", text, sizeof text) && strcmp(text, "Battery") == 0 &&
            read_line(folder, "status", text, sizeof text) && strcmp(text, "Discharging") == 0 &&
            (read_number(folder, "power_now", &number) ||
                read_number(folder, "current_now", &number)))
            add_file(power, folder);
    }
    globfree(&found);
    snprintf(power->scope, sizeof power->scope, "battery: the whole machine with its screen");
    return power->count > 0;
}

static const struct {
    const char *name;
    bool (*find)(struct sssample_power *power, const char *root);
} kinds[] = {
    [SSSAMPLE_RAPL] = {"rapl", find_rapl},
    [SSSAMPLE_HWMON] = {"hwmon", find_hwmon},
    [SSSAMPLE_BATTERY] = {"battery", find_battery},
};

#define KINDS (sizeof kinds / sizeof *kinds)

bool sssample_power_find(struct sssample_power *power, const char *name, const char *root) {
    bool is_automatic = strcmp(name, "auto") == 0, is_named = is_automatic;
    *power = (struct sssample_power){.kind = SSSAMPLE_COMMAND, .command = name};
    for (size_t i = 0; i < KINDS; i++) {
        if (!is_automatic && strcmp(name, kinds[i].name) != 0)
            continue;
        is_named = true;
        power->kind = (enum sssample_power_kind)i;
        if (kinds[i].find(power, root))
            return true;
    }
    if (is_named)
        return false;
    snprintf(power->scope, sizeof power->scope, "command: what it measures (%s)", name);
    return true;
}

void sssample_power_free(struct sssample_power *power) {
    while (power->count > 0)
        free(power->files[--power->count]);
}

/* Returns the energy that a package has used since the last sample, or -1 if it is unknown. */
static int64_t used_energy(const struct sssample_power *power, size_t index, int64_t now) {
    int64_t used = now - power->before[index], range;
    if (used >= 0)
        return used;
    /* A counter wraps at its range. A counter that was far from its range has been reset. */
    if (!read_number(power->files[index], "max_energy_range_uj", &range) ||
        power->before[index] < range / 2 || now > range / 2)
        return -1;
    return used + range;
}

/*
 * Returns false if the power is unknown: in the first sample, or if a counter is unreadable or was
 * reset.
 */
static bool sample_rapl(struct sssample_power *power, ss_time spent, double *watts) {
    int64_t now, sum = 0;
    bool is_known = power->has_before && spent > 0;
    power->has_before = false;
    for (size_t i = 0; i < power->count; i++) {
        if (!read_number(power->files[i], "energy_uj", &now))
            return false;
        int64_t used = used_energy(power, i, now);
        is_known &= used >= 0;
        sum += used;
        power->before[i] = now;
    }
    power->has_before = true;
    *watts = (double)sum / ((double)spent / 1e3);
    return is_known;
}

static bool sample_hwmon(struct sssample_power *power, double *watts) {
    int64_t microwatts;
    if (!read_number(power->files[0], NULL, &microwatts))
        return false;
    *watts = (double)microwatts / 1e6;
    return true;
}

static bool sample_battery(struct sssample_power *power, double *watts) {
    *watts = 0;
    for (size_t i = 0; i < power->count; i++) {
        int64_t number, voltage;
        if (read_number(power->files[i], "power_now", &number))
            *watts += (double)llabs(number) / 1e6;
        else if (read_number(power->files[i], "current_now", &number) &&
                 read_number(power->files[i], "voltage_now", &voltage))
            *watts += (double)llabs(number) * (double)voltage / 1e12;
        else
            return false;
    }
    return true;
}

/* Prints the first line of the command's output if it is a number and the command succeeds. */
static void print_command(FILE *stream, const struct sssample_power *power) {
    char line[256] = "", rest[256];
    setenv("SHOWSTOPPER_POWER", power->command, 1);
    FILE *output = popen("exec bash -c \"$SHOWSTOPPER_POWER\"", "re");
    if (!output)
        return;
    if (!fgets(line, sizeof line, output))
        line[0] = '\0';
    while (fgets(rest, sizeof rest, output))
        continue;
    line[strcspn(line, "\n")] = '\0';
    size_t whole = strspn(line, "0123456789");
    size_t parts = line[whole] == '.' ? strspn(line + whole + 1, "0123456789") : 0;
    bool is_number = whole > 0 && !line[whole + (parts > 0 ? 1 + parts : 0)];
    if (pclose(output) == 0 && is_number)
        fputs(line, stream);
}

static void print_columns(FILE *stream, void *source) {
    (void)source;
    fputs("watts", stream);
}

static void print_sample(FILE *stream, void *source, ss_time spent) {
    struct sssample_power *power = source;
    double watts = 0;
    bool is_known = false;
    switch (power->kind) {
    case SSSAMPLE_RAPL:
        is_known = sample_rapl(power, spent, &watts);
        break;
    case SSSAMPLE_HWMON:
        is_known = sample_hwmon(power, &watts);
        break;
    case SSSAMPLE_BATTERY:
        is_known = sample_battery(power, &watts);
        break;
    case SSSAMPLE_COMMAND:
        if (spent > 0)
            print_command(stream, power);
        break;
    }
    if (is_known)
        fprintf(stream, "%.10g", watts);
}

struct sssample_source sssample_power_source(struct sssample_power *power) {
    return (struct sssample_source){print_columns, print_sample, power};
}

/* Takes a sample `spent` after the previous one and returns its value; NaN if unknown. */
static double take_sample(struct sssample_power *power, ss_time spent) {
    char cell[64] = "";
    FILE *stream = fmemopen(cell, sizeof cell, "w");
    if (!stream)
        return NAN;
    print_sample(stream, power, spent);
    fclose(stream);
    return *cell ? atof(cell) : NAN;
}

/* Waits a second and returns its mean power; NaN if unknown. */
static double measure_second(struct sssample_power *power) {
    const struct timespec second = {.tv_sec = 1};
    take_sample(power, 0);
    ss_time begin = ss_platform_now();
    nanosleep(&second, NULL);
    return take_sample(power, ss_time_since(ss_platform_now(), begin));
}

double sssample_power_mean(struct sssample_power *power, unsigned seconds) {
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

void sssample_power_await(struct sssample_power *power, double watts, unsigned seconds) {
    for (unsigned i = 0; i < seconds && !(measure_second(power) <= watts); i++)
        continue;
}
