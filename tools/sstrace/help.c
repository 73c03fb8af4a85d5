/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"
#include "import.h"
#include "options/values.h"
#include "trace_options.h"

static const char usage[] =
    "Usage: sstrace [OPTION]... [FILE]\n"
    "Compiles a load trace: reads text, a compiled trace or the output of a\n"
    "monitoring program from FILE or standard input, and writes the compiled form to\n"
    "standard output.\n"
    "\n"
    "A trace has one record per line, TIME LOAD, and comments after #. In times, m is\n"
    "milliseconds and M is minutes: 20s, 107m, 2M, 1/3s, +5s (after the previous).\n"
    "Loads are between 0 and 1: 60%, 0.6, 6/10; or the word free.\n"
    "\n";

static void print_formats(FILE *stream) {
    fputs("\nFormats:\n", stream);
    for (size_t i = 0; sstrace_formats[i]; i++) {
        fprintf(stream, "  %-14s ", sstrace_formats[i]->name);
        ss_option_print_wrapped(stream, 17, sstrace_formats[i]->summary);
    }
}

void sstrace_help_print(FILE *stream) {
    fputs(usage, stream);
    sstrace_options_print(stream);
    print_formats(stream);
    fputc('\n', stream);
    sstrace_generators_print(stream);
}
