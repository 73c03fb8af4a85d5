/* SPDX-License-Identifier: Apache-2.0 */

/* A crash of a trace module in the master ends the run with 125; other crashes end it by signal. */

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "process.h"
#include "run.h"

/* Preprocessor macros select the fault of the module: BODY during the run, LENGTH before it. */
static const char source[] =
    "#include <stdlib.h>\n"
    "#include <showstopper/trace.h>\n"
    "#ifndef BODY\n#define BODY\n#endif\n"
    "#ifndef LENGTH\n#define LENGTH return SS_TIME_NEVER\n#endif\n"
    "static void target(const struct ss_self *self, ss_time time, struct ss_target *target) {\n"
    "    *target = (struct ss_target){.load = 0.2};\n"
    "    if (self->executor >= self->instances && time > 300000000) {\n"
    "        BODY;\n"
    "    }\n"
    "}\n"
    "static ss_time length(const struct ss_self *self) {\n"
    "    (void)self;\n"
    "    LENGTH;\n"
    "}\n"
    "SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {\n"
    "    .head = {SS_MODULE_VERSION, sizeof(struct ss_trace_module), SS_KIND_TRACE, \"crash\",\n"
    "        \"crashes in the master\"},\n"
    "    .target = target,\n"
    "    .length = length,\n"
    "};\n";

static const char *folder;

static void make_folder(void) {
    SKIP_UNLESS(run_wait(run_start(NULL, WORDS("sh", "-c", "command -v cc")))->status == 0,
        "cc: not installed");
    folder = run_make_folder();
    run_write_file(run_path(folder, "crash.c"), source);
}

static void dump_no_core(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* Compiles a file NAME.c into NAME.so, with an additional flag. */
static void compile(const char *name, const char *flag) {
    char from[32], to[32];
    struct run_setup setup = {.folder = folder};
    snprintf(from, sizeof from, "%s.c", name);
    snprintf(to, sizeof to, "%s.so", name);
    struct run *run =
        run_wait(run_start(&setup, WORDS("cc", "-shared", "-fPIC", "-Wall", "-Werror",
                                       "-I" PROJECT_SOURCE_DIR "/include", flag, "-o", to, from)));
    run_expect(run, 0);
    run_free(run);
}

/* Starts a run with the module, compiled with this flag. */
static struct run *start(const char *flag) {
    struct run_setup setup = {.folder = folder, .prepare = dump_no_core};
    compile("crash", flag);
    return run_start(&setup, WORDS(SHOWSTOPPER, "-v", "-n", "2", "-c", "fixed", "-t", "./crash.so",
                                 "--duration", "1h", PAYLOAD, "setsid", "2"));
}

static void expect_crash(const char *flag, const char *signal) {
    char words[64];
    struct run *run = run_wait(start(flag));
    snprintf(words, sizeof words, "/crash.so crashed (%s)\n", signal);
    run_expect(run, 125);
    run_expect_text(&run->err, "showstopper: the module ");
    run_expect_text(&run->err, words);
    run_free_clean(run);
}

START_TEST(a_crash_of_a_trace_module_in_the_master_ends_the_run) {
    make_folder();
    expect_crash("-DBODY=*(volatile int *)8 = 1", "SIGSEGV");
    expect_crash("-DBODY=abort()", "SIGABRT");
    expect_crash(
        "-DBODY=volatile char room[64 << 20]; room[0] = 1; target->load = room[0]", "SIGSEGV");
    run_remove_folder(folder);
}
END_TEST

START_TEST(a_trace_without_a_usable_length_starts_no_run) {
    make_folder();
    expect_crash("-DLENGTH=abort()", "SIGABRT");
    struct run *run = run_wait(start("-DLENGTH=return 0"));
    run_expect(run, 125);
    run_expect_text(&run->err, "trace/crash: the trace has length 0");
    run_free_clean(run);
    run_remove_folder(folder);
}
END_TEST

static void expect_end_by(int signal) {
    struct run *run = start("-O1");
    run_wait_text(run, "instances run");
    kill(run->pid, signal);
    run_expect(run_wait(run), -signal);
    ck_assert_uint_eq(run_count_text(&run->err, "crashed"), 0);
    run_free_clean(run);
}

/* A library of the system crashes when the master matches a line. */
static void expect_end_by_fault(void) {
    struct run_setup setup = {
        .folder = folder, .prepare = dump_no_core, .environment = WORDS("LD_PRELOAD=./fault.so")};
    run_write_file(run_path(folder, "fault.c"), "int regexec(void) {\n"
                                                "    *(volatile int *)8 = 1;\n"
                                                "    return 0;\n"
                                                "}\n");
    compile("fault", "-fno-builtin");
    struct run *run = run_wait(
        run_start(&setup, WORDS(SHOWSTOPPER, "-n", "1", "-l", "100%", "-c", "fixed", "--iteration",
                              "x", "--duration", "1h", PAYLOAD, "say", "x")));
    run_expect(run, -SIGSEGV);
    ck_assert_uint_eq(run_count_text(&run->err, "crashed"), 0);
    run_free_clean(run);
}

START_TEST(a_crash_outside_of_modules_ends_the_master_by_its_signal) {
    make_folder();
    expect_end_by_fault();
    expect_end_by(SIGSEGV);
    expect_end_by(SIGABRT);
    run_remove_folder(folder);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(a_crash_of_a_trace_module_in_the_master_ends_the_run),
    SS_CASE(a_trace_without_a_usable_length_starts_no_run),
    SS_CASE(a_crash_outside_of_modules_ends_the_master_by_its_signal))
/* clang-format on */
