/* SPDX-License-Identifier: Apache-2.0 */

/* Programs do not run with rights that their caller lacks. */

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "family.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

/* LeakSanitizer cannot inspect such a program and makes it fail. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

static const char *const programs[] = {"bin/showstopper", "bin/ssactuate", "bin/ssantagonist",
    "bin/ssbatch", "bin/ssburn", "bin/ssload", "bin/ssprofile", "bin/ssrequest", "bin/sssim",
    "bin/sstrace", "bin/showstopper-platform", "libexec/showstopper/showstopper-guest",
    "libexec/showstopper/showstopper-place", "libexec/showstopper/showstopper-replay", NULL};

static const char *folder;

static void need_raised_rights(void) {
    SKIP_UNLESS(!SANITIZED, "sanitizer: cannot inspect a program with raised rights");
    SKIP_UNLESS(getuid() == 0, "root: only root can make programs that become root");
    SKIP_UNLESS(family_can_become_nobody(), "another-user: root cannot become it");
    folder = run_make_folder();
    SKIP_UNLESS(sandbox_permit_setuid(folder),
        "setuid: set-user-ID programs are not allowed in the folder of the test");
}

static const char *copy_program(const char *program) {
    const char *copy = run_path(folder, "copy");
    CALL("cp", run_path(TEST_BUILD_DIR, program), copy);
    return copy;
}

/* Calls the copy as nobody, who may choose modules. */
static struct run *call(const char *copy, const char *const *words) {
    struct run_setup setup = {
        .environment = WORDS("SHOWSTOPPER_MODULE_PATH=" TEST_MODULE_DIR),
        .folder = folder,
        .prepare = family_become_nobody,
    };
    return run_wait(run_start(&setup, run_join(WORDS(copy), words)));
}

static void expect_refusal(const char *copy, const char *const *words) {
    struct run *run = call(copy, words);
    run_expect_refusal(run, ": refusing to run set-uid, set-gid or with file capabilities");
    ck_assert_uint_eq(run->out.length, 0);
}

static void expect_all_to_refuse(void (*add_rights)(const char *copy)) {
    for (const char *const *program = programs; *program; program++) {
        if (!run_exists(run_path(TEST_BUILD_DIR, *program)))
            continue; /* left out of this build */
        const char *copy = copy_program(*program);
        ck_assert_int_eq(chmod(copy, 0755), 0);
        add_rights(copy);
        expect_refusal(copy, WORDS("--version"));
        unlink(copy);
    }
}

static void set_uid(const char *copy) {
    ck_assert_int_eq(chmod(copy, 04755), 0);
}

static void set_gid(const char *copy) {
    ck_assert_int_eq(chmod(copy, 02755), 0);
}

TEST_CASE(set_uid_and_set_gid_programs_are_refused) {
    need_raised_rights();
    expect_all_to_refuse(set_uid);
    expect_all_to_refuse(set_gid);
}

static bool add_capability(const char *copy) {
    struct vfs_cap_data data = {
        .magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
        .data[0].permitted = htole32(1U << CAP_KILL),
    };
    return setxattr(copy, "security.capability", &data, XATTR_CAPS_SZ_2, 0) == 0;
}

static void need_file_capabilities(void) {
    need_raised_rights();
    SKIP_UNLESS(add_capability(copy_program(programs[0])),
        "file-capabilities: not in the folder of the test");
}

static void set_capability(const char *copy) {
    ck_assert_msg(add_capability(copy), "%s: %s", copy, strerror(errno));
}

TEST_CASE(programs_with_file_capabilities_are_refused) {
    need_file_capabilities();
    expect_all_to_refuse(set_capability);
}

static void become_nobody_with_modules(void) {
    family_become_nobody();
    if (access(TEST_MODULE_DIR, X_OK) < 0)
        _exit(PROCESS_SKIPPED);
}

static bool has_no_memory_in_cores(pid_t pid) {
    struct run_text text = run_read_file(run_format("/proc/%d/coredump_filter", (int)pid));
    bool is_empty = text.length > 0 && strtoul(text.bytes, NULL, 16) == 0;
    free(text.bytes);
    return is_empty;
}

static bool has_word(pid_t pid, const char *word) {
    struct run_text text = run_read_file(run_format("/proc/%d/cmdline", (int)pid));
    bool found = memmem(text.bytes, text.length, word, strlen(word) + 1) != NULL;
    free(text.bytes);
    return found;
}

TEST_CASE(core_dumps_of_ssrequest_and_its_command_line_have_no_tokens) {
    const char *program = TEST_BIN_DIR "/ssrequest";
    SKIP_UNLESS(run_exists(program), "left-out: ssrequest was not built");
    SKIP_UNLESS(run_exists("/proc/self/coredump_filter"), "core-dumps: left out of the kernel");
    struct run *run = run_start(
        NULL, WORDS(program, "-H", "Authorization: Bearer secret", "--rate", "1", "--duration",
                  "1s", "--start-at", "2100-01-01T00:00:00Z", "http://localhost/"));
    RUN_UNTIL(run, run->ended || has_no_memory_in_cores(run->pid));
    ck_assert(!run->ended);
    RUN_UNTIL(run, run->ended || has_word(run->pid, "Authorization:**************"));
    ck_assert(!run->ended);
    run_end(run, SIGTERM);
}

/* A module of the other user's choice would be code with these rights. */
TEST_CASE(no_module_is_loaded_with_raised_rights) {
    const char *module = TEST_MODULE_DIR "/control/fixed.so";
    const char *const words[] = {"--dry-run", "-l", "50%", "-c", module, "true", NULL};
    need_file_capabilities();
    struct run_setup setup = {.folder = folder, .prepare = become_nobody_with_modules};
    struct run *reader = run_wait(run_start(&setup, WORDS("true")));
    SKIP_UNLESS(
        reader->status != PROCESS_SKIPPED, "another-user: no other user can read the build folder");
    const char *copy = copy_program(programs[0]);
    if (run_exists(module)) {
        ck_assert_int_eq(chmod(copy, 0755), 0);
        struct run *run = call(copy, words);
        run_expect_text(&run->out, "\ncontrol    fixed\n");
    }
    set_capability(copy);
    expect_refusal(copy, words);
}

/* Passes a capability on to the program, as a service manager does. */
static void keep_a_capability(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    family_become_nobody();
    sets[0].permitted = sets[0].effective = sets[0].inheritable = 1U << CAP_KILL;
    if (syscall(SYS_capset, &header, sets) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_KILL, 0, 0) < 0)
        _exit(1);
}

TEST_CASE(capabilities_of_the_caller_are_accepted) {
    SKIP_UNLESS(getuid() == 0, "root: only root can pass capabilities on");
    family_need_nobody();
    struct run_setup setup = {.folder = "/", .prepare = keep_a_capability};
    SUCCEED_IN(&setup, "--version");
}
