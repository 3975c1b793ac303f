/* The page of motions: one, or two side by side. */
import {Curves} from './curves.js';
import {navigate} from './navigate.js';
import {element, Stage} from './stage.js';
import {locate, poseOf, stepTime, weightsOf} from './timeline.js';
import {add, at, length, rotate, scale, subtract} from './vector.js';

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const FORCE_LENGTH = 0.3; /* of the radius: the arrow of the largest force of contact */
const VERTICES = 150, SAMPLES = 40; /* of a body, and frames, in which the space of the motion and its largest displacement are looked for */

/* About SAMPLES frames of a motion. */
function samplesOf(motion) {
    const count = motion.times.length, stride = Math.max(1, Math.floor(count / SAMPLES));
    return Array.from({length: Math.ceil(count / stride)}, (_, k) => ({frame: k * stride, next: k * stride, part: 0}));
}

/* A square under the scene does not belong to what the camera looks at. */
const isFloor = (shape) => shape.count === 0 && shape.skinCount <= 4;

/* The ball that contains the bodies of all motions in all frames. */
function spaceOf(motions, shapes, origin) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const all = motions.flatMap((motion) => motion.bodies.map((body) => ({motion, body, shape: shapes[body.mesh]})));
    const some = all.some(({shape}) => !isFloor(shape));
    for (const {motion, body, shape} of all.filter(({shape}) => !some || !isFloor(shape)))
        for (const where of samplesOf(motion)) {
            const {quaternion, place} = poseOf(body, shape, where, origin), weights = weightsOf(body, shape, where);
            const stride = Math.max(1, Math.floor(shape.skinCount / VERTICES));
            for (let v = 0; v < shape.skinCount; v += stride) {
                const x = add(rotate(quaternion, shape.position(v, weights)), place);
                for (let c = 0; c < 3; c++) {
                    low[c] = Math.min(low[c], x[c]);
                    high[c] = Math.max(high[c], x[c]);
                }
            }
        }
    return {middle: scale(0.5, add(low, high)), radius: 0.5 * length(subtract(high, low)) || 1};
}

export class Player {
    constructor(data) {
        this.motions = data.motions;
        element('player').hidden = false;
        document.body.classList.add('playing-page');
        element('display').append(element('legend')); /* the views may be small */
        const first = data.motions[0].bodies[0], shape = data.meshes[first.mesh];
        const origin = add(first.poses ? at(first.poses, 0) : [0, 0, 0], shape.center);
        const stage = this.stage = new Stage(data, origin);
        stage.parts = data.motions.map((_, k) => ({x: k / data.motions.length, width: 1 / data.motions.length}));
        this.space = spaceOf(data.motions, stage.shapes, origin);
        stage.setCamera(this.space.middle, 1.1 * this.space.radius, data.up);
        this.start = Math.min(...data.motions.map(({times}) => times[0]));
        this.end = Math.max(...data.motions.map(({times}) => times[times.length - 1]));
        this.time = this.start;
        this.curves = new Curves(data.motions, this.start, this.end - this.start);
        stage.draw = () => this.draw();
        navigate(stage, () => null);
        this.findRange();
        this.findForces();
        this.nameParts();
        this.listen();
        this.play(this.end > this.start && !window.matchMedia('(prefers-reduced-motion: reduce)').matches);
        stage.request();
    }

    findRange() {
        for (const motion of this.motions)
            for (const body of motion.bodies)
                if (body.weights)
                    for (const where of samplesOf(motion))
                        this.stage.widen(this.stage.shapes[body.mesh].largest(
                            weightsOf(body, this.stage.shapes[body.mesh], where)));
        element('colored').checked = this.stage.range > 0 && this.motions[0].bodies.length === 1;
        element('colored').disabled = this.stage.range === 0;
    }

    findForces() {
        let most = 0;
        for (const {contacts} of this.motions)
            for (let k = 0; contacts && k < contacts.forces.length; k += 3)
                most = Math.max(most, length(at(contacts.forces, k / 3)));
        this.forceScale = most > 0 ? FORCE_LENGTH * this.space.radius / most : 0;
        element('contacts-row').hidden = !this.motions.some(({contacts}) => contacts);
    }

    nameParts() {
        if (this.motions.length < 2)
            return;
        element('names').append(...this.motions.map(({title}) => {
            const name = document.createElement('span');
            name.textContent = title;
            return name;
        }));
    }

    listen() {
        const duration = this.end - this.start;
        for (const speed of SPEEDS)
            element('speed').add(new Option(`× ${speed}`, String(speed), speed === 1, speed === 1));
        if (!(duration > 0))
            for (const id of ['play', 'back', 'next', 'time', 'speed'])
                element(id).disabled = true;
        element('play').addEventListener('click', () => this.play(!this.playing));
        element('back').addEventListener('click', () => this.stepTo(-1));
        element('next').addEventListener('click', () => this.stepTo(1));
        element('contacts').addEventListener('change', () => this.stage.request());
        element('time').addEventListener('input', (event) => {
            this.play(false);
            this.seek(this.start + duration * Number(event.target.value) / Number(event.target.max));
        });
        this.stage.canvas.addEventListener('keydown', (event) => {
            const act = {' ': () => this.play(!this.playing), ',': () => this.stepTo(-1), '.': () => this.stepTo(1)};
            if (act[event.key]) {
                event.preventDefault();
                act[event.key]();
            }
        });
        element('more-keys').textContent = ', the space bar plays and pauses, comma and full stop step by a frame';
    }

    play(playing) {
        this.playing = playing;
        this.last = null;
        element('play').textContent = playing ? 'Pause' : 'Play';
        this.stage.request();
    }

    stepTo(direction) {
        this.play(false);
        this.seek(stepTime(this.motions, this.time, direction));
    }

    seek(time) {
        this.time = time;
        this.stage.request();
    }

    /* The next frame of the screen, after `milliseconds` of the clock. */
    advance(now) {
        const elapsed = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
        this.last = now;
        this.time += elapsed * Number(element('speed').value);
        if (this.time > this.end)
            this.time = this.start;
    }

    items(motion) {
        const where = locate(motion.times, this.time), {stage} = this;
        return motion.bodies.map((body, k) => {
            const shape = stage.shapes[body.mesh], {turn, place} = poseOf(body, shape, where, stage.origin);
            const item = stage.item(body.mesh, weightsOf(body, shape, where), turn, place, shape.count === 0);
            item.color = stage.bodyColor(isFloor(shape) ? 'floor' : k);
            return item;
        });
    }

    marks(motion) {
        const {contacts} = motion, {frame} = locate(motion.times, this.time), forces = [];
        if (contacts && element('contacts').checked)
            for (let k = contacts.first[frame]; k < contacts.first[frame + 1]; k++)
                forces.push({
                    point: subtract(at(contacts.points, k), this.stage.origin),
                    force: scale(this.forceScale, at(contacts.forces, k))
                });
        return {forces};
    }

    draw() {
        if (this.playing)
            this.advance(performance.now());
        this.stage.show(this.motions.map((motion) => this.items(motion)), this.motions.map((motion) => this.marks(motion)));
        this.curves.show(this.time);
        const span = this.end - this.start;
        element('time').value = String(span > 0 ? 1000 * (this.time - this.start) / span : 0);
        element('clock').textContent = `${this.time.toFixed(3)} s of ${this.end.toFixed(3)} s`;
        element('time').setAttribute('aria-valuetext', `${this.time.toFixed(3)} seconds`);
        if (this.playing)
            this.stage.request();
    }
}
