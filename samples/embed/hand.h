/* What hand.c and hand-shared.c share: the script of the hand, in place of a device, and the rows that they print. */
#ifndef HAND_H
#define HAND_H

#include <math.h>
#include <stdio.h>

enum { HAND_MOST = 100000 };
static double hand_script[HAND_MOST][7]; /* x, y, z, qw, qx, qy, qz for each step, from that at the start on */
static double hand_force, hand_time;     /* the largest force so far, N, and when, s */

/* Reads the path of a scene, one line for each step. Returns the number of lines, 0 after a failure. */
static int hand_read(const char *path)
{
    FILE *file = fopen(path, "r");
    int count = 0;
    while (file && count < HAND_MOST && !ferror(file) && !feof(file)) {
        double *p = hand_script[count];
        if (fscanf(file, "%*f,%lf,%lf,%lf,%lf,%lf,%lf,%lf", p, p + 1, p + 2, p + 3, p + 4, p + 5, p + 6) == 7)
            count++;
        else
            (void)!fscanf(file, "%*[^\n]"); /* the header */
    }
    if (file)
        fclose(file);
    return count;
}

static void hand_header(const char *body, const char *more)
{
    printf("step,time,hand_x,hand_y,hand_z,%s.x,%s.y,%s.z,device_fx,device_fy,device_fz%s\n", body, body, body, more);
}

/* Positions of hand and body [3], and the force that the device renders [3]; `since` s: from the start of the script.
 * The columns have the names that simexport gives them. */
static void hand_row(int step, double time, double since, const double *hand, const double *body, const double *force)
{
    const double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
    if (size > hand_force) {
        hand_force = size;
        hand_time = since;
    }
    printf("%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", step, time, hand[0], hand[1], hand[2],
           body[0], body[1], body[2], force[0], force[1], force[2]);
}

#endif
