/* SPDX-License-Identifier: Apache-2.0 */

/*
 * showstopper-replay DIR [OPTION]... repeats the run recorded in DIR, in the folder where it was
 * started and with the same command line. Options given on the command line follow the recorded
 * ones and so replace them. Differences between the two machines are printed first. A record of
 * another user is refused unless --trust-owner names that user; --dry-run only shows its command.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/state.h"
#include "base/version.h"
#include "base/walk.h"
#include "base/words.h"
#include "json_document.h"
#include "platform/platform.h"
#include "program.h"
#include "text_stream.h"

/* Records have this character in place of bytes that are not UTF-8. */
#define REPLACEMENT "\xef\xbf\xbd"

/* `showstopper --replay` executes this program, so messages carry its name. */
#define NAME "showstopper: --replay"

#define HINT ": name a folder that --record created"

/* Stop at this depth; real descriptions have fewer levels. */
#define DEPTH_MAX 32

struct comparison {
    int depth;
    char place[512]; /* name of the current member, such as caches[0].size */
};

static const char *show(struct json_object *value, char *buffer, size_t size) {
    switch (json_object_get_type(value)) {
    case json_type_null:
        return "unknown";
    case json_type_array:
        snprintf(buffer, size, "%zu entries", json_object_array_length(value));
        return buffer;
    case json_type_object:
        snprintf(buffer, size, "%d members", json_object_object_length(value));
        return buffer;
    default: /* numbers as they are in the document */
        return json_object_get_string(value);
    }
}

static bool both_are(struct json_object *before, struct json_object *now, enum json_type type) {
    return json_object_is_type(before, type) && json_object_is_type(now, type);
}

static void compare(struct comparison *it, struct json_object *before, struct json_object *now);

/* Compares members with this name or, if it is NULL, list entries with this index. */
static void compare_at(struct comparison *it, const char *name, size_t index,
    struct json_object *before, struct json_object *now) {
    size_t length = strlen(it->place);
    if (name)
        snprintf(it->place + length, sizeof it->place - length, "%s%s", length ? "." : "", name);
    else
        snprintf(it->place + length, sizeof it->place - length, "[%zu]", index);
    compare(it, before, now);
    it->place[length] = '\0';
}

static void compare_members(
    struct comparison *it, struct json_object *before, struct json_object *now) {
    json_object_object_foreach(before, name, value) {
        compare_at(it, name, 0, value, json_object_object_get(now, name));
    }
    json_object_object_foreach(now, new_name, new_value) {
        if (!json_object_object_get_ex(before, new_name, NULL))
            compare_at(it, new_name, 0, NULL, new_value);
    }
}

/* Prints a line for each difference between two descriptions. */
static void compare(struct comparison *it, struct json_object *before, struct json_object *now) {
    if (it->depth == DEPTH_MAX)
        return;

    it->depth++;
    if (both_are(before, now, json_type_object)) {
        compare_members(it, before, now);
    } else if (both_are(before, now, json_type_array) &&
               json_object_array_length(before) == json_object_array_length(now)) {
        for (size_t i = 0; i < json_object_array_length(before); i++)
            compare_at(it, NULL, i, json_object_array_get_idx(before, i),
                json_object_array_get_idx(now, i));
    } else {
        char a[32], b[32];
        const char *was = show(before, a, sizeof a), *is = show(now, b, sizeof b);
        if (strcmp(was, is) != 0)
            fprintf(stderr, NAME ": platform: %s was %s, is %s\n", ss_words_show(it->place).text,
                ss_words_show(was).text, ss_words_show(is).text);
    }

    it->depth--;
}

/*
 * Returns a description of this machine; NULL if showstopper-platform cannot be run or prints
 * invalid JSON.
 */
static struct json_object *describe_platform(const char *programs) {
    SS_OWNED(free)
    char *command = ss_words_format(NULL, "'%s/showstopper-platform' 2>/dev/null", programs);
    char why[128];
    if (!command || strchr(programs, '\''))
        return NULL;
    FILE *stream = popen(command, "re");
    struct json_object *value = stream ? document_parse_stream(stream, why, sizeof why) : NULL;
    if (stream)
        pclose(stream);
    return value;
}

static void print_differences(
    const char *record, const char *programs, const struct json_object *plan) {
    const char *version = document_text(plan, "version");
    if (version && strcmp(version, ss_version()) != 0)
        fprintf(stderr, NAME ": recorded by version %s, this is %s\n", ss_words_show(version).text,
            ss_version());

    struct json_object *before = document_read(record, "platform.json", "", NULL);
    struct json_object *now = before ? describe_platform(programs) : NULL;
    if (before && now)
        compare(&(struct comparison){0}, before, now);
    else
        fputs(NAME ": cannot compare the machines: showstopper-platform is not installed, or was "
                   "not installed when the run was recorded\n",
            stderr);

    json_object_put(before);
    json_object_put(now);
}

/* Returns the text of an option --label; NULL if the word is another option. */
static const char *label_at(char *const *word) {
    if (word[0] && strcmp(word[0], "--label") == 0)
        return word[1];
    return word[0] && strncmp(word[0], "--label=", 8) == 0 ? word[0] + 8 : NULL;
}

/* Returns whether the new options set a label of the same name. */
static bool is_overridden(const char *label, char *const *given) {
    size_t name = strcspn(label, "=") + 1;
    for (; *given; given++) {
        const char *other = label_at(given);
        if (other && strncmp(other, label, name) == 0)
            return true;
    }
    return false;
}

/* Returns the number of words of an option with a value; 0 if the word is another option. */
static size_t count_words_of(const char *word, const char *option) {
    size_t length = strlen(option);
    if (strncmp(word, option, length) != 0)
        return 0;
    if (word[length] == '=')
        return 1;
    return word[length] ? 0 : 2;
}

static bool is_recorded(char *const *given) {
    while (*given && count_words_of(*given, "--record") == 0)
        given++;
    return *given;
}

/* Returns how many words at `words` apply only to the recorded run, and are dropped. */
static size_t count_dropped(char *const *words, char *const *given) {
    const char *label = label_at(words);
    size_t of_decisions = count_words_of(*words, "--record-decisions");

    if (label && !is_overridden(label, given))
        return 0;
    if (label)
        return label == words[1] ? 2 : 1;
    if (strcmp(*words, "--counters") == 0)
        return !is_recorded(given); /* like --record-decisions, it requires --record */
    if (of_decisions > 0)
        return is_recorded(given) ? 0 : of_decisions;
    if (strcmp(*words, "--force") == 0)
        return 1;
    return count_words_of(*words, "--record");
}

/* Prints a value, escaped for a list of options. */
static void print_escaped(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (*text == ',' || *text == '\\')
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

/* The recorded command line. Its first `options` words are options. */
struct recorded_run {
    const char *name; /* of the record's folder, as given */
    struct ss_trust trust;
    bool starts; /* false with --dry-run */
    int record;  /* descriptor of the record's folder */
    struct json_object *plan, *inputs;
    char **copies; /* paths of the copies of inputs; all owned */
    size_t copy_count;
    char **words; /* owned by the plan */
    size_t count, options;
    const char *folder; /* in which the run was started */
};

/* Returns the path of the copy of the file that a module's option names; NULL if not copied. */
static const char *find_copy(const struct recorded_run *run, const char *kind, const char *option) {
    for (size_t i = 0; i < run->copy_count; i++) {
        const struct json_object *input = json_object_array_get_idx(run->inputs, i);
        const char *its_kind = document_text(input, "kind"), *name = document_text(input, "option");
        if (its_kind && name && strcmp(its_kind, kind) == 0 && strcmp(name, option) == 0)
            return run->copies[i];
    }
    return NULL;
}

/* Prints the module's options as they were resolved, with recorded copies in place of files. */
static void print_module_options(FILE *stream, const struct recorded_run *run, const char *kind) {
    const struct json_object *modules = document_get(run->plan, "modules", json_type_object);
    const struct json_object *module = document_get(modules, kind, json_type_object);
    struct json_object *options = document_get(module, "options", json_type_object);
    const char *separator = "";

    fprintf(stream, "--%s-options=", kind);
    if (!options)
        return;

    json_object_object_foreach(options, name, value) {
        const char *copy = find_copy(run, kind, name);
        fprintf(stream, "%s%s=", separator, name);
        separator = ",";
        if (copy)
            print_escaped(stream, copy);
        else if (!json_object_is_type(value, json_type_null))
            print_escaped(stream, json_object_get_string(value));
    }
}

/*
 * Returns the path of a copy, or NULL with the error set. For a run, it is the path of a descriptor
 * that showstopper inherits, because others may replace the file after its owner was checked.
 */
static char *open_copy(
    const struct recorded_run *run, const struct json_object *input, struct ss_error *error) {
    static const struct ss_trust everyone = {.everyone = true};
    const struct ss_trust *trust = run->starts ? &run->trust : &everyone;
    const char *option = document_text(input, "option"), *file = document_text(input, "file");
    if (!option || !file || strchr(file, '/')) {
        ss_error_fail(
            error, "%s/plan.json has invalid \"inputs\": is the record complete?", run->name);
        return NULL;
    }

    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", run->name, file);
    SS_OWNED(close)
    int copy = path ? ss_state_file(run->record, file, O_RDONLY, trust, path, error) : -1;
    if (copy == SS_STATE_ABSENT)
        ss_error_fail(error, "%s: %s", path, strerror(ENOENT));
    if (copy < 0)
        return NULL;

    if (!run->starts) {
        char *shown = realpath(path, NULL);
        if (!shown)
            ss_paths_fail(path, error);
        return shown;
    }

    fcntl(copy, F_SETFD, 0);
    return ss_words_format(error, "/proc/self/fd/%d", ss_owned_take(&copy));
}

static int open_copies(struct recorded_run *run, struct ss_error *error) {
    run->copy_count = run->inputs ? json_object_array_length(run->inputs) : 0;
    run->copies = calloc(run->copy_count + 1, sizeof *run->copies);
    if (!run->copies)
        return ss_error_memory(error);

    for (size_t i = 0; i < run->copy_count; i++) {
        run->copies[i] = open_copy(run, json_object_array_get_idx(run->inputs, i), error);
        if (!run->copies[i])
            return -1;
    }
    return 0;
}

/* Returns the option that makes the run read a copy; NULL with the error set on failure. */
static char *make_copy_option(
    const struct recorded_run *run, size_t number, struct ss_error *error) {
    const struct json_object *input = json_object_array_get_idx(run->inputs, number);
    const char *kind = document_text(input, "kind");
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return NULL;
    if (kind)
        print_module_options(text.stream, run, kind);
    else
        fprintf(text.stream, "--%s=%s", document_text(input, "option"), run->copies[number]);
    return ss_text_close(&text, error);
}

/* Opens the folder and reads the plan. Fails if another user may have written them. */
static int open_record(struct recorded_run *run, struct ss_error *error) {
    char why[256];
    struct ss_error cannot = {0};
    int folder = run->trust.everyone ? open(run->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                     : ss_walk_folder_path(run->name, O_RDONLY, &cannot);
    if (folder < 0)
        return ss_error_fail(error, "%s: %s%s", run->name,
            cannot.status ? cannot.message : strerror(errno), errno == ENOENT ? HINT : "");

    ss_owned_close(&run->record);
    run->record = folder;
    SS_OWNED(free) char *path = ss_words_format(error, "%s/plan.json", run->name);
    if (!path || ss_state_check(folder, &run->trust, run->name, error) < 0)
        return -1;

    struct ss_error refusal = {0};
    SS_OWNED(fclose)
    FILE *stream = ss_state_read(folder, "plan.json", &run->trust, path, &refusal);
    if (refusal.status)
        return ss_error_fail(error, "%s", refusal.message);
    if (!stream)
        return ss_error_fail(error, "%s: %s" HINT, path, strerror(ENOENT));

    run->plan = document_parse_stream(stream, why, sizeof why);
    return run->plan ? 0 : ss_error_fail(error, "%s: invalid JSON: %s", path, why);
}

static int read_run(struct recorded_run *run, struct ss_error *error) {
    const char *record = run->name;
    if (document_check_record(run->plan, error) < 0)
        return ss_error_wrap(error, "%s", record);

    struct json_object *words = document_get(run->plan, "arguments", json_type_array);
    struct json_object *options = document_get(run->plan, "options", json_type_int);
    struct json_object *command = document_get(run->plan, "command", json_type_array);
    run->inputs = document_get(run->plan, "inputs", json_type_array);
    run->folder = document_text(run->plan, "folder");
    run->count = words ? json_object_array_length(words) : 0;
    if (!words || !options || !run->folder || json_object_get_int64(options) < 0 ||
        (uint64_t)json_object_get_int64(options) > run->count)
        return ss_error_fail(
            error, "%s/plan.json does not contain the command: is the record complete?", record);

    const char *first = command && json_object_array_length(command) > 0
                            ? document_as_text(json_object_array_get_idx(command, 0))
                            : NULL;
    if (first && (strcmp(first, "--attach") == 0 || strcmp(first, "--attach-group") == 0))
        return ss_error_fail(error,
            "%s: the recorded run used %s: its processes cannot be started again", record, first);
    if (json_object_get_boolean(document_get(run->plan, "simulated", json_type_boolean)))
        return ss_error_fail(
            error, "%s: the recorded run was simulated: run sssim again instead", record);

    run->options = (size_t)json_object_get_int64(options);
    run->words = calloc(run->count + 1, sizeof *run->words);
    if (!run->words)
        return ss_error_memory(error);

    for (size_t i = 0; i < run->count; i++) {
        run->words[i] = (char *)document_as_text(json_object_array_get_idx(words, i));
        if (!run->words[i])
            return ss_error_fail(
                error, "%s/plan.json: word %zu of the command line is not a string", record, i + 1);
        if (strstr(run->words[i], REPLACEMENT))
            return ss_error_fail(error,
                "%s/plan.json: word %zu of the command line has bytes that are not UTF-8, which "
                "records do not keep: repeat the run by its command line",
                record, i + 1);
    }

    return open_copies(run, error);
}

/*
 * Returns the command: the recorded options, options that name copies, new options, and the
 * recorded command. The result is never freed: exec() follows.
 */
static char **make_command(
    const struct recorded_run *run, const char *showstopper, char **given, struct ss_error *error) {
    size_t used = 0;
    char **words = calloc(run->count + run->copy_count + ss_words_count(given) + 2, sizeof *words);
    if (!words) {
        ss_error_memory(error);
        return NULL;
    }

    words[used++] = (char *)showstopper;
    for (size_t i = 0; i < run->options;) {
        size_t dropped = count_dropped(&run->words[i], given);
        if (dropped == 0)
            words[used++] = run->words[i];
        i += dropped ? dropped : 1;
    }

    for (size_t i = 0; i < run->copy_count; i++) {
        words[used] = make_copy_option(run, i, error);
        if (!words[used++])
            return NULL;
    }

    for (; *given; given++)
        words[used++] = *given;
    for (size_t i = run->options; i < run->count; i++)
        words[used++] = run->words[i];
    return words;
}

/*
 * Returns the folder of the other programs: bin if this one is installed, in
 * SHOWSTOPPER_LIBEXEC_SUBDIR, or its own folder for static programs. free() the result.
 */
static char *find_programs(struct ss_error *error) {
    char *folder = ss_platform_program_path(1, "");
    if (!folder) {
        ss_error_fail(error, "cannot locate the programs: %s", strerror(errno));
        return NULL;
    }
    size_t length = strlen(folder), end = strlen(SHOWSTOPPER_LIBEXEC_SUBDIR);
    if (length >= end && strcmp(folder + length - end, SHOWSTOPPER_LIBEXEC_SUBDIR) == 0)
        memcpy(folder + length - end, "bin", sizeof "bin");
    return folder;
}

/*
 * Shows the command of another user's record. It is not given to `showstopper --dry-run`: one of
 * its options may name a module, whose code would be executed.
 */
static void show_command(const struct recorded_run *run, char *const *words) {
    fputs("cd ", stdout);
    ss_words_quote(stdout, run->folder);
    fputs("\nshowstopper", stdout);
    for (words++; *words; words++) {
        putchar(' ');
        ss_words_quote(stdout, *words);
    }
    putchar('\n');
}

/* Opens the record. With --dry-run, also accepts a record of another user, with a warning. */
static int open_acceptable(struct recorded_run *run, struct ss_error *error) {
    struct ss_error refusal = {0};
    if (open_record(run, &refusal) == 0)
        return 0;
    if (run->starts)
        return ss_error_fail(error, "%s", refusal.message);
    run->trust.everyone = true;
    if (open_record(run, error) < 0)
        return -1;
    fprintf(stderr, NAME ": %s\n", refusal.message);
    return 0;
}

/* Removes --trust-owner from the new options, and looks for --dry-run. */
static int take_options(struct recorded_run *run, char **given, struct ss_error *error) {
    char **kept = given;
    run->starts = true;

    while (*given) {
        size_t words = count_words_of(*given, "--trust-owner");
        const char *user = words == 2 ? given[1] : strchr(*given, '=');
        if (words == 0) {
            run->starts &= strcmp(*given, "--dry-run") != 0;
            *kept++ = *given++;
            continue;
        }

        if (!user)
            return ss_error_fail(error, "--trust-owner: the name of a user is missing");
        if (ss_trust_user(&run->trust, user + (words == 1), error) < 0)
            return -1;
        given += words;
    }

    *kept = NULL;
    return 0;
}

/* Checks the current folder, in which the command is executed if the recorded one is missing. */
static int check_current_folder(const struct recorded_run *run, struct ss_error *error) {
    SS_OWNED(free) char *path = realpath(".", NULL);
    SS_OWNED(close) int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!path || folder < 0)
        return ss_error_fail(error, "cannot open the current folder: %s", strerror(errno));
    return ss_state_check_start(folder, run->words, &run->trust, path, error);
}

/*
 * Changes to the folder where the run was started. Checks its owner: another user may have made the
 * folder again since, for example after a reboot, with other programs. Fails if the path has a link
 * of another user, who would otherwise choose where the command is executed.
 */
static int enter_folder(const struct recorded_run *run, struct ss_error *error) {
    struct ss_walk walk;
    int status = ss_walk_begin(&walk, run->folder);
    if (status == 0)
        status = ss_walk_folder(&walk, O_PATH);
    SS_OWNED(close) int folder = status;
    ss_walk_end(&walk);

    if (*walk.why)
        return ss_error_fail(error, "%s: %s", run->folder, walk.why);
    if (folder >= 0 &&
        ss_state_check_start(folder, run->words, &run->trust, run->folder, error) < 0)
        return -1;
    if (folder >= 0 && fchdir(folder) < 0)
        status = -errno;
    if (status >= 0)
        return 0;
    if (check_current_folder(run, error) < 0)
        return -1;

    fprintf(stderr,
        NAME ": cannot change to %s, where the run was recorded: %s: running the command here "
             "instead\n",
        ss_words_show(run->folder).text, strerror(-status));
    return 0;
}

static int repeat(struct recorded_run *run, char **argv, struct ss_error *error) {
    SS_OWNED(free) char *programs = find_programs(error);
    if (!programs || take_options(run, argv + 2, error) < 0 || open_acceptable(run, error) < 0 ||
        read_run(run, error) < 0)
        return -1;

    SS_OWNED(free) char *showstopper = ss_words_format(error, "%s/showstopper", programs);
    if (!showstopper)
        return -1;

    print_differences(argv[1], programs, run->plan);
    char **words = make_command(run, showstopper, argv + 2, error);
    if (!words)
        return -1;

    if (run->trust.everyone) {
        show_command(run, words);
        free(words);
        return 0;
    }

    if (enter_folder(run, error) < 0)
        return -1;
    execv(showstopper, words);
    return ss_paths_fail(showstopper, error);
}

static void close_run(struct recorded_run *run) {
    for (size_t i = 0; run->copies && i < run->copy_count; i++)
        free(run->copies[i]);
    free(run->copies);
    free(run->words);
    json_object_put(run->plan);
    ss_owned_close(&run->record);
}

static int run(char **argv, int *status, struct ss_error *error) {
    (void)status;
    if (!argv[0] || !argv[1])
        return ss_error_fail(error, "no record given: use showstopper --replay DIR");

    if (strcmp(argv[1], "--help") == 0) {
        puts("Usage: showstopper-replay DIR [OPTION]...\n"
             "Used by showstopper --replay DIR. Repeats the run recorded in DIR with its\n"
             "command and options, and the options given here. First prints how the machine\n"
             "differs.");
        return 0;
    }

    struct recorded_run recorded = {
        .name = argv[1], .trust.suggests_trust_owner = true, .record = -1};
    int result = repeat(&recorded, argv, error);
    close_run(&recorded);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main(NAME, run, argc, argv);
}
