/* A pull by a spring, recorded: node pull.js MODEL_C SEMI STIFFNESS GRAVITY_Z. Writes pull.csv, and q of each frame to
 * stdout. The first three probes are the corners of a triangle of the surface, whose numbers are SURFACE. The spring
 * pulls, from the motion before each step, a point of the triangle towards a target that moves and then lets go; the
 * force is held for a while, and there is a pause and a second pull. */
import {writeFileSync} from 'node:fs';
import {addForce, createKernel, displacement, fail, readModel} from './model.js';
import {Recorder} from './recorder.js';

const [semi, stiffness, gravity] = process.argv.slice(3).map(Number);
const model = readModel(process.argv[2]), weights = [0.5, 0.2, 0.3], dt = 0.01, steps = 400;
const numbers = process.env.SURFACE.split(',').map(Number), corners = model.probes.slice(0, 3);
const kernel = await createKernel(model);
const recorder = new Recorder({
    point: 'surface', files: {mesh: "it's.npz", basis: 'basis.npz', [model.elements ? 'cubature' : 'polynomials']: '-poly\n.npz'},
    regions: JSON.parse(process.env.REGIONS ?? '[{"name": "body", "young": 1e6}]'),
});
recorder.settings = {dt, gravity: [0, 0, gravity], alpha: 0.3, beta: 0.002, stiffness, semiImplicit: semi === 1};
kernel.setStep(dt);
kernel.setGravity(0, 0, gravity);
kernel.setDamping(0.3, 0.002);
kernel.setFactors(stiffness, 1);
kernel.setSemiImplicit(semi === 1);

const point = () => corners.reduce((sum, corner, k) => {
    const u = displacement(corner, kernel.q);
    return sum.map((x, c) => x + weights[k] * (corner.place[c] + u[c]));
}, [0, 0, 0]);

function spring(step) {
    if (step % 200 > 150 || step % 200 === 0)
        return null;
    if (step % 200 > 100)
        return [30, -20, 250];
    const target = [3 + 0.2 * Math.sin(step / 20), 0.01 * step, 1 + 0.004 * step], x = point();
    return target.map((t, c) => 400 * (t - x[c]));
}

recorder.restart();
const frames = [];
let fault = kernel.start(null);
for (let step = 1; step <= steps && !fault; step++) {
    frames.push(kernel.q.join(' '));
    const f = spring(step), generalized = new Float64Array(model.r);
    const pulls = f && corners.map((corner, k) => {
        addForce(corner, weights[k], f, generalized);
        return {vertex: numbers[k], force: f.map((x) => weights[k] * x)};
    });
    fault = kernel.step(f && generalized);
    recorder.add(step, pulls);
}
if (fault)
    fail(fault);
frames.push(kernel.q.join(' '));
recorder.change();
recorder.settings = {dt: 1};
recorder.add(steps + 1, {vertex: 0, force: [1, 1, 1]});
writeFileSync('pull.csv', recorder.csv());
console.log(frames.join('\n'));
