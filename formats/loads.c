#include "formats/loads.h"

#include "formats/import/text.h"

#include <math.h>
#include <string.h>

enum { FIELDS = 8 };

static const char *const kind_names[] = {"vertex", "surface", "region", "all", "pressure", "spring"};
static const char *const field_names[FIELDS] = {"t0", "t1", "kind", "id", "fx", "fy", "fz", "stiffness"};

static int target(sp_context *context, const sp_text *text, sp_word id, const sp_mesh *mesh, sp_load *load)
{
    char shown[SP_TEXT_QUOTE];
    load->id = -1;
    bool by_region = load->kind == SP_LOAD_REGION || load->kind == SP_LOAD_PRESSURE;
    if (load->kind == SP_LOAD_PRESSURE && (id.length == 0 || sp_word_is(id, "-")))
        return SP_OK;
    if (load->kind == SP_LOAD_ALL) {
        if (id.length == 0 || sp_word_is(id, "-"))
            return SP_OK;
        return sp_text_fail(context, text, "id: \"%s\", but kind all takes none (leave it empty)", sp_word_show(id, shown));
    }
    for (int64_t r = 0; by_region && r < mesh->material_count; r++)
        if (sp_word_is(id, mesh->materials[r].name)) {
            load->id = r;
            return SP_OK;
        }
    if (!sp_word_integer(id, &load->id))
        return sp_text_fail(context, text, "id: \"%s\" is not a %s", sp_word_show(id, shown),
                            by_region ? "region of the mesh" : "whole number");
    int64_t most = mesh->vertex_count;
    if (load->kind == SP_LOAD_SURFACE)
        most = mesh->surface.vertex_count;
    else if (by_region)
        most = mesh->material_count;
    if (load->id < 0 || load->id >= most)
        return sp_text_fail(context, text, "id: %s %lld of %lld", kind_names[load->kind], (long long)load->id, (long long)most);
    return SP_OK;
}

static int parse_load(sp_context *context, const sp_text *text, const sp_word *field, int count, const sp_mesh *mesh, sp_load *load)
{
    char shown[SP_TEXT_QUOTE];
    int status;
    bool pressure = sp_word_is(field[2], "pressure");
    if (count < (pressure ? 5 : 7))
        return sp_text_fail(context, text, pressure ? "%d fields, expected t0,t1,pressure,id,p" : "%d fields, expected t0,t1,kind,id,fx,fy,fz", count);
    for (load->kind = SP_LOAD_VERTEX; load->kind <= SP_LOAD_SPRING && !sp_word_is(field[2], kind_names[load->kind]);)
        load->kind++;
    if (load->kind > SP_LOAD_SPRING)
        return sp_text_fail(context, text, "kind: \"%s\" is not one of vertex, surface, region, all, pressure, spring",
                            sp_word_show(field[2], shown));
    int due = load->kind == SP_LOAD_SPRING ? 8 : pressure ? 5 : 7;
    if (count != due)
        return sp_text_fail(context, text, "%d fields, kind %s has %d", count, kind_names[load->kind], due);
    SP_TRY(sp_text_field_number(context, text, field_names[0], field[0], &load->start));
    if (load->start < 0)
        return sp_text_fail(context, text, "t0: the load acts from %g s", load->start);
    load->end = INFINITY;
    if (!sp_word_same(field[1], sp_word_of("inf")))
        SP_TRY(sp_text_field_number(context, text, field_names[1], field[1], &load->end));
    if (!(load->end > load->start))
        return sp_text_fail(context, text, "t1: the load acts from %g to %g s", load->start, load->end);
    SP_TRY(target(context, text, field[3], mesh, load));
    for (int i = 0; i < (pressure ? 1 : 3); i++)
        SP_TRY(sp_text_field_number(context, text, field_names[4 + i], field[4 + i], &load->force[i]));
    if (load->kind == SP_LOAD_SPRING) {
        SP_TRY(sp_text_field_number(context, text, field_names[7], field[7], &load->stiffness));
        if (load->stiffness < 0)
            return sp_text_fail(context, text, "stiffness: %g N/m is negative", load->stiffness);
    }
done:
    return status;
}

int sp_loads_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool, int64_t *load_count,
                   sp_load **loads)
{
    sp_text text;
    sp_list list = {0};
    int status = SP_OK;
    sp_text_open(&text, bytes, count, "#", "", false);
    for (bool first = true; sp_text_line(&text); first = false) {
        sp_word field[FIELDS] = {{0}};
        const int fields = sp_text_fields(&text, ',', FIELDS, field);
        if (first && field[0].length >= 2 && memcmp(field[0].at, "t0", 2) == 0) /* a header line */
            continue;
        sp_load *load = sp_list_add(&list, 1, sizeof *load);
        if (!load) {
            status = sp_fail_memory(context);
            goto done;
        }
        *load = (sp_load){0};
        SP_TRY(parse_load(context, &text, field, fields, mesh, load));
    }
    *load_count = list.count;
    *loads = sp_pool_copy(pool, list.data, list.count, sizeof **loads);
    if (!*loads)
        status = sp_fail_memory(context);
done:
    sp_list_free(&list);
    return status;
}
