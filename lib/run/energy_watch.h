/* The energy balance of a body's motion, and the judgement of energy that nothing put in. */
#ifndef SP_RUN_ENERGY_WATCH_H
#define SP_RUN_ENERGY_WATCH_H

#include "base/remarks.h"
#include "integrate/integrate.h"
#include "mesh/mesh.h"

/* What is known of a motion before it begins. */
typedef struct sp_energy_rules {
    double rounding;    /* J: less gained energy than this is rounding (sp_energy_rounding) */
    bool unknown;       /* the balance says nothing of the steps: statics, and forces without an energy whose tension
                           comes from outside */
    bool dragged;       /* damping forces act on vertices with prescribed motion, and their work is not counted */
    bool stores_less;   /* the model can store less energy than at rest: fibres with a tension */
    bool semi_implicit; /* one Newton iteration a step */
} sp_energy_rules;

/* Over the frames. The energy that was put in until a time is the energy at the start plus the largest work of external
 * forces, moving supports and springs so far; with bones, also their largest kinetic energy. {0} before the first
 * frame; plain numbers, which a checkpoint saves as bytes. */
typedef struct sp_energy_watch {
    double first[SP_WORK_COUNT], last[SP_WORK_COUNT]; /* J, of the first frame and of the last one */
    double drift, largest; /* J: largest deviation of the energy from its balance; largest energy or work */
    double balance;        /* drift divided by largest; 0 if nothing moved */
    double work, bones;    /* J, largest so far: work; kinetic energy of bones, which exchange energy with the body */
    double gained, put, time; /* J: largest unexplained energy, if it exceeds half of the input until then; that input;
                                 its time, s. 0: never */
} sp_energy_watch;

/* J: the kinetic energy of the body if it moved by a millionth of its size in so many seconds. */
double sp_energy_rounding(const sp_mesh *mesh, double seconds);

/* Whether a region of the mesh has fibres with a constant tension, which give energy when they shorten. */
bool sp_energy_has_tension(const sp_mesh *mesh);

/* The first frame. */
void sp_energy_watch_begin(sp_energy_watch *watch, const double energy[SP_WORK_COUNT]);

/* A later frame at a time in s. bones: their kinetic energy, J; 0 without any. */
void sp_energy_watch_add(sp_energy_watch *watch, const sp_energy_rules *rules, const double energy[SP_WORK_COUNT],
                         double bones, double time);

/* Remarks on unexplained energy, and on semi-implicit steps that are far from the balance. semi_implicit: what the user
 * calls these, such as "--semi-implicit". */
void sp_energy_watch_judge(const sp_energy_watch *watch, const sp_energy_rules *rules, const char *semi_implicit,
                           sp_remarks *remarks);

#endif
