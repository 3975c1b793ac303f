/* Comparison of the directory at the end of a zip archive with the members that were read. */
#include "formats/container_internal.h"

#include <string.h>

static uint64_t little(const char *bytes, int count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | (unsigned char)bytes[count];
    return value;
}

bool sp_zip_plain(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return length > 0;
}

/* FNV-1a. */
void sp_zip_list(uint64_t *listing, const char *name, size_t length, uint64_t size)
{
    for (size_t i = 0; i < length; i++)
        *listing = (*listing ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 9; i++, size >>= 8)
        *listing = (*listing ^ (size & 255)) * UINT64_C(0x100000001b3);
}

/* Uncompressed size in a directory entry: 32 bits, or the zip64 field (number 1). */
static uint64_t directory_size(const char *entry, int64_t name, int64_t extra)
{
    uint64_t size = little(entry + 24, 4);
    if (size != UINT32_MAX)
        return size;
    const char *field = entry + 46 + name, *end = field + extra;
    for (; end - field >= 4; field += 4 + little(field + 2, 2)) {
        if (little(field, 2) == 1 && end - field >= 12 && little(field + 2, 2) >= 8)
            return little(field + 4, 8);
        if ((uint64_t)(end - field) < 4 + little(field + 2, 2))
            break;
    }
    return size;
}

bool sp_zip_directory_agrees(const char *bytes, int64_t count, int64_t first, int64_t members, uint64_t listing)
{
    enum { END = 22, LOCATOR = 20, WIDE_END = 56, ENTRY = 46 };

    /* The archive ends with the end record: no comment follows it. */
    const char *end = bytes + count - END;
    if (count < END || memcmp(end, "PK\5\6", 4) || little(end + 20, 2))
        return false;

    uint64_t entries = little(end + 10, 2), offset = little(end + 16, 4);

    /* A Zip64 record replaces its numbers where a locator precedes the end record. */
    if (count >= END + LOCATOR && !memcmp(end - LOCATOR, "PK\6\7", 4)) {
        int64_t wide = (int64_t)little(end - LOCATOR + 8, 8) - first;
        if (wide < 0 || wide > count - END - LOCATOR - WIDE_END || memcmp(bytes + wide, "PK\6\6", 4))
            return false;
        entries = little(bytes + wide + 32, 8);
        offset = little(bytes + wide + 48, 8);
        end = bytes + wide;
    }

    if (entries != (uint64_t)members || offset > INT64_MAX || (int64_t)offset < first ||
        (int64_t)offset - first > end - bytes)
        return false;

    const char *at = bytes + ((int64_t)offset - first);
    uint64_t found = 0;
    for (uint64_t i = 0; i < entries; i++) {
        if (end - at < ENTRY || memcmp(at, "PK\1\2", 4))
            return false;

        int64_t name = (int64_t)little(at + 28, 2), extra = (int64_t)little(at + 30, 2),
                comment = (int64_t)little(at + 32, 2);
        if (end - at < ENTRY + name + extra + comment)
            return false;

        const size_t plain = sp_zip_plain(at + ENTRY, (size_t)name) ? (size_t)name : 0;
        sp_zip_list(&found, at + ENTRY, plain, directory_size(at, name, extra));
        at += ENTRY + name + extra + comment;
    }

    return at == end && found == listing;
}
