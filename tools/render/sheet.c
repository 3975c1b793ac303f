#include "tools/render/sheet.h"

#include "tools/render/picture.h"

#include <ctype.h>
#include <stdlib.h>

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

void tool_sheet_open(tool_figure *figure, const char *size_text, const char *cells_text, tool_sheet *sheet)
{
    int64_t size[2] = {960, 720}, cells[2] = {1, 1};
    if (cells_text) {
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
    sheet->letters = tool_picture_letters(sheet->width / sheet->columns, sheet->height / sheet->rows);
    int64_t bar = figure->color == TOOL_COLOR_NONE ? 0 : tool_picture_bar_width(sheet->letters);
    sheet->cell_width = (sheet->width - bar) / sheet->columns;
    sheet->cell_height = sheet->height / sheet->rows;
    if (sheet->cell_width < 16 || sheet->cell_height < 16)
        tool_fail(SP_USAGE, NULL, "--size: %lldx%lld is too small for what it should show", (long long)size[0],
                  (long long)size[1]);
    tool_check(sp_image_new(figure->context, sheet->width, sheet->height, &sheet->picture), NULL);
    tool_check(sp_image_new(figure->context, sheet->cell_width, sheet->cell_height, &sheet->cell), NULL);
}

void tool_sheet_close(tool_sheet *sheet)
{
    sp_image_free(&sheet->picture);
    sp_image_free(&sheet->cell);
}

static void paste(tool_sheet *sheet, int64_t number)
{
    tool_picture_paste(&sheet->picture, number % sheet->columns * sheet->cell_width,
                       number / sheet->columns * sheet->cell_height, &sheet->cell);
}

int tool_sheet_draw(tool_figure *figure, tool_sheet *sheet, int64_t number, int64_t frame)
{
    char caption[80];
    if (number == 0) {
        sheet->camera = sp_camera_fit(figure->low, figure->high, sheet->view, sheet->up, sheet->angle,
                                      sheet->cell_width, sheet->cell_height);
        const int status = sp_render(figure->context, &sheet->camera, NULL, 0, 1, &sheet->picture);
        if (status != SP_OK)
            return status;
        if (figure->color != TOOL_COLOR_NONE)
            tool_picture_bar(&sheet->picture, sheet->letters, figure->range, tool_figure_quantity(figure));
    }
    const int status = tool_figure_draw(figure, &sheet->camera, &sheet->cell);
    if (status != SP_OK)
        return status;
    tool_figure_caption(figure, frame, caption, sizeof caption);
    tool_picture_caption(&sheet->cell, sheet->letters, caption);
    paste(sheet, number);
    return SP_OK;
}

void tool_sheet_blank(tool_figure *figure, tool_sheet *sheet, int64_t number)
{
    if (number < sheet->columns * sheet->rows)
        tool_check(sp_render(figure->context, &sheet->camera, NULL, 0, 1, &sheet->cell), NULL);
    for (; number < sheet->columns * sheet->rows; number++)
        paste(sheet, number);
}
