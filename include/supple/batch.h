/* Many motions of one body at once, step by step: what a learning loop, an optimizer or a study calls.
 *
 *     supple_batch *batch;
 *     if (supple_batch_open(body, 1000, 2, &batch) || supple_batch_start(batch, &how, NULL, NULL))
 *         puts(supple_error());
 *     double *force = supple_batch_forces(batch);          [1000, r]: Uᵀ F of each motion, to be written
 *     const double *q = supple_batch_q(batch);             [1000, r]
 *     while (… write force … && supple_batch_step(batch, 10) == SUPPLE_OK)
 *         … read q …
 *     supple_batch_close(batch);
 *
 * The motions are those of the body with polynomials: of its materials, damping and gravity. They are integrated 24 at
 * a time, one in each lane of the vector registers of a core, so that the coefficients are read once for all of them.
 * Each is the motion of supple_body_step under the same forces, up to rounding, and its bytes do not depend on the
 * others nor on the number of threads. Contact between motions, springs and files of loads have no part in it. */
#ifndef SUPPLE_BATCH_H
#define SUPPLE_BATCH_H

#include <supple/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct supple_batch supple_batch;

/* `count` motions of the body, on so many threads (1 to 1024). The body must outlive the batch and keep its materials
 * and its gravity. SUPPLE_USAGE for a body without polynomials, with springs or with a file of loads. *batch is NULL
 * after a failure. */
supple_status supple_batch_open(supple_body *body, int64_t count, int threads, supple_batch **batch) SUPPLE_MUST_USE;
void supple_batch_close(supple_batch *batch); /* NULL is allowed */

int64_t supple_batch_motions(const supple_batch *batch); /* 0 for NULL */

/* Starts all motions at time 0 from coordinates and rates [count, r] (NULL: 0), under the present forces. The scheme is
 * SUPPLE_NEWMARK, SUPPLE_EULER or SUPPLE_BDF2. It may be called again. */
supple_status supple_batch_start(supple_batch *batch, const supple_integration *integration, const double *q,
                                 const double *qdot) SUPPLE_MUST_USE;

/* The generalized forces Uᵀ F [count, r], 0 at first: the caller writes them. They act from the present time on and are
 * constant during the steps of one call. The array is the batch's, at the same address until it is closed. */
double *supple_batch_forces(supple_batch *batch);

/* Writes the generalized forces of forces [count, vertices, 3] N on vertices [vertices] of the mesh, the same vertices
 * in every motion. */
supple_status supple_batch_push(supple_batch *batch, int64_t vertices, const int64_t *vertex,
                                const double *force) SUPPLE_MUST_USE;

/* So many steps of all motions. A motion that fails stays as it was before the step, and does not stop the others:
 * supple_batch_failures tells which. A motion that needs a line search is continued by an integrator of its own, which
 * allocates. SUPPLE_SYSTEM if there is no memory for that: the batch has to be started again then. SUPPLE_USAGE if a
 * force is not finite, and before supple_batch_start. */
supple_status supple_batch_step(supple_batch *batch, int64_t steps) SUPPLE_MUST_USE;

/* The time in s of the motions that did not fail. */
double supple_batch_time(const supple_batch *batch);

/* Coordinates and rates [count, r], and for each motion [count] SUPPLE_OK or the status of its failure. The arrays are
 * the batch's, and every step changes their values. */
const double *supple_batch_q(const supple_batch *batch);
const double *supple_batch_qdot(const supple_batch *batch);
const int32_t *supple_batch_failures(const supple_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
