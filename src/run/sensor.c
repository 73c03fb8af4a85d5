/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/units.h"
#include "base/words.h"
#include "platform/child.h"
#include "platform/platform.h"
#include "record/ends.h"
#include "tree/sweep.h"

#define END_POLL_NS 5000000 /* ns between checks whether the program has ended */
#define END_POLLS   20

#define KILL_POLL_NS 1000000 /* ns between checks whether the killed program has ended */
#define KILL_POLLS   500

static int prepare(const void *context) {
    const struct ss_sensor_caller *caller = context;
    ss_platform_scheduling_restore(caller->scheduling, NULL);
    ss_signals_restore(caller->signals, false);
    return setenv(SS_SWEEP_MARK, caller->mark, 1) < 0;
}

static int fail_start(int err, struct ss_error *error) {
    return ss_error_fail(error, "cannot start the sensor: %s", strerror(err));
}

int ss_sensor_start(struct ss_sensor *sensor, const char *command,
    const struct ss_sensor_caller *caller, ss_time now, struct ss_error *error) {
    *sensor = (struct ss_sensor){.status = -1, .from = -1, .value = NAN, .last_line = now};
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(command, &count, error);
    if (!words || count == 0)
        return ss_error_fail(error, "the sensor's command is empty: name a program");
    SS_OWNED(close) int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail_start(errno, error);
    sensor->from = ends[0];
    fcntl(sensor->from, F_SETFL, O_NONBLOCK);

    SS_OWNED(close) int output = ends[1];
    const struct ss_child_setup setup = {
        .words = words,
        .streams = {input, output, -1},
        .death_signal = SIGKILL,
        .has_group = true,
        .mask = &caller->signals->caller_mask,
        .prepare = prepare,
        .context = caller,
    };
    struct ss_child child;
    struct ss_child_failure failure;
    int status = ss_child_fork(&child, &setup);
    if (status < 0)
        return fail_start(-status, error);
    if (ss_child_execute(&child, &failure) < 0)
        return ss_error_fail(error, "cannot execute the sensor '%s': %s",
            ss_words_show(words[0]).text, strerror(failure.err));
    sensor->pid = child.pid;
    return 0;
}

static int take_line(struct ss_sensor *sensor, ss_time now, struct ss_error *error) {
    sensor->line[sensor->length] = '\0';
    char *text = sensor->line + strspn(sensor->line, " \t");
    text[strcspn(text, " \t\r")] = '\0';
    bool unusable = sensor->overlong || ss_units_load(text, 0, &sensor->value, NULL) < 0;
    sensor->length = 0;
    sensor->overlong = false;
    sensor->last_line = now;
    if (unusable)
        return ss_error_fail(error,
            "the sensor printed '%s', which is not a load: it must print one number from 0 to 1 "
            "per line",
            ss_words_show(text).text);

    return 0;
}

/*
 * Gets the status of the sensor, and kills the rest of its group. Waits a moment, because its pipe
 * is closed shortly before it has exited, but not forever: it may have closed its output and keep
 * running.
 */
static void learn_status(struct ss_sensor *sensor) {
    static const struct timespec pause = {.tv_nsec = END_POLL_NS};
    for (int i = 0; i < END_POLLS && sensor->pid > 0; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        siginfo_t end = {0};
        if (waitid(P_PID, (id_t)sensor->pid, &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            end.si_pid != sensor->pid)
            continue;

        kill(-sensor->pid, SIGKILL); /* the group's ID is valid until the sensor is reaped */
        waitpid(sensor->pid, &sensor->status, 0);
        sensor->pid = 0;
    }
}

static int report_end(struct ss_sensor *sensor, struct ss_error *error) {
    char how[SS_END_TEXT_SIZE] = "its output was closed";
    learn_status(sensor);
    if (sensor->pid == 0)
        ss_end_describe(how, sensor->status);
    return ss_error_fail(error, "the sensor ended (%s): the load can no longer be controlled", how);
}

int ss_sensor_read(struct ss_sensor *sensor, ss_time now, struct ss_error *error) {
    char text[4096];

    ssize_t length = read(sensor->from, text, sizeof text);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (length <= 0)
        return report_end(sensor, error);

    for (ssize_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            if (take_line(sensor, now, error) < 0)
                return -1;
        } else if (sensor->length < sizeof sensor->line - 1) {
            sensor->line[sensor->length++] = text[i];
        } else {
            sensor->overlong = true;
        }
    }

    return 0;
}

int ss_sensor_check(const struct ss_sensor *sensor, ss_time now, struct ss_error *error) {
    if (ss_time_since(now, sensor->last_line) < SS_SENSOR_SILENCE)
        return 0;
    return ss_error_fail(error,
        "the sensor has printed nothing for %.0f s: it must print a line at least that often",
        ss_time_seconds(SS_SENSOR_SILENCE));
}

/* Returns whether a killed program ends in time. */
static bool await_end(pid_t pid) {
    static const struct timespec pause = {.tv_nsec = KILL_POLL_NS};
    for (int i = 0; i < KILL_POLLS; i++) {
        pid_t reaped = waitpid(pid, NULL, WNOHANG);
        if (reaped == pid || (reaped < 0 && errno != EINTR))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

bool ss_sensor_end(struct ss_sensor *sensor) {
    if (sensor->pid > 0) {
        kill(-sensor->pid, SIGKILL);
        kill(sensor->pid, SIGKILL);
    }
    /* A program of another user cannot be killed, but ends with SIGPIPE when it writes. */
    if (sensor->from >= 0)
        close(sensor->from);
    bool ended = sensor->pid <= 0 || await_end(sensor->pid);
    *sensor = (struct ss_sensor){.status = -1, .from = -1, .value = NAN};
    return ended;
}
