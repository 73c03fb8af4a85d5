/* SPDX-License-Identifier: Apache-2.0 */
#include "record/documents.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/whole_file.h"
#include "platform/child.h"
#include "platform/platform.h"
#include "record/summary.h"

/* Time limit of showstopper-platform, in ms. */
#define PLATFORM_PATIENCE_MS 5000

/*
 * Writes a JSON file of the record. Uses the open folder rather than its path: users who may write
 * to the parent could have put another folder there.
 */
static int write_document(const struct ss_record_folder *record, const struct ss_plan *plan,
    const struct ss_outcome *outcome, struct ss_error *error) {
    struct ss_whole_file file;
    const char *name = outcome ? "summary.json" : "plan.json";
    if (ss_whole_file_open_below(&file, record->folder, name) < 0)
        return ss_record_folder_fail(plan, name, error);
    if (outcome)
        ss_summary_print_json(file.stream, plan, outcome);
    else
        ss_summary_print_plan(file.stream, plan);
    return ss_whole_file_commit(&file) < 0 ? ss_record_folder_fail(plan, name, error) : 0;
}

static int enter_folder(const void *folder) {
    return fchdir(*(const int *)folder) < 0;
}

/*
 * Describes the machine by running showstopper-platform, which is missing in some builds. Discards
 * its messages.
 */
static void write_platform(const struct ss_record_folder *record) {
    char option[] = "-o", file[] = "platform.json";
    SS_OWNED(free) char *program = ss_platform_program_path(1, "/showstopper-platform");
    if (!program)
        return;
    SS_OWNED(close) int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct ss_child_setup setup = {
        .words = (char *const[]){program, option, file, NULL},
        .streams = {nowhere, nowhere, nowhere},
        .prepare = enter_folder,
        .context = &record->folder,
    };
    struct ss_child child;
    struct ss_child_failure failure;
    if (nowhere < 0 || ss_child_fork(&child, &setup) < 0 || ss_child_execute(&child, &failure) < 0)
        return;

    for (int waited = 0; waitpid(child.pid, NULL, WNOHANG) == 0; waited++) {
        if (waited == PLATFORM_PATIENCE_MS)
            kill(child.pid, SIGKILL);
        usleep(1000);
    }
}

int ss_record_begin(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error) {
    if (ss_record_folder_open(record, plan, error) < 0)
        return -1;
    if (write_document(record, plan, NULL, error) < 0) {
        ss_record_folder_remove(record, plan->record);
        return -1;
    }
    /* In a simulation, this machine is not the one that is recorded. */
    if (!plan->clock)
        write_platform(record);
    return 0;
}

static int complete_record(const struct ss_record_folder *record, const struct ss_plan *plan,
    const struct ss_outcome *outcome, struct ss_error *error) {
    /* Frees the space that the mark has reserved for the summary. */
    if (ftruncate(record->mark, 0) < 0)
        return ss_record_folder_fail(plan, SS_RECORD_MARK, error);
    if (write_document(record, plan, outcome, error) < 0)
        return -1;
    unlinkat(record->folder, SS_RECORD_MARK, 0);
    return 0;
}

int ss_record_finish(
    const struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error) {
    struct ss_record_folder *record = &outcome->record;
    if (record->mark < 0)
        return 0;

    int status = complete_record(record, plan, outcome, error);
    ss_record_folder_close(record);
    return status;
}
