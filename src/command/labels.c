/* SPDX-License-Identifier: Apache-2.0 */
#include "command/labels.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"

/* Characters allowed in a name. None of them needs quotes in any format of a record. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static int check_name(const char *text, size_t length, struct ss_error *error) {
    struct ss_words_shown shown = ss_words_show(text);
    if (!text[length])
        return ss_error_fail(error, "'%s' has no value: write NAME=VALUE", shown.text);
    if (length == 0 || *text == '-' || strspn(text, letters) < length)
        return ss_error_fail(error,
            "'%s' does not begin with a name: write NAME=VALUE, with letters, digits, _ and - in "
            "NAME, which must not begin with -",
            shown.text);
    if (length > SS_LABEL_NAME_MAX)
        return ss_error_fail(error, "the name in '%s' has %zu characters: the maximum is %d",
            shown.text, length, SS_LABEL_NAME_MAX);
    return 0;
}

static int check_value(const char *text, size_t name, struct ss_error *error) {
    const char *value = text + name + 1;
    size_t length = strlen(value);
    if (length > SS_LABEL_VALUE_MAX)
        return ss_error_fail(error, "the value of '%.*s' has %zu bytes: the maximum is %d",
            (int)name, text, length, SS_LABEL_VALUE_MAX);
    for (const char *at = value; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return ss_error_fail(error,
                "the value of '%.*s' contains a control character, such as a line end or a tab: "
                "write it on one line, with spaces",
                (int)name, text);
    }
    return 0;
}

int ss_labels_add(struct ss_labels *labels, const char *text, struct ss_option_store *store,
    struct ss_error *error) {
    size_t length = strcspn(text, "=");
    if (check_name(text, length, error) < 0 || check_value(text, length, error) < 0)
        return -1;
    for (size_t i = 0; i < labels->count; i++) {
        const char *name = labels->items[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            return ss_error_fail(error, "'%s' is given twice: give each name once", name);
    }
    if (labels->count == SS_LABELS_MAX)
        return ss_error_fail(
            error, "'%.*s': too many labels (at most %d)", (int)length, text, SS_LABELS_MAX);
    char name[SS_LABEL_NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    struct ss_label label = {
        ss_option_store_add(store, name), ss_option_store_add(store, text + length + 1)};
    if (!label.name || !label.value)
        return ss_error_memory(error);
    labels->items[labels->count++] = label;
    return 0;
}
