/* The tables of keys by which skeletons are read. skeleton.md and skeleton.schema.json agree with them:
 * tests/unit/skeleton_file.c compares. */
#ifndef SP_FORMATS_SKELETON_INTERNAL_H
#define SP_FORMATS_SKELETON_INTERNAL_H

#include "formats/keys.h"

extern const sp_key_table sp_skeleton_keys; /* the others are reached from it */

enum {
    SP_SKELETON_BONES = 1000
}; /* largest number: columns are dense, 24 bytes for each bone and vertex of the mesh (rigid/skeleton.h) */

#endif
