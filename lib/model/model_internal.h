/* What reduced-order and full-order models have in common. */
#ifndef SP_MODEL_MODEL_INTERNAL_H
#define SP_MODEL_MODEL_INTERNAL_H

#include "model/model.h"

/* Creates the system of a model, with its damping by strain rate; on failure model->part says what it is about. */
typedef int sp_model_system(sp_context *context, const sp_model_description *description, sp_model *model);

/* The rest of sp_model_new: system, loads, prescribed motion and the tension of fibres. */
int sp_model_assemble(sp_context *context, const sp_model_description *description, sp_model_system *new_system,
                      sp_model *model) SP_MUST_USE;

#endif
