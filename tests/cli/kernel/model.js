/* The model of a C source that simexport has written, and what the tests need beside it. */
import {readFileSync} from 'node:fs';
import {Kernel} from './kernel.js';

export function readModel(file) {
    const text = readFileSync(file, 'utf8');
    const body = (name) => text.match(new RegExp(`model_${name}\\[[^=]*= \\{([^;]*)\\};`));
    const table = (name) => Float64Array.from(body(name)[1].match(/[-+.e\d]+/g), Number);
    const tables = ['quadratic', 'cubic', 'quartic', 'kinds', 'constants', 'shapes', 'geometry', 'elements', 'weights',
        'rows', 'correction', 'mass_matrix'].filter(body);
    const gravity = table('gravity'), r = gravity.length / 3;
    const rows = /model_probe_rows/.test(text) ? table('probe_rows') : []; /* [probe, 3, r] */
    const places = rows.length ? table('probe_places') : [];
    return {
        ...Object.fromEntries(tables.map((name) => [name, table(name)])),
        r, polynomial: /_CUBIC 1 /.test(readFileSync(file.replace(/c$/, 'h'), 'utf8')), gravity,
        damping: [...table('damping_of_mesh')],
        probes: Array.from({length: rows.length / (3 * r)}, (_, p) => ({
            rows: rows.subarray(3 * r * p, 3 * r * (p + 1)), place: [...places.subarray(3 * p, 3 * p + 3)],
        })),
    };
}

export function createKernel(model) {
    const file = process.env.KERNEL;
    return Kernel.create(readFileSync(model.elements ? file.replace(/kernel.wasm$/, 'cubature.wasm') : file), model);
}

/* u = U q and U^T f of a probe */
export function displacement({rows}, q) {
    return [0, 1, 2].map((c) => q.reduce((sum, x, i) => sum + rows[c * q.length + i] * x, 0));
}

export function addForce({rows}, share, f, force) {
    force.forEach((_, i) => f.forEach((x, c) => {
        force[i] += share * rows[c * force.length + i] * x;
    }));
}

export function fail(text) {
    console.error(text);
    process.exit(1);
}
