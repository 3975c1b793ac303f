#include "formats/scene_internal.h"

#include "contact/deformed.h"
#include "formats/key_tables.h"
#include "pointshell/pointshell.h"

_Static_assert(sizeof(enum sp_scene_motion) == sizeof(int), "words are kept as int");

static const sp_key_words weights = {SP_SCENE_EQUAL, {"equal", "area"}},
                          normals = {SP_SCENE_GRADIENT, {"gradient", "tangents"}},
                          directions = {SP_SCENE_BY_GEOMETRY, {"shape", "normal", "gradient"}},
                          budgets = {SP_SCENE_NODES, {"nodes", "cost"}},
                          kinds = {SP_SCENE_RIGID, {"rigid", "linear", "reduced"}},
                          motions = {SP_SCENE_FIXED, {"fixed", "free", "path", "coupled"}},
                          couplings = {SP_SCENE_STATIC, {"static", "dynamic"}},
                          gradients = {SP_SCENE_NORMAL, {"normal", "field"}};

#define AT(member) .offset = offsetof(sp_scene, contact.member)
static const sp_key contact_keys[] = {
    {"stiffness", NUMBER, OPTIONAL, AT(stiffness), .unit = "N/m", ABOVE(0)},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N s/m", FROM(0)},
    {"friction", NUMBER, DEFAULT, AT(friction), FROM(0)},
    {"limit", NUMBER, DEFAULT, AT(limit), FROM(1), OR_NULL},
    {"weights", WORD, DEFAULT, AT(weights), .words = &weights},
    {"direction", WORD, DEFAULT, AT(direction), .words = &directions},
    {"normals", WORD, DEFAULT, AT(normals), .words = &normals},
    {"pulse", NUMBER, DEFAULT, AT(pulse), .unit = "m/s", FROM(0), OR_NULL},
    {0},
};
static const sp_key_table contact_table = {"contact", contact_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene, traversal.member)
static const sp_key traversal_keys[] = {
    {"warm", INTEGER, DEFAULT, AT(warm), .unit = "nodes", FROM(1), OR_NULL},
    {"cold", INTEGER, OPTIONAL, AT(cold), .unit = "nodes", FROM(1), .standard = {INFINITY}, .needs = "warm"},
    {"budget", WORD, DEFAULT, AT(budget), .words = &budgets},
    {"contact_cost", NUMBER, DEFAULT, AT(contact_cost), FROM(0), .standard = {1.5}},
    {"coherence", BOOLEAN, DEFAULT, AT(coherence), .standard = {true}},
    {"tree", BOOLEAN, DEFAULT, AT(tree), .standard = {true}},
    {"levels", INTEGER, DEFAULT, AT(levels), WITHIN(0, SP_POINTSHELL_LEVELS_MAX)},
    {0},
};
static const sp_key_table traversal_table = {"traversal", traversal_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene_model, member)
static const sp_key plane_keys[] = {
    {"normal", NUMBER, REQUIRED, AT(normal), 3, NULL, ANY},
    {"offset", NUMBER, DEFAULT, AT(offset), .unit = "m", ANY},
    {0},
};
static const sp_key sphere_keys[] = {
    {"centre", NUMBER, DEFAULT, AT(centre), 3, "m", ANY},
    {"radius", NUMBER, REQUIRED, AT(radius), .unit = "m", ABOVE(0)},
    {0},
};
static const sp_key box_keys[] = {
    {"centre", NUMBER, DEFAULT, AT(centre), 3, "m", ANY},
    {"half", NUMBER, REQUIRED, AT(half), 3, "m", ABOVE(0)},
    {0},
};
static const sp_key_table plane_table = {"plane", plane_keys}, sphere_table = {"sphere", sphere_keys},
                          box_table = {"box", box_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene_domain_read, member)
static const sp_key domain_keys[] = {
    {"field", FILE_NAME, REQUIRED, AT(field)},
    {"proxies", FILE_NAME, REQUIRED, AT(proxies)},
    {0},
};
const sp_key_table sp_scene_domain_keys = {"domain", domain_keys};
#undef AT

enum { RIGID = 1u << SP_SCENE_RIGID, REDUCED = 1u << SP_SCENE_REDUCED, SOFT = REDUCED | 1u << SP_SCENE_LINEAR };

#define AT(member) .offset = offsetof(sp_scene_model, member)
static const sp_key model_keys[] = {
    {"kind", WORD, REQUIRED, AT(kind), .words = &kinds},
    {"mesh", FILE_NAME, OPTIONAL, AT(mesh)},
    {"basis", FILE_NAME, OPTIONAL, AT(basis), .only = SOFT},
    {"polynomials", FILE_NAME, OPTIONAL, AT(polynomials), .only = SOFT},
    {"cubature", FILE_NAME, OPTIONAL, AT(cubature), .only = REDUCED},
    {"pointshell", FILE_NAME, OPTIONAL, AT(pointshell)},
    {"field", FILE_NAME, OPTIONAL, AT(field)},
    {"voxmap", FILE_NAME, OPTIONAL, AT(voxmap), .only = RIGID},
    {"surface", FILE_NAME, OPTIONAL, AT(surface), .only = RIGID},
    {"proxies", FILE_NAME, OPTIONAL, AT(proxies), .only = SOFT, .needs = "field"},
    {"domains", SP_KEY_LIST, OPTIONAL, .table = &sp_scene_domain_keys, .only = SOFT, .needs = "field"},
    {"nearest", INTEGER, DEFAULT, AT(nearest), WITHIN(1, SP_DEFORMED_NEAREST), .standard = {5}, .only = SOFT,
     .needs = "proxies"},
    {"r", INTEGER, DEFAULT, AT(r), WITHIN(0, INT32_MAX), .only = SOFT},
    {"plane", OBJECT, OPTIONAL, .table = &plane_table, .only = RIGID},
    {"sphere", OBJECT, OPTIONAL, .table = &sphere_table, .only = RIGID},
    {"box", OBJECT, OPTIONAL, .table = &box_table, .only = RIGID},
    {"mass", NUMBER, OPTIONAL, AT(mass), .unit = "kg", ABOVE(0), .only = RIGID, .needs = "mass_centre"},
    {"density", NUMBER, OPTIONAL, AT(density), .unit = "kg/m³", ABOVE(0), .only = RIGID, .needs = "surface"},
    {"mass_centre", NUMBER, OPTIONAL, AT(mass_centre), 3, "m", ANY, .only = RIGID, .needs = "inertia"},
    {"inertia", NUMBER, OPTIONAL, AT(inertia), 6, "kg m²", ANY, .only = RIGID, .needs = "mass"},
    {"damping", NUMBER, OPTIONAL, AT(damping), 2, "1/s, s", FROM(0), .standard = {-1, -1}, .only = SOFT},
    {"thickness", NUMBER, DEFAULT, AT(thickness), .unit = "m", FROM(0), .needs = "pointshell"},
    {"decoupled", BOOLEAN, DEFAULT, AT(decoupled), .only = SOFT},
    {"most_acceleration", NUMBER, DEFAULT, AT(most_acceleration), FROM(0), .only = SOFT},
    {0},
};
const sp_key_table sp_scene_model_keys = {"model", model_keys};
#undef AT

static const sp_key copies_keys[] = {
    {"count", INTEGER, REQUIRED, .offset = offsetof(sp_scene_body_read, copies), 3, NULL, WITHIN(1, 100000)},
    {"spacing", NUMBER, REQUIRED, .offset = offsetof(sp_scene_body_read, spacing), 3, "m", ANY},
    {0},
};
static const sp_key_table copies_table = {"copies", copies_keys};

enum {
    FREE = 1u << SP_SCENE_FREE,
    ON_PATH = 1u << SP_SCENE_PATH,
    STANDING = 1u << SP_SCENE_FIXED | FREE,
    PLACED = STANDING | 1u << SP_SCENE_COUPLED
};

#define AT(member) .offset = offsetof(sp_scene_body_read, body.member)
static const sp_key body_keys[] = {
    {"motion", WORD, DEFAULT, AT(motion), .words = &motions},
    {"name", SP_KEY_NAME, REQUIRED, .count = 0},
    {"model", SP_KEY_NAME, REQUIRED, .count = 0},
    {"path", FILE_NAME, OPTIONAL, AT(path), .only = ON_PATH},
    {"inertial", BOOLEAN, DEFAULT, AT(inertial), .only = ON_PATH},
    {"position", NUMBER, DEFAULT, AT(pose.x), 3, "m", ANY, .only = PLACED},
    {"orientation", NUMBER, DEFAULT, AT(pose.q), 4, NULL, ANY, .standard = {1}, .only = PLACED},
    {"velocity", NUMBER, DEFAULT, AT(velocity), 3, "m/s", ANY, .only = FREE},
    {"angular_velocity", NUMBER, DEFAULT, AT(angular_velocity), 3, "rad/s", ANY, .only = FREE},
    {"copies", OBJECT, OPTIONAL, .table = &copies_table, .only = STANDING},
    {"loads", FILE_NAME, OPTIONAL, AT(loads)},
    {0},
};
const sp_key_table sp_scene_body_keys = {"body", body_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene_joint_read, member)
static const sp_key joint_keys[] = {
    {"child", SP_KEY_TEXT, REQUIRED, AT(child)},
    {"child_interface", SP_KEY_TEXT, OPTIONAL, AT(joint.child_interface)},
    {"parent", SP_KEY_TEXT, OPTIONAL, AT(parent), .needs = "interface"},
    {"interface", SP_KEY_TEXT, OPTIONAL, AT(joint.interface), .needs = "parent"},
    {0},
};
const sp_key_table sp_scene_joint_keys = {"joint", joint_keys};
#undef AT

#define AT(member) .offset = offsetof(sp_scene, coupling.member)
static const sp_key coupling_keys[] = {
    {"kind", WORD, REQUIRED, AT(kind), .words = &couplings},
    {"body", SP_KEY_NAME, REQUIRED, .count = 0},
    {"path", FILE_NAME, REQUIRED, AT(path)},
    {"grasp", NUMBER, DEFAULT, AT(grasp), 3, "m", ANY},
    {"stiffness", NUMBER, REQUIRED, AT(stiffness), .unit = "N/m", ABOVE(0)},
    {"torque_stiffness", NUMBER, REQUIRED, AT(torque_stiffness), .unit = "N m", ABOVE(0)},
    {"saturation", NUMBER, DEFAULT, AT(saturation), .unit = "N", ABOVE(0), OR_NULL},
    {"saturation_depth", NUMBER, DEFAULT, AT(saturation_depth), .unit = "m", ABOVE(0), OR_NULL},
    {"torque_saturation", NUMBER, DEFAULT, AT(torque_saturation), .unit = "N m", ABOVE(0), OR_NULL},
    {"static_damping", NUMBER, DEFAULT, AT(static_damping), WITHIN(0, 1), .below = true, .standard = {0.5}},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N s/m", FROM(0)},
    {"torque_damping", NUMBER, DEFAULT, AT(torque_damping), .unit = "N m s/rad", FROM(0)},
    {"speed", NUMBER, DEFAULT, AT(speed), .unit = "m/s", FROM(0), .null = true},
    {"angular_speed", NUMBER, DEFAULT, AT(angular_speed), .unit = "rad/s", FROM(0), .null = true},
    {"threshold", NUMBER, DEFAULT, AT(threshold), WITHIN(0, 1), .below = true, .standard = {0.001}},
    {"length", NUMBER, DEFAULT, AT(length), .unit = "m", FROM(0)},
    {"device_scale", NUMBER, DEFAULT, AT(device_scale), ABOVE(0), .standard = {1}},
    {"device_force", NUMBER, DEFAULT, AT(device_force), .unit = "N", ABOVE(0), OR_NULL},
    {"device_torque", NUMBER, DEFAULT, AT(device_torque), .unit = "N m", ABOVE(0), OR_NULL},
    {"gradient", WORD, DEFAULT, AT(gradient), .words = &gradients},
    {"clutch", SP_KEY_SPANS, OPTIONAL, .count = 0, .unit = "s", FROM(0)},
    {0},
};
static const sp_key_table coupling_table = {"coupling", coupling_keys};
#undef AT

static const sp_key scene_keys[] = {
    {"gravity", NUMBER, DEFAULT, .offset = offsetof(sp_scene, gravity), 3, "m/s²", ANY},
    {"contact", OBJECT, DEFAULT, .table = &contact_table},
    {"traversal", OBJECT, DEFAULT, .table = &traversal_table},
    {"models", SP_KEY_NAMED, REQUIRED, .table = &sp_scene_model_keys},
    {"bodies", SP_KEY_LIST, REQUIRED, .table = &sp_scene_body_keys},
    {"pairs", SP_KEY_PAIRS, OPTIONAL, .count = 0},
    {"coupling", OBJECT, OPTIONAL, .table = &coupling_table},
    {"joints", SP_KEY_LIST, OPTIONAL, .table = &sp_scene_joint_keys},
    {0},
};
const sp_key_table sp_scene_keys = {"scene", scene_keys};
