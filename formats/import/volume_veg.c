#include "base/vec3.h"
#include "formats/import/volume_internal.h"

#include <math.h>
#include <string.h>

struct veg_set {
    char name[SP_NAME_LENGTH];
    int64_t first, end; /* range of veg.members */
};

struct veg_member {
    int64_t number, where;
};

struct veg_region {
    char set[SP_NAME_LENGTH], material[SP_NAME_LENGTH];
    int64_t where;
};

struct veg {
    struct sp_volume_reader in;
    sp_list materials, sets, members, regions;
    bool vertices_seen, elements_seen;
};

/* Advances to the next line, following *INCLUDE; found = false at the end. */
static int next_line(struct veg *veg, bool *found)
{
    while ((*found = sp_volume_line(&veg->in)) && sp_text_match(&veg->in.text, "*INCLUDE")) {
        sp_word name;
        sp_text_rest(&veg->in.text, &name);
        SP_PASS(sp_volume_include(&veg->in, name));
    }
    return SP_OK;
}

/* Advances to the next line unless it is a keyword. */
static int data_line(struct veg *veg, bool *found)
{
    int status = next_line(veg, found);
    if (status == SP_OK && *found && *veg->in.line == '*') {
        veg->in.again = true;
        *found = false;
    }
    return status;
}

/* Advances to the line that must follow a keyword. */
static int need_line(struct veg *veg, const char *what)
{
    bool found;
    int64_t where = sp_volume_here(&veg->in);
    int status = data_line(veg, &found);
    return status == SP_OK && !found ? sp_volume_fail(&veg->in, where, "%s is missing", what) : status;
}

/* Copies a name without blanks, since VegaFEM ignores blanks in comparisons. */
static int blank_free_name(struct veg *veg, sp_word word, const char *what, char name[SP_NAME_LENGTH])
{
    char packed[SP_NAME_LENGTH + 1];
    int64_t n = 0;
    for (int64_t i = 0; i < word.length && n <= SP_NAME_LENGTH; i++)
        if (word.at[i] != ' ' && word.at[i] != '\t')
            packed[n++] = word.at[i];
    return sp_volume_name(&veg->in, sp_volume_here(&veg->in), (sp_word){packed, n}, what, name);
}

/* Parses a header "count width [attributes [markers]]": the number of records that follow and of fields that each may
 * have. */
static int parse_header(struct veg *veg, const char *what, int64_t width, int64_t *count, int64_t *fields)
{
    sp_text *text = &veg->in.text;
    char shown[SP_TEXT_QUOTE];
    int64_t value[4] = {0, width, 0, 0};
    sp_word word;

    SP_PASS(need_line(veg, "the line with the count"));
    for (int i = 0; i < 4 && sp_text_word(text, &word); i++)
        if (!sp_word_integer(word, &value[i]) || value[i] < 0 || (i >= 2 && value[i] > 1000))
            return sp_volume_fail_here(&veg->in, "'%s' is no count", sp_word_show(word, shown));

    if (value[1] != width)
        return sp_volume_fail_here(&veg->in, "%s of %lld numbers instead of %lld", what, (long long)value[1],
                                   (long long)width);

    *count = value[0];
    *fields = 1 + width + value[2] + value[3];
    return SP_OK;
}

/* Parses the number of record i: consecutive from 0 or 1. */
static int parse_number(struct veg *veg, const char *what, int64_t i, int64_t *base, int64_t *number)
{
    SP_PASS(sp_text_need_integer(veg->in.context, &veg->in.text, what, number));
    if (i == 0 && (*number == 0 || *number == 1))
        *base = *number;
    if (*number != *base + i)
        return sp_volume_fail_here(&veg->in, "%s %lld stands where %lld is due", what, (long long)*number,
                                   (long long)(*base + i));
    return SP_OK;
}

/* Advances to the line of record i of the `count` announced ones. */
static int next_record(struct veg *veg, const char *what, int64_t i, int64_t count, int64_t where)
{
    bool found;
    int status = data_line(veg, &found);
    if (status == SP_OK && !found)
        status =
            sp_volume_fail(&veg->in, where, "%lld %s are announced, %lld follow", (long long)count, what, (long long)i);
    return status;
}

/* Ends a record; attributes may follow the numbers that are used. */
static int end_record(struct veg *veg, int64_t used, int64_t fields)
{
    sp_word word;
    int64_t n = used;
    while (sp_text_word(&veg->in.text, &word))
        n++;
    if (n <= fields)
        return SP_OK;
    return sp_volume_fail_here(&veg->in, "%lld numbers instead of %lld", (long long)n, (long long)fields);
}

static int parse_vertices(struct veg *veg)
{
    static const char *const axis[] = {"x", "y", "z"};
    sp_context *context = veg->in.context;
    sp_text *text = &veg->in.text;
    int64_t count, fields, base = 1;

    if (veg->vertices_seen)
        return sp_volume_fail_here(&veg->in, "*VERTICES occurs twice");
    veg->vertices_seen = true;
    SP_PASS(parse_header(veg, "vertices", 3, &count, &fields));
    int64_t header = sp_volume_here(&veg->in);

    for (int64_t i = 0; i < count; i++) {
        struct sp_volume_node node;
        SP_PASS(next_record(veg, "vertices", i, count, header));
        node.where = sp_volume_here(&veg->in);
        SP_PASS(parse_number(veg, "vertex", i, &base, &node.id));

        for (int k = 0; k < 3; k++) {
            if (!sp_text_more(text))
                return sp_volume_fail_here(&veg->in, "vertex %lld has %d of 3 coordinates", (long long)node.id, k);
            SP_PASS(sp_text_need_number(context, text, axis[k], &node.x[k]));
        }

        SP_PASS(end_record(veg, 4, fields));
        SP_PASS(sp_volume_push(&veg->in, &veg->in.nodes, &node, sizeof node));
    }
    return SP_OK;
}

static bool begins(sp_word word, const char *prefix)
{
    return word.length >= (int64_t)strlen(prefix) && memcmp(word.at, prefix, strlen(prefix)) == 0;
}

static int parse_elements(struct veg *veg)
{
    sp_context *context = veg->in.context;
    sp_text *text = &veg->in.text;
    int64_t count, fields, width = 0, base = 1;
    char shown[SP_TEXT_QUOTE];
    sp_word type = {0};

    if (veg->elements_seen)
        return sp_volume_fail_here(&veg->in, "*ELEMENTS occurs twice");
    veg->elements_seen = true;

    SP_PASS(need_line(veg, "the type of the elements"));
    sp_text_word(text, &type);
    if (begins(type, "TET"))
        width = 4;
    else if (begins(type, "CUBIC") || begins(type, "HEX"))
        width = 8;
    else
        return sp_volume_fail_here(&veg->in, "unknown type of elements '%s' (TET and CUBIC are known)",
                                   sp_word_show(type, shown));

    SP_PASS(parse_header(veg, "elements", width, &count, &fields));
    int64_t header = sp_volume_here(&veg->in);

    for (int64_t i = 0; i < count; i++) {
        struct sp_volume_element element = {.type = width == 4 ? SP_TET4 : SP_HEX8, .group = -1};
        int64_t node[8];
        SP_PASS(next_record(veg, "elements", i, count, header));
        element.where = sp_volume_here(&veg->in);
        SP_PASS(parse_number(veg, "element", i, &base, &element.id));

        for (int64_t a = 0; a < width; a++) {
            if (!sp_text_more(text))
                return sp_volume_fail_here(&veg->in, "element %lld has %lld of %lld corners", (long long)element.id,
                                           (long long)a, (long long)width);
            SP_PASS(sp_text_need_integer(context, text, "corner", &node[a]));
        }

        SP_PASS(end_record(veg, 1 + width, fields));
        SP_PASS(sp_volume_add_element(&veg->in, element, node));
    }
    return SP_OK;
}

/* VegaFEM's R has the material's axes as columns, `frame` has them as rows. The printed digits are completed by
 * orthonormalization. Returns false if R is not a rotation within 1e-4. */
static bool frame_from_columns(const double R[9], double frame[9])
{
    for (int i = 0; i < 3; i++) {
        double *axis = frame + 3 * i;
        for (int k = 0; k < 3; k++)
            axis[k] = R[3 * k + i];

        /* Gram-Schmidt: the rows before are orthonormal already. */
        for (int j = 0; j <= i; j++) {
            const double *other = frame + 3 * j;
            double dot = sp_dot3(axis, other);
            if (!(fabs(dot - (i == j)) <= 1e-4))
                return false;
            for (int k = 0; k < 3; k++)
                axis[k] = i == j ? axis[k] / sqrt(dot) : axis[k] - dot * other[k];
        }
    }
    return sp_determinant(frame, frame + 3, frame + 6) > 0;
}

/* The types of orthotropic material: how many Poisson's ratios and shear moduli are given, and whether R follows. With
 * one ratio, νij = ν √(Ei/Ej) and Gij = G √(Ei Ej) / (2 (1 + ν)) with a factor G, which is 1 if not given (Li and
 * Barbič, "Stable orthotropic materials", SCA 2014). */
static const struct {
    const char *name;
    int ratios, shears;
    bool rotation;
} orthotropic_type[] = {
    {"ORTHOTROPIC", 3, 3, true},        {"ORTHOTROPIC_N3G3R9", 3, 3, true}, {"ORTHOTROPIC_N3G3", 3, 3, false},
    {"ORTHOTROPIC_N1G1R9", 1, 1, true}, {"ORTHOTROPIC_N1G1", 1, 1, false},  {"ORTHOTROPIC_N1R9", 1, 0, true},
    {"ORTHOTROPIC_N1", 1, 0, false},
};

static int set_orthotropic(struct veg *veg, int type, const double *value, sp_material *material)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int ratios = orthotropic_type[type].ratios, shears = orthotropic_type[type].shears;
    const double *E = value, *nu = E + 3, *G = nu + ratios,
                 *R = orthotropic_type[type].rotation ? G + shears : identity;
    double p[9] = {E[0], E[1], E[2]};

    for (int i = 0; i < 3; i++)
        if (!(E[i] > 0))
            return sp_volume_fail_here(&veg->in, "Young's modulus %g is not positive", E[i]);

    /* ν_ij = ν √(E_i/E_j) and G_ij = √(E_i E_j) / (2 (1 + ν)) where a short form omits them. */
    for (int i = 0; i < 3; i++) {
        double Ei = E[i], Ej = E[(i + 1) % 3];
        p[3 + i] = ratios == 3 ? nu[i] : nu[0] * sqrt(Ei / Ej);
        p[6 + i] = ratios == 3 ? G[i] : (shears ? G[0] : 1) * sqrt(Ei * Ej) / (2 * (1 + nu[0]));
    }

    material->law = SP_LAW_LINEAR;
    if (ratios == 1 && sp_volume_check_isotropic(&veg->in, sp_volume_here(&veg->in), E[0], nu[0]) != SP_OK)
        return SP_INPUT;

    if (!sp_volume_orthotropic(p, material->stiffness))
        return sp_volume_fail_here(&veg->in,
                                   "the orthotropic constants give a stiffness that is not positive definite");
    if (!frame_from_columns(R, material->frame))
        return sp_volume_fail_here(&veg->in, "the nine numbers R are no rotation");
    return SP_OK;
}

static int parse_material(struct veg *veg)
{
    enum { MOST = 19 }; /* density and ORTHOTROPIC_N3G3R9 */
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct sp_volume_reader *in = &veg->in;
    char shown[SP_TEXT_QUOTE];
    sp_material material = {0};
    sp_word word;
    double value[MOST + 1] = {0};
    int count = 0, due = -1, orthotropic = -1;

    memcpy(material.frame, identity, sizeof identity);
    sp_text_rest(&in->text, &word);
    SP_PASS(blank_free_name(veg, word, "material", material.name));

    for (int64_t i = 0; i < veg->materials.count; i++)
        if (strcmp(((sp_material *)veg->materials.data)[i].name, material.name) == 0)
            return sp_volume_fail_here(in, "material %s is defined twice", sp_word_show(word, shown));

    SP_PASS(need_line(veg, "the line with the material's type and parameters"));
    sp_text_word(&in->text, &word);
    for (; count <= MOST && sp_text_more(&in->text); count++)
        SP_PASS(sp_text_need_number(in->context, &in->text, "parameter", &value[count]));

    if (sp_word_is(word, "ENU"))
        due = 3;
    else if (sp_word_is(word, "MOONEYRIVLIN"))
        due = 4;
    for (int i = 0; due < 0 && i < (int)(sizeof orthotropic_type / sizeof orthotropic_type[0]); i++)
        if (sp_word_is(word, orthotropic_type[i].name)) {
            orthotropic = i;
            due = 4 + orthotropic_type[i].ratios + orthotropic_type[i].shears + (orthotropic_type[i].rotation ? 9 : 0);
        }

    if (due < 0)
        return sp_volume_fail_here(in, "unknown type of material '%s' (ENU, MOONEYRIVLIN and ORTHOTROPIC are known)",
                                   sp_word_show(word, shown));
    if (count != due)
        return sp_volume_fail_here(in, "%s takes %d numbers, not %d", sp_word_show(word, shown), due, count);

    material.density = value[0];
    SP_PASS(sp_volume_check_density(in, sp_volume_here(in), material.density));
    if (orthotropic >= 0)
        SP_PASS(set_orthotropic(veg, orthotropic, value + 1, &material));
    else if (due == 3) {
        material.law = SP_LAW_STVK;
        material.young = value[1];
        material.poisson = value[2];
        SP_PASS(sp_volume_check_isotropic(in, sp_volume_here(in), value[1], value[2]));
    } else {
        material.law = SP_LAW_MOONEY_RIVLIN;
        memcpy(material.mooney, value + 1, sizeof material.mooney);
    }

    return sp_volume_push(in, &veg->materials, &material, sizeof material);
}

static int parse_set(struct veg *veg)
{
    struct sp_volume_reader *in = &veg->in;
    char shown[SP_TEXT_QUOTE];
    struct veg_set set = {.first = veg->members.count};
    sp_word name;
    bool found;

    sp_text_rest(&in->text, &name);
    SP_PASS(blank_free_name(veg, name, "set", set.name));
    if (strcmp(set.name, "allElements") == 0)
        return sp_volume_fail_here(in, "the set allElements always means all elements");

    for (int64_t i = 0; i < veg->sets.count; i++)
        if (strcmp(((struct veg_set *)veg->sets.data)[i].name, set.name) == 0)
            return sp_volume_fail_here(in, "set %s is defined twice", sp_word_show(name, shown));

    for (;;) {
        SP_PASS(data_line(veg, &found));
        if (!found)
            break;
        while (sp_text_more(&in->text)) {
            struct veg_member member = {.where = sp_volume_here(in)};
            SP_PASS(sp_text_need_integer(in->context, &in->text, "element of the set", &member.number));
            SP_PASS(sp_volume_push(in, &veg->members, &member, sizeof member));
        }
    }

    set.end = veg->members.count;
    return sp_volume_push(in, &veg->sets, &set, sizeof set);
}

static int parse_region(struct veg *veg)
{
    struct sp_volume_reader *in = &veg->in;
    struct veg_region region;
    sp_word set;

    SP_PASS(need_line(veg, "the line 'set, material' of the region"));
    region.where = sp_volume_here(in);
    sp_text_rest(&in->text, &set);

    const char *comma = memchr(set.at, ',', (size_t)set.length);
    if (!comma)
        return sp_volume_fail_here(in, "a region is 'set, material'");
    sp_word material = {comma + 1, set.at + set.length - comma - 1};
    set.length = comma - set.at;
    if (memchr(material.at, ',', (size_t)material.length))
        return sp_volume_fail_here(in, "a region is 'set, material'");

    SP_PASS(blank_free_name(veg, set, "set", region.set));
    SP_PASS(blank_free_name(veg, material, "material", region.material));
    return sp_volume_push(in, &veg->regions, &region, sizeof region);
}

static int parse_sections(struct veg *veg)
{
    static const struct {
        const char *keyword;
        int (*parse)(struct veg *veg);
    } sections[] = {{"*VERTICES", parse_vertices},
                    {"*ELEMENTS", parse_elements},
                    {"*MATERIAL", parse_material},
                    {"*SET", parse_set},
                    {"*REGION", parse_region}};
    enum { SECTIONS = sizeof sections / sizeof sections[0] };
    char shown[SP_TEXT_QUOTE];
    sp_word rest;
    bool found;
    for (;;) {
        int i = 0;
        SP_PASS(next_line(veg, &found));
        if (!found)
            return SP_OK;

        while (i < SECTIONS && !sp_text_match(&veg->in.text, sections[i].keyword))
            i++;
        if (i == SECTIONS) {
            sp_text_rest(&veg->in.text, &rest);
            return sp_volume_fail_here(&veg->in, "a keyword like *SET is expected, not '%s'",
                                       sp_word_show(rest, shown));
        }

        SP_PASS(sections[i].parse(veg));
    }
    return SP_OK;
}

/* Assigns a material to the elements of a region; sets other than allElements come first. owner [elements] is the
 * region that each element was assigned to, −1: none. */
static int assign_region(struct veg *veg, const struct sp_volume_ids *ids, int64_t number, int64_t *owner)
{
    const struct veg_region *region = (struct veg_region *)veg->regions.data + number;
    const struct veg_region *regions = veg->regions.data;
    const struct veg_set *set = NULL;
    struct sp_volume_element *element = veg->in.elements.data;
    const struct veg_member *member = veg->members.data;
    int64_t material = 0;
    const sp_material *materials = veg->materials.data;

    while (material < veg->materials.count && strcmp(materials[material].name, region->material))
        material++;
    if (material == veg->materials.count)
        return sp_volume_fail(&veg->in, region->where, "the region names the material %s, which is not defined",
                              region->material);

    /* Sets come first, so that allElements receives what is left. */
    if (strcmp(region->set, "allElements") == 0) {
        for (int64_t e = 0; e < veg->in.elements.count; e++)
            if (owner[e] < 0) {
                owner[e] = number;
                element[e].group = material;
            }
        return SP_OK;
    }

    for (int64_t i = 0; i < veg->sets.count && !set; i++)
        if (strcmp(((struct veg_set *)veg->sets.data)[i].name, region->set) == 0)
            set = (struct veg_set *)veg->sets.data + i;
    if (!set)
        return sp_volume_fail(&veg->in, region->where, "the region names the set %s, which is not defined",
                              region->set);

    for (int64_t i = set->first; i < set->end; i++) {
        int64_t e = sp_volume_ids_find(ids, member[i].number);
        if (e < 0)
            return sp_volume_fail(&veg->in, member[i].where, "set %s names element %lld of %lld", set->name,
                                  (long long)member[i].number, (long long)veg->in.elements.count);
        if (owner[e] >= 0 && owner[e] != number)
            return sp_volume_fail(&veg->in, region->where,
                                  "element %lld of the set %s is already in the region of the set %s",
                                  (long long)member[i].number, set->name, regions[owner[e]].set);
        owner[e] = number;
        element[e].group = material;
    }
    return SP_OK;
}

static int assign_regions(struct veg *veg)
{
    struct sp_volume_ids ids;
    struct sp_volume_element *element = veg->in.elements.data;
    const struct veg_region *region = veg->regions.data;
    int64_t twice, count = veg->in.elements.count, whole = -1;

    SP_PASS(sp_volume_ids_build(&veg->in, count, element, sizeof *element, &ids, &twice));
    int64_t *owner = sp_pool_raw(&veg->in.pool, count, sizeof *owner);
    SP_PASS(sp_allocated(veg->in.context, owner));
    memset(owner, 0xff, (size_t)count * sizeof *owner);

    for (int64_t i = 0; i < veg->regions.count; i++) {
        if (strcmp(region[i].set, "allElements") != 0)
            SP_PASS(assign_region(veg, &ids, i, owner));
        else if (whole >= 0)
            return sp_volume_fail(&veg->in, region[i].where, "two regions take allElements");
        else
            whole = i;
    }

    if (whole >= 0)
        SP_PASS(assign_region(veg, &ids, whole, owner));

    for (int64_t e = 0; e < count; e++)
        if (owner[e] < 0)
            return sp_volume_fail(&veg->in, element[e].where, "element %lld is in none of the %lld regions",
                                  (long long)element[e].id, (long long)veg->regions.count);
    return SP_OK;
}

/* The sets become sets of elements; numbers that no element has are left out. */
static int add_sets(struct veg *veg, sp_mesh *mesh)
{
    const struct sp_volume_element *element = veg->in.elements.data;
    const struct veg_member *member = veg->members.data;
    struct sp_volume_ids ids;
    sp_list index = {0};
    int64_t twice;
    bool full = false;
    int status;
    SP_TRY(sp_volume_ids_build(&veg->in, veg->in.elements.count, element, sizeof *element, &ids, &twice));

    for (int64_t i = 0; i < veg->sets.count && !full; i++) {
        const struct veg_set *set = (const struct veg_set *)veg->sets.data + i;
        index.count = 0;
        for (int64_t k = set->first; k < set->end; k++) {
            const int64_t e = sp_volume_ids_find(&ids, member[k].number);
            if (e >= 0)
                SP_TRY(sp_volume_push(&veg->in, &index, &veg->in.element[e], sizeof veg->in.element[e]));
        }
        SP_TRY(sp_volume_add_set(&veg->in, mesh, set->name, SP_SET_ELEMENTS, &index, &full));
    }
done:
    sp_list_free(&index);
    return status;
}

int sp_volume_parse_veg(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes,
                        sp_mesh *mesh, sp_notes *notes)
{
    struct veg veg = {0};
    int status;

    SP_TRY(sp_volume_start(&veg.in, context, bytes, count, "#", includes, mesh, notes));
    sp_text_blanks(&veg.in.text, ",");
    SP_TRY(parse_sections(&veg));

    if (!veg.vertices_seen || !veg.elements_seen) {
        status = sp_fail(context, SP_INPUT, "the file has no %s: it is no complete .veg file",
                         veg.vertices_seen ? "*ELEMENTS" : "*VERTICES");
        goto done;
    }

    SP_TRY(assign_regions(&veg));
    SP_TRY(sp_volume_build(&veg.in, false, mesh));
    SP_TRY(sp_volume_regions(&veg.in, mesh, veg.materials.count, veg.materials.data));
    SP_TRY(add_sets(&veg, mesh));
done:
    sp_list_free(&veg.materials);
    sp_list_free(&veg.sets);
    sp_list_free(&veg.members);
    sp_list_free(&veg.regions);
    return sp_volume_finish(&veg.in, status, mesh);
}
