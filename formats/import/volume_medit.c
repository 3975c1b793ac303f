/* Medit .mesh, ASCII: keywords in any order, each followed by a count and that many records of numbers; line breaks
 * have no meaning. The reader uses Vertices, the solids below, edges and faces; the last number of a record is a
 * reference. */
#include "formats/import/volume_internal.h"

#include <stdio.h>

struct medit {
    struct sp_volume_reader in;
    char section[SP_TEXT_QUOTE];
    int64_t skipped;            /* number of skipped sections */
    char passed[SP_TEXT_QUOTE]; /* name of the first of them */
    bool vertices_seen, solids_seen[SP_ELEMENT_TYPES], others_seen[2], parts_seen[4], ended;
};

/* Volume elements of other types or orders. */
static const char *const refused[] = {"TetrahedraP3", "TetrahedraP4",       "HexahedraQ2",  "HexahedraQ3",
                                      "HexahedraQ4",  "PrismsP2",           "PentahedraP2", "PyramidsP2",
                                      "Polyhedra",    "InnerPolyhedraFaces"};

/* Solids beside those that the table of element types names. */
static const struct {
    const char *section;
    int type;
} others[] = {{"Pentahedra", SP_WEDGE6}, {"Pyramids", SP_VOLUME_PYRAMID}};

/* Elements of fewer dimensions, of which references become sets. */
static const struct {
    const char *section;
    int dimension, nodes, corners;
} parts[] = {{"Edges", 1, 2, 1}, {"Triangles", 2, 3, 3}, {"Quadrilaterals", 2, 4, 4}, {"TrianglesP2", 2, 6, 3}};

/* Checks that a section occurs once, and reads its number of records, each of at least `each` bytes. */
static int begin_section(struct medit *medit, bool *seen, int64_t each, int64_t *count)
{
    if (*seen)
        return sp_volume_fail_here(&medit->in, "%s occurs twice", medit->section);
    *seen = true;
    SP_PASS(sp_volume_next_integer(&medit->in, medit->section, count));
    return sp_volume_check_count(&medit->in, medit->section, "records", *count, each);
}

/* The place at which the next record begins. */
static int64_t next_place(struct medit *medit)
{
    sp_volume_more(&medit->in);
    return sp_volume_here(&medit->in);
}

static int parse_vertices(struct medit *medit)
{
    int64_t count, reference;

    SP_PASS(begin_section(medit, &medit->vertices_seen, 7, &count)); /* "0 0 0 0" */
    struct sp_volume_node *node = sp_list_add(&medit->in.nodes, count, sizeof *node);
    SP_PASS(sp_allocated(medit->in.context, node));

    for (int64_t i = 0; i < count; i++) {
        node[i].id = i + 1;
        node[i].where = next_place(medit);
        for (int k = 0; k < 3; k++)
            SP_PASS(sp_volume_next_number(&medit->in, medit->section, &node[i].x[k]));
        SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &reference));
    }
    return SP_OK;
}

static int parse_elements(struct medit *medit, bool *seen, int type)
{
    int64_t count;
    const int width = type == SP_VOLUME_PYRAMID ? 5 : sp_element_types[type].nodes;

    SP_PASS(begin_section(medit, seen, 2 * width + 1, &count));
    for (int64_t i = 0; i < count; i++) {
        struct sp_volume_element element = {.id = i + 1, .where = next_place(medit), .type = type};
        int64_t node[SP_ELEMENT_NODES];

        for (int a = 0; a < width; a++)
            SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &node[a]));
        SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &element.group));
        SP_PASS(sp_volume_add_element(&medit->in, element, node));
    }
    return SP_OK;
}

static int parse_parts(struct medit *medit, int kind)
{
    const int width = parts[kind].nodes;
    int64_t count, node[6], reference;
    SP_PASS(begin_section(medit, &medit->parts_seen[kind], 2 * width + 1, &count));
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < width; a++)
            SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &node[a]));
        SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &reference));
        SP_PASS(sp_volume_add_part(&medit->in, parts[kind].dimension, reference, width, parts[kind].corners, node));
    }
    return SP_OK;
}

/* Returns true for a keyword, which begins with a letter. nan and inf are not keywords; they may occur in a skipped
 * section. */
static bool is_keyword(sp_word word)
{
    bool letter = (*word.at >= 'A' && *word.at <= 'Z') || (*word.at >= 'a' && *word.at <= 'z');
    return letter && !sp_word_same(word, sp_word_of("nan")) && !sp_word_same(word, sp_word_of("inf"));
}

/* Advances to the next keyword. */
static int skip_section(struct medit *medit)
{
    sp_text *text = &medit->in.text;
    int64_t count, words = 0;
    sp_word word;

    if (medit->skipped++ == 0)
        snprintf(medit->passed, sizeof medit->passed, "%s", medit->section);

    SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &count));
    for (; sp_volume_more(&medit->in) && sp_text_word(text, &word); words++)
        if (is_keyword(word)) {
            text->at = word.at;
            break;
        }

    if (count < 0 || words < count)
        return sp_volume_fail_here(&medit->in, "%s announces %lld records, but %lld numbers follow", medit->section,
                                   (long long)count, (long long)words);
    return SP_OK;
}

static int parse_header(struct medit *medit)
{
    int64_t version;
    sp_word word;

    snprintf(medit->section, sizeof medit->section, "MeshVersionFormatted");
    SP_PASS(sp_volume_next_word(&medit->in, medit->section, &word));
    if (sp_word_is(word, "MFEM"))
        return sp_fail(medit->in.context, SP_INPUT,
                       "the file begins with MFEM: it is of MFEM's own format, which is not supported; save it as VTK");
    if (!sp_word_same(word, sp_word_of(medit->section)))
        return sp_fail(medit->in.context, SP_INPUT,
                       "the file does not begin with MeshVersionFormatted: it is no Medit file in text");

    SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &version));
    if (version < 1 || version > 4)
        return sp_volume_fail_here(&medit->in, "version %lld is not supported (1 to 4 are)", (long long)version);
    return SP_OK;
}

static int parse_section(struct medit *medit)
{
    char shown[SP_TEXT_QUOTE];
    int64_t dimension;
    sp_word word;

    SP_PASS(sp_volume_next_word(&medit->in, "the file", &word));
    sp_word_show(word, shown);
    if (!is_keyword(word))
        return sp_volume_fail_here(&medit->in, "a section like Vertices is expected, not '%s'", shown);
    snprintf(medit->section, sizeof medit->section, "%s", shown);

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (sp_word_same(word, sp_word_of(refused[i])))
            return sp_volume_fail_here(&medit->in, "%s are not supported", medit->section);

    if (sp_word_same(word, sp_word_of("Vertices")))
        return parse_vertices(medit);
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (sp_element_types[t].medit && sp_word_same(word, sp_word_of(sp_element_types[t].medit)))
            return parse_elements(medit, &medit->solids_seen[t], t);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sp_word_same(word, sp_word_of(others[i].section)))
            return parse_elements(medit, &medit->others_seen[i], others[i].type);
    for (int k = 0; k < (int)(sizeof parts / sizeof parts[0]); k++)
        if (sp_word_same(word, sp_word_of(parts[k].section)))
            return parse_parts(medit, k);

    medit->ended = sp_word_same(word, sp_word_of("End"));
    if (medit->ended)
        return SP_OK;
    if (!sp_word_same(word, sp_word_of("Dimension")))
        return skip_section(medit);

    SP_PASS(sp_volume_next_integer(&medit->in, medit->section, &dimension));
    if (dimension != 3)
        return sp_volume_fail_here(&medit->in, "the dimension is %lld instead of 3", (long long)dimension);
    return SP_OK;
}

int sp_volume_parse_medit(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                          sp_mesh *mesh, sp_notes *notes)
{
    struct medit medit = {0};
    int status;

    SP_TRY(sp_volume_start(&medit.in, context, bytes, count, "", NULL, mesh, notes));
    sp_text_open(&medit.in.text, bytes, count, "#", "", false);
    SP_TRY(parse_header(&medit));
    while (!medit.ended && sp_volume_more(&medit.in))
        SP_TRY(parse_section(&medit));

    if (!medit.vertices_seen) {
        status = sp_fail(context, SP_INPUT, "the file has no Vertices");
        goto done;
    }

    if (!medit.ended)
        sp_volume_note(&medit.in, "the file does not end with End; it may be cut off");
    if (medit.skipped)
        sp_volume_note(&medit.in, "%lld sections are passed over, the first of them %s", (long long)medit.skipped,
                       medit.passed);

    SP_TRY(sp_volume_build_groups(&medit.in, "region", material, 0, NULL, mesh));
    SP_TRY(sp_volume_add_sets(&medit.in, (const char *const[]){"point", "edge", "surface"}, 0, NULL, 0, mesh));
done:
    return sp_volume_finish(&medit.in, status, mesh);
}
