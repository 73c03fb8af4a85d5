/* SPDX-License-Identifier: Apache-2.0 */
#include "undoing.h"

#include <string.h>
#include <sys/wait.h>

static void report(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "ssactuate: %s\n", line);
}

const struct ssactuate_restorer ssactuate_restorer = {
    .report = report,
    .remove_group = limit_group_remove_folder,
};

/* Runs in the keeper. Keeps the journal for `ssactuate restore` if a value cannot be restored. */
static void restore_orphaned(void *context) {
    struct ssactuate_undoing *undoing = context;
    struct ss_error error = {0};
    if (undoing->has_journal &&
        (ssactuate_journal_reload(&undoing->journal, &error) < 0 ||
            ssactuate_journal_restore(&undoing->journal, &ssactuate_restorer, &error) < 0 ||
            ssactuate_journal_remove(&undoing->journal, &error) < 0))
        report(NULL, error.message);
    if (undoing->orphaned)
        undoing->orphaned(undoing->context);
}

int ssactuate_undoing_keep(struct ssactuate_undoing *undoing, struct ss_error *error) {
    if (!undoing->has_journal && !undoing->orphaned)
        return 0;

    undoing->job = (struct ss_keeper_job){
        .name = "ssactuate-keeper",
        .orphaned = restore_orphaned,
        .context = undoing,
    };

    int status = ss_keeper_open(&undoing->keeper, &undoing->job);
    if (status == 0) {
        undoing->has_keeper = true;
        status = ss_keeper_start(&undoing->keeper);
    }
    if (status < 0)
        return ss_error_fail(error, "cannot start the process that restores knobs after a kill: %s",
            strerror(-status));
    return 0;
}

int ssactuate_undoing_set(
    struct ssactuate_undoing *undoing, const struct ssactuate_plan *plan, struct ss_error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        if (ssactuate_journal_set(&undoing->journal, &plan->settings[i], error) < 0)
            return -1;
    }
    return 0;
}

void ssactuate_undoing_reaped(struct ssactuate_undoing *undoing, pid_t pid, int status) {
    if (!undoing->has_keeper || pid != undoing->keeper.pid)
        return;

    undoing->keeper.pid = 0;
    /* A start may fail because memory is short for a while: ss_keeper_dismiss() tries again. */
    if (!WIFEXITED(status) && ss_keeper_start(&undoing->keeper) < 0)
        undoing->keeper.pid = 0;
}

static int lock_knobs(
    struct ssactuate_undoing *undoing, const struct ssactuate_plan *plan, struct ss_error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        bool locked = false;
        for (size_t j = 0; j < i; j++)
            locked |= strcmp(plan->settings[j].knob, plan->settings[i].knob) == 0;
        if (!locked && ssactuate_journal_lock(&undoing->journal, plan->settings[i].knob, error) < 0)
            return -1;
    }
    return 0;
}

static int note_group(
    struct ssactuate_undoing *undoing, const struct limit_group *group, struct ss_error *error) {
    if (*group->caller_home && ssactuate_journal_add_group(&undoing->journal, group->caller_group,
                                   group->caller_home, error) < 0)
        return -1;

    for (int i = 0; i < LIMIT_KINDS; i++) {
        const struct limit_part *part = &group->parts[i];
        bool noted = !*part->folder;
        for (int j = 0; j < i; j++)
            noted |= strcmp(group->parts[j].folder, part->folder) == 0;
        if (!noted &&
            ssactuate_journal_add_group(&undoing->journal, part->folder, part->home, error) < 0)
            return -1;
    }

    return 0;
}

static int note_changes(struct ssactuate_undoing *undoing, const struct ssactuate_changes *changes,
    struct ss_error *error) {
    for (size_t i = 0; i < changes->plan->count; i++) {
        if (ssactuate_journal_add(&undoing->journal, &changes->plan->settings[i], error) < 0)
            return -1;
    }

    for (int i = 0; i < 2; i++) {
        if (changes->groups[i] && note_group(undoing, changes->groups[i], error) < 0)
            return -1;
        if (changes->running[i] > 0 &&
            ssactuate_journal_add_running(&undoing->journal, changes->running[i], error) < 0)
            return -1;
    }

    return 0;
}

int ssactuate_undoing_open(struct ssactuate_undoing *undoing,
    const struct ssactuate_changes *changes, const char *root, struct ss_error *error) {
    struct ssactuate_restore_counts dead;

    *undoing = (struct ssactuate_undoing){0};
    if (changes->plan->count == 0 && !changes->groups[0] && !changes->groups[1] &&
        changes->running[0] == 0 && changes->running[1] == 0)
        return 0;

    undoing->has_state = true;
    if (ssactuate_state_open(&undoing->state, root, error) < 0)
        return -1;

    undoing->has_journal = true;
    if (ssactuate_journal_create(&undoing->journal, &undoing->state, error) < 0 ||
        lock_knobs(undoing, changes->plan, error) < 0 ||
        ssactuate_restore_dead(
            &undoing->state, &ssactuate_restorer, &undoing->journal, &dead, error) < 0 ||
        note_changes(undoing, changes, error) < 0)
        return -1;

    return ssactuate_journal_arm(&undoing->journal, error);
}

int ssactuate_undoing_finish(struct ssactuate_undoing *undoing, struct ss_error *error) {
    struct ssactuate_journal *journal = &undoing->journal;
    struct ss_error failure = {0};
    int status = 0;

    if (undoing->has_journal && journal->armed)
        status = ssactuate_journal_restore(journal, &ssactuate_restorer, &failure);
    if (undoing->has_journal && status == 0)
        status = ssactuate_journal_remove(journal, &failure);

    if (status < 0 && error->status && strcmp(error->message, failure.message) != 0)
        report(NULL, error->message);
    if (status < 0)
        *error = failure;

    if (undoing->has_keeper) {
        ss_keeper_dismiss(&undoing->keeper);
        ss_keeper_close(&undoing->keeper);
    }

    if (undoing->has_journal)
        ssactuate_journal_close(journal);
    if (undoing->has_state)
        ssactuate_state_close(&undoing->state);

    *undoing = (struct ssactuate_undoing){0};
    return status;
}
