/* The table of schemes, and the systems that each of them can integrate. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>

const sp_scheme *sp_scheme_of(enum sp_integrator_kind kind)
{
    static const sp_scheme *const schemes[] = {
        [SP_NEWMARK] = &sp_scheme_newmark, [SP_ENERGY] = &sp_scheme_energy,
        [SP_CENTRAL] = &sp_scheme_central, [SP_STATIC] = &sp_scheme_static,
        [SP_EULER] = &sp_scheme_euler,     [SP_BDF2] = &sp_scheme_bdf2,
        [SP_EXACT] = &sp_scheme_exact,     [SP_LINEAR_EULER] = &sp_scheme_linear_euler,
    };
    static_assert(sizeof schemes / sizeof *schemes == SP_INTEGRATOR_COUNT, "an integrator lacks its scheme");
    return schemes[kind];
}

/* The message if a scheme needs a trait that is missing, or refuses one that is present. The name of the scheme
 * precedes messages that begin with a blank. */
static const struct {
    unsigned trait;
    const char *missing, *refused;
} rules[] = {
    {SP_MOVES_VERTICES | SP_HAS_GROUNDS, NULL,
     " is for bodies whose fixed vertices rest and that touch no floor plane"},
    {SP_IS_CUBIC, " is exact only for laws that are quadratic in the Green-Lagrange strain", NULL},
    {SP_HAS_VERTICES, " is for full-order models", NULL},
    {SP_HAS_SKELETON, NULL, "a skeleton moves by linearly implicit Euler only"},
    {SP_SOLVES_VELOCITIES, NULL, "ConJac moves by linearly implicit Euler only"},
    {SP_HAS_OSCILLATORS, "only oscillators, a modal model, are integrated exactly", NULL},
    {SP_HAS_VISCOSITY, NULL, "oscillators that are integrated exactly have no damping by strain rate"},
    {SP_HAS_FRICTION, NULL, " has no friction: its velocities come from positions"},
    {SP_IS_SEMI_IMPLICIT, NULL, "only Newmark has a semi-implicit step"},
    {SP_IS_CONSERVATIVE, " needs an internal force that has an energy; modal cubature has none", NULL},
    {SP_FOLLOWS, NULL, " has no inertial forces of a rotating frame"},
    {SP_HAS_SPRINGS, NULL, "springs are no part of oscillators that are integrated exactly"},
};

static int check_traits(sp_context *context, const sp_scheme *scheme, unsigned traits)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const bool missing = rules[i].trait & scheme->needs & ~traits,
                   refused = rules[i].trait & scheme->refuses & traits;
        const char *message = missing ? rules[i].missing : rules[i].refused;
        if (!missing && !refused)
            continue;
        assert(message);
        return sp_fail(context, SP_USAGE, "%s%s", *message == ' ' ? scheme->name : "", message);
    }
    return SP_OK;
}

int sp_scheme_allows_springs(const sp_integrator *it)
{
    return check_traits(it->context, it->scheme, it->scheme->needs | SP_HAS_SPRINGS);
}

static unsigned traits_of(const sp_system *system, const sp_external_loads *loads, const sp_integrator_parameters *p)
{
    return (system->vertices.space ? SP_HAS_VERTICES : 0) | (system->eigenvalue ? SP_HAS_OSCILLATORS : 0) |
           (system->cubic ? SP_IS_CUBIC : 0) | (system->nonconservative ? 0 : SP_IS_CONSERVATIVE) |
           (system->viscous_times && !system->damping_rate ? SP_HAS_VISCOSITY : 0) |
           (system->vertices.apply_friction ? SP_HAS_FRICTION : 0) | (loads->prescribed ? SP_MOVES_VERTICES : 0) |
           (system->vertices.begin ? SP_HAS_GROUNDS : 0) | (system->vertices.velocity_step ? SP_SOLVES_VELOCITIES : 0) |
           (p->skeleton ? SP_HAS_SKELETON : 0) | (p->semi_implicit ? SP_IS_SEMI_IMPLICIT : 0) |
           (loads->follow ? SP_FOLLOWS : 0);
}

static int check_parameters(sp_context *context, const sp_integrator_parameters *p)
{
    enum { MOST_HALVINGS = 40 }; /* beyond it t0 + h/2⁴⁰ equals t0 */
    if (!(p->step > 0 && isfinite(p->step)))
        return sp_fail(context, SP_USAGE, "the time step is %g s", p->step);
    if (p->first_step < 0)
        return sp_fail(context, SP_USAGE, "the run is to start at step %lld", (long long)p->first_step);
    if (p->kind == SP_NEWMARK && !(p->beta > 0 && p->beta <= 1 && p->gamma >= 0 && p->gamma <= 1))
        return sp_fail(context, SP_USAGE, "Newmark's beta is %g and gamma %g: beta must be in (0, 1], gamma in [0, 1]",
                       p->beta, p->gamma);
    if (p->kind == SP_LINEAR_EULER && !(p->beta > 0 && isfinite(p->beta)))
        return sp_fail(context, SP_USAGE, "beta of linearly implicit Euler is %g: it must be more than 0", p->beta);
    if (!(p->damping_mass >= 0 && p->damping_stiffness >= 0))
        return sp_fail(context, SP_USAGE, "damping may not be negative");
    if (!(p->halvings >= 0 && p->halvings <= MOST_HALVINGS))
        return sp_fail(context, SP_USAGE, "steps are to be halved %d times: it must be from 0 to %d", p->halvings,
                       MOST_HALVINGS);
    return SP_OK;
}

int sp_scheme_check(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                    const sp_integrator_parameters *p)
{
    assert(system->force && system->n >= 0 && loads);
    assert(!system->viscous_add == !system->viscous_times);

    SP_PASS(check_parameters(context, p));

    if (loads->prescribed && !system->vertices.space)
        return sp_fail(context, SP_USAGE, "prescribed motion of fixed vertices needs a full-order model");
    if (loads->follow && p->semi_implicit)
        return sp_fail(context, SP_USAGE, "one semi-implicit iteration neglects inertial forces of a rotating frame");

    return check_traits(context, sp_scheme_of(p->kind), traits_of(system, loads, p));
}
