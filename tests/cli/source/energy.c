/* The strain energy at the coordinates of each line. */
#include "model.h"

#include <stdio.h>

int main(void)
{
    static model_state state;
    double x;
    model_init(&state);
    for (int i = 0; scanf("%lf", &x) == 1;) {
        state.q[i++] = (model_real)x;
        if (i < MODEL_R)
            continue;
        printf("%.17g\n", (double)model_energy(&state, NULL));
        i = 0;
    }
    return 0;
}
