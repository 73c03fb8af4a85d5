/* SPDX-License-Identifier: Apache-2.0 */
#include "place_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/owned.h"
#include "base/state.h"
#include "base/walk.h"
#include "base/words.h"

#define POLL_INTERVAL 10 /* milliseconds */

/* How long to wait for processes after SIGTERM and SIGKILL, and until a group is empty. */
#define TERM_PATIENCE  (5 * SS_SECOND)
#define KILL_PATIENCE  (1 * SS_SECOND)
#define GROUP_PATIENCE (2 * SS_SECOND)

/* A holder that exits waits for the processes of its place itself. */
#define HOLDER_PATIENCE (2 * TERM_PATIENCE)

/* How long to wait for the lock. */
#define LOCK_PATIENCE  (5 * SS_SECOND)
#define CLOSE_PATIENCE (20 * SS_SECOND)

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Returns whether a name can be part of a path and of a host name. */
static bool is_name(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= 200 && strspn(name, NAME_CHARACTERS "._+-") == length &&
           strspn(name, NAME_CHARACTERS "_+") > 0 && name[length - 1] != '.';
}

int ssplace_init(struct ssplace *place, const char *name, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    const char *folder = getenv("SHOWSTOPPER_PLACES");
    *place = (struct ssplace){.name = name, .lock = -1, .roots = roots};
    if (!is_name(name))
        return ss_error_fail(error,
            "%s: invalid place name: use up to 200 letters, digits and ._+-",
            *name ? ss_words_show(name).text : "PLACE");

    if (!folder || !*folder)
        folder = "/run/showstopper-places";
    place->folder = folder;
    place->state = ss_words_format(error, "%s/%s", folder, name);
    snprintf(place->group, sizeof place->group, "showstopper-%s", name);
    return place->state ? 0 : -1;
}

void ssplace_free(struct ssplace *place) {
    free(place->state);
    place->state = NULL;
}

/*
 * Opens the folder of all places, and checks that no other user can replace ours in it. If it does
 * not exist, creates it if `makes` is true, and otherwise returns SS_STATE_ABSENT.
 */
static int open_places(const struct ssplace *place, bool makes, struct ss_error *error) {
    static const struct ss_trust trust;
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, place->folder);
    bool is_absent = status == -ENOENT && !makes;

    if (status == 0 && makes && !walk.exists && mkdirat(walk.folder, walk.name, 0755) < 0 &&
        errno != EEXIST)
        status = -errno;

    SS_OWNED(close) int folder = status < 0 ? status : ss_walk_folder(&walk, O_RDONLY);
    is_absent |= status == 0 && folder == -ENOENT; /* another command may have just removed it */
    if (folder < 0 && !is_absent)
        ss_error_fail(error, "%s: %s", place->folder, ss_walk_explain(&walk, folder));

    ss_walk_end(&walk);
    errno = folder < 0 ? -folder : 0;
    if (folder < 0)
        return is_absent ? SS_STATE_ABSENT : -1;
    if (ss_state_check_parent(folder, &trust, place->folder, error) < 0)
        return -1;
    return ss_owned_take(&folder);
}

/* Fails unless the folder of the place is ours: its files name processes that will be killed. */
static int open_state(const struct ssplace *place, struct ss_error *error) {
    static const struct ss_trust trust;
    SS_OWNED(close) int places = open_places(place, false, error);
    if (places < 0)
        return places;
    return ss_state_folder(places, place->name, &trust, false, place->state, error);
}

FILE *ssplace_open_file(const struct ssplace *place, const char *file, const char *mode) {
    static const struct ss_trust trust;
    int flags = *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;

    SS_OWNED(close) int folder = open_state(place, NULL);
    SS_OWNED(close)
    int opened = folder < 0 ? -1 : ss_state_file(folder, file, flags, &trust, file, NULL);
    FILE *stream = opened < 0 ? NULL : fdopen(opened, *mode == 'w' ? "w" : "r");
    if (stream)
        ss_owned_take(&opened);
    return stream;
}

int ssplace_write_process(
    const struct ssplace *place, const char *file, const struct ssplace_process *process) {
    SS_OWNED(fclose) FILE *stream = ssplace_open_file(place, file, "we");
    if (!stream)
        return -errno;
    fprintf(stream, "%d %" PRIu64 "\n", (int)process->pid, process->started);
    return fflush(stream) == 0 ? 0 : -errno;
}

/* Returns false if the file does not exist or does not contain a process. */
static bool read_process(
    const struct ssplace *place, const char *file, struct ssplace_process *process) {
    int pid = 0;
    *process = (struct ssplace_process){0};

    SS_OWNED(fclose) FILE *stream = ssplace_open_file(place, file, "re");
    if (!stream || fscanf(stream, "%d %" SCNu64, &pid, &process->started) != 2)
        return false;

    process->pid = (pid_t)pid;
    return true;
}

bool ssplace_lives(const struct ssplace_process *process) {
    return ss_platform_process_is_alive(process->pid, process->started);
}

static bool is_held(const struct ssplace *place) {
    struct ssplace_process holder;
    return read_process(place, "holder", &holder) && ssplace_lives(&holder);
}

int ssplace_check_open(
    const struct ssplace *place, struct ssplace_process *first, struct ss_error *error) {
    SS_OWNED(fclose) FILE *mark = ssplace_open_file(place, "place", "re");
    if (!mark || !is_held(place))
        return ss_error_fail(error, "%s is not open: hold it first", place->name);
    if (read_process(place, "place", first) && !ssplace_lives(first))
        return ss_error_fail(error, "%s: the container has exited", place->name);
    return 0;
}

/*
 * Locks the place and creates its folder, which another command may remove at any time. Returns 0,
 * -EWOULDBLOCK if another process holds the lock, or another negative errno.
 */
static int try_lock(struct ssplace *place, struct ss_error *error) {
    static const struct ss_trust trust;
    for (;;) {
        SS_OWNED(close) int places = open_places(place, true, error);
        if (places == SS_STATE_ABSENT)
            continue;

        if (places < 0 ||
            (mkdirat(places, place->name, 0700) < 0 && errno != EEXIST && errno != ENOENT))
            return -errno;

        SS_OWNED(close)
        int lock = ss_state_folder(places, place->name, &trust, false, place->state, error);
        if (lock == SS_STATE_ABSENT)
            continue;
        if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
            return -errno;

        if (ss_lock_has_name(lock, places, place->name)) {
            place->lock = ss_owned_take(&lock);
            return 0;
        }
    }
}

static int fail_to_lock(const struct ssplace *place, int status, struct ss_error *error) {
    return ss_error_fail(error, "cannot create or lock %s: %s", place->state, strerror(-status));
}

/*
 * Waits for the lock if no holder is alive: a child of a killed holder may still have it until
 * exec.
 */
int ssplace_acquire(struct ssplace *place, struct ss_error *error) {
    ss_time deadline = ss_platform_now() + LOCK_PATIENCE;
    int status;

    while ((status = try_lock(place, error)) == -EWOULDBLOCK) {
        if (is_held(place) || ss_platform_now() >= deadline)
            return ss_error_fail(error, "%s is already held", place->name);
        poll(NULL, 0, POLL_INTERVAL);
    }
    return status < 0 ? fail_to_lock(place, status, error) : 0;
}

static void unlock(struct ssplace *place) {
    if (place->lock >= 0)
        close(place->lock);
    place->lock = -1;
}

/* Sends a signal that ends a process, and continues it: a stopped process would not exit. */
static void signal_end(const struct ssplace_process *process, int signal) {
    ss_platform_process_signal_by_pid(process->pid, process->started, signal);
    ss_platform_process_signal_by_pid(process->pid, process->started, SIGCONT);
}

/* Signals a process. Returns whether it exited in time. */
static bool end_process(const struct ssplace_process *process, int signal, ss_time patience) {
    ss_time deadline = ss_platform_now() + patience;
    signal_end(process, signal);
    while (ssplace_lives(process)) {
        if (ss_platform_now() >= deadline)
            return false;
        poll(NULL, 0, POLL_INTERVAL);
    }
    return true;
}

/*
 * Signals all processes that have entered the place, unless the signal is 0. Returns whether any
 * of them lives.
 */
static bool signal_entered(const struct ssplace *place, int signal) {
    SS_OWNED(close) int folder = open_state(place, NULL);
    SS_OWNED(closedir) DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;

    if (entries)
        ss_owned_take(&folder);
    bool lives = false;

    while (entries && (entry = readdir(entries)) != NULL) {
        struct ssplace_process process;
        if (strncmp(entry->d_name, "entered.", strlen("entered.")) != 0 ||
            !read_process(place, entry->d_name, &process))
            continue;

        if (signal > 0)
            signal_end(&process, signal);
        lives |= ssplace_lives(&process);
    }
    return lives;
}

/* Like end_process(), for all processes that have entered the place: they may wait for each other.
 */
static bool end_entered(const struct ssplace *place, int signal, ss_time patience) {
    ss_time deadline = ss_platform_now() + patience;
    for (bool lives = signal_entered(place, signal); lives; lives = signal_entered(place, 0)) {
        if (ss_platform_now() >= deadline)
            return false;
        poll(NULL, 0, POLL_INTERVAL);
    }
    return true;
}

/* Calls `ENVIRONMENT --clean PLACE`, which removes the environment's files. */
static int clean(const struct ssplace *place, char *environment, struct ss_error *error) {
    char option[] = "--clean", name[256];
    char *const words[] = {environment, option, name, NULL};
    pid_t child;
    int status = 0;

    snprintf(name, sizeof name, "%s", place->name);
    int failure = posix_spawn(&child, environment, NULL, NULL, words, environ);
    if (failure)
        return ss_error_fail(
            error, "cannot execute '%s': %s", ss_words_show(environment).text, strerror(failure));

    ss_platform_reap(child, &status, 0);
    if (status != 0)
        return ss_error_fail(error, "%s: %s --clean failed", place->name, environment);
    return 0;
}

static int remove_group(const struct ssplace *place, struct ss_error *error) {
    if (named_group_remove(place->group, GROUP_PATIENCE, place->roots) == 0)
        return 0;
    return ss_error_fail(error, "%s: cannot remove the control group %s or end its processes",
        place->name, place->group);
}

int ssplace_clean_up(const struct ssplace *place, char *environment, struct ss_error *error) {
    struct ssplace_process starter;

    /* From here on the place is not open, and ssplace_join() fails. */
    unlinkat(place->lock, "place", 0);
    if (!end_entered(place, SIGTERM, TERM_PATIENCE))
        end_entered(place, SIGKILL, KILL_PATIENCE);

    if (remove_group(place, error) < 0)
        return -1;

    /* The program that was opening the place may have created the group again. */
    if (read_process(place, "starter", &starter)) {
        end_process(&starter, SIGKILL, KILL_PATIENCE);
        if (remove_group(place, error) < 0)
            return -1;
    }
    return clean(place, environment, error);
}

void ssplace_remove(struct ssplace *place) {
    SS_OWNED(close) int places = open_places(place, false, NULL);
    if (places >= 0) {
        unlinkat(places, place->name, AT_REMOVEDIR);
        ss_walk_remove_folder(places, place->folder); /* fails if there are other places */
    }
    unlock(place);
}

/* Locks a place, and ends the process that holds or is opening it. */
static int take_over(struct ssplace *place, struct ss_error *error) {
    ss_time deadline = ss_platform_now() + CLOSE_PATIENCE;
    int status;

    while ((status = try_lock(place, error)) == -EWOULDBLOCK) {
        struct ssplace_process holder;
        if (ss_platform_now() >= deadline)
            return ss_error_fail(error, "%s: another command has kept it locked for %u s",
                place->name, (unsigned)(CLOSE_PATIENCE / SS_SECOND));

        if (read_process(place, "holder", &holder) &&
            !end_process(&holder, SIGTERM, HOLDER_PATIENCE))
            end_process(&holder, SIGKILL, KILL_PATIENCE);
        poll(NULL, 0, POLL_INTERVAL);
    }

    return status < 0 ? fail_to_lock(place, status, error) : 0;
}

int ssplace_close(struct ssplace *place, char *environment, struct ss_error *error) {
    SS_OWNED(close) int state = open_state(place, error);
    if (state == SS_STATE_ABSENT && !named_group_exists(place->group, place->roots))
        return 0;

    if (take_over(place, error) < 0)
        return -1;
    int result = ssplace_clean_up(place, environment, error);
    if (result == 0)
        ssplace_remove(place);
    unlock(place);
    return result;
}
