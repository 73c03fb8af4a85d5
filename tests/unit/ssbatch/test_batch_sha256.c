/* SPDX-License-Identifier: Apache-2.0 */

/* The vectors of FIPS 180-4 and of NIST's examples. */

#include "sha256.h"
#include "tree.h"

static void assert_digest(const char *text, size_t times, const char *expected) {
    struct ssbatch_sha256 hash;
    char digest[SSBATCH_SHA256_TEXT_SIZE];
    ssbatch_sha256_begin(&hash);
    for (size_t i = 0; i < times; i++)
        ssbatch_sha256_add(&hash, text, strlen(text));
    ssbatch_sha256_end(&hash, digest);
    assert_string_equal(digest, expected);
}

TEST(digests_match_the_examples_of_the_standard) {
    assert_digest("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    assert_digest("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* From 56 bytes on, the padding needs another block. */
TEST(digests_are_correct_for_every_padding_length) {
    assert_digest("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_digest("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    assert_digest("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(file_digest_equals_digest_of_its_contents) {
    char digest[SSBATCH_SHA256_TEXT_SIZE];
    tree_new();
    const char *path = tree_write("file", "abc");
    assert_int_equal(ssbatch_sha256_of_file(path, digest), 0);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    remove(path);
    assert_int_equal(ssbatch_sha256_of_file(path, digest), -1);
}

UNIT_RUN
