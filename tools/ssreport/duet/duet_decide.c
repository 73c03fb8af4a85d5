/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_decide.h"

#include <math.h>
#include <string.h>

#include "duet_words.h"

enum duet_status duet_status_of(const struct duet_study *study) {
    if (study->decision != DUET_CONTINUES && ssreport_worth_is_nothing(&study->worth))
        return DUET_STATUS_UNDECIDED;
    switch (study->decision) {
    case DUET_CONTINUES:
        return DUET_STATUS_CONTINUES;
    case DUET_FAILED:
        return DUET_STATUS_FAILED;
    case DUET_PASSED:
        return DUET_STATUS_DONE;
    case DUET_PRECISE:
    case DUET_ENDED:
        break;
    }
    return isnan(study->fail_above) ? DUET_STATUS_DONE : DUET_STATUS_UNDECIDED;
}

void duet_print(FILE *stream, const struct duet_study *study) {
    char text[DUET_TEXT];
    duet_answer(study, text, sizeof text);
    fprintf(stream, "%s\n", text);
    duet_doubt(study, text, sizeof text);
    if (*text)
        fprintf(stream, "Doubtful: %s\n", text);
}

/* Prints a command as code, up to its first backquote or line feed, which would end the code. */
static void print_code(FILE *stream, const char *command) {
    fprintf(stream, "`%.*s`", (int)strcspn(command, "`\n"), command);
}

void duet_print_markdown(FILE *stream, const struct duet_study *study) {
    char text[DUET_TEXT];
    duet_answer(study, text, sizeof text);
    fprintf(stream, "**%s** (A: ", text);
    print_code(stream, study->a);
    fputs(", B: ", stream);
    print_code(stream, study->b);
    duet_describe_size(study, text, sizeof text);
    fprintf(stream, "; %s)", text);
    duet_doubt(study, text, sizeof text);
    fprintf(stream, "%s%s\n", *text ? " Doubtful: " : "", text);
}
