/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REQUESTS_TOPIC_H
#define SSREPORT_REQUESTS_TOPIC_H

#include "topic.h"

/* Records of ssrequest: response times, rates, capacities. */
extern const struct ssreport_topic ssreport_requests_topic;

#endif
