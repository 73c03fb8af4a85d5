/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_POWER_FITS_H
#define SSREPORT_POWER_FITS_H

/* Power as a function of the number of busy CPUs. */

#include "report.h"

/* Fills the table power-fits. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int ssreport_power_fits_fill(struct ssreport_report *report);

#endif
