/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos_bystander.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chaos_marked.h"

#define PATIENCE 20000 /* milliseconds within which a bystander must start or react to a signal */

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "chaos: bystander: %s: %s\n", what, strerror(errno));
    exit(2);
}

_Noreturn static void become(const struct bystanders *bystanders, int which) {
    char *const words[] = {(char *)bystanders->payload, (char *)"bystander", NULL};
    setpgid(0, 0);
    dup2(bystanders->life[0], STDIN_FILENO);
    dup2(bystanders->each[which].output[1], STDOUT_FILENO);
    execv(words[0], words);
    _exit(2);
}

static void start(const struct bystanders *bystanders, int which) {
    pid_t pid = fork();
    if (pid == 0)
        become(bystanders, which);
    if (pid < 0)
        fail("fork");
}

void bystanders_open(struct bystanders *bystanders, const char *payload) {
    static const char *const what[BYSTANDERS] = {
        "a sibling of the run", "an orphan in its session", "a child from before"};
    bystanders->payload = payload;
    if (pipe2(bystanders->life, O_CLOEXEC) < 0)
        fail("pipe");
    for (int i = 0; i < BYSTANDERS; i++) {
        bystanders->each[i].what = what[i];
        if (pipe2(bystanders->each[i].output, O_CLOEXEC) < 0)
            fail("pipe");
    }
    start(bystanders, 0);
}

void bystanders_start_near(struct bystanders *bystanders) {
    pid_t parent = fork();
    if (parent == 0) {
        start(bystanders, 1);
        _exit(0);
    }
    waitpid(parent, NULL, 0);
    start(bystanders, 2);
}

void bystanders_await(struct bystanders *bystanders) {
    for (int i = 0; i < BYSTANDERS; i++) {
        struct bystander *bystander = &bystanders->each[i];
        char text[32] = "";
        close(bystander->output[1]);
        fcntl(bystander->output[0], F_SETFL, O_NONBLOCK);
        struct pollfd poll_output = {.fd = bystander->output[0], .events = POLLIN};
        if (poll(&poll_output, 1, PATIENCE) != 1 ||
            read(bystander->output[0], text, sizeof text - 1) <= 0)
            fail(bystander->what);
        bystander->pid = atoi(text);
    }
}

/* A signal makes a sleeping process runnable at once, but it acts only when it gets a CPU. */
static void await_reaction(const struct bystander *bystander) {
    static const struct timespec nap = {0, 3000000};
    for (int waited = 0; waited < PATIENCE && marked_state(bystander->pid) == 'R'; waited += 3)
        nanosleep(&nap, NULL);
}

size_t bystanders_touched(struct bystanders *bystanders) {
    size_t touched = 0;
    for (int i = 0; i < BYSTANDERS; i++) {
        const struct bystander *bystander = &bystanders->each[i];
        char text[256];
        await_reaction(bystander);
        ssize_t length = read(bystander->output[0], text, sizeof text);
        const char *how = NULL;
        if (length == 0)
            how = "was ended";
        else if (length > 0)
            how = "was continued";
        else if (marked_state(bystander->pid) == 'T')
            how = "is stopped";
        if (how)
            fprintf(stderr, "chaos: bystander %d, %s, %s\n", bystander->pid, bystander->what, how);
        touched += how != NULL;
    }
    return touched;
}

void bystanders_close(struct bystanders *bystanders) {
    close(bystanders->life[0]);
    close(bystanders->life[1]);
    for (int i = 0; i < BYSTANDERS; i++) {
        struct bystander *bystander = &bystanders->each[i];
        /*
         * A stopped bystander cannot read the end of its input. Its pid cannot be reused before it
         * is continued.
         */
        if (bystander->pid > 1 && marked_state(bystander->pid) == 'T')
            kill(bystander->pid, SIGKILL);
        close(bystander->output[0]);
    }
}
