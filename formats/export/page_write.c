#include "formats/export/page_write.h"

#include "formats/export/stream.h"

#include <math.h>
#include <string.h>

static const char page_text[] =
#include "formats/export/page/page.inc"
    ;
static const char mark[] = "/*< data >*/";

bool sp_page_built(void)
{
    return page_text[0] != 0;
}

/* ---- JSON ---- */

/* The length of the UTF-8 sequence at `text`, 0 where there is none, and its code. */
static int sequence(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    int length = 1;
    if (text[0] >= 0xf0)
        length = 4;
    else if (text[0] >= 0xe0)
        length = 3;
    else if (text[0] >= 0xc2)
        length = 2;
    else if (text[0] >= 0x80)
        length = 0;
    if (length == 0 || text[0] > 0xf4)
        return 0;
    *code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

/* A string that cannot end the script element either, since it has no "<". */
static void write_string(sp_stream *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    sp_stream_bytes(stream, "\"", 1);
    while (*at) {
        uint32_t code = 0xfffd;
        const int length = sequence(at, &code);
        const bool plain = length > 0 && code >= 0x20 && !strchr("\"\\<>&\x7f", (int)(code < 0x80 ? code : 'a')) &&
                           !(code >= 0x80 && code < 0xa0) && code != 0x2028 && code != 0x2029;
        if (plain)
            sp_stream_bytes(stream, at, (size_t)length);
        else
            sp_stream_print(stream, "\\u%04x", (unsigned)(length > 0 ? code : 0xfffd));
        at += length > 0 ? length : 1;
    }
    sp_stream_bytes(stream, "\"", 1);
}

static void write_text(sp_stream *stream, const char *key, const char *text)
{
    sp_stream_print(stream, "\"%s\":", key);
    write_string(stream, text);
}

static void write_numbers(sp_stream *stream, const char *key, int64_t count, const double *numbers)
{
    sp_stream_print(stream, "\"%s\":[", key);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            sp_stream_bytes(stream, ",", 1);
        sp_stream_number(stream, numbers[i]);
    }
    sp_stream_bytes(stream, "]", 1);
}

/* ---- arrays ---- */

/* Bytes that become base64, three at a time. */
typedef struct base64 {
    sp_stream *stream;
    unsigned char held[3];
    int count;
} base64;

static void put_triple(base64 *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits = (unsigned)to->held[0] << 16 | (unsigned)to->held[1] << 8 | to->held[2];
    char text[4];
    for (int i = 0; i < 4; i++)
        text[i] = i <= to->count ? digits[bits >> (18 - 6 * i) & 63] : '=';
    sp_stream_bytes(to->stream, text, sizeof text);
    memset(to->held, 0, sizeof to->held);
    to->count = 0;
}

static base64 begin_array(sp_stream *stream, const char *key)
{
    sp_stream_print(stream, "\"%s\":\"", key);
    return (base64){.stream = stream};
}

static void end_array(base64 *to)
{
    if (to->count > 0)
        put_triple(to);
    sp_stream_bytes(to->stream, "\"", 1);
}

/* The lowest `bytes` bytes of a number, the least first. */
static void put_bits(base64 *to, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        to->held[to->count++] = (unsigned char)(bits >> 8 * i);
        if (to->count == 3)
            put_triple(to);
    }
}

static void put_double(base64 *to, double value)
{
    uint64_t bits;
    sp_stream_finite(to->stream, value);
    memcpy(&bits, &value, sizeof bits);
    put_bits(to, bits, 8);
}

static void put_float(base64 *to, double value)
{
    const float single = (float)value;
    uint32_t bits;
    sp_stream_finite(to->stream, (double)single);
    memcpy(&bits, &single, sizeof bits);
    put_bits(to, bits, 4);
}

static void write_doubles(sp_stream *stream, const char *key, int64_t count, const double *values)
{
    base64 array = begin_array(stream, key);
    for (int64_t i = 0; i < count; i++)
        put_double(&array, values[i]);
    end_array(&array);
}

static void write_floats(sp_stream *stream, const char *key, int64_t count, const double *values)
{
    base64 array = begin_array(stream, key);
    for (int64_t i = 0; i < count; i++)
        put_float(&array, values[i]);
    end_array(&array);
}

static void write_integers(sp_stream *stream, const char *key, int64_t count, const int64_t *values)
{
    base64 array = begin_array(stream, key);
    for (int64_t i = 0; i < count; i++)
        put_bits(&array, (uint64_t)values[i], 4);
    end_array(&array);
}

static void write_table(sp_stream *stream, const sp_c_source_table *table)
{
    if (table->values) {
        write_doubles(stream, table->name, table->count, table->values);
        return;
    }
    base64 array = begin_array(stream, table->name);
    for (int64_t i = 0; i < table->count; i++)
        put_bits(&array, (uint32_t)table->numbers[i], 4);
    end_array(&array);
}

/* ---- meshes ---- */

static void find_center(const sp_animated_mesh *mesh, double center[3])
{
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            low = fmin(low, mesh->rest[3 * v + c]);
            high = fmax(high, mesh->rest[3 * v + c]);
        }
        center[c] = mesh->vertex_count ? low / 2 + high / 2 : 0;
    }
}

/* A target as numbers of 40 bits: unit · n / 256, where n / 256 = high + low / 256 and |high| < 2³¹. The error is 2⁻⁴⁰
 * of its largest component, so that forces on the body are exact to about 1e-12. */
static int64_t fixed_point(double value, double unit)
{
    return unit > 0 ? llrint(value / unit * 256) : 0;
}

static double unit_of(const sp_animated_mesh *mesh, int64_t target)
{
    double largest = 0;
    for (int64_t k = 0; k < 3 * mesh->skin_count; k++)
        largest = fmax(largest, fabs(mesh->targets[3 * target * mesh->vertex_count + k]));
    return largest / 2147483520;
}

/* high: 4 bytes of each number; else the lowest byte. */
static void write_bits(sp_stream *stream, const char *key, const sp_animated_mesh *mesh, bool high)
{
    base64 array = begin_array(stream, key);
    for (int64_t i = 0; i < mesh->target_count; i++) {
        const double *target = mesh->targets + 3 * i * mesh->vertex_count, unit = unit_of(mesh, i);
        for (int64_t k = 0; k < 3 * mesh->skin_count; k++) {
            const double value = sp_stream_finite(stream, target[k]);
            const uint64_t bits = (uint64_t)fixed_point(isfinite(value) ? value : 0, unit);
            put_bits(&array, high ? bits >> 8 : bits, high ? 4 : 1);
        }
    }
    end_array(&array);
}

/* `exact`: with the lowest bytes. */
static void write_mesh(sp_stream *stream, const sp_animated_mesh *mesh, bool exact)
{
    double center[3];

    find_center(mesh, center);
    sp_stream_print(stream, "{\"skin_count\":%lld,", (long long)mesh->skin_count);
    write_text(stream, "name", mesh->name ? mesh->name : "");
    sp_stream_bytes(stream, ",", 1);
    write_numbers(stream, "center", 3, center);
    sp_stream_bytes(stream, ",", 1);

    /* Relative to the centre, positions keep more digits in single precision. */
    base64 rest = begin_array(stream, "rest");
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++)
        put_float(&rest, mesh->rest[k] - center[k % 3]);
    end_array(&rest);
    sp_stream_bytes(stream, ",", 1);

    write_floats(stream, "normals", 3 * mesh->vertex_count, mesh->normals);
    sp_stream_bytes(stream, ",", 1);
    write_integers(stream, "triangles", 3 * mesh->triangle_count, mesh->triangles);
    if (mesh->vertex_count > mesh->skin_count) {
        sp_stream_bytes(stream, ",", 1);
        write_integers(stream, "origin", mesh->vertex_count, mesh->origin);
    }

    sp_stream_print(stream, ",\"targets\":{\"scales\":[");
    for (int64_t i = 0; i < mesh->target_count; i++) {
        if (i > 0)
            sp_stream_bytes(stream, ",", 1);
        sp_stream_number(stream, unit_of(mesh, i));
    }

    sp_stream_print(stream, "],");
    write_bits(stream, "high", mesh, true);
    if (exact) {
        sp_stream_bytes(stream, ",", 1);
        write_bits(stream, "low", mesh, false);
    }

    sp_stream_print(stream, "}}");
}

/* ---- motions ---- */

/* `first` is the number of the first mesh of the animation among all. */
static void write_body(sp_stream *stream, const sp_animation *animation, const sp_animated_body *body, int64_t first)
{
    const int64_t r = animation->meshes[body->mesh].target_count;
    sp_stream_print(stream, "{\"mesh\":%lld,", (long long)(first + body->mesh));
    write_text(stream, "name", body->name ? body->name : "");
    if (body->weights) {
        sp_stream_bytes(stream, ",", 1);
        write_doubles(stream, "weights", animation->frame_count * r, body->weights);
    }
    if (body->poses) {
        sp_stream_bytes(stream, ",", 1);
        write_doubles(stream, "poses", 7 * animation->frame_count, body->poses);
    }
    sp_stream_bytes(stream, "}", 1);
}

static void write_motion(sp_stream *stream, const sp_page_motion *motion, int64_t first)
{
    const sp_animation *animation = motion->animation;
    const int64_t frames = animation->frame_count;

    sp_stream_bytes(stream, "{", 1);
    write_text(stream, "title", animation->title);
    sp_stream_bytes(stream, ",", 1);
    write_doubles(stream, "times", frames, animation->times);

    sp_stream_print(stream, ",\"bodies\":[");
    for (int64_t b = 0; b < animation->body_count; b++) {
        if (b > 0)
            sp_stream_bytes(stream, ",", 1);
        write_body(stream, animation, &animation->bodies[b], first);
    }

    sp_stream_print(stream, "],\"probes\":[");
    for (int64_t i = 0; i < motion->curve_count; i++) {
        sp_stream_print(stream, i > 0 ? ",{" : "{");
        write_text(stream, "name", motion->curves[i].name);
        sp_stream_bytes(stream, ",", 1);
        write_doubles(stream, "displacements", 3 * frames, motion->curves[i].displacements);
        sp_stream_bytes(stream, "}", 1);
    }
    sp_stream_bytes(stream, "]", 1);

    if (motion->contact_first) {
        const int64_t count = motion->contact_first[frames];
        sp_stream_print(stream, ",\"contacts\":{");
        write_integers(stream, "first", frames + 1, motion->contact_first);
        sp_stream_bytes(stream, ",", 1);
        write_doubles(stream, "points", 3 * count, motion->contact_places);
        sp_stream_bytes(stream, ",", 1);
        write_floats(stream, "forces", 3 * count, motion->contact_forces);
        sp_stream_bytes(stream, "}", 1);
    }

    sp_stream_bytes(stream, "}", 1);
}

/* ---- the model ---- */

static void write_model(sp_stream *stream, const sp_page_model *model)
{
    const sp_c_source_tables *tables = model->tables;

    sp_stream_print(stream, "{\"r\":%lld,\"polynomial\":%s,\"point\":\"%s\",", (long long)tables->r,
                    tables->cubic ? "true" : "false", model->vertices ? "vertex" : "surface");
    write_numbers(stream, "damping", 2, model->damping);

    sp_stream_print(stream, ",\"regions\":[");
    for (int64_t i = 0; i < model->region_count; i++) {
        sp_stream_print(stream, i > 0 ? ",{" : "{");
        write_text(stream, "name", model->regions[i].name);
        if (model->regions[i].young > 0) {
            sp_stream_print(stream, ",\"young\":");
            sp_stream_number(stream, model->regions[i].young);
        }
        sp_stream_bytes(stream, "}", 1);
    }
    sp_stream_bytes(stream, "]", 1);

    for (int i = 0; i < tables->count; i++) {
        sp_stream_bytes(stream, ",", 1);
        write_table(stream, &tables->table[i]);
    }

    if (model->vertices) {
        sp_stream_bytes(stream, ",", 1);
        write_integers(stream, "vertices", model->mesh->skin_count, model->vertices);
    }

    sp_stream_print(stream, ",\"files\":{");
    write_text(stream, "mesh", model->mesh_file);
    sp_stream_bytes(stream, ",", 1);
    write_text(stream, "basis", model->basis_file);
    sp_stream_bytes(stream, ",", 1);
    write_text(stream, tables->element_count ? "cubature" : "polynomials", model->force_file);

    sp_stream_print(stream, "},\"probes\":[");
    for (int64_t i = 0; i < model->point_count; i++) {
        sp_stream_print(stream, "%s{\"vertex\":%lld,", i > 0 ? "," : "", (long long)model->points[i].vertex);
        write_text(stream, "name", model->points[i].name);
        sp_stream_bytes(stream, "}", 1);
    }
    sp_stream_print(stream, "]}");
}

/* ---- the page ---- */

static void write_data(sp_stream *stream, const sp_page *page)
{
    bool some = false;

    sp_stream_print(stream, "{\"version\":\"%s\",\"up\":%d,", SUPPLE_VERSION, page->up);
    write_text(stream, "title", page->title);

    sp_stream_print(stream, ",\"meshes\":[");
    if (page->model) {
        write_mesh(stream, page->model->mesh, true);
        some = true;
    }
    for (int64_t i = 0; i < page->motion_count; i++)
        for (int64_t m = 0; m < page->motions[i].animation->mesh_count; m++) {
            if (some)
                sp_stream_bytes(stream, ",", 1);
            write_mesh(stream, &page->motions[i].animation->meshes[m], false);
            some = true;
        }

    sp_stream_print(stream, "],\"motions\":[");
    for (int64_t i = 0, first = page->model ? 1 : 0; i < page->motion_count; i++) {
        if (i > 0)
            sp_stream_bytes(stream, ",", 1);
        write_motion(stream, &page->motions[i], first);
        first += page->motions[i].animation->mesh_count;
    }

    sp_stream_print(stream, "],\"model\":");
    if (page->model)
        write_model(stream, page->model);
    else
        sp_stream_print(stream, "null");

    sp_stream_print(stream, "}");
}

static int check_mesh(sp_context *context, const sp_animated_mesh *mesh)
{
    if (mesh->target_count > SP_PAGE_MOST)
        return sp_fail(context, SP_INPUT, "%lld coordinates: a page shows bodies of at most %d",
                       (long long)mesh->target_count, SP_PAGE_MOST);
    if (mesh->vertex_count > INT32_MAX || mesh->triangle_count > INT32_MAX / 3)
        return sp_fail(context, SP_INPUT, "%lld vertices and %lld triangles are too many for a page",
                       (long long)mesh->vertex_count, (long long)mesh->triangle_count);
    return SP_OK;
}

int sp_page_write(sp_context *context, int descriptor, const sp_page *page)
{
    sp_stream stream;
    const char *data = strstr(page_text, mark);
    if (!data)
        return sp_fail(context, SP_USAGE, "this build of Supple has no web page");

    if (page->model)
        SP_PASS(check_mesh(context, page->model->mesh));
    for (int64_t i = 0; i < page->motion_count; i++)
        for (int64_t m = 0; m < page->motions[i].animation->mesh_count; m++)
            SP_PASS(check_mesh(context, &page->motions[i].animation->meshes[m]));

    sp_stream_begin(&stream, descriptor);
    sp_stream_bytes(&stream, page_text, (size_t)(data - page_text));
    write_data(&stream, page);
    sp_stream_bytes(&stream, data + strlen(mark), strlen(data + strlen(mark)));
    return sp_stream_end(context, &stream);
}
