/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "fleet_node.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "program.h"
#include "quote.h"

#define AT(member)       .offset = offsetof(struct fleet_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct fleet_options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'N', "N", {"nodes", COUNT_AT(nodes), .initial = "100", .min = "1", .max = "1000000",
                .help = "number of nodes"}},
    {0, "DIR", {"traces", SS_OPTION_TEXT, AT(traces),
                .help = "a folder of traces for the nodes: in the order of their names, repeated if needed"}},
    {0, "DIR", {"record", SS_OPTION_TEXT, AT(record),
                .help = "write a record of each node, and fleet.csv, which ssreport reads, to this new folder"}},
    {0, "TIME", {"late", SS_OPTION_TIME, AT(late), .initial = "0", .max = "1h",
                 .help = "mean delay of the start of a node, exponentially distributed"}},
    {0, "TIME", {"clock", SS_OPTION_TIME, AT(clock), .initial = "0", .max = "36500d",
                 .help = "standard deviation of the offset of the nodes' clocks, normally distributed"}},
    {0, "TIME", {"clock-error", SS_OPTION_TIME, AT(clock_error), .initial = "0", .max = "1h",
                 .help = "maximum error of measured offsets, and thereby of starts, uniformly distributed"}},
    {0, "PART", {"failures", SS_OPTION_LOAD, AT(failures), .initial = "0",
                 .help = "fraction of the nodes that fail, each at a random moment"}},
    {0, "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "10s", .min = "100ms", .max = "1d",
                 .help = "time between the samples of records"}},
    {0, "N", {"seed", COUNT_AT(seed), .initial = "1",
              .help = "seed of the random numbers; the same seed gives the same nodes"}},
    {'j', "N", {"jobs", COUNT_AT(jobs), .min = "1", .max = "4096",
                .help = "simulate in this many processes; default: one for each CPU"}},
    SS_ARGUMENTS_HELP_AT(struct fleet_options),
    SS_ARGUMENTS_END,
};
// clang-format on

/* Memory that all processes share. */
struct shared {
    atomic_flag failed;    /* set by the process that fails first, which then writes `error` */
    atomic_bool explained; /* `error` is complete */
    struct ss_error error;
    struct fleet_node nodes[];
};

struct fleet {
    const struct fleet_options *options;
    int folder;    /* descriptor of --traces; -1 if not given */
    char **traces; /* names of the files in it, sorted */
    size_t trace_count;
    struct shared *shared;
    struct fleet_node *nodes; /* in the shared memory */
    int records;              /* descriptor of --record; -1 if not given */
    pid_t *pids;              /* processes that simulate; entries of ended ones are 0 */
};

static void print_help(void) {
    printf("Usage: sssim fleet [OPTION]... [-- OPTION-OF-SSSIM...]\n"
           "Simulates a replay on many nodes, as `ssfleet replay` would carry it out, and\n"
           "prints how well they hold the load together. Each node runs the real modules on\n"
           "its own simulated machine, which the options after -- describe.\n\n"
           "Times: 20s, 107ms, 2min, 1h. Parts: 1%%, 0.01 or 1/100.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\nExample: a thousand nodes with 4 CPUs, each of which follows one of the traces;\n"
           "one node in a hundred fails.\n"
           "  sssim fleet --nodes 1000 --traces traces --late 5ms --failures 1%% \\\n"
           "      --record rehearsal -- -P 4 --duration 1h\n"
           "  ssreport -o report rehearsal\n");
}

static int is_visible(const struct dirent *entry) {
    return *entry->d_name != '.';
}

/* Adds a trace to the list, which has room for it. Skips folders. */
static int add_trace(struct fleet *fleet, const char *name, struct ss_error *error) {
    struct ss_walk walk;
    struct ss_error why = {0};
    bool is_folder = ss_walk_begin_at(&walk, fleet->folder, name) == 0 && walk.exists &&
                     S_ISDIR(walk.status.st_mode);
    ss_walk_end(&walk);
    if (is_folder)
        return 0;

    /* Only check it. Nodes open it again, because there may be more traces than descriptors. */
    SS_OWNED(close) int file = ss_input_open(fleet->folder, name, INT64_MAX, &why);
    if (file < 0)
        return ss_error_fail(
            error, "--traces: %s/%s", ss_words_show(fleet->options->traces).text, why.message);
    char *trace = strdup(name);
    if (!trace)
        return ss_error_memory(error);
    fleet->traces[fleet->trace_count++] = trace;
    return 0;
}

static int find_traces(struct fleet *fleet, struct ss_error *error) {
    const char *folder = fleet->options->traces;
    char path[40];
    struct dirent **entries;
    struct ss_error why = {0};
    if (!folder)
        return 0;

    fleet->folder = ss_walk_folder_path(folder, O_RDONLY, &why);
    if (fleet->folder < 0)
        return ss_error_fail(error, "--traces: %s: %s", ss_words_show(folder).text, why.message);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fleet->folder); /* musl has no scandirat() */
    int count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0)
        return ss_error_fail(
            error, "--traces: %s: %s", ss_words_show(folder).text, strerror(errno));

    fleet->traces = calloc((size_t)count + 1, sizeof *fleet->traces);
    int status = fleet->traces ? 0 : ss_error_memory(error);
    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = add_trace(fleet, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    if (status == 0 && fleet->trace_count == 0)
        status = ss_error_fail(
            error, "--traces: %s: the folder contains no traces", ss_words_show(folder).text);
    return status;
}

static const char *trace_of(const struct fleet *fleet, uint64_t number) {
    return fleet->trace_count > 0 ? fleet->traces[number % fleet->trace_count] : NULL;
}

/* Simulates every `jobs`-th node from `first` on. Returns the exit status of the process. */
static int run_part(struct fleet *fleet, uint64_t first, uint64_t jobs) {
    for (uint64_t i = first; i < fleet->options->nodes; i += jobs) {
        struct ss_error error = {0};
        if (fleet_node_run(&fleet->nodes[i], fleet->options, i, fleet->folder, trace_of(fleet, i),
                fleet->records, &error) == 0)
            continue;

        ss_error_wrap(&error, "node n%llu", (unsigned long long)i);
        if (!atomic_flag_test_and_set(&fleet->shared->failed)) {
            fleet->shared->error = error;
            atomic_store(&fleet->shared->explained, true);
        }
        return 1;
    }
    return 0;
}

static uint64_t count_jobs(const struct fleet_options *options) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cpus > 0 ? (uint64_t)cpus : 1;
    if (options->jobs)
        jobs = options->jobs;
    return jobs < options->nodes ? jobs : options->nodes;
}

/* Waits for a process and removes it from the list. Returns its wait status. */
static int wait_for_one(pid_t *pids, uint64_t count) {
    int status = -1;
    pid_t pid = wait(&status);
    for (uint64_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            pids[i] = 0;
    }
    return status;
}

static void kill_all(const pid_t *pids, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    }
}

/* Starts the processes. Returns how many were started. */
static uint64_t start_jobs(struct fleet *fleet, uint64_t jobs, struct ss_error *error) {
    pid_t parent = getpid();
    fflush(NULL);

    for (uint64_t i = 0; i < jobs; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (ss_platform_die_with(parent, SIGKILL) < 0)
                _exit(1); /* the parent has ended, so the results would be lost */
            _exit(run_part(fleet, i, jobs));
        }

        if (pid < 0) {
            ss_error_fail(error, "cannot start a process: %s", strerror(errno));
            return i;
        }
        fleet->pids[i] = pid;
    }
    return jobs;
}

/* Runs all nodes. If a process fails, kills the others, which could otherwise run for hours. */
static int run_nodes(struct fleet *fleet, struct ss_error *error) {
    uint64_t jobs = count_jobs(fleet->options);
    bool failed = false;

    fleet->pids = calloc(jobs, sizeof *fleet->pids);
    if (!fleet->pids)
        return ss_error_memory(error);

    uint64_t started = start_jobs(fleet, jobs, error);
    if (error->status)
        kill_all(fleet->pids, started);

    for (uint64_t i = 0; i < started; i++) {
        int status = wait_for_one(fleet->pids, started);
        failed |= status != 0;
        if (status != 0 && (WIFSIGNALED(status) || atomic_load(&fleet->shared->explained)))
            kill_all(fleet->pids, started);
    }

    if (error->status)
        return -1;
    if (failed && atomic_load(&fleet->shared->explained))
        return ss_error_set(error, fleet->shared->error.status, "%s", fleet->shared->error.message);
    if (failed)
        ss_error_fail(error,
            "a process that simulates nodes was killed: if memory is short, use fewer --jobs");
    return error->status ? -1 : 0;
}

static void write_row(FILE *stream, const struct fleet *fleet, uint64_t number) {
    const struct fleet_node *node = &fleet->nodes[number];
    const char *trace = trace_of(fleet, number);
    bool failed = node->fails_at < 1;

    fprintf(stream, "n%llu,n%llu,", (unsigned long long)number, (unsigned long long)number);
    quote_csv(stream, trace ? trace : "");
    fprintf(stream, ",%s,%s,%.6f,%.6f,%.6f,simulated,\n", failed ? "failed" : "done",
        failed ? "failed in the simulation" : "", FLEET_START, node->measured,
        ss_time_seconds(fleet->options->clock_error));
}

static int write_table(const struct fleet *fleet, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_open_below(&file, fleet->records, "fleet.csv") < 0)
        return ss_error_fail(error, "--record: cannot write fleet.csv: %s", strerror(errno));

    fputs("node,record,trace,status,reason,start,offset_seconds,offset_error_seconds,clock,"
          "clock_error_seconds\n",
        file.stream);
    for (uint64_t i = 0; i < fleet->options->nodes; i++)
        write_row(file.stream, fleet, i);

    if (ss_whole_file_commit(&file) < 0)
        return ss_error_fail(error, "--record: cannot write fleet.csv: %s", strerror(errno));
    return 0;
}

/* Weights the nodes by time only, because all have the same number of CPUs. */
static void print_fleet(const struct fleet *fleet) {
    double time = 0, load = 0, target = 0, late = 0;
    uint64_t failed = 0;
    for (uint64_t i = 0; i < fleet->options->nodes; i++) {
        const struct fleet_node *node = &fleet->nodes[i];
        time += node->covered;
        load += node->load;
        target += node->target;
        late = fmax(late, node->late);
        failed += node->fails_at < 1;
    }

    printf("%-20s %9llu\n", "nodes", (unsigned long long)fleet->options->nodes);
    printf("%-20s %9llu\n", "failed", (unsigned long long)failed);
    printf("%-20s %9.3f s\n", "latest start", late);
    printf("%-20s %9.3f %%\n", "target", 100 * target / time);
    printf("%-20s %9.3f %%\n", "load", 100 * load / time);
    printf("%-20s %9.3f points\n", "mean error", 100 * (target - load) / time);
}

static int check_measured(const struct fleet *fleet, struct ss_error *error) {
    for (uint64_t i = 0; i < fleet->options->nodes; i++) {
        if (fleet->nodes[i].covered > 0)
            return 0;
    }
    return ss_error_fail(error, "nothing was measured: no node was under control for a whole "
                                "--window after --settle: use a longer --duration after --");
}

static int run(struct fleet *fleet, struct ss_error *error) {
    const struct fleet_options *options = fleet->options;
    if (find_traces(fleet, error) < 0)
        return -1;

    if (options->record) {
        struct ss_error why = {0};
        fleet->records = ss_walk_folder_path(options->record, O_RDONLY | O_CREAT | O_EXCL, &why);
        if (fleet->records < 0)
            return ss_error_fail(
                error, "--record: %s: %s", ss_words_show(options->record).text, why.message);
    }

    for (uint64_t i = 0; i < options->nodes; i++)
        fleet_node_draw(&fleet->nodes[i], options, i);
    if (run_nodes(fleet, error) < 0 || check_measured(fleet, error) < 0 ||
        (options->record && write_table(fleet, error) < 0)) {
        /* Remove all records, so that for example an invalid option leaves no folder behind. */
        if (options->record)
            ss_walk_remove_tree(fleet->records, options->record);
        return -1;
    }

    print_fleet(fleet);
    return 0;
}

static int simulate(const struct fleet_options *options, struct ss_error *error) {
    struct fleet fleet = {.options = options, .folder = -1, .records = -1};
    size_t size = sizeof *fleet.shared + options->nodes * sizeof *fleet.nodes;

    fleet.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fleet.shared == MAP_FAILED)
        return ss_error_memory(error);

    fleet.nodes = fleet.shared->nodes;
    int status = run(&fleet, error);

    munmap(fleet.shared, size);
    if (fleet.records >= 0)
        close(fleet.records);
    if (fleet.folder >= 0)
        close(fleet.folder);
    free(fleet.pids);
    for (size_t i = 0; i < fleet.trace_count; i++)
        free(fleet.traces[i]);
    free(fleet.traces);
    return status;
}

int fleet_command(char **argv, struct ss_error *error) {
    struct fleet_options options = {0};
    int status = ss_arguments_parse(rows, &options, &options.store, argv, &options.words, error);
    if (status == 0 && !ss_program_print_requested(
                           "sssim", &options.store, options.help, options.version, print_help))
        status = simulate(&options, error);
    ss_option_store_free(&options.store);
    return status;
}
