/* The displacements of probes over time, a small chart for each, with a line for each motion. */
import {withUnit} from './format.js';
import {element} from './stage.js';

const WIDTH = 600, HEIGHT = 120, MARGIN = 6;
const COMPONENTS = ['x', 'y', 'z', 'length'];
const COLORS = ['first', 'second'];

function valuesOf(place, component) {
    return Float64Array.from({length: place.length / 3}, (_, f) => component === 'length'
        ? Math.hypot(place[3 * f], place[3 * f + 1], place[3 * f + 2])
        : place[3 * f + COMPONENTS.indexOf(component)]);
}

function drawing(name, attributes) {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes))
        node.setAttribute(key, value);
    return node;
}

function make(name, text, ...children) {
    const node = document.createElement(name);
    node.textContent = text;
    node.append(...children);
    return node;
}

/* The component in which the probe moves most. */
function mainComponent(lines) {
    const span = (component) => Math.max(...lines.map(({place}) => {
        const values = valuesOf(place, component);
        return Math.max(...values) - Math.min(...values);
    }));
    return COMPONENTS.slice(0, 3).reduce((a, b) => (span(b) > span(a) ? b : a));
}

class Chart {
    /* `lines`: {title, times, place, color} of each motion that has the probe. */
    constructor(name, lines, duration) {
        Object.assign(this, {name, lines, duration});
        this.figure = make('figure', '');
        this.select = make('select', '', ...COMPONENTS.map((c) => new Option(c, c)));
        this.select.setAttribute('aria-label', `Component of the displacement of ${name}`);
        this.select.value = mainComponent(lines);
        this.select.addEventListener('change', () => this.draw());
        this.range = make('span', '');
        const keys = lines.length > 1 ? lines.map(({title, color}) => {
            const key = make('span', title);
            key.className = `key ${color}`;
            return key;
        }) : [];
        this.picture = drawing('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img'});
        this.figure.append(make('figcaption', '', make('strong', name), this.select, this.range, ...keys), this.picture);
        this.draw();
    }

    draw() {
        const component = this.select.value, all = this.lines.map(({place}) => valuesOf(place, component));
        const low = Math.min(0, ...all.flatMap((v) => [...v])), high = Math.max(0, ...all.flatMap((v) => [...v]));
        const y = (value) => HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (high > low ? (value - low) / (high - low) : 0.5);
        this.range.textContent = `${withUnit(low, 'm')} to ${withUnit(high, 'm')}`;
        this.picture.replaceChildren(drawing('line', {class: 'zero', x1: 0, x2: WIDTH, y1: y(0), y2: y(0)}));
        this.lines.forEach(({times, color}, k) => {
            const points = [...all[k]].map((value, f) => `${this.x(times[f]).toFixed(2)},${y(value).toFixed(2)}`);
            this.picture.append(drawing('polyline', {class: `curve ${color}`, points: points.join(' ')}));
        });
        this.cursor = drawing('line', {class: 'cursor', y1: 0, y2: HEIGHT});
        this.picture.append(this.cursor);
        this.picture.setAttribute('aria-label', `Displacement of ${this.name}, ${component}, over ` +
            `${withUnit(this.duration, 's')}: ` + this.lines.map(({title}, k) =>
            `${title} from ${withUnit(Math.min(...all[k]), 'm')} to ${withUnit(Math.max(...all[k]), 'm')}`).join('; '));
        this.show(this.time ?? 0);
    }

    x(time) {
        return WIDTH * (this.duration > 0 ? time / this.duration : 0);
    }

    show(time) {
        this.time = time;
        this.cursor.setAttribute('x1', this.x(time));
        this.cursor.setAttribute('x2', this.x(time));
    }
}

export class Curves {
    constructor(motions, start, duration) {
        const names = [...new Set(motions.flatMap((motion) => motion.probes.map((probe) => probe.name)))];
        this.start = start;
        this.charts = names.map((name) => new Chart(name, motions.flatMap((motion, k) =>
            motion.probes.filter((probe) => probe.name === name).map(({place}) => ({
                title: motion.title, times: motion.times.map((t) => t - start), place, color: COLORS[k]
            }))), duration));
        element('curves').hidden = this.charts.length === 0;
        element('curves').append(...this.charts.map((chart) => chart.figure));
    }

    show(time) {
        for (const chart of this.charts)
            chart.show(time - this.start);
    }
}
