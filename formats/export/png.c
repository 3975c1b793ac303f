#include "formats/export/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* The data of libpng's callbacks. */
typedef struct memory_writer {
    sp_list list;
    bool memory_out;
    char message[256];
} memory_writer;

static void on_error(png_structp png, png_const_charp message)
{
    memory_writer *writer = png_get_error_ptr(png);
    snprintf(writer->message, sizeof writer->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep data, png_size_t count)
{
    memory_writer *writer = png_get_io_ptr(png);
    uint8_t *place = count <= INT64_MAX ? sp_list_add(&writer->list, (int64_t)count, 1) : NULL;
    if (!place) {
        writer->memory_out = true;
        png_error(png, "out of memory");
    }
    memcpy(place, data, count);
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* No local variable of this function is used after the longjmp. */
static bool write_picture(png_structp png, png_infop info, const sp_image *image)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 6);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
    png_write_info(png, info);
    for (int64_t row = 0; row < image->height; row++)
        png_write_row(png, image->rgb + 3 * row * image->width);
    png_write_end(png, NULL);
    return true;
}

int sp_png_encode(sp_context *context, const sp_image *image, sp_pool *pool, uint8_t **bytes, int64_t *count)
{
    int status = SP_OK;
    memory_writer writer = {0};
    *bytes = NULL;
    *count = 0;

    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    SP_TRY(sp_allocated(context, info));

    png_set_write_fn(png, &writer, on_write, on_flush);
    if (!write_picture(png, info, image)) {
        status = writer.memory_out ? sp_fail_memory(context)
                                   : sp_fail(context, SP_SYSTEM, "the PNG encoder: %s", writer.message);
        goto done;
    }

    *bytes = sp_pool_copy(pool, writer.list.data, writer.list.count, 1);
    SP_TRY(sp_allocated(context, *bytes));
    *count = writer.list.count;
done:
    png_destroy_write_struct(&png, &info);
    sp_list_free(&writer.list);
    return status;
}
