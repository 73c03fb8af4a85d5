/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOADLINE_TOPIC_H
#define SSREPORT_LOADLINE_TOPIC_H

#include "topic.h"

/* Reports how much of its maximum throughput a machine reaches at a load, and how much is left. */
extern const struct ssreport_topic ssreport_loadline_topic;

#endif
