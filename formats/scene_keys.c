#include "formats/scene_internal.h"

#include "contact/deformed.h"
#include "formats/import/text.h"
#include "shell/shell.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the tables ---- */

#define NUMBER SP_KEY_NUMBER
#define INTEGER SP_KEY_INTEGER
#define BOOLEAN SP_KEY_BOOLEAN
#define WORD SP_KEY_WORD
#define FILE_NAME SP_KEY_FILE
#define OBJECT SP_KEY_OBJECT
#define REQUIRED SP_KEY_REQUIRED
#define DEFAULT SP_KEY_DEFAULT
#define OPTIONAL SP_KEY_OPTIONAL
#define ANY .low = -INFINITY, .high = INFINITY
#define FROM(least) .low = (least), .high = INFINITY
#define ABOVE(bound) .low = (bound), .above = true, .high = INFINITY
#define WITHIN(least, most) .low = (least), .high = (most)
#define OR_NULL .null = true, .standard = {INFINITY}

_Static_assert(sizeof(enum sp_scene_motion) == sizeof(int), "words are kept as int");

static const sp_scene_words weights = {SP_SCENE_EQUAL, {"equal", "area"}}, normals = {SP_SCENE_GRADIENT, {"gradient", "tangents"}},
                            budgets = {SP_SCENE_NODES, {"nodes", "cost"}}, kinds = {SP_SCENE_RIGID, {"rigid", "linear", "reduced"}},
                            motions = {SP_SCENE_FIXED, {"fixed", "free", "path", "coupled"}},
                            couplings = {SP_SCENE_STATIC, {"static", "dynamic"}}, gradients = {SP_SCENE_NORMAL, {"normal", "field"}};

#define AT(member) .offset = offsetof(sp_scene, contact.member)
static const sp_scene_key contact_keys[] = {
    {"stiffness", NUMBER, REQUIRED, AT(stiffness), .unit = "N/m", ABOVE(0)},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N s/m", FROM(0)},
    {"limit", NUMBER, DEFAULT, AT(limit), FROM(1), OR_NULL},
    {"weights", WORD, DEFAULT, AT(weights), .words = &weights},
    {"normals", WORD, DEFAULT, AT(normals), .words = &normals},
    {"pulse", NUMBER, DEFAULT, AT(pulse), .unit = "m/s", FROM(0), OR_NULL},
    {0},
};
static const sp_scene_table contact_table = {"contact", contact_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene, traversal.member)
static const sp_scene_key traversal_keys[] = {
    {"warm", INTEGER, DEFAULT, AT(warm), .unit = "nodes", FROM(1), OR_NULL},
    {"cold", INTEGER, OPTIONAL, AT(cold), .unit = "nodes", FROM(1), .standard = {INFINITY}, .needs = "warm"},
    {"budget", WORD, DEFAULT, AT(budget), .words = &budgets},
    {"contact_cost", NUMBER, DEFAULT, AT(contact_cost), FROM(0), .standard = {1.5}},
    {"coherence", BOOLEAN, DEFAULT, AT(coherence), .standard = {true}},
    {"tree", BOOLEAN, DEFAULT, AT(tree), .standard = {true}},
    {"levels", INTEGER, DEFAULT, AT(levels), WITHIN(0, SP_SHELL_LEVELS_MAX)},
    {0},
};
static const sp_scene_table traversal_table = {"traversal", traversal_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene_model, member)
static const sp_scene_key plane_keys[] = {
    {"normal", NUMBER, REQUIRED, AT(normal), 3, NULL, ANY},
    {"offset", NUMBER, DEFAULT, AT(offset), .unit = "m", ANY},
    {0},
};
static const sp_scene_key sphere_keys[] = {
    {"centre", NUMBER, DEFAULT, AT(centre), 3, "m", ANY},
    {"radius", NUMBER, REQUIRED, AT(radius), .unit = "m", ABOVE(0)},
    {0},
};
static const sp_scene_key box_keys[] = {
    {"centre", NUMBER, DEFAULT, AT(centre), 3, "m", ANY},
    {"half", NUMBER, REQUIRED, AT(half), 3, "m", ABOVE(0)},
    {0},
};
static const sp_scene_table plane_table = {"plane", plane_keys}, sphere_table = {"sphere", sphere_keys}, box_table = {"box", box_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene_domain_read, member)
static const sp_scene_key domain_keys[] = {
    {"field", FILE_NAME, REQUIRED, AT(field)},
    {"proxies", FILE_NAME, REQUIRED, AT(proxies)},
    {0},
};
const sp_scene_table sp_scene_domain_keys = {"domain", domain_keys};
#undef AT

enum { RIGID = 1u << SP_SCENE_RIGID, REDUCED = 1u << SP_SCENE_REDUCED, SOFT = REDUCED | 1u << SP_SCENE_LINEAR };

#define AT(member) .offset = offsetof(sp_scene_model, member)
static const sp_scene_key model_keys[] = {
    {"kind", WORD, REQUIRED, AT(kind), .words = &kinds},
    {"mesh", FILE_NAME, OPTIONAL, AT(mesh)},
    {"basis", FILE_NAME, OPTIONAL, AT(basis), .only = SOFT},
    {"polynomials", FILE_NAME, OPTIONAL, AT(polynomials), .only = SOFT},
    {"cubature", FILE_NAME, OPTIONAL, AT(cubature), .only = REDUCED},
    {"shell", FILE_NAME, OPTIONAL, AT(shell)},
    {"field", FILE_NAME, OPTIONAL, AT(field)},
    {"voxmap", FILE_NAME, OPTIONAL, AT(voxmap), .only = RIGID},
    {"surface", FILE_NAME, OPTIONAL, AT(surface), .only = RIGID},
    {"proxies", FILE_NAME, OPTIONAL, AT(proxies), .only = SOFT, .needs = "field"},
    {"domains", SP_KEY_LIST, OPTIONAL, .table = &sp_scene_domain_keys, .only = SOFT, .needs = "field"},
    {"nearest", INTEGER, DEFAULT, AT(nearest), WITHIN(1, SP_DEFORMED_NEAREST), .standard = {5}, .only = SOFT, .needs = "proxies"},
    {"r", INTEGER, DEFAULT, AT(r), WITHIN(0, INT32_MAX), .only = SOFT},
    {"plane", OBJECT, OPTIONAL, .table = &plane_table, .only = RIGID},
    {"sphere", OBJECT, OPTIONAL, .table = &sphere_table, .only = RIGID},
    {"box", OBJECT, OPTIONAL, .table = &box_table, .only = RIGID},
    {"mass", NUMBER, OPTIONAL, AT(mass), .unit = "kg", ABOVE(0), .only = RIGID, .needs = "mass_centre"},
    {"density", NUMBER, OPTIONAL, AT(density), .unit = "kg/m³", ABOVE(0), .only = RIGID, .needs = "surface"},
    {"mass_centre", NUMBER, OPTIONAL, AT(mass_centre), 3, "m", ANY, .only = RIGID, .needs = "inertia"},
    {"inertia", NUMBER, OPTIONAL, AT(inertia), 6, "kg m²", ANY, .only = RIGID, .needs = "mass"},
    {"damping", NUMBER, OPTIONAL, AT(damping), 2, "1/s, s", FROM(0), .standard = {-1, -1}, .only = SOFT},
    {"thickness", NUMBER, DEFAULT, AT(thickness), .unit = "m", FROM(0), .needs = "shell"},
    {"decoupled", BOOLEAN, DEFAULT, AT(decoupled), .only = SOFT},
    {"most_acceleration", NUMBER, DEFAULT, AT(most_acceleration), FROM(0), .only = SOFT},
    {0},
};
const sp_scene_table sp_scene_model_keys = {"model", model_keys};
#undef AT

static const sp_scene_key copies_keys[] = {
    {"count", INTEGER, REQUIRED, .offset = offsetof(sp_scene_body_read, copies), 3, NULL, WITHIN(1, 100000)},
    {"spacing", NUMBER, REQUIRED, .offset = offsetof(sp_scene_body_read, spacing), 3, "m", ANY},
    {0},
};
static const sp_scene_table copies_table = {"copies", copies_keys};

enum {
    FREE = 1u << SP_SCENE_FREE,
    ON_PATH = 1u << SP_SCENE_PATH,
    STANDING = 1u << SP_SCENE_FIXED | FREE,
    PLACED = STANDING | 1u << SP_SCENE_COUPLED
};

#define AT(member) .offset = offsetof(sp_scene_body_read, body.member)
static const sp_scene_key body_keys[] = {
    {"motion", WORD, DEFAULT, AT(motion), .words = &motions},
    {"name", SP_KEY_NAME, REQUIRED, .count = 0},
    {"model", SP_KEY_NAME, REQUIRED, .count = 0},
    {"path", FILE_NAME, OPTIONAL, AT(path), .only = ON_PATH},
    {"position", NUMBER, DEFAULT, AT(pose.x), 3, "m", ANY, .only = PLACED},
    {"orientation", NUMBER, DEFAULT, AT(pose.q), 4, NULL, ANY, .standard = {1}, .only = PLACED},
    {"velocity", NUMBER, DEFAULT, AT(velocity), 3, "m/s", ANY, .only = FREE},
    {"angular_velocity", NUMBER, DEFAULT, AT(angular_velocity), 3, "rad/s", ANY, .only = FREE},
    {"copies", OBJECT, OPTIONAL, .table = &copies_table, .only = STANDING},
    {0},
};
const sp_scene_table sp_scene_body_keys = {"body", body_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene, coupling.member)
static const sp_scene_key coupling_keys[] = {
    {"kind", WORD, REQUIRED, AT(kind), .words = &couplings},
    {"body", SP_KEY_NAME, REQUIRED, .count = 0},
    {"path", FILE_NAME, REQUIRED, AT(path)},
    {"grasp", NUMBER, DEFAULT, AT(grasp), 3, "m", ANY},
    {"stiffness", NUMBER, REQUIRED, AT(stiffness), .unit = "N/m", ABOVE(0)},
    {"torque_stiffness", NUMBER, REQUIRED, AT(torque_stiffness), .unit = "N m", ABOVE(0)},
    {"saturation", NUMBER, DEFAULT, AT(saturation), .unit = "N", ABOVE(0), OR_NULL},
    {"torque_saturation", NUMBER, DEFAULT, AT(torque_saturation), .unit = "N m", ABOVE(0), OR_NULL},
    {"static_damping", NUMBER, DEFAULT, AT(static_damping), WITHIN(0, 1), .below = true, .standard = {0.5}},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N s/m", FROM(0)},
    {"torque_damping", NUMBER, DEFAULT, AT(torque_damping), .unit = "N m s/rad", FROM(0)},
    {"speed", NUMBER, DEFAULT, AT(speed), .unit = "m/s", ABOVE(0), OR_NULL},
    {"angular_speed", NUMBER, DEFAULT, AT(angular_speed), .unit = "rad/s", ABOVE(0), OR_NULL},
    {"threshold", NUMBER, DEFAULT, AT(threshold), WITHIN(0, 1), .below = true, .standard = {0.001}},
    {"length", NUMBER, DEFAULT, AT(length), .unit = "m", FROM(0)},
    {"device_scale", NUMBER, DEFAULT, AT(device_scale), ABOVE(0), .standard = {1}},
    {"device_force", NUMBER, DEFAULT, AT(device_force), .unit = "N", ABOVE(0), OR_NULL},
    {"device_torque", NUMBER, DEFAULT, AT(device_torque), .unit = "N m", ABOVE(0), OR_NULL},
    {"gradient", WORD, DEFAULT, AT(gradient), .words = &gradients},
    {0},
};
static const sp_scene_table coupling_table = {"coupling", coupling_keys};
#undef AT

static const sp_scene_key scene_keys[] = {
    {"gravity", NUMBER, DEFAULT, .offset = offsetof(sp_scene, gravity), 3, "m/s²", ANY},
    {"contact", OBJECT, REQUIRED, .table = &contact_table},
    {"traversal", OBJECT, DEFAULT, .table = &traversal_table},
    {"models", SP_KEY_NAMED, REQUIRED, .table = &sp_scene_model_keys},
    {"bodies", SP_KEY_LIST, REQUIRED, .table = &sp_scene_body_keys},
    {"pairs", SP_KEY_PAIRS, OPTIONAL, .count = 0},
    {"coupling", OBJECT, OPTIONAL, .table = &coupling_table},
    {0},
};
const sp_scene_table sp_scene_keys = {"scene", scene_keys};

/* ---- messages ---- */

size_t sp_scene_down(sp_scene_reader *reader, const char *format, ...)
{
    const size_t before = strlen(reader->way);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->way + before, sizeof reader->way - before, format + (before == 0 && format[0] == '.'), arguments);
    va_end(arguments);
    return before;
}

void sp_scene_up(sp_scene_reader *reader, size_t way)
{
    reader->way[way] = 0;
}

int sp_scene_fail(const sp_scene_reader *reader, const char *format, ...)
{
    char message[sizeof reader->context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sp_fail(reader->context, SP_INPUT, "%s%s%s", reader->way, reader->way[0] ? ": " : "", message);
}

const char *sp_scene_what(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",      [JSON_FALSE] = "false",     [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

void sp_scene_range(const sp_scene_key *key, char text[SP_SCENE_RANGE])
{
    if ((key->type != SP_KEY_NUMBER && key->type != SP_KEY_INTEGER) || isinf(key->low))
        text[0] = 0;
    else if (isinf(key->high))
        snprintf(text, SP_SCENE_RANGE, "%s %.10g", key->above ? "more than" : "at least", key->low);
    else
        snprintf(text, SP_SCENE_RANGE, "%.10g to %s%.10g", key->low, key->below ? "less than " : "", key->high);
}

void sp_scene_offer(char text[SP_SCENE_CHOICES], const char *word)
{
    const size_t used = strlen(text), dots = sizeof ", ...";
    if (used + strlen(word) + 2 + dots <= SP_SCENE_CHOICES)
        snprintf(text + used, SP_SCENE_CHOICES - used, "%s%s", used ? ", " : "", word);
    else if (used < 3 || strcmp(text + used - 3, "..."))
        snprintf(text + used, SP_SCENE_CHOICES - used, ", ...");
}

static int wrong(const sp_scene_reader *reader, const json_t *value, const char *expected, const sp_scene_key *key)
{
    return sp_scene_fail(reader, "%s, expected %s%s", sp_scene_what(value), expected, key->null ? " or null" : "");
}

/* ---- values ---- */

static int in_range(const sp_scene_reader *reader, const sp_scene_key *key, double value)
{
    char range[SP_SCENE_RANGE];
    const bool unit = key->unit && !strchr(key->unit, ','); /* not one of its own for each entry */
    if ((key->above ? value > key->low : value >= key->low) && (key->below ? value < key->high : value <= key->high))
        return SP_OK;
    sp_scene_range(key, range);
    return sp_scene_fail(reader, "%.10g%s%s, expected %s", value, unit ? " " : "", unit ? key->unit : "", range);
}

/* JSON has no numbers that are not finite, and jansson refuses those that are too large for a double. */
static int read_number(const sp_scene_reader *reader, const json_t *value, const sp_scene_key *key, double *to)
{
    *to = INFINITY;
    if (key->null && json_is_null(value))
        return SP_OK;
    if (!json_is_number(value))
        return wrong(reader, value, "a number", key);
    *to = json_number_value(value);
    return in_range(reader, key, *to);
}

/* 1e5 and 3.0 are whole numbers too, as in JSON Schema. */
static int read_integer(const sp_scene_reader *reader, const json_t *value, const sp_scene_key *key, int64_t *to)
{
    *to = INT64_MAX;
    if (key->null && json_is_null(value))
        return SP_OK;
    if (!json_is_number(value))
        return wrong(reader, value, "a whole number", key);
    const double number = json_number_value(value);
    if (json_is_real(value) && (fabs(number) > 0x1p53 || number != floor(number)))
        return sp_scene_fail(reader, "%.10g, expected a whole number", number);
    *to = json_is_integer(value) ? json_integer_value(value) : (int64_t)number;
    return in_range(reader, key, number);
}

static int read_numbers(sp_scene_reader *reader, const json_t *value, const sp_scene_key *key, void *to)
{
    int status = SP_OK;
    const bool whole = key->type == SP_KEY_INTEGER;
    if (key->count == 0)
        return whole ? read_integer(reader, value, key, to) : read_number(reader, value, key, to);
    if (!json_is_array(value))
        return sp_scene_fail(reader, "%s, expected %d numbers", sp_scene_what(value), key->count);
    if (json_array_size(value) != (size_t)key->count)
        return sp_scene_fail(reader, "%zu values, expected %d numbers", json_array_size(value), key->count);
    for (int i = 0; i < key->count && status == SP_OK; i++) {
        const size_t way = sp_scene_down(reader, "[%d]", i);
        const json_t *entry = json_array_get(value, (size_t)i);
        status = whole ? read_integer(reader, entry, key, (int64_t *)to + i) : read_number(reader, entry, key, (double *)to + i);
        if (status == SP_OK)
            sp_scene_up(reader, way);
    }
    return status;
}

static int read_word(const sp_scene_reader *reader, const json_t *value, const sp_scene_key *key, int *to)
{
    char shown[SP_TEXT_QUOTE], choices[SP_SCENE_CHOICES] = "";
    const char *text = json_string_value(value);
    for (int i = 0; key->words->word[i]; i++) {
        if (text && !strcmp(text, key->words->word[i])) {
            *to = key->words->first + i;
            return SP_OK;
        }
        sp_scene_offer(choices, key->words->word[i]);
    }
    if (!text)
        return sp_scene_fail(reader, "%s, expected one of %s", sp_scene_what(value), choices);
    return sp_scene_fail(reader, "\"%s\" is none of %s", sp_word_show(sp_word_of(text), shown), choices);
}

static int read_file(const sp_scene_reader *reader, const json_t *value, const sp_scene_key *key, char **to)
{
    const char *text = json_string_value(value), *folder = reader->folder;
    if (!text)
        return wrong(reader, value, "the name of a file", key);
    if (!text[0])
        return sp_scene_fail(reader, "\"\", expected the name of a file");
    const bool alone = text[0] == '/' || !folder[0] || !strcmp(folder, ".");
    const size_t size = strlen(folder) + strlen(text) + 2;
    *to = sp_pool_raw(reader->pool, (int64_t)size, 1);
    if (!*to)
        return sp_fail_memory(reader->context);
    const bool slash = !alone && folder[strlen(folder) - 1] != '/';
    snprintf(*to, size, "%s%s%s", alone ? "" : folder, slash ? "/" : "", text);
    return SP_OK;
}

int sp_scene_check_name(const sp_scene_reader *reader, const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    char shown[SP_TEXT_QUOTE];
    const size_t length = strlen(name);
    if (length >= 1 && length < SP_SCENE_NAME && strspn(name, allowed) == length)
        return SP_OK;
    return sp_scene_fail(reader, "\"%s\" is no name: expected 1 to %d of A-Z a-z 0-9 _ . -", sp_word_show(sp_word_of(name), shown),
                         SP_SCENE_NAME - 1);
}

/* What the caller keeps: only whether it is of the right type, and not empty. */
static int check_type(const sp_scene_reader *reader, const json_t *value, const sp_scene_key *key)
{
    if (key->type == SP_KEY_NAME)
        return json_is_string(value) ? SP_OK : wrong(reader, value, "a name", key);
    if (key->type == SP_KEY_NAMED ? !json_is_object(value) : !json_is_array(value))
        return wrong(reader, value, key->type == SP_KEY_NAMED ? "an object" : "an array", key);
    if (key->type != SP_KEY_PAIRS && json_object_size(value) + json_array_size(value) == 0)
        return sp_scene_fail(reader, "it is empty");
    return SP_OK;
}

static int read_value(sp_scene_reader *reader, json_t *value, const sp_scene_key *key, void *to)
{
    switch (key->type) {
    case SP_KEY_NUMBER:
    case SP_KEY_INTEGER:
        return read_numbers(reader, value, key, to);
    case SP_KEY_BOOLEAN:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value) ? SP_OK : wrong(reader, value, "true or false", key);
    case SP_KEY_WORD:
        return read_word(reader, value, key, to);
    case SP_KEY_FILE:
        return read_file(reader, value, key, to);
    case SP_KEY_OBJECT:
        return sp_scene_read(reader, value, key->table, to);
    default:
        return check_type(reader, value, key);
    }
}

static int absent(sp_scene_reader *reader, const sp_scene_key *key, void *to)
{
    if (key->presence == SP_KEY_REQUIRED)
        return sp_scene_fail(reader, "it is missing");
    for (int i = 0; i < (key->count ? key->count : 1); i++) {
        if (key->type == SP_KEY_NUMBER)
            ((double *)to)[i] = key->standard[i];
        else if (key->type == SP_KEY_INTEGER)
            ((int64_t *)to)[i] = isinf(key->standard[i]) ? INT64_MAX : (int64_t)key->standard[i];
    }
    if (key->type == SP_KEY_BOOLEAN)
        *(bool *)to = key->standard[0] != 0;
    else if (key->type == SP_KEY_WORD)
        *(int *)to = key->words->first;
    else if (key->type == SP_KEY_OBJECT && key->presence == SP_KEY_DEFAULT)
        return sp_scene_read(reader, NULL, key->table, to);
    return SP_OK;
}

/* ---- objects ---- */

static int check_keys(sp_scene_reader *reader, json_t *object, const sp_scene_table *table)
{
    char shown[SP_TEXT_QUOTE], choices[SP_SCENE_CHOICES] = "";
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return sp_scene_fail(reader, "%s, expected an object", sp_scene_what(object));
    json_object_foreach(object, name, value)
    {
        const sp_scene_key *key = table->keys;
        while (key->name && strcmp(key->name, name))
            key++;
        if (key->name)
            continue;
        for (key = table->keys; key->name; key++)
            sp_scene_offer(choices, key->name);
        sp_scene_down(reader, ".%s", sp_word_show(sp_word_of(name), shown));
        return sp_scene_fail(reader, "unknown key, expected one of %s", choices);
    }
    return SP_OK;
}

/* Whether the key may stand beside the others. */
static int check_place(const sp_scene_reader *reader, const json_t *object, const sp_scene_table *table, const sp_scene_key *key,
                       const void *to)
{
    const sp_scene_key *first = table->keys;
    if (key->only) {
        const int chosen = *(const int *)((const char *)to + first->offset);
        if (!(key->only & 1u << chosen))
            return sp_scene_fail(reader, "it means nothing where %s is %s", first->name, first->words->word[chosen - first->words->first]);
    }
    if (key->needs && !json_object_get(object, key->needs))
        return sp_scene_fail(reader, "it needs %s beside it", key->needs);
    return SP_OK;
}

int sp_scene_read(sp_scene_reader *reader, json_t *object, const sp_scene_table *table, void *to)
{
    int status = SP_OK;
    if (object)
        SP_TRY(check_keys(reader, object, table));
    for (const sp_scene_key *key = table->keys; key->name; key++) {
        json_t *value = json_object_get(object, key->name);
        void *place = (char *)to + key->offset;
        const size_t way = sp_scene_down(reader, ".%s", key->name);
        if (value)
            SP_TRY(check_place(reader, object, table, key, to));
        SP_TRY(value ? read_value(reader, value, key, place) : absent(reader, key, place));
        sp_scene_up(reader, way);
    }
done:
    return status;
}

bool sp_scene_unit(int n, double *v)
{
    double most = 0, square = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(v[i]));
    if (!(most > 0))
        return false;
    for (int i = 0; i < n; i++) {
        v[i] /= most;
        square += v[i] * v[i];
    }
    for (int i = 0; i < n; i++)
        v[i] /= sqrt(square);
    return true;
}
