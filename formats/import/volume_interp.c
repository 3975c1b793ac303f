#include "formats/import/volume_internal.h"

#include <math.h>

int sp_volume_parse_bou(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, int64_t *fixed_count,
                        int64_t **fixed)
{
    sp_text text;
    sp_word word;
    char shown[SP_TEXT_QUOTE];
    sp_list list = {0};
    int status = SP_OK;

    sp_text_open(&text, bytes, count, "", "", false);
    sp_text_blanks(&text, ",;");
    while (sp_text_line(&text))
        while (sp_text_word(&text, &word)) {
            int64_t *number = sp_list_add(&list, 1, sizeof *number);
            if (!number)
                status = sp_fail_memory(context);
            else if (!sp_word_integer(word, number) || *number < 1)
                status = sp_text_fail(context, &text, "'%s' is no number of a vertex, counted from 1",
                                      sp_word_show(word, shown));
            if (status != SP_OK)
                goto done;
            --*number;
        }

    /* Repeated numbers are one vertex. */
    int64_t distinct = sp_volume_distinct(list.data, list.count);
    int64_t *kept = sp_pool_copy(pool, list.data, distinct, sizeof *kept);
    SP_TRY(sp_allocated(context, kept));

    *fixed = kept;
    *fixed_count = distinct;
done:
    sp_list_free(&list);
    return status;
}

/* The elements around each vertex v are element[first[v]] to element[first[v + 1] − 1]. */
struct around {
    int64_t *first, *element;
};

static int find_around(sp_context *context, sp_pool *scratch, const sp_mesh *mesh, struct around *around)
{
    int64_t elements = sp_mesh_element_count(mesh);
    int nodes;

    around->first = sp_pool_new(scratch, mesh->vertex_count + 1, sizeof *around->first);
    around->element = sp_pool_raw(scratch, sp_mesh_node_count(mesh), sizeof *around->element);
    SP_PASS(sp_allocated(context, !scratch->failed));

    for (int64_t e = 0; e < elements; e++) {
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            around->first[node[a]]++;
    }
    /* `first` has the ends of the lists at first. Filling from the last element on turns them into beginnings and
     * leaves elements increasing. */
    for (int64_t v = 0, sum = 0; v <= mesh->vertex_count; v++) {
        sum += v < mesh->vertex_count ? around->first[v] : 0;
        around->first[v] = sum;
    }

    for (int64_t e = elements - 1; e >= 0; e--) {
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            around->element[--around->first[node[a]]] = e;
    }
    return SP_OK;
}

/* The lowest element whose nodes are the n given vertices in any order, −1 if there is none; weights are permuted to
 * its order. */
static int64_t find_element(const sp_mesh *mesh, const struct around *around, int n, const int64_t *vertex,
                            const double *given, double *weights)
{
    for (int64_t i = around->first[vertex[0]]; i < around->first[vertex[0] + 1]; i++) {
        int nodes, matched = 0;
        const int64_t *node = sp_mesh_nodes(mesh, around->element[i], &nodes);

        if (nodes == n)
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++)
                    if (node[a] == vertex[b]) {
                        weights[a] = given[b];
                        matched++;
                        break;
                    }

        if (matched == n)
            return around->element[i];
    }
    return -1;
}

/* Parses one line: the number of the surface vertex, then pairs vertex, weight. */
static int parse_line(sp_context *context, sp_text *text, const sp_mesh *mesh, const struct around *around,
                      sp_embedded_surface *surface, bool *seen)
{
    sp_word word = {0};
    char shown[SP_TEXT_QUOTE];
    int64_t number, vertex[8];
    double given[8], sum = 0;
    int n = 0;

    sp_text_word(text, &word);
    if (!sp_word_integer(word, &number) || number < 0 || number >= surface->vertex_count)
        return sp_text_fail(context, text, "'%s' is no number of one of the %lld surface vertices, counted from 0",
                            sp_word_show(word, shown), (long long)surface->vertex_count);
    if (seen[number])
        return sp_text_fail(context, text, "surface vertex %lld occurs twice", (long long)number);
    seen[number] = true;

    for (; sp_text_word(text, &word); n++) {
        if (n == 8)
            return sp_text_fail(context, text, "surface vertex %lld has more than 8 weights", (long long)number);
        if (!sp_word_integer(word, &vertex[n]) || vertex[n] < 0 || vertex[n] >= mesh->vertex_count)
            return sp_text_fail(context, text,
                                "'%s' is no number of one of the %lld vertices of the mesh, counted from 0",
                                sp_word_show(word, shown), (long long)mesh->vertex_count);
        for (int b = 0; b < n; b++)
            if (vertex[b] == vertex[n])
                return sp_text_fail(context, text, "vertex %lld occurs twice", (long long)vertex[n]);
        if (!sp_text_more(text))
            return sp_text_fail(context, text, "the last weight is missing");
        SP_PASS(sp_text_need_number(context, text, "weight", &given[n]));
        sum += given[n];
    }

    if (n != 4 && n != 8)
        return sp_text_fail(context, text, "surface vertex %lld has %d weights, neither 4 nor 8", (long long)number, n);
    if (!(fabs(sum - 1) <= 1e-4))
        return sp_text_fail(context, text, "the weights of surface vertex %lld sum to %.9g", (long long)number, sum);
    /* The file has few digits: the sum is scaled to 1, so that the weights remain those of an affine combination. */
    for (int b = 0; b < n; b++)
        given[b] /= sum;

    int64_t element = find_element(mesh, around, n, vertex, given, surface->weights + number * surface->width);
    if (element < 0)
        return sp_text_fail(context, text, "no element has the %d corners of surface vertex %lld", n,
                            (long long)number);
    surface->element[number] = element;
    return SP_OK;
}

static void drop_surface(sp_pool *pool, const sp_embedded_surface *surface)
{
    sp_pool_drop(pool, surface->vertices);
    sp_pool_drop(pool, surface->triangles);
    sp_pool_drop(pool, surface->element);
    sp_pool_drop(pool, surface->weights);
}

static int check_surface(sp_context *context, int64_t vertex_count, const double *vertices, int64_t triangle_count,
                         const int64_t *triangles)
{
    for (int64_t i = 0; i < 3 * vertex_count; i++)
        if (!isfinite(vertices[i]))
            return sp_fail(context, SP_INPUT, "surface vertex %lld is not finite", (long long)(i / 3));
    for (int64_t i = 0; i < 3 * triangle_count; i++)
        if (triangles[i] < 0 || triangles[i] >= vertex_count)
            return sp_fail(context, SP_INPUT, "surface triangle %lld names vertex %lld of %lld", (long long)(i / 3),
                           (long long)triangles[i], (long long)vertex_count);
    return SP_OK;
}

int sp_volume_parse_interp(sp_context *context, const char *bytes, int64_t count, int64_t surface_vertex_count,
                           const double *surface_vertices, int64_t triangle_count, const int64_t *triangles,
                           sp_mesh *mesh)
{
    sp_text text;
    struct around around;
    sp_pool scratch = {0};
    bool failed = mesh->pool.failed;
    sp_embedded_surface surface = {
        .vertex_count = surface_vertex_count, .triangle_count = triangle_count, .width = sp_mesh_width(mesh)};
    int64_t lines = 0;
    int status;

    SP_TRY(sp_mesh_need_linear(context, mesh, "a .interp file"));
    SP_TRY(check_surface(context, surface_vertex_count, surface_vertices, triangle_count, triangles));
    SP_TRY(find_around(context, &scratch, mesh, &around));
    bool *seen = sp_pool_new(&scratch, surface_vertex_count, sizeof *seen);
    surface.vertices = sp_pool_copy(&mesh->pool, surface_vertices, surface_vertex_count, 3 * sizeof *surface_vertices);
    surface.triangles = sp_pool_copy(&mesh->pool, triangles, triangle_count, 3 * sizeof *triangles);
    surface.element = sp_pool_new(&mesh->pool, surface_vertex_count, sizeof *surface.element);
    surface.weights = sp_pool_new(&mesh->pool, surface_vertex_count, (size_t)surface.width * sizeof *surface.weights);
    SP_TRY(sp_allocated(context, !scratch.failed && !mesh->pool.failed));

    sp_text_open(&text, bytes, count, "#", "", false);
    sp_text_blanks(&text, ",");
    for (; sp_text_line(&text); lines++)
        SP_TRY(parse_line(context, &text, mesh, &around, &surface, seen));

    if (lines != surface_vertex_count)
        status = sp_fail(context, SP_INPUT, "the file has weights for %lld of %lld surface vertices", (long long)lines,
                         (long long)surface_vertex_count);
done:
    if (status == SP_OK) {
        drop_surface(&mesh->pool, &mesh->surface);
        mesh->surface = surface;
    } else {
        drop_surface(&mesh->pool, &surface);
        mesh->pool.failed = failed;
    }
    sp_pool_free(&scratch);
    return status;
}
