/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_POWER_CUT_H
#define SHOWSTOPPER_TESTS_POWER_CUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Computes from a log of shim_disk what is on disk after a power cut. A change of a folder is
 * certainly on disk after the next sync of that folder, and the contents of a file after the next
 * sync of the file. A move is atomic and belongs to the folder of the new name. Until the sync, any
 * subset of the changes may be on disk.
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

/* Appends a mark to the log, such as the end of a call. */
void power_log_mark(const char *log, const char *text);

/* Reads the log and makes its paths relative to `root`. The log is never freed. */
struct power_log *power_log_read(const char *log, const char *root);

size_t power_log_count(const struct power_log *log);
enum power_operation power_log_operation(const struct power_log *log, size_t index);

/* Returns the path of an operation (of a move, the new one) or the text of a mark. */
const char *power_log_path(const struct power_log *log, size_t index);

/* Returns the first such operation at or after `from`, or the number of operations. */
size_t power_log_find(
    const struct power_log *log, size_t from, enum power_operation operation, const char *path);

/* Selects the unsynced changes that are on disk. */
enum power_choice { POWER_NONE, POWER_ALL, POWER_ONLY, POWER_ALL_BUT };

/* The content of an unsynced file. */
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

/* Returns whether an operation changes a folder and is not synced before the cut. */
bool power_is_free(const struct power_cut *cut, size_t index);

/* Returns the contents of the file, or NULL if it does not exist; "" for a folder. */
const char *power_read(const struct power_cut *cut, const char *path);

void power_each(const struct power_cut *cut, const char *folder,
    void (*see)(void *context, const char *path), void *context);

/* Writes the files of the state to a folder. */
void power_write(const struct power_cut *cut, const char *folder);

#endif
