#include "formats/damping.h"

#include "formats/csv.h"

typedef struct line {
    double frequency, time;
} line;

static int parse_line(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                      int64_t index)
{
    line *l = item;
    (void)data;

    if (count != 2)
        return sp_text_fail(context, text, "%d fields, not frequency,time", count);
    SP_PASS(sp_text_field_number(context, text, "frequency", field[0], &l->frequency));
    SP_PASS(sp_text_field_number(context, text, "time", field[1], &l->time));
    /* quotients of two frequencies or times are finite */
    if (!(l->frequency > 1e-100 && l->frequency < 1e100))
        return sp_text_fail(context, text, "frequency: %g Hz is not from 1e-100 to 1e100", l->frequency);
    if (!(l->time > 1e-100 && l->time < 1e100))
        return sp_text_fail(context, text, "time: %g s is not from 1e-100 to 1e100", l->time);

    if (index > 0 && !(l->frequency > l[-1].frequency))
        return sp_text_fail(context, text, "frequency: %g Hz is not greater than that of the previous line",
                            l->frequency);
    return SP_OK;
}

int sp_damping_parse(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, sp_decay_times *times)
{
    const sp_csv csv = {.header = "frequency", .size = sizeof(line), .line = parse_line};
    sp_list list = {0};
    int status;

    SP_TRY(sp_csv_parse(context, bytes, count, &csv, &list));
    if (list.count == 0) {
        status = sp_fail(context, SP_INPUT, "it has no line with a frequency and a time");
        goto done;
    }

    double *frequency = sp_pool_raw(pool, list.count, sizeof *frequency),
           *time = sp_pool_raw(pool, list.count, sizeof *time);
    SP_TRY(sp_allocated(context, frequency && time));

    for (int64_t i = 0; i < list.count; i++) {
        frequency[i] = ((line *)list.data)[i].frequency;
        time[i] = ((line *)list.data)[i].time;
    }
    *times = (sp_decay_times){list.count, frequency, time};
done:
    sp_list_free(&list);
    return status;
}
