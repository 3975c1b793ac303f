#include "formats/import/volume_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 125 }; /* of an element */
enum { ASCII_RECORD = 8 }; /* number of bytes of the shortest node, element or block header in text: "1 0 0 0\n" */

struct msh_entity {
    int64_t tag, physical;
};

/* A geometric entity of version 4 in a physical group; of a volume the first one gives the region. */
struct msh_member {
    int64_t dimension, tag, physical;
};

struct msh {
    struct sp_volume_reader in; /* in.text.binary: the file is binary */
    const char *section;        /* for messages */
    bool swap;                  /* binary in the opposite byte order */
    int major, minor;
    int size_bytes;   /* of the counts of version 4: 4 or 8 */
    sp_list entities; /* struct msh_entity, volumes of version 4 */
    sp_list members;  /* struct msh_member */
    sp_list names;    /* struct sp_volume_group_name, physical volumes */
    sp_list others;   /* struct sp_volume_set_name, physical points, curves and surfaces */
    int64_t skipped;
    int64_t *volume; /* [elements] the volume of each, in version 4 */
    bool nodes_seen, elements_seen;
};

/* Element types by dimension and number of nodes; all others are unknown. */
static const struct msh_type {
    int type, dimension, nodes;
} msh_types[] = {
    {1, 1, 2},   {2, 2, 3},   {3, 2, 4},   {4, 3, 4},   {5, 3, 8},   {6, 3, 6},   {7, 3, 5},    {8, 1, 3},
    {9, 2, 6},   {10, 2, 9},  {11, 3, 10}, {12, 3, 27}, {13, 3, 18}, {14, 3, 14}, {15, 0, 1},   {16, 2, 8},
    {17, 3, 20}, {18, 3, 15}, {19, 3, 13}, {20, 2, 9},  {21, 2, 10}, {22, 2, 12}, {23, 2, 15},  {24, 2, 15},
    {25, 2, 21}, {26, 1, 4},  {27, 1, 5},  {28, 1, 6},  {29, 3, 20}, {30, 3, 35}, {31, 3, 56},  {36, 2, 16},
    {37, 2, 25}, {38, 2, 36}, {39, 2, 12}, {40, 2, 16}, {41, 2, 20}, {92, 3, 64}, {93, 3, 125},
};

/* ---- words and binary numbers ---- */

/* Reads an integer of `bytes` bytes (4: signed, 8: up to 2⁶³ − 1), in text an integer of that range. */
static int integer(struct msh *msh, int bytes, int64_t *value)
{
    if (!msh->in.text.binary) {
        int status = sp_volume_next_integer(&msh->in, msh->section, value);
        if (status == SP_OK && bytes == 4 && (*value > INT32_MAX || *value < -INT32_MAX))
            return sp_volume_fail_here(&msh->in, "%lld in %s does not fit into 32 bits", (long long)*value,
                                       msh->section);
        return status;
    }

    const char *from = sp_text_bytes(&msh->in.text, bytes);
    if (!from)
        return sp_volume_fail_end(&msh->in, msh->section);

    if (bytes == 4) {
        uint32_t v;
        memcpy(&v, from, sizeof v);
        *value = (int32_t)(msh->swap ? __builtin_bswap32(v) : v);
    } else {
        uint64_t v;
        memcpy(&v, from, sizeof v);
        *value = (int64_t)(msh->swap ? __builtin_bswap64(v) : v);
    }
    return SP_OK;
}

static int real(struct msh *msh, double *value)
{
    int64_t bits = 0;
    if (!msh->in.text.binary)
        return sp_volume_next_number(&msh->in, msh->section, value);
    SP_PASS(integer(msh, 8, &bits));
    memcpy(value, &bits, sizeof bits);
    if (!isfinite(*value)) {
        msh->in.text.at -= sizeof bits;
        return sp_volume_fail_here(&msh->in, "a number in %s is not finite", msh->section);
    }
    return SP_OK;
}

/* The place at which the next record begins. */
static int64_t next_place(struct msh *msh)
{
    if (!msh->in.text.binary)
        sp_volume_more(&msh->in);
    return sp_volume_here(&msh->in);
}

/* Reads the number of items that have at least text_bytes or binary_bytes each. */
static int count_of(struct msh *msh, int bytes, const char *what, int64_t text_bytes, int64_t binary_bytes,
                    int64_t *count)
{
    int status = integer(msh, bytes, count);
    return status == SP_OK ? sp_volume_check_count(&msh->in, msh->section, what, *count,
                                                   msh->in.text.binary ? binary_bytes : text_bytes)
                           : status;
}

/* ---- sections ---- */

static int end_section(struct msh *msh)
{
    sp_word word;
    char shown[SP_TEXT_QUOTE], due[64];
    int status = sp_volume_next_word(&msh->in, msh->section, &word);
    snprintf(due, sizeof due, "$End%s", msh->section + 1);
    if (status == SP_OK && !sp_word_is(word, due)) {
        msh->in.text.at = word.at;
        status = sp_volume_fail_here(&msh->in, "%s stands where %s is due", sp_word_show(word, shown), due);
    }
    return status;
}

static int parse_format(struct msh *msh)
{
    sp_text *text = &msh->in.text;
    sp_word word;
    char shown[SP_TEXT_QUOTE];
    double version;
    int64_t type, bytes, one = 0;

    msh->section = "$MeshFormat";
    SP_PASS(sp_volume_next_word(&msh->in, msh->section, &word));
    if (sp_word_is(word, "$NOD") || sp_word_is(word, "$PARA"))
        return sp_fail(msh->in.context, SP_INPUT,
                       "the file begins with %s: it is of version 1 of Gmsh's format, which is not supported; save it "
                       "as version 2 or 4",
                       sp_word_is(word, "$NOD") ? "$NOD" : "$PARA");

    if (!sp_word_is(word, "$MeshFormat"))
        return sp_fail(msh->in.context, SP_INPUT,
                       "the file does not begin with $MeshFormat: it is no Gmsh file of version 2 or 4");

    SP_PASS(sp_volume_next_word(&msh->in, msh->section, &word));
    if (!sp_word_number(word, &version) || !((version >= 2 && version <= 2.2) || version == 4 || version == 4.1))
        return sp_volume_fail_here(&msh->in, "version '%s' is not supported (2.0 to 2.2, 4.0 and 4.1 are)",
                                   sp_word_show(word, shown));
    msh->major = (int)version;
    msh->minor = (int)lround(10 * (version - msh->major));

    SP_PASS(sp_volume_next_integer(&msh->in, msh->section, &type));
    SP_PASS(sp_volume_next_integer(&msh->in, msh->section, &bytes));
    if (type != 0 && type != 1)
        return sp_volume_fail_here(&msh->in, "file type %lld is neither 0 (text) nor 1 (binary)", (long long)type);
    if (bytes != 8 && !(msh->major == 4 && bytes == 4))
        return sp_volume_fail_here(&msh->in, "data size %lld is not supported", (long long)bytes);
    msh->size_bytes = (int)bytes;

    /* A binary file marks its byte order by the integer 1. */
    if (type == 1) {
        sp_text_seek(text, text->next);
        text->binary = true;
        int64_t where = sp_volume_here(&msh->in);
        SP_PASS(integer(msh, 4, &one));
        msh->swap = one != 1;
        if (one != 1 && one != 0x01000000)
            return sp_volume_fail(&msh->in, where, "the mark of the byte order is %lld instead of 1", (long long)one);
    }

    return end_section(msh);
}

/* Adds the name of a physical group of fewer dimensions. */
static int add_set_name(struct msh *msh, int64_t dimension, int64_t tag, sp_word word)
{
    struct sp_volume_set_name name = {.dimension = (int)dimension, .group = tag};
    char shown[SP_TEXT_QUOTE];
    if (sp_volume_set_name(word, name.name))
        return sp_volume_push(&msh->in, &msh->others, &name, sizeof name);
    sp_volume_note(&msh->in, "the group %s keeps its number: its name is not UTF-8 of 1 to %d bytes",
                   sp_word_show(word, shown), SP_NAME_LENGTH - 1);
    return SP_OK;
}

/* Parses names, which are always text: dimension, tag, "name". */
static int parse_names(struct msh *msh)
{
    int64_t count, dimension;

    SP_PASS(sp_volume_next_integer(&msh->in, msh->section, &count));
    SP_PASS(sp_volume_check_count(&msh->in, msh->section, "names", count, ASCII_RECORD));

    for (int64_t i = 0; i < count; i++) {
        struct sp_volume_group_name name = {0};
        sp_word word;
        SP_PASS(sp_volume_next_integer(&msh->in, msh->section, &dimension));
        SP_PASS(sp_volume_next_integer(&msh->in, msh->section, &name.tag));
        sp_text_rest(&msh->in.text, &word);
        if (word.length < 2 || *word.at != '"' || word.at[word.length - 1] != '"')
            return sp_volume_fail_here(&msh->in, "a name in quotes is missing");
        word = (sp_word){word.at + 1, word.length - 2};

        if (dimension != 3) {
            if (dimension >= 0 && dimension < 3)
                SP_PASS(add_set_name(msh, dimension, name.tag, word));
            continue;
        }

        SP_PASS(sp_volume_name(&msh->in, sp_volume_here(&msh->in), word, "physical volume", name.name));
        SP_PASS(sp_volume_push(&msh->in, &msh->names, &name, sizeof name));
    }

    return end_section(msh);
}

/* Reads a list of tags after its count; *first receives the first of them, 0 if there is none. */
static int tag_list(struct msh *msh, int64_t *first, int64_t *count)
{
    int64_t tag;
    int status = count_of(msh, msh->size_bytes, "tags", 2, 4, count);
    *first = 0;
    for (int64_t i = 0; status == SP_OK && i < *count; i++) {
        status = integer(msh, 4, &tag);
        if (i == 0)
            *first = tag;
    }
    return status;
}

/* Reads the physical groups of an entity. The sign of a group is its orientation. */
static int group_list(struct msh *msh, int64_t dimension, int64_t tag)
{
    enum { MOST = 1000 };
    struct msh_member member = {.dimension = dimension, .tag = tag};
    int64_t count;

    SP_PASS(count_of(msh, msh->size_bytes, "tags", 2, 4, &count));
    if (count > MOST)
        return sp_volume_fail_here(&msh->in, "a geometric entity is in %lld physical groups, more than %d",
                                   (long long)count, MOST);

    for (int64_t i = 0; i < count; i++) {
        SP_PASS(integer(msh, 4, &member.physical));
        member.physical = member.physical < 0 ? -member.physical : member.physical;
        SP_PASS(sp_volume_push(&msh->in, &msh->members, &member, sizeof member));
    }
    return SP_OK;
}

static int parse_entities(struct msh *msh)
{
    int64_t counts[4], bounding;

    if (msh->major != 4)
        return sp_volume_fail_here(&msh->in, "$Entities in a file of version 2");
    for (int d = 0; d < 4; d++)
        SP_PASS(count_of(msh, msh->size_bytes, "entities", ASCII_RECORD, 4, &counts[d]));

    for (int d = 0; d < 4; d++)
        for (int64_t i = 0; i < counts[d]; i++) {
            struct msh_entity entity;
            double unused;
            int64_t ignored;

            SP_PASS(integer(msh, 4, &entity.tag));
            /* A bounding box; version 4.1 has only the coordinates of points instead. */
            const int reals = d == 0 && msh->minor == 1 ? 3 : 6;
            for (int k = 0; k < reals; k++)
                SP_PASS(real(msh, &unused));

            const int64_t before = msh->members.count;
            SP_PASS(group_list(msh, d, entity.tag));
            entity.physical = 0;
            if (d == 3 && msh->members.count > before) /* the first gives the region */
                entity.physical = ((const struct msh_member *)msh->members.data)[before].physical;

            if (d > 0)
                SP_PASS(tag_list(msh, &ignored, &bounding));
            if (d < 3)
                continue;

            if (msh->members.count > before + 1)
                sp_volume_note(
                    &msh->in,
                    "volume %lld is in %lld physical groups, of which the first, %lld, gives the region, and "
                    "the others are sets of elements",
                    (long long)entity.tag, (long long)(msh->members.count - before), (long long)entity.physical);
            SP_PASS(sp_volume_push(&msh->in, &msh->entities, &entity, sizeof entity));
        }

    return end_section(msh);
}

/* The count at the start of a section of version 2 is text in binary files too. */
static int head_2(struct msh *msh, const char *what, int64_t each, int64_t *count)
{
    SP_PASS(sp_volume_next_integer(&msh->in, msh->section, count));
    if (msh->in.text.binary)
        sp_text_seek(&msh->in.text, msh->in.text.next);
    return sp_volume_check_count(&msh->in, msh->section, what, *count, each);
}

static int read_nodes_2(struct msh *msh)
{
    int64_t count;

    SP_PASS(head_2(msh, "nodes", msh->in.text.binary ? 28 : ASCII_RECORD, &count));
    struct sp_volume_node *node = sp_list_add(&msh->in.nodes, count, sizeof *node);
    SP_PASS(sp_allocated(msh->in.context, node));

    for (int64_t i = 0; i < count; i++) {
        node[i].where = next_place(msh);
        SP_PASS(integer(msh, 4, &node[i].id));
        for (int k = 0; k < 3; k++)
            SP_PASS(real(msh, &node[i].x[k]));
    }
    return SP_OK;
}

/* A block of nodes of version 4: all tags come first in 4.1, tag and position together in 4.0; `extra` parametric
 * coordinates. */
static int read_node_block(struct msh *msh, struct sp_volume_node *node, int64_t count, int extra)
{
    double unused;

    if (msh->minor == 1)
        for (int64_t i = 0; i < count; i++) {
            node[i].where = next_place(msh);
            SP_PASS(integer(msh, msh->size_bytes, &node[i].id));
        }

    for (int64_t i = 0; i < count; i++) {
        if (msh->minor == 0) {
            node[i].where = next_place(msh);
            SP_PASS(integer(msh, 4, &node[i].id));
        }

        for (int k = 0; k < 3; k++)
            SP_PASS(real(msh, &node[i].x[k]));
        for (int k = 0; k < extra; k++)
            SP_PASS(real(msh, &unused));
    }
    return SP_OK;
}

/* "blocks total [lowest highest]" at the start of $Nodes and $Elements of version 4. */
static int block_head(struct msh *msh, const char *what, int64_t text_bytes, int64_t binary_bytes, int64_t *blocks,
                      int64_t *total)
{
    int64_t unused;
    SP_PASS(count_of(msh, msh->size_bytes, "blocks", ASCII_RECORD, 12 + msh->size_bytes, blocks));
    SP_PASS(count_of(msh, msh->size_bytes, what, text_bytes, binary_bytes, total));
    if (msh->minor == 1)
        for (int i = 0; i < 2; i++)
            SP_PASS(integer(msh, msh->size_bytes, &unused));
    return SP_OK;
}

/* "dimension tag third count" (4.1), "tag dimension third count" (4.0). */
static int block_line(struct msh *msh, const char *what, int64_t text_bytes, int64_t binary_bytes, int64_t left,
                      int64_t *dimension, int64_t *tag, int64_t *third, int64_t *count)
{
    SP_PASS(integer(msh, 4, msh->minor == 1 ? dimension : tag));
    SP_PASS(integer(msh, 4, msh->minor == 1 ? tag : dimension));
    SP_PASS(integer(msh, 4, third));
    SP_PASS(count_of(msh, msh->size_bytes, what, text_bytes, binary_bytes, count));
    if (*dimension < 0 || *dimension > 3)
        return sp_volume_fail_here(&msh->in, "a block of %s has dimension %lld", what, (long long)*dimension);
    if (*count > left)
        return sp_volume_fail_here(&msh->in, "the blocks have more %s than %s announces", what, msh->section);
    return SP_OK;
}

static int read_nodes_4(struct msh *msh)
{
    int64_t blocks, total, dimension, tag, parametric, count,
        binary_bytes = (msh->minor == 1 ? msh->size_bytes : 4) + 24;

    SP_PASS(block_head(msh, "nodes", ASCII_RECORD, binary_bytes, &blocks, &total));
    struct sp_volume_node *node = sp_list_add(&msh->in.nodes, total, sizeof *node);
    SP_PASS(sp_allocated(msh->in.context, node));

    for (int64_t b = 0; b < blocks; b++) {
        SP_PASS(block_line(msh, "nodes", ASCII_RECORD, binary_bytes, total, &dimension, &tag, &parametric, &count));
        SP_PASS(read_node_block(msh, node, count, parametric ? (int)dimension : 0));
        node += count;
        total -= count;
    }

    if (total > 0)
        return sp_volume_fail_here(&msh->in, "the blocks of $Nodes have %lld nodes less than announced",
                                   (long long)total);
    return SP_OK;
}

/* The type of the elements; SP_VOLUME_PASSED for those of fewer dimensions. */
static int find_type(struct msh *msh, int64_t where, int64_t type, int *found, const struct msh_type **of)
{
    enum { GMSH_PYRAMID = 7 };
    for (size_t i = 0; i < sizeof msh_types / sizeof msh_types[0]; i++)
        if (msh_types[i].type == type) {
            *of = &msh_types[i];

            *found = type == GMSH_PYRAMID ? SP_VOLUME_PYRAMID : SP_VOLUME_PASSED;
            for (int t = SP_ELEMENT_TYPES - 1; t >= 0; t--)
                if (sp_element_types[t].gmsh == type)
                    *found = t;

            if (*found == SP_VOLUME_PASSED && msh_types[i].dimension == 3)
                return sp_volume_fail(&msh->in, where,
                                      "volume elements of type %lld with %lld nodes are not supported (those of first "
                                      "and second order are, but pyramids of second order)",
                                      (long long)type, (long long)msh_types[i].nodes);
            return SP_OK;
        }
    return sp_volume_fail(&msh->in, where, "elements of type %lld are unknown", (long long)type);
}

/* The corners of a face with so many nodes; 0 for those of an unsupported order. */
static int face_corners(int nodes)
{
    return nodes == 3 || nodes == 6 ? 3 : nodes == 4 || nodes == 8 || nodes == 9 ? 4 : 0;
}

/* Reads the nodes of one element, in integers of `bytes` bytes, and adds the element, or what it is of a group. */
static int read_element(struct msh *msh, int64_t where, int64_t id, int64_t group, int type, const struct msh_type *of,
                        int bytes)
{
    const struct sp_volume_element element = {.id = id, .where = where, .group = group, .type = type};
    int64_t read[MOST_NODES], node[SP_ELEMENT_NODES];
    const int corners = of->dimension == 2 ? face_corners(of->nodes) : 1;
    int status = SP_OK;

    for (int a = 0; a < of->nodes; a++)
        SP_TRY(integer(msh, bytes, &read[a]));

    if (type == SP_VOLUME_PASSED && (group == 0 || corners == 0))
        msh->skipped++;
    else if (type == SP_VOLUME_PASSED)
        status = sp_volume_add_part(&msh->in, of->dimension, group, of->nodes, corners, read);
    else if (type == SP_VOLUME_PYRAMID)
        status = sp_volume_add_element(&msh->in, element, read);
    else {
        for (int a = 0; a < of->nodes; a++)
            node[a] = read[sp_element_gmsh_node(type, a)];
        status = sp_volume_add_element(&msh->in, element, node);
    }
done:
    return status;
}

/* Reads the tags of an element of version 2; the first is its physical group. */
static int read_tags(struct msh *msh, int64_t count, int64_t *physical)
{
    int64_t tag;
    int status = SP_OK;
    *physical = 0;
    for (int64_t i = 0; status == SP_OK && i < count; i++) {
        status = integer(msh, 4, &tag);
        if (i == 0)
            *physical = tag;
    }
    return status;
}

/* In text every element is preceded by its type and number of tags; in binary files a block of elements is. */
static int read_elements_2(struct msh *msh)
{
    bool binary = msh->in.text.binary;
    int64_t count, id = 0, type, tags, follow = 1, physical;
    const struct msh_type *of = NULL;
    int found = SP_VOLUME_PASSED;

    SP_PASS(head_2(msh, "elements", ASCII_RECORD, &count));

    for (int64_t i = 0; i < count; i += follow) {
        int64_t where = next_place(msh);
        if (!binary)
            SP_PASS(integer(msh, 4, &id));
        SP_PASS(integer(msh, 4, &type));
        if (binary)
            SP_PASS(integer(msh, 4, &follow));
        SP_PASS(integer(msh, 4, &tags));

        if (tags < 0 || tags > 100000)
            return sp_volume_fail(&msh->in, where, "an element with %lld tags", (long long)tags);
        SP_PASS(find_type(msh, where, type, &found, &of));
        if (follow < 1 || follow > count - i)
            return sp_volume_fail(&msh->in, where, "a block of %lld elements where %lld are left", (long long)follow,
                                  (long long)(count - i));

        for (int64_t j = 0; j < follow; j++) {
            if (binary) {
                where = sp_volume_here(&msh->in);
                SP_PASS(integer(msh, 4, &id));
            }
            SP_PASS(read_tags(msh, tags, &physical));
            physical = physical < 0 ? -physical : physical; /* the sign of a group is its orientation */
            SP_PASS(read_element(msh, where, id, physical, found, of, 4));
        }
    }
    return SP_OK;
}

static int read_elements_4(struct msh *msh)
{
    int64_t blocks, total, dimension, tag, type, count, id;
    const struct msh_type *of = NULL;
    int bytes = msh->minor == 1 ? msh->size_bytes : 4, found = SP_VOLUME_PASSED;

    SP_PASS(block_head(msh, "elements", 4, 2 * bytes, &blocks, &total));
    for (int64_t b = 0; b < blocks; b++) {
        int64_t where = next_place(msh);
        SP_PASS(block_line(msh, "elements", 4, 2 * bytes, total, &dimension, &tag, &type, &count));
        SP_PASS(find_type(msh, where, type, &found, &of));

        for (int64_t i = 0; i < count; i++) {
            where = next_place(msh);
            SP_PASS(integer(msh, bytes, &id));
            SP_PASS(read_element(msh, where, id, tag, found, of, bytes));
        }
        total -= count;
    }

    if (total > 0)
        return sp_volume_fail_here(&msh->in, "the blocks of $Elements have %lld elements less than announced",
                                   (long long)total);
    return SP_OK;
}

/* Skips a section up to its $End. */
static int skip_section(struct msh *msh, int64_t where, sp_word name)
{
    sp_text *text = &msh->in.text;
    char shown[SP_TEXT_QUOTE], end[SP_NAME_LENGTH + 8];
    if (name.length < 2 || name.length > SP_NAME_LENGTH || *name.at != '$')
        return sp_volume_fail(&msh->in, where, "a section like $Nodes is expected, not '%s'",
                              sp_word_show(name, shown));

    snprintf(end, sizeof end, "$End%.*s", (int)name.length - 1, name.at + 1);
    if (text->binary) {
        const char *found = memmem(text->at, (size_t)(text->end - text->at), end, strlen(end));
        if (found) {
            sp_text_seek(text, found + strlen(end));
            return SP_OK;
        }
    } else
        while (sp_text_line(text))
            if (sp_text_match(text, end))
                return SP_OK;
    return sp_volume_fail(&msh->in, where, "the section %s does not end", sp_word_show(name, shown));
}

static int parse_section(struct msh *msh)
{
    sp_text *text = &msh->in.text;
    sp_word name;
    char shown[SP_TEXT_QUOTE];
    int64_t where = sp_volume_here(&msh->in);

    SP_PASS(sp_volume_next_word(&msh->in, msh->section, &name));
    bool nodes = sp_word_is(name, "$Nodes"), elements = sp_word_is(name, "$Elements");
    if (sp_word_is(name, "$PartitionedEntities") || sp_word_is(name, "$ParametricNodes"))
        return sp_volume_fail(&msh->in, where, "meshes with %s are not supported; save it without",
                              sp_word_show(name, shown));

    if ((nodes && msh->nodes_seen) || (elements && msh->elements_seen))
        return sp_volume_fail(&msh->in, where, "%s occurs twice", nodes ? "$Nodes" : "$Elements");

    bool entities = sp_word_is(name, "$Entities"), names = sp_word_is(name, "$PhysicalNames");
    if (!nodes && !elements && !entities && !names)
        return skip_section(msh, where, name);
    sp_text_seek(text, text->next);
    if (entities) {
        msh->section = "$Entities";
        return parse_entities(msh);
    }
    if (names) {
        msh->section = "$PhysicalNames";
        return parse_names(msh);
    }

    msh->section = nodes ? "$Nodes" : "$Elements";
    msh->nodes_seen |= nodes;
    msh->elements_seen |= elements;
    if (nodes)
        SP_PASS(msh->major == 2 ? read_nodes_2(msh) : read_nodes_4(msh));
    else
        SP_PASS(msh->major == 2 ? read_elements_2(msh) : read_elements_4(msh));

    return end_section(msh);
}

/* ---- regions ---- */

/* Replaces the entity of each element of version 4 by the physical group of that volume. */
static int entities_to_physical(struct msh *msh)
{
    const struct msh_entity *entity = msh->entities.data;
    struct sp_volume_element *element = msh->in.elements.data;
    struct sp_volume_ids ids;
    int64_t twice;

    SP_PASS(sp_volume_ids_build(&msh->in, msh->entities.count, entity, sizeof *entity, &ids, &twice));
    if (twice >= 0)
        return sp_fail(msh->in.context, SP_INPUT, "$Entities defines the volume %lld twice",
                       (long long)entity[twice].tag);

    msh->volume = sp_pool_raw(&msh->in.pool, msh->in.elements.count, sizeof *msh->volume);
    SP_PASS(sp_allocated(msh->in.context, msh->volume));

    for (int64_t e = 0; e < msh->in.elements.count; e++) {
        int64_t index = sp_volume_ids_find(&ids, element[e].group);
        msh->volume[e] = element[e].group;
        element[e].group = index < 0 ? 0 : entity[index].physical;
        element[e].group = element[e].group < 0 ? -element[e].group : element[e].group;
    }
    return SP_OK;
}

static const char *const prefix[3] = {"point", "curve", "surface"};

/* The names of the sets of version 4, by geometric entity: those of the physical groups that it is in. */
static int name_members(struct msh *msh, sp_list *names)
{
    const struct msh_member *member = msh->members.data;

    if (msh->others.count > 0)
        qsort(msh->others.data, (size_t)msh->others.count, sizeof(struct sp_volume_set_name),
              sp_volume_compare_set_names);
    for (int64_t i = 0; i < msh->members.count; i++) {
        if (member[i].dimension == 3)
            continue;

        struct sp_volume_set_name here = {.dimension = (int)member[i].dimension, .group = member[i].physical};
        const struct sp_volume_set_name *found =
            msh->others.count
                ? bsearch(&here, msh->others.data, (size_t)msh->others.count, sizeof here, sp_volume_compare_set_names)
                : NULL;

        here.group = member[i].tag;
        if (found)
            memcpy(here.name, found->name, sizeof here.name);
        else
            snprintf(here.name, sizeof here.name, "%s-%lld", prefix[here.dimension], (long long)member[i].physical);
        SP_PASS(sp_volume_push(&msh->in, names, &here, sizeof here));
    }
    return SP_OK;
}

/* An element of the mesh in a volume of the file. */
struct placed {
    int64_t volume, element;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->volume != b->volume)
        return a->volume < b->volume ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

/* The elements of the mesh by volumes; the caller frees the list. */
static int place_elements(struct msh *msh, sp_list *list)
{
    for (int64_t e = 0; e < msh->in.elements.count; e++) {
        const struct placed here = {msh->volume[e], msh->in.element[e]};
        SP_PASS(here.element < 0 ? SP_OK : sp_volume_push(&msh->in, list, &here, sizeof here));
    }
    if (list->count > 0)
        qsort(list->data, (size_t)list->count, sizeof(struct placed), compare_placed);
    return SP_OK;
}

/* The name of a physical volume. */
static void volume_name(const struct msh *msh, int64_t physical, char name[SP_NAME_LENGTH])
{
    const struct sp_volume_group_name *names = msh->names.data;
    snprintf(name, SP_NAME_LENGTH, "volume-%lld", (long long)physical);
    for (int64_t i = 0; i < msh->names.count; i++)
        if (names[i].tag == physical)
            memcpy(name, names[i].name, SP_NAME_LENGTH);
}

/* The physical volumes that a volume is in beside the one of its region are sets of elements. */
static int add_element_sets(struct msh *msh, sp_mesh *mesh)
{
    const struct msh_member *member = msh->members.data;
    sp_list placed = {0}, index = {0};
    bool full = false;
    int status = SP_OK;

    SP_TRY(place_elements(msh, &placed));

    for (int64_t i = 1; i < msh->members.count && !full; i++) {
        if (member[i].dimension != 3 || member[i - 1].dimension != 3 || member[i].tag != member[i - 1].tag)
            continue;

        /* The elements of this volume are a run of the sorted list. */
        const struct placed *all = placed.data;
        int64_t low = 0, high = placed.count;
        char name[SP_NAME_LENGTH];
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (all[middle].volume < member[i].tag)
                low = middle + 1;
            else
                high = middle;
        }

        index.count = 0;
        for (; low < placed.count && all[low].volume == member[i].tag; low++)
            SP_TRY(sp_volume_push(&msh->in, &index, &all[low].element, sizeof(int64_t)));
        volume_name(msh, member[i].physical, name);
        SP_TRY(sp_volume_add_set(&msh->in, mesh, name, SP_SET_ELEMENTS, &index, &full));
    }
done:
    sp_list_free(&placed);
    sp_list_free(&index);
    return status;
}

static int add_sets(struct msh *msh, sp_mesh *mesh)
{
    sp_list names = {0};
    int status;
    if (msh->major == 2)
        return sp_volume_add_sets(&msh->in, prefix, msh->others.count, msh->others.data, msh->skipped, mesh);
    SP_TRY(name_members(msh, &names));
    SP_TRY(sp_volume_add_sets(&msh->in, NULL, names.count, names.data, msh->skipped, mesh));
    SP_TRY(add_element_sets(msh, mesh));
done:
    sp_list_free(&names);
    return status;
}

int sp_volume_parse_msh(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes)
{
    struct msh msh = {0};
    int status;

    SP_TRY(sp_volume_start(&msh.in, context, bytes, count, "", NULL, mesh, notes));
    SP_TRY(parse_format(&msh));
    while (sp_volume_more(&msh.in))
        SP_TRY(parse_section(&msh));

    if (!msh.nodes_seen || !msh.elements_seen) {
        status = sp_fail(context, SP_INPUT, "the file has no %s", msh.nodes_seen ? "$Elements" : "$Nodes");
        goto done;
    }

    if (msh.major == 4)
        SP_TRY(entities_to_physical(&msh));
    SP_TRY(sp_volume_build_groups(&msh.in, "volume", material, msh.names.count, msh.names.data, mesh));
    SP_TRY(add_sets(&msh, mesh));
done:

    sp_list_free(&msh.entities);
    sp_list_free(&msh.members);
    sp_list_free(&msh.names);
    sp_list_free(&msh.others);
    return sp_volume_finish(&msh.in, status, mesh);
}
