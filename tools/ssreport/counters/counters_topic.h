/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COUNTERS_TOPIC_H
#define SSREPORT_COUNTERS_TOPIC_H

#include "topic.h"

/* Events of hardware and kernel, counted in the instances. */
extern const struct ssreport_topic ssreport_counters_topic;

#endif
