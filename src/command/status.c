/* SPDX-License-Identifier: Apache-2.0 */
#include "command/status.h"

#include <inttypes.h>
#include <math.h>

#include "base/wallclock.h"
#include "base/whole_file.h"
#include "command/running.h"
#include "command/status_metrics.h"
#include "loop/board.h"
#include "platform/platform.h"

static void print_percent(FILE *stream, const char *name, double value, const char *otherwise) {
    if (isnan(value))
        fprintf(stream, ", %s %s", name, otherwise);
    else
        fprintf(stream, ", %s %.2f%%", name, 100 * value);
}

void ss_status_print(FILE *stream, const struct ss_board *board, ss_time now, int64_t wallclock) {
    struct ss_board_sample sample = {.target = NAN, .load = NAN, .duty = NAN};
    bool sampled = ss_board_read_sample(board, &sample);
    double setpoint = ss_double_from_word(atomic_load(&board->setpoint));
    ss_time start = atomic_load(&board->control_start);
    fprintf(stream, "showstopper %d: %s", (int)board->master, ss_running_state(board, now));
    if (isnan(setpoint))
        print_percent(stream, "target", sample.target, sampled ? "none" : "unknown");
    else
        fprintf(stream, ", target %.2f%% (--set)", 100 * setpoint);
    print_percent(stream, "load", sample.load, "not measured yet");
    print_percent(stream, "duty", sample.duty, sampled ? "none" : "unknown");
    fprintf(stream, ", %" PRIu32 " of %" PRIu32 " instances", atomic_load(&board->alive),
        board->instances);
    if (start <= now) {
        char since[64];
        ss_wallclock_print(since, sizeof since, wallclock - (int64_t)(now - start));
        fprintf(stream, ", since %s (%.0f s)", since,
            ss_time_seconds(ss_running_controlled(board, now)));
    }
    fputc('\n', stream);
}

static int write_metrics(
    FILE *stream, const char *path, const struct ss_board *board, struct ss_error *error) {
    struct ss_whole_file file;
    if (strcmp(path, "-") == 0) {
        ss_status_print_metrics(stream, board, ss_platform_now());
        return 0;
    }
    if (ss_whole_file_check(path, error) < 0 || ss_whole_file_begin(&file, path, error) < 0)
        return ss_error_wrap(error, "--openmetrics");
    ss_status_print_metrics(file.stream, board, ss_platform_now());
    return ss_whole_file_end(&file, path, error) < 0 ? ss_error_wrap(error, "--openmetrics") : 0;
}

int ss_status_show(FILE *stream, const struct ss_cli *cli, struct ss_error *error) {
    struct ss_board *board = ss_running_attach("--status", cli->status_pid, error);
    if (!board)
        return -1;
    int result = 0;
    if (cli->metrics)
        result = write_metrics(stream, cli->metrics, board, error);
    else
        ss_status_print(stream, board, ss_platform_now(), ss_platform_wallclock());
    ss_board_close(board);
    return result;
}
