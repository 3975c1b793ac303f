/* A mesh that deforms by targets: vertex v of the skin is rest_v + sum_i q_i target_iv. Duplicates of a vertex at a crease
 * share its targets. */
import {add, at, cross, dot, scale, subtract, unit} from './vector.js';

/* Targets as Float32Array [skin, count, 3], the order in which a shader reads them. */
function orderTargets(targets, skinCount) {
    const {count, scales, high} = targets;
    const ordered = new Float32Array(skinCount * count * 3);
    for (let i = 0; i < count; i++)
        for (let v = 0; v < skinCount; v++)
            for (let c = 0; c < 3; c++)
                ordered[(v * count + i) * 3 + c] = scales[i] * high[(i * skinCount + v) * 3 + c];
    return ordered;
}

/* Two unit vectors in the plane of a unit normal, so that first × second is the normal. */
function planeOf(normal) {
    const axis = Math.abs(normal[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0];
    const first = unit(cross(axis, normal));
    return [first, cross(normal, first)];
}

/* For each vertex the numbers of its neighbours across the edges of its own triangles. */
function ringsOf(triangles, vertexCount) {
    const rings = Array.from({length: vertexCount}, () => []);
    const join = (a, b) => rings[a].includes(b) || rings[a].push(b);
    for (let t = 0; t < triangles.length; t += 3)
        for (let k = 0; k < 3; k++) {
            const a = triangles[t + k], b = triangles[t + (k + 1) % 3];
            join(a, b);
            join(b, a);
        }
    return rings;
}

/* Weights g_j of the least-squares gradient in the tangent plane: the derivative of a field f along the first and second
 * tangent is sum_j g_j (f_j − f_v). Neighbours count by the inverse square of their distance. A vertex whose neighbours
 * lie on one line has no gradient across it: its normal then stays as it is. */
function gradientWeights(rest, v, ring, first, second) {
    const flat = ring.map((j) => {
        const d = subtract(at(rest, j), at(rest, v));
        const p = [dot(d, first), dot(d, second)];
        const square = p[0] * p[0] + p[1] * p[1];
        return {p, weight: square > 0 ? 1 / square : 0};
    });
    let a = 0, b = 0, c = 0;
    for (const {p, weight} of flat) {
        a += weight * p[0] * p[0];
        b += weight * p[0] * p[1];
        c += weight * p[1] * p[1];
    }
    const determinant = a * c - b * b;
    if (!(determinant > 1e-10 * (a + c) * (a + c)))
        return flat.map(() => [0, 0]);
    return flat.map(({p, weight}) => [weight * (c * p[0] - b * p[1]) / determinant,
        weight * (a * p[1] - b * p[0]) / determinant]);
}

/* Derivatives of all targets along both tangents: Float32Array [vertex, count, 2, 3]. */
function differentiate(shape) {
    const {count, ordered, origin, vertexCount, tangents} = shape;
    const rings = ringsOf(shape.triangles, vertexCount);
    const out = new Float32Array(vertexCount * count * 6);
    for (let v = 0; v < vertexCount; v++) {
        const weights = gradientWeights(shape.rest, v, rings[v], at(tangents, 2 * v), at(tangents, 2 * v + 1));
        const own = origin[v] * count * 3;
        rings[v].forEach((j, k) => {
            const other = origin[j] * count * 3;
            const [g, h] = weights[k];
            for (let i = 0; i < count; i++) {
                const to = (v * count + i) * 6;
                for (let c = 0; c < 3; c++) {
                    const difference = ordered[other + 3 * i + c] - ordered[own + 3 * i + c];
                    out[to + c] += g * difference;
                    out[to + 3 + c] += h * difference;
                }
            }
        });
    }
    return out;
}

export class Shape {
    constructor(mesh) {
        this.name = mesh.name;
        this.center = mesh.center;
        this.rest = mesh.rest;
        this.triangles = mesh.triangles;
        this.colors = mesh.colors;
        this.skinCount = mesh.skinCount;
        this.vertexCount = mesh.rest.length / 3;
        this.origin = mesh.origin || Int32Array.from({length: this.vertexCount}, (_, v) => v);
        this.targets = mesh.targets;
        this.count = mesh.targets.count;
        this.ordered = orderTargets(mesh.targets, mesh.skinCount);
        this.tangents = new Float32Array(this.vertexCount * 6);
        for (let v = 0; v < this.vertexCount; v++)
            planeOf(at(mesh.normals, v)).forEach((tangent, k) => this.tangents.set(tangent, 6 * v + 3 * k));
        this.derivatives = differentiate(this);
        this.bound();
    }

    /* Half the diagonal of the box of the rest shape, and the middle of the box. */
    bound() {
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        for (let k = 0; k < this.rest.length; k++) {
            low[k % 3] = Math.min(low[k % 3], this.rest[k]);
            high[k % 3] = Math.max(high[k % 3], this.rest[k]);
        }
        this.middle = scale(0.5, add(low, high));
        this.radius = 0.5 * Math.hypot(...subtract(high, low)) || 1;
    }

    /* The displacement of a vertex for the weights q. */
    displacement(v, q) {
        const from = this.origin[v] * this.count * 3;
        const u = [0, 0, 0];
        for (let i = 0; i < this.count; i++)
            for (let c = 0; c < 3; c++)
                u[c] += q[i] * this.ordered[from + 3 * i + c];
        return u;
    }

    position(v, q) {
        return add(at(this.rest, v), this.displacement(v, q));
    }

    /* The same of a point of a triangle, whose corners have weights: [{vertex, weight}]. */
    pointPosition(point, q) {
        return point.reduce((sum, {vertex, weight}) => add(sum, scale(weight, this.position(vertex, q))), [0, 0, 0]);
    }

    /* Of all vertices. */
    positions(q) {
        const {count, ordered, origin, rest} = this, out = new Float32Array(rest.length);
        for (let v = 0; v < this.vertexCount; v++)
            for (let c = 0; c < 3; c++) {
                let x = rest[3 * v + c];
                for (let i = 0, at = origin[v] * count * 3 + c; i < count; i++, at += 3)
                    x += q[i] * ordered[at];
                out[3 * v + c] = x;
            }
        return out;
    }

    /* The largest displacement of about 500 vertices. */
    largest(q) {
        const stride = Math.max(1, Math.floor(this.skinCount / 500));
        let most = 0;
        for (let v = 0; v < this.skinCount; v += stride)
            most = Math.max(most, Math.hypot(...this.displacement(v, q)));
        return most;
    }

    /* U of a point in double precision, [3, count]: what a force on it is multiplied by. */
    rows(point) {
        const {count, scales, high, low} = this.targets;
        const rows = new Float64Array(3 * count);
        for (const {vertex, weight} of point)
            for (let c = 0; c < 3; c++)
                for (let i = 0; i < count; i++) {
                    const k = (i * this.skinCount + this.origin[vertex]) * 3 + c;
                    rows[c * count + i] += weight * scales[i] * (high[k] + low[k] / 256);
                }
        return rows;
    }
}
