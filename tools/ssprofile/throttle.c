/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "cpufreq.h"
#include "quantity.h"

static const char *const kinds[] = {
    [SSPROFILE_NO_THROTTLE] = "without",
    [SSPROFILE_DUTY] = "duty",
    [SSPROFILE_LOAD] = "load",
    [SSPROFILE_QUOTA] = "quota",
    [SSPROFILE_FREQUENCY] = "frequency",
};

_Static_assert(sizeof kinds / sizeof *kinds == SSPROFILE_THROTTLES, "each kind has a name");

/* Parses a percentage; SSPROFILE_FREQUENCY may also be a frequency. */
static int parse_setting(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error) {
    uint64_t hertz;
    if (throttle->kind == SSPROFILE_FREQUENCY && !strchr(text, '%')) {
        if (quantity_parse(&quantity_frequency, text, &hertz, error) < 0)
            return -1;
        throttle->frequency = (double)hertz;
        throttle->setting = 0;
        return 0;
    }

    if (ss_units_load_option(text, 0, &throttle->setting, error) < 0)
        return -1;
    return throttle->setting >= 0.01
               ? 0
               : ss_error_fail(error, "'%s' is too small: use at least 1%%", text);
}

int ssprofile_throttle_parse(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error) {
    const char *equals = strchr(text, '=');
    if (strcmp(text, kinds[SSPROFILE_NO_THROTTLE]) == 0) {
        throttle->kind = SSPROFILE_NO_THROTTLE;
        return 0;
    }

    for (int kind = SSPROFILE_DUTY; equals && kind < SSPROFILE_THROTTLES; kind++) {
        size_t length = (size_t)(equals - text);
        if (strlen(kinds[kind]) != length || strncmp(text, kinds[kind], length) != 0)
            continue;
        throttle->kind = (enum ssprofile_throttle_kind)kind;
        return parse_setting(throttle, equals + 1, error);
    }

    return ss_error_fail(error,
        "unknown throttle '%s': use %s, frequency=1.4GHz, or KIND=PERCENT, where KIND is one of: "
        "%s",
        ss_words_show(text).text, kinds[SSPROFILE_NO_THROTTLE], SSPROFILE_THROTTLE_CHOICES);
}

static const struct cpufreq_policy *find_policy(
    const struct cpufreq_policies *policies, uint32_t cpu) {
    for (size_t i = 0; i < policies->count; i++) {
        if (ss_cpus_has(&policies->items[i].cpus, cpu))
            return &policies->items[i];
    }
    return NULL;
}

/* The limits of the hardware may include boost, which cannot be set: prefer the listed levels. */
static void take_levels(struct ssprofile_levels *levels, const struct cpufreq_policy *policy) {
    *levels = (struct ssprofile_levels){
        .lowest = 1000 * policy->lowest, .highest = 1000 * policy->highest};

    char *rest = policy->frequencies;
    for (char *word; (word = strsep(&rest, " "));) {
        double level = 1000 * sys_tree_parse_number(word);
        if (!(level > 0) || levels->count == sizeof levels->table / sizeof *levels->table)
            continue;
        levels->lowest = levels->count == 0 ? level : fmin(levels->lowest, level);
        levels->highest = levels->count == 0 ? level : fmax(levels->highest, level);
        levels->table[levels->count++] = level;
    }
}

int ssprofile_levels_read(
    struct ssprofile_levels *levels, const char *root, uint32_t cpu, struct ss_error *error) {
    struct cpufreq_policies policies = {0};
    struct sys_tree tree;
    *levels = (struct ssprofile_levels){0};

    int status = sys_tree_open(&tree, root, error);
    if (status == 0)
        status = cpufreq_read(&policies, &tree, error);

    const struct cpufreq_policy *policy = find_policy(&policies, cpu);
    if (policy)
        take_levels(levels, policy);
    cpufreq_free(&policies);
    sys_tree_close(&tree);

    if (status < 0 || (levels->lowest > 0 && levels->highest >= levels->lowest))
        return status;
    return ss_error_fail(error,
        "CPU %u has no frequency that can be set: %s/" CPUFREQ " has no policy for it (no driver, "
        "or a virtual machine): throttle by duty instead",
        (unsigned)cpu, root ? root : "");
}

/* Returns the level nearest to this fraction of the highest frequency. */
static double find_nearest(const struct ssprofile_levels *levels, double setting) {
    double target = fmin(fmax(setting * levels->highest, levels->lowest), levels->highest);
    double nearest = 1000 * nearbyint(target / 1000); /* the kernel counts in kHz */

    for (size_t i = 0; i < levels->count; i++) {
        if (i == 0 || fabs(levels->table[i] - target) < fabs(nearest - target))
            nearest = levels->table[i];
    }

    return nearest;
}

int ssprofile_throttle_resolve(
    struct ssprofile_throttle *throttle, uint32_t cpu, struct ss_error *error) {
    struct ssprofile_levels levels;

    if (throttle->kind != SSPROFILE_FREQUENCY)
        return 0;
    if (ssprofile_levels_read(&levels, throttle->root, cpu, error) < 0)
        return -1;

    if (throttle->setting > 0)
        throttle->frequency = find_nearest(&levels, throttle->setting);
    /* Names of throttles have whole MHz, so a frequency may be off by a rounding error. */
    if (fabs(throttle->frequency - levels.highest) < 1e6)
        throttle->frequency = levels.highest;
    if (fabs(throttle->frequency - levels.lowest) < 1e6)
        throttle->frequency = levels.lowest;

    if (throttle->frequency < levels.lowest || throttle->frequency > levels.highest)
        return ss_error_fail(error, "%g MHz is out of range: the CPU has %g to %g MHz",
            throttle->frequency / 1e6, levels.lowest / 1e6, levels.highest / 1e6);

    throttle->setting = throttle->frequency / levels.highest;
    return 0;
}

void ssprofile_throttle_name(char name[32], const struct ssprofile_throttle *throttle) {
    if (throttle->kind == SSPROFILE_NO_THROTTLE)
        snprintf(name, 32, "%s", kinds[throttle->kind]);
    else if (throttle->kind == SSPROFILE_FREQUENCY)
        snprintf(name, 32, "%s-%.0f", kinds[throttle->kind], throttle->frequency / 1e6);
    else
        snprintf(name, 32, "%s-%.9g", kinds[throttle->kind], 10000 * throttle->setting);
}

/* Sets the words of ssactuate, which always restores the frequency when the benchmark ends. */
static size_t frequency_words(
    const struct ssprofile_throttle *throttle, const char *words[SSPROFILE_THROTTLE_WORDS_MAX]) {
    static char knob[64] = "frequency=";
    const char *const all[] = {
        "ssactuate", "run", knob, "--root", throttle->root ? throttle->root : "", "--"};

    size_t count = 0, length = strlen("frequency=");
    quantity_print(&quantity_frequency, knob + length, sizeof knob - length,
        (uint64_t)(throttle->frequency + 0.5));

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (throttle->root || (i != 3 && i != 4))
            words[count++] = all[i];
    }

    return count;
}

/* Without feedback, only rounds of equal length (jitter=0) make the duty exact. */
size_t ssprofile_throttle_words(const struct ssprofile_throttle *throttle, uint32_t cpu,
    const char *words[SSPROFILE_THROTTLE_WORDS_MAX]) {
    static char number[16], setting[32], round[64];
    bool is_open = throttle->kind == SSPROFILE_DUTY;
    const char *const all[] = {"showstopper", "-q", "--progress", "never", "-n", "1", "-p", "",
        "--cpus", number, "-l", setting, "-f", "exact", "-d", "stagger", "-D", round, "-c",
        is_open ? "fixed" : "deadbeat", "--"};

    _Static_assert(sizeof all / sizeof *all <= SSPROFILE_THROTTLE_WORDS_MAX, "all words fit");

    if (throttle->kind == SSPROFILE_FREQUENCY)
        return frequency_words(throttle, words);
    if (!is_open && throttle->kind != SSPROFILE_LOAD)
        return 0;

    snprintf(number, sizeof number, "%u", cpu);
    snprintf(setting, sizeof setting, "%.8f", throttle->setting);
    snprintf(round, sizeof round, "%lluu%s", (unsigned long long)(throttle->quantum / 1000),
        is_open ? ",jitter=0" : "");

    memcpy(words, all, sizeof all);
    return sizeof all / sizeof *all;
}
