/* SPDX-License-Identifier: Apache-2.0 */

/* Modules are built with the installed headers; a run survives a faulty module. */

#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "process.h"
#include "run.h"
#include "sandbox.h"

/* A preprocessor macro selects the fault of the module. */
static const char source[] =
    "#include <math.h>\n"
    "#include <stdlib.h>\n"
    "#include <showstopper/control.h>\n"
    "#ifndef BODY\n#define BODY return input->target\n#endif\n"
    "static double update(const struct ss_self *self, const struct ss_control_input *input) {\n"
    "    (void)self; (void)input;\n"
    "    BODY;\n"
    "}\n"
    "SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {\n"
    "    .head = {.version = SS_MODULE_VERSION, .size = sizeof(struct ss_control_module),\n"
    "        .kind = SS_KIND_CONTROL, .name = \"tiny\",\n"
    "        .summary = \"a module of a test\"},\n"
    "    .open_loop = true,\n"
    "    .update = update,\n"
    "};\n";

static const char *root;   /* contains everything that a case makes */
static const char *prefix; /* where Showstopper is installed */

static bool is_there(const char *program) {
    const char *line = run_format("command -v %s", program);
    return CALL("sh", "-c", line)->status == 0;
}

static void install_all(void) {
    SKIP_UNLESS(is_there("cc"), "cc: not installed");
    SKIP_UNLESS(is_there("pkg-config"), "pkg-config: not installed");
    SKIP_UNLESS(is_there("cmake"), "cmake: not installed");
    root = run_make_folder();
    prefix = run_path(root, "installed");
    run_succeed(CALL(TEST_SOURCE_DIR "/system/install", TEST_BUILD_DIR, prefix));
}

static char *ask_pkg_config(const char *what, const char *also) {
    const char *variable = run_format("PKG_CONFIG_PATH=%s/share/pkgconfig", prefix);
    struct run_setup setup = {.environment = WORDS(variable)};
    struct run *run =
        run_succeed(run_start(&setup, WORDS("pkg-config", what, also, "showstopper")));
    run->out.bytes[strcspn(run->out.bytes, " \n")] = '\0';
    ck_assert_msg(*run->out.bytes, "pkg-config %s says nothing", what);
    return run->out.bytes;
}

/* Compiles `file` into a module, with one additional flag. */
static void compile_file(const char *file, const char *module, const char *flag) {
    const char *where = run_format("--define-variable=prefix=%s", prefix);
    run_succeed(CALL("cc", "-shared", "-fPIC", "-Wall", "-Werror",
        ask_pkg_config("--cflags", where), flag, "-o", module, file));
}

static struct run *run_installed(const char *environment, const char *const *options) {
    struct run_setup setup = {.environment = WORDS(environment)};
    const char *const *words = run_join(
        WORDS(run_path(prefix, "bin/showstopper"), "-n", "2", "-l", "50%", "--grace", "2s"),
        options);
    return run_wait(run_start(&setup, run_join(words, WORDS(PAYLOAD, "spin"))));
}

#define RUN_INSTALLED(...) run_installed("SS_TEST=1", WORDS(__VA_ARGS__))

static void expect_refused(struct run *run, const char *part) {
    run_expect_refusal(run, part);
    run_expect_nothing_left();
}

TEST_CASE(the_installed_skeleton_is_built_and_found_by_name) {
    install_all();
    const char *modules = run_path(root, "mine");
    const char *variable = run_format("SHOWSTOPPER_MODULE_PATH=/there/is/none:%s", modules);
    run_succeed(CALL("mkdir", "-p", run_path(modules, "control")));
    compile_file(run_path(prefix, "share/showstopper/skeleton.c"),
        run_path(modules, "control/skeleton.so"), "-Wextra");
    struct run *run = run_installed(
        variable, WORDS("-c", "skeleton", "-C", "gain=2", "--duration", "1s", "--json", "-"));
    run_expect(run, 0);
    run_expect_text(&run->out, "\"skeleton\"");
    run_expect_text(&run->out, "\"gain\": 2");
    run = RUN_INSTALLED("-c", run_path(modules, "control/skeleton.so"), "--duration", "700m");
    run_expect(run, 0);
    expect_refused(RUN_INSTALLED("-c", "skeleton", "--duration", "700m"), "unknown control module");
    expect_refused(run_installed(variable, WORDS("-c", "skeleton", "-C", "gian=2")), "gain");
    expect_refused(
        run_installed(variable, WORDS("-c", "skeleton", "-C", "gain=0,start=0")), "both 0");
}

/* Therefore a module outside the tree can do all that a built-in one can. */
TEST_CASE(built_in_modules_compile_with_public_headers_only) {
    install_all();
    static const char copy[] =
        "set -e; cd \"$1\"; cp -r \"$2\"/modules .; rm -r \"$3\"/lib/showstopper/modules";
    static const char compile_one[] =
        "cc -shared -fPIC -Wall -Wextra -Werror -Wno-missing-field-initializers "
        "-fvisibility=hidden $1 -o \"${2%.c}.so\" \"$2\" -Wl,-z,defs -lm";
    glob_t files;
    const char *variable = run_format("SHOWSTOPPER_MODULE_PATH=%s/modules", root);
    char *flags = strdup(ask_pkg_config("--cflags", "--silence-errors"));
    run_succeed(CALL("sh", "-c", copy, "sh", root, PROJECT_SOURCE_DIR, prefix));
    ck_assert_int_eq(glob(run_path(root, "modules/*/*.c"), 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        run_succeed(CALL("sh", "-c", compile_one, "sh", flags, files.gl_pathv[i]));
    globfree(&files);
    struct run *run = run_installed(variable, WORDS("--duration", "700m"));
    run_expect(run, 0);
    const char *const traces[][2] = {{"file", PROJECT_SOURCE_DIR "/traces/saw.txt"},
        {"staircase", "60%:40%:20%"}, {"random", "7"}, {"sine", "mean=30%"}};
    struct run_setup setup = {.environment = WORDS(variable)};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        run = run_succeed(run_start(&setup, WORDS(run_path(prefix, "bin/showstopper"), "--dry-run",
                                                "-t", traces[i][0], "-T", traces[i][1], "true")));
        run_expect_text(&run->out, traces[i][0]);
    }
    run = run_installed(variable, WORDS("-c", "fixed", "-C", "30%", "--duration", "700m"));
    run_expect(run, 0);
    /* Without the variable, modules of another installation would be found. */
    if (access(TEST_MODULE_INSTALL_DIR, F_OK) < 0)
        expect_refused(RUN_INSTALLED("--duration", "700m"), "unknown feedback module");
}

/* ---- faulty modules ---- */

/* Compiles a module with the fault that the flag selects. */
static const char *compile(const char *flag) {
    const char *folder = run_make_folder();
    sandbox_compile(folder, "tiny", source, flag);
    return run_path(folder, "tiny.so");
}

#define RUN_FAULTY(flag, ...)                                                                      \
    RUN("-n", "2", "-l", "50%", "--grace", "2s", "-c", compile(flag), __VA_ARGS__, PAYLOAD, "spin")

TEST_CASE(faulty_modules_end_the_run_or_are_corrected) {
    expect_refused(RUN_FAULTY("-DBODY=abort()", "-v"), "executor");
    expect_refused(RUN_FAULTY("-DBODY=exit(0)", "-v"), "executor");
    expect_refused(RUN_FAULTY("-DBODY=return NAN", "-v"),
        "one of the modules constant, exact, tiny and even returned a value that is not a number "
        "for instance ");
    struct run *run =
        run_succeed(RUN_FAULTY("-DBODY=return 7", "--duration", "700m", "--json", "-"));
    run_expect_text(&run->out,
        "\"control/tiny returned 7 as a duty, which was limited to the range from 0 to 1\"");
    ck_assert_uint_eq(run_count_text(&run->out, "control/tiny returned"), 1);
    run = run_succeed(RUN_FAULTY("-DBODY=return 1", "--duration", "700m", "--json", "-"));
    ck_assert_uint_eq(run_count_text(&run->out, "control/tiny returned"), 0);
    run_succeed(RUN_FAULTY("-DBODY=return -INFINITY", "--duration", "700m"));
}

/* Without a limit, an array of 64 MiB would fit. */
static void limit_stack(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max < 8 << 20 ? limit.rlim_max : 8 << 20;
    setrlimit(RLIMIT_STACK, &limit);
}

static struct run *simulate(const char *flag) {
    struct run_setup setup = {.prepare = limit_stack};
    return run_wait(run_start(&setup, WORDS(TEST_BIN_DIR "/sssim", "-P", "1", "-l", "50%",
                                          "--duration", "1s", "-c", compile(flag))));
}

TEST_CASE(a_module_that_crashes_ends_the_simulator) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: handles crashes itself");
    static const struct {
        const char *flag;
        int status;
    } crashes[] = {
        {"-DBODY=abort()", -SIGABRT},
        {"-DBODY=*(volatile int *)8 = 1; return 0", -SIGSEGV},
        {"-DBODY=volatile char room[64 << 20]; room[0] = 1; return room[0]", -SIGSEGV},
    };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        run_expect(simulate(crashes[i].flag), crashes[i].status);
    struct run *run = run_succeed(simulate("-DBODY=return 7"));
    run_expect_text(&run->err, "sssim: warning: control/tiny returned 7 as a duty");
}
