/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_POWER_CUT_H
#define SHOWSTOPPER_TESTS_POWER_CUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What is on disk after a power cut, from a log of shim_disk. A change of a folder is certainly on
 * disk once that folder is synced later, and the contents of a file once the file is. A move is
 * atomic, and belongs to the folder of the new name. Until then, each change may or may not be on
 * disk, whatever happened to others.
 */
struct power_log;

enum power_operation {
    POWER_MAKE,
    POWER_FILE,
    POWER_WRITE,
    POWER_MOVE,
    POWER_DROP,
    POWER_SYNC,
    POWER_MARK, /* by power_log_mark() */
};

/* Appends a line to the log: what the test knows at this moment. */
void power_log_mark(const char *log, const char *text);

/* Reads the log; paths are relative to the folder from now on. Never freed. */
struct power_log *power_log_read(const char *log, const char *root);

size_t power_log_count(const struct power_log *log);
enum power_operation power_log_operation(const struct power_log *log, size_t index);

/* The path of an operation, the new one of a move, or the text of a mark. */
const char *power_log_path(const struct power_log *log, size_t index);

/* Finds the next operation from `from` on; the number of operations if there is none. */
size_t power_log_find(
    const struct power_log *log, size_t from, enum power_operation operation, const char *path);

/* Acts as if this sync had not been called. Without such an index (SIZE_MAX), all count. */
void power_log_ignore(struct power_log *log, size_t index);

/* Which of the changes that no sync orders are on disk. */
enum power_choice { POWER_NONE, POWER_ALL, POWER_ONLY, POWER_ALL_BUT };

/* What an unsynced file contains. */
enum power_contents { POWER_OLD, POWER_HALF, POWER_NEW };

struct power_cut {
    struct power_log *log;
    size_t at; /* the operations before this one were completed */
    enum power_choice choice;
    size_t chosen; /* for POWER_ONLY and POWER_ALL_BUT: the operation */
    enum power_contents contents;
};

/* Computes the state of the disk; valid until the next call. */
void power_cut(const struct power_cut *cut);

/* Returns whether an operation is free: it may be on disk or not. */
bool power_is_free(const struct power_cut *cut, size_t index);

/* ---- the state ---- */

/* Returns the contents of the file, or NULL if it does not exist; "" for a folder. */
const char *power_read(const struct power_cut *cut, const char *path);

/* Calls `see` for each entry of a folder. */
void power_each(const struct power_cut *cut, const char *folder,
    void (*see)(void *context, const char *path), void *context);

/* Makes the files of the state in a folder. */
void power_write(const struct power_cut *cut, const char *folder);

#endif
