/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_MANIFEST_H
#define SHOWSTOPPER_TESTS_REPORT_MANIFEST_H

#include "report_make.h"

static inline void write_manifest(const char *path, const char *rows) {
    char text[4096];
    snprintf(text, sizeof text,
        "run,experiment,workload,method,role,group,placement,target,tau_seconds,speed,round,energy"
        "\n%s",
        rows);
    folder_write(path, text);
}

/* Writes a manifest with these rows and reads its experiment; the records must exist. */
static inline struct ssreport_report gather_rows(const char *rows) {
    write_manifest("manifest.csv", rows);
    struct ssreport_report report = begin_report();
    read_published(&report);
    assert_int_equal(ssreport_gather(&report, folder_path, 0), 0);
    assert_int_equal(report.failure_count, 0);
    finish_report(&report);
    return report;
}

/* Replaces the 30 iterations of the record by this number of equal ones in the same 30 s. */
static inline void folder_set_iterations(const char *name, int iterations) {
    char path[64], *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("instance,start,end\n", stream);
    for (int i = 0; i < iterations; i++)
        fprintf(stream, "0,%.9f,%.9f\n", 30.0 * i / iterations, 30.0 * (i + 1) / iterations);
    fclose(stream);
    snprintf(path, sizeof path, "%s/iterations.csv", name);
    folder_write(path, text);
    free(text);
}

#endif
