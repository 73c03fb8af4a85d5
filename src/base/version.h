/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_VERSION_H
#define SHOWSTOPPER_BASE_VERSION_H

/* As --version prints it: "0.1.0". */
const char *ss_version(void);

#endif
