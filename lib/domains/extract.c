/* Domains as meshes of their own (domains.h). */
#include "domains/domains.h"

#include "mesh/cut.h"
#include "mesh/mesh_sets.h"
#include "pointshell/transfer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Coordinates and weights of `local` are multiples of a power of two near this part of their largest value. */
static const double GRAIN = 0x1p-41;

static void round_values(int64_t count, double largest, double *value)
{
    if (!(largest > 0))
        return;
    const double unit = ldexp(GRAIN, ilogb(largest));
    for (int64_t i = 0; i < count; i++)
        value[i] = nearbyint(value[i] / unit) * unit + 0.0; /* no negative zero */
}

/* Moves the mesh to the lowest corner of its box, and rounds. */
static void move_home(sp_mesh *part, double origin[3])
{
    double high[3], longest = 0;
    sp_embedded_surface *surface = &part->surface;

    sp_mesh_box(part, origin, high);
    for (int c = 0; c < 3; c++)
        longest = fmax(longest, high[c] - origin[c]);

    for (int64_t i = 0; i < 3 * part->vertex_count; i++)
        part->vertices[i] -= origin[i % 3];
    for (int64_t i = 0; i < 3 * surface->vertex_count; i++)
        surface->vertices[i] -= origin[i % 3];

    /* Copies of one part at different places round to the same values. */
    round_values(3 * part->vertex_count, longest, part->vertices);
    round_values(3 * surface->vertex_count, longest, surface->vertices);
    round_values(surface->width * surface->vertex_count, 1, surface->weights);
}

static int64_t neighbour_at(const sp_domains *domains, int64_t i, int64_t domain)
{
    const int64_t *pair = domains->pair + 2 * i;
    return pair[0] == domain ? pair[1] : pair[1] == domain ? pair[0] : -1;
}

/* The number of interfaces of the domain that come before this one, in the order of their lowest vertices. */
static int64_t rank_of(const sp_domains *domains, int64_t domain, int64_t interface)
{
    int64_t rank = 0;
    const int64_t lowest = domains->vertices[domains->start[interface]];

    for (int64_t i = 0; i < domains->interface_count; i++) {
        const int64_t other = domains->vertices[domains->start[i]];
        if (neighbour_at(domains, i, domain) >= 0)
            rank += other < lowest || (other == lowest && i < interface);
    }
    return rank;
}

/* Adds the interfaces of the domain to its mesh; number [vertices of the whole mesh]: those of the part, −1 for others.
 */
static int add_interfaces(sp_context *context, const sp_domains *domains, const sp_domain_choice *choice,
                          const int64_t *number, sp_mesh *part)
{
    sp_pool scratch = {0};
    int status = SP_OK;
    for (int64_t i = 0; i < domains->interface_count; i++) {
        const int64_t neighbour = neighbour_at(domains, i, choice->domain),
                      count = domains->start[i + 1] - domains->start[i];
        char name[SP_NAME_LENGTH];

        if (neighbour < 0)
            continue;

        int64_t *vertices = sp_pool_raw(&scratch, count, sizeof *vertices);
        SP_TRY(sp_allocated(context, vertices));

        for (int64_t k = 0; k < count; k++) {
            const int64_t vertex = domains->vertices[domains->start[i] + k];
            vertices[k] = number[vertex];
            if (number[vertex] < 0) {
                status = sp_fail(context, SP_INPUT,
                                 "the interface of domains %lld and %lld has vertex %lld, which domain "
                                 "%lld does not have",
                                 (long long)domains->pair[2 * i], (long long)domains->pair[2 * i + 1],
                                 (long long)vertex, (long long)choice->domain);
                goto done;
            }
        }

        /* The name tells the neighbour, or a rank that is the same in domains of the same content. */
        const bool to_parent = domains->parents > 0 && neighbour == domains->parent[choice->domain];
        if (to_parent && choice->name_parent)
            strcpy(name, "interface-parent");
        else
            snprintf(name, sizeof name, "interface-%lld",
                     (long long)(choice->local ? rank_of(domains, choice->domain, i) + 1 : neighbour));

        if (sp_mesh_find_any_set(part, name)) {
            status = sp_fail(context, SP_INPUT, "the mesh has a set \"%s\" already, the name of an interface", name);
            goto done;
        }

        SP_TRY(sp_mesh_add_to_set(context, part, name, SP_SET_VERTICES, count, vertices));
        if (choice->fix_parent && to_parent)
            SP_TRY(sp_mesh_fix_list(context, part, count, vertices, 7));
    }
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_domain_extract(sp_context *context, const sp_mesh *mesh, const sp_domains *domains,
                      const sp_domain_choice *choice, sp_pool *pool, sp_mesh *part, int64_t **origin)
{
    sp_pool scratch = {0};
    bool *keep = sp_pool_raw(&scratch, domains->elements, sizeof *keep);
    int64_t *number = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *number);
    double home[3];
    int status = SP_OK;
    *part = (sp_mesh){0};

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t e = 0; e < domains->elements; e++)
        keep[e] = domains->domain[e] == choice->domain;
    SP_TRY(sp_mesh_keep(context, mesh, keep, pool, part, origin));

    /* Interfaces name vertices of the whole mesh. */
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        number[v] = -1;
    for (int64_t v = 0; v < part->vertex_count; v++)
        number[(*origin)[v]] = v;

    SP_TRY(add_interfaces(context, domains, choice, number, part));
    if (choice->local)
        move_home(part, home);
done:
    if (status != SP_OK)
        sp_mesh_free(part);
    sp_pool_free(&scratch);
    return status;
}

/* ---- triangles with corners in several domains ---- */

static bool spans(const sp_embedded_surface *surface, const sp_domains *domains, int64_t triangle)
{
    const int64_t *corner = surface->triangles + 3 * triangle, *of = domains->domain;
    const int64_t first = of[surface->element[corner[0]]];
    return of[surface->element[corner[1]]] != first || of[surface->element[corner[2]]] != first;
}

int sp_domains_owners(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t *owner,
                      int64_t *spanning)
{
    const sp_embedded_surface *surface = &mesh->surface;
    sp_transfer transfer;

    *spanning = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        owner[t] = domains->domain[surface->element[surface->triangles[3 * t]]];
        *spanning += spans(surface, domains, t);
    }
    if (*spanning == 0)
        return SP_OK;

    const int status = sp_transfer_new(context, mesh, &transfer);
    for (int64_t t = 0; t < surface->triangle_count && status == SP_OK; t++) {
        const int64_t *corner = surface->triangles + 3 * t;
        double centroid[3] = {0};
        sp_transferred found;
        if (!spans(surface, domains, t))
            continue;
        for (int i = 0; i < 9; i++)
            centroid[i % 3] += surface->vertices[3 * corner[i / 3] + i % 3] / 3;
        sp_transfer_find(&transfer, centroid, &found);
        owner[t] = domains->domain[found.element];
    }
    if (status == SP_OK)
        sp_transfer_free(&transfer);
    return status;
}

/* Numbers the vertices of the surface in the mesh of the domain: those that it has, in their order, then the other
 * corners of the triangles that it gets; −1 for all others. Returns the number of all. */
static int64_t number_corners(const sp_embedded_surface *surface, const sp_domains *domains, int64_t domain,
                              const int64_t *owner, int64_t *number, int64_t *triangles)
{
    int64_t count = 0;
    for (int64_t v = 0; v < surface->vertex_count; v++)
        number[v] = domains->domain[surface->element[v]] == domain ? count++ : -1;

    *triangles = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        if (owner[t] != domain || !spans(surface, domains, t))
            continue;
        ++*triangles;
        for (int i = 0; i < 3; i++) {
            int64_t *corner = &number[surface->triangles[3 * t + i]];
            *corner = *corner < 0 ? count++ : *corner;
        }
    }
    return count;
}

/* Embeds a vertex of the whole surface in the nearest element of the part; returns its distance. */
static double embed(const sp_transfer *transfer, const double x[3], int64_t at, sp_embedded_surface *to)
{
    sp_transferred found;
    sp_transfer_find(transfer, x, &found);

    memcpy(to->vertices + 3 * at, x, 3 * sizeof *x);
    memset(to->weights + to->width * at, 0, (size_t)to->width * sizeof *to->weights);
    memcpy(to->weights + to->width * at, found.weight, (size_t)found.corners * sizeof *to->weights);
    to->element[at] = found.element;
    return found.gap;
}

int sp_domain_add_spanning(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t domain,
                           const int64_t *owner, sp_mesh *part, double *gap)
{
    const sp_embedded_surface *from = &mesh->surface, old = part->surface;
    sp_embedded_surface *to = &part->surface;
    sp_pool scratch = {0};
    sp_transfer transfer;
    int64_t *number = sp_pool_raw(&scratch, from->vertex_count, sizeof *number), added;
    int status = SP_OK;

    *gap = 0;
    SP_TRY(sp_allocated(context, !scratch.failed));
    const int64_t count = number_corners(from, domains, domain, owner, number, &added);
    if (added == 0)
        goto done;

    /* Room for what there is and what comes */
    to->vertices = sp_pool_raw(&part->pool, count, 3 * sizeof *to->vertices);
    to->weights = sp_pool_raw(&part->pool, count, (size_t)to->width * sizeof *to->weights);
    to->element = sp_pool_raw(&part->pool, count, sizeof *to->element);
    to->triangles = sp_pool_raw(&part->pool, old.triangle_count + added, 3 * sizeof *to->triangles);
    SP_TRY(sp_allocated(context, !part->pool.failed));
    memcpy(to->vertices, old.vertices, 3 * (size_t)old.vertex_count * sizeof *to->vertices);
    memcpy(to->weights, old.weights, (size_t)(old.width * old.vertex_count) * sizeof *to->weights);
    memcpy(to->element, old.element, (size_t)old.vertex_count * sizeof *to->element);
    memcpy(to->triangles, old.triangles, 3 * (size_t)old.triangle_count * sizeof *to->triangles);

    SP_TRY(sp_transfer_new(context, part, &transfer));
    for (int64_t v = 0; v < from->vertex_count; v++)
        if (number[v] >= old.vertex_count)
            *gap = fmax(*gap, embed(&transfer, from->vertices + 3 * v, number[v], to));
    sp_transfer_free(&transfer);

    for (int64_t t = 0; t < from->triangle_count; t++) {
        if (owner[t] != domain || !spans(from, domains, t))
            continue;
        for (int i = 0; i < 3; i++)
            to->triangles[3 * to->triangle_count + i] = number[from->triangles[3 * t + i]];
        to->triangle_count++;
    }
    to->vertex_count = count;
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- domains with the same content ---- */

static bool equal(const void *a, const void *b, int64_t count, size_t size)
{
    return (a == NULL) == (b == NULL) && (!a || memcmp(a, b, (size_t)count * size) == 0);
}

static bool equal_surfaces(const sp_embedded_surface *a, const sp_embedded_surface *b)
{
    return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count && a->width == b->width &&
           equal(a->vertices, b->vertices, 3 * a->vertex_count, sizeof *a->vertices) &&
           equal(a->triangles, b->triangles, 3 * a->triangle_count, sizeof *a->triangles) &&
           equal(a->element, b->element, a->vertex_count, sizeof *a->element) &&
           equal(a->weights, b->weights, a->width * a->vertex_count, sizeof *a->weights);
}

static bool equal_sets(const sp_mesh *a, const sp_mesh *b)
{
    bool same = a->set_count == b->set_count;
    for (int64_t i = 0; i < a->set_count && same; i++) {
        const sp_mesh_set *x = &a->sets[i], *y = &b->sets[i];
        same = strcmp(x->name, y->name) == 0 && x->kind == y->kind && x->count == y->count &&
               equal(x->index, y->index, sp_set_width(x->kind) * x->count, sizeof *x->index);
    }
    return same;
}

/* Of two parts of one mesh, which have the same materials. */
static bool equal_meshes(const sp_mesh *a, const sp_mesh *b)
{
    const int64_t elements = sp_mesh_element_count(a);
    bool same = a->vertex_count == b->vertex_count && a->fixed_count == b->fixed_count;
    for (int t = 0; t < SP_ELEMENT_TYPES && same; t++)
        same =
            a->block[t].count == b->block[t].count &&
            equal(a->block[t].node, b->block[t].node, a->block[t].count * sp_element_types[t].nodes, sizeof(int64_t));
    return same && equal(a->vertices, b->vertices, 3 * a->vertex_count, sizeof *a->vertices) &&
           equal(a->region, b->region, elements, sizeof *a->region) &&
           equal(a->factor, b->factor, 2 * elements, sizeof *a->factor) &&
           equal(a->fibre, b->fibre, 3 * elements, sizeof *a->fibre) &&
           equal(a->fixed, b->fixed, a->fixed_count, sizeof *a->fixed) &&
           equal(a->fixed_axes, b->fixed_axes, a->fixed_count, sizeof *a->fixed_axes) &&
           equal_surfaces(&a->surface, &b->surface) && equal_sets(a, b);
}

/* What a domain is compared by before its mesh is made. */
typedef struct outline {
    int64_t elements, interfaces, entries, parent_rank;
} outline;

static void outline_domains(const sp_domains *domains, outline *of)
{
    memset(of, 0, (size_t)domains->count * sizeof *of);
    for (int64_t e = 0; e < domains->elements; e++)
        of[domains->domain[e]].elements++;

    /* An interface belongs to the outlines of both of its domains. */
    for (int64_t i = 0; i < domains->interface_count; i++)
        for (int k = 0; k < 2; k++) {
            outline *o = &of[domains->pair[2 * i + k]];
            o->interfaces++;
            o->entries += domains->start[i + 1] - domains->start[i];
        }

    for (int64_t d = 0; d < domains->count; d++)
        of[d].parent_rank = domains->parents == 0 || domains->parent[d] < 0
                                ? -1
                                : rank_of(domains, d, sp_domains_interface(domains, d, domains->parent[d]));
}

static bool alike(const outline *a, const outline *b)
{
    return a->elements == b->elements && a->interfaces == b->interfaces && a->entries == b->entries &&
           a->parent_rank == b->parent_rank;
}

static void find_origins(const sp_mesh *mesh, sp_domains *domains)
{
    for (int64_t i = 0; i < 3 * domains->count; i++)
        domains->origin[i] = INFINITY;

    /* The lowest corner of the box of the nodes. */
    for (int64_t e = 0; e < domains->elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        double *origin = domains->origin + 3 * domains->domain[e];
        for (int a = 0; a < nodes; a++)
            for (int c = 0; c < 3; c++)
                origin[c] = fmin(origin[c], mesh->vertices[3 * node[a] + c]);
    }
}

int sp_domains_compare(sp_context *context, const sp_mesh *mesh, sp_domains *domains)
{
    const int64_t count = domains->count;
    sp_pool scratch = {0};
    outline *of = sp_pool_raw(&scratch, count, sizeof *of);
    sp_mesh *made = sp_pool_new(&scratch, count, sizeof *made);
    int status = SP_OK;
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    find_origins(mesh, domains);
    outline_domains(domains, of);
    for (int64_t d = 0; d < count; d++) {
        sp_domain_choice choice = {.local = true};
        int64_t *origin;

        /* Meshes are made of domains that agree in outline only, and once. */
        for (int64_t other = 0; other < d && domains->same[d] == d; other++) {
            if (domains->same[other] != other || !alike(&of[d], &of[other]))
                continue;

            for (int k = 0; k < 2; k++) {
                choice.domain = k == 0 ? d : other;
                if (made[choice.domain].vertex_count == 0)
                    SP_TRY(sp_domain_extract(context, mesh, domains, &choice, &scratch, &made[choice.domain], &origin));
            }

            if (equal_meshes(&made[d], &made[other]))
                domains->same[d] = other;
        }

        /* A domain without an equal one stands for those that come; the meshes of the others are not needed. */
        if (domains->same[d] != d)
            sp_mesh_free(&made[d]);
    }
done:
    for (int64_t d = 0; d < count; d++)
        sp_mesh_free(&made[d]);
    sp_pool_free(&scratch);
    return status;
}
