/* SPDX-License-Identifier: Apache-2.0 */

/* Reading a variable from another process's environment. */

#include "kin.h"
#include "process.h"

#include <string.h>
#include <sys/stat.h>

#include "platform/platform.h"
#include "run.h"

/* Executes `sleep` with exactly this environment. */
static pid_t start_with(const char *const *environment) {
    const char *const words[] = {"sleep", "100", NULL};
    pid_t parent = getpid();
    int gate[2];
    char byte;
    ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        kin_begin(parent);
        execve("/bin/sleep", (char *const *)words, (char *const *)environment);
        _exit(99);
    }
    close(gate[1]);
    ck_assert_int_eq(read(gate[0], &byte, 1), 0); /* exec has closed it */
    close(gate[0]);
    /*
     * The kernel sets up the environment after closing descriptors in exec, but before sleep
     * sleeps.
     */
    struct ss_process process = {0};
    while (ss_platform_process_info(child, &process) && process.state != 'S')
        run_nap(NULL);
    ck_assert(ss_platform_process_is_alive(child, ss_platform_process_started(child)));
    return child;
}

/* Fails unless the variable has this value; NULL: it is not set. */
static void expect(pid_t pid, const char *name, const char *value) {
    char found[64] = "";
    bool is_set = ss_platform_process_variable(pid, name, found, sizeof found);
    ck_assert_msg(is_set == (value != NULL), "%s is '%s', not '%s'", name, found, value);
    if (value)
        ck_assert_str_eq(found, value);
}

TEST_CASE(the_value_of_a_variable_is_returned) {
    static const struct {
        const char *environment[10], *names[8], *values[8];
    } rows[] = {
        {{"FIRST=1", "EMPTY=", "SPACE= a b ", "EQUAL=a=b=c", "LAST=end"},
            {"FIRST", "EMPTY", "SPACE", "EQUAL", "LAST", "OTHER", "first"},
            {"1", "", " a b ", "a=b=c", "end"}},
        {{"MARKS=1", "MAR=2", "XMARK=3", "VALUE=MARK=4", "MARK", "MMARK=5", "MARKMARK=6", "MARK =7",
             "=MARK=8"},
            {"MARK", "MAR", "MARKS", "MARKMARK"}, {NULL, "2", "1", "6"}},
        {{"MARKS=1", "", "MMARK=2", "MARK=3", "MARK=4"}, {"MARK"}, {"3"}},
        {{NULL}, {"PATH", ""}, {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pid_t child = start_with(rows[i].environment);
        for (size_t k = 0; rows[i].names[k]; k++)
            expect(child, rows[i].names[k], rows[i].values[k]);
        kin_end_unreaped(child);
        expect(child, rows[i].names[0], NULL);
        kin_reap(child);
        expect(child, rows[i].names[0], NULL);
    }
}

TEST_CASE(a_value_that_does_not_fit_is_not_returned) {
    const char *const environment[] = {"A=1", "MARK=12345", "B=2", NULL};
    pid_t child = start_with(environment);
    char found[8];
    for (size_t size = 0; size <= sizeof found; size++) {
        memset(found, '#', sizeof found);
        bool fits = ss_platform_process_variable(child, "MARK", found, size);
        ck_assert_int_eq(fits, size >= sizeof "12345");
        if (fits)
            ck_assert_str_eq(found, "12345");
        for (size_t i = size; i < sizeof found; i++)
            ck_assert_int_eq(found[i], '#');
    }
}

/* The environment is read in blocks of 4096 bytes; name and value extend across a border. */
TEST_CASE(a_variable_across_two_read_blocks_is_found) {
    static char padding[3 * 4096];
    const char variable[] = "MARK=12345";
    for (size_t before = 0; before <= sizeof variable; before++) {
        for (size_t blocks = 1; blocks <= 2; blocks++) {
            size_t length = blocks * 4096 - before - 1; /* a zero byte ends it */
            memset(padding, 'x', length);
            padding[length] = '\0';
            const char *const environment[] = {padding, variable, "MARKS=no", NULL};
            pid_t child = start_with(environment);
            expect(child, "MARK", "12345");
            expect(child, "MARKS", "no");
            kin_end(child);
        }
    }
}

/* In a container, process 1 may belong to us, and process 2 need not be a kernel thread. */
static bool is_readable(pid_t pid) {
    char value[64];
    struct stat status;
    const char *path = run_format("/proc/%d", (int)pid);
    return (stat(path, &status) < 0 || status.st_uid != geteuid()) &&
           ss_platform_process_variable(pid, "PATH", value, sizeof value);
}

TEST_CASE(processes_without_readable_environment_have_no_variable) {
    expect(0, "PATH", NULL);
    expect(-1, "PATH", NULL);
    /* Kernel threads have no environment, and those of other users are not readable. */
    pid_t asker = fork();
    if (asker == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(0);
        _exit(is_readable(1) || is_readable(2));
    }
    int status;
    ck_assert_int_eq(waitpid(asker, &status, 0), asker);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
