/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "trace_text.h"
#include "units.h"
#include "version.h"
#include "words.h"

#define STATUS_BAD 2

struct request {
    bool check, stat, help, version;
    const char *path; /* NULL: standard input */
};

enum { OPTION_CHECK = 256, OPTION_STAT, OPTION_HELP, OPTION_VERSION };

static const struct option options[] = {
    {"check", no_argument, NULL, OPTION_CHECK},
    {"stat", no_argument, NULL, OPTION_STAT},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

#define OPTIONS (sizeof options / sizeof *options - 1)

static const char help[] =
    "Usage: sstrace ACTION [FILE]\n"
    "Reads a load trace in text, from FILE or from standard input.\n"
    "\n"
    "Actions:\n"
    "  --check    only check it: status 0 and no output if it is well\n"
    "  --stat     print its length, its number of records, and the mean (weighted by\n"
    "             time), smallest and largest load; stretches of free are left out\n"
    "  --help     print this\n"
    "  --version  print the version\n"
    "\n"
    "A trace has one record a line, TIME LOAD, and comments behind #. In times, m is\n"
    "milliseconds and M is minutes: 20s, 107m, 2M, 1/3s, +5s (from the record before).\n"
    "Loads lie between 0 and 1: 60%, 0.6, 6/10; or the word free.\n";

/* `word` is where getopt stands, which for one of several letters together is not yet behind it. */
static int bad_option(const char *word, int letter, struct ss_error *error) {
    if (letter > 0 && letter < OPTION_CHECK)
        return ss_error_set(error, STATUS_BAD, "unknown option '-%c': see sstrace --help", letter);
    const char *names[OPTIONS];
    for (size_t i = 0; i < OPTIONS; i++)
        names[i] = options[i].name;
    struct ss_words_shown shown = ss_words_show(word);
    const char *nearest = ss_nearest(word + strspn(word, "-"), names, OPTIONS);
    if (nearest)
        return ss_error_set(
            error, STATUS_BAD, "unknown option '%s': did you mean --%s?", shown.text, nearest);
    return ss_error_set(error, STATUS_BAD, "unknown option '%s': see sstrace --help", shown.text);
}

static int parse_options(int argc, char **argv, struct request *request, struct ss_error *error) {
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        switch (option) {
        case OPTION_CHECK:
            request->check = true;
            break;
        case OPTION_STAT:
            request->stat = true;
            break;
        case OPTION_HELP:
            request->help = true;
            break;
        case OPTION_VERSION:
            request->version = true;
            break;
        default:
            return bad_option(argv[optind - 1], optopt, error);
        }
    }
    if (optind < argc && strcmp(argv[optind], "-") != 0)
        request->path = argv[optind];
    if (argc - optind > 1)
        return ss_error_set(error, STATUS_BAD, "'%s' is too much: name one file",
            ss_words_show(argv[optind + 1]).text);
    return 0;
}

static int read_trace(
    const struct request *request, struct ss_trace_records *records, struct ss_error *error) {
    if (!request->path)
        return ss_trace_text_read(stdin, "standard input", records, error);
    FILE *stream = fopen(request->path, "re");
    if (!stream)
        return ss_error_set(error, STATUS_BAD, "%s cannot be opened: %s",
            ss_words_show(request->path).text, strerror(errno));
    int result = ss_trace_text_read(stream, request->path, records, error);
    fclose(stream);
    return result;
}

struct figures {
    bool any; /* there is a load at all */
    double mean, min, max;
};

/* The mean over controlled time; in a trace that lasts no time, the load that it holds. */
static struct figures figures_of(const struct ss_trace_records *records) {
    struct figures figures = {0};
    double work = 0, duration = 0;
    for (size_t i = 0; i < records->count; i++) {
        const struct ss_trace_record *record = &records->items[i];
        if (record->free)
            continue;
        figures.min = !figures.any || record->load < figures.min ? record->load : figures.min;
        figures.max = !figures.any || record->load > figures.max ? record->load : figures.max;
        figures.mean = record->load;
        figures.any = true;
        if (i + 1 == records->count)
            break;
        const struct ss_trace_record *next = record + 1;
        double length = ss_time_seconds(next->time - record->time);
        work += length * (record->load + (next->free ? record->load : next->load)) / 2;
        duration += length;
    }
    if (duration > 0)
        figures.mean = work / duration;
    return figures;
}

static void print_stat(const struct ss_trace_records *records) {
    char length[32];
    ss_units_print_time(length, sizeof length, records->items[records->count - 1].time);
    printf("length   %s\nrecords  %zu\n", length, records->count);
    struct figures figures = figures_of(records);
    if (figures.any)
        printf("mean     %.6g\nminimum  %.6g\nmaximum  %.6g\n", figures.mean, figures.min,
            figures.max);
    else
        printf("mean     none\nminimum  none\nmaximum  none\n");
}

static int run(const struct request *request, struct ss_error *error) {
    if (request->help) {
        fputs(help, stdout);
        return 0;
    }
    if (request->version) {
        printf("sstrace %s\n", ss_version());
        return 0;
    }
    if (!request->check && !request->stat)
        return ss_error_set(
            error, STATUS_BAD, "what is to be done? Give --check, --stat, --help or --version");
    struct ss_trace_records records;
    if (read_trace(request, &records, error) != 0)
        return -1;
    if (request->stat)
        print_stat(&records);
    ss_trace_records_free(&records);
    return 0;
}

int main(int argc, char **argv) {
    struct request request = {0};
    struct ss_error error = {0};
    int result = parse_options(argc, argv, &request, &error);
    if (result == 0)
        result = run(&request, &error);
    if (fflush(stdout) != 0 && result == 0)
        result = ss_error_set(&error, STATUS_BAD, "output cannot be written: %s", strerror(errno));
    if (result != 0)
        fprintf(stderr, "sstrace: %s\n", error.message);
    return error.status;
}
