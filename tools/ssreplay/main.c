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

#include "base/streams.h"
#include "base/version.h"
#include "difference.h"
#include "json_document.h"
#include "platform/platform.h"

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

/* The text that the option --label at this word gives; NULL: it is another word. */
static const char *label_at(char *const *word) {
    if (word[0] && strcmp(word[0], "--label") == 0)
        return word[1];
    return word[0] && strncmp(word[0], "--label=", 8) == 0 ? word[0] + 8 : NULL;
}

/* Whether a label of this name is among the options given now. */
static bool is_given_anew(const char *label, char *const *given) {
    size_t name = strcspn(label, "=") + 1;
    for (; *given; given++) {
        const char *other = label_at(given);
        if (other && strncmp(other, label, name) == 0)
            return true;
    }
    return false;
}

static bool is_recorded(char *const *given) {
    for (; *given; given++) {
        if (strcmp(*given, "--record") == 0 || strncmp(*given, "--record=", 9) == 0)
            return true;
    }
    return false;
}

/* What belongs to the old run alone. Returns how many words it takes, 0: it stays. */
static int is_dropped(char *const *words, char *const *given) {
    const char *label = label_at(words);
    if (label)
        return !is_given_anew(label, given) ? 0 : label == words[1] ? 2 : 1;
    if (strcmp(*words, "--counters") == 0)
        return !is_recorded(given); /* they are part of a record */
    if (strcmp(*words, "--record") == 0)
        return 2;
    return strncmp(*words, "--record=", 9) == 0 || strcmp(*words, "--force") == 0;
}

/* ---- the record's own copies of files ---- */

/* An option's value inside a list of them. */
static void put_escaped(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (*text == ',' || *text == '\\')
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

static const char *kind_of(yajl_val input) {
    return ssreplay_document_text(input, "kind");
}

/* The copy that takes the place of what this option of a module of this kind names; NULL: none. */
static const char *find_copy(yajl_val inputs, const char *kind, const char *option) {
    for (size_t i = 0; i < inputs->u.array.len; i++) {
        yajl_val input = inputs->u.array.values[i];
        const char *name = ssreplay_document_text(input, "option");
        if (kind_of(input) && strcmp(kind_of(input), kind) == 0 && name &&
            strcmp(name, option) == 0)
            return ssreplay_document_text(input, "file");
    }
    return NULL;
}

/* All options of a module as the record has resolved them, but for the files: those are copies. */
static void put_options(
    FILE *stream, yajl_val plan, const char *kind, yajl_val inputs, const char *record) {
    const char *path[] = {"modules", kind, "options", NULL};
    yajl_val options = yajl_tree_get(plan, path, yajl_t_object);
    fprintf(stream, "--%s-options=", kind);
    for (size_t i = 0; options && i < options->u.object.len; i++) {
        const char *name = options->u.object.keys[i];
        yajl_val value = options->u.object.values[i];
        const char *copy = find_copy(inputs, kind, name);
        fprintf(stream, "%s%s=", i ? "," : "", name);
        if (copy) {
            put_escaped(stream, record);
            fputc('/', stream);
        }
        put_escaped(stream, copy                    ? copy
                            : YAJL_IS_STRING(value) ? YAJL_GET_STRING(value)
                            : YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value)
                                                    : "");
    }
}

/* The options that have the run read copies. Returns how many words there are, at most as many as
 * copies. */
static size_t add_copies(char **words, yajl_val plan, yajl_val inputs, const char *record) {
    size_t used = 0;
    for (size_t i = 0; i < inputs->u.array.len; i++) {
        yajl_val input = inputs->u.array.values[i];
        const char *kind = kind_of(input), *option = ssreplay_document_text(input, "option");
        const char *file = ssreplay_document_text(input, "file");
        size_t size;
        if (!option || !file || (kind && find_copy(inputs, kind, option) != file))
            fail("%s/plan.json %s", record, "does not say what its copies are of");
        FILE *stream = open_memstream(&words[used], &size);
        if (!stream)
            fail("%s%s", "out of memory", "");
        if (kind)
            put_options(stream, plan, kind, inputs, record);
        else
            fprintf(stream, "--%s=%s/%s", option, record, file);
        if (fclose(stream) != 0)
            fail("%s%s", "out of memory", "");
        used++;
    }
    return used;
}

/* The words of the recorded command line, ending with NULL. */
static char **take_words(yajl_val recorded) {
    size_t count = recorded->u.array.len;
    char **words = calloc(count + 1, sizeof *words);
    for (size_t i = 0; words && i < count; i++) {
        words[i] = YAJL_GET_STRING(recorded->u.array.values[i]);
        if (!words[i])
            fail("%s%s", "plan.json: a word of the command line is no text", "");
    }
    return words;
}

/*
 * The recorded options, then those that name copies, then those given now, then the recorded
 * command.
 */
static char **make_command(
    const char *showstopper, yajl_val plan, const char *record, char **given) {
    yajl_val recorded = ssreplay_document_get(plan, "arguments", yajl_t_array);
    yajl_val inputs = ssreplay_document_get(plan, "inputs", yajl_t_array);
    size_t options =
        (size_t)YAJL_GET_INTEGER(ssreplay_document_get(plan, "options", yajl_t_number));
    size_t count = recorded->u.array.len, given_count = 0;
    while (given[given_count])
        given_count++;
    size_t copies = inputs ? inputs->u.array.len : 0;
    char **words = calloc(count + copies + given_count + 2, sizeof *words);
    char **between = calloc(copies + given_count + 1, sizeof *between);
    char **before = take_words(recorded);
    size_t used = 0, between_count = 0;
    if (!words || !between || !before)
        fail("%s%s", "out of memory", "");
    if (inputs)
        between_count = add_copies(between, plan, inputs, record);
    memcpy(between + between_count, given, given_count * sizeof *given);
    between_count += given_count;
    words[used++] = (char *)showstopper;
    for (size_t i = 0; i < count; i++) {
        if (i == options) {
            memcpy(words + used, between, between_count * sizeof *between);
            used += between_count;
        }
        int dropped = i < options ? is_dropped(&before[i], given) : 0;
        if (dropped)
            i += (size_t)dropped - 1;
        else
            words[used++] = before[i];
    }
    if (options == count)
        memcpy(words + used, between, between_count * sizeof *between);
    free(between);
    free(before);
    return words;
}

/* In the place of a command there is then what --attach was given. */
static bool is_attached(yajl_val plan) {
    yajl_val command = ssreplay_document_get(plan, "command", yajl_t_array);
    yajl_val first = command && command->u.array.len > 0 ? command->u.array.values[0] : NULL;
    return YAJL_IS_STRING(first) && strcmp(first->u.string, "--attach") == 0;
}

int main(int argc, char **argv) {
    char programs[4200], showstopper[4300];
    ss_streams_occupy();
    if (argc < 2)
        fail("%s%s", "no record is named: showstopper --replay DIR", "");
    if (strcmp(argv[1], "--help") == 0) {
        puts("Usage: showstopper-replay DIR [OPTION]...\n"
             "Serves showstopper --replay DIR: repeats the run that is recorded in DIR, with its\n"
             "options, those given here and its command, and tells how the machine differs.");
        struct ss_error error = {0};
        if (ss_streams_flush(&error) < 0)
            fail("%s%s", error.message, "");
        return 0;
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
    if (is_attached(plan))
        fail("%s: the recorded run %s", argv[1],
            "was of processes that ran already: they cannot be started again");
    if (YAJL_IS_TRUE(ssreplay_document_get(plan, "simulated", yajl_t_any)))
        fail("%s: the recorded run %s", argv[1], "was simulated: run sssim again instead");
    tell_differences(argv[1], programs, plan);
    char *record = realpath(argv[1], NULL);
    if (!record)
        fail("%s: %s", argv[1], strerror(errno));
    char **words = make_command(showstopper, plan, record, argv + 2);
    if (chdir(folder) < 0)
        fprintf(stderr,
            "showstopper: --replay: the folder where it was run, %s: %s: it is run here instead\n",
            folder, strerror(errno));
    execv(showstopper, words);
    fail("%s: %s", showstopper, strerror(errno));
}
