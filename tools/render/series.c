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
        w->sheet = (tool_sheet){.angle = sheet->angle};
        memcpy(w->sheet.view, sheet->view, sizeof sheet->view);
        memcpy(w->sheet.up, sheet->up, sizeof sheet->up);
        if (pictures)
            tool_sheet_open(&w->figure, size, NULL, &w->sheet);
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

void tool_render_widen(tool_figure *figure, tool_render_worker *workers, int threads, bool range, bool box,
                       int64_t count, const int64_t *frame)
{
    failure failed = {SP_OK, ""};
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = 0; i < count; i++) {
        tool_render_worker *w = &workers[omp_get_thread_num()];
        const int status = tool_figure_load(&w->figure, frame[i]);
        if (status == SP_OK)
            tool_figure_widen(&w->figure, range, box);
#pragma omp ordered
        note(&failed, status, &w->context);
    }
    judge(figure->context, &failed, figure->motion->mesh.path);
    for (int k = 0; k < threads; k++) {
        const tool_figure *twin = &workers[k].figure;
        figure->range[0] = fmin(figure->range[0], twin->range[0]);
        figure->range[1] = fmax(figure->range[1], twin->range[1]);
        for (int c = 0; c < 3; c++) {
            figure->low[c] = fmin(figure->low[c], twin->low[c]);
            figure->high[c] = fmax(figure->high[c], twin->high[c]);
        }
    }
    for (int k = 0; k < threads; k++) {
        memcpy(workers[k].figure.range, figure->range, sizeof figure->range);
        memcpy(workers[k].figure.low, figure->low, sizeof figure->low);
        memcpy(workers[k].figure.high, figure->high, sizeof figure->high);
    }
}

/* One picture as the bytes of its file. */
static int draw_picture(tool_render_worker *w, int64_t frame, sp_pool *pool, uint8_t **bytes, int64_t *count)
{
    int status;
    SP_TRY(tool_figure_load(&w->figure, frame));
    SP_TRY(tool_sheet_draw(&w->figure, &w->sheet, 0, frame));
    SP_TRY(sp_png_encode(&w->context, &w->sheet.picture, pool, bytes, count));
done:
    return status;
}

void tool_render_series(tool_figure *figure, tool_render_worker *workers, int threads, int64_t count,
                        const int64_t *frame)
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
        const int status = before == SP_OK ? draw_picture(w, frame[i], &pool, &bytes, &size) : before;
#pragma omp ordered
        {
            if (failed.status == SP_OK && status == SP_OK) {
                char *path;
                tool_pattern_path(tool_output_path(), i, &pool, &path);
                tool_write_bytes(path, bytes, size);
                if (sp_progress(figure->context, (double)(i + 1) / (double)count) != SP_OK)
                    note(&failed, SP_SYSTEM, figure->context);
            } else
                note(&failed, status, &w->context);
        }
        sp_pool_free(&pool);
    }
    judge(figure->context, &failed, NULL);
}
