#include "formats/loads.h"

#include "formats/csv.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"vertex", "surface", "region", "all", "pressure", "spring"};
static const char *const field_names[] = {"t0", "t1", "kind", "id", "fx", "fy", "fz", "stiffness", "x1", "y1", "z1"};

enum { ID = 3 }; /* the field of the vertex or region */

static int target(sp_context *context, const sp_text *text, sp_word id, sp_places *places, sp_load *load)
{
    char shown[SP_TEXT_QUOTE];
    load->id = -1;
    bool by_region = load->kind == SP_LOAD_REGION || load->kind == SP_LOAD_PRESSURE;
    if (load->kind == SP_LOAD_PRESSURE && (id.length == 0 || sp_word_is(id, "-")))
        return SP_OK;
    if (load->kind == SP_LOAD_ALL) {
        if (id.length == 0 || sp_word_is(id, "-"))
            return SP_OK;
        return sp_text_fail(context, text, "id: \"%s\", but kind all takes none (leave it empty)",
                            sp_word_show(id, shown));
    }
    if (by_region)
        return sp_csv_region(context, text, "id", id, places->mesh, &load->id);
    return sp_csv_vertex(context, text, "id", id, load->kind == SP_LOAD_SURFACE, places, &load->id);
}

static int parse_load(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                      int64_t index)
{
    sp_load *load = item;
    (void)index;
    char shown[SP_TEXT_QUOTE];
    int status;
    bool pressure = sp_word_is(field[2], "pressure");
    if (count < (pressure ? 5 : 7))
        return sp_text_fail(
            context, text,
            pressure ? "%d fields, expected t0,t1,pressure,id,p" : "%d fields, expected t0,t1,kind,id,fx,fy,fz", count);
    for (load->kind = SP_LOAD_VERTEX; load->kind <= SP_LOAD_SPRING && !sp_word_is(field[2], kind_names[load->kind]);)
        load->kind++;
    if (load->kind > SP_LOAD_SPRING)
        return sp_text_fail(context, text, "kind: \"%s\" is not one of vertex, surface, region, all, pressure, spring",
                            sp_word_show(field[2], shown));
    const bool spring = load->kind == SP_LOAD_SPRING;
    const int due = spring ? 8 : pressure ? 5 : 7;
    load->moving = spring && count == 11;
    if (count != due && !load->moving)
        return sp_text_fail(context, text, "%d fields, kind %s has %d%s", count, kind_names[load->kind], due,
                            spring ? ", or 11 where its anchor moves" : "");
    SP_TRY(sp_text_field_number(context, text, field_names[0], field[0], &load->start));
    if (load->start < 0)
        return sp_text_fail(context, text, "t0: the load acts from %g s", load->start);
    load->end = INFINITY;
    if (!sp_word_same(field[1], sp_word_of("inf")))
        SP_TRY(sp_text_field_number(context, text, field_names[1], field[1], &load->end));
    if (!(load->end > load->start))
        return sp_text_fail(context, text, "t1: the load acts from %g to %g s", load->start, load->end);
    if (load->moving && isinf(load->end))
        return sp_text_fail(context, text, "t1: a moving anchor must arrive some time");
    SP_TRY(target(context, text, field[ID], data, load));
    for (int i = 0; i < (pressure ? 1 : 3); i++)
        SP_TRY(sp_text_field_number(context, text, field_names[4 + i], field[4 + i], &load->force[i]));
    if (spring) {
        SP_TRY(sp_text_field_number(context, text, field_names[7], field[7], &load->stiffness));
        if (load->stiffness < 0)
            return sp_text_fail(context, text, "stiffness: %g N/m is negative", load->stiffness);
    }
    for (int i = 0; load->moving && i < 3; i++)
        SP_TRY(sp_text_field_number(context, text, field_names[8 + i], field[8 + i], &load->anchor_end[i]));
done:
    return status;
}

int sp_loads_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool,
                   int64_t *load_count, sp_load **loads)
{
    sp_places places = {.mesh = mesh, .text = "loads"};
    const sp_csv csv = {
        .header = field_names[0], .place = ID, .size = sizeof(sp_load), .line = parse_load, .data = &places};
    sp_list list = {0};
    int status;
    SP_TRY(sp_csv_parse(context, bytes, count, &csv, &list));
    *load_count = list.count;
    *loads = sp_pool_copy(pool, list.data, list.count, sizeof **loads);
    if (!*loads)
        status = sp_fail_memory(context);
done:
    sp_places_free(&places);
    sp_list_free(&list);
    return status;
}
