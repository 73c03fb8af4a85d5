/* SPDX-License-Identifier: Apache-2.0 */
#include "record_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "outcome.h"
#include "recorder.h"
#include "summary.h"
#include "version.h"
#include "whole_file.h"

#define MARK         "interrupted"
#define SUMMARY_ROOM 16384

/* What a run leaves there; --force takes these away and nothing else. */
static const char *const names[] = {"plan.json", "platform.json", "samples.csv", "decisions.csv",
    "iterations.csv", "events.jsonl", "summary.json", MARK, NULL};

/* How long the program that describes the machine may take, in milliseconds. */
#define PLATFORM_PATIENCE 5000

int ss_record_folder_check(const char *path, bool force, struct ss_error *error) {
    struct stat status;
    if (stat(path, &status) < 0)
        return errno == ENOENT ? 0
                               : ss_error_set(error, SS_ERROR_FAILED, "--record: %s: %s", path,
                                     strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return ss_error_set(error, SS_ERROR_FAILED, "--record: %s is not a directory", path);
    if (!force)
        return ss_error_set(error, SS_ERROR_FAILED,
            "--record: %s is there already: choose another one, or replace it with --force", path);
    return 0;
}

static int fail(const struct ss_plan *plan, const char *name, struct ss_error *error) {
    return ss_error_set(
        error, SS_ERROR_FAILED, "--record: %s/%s: %s", plan->record, name, strerror(errno));
}

static int write_plan(const struct ss_plan *plan, struct ss_error *error) {
    char path[4200];
    struct ss_whole_file file;
    snprintf(path, sizeof path, "%.4000s/plan.json", plan->record);
    if (ss_whole_file_open(&file, path) < 0)
        return fail(plan, "plan.json", error);
    ss_summary_print_plan(file.stream, plan);
    return ss_whole_file_commit(&file) < 0 ? fail(plan, "plan.json", error) : 0;
}

/* In the child. Its complaints are no part of our output. */
_Noreturn static void describe_platform(const char *program, const char *path) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execl(program, program, "-o", path, (char *)NULL);
    _exit(127);
}

/* What machine it is: told by a program of its own, which is not there in every build. */
static void write_platform(const struct ss_plan *plan) {
    char program[4200], path[4200];
    if (ss_platform_program_path(program, sizeof program - 64) < 0)
        return;
    snprintf(strrchr(program, '/') + 1, 64, "showstopper-platform");
    snprintf(path, sizeof path, "%.4000s/platform.json", plan->record);
    pid_t child = fork();
    if (child == 0)
        describe_platform(program, path);
    for (int waited = 0; child > 0; waited++) {
        if (waitpid(child, NULL, WNOHANG) != 0)
            return;
        if (waited == PLATFORM_PATIENCE)
            kill(child, SIGKILL);
        usleep(1000);
    }
}

/* It keeps the room that the summary will need, should the disk be full by then. */
static int write_mark(int folder) {
    static const char text[] = "This run has not come to its end.\n";
    int mark = openat(folder, MARK, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (mark < 0)
        return -1;
    bool failed = posix_fallocate(mark, 0, SUMMARY_ROOM) != 0 ||
                  write(mark, text, sizeof text - 1) != sizeof text - 1;
    return close(mark) < 0 || failed ? -1 : 0;
}

int ss_record_folder_open(const struct ss_plan *plan, struct ss_error *error) {
    if (mkdir(plan->record, 0777) < 0 && errno != EEXIST)
        return ss_error_set(
            error, SS_ERROR_FAILED, "--record: %s: %s", plan->record, strerror(errno));
    int folder = open(plan->record, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return ss_error_set(
            error, SS_ERROR_FAILED, "--record: %s: %s", plan->record, strerror(errno));
    for (const char *const *name = names; *name; name++)
        unlinkat(folder, *name, 0);
    if (write_mark(folder) < 0)
        fail(plan, MARK, error);
    else if (write_plan(plan, error) == 0) {
        write_platform(plan);
        return folder;
    }
    close(folder);
    return -1;
}

int ss_record_finish(
    const struct ss_plan *plan, const struct ss_outcome *outcome, struct ss_error *error) {
    char path[4200], mark[4200];
    if (!outcome->recorded)
        return 0;
    snprintf(path, sizeof path, "%.4000s/summary.json", plan->record);
    snprintf(mark, sizeof mark, "%.4000s/" MARK, plan->record);
    if (truncate(mark, 0) < 0)
        return ss_error_set(error, SS_ERROR_FAILED, "--record: %s: %s", mark, strerror(errno));
    if (ss_summary_write(plan, outcome, path, error) < 0)
        return ss_error_wrap(error, "--record");
    unlink(mark);
    return 0;
}
