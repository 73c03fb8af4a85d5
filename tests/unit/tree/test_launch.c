/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree/instance.h"
#include "unit.h"

static struct ss_instance instance;
static pid_t seen;

static void read_program(pid_t pid, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, 4095);
    assert_that(length, >, 0);
    path[length] = '\0';
}

/* The leader still runs this program, however long this takes. */
static void look(void *context, pid_t leader) {
    char own[4096], its[4096];
    assert_string_equal(context, "context");
    read_program(getpid(), own);
    for (int i = 0; i < 20; i++) {
        read_program(leader, its);
        assert_string_equal(its, own);
        usleep(1000);
    }
    seen = leader;
}

static int start(const char *program, bool is_watched) {
    static struct ss_signals signals;
    static char context[] = "context", mark[] = "mark", number[] = "0";
    char *words[] = {(char *)program, NULL};
    struct ss_scheduling *scheduling = ss_platform_scheduling_save();
    struct ss_launch launch = {
        .command = words,
        .index = number,
        .instances = number,
        .mark = mark,
        .input = STDIN_FILENO,
        .output = -1,
        .errors = -1,
        .signals = &signals,
        .scheduling = scheduling,
        .forked = is_watched ? look : NULL,
        .context = context,
    };
    assert_non_null(scheduling);
    instance = (struct ss_instance){0};
    seen = 0;
    int why = ss_instance_start(&instance, &launch);
    free(scheduling);
    return why;
}

static void reap(void) {
    int status;
    assert_int_equal(waitpid(instance.leader, &status, 0), instance.leader);
    assert_int_equal(status, 0);
}

/* Descriptors are assigned in order, so a leaked one changes the next. */
static int next_descriptor(void) {
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    return next;
}

static void leader_waits_before_exec(void **state) {
    int before = next_descriptor();
    assert_int_equal(start("true", true), 0);
    assert_int_equal(seen, instance.leader);
    reap();
    assert_int_equal(next_descriptor(), before);
}

static void missing_command_is_reported(void **state) {
    int before = next_descriptor();
    assert_int_equal(start("/no/such/program", true), ENOENT);
    assert_that(seen, >, 0);
    assert_int_equal(instance.leader, 0);
    assert_int_equal(next_descriptor(), before);
}

static void leader_starts_at_once(void **state) {
    int before = next_descriptor();
    assert_int_equal(start("true", false), 0);
    assert_int_equal(seen, 0);
    reap();
    assert_int_equal(next_descriptor(), before);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(leader_waits_before_exec),
    cmocka_unit_test(missing_command_is_reported),
    cmocka_unit_test(leader_starts_at_once))
