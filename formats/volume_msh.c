#include "volume_internal.h"

enum { ASCII_RECORD = 8 }; /* bytes of the shortest node, element or block header in text: "1 0 0 0\n" */

struct msh_entity {
    int64_t tag, physical;
};

struct msh_name {
    int64_t tag;
    char name[SP_NAME_LENGTH];
};

struct msh {
    struct volume_text text;
    struct volume_raw raw;
    sp_notes *notes;
    const char *begin, *at, *end;
    const char *section; /* for messages */
    bool swap;           /* binary in the other byte order */
    int major, minor;
    int size_bytes;   /* of the counts of version 4: 4 or 8 */
    sp_list entities; /* struct msh_entity, volumes of version 4 */
    sp_list names;    /* struct msh_name, physical volumes */
    int64_t passed_over;
    bool nodes_seen, elements_seen;
};

/* Element types by dimension and number of nodes; what is not here is unknown. */
static const struct msh_type {
    int type, dimension, nodes;
} msh_types[] = {
    {1, 1, 2},   {2, 2, 3},   {3, 2, 4},   {4, 3, 4},   {5, 3, 8},   {6, 3, 6},   {7, 3, 5},   {8, 1, 3},   {9, 2, 6},    {10, 2, 9},
    {11, 3, 10}, {12, 3, 27}, {13, 3, 18}, {14, 3, 14}, {15, 0, 1},  {16, 2, 8},  {17, 3, 20}, {18, 3, 15}, {19, 3, 13},  {20, 2, 9},
    {21, 2, 10}, {22, 2, 12}, {23, 2, 15}, {24, 2, 15}, {25, 2, 21}, {26, 1, 4},  {27, 1, 5},  {28, 1, 6},  {29, 3, 20},  {30, 3, 35},
    {31, 3, 56}, {36, 2, 16}, {37, 2, 25}, {38, 2, 36}, {39, 2, 12}, {40, 2, 16}, {41, 2, 20}, {92, 3, 64}, {93, 3, 125},
};

static int64_t place(const struct msh *msh)
{
    return msh->at - msh->begin;
}

static int fail_end(struct msh *msh)
{
    return volume_fail(&msh->text, place(msh), "the file ends inside %s", msh->section);
}

/* ---------------------------------------------------------------- words and binary numbers */

static void skip_blanks(struct msh *msh)
{
    while (msh->at < msh->end && volume_blank(*msh->at))
        msh->at++;
}

static int word(struct msh *msh, struct volume_token *token)
{
    skip_blanks(msh);
    token->start = msh->at;
    while (msh->at < msh->end && !volume_blank(*msh->at))
        msh->at++;
    token->end = msh->at;
    return token->start < token->end ? SP_OK : fail_end(msh);
}

/* The rest of the line, so that what follows starts after its end. */
static struct volume_token rest_of_line(struct msh *msh)
{
    const char *start = msh->at, *end = start < msh->end ? memchr(start, '\n', (size_t)(msh->end - start)) : NULL;
    msh->at = end ? end + 1 : msh->end;
    return volume_trim((struct volume_token){start, end ? end : msh->end});
}

static int text_integer(struct msh *msh, int64_t *value)
{
    struct volume_token token;
    char shown[VOLUME_SHOWN];
    int status = word(msh, &token);
    if (status == SP_OK && !volume_integer(token, value)) {
        msh->at = token.start;
        status = volume_fail(&msh->text, place(msh), "'%s' in %s is no integer", volume_show(token, shown), msh->section);
    }
    return status;
}

/* An integer of `bytes` bytes (4: signed, 8: up to 2⁶³ − 1), in text an integer of that range. */
static int integer(struct msh *msh, int bytes, int64_t *value)
{
    if (!msh->text.binary) {
        int status = text_integer(msh, value);
        if (status == SP_OK && bytes == 4 && (*value > INT32_MAX || *value < -INT32_MAX))
            return volume_fail(&msh->text, place(msh), "%lld in %s does not fit into 32 bits", (long long)*value, msh->section);
        return status;
    }
    if (msh->end - msh->at < bytes)
        return fail_end(msh);
    if (bytes == 4) {
        uint32_t v;
        memcpy(&v, msh->at, sizeof v);
        *value = (int32_t)(msh->swap ? __builtin_bswap32(v) : v);
    } else {
        uint64_t v;
        memcpy(&v, msh->at, sizeof v);
        *value = (int64_t)(msh->swap ? __builtin_bswap64(v) : v);
    }
    msh->at += bytes;
    return SP_OK;
}

static int real(struct msh *msh, double *value)
{
    char shown[VOLUME_SHOWN];
    if (!msh->text.binary) {
        struct volume_token token;
        int status = word(msh, &token);
        if (status == SP_OK && !volume_real(token, value)) {
            msh->at = token.start;
            status = volume_fail(&msh->text, place(msh), "'%s' in %s is no finite number", volume_show(token, shown), msh->section);
        }
        return status;
    }
    uint64_t v;
    if (msh->end - msh->at < (int64_t)sizeof v)
        return fail_end(msh);
    memcpy(&v, msh->at, sizeof v);
    v = msh->swap ? __builtin_bswap64(v) : v;
    memcpy(value, &v, sizeof v);
    if (!isfinite(*value))
        return volume_fail(&msh->text, place(msh), "a number in %s is not finite", msh->section);
    msh->at += sizeof v;
    return SP_OK;
}

/* A count of things of at least text_bytes or binary_bytes each, which the rest of the file can hold. */
static int count_of(struct msh *msh, int bytes, const char *what, int64_t text_bytes, int64_t binary_bytes, int64_t *count)
{
    int64_t at = place(msh), each = msh->text.binary ? binary_bytes : text_bytes;
    int status = integer(msh, bytes, count);
    if (status != SP_OK)
        return status;
    if (*count < 0)
        return volume_fail(&msh->text, at, "%s announces %lld %s", msh->section, (long long)*count, what);
    if (*count > (msh->end - msh->at) / each)
        return volume_fail(&msh->text, at, "%s announces %lld %s, but only %lld bytes follow", msh->section, (long long)*count, what,
                           (long long)(msh->end - msh->at));
    return SP_OK;
}

/* ---------------------------------------------------------------- sections */

static int end_section(struct msh *msh)
{
    struct volume_token token;
    char shown[VOLUME_SHOWN], due[64];
    int status = word(msh, &token);
    snprintf(due, sizeof due, "$End%s", msh->section + 1);
    if (status == SP_OK && !volume_equals(token, due)) {
        msh->at = token.start;
        status = volume_fail(&msh->text, place(msh), "%s stands where %s is due", volume_show(token, shown), due);
    }
    return status;
}

static int parse_format(struct msh *msh)
{
    struct volume_token token;
    char shown[VOLUME_SHOWN];
    double version;
    int64_t type, bytes, one = 0;
    int status;
    msh->section = "$MeshFormat";
    SP_TRY(word(msh, &token));
    if (!volume_equals(token, "$MeshFormat"))
        return sp_fail(msh->text.context, SP_INPUT, "the file does not begin with $MeshFormat: it is no Gmsh file of version 2 or 4");
    SP_TRY(word(msh, &token));
    if (!volume_real(token, &version) || !((version >= 2 && version <= 2.2) || version == 4 || version == 4.1)) {
        msh->at = token.start;
        return volume_fail(&msh->text, place(msh), "version '%s' is not supported (2.0 to 2.2, 4.0 and 4.1 are)",
                           volume_show(token, shown));
    }
    msh->major = (int)version;
    msh->minor = (int)lround(10 * (version - msh->major));
    SP_TRY(text_integer(msh, &type));
    SP_TRY(text_integer(msh, &bytes));
    if (type != 0 && type != 1)
        return volume_fail(&msh->text, place(msh), "file type %lld is neither 0 (text) nor 1 (binary)", (long long)type);
    if (bytes != 8 && !(msh->major == 4 && bytes == 4))
        return volume_fail(&msh->text, place(msh), "data size %lld is not supported", (long long)bytes);
    msh->size_bytes = (int)bytes;
    if (type == 1) {
        rest_of_line(msh);
        msh->text.binary = true;
        SP_TRY(integer(msh, 4, &one));
        msh->swap = one != 1;
        if (one != 1 && one != 0x01000000)
            return volume_fail(&msh->text, place(msh) - 4, "the mark of the byte order is %lld instead of 1", (long long)one);
    }
    SP_TRY(end_section(msh));
done:
    return status;
}

/* Always text: dimension, tag, "name". */
static int parse_names(struct msh *msh)
{
    bool binary = msh->text.binary;
    int64_t count, dimension;
    int status;
    msh->text.binary = false;
    SP_TRY(count_of(msh, 4, "names", ASCII_RECORD, 1, &count));
    for (int64_t i = 0; i < count; i++) {
        struct msh_name name = {0};
        SP_TRY(text_integer(msh, &dimension));
        SP_TRY(text_integer(msh, &name.tag));
        int64_t where = place(msh);
        struct volume_token token = rest_of_line(msh);
        if (token.end - token.start < 2 || *token.start != '"' || token.end[-1] != '"') {
            status = volume_fail(&msh->text, where, "a name in quotes is missing");
            goto done;
        }
        if (dimension != 3)
            continue;
        token.start++;
        token.end--;
        SP_TRY(volume_name(&msh->text, where, token, "physical volume", name.name));
        struct msh_name *added = sp_list_add(&msh->names, 1, sizeof name);
        if (!added) {
            status = sp_fail_memory(msh->text.context);
            goto done;
        }
        *added = name;
    }
    SP_TRY(end_section(msh));
done:
    msh->text.binary = binary;
    return status;
}

/* One list of tags after its count; the first of them, 0 where there is none. */
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

static int parse_entities(struct msh *msh)
{
    int64_t counts[4], bounding, physicals;
    int status;
    if (msh->major != 4)
        return volume_fail(&msh->text, place(msh), "$Entities in a file of version 2");
    for (int d = 0; d < 4; d++)
        SP_TRY(count_of(msh, msh->size_bytes, "entities", ASCII_RECORD, 4, &counts[d]));
    for (int d = 0; d < 4; d++)
        for (int64_t i = 0; i < counts[d]; i++) {
            struct msh_entity entity;
            double unused;
            int64_t ignored;
            SP_TRY(integer(msh, 4, &entity.tag));
            /* A box; version 4.1 gives points by their coordinates. */
            for (int k = 0; k < (d == 0 && msh->minor == 1 ? 3 : 6); k++)
                SP_TRY(real(msh, &unused));
            SP_TRY(tag_list(msh, &entity.physical, &physicals));
            if (d > 0)
                SP_TRY(tag_list(msh, &ignored, &bounding));
            if (d < 3)
                continue;
            if (physicals > 1)
                volume_note(msh->notes, "volume %lld is in %lld physical groups, of which the first, %lld, gives the region",
                            (long long)entity.tag, (long long)physicals, (long long)entity.physical);
            struct msh_entity *added = sp_list_add(&msh->entities, 1, sizeof entity);
            if (!added)
                return sp_fail_memory(msh->text.context);
            *added = entity;
        }
    SP_TRY(end_section(msh));
done:
    return status;
}

static int read_nodes_2(struct msh *msh)
{
    bool binary = msh->text.binary;
    int64_t count;
    int status;
    /* The count is text in binary files as well. */
    msh->text.binary = false;
    status = text_integer(msh, &count);
    if (binary)
        rest_of_line(msh);
    int64_t each = binary ? 28 : ASCII_RECORD;
    if (status == SP_OK && (count < 0 || count > (msh->end - msh->at) / each))
        status = volume_fail(&msh->text, place(msh), "$Nodes announces %lld nodes, but only %lld bytes follow", (long long)count,
                             (long long)(msh->end - msh->at));
    msh->text.binary = binary;
    if (status != SP_OK)
        return status;
    struct volume_node *node = sp_list_add(&msh->raw.nodes, count, sizeof *node);
    if (!node)
        return sp_fail_memory(msh->text.context);
    for (int64_t i = 0; i < count; i++) {
        if (!binary)
            skip_blanks(msh);
        node[i].where = place(msh);
        SP_TRY(integer(msh, 4, &node[i].id));
        for (int k = 0; k < 3; k++)
            SP_TRY(real(msh, &node[i].x[k]));
    }
done:
    return status;
}

/* A block of nodes of version 4: tags first in 4.1, tag and position together in 4.0; `extra` parametric coordinates. */
static int read_node_block(struct msh *msh, struct volume_node *node, int64_t count, int extra)
{
    double unused;
    int status = SP_OK;
    for (int64_t i = 0; msh->minor == 1 && i < count; i++) {
        if (!msh->text.binary)
            skip_blanks(msh);
        node[i].where = place(msh);
        SP_TRY(integer(msh, msh->size_bytes, &node[i].id));
    }
    for (int64_t i = 0; i < count; i++) {
        if (msh->minor == 0) {
            if (!msh->text.binary)
                skip_blanks(msh);
            node[i].where = place(msh);
            SP_TRY(integer(msh, 4, &node[i].id));
        }
        for (int k = 0; k < 3; k++)
            SP_TRY(real(msh, &node[i].x[k]));
        for (int k = 0; k < extra; k++)
            SP_TRY(real(msh, &unused));
    }
done:
    return status;
}

/* "blocks total [lowest highest]" at the head of $Nodes and $Elements of version 4. */
static int block_head(struct msh *msh, const char *what, int64_t text_bytes, int64_t binary_bytes, int64_t *blocks, int64_t *total)
{
    int64_t unused;
    int status;
    SP_TRY(count_of(msh, msh->size_bytes, "blocks", ASCII_RECORD, 12 + msh->size_bytes, blocks));
    SP_TRY(count_of(msh, msh->size_bytes, what, text_bytes, binary_bytes, total));
    for (int i = 0; msh->minor == 1 && i < 2; i++)
        SP_TRY(integer(msh, msh->size_bytes, &unused));
done:
    return status;
}

/* "dimension tag third count" (4.1), "tag dimension third count" (4.0). */
static int block_line(struct msh *msh, const char *what, int64_t text_bytes, int64_t binary_bytes, int64_t left, int64_t *dimension,
                      int64_t *tag, int64_t *third, int64_t *count)
{
    int status;
    SP_TRY(integer(msh, 4, msh->minor == 1 ? dimension : tag));
    SP_TRY(integer(msh, 4, msh->minor == 1 ? tag : dimension));
    SP_TRY(integer(msh, 4, third));
    int64_t at = place(msh);
    SP_TRY(count_of(msh, msh->size_bytes, what, text_bytes, binary_bytes, count));
    if (*dimension < 0 || *dimension > 3)
        return volume_fail(&msh->text, at, "a block of %s has dimension %lld", what, (long long)*dimension);
    if (*count > left)
        return volume_fail(&msh->text, at, "the blocks have more %s than %s announces", what, msh->section);
done:
    return status;
}

static int read_nodes_4(struct msh *msh)
{
    int64_t blocks, total, dimension, tag, parametric, count, binary_bytes = (msh->minor == 1 ? msh->size_bytes : 4) + 24;
    int status;
    SP_TRY(block_head(msh, "nodes", ASCII_RECORD, binary_bytes, &blocks, &total));
    struct volume_node *node = sp_list_add(&msh->raw.nodes, total, sizeof *node);
    if (!node)
        return sp_fail_memory(msh->text.context);
    for (int64_t b = 0; b < blocks; b++) {
        SP_TRY(block_line(msh, "nodes", ASCII_RECORD, binary_bytes, total, &dimension, &tag, &parametric, &count));
        SP_TRY(read_node_block(msh, node, count, parametric ? (int)dimension : 0));
        node += count;
        total -= count;
    }
    if (total > 0)
        return volume_fail(&msh->text, place(msh), "the blocks of $Nodes have %lld nodes less than announced", (long long)total);
done:
    return status;
}

/* Corner count of a type: 4 or 8 for what is taken, 0 for what is passed over after `nodes` nodes. */
static int find_type(struct msh *msh, int64_t where, int64_t type, int64_t *width, int64_t *nodes)
{
    for (size_t i = 0; i < sizeof msh_types / sizeof msh_types[0]; i++)
        if (msh_types[i].type == type) {
            *nodes = msh_types[i].nodes;
            *width = type == 4 || type == 5 ? *nodes : 0;
            if (*width == 0 && msh_types[i].dimension == 3)
                return volume_fail(&msh->text, where,
                                   "volume elements of type %lld with %lld nodes are not supported (linear tetrahedra and hexahedra are)",
                                   (long long)type, (long long)*nodes);
            return SP_OK;
        }
    return volume_fail(&msh->text, where, "elements of type %lld are unknown", (long long)type);
}

/* The nodes of one element, in integers of `bytes` bytes; taken when it is of a supported type. */
static int read_element(struct msh *msh, int64_t where, int64_t id, int64_t group, int64_t width, int64_t nodes, int bytes)
{
    struct volume_element element = {.id = id, .where = where, .group = group, .width = width};
    int64_t corner;
    int status;
    for (int64_t a = 0; a < nodes; a++) {
        SP_TRY(integer(msh, bytes, &corner));
        if (width)
            element.corner[a] = corner;
    }
    if (!width) {
        msh->passed_over++;
        return SP_OK;
    }
    struct volume_element *added = sp_list_add(&msh->raw.elements, 1, sizeof element);
    if (!added)
        return sp_fail_memory(msh->text.context);
    *added = element;
done:
    return status;
}

/* Tags of an element of version 2; the first is its physical group. */
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

static int check_tag_count(struct msh *msh, int64_t where, int64_t tags)
{
    return tags >= 0 && tags <= 100000 ? SP_OK : volume_fail(&msh->text, where, "an element with %lld tags", (long long)tags);
}

static int read_elements_2(struct msh *msh)
{
    bool binary = msh->text.binary;
    int64_t count, id, type, width = 0, nodes = 0, tags, follow, physical;
    int status;
    msh->text.binary = false;
    status = text_integer(msh, &count);
    if (binary)
        rest_of_line(msh);
    if (status == SP_OK && (count < 0 || count > (msh->end - msh->at) / ASCII_RECORD))
        status = volume_fail(&msh->text, place(msh), "$Elements announces %lld elements, but only %lld bytes follow", (long long)count,
                             (long long)(msh->end - msh->at));
    msh->text.binary = binary;
    if (status != SP_OK)
        return status;
    for (int64_t i = 0; i < count;) {
        if (!binary)
            skip_blanks(msh);
        int64_t where = place(msh);
        if (!binary) {
            SP_TRY(integer(msh, 4, &id));
            SP_TRY(integer(msh, 4, &type));
            SP_TRY(integer(msh, 4, &tags));
            SP_TRY(check_tag_count(msh, where, tags));
            SP_TRY(find_type(msh, where, type, &width, &nodes));
            SP_TRY(read_tags(msh, tags, &physical));
            SP_TRY(read_element(msh, where, id, physical, width, nodes, 4));
            i++;
            continue;
        }
        SP_TRY(integer(msh, 4, &type));
        SP_TRY(integer(msh, 4, &follow));
        SP_TRY(integer(msh, 4, &tags));
        SP_TRY(check_tag_count(msh, where, tags));
        SP_TRY(find_type(msh, where, type, &width, &nodes));
        if (follow < 1 || follow > count - i)
            return volume_fail(&msh->text, where, "a block of %lld elements where %lld are left", (long long)follow,
                               (long long)(count - i));
        for (int64_t j = 0; j < follow; j++, i++) {
            where = place(msh);
            SP_TRY(integer(msh, 4, &id));
            SP_TRY(read_tags(msh, tags, &physical));
            SP_TRY(read_element(msh, where, id, physical, width, nodes, 4));
        }
    }
done:
    return status;
}

static int read_elements_4(struct msh *msh)
{
    int64_t blocks, total, dimension, tag, type, count, id, width = 0, nodes = 0;
    int bytes = msh->minor == 1 ? msh->size_bytes : 4, status;
    SP_TRY(block_head(msh, "elements", 4, 2 * bytes, &blocks, &total));
    for (int64_t b = 0; b < blocks; b++) {
        int64_t where = place(msh);
        SP_TRY(block_line(msh, "elements", 4, 2 * bytes, total, &dimension, &tag, &type, &count));
        SP_TRY(find_type(msh, where, type, &width, &nodes));
        for (int64_t i = 0; i < count; i++) {
            if (!msh->text.binary)
                skip_blanks(msh);
            where = place(msh);
            SP_TRY(integer(msh, bytes, &id));
            SP_TRY(read_element(msh, where, id, tag, width, nodes, bytes));
        }
        total -= count;
    }
    if (total > 0)
        return volume_fail(&msh->text, place(msh), "the blocks of $Elements have %lld elements less than announced", (long long)total);
done:
    return status;
}

/* A section that is passed over: everything to its $End. */
static int pass_over(struct msh *msh, struct volume_token name)
{
    char shown[VOLUME_SHOWN], end[SP_NAME_LENGTH + 8];
    int64_t length = name.end - name.start;
    if (length < 2 || length > SP_NAME_LENGTH || *name.start != '$') {
        msh->at = name.start;
        return volume_fail(&msh->text, place(msh), "a section like $Nodes is expected, not '%s'", volume_show(name, shown));
    }
    snprintf(end, sizeof end, "$End%.*s", (int)length - 1, name.start + 1);
    const char *found = memmem(msh->at, (size_t)(msh->end - msh->at), end, strlen(end));
    if (!found) {
        msh->at = name.start;
        return volume_fail(&msh->text, place(msh), "the section %s does not end", volume_show(name, shown));
    }
    msh->at = found + strlen(end);
    return SP_OK;
}

static int parse_section(struct msh *msh, struct volume_token name)
{
    int64_t where = name.start - msh->begin;
    bool nodes = volume_equals(name, "$Nodes"), elements = volume_equals(name, "$Elements");
    if (volume_equals(name, "$PartitionedEntities") || volume_equals(name, "$ParametricNodes"))
        return volume_fail(&msh->text, where, "meshes with %.*s are not supported; save it without", (int)(name.end - name.start),
                           name.start);
    if ((nodes && msh->nodes_seen) || (elements && msh->elements_seen))
        return volume_fail(&msh->text, where, "%s stands twice", nodes ? "$Nodes" : "$Elements");
    bool entities = volume_equals(name, "$Entities"), names = volume_equals(name, "$PhysicalNames");
    if (!nodes && !elements && !entities && !names)
        return pass_over(msh, name);
    rest_of_line(msh);
    int status;
    msh->section = nodes ? "$Nodes" : elements ? "$Elements" : entities ? "$Entities" : "$PhysicalNames";
    if (entities)
        return parse_entities(msh);
    if (names)
        return parse_names(msh);
    msh->nodes_seen |= nodes;
    msh->elements_seen |= elements;
    if (nodes)
        status = msh->major == 2 ? read_nodes_2(msh) : read_nodes_4(msh);
    else
        status = msh->major == 2 ? read_elements_2(msh) : read_elements_4(msh);
    return status == SP_OK ? end_section(msh) : status;
}

/* ---------------------------------------------------------------- regions */

/* Replaces the entity of each element of version 4 by the physical group of that volume. */
static int entities_to_physical(struct msh *msh)
{
    const struct msh_entity *entity = msh->entities.data;
    struct volume_element *element = msh->raw.elements.data;
    struct volume_ids ids;
    int64_t twice;
    int status = volume_ids_build(msh->text.context, &msh->raw.pool, msh->entities.count, entity, sizeof *entity, &ids, &twice);
    if (status != SP_OK)
        return status;
    if (twice >= 0)
        return sp_fail(msh->text.context, SP_INPUT, "$Entities defines the volume %lld twice", (long long)entity[twice].tag);
    for (int64_t e = 0; e < msh->raw.elements.count; e++) {
        int64_t index = volume_ids_find(&ids, element[e].group);
        element[e].group = index < 0 ? 0 : entity[index].physical;
    }
    return SP_OK;
}

static int compare_integers(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

/* The name of a physical volume, made different from those of the regions before it. */
static void name_region(const struct msh *msh, int64_t tag, const sp_material *others, int64_t count, sp_material *material)
{
    const struct msh_name *name = msh->names.data;
    char wanted[SP_NAME_LENGTH];
    memcpy(wanted, material->name, sizeof wanted);
    if (tag != 0)
        snprintf(wanted, sizeof wanted, "volume-%lld", (long long)tag);
    for (int64_t i = 0; i < msh->names.count; i++)
        if (name[i].tag == tag && tag != 0)
            memcpy(wanted, name[i].name, sizeof wanted);
    memcpy(material->name, wanted, sizeof wanted);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(others[i].name, wanted) == 0) {
            char ending[32];
            int n = snprintf(ending, sizeof ending, "-volume-%lld", (long long)tag), keep = SP_NAME_LENGTH - 1 - n;
            /* A name is not cut within a character. */
            int length = (int)strlen(wanted);
            length = length < keep ? length : keep;
            while (length > 0 && ((unsigned char)wanted[length] & 0xc0) == 0x80)
                length--;
            snprintf(material->name, sizeof material->name, "%.*s%s", length, wanted, ending);
            return;
        }
}

/* Physical groups (0: none), in increasing order of their tags, become the list of materials. */
static int make_regions(struct msh *msh, const sp_material *material, sp_list *materials)
{
    enum { MOST = 10000 };
    struct volume_element *element = msh->raw.elements.data;
    int64_t elements = msh->raw.elements.count, count = 0;
    int64_t *tag = sp_pool_raw(&msh->raw.pool, elements, sizeof *tag);
    if (!tag)
        return sp_fail_memory(msh->text.context);
    for (int64_t e = 0; e < elements; e++) {
        /* The sign is the orientation of a group. */
        element[e].group = element[e].group < 0 ? -element[e].group : element[e].group;
        if (count == 0 || tag[count - 1] != element[e].group)
            tag[count++] = element[e].group;
    }
    qsort(tag, (size_t)count, sizeof *tag, compare_integers);
    int64_t distinct = 0;
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || tag[i] != tag[i - 1])
            tag[distinct++] = tag[i];
    if (distinct > MOST)
        return sp_fail(msh->text.context, SP_INPUT, "the elements are in %lld physical groups, more than %d", (long long)distinct, MOST);
    for (int64_t e = 0; e < elements; e++)
        element[e].group = (int64_t *)bsearch(&element[e].group, tag, (size_t)distinct, sizeof *tag, compare_integers) - tag;
    sp_material *list = sp_list_add(materials, distinct, sizeof *list);
    if (!list)
        return sp_fail_memory(msh->text.context);
    for (int64_t i = 0; i < distinct; i++) {
        list[i] = *material;
        name_region(msh, tag[i], list, i, &list[i]);
    }
    return SP_OK;
}

int sp_volume_parse_msh(sp_context *context, const char *bytes, int64_t count, const sp_material *material, sp_mesh *mesh, sp_notes *notes)
{
    struct msh msh = {.begin = bytes, .at = bytes, .end = bytes + count, .notes = notes};
    sp_list materials = {0};
    int status;
    *mesh = (sp_mesh){0};
    if (notes)
        notes->count = 0;
    SP_TRY(volume_text_start(&msh.text, context, bytes, count, NULL));
    SP_TRY(parse_format(&msh));
    for (;;) {
        struct volume_token name;
        skip_blanks(&msh);
        if (msh.at == msh.end)
            break;
        SP_TRY(word(&msh, &name));
        SP_TRY(parse_section(&msh, name));
    }
    if (!msh.nodes_seen || !msh.elements_seen) {
        status = sp_fail(context, SP_INPUT, "the file has no %s", msh.nodes_seen ? "$Elements" : "$Nodes");
        goto done;
    }
    if (msh.passed_over)
        volume_note(notes, "%lld points, lines and faces are passed over", (long long)msh.passed_over);
    if (msh.major == 4)
        SP_TRY(entities_to_physical(&msh));
    SP_TRY(make_regions(&msh, material, &materials));
    SP_TRY(volume_build(&msh.text, &msh.raw, true, mesh, notes));
    SP_TRY(volume_regions(context, &msh.raw.pool, mesh, materials.count, materials.data));
done:
    volume_text_free(&msh.text);
    volume_raw_free(&msh.raw);
    sp_list_free(&msh.entities);
    sp_list_free(&msh.names);
    sp_list_free(&materials);
    return volume_finish(status, mesh);
}
