/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/words.h"

#define LINE_BYTES_MAX ((size_t)1 << 20)

static ssize_t read_retrying(int descriptor, void *buffer, size_t size) {
    ssize_t length;
    do
        length = read(descriptor, buffer, size);
    while (length < 0 && errno == EINTR);
    return length;
}

/* Reads from the head, which was read to detect compression, and then from the descriptor. */
static ssize_t read_next(struct text_input *input, char *buffer, size_t size) {
    size_t left = input->head_length - input->head_used;
    if (left == 0)
        return read_retrying(input->descriptor, buffer, size);
    size_t length = left < size ? left : size;
    memcpy(buffer, input->head + input->head_used, length);
    input->head_used += length;
    return (ssize_t)length;
}

/*
 * The read function of the stream. While reading lines, fails if a line is too long, so that an
 * endless line does not exhaust memory.
 */
static ssize_t read_stream(void *cookie, char *buffer, size_t size) {
    struct text_input *input = cookie;
    ssize_t length = read_next(input, buffer, size);
    if (length <= 0 || !input->in_lines)
        return length;

    input->unbroken = memchr(buffer, '\n', (size_t)length) ? 0 : input->unbroken + (size_t)length;
    if (input->unbroken <= LINE_BYTES_MAX)
        return length;
    errno = EFBIG;
    return -1;
}

static int fill_head(struct text_input *input) {
    input->head_length = input->head_used = 0;
    while (input->head_length < TEXT_HEAD_SIZE) {
        ssize_t length = read_retrying(input->descriptor, input->head + input->head_length,
            TEXT_HEAD_SIZE - input->head_length);
        if (length < 0)
            return ss_error_fail(input->error, "cannot read %s: %s",
                ss_words_show(input->name).text, strerror(errno));
        if (length == 0)
            break;
        input->head_length += (size_t)length;
    }

    input->head[input->head_length] = '\0';
    return 0;
}

struct unpacker {
    const char *magic;
    size_t length;
    const char *program;
};

static const struct unpacker unpackers[] = {
    {"\x1f\x8b", 2, "gzip"},
    {"\xfd"
     "7zXZ",
        5, "xz"},
    {"\x28\xb5\x2f\xfd", 4, "zstd"},
};

static const char *find_unpacker(const struct text_input *input) {
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++) {
        if (input->head_length >= unpackers[i].length &&
            memcmp(input->head, unpackers[i].magic, unpackers[i].length) == 0)
            return unpackers[i].program;
    }
    return NULL;
}

/* Copies the input to a pipe, in a child. A reader that stops early is not a failure. */
_Noreturn static void feed(struct text_input *input, int to) {
    char buffer[65536];
    ssize_t length;
    while ((length = read_next(input, buffer, sizeof buffer)) > 0) {
        for (ssize_t done = 0; done < length;) {
            ssize_t written = write(to, buffer + done, (size_t)(length - done));
            if (written < 0 && errno != EINTR)
                _exit(errno == EPIPE ? 0 : 1);
            done += written > 0 ? written : 0;
        }
    }
    _exit(length < 0);
}

/*
 * Executes the unpacking program, in a child. Discards its messages, because the parent reports
 * failures. SIGPIPE ends the program if its reader stops early.
 */
_Noreturn static void unpack(const char *program, int from, int to) {
    signal(SIGPIPE, SIG_DFL);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execlp(program, program, "-dc", (char *)NULL);
    _exit(127);
}

/*
 * Starts two children: one copies the head and the rest of the input to the other, which unpacks
 * it.
 */
static int start_unpacking(struct text_input *input, const char *program) {
    int packed[2], plain[2];

    if (pipe2(packed, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(plain, O_CLOEXEC) < 0) {
        close(packed[0]);
        close(packed[1]);
        return -1;
    }

    input->children[0] = fork();
    if (input->children[0] == 0) {
        signal(SIGPIPE, SIG_IGN);
        /* If a reader stayed open here, the program would not get SIGPIPE, and would never end. */
        close(packed[0]);
        close(plain[0]);
        close(plain[1]);
        feed(input, packed[1]);
    }

    input->children[1] = fork();
    if (input->children[1] == 0)
        unpack(program, packed[0], plain[1]);

    close(packed[0]);
    close(packed[1]);
    close(plain[1]);
    if (input->descriptor != STDIN_FILENO)
        close(input->descriptor);
    input->descriptor = plain[0];

    return input->children[0] < 0 || input->children[1] < 0 ? -1 : 0;
}

/*
 * Drops a byte order mark, which spreadsheets and editors write before UTF-8. Concatenated files
 * have one at the beginning of a later line, too. Returns the new length.
 */
static size_t drop_mark(char *text, size_t length) {
    if (strncmp(text, "\xef\xbb\xbf", 3) != 0)
        return length;
    memmove(text, text + 3, length - 2);
    return length - 3;
}

static int begin(struct text_input *input) {
    if (fill_head(input) != 0)
        return -1;

    const char *program = input->unpacker = find_unpacker(input);
    if (program && start_unpacking(input, program) != 0)
        return ss_error_fail(
            input->error, "cannot unpack %s: %s", ss_words_show(input->name).text, strerror(errno));
    if (program && fill_head(input) != 0)
        return -1;
    input->head_length = drop_mark(input->head, input->head_length);

    static const cookie_io_functions_t functions = {.read = read_stream};
    input->stream = fopencookie(input, "r", functions);
    if (!input->stream)
        return ss_error_memory(input->error);
    setvbuf(input->stream, NULL, _IOFBF, 65536);
    return 0;
}

int text_input_open_descriptor(
    struct text_input *input, int descriptor, const char *name, struct ss_error *error) {
    memset(input, 0, offsetof(struct text_input, head));
    input->name = name;
    input->error = error;
    input->descriptor = descriptor;
    if (begin(input) == 0)
        return 0;
    text_input_close(input);
    return -1;
}

int text_input_open(struct text_input *input, const char *path, struct ss_error *error) {
    bool standard = !path || strcmp(path, "-") == 0;
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0)
        return text_input_open_descriptor(
            input, descriptor, standard ? "standard input" : path, error);
    memset(input, 0, offsetof(struct text_input, head));
    input->descriptor = -1;
    return ss_error_fail(error, "cannot open %s: %s%s", ss_words_show(path).text, strerror(errno),
        ss_advice_to_read(errno));
}

static int blame_length(struct text_input *input) {
    return text_input_blame(
        input, LINE_BYTES_MAX, "the line has more than %zu characters", LINE_BYTES_MAX);
}

int text_input_read_line(struct text_input *input) {
    if (input->pending) {
        input->pending = false;
        return 1;
    }

    input->in_lines = true;
    ssize_t length = getline(&input->text, &input->capacity, input->stream);
    /* getline() returns a partial line if read_stream() failed. */
    if (input->unbroken > LINE_BYTES_MAX) {
        input->line++;
        return blame_length(input);
    }

    if (length < 0 && !feof(input->stream))
        return ss_error_fail(
            input->error, "cannot read %s: %s", ss_words_show(input->name).text, strerror(errno));
    if (length < 0)
        return 0;

    input->line++;
    if (length > 0 && input->text[length - 1] == '\n')
        length--;
    if (length > 0 && input->text[length - 1] == '\r')
        length--;
    input->text[length] = '\0';
    input->length = drop_mark(input->text, (size_t)length);

    size_t text = strlen(input->text);
    if (text < input->length)
        return text_input_blame(input, text + 1, "the file contains a null byte: it is not text");
    if (input->length > LINE_BYTES_MAX)
        return blame_length(input);
    return 1;
}

void text_input_unread_line(struct text_input *input) {
    input->pending = true;
}

int text_input_blame(struct text_input *input, size_t column, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ss_error_fail(input->error, "%s:%llu:%zu: %s%s%s%s", ss_words_show(input->name).text,
        (unsigned long long)(input->line ? input->line : 1), column, message,
        input->text ? ", in \"" : "", input->text ? ss_words_show(input->text).text : "",
        input->text ? "\"" : "");
}

/*
 * Waits for the children. Their failure replaces any error in the data, which it explains. SIGPIPE
 * is not a failure, because this process may stop reading early.
 */
static int reap(struct text_input *input) {
    const char *why = NULL, *unpacker = "";
    for (int i = 0; i < 2; i++) {
        int status = 0;
        if (input->children[i] <= 0)
            continue;

        while (waitpid(input->children[i], &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
            why = " is missing: install it";
            unpacker = input->unpacker;
        } else if (!why && status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)) {
            why = "the file is damaged";
        }
    }

    if (!why)
        return 0;
    input->error->status = 0;
    return ss_error_fail(
        input->error, "cannot unpack %s: %s%s", ss_words_show(input->name).text, unpacker, why);
}

int text_input_close(struct text_input *input) {
    if (input->stream)
        fclose(input->stream);
    if (input->descriptor > STDIN_FILENO)
        close(input->descriptor);
    free(input->text);
    input->stream = NULL;
    input->text = NULL;
    input->descriptor = -1;

    int result = reap(input);
    input->children[0] = input->children[1] = 0;
    return result;
}
