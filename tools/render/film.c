#include "tools/render/film.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { IN = 0, OUT = 1, ERRORS = 2, FILM = 3 }; /* descriptors of the child */

struct tool_film {
    const char *path;
    tool_output *output;
    int64_t width, height, fps, count; /* pictures so far */
    int pipe, errors;
    pid_t child;
};

/* Arguments between the input and the output. One thread and no versions in the file: the same film for any machine
 * with this ffmpeg. */
#define VIDEO                                                                                                          \
    "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709", "-color_primaries", "bt709",           \
        "-color_trc", "bt709", "-pix_fmt", "yuv420p"
#define EXACT "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"
static const struct format {
    const char *ending, *name;
    bool even; /* colours are stored for blocks of 2 × 2 pixels */
    const char *arguments[24];
} formats[] = {
    {".mp4", "mp4", true, {"-c:v", "libx264", "-crf", "18", VIDEO, EXACT}},
    {".webm", "webm", true, {"-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", VIDEO, EXACT}},
    {".gif", "gif", false, {"-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse", EXACT}},
};

static const struct format *format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot)
        return NULL;
    for (int i = 0; i < TOOL_COUNT(formats); i++)
        if (!strcasecmp(dot, formats[i].ending))
            return &formats[i];
    return NULL;
}

bool tool_film_named(const char *path)
{
    static const char *const others[] = {".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".svg", ".pdf", ".ppm",
                                         ".avi", ".mov",  ".mkv", ".m4v", ".mpg",  ".npz", ".csv", ".obj"};
    const char *dot = strrchr(path, '.');
    if (!dot)
        return false;
    for (int i = 0; i < TOOL_COUNT(others); i++)
        if (!strcasecmp(dot, others[i]))
            tool_fail(SP_USAGE, NULL, "-o %s: pictures are .png, films .mp4, .webm or .gif", path);
    return format_of(path);
}

int64_t *tool_film_schedule(int64_t fps, double speed, int64_t *count, int64_t *frame, const double *time,
                            sp_pool *pool)
{
    enum { MOST = 1000000 };

    if (*count < 2)
        tool_fail(SP_USAGE, NULL, "a film needs a motion of at least two frames; -o NAME.png is a picture");

    const double duration = (time[*count - 1] - time[0]) / speed, pictures = floor(duration * (double)fps + 0.5) + 1;
    if (!(pictures <= MOST))
        tool_fail(SP_USAGE, NULL, "--speed: the film would have %g pictures, more than %d", pictures, MOST);

    /* Each picture shows the frame nearest in time; a frame may be shown by several or by none. */
    int64_t *shown = tool_allocate(pool, *count, sizeof *shown), at = 0, kept = 0;
    for (int64_t k = 0; k < (int64_t)pictures; k++) {
        const double t = k + 1 < (int64_t)pictures ? time[0] + (double)k * speed / (double)fps : time[*count - 1];
        while (at + 1 < *count && time[at + 1] - t <= t - time[at])
            at++;
        shown[at]++;
    }

    for (int64_t i = 0; i < *count; i++)
        if (shown[i]) {
            shown[kept] = shown[i];
            frame[kept++] = frame[i];
        }

    *count = kept;
    return shown;
}

static noreturn void no_ffmpeg(const char *path, int error)
{
    tool_hint("install ffmpeg, or write pictures with -o frame_%%04d.png");
    tool_fail(SP_SYSTEM, path, "films are made by ffmpeg, which cannot be started: %s", strerror(error));
}

/* Starts ffmpeg with the pipe as its input. Its messages go to memory, and the film to the temporary file of the
 * output, which the child knows as a descriptor. */
static pid_t start(const char *path, const struct format *format, int64_t width, int64_t height, int64_t fps, int from,
                   int errors, int film)
{
    char size[48], rate[24];
    const char *head[] = {"ffmpeg", "-nostdin",    "-loglevel", "error",      "-y", "-f", "rawvideo", "-pix_fmt",
                          "rgb24",  "-video_size", size,        "-framerate", rate, "-i", "pipe:0"},
               *tail[] = {"-f", format->name, "/dev/fd/3", NULL};
    const char *arguments[TOOL_COUNT(head) + TOOL_COUNT(format->arguments) + TOOL_COUNT(tail)];
    int count = 0;

    snprintf(size, sizeof size, "%lldx%lld", (long long)width, (long long)height);
    snprintf(rate, sizeof rate, "%lld", (long long)fps);

    for (int i = 0; i < TOOL_COUNT(head); i++)
        arguments[count++] = head[i];
    for (int i = 0; i < TOOL_COUNT(format->arguments) && format->arguments[i]; i++)
        arguments[count++] = format->arguments[i];
    for (int i = 0; i < TOOL_COUNT(tail); i++)
        arguments[count++] = tail[i];

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, broken;
    pid_t child = -1;

    /* ffmpeg blocks no signal, and ends by SIGPIPE as by default. */
    sigemptyset(&none);
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);

    if (posix_spawn_file_actions_init(&actions) || posix_spawnattr_init(&attributes) ||
        posix_spawn_file_actions_adddup2(&actions, from, IN) ||
        posix_spawn_file_actions_adddup2(&actions, errors, OUT) ||
        posix_spawn_file_actions_adddup2(&actions, errors, ERRORS) ||
        posix_spawn_file_actions_adddup2(&actions, film, FILM) || posix_spawnattr_setsigmask(&attributes, &none) ||
        posix_spawnattr_setsigdefault(&attributes, &broken) ||
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        tool_out_of_memory();

    const int error = posix_spawnp(&child, "ffmpeg", &actions, &attributes, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);

    if (error)
        no_ffmpeg(path, error);
    return child;
}

tool_film *tool_film_open(const char *path, int64_t width, int64_t height, int64_t fps)
{
    static tool_film film;
    const struct format *format = format_of(path);
    int ends[2];

    if (format->even && (width % 2 || height % 2))
        tool_fail(SP_USAGE, NULL, "--size: %lldx%lld: width and height of a film in %s are even", (long long)width,
                  (long long)height, format->ending);

    film = (tool_film){.path = path, .output = tool_output_open(path), .width = width, .height = height, .fps = fps};

    film.errors = memfd_create("ffmpeg", MFD_CLOEXEC);
    if (film.errors < 0 || pipe2(ends, O_CLOEXEC))
        tool_fail(SP_SYSTEM, path, "cannot start ffmpeg: %s", strerror(errno));

    film.pipe = ends[1];
    film.child = start(path, format, width, height, fps, ends[0], film.errors, tool_output_descriptor(film.output));
    close(ends[0]);

    return &film;
}

/* Ends the input of ffmpeg and waits for it. Ends the process, with what ffmpeg said first, where it failed, or where
 * it has stopped reading (`broken`). */
static void wait_for(tool_film *film, bool broken)
{
    int status = 0;
    char said[300];

    close(film->pipe);
    while (waitpid(film->child, &status, 0) < 0 && errno == EINTR)
        ;

    if (!status && !broken)
        return;

    const ssize_t count = pread(film->errors, said, sizeof said - 1, 0);
    said[count > 0 ? count : 0] = 0;
    said[strcspn(said, "\n")] = 0;
    tool_fail(SP_SYSTEM, film->path, "ffmpeg failed (%s %d): %s", WIFSIGNALED(status) ? "signal" : "exit",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), *said ? said : "it gave no reason");
}

void tool_film_add(tool_film *film, const sp_image *image, int64_t times)
{
    const int64_t size = 3 * image->width * image->height;
    film->count += times;
    for (int64_t k = 0; k < times; k++)
        for (int64_t done = 0; done < size;) {
            const ssize_t count = write(film->pipe, image->rgb + done, (size_t)(size - done));
            if (count < 0 && errno != EINTR)
                wait_for(film, true);
            done += count > 0 ? count : 0;
        }
}

void tool_film_close(tool_film *film)
{
    wait_for(film, false);
    close(film->errors);
    tool_output_finish(film->output, NULL);
    tool_say("a film of %.4g s: %lld pictures of %lldx%lld", (double)film->count / (double)film->fps,
             (long long)film->count, (long long)film->width, (long long)film->height);
}
