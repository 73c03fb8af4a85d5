/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COMPARISON_TOPIC_H
#define SSREPORT_COMPARISON_TOPIC_H

#include "topic.h"

/*
 * Compares two sets of runs step by step: throughput of the first set divided by throughput of the
 * second.
 */
extern const struct ssreport_topic ssreport_comparison_topic;

#endif
