#include "formats/plain.h"

/* Bytes of the character that begins here, 0 where it is not valid UTF-8 (RFC 3629); its number goes to *code. */
static int decode(const unsigned char *at, unsigned *code)
{
    const int count = *at < 0x80                  ? 1
                      : *at >= 0xc2 && *at < 0xe0 ? 2
                      : *at >= 0xe0 && *at < 0xf0 ? 3
                      : *at >= 0xf0 && *at < 0xf5 ? 4
                                                  : 0;
    *code = count < 2 ? *at : *at & (0x7fu >> count);
    for (int i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    const bool overlong = (count == 3 && *code < 0x800) || (count == 4 && *code < 0x10000);
    return overlong || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : count;
}

/* Control characters (C0, DEL, C1), line and paragraph separators, marks that change the direction of writing, and
 * characters without a width, which hide in names. */
static bool is_hidden(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xe0000 && code < 0xe0080);
}

bool sp_is_plain(const char *text)
{
    int count;
    unsigned code;
    for (const unsigned char *at = (const unsigned char *)text; *at; at += count) {
        count = decode(at, &code);
        if (count == 0 || is_hidden(code))
            return false;
    }
    return true;
}

void sp_print_plain(const char *text, FILE *stream)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned code;
        const int count = decode(at, &code);
        if (count == 0 || is_hidden(code))
            putc('?', stream);
        else
            fwrite(at, 1, (size_t)count, stream);
        at += count > 0 ? count : 1;
    }
}
