/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOADLINE_TOPIC_H
#define SSREPORT_LOADLINE_TOPIC_H

#include "topic.h"

/* Which part of its maximum a machine does at a load, and what is left. */
extern const struct ssreport_topic ssreport_loadline_topic;

#endif
