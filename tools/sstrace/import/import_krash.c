/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import_lines.h"
#include "scale.h"
#include "stamp.h"

/*
 * A profile of KRASH: `cpu { profile { CPU { SECONDS PERCENT ... } ... } } kill SECONDS`. The outer
 * blocks may be missing, and `kill` may be in a CPU's block. A load holds until the next one.
 */

#define EVENTS_MAX ((size_t)1 << 20)
#define CPUS_MAX   1024
#define TOKEN      64

struct event {
    int64_t time; /* ns */
    double load;
    uint32_t cpu; /* index of the CPU's block */
};

struct krash {
    struct sstrace_samples *samples;
    struct text_input *input;
    struct sstrace_scale scale;

    const char *at; /* position in the line; NULL if the next line must be read */
    char token[TOKEN];
    struct text_field field; /* the whole token as a field; `token` may be truncated */

    struct event *events;
    size_t count, capacity;
    uint64_t cpus[CPUS_MAX];
    uint32_t cpus_count;
    int64_t kill; /* ns; -1 if the profile does not say when it ends */
};

static bool is_sign(char letter) {
    return letter && strchr("{}=", letter);
}

/* Reads the next token. Returns 1, 0 at the end of the file, or -1 with the error set. */
static int next(struct krash *it) {
    for (;;) {
        if (!it->at) {
            int result = text_input_read_line(it->input);
            if (result <= 0)
                return result;
            it->at = it->input->text;
            sstrace_lines_warn(it->input);
        }
        it->at += strspn(it->at, " \t\r\v\f");
        if (*it->at && *it->at != '#')
            break;
        it->at = NULL;
    }

    size_t length = is_sign(*it->at) ? 1 : strcspn(it->at, " \t\r\v\f{}=#");
    it->field = (struct text_field){
        .text = it->at, .length = length, .column = (size_t)(it->at - it->input->text) + 1};

    it->at += length;
    snprintf(it->token, sizeof it->token, "%.*s", length < TOKEN ? (int)length : TOKEN - 1,
        it->field.text);
    return 1;
}

static int blame(struct krash *it, const char *expected) {
    return text_input_blame(it->input, it->field.column, "expected %s, not '%s'", expected,
        ss_words_show(it->token).text);
}

/* Reads the next token; fails at the end of the file. */
static int need(struct krash *it, const char *expected) {
    int result = next(it);
    if (result == 0)
        return text_input_blame(
            it->input, it->input->length + 1, "expected %s, not the end of the file", expected);
    return result < 0 ? -1 : 0;
}

static int need_sign(struct krash *it, char sign) {
    const char expected[] = {'\'', sign, '\'', '\0'};
    if (need(it, expected) != 0)
        return -1;
    return *it->token == sign ? 0 : blame(it, expected);
}

static int read_seconds(struct krash *it, int64_t *time) {
    if (sstrace_stamp_number(it->field.text, it->field.length, 1000000000, time) && *time >= 0)
        return 0;
    return blame(it, "a number of seconds");
}

static int read_kill(struct krash *it) {
    if (need(it, "a number of seconds") != 0 || read_seconds(it, &it->kill) != 0)
        return -1;
    return it->kill > 0 ? 0 : blame(it, "a number of seconds above 0");
}

/* Reads SECONDS PERCENT; `token` has the first. `before` is the time of the previous load. */
static int read_event(struct krash *it, uint32_t cpu, bool selected, int64_t *before) {
    struct event event = {.cpu = cpu};
    double number;

    if (read_seconds(it, &event.time) != 0)
        return -1;
    if (event.time <= *before)
        return blame(it, "a time after the previous one");
    *before = event.time;

    if (need(it, "a load") != 0 ||
        sstrace_scale_load(&it->scale, it->input, &it->field, &number, &event.load) != 0)
        return -1;
    if (!(event.load >= 0 && event.load <= 1))
        return blame(it, "a load from 0 to 100 %");

    if (!selected)
        return 0;
    if (it->count == EVENTS_MAX)
        return text_input_blame(
            it->input, it->field.column, "too many loads (at most %zu)", EVENTS_MAX);
    if (!SS_GROW(it->events, it->count + 1, it->capacity))
        return ss_error_memory(it->input->error);

    it->events[it->count++] = event;
    return 0;
}

/* Reads the block of a CPU, whose number is in `token`. */
static int read_cpu(struct krash *it) {
    uint64_t number = strtoull(it->token, NULL, 10);
    int64_t before = -1;

    if (it->token[strspn(it->token, "0123456789")] || strlen(it->token) > 9)
        return blame(it, "cpu, profile, kill, NAME = VALUE or the number of a CPU");

    for (uint32_t i = 0; i < it->cpus_count; i++) {
        if (it->cpus[i] == number)
            return text_input_blame(it->input, it->field.column, "this CPU appears twice");
    }
    if (it->cpus_count == CPUS_MAX)
        return text_input_blame(
            it->input, it->field.column, "too many CPUs (at most %d)", CPUS_MAX);

    uint32_t cpu = it->cpus_count++;
    it->cpus[cpu] = number;
    bool selected = !it->samples->options->select || sstrace_samples_select(it->samples, it->token);

    int result = need_sign(it, '{');
    while (result == 0 && (result = need(it, "SECONDS PERCENT or '}'")) == 0) {
        if (strcmp(it->token, "}") == 0)
            return 0;
        result =
            strcmp(it->token, "kill") == 0 ? read_kill(it) : read_event(it, cpu, selected, &before);
    }

    return -1;
}

/* Reads an item outside of the blocks of CPUs. */
static int read_item(struct krash *it, unsigned int *depth) {
    if (strcmp(it->token, "}") == 0 && *depth > 0) {
        --*depth;
        return 0;
    }

    if (strcmp(it->token, "cpu") == 0 || strcmp(it->token, "profile") == 0) {
        ++*depth;
        return need_sign(it, '{');
    }
    if (strcmp(it->token, "kill") == 0)
        return read_kill(it);
    if (!ss_words_has("cgroup_root all_name burner_basename", ' ', it->token))
        return read_cpu(it);

    if (need_sign(it, '=') != 0 || need(it, "a value") != 0)
        return -1;
    return is_sign(*it->token) ? blame(it, "a value") : 0;
}

static int compare(const void *a, const void *b) {
    const struct event *left = a, *right = b;
    return (left->time > right->time) - (left->time < right->time);
}

/*
 * Finds the end of the profile: the time of `kill`. Without that, the last load lasts for --every
 * or, by default, as long as the previous one.
 */
static int find_end(struct krash *it, int64_t *end) {
    int64_t last = it->events[it->count - 1].time, before = last;
    for (size_t i = it->count; i > 0 && before == last; i--)
        before = it->events[i - 1].time;
    int64_t length = (int64_t)it->samples->options->every;

    *end = it->kill;
    if (it->kill >= 0)
        return 0;

    if (length == 0)
        length = last - before;
    if (length == 0 || __builtin_add_overflow(last, length, end))
        return text_input_blame(it->input, 1,
            "the profile does not say when it ends: add 'kill SECONDS', or set the length of "
            "the last load with --every");
    return 0;
}

/* Adds the changes of all CPUs in order of time. The load of a CPU is 0 before its first change. */
static int give_all(struct krash *it) {
    const struct sstrace_import_options *options = it->samples->options;
    uint64_t cpus = options->cpus ? options->cpus : it->cpus_count;
    struct sstrace_sample sample = {.to = sstrace_lines_begin(it->samples)};
    int64_t end, from = 0;
    double loads[CPUS_MAX] = {0};
    if (options->select)
        cpus = 1;
    else if (cpus < it->cpus_count)
        return text_input_blame(it->input, 1, "the profile has %u CPUs, more than --cpus %llu",
            (unsigned int)it->cpus_count, (unsigned long long)cpus);
    qsort(it->events, it->count, sizeof *it->events, compare);
    if (find_end(it, &end) != 0)
        return -1;

    for (size_t i = 0; from < end; i++) {
        const struct event *event = i < it->count ? &it->events[i] : NULL;
        int64_t to = event && event->time < end ? event->time : end;
        double sum = 0;
        for (uint32_t cpu = 0; cpu < it->cpus_count && to > from; cpu++)
            sum += loads[cpu];
        sample.load = sum / (double)cpus;
        if (to > from && sstrace_lines_add(it->samples, it->input, 1, &sample, to - from) != 0)
            return -1;
        from = to;
        if (event)
            loads[event->cpu] = event->load;
    }
    return 0;
}

static int read_profile(struct krash *it) {
    unsigned int depth = 0;
    int result;

    if (sstrace_scale_set(
            &it->scale, it->samples->options, SSTRACE_UNIT_PERCENT, it->input->error) != 0)
        return -1;

    while ((result = next(it)) > 0) {
        if (read_item(it, &depth) != 0)
            return -1;
    }
    if (result < 0)
        return -1;
    if (depth > 0)
        return text_input_blame(
            it->input, it->input->length + 1, "expected '}', not the end of the file");

    if (it->count > 0)
        return give_all(it);

    /* If the selected CPU is absent, sstrace_samples_end() lists the CPUs of the profile. */
    if (it->samples->options->select && it->cpus_count > 0)
        return 0;
    return text_input_blame(it->input, 1, "the profile has no CPU { SECONDS PERCENT ... }");
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    (void)format;
    struct krash *it = calloc(1, sizeof *it);
    if (!it)
        return ss_error_memory(input->error);
    it->samples = samples;
    it->input = input;
    it->kill = -1;
    int result = read_profile(it);
    free(it->events);
    free(it);
    return result;
}

/* Returns whether the input begins with `cpu {` or `0 {`, after comments. */
static bool detect(const char *head) {
    for (head += strspn(head, " \t\r\n"); *head == '#'; head += strspn(head, " \t\r\n"))
        head += strcspn(head, "\n");
    size_t word = strncmp(head, "cpu", 3) == 0 ? 3 : strspn(head, "0123456789");
    return word > 0 && head[word + strspn(head + word, " \t\r\n")] == '{';
}

const struct sstrace_format sstrace_format_krash = {
    .name = "krash",
    .summary = "load profile of KRASH: the mean of its CPUs (or of --cpus N), or --select CPU",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY | SSTRACE_TAKES_UNIT | SSTRACE_TAKES_CPUS,
    .detect = detect,
    .import = import,
};
