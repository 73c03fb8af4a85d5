/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_RECORD_H
#define SHOWSTOPPER_TESTS_RECORD_H

#include <signal.h>

#include "process.h"
#include "run.h"

/* Reads the folder that --record writes, even while the run is writing it. */

static inline struct run_text record_read(const char *record, const char *name) {
    return run_read_file(run_path(record, name));
}

static inline bool record_has(const char *record, const char *name) {
    return run_exists(run_path(record, name));
}

/* Returns the number of occurrences of `part` in a file of the record; 0 without the file. */
static inline size_t record_count(const char *record, const char *name, const char *part) {
    struct run_text text = record_read(record, name);
    size_t count = run_count_text(&text, part);
    free(text.bytes); /* tests call this repeatedly while they wait */
    return count;
}

/* Returns the number of complete rows, without the heading. */
static inline size_t record_rows(const char *record, const char *table) {
    size_t lines = record_count(record, table, "\n");
    return lines > 0 ? lines - 1 : 0;
}

/* Fails the test unless events.jsonl has this part `count` times. */
static inline void record_expect_events(const char *record, size_t count, const char *part) {
    ck_assert_msg(record_count(record, "events.jsonl", part) == count, "not %zu times '%s' in: %s",
        count, part, record_read(record, "events.jsonl").bytes);
}

/* Interrupts the run once the table has this many rows, however long a busy machine needs. */
static inline void record_interrupt_after(
    struct run *run, const char *record, const char *table, size_t rows) {
    RUN_UNTIL(run, run->ended || record_rows(record, table) >= rows);
    run_end(run, SIGINT);
}

#endif
