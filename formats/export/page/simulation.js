/* A body that the kernel moves at its own rate, and the spring that pulls it.
 *
 * The spring acts on a point by the force k (end − (x + dt v)), from the motion before the step: this is where the point
 * will be at the end of the step but for its acceleration. The force of a step is a number by then, and the recorder
 * writes it down: repeating it needs no spring. */
import {add, scale, subtract} from './vector.js';

/* An explicit spring of stiffness k on a point of mobility m is stable well beyond k m dt² = 1/4. */
const STABLE = 0.25;

/* A turn of the clock computes no longer than this, s: a body that is too slow for real time falls behind. */
const TURN_MOST = 0.012;

export class Simulation {
    constructor(kernel, shape, properties, recorder) {
        Object.assign(this, {kernel, shape, properties, recorder});
        this.dt = 0.001;
        this.timeScale = 1;
        this.running = false;
        this.owed = 0; /* s of the body's time that the clock has not computed */
        this.stepTime = 0; /* s, mean of the last steps */
        this.pull = null; /* {point, rows, stiffness, end, mobility} */
        this.fault = '';
        this.reset();
    }

    /* The body at rest, at the time 0. */
    reset() {
        this.kernel.setMotion(null, null);
        this.steps = 0;
        this.owed = 0;
        this.fault = this.kernel.start(null);
        this.recording = {settings: this.settings, forces: [], open: true}; /* generalized forces of steps, or null */
        this.recorder.restart();
    }

    get time() {
        return this.steps * this.dt;
    }

    position(point) {
        return this.shape.pointPosition(point, this.kernel.q);
    }

    /* Attaches the spring to a point of a triangle, [{vertex, weight}], with its end where the point is. */
    grab(point, stiffness) {
        const rows = this.shape.rows(point);
        this.pull = {point, rows, stiffness, end: this.position(point), mobility: this.properties.mobility(rows)};
    }

    release() {
        this.pull = null;
    }

    /* N/m, as far as it is stable. */
    stiffnessOf(pull) {
        return Math.min(pull.stiffness, STABLE / (pull.mobility * this.dt * this.dt));
    }

    /* The force of the spring, N, for the step that comes. */
    springForce() {
        const {rows, end, point} = this.pull, {q, v, r} = this.kernel;
        const there = this.shape.pointPosition(point, new Float64Array(r));
        for (let c = 0; c < 3; c++)
            for (let i = 0; i < r; i++)
                there[c] += rows[c * r + i] * (q[i] + this.dt * v[i]);
        return scale(this.stiffnessOf(this.pull), subtract(end, there));
    }

    /* U^T f */
    generalized(rows, force) {
        const {r} = this.kernel;
        return Float64Array.from({length: r},
            (_, i) => rows[i] * force[0] + rows[r + i] * force[1] + rows[2 * r + i] * force[2]);
    }

    /* The force on each corner of the triangle. Loads name vertices by their numbers in the mesh where that has no embedded
     * surface. */
    shares(force) {
        const {vertices} = this.recorder.model, {origin} = this.shape;
        return this.pull.point.map(({vertex, weight}) => ({
            vertex: vertices ? vertices[origin[vertex]] : origin[vertex], force: scale(weight, force)
        }));
    }

    step() {
        const force = this.pull && this.springForce();
        const generalized = force && this.generalized(this.pull.rows, force);
        this.fault = this.kernel.step(generalized);
        if (this.fault) {
            this.running = false;
            return false;
        }
        this.steps++;
        if (this.recording.open)
            this.recording.forces.push(generalized);
        this.recorder.add(this.steps, force && this.shares(force));
        return true;
    }

    /* Computes what is owed after `seconds` of the clock on the wall. */
    advance(seconds) {
        if (!this.running)
            return;
        const began = performance.now(), owed = this.owed + Math.min(seconds, 0.1) * this.timeScale;
        let count = 0;
        for (this.owed = owed; this.owed >= this.dt && performance.now() - began < 1000 * TURN_MOST; count++) {
            if (!this.step())
                return;
            this.owed -= this.dt;
        }
        if (count > 0) {
            const mean = (performance.now() - began) / 1000 / count;
            this.stepTime = this.stepTime ? this.stepTime + 0.05 * (mean - this.stepTime) : mean;
        }
        this.late = this.owed >= this.dt;
        this.owed = Math.min(this.owed, this.dt);
    }

    /* The end of the spring moves by a vector. */
    nudge(vector) {
        this.pull.end = add(this.pull.end, vector);
    }
}
