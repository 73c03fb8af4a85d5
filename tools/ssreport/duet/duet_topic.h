/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_TOPIC_H
#define SSREPORT_DUET_TOPIC_H

#include "topic.h"

/* Reports which of two commands is faster, from the blocks of tools/experiments/duet. */
extern const struct ssreport_topic ssreport_duet_topic;

#endif
