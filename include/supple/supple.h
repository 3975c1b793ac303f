/* libsupple: reduced-order deformable bodies and their scenes, for programs that embed them. docs/embedding.md explains
 * which part to use for what. */
#ifndef SUPPLE_SUPPLE_H
#define SUPPLE_SUPPLE_H

#include <supple/batch.h>
#include <supple/body.h>
#include <supple/scene.h>
#include <supple/status.h>

#endif
