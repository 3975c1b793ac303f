#include "formats/activation.h"

#include "formats/csv.h"

static int find_region(void *data, sp_context *context, const sp_text *text, sp_word field, int64_t *region)
{
    const sp_mesh *mesh = data;
    const int status = sp_csv_region(context, text, "region", field, mesh, region);
    if (status == SP_OK && mesh->materials[*region].fibre == SP_FIBRE_NONE)
        return sp_text_fail(context, text, "region: \"%s\" has no fibres", mesh->materials[*region].name);
    return status;
}

static int check_tension(void *data, sp_context *context, const sp_text *text, int64_t region, const double *tension)
{
    (void)data, (void)region;
    return *tension >= 0 ? SP_OK : sp_text_fail(context, text, "tension: %g Pa is negative", *tension);
}

int sp_activations_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool,
                         int64_t *activation_count, sp_activation **activations)
{
    const sp_series_kind kind = {.width = 1,
                                 .fields = "t,region,tension",
                                 .names = {"t", "region", "tension"},
                                 .unit = "Pa",
                                 .keys = mesh->material_count,
                                 .key = find_region,
                                 .check = check_tension,
                                 .data = (void *)mesh};

    sp_series *series;
    SP_PASS(sp_series_parse(context, bytes, count, &kind, pool, activation_count, &series));

    *activations = sp_pool_raw(pool, *activation_count, sizeof **activations);
    SP_PASS(sp_allocated(context, *activations));
    for (int64_t i = 0; i < *activation_count; i++)
        (*activations)[i] = (sp_activation){series[i].key, series[i].count, series[i].time, series[i].value};
    return SP_OK;
}
