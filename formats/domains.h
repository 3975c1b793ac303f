/* Files of the type domains (domains.md). */
#ifndef SP_FORMATS_DOMAINS_H
#define SP_FORMATS_DOMAINS_H

#include "domains/domains.h"
#include "formats/file.h"

/* Moves the arrays from `file` to `domains` and checks what the page states: ranges, order, interfaces in pairs, a tree
 * without cycles. What depends on the mesh is not checked: sp_domains_match does. mesh receives the hash of the mesh.
 */
int sp_domains_read(sp_context *context, sp_file *file, sp_domains *domains, char mesh[SP_HASH_LENGTH]) SP_MUST_USE;

/* SP_INPUT if the domains cannot be those of a mesh with so many elements and vertices, or one has no element. */
int sp_domains_match(sp_context *context, const sp_domains *domains, int64_t elements, int64_t vertices) SP_MUST_USE;

/* meta must already have "mesh". */
int sp_domains_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_domains *domains) SP_MUST_USE;

#endif
