/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_PUBLISHED_H
#define SSPROFILE_PUBLISHED_H

/* The published ranges of the CPU methods of stress-ng, to stand beside others'. */

#include <showstopper/contract.h>

#include "sheet.h"
#include "warnings.h"

extern const struct ssreport_column ssprofile_published_columns[11];

#define SSPROFILE_PUBLISHED()                                                                      \
    SSREPORT_SHEET("published", "Published ranges (Jimenez and others, VarSys 2016)",              \
        ssprofile_published_columns)

/* Fills the sheet from variability.csv in the folder; a warning says why it stays empty. */
SS_NONNULL()
void ssprofile_published_read(
    struct ssreport_sheet *sheet, const char *folder, struct ssprofile_warnings *warnings);

#endif
