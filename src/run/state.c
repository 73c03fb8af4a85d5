/* SPDX-License-Identifier: Apache-2.0 */
#include "run/state.h"

#include <math.h>
#include <stdarg.h>

#include "platform/platform.h"

void ss_master_print_verbose(struct ss_master *master, const char *format, ...) {
    if (!master->plan->verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    ss_progress_print_line(&master->progress, format, arguments);
    va_end(arguments);
}

void ss_master_record_event(
    struct ss_master *master, const char *event, int64_t instance, const char *text, double value) {
    ss_recorder_event(master->recorder,
        &(struct ss_record_event){ss_platform_now(), event, instance, text, value});
}

void ss_master_record_bound(
    struct ss_master *master, ss_time at, const char *event, const char *text) {
    ss_recorder_event(master->recorder, &(struct ss_record_event){at, event, -1, text, NAN});
}

void ss_master_begin_switches(struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++)
        master->switches_before[i] = atomic_load(&master->board->rows[i].switches);
}

uint64_t ss_master_count_switches(const struct ss_master *master, uint32_t *with_rounds) {
    uint64_t sum = 0;
    *with_rounds = 0;
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        uint64_t sent = atomic_load(&master->board->rows[i].switches) - master->switches_before[i];
        sum += sent;
        *with_rounds += ss_has_rounds(sent);
    }
    return sum;
}
