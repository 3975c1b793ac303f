/* Where input files come from. The programs read them with a record of their provenance and end the process when that
 * fails; the public library reads them plainly and returns a status. Whatever reads the files of a model goes through
 * this interface, so that both refuse the same files with the same messages. */
#ifndef SP_API_SOURCE_H
#define SP_API_SOURCE_H

#include "formats/file.h"

typedef struct sp_source sp_source;

struct sp_source {
    sp_context *context; /* of failures */
    void *data;          /* of the callbacks */
    const char *failed;  /* after a failure: the path of the file that it is about; NULL: of none */
    /* Reads one of our files, as sp_file_read does. key is the option that named the path, or "model.key" of a scene;
     * NULL: an argument. */
    int (*file)(sp_source *source, const char *path, const char *key, const char *const *kinds, bool foreign,
                sp_file *file) SP_MUST_USE;
    /* Reads a text, terminated by a 0 that *count does not include. json: of at most SP_JSON_BYTES. key "": the text is
     * an argument and names the files that are read next. */
    int (*text)(sp_source *source, const char *path, const char *key, bool json, sp_pool *pool, int64_t *count,
                char **text) SP_MUST_USE;
    /* A remark on a file that does not prevent its use. */
    void (*warn)(sp_source *source, const char *path, const char *text);
    /* A file that an input names, whether or not it is read; NULL: not of interest. */
    void (*named)(sp_source *source, const char *path);
};

/* Files and pipes of the file system, without a record; warnings are dropped. */
void sp_source_plain(sp_context *context, sp_source *source);

/* Remembers the path if the status is a failure, and returns the status. */
int sp_source_about(sp_source *source, const char *path, int status) SP_MUST_USE;

/* Formats a message about a file and returns the status. */
int sp_source_fail(sp_source *source, int status, const char *path, const char *format, ...) SP_PRINTF(4, 5);
void sp_source_warn(sp_source *source, const char *path, const char *format, ...) SP_PRINTF(3, 4);

#endif
