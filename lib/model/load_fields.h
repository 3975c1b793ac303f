/* The forces that loads can exert, as sparse fields on the vertices (reduced/certificate.h). */
#ifndef SP_MODEL_LOAD_FIELDS_H
#define SP_MODEL_LOAD_FIELDS_H

#include "model/loads.h"
#include "reduced/certificate.h"

/* Linearly independent fields of the loads at their places, on the free degrees of freedom: for a force in a direction
 * (at a vertex, a surface vertex, a set, a region or on all elements, and at the vertex of a spring) one field along
 * each axis, of 1 N or 1 N/m²; for a pressure that of 1 Pa; for a rotation that of the load. Times and courses do not
 * matter. From `pool`. SP_INPUT with the number of the load from 1. */
int sp_load_fields_new(sp_context *context, const sp_fe_space *space, int64_t load_count, const sp_load *loads,
                       sp_pool *pool, sp_force_fields *fields) SP_MUST_USE;

/* SP_INPUT if the fields, which may come from a file, are not independent of each other. */
int sp_load_fields_check(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields) SP_MUST_USE;

/* Finds the factors x [count] of fields whose sum is the force of a load without its course, on the free degrees of
 * freedom. *known: there are such factors, within 1e-9 of the force. Not for springs. number, from 1, is for
 * messages. */
int sp_load_fields_factors(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields, int64_t number,
                           const sp_load *load, double *x, bool *known) SP_MUST_USE;

#endif
