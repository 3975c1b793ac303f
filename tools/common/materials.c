#include "tools/common/materials.h"

#include "tools/common/anchors.h"

#include <ctype.h>
#include <string.h>

const tool_option tool_material_edit_options[TOOL_MATERIAL_EDIT_COUNT] = {
    {"young", 0, TOOL_TEXTS, .at = offsetof(tool_material_edits, young), .argument = "[REGION=]PA",
     .help = "another Young's modulus, Pa, of one region or all"},
    {"poisson", 0, TOOL_TEXTS, .at = offsetof(tool_material_edits, poisson), .argument = "[REGION=]NU",
     .help = "another Poisson's ratio, of one region or all"},
    {"density", 0, TOOL_TEXTS, .at = offsetof(tool_material_edits, density), .argument = "[REGION=]KG/M3",
     .help = "another density, kg/m3, of one region or all"},
};

bool tool_material_edits_given(const tool_material_edits *edits)
{
    return edits->young.count || edits->poisson.count || edits->density.count;
}

int tool_parse_region(sp_context *context, const char *option, const char *text, const sp_mesh *mesh, int count,
                      double *numbers, int64_t *first, int64_t *last)
{
    const char *equals = strrchr(text, '='), *at = equals ? equals + 1 : text;
    int length = equals && equals - text < SP_NAME_LENGTH ? (int)(equals - text) : SP_NAME_LENGTH;

    *first = 0;
    *last = mesh->material_count - 1;

    if (equals) {
        char known[SP_MATERIAL_LIST];
        const int64_t m = sp_material_find(mesh->material_count, mesh->materials, text, (size_t)length);
        if (m < 0)
            return sp_fail(context, SP_USAGE, "--%s: the mesh has no region \"%.*s\", only %s", option, length, text,
                           sp_material_list(mesh->material_count, mesh->materials, known));
        *first = *last = m;
    }

    if (isspace((unsigned char)*at) || !tool_parse_numbers(&at, count, numbers) || *at || at[-1] == ',')
        return sp_fail(context, SP_USAGE, "--%s: \"%.100s\" is not %s, or REGION= and %s", option, text,
                       count > 1 ? "two numbers with a comma" : "a number", count > 1 ? "these" : "a number");

    return SP_OK;
}

enum kind { YOUNG, POISSON, DENSITY, KINDS };
static const char *const option_of[KINDS] = {"young", "poisson", "density"};

static double *value_of(sp_material *material, enum kind kind)
{
    return kind == YOUNG ? &material->young : kind == POISSON ? &material->poisson : &material->density;
}

/* One text of one option. */
static int edit(sp_context *context, enum kind kind, const char *text, sp_mesh *mesh)
{
    const char *option = option_of[kind];
    sp_context own = *context;
    int64_t first, last;
    double value;

    SP_PASS(tool_parse_region(context, option, text, mesh, 1, &value, &first, &last));

    for (int64_t m = first; m <= last; m++) {
        sp_material *material = &mesh->materials[m];
        if (kind != DENSITY && !sp_law_isotropic(material->law))
            return sp_fail(context, SP_USAGE, "--%s: region %s has the law %s", option, material->name,
                           sp_law_name(material->law));
        *value_of(material, kind) = value;
        if (sp_material_check(&own, material) != SP_OK)
            return sp_fail(context, SP_USAGE, "--%s: %.300s", option, own.message);
    }
    return SP_OK;
}

int tool_edit_materials(sp_context *context, const tool_material_edits *edits, sp_mesh *mesh)
{
    const tool_texts *const texts[KINDS] = {&edits->young, &edits->poisson, &edits->density};
    sp_material *materials = tool_allocate_copy(&mesh->pool, mesh->materials, mesh->material_count, sizeof *materials);
    mesh->materials = materials;
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t i = 0; i < texts[kind]->count; i++)
            SP_PASS(edit(context, (enum kind)kind, texts[kind]->value[i], mesh));
    return SP_OK;
}

static int take_texts(sp_context *context, const json_t *parameters, const char *name, tool_texts *texts)
{
    const json_t *list = json_object_get(parameters, name);
    size_t count = json_array_size(list);

    texts->count = 0;
    if (list && (!json_is_array(list) || count > sizeof texts->value / sizeof *texts->value))
        return sp_fail(context, SP_INPUT, "meta: parameters: \"%s\" is no list of texts", name);

    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return sp_fail(context, SP_INPUT, "meta: parameters: \"%s\" is no list of texts", name);
        texts->value[texts->count++] = text;
    }

    return SP_OK;
}

int tool_material_edits_recorded(sp_context *context, const json_t *meta, tool_material_edits *edits)
{
    const json_t *parameters = json_object_get(meta, "parameters");
    const char *tool = json_string_value(json_object_get(meta, "tool"));
    tool_texts *const texts[KINDS] = {&edits->young, &edits->poisson, &edits->density};
    *edits = (tool_material_edits){0};

    if (!tool || (strcmp(tool, "simulate") && strcmp(tool, "simfull")))
        return SP_OK;

    for (int kind = 0; kind < KINDS; kind++)
        SP_PASS(take_texts(context, parameters, option_of[kind], texts[kind]));
    return SP_OK;
}
