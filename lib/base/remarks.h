/* What a run has to say of itself at its end: sentences that a program prints as warnings and that the library returns
 * as text. They name no file; the caller knows which one they are about. */
#ifndef SP_BASE_REMARKS_H
#define SP_BASE_REMARKS_H

#include "base/context.h"

enum { SP_REMARKS = 16, SP_REMARK_SIZE = 600 };

/* {0}: none. */
typedef struct sp_remarks {
    int count;
    char text[SP_REMARKS][SP_REMARK_SIZE];
} sp_remarks;

/* Adds a sentence, without a full stop at its end. What does not fit is cut off; a seventeenth is dropped. */
void sp_remarks_add(sp_remarks *remarks, const char *format, ...) SP_PRINTF(2, 3);

#endif
