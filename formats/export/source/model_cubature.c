/* ---- an element ---- */

/* Energy density, stress and tangent at H. */
static void model_evaluate_point(const int *kind, const model_real *c, const model_real *H, int tangent,
                                 model_point *to)
{
    to->W = 0;
    for (int k = 0; k < 9; k++)
        to->P[k] = 0;
    for (int k = 0; k < MODEL_TANGENT && tangent; k++)
        to->A[k] = 0;

    switch (kind[0]) {
#if MODEL_HAS(MODEL_QUADRATIC)
    case MODEL_QUADRATIC:
        model_quadratic_law(c + 8, H, tangent, to);
        break;
#endif
#if MODEL_HAS(MODEL_COROTATIONAL)
    case MODEL_COROTATIONAL:
        model_corotational_law(c, H, tangent, to);
        break;
#endif
    default:
#if MODEL_HAS_INVARIANTS
        model_invariant_law(kind[0], c, H, tangent, to);
#endif
        break;
    }
#if MODEL_HAS_FIBRES
    if (kind[1] != 0)
        model_fibres(kind[1], c, H, tangent, to);
#endif
    for (int p = 0; p < 9 && tangent; p++)
        for (int q = 0; q < p; q++)
            to->A[9 * p + q] = to->A[9 * q + p];
}

/* Numbers of nodes but the first, up to a multiple of MODEL_LANES. */
static int model_stride(const int *shape)
{
    return (shape[2] - 1 + MODEL_LANES - 1) / MODEL_LANES * MODEL_LANES;
}

/* H = sum_a u_a grad N_a^T, u [3, stride]. */
static void model_gradient(int stride, const model_real *MODEL_RESTRICT slope, const model_real *MODEL_RESTRICT u,
                           model_real *H)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            model_real sum[MODEL_LANES] = {0};
            for (int a = 0; a < stride; a += MODEL_LANES)
                for (int t = 0; t < MODEL_LANES; t++)
                    sum[t] += u[i * stride + a + t] * slope[j * stride + a + t];
            H[3 * i + j] = model_sum(sum);
        }
}

/* to [stride] += x slope_x + y slope_y + z slope_z */
static void model_add_slopes(int stride, model_real x, model_real y, model_real z,
                             const model_real *MODEL_RESTRICT slope, model_real *MODEL_RESTRICT to)
{
    for (int a = 0; a < stride; a += MODEL_LANES)
        for (int t = 0; t < MODEL_LANES; t++)
            to[a + t] += x * slope[a + t] + y * slope[stride + a + t] + z * slope[2 * stride + a + t];
}

/* f_a += weight P grad N_a, f [3, stride]. */
static void model_add_stress(int stride, const model_real *slope, model_real weight, const model_real *P, model_real *f)
{
    for (int i = 0; i < 3; i++)
        model_add_slopes(stride, weight * P[3 * i], weight * P[3 * i + 1], weight * P[3 * i + 2], slope,
                         f + i * stride);
}

/* K_ia,kb += weight grad N_a . A . grad N_b for i <= k; K [3, stride, 3, stride]. */
static void model_add_tangent(int nodes, int stride, const model_real *slope, model_real weight, const model_real *A,
                              model_real *K)
{
    model_real half[9][MODEL_ELEMENT_ROWS / 3]; /* sum_j grad_j N_a A_ij,kl */
    for (int i = 0; i < 3; i++) {
        for (int q = 3 * i; q < 9; q++) {
            for (int a = 0; a < stride; a++)
                half[q][a] = 0;
            model_add_slopes(stride, weight * A[27 * i + q], weight * A[27 * i + 9 + q], weight * A[27 * i + 18 + q],
                             slope, half[q]);
        }
        for (int a = 0; a < nodes - 1; a++)
            for (int k = i; k < 3; k++)
                model_add_slopes(stride, half[3 * k][a], half[3 * k + 1][a], half[3 * k + 2][a], slope,
                                 K + ((i * stride + a) * 3 + k) * stride);
    }
}

/* f, the blocks i <= k of K, and the energy of an element whose strain is that of its displacements. */
static model_real model_add_points(const int *shape, const model_real *u, int tangent, model_real *f, model_real *K)
{
    const int stride = model_stride(shape);
    const model_real *at = model_geometry + shape[4];
    model_real energy = 0;

    for (int g = 0; g < shape[3]; g++, at += 1 + 3 * stride) {
        model_real H[9];
        model_point point;
        model_gradient(stride, at + 1, u, H);
        model_evaluate_point(model_kinds + 2 * shape[0], model_constants + MODEL_CONSTANTS * shape[0], H, tangent,
                             &point);
        energy += at[0] * point.W;
        model_add_stress(stride, at + 1, at[0], point.P, f);
        if (tangent)
            model_add_tangent(shape[2], stride, at + 1, at[0], point.A, K);
    }
    return energy;
}

#if MODEL_HAS_ASSUMED
/* ---- hexahedra with an assumed strain, linear in that of the displacements ----
 *
 * With the map E -> E' of the strains at the 8 points the energy is W = 1/2 sum weight E' : C : E', and the stress of
 * the strains E is S(E) = adjoint(C E'):
 *
 *     f_a = sum weight F S(E) grad N_a,   K v = sum weight (grad v S(E) + F S(sym(F^T grad v))) grad N_a. */

enum { MODEL_POINTS = 8, MODEL_CORNERS = 8, MODEL_SLOPES = 1 + 3 * MODEL_CORNERS }; /* the stride is 8 */

typedef model_real model_tensors[MODEL_POINTS][6];

#if MODEL_HAS(MODEL_MEAN_DILATATION)
/* Replaces the trace by its mean over the volume. The map is its own adjoint. */
static void model_average_traces(const model_real *points, model_tensors E)
{
    model_real volume = 0, sum = 0;
    for (int g = 0; g < MODEL_POINTS; g++) {
        volume += points[g * MODEL_SLOPES];
        sum += points[g * MODEL_SLOPES] * (E[g][0] + E[g][1] + E[g][2]);
    }
    for (int g = 0; g < MODEL_POINTS; g++) {
        const model_real change = (sum / volume - (E[g][0] + E[g][1] + E[g][2])) / 3;
        for (int k = 0; k < 3; k++)
            E[g][k] += change;
    }
}
#endif

#if MODEL_HAS(MODEL_INCOMPATIBLE_MODES)
/* E'_g = E_g - sum_j xi_j sym(alpha_j x a_j) / weight_g with B alpha = sum_g xi_j (C E_g) a_j. `modes` has a_j [3, 3]
 * and the lower Cholesky factor of B [9, 9] by rows, with the reciprocals of its diagonal. The modes are orthogonal in
 * the energy, so that the adjoint leaves C E' as it is. */
static void model_condense_modes(const model_real *modes, const model_real *points, const model_real *C,
                                 model_tensors E)
{
    const model_real place = MODEL_NUMBER(0.57735026918962576451), *factor = modes + 9;
    model_real x[9] = {0}, S[6];

    for (int g = 0; g < MODEL_POINTS; g++) {
        model_hooke(C, E[g], S);
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                x[3 * j + i] += (g >> j & 1 ? place : -place) *
                                (S[model_voigt[i][0]] * modes[3 * j] + S[model_voigt[i][1]] * modes[3 * j + 1] +
                                 S[model_voigt[i][2]] * modes[3 * j + 2]);
    }

    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= factor[i * (i + 1) / 2 + k] * x[k];
        x[i] *= factor[i * (i + 1) / 2 + i];
    }
    for (int i = 8; i >= 0; i--) {
        x[i] *= factor[i * (i + 1) / 2 + i];
        for (int k = 0; k < i; k++)
            x[k] -= factor[i * (i + 1) / 2 + k] * x[i];
    }

    for (int g = 0; g < MODEL_POINTS; g++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 6; k++) {
                const int s = model_first[k], t = model_second[k];
                model_real mode = x[3 * j + s] * modes[3 * j + t];
                if (k >= 3)
                    mode += x[3 * j + t] * modes[3 * j + s];
                E[g][k] -= (g >> j & 1 ? place : -place) / points[g * MODEL_SLOPES] * mode;
            }
}
#endif

/* S(E), where E becomes E', and the energy. */
static model_real model_assumed_stress(const int *shape, const model_real *points, model_tensors E, model_tensors S)
{
    const model_real *C = model_constants + MODEL_CONSTANTS * shape[0] + 8;
    model_real energy = 0;

#if MODEL_HAS(MODEL_MEAN_DILATATION)
    if (shape[1] == MODEL_MEAN_DILATATION)
        model_average_traces(points, E);
#endif
#if MODEL_HAS(MODEL_INCOMPATIBLE_MODES)
    if (shape[1] == MODEL_INCOMPATIBLE_MODES)
        model_condense_modes(points - MODEL_MODES, points, C, E);
#endif
    for (int g = 0; g < MODEL_POINTS; g++) {
        model_hooke(C, E[g], S[g]);
        for (int k = 0; k < 6; k++)
            energy += points[g * MODEL_SLOPES] * S[g][k] * E[g][k] / 2;
    }
#if MODEL_HAS(MODEL_MEAN_DILATATION)
    if (shape[1] == MODEL_MEAN_DILATATION)
        model_average_traces(points, S);
#endif
    return energy;
}

/* f += sum weight F S grad N_a. */
static void model_add_stresses(const model_real *points, model_real F[][9], model_tensors S, model_real *f)
{
    for (int g = 0; g < MODEL_POINTS; g++) {
        model_real P[9];
        model_first_stress(F[g], S[g], P);
        model_add_stress(MODEL_CORNERS, points + g * MODEL_SLOPES + 1, points[g * MODEL_SLOPES], P, f);
    }
}

/* The same as model_add_points; all blocks of K. */
static model_real model_add_assumed(const int *shape, const model_real *u, int tangent, model_real *f, model_real *K)
{
    enum { ROWS = 3 * MODEL_CORNERS };
    const model_real *points = model_geometry + shape[4] + (shape[1] == MODEL_INCOMPATIBLE_MODES ? MODEL_MODES : 0);
    model_real F[MODEL_POINTS][9];
    model_tensors E, S;

    for (int g = 0; g < MODEL_POINTS; g++) {
        model_real H[9];
        model_gradient(MODEL_CORNERS, points + g * MODEL_SLOPES + 1, u, H);
        model_deformation(H, F[g]);
        model_green_strain(H, E[g]);
    }
    const model_real energy = model_assumed_stress(shape, points, E, S);
    model_add_stresses(points, F, S, f);
    if (!tangent)
        return energy;

    /* Of the stress: weight grad N_a . S . grad N_b in the three blocks on the diagonal */
    for (int g = 0; g < MODEL_POINTS; g++) {
        const model_real *slope = points + g * MODEL_SLOPES + 1, weight = points[g * MODEL_SLOPES];
        for (int a = 0; a < MODEL_CORNERS - 1; a++) {
            model_real pull[3] = {0};
            for (int k = 0; k < 9; k++)
                pull[k % 3] += weight * slope[k / 3 * MODEL_CORNERS + a] * S[g][model_voigt[k / 3][k % 3]];
            for (int i = 0; i < 3; i++)
                model_add_slopes(MODEL_CORNERS, pull[0], pull[1], pull[2], slope,
                                 K + (i * MODEL_CORNERS + a) * ROWS + i * MODEL_CORNERS);
        }
    }

    /* Row by row: the forces of the stress S(sym(F^T grad v)) of a node's displacement v along the axis i. */
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < MODEL_CORNERS - 1; a++) {
            for (int g = 0; g < MODEL_POINTS; g++) {
                model_real D[9] = {0};
                for (int j = 0; j < 3; j++)
                    D[3 * i + j] = points[g * MODEL_SLOPES + 1 + j * MODEL_CORNERS + a];
                model_strain_of(F[g], D, E[g]);
            }
            model_assumed_stress(shape, points, E, S);
            model_add_stresses(points, F, S, K + (i * MODEL_CORNERS + a) * ROWS);
        }
    return energy;
}
#endif

/* ---- force and stiffness ---- */

/* x . row, of MODEL_WIDTH numbers */
static model_real model_row_times(const model_real *MODEL_RESTRICT row, const model_real *MODEL_RESTRICT x)
{
    model_real sum[MODEL_LANES] = {0};
    for (int i = 0; i < MODEL_WIDTH; i += MODEL_LANES)
        for (int t = 0; t < MODEL_LANES; t++)
            sum[t] += row[i + t] * x[i + t];
    return model_sum(sum);
}

/* to += factor row */
static void model_add_row(model_real factor, const model_real *MODEL_RESTRICT row, model_real *MODEL_RESTRICT to)
{
    for (int i = 0; i < MODEL_WIDTH; i++)
        to[i] += factor * row[i];
}

/* The upper triangle of K += weight B^T K_e B, from the blocks i <= k of K_e. */
static void model_add_element(const model_real *B, int nodes, int stride, model_real weight, model_scratch *w)
{
    const int rows = 3 * stride;
    model_real *K = w->element_K;
    for (int p = stride; p < rows; p++)
        for (int s = 0; s < p / stride * stride; s++)
            K[p * rows + s] = K[s * rows + p];

    for (int p = 0; p < 3 * (nodes - 1); p++) {
        const model_real *row = K + (p / (nodes - 1) * stride + p % (nodes - 1)) * rows, *from = B;
        for (int i = 0; i < MODEL_WIDTH; i++)
            w->row[i] = 0;
        for (int k = 0; k < 3; k++)
            for (int b = 0; b < nodes - 1; b++, from += MODEL_WIDTH)
                model_add_row(weight * row[k * stride + b], from, w->row);
        from = B + p * MODEL_WIDTH;
        for (int i = 0; i < MODEL_R; i++)
            for (int j = i / MODEL_LANES * MODEL_LANES; j < MODEL_WIDTH; j += MODEL_LANES)
                for (int t = 0; t < MODEL_LANES; t++)
                    w->K[i * MODEL_WIDTH + j + t] += from[i] * w->row[j + t];
    }
}

/* Adds one element at w->place; returns how many rows B has. */
static int model_evaluate_element(int element, const model_real *B, int stiffness, model_scratch *w)
{
    const int *shape = model_shapes + MODEL_SHAPE * model_elements[element];
    const int nodes = shape[2], stride = model_stride(shape), rows = 3 * stride;
    const model_real weight = w->factor * model_weights[element];
    model_real energy;

    for (int p = 0; p < rows; p++)
        w->u[p] = w->element_force[p] = 0;
    for (int p = 0; p < 3 * (nodes - 1); p++)
        w->u[p / (nodes - 1) * stride + p % (nodes - 1)] = model_row_times(B + p * MODEL_WIDTH, w->place);
    for (int p = 0; p < rows * rows && stiffness; p++)
        w->element_K[p] = 0;

#if MODEL_HAS_ASSUMED
    if (shape[1] != 0)
        energy = model_add_assumed(shape, w->u, stiffness, w->element_force, w->element_K);
    else
#endif
        energy = model_add_points(shape, w->u, stiffness, w->element_force, w->element_K);

    w->energy += weight * energy;
    for (int p = 0; p < 3 * (nodes - 1); p++)
        model_add_row(weight * w->element_force[p / (nodes - 1) * stride + p % (nodes - 1)], B + p * MODEL_WIDTH,
                      w->force);
    if (stiffness)
        model_add_element(B, nodes, stride, weight, w);
    return 3 * (nodes - 1);
}

/* f and W at q, and with `stiffness` K. */
static void model_evaluate(model_state *state, const model_real *q, int stiffness)
{
    model_scratch *w = &state->scratch;
    const model_real *B = model_rows;
    if (model_kept(state, q, stiffness))
        return;

    /* The linear part */
    w->energy = 0;
    for (int i = 0; i < MODEL_WIDTH; i++)
        w->force[i] = 0;
    for (int i = 0; i < MODEL_R; i++) {
        w->force[i] = w->factor * model_row_times(model_correction + i * MODEL_WIDTH, w->place);
        w->energy += w->place[i] * w->force[i] / 2;
    }
    for (int i = 0; i < MODEL_MATRIX && stiffness; i++)
        w->K[i] = w->factor * model_correction[i];

    for (int e = 0; e < MODEL_ELEMENTS; e++)
        B += MODEL_WIDTH * model_evaluate_element(e, B, stiffness, w);

    for (int i = 0; i < MODEL_R && stiffness; i++)
        for (int j = 0; j < i; j++)
            w->K[i * MODEL_WIDTH + j] = w->K[j * MODEL_WIDTH + i];
}
