/* The energy balance of a motion. */
#ifndef TOOLS_SIMULATE_ENERGY_H
#define TOOLS_SIMULATE_ENERGY_H

#include "tools/simulate/simulation.h"

/* Over the recorded frames. The energy input until a time is the energy at the start plus the largest work of external
 * forces, moving supports and springs so far; with bones, also their largest kinetic energy. */
typedef struct simulate_energy {
    double first[SP_WORK_COUNT], last[SP_WORK_COUNT]; /* J */
    double drift, largest; /* J: largest deviation of the energy from its balance; largest energy or work */
    double balance;        /* drift divided by largest; 0 if nothing moved */
    double work, bones;    /* J, largest so far: work; kinetic energy of bones, with which the body exchanges energy */
    double gained, put, time; /* J: largest unexplained energy, if it exceeds half of the input until then; that input;
                                 its time, s. 0: never */
} simulate_energy;

/* energy->first and then, frame by frame, energy->last are the energies of simulation_record. */
void energy_begin(simulate_energy *energy);
void energy_watch(const simulation *s, simulate_energy *energy, double time);

/* Warns of unexplained energy, and of semi-implicit steps with a large deviation from the balance. */
void energy_judge(const simulation *s, simulate_energy *energy);

#endif
