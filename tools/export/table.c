#include "tools/export/table.h"

#include <stdarg.h>
#include <string.h>

void export_table_name(export_table *table, const char *format, ...)
{
    char name[1000];
    size_t length = 0;
    va_list arguments;
    if (table->owner)
        length = (size_t)snprintf(name, sizeof name, "%.700s.", table->owner);
    va_start(arguments, format);
    vsnprintf(name + length, sizeof name - length, format, arguments);
    va_end(arguments);
    for (char *at = name; *at; at++)
        if (strchr(",:\"\r\n", *at))
            *at = '_';
    sp_csv_name(&table->stream, false, name);
    table->columns++;
}

void export_table_numbers(export_table *table, int64_t count, const double *numbers)
{
    sp_csv_numbers(&table->stream, false, count, numbers);
}

void export_table_empty(export_table *table, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sp_csv_name(&table->stream, false, "");
}
