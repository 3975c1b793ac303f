#include "tools/render/sheet.h"

#include "tools/render/font.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void tool_sheet_pair(const char *option, const char *text, int64_t high, int64_t pair[2])
{
    char *at = (char *)text;
    for (int i = 0; i < 2; i++) {
        pair[i] = isdigit((unsigned char)*at) ? strtoll(at, &at, 10) : 0;
        if (pair[i] < 1 || pair[i] > high || *at++ != (i == 0 ? 'x' : 0))
            tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not two numbers from 1 to %lld such as 4x3", option, text,
                      (long long)high);
    }
}

/* The fewest columns that are at least as many as rows, and only as many rows as are needed. */
static void square(int64_t count, int64_t cells[2])
{
    enum { MOST = 400 };
    if (count > MOST)
        tool_fail(SP_USAGE, NULL,
                  "--sheet auto: %lld pictures are more than %d: choose with --frames, --every or --columns",
                  (long long)count, MOST);
    cells[0] = cells[1] = 1;
    while (cells[0] * cells[0] < count)
        cells[0]++;
    while (cells[0] * cells[1] < count)
        cells[1]++;
}

void tool_sheet_open(sp_context *context, bool with_bar, const char *size_text, const char *cells_text, int64_t count,
                     tool_sheet *sheet)
{
    int64_t size[2] = {960, 720}, cells[2] = {1, 1};

    if (cells_text) {
        if (!strcmp(cells_text, "auto"))
            square(count, cells);
        else
            tool_sheet_pair("sheet", cells_text, 100, cells);
        size[0] = 480 * cells[0];
        size[1] = 360 * cells[1];
    }

    if (size_text)
        tool_sheet_pair("size", size_text, 16384, size);

    sheet->width = size[0];
    sheet->height = size[1];
    sheet->columns = cells[0];
    sheet->rows = cells[1];
    sheet->letters.dark = sheet->look.dark;
    /* A wide cell leaves room for the bar. */
    sheet->letters.scale = tool_picture_scale(sheet->width / sheet->columns, sheet->height / sheet->rows,
                                              sheet->longest < TOOL_PICTURE_LETTERS && (sheet->longest == 0 || with_bar)
                                                  ? TOOL_PICTURE_LETTERS
                                                  : sheet->longest);

    sheet->bar = with_bar;
    /* Panels stand apart from each other on a page, so that captions belong to one of them. */
    sheet->gap = cells[0] * cells[1] > 1 ? 3 * sheet->letters.scale : 0;

    int64_t bar = with_bar ? tool_picture_bar_width(sheet->letters.scale) : 0;
    sheet->cell_width = (sheet->width - bar - sheet->gap * (sheet->columns + 1)) / sheet->columns;
    sheet->cell_height = (sheet->height - sheet->gap * (sheet->rows + 1)) / sheet->rows;

    if (sheet->cell_width < 16 || sheet->cell_height < 16)
        tool_fail(SP_USAGE, NULL, "--size: %lldx%lld is too small for what it should show", (long long)size[0],
                  (long long)size[1]);

    if (sheet->captions || with_bar)
        sheet->letters.font = tool_font_open(context, &sheet->pool);

    tool_check(sp_image_new(context, sheet->width, sheet->height, &sheet->picture), NULL);
    tool_check(sp_image_new(context, sheet->cell_width, sheet->cell_height, &sheet->cell), NULL);
}

sp_extent tool_sheet_extent(const tool_sheet *sheet)
{
    return sp_extent_new(sheet->view, sheet->up, sheet->angle, sheet->cell_width, sheet->cell_height,
                         tool_picture_caption_height(sheet->letters.scale));
}

void tool_sheet_close(tool_sheet *sheet)
{
    sp_font_free(sheet->letters.font);
    sp_pool_free(&sheet->pool);
    sp_image_free(&sheet->picture);
    sp_image_free(&sheet->cell);
}

int tool_sheet_page(sp_context *context, tool_sheet *sheet)
{
    static const uint8_t page[2] = {255, 30};
    const sp_look plain = {.samples = 1, .dark = sheet->look.dark};
    if (sheet->gap == 0)
        return sp_render(context, &sheet->camera, NULL, 0, &plain, &sheet->picture);
    memset(sheet->picture.rgb, page[sheet->look.dark], (size_t)(3 * sheet->width * sheet->height));
    return SP_OK;
}

void tool_sheet_paste(tool_sheet *sheet, int64_t number, const char *caption)
{
    if (*caption)
        tool_picture_caption(&sheet->cell, &sheet->letters, caption);
    tool_picture_paste(&sheet->picture, sheet->gap + number % sheet->columns * (sheet->cell_width + sheet->gap),
                       sheet->gap + number / sheet->columns * (sheet->cell_height + sheet->gap), &sheet->cell);
}

int tool_sheet_draw(tool_figure *figure, tool_sheet *sheet, int64_t number, int64_t frame)
{
    char caption[80];

    if (number == 0) {
        sheet->camera = sp_extent_camera(&figure->extent);
        SP_PASS(tool_sheet_page(figure->context, sheet));
        if (sheet->bar)
            tool_picture_bar(&sheet->picture, &sheet->letters, figure->range,
                             tool_figure_quantity(figure, sheet->letters.font != NULL));
    }

    SP_PASS(tool_figure_draw(figure, &sheet->camera, &sheet->cell));
    tool_figure_caption(figure, sheet->letters.font != NULL, frame, caption, sizeof caption);
    tool_sheet_paste(sheet, number, caption);
    return SP_OK;
}

int64_t tool_sheet_spread(int64_t cells, int64_t count, int64_t *frame)
{
    int64_t shortest = INT64_MAX, longest = 0;
    if (count <= cells)
        return count;
    for (int64_t i = 0; i < cells; i++)
        frame[i] = frame[cells > 1 ? i * (count - 1) / (cells - 1) : 0];

    /* Whole frames are not quite evenly spaced; a reader of the sheet should know it where it can be seen. */
    for (int64_t i = 1; i < cells; i++) {
        const int64_t gap = frame[i] - frame[i - 1];
        shortest = gap < shortest ? gap : shortest;
        longest = gap > longest ? gap : longest;
    }
    if (3 * longest > 4 * shortest)
        tool_say("the cells are %lld to %lld frames apart: %lld frames do not divide evenly into %lld cells, choose "
                 "others by --sheet, --frames or --every",
                 (long long)shortest, (long long)longest, (long long)count, (long long)cells);
    return cells;
}
