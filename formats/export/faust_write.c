#include "formats/export/faust_write.h"

#include "formats/export/stream.h"

#include <math.h>

static const char HEAD[] = "// Every partial is a resonator: frequency in Hz, time constant of its decay in s, "
                           "amplitude in Pa, phase in rad.\n"
                           "// One that the sampling rate does not represent is silent.\n"
                           "SR = min(192000.0, max(1.0, fconstant(int fSamplingFreq, <math.h>)));\n"
                           "pi = 3.141592653589793;\n"
                           "resonator(a1, a2) = + ~ feedback with { feedback(y) = a1 * y + a2 * y'; };\n"
                           "partial(f, t, a, phase, x) = heard * (cos(phase) * x - r * cos(w - phase) * x') : "
                           "resonator(2 * r * cos(w), 0 - r * r)\n"
                           "with {\n"
                           "    w = 2 * pi * f / SR;\n"
                           "    r = exp(-1 / (t * SR));\n"
                           "    heard = a * (f < 0.49 * SR);\n"
                           "};\n"
                           "\n"
                           "gate = button(\"strike\");\n"
                           "strength = hslider(\"strength\", 1, 0, 10, 0.01);\n"
                           "strike = strength * (gate > gate');\n";

int sp_faust_write(sp_context *context, int descriptor, const sp_faust *f)
{
    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "declare name ");
    sp_stream_quoted(&stream, f->name);
    sp_stream_print(&stream, ";\n// A strike of strength 1 gives a pressure of which %.6g Pa are full scale.\n",
                    f->full_scale);

    sp_stream_bytes(&stream, HEAD, sizeof HEAD - 1);
    sp_stream_print(&stream, "process = strike / %.17g : @(int(%.17g * SR + 0.5)) <:\n",
                    sp_stream_finite(&stream, f->full_scale), sp_stream_finite(&stream, f->delay));

    for (int64_t i = 0; i < f->count; i++) {
        const sp_partial *p = &f->partials[i];
        sp_stream_print(&stream, "    partial(%.17g, %.17g, %.17g, %.17g)%s\n", sp_stream_finite(&stream, p->frequency),
                        sp_stream_finite(&stream, p->time == INFINITY ? 1e30 : p->time),
                        sp_stream_finite(&stream, p->amplitude), sp_stream_finite(&stream, p->phase),
                        i + 1 < f->count ? "," : " :> _;");
    }
    return sp_stream_end(context, &stream);
}
