#include "formats/import/matrix.h"
#include "formats/import/text.h"

#include <math.h>
#include <string.h>

/* Parses the banner: %%MatrixMarket matrix array|coordinate real|integer general, not case-sensitive. */
static int parse_banner(sp_context *context, const char *bytes, int64_t count, bool *coordinate)
{
    sp_text text;
    char quote[SP_TEXT_QUOTE];
    sp_text_open(&text, bytes, count, "", "", false);

    if (!sp_text_line(&text) || text.line != 1 || !sp_text_match(&text, "%%MatrixMarket") ||
        !sp_text_match(&text, "matrix"))
        return sp_fail(context, SP_INPUT, "it does not begin with %%%%MatrixMarket matrix");

    *coordinate = sp_text_match(&text, "coordinate");
    if (!*coordinate && !sp_text_match(&text, "array"))
        return sp_text_fail(context, &text, "expected array or coordinate, found %s", sp_text_quote(&text, quote));
    if (!sp_text_match(&text, "real") && !sp_text_match(&text, "integer"))
        return sp_text_fail(context, &text, "expected real or integer, found %s", sp_text_quote(&text, quote));

    if (!sp_text_match(&text, "general") || sp_text_more(&text))
        return sp_text_fail(context, &text, "expected general and the end of the line, found %s",
                            sp_text_quote(&text, quote));
    return SP_OK;
}

/* Advances to the next number, on this line or a later one. */
static bool next(sp_text *text)
{
    while (!sp_text_more(text))
        if (!sp_text_line(text))
            return false;
    return true;
}

static int ended(sp_context *context, const sp_text *text, int64_t have, int64_t need)
{
    return sp_text_fail(context, text, "the file ends after %lld of %lld entries", (long long)have, (long long)need);
}

static int parse_array(sp_context *context, sp_text *text, sp_matrix *matrix)
{
    int64_t count = matrix->rows * matrix->columns;
    int status = SP_OK;
    for (int64_t i = 0; i < count && status == SP_OK; i++)
        status = next(text) ? sp_text_need_number(context, text, "value", &matrix->value[i])
                            : ended(context, text, i, count);
    return status;
}

static int parse_coordinates(sp_context *context, sp_text *text, int64_t entries, sp_matrix *matrix)
{
    int64_t count = matrix->rows * matrix->columns, row, column;

    /* Entries that are not listed are zero. NaN marks a place without an entry, so that one that occurs twice is
     * found. */
    for (int64_t i = 0; i < count; i++)
        matrix->value[i] = NAN;

    for (int64_t i = 0; i < entries; i++) {
        double value;
        if (!next(text))
            return ended(context, text, i, entries);
        SP_PASS(sp_text_need_integer(context, text, "row", &row));
        SP_PASS(sp_text_need_integer(context, text, "column", &column));
        SP_PASS(sp_text_need_number(context, text, "value", &value));

        if (row < 1 || row > matrix->rows || column < 1 || column > matrix->columns)
            return sp_text_fail(context, text, "entry (%lld, %lld) of a matrix of %lld rows and %lld columns",
                                (long long)row, (long long)column, (long long)matrix->rows, (long long)matrix->columns);

        double *to = &matrix->value[(column - 1) * matrix->rows + row - 1];
        if (!isnan(*to))
            return sp_text_fail(context, text, "entry (%lld, %lld) occurs twice", (long long)row, (long long)column);
        *to = value;
    }

    for (int64_t i = 0; i < count; i++)
        matrix->value[i] = isnan(matrix->value[i]) ? 0 : matrix->value[i];
    return SP_OK;
}

int sp_matrix_parse_market(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, sp_matrix *matrix)
{
    enum { UNBACKED = 64 << 20, DILUTION = 1000 };
    sp_text text;
    bool coordinate = false;
    int64_t rows, columns, values, entries;
    char quote[SP_TEXT_QUOTE];

    SP_PASS(parse_banner(context, bytes, count, &coordinate));
    sp_text_open(&text, bytes, count, "%", "", false); /* the banner counts as a comment now */

    if (!sp_text_line(&text))
        return sp_text_fail(context, &text, "the line of sizes is missing");
    SP_PASS(sp_text_need_integer(context, &text, "rows", &rows));
    SP_PASS(sp_text_need_integer(context, &text, "columns", &columns));
    if (rows < 1 || columns < 1 || __builtin_mul_overflow(rows, columns, &values) || values > INT64_MAX / 16)
        return sp_text_fail(context, &text, "%lld rows and %lld columns make no matrix", (long long)rows,
                            (long long)columns);

    entries = values;
    if (coordinate)
        SP_PASS(sp_text_need_integer(context, &text, "entries", &entries));
    if (sp_text_more(&text))
        return sp_text_fail(context, &text, "expected the end of the line, found %s", sp_text_quote(&text, quote));
    /* An entry has at least two bytes: nothing is allocated for more entries than the file can contain. */
    if (entries < 0 || entries > values || entries > count / 2 + 1)
        return sp_text_fail(context, &text, "%lld entries of %lld values in a file of %lld bytes", (long long)entries,
                            (long long)values, (long long)count);

    /* A dense matrix of so few entries would need far more memory than the file has bytes. */
    if (8 * values > UNBACKED && 8 * values / DILUTION > count)
        return sp_text_fail(context, &text, "%lld entries of %lld values: too sparse for a dense matrix",
                            (long long)entries, (long long)values);

    *matrix = (sp_matrix){rows, columns, sp_pool_raw(pool, values, sizeof(double))};
    SP_PASS(sp_allocated(context, matrix->value));
    SP_PASS(coordinate ? parse_coordinates(context, &text, entries, matrix) : parse_array(context, &text, matrix));

    if (next(&text))
        return sp_text_fail(context, &text, "expected the end of the file, found %s", sp_text_quote(&text, quote));
    return SP_OK;
}
