#include "formats/import/volume_inp_internal.h"

#include <math.h>
#include <string.h>

int inp_parse_material(struct inp *inp, const struct inp_card *card)
{
    struct inp_material material = {.material = *inp->material, .where = card->where};
    const struct inp_material *known = inp->materials.data;
    sp_word name = {0};
    int status;
    SP_TRY(inp_need_parameter(inp, card, "NAME", &name));
    SP_TRY(volume_name(&inp->in, card->where, name, "material", material.material.name));
    for (int64_t i = 0; i < inp->materials.count; i++)
        if (strcasecmp(known[i].material.name, material.material.name) == 0)
            return volume_fail(&inp->in, card->where, "material %s is defined twice", material.material.name);
    SP_TRY(volume_push(&inp->in, &inp->materials, &material, sizeof material));
done:
    return status;
}

/* The material that cards of constants are about: the last one. */
static int last_material(struct inp *inp, const struct inp_card *card, struct inp_material **material)
{
    if (inp->materials.count == 0)
        return volume_fail(&inp->in, card->where, "%s before any *MATERIAL", card->name);
    *material = (struct inp_material *)inp->materials.data + inp->materials.count - 1;
    return SP_OK;
}

/* The constants of a card, on as many lines as their number needs: at most 8 stand on one. No second set, for another temperature, may
 * follow. where: the first line. */
static int read_constants(struct inp *inp, const struct inp_card *card, int count, double *value, int64_t *where)
{
    enum { PER_LINE = 8 };
    char shown[SP_TEXT_QUOTE];
    sp_word field;
    bool found;
    int status;
    for (int i = 0; i < count; i++) {
        if (i % PER_LINE == 0) {
            SP_TRY(inp_data_line(inp, &found));
            if (!found && i == 0)
                return volume_fail(&inp->in, card->where, "%s has no data", card->name);
            if (!found)
                return volume_fail(&inp->in, card->where, "%s has %d of %d constants", card->name, i, count);
            if (i == 0)
                *where = volume_here(&inp->in);
        }
        sp_text_field(&inp->in.text, ',', &field);
        if (!sp_word_number(field, &value[i]))
            return volume_fail_here(&inp->in, "'%s' is no finite number", sp_word_show(field, shown));
    }
    SP_TRY(inp_data_line(inp, &found));
    if (found)
        return volume_fail_here(&inp->in, "%s that depends on temperature is not supported", card->name);
done:
    return status;
}

int inp_parse_density(struct inp *inp, const struct inp_card *card)
{
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value;
    int status;
    SP_TRY(last_material(inp, card, &material));
    SP_TRY(read_constants(inp, card, 1, &value, &where));
    SP_TRY(volume_check_density(&inp->in, where, value));
    material->density = true;
    material->material.density = value;
done:
    return status;
}

/* Type ISO: E and nu. Type ANISO: the upper triangle of the stiffness by columns in the order 11, 22, 33, 12, 13, 23; ours goes by rows
 * in the order xx, yy, zz, yz, zx, xy. */
int inp_parse_elastic(struct inp *inp, const struct inp_card *card)
{
    static const int place[6] = {0, 1, 2, 5, 4, 3}, row[6] = {0, 6, 11, 15, 18, 20};
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const sp_word *type = inp_parameter(card, "TYPE");
    char shown[SP_TEXT_QUOTE], packed[INP_KEY] = "ISO";
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[21];
    int status, n = 0;
    SP_TRY(last_material(inp, card, &material));
    if (material->elastic)
        return volume_fail(&inp->in, card->where, "%s: the material %s has an elastic law already", card->name, material->material.name);
    if (type)
        inp_pack(*type, packed, sizeof packed);
    if (strncmp(packed, "ISO", 3) && strncmp(packed, "ANISO", 5))
        return volume_fail(&inp->in, card->where, "*ELASTIC of type %s is not supported (isotropic and anisotropic are)",
                           sp_word_show(*type, shown));
    material->elastic = true;
    if (*packed == 'I') {
        SP_TRY(read_constants(inp, card, 2, value, &where));
        SP_TRY(volume_check_isotropic(&inp->in, where, value[0], value[1]));
        material->material.law = SP_LAW_STVK;
        material->material.young = value[0];
        material->material.poisson = value[1];
        return SP_OK;
    }
    SP_TRY(read_constants(inp, card, 21, value, &where));
    material->material.law = SP_LAW_LINEAR;
    memcpy(material->material.frame, identity, sizeof identity);
    for (int j = 0; j < 6; j++)
        for (int i = 0; i <= j; i++) {
            int p = place[i] < place[j] ? place[i] : place[j], q = place[i] < place[j] ? place[j] : place[i];
            material->material.stiffness[row[p] + q - p] = value[n++];
        }
    if (sp_material_check(inp->in.context, &material->material) != SP_OK)
        status = volume_fail(&inp->in, where, "the 21 constants of *ELASTIC are no positive definite stiffness");
done:
    return status;
}

/* C10, D1 (NEO HOOKE) or C10, C01, D1 (MOONEY-RIVLIN) of C10 (J^(-2/3) I1 - 3) + C01 (J^(-4/3) I2 - 3) + (J - 1)^2/D1; other kinds are
 * told about where they are used. */
int inp_parse_hyperelastic(struct inp *inp, const struct inp_card *card)
{
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[3] = {0};
    int count = inp_parameter(card, "NEOHOOKE") ? 2 : 3, status;
    SP_TRY(last_material(inp, card, &material));
    if (material->elastic)
        return volume_fail(&inp->in, card->where, "%s: the material %s has an elastic law already", card->name, material->material.name);
    SP_TRY(read_constants(inp, card, count, value, &where));
    double d1 = value[count - 1], c01 = count == 3 ? value[1] : 0;
    if (!(d1 > 0 && isfinite(1 / d1)))
        return volume_fail(&inp->in, where, "D1 = %g is not positive (a default for it is not supported)", d1);
    if (!(value[0] + c01 > 0))
        return volume_fail(&inp->in, where, "C10 + C01 = %g is not positive", value[0] + c01);
    material->elastic = true;
    material->material.law = SP_LAW_MOONEY_RIVLIN;
    material->material.mooney[0] = c01;
    material->material.mooney[1] = value[0];
    material->material.mooney[2] = 1 / d1;
done:
    return status;
}

/* Rayleigh damping stands in the card itself. */
int inp_parse_damping(struct inp *inp, const struct inp_card *card)
{
    static const char *const key[2] = {"ALPHA", "BETA"};
    char shown[SP_TEXT_QUOTE];
    struct inp_material *material = NULL;
    int status;
    SP_TRY(last_material(inp, card, &material));
    for (int i = 0; i < 2; i++) {
        const sp_word *word = inp_parameter(card, key[i]);
        double value = 0;
        if (word && (!sp_word_number(*word, &value) || value < 0))
            return volume_fail(&inp->in, card->where, "*DAMPING: '%s' is no %s", sp_word_show(*word, shown), key[i]);
        *(i ? &material->material.damping_stiffness : &material->material.damping_mass) = value;
    }
    for (bool found = true; found;)
        SP_TRY(inp_data_line(inp, &found));
done:
    return status;
}

int inp_parse_section(struct inp *inp, const struct inp_card *card)
{
    struct inp_section section = {.where = card->where};
    int status;
    SP_TRY(inp_need_parameter(inp, card, "ELSET", &section.set));
    SP_TRY(inp_need_parameter(inp, card, "MATERIAL", &section.material));
    SP_TRY(volume_push(&inp->in, &inp->sections, &section, sizeof section));
done:
    return status;
}

int inp_assign_materials(struct inp *inp)
{
    const struct inp_section *section = inp->sections.data;
    const struct inp_material *material = inp->materials.data;
    struct volume_element *element = inp->in.elements.data;
    char shown[SP_TEXT_QUOTE];
    sp_list met = {0};
    int status = SP_OK;
    for (int64_t s = 0; s < inp->sections.count; s++) {
        const struct volume_set *set = volume_sets_find(&inp->elsets, section[s].set);
        int64_t m = 0;
        while (m < inp->materials.count && !sp_word_same(section[s].material, sp_word_of(material[m].material.name)))
            m++;
        if (!set)
            status = volume_fail(&inp->in, section[s].where, "the set of elements %s is not defined", sp_word_show(section[s].set, shown));
        else if (m == inp->materials.count)
            status = volume_fail(&inp->in, section[s].where, "the material %s is not defined", sp_word_show(section[s].material, shown));
        else if (!material[m].elastic)
            status = volume_fail(&inp->in, material[m].where, "the material %s has neither *ELASTIC nor *HYPERELASTIC, NEO HOOKE or MOONEY-RIVLIN", material[m].material.name);
        else
            status = volume_sets_resolve(&inp->in, &inp->elsets, set, &met);
        for (int64_t i = 0; status == SP_OK && i < met.count; i++) {
            int64_t e = ((int64_t *)met.data)[i];
            if (element[e].group >= 0 && element[e].group != m)
                status = volume_fail(&inp->in, section[s].where, "element %lld already has the material %s", (long long)element[e].id,
                                     material[element[e].group].material.name);
            element[e].group = m;
        }
        if (status != SP_OK)
            break;
        if (!material[m].density)
            volume_note(&inp->in, "the material %s has no *DENSITY: %g is taken", material[m].material.name, inp->material->density);
        if (material[m].other)
            volume_note(&inp->in, "the material %s is not only elastic: the rest is passed over", material[m].material.name);
    }
    if (inp->sections.count == 0)
        volume_note(&inp->in, "the file has no *SOLID SECTION: all elements take the material %s", inp->material->name);
    for (int64_t e = 0; status == SP_OK && e < inp->in.elements.count; e++) {
        if (inp->sections.count == 0)
            element[e].group = 0;
        if (element[e].width && element[e].group < 0)
            status = volume_fail(&inp->in, element[e].where, "element %lld is in no *SOLID SECTION", (long long)element[e].id);
    }
    sp_list_free(&met);
    return status;
}
