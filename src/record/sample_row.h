/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_SAMPLE_ROW_H
#define SHOWSTOPPER_RECORD_SAMPLE_ROW_H

#include "measure/load_sample.h"

/*
 * Samples as text: the rows of samples.csv, and what ssload prints. To add a column, add a field to
 * struct ss_load_sample and a row to columns_known[] in sample_row.c. Describe the column in
 * showstopper-record(5) and ssload(1).
 */

/* Size limit of a row in any form, and of the heading. */
#define SS_SAMPLE_ROW_SIZE 768

/* Optional columns. */
enum {
    SS_SAMPLE_COLUMN_CPU = 1,
    SS_SAMPLE_COLUMNS_RUN = 2, /* duty and counted */
};

/* Each function writes one line, including its line feed, and returns its length. */
size_t ss_sample_row_heading(char line[SS_SAMPLE_ROW_SIZE], unsigned columns);
size_t ss_sample_row_csv(
    char line[SS_SAMPLE_ROW_SIZE], const struct ss_load_sample *sample, unsigned columns);
size_t ss_sample_row_json(
    char line[SS_SAMPLE_ROW_SIZE], const struct ss_load_sample *sample, unsigned columns);

#endif
