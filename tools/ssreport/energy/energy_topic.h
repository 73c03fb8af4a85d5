/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_TOPIC_H
#define SSREPORT_ENERGY_TOPIC_H

#include "topic.h"

/* Power, and the energy per iteration. */
extern const struct ssreport_topic ssreport_energy_topic;

#endif
