/* Steps of the web page's kernel on the models that bench/source.c has left in a folder, from the same motion:
 * node page.mjs KERNEL_JS KERNEL_WASM FOLDER */
import {readFileSync} from 'node:fs';

const [script, module, folder] = process.argv.slice(2);
const {Kernel} = await import(`data:text/javascript;base64,${readFileSync(script).toString('base64')}`);
const up = (x) => Math.ceil(x / 4) * 4, down = (x) => Math.floor(x / 4) * 4;

/* The tables of formats/export/source_tables.h from one array */
function split(r, values) {
    const pairs = r * (r + 1) / 2, stride = up(pairs);
    const part = (k) => stride - down(stride - pairs + k * r - k * (k - 1) / 2);
    const sum = (f) => Array.from({length: r}, (_, k) => f(k)).reduce((x, y) => x + y, 0);
    const lengths = {quadratic: stride + 4, cubic: sum(part), quartic: sum((k) => (k + 1) * part(k)), mass_matrix: r * up(r),
        gravity: 3 * r};
    const model = {r};
    let at = 0;
    for (const [name, length] of Object.entries(lengths))
        model[name] = values.subarray(at, at += length);
    return model;
}

/* Microseconds of a step: the least of many runs of about a millisecond, which a busy machine seldom interrupts. */
function time(kernel, r, semiImplicit) {
    const steps = r < 25 ? 100 : r < 50 ? 10 : 2, runs = 1000;
    let least = Infinity;
    kernel.setStep(1e-3);
    kernel.setSemiImplicit(semiImplicit);
    kernel.setMotion(null, Float64Array.from({length: r}, (_, i) => 0.02 / (1 + i)));
    kernel.start(null);
    for (let run = 0; run < runs; run++) {
        const start = performance.now();
        for (let i = 0; i < steps; i++) {
            const fault = kernel.step(null);
            if (fault)
                throw new Error(fault);
        }
        least = Math.min(least, 1e3 * (performance.now() - start) / steps);
    }
    return least.toFixed(2);
}

console.log(`WebAssembly, node ${process.versions.node}, V8 ${process.versions.v8}`);
console.log('   r semi step [us] converged [us]');
for (const r of [12, 20, 30, 60]) {
    const bytes = readFileSync(`${folder}/tables-${r}.bin`);
    const kernel = await Kernel.create(readFileSync(module), split(r, new Float64Array(new Uint8Array(bytes).buffer)));
    const cells = [true, false].map((semiImplicit) => time(kernel, r, semiImplicit).padStart(14));
    console.log(`${String(r).padStart(4)} ${cells.join(' ')}`);
}
