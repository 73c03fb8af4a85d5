/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How processes join and enter a place of an environment. The places are folders that the test
 * writes, their control groups are files, and a container is a process in namespaces of its own.
 */

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "kin.h"
#include "platform/platform.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

#define PLACE TEST_BUILD_DIR "/libexec/showstopper/showstopper-place"

static const char *folder;     /* of all places */
static const char *root;       /* with the control groups */
static char places[4096 + 32]; /* the variable that names the folder */

/*
 * The leak sanitizer would hang: it forks at exit, and after setns() that process is in the
 * container.
 */
static const char *environment[] = {places, "ASAN_OPTIONS=detect_leaks=0", NULL};

static void make(const char *name) {
    ck_assert_int_eq(mkdir(run_path(folder, name), 0755), 0);
}

static void write_process(const char *file, pid_t pid) {
    const char *text =
        run_format("%d %llu\n", (int)pid, (unsigned long long)ss_platform_process_started(pid));
    run_write_file(run_path(folder, file), text);
}

/* Opens the place `p`, which this process holds. `first`: its container's first process, or 0. */
static void open_place(pid_t first) {
    folder = run_make_folder();
    root = run_path(folder, "root");
    snprintf(places, sizeof places, "SHOWSTOPPER_PLACES=%s", folder);
    make("p");
    make("root");
    make("root/proc");
    make("root/sys");
    make("root/sys/fs");
    make("root/sys/fs/cgroup");
    run_write_file(run_path(root, "sys/fs/cgroup/cgroup.controllers"), "");
    write_process("p/holder", getpid());
    if (first)
        write_process("p/place", first);
    else
        run_write_file(run_path(folder, "p/place"), "");
}

/* Makes a control group below the root with the process `member`, or with none if it is 0. */
static void make_group(const char *name, pid_t member) {
    char path[256], text[32] = "";
    snprintf(path, sizeof path, "root/sys/fs/cgroup/%s", name);
    make(path);
    if (member)
        snprintf(text, sizeof text, "%d\n", (int)member);
    snprintf(path, sizeof path, "root/sys/fs/cgroup/%s/cgroup.procs", name);
    run_write_file(run_path(folder, path), text);
}

static void expect_file(const char *name, const char *expected) {
    run_expect_file(run_path(folder, name), expected);
}

static struct run *call(const char *const *words) {
    struct run_setup setup = {.environment = environment};
    return run_wait(run_start(&setup, words));
}

#define ASK(verb, ...) call(WORDS(PLACE, verb, "--root", root, "p", __VA_ARGS__))

static void expect_refusal(struct run *run, const char *message) {
    run_expect(run, 1);
    run_expect_text(&run->err, message);
}

/* ---- joining ---- */

TEST_CASE(a_process_joins_the_control_group_of_a_place) {
    pid_t pid = kin_start(NULL);
    open_place(0);
    make_group("showstopper-p", 0);
    make_group("showstopper-q", 0);
    run_succeed(ASK("join", run_pid_text(pid)));
    expect_file("root/sys/fs/cgroup/showstopper-p/cgroup.procs", run_pid_text(pid));
    expect_file("root/sys/fs/cgroup/showstopper-q/cgroup.procs", "");
    ck_assert(!run_exists(run_path(folder, "p/entered.1")));
}

/* Only the subgroups of the container's first process receive it. */
TEST_CASE(a_process_joins_the_control_groups_of_a_container) {
    pid_t first = kin_start(NULL), pid = kin_start(NULL);
    open_place(first);
    make_group("showstopper-p", 0);
    make_group("showstopper-p/outer", pid);
    make_group("showstopper-p/inner", first);
    run_succeed(ASK("join", run_pid_text(pid)));
    expect_file("root/sys/fs/cgroup/showstopper-p/cgroup.procs", "");
    /* Written over the line of the first process. */
    struct run_text text =
        run_read_file(run_path(root, "sys/fs/cgroup/showstopper-p/inner/cgroup.procs"));
    const char *expected = run_format("%d", (int)pid);
    ck_assert_msg(strncmp(text.bytes, expected, strlen(expected)) == 0, "%s", text.bytes);
}

/* Closing the place ends recorded processes. */
TEST_CASE(without_control_groups_a_process_is_recorded) {
    pid_t pid = kin_start(NULL);
    open_place(0);
    run_succeed(ASK("join", run_pid_text(pid)));
    const char *file = run_format("p/entered.%d", (int)pid);
    const char *text =
        run_format("%d %llu\n", (int)pid, (unsigned long long)ss_platform_process_started(pid));
    expect_file(file, text);
}

TEST_CASE(a_container_without_control_groups_cannot_be_joined) {
    pid_t first = kin_start(NULL);
    open_place(first);
    expect_refusal(ASK("join", run_pid_text(getpid())),
        "p: cannot join the control groups: the container has none");
}

TEST_CASE(only_open_places_can_be_joined_and_entered) {
    pid_t ended = kin_start(NULL);
    open_place(0);
    expect_refusal(ASK("join", "0"), "'0' is not a pid");
    /* As an int it would be 1, the init process. */
    expect_refusal(ASK("join", "4294967297"), "'4294967297' is not a pid");
    expect_refusal(ASK("enter", "--", "true"), "p is not a container");
    write_process("p/place", ended);
    kin_end(ended);
    expect_refusal(ASK("join", run_pid_text(getpid())), "p: the container has exited");
    expect_refusal(ASK("enter", "--", "true"), "p: the container has exited");
    unlink(run_path(folder, "p/place"));
    expect_refusal(ASK("join", run_pid_text(getpid())), "p is not open");
    expect_refusal(ASK("enter", "--", "true"), "p is not open");
    run_write_file(run_path(folder, "p/place"), "");
    char holder[64]; /* another process has this pid now */
    snprintf(
        holder, sizeof holder, "1 %llu\n", (unsigned long long)ss_platform_process_started(1) + 1);
    run_write_file(run_path(folder, "p/holder"), holder);
    make_group("showstopper-p", 0);
    expect_refusal(ASK("group", NULL), "p is not open");
}

TEST_CASE(the_control_group_that_counts_cpu_time_is_printed) {
    char file[64];
    pid_t first = kin_start(NULL);
    open_place(0);
    expect_refusal(ASK("group", NULL), "p has no control group");
    make_group("showstopper-p", 0);
    struct run *run = run_succeed(ASK("group", NULL));
    ck_assert_str_eq(run->out.bytes, "/showstopper-p\n");
    write_process("p/place", first);
    expect_refusal(ASK("group", NULL), "p: the container has exited"); /* not in root/proc yet */
    snprintf(file, sizeof file, "root/proc/%d", (int)first);
    make(file);
    snprintf(file, sizeof file, "root/proc/%d/cgroup", (int)first);
    run_write_file(run_path(folder, file), "0::/showstopper-p/inner\n");
    run = run_succeed(ASK("group", NULL));
    ck_assert_str_eq(run->out.bytes, "/showstopper-p/inner\n");
}

/* ---- holding ---- */

/* Holds `q` in a container that runs `said` before it prints `open`, until its input ends. */
static struct run *hold(const char *said) {
    const char *program = run_path(folder, "environment");
    const char *text =
        run_format("#!/bin/sh\n[ \"$1\" = --open ] || exit 0\n%s\necho open\nexec cat >&2\n", said);
    run_write_file(program, text);
    ck_assert_int_eq(chmod(program, 0700), 0);
    return call(WORDS(PLACE, "hold", "--root", root, "q", "--", program));
}

/* The error shows that `open` was read: only then is the group sought, which does not exist. */
TEST_CASE(an_environment_may_print_much_before_it_is_open) {
    open_place(0);
    expect_refusal(hold(":"), "q: cannot find the container's first process");
    expect_refusal(hold("printf '%0300d\\n' 0"), "q: cannot find the container's first process");
    expect_refusal(hold("printf '%0254d\\n' 0"), "q: cannot find the container's first process");
    expect_refusal(hold("seq 200"), "q: cannot find the container's first process");
}

/* ---- closing ---- */

static int *terminated; /* shared: how many processes have received SIGTERM */

static void exit_with_another(int number) {
    __atomic_add_fetch(terminated, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(terminated, __ATOMIC_SEQ_CST) < 2)
        poll(NULL, 0, 10);
    _exit(7);
}

static void exit_at_sigterm(void) {
    signal(SIGTERM, exit_with_another);
}

/* Each exits only after the other one has received SIGTERM, and none is killed. */
TEST_CASE(all_processes_of_a_place_are_ended_at_once_even_if_they_are_stopped) {
    pid_t pids[2];
    open_place(0);
    terminated = kin_share(sizeof *terminated);
    for (int i = 0; i < 2; i++) {
        pids[i] = kin_start(exit_at_sigterm);
        run_succeed(ASK("join", run_pid_text(pids[i])));
        ck_assert_int_eq(kill(pids[i], SIGSTOP), 0);
        RUN_UNTIL(NULL, kin_is_stopped(pids[i]));
    }
    run_succeed(ASK("close", "--", "/bin/true"));
    for (int i = 0; i < 2; i++) {
        int status;
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %#x", status);
    }
}

TEST_CASE(a_place_that_cannot_be_closed_does_not_keep_others_open) {
    open_place(0);
    make("q");
    make("r");
    const char *program = run_path(folder, "environment");
    run_write_file(program, "#!/bin/sh\n[ \"$2\" != q ]\n");
    ck_assert_int_eq(chmod(program, 0700), 0);
    struct run *run = call(WORDS(PLACE, "close", "--root", root, "..", "q", "r", "--", program));
    run_expect(run, 1);
    run_expect_text(&run->err, "..: invalid place name");
    ck_assert(!run_exists(run_path(folder, "r")));
    expect_refusal(call(WORDS(PLACE, "close", "--root", root, "q", "r", "--", program)),
        "environment --clean failed");
}

/* ---- entering ---- */

static const char *hidden; /* a folder that the container does not see */
static pid_t container;    /* its first process */
static int reports[2];

static void live_in_container(void) {
    bool is_set = sethostname("inside", 6) == 0 &&
                  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                  mount("none", hidden, "tmpfs", 0, NULL) == 0;
    pid_t answer = is_set ? 0 : -1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (write(reports[1], &answer, sizeof answer) < 0)
        _exit(1);
    kin_wait_for_ever();
}

/* Starts a process in new namespaces, which is the parent of the container's first one. */
static void start_first(void) {
    pid_t first = -1;
    if (sandbox_unshare(CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET |
                        CLONE_NEWCGROUP)) {
        first = fork();
        if (first == 0)
            live_in_container();
    }
    if (write(reports[1], &first, sizeof first) < 0)
        _exit(1);
}

/* Opens the place with a container. The end of its parent ends it. */
static pid_t open_container(void) {
    pid_t answers[2] = {0};
    SKIP_UNLESS(geteuid() == 0, "root: only root may enter namespaces");
    open_place(0);
    hidden = run_path(folder, "hidden");
    make("hidden");
    ck_assert_int_eq(pipe(reports), 0);
    pid_t parent = kin_start(start_first);
    ck_assert_int_eq(read(reports[0], &answers[0], sizeof answers[0]), sizeof answers[0]);
    if (answers[0] >= 0)
        ck_assert_int_eq(read(reports[0], &answers[1], sizeof answers[1]), sizeof answers[1]);
    container = answers[0] > 0 ? answers[0] : answers[1];
    if (answers[0] < 0 || answers[1] < 0) {
        kin_end(parent);
        SKIP("mounts: cannot create namespaces");
    }
    write_process("p/place", container);
    return parent;
}

#define ENTER(...) call(WORDS(PLACE, "enter", "p", "--", __VA_ARGS__))

/* Prints the namespaces of the process with this entry in /proc. */
#define NAMESPACES                                                                                 \
    "for name in cgroup ipc uts net pid mnt; do readlink /proc/$1/ns/$name || exit; done"

TEST_CASE(a_command_runs_in_the_namespaces_of_the_container_and_the_folder_of_its_caller) {
    char current[4096];
    pid_t parent = open_container();
    struct run *first =
        run_succeed(call(WORDS("sh", "-c", NAMESPACES, "sh", run_pid_text(container))));
    struct run *run = ENTER("sh", "-c", NAMESPACES, "sh", "self");
    run_expect(run, 0);
    ck_assert_str_eq(run->out.bytes, first->out.bytes);
    run = ENTER("sh", "-c", "uname -n; pwd; kill -KILL $$");
    run_expect(run, 128 + SIGKILL);
    const char *expected = run_format("inside\n%s\n", getcwd(current, sizeof current));
    ck_assert_str_eq(run->out.bytes, expected);
    run_expect(ENTER("no-program"), 127);
    run_expect(ENTER("/etc/passwd"), 126);
    kin_end(parent);
}

TEST_CASE(a_folder_that_the_container_lacks_is_reported) {
    pid_t parent = open_container();
    make("hidden/deep");
    struct run_setup setup = {.environment = environment, .folder = run_path(hidden, "deep")};
    struct run *run = run_wait(run_start(&setup, WORDS(PLACE, "enter", "p", "--", "true")));
    run_expect(run, 1);
    run_expect_text(&run->err, "/hidden/deep in the container: No such file");
    kin_end(parent);
}

#define WAITING "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"

/* Showstopper signals the whole group of an instance, which would get each signal twice. */
TEST_CASE(sigterm_reaches_the_command_unless_it_is_an_instance) {
    pid_t parent = open_container();
    struct run_setup setup = {.environment = environment};
    struct run *run = run_start(&setup, WORDS(PLACE, "enter", "p", "--", "sh", "-c", WAITING));
    run_wait_text(run, "ready");
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), 9);
    run = run_start(&setup, WORDS(PLACE, "enter", "p", "--instance", "--", "sh", "-c", WAITING));
    run_wait_text(run, "ready");
    run_end(run, SIGTERM);
    family_end_all();
    kin_end(parent);
}
