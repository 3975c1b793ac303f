/* ---- saved states ---- */

static void model_save(const model_instance *it, model_saved *to)
{
    memset(to, 0, sizeof *to);
    memcpy(to->token, MODEL_TOKEN, sizeof to->token);
    to->kind = (int32_t)it->kind;
    to->mode = (int32_t)it->mode;
    to->stop_defined = it->stop_defined;
    to->jumped = it->jumped;
    to->time = it->time;
    to->stop = it->stop;
    to->step = it->step;
    memcpy(to->force, it->force, sizeof to->force);
    memcpy(to->body, &it->body, sizeof to->body);
}

/* NULL, or why these bytes are no state of such an instance. */
static const char *model_saved_fault(const model_instance *it, const model_saved *from)
{
    const int32_t mode = from->mode;
    if (memcmp(from->token, MODEL_TOKEN, sizeof from->token))
        return "it belongs to another FMU";
    if (from->kind != (int32_t)it->kind)
        return "it belongs to an instance of the other kind";
    if (mode <= 0 || mode > TERMINATED || (mode & (mode - 1)) ||
        (mode & (it->kind == EXCHANGE ? STEP : EVENT | CONTINUOUS)))
        return "its bytes are damaged";
    return NULL;
}

FMI3_API fmi3Status FMI3(GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    const model_instance *it = instance;
    if (!it || !state)
        return model_say(it, fmi3Error, "fmi3GetFMUState", "FMUState is NULL");
    model_saved *to = *state ? *state : malloc(sizeof *to);
    if (!to)
        return model_say(it, fmi3Error, "fmi3GetFMUState", "out of memory");
    model_save(it, to);
    *state = to;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    model_instance *it = instance;
    const model_saved *from = state;
    const char *fault = !it || !from ? "it is NULL" : model_saved_fault(it, from);

    if (fault)
        return model_say(it, fmi3Error, "fmi3SetFMUState", "%s", fault);

    it->mode = (enum mode)from->mode;
    it->stop_defined = from->stop_defined;
    it->jumped = from->jumped != 0;
    it->time = from->time;
    it->stop = from->stop;
    it->step = from->step;
    memcpy(it->force, from->force, sizeof it->force);
    memcpy(&it->body, from->body, sizeof from->body);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (!instance)
        return fmi3Error;
    if (state) {
        free(*state);
        *state = NULL;
    }
    return fmi3OK;
}

/* FNV-1a of the bytes, which follows a serialized state. */
static uint64_t model_checksum(const void *data, size_t count)
{
    const unsigned char *bytes = data;
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

FMI3_API fmi3Status FMI3(SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    if (!instance || !state || !size)
        return model_say(instance, fmi3Error, "fmi3SerializedFMUStateSize", "an argument is NULL");
    *size = MODEL_SERIALIZED;
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (!instance || !state || !bytes || size < MODEL_SERIALIZED)
        return model_say(instance, fmi3Error, "fmi3SerializeFMUState", "the state needs %lu bytes, not %lu",
                         (unsigned long)MODEL_SERIALIZED, (unsigned long)size);
    const uint64_t sum = model_checksum(state, sizeof(model_saved));
    memcpy(bytes, state, sizeof(model_saved));
    memcpy(bytes + sizeof(model_saved), &sum, sizeof sum);
    return fmi3OK;
}

FMI3_API fmi3Status FMI3(DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                              fmi3FMUState *state)
{
    static const char call[] = "fmi3DeserializeFMUState";
    const model_instance *it = instance;
    model_saved from;
    uint64_t sum;
    if (!it || !bytes || !state || size != MODEL_SERIALIZED)
        return model_say(it, fmi3Error, call, "a state has %lu bytes, not %lu", (unsigned long)MODEL_SERIALIZED,
                         (unsigned long)size);
    memcpy(&from, bytes, sizeof from);
    memcpy(&sum, bytes + sizeof from, sizeof sum);
    const char *fault = model_saved_fault(it, &from);
    if (!fault && sum != model_checksum(&from, sizeof from))
        fault = "its bytes are damaged";
    if (fault)
        return model_say(it, fmi3Error, call, "%s", fault);

    model_saved *to = *state ? *state : malloc(sizeof *to);
    if (!to)
        return model_say(it, fmi3Error, call, "out of memory");
    *to = from;
    *state = to;
    return fmi3OK;
}

/* ---- functions for what this FMU does not have ---- */

/* `unused` has the names of the parameters. */
#define MODEL_HAS_NONE(name, what, unused, ...)                                                                        \
    FMI3_API fmi3Status FMI3(name)(fmi3Instance instance, __VA_ARGS__)                                                 \
    {                                                                                                                  \
        unused;                                                                                                        \
        return model_say(instance, fmi3Error, "fmi3" #name, "this FMU has no " what);                                  \
    }
#define MODEL_NO_CLOCK(name, unused, ...)                                                                              \
    MODEL_HAS_NONE(name, "clocks", ((void)references, (void)count, unused), const fmi3ValueReference references[],     \
                   size_t count, __VA_ARGS__)

MODEL_NO_CLOCK(GetIntervalDecimal, ((void)intervals, (void)qualifiers), fmi3Float64 intervals[],
               fmi3IntervalQualifier qualifiers[])
MODEL_NO_CLOCK(GetIntervalFraction, ((void)counters, (void)resolutions, (void)qualifiers), fmi3UInt64 counters[],
               fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
MODEL_NO_CLOCK(GetShiftDecimal, (void)shifts, fmi3Float64 shifts[])
MODEL_NO_CLOCK(GetShiftFraction, ((void)counters, (void)resolutions), fmi3UInt64 counters[], fmi3UInt64 resolutions[])
MODEL_NO_CLOCK(SetIntervalDecimal, (void)intervals, const fmi3Float64 intervals[])
MODEL_NO_CLOCK(SetIntervalFraction, ((void)counters, (void)resolutions), const fmi3UInt64 counters[],
               const fmi3UInt64 resolutions[])
MODEL_NO_CLOCK(SetShiftDecimal, (void)shifts, const fmi3Float64 shifts[])
MODEL_NO_CLOCK(SetShiftFraction, ((void)counters, (void)resolutions), const fmi3UInt64 counters[],
               const fmi3UInt64 resolutions[])
MODEL_HAS_NONE(ActivateModelPartition, "model partitions", ((void)partition, (void)time), fmi3ValueReference partition,
               fmi3Float64 time)
MODEL_HAS_NONE(GetNumberOfVariableDependencies, "dependencies of single elements", ((void)reference, (void)count),
               fmi3ValueReference reference, size_t *count)
MODEL_HAS_NONE(GetVariableDependencies, "dependencies of single elements",
               ((void)dependent, (void)elements, (void)independents, (void)others, (void)kinds, (void)count),
               fmi3ValueReference dependent, size_t elements[], fmi3ValueReference independents[], size_t others[],
               fmi3DependencyKind kinds[], size_t count)

FMI3_API fmi3Status FMI3(EnterConfigurationMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EnterConfigurationMode", "this FMU has no structural parameters");
}

FMI3_API fmi3Status FMI3(ExitConfigurationMode)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3ExitConfigurationMode", "this FMU has no structural parameters");
}

FMI3_API fmi3Status FMI3(EvaluateDiscreteStates)(fmi3Instance instance)
{
    return model_say(instance, fmi3Error, "fmi3EvaluateDiscreteStates", "this FMU has no discrete states");
}
