/* The deformation u = Uq and its normal in the vertex shader; light and colours in the fragment shader. */

/* Coordinates of a body at most: 64 vectors of four, well below what every WebGL 2 has (256). */
export const MOST_WEIGHTS = 256;

/* The normal is the product of two deformed tangents, t = t_rest + sum_i q_i dU_i/dt: exact for any deformation of the
 * surface that the tangents see. */
export const vertexShader = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
layout(location = 0) in vec3 rest;
layout(location = 1) in vec3 first;
layout(location = 2) in vec3 second;
layout(location = 3) in vec3 color;
layout(location = 4) in int skin;
uniform sampler2D targets;
uniform sampler2D derivatives;
uniform int count;
uniform int row_bits;
uniform vec4 weights[${MOST_WEIGHTS / 4}];
uniform mat4 projection;
uniform mat3 turn;
uniform vec3 place;
out vec3 deformed;
out vec3 normal;
out vec3 base;
out float distance_moved;

vec3 read(sampler2D table, int index)
{
    return texelFetch(table, ivec2(index & ((1 << row_bits) - 1), index >> row_bits), 0).xyz;
}

void main()
{
    vec3 u = vec3(0), a = first, b = second;
    for (int i = 0; i < count; i++) {
        float q = weights[i >> 2][i & 3];
        int along = 2 * (gl_VertexID * count + i);
        u += q * read(targets, skin * count + i);
        a += q * read(derivatives, along);
        b += q * read(derivatives, along + 1);
    }
    deformed = turn * (rest + u) + place;
    normal = turn * normalize(cross(a, b));
    base = color;
    distance_moved = length(u);
    gl_Position = projection * vec4(deformed, 1);
}
`;

/* Colours of displacement are those of simrender (lib/render/colormap.c), from 0 to `range`. Surfaces of open models are
 * lit from both sides. */
export const fragmentShader = `#version 300 es
precision highp float;
in vec3 deformed;
in vec3 normal;
in vec3 base;
in float distance_moved;
uniform vec3 eye;
uniform vec3 light;
uniform vec3 up;
uniform float range;
out vec4 shade;

const vec3 knots[9] = vec3[9](
    vec3(0.267, 0.005, 0.329), vec3(0.278, 0.175, 0.483), vec3(0.230, 0.322, 0.546),
    vec3(0.173, 0.449, 0.558), vec3(0.128, 0.567, 0.551), vec3(0.158, 0.684, 0.502),
    vec3(0.369, 0.789, 0.383), vec3(0.678, 0.864, 0.190), vec3(0.993, 0.906, 0.144));

vec3 map_color(float value)
{
    float at = clamp(value, 0.0, 1.0) * 8.0;
    int i = min(int(at), 7);
    return mix(knots[i], knots[i + 1], at - float(i));
}

void main()
{
    vec3 sight = normalize(eye - deformed);
    vec3 n = normalize(normal);
    n = dot(n, sight) < 0.0 ? -n : n;
    vec3 color = range > 0.0 ? map_color(distance_moved / range) : base;
    vec3 linear = pow(color, vec3(2.2));
    float key = max(dot(n, light), 0.0);
    float sky = 0.5 + 0.5 * dot(n, up);
    float shine = pow(max(dot(n, normalize(light + sight)), 0.0), 40.0);
    vec3 lit = linear * (0.30 + 0.32 * sky + 0.62 * key) + 0.08 * shine;
    shade = vec4(pow(min(lit, 1.0), vec3(1.0 / 2.2)), 1);
}
`;
