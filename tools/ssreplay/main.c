/* SPDX-License-Identifier: Apache-2.0 */

/*
 * showstopper-replay DIR [OPTION]...: repeats the run recorded in DIR, in the folder where it was
 * started, with the same command line; options given here stand behind the recorded ones and so
 * replace them. What differs between the two machines is told first.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "difference.h"
#include "document.h"
#include "platform/platform.h"
#include "version.h"

_Noreturn static void fail(const char *format, const char *what, const char *why) {
    fputs("showstopper: --replay: ", stderr);
    fprintf(stderr, format, what, why);
    fputc('\n', stderr);
    exit(SS_ERROR_FAILED);
}

static yajl_val read_file(const char *folder, const char *name, bool required) {
    struct ss_error error = {0};
    yajl_val value = ssreplay_document_read(folder, name, "name the folder of a record", &error);
    if (!value && required)
        fail("%s%s", error.message, "");
    return value;
}

/* What the machine is now; NULL: that cannot be told. */
static yajl_val describe_platform(const char *programs) {
    char command[8400];
    if (strchr(programs, '\''))
        return NULL;
    snprintf(command, sizeof command, "'%.4000s/showstopper-platform' 2>/dev/null", programs);
    FILE *stream = popen(command, "re");
    yajl_val value = stream ? ssreplay_document_parse(stream, NULL, 0) : NULL;
    if (stream)
        pclose(stream);
    return value;
}

static void tell_differences(const char *record, const char *programs, yajl_val plan) {
    const char *version = ssreplay_document_text(plan, "version");
    if (version && strcmp(version, ss_version()) != 0)
        fprintf(stderr, "showstopper: --replay: recorded by version %s, this is %s\n", version,
            ss_version());
    yajl_val before = read_file(record, "platform.json", false);
    yajl_val now = before ? describe_platform(programs) : NULL;
    if (before && now)
        ssreplay_print_differences(stderr, before, now);
    else
        fputs("showstopper: --replay: whether this machine is the same cannot be told: "
              "showstopper-platform is not installed, or was not when the run was recorded\n",
            stderr);
    yajl_tree_free(before);
    yajl_tree_free(now);
}

/* What belongs to the old run alone. Returns how many words it takes, 0: it stays. */
static int is_dropped(const char *word) {
    if (strcmp(word, "--record") == 0)
        return 2;
    return strncmp(word, "--record=", 9) == 0 || strcmp(word, "--force") == 0;
}

/*
 * The recorded options, then those given now, then the recorded command. `options` is how many of
 * the recorded words stand before the command.
 */
static char **make_command(
    const char *showstopper, yajl_val recorded, size_t options, char **given) {
    size_t count = recorded->u.array.len, given_count = 0;
    while (given[given_count])
        given_count++;
    char **words = calloc(count + given_count + 2, sizeof *words);
    size_t used = 0;
    if (!words)
        fail("%s%s", "out of memory", "");
    words[used++] = (char *)showstopper;
    for (size_t i = 0; i < count; i++) {
        char *word = YAJL_GET_STRING(recorded->u.array.values[i]);
        if (!word)
            fail("%s%s", "plan.json: a word of the command line is no text", "");
        if (i == options) {
            memcpy(words + used, given, given_count * sizeof *given);
            used += given_count;
        }
        int dropped = i < options ? is_dropped(word) : 0;
        if (dropped)
            i += (size_t)dropped - 1;
        else
            words[used++] = word;
    }
    if (options == count)
        memcpy(words + used, given, given_count * sizeof *given);
    return words;
}

int main(int argc, char **argv) {
    char programs[4200], showstopper[4300];
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        puts("Usage: showstopper-replay DIR [OPTION]...\n"
             "Serves showstopper --replay DIR: repeats the run that is recorded in DIR, with its\n"
             "options, those given here and its command, and tells how the machine differs.");
        return argc < 2 ? SS_ERROR_FAILED : 0;
    }
    if (ss_platform_program_path(programs, sizeof programs) < 0)
        fail("%s%s", "where the programs are cannot be told", "");
    *strrchr(programs, '/') = '\0';
    snprintf(showstopper, sizeof showstopper, "%.4000s/showstopper", programs);
    yajl_val plan = read_file(argv[1], "plan.json", true);
    yajl_val arguments = ssreplay_document_get(plan, "arguments", yajl_t_array);
    yajl_val options = ssreplay_document_get(plan, "options", yajl_t_number);
    const char *folder = ssreplay_document_text(plan, "folder");
    if (!arguments || !options || !YAJL_IS_INTEGER(options) || !folder ||
        YAJL_GET_INTEGER(options) < 0 || (size_t)YAJL_GET_INTEGER(options) > arguments->u.array.len)
        fail("%s/plan.json %s", argv[1], "does not say what was run: is the record whole?");
    tell_differences(argv[1], programs, plan);
    char **words =
        make_command(showstopper, arguments, (size_t)YAJL_GET_INTEGER(options), argv + 2);
    if (chdir(folder) < 0)
        fail("the folder where it was run, %s: %s", folder, strerror(errno));
    execv(showstopper, words);
    fail("%s: %s", showstopper, strerror(errno));
}
