/* SPDX-License-Identifier: Apache-2.0 */

/* A crash of a trace module in the master ends the run with 125; other crashes end it by signal. */

#include <signal.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

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

static struct run *start(const char *flag) {
    struct run_setup setup = {.folder = folder, .prepare = family_dump_no_core};
    sandbox_compile(folder, "crash", source, flag);
    return START_IN(&setup, "-v", "-n", "2", "-c", "fixed", "-t", "./crash.so", "--duration", "1h",
        PAYLOAD, "setsid", "2");
}

static void expect_crash(const char *flag, const char *signal) {
    struct run *run = run_wait(start(flag));
    const char *words = run_format("/crash.so crashed (%s)\n", signal);
    run_expect_refusal(run, "showstopper: the module ");
    run_expect_text(&run->err, words);
}

TEST_CASE(a_crash_of_a_trace_module_in_the_master_ends_the_run) {
    folder = run_make_folder();
    expect_crash("-DBODY=*(volatile int *)8 = 1", "SIGSEGV");
    expect_crash("-DBODY=abort()", "SIGABRT");
    expect_crash(
        "-DBODY=volatile char room[64 << 20]; room[0] = 1; target->load = room[0]", "SIGSEGV");
}

TEST_CASE(a_trace_without_a_usable_length_starts_no_run) {
    folder = run_make_folder();
    expect_crash("-DLENGTH=abort()", "SIGABRT");
    struct run *run = run_wait(start("-DLENGTH=return 0"));
    run_expect_refusal(run, "trace/crash: the trace has length 0");
}

static void expect_end_by(int signal) {
    struct run *run = start("-O1");
    run_wait_text(run, "instances are running");
    run_end(run, signal);
    ck_assert_uint_eq(run_count_text(&run->err, "crashed"), 0);
}

/* A preloaded regexec() crashes when the master matches a line. */
static void expect_end_by_fault(void) {
    struct run_setup setup = {.folder = folder,
        .prepare = family_dump_no_core,
        .environment = WORDS("LD_PRELOAD=./fault.so")};
    sandbox_compile(folder, "fault",
        "int regexec(void) {\n"
        "    *(volatile int *)8 = 1;\n"
        "    return 0;\n"
        "}\n",
        "-fno-builtin");
    struct run *run = RUN_IN(&setup, "-n", "1", "-l", "100%", "-c", "fixed", "--iteration", "x",
        "--duration", "1h", PAYLOAD, "say", "x");
    run_expect(run, -SIGSEGV);
    ck_assert_uint_eq(run_count_text(&run->err, "crashed"), 0);
}

TEST_CASE(a_crash_outside_of_modules_ends_the_master_by_its_signal) {
    folder = run_make_folder();
    expect_end_by_fault();
    expect_end_by(SIGSEGV);
    expect_end_by(SIGABRT);
}
