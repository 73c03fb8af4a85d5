/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JSON_JSON_DOCUMENT_H
#define JSON_JSON_DOCUMENT_H

/*
 * JSON documents of up to 16 MiB, read as a whole with json-c. Free a document, not its members,
 * with json_object_put().
 */

#include <json-c/json.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Parses a text. If it is not exactly one JSON value, or is null, returns NULL with the reason in
 * `why`.
 */
SS_WRITES(2, 3)
struct json_object *document_parse(const char *text, char *why, size_t size) SS_NONNULL();

SS_WRITES(2, 3)
struct json_object *document_parse_stream(FILE *stream, char *why, size_t size) SS_NONNULL();

/*
 * Reads a file. Returns NULL with the error set; `hint` says what to do if the file is missing, or
 * is "".
 */
struct json_object *document_read(const char *folder, const char *name, const char *hint,
    struct ss_error *error) SS_NONNULL(1, 2, 3);

/*
 * Returns the member with this name and type; NULL if `object` lacks it, is NULL or is not an
 * object.
 */
struct json_object *document_get(
    const struct json_object *object, const char *name, enum json_type type) SS_NONNULL(2);

/* Return a member; NULL or NaN if it is absent or of another type. */
const char *document_text(const struct json_object *object, const char *name) SS_NONNULL(2);
double document_number(const struct json_object *object, const char *name) SS_NONNULL(2);

/* Returns the text of a string; NULL if the value is not a string. */
const char *document_as_text(struct json_object *value);

/* Fails if the document of a record has a later schema than SS_RECORD_SCHEMA. Accepts NULL. */
SS_MUST_USE int document_check_record(const struct json_object *document, struct ss_error *error);

#endif
