/* Scenes: JSON text that describes bodies and their contact pairs (scene.md, scene.schema.json). */
#ifndef SP_FORMATS_SCENE_H
#define SP_FORMATS_SCENE_H

#include "base/context.h"
#include "base/memory.h"
#include "base/remarks.h"
#include "geometry/pose.h"

enum { SP_SCENE_NAME = 64 };

enum sp_scene_kind { SP_SCENE_RIGID, SP_SCENE_LINEAR, SP_SCENE_REDUCED };
enum sp_scene_geometry { SP_SCENE_NO_GEOMETRY, SP_SCENE_PLANE, SP_SCENE_SPHERE, SP_SCENE_BOX };
enum sp_scene_motion { SP_SCENE_FIXED, SP_SCENE_FREE, SP_SCENE_PATH, SP_SCENE_COUPLED };
enum sp_scene_coupling { SP_SCENE_NO_COUPLING, SP_SCENE_STATIC, SP_SCENE_DYNAMIC };
enum sp_scene_weights { SP_SCENE_EQUAL, SP_SCENE_AREA };
enum sp_scene_normals { SP_SCENE_GRADIENT, SP_SCENE_TANGENTS };
enum sp_scene_direction { SP_SCENE_BY_GEOMETRY, SP_SCENE_BY_NORMAL, SP_SCENE_BY_GRADIENT };
enum sp_scene_budget { SP_SCENE_NODES, SP_SCENE_COST };
enum sp_scene_gradient { SP_SCENE_NORMAL, SP_SCENE_FIELD };

/* A model: files and numbers that any number of bodies share. Paths, relative to the scene in the file, are joined with
 * its folder here; NULL: not given. */
typedef struct sp_scene_model {
    char name[SP_SCENE_NAME];
    enum sp_scene_kind kind;
    char *mesh, *basis, *polynomials, *cubature, *pointshell, *field, *voxmap,
        *surface; /* surface: OBJ, PLY, STL or OFF of a rigid model without mesh, for rendering and for mass by density
                   */
    int64_t domain_count; /* of the deformed field, besides `field` and `proxies`: */
    char **domain_fields, **domain_proxies;
    char *proxies;   /* a point shell whose points are the proxies of `field` (contact/deformed.h) */
    int64_t nearest; /* nearest proxies used; 5 */
    int64_t r;       /* leading columns of the basis; 0: all */
    enum sp_scene_geometry shape;
    double normal[3], offset, centre[3], radius, half[3]; /* of the shape, in the model's frame (contact/distance.h) */
    double mass, density;                                 /* kg, kg/m³; 0: not given */
    double mass_centre[3], inertia[6];                    /* with mass: m; xx, yy, zz, yz, zx, xy kg m² */
    double damping[2];                                    /* α 1/s, β s; −1: the mesh's */
    double thickness;         /* m, radius of the leaf spheres of the point shell against other point shells; 0: none */
    bool decoupled;           /* free deformable bodies: rigid motion and deformation decoupled (thesis §2.13) */
    double most_acceleration; /* limit on the norm of q̈ (thesis §3.10.2); 0: no limit */
} sp_scene_model;

typedef struct sp_scene_body {
    char name[SP_SCENE_NAME];
    int64_t model; /* index */
    enum sp_scene_motion motion;
    char *path;                              /* CSV, SP_SCENE_PATH */
    bool inertial;                           /* SP_SCENE_PATH: the deformation feels the inertial forces of the frame */
    sp_pose pose;                            /* of the model's frame, body to world; orientation normalized */
    double velocity[3], angular_velocity[3]; /* m/s of the centre of mass, rad/s, world */
    char *loads;                             /* CSV; NULL: none */
} sp_scene_body;

/* Two bodies move as one at an interface (rigid/joined.h). */
typedef struct sp_scene_joint {
    int64_t parent, child;                                         /* bodies; parent −1: the world */
    char interface[SP_SCENE_NAME], child_interface[SP_SCENE_NAME]; /* sets of vertices of their meshes; the child's "":
                                                                      the fixed vertices */
} sp_scene_joint;

typedef struct sp_scene_pair {
    int64_t pointshell, field; /* indices of bodies: the points of one against the distance field of the other */
} sp_scene_pair;

typedef struct sp_scene {
    sp_pool pool;
    double gravity[3]; /* m/s² */
    struct {
        double stiffness; /* N/m for each point (thesis eq. 3.1), > 0; 0: not given, chosen by contact/stiffness.h */
        double damping;   /* N s/m for each point, along its normal, ≥ 0 */
        double friction;  /* μ for points against distance fields, ≥ 0 */
        double limit; /* L: more than this number of penetrating points share the force of L points (§3.5); INFINITY if
                         null */
        enum sp_scene_weights weights; /* of points: all 1, or area divided by the mean area of the shell */
        enum sp_scene_direction
            direction; /* of forces: gradient of the other body's distance, or the point's normal; by geometry: the
                          gradient for planes, spheres and boxes, else the normal */
        enum sp_scene_normals normals; /* of deformed shells: F N (eq. 3.8), or from tangents: cof(F) N */
        double pulse; /* m/s, threshold above which voxmaps brake points in proximity voxels; INFINITY: no pulses */
    } contact;
    struct {
        int64_t warm, cold; /* node budgets: visited nodes of a cycle after which no further level begins (§3.10.3);
                               INT64_MAX: no limit. cold: 0.8 warm unless given */
        enum sp_scene_budget
            budget; /* the cost compared with the budgets: visited nodes so far, or the prediction of eq. 3.13 */
        double contact_cost; /* β/α of eq. 3.13; 1.5 */
        bool coherence;      /* nodes are culled until they can have come near (§3.10.2) */
        bool tree;           /* false: all points are tested */
        int64_t levels;      /* at most; 0: all */
    } traversal;
    int64_t model_count;
    sp_scene_model *models;
    int64_t body_count;
    sp_scene_body *bodies;
    bool pairs_given;
    int64_t pair_count;
    sp_scene_pair *pairs; /* as given */
    int64_t joint_count;
    sp_scene_joint *joints;
    int64_t neighbour_count;
    int32_t *neighbours; /* [neighbour_count, 2] i < j, ascending: bodies that a joint connects */
    struct {
        enum sp_scene_coupling kind;
        int64_t body;    /* its motion is SP_SCENE_COUPLED */
        char *path;      /* CSV of the manipulandum: the pose of the grasp frame, whose axes are the body's */
        double grasp[3]; /* m, model coordinates */
        double stiffness, torque_stiffness, saturation, torque_saturation; /* N/m, N m, N, N m; INFINITY: none */
        double saturation_depth; /* m, instead of saturation: the force of one point at this depth (§4.9); INFINITY: not
                                    given */
        double static_damping;   /* 0.5 */
        double damping, torque_damping;                   /* N s/m, N m s/rad */
        double speed, angular_speed;                      /* INFINITY: no limit */
        double threshold, length;                         /* 0.001; m, 0: chosen from the body's size */
        double device_scale, device_force, device_torque; /* 1; N and N m at most, INFINITY: no limit */
        enum sp_scene_gradient
            gradient; /* ∂d/∂p of contact: the point's normal, as in the thesis, or the field's gradient */
        int64_t clutch_count;
        double *clutch; /* [clutch_count, 2] s, ascending: from when to when the clutch of the device is held (§4.5) */
    } coupling;
} sp_scene;

/* Parses the text of a scene (count bytes). folder: of the scene, for relative paths; "" or ".": as they are. All
 * conditions of scene.md are checked; unknown keys, repeated keys and values out of range are errors that name the key
 * by its JSON path, `bodies[3].motion`, and syntax errors the line. */
int sp_scene_parse(sp_context *context, const char *text, int64_t count, const char *folder,
                   sp_scene *scene) SP_MUST_USE;
void sp_scene_free(sp_scene *scene);

/* A path `t,x,y,z,qw,qx,qy,qz` (paths.md): times increase, quaternions are normalized and kept in one hemisphere.
 * Messages name the line. That of a device may have a ninth column, `clutch`. */
typedef struct sp_path {
    sp_pool pool;
    int64_t count; /* ≥ 1 */
    double *time;  /* [count] s */
    sp_pose *pose; /* [count] */
    bool *clutch;  /* [count] it is held from the line on until the next one; NULL: there is no such column */
} sp_path;
int sp_path_parse(sp_context *context, const char *text, int64_t count, sp_path *path) SP_MUST_USE;
int sp_path_parse_device(sp_context *context, const char *text, int64_t count, sp_path *path) SP_MUST_USE;
void sp_path_free(sp_path *path);

/* The pose at a time: linear and slerp between the lines, constant before the first and after the last one. velocity
 * (NULL: not wanted): m/s and rad/s [6] in the world frame on the segment that begins at or contains t. */
sp_pose sp_path_at(const sp_path *path, double t, double velocity[6]);

/* The same for a motion that ends at `end`: if the path ends there, the velocity is from then on the one just before.
 * Schemes take loads over intervals about the ends of steps, and would else feel that a path stops where the motion
 * ends. end may be INFINITY: a motion without a known end. */
sp_pose sp_path_until(const sp_path *path, double end, double t, double velocity[6]);

/* Returns true if the path arrives at its last line with a velocity [6] that is more than twice the largest change of
 * velocity at a line before, in translation or rotation: it stops there at once, unlike in the rest of its motion. */
bool sp_path_stops(const sp_path *path, double velocity[6]);

/* Adds the remark that the frame on this path stops at once, if it does so before `end` [s]. `which` begins the
 * sentence: "the path", or the path of a body. */
void sp_path_judge(const sp_path *path, const char *which, double end, sp_remarks *remarks);

#endif
