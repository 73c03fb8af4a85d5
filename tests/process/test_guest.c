/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Both ends of the connection between a host and a guest, without a guest: terminals are the ports
 * of `serve`, and a process of the test answers `drive` as a machine would.
 */

#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "family.h"
#include "kin.h"
#include "platform/platform.h"
#include "process.h"
#include "run.h"

#define GUEST TEST_BUILD_DIR "/libexec/showstopper/showstopper-guest"

static const char *folder;

TEST_CASE(a_folder_or_a_command_is_required) {
    static const char message[] = "drive FOLDER or serve -- COMMAND is required: see --help";
    run_expect_refusal(run_start(NULL, WORDS(GUEST)), message);
    run_expect_refusal(run_start(NULL, WORDS(GUEST, "drive")), message);
    run_expect_refusal(run_start(NULL, WORDS(GUEST, "serve", "--")), message);
    run_expect_refusal(run_start(NULL, WORDS(GUEST, "drive", "a", "b")), "unexpected argument 'b'");
}

/* ---- in the guest ---- */

static struct port {
    int ours, theirs;
    struct run_text text;
} ports[3];

static void open_ports(void) {
    folder = run_make_folder();
    for (int i = 0; i < 3; i++) {
        SKIP_UNLESS(ss_platform_pty_open(&ports[i].ours, &ports[i].theirs) == 0,
            "terminal: cannot open a pseudo-terminal");
        fcntl(ports[i].ours, F_SETFL, O_NONBLOCK);
        ports[i].text = (struct run_text){calloc(1, 1), 0};
        const char *name = run_format("port%d", i + 1);
        ck_assert_int_eq(symlink(ttyname(ports[i].theirs), run_path(folder, name)), 0);
    }
}

/* Reads from a port once. Returns whether anything had arrived. */
static bool hear(int index) {
    struct port *port = &ports[index - 1];
    char bytes[8192];
    ssize_t length = read(port->ours, bytes, sizeof bytes);
    if (length <= 0)
        return false;
    port->text.bytes = realloc(port->text.bytes, port->text.length + (size_t)length + 1);
    ck_assert_ptr_nonnull(port->text.bytes);
    memcpy(port->text.bytes + port->text.length, bytes, (size_t)length);
    port->text.length += (size_t)length;
    port->text.bytes[port->text.length] = '\0';
    return true;
}

/* Reads what has arrived at a port. Returns whether it contains `part`. */
static bool has_said(int index, const char *part) {
    while (hear(index))
        continue;
    return strstr(ports[index - 1].text.bytes, part) != NULL;
}

static void await_port(struct run *run, int index, const char *part) {
    RUN_UNTIL(run, has_said(index, part) || run->ended);
    ck_assert_msg(
        has_said(index, part), "port %d: no '%s' in: %s", index, part, ports[index - 1].text.bytes);
}

static void request(const char *text) {
    ck_assert_int_eq(write(ports[0].ours, text, strlen(text)), (ssize_t)strlen(text));
}

/* Starts a guest, and waits until it is ready. */
static struct run *serve(const char *const *words) {
    open_ports();
    struct run *run = run_start(
        NULL, run_join(WORDS(GUEST, "serve", "--ports", run_path(folder, "port")), words));
    await_port(run, 1, "ready\n");
    return run;
}

#define SERVE(...) serve(WORDS(__VA_ARGS__))

/* Starts a guest and requests that it runs this command. */
static struct run *carry_out(const char *const *command) {
    struct run *run = serve(run_join(WORDS("--"), command));
    request("run\n");
    return run;
}

#define CARRY_OUT(...) carry_out(WORDS(__VA_ARGS__))

static void turn_off(struct run *run) {
    request("off\n");
    run_succeed(run);
}

/*
 * The server itself blocks SIGCHLD, but not the command. Processes that the command leaves do not
 * keep the guest on.
 */
TEST_CASE(output_and_status_of_a_command_leave_the_guest) {
    static const struct {
        const char *command[4], *status, *out, *err;
    } rows[] = {
        {{"sh", "-c", "echo out; echo err >&2; read x || exit 3"}, "status 3\n", "out\n", "err\n"},
        {{"no-program"}, "status 127\n", "", ""},
        {{"/etc/passwd"}, "status 126\n", "", ""},
        {{"grep", "SigBlk", "/proc/self/status"}, "status 0\n", "SigBlk:\t0000000000000000\n", ""},
        {{"sh", "-c", "sleep 1000 & echo out"}, "status 0\n", "out\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run *run = carry_out(rows[i].command);
        await_port(run, 1, rows[i].status);
        await_port(run, 2, rows[i].out);
        await_port(run, 3, rows[i].err);
        turn_off(run);
        family_end_all();
    }
}

TEST_CASE(signals_reach_the_command_in_the_guest) {
    struct run *run =
        CARRY_OUT("sh", "-c", "trap 'exit 5' INT; echo up; while :; do sleep 0.01; done");
    await_port(run, 2, "up\n");
    request("INT\n");
    await_port(run, 1, "status 5\n");
    request("TERM\nrun\n"); /* the first request finds nothing to end */
    await_port(run, 2, "up\nup\n");
    request("TERM\n");
    await_port(run, 1, "status 143\n");
    turn_off(run);
}

static double read_time(const char *text) {
    const char *at = strstr(text, "clock ");
    ck_assert_ptr_nonnull(at);
    return strtod(at + strlen("clock "), NULL);
}

static double wall_time(void) {
    return (double)ss_platform_wallclock() / 1e9;
}

/* Outside of a guest, the clock is never set. */
TEST_CASE(requests_for_the_time_are_answered_in_parts_and_after_garbage) {
    static const char *const requests[][2] = {
        {"clock\n", ""}, {"clo", "ck\n"}, {"shift ", "-9\n"}, {"unknown\n", "clock\n"}};
    char garbage[301];
    struct run *run = SERVE("--", "true");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        double before = wall_time();
        ports[0].text.bytes[ports[0].text.length = 0] = '\0';
        request(requests[i][0]);
        request(requests[i][1]);
        RUN_UNTIL(run, has_said(1, "\n"));
        double said = read_time(ports[0].text.bytes);
        ck_assert_msg(said >= before - 1e-5 && said <= wall_time(), "%s", ports[0].text.bytes);
    }
    memset(garbage, 'x', sizeof garbage - 1);
    garbage[sizeof garbage - 1] = '\0';
    ports[0].text.bytes[ports[0].text.length = 0] = '\0';
    request(garbage);
    request("\nclock\n");
    await_port(run, 1, "clock ");
    turn_off(run);
}

TEST_CASE(a_missing_share_is_reported_before_the_guest_is_ready) {
    struct run *run = SERVE("--missing", "/data", "--", "true");
    await_port(run, 1, "missing /data\nready\n");
    turn_off(run);
}

/* Returns how often the guest has said that output is left. */
static size_t count_lefts(void) {
    static const char word[] = "left\n";
    size_t count = 0;
    has_said(1, word);
    for (const char *at = ports[0].text.bytes; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

/*
 * The output fits into a pipe of 64 KiB and a terminal, which holds at least 13 KiB, but not into
 * the terminal alone, so that the rest leaves the guest only as its reader reads. Reads once for
 * each `left` that the guest says. The guest drops the rest if its reader seems stuck: returns
 * false if that happened because this process was late.
 */
static bool reads_all_output(void) {
    size_t lefts = 0;
    double looked, longest = 0;
    struct run *run = CARRY_OUT("sh", "-c", "head -c 75000 /dev/zero | tr '\\0' x; printf y");
    await_port(run, 1, "status 0\n");
    request("off\n");
    looked = run_now();
    for (; run_state(run->pid) != 'Z'; poll(NULL, 0, 5)) {
        longest = fmax(longest, run_now() - looked);
        looked = run_now();
        if (count_lefts() == lefts)
            continue;
        hear(2);
        lefts++;
    }
    family_end_all();
    bool is_whole = has_said(2, "y");
    if (longest < 1) {
        RUN_UNTIL(NULL, has_said(2, "y"));
        ck_assert_uint_eq(ports[1].text.length, 75001);
        ck_assert_uint_gt(lefts, 0);
    }
    run_succeed(run);
    return longest < 1 || is_whole;
}

/* Repeated, because the guest may take a reader that gets no CPU for a second for stuck. */
TEST_CASE(output_leaves_the_guest_as_long_as_it_is_read) {
    for (int i = 0; !reads_all_output(); i++)
        ck_assert_int_lt(i, 10);
}

/* ---- on the host ---- */

static struct {
    const char *greeting; /* NULL: "ready" */
    const char *answer;   /* to `run`; NULL if absent */
    const char *yielded;  /* the answer to INT and TERM; NULL if absent */
    const char *clock;    /* what it says of its clock; NULL: the time */
    long long ahead;      /* its clock, in microseconds */
    const char *dies_at;  /* the request that ends it; NULL: `off` */
    int lefts;            /* how often it says `left`, every tenth of a second, before it ends */
    bool counts;          /* answers `run` by a status of 100 plus the number of its CPUs */
} machine;

static void say(int out, const char *text) {
    if (text && write(out, text, strlen(text)) < 0)
        _exit(1);
}

static void tell_time(int out) {
    if (machine.clock) {
        say(out, machine.clock);
        return;
    }
    int64_t now = ss_platform_wallclock() / 1000 + machine.ahead;
    const char *text =
        run_format("clock %lld.%06lld\n", (long long)(now / 1000000), (long long)(now % 1000000));
    say(out, text);
}

static void answer(int out, const char *request) {
    cpu_set_t cpus;
    if (strcmp(request, machine.dies_at ? machine.dies_at : "off\n") == 0) {
        for (int i = 0; i < machine.lefts; i++) {
            say(out, "left\n");
            poll(NULL, 0, 100);
        }
        if (machine.lefts)
            run_write_file(run_path(folder, "delivered"), "");
        _exit(0);
    }
    if (strncmp(request, "shift ", 6) == 0)
        machine.ahead += strtoll(request + 6, NULL, 10);
    if (strcmp(request, "clock\n") == 0 || strncmp(request, "shift ", 6) == 0)
        tell_time(out);
    if (strcmp(request, "INT\n") == 0 || strcmp(request, "TERM\n") == 0)
        say(out, machine.yielded);
    if (strcmp(request, "run\n") != 0)
        return;
    sched_getaffinity(0, sizeof cpus, &cpus);
    const char *text = run_format("status %d\n", 100 + CPU_COUNT(&cpus));
    say(out, machine.counts ? text : machine.answer);
}

/* Logs and answers each request. */
static void be_machine(void) {
    char request[128];
    prctl(PR_SET_NAME, "CPU 0/KVM"); /* as the thread of a virtual CPU */
    FILE *in = fopen(run_path(folder, "control.in"), "r+e");
    FILE *log = fopen(run_path(folder, "requests"), "ae");
    int out = open(run_path(folder, "control.out"), O_RDWR | O_CLOEXEC);
    if (!in || !log || out < 0)
        _exit(1);
    close(kin_gate[1]);
    say(out, machine.greeting ? machine.greeting : "ready\n");
    while (fgets(request, sizeof request, in)) {
        fputs(request, log);
        fflush(log);
        answer(out, request);
    }
    _exit(1);
}

static char machine_pid[16], caller_pid[16];

/* Starts a machine that is ready at once. */
static pid_t start_machine(void) {
    folder = run_make_folder();
    ck_assert_int_eq(mkfifo(run_path(folder, "control.in"), 0600), 0);
    ck_assert_int_eq(mkfifo(run_path(folder, "control.out"), 0600), 0);
    pid_t pid = kin_start(be_machine);
    snprintf(machine_pid, sizeof machine_pid, "%d", (int)pid);
    snprintf(caller_pid, sizeof caller_pid, "%d", (int)getpid());
    return pid;
}

#define DRIVE_IN(setup, ...)                                                                       \
    run_start(setup, WORDS(GUEST, "drive", folder, "--machine", machine_pid, "--caller",           \
                         caller_pid, __VA_ARGS__))
#define DRIVE(...) DRIVE_IN(NULL, __VA_ARGS__)

static bool got(const char *request) {
    struct run_text text = run_read_file(run_path(folder, "requests"));
    bool found = strstr(text.bytes, request) != NULL;
    free(text.bytes);
    return found;
}

TEST_CASE(a_run_in_a_guest_has_the_status_of_its_command) {
    machine.greeting = "noise\nready\n";
    machine.answer = "statuses 3\nstatus 7\n";
    pid_t pid = start_machine();
    struct run *run = DRIVE(NULL);
    run_expect(run_wait(run), 7);
    ck_assert_str_eq(run->err.bytes, "");
    kin_reap(pid); /* it reads the last request before it ends */
    ck_assert(got("run\noff\n"));
}

TEST_CASE(a_guest_that_forwards_output_is_not_ended) {
    machine.answer = "status 7\n";
    machine.lefts = 30; /* for longer than a guest may be silent */
    pid_t pid = start_machine();
    run_expect(run_wait(DRIVE(NULL)), 7);
    ck_assert(run_exists(run_path(folder, "delivered")));
    kin_reap(pid);
}

/* The file has the differences after the clock was set, before and after the run. */
TEST_CASE(the_clock_of_a_guest_is_set) {
    double host, guest, difference;
    machine.answer = "status 0\n";
    machine.ahead = -3000000;
    pid_t pid = start_machine();
    const char *file = run_path(folder, "clock.csv");
    run_succeed(DRIVE("--clock", file));
    ck_assert(got("shift 2") || got("shift 3"));
    struct run_text text = run_read_file(file);
    int length = 0;
    ck_assert_int_eq(
        sscanf(text.bytes,
            "when,host_seconds,guest_seconds,difference_seconds\nstart,%lf,%lf,%lf\n%n", &host,
            &guest, &difference, &length),
        3);
    ck_assert_msg(difference > -2 && difference < 2, "%s", text.bytes);
    ck_assert_msg(fabs(guest - host - difference) < 2e-6, "%s", text.bytes);
    ck_assert_msg(fabs(host - wall_time()) < 600, "%s", text.bytes);
    ck_assert_msg(strncmp(text.bytes + length, "end,", 4) == 0, "%s", text.bytes);
    kin_reap(pid);
}

/* Their difference from the time of the host would not fit into 64 bits. */
TEST_CASE(impossible_clocks_of_guests_are_refused) {
    static const char *const clocks[] = {"clock -9223372036854.775807\n",
        "clock 9223372036854775807.0\n", "clock 9223372036854.9223372036854775807\n",
        "clock 1.-9223372036854775808\n", "clock noon\n"};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        machine.clock = clocks[i];
        machine.answer = "status 0\n";
        pid_t pid = start_machine();
        run_expect_refusal(DRIVE(NULL), "the guest does not answer with a valid time");
        ck_assert(!got("shift"));
        kill(pid, SIGKILL);
        kin_reap(pid);
    }
}

TEST_CASE(virtual_cpus_are_pinned_and_their_time_is_written) {
    double used, wall;
    machine.counts = true;
    pid_t pid = start_machine();
    const char *file = run_path(folder, "times.csv");
    run_expect(run_wait(DRIVE("--pins", run_first_cpu(), "--vcpu-times", file)), 101);
    struct run_text text = run_read_file(file);
    ck_assert_int_eq(
        sscanf(text.bytes, "vcpu,host_cpu_seconds,wall_seconds\n0,%lf,%lf\n", &used, &wall), 2);
    ck_assert_msg(used >= 0 && used <= wall + 0.02 && wall > 0, "%s", text.bytes);
    kin_reap(pid);
}

TEST_CASE(invalid_cpus_of_a_guest_are_refused) {
    start_machine();
    run_expect_refusal(DRIVE("--vcpus", "1025"), "--vcpus: too many (at most 1024)");
    run_expect_refusal(DRIVE("--pins", "x"), "--pins: ");
    run_expect_refusal(DRIVE("--pins", "1023"), "--pins: cannot pin virtual CPU 0 to CPU 1023");
}

TEST_CASE(the_first_signal_is_passed_on_to_the_guest) {
    static const struct {
        int signal;
        const char *request;
    } signals[] = {{SIGTERM, "TERM\n"}, {SIGINT, "INT\n"}};
    machine.yielded = "status 5\n";
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = start_machine();
        struct run *run = DRIVE("--grace", "999");
        RUN_UNTIL(run, got("run\n"));
        kill(run->pid, signals[i].signal);
        run_expect(run_wait(run), 5);
        ck_assert(got(signals[i].request));
        kin_reap(pid);
    }
}

TEST_CASE(a_second_signal_ends_the_run_in_the_guest) {
    start_machine();
    struct run *run = DRIVE("--grace", "999");
    RUN_UNTIL(run, got("run\n"));
    kill(run->pid, SIGINT);
    RUN_UNTIL(run, got("INT\n"));
    ck_assert(!run->ended);
    kill(run->pid, SIGTERM);
    run_expect(run_wait(run), 143);
}

TEST_CASE(a_command_that_outlives_its_grace_period_is_abandoned) {
    pid_t pid = start_machine();
    struct run *run = DRIVE("--grace", "0");
    RUN_UNTIL(run, got("run\n"));
    kill(run->pid, SIGINT);
    run_expect(run_wait(run), 130);
    RUN_UNTIL(NULL, got("off\n"));
    kin_reap(pid);
}

TEST_CASE(a_run_in_a_guest_ends_with_its_caller) {
    start_machine();
    pid_t caller = kin_start(NULL);
    snprintf(caller_pid, sizeof caller_pid, "%d", (int)caller);
    struct run *run = DRIVE("--grace", "999");
    RUN_UNTIL(run, got("run\n"));
    kin_end_unreaped(caller);
    run_expect(run_wait(run), 143);
    run_expect(run_wait(DRIVE("--grace", "999")), 143);
    kin_reap(caller);
}

/* The reason is the last line with printable characters, of qemu if it has written any. */
TEST_CASE(a_guest_that_ends_early_is_reported_with_its_last_line) {
    pid_t pid = start_machine();
    kin_end_unreaped(pid);
    run_expect_refusal(DRIVE(NULL), "cannot start the guest: no output");
    run_write_file(run_path(folder, "console"), "Booting\r\n\033[2mKernel panic\n\r\n");
    run_expect_refusal(DRIVE(NULL), "cannot start the guest: [2mKernel panic");
    kin_reap(pid);
    for (int i = 0; i < 2; i++) {
        machine.dies_at = i ? "run\n" : "clock\n";
        pid = start_machine();
        run_write_file(run_path(folder, "machine.log"), "first\nqemu: no memory\n");
        run_write_file(run_path(folder, "console"), "Booting\n");
        run_expect_refusal(DRIVE(NULL), i ? "the guest ended before its command: qemu: no memory"
                                          : "the guest does not answer: qemu: no memory");
        kin_reap(pid);
    }
}

TEST_CASE(a_guest_that_cannot_be_watched_is_not_used) {
    struct run_setup setup = {.prepare = family_deny_pidfds};
    start_machine();
    struct run *run = run_wait(DRIVE_IN(&setup, NULL));
    SKIP_UNLESS(run->status != PROCESS_SKIPPED, "seccomp: not available");
    run_expect_refusal(run, "cannot watch the guest: pidfd_open: Function not implemented");
}

TEST_CASE(a_share_that_the_guest_lacks_is_reported) {
    machine.greeting = "missing /data\nready\n";
    start_machine();
    run_expect_refusal(DRIVE(NULL), "--share: the guest has no access to /data");
}
