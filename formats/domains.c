#include "formats/domains.h"

#include "formats/kind_tables.h"

static int64_t starts(const void *object)
{
    const int64_t count = ((const sp_domains *)object)->interface_count;
    return count < 0 ? -1 : count + 1;
}

/* Begins of interfaces: from 0 on, at least three vertices each. */
static int check_start(sp_context *context, const sp_array *array, void *object)
{
    const sp_domains *domains = object;
    const int64_t *start = array->data;
    for (int64_t i = 0; i < domains->interface_count; i++)
        if (start[i] > INT64_MAX - 3 || start[i + 1] < start[i] + 3)
            return sp_fail(context, SP_INPUT,
                           "interface_start: interface %lld goes from %lld to %lld, of three at least", (long long)i,
                           (long long)start[i], (long long)start[i + 1]);
    if (start[0] != 0)
        return sp_fail(context, SP_INPUT, "interface_start: it begins with %lld, expected 0", (long long)start[0]);
    return SP_OK;
}

static int check_pairs(sp_context *context, const sp_array *array, void *object)
{
    const sp_domains *domains = object;
    const int64_t *pair = array->data;
    for (int64_t i = 0; i < domains->interface_count; i++, pair += 2) {
        if (pair[0] >= pair[1])
            return sp_fail(context, SP_INPUT, "pair: interface %lld is of domains %lld and %lld, the lower one first",
                           (long long)i, (long long)pair[0], (long long)pair[1]);
        if (i > 0 && (pair[-2] > pair[0] || (pair[-2] == pair[0] && pair[-1] >= pair[1])))
            return sp_fail(context, SP_INPUT, "pair: interface %lld does not increase", (long long)i);
    }
    return SP_OK;
}

#define AT(member) .at = offsetof(sp_domains, member)
static const sp_member_rule rules[] = {
    {"domain", "ne", SP_I8, AT(domain), BELOW("D"), .meaning = "the domain of each element"},
    {"pair", "ni, 2", SP_I8, OPTIONAL, AT(pair), BELOW("D"), .check = check_pairs,
     .meaning = "the two domains of each interface, the lower one first"},
    {"interface_start", "ni + 1", SP_I8, WITH("pair"), AT(start), FROM(0), .check = check_start,
     .meaning = "where the vertices of each interface begin in `interface_vertices`"},
    {"interface_vertices", "nx", SP_I8, WITH("pair"), AT(vertices), FROM(0),
     .meaning = "the vertices of the interfaces, one after the other"},
    {"parent", "np", SP_I8, OPTIONAL, AT(parent), FROM(-1), .meaning = "the parent of each domain, −1 for the root"},
    {"same", "D", SP_I8, AT(same), BELOW("D"), .meaning = "the lowest domain with the same content"},
    {"origin", "D, 3", SP_F8, AT(origin), .unit = "m", .meaning = "the lowest corner of the box of each domain"},
    {0}};
#undef AT

static const sp_fact domains_meta[] = {
    {"domains", SP_INTEGER, .meaning = "D"}, {"mesh", SP_HASH, .meaning = "of the mesh"}, {0}};

static const sp_fact domains_result[] = {
    {"domains", SP_INTEGER, .meaning = "number of domains"},
    {"distinct", SP_INTEGER, .meaning = "domains with different content"},
    {"interfaces", SP_INTEGER, .meaning = "number of interfaces"},
    {"interface_vertices", SP_INTEGER, .meaning = "vertices of all interfaces together"},
    {"least_elements", SP_INTEGER, .meaning = "elements of the smallest domain"},
    {"most_elements", SP_INTEGER, .meaning = "elements of the largest domain"},
    {"tree", SP_BOOLEAN, .meaning = "whether the graph of the domains is a tree"},
    {0}};

const sp_kind sp_kind_domains = {"domains",
                                 (const sp_symbol[]){{"D", .at = offsetof(sp_domains, count), .given = true},
                                                     {"ne", .at = offsetof(sp_domains, elements)},
                                                     {"ni", .at = offsetof(sp_domains, interface_count)},
                                                     {"ni + 1", .follows = starts},
                                                     {"nx", .at = offsetof(sp_domains, vertex_entries)},
                                                     {"np", .at = offsetof(sp_domains, parents)},
                                                     {0}},
                                 rules, domains_meta, domains_result};

static int check_vertices(sp_context *context, const sp_domains *domains)
{
    if (domains->interface_count > 0 && domains->start[domains->interface_count] != domains->vertex_entries)
        return sp_fail(context, SP_INPUT, "interface_vertices: it has %lld values, the interfaces have %lld",
                       (long long)domains->vertex_entries, (long long)domains->start[domains->interface_count]);
    for (int64_t i = 0; i < domains->interface_count; i++)
        for (int64_t k = domains->start[i] + 1; k < domains->start[i + 1]; k++)
            if (domains->vertices[k] <= domains->vertices[k - 1])
                return sp_fail(context, SP_INPUT, "interface_vertices: entry %lld of interface %lld does not increase",
                               (long long)(k - domains->start[i]), (long long)i);
    return SP_OK;
}

/* One root, an interface to every parent, and no cycle. */
static int check_tree(sp_context *context, const sp_domains *domains)
{
    sp_pool scratch = {0};
    int64_t roots = 0, *mark = sp_pool_new(&scratch, domains->count, sizeof *mark);
    int status = sp_allocated(context, mark);
    bool cycle = false;
    SP_TRY(status);

    if (domains->parents != domains->count || domains->interface_count != domains->count - 1) {
        status = sp_fail(context, SP_INPUT, "parent: it has %lld values for %lld domains with %lld interfaces",
                         (long long)domains->parents, (long long)domains->count, (long long)domains->interface_count);
        goto done;
    }

    for (int64_t d = 0; d < domains->count; d++) {
        const int64_t parent = domains->parent[d];
        roots += parent < 0;
        if (parent >= domains->count || (parent >= 0 && sp_domains_interface(domains, d, parent) < 0)) {
            status = sp_fail(context, SP_INPUT, "parent: domain %lld has no interface to its parent %lld", (long long)d,
                             (long long)parent);
            goto done;
        }
    }

    /* Walk up from each domain and stop at the first marked one. If this walk marked it, it closes a cycle. */
    for (int64_t d = 0; d < domains->count; d++)
        for (int64_t at = d; at >= 0; at = domains->parent[at]) {
            if (mark[at]) {
                cycle |= mark[at] == d + 1;
                break;
            }
            mark[at] = d + 1;
        }

    if (roots != 1 || cycle)
        status = sp_fail(context, SP_INPUT, "parent: the domains are not one tree");
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_domains_read(sp_context *context, sp_file *file, sp_domains *domains, char mesh[SP_HASH_LENGTH])
{
    sp_domains in = {.elements = -1, .interface_count = -1, .vertex_entries = -1, .parents = -1};
    *domains = (sp_domains){0};

    SP_PASS(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_PASS(sp_json_integer(context, file->meta, "domains", 1, INT32_MAX, &in.count));
    SP_PASS(sp_kind_read(context, file, &sp_kind_domains, &in));
    SP_PASS(check_vertices(context, &in));
    if (in.parent)
        SP_PASS(check_tree(context, &in));

    /* `same` points to the lowest domain of a kind, so that following it once is enough. */
    for (int64_t d = 0; d < in.count; d++)
        if (in.same[d] > d || in.same[in.same[d]] != in.same[d])
            return sp_fail(context, SP_INPUT,
                           "same: domain %lld names domain %lld, which is not the lowest of its kind", (long long)d,
                           (long long)in.same[d]);

    *domains = in;
    domains->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_domains_match(sp_context *context, const sp_domains *domains, int64_t elements, int64_t vertices)
{
    if (domains->elements != elements)
        return sp_fail(context, SP_INPUT, "domain: it has %lld values, the mesh has %lld elements",
                       (long long)domains->elements, (long long)elements);

    sp_pool scratch = {0};
    bool *used = sp_pool_new(&scratch, domains->count, sizeof *used);
    int64_t empty = -1;
    SP_PASS(sp_allocated(context, used));
    for (int64_t e = 0; e < elements; e++)
        used[domains->domain[e]] = true;

    for (int64_t d = 0; d < domains->count; d++)
        empty = used[d] ? empty : d;
    sp_pool_free(&scratch);
    if (empty >= 0)
        return sp_fail(context, SP_INPUT, "domain: domain %lld has no element", (long long)empty);

    for (int64_t k = 0; k < domains->vertex_entries; k++)
        if (domains->vertices[k] >= vertices)
            return sp_fail(context, SP_INPUT, "interface_vertices: entry %lld is vertex %lld of %lld", (long long)k,
                           (long long)domains->vertices[k], (long long)vertices);
    return SP_OK;
}

int sp_domains_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_domains *domains)
{
    if (json_object_set_new(meta, "domains", json_integer(domains->count)))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_domains, meta, domains);
}
