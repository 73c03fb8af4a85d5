/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COMPARISON_TOPIC_H
#define SSREPORT_COMPARISON_TOPIC_H

#include "topic.h"

/*
 * The comparison of two sets of runs: the throughput of the first divided by that of the second, by
 * step.
 */
extern const struct ssreport_topic ssreport_comparison_topic;

#endif
