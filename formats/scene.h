/* Scenes: what people write in JSON to say which bodies touch which (scene.md, scene.schema.json). */
#ifndef SP_FORMATS_SCENE_H
#define SP_FORMATS_SCENE_H

#include "base/context.h"
#include "base/memory.h"
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

/* A model: files and numbers that any number of bodies share. Paths are relative to the scene, joined with its folder
 * here; NULL: not given. */
typedef struct sp_scene_model {
    char name[SP_SCENE_NAME];
    enum sp_scene_kind kind;
    char *mesh, *basis, *polynomials, *cubature, *pointshell, *field, *voxmap,
        *surface; /* surface: OBJ, PLY, STL or OFF of a rigid model without mesh, to look at and for mass by density */
    int64_t domain_count; /* of the deformed field, besides `field` and `proxies`: */
    char **domain_fields, **domain_proxies;
    char *proxies;   /* a pointshell whose points are the proxies of `field` (contact/deformed.h) */
    int64_t nearest; /* proxies asked; 5 */
    int64_t r;       /* leading columns of the basis; 0: all */
    enum sp_scene_geometry shape;
    double normal[3], offset, centre[3], radius, half[3]; /* of the shape, in the model's frame (contact/distance.h) */
    double mass, density;                                 /* kg, kg/m³; 0: not given */
    double mass_centre[3], inertia[6];                    /* with mass: m; xx, yy, zz, yz, zx, xy kg m² */
    double damping[2];                                    /* α 1/s, β s; −1: the mesh's */
    double thickness;         /* m, radius of the leaf spheres of the shell against other shells; 0: none */
    bool decoupled;           /* free deformable bodies: rigid motion and deformation apart (thesis §2.13) */
    double most_acceleration; /* of q̈ (thesis §3.10.2), the norm; 0: no limit */
} sp_scene_model;

typedef struct sp_scene_body {
    char name[SP_SCENE_NAME];
    int64_t model; /* index */
    enum sp_scene_motion motion;
    char *path;                              /* CSV, SP_SCENE_PATH */
    sp_pose pose;                            /* of the model's frame, body to world; orientation normalized */
    double velocity[3], angular_velocity[3]; /* m/s of the centre of mass, rad/s, world */
} sp_scene_body;

typedef struct sp_scene_pair {
    int64_t pointshell, field; /* indices of bodies: the points of one against the distances of the other */
} sp_scene_pair;

typedef struct sp_scene {
    sp_pool pool;
    double gravity[3]; /* m/s² */
    struct {
        double stiffness; /* N/m for each point (thesis eq. 3.1), > 0 */
        double damping;   /* N s/m for each point, along its normal, ≥ 0 */
        double friction;  /* μ of points against distances, ≥ 0 */
        double limit;     /* L: more than so many points share the force of so many (§3.5); INFINITY where null */
        enum sp_scene_weights weights; /* of points: all 1, or area by the mean area of the shell */
        enum sp_scene_direction
            direction; /* of forces: gradient of the other body's distance, or the point's normal; by shape: the
                          gradient against planes, spheres and boxes, else the normal */
        enum sp_scene_normals normals; /* of deformed shells: F N (eq. 3.8), or by tangents: cof(F) N */
        double pulse; /* m/s, above which voxmaps brake points in proximity voxels; INFINITY: no pulses */
    } contact;
    struct {
        int64_t warm, cold; /* visited nodes of a cycle after which no further level begins (§3.10.3); INT64_MAX: no
                               limit. cold: 0.8 warm unless given */
        enum sp_scene_budget
            budget;          /* what is compared with them: nodes visited so far, or the prediction of eq. 3.13 */
        double contact_cost; /* β/α of eq. 3.13; 1.5 */
        bool coherence;      /* nodes are skipped until something can have come near (§3.10.2) */
        bool tree;           /* false: all points are looked at */
        int64_t levels;      /* at most; 0: all */
    } traversal;
    int64_t model_count;
    sp_scene_model *models;
    int64_t body_count;
    sp_scene_body *bodies;
    bool pairs_given;
    int64_t pair_count;
    sp_scene_pair *pairs; /* as given */
    struct {
        enum sp_scene_coupling kind;
        int64_t body;    /* its motion is SP_SCENE_COUPLED */
        char *path;      /* CSV of the manipulandum: the pose of the grasp frame, whose axes are the body's */
        double grasp[3]; /* m, model coordinates */
        double stiffness, torque_stiffness, saturation, torque_saturation; /* N/m, N m, N, N m; INFINITY: none */
        double saturation_depth;        /* m, in the place of saturation: the force of one point at this depth (§4.9);
                                           INFINITY: not given */
        double static_damping;          /* 0.5 */
        double damping, torque_damping; /* N s/m, N m s/rad */
        double speed, angular_speed;    /* INFINITY: no limit */
        double threshold, length;       /* 0.001; m, 0: chosen from the body's size */
        double device_scale, device_force, device_torque; /* 1; N and N m at most, INFINITY: no limit */
        enum sp_scene_gradient gradient; /* ∂d/∂p of contact: the point's normal, as the thesis, or the field's own */
    } coupling;
} sp_scene;

/* From the text of a scene (count bytes). folder: of the scene, for relative paths; "" or ".": as they are. Everything
 * scene.md says is checked; unknown keys, repeated keys and values out of range are errors that name the key by its
 * way, `bodies[3].motion`, and syntax errors the line. */
int sp_scene_parse(sp_context *context, const char *text, int64_t count, const char *folder,
                   sp_scene *scene) SP_MUST_USE;
void sp_scene_free(sp_scene *scene);

/* A path `t,x,y,z,qw,qx,qy,qz` (paths.md): times increase, quaternions are normalized and kept in one hemisphere.
 * Messages name the line.
 */
typedef struct sp_path {
    sp_pool pool;
    int64_t count; /* ≥ 1 */
    double *time;  /* [count] s */
    sp_pose *pose; /* [count] */
} sp_path;
int sp_path_parse(sp_context *context, const char *text, int64_t count, sp_path *path) SP_MUST_USE;
void sp_path_free(sp_path *path);

/* At a time: linear and slerp between the lines, before the first and after the last one they stay. velocity (NULL: not
 * wanted): m/s and rad/s [6] in the world frame of the segment that begins at or holds t. */
sp_pose sp_path_at(const sp_path *path, double t, double velocity[6]);

#endif
