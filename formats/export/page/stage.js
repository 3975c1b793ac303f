/* What both kinds of pages share: the bodies in the view, the camera and its controls, and the legend. Points in world
 * coordinates are relative to `origin`, which keeps single precision exact for models far from zero. */
import {Camera} from './camera.js';
import {roundUp, withUnit} from './format.js';
import {Overlay} from './overlay.js';
import {Renderer} from './renderer.js';
import {Shape} from './shape.js';
import {themeNumbers} from './theme.js';

const BODY_COLORS = 5; /* of style.css */
const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export const element = (id) => document.getElementById(id);

export class Stage {
    constructor(data, origin) {
        this.canvas = element('view');
        this.origin = origin;
        this.renderer = new Renderer(this.canvas);
        this.overlay = new Overlay(element('overlay'));
        this.shapes = data.meshes.map((mesh) => new Shape(mesh));
        this.shapes.forEach((shape) => this.renderer.addShape(shape));
        this.parts = [{x: 0, width: 1}];
        this.range = 0;
        this.wanted = false;
        element('camera').addEventListener('click', () => {
            this.camera.reset();
            this.request();
        });
        element('colored').addEventListener('change', () => this.request());
        new ResizeObserver(() => this.request()).observe(this.canvas);
    }

    setCamera(target, radius, up) {
        this.camera = new Camera(target, radius, up);
    }

    aspect(part) {
        return this.canvas.clientWidth * part.width / Math.max(1, this.canvas.clientHeight);
    }

    /* The part under a point of the canvas, and the point in its fractions. */
    locate(event) {
        const box = this.canvas.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
        const part = this.parts.find((p) => x < p.x + p.width) ?? this.parts[this.parts.length - 1];
        return {part, point: [(x - part.x) / part.width, y]};
    }

    /* What the renderer draws of a body: its shape, its coordinates, and the pose of the middle of its mesh. */
    item(shape, weights, turn, place, rigid) {
        return {shape, weights, turn: turn ?? IDENTITY, place, rigid, color: this.bodyColor(0)};
    }

    /* Of a body by its number, or of the "floor". */
    bodyColor(number) {
        return themeNumbers(number === 'floor' ? 'floor' : `body-${number % BODY_COLORS}`);
    }

    /* Draws in the next frame of the screen, once. */
    request() {
        if (this.wanted)
            return;
        this.wanted = true;
        requestAnimationFrame(() => {
            this.wanted = false;
            this.draw?.();
        });
    }

    /* The end of the scale of colours grows with the largest displacement that was seen. */
    widen(largest) {
        if (largest > this.range) {
            this.range = roundUp(largest);
            element('legend-most').textContent = withUnit(this.range, 'm');
        }
    }

    /* `groups`: items for each part. `marks`: what the overlay draws in each part. */
    show(groups, marks) {
        const colored = element('colored').checked;
        element('legend').hidden = !colored;
        this.renderer.resize();
        this.renderer.begin();
        groups.forEach((items, k) => this.renderer.drawItems(items, this.camera, this.parts[k],
            colored ? Math.max(this.range, 1e-30) : 0));
        this.overlay.draw(this.parts, this.camera, marks);
    }
}
