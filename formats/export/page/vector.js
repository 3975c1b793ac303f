/* Vectors of three numbers, and matrices of WebGL (16 numbers, columns one after another). */

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);

export function unit(a) {
    const l = length(a);
    return l > 0 ? scale(1 / l, a) : [0, 0, 0];
}

/* The element of a packed list of vectors. */
export const at = (list, i) => [list[3 * i], list[3 * i + 1], list[3 * i + 2]];

/* R x for a unit quaternion (w, x, y, z). */
export function rotate([w, x, y, z], a) {
    const v = [x, y, z];
    const t = scale(2, cross(v, a));
    return add(add(a, scale(w, t)), cross(v, t));
}

/* The columns of R, for a uniform mat3. */
export function rotation(quaternion) {
    return [[1, 0, 0], [0, 1, 0], [0, 0, 1]].flatMap((axis) => rotate(quaternion, axis));
}

export function multiply(a, b) {
    const product = new Array(16);
    for (let column = 0; column < 4; column++)
        for (let row = 0; row < 4; row++) {
            let sum = 0;
            for (let k = 0; k < 4; k++)
                sum += a[4 * k + row] * b[4 * column + k];
            product[4 * column + row] = sum;
        }
    return product;
}

/* A camera at `eye` that looks along −z of its own frame. */
export function lookAt(eye, right, up, back) {
    return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
        -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

/* `angle` is the vertical one, in radians. */
export function perspective(angle, aspect, near, far) {
    const f = 1 / Math.tan(angle / 2);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1,
        0, 0, 2 * far * near / (near - far), 0];
}
