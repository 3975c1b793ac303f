/* The members that the format pages name, so that readers do not keep others in memory. */
#ifndef SP_FORMATS_KNOWN_H
#define SP_FORMATS_KNOWN_H

#include <stdbool.h>

/* Whether files of this kind can have a member of this name. With the kind "" (a foreign file, or one whose kind is not
 * known yet) any kind counts; of a kind that has no page, every name is known. */
bool sp_member_known(const char *kind, const char *name);

#endif
