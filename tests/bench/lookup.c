/* SPDX-License-Identifier: Apache-2.0 */

/*
 * lookup FILE STEP COUNT: measures the cost of looking up a target in the trace module `file`, at
 * times that advance by STEP seconds and at random times. Prints the nanoseconds of CPU time of one
 * lookup for each.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loop/module_set.h"
#include "loop/registry.h"
#include "options/values.h"
#include <showstopper/random.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

int main(int argc, char **argv) {
    struct ss_error error = {0};
    struct ss_option_store store = {0};
    struct ss_loaded module;
    if (argc != 4 || ss_registry_load(SS_KIND_TRACE, "file", &module, &error) != 0)
        return fprintf(stderr, "lookup: %s\n", argc == 4 ? error.message : "FILE STEP COUNT"), 1;
    struct ss_self self = {.host = &ss_host,
        .config = calloc(1, module.head->config_size),
        .own = calloc(1, module.head->executor_memory)};
    if (ss_option_parse_string(
            module.head->options, argv[1], (void *)self.config, &store, &error) != 0 ||
        module.head->prepare(&self, &error) != 0)
        return fprintf(stderr, "lookup: %s\n", error.message), 1;
    ss_time step = (ss_time)(strtod(argv[2], NULL) * 1e9);
    long count = strtol(argv[3], NULL, 10);
    struct ss_target target;
    double sum = 0, begin = now();
    for (long i = 0; i < count; i++) {
        module.table.trace.target(&self, (ss_time)i * step, &target);
        sum += target.load;
    }
    double forward = (now() - begin) / (double)count;
    begin = now();
    for (long i = 0; i < count; i++) {
        ss_time at = (ss_time)(ss_random(1, (uint64_t)i) * (double)count) * step;
        module.table.trace.target(&self, at, &target);
        sum += target.load;
    }
    printf("%.1f %.1f %g\n", forward, (now() - begin) / (double)count, sum);
    return 0;
}
