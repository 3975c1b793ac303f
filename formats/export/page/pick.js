/* The point of a deformed surface under the pointer. */
import {at, cross, dot, subtract} from './vector.js';

/* Distance along the ray to a triangle and the weights of its corners, or null (Möller and Trumbore 1997). */
function meet({eye, along}, a, b, c) {
    const ab = subtract(b, a), ac = subtract(c, a), p = cross(along, ac), determinant = dot(ab, p);
    if (determinant === 0)
        return null;
    const to = subtract(eye, a), u = dot(to, p) / determinant, q = cross(to, ab);
    const v = dot(along, q) / determinant, t = dot(ac, q) / determinant;
    return u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? {t, weights: [1 - u - v, u, v]} : null;
}

/* Whether the ball around the first corner that contains the triangle is beside the ray: cheap, and nearly always so. */
function misses({eye, along}, x, triangles, k) {
    const a = 3 * triangles[k], b = 3 * triangles[k + 1], c = 3 * triangles[k + 2];
    const square = (p, q) => (x[p] - x[q]) ** 2 + (x[p + 1] - x[q + 1]) ** 2 + (x[p + 2] - x[q + 2]) ** 2;
    const dx = x[a] - eye[0], dy = x[a + 1] - eye[1], dz = x[a + 2] - eye[2];
    const ahead = dx * along[0] + dy * along[1] + dz * along[2];
    return dx * dx + dy * dy + dz * dz - ahead * ahead > 1.0001 * Math.max(square(a, b), square(a, c));
}

/* The point of the first triangle that the ray meets, {vertex, weight} of its corners; null where it meets none. */
export function pick(ray, positions, triangles) {
    let nearest = null;
    for (let k = 0; k < triangles.length; k += 3) {
        if (misses(ray, positions, triangles, k))
            continue;
        const hit = meet(ray, at(positions, triangles[k]), at(positions, triangles[k + 1]), at(positions, triangles[k + 2]));
        if (hit && (!nearest || hit.t < nearest.t))
            nearest = {...hit, k};
    }
    return nearest && nearest.weights.map((weight, c) => ({vertex: triangles[nearest.k + c], weight}));
}
