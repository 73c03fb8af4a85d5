/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENVIRONMENTS_TOPIC_H
#define SSREPORT_ENVIRONMENTS_TOPIC_H

#include "topic.h"

/* Figures measured inside environments and by their hosts, and the load of each CPU. */
extern const struct ssreport_topic ssreport_environments_topic;

#endif
