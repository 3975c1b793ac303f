// The tip of the spoon over time, by libsupple from C++: body MESH BASIS POLYNOMIALS LOADS
#include <supple/supple.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>

static void must(supple_status status)
{
    if (status != SUPPLE_OK)
        throw std::runtime_error(supple_error());
}

int main(int, char **argv)
try {
    const supple_body_files files{argv[1], argv[2], argv[3], nullptr, 0};
    supple_body *opened;
    must(supple_body_open(&files, &opened));
    const std::unique_ptr<supple_body, decltype(&supple_body_close)> body(opened, supple_body_close);
    std::array<double, 3> end{2.5, 0, 0}, u;
    supple_integration how = supple_integration_default();
    std::int64_t tip;
    how.step = 0.003;
    must(supple_body_load_file(opened, argv[4]));
    must(supple_body_nearest(opened, end.data(), &tip));
    must(supple_body_start(opened, &how, nullptr, nullptr));
    for (int step = 0; step < 132; step++) {
        must(supple_body_step(opened));
        must(supple_body_displacements(opened, 1, &tip, u.data()));
        std::printf("%.17g %.17g %.17g %.17g\n", supple_body_time(opened), u[0], u[1], u[2]);
    }
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
