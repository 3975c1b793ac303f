#include "base/vec3.h"
#include "formats/import/volume_inp_internal.h"

#include <math.h>
#include <string.h>

int sp_inp_parse_material(struct inp *inp, const struct inp_card *card)
{
    struct inp_material material = {.material = *inp->material, .where = card->where};
    const struct inp_material *known = inp->materials.data;
    sp_word name = {0};
    SP_PASS(sp_inp_need_parameter(inp, card, "NAME", &name));
    SP_PASS(sp_volume_name(&inp->in, card->where, name, "material", material.material.name));
    for (int64_t i = 0; i < inp->materials.count; i++)
        if (strcasecmp(known[i].material.name, material.material.name) == 0)
            return sp_volume_fail(&inp->in, card->where, "material %s is defined twice", material.material.name);
    return sp_volume_push(&inp->in, &inp->materials, &material, sizeof material);
}

/* The material that cards of constants refer to: the last one. */
static int last_material(struct inp *inp, const struct inp_card *card, struct inp_material **material)
{
    if (inp->materials.count == 0)
        return sp_volume_fail(&inp->in, card->where, "%s before any *MATERIAL", card->name);
    *material = (struct inp_material *)inp->materials.data + inp->materials.count - 1;
    return SP_OK;
}

/* Reads the constants of a card, at most 8 per line. A second set, for another temperature, is an error. where:
 * receives the place of the first line. */
static int read_constants(struct inp *inp, const struct inp_card *card, int count, double *value, int64_t *where)
{
    enum { PER_LINE = 8 };
    char shown[SP_TEXT_QUOTE];
    sp_word field;
    bool found;

    for (int i = 0; i < count; i++) {
        if (i % PER_LINE == 0) {
            SP_PASS(sp_inp_data_line(inp, &found));
            if (!found && i == 0)
                return sp_volume_fail(&inp->in, card->where, "%s has no data", card->name);
            if (!found)
                return sp_volume_fail(&inp->in, card->where, "%s has %d of %d constants", card->name, i, count);
            if (i == 0)
                *where = sp_volume_here(&inp->in);
        }

        sp_text_field(&inp->in.text, ',', &field);
        if (!sp_word_number(field, &value[i]))
            return sp_volume_fail_here(&inp->in, "'%s' is no finite number", sp_word_show(field, shown));
    }

    SP_PASS(sp_inp_data_line(inp, &found));
    if (found)
        return sp_volume_fail_here(&inp->in, "%s that depends on temperature is not supported", card->name);
    return SP_OK;
}

int sp_inp_parse_density(struct inp *inp, const struct inp_card *card)
{
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value;
    SP_PASS(last_material(inp, card, &material));
    SP_PASS(read_constants(inp, card, 1, &value, &where));
    SP_PASS(sp_volume_check_density(&inp->in, where, value));
    material->density = true;
    material->material.density = value;
    return SP_OK;
}

/* The constants of an anisotropic law, with the position of each of Abaqus's 21 or 9 constants in the upper triangle by
 * rows, in the order xx, yy, zz, yz, zx, xy. ANISO is the upper triangle by columns in the order 11, 22, 33, 12, 13,
 * 23, and ORTHO has the nonzero ones of these. */
static const struct directed {
    const char *type;
    int count;
    signed char to[21];
} directed_types[] = {{"ANISO", 21, {0, 1, 6, 2, 7, 11, 5, 10, 14, 20, 4, 9, 13, 19, 18, 3, 8, 12, 17, 16, 15}},
                      {"ORTHO", 9, {0, 1, 6, 2, 7, 11, 20, 18, 15}},
                      {"ENGINEERINGCONSTANTS", 9, {0}}};

static int parse_directed(struct inp *inp, const struct inp_card *card, const struct directed *type,
                          sp_material *material)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t where = 0;
    double value[21];
    bool definite = true;

    SP_PASS(read_constants(inp, card, type->count, value, &where));
    material->law = SP_LAW_LINEAR;
    memcpy(material->frame, identity, sizeof identity);
    memset(material->stiffness, 0, sizeof material->stiffness);

    /* E1 E2 E3, nu12 nu13 nu23, G12 G13 G23; nu31 = nu13 E3/E1 for the order of sp_volume_orthotropic. */
    if (*type->type == 'E')
        definite = sp_volume_orthotropic((double[]){value[0], value[1], value[2], value[3], value[5],
                                                    value[4] * value[2] / value[0], value[6], value[8], value[7]},
                                         material->stiffness);
    if (*type->type != 'E')
        for (int i = 0; i < type->count; i++)
            material->stiffness[type->to[i]] = value[i];

    if (!definite || sp_material_check(inp->in.context, material) != SP_OK)
        return sp_volume_fail(&inp->in, where, "the %d constants of *ELASTIC are no positive definite stiffness",
                              type->count);
    return SP_OK;
}

int sp_inp_parse_elastic(struct inp *inp, const struct inp_card *card)
{
    const sp_word *type = sp_inp_parameter(card, "TYPE");
    char shown[SP_TEXT_QUOTE], packed[INP_KEY] = "ISO";
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[2];

    SP_PASS(last_material(inp, card, &material));
    if (material->elastic)
        return sp_volume_fail(&inp->in, card->where, "%s: the material %s has an elastic law already", card->name,
                              material->material.name);

    if (type)
        sp_inp_pack(*type, packed, sizeof packed);
    material->elastic = true;

    for (size_t i = 0; i < sizeof directed_types / sizeof directed_types[0]; i++)
        if (strncmp(packed, directed_types[i].type, strlen(directed_types[i].type)) == 0)
            return parse_directed(inp, card, &directed_types[i], &material->material);

    if (strncmp(packed, "ISO", 3))
        return sp_volume_fail(&inp->in, card->where,
                              "*ELASTIC of type %s is not supported (ISO, ORTHO, ANISO and ENGINEERING CONSTANTS are)",
                              sp_word_show(*type, shown));

    SP_PASS(read_constants(inp, card, 2, value, &where));
    SP_PASS(sp_volume_check_isotropic(&inp->in, where, value[0], value[1]));
    material->material.law = SP_LAW_STVK;
    material->material.young = value[0];
    material->material.poisson = value[1];
    return SP_OK;
}

/* Parses C10, D1 (NEO HOOKE) or C10, C01, D1 (MOONEY-RIVLIN) of C10 (J^(-2/3) I1 - 3) + C01 (J^(-4/3) I2 - 3) + (J -
 * 1)^2/D1. Other kinds are reported when they are used. */
int sp_inp_parse_hyperelastic(struct inp *inp, const struct inp_card *card)
{
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[3] = {0};
    int count = sp_inp_parameter(card, "NEOHOOKE") ? 2 : 3;

    SP_PASS(last_material(inp, card, &material));
    if (material->elastic)
        return sp_volume_fail(&inp->in, card->where, "%s: the material %s has an elastic law already", card->name,
                              material->material.name);

    SP_PASS(read_constants(inp, card, count, value, &where));
    double d1 = value[count - 1], c01 = count == 3 ? value[1] : 0;
    if (!(d1 > 0 && isfinite(1 / d1)))
        return sp_volume_fail(&inp->in, where, "D1 = %g is not positive (a default for it is not supported)", d1);
    if (!(value[0] + c01 > 0))
        return sp_volume_fail(&inp->in, where, "C10 + C01 = %g is not positive", value[0] + c01);

    /* mooney is c01, c10 and the bulk coefficient 1/D1 of (J − 1)². */
    material->elastic = true;
    material->material.law = SP_LAW_MOONEY_RIVLIN;
    material->material.mooney[0] = c01;
    material->material.mooney[1] = value[0];
    material->material.mooney[2] = 1 / d1;
    return SP_OK;
}

/* Parses Rayleigh damping, whose constants are parameters of the card. */
int sp_inp_parse_damping(struct inp *inp, const struct inp_card *card)
{
    static const char *const key[2] = {"ALPHA", "BETA"};
    char shown[SP_TEXT_QUOTE];
    struct inp_material *material = NULL;

    SP_PASS(last_material(inp, card, &material));
    for (int i = 0; i < 2; i++) {
        const sp_word *word = sp_inp_parameter(card, key[i]);
        double value = 0;
        if (word && (!sp_word_number(*word, &value) || value < 0))
            return sp_volume_fail(&inp->in, card->where, "*DAMPING: '%s' is no %s", sp_word_show(*word, shown), key[i]);
        *(i ? &material->material.damping_stiffness : &material->material.damping_mass) = value;
    }

    for (bool found = true; found;)
        SP_PASS(sp_inp_data_line(inp, &found));
    return SP_OK;
}

/* Parses SYSTEM=RECTANGULAR: the x axis goes through the point a, and the point b is in the plane of x and y. A
 * rotation about an axis on a second line, and other systems, are reported when they are used. */
int sp_inp_parse_orientation(struct inp *inp, const struct inp_card *card)
{
    const sp_word *system = sp_inp_parameter(card, "SYSTEM");
    struct inp_orientation orientation = {.known = !system ||
                                                   (system->length && (*system->at == 'R' || *system->at == 'r'))};
    double point[6] = {0};
    bool found;

    SP_PASS(sp_inp_need_parameter(inp, card, "NAME", &orientation.name));

    for (int line = 0;; line++) {
        sp_word field;
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            break;
        if (line == 0)
            for (int i = 0; i < 6; i++) {
                sp_text_field(&inp->in.text, ',', &field);
                orientation.known = orientation.known && sp_word_number(field, &point[i]);
            }
        orientation.known = orientation.known && line == 0 && !sp_text_more(&inp->in.text);
    }

    /* x towards a, z normal to the plane of a and b, y completes the frame. */
    memcpy(orientation.frame, point, 3 * sizeof *point);
    sp_cross3(point, point + 3, orientation.frame + 6);
    sp_cross3(orientation.frame + 6, point, orientation.frame + 3);
    for (int i = 0; i < 3; i++)
        orientation.known = sp_normalize3(orientation.frame + 3 * i) && orientation.known;

    return sp_volume_push(&inp->in, &inp->orientations, &orientation, sizeof orientation);
}

int sp_inp_parse_section(struct inp *inp, const struct inp_card *card)
{
    struct inp_section section = {.where = card->where, .level = inp->level};
    const sp_word *orientation = sp_inp_parameter(card, "ORIENTATION");
    if (orientation)
        section.orientation = *orientation;
    SP_PASS(sp_inp_need_parameter(inp, card, "ELSET", &section.set));
    SP_PASS(sp_inp_need_parameter(inp, card, "MATERIAL", &section.material));
    return sp_volume_push(&inp->in, &inp->sections, &section, sizeof section);
}

/* Gives a material with directions the axes of its section. */
static int orient_material(struct inp *inp, const struct inp_section *section, struct inp_material *material)
{
    const struct inp_orientation *orientation = inp->orientations.data;
    char shown[SP_TEXT_QUOTE];
    int64_t o = inp->orientations.count - 1;

    if (material->material.law != SP_LAW_LINEAR)
        return SP_OK;

    if (material->orientation.at && !sp_word_same(material->orientation, section->orientation))
        return sp_volume_fail(&inp->in, section->where,
                              "the material %s has sections of different orientations: give each a material of its own",
                              material->material.name);
    material->orientation = section->orientation.length ? section->orientation : sp_word_of("");
    if (section->orientation.length == 0)
        return SP_OK;

    while (o >= 0 && !sp_word_same(orientation[o].name, section->orientation))
        o--;
    if (o < 0)
        return sp_volume_fail(&inp->in, section->where, "the orientation %s is not defined",
                              sp_word_show(section->orientation, shown));
    if (!orientation[o].known)
        return sp_volume_fail(&inp->in, section->where,
                              "the orientation %s is not supported (SYSTEM=RECTANGULAR with two points is)",
                              sp_word_show(section->orientation, shown));

    memcpy(material->material.frame, orientation[o].frame, sizeof orientation[o].frame);
    return SP_OK;
}

int sp_inp_assign_materials(struct inp *inp)
{
    const struct inp_section *section = inp->sections.data;
    struct inp_material *material = inp->materials.data;
    struct sp_volume_element *element = inp->in.elements.data;
    char shown[SP_TEXT_QUOTE];
    sp_list met = {0};
    int status = SP_OK;

    for (int64_t s = 0; s < inp->sections.count; s++) {
        const struct sp_volume_set *set = sp_inp_find_set(inp, &inp->elsets, section[s].level, section[s].set);
        int64_t m = 0;
        while (m < inp->materials.count && !sp_word_same(section[s].material, sp_word_of(material[m].material.name)))
            m++;

        if (!set)
            status = sp_volume_fail(&inp->in, section[s].where, "the set of elements %s is not defined",
                                    sp_word_show(section[s].set, shown));
        else if (m == inp->materials.count)
            status = sp_volume_fail(&inp->in, section[s].where, "the material %s is not defined",
                                    sp_word_show(section[s].material, shown));
        else if (!material[m].elastic)
            status =
                sp_volume_fail(&inp->in, material[m].where,
                               "the material %s has neither *ELASTIC nor *HYPERELASTIC, NEO HOOKE or MOONEY-RIVLIN",
                               material[m].material.name);
        else if ((status = orient_material(inp, &section[s], &material[m])) == SP_OK)
            status = sp_volume_sets_resolve(&inp->in, &inp->elsets, set, &met);

        for (int64_t i = 0; status == SP_OK && i < met.count; i++) {
            int64_t e = ((int64_t *)met.data)[i];
            if (element[e].group >= 0 && element[e].group != m)
                status = sp_volume_fail(&inp->in, section[s].where, "element %lld already has the material %s",
                                        (long long)element[e].id, material[element[e].group].material.name);
            element[e].group = m;
        }

        if (status != SP_OK)
            break;

        if (!material[m].density)
            sp_volume_note(&inp->in, "the material %s has no *DENSITY: %g is taken", material[m].material.name,
                           inp->material->density);
        if (material[m].other)
            sp_volume_note(&inp->in, "the material %s is not only elastic: the rest is passed over",
                           material[m].material.name);
    }

    if (inp->sections.count == 0)
        sp_volume_note(&inp->in, "the file has no *SOLID SECTION: all elements take the material %s",
                       inp->material->name);

    for (int64_t e = 0; status == SP_OK && e < inp->in.elements.count; e++) {
        if (inp->sections.count == 0)
            element[e].group = 0;
        if (element[e].type >= 0 && element[e].group < 0)
            status = sp_volume_fail(&inp->in, element[e].where, "element %lld is in no *SOLID SECTION",
                                    (long long)element[e].id);
    }

    sp_list_free(&met);
    return status;
}
