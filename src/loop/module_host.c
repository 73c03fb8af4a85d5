/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/module_host.h"

#include "base/units.h"
#include "trace/file.h"

static int parse_load(
    const struct ss_host *host, const char *text, double *value, struct ss_error *error) {
    return ss_units_load(text, host->cpus, value, error);
}

static int parse_loads(const struct ss_host *host, const char *text, char separator, double *values,
    size_t count, struct ss_error *error) {
    return ss_units_loads(text, separator, host->cpus, values, count, error);
}

const struct ss_host ss_host = {
    .parse_time = ss_units_time,
    .parse_load = parse_load,
    .parse_number = ss_units_number,
    .parse_loads = parse_loads,
    .read_trace = ss_trace_load,
    .free_trace = ss_trace_records_free,
};
