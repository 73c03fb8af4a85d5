/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_ENDS_H
#define SHOWSTOPPER_RECORD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instance that ended by itself before the run ended. */
struct ss_end {
    uint32_t instance;
    double seconds; /* time since control began, negative before it; NaN if it had not begun */
    int status;     /* wait status */
};

/* All early ends of a run, sorted by time. Zero-initialized: empty. */
struct ss_ends {
    struct ss_end *items;
    size_t count;
    size_t room;
};

/* Adds an end, unless memory is exhausted. */
void ss_ends_add(struct ss_ends *ends, const struct ss_end *end);
void ss_ends_free(struct ss_ends *ends);

/* Returns the number of instances that did not exit with status 0. */
size_t ss_ends_failed(const struct ss_ends *ends);

/* Size of a buffer for the functions below, with the final 0. */
#define SS_END_TEXT_SIZE 64

/* Size of a buffer for the name of a signal. */
#define SS_SIGNAL_NAME_SIZE 24

/* Prints "exit status 7", "killed by SIGSEGV (core dumped)". */
void ss_end_describe(char text[SS_END_TEXT_SIZE], int status);

/* Prints "after 3.24 s", "1.50 s before control began". */
void ss_end_print_time(char text[SS_END_TEXT_SIZE], double seconds);

/* Prints "SIGSEGV", "SIGRTMIN+3". */
void ss_end_signal_name(char name[SS_SIGNAL_NAME_SIZE], int signal);

#endif
