/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#include "../marked.h"
#include "process.h"
#include "sandbox.h"

#define NAP_MS 3

static struct run *runs; /* all that are not freed yet */

const char *run_first_cpu(void) {
    cpu_set_t set;
    int cpu = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return run_format("%d", cpu);
}

const char *run_last_cpu(void) {
    cpu_set_t set;
    int cpu = CPU_SETSIZE - 1;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(cpu, &set))
        cpu--;
    return run_format("%d", cpu);
}

int run_cpu_count(void) {
    cpu_set_t set;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

double run_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Unique among all test processes, including earlier ones with the same pid. */
char *run_mark(void) {
    static char text[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!*text)
        snprintf(text, sizeof text, "SS_TEST_MARK=%d.%lld.%09ld", (int)getpid(),
            (long long)now.tv_sec, now.tv_nsec);
    return text;
}

static void become(const struct run_setup *setup, const char *const *words, const int ends[2]) {
    int input = open(setup->input ? setup->input : "/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, 0) < 0 || dup2(ends[0], 1) < 0 || dup2(ends[1], 2) < 0)
        _exit(99);
    if (input > 2)
        close(input);
    if (setup->folder && chdir(setup->folder) < 0)
        _exit(99);
    putenv(run_mark());
    for (size_t i = 0; setup->environment && setup->environment[i]; i++)
        putenv((char *)setup->environment[i]);
    if (setup->prepare)
        setup->prepare();
    execvp(words[0], (char *const *)words);
    dprintf(2, "%s: %s\n", words[0], strerror(errno));
    _exit(99);
}

void run_greedily(void) {
    setenv(RUN_GREEDY, "yes", 1);
}

static size_t count_words(const char *const *words) {
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

const char *const *run_join(const char *const *words, const char *const *more) {
    size_t first = count_words(words), second = count_words(more) + 1;
    const char **both = calloc(first + second, sizeof *both);
    ck_assert_ptr_nonnull(both);
    memcpy(both, words, first * sizeof *both);
    memcpy(both + first, more, second * sizeof *both);
    return both;
}

struct run *run_start(const struct run_setup *setup, const char *const *words) {
    static const struct run_setup usual;
    for (size_t i = 0; setup && setup->environment && setup->environment[i]; i++)
        SKIP_UNLESS(SHIMS_WORK || strncmp(setup->environment[i], "LD_PRELOAD=", 11) != 0,
            "sanitizer: must be the first preloaded library");
    struct run *run = calloc(1, sizeof *run);
    ck_assert_ptr_nonnull(run);
    run_mark(); /* before the fork, so that the child inherits the same mark */
    int ends[2];
    for (int i = 0; i < 2; i++) {
        int pair[2];
        ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
        run->pipes[i] = pair[0];
        ends[i] = pair[1];
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
    }
    run->out.bytes = calloc(1, 1);
    run->err.bytes = calloc(1, 1);
    run->pid = fork();
    if (run->pid == 0)
        become(setup ? setup : &usual, words, ends);
    ck_assert_int_ge(run->pid, 0);
    close(ends[0]);
    close(ends[1]);
    run->next = runs;
    runs = run;
    return run;
}

/* Reads the pending output. Returns false at end of file. */
static bool take(int from, struct run_text *text) {
    char bytes[16384];
    ssize_t length;
    while ((length = read(from, bytes, sizeof bytes)) > 0) {
        text->bytes = realloc(text->bytes, text->length + (size_t)length + 1);
        ck_assert_ptr_nonnull(text->bytes);
        memcpy(text->bytes + text->length, bytes, (size_t)length);
        text->length += (size_t)length;
        text->bytes[text->length] = '\0';
    }
    return length < 0 && (errno == EAGAIN || errno == EINTR);
}

static void take_both(struct run *run) {
    struct run_text *texts[2] = {&run->out, &run->err};
    for (int i = 0; i < 2; i++) {
        if (run->pipes[i] >= 0 && !take(run->pipes[i], texts[i])) {
            close(run->pipes[i]);
            run->pipes[i] = -1;
        }
    }
}

void run_look(struct run *run) {
    int status;
    if (!run->ended && waitpid(run->pid, &status, WNOHANG) == run->pid) {
        run->ended = true;
        run->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }
    take_both(run); /* after checking for the exit, so that no output is missed */
}

void run_nap(struct run *run) {
    struct pollfd polls[2] = {{.fd = -1}, {.fd = -1}};
    for (int i = 0; run && i < 2; i++)
        polls[i] = (struct pollfd){.fd = run->pipes[i], .events = POLLIN};
    poll(polls, 2, NAP_MS);
    if (run)
        run_look(run);
}

void run_give_up(const struct run *run, const char *file, int line, const char *condition) {
    run_print_processes();
    ck_abort_msg("%s:%d: timed out waiting for %s\nstdout: %s\nstderr: %s", file, line, condition,
        run ? run->out.bytes : "", run ? run->err.bytes : "");
}

struct run *run_wait(struct run *run) {
    RUN_UNTIL(run, run->ended);
    return run;
}

struct run *run_succeed(struct run *run) {
    run_expect(run_wait(run), 0);
    return run;
}

void run_end(struct run *run, int signal) {
    ck_assert_msg(!run->ended, "it ended with %d\nstdout: %s\nstderr: %s", run->status,
        run->out.bytes, run->err.bytes);
    kill(run->pid, signal);
    run_expect(run_wait(run), -signal);
}

void run_wait_ready(struct run *run, size_t count) {
    RUN_UNTIL(run, run_count(run, "ready\n") == count);
}

void run_let_pass(struct run *run, double seconds) {
    double end = run_now() + seconds;
    RUN_UNTIL_WITHIN(RUN_PATIENCE + seconds, run, run_now() >= end || (run && run->ended));
}

void run_spin(double seconds) {
    double end = run_now() + seconds;
    while (run_now() < end) {
    }
}

void run_wait_text(struct run *run, const char *text) {
    double deadline = run_now() + RUN_PATIENCE;
    while (!strstr(run->out.bytes, text) && !strstr(run->err.bytes, text)) {
        if (run->ended || run_now() > deadline) {
            run_print_processes();
            ck_abort_msg("'%s' never appeared\nstdout: %s\nstderr: %s", text, run->out.bytes,
                run->err.bytes);
        }
        run_nap(run);
    }
}

void run_free(struct run *run) {
    struct run **at = &runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    run_look(run);
    if (!run->ended) {
        kill(run->pid, SIGKILL);
        waitpid(run->pid, NULL, 0);
    }
    for (int i = 0; i < 2; i++) {
        if (run->pipes[i] >= 0)
            close(run->pipes[i]);
    }
    free(run->out.bytes);
    free(run->err.bytes);
    free(run);
}

void run_expect(const struct run *run, int status) {
    ck_assert_msg(run->ended && run->status == status,
        "status %d instead of %d\nstdout: %s\nstderr: %s", run->status, status, run->out.bytes,
        run->err.bytes);
}

void run_expect_refusal(struct run *run, const char *part) {
    run_expect(run_wait(run), 125);
    run_expect_text(&run->err, part);
}

void run_expect_text(const struct run_text *text, const char *part) {
    ck_assert_msg(strstr(text->bytes, part) != NULL, "no '%s' in: %s", part, text->bytes);
}

size_t run_count_text(const struct run_text *text, const char *part) {
    size_t count = 0;
    for (const char *at = text->bytes; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

size_t run_count(const struct run *run, const char *part) {
    return run_count_text(&run->out, part) + run_count_text(&run->err, part);
}

char run_state(pid_t pid) {
    char text[1024];
    read_proc(pid, "stat", text, sizeof text);
    const char *bracket = strrchr(text, ')');
    return bracket ? bracket[2] : 0;
}

const char *run_status(pid_t pid, const char *field) {
    const char *label = run_format("\n%s:", field);
    char *at = strstr(run_read_file(run_format("/proc/%d/status", (int)pid)).bytes, label);
    return at ? at + strlen(label) : "";
}

bool run_lives(pid_t pid) {
    char state = run_state(pid);
    return state && state != 'Z' && state != 'X';
}

void run_stop(struct run *run, pid_t pid) {
    kill(pid, SIGSTOP);
    RUN_UNTIL(run, run_state(pid) == 'T');
}

const char *run_pid_text(pid_t pid) {
    return run_format("%d", (int)pid);
}

/* Returns the start time of the process in clock ticks since boot; 0 if it is gone. */
static unsigned long long started(pid_t pid) {
    char text[1024];
    unsigned long long ticks = 0;
    read_proc(pid, "stat", text, sizeof text);
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++) /* `field` is the second; the start time is number 22 */
        field = strchr(field + 1, ' ');
    return field && sscanf(field, "%llu", &ticks) == 1 ? ticks : 0;
}

/*
 * Returns whether the process is older than this test, and thus not one of its descendants. Caches
 * by inode too, because the pid may be reused.
 */
static bool is_older(pid_t pid, ino_t inode) {
    static struct older {
        pid_t pid;
        ino_t inode;
    } olders[4096];
    static unsigned long long begun;
    struct older *older = &olders[(size_t)pid % (sizeof olders / sizeof *olders)];
    if (older->pid == pid && older->inode == inode)
        return true;
    if (begun == 0)
        begun = started(getpid());
    unsigned long long ticks = started(pid);
    if (ticks == 0 || ticks >= begun)
        return false;
    *older = (struct older){pid, inode};
    return true;
}

size_t run_collect(const char *name, bool (*is_wanted)(pid_t pid, const char *what),
    const char *what, pid_t pids[RUN_PIDS_MAX]) {
    size_t count = 0;
    DIR *directory = opendir("/proc");
    ck_assert_ptr_nonnull(directory);
    struct dirent *entry;
    while (count < RUN_PIDS_MAX && (entry = readdir(directory))) {
        char here[64];
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 1 || pid == getpid() || is_older(pid, entry->d_ino))
            continue;
        read_proc(pid, "comm", here, sizeof here); /* the cheapest file to read */
        if (strncmp(here, name, strlen(name)) != 0 || !is_wanted(pid, what))
            continue;
        if (run_lives(pid))
            pids[count++] = pid;
    }
    closedir(directory);
    return count;
}

size_t run_named(const char *name, pid_t pids[RUN_PIDS_MAX]) {
    return run_collect(name, has_mark, run_mark(), pids);
}

size_t run_alive(pid_t pids[RUN_PIDS_MAX]) {
    return run_named("", pids);
}

pid_t run_find(struct run *run, const char *name) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run_named(name, pids) == 1);
    return pids[0];
}

void run_expect_nothing_left(void) {
    pid_t pids[RUN_PIDS_MAX];
    double deadline = run_now() + RUN_CLEAN_PATIENCE;
    size_t count;
    while ((count = run_alive(pids)) > 0) {
        if (run_now() < deadline) {
            run_nap(NULL);
            continue;
        }
        char name[64];
        read_proc(pids[0], "comm", name, sizeof name);
        char state = run_state(pids[0]);
        run_print_processes();
        for (size_t i = 0; i < count; i++)
            kill(pids[i], SIGKILL); /* nothing else would end them */
        ck_abort_msg("%zu processes were left; the first is pid %d, state %c, %s", count,
            (int)pids[0], state, name);
    }
}

static void expect_no_shared_memory(pid_t master) {
    char prefix[64];
    int length = snprintf(prefix, sizeof prefix, "showstopper.%d.", (int)master);
    DIR *directory = opendir("/dev/shm");
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        ck_assert_msg(strncmp(entry->d_name, prefix, (size_t)length) != 0, "/dev/shm/%s is left",
            entry->d_name);
    if (directory)
        closedir(directory);
}

void run_free_clean(struct run *run) {
    run_expect_nothing_left();
    expect_no_shared_memory(run->pid);
    run_free(run);
}

void run_end_clean(struct run *run, int signal) {
    run_end(run, signal);
    run_free_clean(run);
}

void run_finish(void) {
    for (struct run *run = runs; run; run = run->next) {
        run_look(run);
        if (!run->ended && kill(run->pid, SIGKILL) == 0)
            run_wait(run);
    }
    run_expect_nothing_left();
    while (runs) {
        expect_no_shared_memory(runs->pid);
        run_free(runs);
    }
}

const char *run_temporary(void) {
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw) {
    return remove(path);
}

void run_remove_folder(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static const char *folders[128];
static size_t folder_count;
static pid_t folder_maker;

/* Called at exit, so also after a failure. A child of the test that exits removes nothing. */
static void remove_folders(void) {
    while (folder_maker == getpid() && folder_count > 0)
        run_remove_folder(folders[--folder_count]);
}

const char *run_make_folder(void) {
    char *path = (char *)run_path(run_temporary(), "showstopper-test.XXXXXX");
    ck_assert_msg(mkdtemp(path), "%s: %s", path, strerror(errno));
    chmod(path, 0755);
    if (folder_maker != getpid()) {
        folder_maker = getpid();
        folder_count = 0;
        atexit(remove_folders);
    }
    ck_assert_uint_lt(folder_count, sizeof folders / sizeof *folders);
    folders[folder_count++] = path;
    return path;
}

const char *run_new_path(const char *name) {
    return run_path(run_make_folder(), name);
}

const char *run_format(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    ck_assert_int_ge(vasprintf(&text, format, arguments), 0);
    va_end(arguments);
    return text;
}

const char *run_path(const char *folder, const char *name) {
    return run_format("%s/%s", folder, name);
}

void run_write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    ck_assert_msg(
        file && fputs(text, file) >= 0 && fclose(file) == 0, "%s: %s", path, strerror(errno));
}

struct run_text run_read_file(const char *path) {
    struct run_text text = {.bytes = calloc(1, 1)};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        take(file, &text);
        close(file);
    }
    return text;
}

void run_expect_file(const char *path, const char *expected) {
    struct run_text text = run_read_file(path);
    ck_assert_msg(strcmp(text.bytes, expected) == 0, "%s: %s", path, text.bytes);
    free(text.bytes);
}

const char *run_next_line(const char *line) {
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

double run_cell(const char *row, size_t index) {
    for (; index > 0 && *row && *row != '\n'; row++)
        index -= *row == ',';
    return index == 0 && *row && !strchr(",\n", *row) ? strtod(row, NULL) : NAN;
}

bool run_exists(const char *path) {
    return access(path, F_OK) == 0;
}

/*
 * A test's memory is freed when its process exits. Only the programs under test, which run in their
 * own processes, are checked for leaks.
 */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
