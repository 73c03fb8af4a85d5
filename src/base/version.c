/* SPDX-License-Identifier: Apache-2.0 */
#include "base/version.h"

const char *ss_version(void) {
    return SHOWSTOPPER_VERSION;
}
