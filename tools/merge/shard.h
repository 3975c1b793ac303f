/* The shards that simmerge joins: files that processes wrote with --shard, and what they must have in common. */
#ifndef TOOLS_MERGE_SHARD_H
#define TOOLS_MERGE_SHARD_H

#include "tools/common/inputs.h"

/* A file, of which the kind has read its own part. */
typedef struct merge_shard {
    const char *path;
    json_t *meta, *result; /* owned */
    int64_t first, end, total;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH]; /* basis: "" where the kind has none */
    sp_pool pool;
    void *data; /* of the kind */
} merge_shard;

typedef struct merge_kind {
    const char *kind;  /* of the shards */
    const char *whole; /* kind of the joined file */
    const char *items; /* for messages: "poses" */
    /* Reads the data, and first, end, total and the hashes; fails for a file that is no shard, unless it is whole. */
    void (*read)(sp_context *context, sp_file *file, merge_shard *shard);
    /* For files that are larger than memory, in the place of `read`: opens the file itself, and sets meta and result
     * too. NULL: `read` gets the file. */
    void (*open)(sp_context *context, merge_shard *shard);
    /* Fails if two shards differ in a way of the kind. */
    void (*compare)(const merge_shard *a, const merge_shard *b);
    /* Writes the whole from shards that are sorted and complete, and returns its result, without warnings. mesh: the
     * path of a mesh on the command line, or NULL. */
    json_t *(*join)(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output);
    void (*release)(merge_shard *shard);
    bool needs_mesh;
} merge_kind;

extern const merge_kind merge_training, merge_derivatives, merge_snapshots, merge_polynomials, merge_ensemble;

/* Reads the shards and checks that they belong together; sorts them. */
void merge_read(sp_context *context, const merge_kind *kind, int64_t count, const char *const *paths,
                merge_shard *shards);

/* The meta of the run without --shard: how the work was divided is not recorded. Names of inputs are those of the first
 * shard. A file that another program made has no record to keep. */
json_t *merge_meta(const char *whole, const merge_shard *first);

/* Each warning of the shards once, then those of this program. */
json_t *merge_warnings(int64_t count, const merge_shard *shards, json_t *own);

/* An integer of a shard's result, 0 if there is none; the sum and the maximum of a member over all shards. */
int64_t merge_integer(const merge_shard *shard, const char *name);
int64_t merge_sum(int64_t count, const merge_shard *shards, const char *name);
double merge_largest(int64_t count, const merge_shard *shards, const char *name);

#endif
