/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PUBLISHED_TOPIC_H
#define SSREPORT_PUBLISHED_TOPIC_H

#include "topic.h"

/* Constant loads and replays, compared with published figures. */
extern const struct ssreport_topic ssreport_published_topic;

#endif
