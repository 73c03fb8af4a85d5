/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/host.h"

#include "base/units.h"
#include "trace/file.h"

const struct ss_host ss_host = {
    .parse_time = ss_units_time,
    .parse_load = ss_units_load,
    .parse_number = ss_units_number,
    .parse_loads = ss_units_loads,
    .read_trace = ss_trace_load,
    .free_trace = ss_trace_records_free,
};
