/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_TOPIC_H
#define SSREPORT_FLEET_TOPIC_H

#include "topic.h"

/* A replay on many nodes: their total load and its target, and the errors and starts of each. */
extern const struct ssreport_topic ssreport_fleet_topic;

#endif
