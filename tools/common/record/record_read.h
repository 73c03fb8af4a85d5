/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RECORD_READ_H
#define SSREPORT_RECORD_READ_H

#include "record.h"

/*
 * Reads what there is. -1 with the error set: there is nothing to report. `notes` says what is
 * broken or missing, either way. To be freed in any case.
 */
int ssreport_record_read(
    struct ssreport_record *record, const char *path, const char *name, struct ss_error *error);

#endif
