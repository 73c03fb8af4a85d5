/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_TOPIC_H
#define SSREPORT_FLEET_TOPIC_H

#include "topic.h"

/* A replay on many nodes: total load and target, and the errors and start times of the nodes. */
extern const struct ssreport_topic ssreport_fleet_topic;

#endif
