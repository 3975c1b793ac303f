/* A motion by the kernel, as tests/cli/source/motion.c has it: one line of coordinates for each frame.
 *
 *     node motion.js MODEL_C DT STEPS SEMI ALPHA BETA NEWMARK_BETA GAMMA GX GY GZ FX FY FZ END [BEGIN]
 *
 * A force F acts on the first probe from the time BEGIN (0) to END. */
import {addForce, createKernel, fail, readModel} from './model.js';

const numbers = process.argv.slice(3).map(Number);
const [h, steps, semi, alpha, beta, newmarkBeta, gamma, gx, gy, gz, fx, fy, fz, end, begin = 0] = numbers;
const model = readModel(process.argv[2]);
const kernel = await createKernel({...model, damping: [alpha, beta]});
kernel.setStep(h);
kernel.setSemiImplicit(semi === 1);
kernel.setNewmark(newmarkBeta, gamma);
kernel.setGravity(gx, gy, gz);

/* The generalized force: the mean over [from, to]. */
function load(from, to) {
    const force = new Float64Array(model.r), acting = Math.min(to, end) - Math.max(from, begin);
    addForce(model.probes[0], Math.max(acting, 0) / (to - from), [fx, fy, fz], force);
    return force;
}

const frames = [];
let fault = kernel.start(load(0, (1 - gamma) * h));
for (let step = 1; step <= steps && !fault; step++) {
    frames.push(kernel.q.join(' '));
    fault = kernel.step(load(step * h - gamma * h, step * h + (1 - gamma) * h));
}
if (fault)
    fail(`step ${frames.length}: ${fault}`);
frames.push(kernel.q.join(' '));
console.log(frames.join('\n'));
