/* Runs: the order of calls, frames, failures and saved states; and the judgement of energies against numbers by hand.
 */
#include "run/run.h"
#include "run/energy_watch.h"
#include "run/steps_watch.h"
#include "test.h"

/* ---- the loop ---- */

/* A motion that notes what is called, and fails in step `fails`. */
typedef struct noted {
    char calls[200];
    int64_t fails;
    int64_t value;
} noted;

static void note(noted *n, char what, int64_t number)
{
    const size_t at = strlen(n->calls);
    snprintf(n->calls + at, sizeof n->calls - at, "%c%lld ", what, (long long)number);
}

static int step(void *self, int64_t number)
{
    noted *n = self;
    note(n, 'm', number);
    n->value += number;
    return number == n->fails ? SP_NUMERICAL : SP_OK;
}

static void reach(void *self, int64_t number)
{
    note(self, 'r', number);
}

static void visit(void *self, sp_state *state)
{
    noted *n = self;
    SP_STATE_VALUE(state, n->value);
}

static int first_step(void *self, int64_t number)
{
    note(self, 'a', number);
    return SP_OK;
}

static int first_frame(void *self, int64_t number)
{
    note(self, 'A', number);
    return SP_OK;
}

static int second_frame(void *self, int64_t number)
{
    note(self, 'B', number);
    return SP_OK;
}

static void warn(void *self, sp_remarks *remarks)
{
    const noted *n = self;
    sp_remarks_add(remarks, "value %lld", (long long)n->value);
}

static void release(void *self)
{
    note(self, 'f', 0);
}

static sp_run run_of(noted *n, int64_t steps, int64_t every)
{
    sp_run run = {.motion = {n, step, reach, visit}, .steps = steps, .every = every};
    sp_run_watch(&run, (sp_observer){.self = n, .step = first_step, .frame = first_frame, .free = release});
    sp_run_watch(&run, (sp_observer){.self = n, .frame = second_frame, .warn = warn});
    return run;
}

TEST(calls_are_in_order)
{
    noted n = {.fails = -1};
    sp_remarks remarks = {0};
    sp_run run = run_of(&n, 3, 2);
    CHECK(sp_run_begin(&run) == SP_OK && run.done == 0, "begin");
    CHECK(sp_run_to(&run, 3) == SP_OK && run.done == 3, "%lld steps", (long long)run.done);
    sp_run_warn(&run, &remarks);
    sp_run_free(&run);
    CHECK(!strcmp(n.calls, "A0 B0 m1 a1 m2 a2 A2 B2 m3 a3 A3 B3 f0 "), "%s", n.calls);
    CHECK(remarks.count == 1 && !strcmp(remarks.text[0], "value 6"), "%d: %s", remarks.count, remarks.text[0]);
}

TEST(without_an_end)
{
    noted n = {.fails = -1};
    OWNED(sp_run) run = run_of(&n, -1, 0);
    CHECK(sp_run_to(&run, 1) == SP_OK && sp_run_to(&run, 2) == SP_OK && sp_run_to(&run, 2) == SP_OK, "steps");
    CHECK(!strcmp(n.calls, "m1 a1 m2 a2 "), "%s", n.calls);
}

TEST(a_step_that_fails)
{
    noted n = {.fails = 2};
    OWNED(sp_run) run = run_of(&n, 3, 1);
    CHECK(sp_run_to(&run, 3) == SP_NUMERICAL && run.done == 1, "%lld steps", (long long)run.done);
    CHECK(!strcmp(n.calls, "m1 a1 A1 B1 m2 "), "%s", n.calls);
}

/* A run that is loaded goes on behind the steps that were saved. */
TEST(saved_and_loaded)
{
    noted n = {.fails = -1}, other = {.fails = -1};
    OWNED(sp_run) run = run_of(&n, 5, 0), later = run_of(&other, 5, 0);
    CHECK(sp_run_to(&run, 3) == SP_OK, "steps");
    sp_state state = {0};
    sp_run_visit(&run, run.done, &state);
    state.loading = true;
    sp_run_visit(&later, 3, &state);
    CHECK(!state.failed && state.at == state.data.count && later.done == 3 && other.value == 6, "loading");
    CHECK(sp_run_to(&later, 4) == SP_OK && other.value == 10 && !strcmp(other.calls, "r3 m4 a4 "), "%s", other.calls);
    sp_list_free(&state.data);
}

TEST(remarks_are_bounded)
{
    static sp_remarks remarks;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[999] = 0;
    for (int i = 0; i < SP_REMARKS + 3; i++)
        sp_remarks_add(&remarks, "%s", text);
    CHECK(remarks.count == SP_REMARKS && strlen(remarks.text[SP_REMARKS - 1]) == SP_REMARK_SIZE - 1, "%d remarks",
          remarks.count);
}

/* ---- energies ---- */

/* J: kinetic, stored, work, dissipated */
#define ENERGY(...) ((const double[SP_WORK_COUNT]){__VA_ARGS__})

/* 10 J at the start, 2 J of work, 1 J dissipated: 11 J are in balance, 12 J are 1 J off. */
TEST(balance)
{
    const sp_energy_rules rules = {0};
    sp_energy_watch watch = {0};
    sp_remarks remarks = {0};
    sp_energy_watch_begin(&watch, ENERGY(6, 4, 0, 0));
    sp_energy_watch_add(&watch, &rules, ENERGY(5, 6, 2, 1), 0, 0.1);
    CHECK(watch.balance == 0 && watch.largest == 11, "%g of %g", watch.drift, watch.largest);
    sp_energy_watch_add(&watch, &rules, ENERGY(6, 6, 2, 1), 0, 0.2);
    CHECK_NEAR(watch.balance, 1.0 / 12, 1e-15);
    sp_energy_watch_judge(&watch, &rules, "--semi-implicit", &remarks);
    CHECK(remarks.count == 0, "%s", remarks.text[0]);
}

/* Energy above the start and the work is judged from half of what was put in on: 2 J of work, 1.1 J more than that. */
TEST(energy_from_nothing)
{
    const struct {
        sp_energy_rules rules;
        double stored, bones;
        int remarks;
        const char *text;
    } cases[] = {
        {{.unknown = false},
         3.1,
         0,
         1,
         "at t = 0.5 s the energy exceeds the work that was done by 1.1 J, where 2 J were put in: "},
        {{.unknown = false}, 2.9, 0, 0, ""},                               /* 0.9 J: less than half */
        {{.unknown = false}, 3.1, 1, 0, ""},                               /* bones had 1 J more */
        {{.rounding = 1.2}, 3.1, 0, 0, ""},                                /* rounding */
        {{.unknown = true}, 3.1, 0, 0, ""},                                /* no balance to judge */
        {{.dragged = true}, 3.1, 0, 0, ""},                                /* ten times as much is allowed */
        {{.dragged = true}, 32.1, 0, 1, "30.1 J"},                         /* 10 × (2 J + 1 J dissipated) */
        {{.semi_implicit = true}, 2.9, 0, 1, "leave out --semi-implicit"}, /* the balance is 1.9 J of 2.9 J off */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_energy_watch watch = {0};
        sp_remarks remarks = {0};
        sp_energy_watch_begin(&watch, ENERGY(0, 0, 0, 0));
        sp_energy_watch_add(&watch, &cases[i].rules, ENERGY(0, cases[i].stored, 2, 1), cases[i].bones, 0.5);
        sp_energy_watch_judge(&watch, &cases[i].rules, "--semi-implicit", &remarks);
        CHECK(remarks.count == cases[i].remarks && strstr(remarks.text[0], cases[i].text), "case %zu: %d: %s", i,
              remarks.count, remarks.text[0]);
    }
}

/* Strain energy below zero is impossible for an elastic body: kinetic energy that it pays for comes from nothing.
 * Fibres with a tension give it when they shorten. */
TEST(negative_energy)
{
    for (int fibres = 0; fibres < 2; fibres++) {
        const sp_energy_rules rules = {.stores_less = fibres};
        sp_energy_watch watch = {0};
        sp_remarks remarks = {0};
        sp_energy_watch_begin(&watch, ENERGY(1, 0, 0, 0));
        sp_energy_watch_add(&watch, &rules, ENERGY(9, -8, 0, 0), 0, 0.5);
        sp_energy_watch_judge(&watch, &rules, "", &remarks);
        CHECK(watch.balance == 0 && remarks.count == !fibres, "fibres %d: %s", fibres, remarks.text[0]);
    }
}

TEST(steps_that_did_not_converge)
{
    sp_remarks remarks = {0};
    sp_steps_judge(&(sp_integrator_report){.steps = 9, .smallest_part = 1}, &remarks);
    CHECK(remarks.count == 0, "%s", remarks.text[0]);
    sp_steps_judge(
        &(sp_integrator_report){
            .stagnated = 2, .worst_residual = 1e-7, .indefinite = 3, .parted = 4, .smallest_part = 0.25},
        &remarks);
    CHECK(remarks.count == 3 && strstr(remarks.text[0], "2 steps stopped at a residual up to 1.0e-07") &&
              strstr(remarks.text[1], "3 matrices") && strstr(remarks.text[2], "down to 1/4 of a step"),
          "%d: %s", remarks.count, remarks.text[0]);
}
