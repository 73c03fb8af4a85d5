/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the checks that precede a plan. */

#include <sys/mman.h>
#include <unistd.h>

#include "text.h"
#include "tree.h"
#include "workload_checks.h"

static const char text[] = "[ready]\ncommand = sh\niteration = done\n"
                           "[absent]\ncommand = no-program\niteration = done\n"
                           "[silent]\ncommand = sh\nrepeat = no\n"
                           "[slow]\ncommand = sh\nrepeat = yes\nwarmup = 2M\n"
                           "[long]\ncommand = sh\nrepeat = yes\nwarmup = 90\n"
                           "[suite/gone]\ncommand = no-program\n"
                           "[suite/lost]\ncommand = no-program\n"
                           "[other]\ncommand = sh\npublished = suite/other\n"
                           "[mine]\ncommand = sh\npublished = suite/gone\n";

static struct ssbatch_catalogue catalogue;

static int open_catalogue(void **state) {
    static const struct ssbatch_definition typed = {.name = "typed", .command = "sh"};
    struct ss_error error = {0};
    tree_new();
    assert_succeeds(
        ssbatch_catalogue_read(&catalogue, tree_write("catalogue", text), &error), error);
    assert_succeeds(ssbatch_catalogue_define(&catalogue, &typed, &error), error);
    return 0;
}

static int close_catalogue(void **state) {
    ssbatch_catalogue_free(&catalogue);
    return 0;
}

/* The output of a call to its stream and to standard error, and its error. */
static struct {
    const char *out;
    FILE *stream;
    char warnings[1024];
    struct ss_error error;
    int file, before;
} said;

static void begin(void) {
    said.error = (struct ss_error){0};
    said.stream = text_begin();
    said.file = memfd_create("warnings", MFD_CLOEXEC);
    said.before = dup(STDERR_FILENO);
    assert_true(said.file >= 0 && said.before >= 0);
    fflush(stderr);
    dup2(said.file, STDERR_FILENO);
}

static void end(void) {
    fflush(stderr);
    dup2(said.before, STDERR_FILENO);
    close(said.before);
    said.out = text_end();
    ssize_t length = pread(said.file, said.warnings, sizeof said.warnings - 1, 0);
    said.warnings[length > 0 ? length : 0] = '\0';
    close(said.file);
}

static void assert_said(const char *out, const char *warnings) {
    assert_string_equal(said.out, out);
    assert_string_equal(said.warnings, warnings);
}

static int check(struct ssbatch_workload_checks checks, char *const *names) {
    checks.catalogue = &catalogue;
    checks.option = "background";
    begin();
    int status = ssbatch_workloads_check(said.stream, &checks, names, &said.error);
    end();
    return status;
}

static int represent(char *const *names, char *const *stand_ins) {
    begin();
    int status =
        ssbatch_workloads_represent(said.stream, &catalogue, names, stand_ins, &said.error);
    end();
    return status;
}

#define NAMES(...)                                                                                 \
    (char *const[]) {                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define CHECK(...) ((struct ssbatch_workload_checks){__VA_ARGS__})

static char ready[] = "ready", absent[] = "absent", silent[] = "silent", slow[] = "slow",
            lasting[] = "long", typed[] = "typed", unknown[] = "readdy", gone[] = "suite/gone",
            lost[] = "suite/lost", other[] = "other", mine[] = "mine";

TEST_WITH(counted_workloads_are_printed, open_catalogue, close_catalogue) {
    assert_int_equal(check(CHECK(.warmup = "30s"), NAMES(ready, silent, typed)), 0);
    assert_said("ready\ntyped\n", "");
}

TEST_WITH(
    workloads_that_cannot_run_here_are_refused_unless_allowed, open_catalogue, close_catalogue) {
    assert_int_equal(check(CHECK(.warmup = NULL), NAMES(absent)), -1);
    assert_string_equal(said.error.message, "--background: absent cannot run here: no no-program");
    assert_said("", "");
    assert_int_equal(check(CHECK(.even_if_missing = true), NAMES(absent)), 0);
    assert_said("absent\n", "absent cannot run here: no no-program\n");
}

TEST_WITH(uncounted_workloads_cause_a_warning_on_request, open_catalogue, close_catalogue) {
    assert_int_equal(check(CHECK(.warn_uncounted = true), NAMES(silent, typed, ready)), 0);
    assert_said("typed\nready\n",
        "Warning: silent has no throughput: use --iteration or --repeat to count its iterations\n"
        "typed: each end of the command is an iteration; --iteration counts lines of its "
        "output\n");
}

/* Times with and without a unit are compared; equal ones suffice. */
TEST_WITH(warmups_that_are_too_short_cause_a_warning, open_catalogue, close_catalogue) {
    assert_int_equal(check(CHECK(.warmup = "119.9"), NAMES(slow, lasting, ready)), 0);
    assert_said("slow\nlong\nready\n", "Warning: slow takes 2M to warm up, longer than --warmup\n");
    assert_int_equal(check(CHECK(.warmup = "1M"), NAMES(lasting)), 0);
    assert_said("long\n", "Warning: long takes 90s to warm up, longer than --warmup\n");
    assert_int_equal(check(CHECK(.warmup = "2M"), NAMES(slow, lasting)), 0);
    assert_said("slow\nlong\n", "");
}

TEST_WITH(missing_published_workloads_are_represented, open_catalogue, close_catalogue) {
    assert_int_equal(represent(NAMES(ready, gone, lost), NAMES(unknown, ready, other, mine)), 0);
    assert_said("ready\nmine\n",
        "suite/gone cannot run here: no no-program; mine represents it\n"
        "suite/lost is left out, because it cannot run here: no no-program\n");
    assert_int_equal(represent(NAMES(ready, unknown), NAMES(mine)), -1);
    assert_non_null(strstr(said.error.message, "did you mean 'ready'"));
}

UNIT_RUN
