/*< origin >*/
#ifndef MODEL_H
#define MODEL_H

/* A reduced-order deformable body with the coordinates q,
 *
 *     M q'' + (alpha M + beta K(q)) q' + f(q) = F,     K = df/dq,
 *
 * whose force f is a cubic polynomial, or (MODEL_ELEMENTS > 0) the weighted sum of the forces of few elements. The
 * displacement of a vertex is the product of its rows of U with q. All numbers are in SI units. model.c needs no
 * library but the function sqrt. Nothing is allocated, and no variable is shared: every state belongs to its caller,
 * and several threads may each use their own. A state holds no pointers. To save it, copy it.
 *
 *     static model_state state;
 *     model_real force[MODEL_R] = {0};
 *     model_init(&state);
 *     model_set_step(&state, 0.001);
 *     model_start(&state, force);
 *     while (model_step(&state, force) == MODEL_OK)
 *         use(state.q);
 *
 * With -O3 and the instructions of the processor (-march=native) the compiler vectorizes all loops that matter. Do not
 * compile model.c with -ffast-math: it compares with NaN. */

#ifdef __cplusplus
extern "C" {
#endif

/*< sizes >*/

enum {
    MODEL_OK = 0,
    MODEL_NOT_CONVERGED = 1, /* Newton's method did not converge in the permitted iterations: take a smaller step */
    MODEL_NOT_DEFINITE = 2,  /* the matrix of a semi-implicit step is not positive definite: take a smaller step */
    MODEL_NOT_FINITE = 3,    /* a force or the result, or its square, is not a finite number, also where a semi-implicit
                                step inverts an element whose law is not defined then */
    MODEL_BAD_ARGUMENT = 4   /* an option out of range, or a probe that does not exist */
};

/* Sizes of the workspace */
#define MODEL_WIDTH ((MODEL_R + 3) / 4 * 4)
#define MODEL_PADDED (MODEL_R + 4)
#define MODEL_MATRIX (MODEL_R * MODEL_WIDTH)
#if MODEL_ELEMENTS == 0
#define MODEL_STRIDE ((MODEL_R * (MODEL_R + 1) / 2 + 3) / 4 * 4)
#define MODEL_ROWS (MODEL_R * (MODEL_R + 1) * (MODEL_R + 2) / 6 + 4 * MODEL_R + 4)
#endif

/* Workspace of the functions below: nothing in it needs to be read, written or saved. */
typedef struct model_scratch {
    int known;         /* the next members hold the evaluation at `place` with `factor`: 1: without K, 2: all */
    model_real factor; /* of the stiffness */
    model_real place[MODEL_PADDED], force[MODEL_WIDTH], K[MODEL_MATRIX], energy;
#if MODEL_ELEMENTS > 0
    model_real u[MODEL_ELEMENT_ROWS], element_force[MODEL_ELEMENT_ROWS];
    model_real element_K[MODEL_ELEMENT_ROWS * MODEL_ELEMENT_ROWS], row[MODEL_WIDTH];
#else
    model_real pairs[3][MODEL_STRIDE + 4], rows[MODEL_ROWS];
#endif
    int decomposed; /* S is solved with by its eigenvectors V */
    model_real S[MODEL_MATRIX], inverse[MODEL_WIDTH], A[MODEL_MATRIX], V[MODEL_MATRIX];
    model_real rate, second_rate, v_base[MODEL_WIDTH], a_base[MODEL_WIDTH];
    model_real q[MODEL_WIDTH], v[MODEL_WIDTH], a[MODEL_WIDTH], trial[MODEL_WIDTH], restart[MODEL_WIDTH];
    model_real external[MODEL_WIDTH], residual[MODEL_WIDTH], correction[MODEL_WIDTH];
    model_real inertia[MODEL_WIDTH], damping[MODEL_WIDTH], product[MODEL_WIDTH];
} model_scratch;

typedef struct model_state {
    model_real q[MODEL_R]; /* coordinates */
    model_real v[MODEL_R]; /* velocities dq/dt, 1/s */
    model_real a[MODEL_R]; /* accelerations, 1/s2 */

    /* Options, set by model_init and the functions model_set_... */
    model_real dt;                /* time step, s; 0.01 */
    model_real damping_mass;      /* alpha of Rayleigh damping, 1/s; that of the mesh */
    model_real damping_stiffness; /* beta of Rayleigh damping, s; that of the mesh */
    model_real gravity[3];        /* acceleration of gravity, m/s2; 0 */
    model_real stiffness_factor;  /* times the force, the stiffness and the strain energy; 1 */
    model_real density_factor;    /* times the mass, and with it the force of gravity; 1 */
    model_real newmark_beta;      /* 1/4 */
    model_real newmark_gamma;     /* 1/2 */
    model_real tolerance;         /* of Newton's method: the residual relative to the largest force term */
    int iterations;               /* of Newton's method, at most; 50 */
    int semi_implicit;            /* 1: one Newton iteration in each step; 0: until it has converged, the default */

    /* Of the last step */
    int iterations_taken; /* by Newton's method */
    model_real relative;  /* residual at its end; 0 after a semi-implicit step */

    model_scratch scratch;
} model_state;

/* ---- a state and its options ---- */

/* The body at rest, with the default options. */
void model_init(model_state *state);

/* Each returns MODEL_BAD_ARGUMENT, and changes nothing, where a value is out of range or not finite. */
int model_set_step(model_state *state, model_real dt);                        /* dt > 0 */
int model_set_damping(model_state *state, model_real alpha, model_real beta); /* both >= 0 */
int model_set_gravity(model_state *state, model_real x, model_real y, model_real z);
int model_set_factors(model_state *state, model_real stiffness, model_real density); /* both > 0 */
int model_set_newmark(model_state *state, model_real beta, model_real gamma);   /* 0 < beta <= 1, 0 <= gamma <= 1 */
int model_set_newton(model_state *state, model_real tolerance, int iterations); /* tolerance > 0, iterations >= 1 */
int model_set_semi_implicit(model_state *state, int semi_implicit);             /* 0 or 1 */

/* Coordinates and velocities, each [MODEL_R]; NULL is zero. Accelerations become zero: call model_start next. */
int model_set_motion(model_state *state, const model_real *q, const model_real *v);

/* ---- motion ---- */

/* The accelerations at the start of a motion, and after the forces have jumped, in balance with the generalized force
 * [MODEL_R] (NULL: none), which comes in addition to gravity. Without a call they are zero, as for a body that rests
 * without loads. Returns MODEL_OK or MODEL_NOT_FINITE. */
int model_start(model_state *state, const model_real *force);

/* One step of the implicit Newmark method. force [MODEL_R] is the generalized force at the end of the step, in addition
 * to gravity (NULL: none). The impulse of a load is exact where `force` is its mean from gamma dt before that time to
 * (1 - gamma) dt after it. After any result but MODEL_OK, q, v and a are what they were. */
int model_step(model_state *state, const model_real *force);

/* ---- forces ---- */

/* The internal force f [MODEL_R], the tangent stiffness K [MODEL_R * MODEL_R], which is symmetric, and the strain
 * energy at q [MODEL_R], or for q = NULL at the coordinates of the state. Of the state only the factors and the scratch
 * are used. One evaluation serves all three, for as long as q remains the same. They are not finite numbers where
 * fourth powers of the coordinates overflow, and where the law of an inverted element is not defined. */
void model_force(model_state *state, const model_real *q, model_real *f);
void model_stiffness(model_state *state, const model_real *q, model_real *K);
model_real model_energy(model_state *state, const model_real *q);

model_real model_kinetic_energy(const model_state *state);

/* The accelerations a [MODEL_R] at q and v under `force` (NULL: none) and gravity, for other integrators. */
int model_acceleration(model_state *state, const model_real *q, const model_real *v, const model_real *force,
                       model_real *a);

/* The mass matrix M [MODEL_R * MODEL_R], with the density factor. */
void model_mass(const model_state *state, model_real *M);

#if MODEL_PROBES > 0
/* ---- probes: points of the body ---- */

/* Displacement (m) and velocity (m/s) of a probe, and its place (m) in the undeformed body. */
int model_probe(const model_state *state, int probe, model_real out[3]);
int model_probe_velocity(const model_state *state, int probe, model_real out[3]);
int model_probe_rest(int probe, model_real out[3]);

/* Adds a force f (N) on a probe to a generalized force [MODEL_R]. */
int model_add_probe_force(model_real *force, int probe, const model_real f[3]);
#endif

#ifdef __cplusplus
}
#endif

#endif
