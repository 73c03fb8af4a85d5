/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Both ends of the connection between a host and the guest that runs a command for it:
 *
 *   run-in-guest --> drive --fifos--> qemu --port--> serve --> COMMAND
 *                                       <--ports-- its output
 */

#include <signal.h>
#include <unistd.h>

#include "guest.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "program.h"

struct request {
    struct ssguest_drive_options drive;
    struct ssguest_serve_options serve;
    char **words;   /* the verb, and the folder of `drive` */
    char **command; /* after --; NULL: not given */
    int help, version;
    struct ss_option_store store;
};

#define AT(member)       .offset = offsetof(struct request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "PID", {"machine", COUNT_AT(drive.qemu_pid), .help = "for `drive`: pid of qemu"}},
    {0, "PID", {"caller", COUNT_AT(drive.caller_pid), .help = "the guest ends when this process does"}},
    {0, "N", {"vcpus", COUNT_AT(drive.vcpus), .initial = "1", .min = "1", .help = "number of virtual CPUs"}},
    {0, "LIST", {"pins", SS_OPTION_TEXT, AT(drive.pins), .help = "pin each virtual CPU to one of these CPUs"}},
    {0, "SECONDS", {"grace", COUNT_AT(drive.grace), .initial = "3", .help = "time for the command to exit after a signal"}},
    {0, "FILE", {"clock", SS_OPTION_TEXT, AT(drive.clock), .help = "write the difference of the clocks to this file"}},
    {0, "FILE", {"vcpu-times", SS_OPTION_TEXT, AT(drive.vcpu_times), .help = "write the CPU time of each virtual CPU to this file"}},
    {0, "PATH", {"ports", SS_OPTION_TEXT, AT(serve.ports), .initial = "/dev/vport0p", .help = "for `serve`: the ports, without their number"}},
    {0, "FOLDER", {"missing", SS_OPTION_TEXT, AT(serve.missing), .help = "for `serve`: report that this shared folder is missing"}},
    SS_ARGUMENTS_HELP_AT(struct request),
    SS_ARGUMENTS_WORDS_AT(struct request, words, 2),
};
// clang-format on

static void print_help(void) {
    printf("Usage: showstopper-guest drive FOLDER --machine PID --caller PID [OPTION]...\n"
           "       showstopper-guest serve [OPTION]... -- COMMAND [ARGUMENT]...\n"
           "Runs a command in a guest that the experiment run-in-guest has started:\n"
           "`drive` is called on the machine, `serve` is the first process of the guest.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static int carry_out(struct request *request, int *status, struct ss_error *error) {
    const char *verb = request->words[0] ? request->words[0] : "";
    const char *folder = *verb ? request->words[1] : NULL;

    if (strcmp(verb, "drive") == 0 && folder) {
        request->drive.folder = folder;
        if (ss_platform_die_with(getppid(), SIGKILL) < 0)
            return ss_error_fail(error, "the script that started this process has ended");
        return ssguest_drive(&request->drive, status, error);
    }

    if (strcmp(verb, "serve") == 0 && !folder && request->command && *request->command) {
        request->serve.command = request->command;
        return ssguest_serve(&request->serve, error);
    }

    return ss_error_fail(error, "drive FOLDER or serve -- COMMAND is required: see --help");
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct request request = {0};
    int result = ss_arguments_parse(rows, &request, &request.store, argv, &request.command, error);
    if (result == 0 && !ss_program_print_requested("showstopper-guest", &request.store,
                           request.help, request.version, print_help))
        result = carry_out(&request, status, error);

    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("run-in-guest", run, argc, argv);
}
