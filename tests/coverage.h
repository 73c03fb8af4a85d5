/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_COVERAGE_H
#define SHOWSTOPPER_TESTS_COVERAGE_H

/*
 * Included first in every file of a coverage build. gcov writes its counts at exit(), but forked
 * processes end with _exit(), and interrupted programs raise their signal again. Counts of modules
 * are written, too, because programs export the symbols of gcov.
 */

#include <signal.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);

/*
 * Not a macro, so that `status` is evaluated before the counts are written, as in
 * _exit(run_part()).
 */
static inline __attribute__((noreturn)) void exit_counted(int status) {
    __gcov_dump();
    _exit(status);
}

/* Starts new counts after writing, because SIGTSTP does not end the process. */
static inline int raise_counted(int number) {
    __gcov_dump();
    __gcov_reset();
    return raise(number);
}

#define _exit exit_counted
#define raise raise_counted

#endif
