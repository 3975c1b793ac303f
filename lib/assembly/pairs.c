/* Hexahedra of linear materials in squared edge lengths (assembly/element.h). Everything is a polynomial in u: W of
 * degree 4, f of 3, K of 2. */
#include "assembly/batch_kinds.h"

enum { CORNERS = 8, PAIRS = SP_HEX_PAIRS };

#define LANES 8
#define NAMED(x) x##_8
#include "assembly/pairs_kernel.h"

/* Without registers for eight lanes compilers move these through general registers, which takes nine times as long. */
#define LANES 4
#define NAMED(x) x##_4
#include "assembly/pairs_kernel.h"

/* Calls the version for the registers of the processor: on all lanes, or on one half after the other. */
#define CALL(name, ...)                                                                                                \
    do {                                                                                                               \
        if (sp_lanes_native())                                                                                         \
            name##_8(data, 0, __VA_ARGS__);                                                                            \
        else                                                                                                           \
            for (int half = 0; half < 2; half++)                                                                       \
                name##_4(data, half, __VA_ARGS__);                                                                     \
    } while (0)

SP_CLONES void sp_pairs_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy)
{
    CALL(force, u, f, energy);
}

SP_CLONES void sp_pairs_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                                sp_lanes block[][9], sp_lanes *energy)
{
    CALL(tangent, u, definite, f, block, energy);
}

SP_CLONES void sp_pairs_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3],
                                      sp_lanes y[8][3])
{
    CALL(tangent_times, u, v, y);
}

SP_CLONES void sp_pairs_material_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3],
                                       sp_lanes y[8][3])
{
    CALL(material_times, u, v, y);
}

SP_CLONES void sp_pairs_material_tangent(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9])
{
    CALL(material_tangent, u, block);
}

SP_CLONES void sp_pairs_stress_stiffness(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9])
{
    CALL(stress_stiffness, u, block);
}

SP_CLONES void sp_pairs_rest_energy(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes *energy)
{
    CALL(rest_energy, u, energy);
}

SP_CLONES void sp_pairs_prepare(const sp_element_lanes *data, sp_lanes u[8][3], sp_pairs_mode *mode)
{
    CALL(prepare, u, mode);
}

SP_CLONES void sp_pairs_second(const sp_element_lanes *data, const sp_pairs_mode *u, const sp_pairs_mode *v,
                               sp_lanes h[8][3])
{
    CALL(second, u, v, h);
}

SP_CLONES void sp_pairs_third(const sp_element_lanes *data, const sp_pairs_mode *u, const sp_pairs_mode *v,
                              const sp_pairs_mode *w, sp_lanes h[8][3])
{
    CALL(third, u, v, w, h);
}
