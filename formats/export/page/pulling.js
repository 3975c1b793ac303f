/* The spring by mouse, touch and keyboard. */
import {withUnit} from './format.js';
import {pick} from './pick.js';
import {add, dot, length, scale, subtract} from './vector.js';
import {element} from './stage.js';

/* Where the ray meets the plane through `point` that faces the camera. */
function onPlane(ray, point) {
    const t = dot(subtract(point, ray.eye), ray.back) / dot(ray.along, ray.back);
    return add(ray.eye, scale(t, ray.along));
}

/* Points to choose from a list: the probes, and the outermost vertices of each axis. */
function listPoints(shape, probes) {
    const points = probes.map(({name, vertex}) => ({name, vertex}));
    for (let axis = 0; axis < 3; axis++)
        for (const [word, sign] of [['Lowest', -1], ['Highest', 1]]) {
            let best = 0;
            for (let v = 0; v < shape.skinCount; v++)
                if (sign * (shape.rest[3 * v + axis] - shape.rest[3 * best + axis]) > 0)
                    best = v;
            points.push({name: `${word} ${'xyz'[axis]}`, vertex: best});
        }
    return points;
}

export class Pulling {
    constructor(stage, simulation, probes, say) {
        Object.assign(this, {stage, simulation, say, shape: simulation.shape});
        this.selected = null; /* the vertex of the keyboard, drawn while the controls are used */
        this.factor = 1;
        this.points = listPoints(this.shape, probes);
        this.points.forEach((point, i) => element('point').add(new Option(point.name, String(i))));
        element('point').add(new Option('Another', ''));
        element('vertex').max = String(this.shape.skinCount - 1);
        this.listen();
        this.choose(this.firstVertex(probes));
        this.selected = null;
        this.showStiffness();
    }

    listen() {
        element('point').addEventListener('change', (event) => event.target.value !== '' &&
            this.choose(this.points[event.target.value].vertex));
        element('vertex').addEventListener('change', (event) => {
            const v = Math.round(Number(event.target.value));
            this.choose(Math.min(this.shape.skinCount - 1, Math.max(0, Number.isFinite(v) ? v : 0)));
        });
        for (const button of document.querySelectorAll('.pad button'))
            button.addEventListener('click', () => this.move(Number(button.dataset.axis), Number(button.dataset.sign)));
        element('spring').addEventListener('input', (event) => {
            this.factor = 10 ** Number(event.target.value);
            if (this.simulation.pull)
                this.simulation.pull.stiffness = this.stiffnessAt(this.simulation.pull.rows);
            this.showStiffness();
        });
        element('release').addEventListener('click', () => this.release());
        element('hold').addEventListener('change', (event) => event.target.checked || this.release());
    }

    /* The spring of the factor 1 moves the point by half of its own length, at rest, or once in a period of half a
     * second where nothing holds the body. */
    stiffnessAt(rows) {
        const {properties} = this.simulation;
        const soft = this.softest ??= this.findSoftest();
        const compliance = Math.max(properties.compliance(rows) ?? 0, 0.1 * soft);
        return this.factor / (compliance || properties.mobility(rows) / 150 || 1);
    }

    /* The first probe, or the point of the list that gives way most. */
    firstVertex(probes) {
        const {properties} = this.simulation, softness = ({vertex}) => properties.compliance(this.rowsOf(vertex)) ?? 0;
        return probes[0]?.vertex ?? this.points.reduce((a, b) => (softness(b) > softness(a) ? b : a)).vertex;
    }

    rowsOf(vertex) {
        return this.shape.rows([{vertex, weight: 1}]);
    }

    findSoftest() {
        const {properties} = this.simulation;
        return Math.max(...this.points.map((point) => properties.compliance(this.rowsOf(point.vertex)) ?? 0));
    }

    showStiffness() {
        const {pull} = this.simulation;
        const stiffness = pull ? this.simulation.stiffnessOf(pull) : this.stiffnessAt(this.rowsOf(this.vertex));
        element('spring-value').textContent = withUnit(stiffness, 'N/m');
    }

    choose(vertex) {
        this.vertex = this.selected = vertex;
        element('vertex').value = String(vertex);
        const known = this.points.findIndex((point) => point.vertex === vertex);
        element('point').selectedIndex = known < 0 ? this.points.length : known;
        if (this.simulation.pull)
            this.release();
        this.showStiffness();
        this.stage.request();
    }

    grab(point) {
        this.simulation.grab(point, this.stiffnessAt(this.shape.rows(point)));
        element('release').disabled = false;
        this.showStiffness();
    }

    /* By keyboard: a twentieth of the body's size. */
    move(axis, sign) {
        if (!this.simulation.pull)
            this.grab([{vertex: this.vertex, weight: 1}]);
        const {pull} = this.simulation;
        this.simulation.nudge([0, 1, 2].map((c) => (c === axis ? sign * 0.1 * this.shape.radius : 0)));
        const stretch = length(subtract(pull.end, this.simulation.position(pull.point)));
        this.say(`The spring at vertex ${this.vertex} is ${withUnit(stretch, 'm')} long.`);
        this.stage.request();
    }

    release() {
        this.simulation.release();
        element('release').disabled = true;
        this.stage.canvas.classList.remove('pulling');
        this.stage.request();
    }

    /* Takes a pointer that hits the body (navigate.js). */
    claim(event) {
        const {stage, simulation} = this, {part, point} = stage.locate(event), aspect = stage.aspect(part);
        const positions = this.shape.positions(simulation.kernel.q);
        const hit = pick(stage.camera.ray(point, aspect), positions, this.shape.triangles);
        if (hit === null)
            return null;
        const held = this.shape.pointPosition(hit, simulation.kernel.q);
        const nearest = hit.reduce((a, b) => (b.weight > a.weight ? b : a));
        this.choose(this.shape.origin[nearest.vertex]);
        this.selected = null;
        this.grab(hit);
        stage.canvas.classList.add('pulling');
        return {
            move: (later) => {
                if (simulation.pull)
                    simulation.pull.end = onPlane(stage.camera.ray(stage.locate(later).point, aspect), held);
            },
            end: () => {
                stage.canvas.classList.remove('pulling');
                if (!element('hold').checked)
                    this.release();
            }
        };
    }

    marks() {
        const {pull} = this.simulation;
        return {
            spring: pull && {from: this.simulation.position(pull.point), to: pull.end},
            cursor: this.selected !== null && !pull
                ? this.simulation.position([{vertex: this.selected, weight: 1}]) : null
        };
    }
}
