#include "volume_internal.h"

static int compare_integers(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

int sp_volume_parse_bou(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, int64_t *fixed_count, int64_t **fixed)
{
    struct volume_text text;
    struct volume_token rest = {bytes, bytes + count};
    char shown[VOLUME_SHOWN];
    sp_list list = {0};
    int status;
    SP_TRY(volume_text_start(&text, context, bytes, count, NULL));
    for (;;) {
        struct volume_token word;
        while (rest.start < rest.end && (volume_blank(*rest.start) || *rest.start == ',' || *rest.start == ';'))
            rest.start++;
        word.start = rest.start;
        while (rest.start < rest.end && !volume_blank(*rest.start) && *rest.start != ',' && *rest.start != ';')
            rest.start++;
        word.end = rest.start;
        if (word.start == word.end)
            break;
        int64_t *number = sp_list_add(&list, 1, sizeof *number);
        if (!number) {
            status = sp_fail_memory(context);
            goto done;
        }
        if (!volume_integer(word, number) || *number < 1) {
            status = volume_fail(&text, word.start - bytes, "'%s' is no number of a vertex, counted from 1", volume_show(word, shown));
            goto done;
        }
        --*number;
    }
    int64_t *sorted = list.data, distinct = 0;
    if (list.count)
        qsort(sorted, (size_t)list.count, sizeof *sorted, compare_integers);
    for (int64_t i = 0; i < list.count; i++)
        if (distinct == 0 || sorted[distinct - 1] != sorted[i])
            sorted[distinct++] = sorted[i];
    int64_t *kept = sp_pool_copy(pool, sorted, distinct, sizeof *sorted);
    if (!kept) {
        status = sp_fail_memory(context);
        goto done;
    }
    *fixed = kept;
    *fixed_count = distinct;
done:
    volume_text_free(&text);
    sp_list_free(&list);
    return status;
}

/* The elements around each vertex v: element[first[v]] to element[first[v + 1] − 1]. */
struct around {
    int64_t *first, *element;
};

static int find_around(sp_context *context, sp_pool *scratch, const sp_mesh *mesh, struct around *around)
{
    int64_t elements = sp_mesh_element_count(mesh);
    int corners;
    around->first = sp_pool_new(scratch, mesh->vertex_count + 1, sizeof *around->first);
    around->element = sp_pool_raw(scratch, 8 * mesh->hex_count + 4 * mesh->tet_count, sizeof *around->element);
    if (scratch->failed)
        return sp_fail_memory(context);
    for (int64_t e = 0; e < elements; e++) {
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        for (int a = 0; a < corners; a++)
            around->first[corner[a]]++;
    }
    /* Ends first; filling from the last element on leaves the beginnings and increasing elements. */
    for (int64_t v = 0, sum = 0; v <= mesh->vertex_count; v++) {
        sum += v < mesh->vertex_count ? around->first[v] : 0;
        around->first[v] = sum;
    }
    for (int64_t e = elements - 1; e >= 0; e--) {
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        for (int a = 0; a < corners; a++)
            around->element[--around->first[corner[a]]] = e;
    }
    return SP_OK;
}

/* The lowest element whose corners are the n given vertices in any order, −1 for none; weights are put in its order. */
static int64_t find_element(const sp_mesh *mesh, const struct around *around, int n, const int64_t *vertex, const double *given,
                            double *weights)
{
    for (int64_t i = around->first[vertex[0]]; i < around->first[vertex[0] + 1]; i++) {
        int corners, matched = 0;
        const int64_t *corner = sp_mesh_corners(mesh, around->element[i], &corners);
        for (int a = 0; corners == n && a < n; a++)
            for (int b = 0; b < n; b++)
                if (corner[a] == vertex[b]) {
                    weights[a] = given[b];
                    matched++;
                    break;
                }
        if (matched == n)
            return around->element[i];
    }
    return -1;
}

/* One line: number of the surface vertex, then pairs vertex, weight. */
static int parse_line(struct volume_text *text, const sp_mesh *mesh, const struct around *around, sp_embedded_surface *surface, bool *seen)
{
    struct volume_token rest = text->line, word;
    char shown[VOLUME_SHOWN];
    int64_t number, vertex[8];
    double given[8], sum = 0;
    int n = 0;
    volume_word(&rest, &word);
    if (!volume_integer(word, &number) || number < 0 || number >= surface->vertex_count)
        return volume_fail(text, text->where, "'%s' is no number of one of the %lld surface vertices, counted from 0",
                           volume_show(word, shown), (long long)surface->vertex_count);
    if (seen[number])
        return volume_fail(text, text->where, "surface vertex %lld stands twice", (long long)number);
    seen[number] = true;
    for (; volume_word(&rest, &word); n++) {
        if (n == 8)
            return volume_fail(text, text->where, "surface vertex %lld has more than 8 weights", (long long)number);
        if (!volume_integer(word, &vertex[n]) || vertex[n] < 0 || vertex[n] >= mesh->vertex_count)
            return volume_fail(text, text->where, "'%s' is no number of one of the %lld vertices of the mesh, counted from 0",
                               volume_show(word, shown), (long long)mesh->vertex_count);
        for (int b = 0; b < n; b++)
            if (vertex[b] == vertex[n])
                return volume_fail(text, text->where, "vertex %lld stands twice", (long long)vertex[n]);
        if (!volume_word(&rest, &word))
            return volume_fail(text, text->where, "the last weight is missing");
        if (!volume_real(word, &given[n]))
            return volume_fail(text, text->where, "'%s' is no finite weight", volume_show(word, shown));
        sum += given[n];
    }
    if (n != 4 && n != 8)
        return volume_fail(text, text->where, "surface vertex %lld has %d weights, neither 4 nor 8", (long long)number, n);
    if (!(fabs(sum - 1) <= 1e-4))
        return volume_fail(text, text->where, "the weights of surface vertex %lld sum to %.9g", (long long)number, sum);
    /* The file prints few digits: the sum is made 1, which keeps the weights those of an affine combination. */
    for (int b = 0; b < n; b++)
        given[b] /= sum;
    int64_t element = find_element(mesh, around, n, vertex, given, surface->weights + number * surface->width);
    if (element < 0)
        return volume_fail(text, text->where, "no element has the %d corners of surface vertex %lld", n, (long long)number);
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
                           const double *surface_vertices, int64_t triangle_count, const int64_t *triangles, sp_mesh *mesh)
{
    struct volume_text text = {0};
    struct around around;
    sp_pool scratch = {0};
    bool failed = mesh->pool.failed;
    sp_embedded_surface surface = {
        .vertex_count = surface_vertex_count, .triangle_count = triangle_count, .width = mesh->hex_count ? 8 : 4};
    int64_t lines = 0;
    int status;
    SP_TRY(check_surface(context, surface_vertex_count, surface_vertices, triangle_count, triangles));
    SP_TRY(volume_text_start(&text, context, bytes, count, NULL));
    SP_TRY(find_around(context, &scratch, mesh, &around));
    bool *seen = sp_pool_new(&scratch, surface_vertex_count, sizeof *seen);
    surface.vertices = sp_pool_copy(&mesh->pool, surface_vertices, surface_vertex_count, 3 * sizeof *surface_vertices);
    surface.triangles = sp_pool_copy(&mesh->pool, triangles, triangle_count, 3 * sizeof *triangles);
    surface.element = sp_pool_new(&mesh->pool, surface_vertex_count, sizeof *surface.element);
    surface.weights = sp_pool_new(&mesh->pool, surface_vertex_count, (size_t)surface.width * sizeof *surface.weights);
    if (scratch.failed || mesh->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (; volume_line(&text, "#"); lines++)
        SP_TRY(parse_line(&text, mesh, &around, &surface, seen));
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
    volume_text_free(&text);
    sp_pool_free(&scratch);
    return status;
}
