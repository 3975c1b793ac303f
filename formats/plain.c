#include "formats/plain.h"

/* Number of bytes of the character that begins here, 0 if it is not valid UTF-8 (RFC 3629); *code receives its code
 * point. */
static int decode(const unsigned char *at, unsigned *code)
{
    int count = 0;
    if (*at < 0x80)
        count = 1;
    else if (*at >= 0xc2 && *at < 0xe0)
        count = 2;
    else if (*at >= 0xe0 && *at < 0xf0)
        count = 3;
    else if (*at >= 0xf0 && *at < 0xf5)
        count = 4;

    *code = count < 2 ? *at : *at & (0x7fu >> count);
    for (int i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }

    /* A code point in more bytes than it needs, beyond Unicode, or half of a surrogate pair, is not valid. */
    const bool overlong = (count == 3 && *code < 0x800) || (count == 4 && *code < 0x10000);
    return overlong || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : count;
}

/* Control characters (C0, DEL, C1), line and paragraph separators, marks that change the direction of writing, and
 * zero-width characters, which may hide in names. */
static bool is_hidden(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xe0000 && code < 0xe0080);
}

int sp_plain_next(const char *at, bool *plain)
{
    unsigned code;
    const int count = decode((const unsigned char *)at, &code);
    *plain = count > 0 && !is_hidden(code);
    return count > 0 ? count : 1;
}

bool sp_is_plain(const char *text)
{
    bool plain = true;
    while (*text && plain)
        text += sp_plain_next(text, &plain);
    return plain;
}

void sp_print_plain(const char *text, FILE *stream)
{
    bool plain;
    for (int length; *text; text += length) {
        length = sp_plain_next(text, &plain);
        if (plain)
            fwrite(text, 1, (size_t)length, stream);
        else
            putc('?', stream);
    }
}
