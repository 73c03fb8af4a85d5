/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_READ_H
#define RECORD_RECORD_READ_H

#include "record.h"

/*
 * Reads a record, even if parts are missing or damaged; `notes` says which. Returns -1 with the
 * error set if nothing can be reported. Free the record in either case.
 */
int ssreport_record_read(
    struct ssreport_record *record, const char *path, const char *name, struct ss_error *error);

#endif
