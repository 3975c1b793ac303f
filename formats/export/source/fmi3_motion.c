/* ---- co-simulation ---- */

/* How many internal steps of which length make a communication step: those of the length `step` where it is a multiple,
 * else the fewest equal ones that are shorter. 0: too many. */
static long model_divide(double communication, double step, double *dt)
{
    const double ratio = communication / step, most = 1e8;
    if (!(ratio < most))
        return 0;
    const long nearest = (long)(ratio + 0.5), less = (long)ratio;
    const double off = ratio - (double)nearest;
    if (nearest > 0 && (off < 0 ? -off : off) <= 1e-9 * ratio) {
        *dt = step;
        return nearest;
    }
    *dt = communication / (double)(less + 1);
    return less + 1;
}

FMI3_API fmi3Status FMI3(DoStep)(fmi3Instance instance, fmi3Float64 from, fmi3Float64 communication,
                                 fmi3Boolean no_earlier_state, fmi3Boolean *event, fmi3Boolean *terminate,
                                 fmi3Boolean *early, fmi3Float64 *last)
{
    static const char call[] = "fmi3DoStep";
    model_instance *it = instance;
    unsigned char before[offsetof(model_state, scratch)];
    double total[MODEL_R], dt;
    (void)no_earlier_state;
    if (!model_may(it, call, COSIMULATION, STEP))
        return fmi3Error;

    if (!(communication > 0) || !model_is_number(communication) || !model_is_number(from))
        return model_say(it, fmi3Error, call, "the communication step %g is not a positive number", communication);
    const double rounding = 1e-6 * communication + 1e-14 * (from < 0 ? -from : from), end = from + communication;
    if (from > it->time + rounding || from < it->time - rounding)
        return model_say(it, fmi3Error, call, "the step begins at %g s, but the model is at %g s", from, it->time);
    if (it->stop_defined && end > it->stop + rounding)
        return model_say(it, fmi3Error, call, "the step ends at %g s, after the stop time %g s", end, it->stop);

    const long count = model_divide(communication, it->step, &dt);
    memcpy(before, &it->body, sizeof before);
    if (count == 0 || model_set_step(&it->body, dt) != MODEL_OK)
        return model_say(it, fmi3Error, call, "the internal step %g s is too short for a communication step of %g s",
                         it->step, communication);
    model_gather(it->force, total);

    /* Inputs hold from the start of the step on: the acceleration there is that of the new ones. */
    if (it->jumped && model_start(&it->body, total) != MODEL_OK) {
        memcpy(&it->body, before, sizeof before);
        return model_say(it, fmi3Discard, call, "the acceleration at the start is not a finite number");
    }
    for (long i = 0; i < count; i++)
        if (model_step(&it->body, total) != MODEL_OK) {
            memcpy(&it->body, before, sizeof before);
            return model_say(it, fmi3Discard, call,
                             "an internal step of %g s at %g s does not converge: make it shorter", dt,
                             from + (double)i * dt);
        }

    it->time = end;
    it->jumped = 0;
    if (event)
        *event = false;
    if (terminate)
        *terminate = false;
    if (early)
        *early = false;
    if (last)
        *last = end;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(EnterStepMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EnterStepMode", "this FMU has no Event Mode in co-simulation");
}

FMI3_API fmi3Status FMI3(GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference references[],
                                               size_t count, const fmi3Int32 orders[], fmi3Float64 values[],
                                               size_t value_count)
{
    (void)references, (void)count, (void)orders, (void)values, (void)value_count;
    return model_say(instance, fmi3Error, "fmi3GetOutputDerivatives", "this FMU does not have this function");
}

/* ---- model exchange ---- */

FMI3_API fmi3Status FMI3(SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    model_instance *it = instance;
    if (!model_may(it, "fmi3SetTime", EXCHANGE, CONTINUOUS))
        return fmi3Error;
    if (!model_is_number(time))
        return model_say(it, fmi3Error, "fmi3SetTime", "the time is not a finite number");
    it->time = time;
    return fmi3OK;
}

static fmi3Status model_check_states(const model_instance *it, const char *call, unsigned modes, const double *values,
                                     size_t count)
{
    if (!model_may(it, call, EXCHANGE, modes))
        return fmi3Error;
    if (count != 2 * MODEL_R || !values)
        return model_say(it, fmi3Error, call, "there are %d continuous states, not %lu", 2 * MODEL_R,
                         (unsigned long)count);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SetContinuousStates)(fmi3Instance instance, const fmi3Float64 states[], size_t count)
{
    static const char call[] = "fmi3SetContinuousStates";
    model_instance *it = instance;
    if (model_check_states(it, call, CONTINUOUS, states, count) != fmi3OK)
        return fmi3Error;
    for (int i = 0; i < 2 * MODEL_R; i++)
        if (!model_is_number(states[i]))
            return model_say(it, fmi3Discard, call, "the state %d is not a finite number", i);
    memcpy(it->body.q, states, sizeof it->body.q);
    memcpy(it->body.v, states + MODEL_R, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetContinuousStates)(fmi3Instance instance, fmi3Float64 states[], size_t count)
{
    model_instance *it = instance;
    if (model_check_states(it, "fmi3GetContinuousStates", RUNNING, states, count) != fmi3OK)
        return fmi3Error;
    memcpy(states, it->body.q, sizeof it->body.q);
    memcpy(states + MODEL_R, it->body.v, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 derivatives[], size_t count)
{
    static const char call[] = "fmi3GetContinuousStateDerivatives";
    model_instance *it = instance;
    if (model_check_states(it, call, RUNNING, derivatives, count) != fmi3OK)
        return fmi3Error;
    if (!model_accelerate(it, derivatives + MODEL_R))
        return model_say(it, fmi3Discard, call, "the acceleration is not a finite number");
    memcpy(derivatives, it->body.v, sizeof it->body.v);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[], size_t count)
{
    if (model_check_states(instance, "fmi3GetNominalsOfContinuousStates", RUNNING | TERMINATED, nominals, count) !=
        fmi3OK)
        return fmi3Error;
    for (int i = 0; i < 2 * MODEL_R; i++)
        nominals[i] = 1;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    if (!model_may(instance, "fmi3GetNumberOfContinuousStates", EXCHANGE, INSTANTIATED | RUNNING | TERMINATED) ||
        !count)
        return fmi3Error;
    *count = 2 * MODEL_R;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    if (!model_may(instance, "fmi3GetNumberOfEventIndicators", EXCHANGE, INSTANTIATED | RUNNING | TERMINATED) || !count)
        return fmi3Error;
    *count = 0;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetEventIndicators)(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    (void)indicators;
    if (!model_may(instance, "fmi3GetEventIndicators", EXCHANGE, RUNNING))
        return fmi3Error;
    return count ? model_say(instance, fmi3Error, "fmi3GetEventIndicators", "this FMU has no event indicators")
                 : fmi3OK;
}

FMI3_API fmi3Status FMI3(CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_earlier_state,
                                                  fmi3Boolean *event, fmi3Boolean *terminate)
{
    (void)no_earlier_state;
    if (!model_may(instance, "fmi3CompletedIntegratorStep", EXCHANGE, CONTINUOUS))
        return fmi3Error;
    if (event)
        *event = false;
    if (terminate)
        *terminate = false;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
                                               fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                               fmi3Boolean *next_defined, fmi3Float64 *next)
{
    fmi3Boolean *const answers[] = {again, terminate, nominals_changed, values_changed, next_defined};
    if (!model_may(instance, "fmi3UpdateDiscreteStates", EXCHANGE, EVENT))
        return fmi3Error;
    for (int i = 0; i < 5; i++)
        if (answers[i])
            *answers[i] = false;
    if (next)
        *next = 0;
    return fmi3OK;
}

/* ---- directional derivatives ----
 *
 * Of the acceleration a = M^-1 (F - f - beta K v) + g - alpha v and of the outputs, along changes of the states, the
 * forces and the parameters. M is proportional to the factor of the density, f and K to that of the stiffness. */

typedef struct model_change {
    double time, alpha, beta, gravity[3], stiffness, density, force[FORCES + 1], q[MODEL_R], v[MODEL_R];
} model_change;

static double model_product(const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < MODEL_R; i++)
        sum += x[i] * y[i];
    return sum;
}

static double model_length(const double *x)
{
    double largest = 0;
    for (int i = 0; i < MODEL_R; i++)
        largest = x[i] > largest ? x[i] : -x[i] > largest ? -x[i] : largest;
    return largest;
}

/* to += factor K(q) x, with the workspace K. */
static void model_add_stiff(model_instance *it, const double *q, const double *x, double factor, double *K, double *to)
{
    model_stiffness(&it->body, q, K);
    for (int i = 0; i < MODEL_R; i++)
        to[i] += factor * model_product(K + i * MODEL_R, x);
}

/* to += factor (dK(q) along `change`) x, by a central difference. It is exact where K is quadratic in q, over any
 * distance. Else it is taken over 1e-4 of q, so that its error is about 1e-8 of the change. */
static void model_add_bent(model_instance *it, const double *change, const double *x, double factor, double *K,
                           double *to)
{
    const double size = model_length(change), reach = model_length(it->body.q), far = it->step * model_length(x);
    const double s = size > 0 ? (MODEL_CUBIC ? 1 : 1e-4) * (reach > far ? reach : far) / size : 0;
    double place[MODEL_R];
    if (!(s > 0)) /* no change, or x = 0 */
        return;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < MODEL_R; i++)
            place[i] = it->body.q[i] + sign * s * change[i];
        model_add_stiff(it, place, x, sign * factor / (2 * s), K, to);
    }
}

/* Changes of a and of both energies. */
static int model_differentiate(model_instance *it, const model_change *by, double da[MODEL_R], double *strain,
                               double *kinetic)
{
    model_state *body = &it->body;
    const double alpha = body->damping_mass, beta = body->damping_stiffness,
                 stiffer = by->stiffness / body->stiffness_factor, denser = by->density / body->density_factor;
    const double rest[MODEL_R] = {0};
    double matrix[MODEL_R * MODEL_R], moved[MODEL_R], load[MODEL_R], f[MODEL_R], total[MODEL_R], gravity[3];

    /* Both energies along the direction: W' = f q' + W stiffness'/stiffness, T' = v M v' + T density'/density. */
    model_force(body, NULL, f);
    *strain = model_product(f, by->q) + stiffer * model_energy(body, NULL);
    model_mass(body, matrix);
    *kinetic = denser * model_kinetic_energy(body);
    for (int i = 0; i < MODEL_R; i++)
        *kinetic += by->v[i] * model_product(matrix + i * MODEL_R, body->v);
    model_gather(it->force, load);

    model_gather(by->force, total);
    for (int i = 0; i < MODEL_R; i++) {
        total[i] += (denser - stiffer) * f[i] - denser * load[i];
        moved[i] = by->q[i] + beta * by->v[i] + (by->beta + beta * (stiffer - denser)) * body->v[i];
    }

    model_add_stiff(it, body->q, moved, -1, matrix, total);
    if (beta > 0)
        model_add_bent(it, by->q, body->v, -beta, matrix, total);

    memcpy(gravity, body->gravity, sizeof gravity); /* at rest, and with the change of gravity, a is linear */
    memcpy(body->gravity, by->gravity, sizeof gravity);
    const int status = model_acceleration(body, rest, rest, total, da);
    memcpy(body->gravity, gravity, sizeof gravity);

    for (int i = 0; i < MODEL_R; i++)
        da[i] -= alpha * by->v[i] + by->alpha * body->v[i];
    return status == MODEL_OK;
}

/* The place of the change of a known; NULL: it is none. */
static double *model_known(model_change *by, fmi3ValueReference reference)
{
    switch (reference) {
    case MODEL_VR_TIME:
        return &by->time;
    case MODEL_VR_ALPHA:
        return &by->alpha;
    case MODEL_VR_BETA:
        return &by->beta;
    case MODEL_VR_STIFFNESS:
        return &by->stiffness;
    case MODEL_VR_DENSITY:
        return &by->density;
    default:
        break;
    }
    if (model_is(reference, MODEL_VR_GRAVITY, 3))
        return by->gravity + (reference - MODEL_VR_GRAVITY);
    if (model_is(reference, MODEL_VR_FORCE, FORCES))
        return by->force + (reference - MODEL_VR_FORCE);
    if (model_is(reference, MODEL_VR_Q, MODEL_R))
        return by->q + (reference - MODEL_VR_Q);
    return model_is(reference, MODEL_VR_V, MODEL_R) ? by->v + (reference - MODEL_VR_V) : NULL;
}

static int model_is_unknown(fmi3ValueReference reference)
{
    return model_is(reference, MODEL_VR_DISPLACEMENT, FORCES) || model_is(reference, MODEL_VR_VELOCITY, FORCES) ||
           reference == MODEL_VR_STRAIN || reference == MODEL_VR_KINETIC || model_is(reference, MODEL_VR_V, MODEL_R) ||
           model_is(reference, MODEL_VR_A, MODEL_R);
}

/* The change of component i of a displacement or a velocity, of which the coordinates change by x. */
static double model_probe_change(int i, const double *x)
{
    double unit[FORCES + 1] = {0}, row[MODEL_R];
    unit[i] = 1;
    model_gather(unit, row);
    return model_product(row, x);
}

FMI3_API fmi3Status FMI3(GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                                   size_t unknown_count, const fmi3ValueReference knowns[],
                                                   size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                   fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    static const char call[] = "fmi3GetDirectionalDerivative";
    model_instance *it = instance;
    model_change by = {0};
    double da[MODEL_R], strain, kinetic;

    if (!model_may(it, call, ALL_KINDS, RUNNING))
        return fmi3Error;
    if (seed_count != known_count || sensitivity_count != unknown_count || (known_count && (!knowns || !seed)) ||
        (unknown_count && (!unknowns || !sensitivity)))
        return model_say(it, fmi3Error, call, "%lu knowns and %lu seeds, %lu unknowns and %lu sensitivities",
                         (unsigned long)known_count, (unsigned long)seed_count, (unsigned long)unknown_count,
                         (unsigned long)sensitivity_count);

    for (size_t i = 0; i < known_count; i++) {
        double *place = model_known(&by, knowns[i]);
        if (!place)
            return model_say(it, fmi3Error, call, "the variable %lu is not a known", (unsigned long)knowns[i]);
        *place += seed[i];
    }

    for (size_t i = 0; i < unknown_count; i++)
        if (!model_is_unknown(unknowns[i]))
            return model_say(it, fmi3Error, call, "the variable %lu is not an unknown", (unsigned long)unknowns[i]);

    if (!model_differentiate(it, &by, da, &strain, &kinetic))
        return model_say(it, fmi3Discard, call, "the derivative is not a finite number");

    for (size_t i = 0; i < unknown_count; i++) {
        const fmi3ValueReference u = unknowns[i];
        if (u == MODEL_VR_STRAIN || u == MODEL_VR_KINETIC)
            sensitivity[i] = u == MODEL_VR_STRAIN ? strain : kinetic;
        else if (model_is(u, MODEL_VR_A, MODEL_R))
            sensitivity[i] = da[u - MODEL_VR_A];
        else if (model_is(u, MODEL_VR_V, MODEL_R))
            sensitivity[i] = by.v[u - MODEL_VR_V];
        else if (model_is(u, MODEL_VR_DISPLACEMENT, FORCES))
            sensitivity[i] = model_probe_change((int)(u - MODEL_VR_DISPLACEMENT), by.q);
        else
            sensitivity[i] = model_probe_change((int)(u - MODEL_VR_VELOCITY), by.v);
    }
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                               size_t unknown_count, const fmi3ValueReference knowns[],
                                               size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                               fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)seed_count;
    (void)sensitivity, (void)sensitivity_count;
    return model_say(instance, fmi3Error, "fmi3GetAdjointDerivative", "this FMU does not have this function");
}
