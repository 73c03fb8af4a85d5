/* SPDX-License-Identifier: Apache-2.0 */

/* Preload library: each reading of a CPU's frequency is lower than the one before. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC FILE *fopen64(const char *path, const char *mode) {
    FILE *(*function)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen64");
    static unsigned readings;
    static char text[32];
    if (!strstr(path, "/cpufreq/scaling_cur_freq"))
        return function(path, mode);
    int length = snprintf(text, sizeof text, "%u\n", 4000000 / ++readings);
    return fmemopen(text, (size_t)length, "r");
}

PUBLIC FILE *fopen(const char *path, const char *mode) {
    return fopen64(path, mode);
}
