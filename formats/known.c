#include "formats/known.h"

#include <string.h>

/* A name that ends with a slash stands for every member behind it: blocks of a series, parts. */
static const struct {
    const char *kind;
    const char *names[28];
} table[] = {
    {"mesh", {"vertices", "hex", "tet", "region", "factor", "fibre", "fixed", "fixed_axes", "surface/", "origin"}},
    {"sparse", {"indices", "indptr", "format", "shape", "data", "dof"}},
    {"modes", {"U", "eigenvalue", "residual", "ordering"}},
    {"derivatives", {"U", "pair"}},
    {"shapes", {"U", "time"}},
    {"basis", {"U", "singular_value"}},
    {"polynomials", {"mass", "gravity", "gram", "gram/", "group_mass", "group_gravity"}},
    {"cubature", {"element", "weight", "nested", "stiffness", "mass", "gravity"}},
    {"training", {"q", "force"}},
    {"trajectory", {"vertex", "held/", "time/", "q/", "qdot/", "u/", "udot/", "energy/", "estimate/"}},
    {"motion",
     {"time/", "pose/", "twist/", "q/", "qdot/", "wrench/", "energy/", "counts/", "hand/", "coupling/", "device/",
      "contact/"}},
    {"field", {"origin", "spacing", "distance"}},
    {"pointshell", {"points", "normals", "area", "level", "parent", "radius", "Us", "dNs", "dTs", "a"}},
};

static bool names_it(const char *known, const char *name)
{
    const size_t length = strlen(known);
    return known[length - 1] == '/' ? !strncmp(known, name, length) : !strcmp(known, name);
}

bool sp_member_known(const char *kind, const char *name)
{
    bool kind_known = !*kind, found = !strcmp(name, "meta") || !strcmp(name, "result");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (*kind && strcmp(kind, table[k].kind))
            continue;
        kind_known = true;
        for (size_t i = 0; table[k].names[i]; i++)
            found |= names_it(table[k].names[i], name);
    }
    return found || !kind_known;
}
