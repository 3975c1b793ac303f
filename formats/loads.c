#include "formats/loads.h"

#include "formats/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8, FIELD_LENGTH = 96 };

static const char *const kind_names[] = {"vertex", "surface", "region", "all", "spring"};
static const char *const field_names[FIELDS] = {"t0", "t1", "kind", "id", "fx", "fy", "fz", "stiffness"};

/* The fields of a line without blanks around them; returns how many. */
static int split(const char *line, int64_t length, char field[FIELDS][FIELD_LENGTH])
{
    int count = 0;
    const char *end = line + length;
    for (const char *at = line;; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        const char *last = stop;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (count < FIELDS) {
            int64_t size = last - at < FIELD_LENGTH - 1 ? last - at : FIELD_LENGTH - 1;
            memcpy(field[count], at, (size_t)size);
            field[count][size] = 0;
        }
        count++;
        if (!comma)
            return count;
        at = comma;
    }
}

static int number(sp_context *context, const sp_text *text, char field[FIELDS][FIELD_LENGTH], int i, bool infinite, double *value)
{
    char *end;
    *value = strtod(field[i], &end);
    if (end == field[i] || *end || isnan(*value) || (isinf(*value) && !infinite))
        return sp_text_fail(context, text, "%s: \"%s\" is not a number", field_names[i], field[i]);
    return SP_OK;
}

static int target(sp_context *context, const sp_text *text, char field[FIELDS][FIELD_LENGTH], const sp_mesh *mesh, sp_load *load)
{
    char *end;
    load->id = -1;
    if (load->kind == SP_LOAD_ALL)
        return *field[3] && strcmp(field[3], "-") ? sp_text_fail(context, text, "id: \"%s\", but kind all takes none (leave it empty)", field[3]) : SP_OK;
    for (int64_t r = 0; load->kind == SP_LOAD_REGION && r < mesh->material_count; r++)
        if (!strcmp(mesh->materials[r].name, field[3])) {
            load->id = r;
            return SP_OK;
        }
    load->id = strtoll(field[3], &end, 10);
    if (end == field[3] || *end)
        return sp_text_fail(context, text, "id: \"%s\" is not a %s", field[3], load->kind == SP_LOAD_REGION ? "region of the mesh" : "whole number");
    int64_t most = load->kind == SP_LOAD_SURFACE ? mesh->surface.vertex_count : load->kind == SP_LOAD_REGION ? mesh->material_count : mesh->vertex_count;
    if (load->id < 0 || load->id >= most)
        return sp_text_fail(context, text, "id: %s %lld of %lld", kind_names[load->kind], (long long)load->id, (long long)most);
    return SP_OK;
}

static int parse_line(sp_context *context, const sp_text *text, const char *line, int64_t length, const sp_mesh *mesh, sp_load *load)
{
    char field[FIELDS][FIELD_LENGTH] = {""};
    int count = split(line, length, field), status;
    if (count < 7)
        return sp_text_fail(context, text, "%d fields, expected t0,t1,kind,id,fx,fy,fz", count);
    for (load->kind = SP_LOAD_VERTEX; load->kind <= SP_LOAD_SPRING && strcmp(kind_names[load->kind], field[2]);)
        load->kind++;
    if (load->kind > SP_LOAD_SPRING)
        return sp_text_fail(context, text, "kind: \"%s\" is not one of vertex, surface, region, all, spring", field[2]);
    if (count != (load->kind == SP_LOAD_SPRING ? 8 : 7))
        return sp_text_fail(context, text, "%d fields, kind %s has %d", count, field[2], load->kind == SP_LOAD_SPRING ? 8 : 7);
    SP_TRY(number(context, text, field, 0, false, &load->start));
    SP_TRY(number(context, text, field, 1, true, &load->end));
    if (load->start < 0)
        return sp_text_fail(context, text, "t0: the load acts from %s s", field[0]);
    if (!(load->end > load->start))
        return sp_text_fail(context, text, "t1: the load acts from %s to %s s", field[0], field[1]);
    SP_TRY(target(context, text, field, mesh, load));
    for (int i = 0; i < 3; i++)
        SP_TRY(number(context, text, field, 4 + i, false, &load->force[i]));
    if (load->kind == SP_LOAD_SPRING) {
        SP_TRY(number(context, text, field, 7, false, &load->stiffness));
        if (load->stiffness < 0)
            return sp_text_fail(context, text, "stiffness: %s N/m is negative", field[7]);
    }
done:
    return status;
}

int sp_loads_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool, int64_t *load_count, sp_load **loads)
{
    sp_text text;
    sp_list list = {0};
    int status = SP_OK;
    sp_text_open(&text, bytes, count, "#", "", false);
    for (bool first = true; sp_text_line(&text); first = false) {
        const char *line;
        int64_t length;
        sp_text_rest(&text, &line, &length);
        const char *comment = memchr(line, '#', (size_t)length);
        length = comment ? comment - line : length;
        if (first && length >= 2 && !memcmp(line, "t0", 2)) /* a header line */
            continue;
        sp_load *load = sp_list_add(&list, 1, sizeof *load);
        if (!load) {
            status = sp_fail_memory(context);
            goto done;
        }
        *load = (sp_load){0};
        SP_TRY(parse_line(context, &text, line, length, mesh, load));
    }
    *load_count = list.count;
    *loads = sp_pool_copy(pool, list.data, list.count, sizeof **loads);
    if (!*loads)
        status = sp_fail_memory(context);
done:
    sp_list_free(&list);
    return status;
}
