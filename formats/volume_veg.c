#include "volume_internal.h"

struct veg_set {
    char name[SP_NAME_LENGTH];
    int64_t first, end; /* of veg.members */
};

struct veg_member {
    int64_t number, where;
};

struct veg_region {
    char set[SP_NAME_LENGTH], material[SP_NAME_LENGTH];
    int64_t where;
};

struct veg {
    struct volume_text text;
    struct volume_raw raw;
    sp_list materials, sets, members, regions;
    bool vertices_seen, elements_seen;
};

/* The next line with *INCLUDE followed; found = false at the end. */
static int next_line(struct veg *veg, bool *found)
{
    while ((*found = volume_line(&veg->text, "#"))) {
        struct volume_token rest = veg->text.line, word;
        volume_word(&rest, &word);
        if (!volume_equals(word, "*INCLUDE"))
            return SP_OK;
        int status = volume_include(&veg->text, veg->text.where, volume_trim(rest));
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* The line that must follow a keyword. */
static int need_line(struct veg *veg, const char *what)
{
    bool found;
    int64_t where = veg->text.where;
    int status = next_line(veg, &found);
    if (status != SP_OK)
        return status;
    if (!found || *veg->text.line.start == '*')
        return volume_fail(&veg->text, found ? veg->text.where : where, "%s is missing", what);
    return SP_OK;
}

/* Names are compared without blanks, as VegaFEM does. */
static int blank_free_name(struct veg *veg, struct volume_token token, const char *what, char name[SP_NAME_LENGTH])
{
    char packed[SP_NAME_LENGTH + 1];
    int64_t n = 0;
    for (const char *p = token.start; p < token.end && n <= SP_NAME_LENGTH; p++)
        if (!volume_blank(*p))
            packed[n++] = *p;
    return volume_name(&veg->text, veg->text.where, (struct volume_token){packed, packed + n}, what, name);
}

/* A header "count width [attributes [markers]]": how many records follow and how many fields each may have. */
static int parse_header(struct veg *veg, const char *what, int64_t width, int64_t *count, int64_t *fields)
{
    char shown[VOLUME_SHOWN];
    int status = need_line(veg, "the line with the count");
    if (status != SP_OK)
        return status;
    struct volume_token rest = veg->text.line, word;
    int64_t value[4] = {0, width, 0, 0};
    for (int i = 0; i < 4 && volume_word(&rest, &word); i++)
        if (!volume_integer(word, &value[i]) || value[i] < 0 || (i >= 2 && value[i] > 1000))
            return volume_fail(&veg->text, veg->text.where, "'%s' is no count", volume_show(word, shown));
    if (value[1] != width)
        return volume_fail(&veg->text, veg->text.where, "%s of %lld numbers instead of %lld", what, (long long)value[1], (long long)width);
    *count = value[0];
    *fields = 1 + width + value[2] + value[3];
    return SP_OK;
}

/* The number of record i: consecutive from 0 or 1. */
static int check_number(struct veg *veg, struct volume_token word, const char *what, int64_t i, int64_t *base, int64_t *number)
{
    char shown[VOLUME_SHOWN];
    if (!volume_integer(word, number))
        return volume_fail(&veg->text, veg->text.where, "'%s' is no number of %s", volume_show(word, shown), what);
    if (i == 0 && (*number == 0 || *number == 1))
        *base = *number;
    if (*number != *base + i)
        return volume_fail(&veg->text, veg->text.where, "%s %lld stands where %lld is due", what, (long long)*number,
                           (long long)(*base + i));
    return SP_OK;
}

/* The next of `count` announced records. */
static int next_record(struct veg *veg, const char *what, int64_t i, int64_t count, int64_t where)
{
    bool found;
    int status = next_line(veg, &found);
    if (status == SP_OK && (!found || *veg->text.line.start == '*'))
        status = volume_fail(&veg->text, where, "%lld %s are announced, %lld follow", (long long)count, what, (long long)i);
    return status;
}

static int too_many_fields(struct veg *veg, struct volume_token rest, int64_t used, int64_t fields)
{
    struct volume_token word;
    int64_t n = used;
    while (volume_word(&rest, &word))
        n++;
    return n > fields ? volume_fail(&veg->text, veg->text.where, "%lld numbers instead of %lld", (long long)n, (long long)fields) : SP_OK;
}

static int parse_vertices(struct veg *veg)
{
    int64_t count, fields, base = 1;
    char shown[VOLUME_SHOWN];
    if (veg->vertices_seen)
        return volume_fail(&veg->text, veg->text.where, "*VERTICES stands twice");
    veg->vertices_seen = true;
    int status = parse_header(veg, "vertices", 3, &count, &fields);
    int64_t header = veg->text.where;
    for (int64_t i = 0; status == SP_OK && i < count; i++) {
        SP_TRY(next_record(veg, "vertices", i, count, header));
        struct volume_token rest = veg->text.line, word;
        struct volume_node node = {.where = veg->text.where};
        volume_word(&rest, &word);
        SP_TRY(check_number(veg, word, "vertex", i, &base, &node.id));
        for (int k = 0; k < 3; k++) {
            if (!volume_word(&rest, &word))
                return volume_fail(&veg->text, node.where, "vertex %lld has %d of 3 coordinates", (long long)node.id, k);
            if (!volume_real(word, &node.x[k]))
                return volume_fail(&veg->text, node.where, "'%s' is no finite coordinate", volume_show(word, shown));
        }
        SP_TRY(too_many_fields(veg, rest, 4, fields));
        struct volume_node *added = sp_list_add(&veg->raw.nodes, 1, sizeof node);
        if (!added)
            return sp_fail_memory(veg->text.context);
        *added = node;
    }
done:
    return status;
}

static int parse_elements(struct veg *veg)
{
    int64_t count, fields, width, base = 1;
    char shown[VOLUME_SHOWN];
    if (veg->elements_seen)
        return volume_fail(&veg->text, veg->text.where, "*ELEMENTS stands twice");
    veg->elements_seen = true;
    int status;
    SP_TRY(need_line(veg, "the type of the elements"));
    if (volume_begins(veg->text.line, "TET"))
        width = 4;
    else if (volume_begins(veg->text.line, "CUBIC") || volume_begins(veg->text.line, "HEX"))
        width = 8;
    else
        return volume_fail(&veg->text, veg->text.where, "unknown type of elements '%s' (TET and CUBIC are known)",
                           volume_show(veg->text.line, shown));
    SP_TRY(parse_header(veg, "elements", width, &count, &fields));
    int64_t header = veg->text.where;
    for (int64_t i = 0; i < count; i++) {
        SP_TRY(next_record(veg, "elements", i, count, header));
        struct volume_token rest = veg->text.line, word;
        struct volume_element element = {.where = veg->text.where, .width = width, .group = -1};
        volume_word(&rest, &word);
        SP_TRY(check_number(veg, word, "element", i, &base, &element.id));
        for (int64_t a = 0; a < width; a++) {
            if (!volume_word(&rest, &word))
                return volume_fail(&veg->text, element.where, "element %lld has %lld of %lld corners", (long long)element.id, (long long)a,
                                   (long long)width);
            if (!volume_integer(word, &element.corner[a]))
                return volume_fail(&veg->text, element.where, "'%s' is no number of a vertex", volume_show(word, shown));
        }
        SP_TRY(too_many_fields(veg, rest, 1 + width, fields));
        struct volume_element *added = sp_list_add(&veg->raw.elements, 1, sizeof element);
        if (!added)
            return sp_fail_memory(veg->text.context);
        *added = element;
    }
done:
    return status;
}

/* C of an orthotropic material from p = E1 E2 E3 [Pa], ν12 ν23 ν31, G12 G23 G31 [Pa]: its compliance has 1/Ei on the
 * diagonal and −νij/Ei = −νji/Ej beside it (νij: contraction along j when pulled along i). False when not definite. */
static bool orthotropic_stiffness(const double p[9], double stiffness[21])
{
    double a = 1 / p[0], b = 1 / p[1], c = 1 / p[2];
    double ab = -p[3] / p[0], bc = -p[4] / p[1], ca = -p[5] / p[2];
    double minor_c = a * b - ab * ab;
    double det = a * (b * c - bc * bc) - ab * (ab * c - bc * ca) + ca * (ab * bc - b * ca);
    if (!(a > 0 && minor_c > 0 && det > 0 && p[6] > 0 && p[7] > 0 && p[8] > 0))
        return false;
    memset(stiffness, 0, 21 * sizeof *stiffness);
    stiffness[0] = (b * c - bc * bc) / det;
    stiffness[1] = (bc * ca - ab * c) / det;
    stiffness[2] = (ab * bc - b * ca) / det;
    stiffness[6] = (a * c - ca * ca) / det;
    stiffness[7] = (ab * ca - a * bc) / det;
    stiffness[11] = minor_c / det;
    stiffness[15] = p[7]; /* yz */
    stiffness[18] = p[8]; /* zx */
    stiffness[20] = p[6]; /* xy */
    for (int i = 0; i < 21; i++)
        if (!isfinite(stiffness[i]))
            return false;
    return true;
}

/* VegaFEM's R has the material's axes as columns, `frame` has them as rows. Printed digits are made good by
 * orthonormalizing; false when R is no rotation within 1e-4. */
static bool frame_from_columns(const double R[9], double frame[9])
{
    for (int i = 0; i < 3; i++) {
        double *axis = frame + 3 * i;
        for (int k = 0; k < 3; k++)
            axis[k] = R[3 * k + i];
        for (int j = 0; j <= i; j++) {
            const double *other = frame + 3 * j;
            double dot = axis[0] * other[0] + axis[1] * other[1] + axis[2] * other[2];
            if (!(fabs(dot - (i == j)) <= 1e-4))
                return false;
            for (int k = 0; k < 3; k++)
                axis[k] = i == j ? axis[k] / sqrt(dot) : axis[k] - dot * other[k];
        }
    }
    const double *x = frame, *y = frame + 3, *z = frame + 6;
    return (x[1] * y[2] - x[2] * y[1]) * z[0] + (x[2] * y[0] - x[0] * y[2]) * z[1] + (x[0] * y[1] - x[1] * y[0]) * z[2] > 0;
}

/* The types of orthotropic material: how many Poisson's ratios and shear moduli are given, and whether R follows. With
 * one ratio, νij = ν √(Ei/Ej) and Gij = G √(Ei Ej) / (2 (1 + ν)) with a factor G, 1 where not given (Li and Barbič,
 * "Stable orthotropic materials", SCA 2014). */
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
    const double *E = value, *nu = E + 3, *G = nu + ratios, *R = orthotropic_type[type].rotation ? G + shears : identity;
    double p[9] = {E[0], E[1], E[2]};
    for (int i = 0; i < 3; i++)
        if (!(E[i] > 0))
            return volume_fail(&veg->text, veg->text.where, "Young's modulus %g is not positive", E[i]);
    for (int i = 0; i < 3; i++) {
        double Ei = E[i], Ej = E[(i + 1) % 3];
        p[3 + i] = ratios == 3 ? nu[i] : nu[0] * sqrt(Ei / Ej);
        p[6 + i] = ratios == 3 ? G[i] : (shears ? G[0] : 1) * sqrt(Ei * Ej) / (2 * (1 + nu[0]));
    }
    material->law = SP_LAW_LINEAR;
    if (ratios == 1 && volume_check_isotropic(&veg->text, veg->text.where, E[0], nu[0]) != SP_OK)
        return SP_INPUT;
    if (!orthotropic_stiffness(p, material->stiffness))
        return volume_fail(&veg->text, veg->text.where, "the orthotropic constants give a stiffness that is not positive definite");
    if (!frame_from_columns(R, material->frame))
        return volume_fail(&veg->text, veg->text.where, "the nine numbers R are no rotation");
    return SP_OK;
}

static int parse_material(struct veg *veg, struct volume_token name)
{
    enum { MOST = 19 }; /* density and ORTHOTROPIC_N3G3R9 */
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    char shown[VOLUME_SHOWN];
    sp_material material = {0};
    memcpy(material.frame, identity, sizeof identity);
    int status;
    SP_TRY(blank_free_name(veg, name, "material", material.name));
    for (int64_t i = 0; i < veg->materials.count; i++)
        if (strcmp(((sp_material *)veg->materials.data)[i].name, material.name) == 0)
            return volume_fail(&veg->text, veg->text.where, "material %s is defined twice", volume_show(name, shown));
    SP_TRY(need_line(veg, "the line with the material's type and parameters"));
    struct volume_token rest = veg->text.line, type, word;
    double value[MOST + 1] = {0};
    int count = 0, due = -1, orthotropic = -1;
    volume_word(&rest, &type);
    for (; count <= MOST && volume_word(&rest, &word); count++)
        if (!volume_real(word, &value[count]))
            return volume_fail(&veg->text, veg->text.where, "'%s' is no finite number", volume_show(word, shown));
    if (volume_equals(type, "ENU"))
        due = 3;
    else if (volume_equals(type, "MOONEYRIVLIN"))
        due = 4;
    for (int i = 0; due < 0 && i < (int)(sizeof orthotropic_type / sizeof orthotropic_type[0]); i++)
        if (volume_equals(type, orthotropic_type[i].name)) {
            orthotropic = i;
            due = 4 + orthotropic_type[i].ratios + orthotropic_type[i].shears + (orthotropic_type[i].rotation ? 9 : 0);
        }
    if (due < 0)
        return volume_fail(&veg->text, veg->text.where, "unknown type of material '%s' (ENU, MOONEYRIVLIN and ORTHOTROPIC are known)",
                           volume_show(type, shown));
    if (count != due)
        return volume_fail(&veg->text, veg->text.where, "%s takes %d numbers, not %d", volume_show(type, shown), due, count);
    material.density = value[0];
    SP_TRY(volume_check_density(&veg->text, veg->text.where, material.density));
    if (orthotropic >= 0)
        SP_TRY(set_orthotropic(veg, orthotropic, value + 1, &material));
    else if (due == 3) {
        material.law = SP_LAW_STVK;
        material.young = value[1];
        material.poisson = value[2];
        SP_TRY(volume_check_isotropic(&veg->text, veg->text.where, value[1], value[2]));
    } else {
        material.law = SP_LAW_MOONEY_RIVLIN;
        memcpy(material.mooney, value + 1, sizeof material.mooney);
    }
    sp_material *added = sp_list_add(&veg->materials, 1, sizeof material);
    if (!added)
        return sp_fail_memory(veg->text.context);
    *added = material;
done:
    return status;
}

static int parse_set(struct veg *veg, struct volume_token name)
{
    char shown[VOLUME_SHOWN];
    struct veg_set set = {.first = veg->members.count};
    bool found;
    int status;
    SP_TRY(blank_free_name(veg, name, "set", set.name));
    if (strcmp(set.name, "allElements") == 0)
        return volume_fail(&veg->text, veg->text.where, "the set allElements always means all elements");
    for (int64_t i = 0; i < veg->sets.count; i++)
        if (strcmp(((struct veg_set *)veg->sets.data)[i].name, set.name) == 0)
            return volume_fail(&veg->text, veg->text.where, "set %s is defined twice", volume_show(name, shown));
    for (;;) {
        SP_TRY(next_line(veg, &found));
        if (!found)
            break;
        if (*veg->text.line.start == '*') {
            veg->text.held = true;
            break;
        }
        struct volume_token rest = veg->text.line, word;
        while (volume_word(&rest, &word)) {
            struct veg_member *member = sp_list_add(&veg->members, 1, sizeof *member);
            if (!member)
                return sp_fail_memory(veg->text.context);
            member->where = veg->text.where;
            if (!volume_integer(word, &member->number))
                return volume_fail(&veg->text, veg->text.where, "'%s' is no number of an element", volume_show(word, shown));
        }
    }
    set.end = veg->members.count;
    struct veg_set *added = sp_list_add(&veg->sets, 1, sizeof set);
    if (!added)
        return sp_fail_memory(veg->text.context);
    *added = set;
done:
    return status;
}

static int parse_region(struct veg *veg)
{
    int status;
    SP_TRY(need_line(veg, "the line 'set, material' of the region"));
    struct volume_token rest = veg->text.line, set, material = {0};
    struct veg_region region = {.where = veg->text.where};
    volume_field(&rest, &set);
    if (!volume_field(&rest, &material) || rest.start < rest.end)
        return volume_fail(&veg->text, region.where, "a region is 'set, material'");
    SP_TRY(blank_free_name(veg, set, "set", region.set));
    SP_TRY(blank_free_name(veg, material, "material", region.material));
    struct veg_region *added = sp_list_add(&veg->regions, 1, sizeof region);
    if (!added)
        return sp_fail_memory(veg->text.context);
    *added = region;
done:
    return status;
}

static int parse_sections(struct veg *veg)
{
    bool found;
    char shown[VOLUME_SHOWN];
    int status;
    for (;;) {
        SP_TRY(next_line(veg, &found));
        if (!found)
            return SP_OK;
        struct volume_token rest = veg->text.line, word;
        volume_word(&rest, &word);
        rest = volume_trim(rest);
        if (volume_equals(word, "*VERTICES"))
            status = parse_vertices(veg);
        else if (volume_equals(word, "*ELEMENTS"))
            status = parse_elements(veg);
        else if (volume_equals(word, "*MATERIAL"))
            status = parse_material(veg, rest);
        else if (volume_equals(word, "*SET"))
            status = parse_set(veg, rest);
        else if (volume_equals(word, "*REGION"))
            status = parse_region(veg);
        else
            status =
                volume_fail(&veg->text, veg->text.where, "a keyword like *SET is expected, not '%s'", volume_show(veg->text.line, shown));
        if (status != SP_OK)
            return status;
    }
done:
    return status;
}

/* Gives the elements of a region their material; a set that is not named allElements goes first. owner [elements] is the
 * region that took each element, −1 none. */
static int assign_region(struct veg *veg, const struct volume_ids *ids, int64_t number, int64_t *owner)
{
    const struct veg_region *region = (struct veg_region *)veg->regions.data + number;
    const struct veg_region *regions = veg->regions.data;
    const struct veg_set *set = NULL;
    struct volume_element *element = veg->raw.elements.data;
    const struct veg_member *member = veg->members.data;
    int64_t material = 0;
    const sp_material *materials = veg->materials.data;
    while (material < veg->materials.count && strcmp(materials[material].name, region->material))
        material++;
    if (material == veg->materials.count)
        return volume_fail(&veg->text, region->where, "the region names the material %s, which is not defined", region->material);
    if (strcmp(region->set, "allElements") == 0) {
        for (int64_t e = 0; e < veg->raw.elements.count; e++)
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
        return volume_fail(&veg->text, region->where, "the region names the set %s, which is not defined", region->set);
    for (int64_t i = set->first; i < set->end; i++) {
        int64_t e = volume_ids_find(ids, member[i].number);
        if (e < 0)
            return volume_fail(&veg->text, member[i].where, "set %s names element %lld of %lld", set->name, (long long)member[i].number,
                               (long long)veg->raw.elements.count);
        if (owner[e] >= 0 && owner[e] != number)
            return volume_fail(&veg->text, region->where, "element %lld of the set %s is already in the region of the set %s",
                               (long long)member[i].number, set->name, regions[owner[e]].set);
        owner[e] = number;
        element[e].group = material;
    }
    return SP_OK;
}

static int assign_regions(struct veg *veg)
{
    struct volume_ids ids;
    struct volume_element *element = veg->raw.elements.data;
    const struct veg_region *region = veg->regions.data;
    int64_t twice, count = veg->raw.elements.count, whole = -1;
    int status;
    SP_TRY(volume_ids_build(veg->text.context, &veg->raw.pool, count, element, sizeof *element, &ids, &twice));
    int64_t *owner = sp_pool_raw(&veg->raw.pool, count, sizeof *owner);
    if (!owner)
        return sp_fail_memory(veg->text.context);
    memset(owner, 0xff, (size_t)count * sizeof *owner);
    for (int64_t i = 0; i < veg->regions.count; i++) {
        if (strcmp(region[i].set, "allElements") != 0)
            SP_TRY(assign_region(veg, &ids, i, owner));
        else if (whole >= 0)
            return volume_fail(&veg->text, region[i].where, "two regions take allElements");
        else
            whole = i;
    }
    if (whole >= 0)
        SP_TRY(assign_region(veg, &ids, whole, owner));
    for (int64_t e = 0; e < count; e++)
        if (owner[e] < 0)
            return volume_fail(&veg->text, element[e].where, "element %lld is in none of the %lld regions", (long long)element[e].id,
                               (long long)veg->regions.count);
done:
    return status;
}

int sp_volume_parse_veg(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes, sp_mesh *mesh, sp_notes *notes)
{
    struct veg veg = {0};
    int status;
    *mesh = (sp_mesh){0};
    if (notes)
        notes->count = 0;
    SP_TRY(volume_text_start(&veg.text, context, bytes, count, includes));
    SP_TRY(parse_sections(&veg));
    if (!veg.vertices_seen || !veg.elements_seen) {
        status =
            sp_fail(context, SP_INPUT, "the file has no %s: it is no complete .veg file", veg.vertices_seen ? "*ELEMENTS" : "*VERTICES");
        goto done;
    }
    SP_TRY(assign_regions(&veg));
    SP_TRY(volume_build(&veg.text, &veg.raw, false, mesh, notes));
    SP_TRY(volume_regions(context, &veg.raw.pool, mesh, veg.materials.count, veg.materials.data));
done:
    volume_text_free(&veg.text);
    volume_raw_free(&veg.raw);
    sp_list_free(&veg.materials);
    sp_list_free(&veg.sets);
    sp_list_free(&veg.members);
    sp_list_free(&veg.regions);
    return volume_finish(status, mesh);
}
