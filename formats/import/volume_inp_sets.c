/* *NSET, *ELSET and *SURFACE, and the sets of the mesh that become of them. */
#include "formats/import/volume_inp_internal.h"

#include <string.h>

/* A line of *SURFACE: elements and a face of them (0: those that belong to one element only), or nodes. */
struct surface_line {
    sp_word target;
    int64_t where;
    int face;
};

struct inp_surface {
    sp_word name;
    int level;
    bool of_nodes;
    int64_t first, end; /* in inp->surface_lines */
};

/* ---- levels ---- */

int sp_inp_parse_level(struct inp *inp, const struct inp_card *card)
{
    const bool part = strcmp(card->name, "*PART") == 0, instance = strcmp(card->name, "*INSTANCE") == 0;

    if (part && inp->part)
        return sp_volume_fail(&inp->in, card->where, "a second *PART: assemblies are not supported");
    if (instance && inp->instance.at)
        return sp_volume_fail(&inp->in, card->where, "a second *INSTANCE: assemblies are not supported");

    if (instance)
        SP_PASS(sp_inp_need_parameter(inp, card, "NAME", &inp->instance));
    inp->part |= part;

    if (part || instance)
        inp->level = INP_PART;
    else if (strcmp(card->name, "*ENDPART") == 0 || strcmp(card->name, "*ENDINSTANCE") == 0)
        inp->level = INP_MODEL;
    return SP_OK;
}

/* Removes "instance." before a name. */
static bool of_instance(const struct inp *inp, sp_word *word)
{
    const sp_word prefix = {word->at, inp->instance.length};
    if (!inp->instance.at || word->length <= prefix.length + 1 || word->at[prefix.length] != '.' ||
        !sp_word_same(prefix, inp->instance))
        return false;
    *word = sp_inp_unquote((sp_word){word->at + prefix.length + 1, word->length - prefix.length - 1});
    return true;
}

struct sp_volume_set *sp_inp_find_set(const struct inp *inp, const struct sp_volume_sets *sets, int level, sp_word name)
{
    struct sp_volume_set *set = sp_volume_sets_find(sets, level, name);
    if (set)
        return set;
    if (of_instance(inp, &name))
        return sp_volume_sets_find(sets, INP_PART, name);
    return sp_volume_sets_find(sets, level == INP_PART ? INP_MODEL : INP_PART, name);
}

bool sp_inp_number(const struct inp *inp, const struct sp_volume_sets *sets, int level, sp_word word, int64_t *number)
{
    if (of_instance(inp, &word))
        level = INP_PART;
    if (!sp_word_integer(word, number))
        return false;
    if (level == INP_MODEL && sets->outside && *number >= 0 && *number < INP_OUTSIDE)
        *number += INP_OUTSIDE;
    return true;
}

/* ---- parsing ---- */

/* level: of the numbers. */
static int parse_generate(struct inp *inp, struct sp_volume_sets *sets, int level, int64_t set)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t value[3] = {0, 0, 1};
    int n = 0;

    for (bool more = true; n < 3 && more; n++) {
        more = sp_text_field(&inp->in.text, ',', &field);
        if (field.length &&
            !(n < 2 ? sp_inp_number(inp, sets, level, field, &value[n]) : sp_word_integer(field, &value[n])))
            return sp_volume_fail_here(&inp->in, "'%s' is no number", sp_word_show(field, shown));
    }

    if (n < 2 || value[2] < 1 || value[0] < 0 || value[1] < value[0])
        return sp_volume_fail_here(&inp->in, "GENERATE takes first, last and a positive step");

    return sp_volume_sets_add(
        &inp->in, sets, set,
        (struct sp_volume_member){
            .first = value[0], .last = value[1], .step = value[2], .where = sp_volume_here(&inp->in), .set = -1});
}

int sp_inp_parse_set(struct inp *inp, const struct inp_card *card, struct sp_volume_sets *sets, const char *key)
{
    sp_word name = {0}, field;
    char shown[SP_TEXT_QUOTE];
    int64_t set;
    bool found;
    SP_PASS(sp_inp_need_parameter(inp, card, key, &name));
    /* INSTANCE= names the level of the members. */
    const int level = sp_inp_parameter(card, "INSTANCE") ? INP_PART : inp->level;
    if (sets == &inp->nsets && sp_inp_parameter(card, "ELSET"))
        return sp_volume_fail(&inp->in, card->where, "*NSET with ELSET= is not supported");
    SP_PASS(sp_volume_sets_need(&inp->in, sets, inp->level, name, &set));

    for (;;) {
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return SP_OK;
        if (sp_inp_parameter(card, "GENERATE")) {
            SP_PASS(parse_generate(inp, sets, level, set));
            continue;
        }

        for (bool more = true; more;) {
            more = sp_text_field(&inp->in.text, ',', &field);
            struct sp_volume_member member = {.step = 1, .where = sp_volume_here(&inp->in), .set = -1, .listed = true};
            if (field.length == 0)
                continue;

            if (!sp_inp_number(inp, sets, level, field, &member.first)) {
                const struct sp_volume_set *other = sp_inp_find_set(inp, sets, level, sp_inp_unquote(field));
                if (!other)
                    return sp_volume_fail_here(&inp->in, "the set of %s %s is not defined", sets->what,
                                               sp_word_show(field, shown));
                member.set = other - (const struct sp_volume_set *)sets->list.data;
                member.upto = other->members.count;
            }

            member.last = member.first;
            SP_PASS(sp_volume_sets_add(&inp->in, sets, set, member));
        }
    }
    return SP_OK;
}

static int parse_surface_line(struct inp *inp, const struct inp_surface *surface)
{
    struct surface_line line = {.where = sp_volume_here(&inp->in)};
    sp_word field = {0};
    char shown[SP_TEXT_QUOTE];

    const bool more = sp_text_field(&inp->in.text, ',', &line.target);
    line.target = sp_inp_unquote(line.target);
    if (more && !surface->of_nodes)
        sp_text_field(&inp->in.text, ',', &field);

    if (field.length > 0) {
        if (field.length != 2 || (*field.at != 'S' && *field.at != 's') || field.at[1] < '1' || field.at[1] > '6')
            return sp_volume_fail_here(&inp->in, "'%s' is no face of a solid element (S1 to S6 are)",
                                       sp_word_show(field, shown));
        line.face = field.at[1] - '0';
    }

    return sp_volume_push(&inp->in, &inp->surface_lines, &line, sizeof line);
}

int sp_inp_parse_surface(struct inp *inp, const struct inp_card *card)
{
    const sp_word *type = sp_inp_parameter(card, "TYPE");
    char packed[INP_KEY] = "ELEMENT", shown[SP_TEXT_QUOTE];
    struct inp_surface surface = {.first = inp->surface_lines.count, .level = inp->level};
    bool found = true;

    SP_PASS(sp_inp_need_parameter(inp, card, "NAME", &surface.name));
    if (type)
        sp_inp_pack(*type, packed, sizeof packed);
    surface.of_nodes = strcmp(packed, "NODE") == 0;
    const bool known = (surface.of_nodes || strcmp(packed, "ELEMENT") == 0) && !sp_inp_parameter(card, "COMBINE");
    if (!known)
        sp_volume_note(&inp->in, "the surface %s is passed over: it is not of faces or nodes",
                       sp_word_show(surface.name, shown));

    for (;;) {
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            break;
        if (known)
            SP_PASS(parse_surface_line(inp, &surface));
    }

    surface.end = inp->surface_lines.count;
    if (known)
        SP_PASS(sp_volume_push(&inp->in, &inp->surfaces, &surface, sizeof surface));
    return SP_OK;
}

/* ---- sets of the mesh ---- */

/* Sets being made, and how many more entries they may have: a file of a few lines can name the same nodes any number of
 * times. */
struct making {
    struct inp *inp;
    sp_mesh *mesh;
    int64_t room;
    bool full;
    sp_list indices, entries, faces; /* int64_t, int64_t, int64_t[2] */
    bool *exterior;                  /* [elements, SP_ELEMENT_FACES]; NULL: not known yet */
};

/* Adds a set under a name of the file. */
static int add_set(struct making *m, sp_word word, sp_set_kind kind, const sp_list *entries)
{
    char name[SP_NAME_LENGTH], shown[SP_TEXT_QUOTE];

    m->room -= entries->count;
    if (m->room < 0) {
        m->full = true;
        sp_volume_note(&m->inp->in, "the sets have too many entries: those from %s on are passed over",
                       sp_word_show(word, shown));
        return SP_OK;
    }

    if (!sp_volume_set_name(word, name)) {
        sp_volume_note(&m->inp->in, "the set %s is passed over: its name is not UTF-8 of 1 to %d bytes",
                       sp_word_show(word, shown), SP_NAME_LENGTH - 1);
        return SP_OK;
    }

    return sp_volume_add_set(&m->inp->in, m->mesh, name, kind, entries, &m->full);
}

/* The name of a set in the mesh. If both levels have one of this name, that of the part is "instance.name". */
static int name_of(struct making *m, int level, bool both, sp_word *name)
{
    const sp_word instance = m->inp->instance.at ? m->inp->instance : sp_word_of("part");
    if (level != INP_PART || !both)
        return SP_OK;
    char *joined = sp_pool_raw(&m->inp->in.pool, instance.length + 1 + name->length, 1);
    SP_PASS(sp_allocated(m->inp->in.context, joined));
    memcpy(joined, instance.at, (size_t)instance.length);
    joined[instance.length] = '.';
    memcpy(joined + instance.length + 1, name->at, (size_t)name->length);
    *name = (sp_word){joined, instance.length + 1 + name->length};
    return SP_OK;
}

/* What is in the mesh of the nodes or elements m->indices. */
static int to_mesh(struct making *m, const int64_t *number)
{
    int status = SP_OK;
    m->entries.count = 0;
    for (int64_t i = 0; i < m->indices.count && status == SP_OK; i++) {
        const int64_t index = number[((const int64_t *)m->indices.data)[i]];
        if (index >= 0)
            status = sp_volume_push(&m->inp->in, &m->entries, &index, sizeof index);
    }
    return status;
}

static int add_plain_sets(struct making *m, struct sp_volume_sets *sets, sp_set_kind kind)
{
    const struct sp_volume_reader *in = &m->inp->in;
    for (int64_t i = 0; i < sets->list.count && !m->full; i++) {
        const struct sp_volume_set *set = (const struct sp_volume_set *)sets->list.data + i;
        SP_PASS(sp_volume_sets_resolve(&m->inp->in, sets, set, &m->indices));
        SP_PASS(to_mesh(m, kind == SP_SET_VERTICES ? in->vertex : in->element));
        sp_word name = set->name;
        SP_PASS(name_of(m, set->level, sp_volume_sets_find(sets, INP_MODEL, name) != NULL, &name));
        SP_PASS(add_set(m, name, kind, &m->entries));
    }
    return SP_OK;
}

static int find_exterior(struct making *m)
{
    struct sp_volume_reader *in = &m->inp->in;
    sp_mesh_face *face;
    int64_t count;

    if (m->exterior)
        return SP_OK;
    m->exterior = sp_pool_new(&in->pool, sp_mesh_element_count(m->mesh), SP_ELEMENT_FACES * sizeof *m->exterior);
    SP_PASS(sp_allocated(in->context, m->exterior));

    SP_PASS(sp_mesh_boundary_faces(in->context, m->mesh, &in->pool, &count, &face));
    for (int64_t f = 0; f < count; f++)
        m->exterior[SP_ELEMENT_FACES * face[f].element + face[f].face] = true;
    return SP_OK;
}

/* The faces of the elements m->entries that a line of *SURFACE names. */
static int collect_faces(struct making *m, const struct surface_line *line)
{
    if (line->face == 0)
        SP_PASS(find_exterior(m));
    for (int64_t i = 0; i < m->entries.count; i++) {
        const int64_t element = ((const int64_t *)m->entries.data)[i];
        int64_t within;

        const int type = sp_mesh_type(m->mesh, element, &within),
                  named = line->face > 0 ? sp_element_abaqus_face(type, line->face) : -1;
        if (line->face > 0 && named < 0)
            return sp_volume_fail(&m->inp->in, line->where, "an element of type %s has no face S%d",
                                  sp_element_types[type].abaqus, line->face);

        for (int64_t f = 0; f < sp_element_types[type].faces; f++)
            if (line->face > 0 ? f == named : m->exterior[SP_ELEMENT_FACES * element + f])
                SP_PASS(sp_volume_push(&m->inp->in, &m->faces, (const int64_t[]){element, f}, 2 * sizeof(int64_t)));
    }
    return SP_OK;
}

/* The nodes or elements of a line: one by its number, or a set. They are in m->entries then. */
static int find_target(struct making *m, const struct inp_surface *surface, const struct surface_line *line)
{
    struct sp_volume_reader *in = &m->inp->in;
    struct sp_volume_sets *sets = surface->of_nodes ? &m->inp->nsets : &m->inp->elsets;
    char shown[SP_TEXT_QUOTE];
    int64_t number;

    m->indices.count = 0;

    if (sp_inp_number(m->inp, sets, surface->level, line->target, &number)) {
        const int64_t index = sp_volume_ids_find(sets->ids, number);
        if (index < 0)
            return sp_volume_fail(in, line->where, "there is no %s %lld", surface->of_nodes ? "node" : "element",
                                  (long long)(number % INP_OUTSIDE));
        SP_PASS(sp_volume_push(in, &m->indices, &index, sizeof index));
    } else {
        const struct sp_volume_set *set = sp_inp_find_set(m->inp, sets, surface->level, line->target);
        if (!set)
            return sp_volume_fail(in, line->where, "the set of %s %s is not defined", sets->what,
                                  sp_word_show(line->target, shown));
        SP_PASS(sp_volume_sets_resolve(in, sets, set, &m->indices));
    }

    return to_mesh(m, surface->of_nodes ? in->vertex : in->element);
}

/* Whether the assembly has a surface of this name, too. */
static bool surface_of_model(const struct inp *inp, sp_word name)
{
    const struct inp_surface *surface = inp->surfaces.data;
    for (int64_t i = 0; i < inp->surfaces.count; i++)
        if (surface[i].level == INP_MODEL && sp_word_same(surface[i].name, name))
            return true;
    return false;
}

static int add_surfaces(struct making *m)
{
    for (int64_t i = 0; i < m->inp->surfaces.count && !m->full; i++) {
        const struct inp_surface *surface = (const struct inp_surface *)m->inp->surfaces.data + i;
        sp_word name = surface->name;

        m->faces.count = 0;
        SP_PASS(name_of(m, surface->level, surface->level == INP_PART && surface_of_model(m->inp, name), &name));

        for (int64_t k = surface->first; k < surface->end && !m->full; k++) {
            const struct surface_line *line = (const struct surface_line *)m->inp->surface_lines.data + k;
            SP_PASS(find_target(m, surface, line));
            if (surface->of_nodes)
                SP_PASS(add_set(m, name, SP_SET_VERTICES, &m->entries));
            else
                SP_PASS(collect_faces(m, line));
        }

        if (!surface->of_nodes && !m->full)
            SP_PASS(add_set(m, name, SP_SET_FACES, &m->faces));
    }
    return SP_OK;
}

int sp_inp_add_sets(struct inp *inp, sp_mesh *mesh)
{
    enum { EACH = 64, LEAST = 1000000 };
    struct making m = {.inp = inp, .mesh = mesh};
    int status;
    m.room = LEAST + EACH * (mesh->vertex_count + sp_mesh_element_count(mesh));
    SP_TRY(add_plain_sets(&m, &inp->nsets, SP_SET_VERTICES));
    SP_TRY(add_plain_sets(&m, &inp->elsets, SP_SET_ELEMENTS));
    SP_TRY(add_surfaces(&m));
done:
    sp_list_free(&m.indices);
    sp_list_free(&m.entries);
    sp_list_free(&m.faces);
    return status;
}
