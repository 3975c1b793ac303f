#include "formats/import/volume_inp_internal.h"

#include <string.h>

/* ---- nodes and elements ---- */

/* Adds a number to the set that a *NODE or *ELEMENT card names (set ≥ 0). */
static int number_to_set(struct inp *inp, struct sp_volume_sets *sets, int64_t set, int64_t number)
{
    struct sp_volume_member member = {
        .first = number, .last = number, .step = 1, .where = sp_volume_here(&inp->in), .set = -1};
    return set < 0 ? SP_OK : sp_volume_sets_add(&inp->in, sets, set, member);
}

static int parse_nodes(struct inp *inp, const struct inp_card *card)
{
    char shown[SP_TEXT_QUOTE];
    int64_t set = -1;
    bool found;

    if (sp_inp_parameter(card, "SYSTEM") && !sp_word_is(*sp_inp_parameter(card, "SYSTEM"), "R"))
        return sp_volume_fail(&inp->in, card->where, "*NODE with a cylindrical or spherical SYSTEM is not supported");
    inp->nsets.outside |= inp->part && inp->level == INP_MODEL;
    if (sp_inp_parameter(card, "NSET"))
        SP_PASS(sp_volume_sets_need(&inp->in, &inp->nsets, inp->level, *sp_inp_parameter(card, "NSET"), &set));

    for (;;) {
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return SP_OK;
        sp_word field;
        bool more;
        struct sp_volume_node node = {.where = sp_volume_here(&inp->in)};

        sp_text_field(&inp->in.text, ',', &field);
        if (!sp_inp_number(inp, &inp->nsets, inp->level, field, &node.id) || node.id < 0)
            return sp_volume_fail_here(&inp->in, "'%s' is no number of a node", sp_word_show(field, shown));

        for (int k = 0; k < 3; k++) {
            more = sp_text_field(&inp->in.text, ',', &field);
            if (field.length == 0 && !more && k < 2)
                return sp_volume_fail_here(&inp->in, "node %lld has %d of 3 coordinates", (long long)node.id, k);
            /* An empty field between others means 0, and so does a third coordinate that is left out. */
            if (field.length && !sp_word_number(field, &node.x[k]))
                return sp_volume_fail_here(&inp->in, "'%s' is no finite coordinate", sp_word_show(field, shown));
        }

        SP_PASS(sp_volume_push(&inp->in, &inp->in.nodes, &node, sizeof node));
        SP_PASS(number_to_set(inp, &inp->nsets, set, node.id));
    }
    return SP_OK;
}

/* PLANE less a number of nodes: a plane element. */
enum { UNKNOWN = -3, PLANE = -4 };

/* The type of an element of plane stress, plane strain or an axisymmetric problem, by the digit of its name. Gmsh
 * writes the triangles and quadrilaterals of physical surfaces so. */
static int plane_type_of(const char *type)
{
    static const char *const plane[] = {"CPS", "CPE", "CAX"};
    for (size_t i = 0; i < sizeof plane / sizeof plane[0]; i++)
        if (strncmp(type, plane[i], 3) == 0 && type[3] && strchr("3468", type[3]))
            return PLANE - (type[3] - '0');
    return UNKNOWN;
}

/* The type of an element; SP_VOLUME_PASSED for those that are skipped (shells, membranes, beams, trusses, rigid faces,
 * springs, masses, dashpots, connectors), UNKNOWN for unsupported ones. C3D8 is the 8-node hexahedron of full
 * integration, as in CalculiX; Abaqus averages its dilatation. */
static int type_of(const char *type)
{
    static const char *const passed[] = {"S3",      "S4",      "S6",     "S8R",     "S8",  "S9",     "STRI",   "SFM3D",
                                         "M3D",     "B3",      "PIPE3",  "T3D",     "R3D", "RB3D",   "SPRING", "MASS",
                                         "ROTARYI", "DASHPOT", "CONN3D", "DCOUP3D", "GAP", "ITSCUNI"};
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (sp_element_types[t].abaqus && strcmp(type, sp_element_types[t].abaqus) == 0)
            return t;
    if (strcmp(type, "C3D8R") == 0)
        return SP_HEX8;
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (strncmp(type, passed[i], strlen(passed[i])) == 0)
            return SP_VOLUME_PASSED;
    return plane_type_of(type);
}

/* Reads the nodes of an element: lines are read until it has them all, whether or not they end with a comma. Further
 * numbers on its only line, or behind a comma, are left out, as CalculiX does. */
static int parse_corners(struct inp *inp, const struct sp_volume_element *element, int width, int64_t *node)
{
    char shown[SP_TEXT_QUOTE];
    sp_word field;
    int corners = 0;
    bool found, comma = true;

    while (corners < width) {
        for (bool more = true; more && corners < width;) {
            more = sp_text_field(&inp->in.text, ',', &field);
            if (field.length && !sp_inp_number(inp, &inp->nsets, inp->level, field, &node[corners++]))
                return sp_volume_fail_here(&inp->in, "'%s' is no number of a node", sp_word_show(field, shown));
        }

        if (corners == width)
            break;
        comma = field.length == 0;
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return sp_volume_fail(&inp->in, element->where, "element %lld has %d of %d nodes",
                                  (long long)(element->id % INP_OUTSIDE), corners, width);
    }
    /* A line too many, without a comma before it, is that of another element. */
    bool surplus = false;
    while (sp_text_more(&inp->in.text)) {
        sp_text_field(&inp->in.text, ',', &field);
        surplus |= field.length > 0;
    }

    if (surplus && !comma)
        return sp_volume_fail(&inp->in, element->where,
                              "element %lld has fewer than %d nodes on its lines, and the next line has too many",
                              (long long)element->id, width);

    inp->surplus += surplus;
    return SP_OK;
}

/* The lines of an element that is skipped: it continues while they end with a comma. */
static int skip_corners(struct inp *inp, bool more)
{
    sp_word field = {0};
    bool found = true;
    while (more && found) {
        while (more)
            more = sp_text_field(&inp->in.text, ',', &field);
        if (field.length)
            break;
        SP_PASS(sp_inp_data_line(inp, &found));
        more = true;
    }
    return SP_OK;
}

static int parse_element(struct inp *inp, int type, int64_t set)
{
    char shown[SP_TEXT_QUOTE];
    sp_word field;
    struct sp_volume_element element = {.where = sp_volume_here(&inp->in), .group = -1, .type = type};
    int64_t node[SP_ELEMENT_NODES];

    const bool more = sp_text_field(&inp->in.text, ',', &field);
    if (!sp_inp_number(inp, &inp->elsets, inp->level, field, &element.id) || element.id < 0)
        return sp_volume_fail_here(&inp->in, "'%s' is no number of an element", sp_word_show(field, shown));

    /* Elements of a plane are faces of solids, of which they form a set. */
    if (type <= PLANE) {
        const int nodes = PLANE - type;
        element.type = SP_VOLUME_PASSED;
        inp->plane.count++;
        SP_PASS(parse_corners(inp, &element, nodes, node));
        SP_PASS(sp_volume_add_part(&inp->in, 2, set + 1, nodes, nodes > 4 ? nodes / 2 : nodes, node));
    } else if (type >= 0) {
        SP_PASS(parse_corners(inp, &element, sp_element_types[type].nodes, node));
    } else {
        SP_PASS(skip_corners(inp, more));
        inp->skipped++;
    }

    SP_PASS(sp_volume_add_element(&inp->in, element, node));
    return number_to_set(inp, &inp->elsets, set, element.id);
}

/* Plane elements of the set `set` are the set of faces of this name. */
static int name_faces(struct inp *inp, const struct inp_card *card, int64_t set, sp_word type)
{
    struct sp_volume_set_name name = {.dimension = 2, .group = set + 1};
    if (inp->plane.where == 0) {
        inp->plane.where = card->where;
        inp->plane.type = type;
    }
    if (set < 0 || !sp_volume_set_name(*sp_inp_parameter(card, "ELSET"), name.name))
        return SP_OK;
    for (int64_t i = 0; i < inp->plane.names.count; i++)
        if (((const struct sp_volume_set_name *)inp->plane.names.data)[i].group == name.group)
            return SP_OK;
    return sp_volume_push(&inp->in, &inp->plane.names, &name, sizeof name);
}

static int parse_elements(struct inp *inp, const struct inp_card *card)
{
    char type[INP_KEY], shown[SP_TEXT_QUOTE];
    sp_word name = {0};
    int64_t set = -1;
    bool found;

    SP_PASS(sp_inp_need_parameter(inp, card, "TYPE", &name));
    sp_inp_pack(name, type, sizeof type);
    const int number = type_of(type);
    if (number == UNKNOWN)
        return sp_volume_fail(&inp->in, card->where,
                              "elements of type %s are not supported (C3D4, C3D6, C3D8, C3D8I, C3D8R, C3D10, C3D15, "
                              "C3D20, C3D20R and C3D27 are)",
                              sp_word_show(name, shown));

    if (strcmp(type, "C3D8R") == 0)
        sp_volume_note(&inp->in, "elements of type C3D8R (one integration point) are read as fully integrated ones");

    inp->elsets.outside |= inp->part && inp->level == INP_MODEL;
    if (sp_inp_parameter(card, "ELSET"))
        SP_PASS(sp_volume_sets_need(&inp->in, &inp->elsets, inp->level, *sp_inp_parameter(card, "ELSET"), &set));
    if (number <= PLANE)
        SP_PASS(name_faces(inp, card, set, name));

    for (;;) {
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return SP_OK;
        SP_PASS(parse_element(inp, number, set));
    }
    return SP_OK;
}

/* ---- the file ---- */

/* Cards whose data lines are not used: an error if the mesh would be wrong without them, a remark if the model would
 * be, whether or not data lines follow; otherwise they are skipped silently. */
static int parse_other(struct inp *inp, const struct inp_card *card)
{
    const char *shown;
    const enum inp_use use = sp_inp_use(card->name, &shown);
    bool found;

    if (use == INP_REFUSED)
        return sp_volume_fail(&inp->in, card->where, "*%s is not supported", shown);
    SP_PASS(sp_inp_parse_level(inp, card));

    const bool other = use == INP_MATERIAL || strcmp(card->name, "*HYPERELASTIC") == 0;
    if (other && inp->materials.count)
        ((struct inp_material *)inp->materials.data)[inp->materials.count - 1].other = true;
    else if (use == INP_REMARKED || other)
        sp_volume_note(&inp->in, "*%s is passed over", shown);
    else if (use == INP_UNKNOWN)
        sp_volume_note(&inp->in, "the keyword *%s is not known and is passed over", shown);

    for (;;) {
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return SP_OK;
        if (strcmp(card->name, "*INSTANCE") == 0)
            return sp_volume_fail_here(&inp->in, "an *INSTANCE that is moved is not supported");
    }
    return SP_OK;
}

static int parse_cards(struct inp *inp)
{
    struct inp_card card;
    sp_word rest;
    bool found;
    char shown[SP_TEXT_QUOTE];
    int status;
    for (;;) {
        SP_TRY(sp_inp_next_line(inp, &found));
        if (!found)
            return SP_OK;

        if (*inp->in.line != '*') {
            sp_text_rest(&inp->in.text, &rest);
            return sp_volume_fail_here(&inp->in, "a card like *NODE is expected, not '%s'", sp_word_show(rest, shown));
        }
        SP_TRY(sp_inp_read_card(inp, &card));

        if (strcmp(card.name, "*STEP") == 0 && ++inp->step == 2) {
            sp_volume_note(&inp->in, "only the first step is read");
            return SP_OK;
        }

        if (strcmp(card.name, "*NODE") == 0)
            status = parse_nodes(inp, &card);
        else if (strcmp(card.name, "*ELEMENT") == 0)
            status = parse_elements(inp, &card);
        else if (strcmp(card.name, "*NSET") == 0)
            status = sp_inp_parse_set(inp, &card, &inp->nsets, "NSET");
        else if (strcmp(card.name, "*ELSET") == 0)
            status = sp_inp_parse_set(inp, &card, &inp->elsets, "ELSET");
        else if (strcmp(card.name, "*SURFACE") == 0)
            status = sp_inp_parse_surface(inp, &card);
        else if (strcmp(card.name, "*MATERIAL") == 0)
            status = sp_inp_parse_material(inp, &card);
        else if (strcmp(card.name, "*ELASTIC") == 0)
            status = sp_inp_parse_elastic(inp, &card);
        else if (strcmp(card.name, "*DENSITY") == 0)
            status = sp_inp_parse_density(inp, &card);
        else if (strcmp(card.name, "*HYPERELASTIC") == 0 &&
                 (sp_inp_parameter(&card, "NEOHOOKE") || sp_inp_parameter(&card, "MOONEY-RIVLIN")))
            status = sp_inp_parse_hyperelastic(inp, &card);
        else if (strcmp(card.name, "*DAMPING") == 0)
            status = sp_inp_parse_damping(inp, &card);
        else if (strcmp(card.name, "*ORIENTATION") == 0)
            status = sp_inp_parse_orientation(inp, &card);
        else if (strcmp(card.name, "*SOLIDSECTION") == 0) {
            status = sp_inp_parse_section(inp, &card);
            /* A thickness may follow. */
            for (found = status == SP_OK; found && status == SP_OK;)
                status = sp_inp_data_line(inp, &found);
        } else if (strcmp(card.name, "*BOUNDARY") == 0 || strcmp(card.name, "*CLOAD") == 0)
            status = sp_inp_parse_conditions(inp, &card, strcmp(card.name, "*CLOAD") == 0);
        else
            status = parse_other(inp, &card);

        if (status != SP_OK)
            return status;
    }
done:
    return status;
}

/* Faces of plane elements as sets, in a file that has solids. */
static int add_plane_sets(struct inp *inp, sp_mesh *mesh)
{
    char shown[SP_TEXT_QUOTE];
    if (inp->plane.count == 0)
        return SP_OK;
    sp_volume_note(&inp->in, "%lld plane elements, the first of type %s, are read as faces of the solids, in sets",
                   (long long)inp->plane.count, sp_word_show(inp->plane.type, shown));
    return sp_volume_add_sets(&inp->in, NULL, inp->plane.names.count, inp->plane.names.data, 0, mesh);
}

static bool has_solids(const struct inp *inp)
{
    const struct sp_volume_element *element = inp->in.elements.data;
    int64_t e = 0;
    while (e < inp->in.elements.count && element[e].type < 0)
        e++;
    return e < inp->in.elements.count;
}

static int make_mesh(struct inp *inp, sp_mesh *mesh, int64_t **node_id, sp_nodal_loads *loads)
{
    const struct sp_volume_node *node = inp->in.nodes.data;
    const struct sp_volume_element *element = inp->in.elements.data;
    const struct inp_material *known = inp->materials.data;
    struct sp_volume_ids element_ids;
    int64_t twice, count = inp->sections.count ? inp->materials.count : 1;
    char shown[SP_TEXT_QUOTE];

    if (inp->plane.count && !has_solids(inp))
        return sp_volume_fail(&inp->in, inp->plane.where,
                              "elements of type %s are not supported without solids, whose faces they would be",
                              sp_word_show(inp->plane.type, shown));

    SP_PASS(sp_volume_ids_build(&inp->in, inp->in.elements.count, element, sizeof *element, &element_ids, &twice));
    if (twice >= 0)
        return sp_volume_fail(&inp->in, element[twice].where, "element %lld is defined twice",
                              (long long)element[twice].id);
    SP_PASS(
        sp_volume_sets_index(&inp->in, &inp->elsets, &element_ids, inp->in.elements.count, element, sizeof *element));
    SP_PASS(sp_inp_assign_materials(inp));

    if (inp->surplus)
        sp_volume_note(&inp->in, "%lld elements have more numbers than nodes: the surplus is left out",
                       (long long)inp->surplus);
    if (inp->skipped)
        sp_volume_note(&inp->in, "%lld elements that are no solids are passed over", (long long)inp->skipped);

    SP_PASS(sp_volume_build(&inp->in, true, mesh));
    SP_PASS(sp_volume_sets_index(&inp->in, &inp->nsets, &inp->in.node_ids, inp->in.nodes.count, node, sizeof *node));

    sp_material *materials = sp_pool_copy(&inp->in.pool, inp->material, 1, sizeof *materials);
    if (inp->sections.count)
        materials = sp_pool_new(&inp->in.pool, count, sizeof *materials);
    int64_t *ids = sp_pool_raw(&mesh->pool, mesh->vertex_count, sizeof *ids);
    SP_PASS(sp_allocated(inp->in.context, !inp->in.pool.failed && !mesh->pool.failed));

    if (inp->sections.count)
        for (int64_t i = 0; i < count; i++)
            materials[i] = known[i].material;
    for (int64_t i = 0; i < inp->in.nodes.count; i++)
        if (inp->in.vertex[i] >= 0)
            ids[inp->in.vertex[i]] = node[i].id % INP_OUTSIDE;

    SP_PASS(sp_volume_regions(&inp->in, mesh, count, materials));
    SP_PASS(sp_inp_fix_vertices(inp, mesh));
    SP_PASS(add_plane_sets(inp, mesh));
    SP_PASS(sp_inp_add_sets(inp, mesh));

    if (loads)
        SP_PASS(sp_inp_collect_loads(inp, mesh, loads));
    else if (inp->loads.count)
        sp_volume_note(&inp->in, "%lld lines of *CLOAD are passed over: a mesh has no forces",
                       (long long)inp->loads.count);

    for (int i = 0; i < 2; i++) {
        const struct sp_volume_sets *sets = i ? &inp->nsets : &inp->elsets;
        if (sets->unknown)
            sp_volume_note(&inp->in, "sets name %s that are not defined, such as %lld: they are passed over",
                           sets->what, (long long)(sets->unknown_first % INP_OUTSIDE));
    }
    if (node_id)
        *node_id = ids;
    return SP_OK;
}

int sp_volume_parse_inp(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes,
                        const sp_material *material, sp_mesh *mesh, int64_t **node_id, sp_nodal_loads *loads,
                        sp_notes *notes)
{
    struct inp inp = {.material = material, .nsets.what = "nodes", .elsets.what = "elements"};
    int status;

    if (node_id)
        *node_id = NULL;
    if (loads)
        *loads = (sp_nodal_loads){0};

    SP_TRY(sp_volume_start(&inp.in, context, bytes, count, "**", includes, mesh, notes));
    SP_TRY(parse_cards(&inp));
    SP_TRY(make_mesh(&inp, mesh, node_id, loads));
done:

    sp_volume_sets_free(&inp.nsets);
    sp_volume_sets_free(&inp.elsets);
    sp_list_free(&inp.plane.names);
    sp_list_free(&inp.boundaries);
    sp_list_free(&inp.loads);
    sp_list_free(&inp.materials);
    sp_list_free(&inp.sections);
    sp_list_free(&inp.orientations);
    sp_list_free(&inp.surfaces);
    sp_list_free(&inp.surface_lines);

    if (status != SP_OK && loads)
        *loads = (sp_nodal_loads){0};
    return sp_volume_finish(&inp.in, status, mesh);
}
