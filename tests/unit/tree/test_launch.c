/* SPDX-License-Identifier: Apache-2.0 */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree/instance.h"
#include "unit.h"

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

TEST(leader_waits_before_exec) {
    static struct ss_signals signals;
    char context[] = "context", mark[] = "mark", number[] = "0", program[] = "true";
    char *words[] = {program, NULL};
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
        .on_fork = look,
        .context = context,
    };
    struct ss_instance instance = {0};
    int status;
    assert_non_null(scheduling);
    assert_int_equal(ss_instance_start(&instance, &launch), 0);
    assert_int_equal(seen, instance.leader);
    assert_int_equal(waitpid(instance.leader, &status, 0), instance.leader);
    assert_int_equal(status, 0);
    free(scheduling);
}

UNIT_RUN
