/* SPDX-License-Identifier: Apache-2.0 */

/* Events of the second-level cache, for which perf_event_open() has no generic names. */

#include <stdio.h>
#include <string.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/*
 * CPU models with the same events. The lower byte of a code is the event, the upper byte the unit
 * mask.
 */
struct raw_events {
    const char *vendor;
    unsigned family, last_family;
    unsigned models[20]; /* ends with 0; empty for all models of these families */
    struct ss_perf_raw codes;
};

/*
 * Sources: Intel 64 and IA-32 Architectures SDM, volume 3B; AMD BIOS and Kernel Developer Guides.
 */
static const struct raw_events codes_by_model[] = {
    /* Nehalem and Westmere: L2_RQSTS. */
    {"GenuineIntel", 6, 6, {0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f}, {0xff24, 0xaa24}},
    /* Sandy Bridge and Ivy Bridge have no count of all misses: L2_TRANS and L2_LINES_IN. */
    {"GenuineIntel", 6, 6, {0x2a, 0x2d, 0x3a, 0x3e}, {0x80f0, 0x07f1}},
    /* Haswell, Broadwell, Skylake, Ice Lake, Sapphire Rapids and their successors: L2_RQSTS. */
    {"GenuineIntel", 6, 6,
        {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0x7d, 0x7e,
            0x6a, 0x6c, 0x8f, 0xcf},
        {0xff24, 0x3f24}},
    /* RequestsToL2 and L2 cache misses, of data, instructions and translations. */
    {"AuthenticAMD", 0x10, 0x15, {0}, {0x077d, 0x077e}},
    /* Zen: L2RequestG1 and L2CacheReqStat. */
    {"AuthenticAMD", 0x17, 0x1a, {0}, {0xff60, 0x0964}},
    {"HygonGenuine", 0x18, 0x18, {0}, {0xff60, 0x0964}},
};

static bool is_model(const struct raw_events *events, unsigned model) {
    for (size_t i = 0; events->models[i]; i++) {
        if (events->models[i] == model)
            return true;
    }
    return events->models[0] == 0;
}

struct ss_perf_raw ss_platform_l2_events(const struct ss_platform_roots *roots) {
    char line[256], vendor[32] = "";
    unsigned family = 0, model = 0;
    SS_OWNED(fclose)
    FILE *stream = fopen(ss_linux_path("%s/cpuinfo", ss_linux_proc(roots)).text, "re");

    /* An empty line ends the lines of the first CPU. */
    while (stream && fgets(line, sizeof line, stream) && *line != '\n') {
        sscanf(line, "vendor_id : %31s", vendor);
        sscanf(line, "cpu family : %u", &family);
        sscanf(line, "model : %u", &model);
    }

    for (size_t i = 0; i < sizeof codes_by_model / sizeof *codes_by_model; i++) {
        const struct raw_events *events = &codes_by_model[i];
        if (strcmp(events->vendor, vendor) == 0 && family >= events->family &&
            family <= events->last_family && is_model(events, model))
            return events->codes;
    }
    return (struct ss_perf_raw){0};
}
