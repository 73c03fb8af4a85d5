/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COUNTERS_TOPIC_H
#define SSREPORT_COUNTERS_TOPIC_H

#include "topic.h"

/* Hardware and kernel events, counted in the instances. */
extern const struct ssreport_topic ssreport_counters_topic;

#endif
