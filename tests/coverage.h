/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_COVERAGE_H
#define SHOWSTOPPER_TESTS_COVERAGE_H

/*
 * Comes first in every file of a coverage build. gcov writes its counts at exit(), but processes
 * after fork() end by _exit().
 */

#include <unistd.h>

void __gcov_dump(void);
#define _exit(status) (__gcov_dump(), (_exit)(status))

#endif
