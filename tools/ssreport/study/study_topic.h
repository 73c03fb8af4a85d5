/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STUDY_TOPIC_H
#define SSREPORT_STUDY_TOPIC_H

#include "topic.h"

/* A study of ssbatch: figures by the columns of its plan in which runs differ. */
extern const struct ssreport_topic ssreport_study_topic;

#endif
