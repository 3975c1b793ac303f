#include "reduced/edit.h"

#include <string.h>

static int64_t find_part(const sp_polynomials *polynomials, const char *group, enum sp_constant constant)
{
    for (int64_t p = 0; p < polynomials->part_count; p++)
        if (polynomials->parts[p].constant == constant && !strcmp(polynomials->parts[p].group, group))
            return p;
    return -1;
}

/* Returns true if every region has its own parts. A single part named "all" may also be that of a region with this
 * name. */
static bool by_region(const sp_polynomials *polynomials, int64_t count, const sp_material *materials)
{
    for (int64_t m = 0; m < count; m++) {
        bool found = false;
        for (int c = 0; c < SP_CONSTANT_COUNT; c++)
            found |= find_part(polynomials, materials[m].name, (enum sp_constant)c) >= 0;
        if (!found)
            return false;
    }
    return true;
}

int64_t sp_polynomials_part(const sp_polynomials *polynomials, int64_t count, const sp_material *materials,
                            int64_t region, enum sp_constant constant)
{
    if (by_region(polynomials, count, materials))
        return find_part(polynomials, materials[region].name, constant);
    return count == 1 ? find_part(polynomials, "all", constant) : -1;
}

static const sp_polynomial_group *find_group(const sp_polynomials *polynomials, const char *name)
{
    for (int64_t g = 0; g < polynomials->group_count; g++)
        if (!strcmp(polynomials->groups[g].name, name))
            return &polynomials->groups[g];
    return NULL;
}

static bool elastic_change(const sp_material *from, const sp_material *to)
{
    return from->young != to->young || from->poisson != to->poisson;
}

/* Checks all requirements of the edit before anything is changed. */
static int check_parts(sp_context *context, const sp_polynomials *polynomials, int64_t count, const sp_material *from,
                       const sp_material *to)
{
    for (int64_t m = 0; m < count; m++) {
        /* A part of both constants can only be scaled, with E. Another ν changes λ and μ by different factors. */
        bool all = sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_ALL) >= 0;
        bool lambda = sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_LAMBDA) >= 0,
             mu = sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_MU) >= 0;
        bool whole = all && !lambda && !mu, apart = lambda && mu && !all;

        if (elastic_change(&from[m], &to[m]) && !whole && !apart)
            return sp_fail(context, SP_INPUT,
                           "it has no part of region %s alone, whose Young's modulus changes: made with polycoef "
                           "--by-region it has",
                           from[m].name);

        if (from[m].poisson != to[m].poisson && !apart)
            return sp_fail(context, SP_INPUT,
                           "it does not keep lambda and mu of region %s apart, whose Poisson's ratio changes: made "
                           "with polycoef --by-constant it does",
                           from[m].name);

        if (from[m].density != to[m].density && count > 1 && !find_group(polynomials, from[m].name))
            return sp_fail(context, SP_INPUT,
                           "cannot edit the density of region %s: rebuild the polynomials with polycoef --by-region or "
                           "--by-constant",
                           from[m].name);
    }
    return SP_OK;
}

static void edit_stiffness(sp_polynomials *polynomials, int64_t count, const sp_material *from, const sp_material *to,
                           int64_t m)
{
    double lambda, mu;
    int64_t whole = sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_ALL);

    if (!elastic_change(&from[m], &to[m]))
        return;

    sp_lame(to[m].young, to[m].poisson, &lambda, &mu);
    if (whole >= 0) {
        polynomials->parts[whole].value *= to[m].young / from[m].young;
        return;
    }

    polynomials->parts[sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_LAMBDA)].value = lambda;
    polynomials->parts[sp_polynomials_part(polynomials, count, from, m, SP_CONSTANT_MU)].value = mu;
}

static void scale(int64_t count, double factor, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] *= factor;
}

static void add(int64_t count, const double *values, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += values[i];
}

/* Updates the groups to their new densities, and their sum. */
static void edit_mass(sp_polynomials *polynomials, int64_t count, const sp_material *from, const sp_material *to)
{
    int64_t r = polynomials->r;
    bool changed = false;

    for (int64_t m = 0; m < count; m++)
        changed |= from[m].density != to[m].density;
    if (!changed)
        return;

    /* Mass and gravity of a region are proportional to its density. */
    for (int64_t m = 0; m < count; m++) {
        sp_polynomial_group *group = (sp_polynomial_group *)find_group(polynomials, from[m].name);
        double factor = to[m].density / from[m].density;
        if (group) {
            scale(r * r, factor, group->mass);
            scale(3 * r, factor, group->gravity);
            group->density *= factor;
        } else if (count == 1) {
            scale(r * r, factor, polynomials->mass);
            scale(3 * r, factor, polynomials->gravity);
            return;
        }
    }

    /* M = Σ M_g over the regions */
    memset(polynomials->mass, 0, (size_t)(r * r) * sizeof(double));
    memset(polynomials->gravity, 0, (size_t)(3 * r) * sizeof(double));
    for (int64_t g = 0; g < polynomials->group_count; g++) {
        add(r * r, polynomials->groups[g].mass, polynomials->mass);
        add(3 * r, polynomials->groups[g].gravity, polynomials->gravity);
    }
}

int sp_polynomials_edit(sp_context *context, sp_polynomials *polynomials, int64_t count, const sp_material *from,
                        const sp_material *to)
{
    SP_PASS(check_parts(context, polynomials, count, from, to));

    for (int64_t m = 0; m < count; m++)
        edit_stiffness(polynomials, count, from, to, m);
    edit_mass(polynomials, count, from, to);
    return SP_OK;
}
