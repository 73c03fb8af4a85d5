/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_CONTRACT_H
#define SHOWSTOPPER_CONTRACT_H

/* Function contracts that compilers can check. */

/* Parameter `text` is a printf() format, whose arguments begin at `first`. Counted from 1. */
#define SS_FORMAT(text, first) __attribute__((format(printf, text, first)))

#define SS_MUST_USE __attribute__((warn_unused_result))

/* These parameters, counted from 1, must not be NULL. An empty list means all pointers. */
#define SS_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))

/* `pointer` points to `count` elements. Both are positions of parameters, counted from 1. */
#if __has_attribute(access)
#define SS_READS(pointer, count)  __attribute__((access(read_only, pointer, count)))
#define SS_WRITES(pointer, count) __attribute__((access(write_only, pointer, count)))
#else
#define SS_READS(pointer, count)
#define SS_WRITES(pointer, count)
#endif

#endif
