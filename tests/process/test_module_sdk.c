/* SPDX-License-Identifier: Apache-2.0 */

/* The installed tree suffices to write, build and load a module; a run survives a faulty module. */

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "run.h"
#include "surroundings.h"

/* Preprocessor macros select the fault of the module. */
static const char source[] =
    "#include <math.h>\n"
    "#include <stdlib.h>\n"
    "#include <showstopper/control.h>\n"
    "#ifndef VERSION\n#define VERSION SS_MODULE_VERSION\n#endif\n"
    "#ifndef SIZE\n#define SIZE sizeof(struct ss_control_module)\n#endif\n"
    "#ifndef KIND\n#define KIND SS_KIND_CONTROL\n#endif\n"
    "#ifndef SYMBOL\n#define SYMBOL showstopper_module\n#endif\n"
    "#ifndef BODY\n#define BODY return input->target\n#endif\n"
    "#ifndef UPDATE\n#define UPDATE update\n#endif\n"
    "static double update(const struct ss_self *self, const struct ss_control_input *input) {\n"
    "    (void)self; (void)input;\n"
    "    BODY;\n"
    "}\n"
    "void *used = update;\n"
    "SS_MODULE_EXPORT const struct ss_control_module SYMBOL = {\n"
    "    .head = {.version = VERSION, .size = SIZE, .kind = KIND, .name = \"tiny\",\n"
    "        .summary = \"a module of a test\"},\n"
    "    .open_loop = true,\n"
    "    .update = UPDATE,\n"
    "};\n";

static const char *root;   /* contains everything that a case makes */
static const char *prefix; /* where Showstopper is installed */

static void expect_success(const char *const *words) {
    struct run *run = run_wait(run_start(NULL, words));
    run_expect(run, 0);
}

static bool is_there(const char *program) {
    char line[64];
    snprintf(line, sizeof line, "command -v %s", program);
    return CALL("sh", "-c", line)->status == 0;
}

static void install_all(void) {
    SKIP_UNLESS(is_there("cc"), "cc: not installed");
    SKIP_UNLESS(is_there("pkg-config"), "pkg-config: not installed");
    SKIP_UNLESS(is_there("cmake"), "cmake: not installed");
    root = run_make_folder();
    prefix = run_path(root, "installed");
    expect_success(WORDS(TEST_SOURCE_DIR "/system/install", TEST_BUILD_DIR, prefix));
}

/* Returns the output of pkg-config for the installed tree. */
static char *ask_pkg_config(const char *what, const char *also) {
    char variable[4096];
    snprintf(variable, sizeof variable, "PKG_CONFIG_PATH=%s/share/pkgconfig", prefix);
    struct run_setup setup = {.environment = WORDS(variable)};
    struct run *run = run_wait(run_start(&setup, WORDS("pkg-config", what, also, "showstopper")));
    run_expect(run, 0);
    run->out.bytes[strcspn(run->out.bytes, " \n")] = '\0';
    ck_assert_msg(*run->out.bytes, "pkg-config %s says nothing", what);
    return run->out.bytes;
}

/* Compiles `file` into a module, with one additional flag. */
static void compile_file(const char *file, const char *module, const char *flag) {
    char where[4096];
    snprintf(where, sizeof where, "--define-variable=prefix=%s", prefix);
    expect_success(WORDS("cc", "-shared", "-fPIC", "-Wall", "-Werror",
        ask_pkg_config("--cflags", where), flag, "-o", module, file));
}

static const char *compile(const char *flag) {
    const char *file = run_path(root, "tiny.c");
    const char *module = run_path(root, "tiny.so");
    run_write_file(file, source);
    compile_file(file, module, flag);
    return module;
}

/* Runs the installed program, not the one in the build tree. */
static struct run *run_installed(const char *environment, const char *const *options) {
    const char *words[32] = {
        run_path(prefix, "bin/showstopper"), "-n", "2", "-l", "50%", "--grace", "2s"};
    size_t count = 7;
    for (; *options; options++)
        words[count++] = *options;
    words[count++] = PAYLOAD;
    words[count++] = "spin";
    struct run_setup setup = {.environment = WORDS(environment)};
    return run_wait(run_start(&setup, words));
}

#define RUN_INSTALLED(...) run_installed("SS_TEST=1", WORDS(__VA_ARGS__))

static void expect_refused(struct run *run, const char *part) {
    run_expect_refusal(run, part);
    run_expect_nothing_left();
}

static void run_it(void) {
    struct run *run = RUN_INSTALLED("--duration", "700m", "--json", "-");
    run_expect(run, 0);
    run_expect_text(&run->out, "\"deadbeat\"");
    run = CALL(run_path(prefix, "bin/showstopper"), "--list-modules");
    run_expect(run, 0);
    run_expect_text(&run->out, "dithering/averageq");
    run = CALL(run_path(prefix, "bin/showstopper"), "--version");
    run->out.bytes[strcspn(run->out.bytes, "\n")] = '\0';
    ck_assert_str_eq(
        strrchr(run->out.bytes, ' ') + 1, ask_pkg_config("--modversion", "--silence-errors"));
}

static void ask_for_headers(void) {
    char *flags = ask_pkg_config("--cflags", "--silence-errors");
    const char *header = run_path(flags + strlen("-I"), "showstopper/control.h");
    ck_assert_msg(strncmp(flags, "-I", 2) == 0 && strstr(header, prefix) && run_exists(header),
        "%s is not below %s", flags, prefix);
}

static void build_with_cmake(void) {
    const char *project = run_path(root, "project");
    const char *build = run_path(root, "project/build");
    expect_success(WORDS("mkdir", "-p", project));
    run_write_file(run_path(project, "tiny.c"), source);
    run_write_file(run_path(project, "CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.20)\nproject(tiny C)\n"
        "find_package(showstopper REQUIRED)\nadd_library(tiny MODULE tiny.c)\n"
        "set_target_properties(tiny PROPERTIES PREFIX \"\")\n"
        "target_link_libraries(tiny PRIVATE showstopper::sdk)\n");
    char where[4096];
    snprintf(where, sizeof where, "-DCMAKE_PREFIX_PATH=%s", prefix);
    expect_success(WORDS("cmake", "-S", project, "-B", build, where));
    expect_success(WORDS("cmake", "--build", build));
    run_expect(RUN_INSTALLED("-c", run_path(build, "tiny.so"), "--duration", "700m"), 0);
}

static void build_the_skeleton(void) {
    const char *modules = run_path(root, "mine");
    char variable[4096];
    snprintf(variable, sizeof variable, "SHOWSTOPPER_MODULE_PATH=/there/is/none:%s", modules);
    expect_success(WORDS("mkdir", "-p", run_path(modules, "control")));
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

TEST_CASE(the_installed_tree_suffices_to_run_and_build_modules) {
    install_all();
    run_it();
    ask_for_headers();
    build_with_cmake();
    build_the_skeleton();
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
    char variable[4096];
    snprintf(variable, sizeof variable, "SHOWSTOPPER_MODULE_PATH=%s/modules", root);
    char *flags = strdup(ask_pkg_config("--cflags", "--silence-errors"));
    expect_success(WORDS("sh", "-c", copy, "sh", root, PROJECT_SOURCE_DIR, prefix));
    ck_assert_int_eq(glob(run_path(root, "modules/*/*.c"), 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        expect_success(WORDS("sh", "-c", compile_one, "sh", flags, files.gl_pathv[i]));
    globfree(&files);
    struct run *run = run_installed(variable, WORDS("--duration", "700m"));
    run_expect(run, 0);
    const char *const traces[][2] = {{"file", PROJECT_SOURCE_DIR "/traces/saw.txt"},
        {"staircase", "60%:40%:20%"}, {"random", "7"}, {"sine", "mean=30%"}};
    struct run_setup setup = {.environment = WORDS(variable)};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        run = run_wait(run_start(&setup, WORDS(run_path(prefix, "bin/showstopper"), "--dry-run",
                                             "-t", traces[i][0], "-T", traces[i][1], "true")));
        run_expect(run, 0);
        run_expect_text(&run->out, traces[i][0]);
    }
    run = run_installed(variable, WORDS("-c", "fixed", "-C", "30%", "--duration", "700m"));
    run_expect(run, 0);
    /* Without the variable, modules of another installation would be found. */
    if (access(TEST_MODULE_INSTALL_DIR, F_OK) < 0)
        expect_refused(RUN_INSTALLED("--duration", "700m"), "unknown feedback module");
    free(flags);
}

static void load_incompatible_modules(void) {
    run_expect(RUN_INSTALLED("-c", compile("-O1"), "--duration", "700m"), 0);
    expect_refused(RUN_INSTALLED("-c", compile("-DVERSION=77")), "version 77");
    expect_refused(RUN_INSTALLED("-c", compile("-DKIND=SS_KIND_SPACE")), "a space module");
    expect_refused(RUN_INSTALLED("-s", compile("-O1")), "a control module");
    expect_refused(RUN_INSTALLED("-c", compile("-DSIZE=16")), "16 bytes");
    expect_refused(RUN_INSTALLED("-c", compile("-DSYMBOL=something_else")), "showstopper_module");
    expect_refused(RUN_INSTALLED("-c", compile("-DUPDATE=NULL")), "lacks a function");
    run_write_file(run_path(root, "text.so"), "no shared object\n");
    expect_refused(RUN_INSTALLED("-c", run_path(root, "text.so")), "cannot be loaded");
}

static void load_wrong_modules(void) {
    expect_refused(RUN_INSTALLED("-c", compile("-DBODY=return NAN")),
        "one of the modules constant, exact, tiny and even returned a value that is not a number "
        "for instance ");
    struct run *run =
        RUN_INSTALLED("-c", compile("-DBODY=return 7"), "--duration", "700m", "--json", "-");
    run_expect(run, 0);
    run_expect_text(&run->out,
        "\"control/tiny returned 7 as a duty, which was limited to the range from 0 to 1\"");
    ck_assert_uint_eq(run_count_text(&run->out, "control/tiny returned"), 1);
    run = RUN_INSTALLED("-c", compile("-DBODY=return 1"), "--duration", "700m", "--json", "-");
    ck_assert_uint_eq(run_count_text(&run->out, "control/tiny returned"), 0);
    run_expect(RUN_INSTALLED("-c", compile("-DBODY=return -INFINITY"), "--duration", "700m"), 0);
}

static void load_crashing_modules(void) {
    expect_refused(RUN_INSTALLED("-c", compile("-DBODY=abort()")), "executor");
    expect_refused(RUN_INSTALLED("-c", compile("-DBODY=exit(0)")), "executor");
}

TEST_CASE(incompatible_and_faulty_modules_end_the_run) {
    install_all();
    load_incompatible_modules();
    load_wrong_modules();
    load_crashing_modules();
    const char *module = compile("-DBODY=for (volatile int i = 1; i;) { } return 0");
    expect_refused(RUN_INSTALLED("--duration", "1h", "-c", module), "endless loop");
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
    return run_wait(run_start(&setup, WORDS(run_path(prefix, "bin/sssim"), "-P", "1", "-l", "50%",
                                          "--duration", "1s", "-c", compile(flag))));
}

TEST_CASE(a_module_that_crashes_ends_the_simulator) {
    install_all();
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: handles crashes itself");
    static const struct {
        const char *flag;
        int status;
    } crashes[] = {
        {"-DBODY=abort()", -SIGABRT},
        {"-DBODY=*(volatile int *)8 = 1; return 0", -SIGSEGV},
        {"-DBODY=return atoi((char *)8)", -SIGSEGV},
        {"-DBODY=volatile char room[64 << 20]; room[0] = 1; return room[0]", -SIGSEGV},
    };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct run *run = simulate(crashes[i].flag);
        run_expect(run, crashes[i].status);
    }
    struct run *run = simulate("-DBODY=return 7");
    run_expect(run, 0);
    run_expect_text(&run->err, "sssim: warning: control/tiny returned 7 as a duty");
}
