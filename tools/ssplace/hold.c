/* SPDX-License-Identifier: Apache-2.0 */
#include "place_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "base/end_signals.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/words.h"
#include "platform/child.h"

#define OPEN_PATIENCE (30 * SS_SECOND)
#define END_PATIENCE  1000 /* milliseconds that a container may take to exit by itself */

struct holder {
    struct ssplace *place;
    int signals;       /* descriptor */
    sigset_t before;   /* the caller's signal mask */
    int lifeline;      /* write end of the container's input, which only this process holds */
    int output;        /* read end of the program's standard output */
    pid_t child;       /* the program; 0: it has exited */
    int status;        /* wait status of the program, once it has exited */
    bool is_container; /* the program is a container: it has printed `open` */
    bool is_ended;     /* one of ss_end_signals() has arrived */
};

static int open_signals(struct holder *holder, struct ss_error *error) {
    sigset_t set;
    ss_end_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &holder->before);
    holder->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (holder->signals < 0)
        return ss_error_fail(error, "cannot create a signalfd: %s", strerror(errno));
    return 0;
}

/* Records whether a signal to end has arrived, and whether the program has exited. */
static void read_signals(struct holder *holder) {
    struct signalfd_siginfo signal;
    while (read(holder->signals, &signal, sizeof signal) == sizeof signal)
        holder->is_ended |= signal.ssi_signo != SIGCHLD;
    if (holder->child > 0 && waitpid(holder->child, &holder->status, WNOHANG) == holder->child)
        holder->child = 0;
}

/* Starts `words[0] --open PLACE` with the other words. */
static int start(struct holder *holder, char *const *words, struct ss_error *error) {
    char option[] = "--open", name[256];
    size_t count = ss_words_count(words);
    int input[2], output[2];
    struct ss_child child;
    struct ss_child_failure failure;
    SS_OWNED(free) char **command = calloc(count + 3, sizeof *command);
    if (!command)
        return ss_error_memory(error);

    snprintf(name, sizeof name, "%s", holder->place->name);
    command[0] = words[0];
    command[1] = option;
    command[2] = name;
    memcpy(command + 3, words + 1, (count - 1) * sizeof *command);

    if (pipe2(input, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    SS_OWNED(close) int child_input = input[0];
    holder->lifeline = input[1];
    if (pipe2(output, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    SS_OWNED(close) int child_output = output[1];
    holder->output = output[0];

    SS_OWNED(fclose) FILE *log = ssplace_open_file(holder->place, "log", "we");
    if (!log)
        return ss_paths_fail(holder->place->state, error);

    const struct ss_child_setup setup = {
        .words = command,
        .streams = {child_input, child_output, fileno(log)},
        .mask = &holder->before,
    };
    int result = ss_child_fork(&child, &setup);
    if (result < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(-result));

    /* The child holds the lock until exec, so the next holder finds this file. */
    const struct ssplace_process starter = {child.pid, ss_platform_process_started(child.pid)};
    result = ssplace_write_process(holder->place, "starter", &starter);
    if (result < 0)
        return ss_error_fail(
            error, "cannot write %s/starter: %s", holder->place->state, strerror(-result));

    if (ss_child_execute(&child, &failure) < 0)
        return ss_error_fail(error, "cannot execute '%s': %s", command[0], strerror(failure.err));
    holder->child = child.pid;
    return 0;
}

/* Reads output, and keeps an unfinished line in `text`. Returns whether a line is `open`. */
static bool has_printed_open(const struct holder *holder, char text[256]) {
    size_t length = strlen(text);
    ssize_t more = read(holder->output, text + length, 255 - length);
    if (more > 0)
        text[length + (size_t)more] = '\0';

    bool is_open = strncmp(text, "open\n", 5) == 0 || strstr(text, "\nopen\n");
    char *end = strrchr(text, '\n');
    if (end)
        memmove(text, end + 1, strlen(end + 1) + 1);
    else if (strlen(text) == 255)
        strcpy(text, "?"); /* too long to be `open`; marks that the line has begun */

    return is_open;
}

/* Fails with the last line of the program's standard error. */
static int fail(const struct holder *holder, const char *what, struct ss_error *error) {
    char line[512], last[512] = "";
    SS_OWNED(fclose) FILE *log = ssplace_open_file(holder->place, "log", "re");

    while (log && fgets(line, sizeof line, log)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof last);
    }

    return ss_error_fail(error, "%s: %s%s%s", holder->place->name, what, *last ? ": " : "", last);
}

/* Waits until the program exits, its container runs, or a signal arrives. */
static int await_start(struct holder *holder, struct ss_error *error) {
    ss_time deadline = ss_platform_now() + OPEN_PATIENCE;
    struct pollfd files[] = {{holder->signals, POLLIN, 0}, {holder->output, POLLIN, 0}};
    char text[256] = "";

    while (holder->child > 0 && !holder->is_container && !holder->is_ended) {
        if (ss_platform_now() >= deadline)
            return fail(holder, "not started within 30 s", error);

        poll(files, 2, 100);
        holder->is_container = files[1].revents & POLLIN && has_printed_open(holder, text);
        if (files[1].revents && !(files[1].revents & POLLIN))
            files[1].fd = -1; /* the program has closed it and is about to exit */
        read_signals(holder);
    }

    if (holder->child == 0 && !holder->is_container && holder->status != 0)
        return fail(holder, "cannot start", error);
    return 0;
}

/* Creates the file that marks the place as open. */
static int publish(const struct holder *holder, struct ss_error *error) {
    const struct ssplace *place = holder->place;
    struct ssplace_process first = {0};
    FILE *file = ssplace_open_file(place, "place.new", "we");
    int status = file ? fclose(file) : -1;

    if (holder->is_container && status == 0) {
        first.pid = named_group_init_pid(place->group, place->roots);
        first.started = ss_platform_process_started(first.pid);
        if (first.started == 0)
            return fail(holder, "cannot find the container's first process", error);
        status = ssplace_write_process(place, "place.new", &first);
    }

    if (status == 0 && renameat(place->lock, "place.new", place->lock, "place") == 0)
        return 0;
    return ss_error_fail(error, "cannot write %s/place: %s", place->state, strerror(errno));
}

static int open_place(struct holder *holder, char *const *words, struct ss_error *error) {
    struct ssplace_process self = {getpid(), ss_platform_process_started(getpid())};

    /* Remove the remains of a killed holder. */
    if (ssplace_clean_up(holder->place, words[0], error) < 0)
        return -1;

    int status = ssplace_write_process(holder->place, "holder", &self);
    if (status < 0)
        return ss_error_fail(
            error, "cannot write %s/holder: %s", holder->place->state, strerror(-status));
    if (start(holder, words, error) < 0 || await_start(holder, error) < 0)
        return -1;
    return holder->is_ended ? 0 : publish(holder, error);
}

static int wait_for_end(struct holder *holder, struct ss_error *error) {
    struct pollfd signals = {holder->signals, POLLIN, 0};

    if (!holder->is_ended) {
        puts("open");
        fflush(stdout);
    }

    while (!holder->is_ended) {
        poll(&signals, 1, -1);
        read_signals(holder);
        if (holder->is_container && holder->child == 0 && !holder->is_ended)
            return fail(holder, "the container ended by itself", error);
    }
    return 0;
}

/* Closes the container's input, which ends it, and removes the place. */
static int close_place(struct holder *holder, char *environment, struct ss_error *error) {
    struct pollfd signals = {holder->signals, POLLIN, 0};

    ss_owned_close(&holder->lifeline);
    for (int left = END_PATIENCE; holder->child > 0 && holder->is_container && left > 0;
         left -= 10) {
        poll(&signals, 1, 10);
        read_signals(holder);
    }

    int result = ssplace_clean_up(holder->place, environment, error);
    if (result == 0)
        ssplace_remove(holder->place);
    return result;
}

int ssplace_hold(struct ssplace *place, char *const *words, struct ss_error *error) {
    struct holder holder = {.place = place, .lifeline = -1, .output = -1, .signals = -1};
    int result = 0;
    if (ssplace_acquire(place, error) < 0)
        return -1;

    if (open_signals(&holder, error) < 0 || open_place(&holder, words, error) < 0 ||
        wait_for_end(&holder, error) < 0)
        result = -1;
    if (close_place(&holder, words[0], error) < 0)
        result = -1;
    ss_owned_close(&holder.output);
    ss_owned_close(&holder.signals);
    return result;
}
