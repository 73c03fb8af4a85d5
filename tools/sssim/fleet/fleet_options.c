/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_options.h"

#define AT(member)       .offset = offsetof(struct fleet_options, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct fleet_options, member)

// clang-format off
const struct ss_argument fleet_rows[] = {
    {'N', "N", {"nodes", COUNT_AT(nodes), .initial = "100", .min = "1", .max = "1000000",
                .help = "number of nodes"}},
    {0, "DIR", {"traces", SS_OPTION_TEXT, AT(traces),
                .help = "the traces that the nodes follow, in the order of names, as often as needed"}},
    {0, "DIR", {"record", SS_OPTION_TEXT, AT(record),
                .help = "write a record of each node, and fleet.csv, which ssreport reads, to this new folder"}},
    {0, "TIME", {"late", SS_OPTION_TIME, AT(late), .initial = "0", .max = "1h",
                 .help = "how late nodes start on average, exponentially distributed"}},
    {0, "TIME", {"clock", SS_OPTION_TIME, AT(clock), .initial = "0", .max = "36500d",
                 .help = "standard deviation of the offset of the nodes' clocks, normally distributed"}},
    {0, "TIME", {"clock-error", SS_OPTION_TIME, AT(clock_error), .initial = "0", .max = "1h",
                 .help = "the measured offsets are wrong by up to this, uniformly distributed, and so are the starts"}},
    {0, "PART", {"failures", SS_OPTION_LOAD, AT(failures), .initial = "0",
                 .help = "part of the nodes that fail, each at a random moment"}},
    {0, "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "10s", .min = "100m", .max = "1d",
                 .help = "time between the samples of records"}},
    {0, "N", {"seed", COUNT_AT(seed), .initial = "1",
              .help = "seed of the random numbers; the same seed gives the same nodes"}},
    {'j', "N", {"jobs", COUNT_AT(jobs), .min = "1", .max = "4096",
                .help = "simulate in this many processes; default: one for each CPU"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

int fleet_options_parse(struct fleet_options *options, char **argv, struct ss_error *error) {
    *options = (struct fleet_options){0};
    return ss_arguments_parse(fleet_rows, options, &options->store, argv, &options->words, error);
}
