/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_CONTRACT_H
#define SHOWSTOPPER_CONTRACT_H

/* What a compiler can check of a function's contract. */

/* Like printf(): which parameter is the format and which is its first argument, counted from 1. */
#define SS_FORMAT(text, first) __attribute__((format(printf, text, first)))

/* The result must not be ignored. */
#define SS_MUST_USE __attribute__((warn_unused_result))

/* These parameters, counted from 1, are never NULL. */
#define SS_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))

#endif
