#include "tools/batch/table.h"

#include "base/random.h"
#include "formats/import/text.h"
#include "formats/loads.h"

#include <math.h>
#include <string.h>

/* ---- columns ---- */

static const struct {
    const char *name, *unit;
    enum batch_role role;
    int axis;
    enum follower { NONE, LOAD, MAYBE_LOAD, MAYBE_REGION, COORDINATE } of; /* what may or must follow a colon */
} known[] = {
    {"factor", "", BATCH_FACTOR, 0, MAYBE_LOAD},
    {"fx", "N", BATCH_FORCE, 0, LOAD},
    {"fy", "N", BATCH_FORCE, 1, LOAD},
    {"fz", "N", BATCH_FORCE, 2, LOAD},
    {"pressure", "Pa", BATCH_FORCE, 0, LOAD},
    {"gx", "m/s2", BATCH_GRAVITY, 0, NONE},
    {"gy", "m/s2", BATCH_GRAVITY, 1, NONE},
    {"gz", "m/s2", BATCH_GRAVITY, 2, NONE},
    {"damping-mass", "1/s", BATCH_DAMPING_MASS, 0, NONE},
    {"damping-stiffness", "s", BATCH_DAMPING_STIFFNESS, 0, NONE},
    {"young", "Pa", BATCH_YOUNG, 0, MAYBE_REGION},
    {"poisson", "", BATCH_POISSON, 0, MAYBE_REGION},
    {"density", "kg/m3", BATCH_DENSITY, 0, MAYBE_REGION},
    {"q", "", BATCH_COORDINATE, 0, COORDINATE},
    {"qdot", "1/s", BATCH_RATE, 0, COORDINATE},
    {"seed", "", BATCH_SEED, 0, NONE},
    {"loads", "", BATCH_LOADS, 0, NONE},
};

/* The parser with what its messages need. */
typedef struct parser {
    sp_context *context;
    const batch_subject *subject;
    batch_table *table;
    sp_text text;
    sp_list columns, cells, files;
} parser;

static noreturn void refuse(const parser *p, int status)
{
    tool_check(status, p->table->path);
    tool_fail(SP_INPUT, p->table->path, "it cannot be read"); /* no status is SP_OK here */
}

#define REFUSE(p, ...) refuse(p, sp_text_fail((p)->context, &(p)->text, __VA_ARGS__))

static sp_word part(sp_word word, int64_t from, int64_t to)
{
    while (from < to && word.at[from] == ' ')
        from++;
    while (to > from && word.at[to - 1] == ' ')
        to--;
    return (sp_word){word.at + from, to - from};
}

static int64_t find(sp_word word, char c)
{
    const char *at = word.length > 0 ? memchr(word.at, c, (size_t)word.length) : NULL;
    return at ? at - word.at : -1;
}

/* A whole number from `least` to `most`. */
static int64_t number_of(parser *p, sp_word name, const char *what, sp_word text, int64_t least, int64_t most)
{
    char shown[SP_TEXT_QUOTE], column[SP_TEXT_QUOTE];
    int64_t number;
    if (!sp_word_integer(text, &number) || number < least || number > most)
        REFUSE(p, "column %s: \"%s\" is not the number of a %s, from %lld to %lld", sp_word_show(name, column),
               sp_word_show(text, shown), what, (long long)least, (long long)most);
    return number;
}

/* What the part behind the colon names. */
static void resolve(parser *p, int kind, sp_word name, sp_word which, batch_column *column)
{
    const batch_subject *s = p->subject;
    const enum follower of = known[kind].of;
    const bool needs = of == LOAD || of == COORDINATE, may = needs || of == MAYBE_LOAD || of == MAYBE_REGION;
    char shown[SP_TEXT_QUOTE], list[SP_MATERIAL_LIST];

    column->which = -1;
    if (which.length == 0 && needs)
        REFUSE(p, "column %s: it names no %s, as in %s:1", known[kind].name, of == LOAD ? "load" : "coordinate",
               known[kind].name);
    if (which.length == 0)
        return;
    if (!may)
        REFUSE(p, "column %s: nothing follows %s", sp_word_show(name, shown), known[kind].name);

    if (of == LOAD || of == MAYBE_LOAD) {
        if (s->load_count == 0)
            REFUSE(p, "column %s: there are no --loads", sp_word_show(name, shown));
        column->which = number_of(p, name, "load", which, 1, s->load_count) - 1;
    } else if (of == COORDINATE)
        column->which = number_of(p, name, "coordinate", which, 0, s->r - 1);
    else {
        column->which = sp_material_find(s->mesh->material_count, s->mesh->materials, which.at, (size_t)which.length);
        if (column->which < 0)
            REFUSE(p, "column %s: the mesh has no such region, only %s", sp_word_show(name, shown),
                   sp_material_list(s->mesh->material_count, s->mesh->materials, list));
    }
}

/* A force of a pressure is its first component, and a pressure that of no other load; springs have anchors. */
static void check_force(const parser *p, const char *word, const batch_column *column)
{
    if (column->role != BATCH_FORCE)
        return;
    const enum sp_load_kind kind = p->subject->loads[column->which].kind;
    if (kind == SP_LOAD_SPRING || kind == SP_LOAD_ROTATION ||
        (kind == SP_LOAD_PRESSURE) != (strcmp(word, "pressure") == 0))
        REFUSE(p, "column %s: load %lld has no such component", column->name, (long long)column->which + 1);
}

/* NAME, NAME:WHICH, and perhaps [UNIT]. */
static void parse_column(parser *p, sp_word field)
{
    char shown[SP_TEXT_QUOTE], unit_shown[SP_TEXT_QUOTE];
    const int64_t bracket = find(field, '[');
    sp_word name = part(field, 0, bracket < 0 ? field.length : bracket), unit = {0};
    const int64_t colon = find(name, ':');
    const sp_word word = part(name, 0, colon < 0 ? name.length : colon),
                  which = colon < 0 ? (sp_word){0} : part(name, colon + 1, name.length);
    int kind = 0;

    if (bracket >= 0) {
        if (field.at[field.length - 1] != ']')
            REFUSE(p, "column %s: its unit does not end with ]", sp_word_show(field, shown));
        unit = part(field, bracket + 1, field.length - 1);
    }
    while (kind < TOOL_COUNT(known) && !sp_word_is(word, known[kind].name))
        kind++;
    if (kind == TOOL_COUNT(known))
        REFUSE(p,
               "there is no column \"%s\"; columns are factor, fx, fy, fz, pressure, gx, gy, gz, damping-mass, "
               "damping-stiffness, young, poisson, density, q, qdot, seed and loads",
               sp_word_show(name, shown));
    if (bracket >= 0 && !sp_word_is(unit, known[kind].unit))
        REFUSE(p, "column %s: it is in %s, not in %s", sp_word_show(name, shown),
               *known[kind].unit ? known[kind].unit : "pure numbers", sp_word_show(unit, unit_shown));

    batch_column *column = tool_list_add(&p->columns, 1, sizeof *column);
    char *copy = tool_allocate(&p->table->pool, name.length + 1, 1);
    memcpy(copy, name.at, (size_t)name.length);
    *column =
        (batch_column){.role = known[kind].role, .axis = known[kind].axis, .name = copy, .stream = sp_word_hash(name)};
    resolve(p, kind, name, which, column);
    check_force(p, known[kind].name, column);

    if (p->subject->modal && column->role >= BATCH_YOUNG && column->role <= BATCH_DENSITY)
        REFUSE(p, "column %s: a modal model has the materials of its modes", column->name);
    for (int64_t i = 0; i + 1 < p->columns.count; i++)
        if (!strcmp(((batch_column *)p->columns.data)[i].name, column->name))
            REFUSE(p, "column %s occurs twice", column->name);
}

/* ---- fields ---- */

/* The next field of a line: commas in parentheses do not end it, and double quotes around it are left out. Returns true
 * if another one follows. */
static bool next_field(sp_text *text, sp_word *field)
{
    const char *begin = text->at, *at = begin;
    int depth = 0;
    bool quoted = false;
    for (; at < text->stop && (depth > 0 || quoted || *at != ','); at++) {
        quoted ^= *at == '"';
        depth += !quoted && *at == '(' ? 1 : !quoted && *at == ')' ? -1 : 0;
        if (!quoted && depth == 0 && *at == '#')
            break;
    }
    const bool more = at < text->stop && *at == ',';
    *field = part((sp_word){begin, at - begin}, 0, at - begin);
    while (field->length > 0 && strchr("\t\r", field->at[field->length - 1]))
        field->length--;
    if (field->length >= 2 && *field->at == '"' && field->at[field->length - 1] == '"')
        *field = part(*field, 1, field->length - 1);
    text->at = more ? at + 1 : text->stop;
    return more;
}

/* A number, or with % a part of `of`. */
static bool amount(sp_word text, double of, double *value)
{
    const bool percent = text.length > 0 && text.at[text.length - 1] == '%';
    if (!sp_word_number(part(text, 0, text.length - percent), value))
        return false;
    *value *= percent ? fabs(of) / 100 : 1;
    return true;
}

/* normal(MEAN, DEVIATION), uniform(LOW, HIGH), lognormal(MEDIAN, DEVIATION OF THE LOGARITHM); the second number of
 * `normal` may be a percentage of the first, and uniform(MEAN, 5%) goes from −5 % to +5 % of it. */
static bool parse_distribution(sp_word field, batch_cell *cell)
{
    static const char *const names[] = {
        [BATCH_NORMAL] = "normal", [BATCH_UNIFORM] = "uniform", [BATCH_LOGNORMAL] = "lognormal"};
    const int64_t open = find(field, '('), comma = find(field, ',');
    if (open < 0 || comma < open || field.at[field.length - 1] != ')')
        return false;
    const sp_word word = part(field, 0, open), first = part(field, open + 1, comma),
                  second = part(field, comma + 1, field.length - 1);
    int kind = BATCH_NORMAL;
    while (kind <= BATCH_LOGNORMAL && !sp_word_is(word, names[kind]))
        kind++;
    if (kind > BATCH_LOGNORMAL || !sp_word_number(first, &cell->a) || !amount(second, cell->a, &cell->b))
        return false;

    cell->distribution = (enum batch_distribution)kind;
    const bool percent = second.at[second.length - 1] == '%';
    if (kind == BATCH_UNIFORM && percent) {
        const double middle = cell->a;
        cell->a = middle - cell->b;
        cell->b = middle + cell->b;
    }
    if (kind == BATCH_UNIFORM)
        return cell->b >= cell->a;
    return cell->b >= 0 && (kind == BATCH_NORMAL || (cell->a > 0 && !percent));
}

/* The number of the file that a cell names, relative to the folder of the table; each file is read once. */
static int64_t find_file(parser *p, sp_word field)
{
    const char *slash = strrchr(p->table->path, '/');
    const int folder = slash && *field.at != '/' ? (int)(slash - p->table->path) + 1 : 0;
    char *path = tool_allocate(&p->table->pool, folder + field.length + 1, 1);
    memcpy(path, p->table->path, (size_t)folder);
    memcpy(path + folder, field.at, (size_t)field.length);

    for (int64_t i = 0; i < p->files.count; i++)
        if (!strcmp(((batch_loads *)p->files.data)[i].path, path))
            return i;

    batch_loads *file = tool_list_add(&p->files, 1, sizeof *file);
    int64_t bytes;
    *file = (batch_loads){.path = path};
    tool_named_in(p->table->path);
    const char *text = tool_read_bytes(path, "row", &p->table->pool, &bytes);
    tool_named_in(NULL);
    tool_check(sp_loads_parse(p->context, text, bytes, p->subject->mesh, &p->table->pool, &file->count, &file->loads),
               path);
    return p->files.count - 1;
}

double *batch_material_value(sp_material *material, enum batch_role role)
{
    return role == BATCH_YOUNG ? &material->young : role == BATCH_POISSON ? &material->poisson : &material->density;
}

/* A number that no material of its regions can have is refused at once. */
static void check_material(const parser *p, const batch_column *column, double value)
{
    const sp_mesh *mesh = p->subject->mesh;
    const int64_t first = column->which < 0 ? 0 : column->which,
                  end = column->which < 0 ? mesh->material_count : column->which + 1;
    for (int64_t m = first; m < end; m++) {
        sp_material material = mesh->materials[m];
        sp_context own = *p->context;
        if (column->role != BATCH_DENSITY && !sp_law_isotropic(material.law))
            REFUSE(p, "column %s: region %s has the law %s", column->name, material.name, sp_law_name(material.law));
        *batch_material_value(&material, column->role) = value;
        if (sp_material_check(&own, &material) != SP_OK)
            REFUSE(p, "column %s: %.300s", column->name, own.message);
    }
}

static void parse_cell(parser *p, const batch_column *column, sp_word field, batch_cell *cell)
{
    char shown[SP_TEXT_QUOTE];
    *cell = (batch_cell){0};
    if (field.length == 0)
        REFUSE(p, "column %s: there is no value", column->name);

    if (column->role == BATCH_LOADS) {
        cell->file = find_file(p, field);
        return;
    }
    if (!sp_word_number(field, &cell->a) && !parse_distribution(field, cell))
        REFUSE(p,
               "column %s: \"%s\" is neither a number nor normal(MEAN,DEVIATION), uniform(LOW,HIGH) or "
               "lognormal(MEDIAN,DEVIATION)",
               column->name, sp_word_show(field, shown));
    if (column->role == BATCH_SEED &&
        (cell->distribution != BATCH_NUMBER || cell->a != floor(cell->a) || cell->a < 0 || cell->a > 0x1p53))
        REFUSE(p, "column seed: \"%s\" is not a whole number from 0 on", sp_word_show(field, shown));
    if ((column->role == BATCH_DAMPING_MASS || column->role == BATCH_DAMPING_STIFFNESS) && cell->a < 0)
        REFUSE(p, "column %s: damping may not be negative", column->name);
    if (column->role >= BATCH_YOUNG && column->role <= BATCH_DENSITY && cell->distribution == BATCH_NUMBER)
        check_material(p, column, cell->a);
}

/* ---- the table ---- */

static void parse_header(parser *p)
{
    bool more = true;
    if (!sp_text_line(&p->text))
        tool_fail(SP_INPUT, p->table->path, "it is empty: its first line names the columns");
    while (more) {
        sp_word field;
        more = next_field(&p->text, &field);
        parse_column(p, field);
    }
}

static void parse_row(parser *p)
{
    const batch_column *columns = p->columns.data;
    bool more = true;
    int64_t count = 0;
    for (; more; count++) {
        sp_word field;
        more = next_field(&p->text, &field);
        if (count < p->columns.count)
            parse_cell(p, &columns[count], field, tool_list_add(&p->cells, 1, sizeof(batch_cell)));
    }
    if (count != p->columns.count)
        REFUSE(p, "%lld fields, but %lld columns", (long long)count, (long long)p->columns.count);
    p->table->row_count++;
}

void batch_table_read(sp_context *context, const char *path, const batch_subject *subject, batch_table *table)
{
    parser p = {.context = context, .subject = subject, .table = table};
    int64_t bytes;

    *table = (batch_table){.path = path};
    const char *text = tool_read_bytes(path, "table", &table->pool, &bytes);
    sp_text_open(&p.text, text, bytes, "#", "", false);

    parse_header(&p);
    while (sp_text_line(&p.text))
        parse_row(&p);
    if (table->row_count == 0)
        tool_fail(SP_INPUT, path, "it has no row behind the names of its columns");

    table->column_count = p.columns.count;
    table->file_count = p.files.count;
    table->columns = tool_allocate_copy(&table->pool, p.columns.data, p.columns.count, sizeof *table->columns);
    table->cells = tool_allocate_copy(&table->pool, p.cells.data, p.cells.count, sizeof *table->cells);
    table->files = tool_allocate_copy(&table->pool, p.files.data, p.files.count, sizeof *table->files);
    table->names = tool_allocate(&table->pool, p.columns.count, sizeof *table->names);
    for (int64_t i = 0; i < p.columns.count; i++)
        if (table->columns[i].role != BATCH_LOADS)
            table->names[table->number_count++] = table->columns[i].name;

    sp_list_free(&p.columns);
    sp_list_free(&p.cells);
    sp_list_free(&p.files);
}

void batch_table_free(batch_table *table)
{
    sp_pool_free(&table->pool);
}

bool batch_table_has_materials(const batch_table *table)
{
    bool has = false;
    for (int64_t i = 0; i < table->column_count; i++)
        has |= table->columns[i].role >= BATCH_YOUNG && table->columns[i].role <= BATCH_DENSITY;
    return has;
}

bool batch_table_is_random(const batch_table *table)
{
    bool random = false;
    for (int64_t i = 0; i < table->row_count * table->column_count; i++)
        random |= table->cells[i].distribution != BATCH_NUMBER;
    return random;
}

double batch_cell_number(const batch_cell *cell, const batch_column *column, uint64_t seed, int64_t motion)
{
    const uint64_t index = (uint64_t)motion;
    switch (cell->distribution) {
    case BATCH_NORMAL:
        return cell->a + cell->b * sp_random_normal(seed, column->stream, index);
    case BATCH_UNIFORM:
        return cell->a + (cell->b - cell->a) * sp_random_uniform(seed, column->stream, index);
    case BATCH_LOGNORMAL:
        return cell->a * exp(cell->b * sp_random_normal(seed, column->stream, index));
    case BATCH_NUMBER:
        break;
    }
    return cell->a;
}
