/* A camera that orbits a target, with the up axis of the model kept upright. */
import {add, cross, dot, lookAt, multiply, perspective, scale, subtract, unit} from './vector.js';

const ANGLE = 32 * Math.PI / 180;
const TILT_MOST = 1.5;

export class Camera {
    /* `radius` of a ball about `target` that is to be seen; `up` the number of the axis. */
    constructor(target, radius, up) {
        this.home = {target, radius};
        this.up = up;
        this.reset();
    }

    reset() {
        this.target = this.home.target;
        this.turn = -0.75;
        this.tilt = 0.35;
        this.distance = null; /* that at which the whole ball is seen */
    }

    /* As far away as the ball of home fills a part of the canvas with this aspect. */
    fit(aspect) {
        this.aspect = aspect;
        const half = Math.min(ANGLE / 2, Math.atan(Math.tan(ANGLE / 2) * aspect));
        return 0.92 * this.home.radius / Math.sin(half);
    }

    frame() {
        const axis = (k) => [0, 1, 2].map((c) => (c === k % 3 ? 1 : 0));
        const up = axis(this.up), ahead = axis(this.up + 1), aside = axis(this.up + 2);
        const level = add(scale(Math.cos(this.turn), ahead), scale(Math.sin(this.turn), aside));
        const back = add(scale(Math.cos(this.tilt), level), scale(Math.sin(this.tilt), up));
        const right = unit(cross(up, back)), top = cross(back, right);
        const distance = this.distance ?? this.fit(this.aspect ?? 1);
        return {
            eye: add(this.target, scale(distance, back)), right, top, back, distance, world_up: up,
            light: unit(add(add(back, scale(0.8, top)), scale(-0.5, right)))
        };
    }

    projection(aspect) {
        this.aspect = aspect;
        const {eye, right, top, back, distance} = this.frame();
        const near = Math.max(distance - 4 * this.home.radius, 0.01 * distance), far = distance + 6 * this.home.radius;
        return multiply(perspective(ANGLE, aspect, near, far), lookAt(eye, right, top, back));
    }

    /* Fractions of the part: (0, 0) is its top left corner; null behind the camera. */
    project(point, aspect) {
        const {eye, right, top, back} = this.frame();
        const d = subtract(point, eye), depth = -dot(d, back), f = 1 / Math.tan(ANGLE / 2);
        return depth > 0 ? [0.5 + 0.5 * f / aspect * dot(d, right) / depth, 0.5 - 0.5 * f * dot(d, top) / depth] : null;
    }

    /* The ray through a point of the part, given as in project. */
    ray([x, y], aspect) {
        const {eye, right, top, back} = this.frame(), t = Math.tan(ANGLE / 2);
        const along = add(scale((2 * x - 1) * t * aspect, right), scale((1 - 2 * y) * t, top));
        return {eye, along: unit(subtract(along, back)), back};
    }

    orbit(turn, tilt) {
        this.turn += turn;
        this.tilt = Math.min(TILT_MOST, Math.max(-TILT_MOST, this.tilt + tilt));
    }

    zoom(factor) {
        const {distance} = this.frame(), {radius} = this.home;
        this.distance = Math.min(20 * radius, Math.max(0.05 * radius, distance * factor));
    }

    /* By fractions of the height of the part. */
    pan(x, y) {
        const {right, top, distance} = this.frame(), size = 2 * Math.tan(ANGLE / 2) * distance;
        this.target = add(this.target, add(scale(-x * size, right), scale(y * size, top)));
    }
}
