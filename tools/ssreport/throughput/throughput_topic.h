/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_THROUGHPUT_TOPIC_H
#define SSREPORT_THROUGHPUT_TOPIC_H

#include "topic.h"

/* Throughput by method, and its prediction over a trace. */
extern const struct ssreport_topic ssreport_throughput_topic;

#endif
