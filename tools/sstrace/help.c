/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"
#include "import.h"
#include "options/option.h"
#include "request.h"

static const char usage[] =
    "Usage: sstrace [OPTION]... [FILE]\n"
    "Compiles a load trace: reads text, a compiled trace or the output of a\n"
    "monitoring program from FILE or standard input, and writes the compiled form to\n"
    "standard output.\n"
    "\n"
    "A trace has one record per line, TIME LOAD, and comments after #. In times, m is\n"
    "milliseconds and M is minutes: 20s, 107m, 2M, 1/3s, +5s (from the one before).\n"
    "Loads lie between 0 and 1: 60%, 0.6, 6/10; or the word free.\n"
    "\n"
    "Instead of the compiled form:\n"
    "  --dump             write the text\n"
    "  --check            write nothing; status 0: the trace is valid\n"
    "  --stat             print length, number of records, and mean (weighted by\n"
    "                     time), smallest and largest load; free sections left out\n"
    "  --plot             draw it: on the terminal or, with -o, as FILE.svg or .png\n"
    "  -o, --output FILE  write to FILE, whole or not at all\n"
    "\n"
    "Changes, made in the order in which they are given:\n"
    "  --scale F          multiply times: 1/3 plays three times faster\n"
    "  --offset TIME      begin later; -TIME: leave out the beginning\n"
    "  --clip FROM,TO     keep the part between two times\n"
    "  --repeat N         play it N times in a row\n"
    "  --load-scale F     multiply loads\n"
    "  --load-clamp MIN,MAX\n"
    "                     limit loads to this range\n"
    "  --resample TIME    steps of this length, each with the mean load of its time\n"
    "  --steps            hold each load until the next record\n"
    "\n"
    "Make a trace instead of reading one (more about each below):\n"
    "  --constant LOAD,...  --sine MEAN,...  --random SEED,...  --bursts SEED,...\n"
    "  --staircase FROM:TO:STEP:HOLD,... [--symmetric]\n"
    "\n"
    "Read measurements (several files are read one after the other):\n"
    "  --from FORMAT      one of those below; not needed if the file identifies it\n"
    "  --select NAME      the machine, CPU or series, if there are several\n"
    "  --gaps keep|fill|refuse\n"
    "                     if samples are missing, hold the load (the default),\n"
    "                     draw a straight line, or fail\n"
    "  --every TIME       from one sample to the next, if there are no times\n"
    "  --unit percent|fraction|cores\n"
    "                     the unit of the loads; cores: 100 is one of --cpus N\n"
    "  --time-column C, --load-column C, --idle-column C, --series-column C\n"
    "                     columns of csv, by name or by number from 1\n"
    "  --separator C, --time-unit s|ms|us|ns\n"
    "                     of csv\n"
    "\n"
    "  --help, --version  print this, or the version\n";

static void print_formats(FILE *stream) {
    fputs("\nFormats:\n", stream);
    for (size_t i = 0; sstrace_formats[i]; i++) {
        fprintf(stream, "  %-14s ", sstrace_formats[i]->name);
        ss_option_print_wrapped(stream, 17, sstrace_formats[i]->summary);
    }
}

void sstrace_help_print(FILE *stream) {
    fputs(usage, stream);
    print_formats(stream);
    fputc('\n', stream);
    sstrace_generators_print(stream);
}
