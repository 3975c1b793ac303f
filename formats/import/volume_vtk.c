/* VTK's legacy format: three lines of text, then keywords with their counts and types, each followed by values as text
 * or in big-endian binary. Binary values begin after the line of their keyword. */
#include "formats/import/volume_vtk_internal.h"

#include <math.h>
#include <string.h>

struct vtk {
    struct sp_volume_reader in; /* in.text.binary: the file is binary */
    char section[SP_TEXT_QUOTE];
    bool offsets; /* version 5: cells are offsets and connectivity */
    bool dataset_seen, points_seen, cells_seen, types_seen;
    struct sp_volume_vtk_cells cells;
    int64_t tuples; /* number of tuples of the current data, −1: none */
    bool cell_data;
};

/* ---- words and values ---- */

static int next_word(struct vtk *vtk, sp_word *word)
{
    return sp_volume_next_word(&vtk->in, vtk->section, word);
}

static int next_count(struct vtk *vtk, int64_t *count)
{
    int status = sp_volume_next_integer(&vtk->in, vtk->section, count);
    if (status == SP_OK && *count < 0)
        return sp_volume_fail_here(&vtk->in, "%s has a count of %lld", vtk->section, (long long)*count);
    return status;
}

static int next_type(struct vtk *vtk, const struct sp_volume_vtk_type **type)
{
    char shown[SP_TEXT_QUOTE];
    sp_word word;
    SP_PASS(next_word(vtk, &word));
    *type = sp_volume_vtk_legacy_type(word);
    return *type ? SP_OK
                 : sp_volume_fail_here(&vtk->in, "values of type '%s' are not supported", sp_word_show(word, shown));
}

/* Called after the line of the keyword: the values of `count` tuples follow. */
static int begin_values(struct vtk *vtk, const char *what, int64_t tuples, int64_t components, int bytes,
                        int64_t *count)
{
    char quote[SP_TEXT_QUOTE];
    if (tuples < 0 || components < 1 || __builtin_mul_overflow(tuples, components, count))
        return sp_volume_fail_here(&vtk->in, "%s has %lld times %lld values", vtk->section, (long long)tuples,
                                   (long long)components);
    if (!vtk->in.text.binary)
        return sp_volume_check_count(&vtk->in, vtk->section, what, *count, 1);
    if (sp_text_more(&vtk->in.text))
        return sp_volume_fail_here(&vtk->in, "%s stands behind %s", sp_text_quote(&vtk->in.text, quote), vtk->section);
    sp_text_seek(&vtk->in.text, vtk->in.text.next);
    return sp_volume_check_count(&vtk->in, vtk->section, what, *count, bytes);
}

static int64_t next_place(struct vtk *vtk)
{
    if (!vtk->in.text.binary)
        sp_volume_more(&vtk->in);
    return sp_volume_here(&vtk->in);
}

static int read_integer(struct vtk *vtk, const struct sp_volume_vtk_type *type, int64_t *value)
{
    if (!vtk->in.text.binary)
        return sp_volume_next_integer(&vtk->in, vtk->section, value);
    const char *bytes = sp_text_bytes(&vtk->in.text, type->bytes);
    if (!bytes)
        return sp_volume_fail_end(&vtk->in, vtk->section);
    if (sp_volume_vtk_integer(bytes, type, true, value))
        return SP_OK;
    vtk->in.text.at = bytes;
    return sp_volume_fail_here(&vtk->in, "an integer in %s is too large", vtk->section);
}

static int read_real(struct vtk *vtk, const struct sp_volume_vtk_type *type, double *value)
{
    if (!vtk->in.text.binary)
        return sp_volume_next_number(&vtk->in, vtk->section, value);
    const char *bytes = sp_text_bytes(&vtk->in.text, type->bytes);
    if (!bytes)
        return sp_volume_fail_end(&vtk->in, vtk->section);
    *value = sp_volume_vtk_real(bytes, type, true);
    if (isfinite(*value))
        return SP_OK;
    vtk->in.text.at = bytes;
    return sp_volume_fail_here(&vtk->in, "a number in %s is not finite", vtk->section);
}

/* Skips values that are not used, which may be anything, such as nan. */
static int skip_values(struct vtk *vtk, int64_t tuples, int64_t components, int bytes)
{
    int64_t count;
    sp_word word;
    SP_PASS(begin_values(vtk, "values", tuples, components, bytes, &count));
    if (vtk->in.text.binary && !sp_text_bytes(&vtk->in.text, count * bytes))
        return sp_volume_fail_end(&vtk->in, vtk->section);
    for (int64_t i = 0; !vtk->in.text.binary && i < count; i++)
        SP_PASS(next_word(vtk, &word));
    return SP_OK;
}

/* ---- points and cells ---- */

static int parse_header(struct vtk *vtk)
{
    sp_text *text = &vtk->in.text;
    char shown[SP_TEXT_QUOTE];
    double version;
    sp_word word;

    if (!sp_volume_line(&vtk->in) || !sp_text_match(text, "#") || !sp_text_match(text, "vtk") ||
        !sp_text_match(text, "DataFile") || !sp_text_match(text, "Version"))
        return sp_fail(vtk->in.context, SP_INPUT,
                       "the file does not begin with '# vtk DataFile Version': it is no legacy VTK file");
    strcpy(vtk->section, "the header");

    SP_PASS(next_word(vtk, &word));
    if (!sp_word_number(word, &version) || !(version >= 1 && version <= 5.1))
        return sp_volume_fail_here(&vtk->in, "version '%s' is not supported (1.0 to 5.1 are)",
                                   sp_word_show(word, shown));
    vtk->offsets = version >= 5;
    /* The title may be any text, or empty. */
    const char *end = memchr(text->next, '\n', (size_t)(text->end - text->next));
    if (!end)
        return sp_volume_fail_end(&vtk->in, vtk->section);
    sp_text_seek(text, end + 1);
    text->line++;

    SP_PASS(next_word(vtk, &word));
    bool binary = sp_word_same(word, sp_word_of("BINARY"));
    if (!binary && !sp_word_same(word, sp_word_of("ASCII")))
        return sp_volume_fail_here(&vtk->in, "'%s' stands where ASCII or BINARY is due", sp_word_show(word, shown));
    text->binary = binary; /* until here messages name the line */
    return SP_OK;
}

/* Skips METADATA, which ends at the next empty line. */
static void skip_metadata(struct vtk *vtk)
{
    sp_text *text = &vtk->in.text;
    const char *at = text->next;
    bool empty = false;
    while (at < text->end && !empty) {
        const char *end = memchr(at, '\n', (size_t)(text->end - at));
        end = end ? end : text->end;
        empty = end == at || (end == at + 1 && *at == '\r');
        at = end < text->end ? end + 1 : end;
        text->line++;
    }
    sp_text_seek(text, at);
}

static int parse_points(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type;
    int64_t count, values;

    SP_PASS(next_count(vtk, &count));
    SP_PASS(next_type(vtk, &type));
    SP_PASS(begin_values(vtk, "coordinates", count, 3, type->bytes, &values));

    struct sp_volume_node *node = sp_list_add(&vtk->in.nodes, count, sizeof *node);
    SP_PASS(sp_allocated(vtk->in.context, node));

    for (int64_t i = 0; i < count; i++) {
        node[i].id = i;
        node[i].where = next_place(vtk);
        for (int k = 0; k < 3; k++)
            SP_PASS(read_real(vtk, type, &node[i].x[k]));
    }
    return SP_OK;
}

/* Allocates memory for cells; the counts are checked against the number of bytes that follow. */
static int make_cells(struct vtk *vtk, int64_t count, int64_t corners)
{
    struct sp_volume_vtk_cells *cells = &vtk->cells;
    sp_pool *pool = &vtk->in.pool;
    cells->count = count;
    cells->corner_count = corners;
    cells->end = sp_pool_raw(pool, count, sizeof *cells->end);
    cells->corner = sp_pool_raw(pool, corners, sizeof *cells->corner);
    cells->type = sp_pool_raw(pool, count, sizeof *cells->type);
    cells->where = sp_pool_raw(pool, count, sizeof *cells->where);
    return sp_allocated(vtk->in.context, !pool->failed);
}

/* Parses "CELLS n size", followed by each cell as its number of corners and the corners. */
static int parse_cells(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type = sp_volume_vtk_legacy_type(sp_word_of("int"));
    int64_t count, size, values, used = 0, corners;

    SP_PASS(next_count(vtk, &count));
    SP_PASS(next_count(vtk, &size));
    if (count > size)
        return sp_volume_fail_here(&vtk->in, "%lld cells do not fit into %lld numbers", (long long)count,
                                   (long long)size);

    SP_PASS(begin_values(vtk, "numbers", size, 1, type->bytes, &values));
    SP_PASS(make_cells(vtk, count, size - count));

    for (int64_t i = 0; i < count; i++) {
        vtk->cells.where[i] = next_place(vtk);
        SP_PASS(read_integer(vtk, type, &corners));
        if (corners < 0 || corners > size - count - used)
            return sp_volume_fail(&vtk->in, vtk->cells.where[i], "cell %lld has %lld corners where %lld are left",
                                  (long long)i, (long long)corners, (long long)(size - count - used));

        for (int64_t a = 0; a < corners; a++)
            SP_PASS(read_integer(vtk, type, &vtk->cells.corner[used + a]));
        used += corners;
        vtk->cells.end[i] = used;
    }

    if (used < size - count)
        return sp_volume_fail_here(&vtk->in, "the cells have %lld numbers less than CELLS announces",
                                   (long long)(size - count - used));
    return SP_OK;
}

/* Parses a keyword with the type of the integers that follow it. */
static int parse_array_head(struct vtk *vtk, const char *keyword, int64_t count, const struct sp_volume_vtk_type **type)
{
    char shown[SP_TEXT_QUOTE];
    int64_t values;
    sp_word word;

    SP_PASS(next_word(vtk, &word));
    if (!sp_word_same(word, sp_word_of(keyword)))
        return sp_volume_fail_here(&vtk->in, "'%s' stands where %s is due", sp_word_show(word, shown), keyword);

    strcpy(vtk->section, keyword);
    SP_PASS(next_type(vtk, type));
    if ((*type)->kind == 'f')
        return sp_volume_fail_here(&vtk->in, "%s is not of integers", keyword);
    return begin_values(vtk, "numbers", count, 1, (*type)->bytes, &values);
}

/* Parses version 5: "CELLS n+1 size", followed by the begin of each cell and the end of the last one, and all corners.
 */
static int parse_offsets(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type;
    int64_t count, corners, offset, before = 0;

    SP_PASS(next_count(vtk, &count));
    SP_PASS(next_count(vtk, &corners));
    if (count < 1)
        return sp_volume_fail_here(&vtk->in, "CELLS has no offsets");

    SP_PASS(sp_volume_check_count(&vtk->in, vtk->section, "numbers", corners, 1));
    SP_PASS(parse_array_head(vtk, "OFFSETS", count, &type));
    SP_PASS(make_cells(vtk, count - 1, corners));

    for (int64_t i = 0; i < count; i++) {
        int64_t where = next_place(vtk);
        SP_PASS(read_integer(vtk, type, &offset));
        if (offset < before || offset > corners || (i == 0 && offset != 0) || (i == count - 1 && offset != corners))
            return sp_volume_fail(&vtk->in, where, "offset %lld of cell %lld does not fit between %lld and %lld",
                                  (long long)offset, (long long)i, (long long)before, (long long)corners);

        if (i > 0)
            vtk->cells.end[i - 1] = offset;
        before = offset;
    }

    SP_PASS(parse_array_head(vtk, "CONNECTIVITY", corners, &type));
    for (int64_t i = 0, a = 0; i < count - 1; i++) {
        vtk->cells.where[i] = next_place(vtk);
        for (; a < vtk->cells.end[i]; a++)
            SP_PASS(read_integer(vtk, type, &vtk->cells.corner[a]));
    }
    return SP_OK;
}

static int parse_types(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type = sp_volume_vtk_legacy_type(sp_word_of("int"));
    int64_t count, values;

    if (!vtk->cells_seen)
        return sp_volume_fail_here(&vtk->in, "CELL_TYPES stands before CELLS");
    SP_PASS(next_count(vtk, &count));
    if (count != vtk->cells.count)
        return sp_volume_fail_here(&vtk->in, "%lld types for %lld cells", (long long)count,
                                   (long long)vtk->cells.count);

    SP_PASS(begin_values(vtk, "types", count, 1, type->bytes, &values));
    for (int64_t i = 0; i < count; i++)
        SP_PASS(read_integer(vtk, type, &vtk->cells.type[i]));
    return SP_OK;
}

/* ---- data ---- */

/* Parses the values of one array; they are used if they are regions. */
static int parse_array(struct vtk *vtk, sp_word name, int64_t tuples, int64_t components,
                       const struct sp_volume_vtk_type *type)
{
    char shown[SP_TEXT_QUOTE];
    int64_t values;
    bool named = vtk->cell_data && vtk->tuples >= 0 && sp_volume_vtk_is_region(name);

    sp_word_show(name, shown);
    if (named && (vtk->cells.region || components != 1 || type->kind == 'f' || tuples != vtk->cells.count)) {
        sp_volume_note(&vtk->in, "the array %s is not taken as regions: %s", shown,
                       vtk->cells.region ? "there is one already" : "it is not of one integer for each cell");
        named = false;
    }

    if (!named)
        return skip_values(vtk, tuples, components, type->bytes);

    SP_PASS(begin_values(vtk, "regions", tuples, 1, type->bytes, &values));
    vtk->cells.region = sp_pool_raw(&vtk->in.pool, tuples, sizeof *vtk->cells.region);
    SP_PASS(sp_allocated(vtk->in.context, vtk->cells.region));
    for (int64_t i = 0; i < tuples; i++)
        SP_PASS(read_integer(vtk, type, &vtk->cells.region[i]));
    return SP_OK;
}

/* Parses "FIELD name n", followed by n times "name components tuples type" and values. */
static int parse_field(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type;
    int64_t arrays, components, tuples;
    sp_word name;

    SP_PASS(next_word(vtk, &name));
    SP_PASS(next_count(vtk, &arrays));
    SP_PASS(sp_volume_check_count(&vtk->in, vtk->section, "arrays", arrays, 8)); /* "a 1 0 int" */

    for (int64_t i = 0; i < arrays; i++) {
        SP_PASS(next_word(vtk, &name));
        if (i > 0 && sp_word_is(name, "METADATA")) {
            skip_metadata(vtk);
            SP_PASS(next_word(vtk, &name));
        }

        SP_PASS(next_count(vtk, &components));
        SP_PASS(next_count(vtk, &tuples));
        SP_PASS(next_type(vtk, &type));
        SP_PASS(parse_array(vtk, name, tuples, components, type));
    }
    return SP_OK;
}

/* Parses "SCALARS name type [components]", "LOOKUP_TABLE name", values. */
static int parse_scalars(struct vtk *vtk)
{
    const struct sp_volume_vtk_type *type;
    int64_t components = 1;
    sp_word name, table;

    SP_PASS(next_word(vtk, &name));
    SP_PASS(next_type(vtk, &type));
    if (sp_text_more(&vtk->in.text))
        SP_PASS(next_count(vtk, &components));

    SP_PASS(next_word(vtk, &table));
    if (!sp_word_same(table, sp_word_of("LOOKUP_TABLE")))
        return sp_volume_fail_here(&vtk->in, "SCALARS without LOOKUP_TABLE");
    SP_PASS(next_word(vtk, &table));
    return parse_array(vtk, name, vtk->tuples, components, type);
}

/* Parses "COLOR_SCALARS name components" and "LOOKUP_TABLE name colours": bytes in binary, numbers in text. */
static int parse_colours(struct vtk *vtk, bool table)
{
    int64_t count;
    sp_word name;
    SP_PASS(next_word(vtk, &name));
    SP_PASS(next_count(vtk, &count));
    return skip_values(vtk, table ? count : vtk->tuples, table ? 4 : count, 1);
}

/* Parses "KEYWORD name type" and `components` values for each point or cell; −1: "KEYWORD name components type". */
static int parse_vectors(struct vtk *vtk, int64_t components)
{
    const struct sp_volume_vtk_type *type;
    sp_word name;
    SP_PASS(next_word(vtk, &name));
    if (components < 0)
        SP_PASS(next_count(vtk, &components));
    SP_PASS(next_type(vtk, &type));
    return parse_array(vtk, name, vtk->tuples, components, type);
}

static int parse_attribute(struct vtk *vtk, sp_word keyword)
{
    static const struct {
        const char *keyword;
        int components;
    } list[] = {{"VECTORS", 3},    {"NORMALS", 3},      {"TENSORS", 9},    {"TENSORS6", 6},
                {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}, {"EDGE_FLAGS", 1}, {"TEXTURE_COORDINATES", -1}};
    if (vtk->tuples >= 0) {
        if (sp_word_same(keyword, sp_word_of("SCALARS")))
            return parse_scalars(vtk);
        if (sp_word_same(keyword, sp_word_of("LOOKUP_TABLE")) || sp_word_same(keyword, sp_word_of("COLOR_SCALARS")))
            return parse_colours(vtk, sp_word_same(keyword, sp_word_of("LOOKUP_TABLE")));
        for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
            if (sp_word_same(keyword, sp_word_of(list[i].keyword)))
                return parse_vectors(vtk, list[i].components);
    }
    return sp_volume_fail_here(&vtk->in, "'%s' is no keyword of an unstructured grid that may stand here",
                               vtk->section);
}

/* Parses CELL_DATA and POINT_DATA with their number of cells or points. */
static int parse_data(struct vtk *vtk, bool cells)
{
    int64_t due = cells ? vtk->cells.count : vtk->in.nodes.count;
    vtk->cell_data = cells;
    SP_PASS(next_count(vtk, &vtk->tuples));
    if (!vtk->points_seen || !vtk->cells_seen)
        return sp_volume_fail_here(&vtk->in, "%s stands before POINTS or CELLS", vtk->section);
    if (vtk->tuples != due)
        return sp_volume_fail_here(&vtk->in, "%s of %lld where there are %lld", vtk->section, (long long)vtk->tuples,
                                   (long long)due);
    return SP_OK;
}

static int parse_dataset(struct vtk *vtk)
{
    char shown[SP_TEXT_QUOTE];
    sp_word word;
    SP_PASS(next_word(vtk, &word));
    if (!sp_word_same(word, sp_word_of("UNSTRUCTURED_GRID")))
        return sp_volume_fail_here(&vtk->in, "a dataset %s is not supported (UNSTRUCTURED_GRID is)",
                                   sp_word_show(word, shown));
    return SP_OK;
}

static int once(struct vtk *vtk, bool *seen)
{
    if (*seen)
        return sp_volume_fail_here(&vtk->in, "%s occurs twice", vtk->section);
    *seen = true;
    return SP_OK;
}

static int parse_section(struct vtk *vtk)
{
    sp_word word;

    strcpy(vtk->section, "the file");
    SP_PASS(next_word(vtk, &word));
    sp_word_show(word, vtk->section);
    bool dataset = sp_word_same(word, sp_word_of("DATASET")), points = sp_word_same(word, sp_word_of("POINTS"));
    bool cells = sp_word_same(word, sp_word_of("CELLS")), types = sp_word_same(word, sp_word_of("CELL_TYPES"));

    if (dataset)
        SP_PASS(once(vtk, &vtk->dataset_seen));
    if (points)
        SP_PASS(once(vtk, &vtk->points_seen));
    if (cells)
        SP_PASS(once(vtk, &vtk->cells_seen));
    if (types)
        SP_PASS(once(vtk, &vtk->types_seen));

    if (sp_word_same(word, sp_word_of("METADATA")))
        skip_metadata(vtk);
    else if (dataset)
        SP_PASS(parse_dataset(vtk));
    else if (sp_word_same(word, sp_word_of("FIELD")))
        SP_PASS(parse_field(vtk));
    else if (!vtk->dataset_seen)
        return sp_volume_fail_here(&vtk->in, "'%s' stands where DATASET is due", vtk->section);
    else if (points)
        SP_PASS(parse_points(vtk));
    else if (cells)
        SP_PASS(vtk->offsets ? parse_offsets(vtk) : parse_cells(vtk));
    else if (types)
        SP_PASS(parse_types(vtk));
    else if (sp_word_same(word, sp_word_of("CELL_DATA")) || sp_word_same(word, sp_word_of("POINT_DATA")))
        SP_PASS(parse_data(vtk, sp_word_same(word, sp_word_of("CELL_DATA"))));
    else
        SP_PASS(parse_attribute(vtk, word));
    return SP_OK;
}

int sp_volume_parse_vtk(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes)
{
    struct vtk vtk = {.tuples = -1};
    int status;
    SP_TRY(sp_volume_start(&vtk.in, context, bytes, count, "", NULL, mesh, notes));
    SP_TRY(parse_header(&vtk));
    while (sp_volume_more(&vtk.in))
        SP_TRY(parse_section(&vtk));
    if (!vtk.dataset_seen || !vtk.points_seen || !vtk.cells_seen || !vtk.types_seen) {
        status = sp_fail(context, SP_INPUT, "the file has no %s",
                         !vtk.dataset_seen  ? "DATASET"
                         : !vtk.points_seen ? "POINTS"
                         : !vtk.cells_seen  ? "CELLS"
                                            : "CELL_TYPES");
        goto done;
    }
    SP_TRY(sp_volume_vtk_build(&vtk.in, &vtk.cells, material, mesh));
done:
    return sp_volume_finish(&vtk.in, status, mesh);
}
