/* The data in a page of a body that one pulls, and what the page knows of it: node page.js PAGE MODEL_C */
import {readFileSync} from 'node:fs';
import {readData} from './data.js';
import {createKernel, fail, readModel} from './model.js';
import {Properties} from './properties.js';

const page = readFileSync(process.argv[2], 'utf8');
const {model} = readData(page.match(/<script id="data" type="application\/json">(.*)<\/script>/)[1]);
const source = readModel(process.argv[3]);
for (const [name, values] of Object.entries(source)) {
    if (name !== 'probes' && String(model[name]) !== String(values))
        fail(`${name}: other values than in the C source`);
}

/* f = K0 q for small q */
const kernel = await createKernel(model), {r} = model, K = kernel.restStiffness();
const q = Float64Array.from({length: r}, (_, i) => 1e-7 / (1 + i));
kernel.setMotion(q, null);
const f = kernel.internalForce(), size = Math.max(...f.map(Math.abs));
f.forEach((x, i) => {
    const product = q.reduce((sum, y, j) => sum + K[i * r + j] * y, 0);
    if (!(Math.abs(x - product) < 1e-5 * size))
        fail(`force ${i}: ${x}, and K q is ${product}`);
});
const properties = new Properties(model, kernel);
if (!(properties.period > 0))
    fail(`period ${properties.period}`);
console.log(JSON.stringify(model.files));
