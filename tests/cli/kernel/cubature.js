/* What the kernel refuses of a cubature: node cubature.js MODEL_C */
import {createKernel, readModel} from './model.js';

const model = readModel(process.argv[2]);
let faults = 0;

async function refused(change, pattern) {
    const error = await createKernel({...model, ...change}).then(() => 'nothing was wrong', (e) => e);
    if (error instanceof RangeError && pattern.test(error.message))
        return;
    console.error(`${Object.keys(change)}: ${error}`);
    faults++;
}

const edited = (name, at, value) => ({[name]: model[name].map((x, i) => (i === at ? value : x))});
const names = ['constants', 'geometry', 'weights', 'rows', 'correction', 'mass_matrix', 'gravity'];
await refused({r: 65}, /^65 coordinates: a model has 1 to 64/);
await refused({r: 20}, /^rows: \d+ numbers, and \d+ belong to 20 coordinates/);
for (const name of names) {
    await refused({[name]: model[name].slice(1)}, new RegExp(`^${name}: \\d+ numbers, and \\d+ belong to \\d+ coord`));
    await refused({[name]: undefined}, new RegExp(`^${name}: no numbers`));
    await refused(edited(name, 1, NaN), new RegExp(`^${name}: the number 1 is NaN`));
}
for (const name of ['kinds', 'shapes', 'elements'])
    await refused({[name]: new Float64Array(0)}, new RegExp(`^${name}: 0 numbers, and \\d belong to`));
await refused({kinds: model.kinds.slice(1)}, /^kinds: 1 numbers, and 2 belong to/);
await refused({shapes: model.shapes.slice(1)}, /^shapes: 4 numbers, and 5 belong to/);

/* Laws and fibres that do not exist, and indices beyond the ends of tables */
for (const [name, at, values] of [['kinds', 0, [0, 7]], ['kinds', 1, [-1, 6, 9]], ['shapes', 0, [-1, 1]],
    ['shapes', 1, [8, 9, 10, 11]], ['shapes', 2, [1, 28]], ['shapes', 3, [0, 28]], ['shapes', 4, [-1, 1]],
    ['elements', 3, [-1, 1]]]) {
    for (const value of values) {
        const place = name === 'shapes' && at === 1 && (value === 9 || value === 10) ? 3 : at;
        await refused(edited(name, at, value), new RegExp(`^${name}: the number ${place} is`));
    }
}
process.exit(faults > 0 ? 1 : 0);
