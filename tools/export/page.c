#include "tools/export/page.h"

#include "formats/export/page_write.h"
#include "tools/common/skin.h"
#include "tools/export/curves.h"
#include "tools/export/scene.h"
#include "tools/export/source.h"

#include <math.h>
#include <string.h>

enum { MOTIONS_MOST = 2 };

static void write_page(sp_context *context, const char *target, const sp_page *page)
{
    tool_output *output = tool_output_open(target);
    tool_check(sp_page_write(context, tool_output_descriptor(output), page), target);
    tool_output_finish(output, NULL);
}

void tool_export_need_page(const char *target)
{
    if (sp_page_built())
        return;
    tool_hint("scripts/prepare page installs what building it needs");
    tool_fail(SP_USAGE, target, "this build of Supple has no web page: clang, lld or npm was missing");
}

/* ---- a body that one pulls ---- */

/* The columns of U at the vertices of the skin: [r, vertex_count, 3], of which the first skin_count are set. */
static const double *columns_of(const tool_reduced_model *model, const tool_skin *skin, int64_t stride, sp_pool *pool)
{
    const sp_columns *columns = &model->shape.columns.columns;
    const int64_t r = model->tables.r;
    double *targets = tool_allocate(pool, r, 3 * (size_t)stride * sizeof *targets);
    for (int64_t i = 0; i < r; i++)
        tool_skin_values(skin, 3, columns->U + i * columns->rows, targets + 3 * i * stride);
    return targets;
}

/* The regions with their Young's moduli, by which the stiffness can be changed. */
static const sp_page_region *regions_of(const sp_mesh *mesh, sp_pool *pool)
{
    sp_page_region *regions = tool_allocate(pool, mesh->material_count, sizeof *regions);
    for (int64_t i = 0; i < mesh->material_count; i++) {
        const sp_material *material = &mesh->materials[i];
        const bool scales = sp_law_isotropic(material->law) && material->fibre == SP_FIBRE_NONE;
        regions[i] = (sp_page_region){material->name, scales ? material->young : 0};
    }
    return regions;
}

/* The vertex of the skin that is nearest to a place. */
static int64_t nearest(const tool_skin *skin, const double place[3])
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t v = 0; v < skin->vertex_count; v++) {
        const double *x = skin->rest + 3 * v, d = hypot(hypot(x[0] - place[0], x[1] - place[1]), x[2] - place[2]);
        if (d < least)
            least = d, best = v;
    }
    return best;
}

static const char *file_name(const char *path)
{
    return strcmp(path, "-") ? tool_base_name(path) : "model.npz";
}

void tool_export_page_model(sp_context *context, int count, const char *const *paths, const tool_page_choice *choice)
{
    tool_reduced_model model;
    tool_animation shape;
    tool_skin skin;
    sp_pool pool = {0};

    tool_reduced_model_read(context, "a page that one pulls", count, paths, &model);
    tool_animation_open(context, &model.shape, &(tool_animation_choice){.columns = "1", .every = 1}, &shape);
    tool_skin_open(context, &model.shape.mesh.mesh, false, &skin);

    sp_animated_mesh mesh = shape.animation.meshes[0];
    mesh.target_count = model.tables.r;
    mesh.targets = columns_of(&model, &skin, mesh.vertex_count, &pool);

    int64_t probe_count;
    const sp_c_source_probe *probes = tool_reduced_model_probes(context, &model, choice->probes, &pool, &probe_count);
    sp_page_point *points = tool_allocate(&pool, probe_count, sizeof *points);
    for (int64_t i = 0; i < probe_count; i++)
        points[i] = (sp_page_point){probes[i].name, nearest(&skin, probes[i].place)};

    const sp_page_model page_model = {.mesh = &mesh,
                                      .tables = &model.tables,
                                      .damping = {model.damping[0], model.damping[1]},
                                      .region_count = model.shape.mesh.mesh.material_count,
                                      .regions = regions_of(&model.shape.mesh.mesh, &pool),
                                      .vertices = skin.embedded ? NULL : skin.vertex,
                                      .mesh_file = file_name(model.files.mesh),
                                      .basis_file = file_name(model.files.basis),
                                      .force_file = file_name(model.files.force),
                                      .point_count = probe_count,
                                      .points = points};

    write_page(context, choice->target, &(sp_page){.title = mesh.name, .up = shape.animation.up, .model = &page_model});

    tool_skin_close(&skin);
    tool_animation_close(&shape);
    tool_reduced_model_free(&model);
    sp_pool_free(&pool);
}

/* ---- motions ---- */

/* A motion with the files that belong to it. */
typedef struct player {
    sp_context *context;
    const tool_page_choice *choice;
    int count;
    const char **files; /* [count] */
    tool_trajectory mesh;
    tool_csv_scene scene;
    bool is_scene;
    tool_animation animation;
    sp_page_motion motion;
    sp_pool pool;
} player;

static char *name_of_probe(player *p, const char *body, const tool_place *place)
{
    const size_t length = strlen(body) + 40;
    char *name = tool_allocate(&p->pool, (int64_t)length, 1);
    snprintf(name, length, "%s%s%s%lld", body, *body ? ":" : "", place->surface ? "surface:" : "",
             (long long)place->vertex);
    return name;
}

static sp_page_curve *add_curve(player *p, sp_list *curves, const char *body, const tool_place *place, double **values)
{
    sp_page_curve *curve = tool_list_add(curves, 1, sizeof *curve);
    *values = tool_allocate(&p->pool, 3 * p->animation.animation.frame_count, sizeof **values);
    *curve = (sp_page_curve){name_of_probe(p, body, place), *values};
    return curve;
}

static void keep_curves(player *p, sp_list *curves)
{
    p->motion.curve_count = curves->count;
    p->motion.curves = tool_allocate_copy(&p->pool, curves->data, curves->count, sizeof(sp_page_curve));
    sp_list_free(curves);
}

static void open_mesh(player *p)
{
    const tool_page_choice *choice = p->choice;
    sp_list places = {0}, frames = {0}, curves = {0};

    tool_trajectory_open(p->context, p->count, p->files, choice->partial ? TOOL_MOTION_PARTIAL : 0, &p->mesh);
    tool_inputs_are(tool_trajectory_inputs(&p->mesh));
    tool_animation_open(p->context, &p->mesh, &choice->animation, &p->animation);

    if (choice->probes && !p->mesh.path)
        tool_fail(SP_USAGE, NULL, "--probe draws curves of a trajectory, and none was named");
    if (choice->probes) {
        tool_trajectory_probes(&p->mesh, "probe", choice->probes, &places);
        tool_trajectory_choose(&p->mesh, choice->animation.frames, choice->animation.every, NULL, &frames);
    }

    for (int64_t i = 0; i < places.count; i++) {
        const tool_place place = ((const tool_place *)places.data)[i];
        double *values;
        add_curve(p, &curves, "", &place, &values);
        for (int64_t f = 0; f < frames.count; f++)
            tool_trajectory_probe(&p->mesh, place, ((const int64_t *)frames.data)[f], values + 3 * f, NULL);
    }

    keep_curves(p, &curves);
    sp_list_free(&places);
    sp_list_free(&frames);
}

static void keep_contacts(player *p, const int64_t *frames, int64_t count)
{
    const tool_scene_trajectory *trajectory = &p->scene.trajectory;
    if (!trajectory->path || !trajectory->motion.with_contacts)
        return;

    int64_t *first = tool_allocate(&p->pool, count + 1, sizeof *first), begin;
    for (int64_t f = 0; f < count; f++)
        first[f + 1] = first[f] + tool_scene_trajectory_contacts(trajectory, frames[f], &begin);

    double *places = tool_allocate(&p->pool, first[count], 3 * sizeof *places),
           *forces = tool_allocate(&p->pool, first[count], 3 * sizeof *forces);

    for (int64_t f = 0; f < count; f++) {
        const size_t bytes = 3 * sizeof *places * (size_t)tool_scene_trajectory_contacts(trajectory, frames[f], &begin);
        memcpy(places + 3 * first[f], trajectory->motion.contact_place + 3 * begin, bytes);
        memcpy(forces + 3 * first[f], trajectory->motion.contact_force + 3 * begin, bytes);
    }

    p->motion.contact_first = first;
    p->motion.contact_places = places;
    p->motion.contact_forces = forces;
}

/* Adds the probes that the list has for this scene. */
static void scene_curves(player *p, const int64_t *frames, int64_t count)
{
    sp_list entries = {0}, curves = {0};

    if (p->choice->probes)
        tool_places_split(p->choice->probes, &p->pool, &entries);
    for (int64_t i = 0; i < entries.count; i++) {
        const char *entry = ((char **)entries.data)[i];
        const size_t length = tool_place_body(entry);

        if (!length)
            tool_fail(SP_USAGE, NULL, "--probe: \"%s\" names no body of the scene: write BODY:%s", entry, entry);
        if (!tool_csv_scene_probe(&p->scene, entry, length))
            tool_fail(SP_USAGE, NULL, "--probe: there is no scene with a body \"%.*s\"", (int)length, entry);
    }

    for (int64_t i = 0; i < p->scene.probes.count; i++) {
        const tool_body_probe *probe = (const tool_body_probe *)p->scene.probes.data + i;
        double *values, start[3], place[3];
        add_curve(p, &curves, probe->body->name, &probe->place, &values);
        tool_scene_body_start(probe->body, &probe->place, start);

        for (int64_t f = 0; f < count; f++) {
            tool_scene_body_place(probe->body, &probe->place, frames[f], place, NULL);
            for (int c = 0; c < 3; c++)
                values[3 * f + c] = place[c] - start[c];
        }
    }

    keep_curves(p, &curves);
    sp_list_free(&entries);
}

static void open_scene(player *p)
{
    const tool_page_choice *choice = p->choice;
    sp_list frames = {0};
    const export_choice csv = {.target = choice->target, .probes = choice->probes, .partial = choice->partial};
    tool_inputs_are("scene");
    tool_csv_scene_open(p->context, p->count, p->files, &csv, &p->scene);
    if (!p->scene.trajectory.has_scene)
        tool_fail(SP_USAGE, p->scene.trajectory.path, "a page of a scene needs its models: name its scene too");
    tool_animation_open_scene(p->context, &p->scene.trajectory, &choice->animation, &p->animation);
    tool_scene_trajectory_choose(&p->scene.trajectory, choice->animation.frames, choice->animation.every, &frames);
    keep_contacts(p, frames.data, frames.count);
    scene_curves(p, frames.data, frames.count);
    sp_list_free(&frames);
}

static void close_player(player *p)
{
    tool_animation_close(&p->animation);
    if (p->is_scene)
        tool_csv_scene_close(&p->scene);
    else
        tool_trajectory_close(&p->mesh);
    sp_pool_free(&p->pool);
}

static void open_player(player *p)
{
    for (int i = 0; i < p->count; i++)
        p->is_scene |= tool_is_scene(p->files[i]) || tool_is_motion(p->context, p->files[i]);
    if (p->is_scene)
        open_scene(p);
    else
        open_mesh(p);
    p->motion.animation = &p->animation.animation;
    if (p->animation.compressed)
        tool_say("%s: %lld principal directions, largest error of a vertex %.3g m", p->animation.animation.title,
                 (long long)p->animation.animation.meshes[0].target_count, p->animation.error);
}

/* The players of the motions among the files, each with its own files; one of all files where there is one motion or
 * none. Returns their number. */
static int share_files(player players[MOTIONS_MOST], int count, const char *const *paths, sp_pool *pool)
{
    sp_context *context = players[0].context;
    const int motions = (int)tool_export_motions(context, count, paths);
    bool *used = tool_allocate(pool, count, sizeof *used);
    int filled = 0;

    if (motions > MOTIONS_MOST)
        tool_fail(SP_USAGE, NULL, "%d motions: a page shows at most %d side by side", motions, MOTIONS_MOST);
    for (int i = 0; i < MOTIONS_MOST; i++)
        players[i].files = tool_allocate(pool, count, sizeof *players[i].files);

    if (motions <= 1) {
        memcpy(players[0].files, paths, (size_t)count * sizeof *paths);
        players[0].count = count;
        return 1;
    }

    for (int i = 0; i < count; i++)
        if (tool_export_motions(context, 1, paths + i)) {
            used[i] = true;
            players[filled].count =
                (int)tool_export_files_of(context, paths[i], count, paths, used, players[filled].files);
            filled++;
        }

    for (int i = 0; i < count; i++)
        if (!used[i])
            tool_fail(SP_INPUT, paths[i], "it belongs to none of the %d motions", motions);
    return motions;
}

void tool_export_page_motion(sp_context *context, int count, const char *const *paths, const tool_page_choice *choice)
{
    player players[MOTIONS_MOST] = {{.context = context, .choice = choice}, {.context = context, .choice = choice}};
    sp_page_motion motions[MOTIONS_MOST];
    sp_pool pool = {0};
    bool compressed = false;

    const int shown = share_files(players, count, paths, &pool);
    for (int i = 0; i < shown; i++) {
        open_player(&players[i]);
        motions[i] = players[i].motion;
        compressed |= players[i].animation.compressed;
    }

    if (players[0].mesh.path && !compressed)
        tool_option_idle("tolerance", "where the motion is reduced");
    if (shown > 1 && players[0].is_scene != players[1].is_scene)
        tool_fail(SP_USAGE, NULL, "a page compares two motions of meshes or two of scenes, not one of each");

    write_page(context, choice->target,
               &(sp_page){.title = players[0].animation.animation.title,
                          .up = players[0].animation.animation.up,
                          .motion_count = shown,
                          .motions = motions});

    for (int i = 0; i < shown; i++)
        close_player(&players[i]);
    sp_pool_free(&pool);
}
