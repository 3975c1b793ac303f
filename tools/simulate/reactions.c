#include "tools/simulate/reactions.h"

#include <stdlib.h>
#include <string.h>

#define ONLY "integrator=newmark,central,static"
const tool_option simulate_reaction_options[SIMULATE_REACTION_COUNT] = {
    {"reactions", 0, TOOL_WRITTEN, .at = offsetof(simulate_choice, reactions), .argument = "CSV", .silent = true,
     .only = ONLY " !checkpoint",
     .help = "write the forces and moments that hold the fixed vertices, all and those of named sets, in each recorded "
             "frame"},
    {"record-reactions", 0, TOOL_FLAG, .at = offsetof(simulate_choice, record_reactions), .only = ONLY,
     .help = "record these forces and moments in the trajectory (simexport writes them as CSV)"},
};
#undef ONLY

/* A name with commas or quotes is quoted. */
static void write_name(FILE *to, const char *name, const char *component)
{
    const bool plain = !strpbrk(name, ",\"");
    fputs(plain ? "," : ",\"", to);
    for (; *name; name++)
        fprintf(to, *name == '"' ? "\"\"" : "%c", *name);
    fprintf(to, "/%s%s", component, plain ? "" : "\"");
}

/* The file of --reactions with its first line. */
static void open_file(const simulation *s, simulate_reactions *r)
{
    static const char *const component[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    const char *const *names = sp_reactions_names(r->reactions);

    r->output = tool_output_open(s->choice->reactions);
    r->text = open_memstream(&r->bytes, &r->length);
    if (!r->text)
        tool_out_of_memory();

    fprintf(r->text, "time");
    for (int64_t g = 0; g < sp_reactions_count(r->reactions); g++)
        for (int c = 0; c < 6; c++)
            write_name(r->text, names[g], component[c]);
    fprintf(r->text, "\n");
}

simulate_reactions *reactions_begin(simulation *s, const sp_run_body *body)
{
    const simulate_choice *c = s->choice;
    if (!c->reactions && !c->record_reactions)
        return NULL;
    if (s->basis.columns.about[0])
        tool_fail(SP_INPUT, c->basis, "its modes are about a static equilibrium, whose reactions are not known");
    if (s->mesh.mesh.fixed_count == 0)
        tool_fail(SP_INPUT, s->mesh.path, "--%s: no vertex is fixed", c->reactions ? "reactions" : "record-reactions");

    simulate_reactions *r = tool_allocate(&s->pool, 1, sizeof *r);
    tool_check(sp_reactions_new(body, &r->reactions), s->mesh.path);
    if (c->record_reactions) {
        s->shape.reaction_count = sp_reactions_count(r->reactions);
        s->shape.reaction_name = sp_reactions_names(r->reactions);
    }
    if (c->reactions)
        open_file(s, r);
    return r;
}

void reactions_write_line(simulate_reactions *r, double time)
{
    if (!r || !r->text)
        return;
    const double *sums = sp_reactions_sums(r->reactions);
    fprintf(r->text, "%.17g", time);
    for (int64_t i = 0; i < 6 * sp_reactions_count(r->reactions); i++)
        fprintf(r->text, ",%.17g", sums[i]);
    fprintf(r->text, "\n");
}

void reactions_write(simulate_reactions *r, json_t *result)
{
    if (!r)
        return;

    const double part = sp_reactions_unbalanced(r->reactions);
    if (part >= 0) {
        tool_facts(result, sp_kind_trajectory.result, {"reactions_unbalanced", .real = part});
        tool_say("reactions: forces of up to %.2g of the largest reaction are not balanced by the basis; their linear "
                 "static reactions are added",
                 part);
    }

    if (!r->text)
        return;
    if (fclose(r->text))
        tool_out_of_memory();
    tool_output_bytes(r->output, r->bytes, (int64_t)r->length);
    free(r->bytes);
}

void reactions_free(simulate_reactions *r)
{
    if (r)
        sp_reactions_free(r->reactions);
}
