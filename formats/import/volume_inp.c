#include "formats/import/volume_internal.h"
#include "formats/import/volume_sets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INP_PARAMETERS = 16, INP_KEY = 24, INP_CARD = 40 };

/* A keyword card: its name and the names of its parameters in capitals without blanks. */
struct inp_card {
    char name[INP_CARD];
    struct {
        char key[INP_KEY];
        sp_word value;
    } parameter[INP_PARAMETERS];
    int count;
    int64_t where;
};

/* A line of *BOUNDARY or *CLOAD: a node by number or a set of nodes by name. */
struct inp_condition {
    sp_word target;
    int64_t where;
    int components; /* bits 0 to 2 */
    double value;
};

struct inp_material {
    sp_material material;
    int64_t where;
    bool elastic, density, other;
};

struct inp_section {
    sp_word set, material;
    int64_t where;
};

struct inp {
    struct volume_reader in;
    const sp_material *material;
    struct volume_sets nsets, elsets;
    sp_list boundaries, loads, materials, sections;
    int step;
    bool part, second_step, boundary_in_step, amplitude;
    int64_t passed_over;
};

/* Capitals without blanks; what does not fit is cut. */
static void pack(sp_word word, char *packed, int size)
{
    int n = 0;
    for (int64_t i = 0; i < word.length && n < size - 1; i++)
        if (word.at[i] != ' ' && word.at[i] != '\t')
            packed[n++] = word.at[i] >= 'a' && word.at[i] <= 'z' ? (char)(word.at[i] - 'a' + 'A') : word.at[i];
    packed[n] = 0;
}

static sp_word unquote(sp_word word)
{
    if (word.length >= 2 && *word.at == '"' && word.at[word.length - 1] == '"')
        return (sp_word){word.at + 1, word.length - 2};
    return word;
}

/* ---- cards ---- */

/* The parameters on the rest of the line; whether it ends with a comma. */
static bool add_parameters(struct inp *inp, struct inp_card *card)
{
    sp_word field, key;
    for (bool more = true; more;) {
        more = sp_text_field(&inp->in.text, ',', &field);
        if (field.length == 0 || card->count == INP_PARAMETERS)
            continue;
        sp_text parts = inp->in.text;
        parts.at = field.at;
        parts.stop = field.at + field.length;
        sp_text_field(&parts, '=', &key);
        pack(key, card->parameter[card->count].key, INP_KEY);
        sp_text_rest(&parts, &card->parameter[card->count].value);
        card->parameter[card->count].value = unquote(card->parameter[card->count].value);
        card->count++;
    }
    return field.length == 0;
}

static bool parse_card(struct inp *inp, struct inp_card *card)
{
    sp_word name;
    *card = (struct inp_card){.where = volume_here(&inp->in)};
    bool more = sp_text_field(&inp->in.text, ',', &name);
    pack(name, card->name, INP_CARD);
    return more && add_parameters(inp, card);
}

static const sp_word *parameter(const struct inp_card *card, const char *key)
{
    for (int i = 0; i < card->count; i++)
        if (strcmp(card->parameter[i].key, key) == 0)
            return &card->parameter[i].value;
    return NULL;
}

/* The next line with *INCLUDE followed; false at the end. */
static int next_line(struct inp *inp, bool *found)
{
    int status = SP_OK;
    while ((*found = volume_line(&inp->in)) && *inp->in.line == '*') {
        struct inp_card card;
        parse_card(inp, &card);
        if (strcmp(card.name, "*INCLUDE") != 0) {
            inp->in.text.at = inp->in.line;
            return SP_OK;
        }
        const sp_word *file = parameter(&card, "INPUT");
        if (!file)
            return volume_fail_here(&inp->in, "*INCLUDE without INPUT=");
        SP_TRY(volume_include(&inp->in, *file));
    }
done:
    return status;
}

/* A card; where its line ends with a comma and the next one holds NAME=value, that line belongs to it. */
static int read_card(struct inp *inp, struct inp_card *card)
{
    bool found, more = parse_card(inp, card);
    int status = SP_OK;
    while (more) {
        SP_TRY(next_line(inp, &found));
        const char *line = inp->in.line;
        if (found && (*line == '*' || !memchr(line, '=', (size_t)(inp->in.text.stop - line))))
            inp->in.again = true;
        if (!found || inp->in.again)
            return SP_OK;
        more = add_parameters(inp, card);
    }
done:
    return status;
}

/* The next data line of a card; found = false at the next card or the end. */
static int data_line(struct inp *inp, bool *found)
{
    int status = next_line(inp, found);
    if (status == SP_OK && *found && *inp->in.line == '*') {
        inp->in.again = true;
        *found = false;
    }
    return status;
}

static int need_parameter(struct inp *inp, const struct inp_card *card, const char *key, sp_word *value)
{
    const sp_word *found = parameter(card, key);
    if (!found || found->length == 0)
        return volume_fail(&inp->in, card->where, "%s without %s=", card->name, key);
    *value = *found;
    return SP_OK;
}

/* ---- sets ---- */

static int parse_generate(struct inp *inp, struct volume_sets *sets, int64_t set)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t value[3] = {0, 0, 1};
    int n = 0;
    for (bool more = true; n < 3 && more; n++) {
        more = sp_text_field(&inp->in.text, ',', &field);
        if (field.length && !sp_word_integer(field, &value[n]))
            return volume_fail_here(&inp->in, "'%s' is no number", sp_word_show(field, shown));
    }
    if (n < 2 || value[2] < 1 || value[0] < 0 || value[1] < value[0])
        return volume_fail_here(&inp->in, "GENERATE takes first, last and a positive step");
    return volume_sets_add(
        &inp->in, sets, set,
        (struct volume_member){.first = value[0], .last = value[1], .step = value[2], .where = volume_here(&inp->in), .set = -1});
}

/* *NSET and *ELSET. */
static int parse_set(struct inp *inp, const struct inp_card *card, struct volume_sets *sets, const char *key)
{
    sp_word name = {0}, field;
    char shown[SP_TEXT_QUOTE];
    int64_t set;
    bool found;
    int status;
    SP_TRY(need_parameter(inp, card, key, &name));
    if (sets == &inp->nsets && parameter(card, "ELSET"))
        return volume_fail(&inp->in, card->where, "*NSET with ELSET= is not supported");
    SP_TRY(volume_sets_need(&inp->in, sets, name, &set));
    for (;;) {
        SP_TRY(data_line(inp, &found));
        if (!found)
            return SP_OK;
        if (parameter(card, "GENERATE")) {
            SP_TRY(parse_generate(inp, sets, set));
            continue;
        }
        for (bool more = true; more;) {
            more = sp_text_field(&inp->in.text, ',', &field);
            struct volume_member member = {.step = 1, .where = volume_here(&inp->in), .set = -1, .listed = true};
            if (field.length == 0)
                continue;
            if (!sp_word_integer(field, &member.first)) {
                const struct volume_set *other = volume_sets_find(sets, unquote(field));
                if (!other)
                    return volume_fail_here(&inp->in, "the set of %s %s is not defined", sets->what, sp_word_show(field, shown));
                member.set = other - (const struct volume_set *)sets->list.data;
                member.upto = other->members.count;
            }
            member.last = member.first;
            SP_TRY(volume_sets_add(&inp->in, sets, set, member));
        }
    }
done:
    return status;
}

/* ---- nodes and elements ---- */

/* Adds a number to the set that a *NODE or *ELEMENT card names (set ≥ 0). */
static int number_to_set(struct inp *inp, struct volume_sets *sets, int64_t set, int64_t number)
{
    struct volume_member member = {.first = number, .last = number, .step = 1, .where = volume_here(&inp->in), .set = -1};
    return set < 0 ? SP_OK : volume_sets_add(&inp->in, sets, set, member);
}

static int parse_nodes(struct inp *inp, const struct inp_card *card)
{
    char shown[SP_TEXT_QUOTE];
    int64_t set = -1;
    bool found;
    int status;
    if (parameter(card, "SYSTEM") && !sp_word_is(*parameter(card, "SYSTEM"), "R"))
        return volume_fail(&inp->in, card->where, "*NODE with a cylindrical or spherical SYSTEM is not supported");
    if (parameter(card, "NSET"))
        SP_TRY(volume_sets_need(&inp->in, &inp->nsets, *parameter(card, "NSET"), &set));
    for (;;) {
        SP_TRY(data_line(inp, &found));
        if (!found)
            return SP_OK;
        sp_word field;
        bool more;
        struct volume_node node = {.where = volume_here(&inp->in)};
        sp_text_field(&inp->in.text, ',', &field);
        if (!sp_word_integer(field, &node.id) || node.id < 0)
            return volume_fail_here(&inp->in, "'%s' is no number of a node", sp_word_show(field, shown));
        for (int k = 0; k < 3; k++) {
            more = sp_text_field(&inp->in.text, ',', &field);
            if (field.length == 0 && !more)
                return volume_fail_here(&inp->in, "node %lld has %d of 3 coordinates", (long long)node.id, k);
            /* An empty field between others means 0. */
            if (field.length && !sp_word_number(field, &node.x[k]))
                return volume_fail_here(&inp->in, "'%s' is no finite coordinate", sp_word_show(field, shown));
        }
        SP_TRY(volume_push(&inp->in, &inp->in.nodes, &node, sizeof node));
        SP_TRY(number_to_set(inp, &inp->nsets, set, node.id));
    }
done:
    return status;
}

/* Corners of an element type; 0 for what is passed over (shells, membranes, beams, trusses, rigid faces, springs, masses,
 * dashpots, connectors), −1 for what is not supported. */
static int type_width(const char *type)
{
    static const char *const passed[] = {"S3",      "S4",      "S6",     "S8R",     "S8",  "S9",     "STRI",   "SFM3D",
                                         "M3D",     "B3",      "PIPE3",  "T3D",     "R3D", "RB3D",   "SPRING", "MASS",
                                         "ROTARYI", "DASHPOT", "CONN3D", "DCOUP3D", "GAP", "ITSCUNI"};
    if (strcmp(type, "C3D4") == 0)
        return 4;
    if (strcmp(type, "C3D8") == 0)
        return 8;
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (strncmp(type, passed[i], strlen(passed[i])) == 0)
            return 0;
    return -1;
}

static int parse_element(struct inp *inp, int width, int64_t set)
{
    char shown[SP_TEXT_QUOTE];
    sp_word field;
    struct volume_element element = {.where = volume_here(&inp->in), .group = -1, .width = width};
    int64_t corners = 0;
    bool found, more = sp_text_field(&inp->in.text, ',', &field);
    int status;
    if (!sp_word_integer(field, &element.id) || element.id < 0)
        return volume_fail_here(&inp->in, "'%s' is no number of an element", sp_word_show(field, shown));
    for (;;) {
        while (more) {
            more = sp_text_field(&inp->in.text, ',', &field);
            if (field.length == 0 || width == 0)
                continue;
            if (corners == width)
                return volume_fail_here(&inp->in, "element %lld has more than %d corners", (long long)element.id, width);
            if (!sp_word_integer(field, &element.corner[corners++]))
                return volume_fail_here(&inp->in, "'%s' is no number of a node", sp_word_show(field, shown));
        }
        /* A comma at the end of a line announces that the next one goes on. */
        if (field.length || (width > 0 && corners == width))
            break;
        SP_TRY(data_line(inp, &found));
        if (!found)
            break;
        more = true;
    }
    if (corners < width)
        return volume_fail(&inp->in, element.where, "element %lld has %lld of %d corners", (long long)element.id, (long long)corners,
                           width);
    inp->passed_over += width == 0;
    SP_TRY(volume_push(&inp->in, &inp->in.elements, &element, sizeof element));
    status = number_to_set(inp, &inp->elsets, set, element.id);
done:
    return status;
}

static int parse_elements(struct inp *inp, const struct inp_card *card)
{
    char type[INP_KEY], shown[SP_TEXT_QUOTE];
    sp_word name = {0};
    int64_t set = -1;
    bool found;
    int status;
    SP_TRY(need_parameter(inp, card, "TYPE", &name));
    pack(name, type, sizeof type);
    int width = type_width(type);
    if (width < 0)
        return volume_fail(&inp->in, card->where, "elements of type %s are not supported (C3D4 and C3D8 are)", sp_word_show(name, shown));
    if (parameter(card, "ELSET"))
        SP_TRY(volume_sets_need(&inp->in, &inp->elsets, *parameter(card, "ELSET"), &set));
    for (;;) {
        SP_TRY(data_line(inp, &found));
        if (!found)
            return SP_OK;
        SP_TRY(parse_element(inp, width, set));
    }
done:
    return status;
}

/* ---- materials and sections ---- */

static int parse_material(struct inp *inp, const struct inp_card *card)
{
    struct inp_material material = {.material = *inp->material, .where = card->where};
    const struct inp_material *known = inp->materials.data;
    sp_word name = {0};
    int status;
    SP_TRY(need_parameter(inp, card, "NAME", &name));
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
            SP_TRY(data_line(inp, &found));
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
    SP_TRY(data_line(inp, &found));
    if (found)
        return volume_fail_here(&inp->in, "%s that depends on temperature is not supported", card->name);
done:
    return status;
}

static int parse_density(struct inp *inp, const struct inp_card *card)
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
static int parse_elastic(struct inp *inp, const struct inp_card *card)
{
    static const int place[6] = {0, 1, 2, 5, 4, 3}, row[6] = {0, 6, 11, 15, 18, 20};
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const sp_word *type = parameter(card, "TYPE");
    char shown[SP_TEXT_QUOTE], packed[INP_KEY] = "ISO";
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[21];
    int status, n = 0;
    SP_TRY(last_material(inp, card, &material));
    if (material->elastic)
        return volume_fail(&inp->in, card->where, "%s: the material %s has an elastic law already", card->name, material->material.name);
    if (type)
        pack(*type, packed, sizeof packed);
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

/* *HYPERELASTIC: C10, D1 (NEO HOOKE) or C10, C01, D1 (MOONEY-RIVLIN) of C10 (J^(-2/3) I1 - 3) + C01 (J^(-4/3) I2 - 3) + (J - 1)^2/D1; the others are told about where they are
 * used. */
static int parse_hyperelastic(struct inp *inp, const struct inp_card *card)
{
    struct inp_material *material = NULL;
    int64_t where = 0;
    double value[3] = {0};
    int count = parameter(card, "NEOHOOKE") ? 2 : 3, status;
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
static int parse_damping(struct inp *inp, const struct inp_card *card)
{
    static const char *const key[2] = {"ALPHA", "BETA"};
    char shown[SP_TEXT_QUOTE];
    struct inp_material *material = NULL;
    int status;
    SP_TRY(last_material(inp, card, &material));
    for (int i = 0; i < 2; i++) {
        const sp_word *word = parameter(card, key[i]);
        double value = 0;
        if (word && (!sp_word_number(*word, &value) || value < 0))
            return volume_fail(&inp->in, card->where, "*DAMPING: '%s' is no %s", sp_word_show(*word, shown), key[i]);
        *(i ? &material->material.damping_stiffness : &material->material.damping_mass) = value;
    }
    for (bool found = true; found;)
        SP_TRY(data_line(inp, &found));
done:
    return status;
}

static int parse_section(struct inp *inp, const struct inp_card *card)
{
    struct inp_section section = {.where = card->where};
    int status;
    SP_TRY(need_parameter(inp, card, "ELSET", &section.set));
    SP_TRY(need_parameter(inp, card, "MATERIAL", &section.material));
    SP_TRY(volume_push(&inp->in, &inp->sections, &section, sizeof section));
done:
    return status;
}

/* Gives every element its group: the number of its section's material, or 0 where there is no section at all. */
static int assign_materials(struct inp *inp)
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

/* ---- boundary conditions and loads ---- */

/* The components that a named condition of the second field of *BOUNDARY holds (rotations left out); −1 for no such name. */
static int named_condition(sp_word field)
{
    static const struct {
        const char *name;
        int components;
    } known[] = {{"ENCASTRE", 7}, {"PINNED", 7}, {"XSYMM", 1}, {"YSYMM", 2}, {"ZSYMM", 4}, {"XASYMM", 6}, {"YASYMM", 5}, {"ZASYMM", 3}};
    char name[INP_KEY];
    pack(field, name, sizeof name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].components;
    return -1;
}

static int parse_boundary(struct inp *inp, struct inp_condition *condition)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t first, last;
    sp_text_field(&inp->in.text, ',', &condition->target);
    condition->target = unquote(condition->target);
    sp_text_field(&inp->in.text, ',', &field);
    int named = named_condition(field);
    if (named >= 0) {
        condition->components = named;
        return SP_OK;
    }
    if (!sp_word_integer(field, &first) || first < 1)
        return volume_fail_here(&inp->in, "'%s' is no degree of freedom", sp_word_show(field, shown));
    last = first;
    sp_text_field(&inp->in.text, ',', &field);
    if (field.length && (!sp_word_integer(field, &last) || last < first))
        return volume_fail_here(&inp->in, "'%s' is no last degree of freedom from %lld", sp_word_show(field, shown), (long long)first);
    for (int64_t d = first; d <= last && d <= 3; d++)
        condition->components |= 1 << (d - 1);
    sp_text_field(&inp->in.text, ',', &field);
    if (field.length && !sp_word_number(field, &condition->value))
        return volume_fail_here(&inp->in, "'%s' is no finite number", sp_word_show(field, shown));
    if (condition->components && condition->value != 0)
        return volume_fail_here(&inp->in, "the prescribed displacement %g is not zero, which is not supported", condition->value);
    return SP_OK;
}

static int parse_load(struct inp *inp, struct inp_condition *condition)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t component;
    sp_text_field(&inp->in.text, ',', &condition->target);
    condition->target = unquote(condition->target);
    sp_text_field(&inp->in.text, ',', &field);
    if (!sp_word_integer(field, &component) || component < 1)
        return volume_fail_here(&inp->in, "'%s' is no degree of freedom", sp_word_show(field, shown));
    sp_text_field(&inp->in.text, ',', &field);
    if (!sp_word_number(field, &condition->value))
        return volume_fail_here(&inp->in, "'%s' is no finite force", sp_word_show(field, shown));
    if (component <= 3)
        condition->components = 1 << (component - 1);
    return SP_OK;
}

static int parse_conditions(struct inp *inp, const struct inp_card *card, bool load)
{
    bool found;
    int status;
    const sp_word *op = parameter(card, "OP");
    char packed[INP_KEY] = "";
    if (op)
        pack(*op, packed, sizeof packed);
    /* Only the first *BOUNDARY of a step may replace what was there before. */
    if (!load && inp->step == 1) {
        if (strcmp(packed, "NEW") == 0 && !inp->boundary_in_step)
            inp->boundaries.count = 0;
        inp->boundary_in_step = true;
    }
    if (load && parameter(card, "AMPLITUDE") && !inp->amplitude) {
        inp->amplitude = true;
        volume_note(&inp->in, "the amplitude of *CLOAD is passed over");
    }
    for (;;) {
        struct inp_condition condition = {0};
        SP_TRY(data_line(inp, &found));
        if (!found)
            return SP_OK;
        condition.where = volume_here(&inp->in);
        SP_TRY(load ? parse_load(inp, &condition) : parse_boundary(inp, &condition));
        SP_TRY(volume_push(&inp->in, load ? &inp->loads : &inp->boundaries, &condition, sizeof condition));
    }
done:
    return status;
}

/* Indices of the nodes that a condition names. */
static int find_target(struct inp *inp, const struct inp_condition *condition, sp_list *met)
{
    char shown[SP_TEXT_QUOTE];
    int64_t id;
    met->count = 0;
    if (!sp_word_integer(condition->target, &id)) {
        const struct volume_set *set = volume_sets_find(&inp->nsets, condition->target);
        if (!set)
            return volume_fail(&inp->in, condition->where, "the set of nodes %s is not defined", sp_word_show(condition->target, shown));
        return volume_sets_resolve(&inp->in, &inp->nsets, set, met);
    }
    int64_t index = volume_ids_find(&inp->in.node_ids, id);
    if (index < 0)
        return volume_fail(&inp->in, condition->where, "node %lld is not defined", (long long)id);
    inp->nsets.visit++;
    return volume_sets_meet(&inp->in, &inp->nsets, index, met);
}

static int fix_vertices(struct inp *inp, sp_mesh *mesh)
{
    const struct inp_condition *condition = inp->boundaries.data;
    sp_list met = {0};
    int status = SP_OK;
    uint8_t *axes = sp_pool_new(&inp->in.pool, mesh->vertex_count, sizeof *axes);
    if (!axes)
        return sp_fail_memory(inp->in.context);
    for (int64_t i = 0; i < inp->boundaries.count; i++) {
        SP_TRY(find_target(inp, &condition[i], &met));
        for (int64_t j = 0; j < met.count; j++) {
            int64_t vertex = inp->in.vertex[((int64_t *)met.data)[j]];
            if (vertex >= 0)
                axes[vertex] |= (uint8_t)condition[i].components;
        }
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        mesh->fixed_count += axes[v] != 0;
    mesh->fixed = sp_pool_raw(&mesh->pool, mesh->fixed_count, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_raw(&mesh->pool, mesh->fixed_count, sizeof *mesh->fixed_axes);
    if (mesh->pool.failed) {
        status = sp_fail_memory(inp->in.context);
        goto done;
    }
    for (int64_t v = 0, n = 0; v < mesh->vertex_count; v++)
        if (axes[v]) {
            mesh->fixed[n] = v;
            mesh->fixed_axes[n++] = axes[v];
        }
done:
    sp_list_free(&met);
    return status;
}

static int collect_loads(struct inp *inp, sp_mesh *mesh, sp_nodal_loads *loads)
{
    struct entry {
        int64_t vertex;
        int component;
        double value;
    };
    const struct inp_condition *condition = inp->loads.data;
    sp_list met = {0}, entries = {0};
    int64_t lost = 0;
    int status = SP_OK;
    for (int64_t i = 0; i < inp->loads.count; i++) {
        SP_TRY(find_target(inp, &condition[i], &met));
        for (int64_t j = 0; j < met.count; j++) {
            int64_t vertex = inp->in.vertex[((int64_t *)met.data)[j]];
            if (vertex < 0 || condition[i].components == 0) {
                lost++;
                continue;
            }
            struct entry entry = {vertex, condition[i].components / 2, condition[i].value};
            SP_TRY(volume_push(&inp->in, &entries, &entry, sizeof entry));
        }
    }
    if (lost)
        volume_note(&inp->in, "%lld nodal loads are moments or act on nodes without solid elements and are passed over", (long long)lost);
    loads->count = entries.count;
    loads->vertex = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->vertex);
    loads->component = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->component);
    loads->value = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->value);
    if (mesh->pool.failed) {
        status = sp_fail_memory(inp->in.context);
        goto done;
    }
    for (int64_t i = 0; i < loads->count; i++) {
        const struct entry *entry = (struct entry *)entries.data + i;
        loads->vertex[i] = entry->vertex;
        loads->component[i] = entry->component;
        loads->value[i] = entry->value;
    }
done:
    sp_list_free(&met);
    sp_list_free(&entries);
    return status;
}

/* ---- the file ---- */

static bool one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Cards without meaning here: an error where the mesh would come out wrong without them, a note where the model would,
 * silence for the rest. */
static int parse_other(struct inp *inp, const struct inp_card *card)
{
    static const char *const wrong[] = {"*NGEN",   "*NFILL",  "*NCOPY",     "*NMAP",         "*ELGEN",
                                        "*ELCOPY", "*SYSTEM", "*TRANSFORM", "*SUBSTRUCTURE", NULL};
    static const char *const material[] = {"*HYPERELASTIC", "*HYPERFOAM", "*PLASTIC", "*CREEP", "*VISCOELASTIC", "*USERMATERIAL", NULL};
    static const char *const noted[] = {"*DLOAD", "*DSLOAD", "*EQUATION", "*MPC", "*TIE", "*RIGIDBODY", "*COUPLING", "*CONTACTPAIR", NULL};
    bool found;
    int status;
    if (one_of(card->name, wrong))
        return volume_fail(&inp->in, card->where, "%s is not supported", card->name);
    if (strcmp(card->name, "*PART") == 0) {
        if (inp->part)
            return volume_fail(&inp->in, card->where, "a second *PART: assemblies are not supported");
        inp->part = true;
    }
    if (one_of(card->name, material) && inp->materials.count)
        ((struct inp_material *)inp->materials.data)[inp->materials.count - 1].other = true;
    for (int64_t line = 0;; line++) {
        SP_TRY(data_line(inp, &found));
        if (!found)
            return SP_OK;
        if (line == 0 && one_of(card->name, noted))
            volume_note(&inp->in, "%s is passed over", card->name);
        if (strcmp(card->name, "*INSTANCE") == 0)
            return volume_fail_here(&inp->in, "an *INSTANCE that is moved is not supported");
    }
done:
    return status;
}

static int parse_cards(struct inp *inp)
{
    struct inp_card card;
    sp_word rest;
    bool found;
    char shown[SP_TEXT_QUOTE];
    int status;
    for (;;) {
        SP_TRY(next_line(inp, &found));
        if (!found)
            return SP_OK;
        if (*inp->in.line != '*') {
            sp_text_rest(&inp->in.text, &rest);
            return volume_fail_here(&inp->in, "a card like *NODE is expected, not '%s'", sp_word_show(rest, shown));
        }
        SP_TRY(read_card(inp, &card));
        if (strcmp(card.name, "*STEP") == 0 && ++inp->step == 2) {
            volume_note(&inp->in, "only the first step is read");
            return SP_OK;
        }
        if (strcmp(card.name, "*NODE") == 0)
            status = parse_nodes(inp, &card);
        else if (strcmp(card.name, "*ELEMENT") == 0)
            status = parse_elements(inp, &card);
        else if (strcmp(card.name, "*NSET") == 0)
            status = parse_set(inp, &card, &inp->nsets, "NSET");
        else if (strcmp(card.name, "*ELSET") == 0)
            status = parse_set(inp, &card, &inp->elsets, "ELSET");
        else if (strcmp(card.name, "*MATERIAL") == 0)
            status = parse_material(inp, &card);
        else if (strcmp(card.name, "*ELASTIC") == 0)
            status = parse_elastic(inp, &card);
        else if (strcmp(card.name, "*DENSITY") == 0)
            status = parse_density(inp, &card);
        else if (strcmp(card.name, "*HYPERELASTIC") == 0 && (parameter(&card, "NEOHOOKE") || parameter(&card, "MOONEY-RIVLIN")))
            status = parse_hyperelastic(inp, &card);
        else if (strcmp(card.name, "*DAMPING") == 0)
            status = parse_damping(inp, &card);
        else if (strcmp(card.name, "*SOLIDSECTION") == 0) {
            status = parse_section(inp, &card);
            /* A thickness may follow. */
            for (found = status == SP_OK; found && status == SP_OK;)
                status = data_line(inp, &found);
        } else if (strcmp(card.name, "*BOUNDARY") == 0 || strcmp(card.name, "*CLOAD") == 0)
            status = parse_conditions(inp, &card, strcmp(card.name, "*CLOAD") == 0);
        else
            status = parse_other(inp, &card);
        if (status != SP_OK)
            return status;
    }
done:
    return status;
}

static int make_mesh(struct inp *inp, sp_mesh *mesh, int64_t **node_id, sp_nodal_loads *loads)
{
    const struct volume_node *node = inp->in.nodes.data;
    const struct volume_element *element = inp->in.elements.data;
    const struct inp_material *known = inp->materials.data;
    struct volume_ids element_ids;
    int64_t twice, count = inp->sections.count ? inp->materials.count : 1;
    int status;
    SP_TRY(volume_ids_build(&inp->in, inp->in.elements.count, element, sizeof *element, &element_ids, &twice));
    if (twice >= 0)
        return volume_fail(&inp->in, element[twice].where, "element %lld is defined twice", (long long)element[twice].id);
    SP_TRY(volume_sets_index(&inp->in, &inp->elsets, &element_ids, inp->in.elements.count, element, sizeof *element));
    SP_TRY(assign_materials(inp));
    if (inp->passed_over)
        volume_note(&inp->in, "%lld elements that are no solids are passed over", (long long)inp->passed_over);
    SP_TRY(volume_build(&inp->in, true, mesh));
    SP_TRY(volume_sets_index(&inp->in, &inp->nsets, &inp->in.node_ids, inp->in.nodes.count, node, sizeof *node));
    sp_material *materials = sp_pool_copy(&inp->in.pool, inp->material, 1, sizeof *materials);
    if (inp->sections.count)
        materials = sp_pool_new(&inp->in.pool, count, sizeof *materials);
    int64_t *ids = sp_pool_raw(&mesh->pool, mesh->vertex_count, sizeof *ids);
    if (inp->in.pool.failed || mesh->pool.failed)
        return sp_fail_memory(inp->in.context);
    for (int64_t i = 0; inp->sections.count && i < count; i++)
        materials[i] = known[i].material;
    for (int64_t i = 0; i < inp->in.nodes.count; i++)
        if (inp->in.vertex[i] >= 0)
            ids[inp->in.vertex[i]] = node[i].id;
    SP_TRY(volume_regions(&inp->in, mesh, count, materials));
    SP_TRY(fix_vertices(inp, mesh));
    if (loads)
        SP_TRY(collect_loads(inp, mesh, loads));
    if (node_id)
        *node_id = ids;
done:
    return status;
}

int sp_volume_parse_inp(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes, const sp_material *material,
                        sp_mesh *mesh, int64_t **node_id, sp_nodal_loads *loads, sp_notes *notes)
{
    struct inp inp = {.material = material, .nsets.what = "nodes", .elsets.what = "elements"};
    int status;
    if (node_id)
        *node_id = NULL;
    if (loads)
        *loads = (sp_nodal_loads){0};
    SP_TRY(volume_start(&inp.in, context, bytes, count, "**", includes, mesh, notes));
    SP_TRY(parse_cards(&inp));
    SP_TRY(make_mesh(&inp, mesh, node_id, loads));
done:
    volume_sets_free(&inp.nsets);
    volume_sets_free(&inp.elsets);
    sp_list_free(&inp.boundaries);
    sp_list_free(&inp.loads);
    sp_list_free(&inp.materials);
    sp_list_free(&inp.sections);
    if (status != SP_OK && loads)
        *loads = (sp_nodal_loads){0};
    return volume_finish(&inp.in, status, mesh);
}
