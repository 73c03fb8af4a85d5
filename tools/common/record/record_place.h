/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_PLACE_H
#define RECORD_RECORD_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Identifies the folder or file of a record. */
struct ssreport_place {
    bool known;
    dev_t device;
    ino_t inode;
};

#endif
