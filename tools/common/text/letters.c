/* SPDX-License-Identifier: Apache-2.0 */
#include "letters.h"

#include <stdbool.h>

size_t text_letter_length(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (length == 0 || *at > 0xf4 || *at < ' ' || *at == 0x7f)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
    bool surrogate = *at == 0xed && at[1] >= 0xa0;
    bool beyond = (*at == 0xf4 && at[1] >= 0x90) || (*at == 0xc2 && at[1] < 0xa0) ||
                  (*at == 0xef && at[1] == 0xbf && at[2] >= 0xbe);
    return overlong || surrogate || beyond ? 0 : length;
}
