/* TetGen: nodes in NAME.node, tetrahedra in NAME.ele. Each file has a line with counts, followed by one record per
 * line, which begins with its number, from 0 or from 1. A comment extends from # to the end of its line. */
#include "formats/import/volume_internal.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FIELDS = 1000 };

struct tetgen {
    struct sp_volume_reader in;
    int64_t attributes; /* of an element, used as regions */
};

/* Parses the counts in the first line: the first `needed` of them are required, missing others are 0. */
static int parse_header(struct tetgen *tetgen, const char *const *what, int needed, int count, int64_t *value)
{
    sp_text *text = &tetgen->in.text;
    int64_t begin = sp_volume_here(&tetgen->in);

    if (!sp_volume_line(&tetgen->in))
        return sp_volume_fail(&tetgen->in, begin, "the line with the counts is missing");

    for (int i = 0; i < count; i++) {
        value[i] = 0;
        if (i >= needed && !sp_text_more(text))
            continue;
        SP_PASS(sp_text_need_integer(tetgen->in.context, text, what[i], &value[i]));
        if (value[i] < 0 || (i > 0 && value[i] > MOST_FIELDS))
            return sp_volume_fail_here(&tetgen->in, "%s: %lld is no such number", what[i], (long long)value[i]);
    }

    if (sp_text_more(text))
        return sp_volume_fail_here(&tetgen->in, "the line with the counts has more than %d numbers", count);
    return SP_OK;
}

static const char *plural(const char *what)
{
    return strcmp(what, "vertex") == 0 ? "vertices" : "elements";
}

/* Advances to the line of record i of the `count` announced ones and reads its number: consecutive from 0 or 1. */
static int next_record(struct tetgen *tetgen, const char *what, int64_t i, int64_t count, int64_t header, int64_t *base,
                       int64_t *number)
{
    if (!sp_volume_line(&tetgen->in))
        return sp_volume_fail(&tetgen->in, header, "%lld %s are announced, %lld follow", (long long)count, plural(what),
                              (long long)i);
    SP_PASS(sp_text_need_integer(tetgen->in.context, &tetgen->in.text, what, number));
    if (i == 0)
        *base = *number == 0 ? 0 : 1;
    if (*number != *base + i)
        return sp_volume_fail_here(&tetgen->in, "%s %lld stands where %lld is due", what, (long long)*number,
                                   (long long)(*base + i));
    return SP_OK;
}

/* Skips the numbers after those that are used. */
static int end_record(struct tetgen *tetgen, const char *what, int64_t number, int64_t unused)
{
    double value;
    for (int64_t i = 0; i < unused; i++)
        SP_PASS(sp_text_need_number(tetgen->in.context, &tetgen->in.text, "attribute or marker", &value));
    if (sp_text_more(&tetgen->in.text))
        return sp_volume_fail_here(&tetgen->in, "%s %lld has more numbers than are announced", what, (long long)number);
    return SP_OK;
}

/* Checks that nothing follows the last record. */
static int end_file(struct tetgen *tetgen, const char *what, int64_t count, int64_t file)
{
    if (sp_volume_line(&tetgen->in) && tetgen->in.file == file)
        return sp_volume_fail_here(&tetgen->in, "more than the %lld %s that are announced", (long long)count,
                                   plural(what));
    return SP_OK;
}

static int parse_nodes(struct tetgen *tetgen)
{
    static const char *const what[] = {"count of vertices", "dimension", "count of attributes", "count of markers"};
    static const char *const axis[] = {"x", "y", "z"};
    int64_t head[4], base = 1, file = tetgen->in.file;

    SP_PASS(parse_header(tetgen, what, 2, 4, head));
    int64_t header = sp_volume_here(&tetgen->in);
    if (head[1] != 3)
        return sp_volume_fail_here(&tetgen->in, "the dimension is %lld instead of 3", (long long)head[1]);

    for (int64_t i = 0; i < head[0]; i++) {
        struct sp_volume_node node;
        SP_PASS(next_record(tetgen, "vertex", i, head[0], header, &base, &node.id));
        node.where = sp_volume_here(&tetgen->in);

        for (int k = 0; k < 3; k++)
            SP_PASS(sp_text_need_number(tetgen->in.context, &tetgen->in.text, axis[k], &node.x[k]));
        SP_PASS(end_record(tetgen, "vertex", node.id, head[2] + head[3]));
        SP_PASS(sp_volume_push(&tetgen->in, &tetgen->in.nodes, &node, sizeof node));
    }

    return end_file(tetgen, "vertex", head[0], file);
}

/* Parses the region of an element: its first attribute, which TetGen writes as a real number. */
static int parse_region(struct tetgen *tetgen, struct sp_volume_element *element)
{
    double value;
    SP_PASS(sp_text_need_number(tetgen->in.context, &tetgen->in.text, "region of the element", &value));
    if (!(value >= -1e15 && value <= 1e15) || value != (double)(int64_t)value)
        return sp_volume_fail_here(
            &tetgen->in, "the attribute %g of element %lld is no whole number, as the number of its region must be",
            value, (long long)element->id);
    element->group = (int64_t)value;
    return SP_OK;
}

static int parse_elements(struct tetgen *tetgen)
{
    static const char *const what[] = {"count of elements", "corners of an element", "count of attributes"};
    int64_t head[3], base = 1, file = tetgen->in.file;

    SP_PASS(parse_header(tetgen, what, 2, 3, head));
    int64_t header = sp_volume_here(&tetgen->in);

    if (head[1] != 4 && head[1] != 10)
        return sp_volume_fail_here(&tetgen->in, "elements of %lld nodes are not supported (tetrahedra of 4 and 10 are)",
                                   (long long)head[1]);
    tetgen->attributes = head[2];

    for (int64_t i = 0; i < head[0]; i++) {
        struct sp_volume_element element = {.type = head[1] == 4 ? SP_TET4 : SP_TET10, .by_place = true};
        int64_t node[10];

        SP_PASS(next_record(tetgen, "element", i, head[0], header, &base, &element.id));
        element.where = sp_volume_here(&tetgen->in);
        for (int64_t a = 0; a < head[1]; a++)
            SP_PASS(sp_text_need_integer(tetgen->in.context, &tetgen->in.text, "node", &node[a]));

        if (head[2] > 0)
            SP_PASS(parse_region(tetgen, &element));
        SP_PASS(end_record(tetgen, "element", element.id, head[2] > 0 ? head[2] - 1 : 0));
        SP_PASS(sp_volume_add_element(&tetgen->in, element, node));
    }

    return end_file(tetgen, "element", head[0], file);
}

/* Writes the name of the other file, without its folder; *elements receives whether `name` is the file of the elements.
 */
static int name_other(struct tetgen *tetgen, const char *name, char other[256], bool *elements)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    *elements = dot && strcmp(dot, ".ele") == 0;
    if (!*elements && !(dot && strcmp(dot, ".node") == 0))
        return sp_fail(tetgen->in.context, SP_INPUT,
                       "a file of TetGen has a name that ends in .node or .ele, so that the other one is found");
    if (snprintf(other, 256, "%.*s%s", (int)(dot - base), base, *elements ? ".node" : ".ele") >= 256)
        return sp_fail(tetgen->in.context, SP_INPUT, "the name of the file is longer than 250 bytes");
    return SP_OK;
}

int sp_volume_parse_tetgen(sp_context *context, const char *name, const char *bytes, int64_t count,
                           const sp_includes *includes, const sp_material *material, sp_mesh *mesh, sp_notes *notes)
{
    struct tetgen tetgen = {0};
    char other[256];
    bool elements;
    int status;
    SP_TRY(sp_volume_start(&tetgen.in, context, bytes, count, "", includes, mesh, notes));
    sp_text_open(&tetgen.in.text, bytes, count, "#", "", false);

    /* The name tells which of .node and .ele this file is; the other one is included. */
    SP_TRY(name_other(&tetgen, name, other, &elements));
    SP_TRY(elements ? parse_elements(&tetgen) : parse_nodes(&tetgen));
    SP_TRY(sp_volume_include(&tetgen.in, sp_word_of(other)));
    SP_TRY(elements ? parse_nodes(&tetgen) : parse_elements(&tetgen));

    if (tetgen.attributes > 1)
        sp_volume_note(&tetgen.in, "of %lld attributes of each element only the first is used, as its region",
                       (long long)tetgen.attributes);

    SP_TRY(sp_volume_build_groups(&tetgen.in, "region", material, 0, NULL, mesh));
done:
    return sp_volume_finish(&tetgen.in, status, mesh);
}
