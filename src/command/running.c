/* SPDX-License-Identifier: Apache-2.0 */
#include "command/running.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "loop/board.h"
#include "platform/platform.h"

/* Returns whether these are -q and -v, in any form, or the end of the options. */
static bool is_common(const char *word) {
    return strcmp(word, "--quiet") == 0 || strcmp(word, "--verbose") == 0 ||
           strcmp(word, "--") == 0 || (word[0] == '-' && !word[1 + strspn(word + 1, "qv")]);
}

/* Returns how many words this option of a request has, with its values; 0: it has no meaning. */
static size_t count_words(const char *request, const char *word) {
    static const struct {
        const char *request, *option;
        size_t words;
    } known[] = {
        {"--set", "--set", 3}, {"--status", "--status", 2}, {"--status", "--openmetrics", 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].option);
        if (strcmp(known[i].request, request) != 0 || strncmp(known[i].option, word, length) != 0)
            continue;
        if (word[length] == '=' || !word[length])
            return known[i].words - (word[length] == '=');
    }
    return is_common(word);
}

int ss_running_check_options(
    const struct ss_cli *cli, const char *request, struct ss_error *error) {
    for (char **word = cli->arguments + 1; *word;) {
        size_t count = count_words(request, *word);
        if (count == 0)
            return ss_error_fail(error, "%s cannot be combined with %s: leave out one of the two",
                request, ss_words_show(*word).text);
        word += count;
    }
    return 0;
}

/* The pids of running masters, as many as fit. */
struct masters {
    char list[128];
    bool more;
};

static void add_master(void *context, pid_t pid) {
    struct masters *masters = context;
    struct ss_error ignored = {0};
    struct ss_board *board = ss_board_attach(pid, &ignored);
    if (!board)
        return;
    ss_board_close(board);
    size_t used = strlen(masters->list);
    char item[16];
    int length = snprintf(item, sizeof item, "%s%d", used ? ", " : "", (int)pid);
    masters->more |= used + (size_t)length >= sizeof masters->list;
    if (!masters->more)
        memcpy(masters->list + used, item, (size_t)length + 1);
}

/* Fails with the reason; the message ends with the pids of running masters. */
static int refuse_pid(const char *option, const char *why, struct ss_error *error) {
    struct masters masters = {.list = ""};
    ss_platform_process_each(add_master, &masters);
    if (!*masters.list)
        return ss_error_fail(error, "%s: %s; no showstopper of yours is running here", option, why);
    return ss_error_fail(
        error, "%s: %s; running: %s%s", option, why, masters.list, masters.more ? ", ..." : "");
}

struct ss_board *ss_running_attach(const char *option, const char *pid, struct ss_error *error) {
    uint64_t process;
    char why[256];
    struct ss_error unattached = {0};
    struct ss_board *board = NULL;
    if (ss_units_count(pid, &process, &unattached) < 0 || process < 1 || process > INT32_MAX)
        snprintf(why, sizeof why, "'%s' is not a pid", ss_words_show(pid).text);
    else if (!(board = ss_board_attach((pid_t)process, &unattached)))
        snprintf(why, sizeof why, "%.250s", unattached.message);
    if (!board)
        refuse_pid(option, why, error);
    return board;
}
