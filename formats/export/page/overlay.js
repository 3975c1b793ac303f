/* Springs, points and forces, drawn over the bodies on a canvas of two dimensions. */
import {add, scale} from './vector.js';
import {themeColor} from './theme.js';

const COILS = 9, COIL_WIDTH = 6;

export class Overlay {
    constructor(canvas) {
        this.canvas = canvas;
        this.pen = canvas.getContext('2d');
    }

    draw(parts, camera, marks) {
        const {canvas, pen} = this, ratio = Math.min(window.devicePixelRatio || 1, 2);
        const width = canvas.clientWidth, height = canvas.clientHeight;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        pen.scale(ratio, ratio);
        parts.forEach((part, k) => {
            const place = (point) => {
                const at = camera.project(point, width * part.width / Math.max(1, height));
                return at && [(part.x + at[0] * part.width) * width, at[1] * height];
            };
            pen.save();
            pen.beginPath();
            pen.rect(part.x * width, 0, part.width * width, height);
            pen.clip();
            this.drawForces(marks[k]?.forces ?? [], place);
            this.drawSpring(marks[k]?.spring, place);
            this.drawCursor(marks[k]?.cursor, place);
            pen.restore();
        });
        if (parts.length > 1)
            this.divide(parts[1].x * width, height);
    }

    divide(x, height) {
        this.pen.fillStyle = themeColor('line');
        this.pen.fillRect(x - 0.5, 0, 1, height);
    }

    dot([x, y], radius, fill) {
        const {pen} = this;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 2 * Math.PI);
        pen.fillStyle = fill;
        pen.fill();
        pen.lineWidth = 1.5;
        pen.strokeStyle = themeColor('sheet');
        pen.stroke();
    }

    /* A coil from the point of the body to the end that the hand moves. */
    drawSpring(spring, place) {
        const from = spring && place(spring.from), to = spring && place(spring.to);
        if (!from || !to)
            return;
        const {pen} = this, d = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(...d) || 1;
        const side = [-d[1] / length * COIL_WIDTH, d[0] / length * COIL_WIDTH];
        pen.beginPath();
        pen.moveTo(...from);
        for (let k = 1; k < 2 * COILS; k++) {
            const t = 0.1 + 0.8 * k / (2 * COILS), s = Math.min(1, length / 60) * (k % 2 ? 1 : -1);
            pen.lineTo(from[0] + t * d[0] + s * side[0], from[1] + t * d[1] + s * side[1]);
        }
        pen.lineTo(...to);
        pen.lineWidth = 2;
        pen.lineJoin = 'round';
        pen.strokeStyle = themeColor('spring');
        pen.stroke();
        this.dot(from, 4.5, themeColor('spring'));
        this.dot(to, 7, themeColor('spring'));
    }

    /* The point that the keyboard chose. */
    drawCursor(cursor, place) {
        const at = cursor && place(cursor);
        if (!at)
            return;
        const {pen} = this;
        for (const [style, width] of [[themeColor('sheet'), 4], [themeColor('accent'), 2]]) {
            pen.beginPath();
            pen.arc(at[0], at[1], 8, 0, 2 * Math.PI);
            pen.lineWidth = width;
            pen.strokeStyle = style;
            pen.stroke();
        }
    }

    /* Arrows {point, force}, where `force` has the length of the arrow. */
    drawForces(forces, place) {
        const {pen} = this;
        pen.strokeStyle = pen.fillStyle = themeColor('spring');
        pen.lineWidth = 1.5;
        for (const {point, force} of forces) {
            const from = place(point), to = place(add(point, scale(1, force)));
            if (!from || !to)
                continue;
            pen.beginPath();
            pen.arc(from[0], from[1], 2, 0, 2 * Math.PI);
            pen.fill();
            pen.beginPath();
            pen.moveTo(...from);
            pen.lineTo(...to);
            pen.stroke();
        }
    }
}
