/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

/*
 * The formats, in the order in which they are tried. The first match wins, so those with an
 * unmistakable header come first.
 */
const struct sstrace_format *const sstrace_formats[] = {
    &sstrace_format_sadf,
    &sstrace_format_ssload,
    &sstrace_format_bitbrains,
    &sstrace_format_vmstat,
#ifdef SSTRACE_HAS_JSON
    &sstrace_format_sadf_json,
    &sstrace_format_mpstat_json,
    &sstrace_format_prometheus,
    &sstrace_format_ssload_json,
#endif
    &sstrace_format_krash,
    &sstrace_format_collectd,
    &sstrace_format_csv,
    &sstrace_format_google_2011,
    &sstrace_format_google_2019,
    &sstrace_format_azure,
    &sstrace_format_alibaba_2017,
    &sstrace_format_alibaba_2018,
    &sstrace_format_alibaba_2021,
    &sstrace_format_alibaba_2022,
    &sstrace_format_planetlab,
    &sstrace_format_levels,
    NULL,
};
