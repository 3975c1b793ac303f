/* What the kernel refuses, and what it keeps: node refusals.js MODEL_C */
import {createKernel, readModel} from './model.js';

const model = readModel(process.argv[2]);
let faults = 0;

function check(good, text) {
    if (!good) {
        console.error(text);
        faults++;
    }
}

function says(error, pattern, what) {
    check(error instanceof RangeError && pattern.test(error.message), `${what}: ${error}`);
}

async function refused(change, pattern) {
    const error = await createKernel({...model, ...change}).then(() => 'nothing was wrong', (e) => e);
    says(error, pattern, Object.keys(change)[0]);
}

const edited = (name, at, value) => ({[name]: model[name].map((x, i) => (i === at ? value : x))});
for (const r of [0, -1, 65, 1.5, NaN, undefined, '12'])
    await refused({r}, /coordinates: a model has 1 to 64/);
await refused({r: model.r + 1}, /^quadratic: \d+ numbers, and \d+ belong to/);
for (const name of ['quadratic', 'cubic', 'quartic', 'mass_matrix', 'gravity']) {
    await refused({[name]: model[name].slice(1)}, new RegExp(`^${name}: \\d+ numbers, and \\d+ belong to \\d+ coord`));
    await refused({[name]: undefined}, new RegExp(`^${name}: no numbers`));
    await refused(edited(name, 2, NaN), new RegExp(`^${name}: the number 2 is NaN`));
    await refused(edited(name, 0, Infinity), new RegExp(`^${name}: the number 0 is Infinity`));
}
await refused({damping: [-1, 0]}, /damping must not be negative/);

const kernel = await createKernel(model), zero = new Float64Array(model.r);
function throws(what, act) {
    let error = 'nothing was wrong';
    try {
        act();
    } catch (e) {
        error = e;
    }
    says(error, /./, what);
}
for (const dt of [0, -1, NaN, Infinity])
    throws(`dt ${dt}`, () => kernel.setStep(dt));
throws('gravity', () => kernel.setGravity(0, NaN, 0));
throws('factors', () => kernel.setFactors(0, 1));
throws('Newmark', () => kernel.setNewmark(0, 0.5));
throws('Newton', () => kernel.setNewton(1e-10, 0));
throws('a short force', () => kernel.step(zero.slice(1)));
throws('a long motion', () => kernel.setMotion([...zero, 0], null));
throws('a motion that is not finite', () => kernel.setMotion(null, zero.map(() => NaN)));

kernel.setStep(0.01);
kernel.setGravity(0, 0, -9.81);
check(kernel.start(null) === '' && kernel.a.some((a) => a !== 0), 'start');
for (let i = 0; i < 10; i++)
    check(kernel.step(null) === '', 'a step');
const before = kernel.save(), q = kernel.q.slice();
for (const bad of [NaN, -Infinity])
    check(kernel.step(zero.map(() => bad)) === 'the force is not finite', `a force of ${bad}`);
check(/Newton|finite/.test(kernel.step(zero.map(() => 1e300))), 'a force of 1e300');
check(kernel.q.every((x, i) => x === q[i]), 'a step that failed has moved the body');

/* The motion goes on from a copy as it went on, with its options. */
kernel.step(null);
const next = kernel.q.slice();
kernel.setGravity(0, 0, 0);
kernel.setMotion(null, null);
check(kernel.q.every((x) => x === 0) && kernel.energies().kinetic === 0, 'setMotion');
kernel.restore(before);
kernel.step(null);
check(kernel.q.every((x, i) => x === next[i]), 'restore');

/* f = K0 q for small q, and the energies of it */
const tiny = zero.map((_, i) => 1e-9 / (1 + i));
kernel.setMotion(tiny, tiny);
kernel.setFactors(2, 1);
const f = kernel.internalForce(), energies = kernel.energies();
const work = f.reduce((sum, x, i) => sum + x * tiny[i] / 2, 0);
check(Math.abs(energies.strain - work) < 1e-6 * work, `strain energy ${energies.strain}, work ${work}`);
const up = Math.ceil(model.r / 4) * 4;
const momentum = tiny.map((_, i) => tiny.reduce((sum, y, j) => sum + model.mass_matrix[i * up + j] * y, 0));
const kinetic = tiny.reduce((sum, x, i) => sum + momentum[i] * x / 2, 0);
check(Math.abs(energies.kinetic - kinetic) < 1e-12 * kinetic, `kinetic energy ${energies.kinetic}, not ${kinetic}`);
const weight = tiny.reduce((sum, x, i) => sum + 9.81 * model.gravity[3 * i + 2] * x, 0);
check(Math.abs(energies.weight - weight) < 1e-12 * Math.abs(weight), `weight ${energies.weight}, not ${weight}`);
process.exit(faults > 0 ? 1 : 0);
