/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUNS_TOPIC_H
#define SSREPORT_RUNS_TOPIC_H

#include "topic.h"

/* Single runs: figures, steps, lines, curves, duties, throughput over time. */
extern const struct ssreport_topic ssreport_runs_topic;

#endif
