/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/load_meter.h"

#include <stdlib.h>

static int read_platform(void *reader, struct ss_cpu_reading *reading) {
    return ss_platform_cpu_times_read(reader, reading);
}

int ss_load_meter_open(struct ss_load_meter *meter, const struct ss_source_request *request,
    const struct ss_cpus *cpus, const struct ss_platform_roots *roots, struct ss_error *error) {
    *meter = (struct ss_load_meter){.read = read_platform, .context = &meter->reader};
    if (ss_platform_cpu_times_open(&meter->reader, request, cpus, roots, error) < 0)
        return -1;
    size_t room = request->source == SS_SOURCE_CGROUP ? 1 : ss_cpus_count(cpus);
    meter->last.items = calloc(room, sizeof *meter->last.items);
    meter->before.items = calloc(room, sizeof *meter->before.items);
    if (meter->last.items && meter->before.items)
        return 0;
    ss_load_meter_close(meter);
    return ss_error_memory(error);
}

int ss_load_meter_read(struct ss_load_meter *meter) {
    struct ss_cpu_reading last = meter->last;
    meter->last = meter->before;
    meter->before = last;
    return meter->read(meter->context, &meter->last);
}

void ss_load_meter_close(struct ss_load_meter *meter) {
    ss_platform_cpu_times_close(&meter->reader);
    free(meter->last.items);
    free(meter->before.items);
    *meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
}
