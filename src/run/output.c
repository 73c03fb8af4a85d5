/* SPDX-License-Identifier: Apache-2.0 */
#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/owned.h"
#include "base/state.h"
#include "base/streams.h"
#include "base/walk.h"
#include "platform/platform.h"

#define BLANKS " \t\r"

static const char *advise_on_tty(int err) {
    switch (err) {
    case ENOSPC:
        return "run fewer instances, or raise kernel.pty.max";
    case EMFILE:
    case ENFILE:
        return "raise the limit on open files";
    default:
        return "mount devpts on /dev/pts";
    }
}

static int open_ends(
    const struct ss_output *output, int which, int ends[2], struct ss_error *error) {
    if (which != 0 || !output->tty) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return ss_error_fail(error, "cannot create a pipe for the output: %s", strerror(errno));
        return 0;
    }
    int why = ss_platform_pty_open(&ends[0], &ends[1]);
    if (why < 0)
        return ss_error_fail(error, "--tty: cannot create a pseudo-terminal: %s: %s",
            strerror(-why), advise_on_tty(-why));
    return 0;
}

/* Checks that a pseudo-terminal can be created, before any instance starts. */
static int check_tty(struct ss_error *error) {
    struct ss_output output = {.tty = true};
    int ends[2];
    if (open_ends(&output, 0, ends, error) < 0)
        return -1;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* This file lists the files that runs have written to the folder: only these are replaced. */
#define LIST_NAME ".showstopper-output"

struct file_name {
    char text[32];
};

/* Returns the name of the file with an instance's output or errors. */
static struct file_name name_file(const struct ss_output *output, uint32_t instance, int which) {
    struct file_name name;
    snprintf(
        name.text, sizeof name.text, "%s.%s", output->numbers[instance], which ? "err" : "out");
    return name;
}

/*
 * Fails if the run would replace a file that is not listed. Empty files and special files, which
 * would lose nothing, do not count.
 */
static int check_files(const struct ss_output *output, const char *known, struct ss_error *error) {
    char line[40];
    struct stat status;

    for (uint32_t i = 0; i < 2 * output->instances; i++) {
        struct file_name name = name_file(output, i / 2, i % 2);
        snprintf(line, sizeof line, "/%s\n", name.text);
        if (fstatat(output->directory, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_size > 0 && !strstr(known, line))
            return ss_error_fail(error,
                "--output: %s/%s was not written by this version of showstopper: choose another "
                "folder, or remove the file",
                output->folder, name.text);
    }

    return 0;
}

static int fail_list(const struct ss_output *output, struct ss_error *error) {
    return ss_error_fail(
        error, "--output: cannot update %s/" LIST_NAME ": %s", output->folder, strerror(errno));
}

/* Opens the list for reading unless it belongs to another user, who could list any file. */
static FILE *open_own_list(const struct ss_output *output) {
    struct ss_trust trust = {0};
    return ss_state_read(output->directory, LIST_NAME, &trust, LIST_NAME, NULL);
}

static int list_files(const struct ss_output *output, struct ss_error *error) {
    SS_OWNED(free) char *listed = NULL;
    size_t room = 0;
    const char *known = "";
    struct ss_error why = {0};
    SS_OWNED(fclose) FILE *list = open_own_list(output);
    if (list && getdelim(&listed, &room, '\0', list) >= 0)
        known = listed;
    else if (list && !feof(list))
        return fail_list(output, error);
    if (check_files(output, known, error) < 0)
        return -1;

    int file = ss_walk_open_below(output->directory, LIST_NAME, O_WRONLY | O_APPEND, &why);
    if (file < 0)
        return ss_error_fail(
            error, "--output: cannot update %s/" LIST_NAME ": %s", output->folder, why.message);
    SS_OWNED(fclose) FILE *longer = fdopen(file, "a");
    for (uint32_t i = 0; longer && i < output->instances; i++) {
        char lines[64], *number = output->numbers[i];
        snprintf(lines, sizeof lines, "/%s.out\n/%s.err\n", number, number);
        if (!strstr(known, lines))
            fputs(lines, longer);
    }
    return longer && fflush(longer) == 0 ? 0 : fail_list(output, error);
}

int ss_output_open(struct ss_output *output, struct ss_error *error) {
    const char *folder = output->folder;

    output->directory = -1;
    output->streams = calloc(2 * (size_t)output->instances, sizeof *output->streams);
    output->polls = calloc(2 * (size_t)output->instances, sizeof *output->polls);
    if (!output->streams || !output->polls)
        return ss_error_memory(error);
    if (output->tty && check_tty(error) < 0)
        return -1;

    for (int which = 0; !folder && which < (output->forwards_errors ? 2 : 1); which++) {
        int file = ss_streams_open_unblocked(which == 0 ? output->out : STDERR_FILENO);
        output->terminals[which] = file > 0 ? file : 0;
    }

    if (!folder)
        return 0;

    struct ss_error why = {0};
    output->directory = ss_walk_folder_path(folder, O_PATH | O_CREAT, &why);
    if (output->directory < 0)
        return ss_error_fail(error, "--output: cannot open %s: %s%s", folder, why.message,
            ss_advice_to_write(errno, folder));

    return list_files(output, error);
}

static int open_target(
    const struct ss_output *output, uint32_t instance, int which, struct ss_error *error) {
    if (!output->folder && output->terminals[which] > 0)
        return output->terminals[which];
    if (!output->folder)
        return which == 0 ? output->out : STDERR_FILENO;
    struct file_name name = name_file(output, instance, which);
    struct ss_error why = {0};
    int file = ss_walk_open_below(output->directory, name.text, O_WRONLY | O_TRUNC, &why);
    if (file < 0)
        ss_error_fail(
            error, "--output: cannot write %s/%s: %s", output->folder, name.text, why.message);
    return file;
}

int ss_output_add(struct ss_output *output, int ends[2], struct ss_error *error) {
    for (int which = 0; which < 2; which++) {
        struct ss_stream *stream = &output->streams[output->count];
        int ends_of_pipe[2];

        if (which == 1 && !output->forwards_errors) {
            *stream = (struct ss_stream){.from = -1, .to = -1};
            output->polls[output->count++] = (struct pollfd){.fd = -1};
            continue;
        }
        if (open_ends(output, which, ends_of_pipe, error) < 0)
            return -1;

        *stream = (struct ss_stream){
            .from = ends_of_pipe[0],
            .to = open_target(output, output->count / 2, which, error),
            .owns_target = output->folder != NULL,
            .instance = output->count / 2,
            .waited = output->waited,
            .busy_time = output->busy_time,
        };
        ends[which] = ends_of_pipe[1];

        /* Only our end is non-blocking: the instance may rely on blocking writes. */
        fcntl(stream->from, F_SETFL, O_NONBLOCK);
        output->polls[output->count++] = (struct pollfd){.fd = stream->from, .events = POLLIN};
        if (stream->to < 0)
            return -1;

        stream->chunk = malloc(SS_OUTPUT_CHUNK_SIZE);
        if (!stream->chunk || (output->pattern && !(stream->line = malloc(SS_OUTPUT_LINE_SIZE))))
            return ss_error_memory(error);
    }
    return 0;
}

/*
 * Reads a time in milliseconds. Returns false unless the whole text, except blanks around it, is a
 * decimal number that is at least 0.
 */
static bool read_length(const char *text, ss_time *length) {
    char *end;
    if (text[strspn(text, BLANKS "0123456789.eE+-")] != '\0')
        return false;
    double ms = strtod(text, &end);
    *length = ss_time_from_double(ms * 1e6);
    return end > text && end[strspn(end, BLANKS)] == '\0' && isfinite(ms) && ms >= 0;
}

/* Minimum interval between readings of our own wait for CPUs. */
#define WAIT_INTERVAL (50 * SS_MILLISECOND)

/*
 * Adds the time for which we were busy or waited for a CPU instead of reading. Lines that were
 * printed in that time are read together, as if the program had buffered them. We may have waited
 * while we were busy, so the longer of the two counts.
 */
static void add_own_delay(struct ss_output *output, struct ss_stream *stream, ss_time now) {
    if (output->own_wait && now >= output->waited_at + WAIT_INTERVAL) {
        ss_time waited = output->own_wait();
        if (waited != SS_TIME_NEVER)
            output->waited = waited;
        output->waited_at = now;
    }
    ss_time waited = ss_time_since(output->waited, stream->waited);
    ss_time busy = ss_time_since(output->busy_time, stream->busy_time);
    stream->late += waited > busy ? waited : busy;
    stream->waited = output->waited;
    stream->busy_time = output->busy_time;
}

static void report_read(
    struct ss_output *output, struct ss_stream *stream, uint32_t count, ss_time now) {
    double duty =
        ss_double_from_word(atomic_load(&output->board->rows[stream->instance].local_duty));
    ss_iterations_report_read(output->iterations, stream->instance, count, now, stream->late, duty);
    stream->late = 0;
}

static void match_line(struct ss_output *output, struct ss_stream *stream, ss_time now) {
    regmatch_t groups[2];
    int flags = stream->cut ? REG_NOTEOL : 0;

    stream->line[stream->length] = '\0';
    stream->length = 0;
    stream->cut = false;
    if (regexec(output->pattern, stream->line, 2, groups, flags) != 0) {
        ss_iterations_mismatch(output->iterations, stream->line, now);
        return;
    }
    if (output->pattern->re_nsub == 0 || groups[1].rm_so < 0) {
        stream->matches++;
        return;
    }

    ss_time length;
    stream->line[groups[1].rm_eo] = '\0';
    const char *text = stream->line + groups[1].rm_so;
    if (!read_length(text, &length)) {
        ss_iterations_untimed(output->iterations, text);
        stream->matches++;
        return;
    }

    report_read(output, stream, 1, now);
    ss_iterations_add(output->iterations, stream->instance, ss_time_since(now, length), now);
}

/* Adds the iterations that ended in one read. */
static void add_matches(struct ss_output *output, struct ss_stream *stream, ss_time now) {
    if (stream->matches > 0) {
        report_read(output, stream, stream->matches, now);
        ss_iterations_add_evenly(output->iterations, stream->instance, stream->matches, now);
    }
    stream->matches = 0;
}

static void match_lines(struct ss_output *output, struct ss_stream *stream, const char *text,
    size_t length, ss_time now) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            match_line(output, stream, now);
        else if (stream->length < SS_OUTPUT_LINE_SIZE - 1)
            stream->line[stream->length++] = text[i];
        else
            stream->cut = true;
    }
    add_matches(output, stream, now);
}

static void fail_stream(struct ss_output *output, struct ss_stream *stream, int err) {
    stream->failed = true;
    stream->rest_length = 0;
    output->err = output->failed ? output->err : err;
    output->failed = true;
}

/* Writes as much of the last read as there is room for. */
static void write_rest(struct ss_output *output, struct ss_stream *stream) {
    while (stream->rest_length > 0 && ss_streams_has_room(stream->to)) {
        ssize_t written = write(stream->to, stream->rest, stream->rest_length);
        if (written < 0 && errno == EAGAIN) {
            poll(NULL, 0, 1); /* a terminal may have too little room even for one character */
            return;
        }

        if (written < 0 && errno != EINTR) {
            fail_stream(output, stream, errno);
        } else if (written > 0) {
            stream->rest += written;
            stream->rest_length -= (size_t)written;
        }
    }
}

static void close_stream(struct ss_output *output, uint32_t index) {
    struct ss_stream *stream = &output->streams[index];
    if (stream->from >= 0)
        close(stream->from);
    if (stream->owns_target && stream->to >= 0)
        close(stream->to);
    stream->from = -1;
    stream->owns_target = false;
    output->polls[index].fd = -1;
}

/* Makes a stream wait for input, or for room in its target. */
static void wait_for(struct ss_output *output, uint32_t index, bool room) {
    struct ss_stream *stream = &output->streams[index];
    stream->full = room;
    output->polls[index].fd = room ? stream->to : stream->from;
    output->polls[index].events = room ? POLLOUT : POLLIN;
}

size_t ss_output_move(struct ss_output *output, uint32_t index, ss_time now) {
    struct ss_stream *stream = &output->streams[index];

    if (stream->from < 0)
        return 0;

    /*
     * First finish the text that another stream has written in part, so that its lines are not
     * split.
     */
    struct ss_stream **last = &output->unfinished[index % 2];
    struct ss_stream *begun = *last ? *last : stream;
    write_rest(output, begun);
    bool room = stream->failed || (begun->rest_length == 0 && ss_streams_has_room(stream->to));
    if (stream->full)
        stream->late += ss_time_since(now, stream->full_since);
    stream->full_since = now;
    wait_for(output, index, !room);
    if (!room)
        return 0;

    ssize_t length = read(stream->from, stream->chunk, SS_OUTPUT_CHUNK_SIZE);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;

    /* A pseudo-terminal without writers fails with EIO instead of reporting an end of file. */
    if (length <= 0) {
        if (stream->line && stream->length > 0) {
            match_line(output, stream, now);
            add_matches(output, stream, now);
        }
        close_stream(output, index);
        return 0;
    }

    stream->rest = stream->chunk;
    stream->rest_length = stream->failed ? 0 : (size_t)length;
    write_rest(output, stream);
    wait_for(output, index, stream->rest_length > 0);
    if (!stream->owns_target && !stream->failed)
        *last = stream;
    if (!stream->line)
        return (size_t)length;

    add_own_delay(output, stream, now);
    match_lines(output, stream, stream->chunk, (size_t)length, now);
    return (size_t)length;
}

void ss_output_wait_begins(struct ss_output *output, ss_time now) {
    if (output->busy_since)
        output->busy_time += ss_time_since(now, output->busy_since);
}

void ss_output_wait_ends(struct ss_output *output, ss_time now) {
    output->busy_since = now;
}

void ss_output_pause(struct ss_output *output, ss_time length) {
    if (output->busy_since)
        output->busy_since += length;
    for (uint32_t i = 0; i < output->count; i++)
        output->streams[i].full_since += length;
}

void ss_output_drain(struct ss_output *output, ss_time now) {
    int patience = SS_OUTPUT_PATIENCE_MS;
    for (uint32_t i = 0; i < output->count; i++) {
        struct ss_stream *stream = &output->streams[i];
        struct pollfd here = {.fd = stream->from, .events = POLLIN};
        size_t moved = 0;

        while (stream->from >= 0 && (stream->rest_length > 0 || poll(&here, 1, 0) > 0)) {
            /* Without a hang-up, a process that outlives the run may write for ever. */
            if (stream->rest_length == 0 && !(here.revents & POLLHUP) &&
                moved >= SS_OUTPUT_DRAIN_MAX)
                break;
            moved += ss_output_move(output, i, now);
            if (stream->from < 0 || !stream->full)
                continue;
            if (patience-- <= 0)
                fail_stream(output, stream, EAGAIN);
            else
                poll(NULL, 0, 1);
        }
    }
}

void ss_output_close(struct ss_output *output) {
    for (uint32_t i = 0; i < output->count; i++) {
        close_stream(output, i);
        free(output->streams[i].chunk);
        free(output->streams[i].line);
    }

    for (int which = 0; which < 2; which++) {
        if (output->terminals[which] > 0)
            close(output->terminals[which]);
    }

    if (output->folder && output->directory >= 0)
        close(output->directory);
    free(output->streams);
    free(output->polls);
    *output = (struct ss_output){0};
}
