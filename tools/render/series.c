#include "tools/render/series.h"

#include "formats/export/png.h"

#include <math.h>
#include <omp.h>
#include <string.h>

struct tool_render_worker {
    sp_context context;
    tool_figure figure;
    tool_sheet sheet;
};

/* The first failure, in the order of the frames; others wait until it is known. */
typedef struct failure {
    int status;
    char message[sizeof((sp_context *)NULL)->message];
} failure;

static void note(failure *failed, int status, const sp_context *context)
{
    if (status == SP_OK || failed->status != SP_OK)
        return;
    failed->status = status;
    memcpy(failed->message, context->message, sizeof failed->message);
}

static void judge(sp_context *context, const failure *failed, const char *path)
{
    memcpy(context->message, failed->message, sizeof context->message);
    tool_check(failed->status, path);
}

tool_render_worker *tool_render_workers_new(const tool_figure *figure, const tool_sheet *sheet, const char *size,
                                            bool pictures, int count, sp_pool *pool)
{
    tool_render_worker *workers = tool_allocate(pool, count, sizeof *workers);
    for (int k = 0; k < count; k++) {
        tool_render_worker *w = &workers[k];
        w->context = *figure->context;
        w->context.threads = 1;

        tool_figure_twin(figure, &w->context, &w->figure);
        w->sheet = (tool_sheet){
            .angle = sheet->angle, .look = sheet->look, .captions = sheet->captions, .longest = sheet->longest};
        memcpy(w->sheet.view, sheet->view, sizeof sheet->view);
        memcpy(w->sheet.up, sheet->up, sizeof sheet->up);

        if (pictures)
            tool_sheet_open(w->figure.context, sheet->bar, size, NULL, 1, &w->sheet);
    }

    return workers;
}

void tool_render_workers_close(tool_render_worker *workers, int count)
{
    for (int k = 0; k < count; k++) {
        tool_sheet_close(&workers[k].sheet);
        tool_figure_twin_close(&workers[k].figure);
    }
}

void tool_render_widen(tool_figure *figure, tool_render_worker *workers, int threads, bool range, bool view,
                       int64_t count, const int64_t *frame)
{
    failure failed = {SP_OK, ""};

#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < count; i++) {
        tool_render_worker *w = &workers[omp_get_thread_num()];

        const int status = tool_figure_load(&w->figure, frame[i]);
        if (status == SP_OK)
            tool_figure_widen(&w->figure, range, view);
#pragma omp ordered
        note(&failed, status, &w->context);
    }

    judge(figure->context, &failed, figure->motion->mesh.path);
    for (int k = 0; k < threads; k++) {
        const tool_figure *twin = &workers[k].figure;
        figure->range[0] = fmin(figure->range[0], twin->range[0]);
        figure->range[1] = fmax(figure->range[1], twin->range[1]);
        sp_extent_join(&figure->extent, &twin->extent);
    }

    for (int k = 0; k < threads; k++) {
        memcpy(workers[k].figure.range, figure->range, sizeof figure->range);
        workers[k].figure.extent = figure->extent;
    }
}

/* One picture, as the bytes of its file unless it is for a film. */
static int draw_picture(tool_render_worker *w, int64_t frame, bool film, sp_pool *pool, uint8_t **bytes, int64_t *count)
{
    SP_PASS(tool_figure_load(&w->figure, frame));
    SP_PASS(tool_sheet_draw(&w->figure, &w->sheet, 0, frame));
    if (!film)
        SP_PASS(sp_png_encode(&w->context, &w->sheet.picture, pool, bytes, count));
    return SP_OK;
}

void tool_render_series(tool_figure *figure, tool_render_worker *workers, int threads, int64_t count,
                        const int64_t *frame, tool_film *film, const int64_t *shown)
{
    failure failed = {SP_OK, ""};
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < count; i++) {
        tool_render_worker *w = &workers[omp_get_thread_num()];
        sp_pool pool = {0};
        uint8_t *bytes = NULL;
        int64_t size = 0;
        int before;

#pragma omp atomic read
        before = failed.status;

        const int status = before == SP_OK ? draw_picture(w, frame[i], film, &pool, &bytes, &size) : before;
#pragma omp ordered
        {
            if (failed.status == SP_OK && status == SP_OK) {
                char *path;
                if (film)
                    tool_film_add(film, &w->sheet.picture, shown[i]);
                else {
                    tool_pattern_path(tool_output_path(), i, &pool, &path);
                    tool_write_bytes(path, bytes, size);
                }
                if (sp_progress(figure->context, (double)(i + 1) / (double)count) != SP_OK)
                    note(&failed, SP_SYSTEM, figure->context);
            } else
                note(&failed, status, &w->context);
        }

        sp_pool_free(&pool);
    }

    judge(figure->context, &failed, tool_figure_file(figure));
    for (int k = 0; k < threads; k++) {
        figure->seen[0] = fmin(figure->seen[0], workers[k].figure.seen[0]);
        figure->seen[1] = fmax(figure->seen[1], workers[k].figure.seen[1]);
    }
}
