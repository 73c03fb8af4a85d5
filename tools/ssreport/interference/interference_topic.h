/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_INTERFERENCE_TOPIC_H
#define SSREPORT_INTERFERENCE_TOPIC_H

#include "topic.h"

/* Runs side by side: how much each program slows down the other, and which placement is best. */
extern const struct ssreport_topic ssreport_interference_topic;

#endif
