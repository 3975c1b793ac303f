#include "formats/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sp_npy_print(char preamble[SP_NPY_BUFFER], const char *descriptor, bool fortran, int rank, const int64_t *shape)
{
    char dict[SP_NPY_BUFFER - 80];
    int length = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (", descriptor,
                          fortran ? "True" : "False");

    for (int i = 0; i < rank; i++)
        length += snprintf(dict + length, sizeof dict - (size_t)length, i == 0 || rank == 1 ? "%lld%s" : " %lld%s",
                           (long long)shape[i], i + 1 < rank || rank == 1 ? "," : "");
    length += snprintf(dict + length, sizeof dict - (size_t)length, "), }");

    /* NumPy aligns the values to 64 bytes: blanks and a line end fill the header. */
    int total = (10 + length + 1 + 63) / 64 * 64;
    memset(preamble, ' ', (size_t)total);
    memcpy(preamble, "\x93NUMPY\x01\x00", 8);
    preamble[8] = (char)((total - 10) & 255);
    preamble[9] = (char)((total - 10) >> 8);

    memcpy(preamble + 10, dict, (size_t)length);
    preamble[total - 1] = '\n';
    return total;
}

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t')
        at++;
    return at;
}

/* Parses a shape such as "(2, 3)". */
static const char *parse_shape(const char *at, sp_npy_header *header)
{
    if (*at++ != '(')
        return NULL;

    /* The number of bytes is computed as if no extent were 0, so that every product of extents is in range. */
    int64_t bytes = 8;
    header->rank = 0;
    header->count = 1;

    for (at = skip_spaces(at); *at != ')'; at = skip_spaces(at)) {
        char *end;
        errno = 0;
        long long extent = strtoll(at, &end, 10);
        if (end == at || extent < 0 || header->rank == SP_NPY_RANK)
            return NULL;

        header->too_large = errno || __builtin_mul_overflow(bytes, extent ? extent : 1, &bytes);
        if (header->too_large)
            return NULL;
        header->shape[header->rank++] = extent;
        header->count *= extent;

        at = skip_spaces(end);
        if (*at == ',')
            at++;
        else if (*at != ')')
            return NULL;
    }
    return at + 1;
}

/* Parses a descriptor such as '<f8'. */
static const char *parse_descriptor(const char *at, sp_npy_header *header)
{
    if (*at++ != '\'')
        return NULL;
    const char *end = strchr(at, '\'');
    if (!end || end - at >= (int)sizeof header->descriptor)
        return NULL;
    memcpy(header->descriptor, at, (size_t)(end - at));
    return end + 1;
}

static const char *parse_order(const char *at, sp_npy_header *header)
{
    header->fortran = !strncmp(at, "True", 4);
    return header->fortran ? at + 4 : !strncmp(at, "False", 5) ? at + 5 : NULL;
}

bool sp_npy_parse(const char *dictionary, sp_npy_header *header)
{
    static const struct {
        const char *name;
        const char *(*parse)(const char *at, sp_npy_header *header);
    } keys[] = {{"'descr':", parse_descriptor}, {"'fortran_order':", parse_order}, {"'shape':", parse_shape}};
    int seen = 0;

    *header = (sp_npy_header){0};
    const char *at = skip_spaces(dictionary);
    if (*at++ != '{')
        return false;

    /* The three keys in any order, each exactly once. */
    for (at = skip_spaces(at); *at != '}'; at = skip_spaces(at)) {
        int key = 0;
        while (key < 3 && strncmp(at, keys[key].name, strlen(keys[key].name)))
            key++;
        if (key == 3 || seen >> key & 1)
            return false;
        seen |= 1 << key;

        at = keys[key].parse(skip_spaces(at + strlen(keys[key].name)), header);
        if (!at)
            return false;

        at = skip_spaces(at);
        if (*at == ',')
            at++;
        else if (*at != '}')
            return false;
    }

    return seen == 7 && !*skip_spaces(at + 1);
}
