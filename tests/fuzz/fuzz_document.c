/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fuzz.h"
#include "json_document.h"

static void check_member(const struct json_object *object, const char *name) {
    const char *text = document_text(object, name);
    double number = document_number(object, name);
    struct json_object *list = document_get(object, name, json_type_array);
    FUZZ_CHECK(isnan(number) || isfinite(number));
    FUZZ_CHECK((text != NULL) + (list != NULL) + !isnan(number) <= 1);
}

static void check_value(struct json_object *value) {
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            check_value(json_object_array_get_idx(value, i));
    } else if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, name, member) {
            check_member(value, name);
            check_value(member);
        }
    }
}

static void check_message(const char *message) {
    FUZZ_CHECK(*message && !strpbrk(message, "\n\r"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ss_error error = {0};
    char why[256];
    char *text = fuzz_text(data, size);
    struct json_object *document = document_parse(text, why, sizeof why);
    if (document)
        check_value(document);
    else
        check_message(why);
    if (document_check_record(document, &error) < 0)
        check_message(error.message);
    json_object_put(document);
    free(text);
    return 0;
}
