/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "record/sample_row.h"
#include "unit.h"

static char line[SS_SAMPLE_ROW_SIZE];

static void expect_line(size_t length, const char *expected) {
    assert_string_equal(line, expected);
    assert_int_equal(length, strlen(expected));
}

#define FIRST_SIX "time,elapsed_seconds,target,load,error,load_ticks,"
#define PARTS     "user,system,irq,steal,iowait,idle,pressure"
#define CPUS      ",capacity_cpus\n"

TEST(sample_rows_have_every_column) {
    struct ss_load_sample row = {INT64_C(1795161600123000000), 0.5, 0.6, 0.58, 0.02, 0.57, 3, 0.4,
        0.1, 0.03, 0.04, 0.05, 0.38, 0.25, 0.75, true, 1.5};
#define BEGIN "2026-11-20T08:00:00.123Z,0.500000,0.600000,0.580000,0.020000,0.570000,"
#define END   "0.400000,0.100000,0.030000,0.040000,0.050000,0.380000,0.250000"
#define LAST  ",1.500000\n"
    static const struct {
        unsigned columns;
        const char *heading, *row;
    } rows[] = {
        {0, FIRST_SIX PARTS CPUS, BEGIN END LAST},
        {SS_SAMPLE_COLUMN_CPU, FIRST_SIX "cpu," PARTS CPUS, BEGIN "3," END LAST},
        {SS_SAMPLE_COLUMNS_RUN, FIRST_SIX PARTS ",duty,counted" CPUS, BEGIN END ",0.750000,1" LAST},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_line(ss_sample_row_heading(line, rows[i].columns), rows[i].heading);
        expect_line(ss_sample_row_csv(line, &row, rows[i].columns), rows[i].row);
    }
    row.cpu = SS_LOAD_ALL_CPUS;
    expect_line(ss_sample_row_csv(line, &row, SS_SAMPLE_COLUMN_CPU), BEGIN "all," END LAST);
}

TEST(unknown_values_in_sample_rows_are_empty) {
    struct ss_load_sample row = ss_load_sample_new();
    row.load = 0.25;
    row.error = -1e-9; /* no sign if rounded to zero */
    expect_line(ss_sample_row_csv(line, &row, SS_SAMPLE_COLUMNS_RUN),
        "1970-01-01T00:00:00.000Z,,,0.250000,0.000000,,,,,,,,,,0,\n");
    row.cpu = SS_LOAD_ALL_CPUS;
    row.duty = 0.75;
    row.counted = true;
    expect_line(ss_sample_row_json(line, &row, SS_SAMPLE_COLUMN_CPU | SS_SAMPLE_COLUMNS_RUN),
        "{\"time\": \"1970-01-01T00:00:00.000Z\", \"elapsed_seconds\": null, \"target\": null, "
        "\"load\": 0.250000, \"error\": 0.000000, \"load_ticks\": null, \"cpu\": \"all\", "
        "\"user\": null, \"system\": null, \"irq\": null, \"steal\": null, \"iowait\": null, "
        "\"idle\": null, \"pressure\": null, \"duty\": 0.750000, \"counted\": 1, "
        "\"capacity_cpus\": null}\n");
}

UNIT_RUN
