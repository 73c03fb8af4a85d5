/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_TOPIC_H
#define SSREPORT_FLEET_TOPIC_H

#include "topic.h"

/* A replay on many nodes: the load of the whole against its target, errors per node, starts. */
extern const struct ssreport_topic ssreport_fleet_topic;

#endif
