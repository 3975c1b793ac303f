/* ---- force, stiffness and energy ---- */

void model_force(model_state *state, const model_real *q, model_real *f)
{
    model_evaluate(state, q ? q : state->q, 0);
    model_copy(state->scratch.force, f);
}

void model_stiffness(model_state *state, const model_real *q, model_real *K)
{
    model_evaluate(state, q ? q : state->q, 1);
    for (int i = 0; i < MODEL_R; i++)
        model_copy(state->scratch.K + i * MODEL_WIDTH, K + i * MODEL_R);
}

model_real model_energy(model_state *state, const model_real *q)
{
    model_evaluate(state, q ? q : state->q, 0);
    return state->scratch.energy;
}

/* ---- mass, damping and external forces ---- */

void model_mass(const model_state *state, model_real *M)
{
    for (int i = 0; i < MODEL_R; i++)
        for (int j = 0; j < MODEL_R; j++)
            M[i * MODEL_R + j] = state->density_factor * model_mass_matrix[i * MODEL_WIDTH + j];
}

/* y = M x. */
static void model_mass_times(const model_state *state, const model_real *x, model_real *y)
{
    model_times(model_mass_matrix, x, y);
    for (int i = 0; i < MODEL_R; i++)
        y[i] *= state->density_factor;
}

model_real model_kinetic_energy(const model_state *state)
{
    model_real product[MODEL_WIDTH];
    model_mass_times(state, state->v, product);
    return model_dot(state->v, product) / 2;
}

/* `damping` = (alpha M + beta K(q)) v. */
static void model_damp(model_state *state, const model_real *q, const model_real *v)
{
    const model_real alpha = state->damping_mass, beta = state->damping_stiffness;
    model_real *damping = state->scratch.damping, *product = state->scratch.product;
    for (int i = 0; i < MODEL_WIDTH; i++)
        damping[i] = 0;
    if (beta > 0) {
        model_evaluate(state, q, 1);
        model_times(state->scratch.K, v, damping);
    }
    if (alpha > 0)
        model_mass_times(state, v, product);
    for (int i = 0; i < MODEL_R; i++)
        damping[i] = beta * damping[i] + (alpha > 0 ? alpha * product[i] : 0);
}

/* The force and that of gravity, into `external`. */
static void model_load(model_state *state, const model_real *force)
{
    const model_real *g = state->gravity;
    for (int i = 0; i < MODEL_R; i++)
        state->scratch.external[i] =
            state->density_factor *
                (model_gravity[3 * i] * g[0] + model_gravity[3 * i + 1] * g[1] + model_gravity[3 * i + 2] * g[2]) +
            (force ? force[i] : 0);
}

/* ---- linear equations ---- */

/* S, of which the upper triangle is read, becomes D U with U = L^T of S = L D L^T, and `inverse` that of D. Returns 0
 * where S is not positive definite. */
static int model_factor(model_real *MODEL_RESTRICT S, model_real *MODEL_RESTRICT inverse)
{
    for (int k = 0; k < MODEL_R; k++) {
        const model_real pivot = S[k * MODEL_WIDTH + k];
        if (!(pivot > 0) || !model_finite(pivot))
            return 0;
        inverse[k] = 1 / pivot;

        for (int j = k + 1; j < MODEL_R; j++) {
            const model_real factor = S[k * MODEL_WIDTH + j] * inverse[k];
            const model_real *MODEL_RESTRICT from = S + k * MODEL_WIDTH;
            model_real *MODEL_RESTRICT to = S + j * MODEL_WIDTH;
            for (int l = j / 4 * 4; l < MODEL_WIDTH; l += 4) /* what is below the diagonal is never read */
                for (int t = 0; t < 4; t++)
                    to[l + t] -= factor * from[l + t];
        }
    }
    return 1;
}

/* x = S^-1 b from the factors; x may be b. */
static void model_solve(const model_real *S, const model_real *inverse, const model_real *b, model_real *x)
{
    if (x != b)
        model_copy(b, x);
    for (int k = 0; k < MODEL_R; k++) {
        const model_real factor = x[k] * inverse[k];
        for (int l = k + 1; l < MODEL_R; l++)
            x[l] -= factor * S[k * MODEL_WIDTH + l];
    }
    for (int k = MODEL_R - 1; k >= 0; k--) {
        model_real sum = x[k];
        for (int l = k + 1; l < MODEL_R; l++)
            sum -= S[k * MODEL_WIDTH + l] * x[l];
        x[k] = sum * inverse[k];
    }
}

/* The eigenvectors of S, whose upper triangle is read, and `inverse` of the absolute values of its eigenvalues, none of
 * which counts as less than 1e-8 of the largest. Returns 0 where S is singular. */
static int model_decompose(model_scratch *w)
{
    const model_real rounding = MODEL_NUMBER(MODEL_SINGLE ? 5e-7 : 1e-15) * MODEL_R;
    model_real largest = 0, smallest;

    for (int i = 0; i < MODEL_R; i++)
        for (int j = i; j < MODEL_R; j++) {
            w->A[i * MODEL_WIDTH + j] = w->A[j * MODEL_WIDTH + i] = w->S[i * MODEL_WIDTH + j];
            w->V[i * MODEL_WIDTH + j] = w->V[j * MODEL_WIDTH + i] = i == j;
        }

    if (!model_finite(model_size_of(MODEL_R, MODEL_WIDTH, w->A)))
        return 0;
    model_diagonalize(MODEL_R, MODEL_WIDTH, w->A, w->V);

    /* Diagonal entries of A are the eigenvalues then. */
    smallest = model_magnitude(w->A[0]);
    for (int i = 0; i < MODEL_R; i++) {
        w->inverse[i] = model_magnitude(w->A[i * MODEL_WIDTH + i]);
        largest = model_larger(largest, w->inverse[i]);
        smallest = w->inverse[i] < smallest ? w->inverse[i] : smallest;
    }

    if (!(smallest > rounding * largest))
        return 0;

    for (int i = 0; i < MODEL_R; i++)
        w->inverse[i] = 1 / model_larger(w->inverse[i], MODEL_NUMBER(1e-8) * largest);
    return 1;
}

/* x = V^T |D|^-1 V b. */
static void model_solve_decomposed(const model_scratch *w, const model_real *b, model_real *x)
{
    for (int k = 0; k < MODEL_R; k++)
        x[k] = 0;
    for (int i = 0; i < MODEL_R; i++) {
        const model_real *row = w->V + i * MODEL_WIDTH, part = model_dot(row, b) * w->inverse[i];
        for (int k = 0; k < MODEL_R; k++)
            x[k] += part * row[k];
    }
}
