/* node sketch.mjs PAGE FILE: a sketch drawn by the keyboard of the page: the chosen point is pulled across its body in 16
 * directions of y and z, and the saved loads go to FILE. */
import {writeFileSync} from 'node:fs';
import {check, finish, open, wait} from './browser.mjs';

const DIRECTIONS = 16, PUSHES = 9, STEPS = 4;
const [file, out] = process.argv.slice(2);
const {page, said, close} = await open(file, {reduced: true});
const set = (id, value, event = 'change') => page.evaluate((name, text, kind) => {
    const input = document.getElementById(name);
    input.value = text;
    input.dispatchEvent(new Event(kind));
}, id, value, event);

async function step(count) {
    await page.focus('#step');
    for (let k = 0; k < count; k++)
        await page.keyboard.press('Enter');
}

async function push(axis, sign) {
    await page.focus(`.pad button[data-axis="${axis}"][data-sign="${sign}"]`);
    await page.keyboard.press('Enter');
}

await set('dt', '0.01');
await set('method', '0');
await set('alpha', '20');
await set('spring', '0.7', 'input');
for (let d = 0; d < DIRECTIONS; d++) {
    const angle = 2 * Math.PI * d / DIRECTIONS, done = [0, 0];
    for (let k = 1; k <= PUSHES; k++) {
        for (const [i, x] of [Math.cos(angle), Math.sin(angle)].entries())
            for (const wanted = Math.round(k * x); done[i] !== wanted; done[i] += Math.sign(wanted))
                await push(i + 1, Math.sign(wanted));
        await step(STEPS);
    }
    await page.focus('#release');
    await page.keyboard.press('Enter');
    await step(5 * STEPS);
}
check(!await page.evaluate(() => supple.page.simulation.fault), 'the motion has failed');
writeFileSync(out, await page.evaluate(() => supple.page.recorder.csv()));
console.log(await page.evaluate(() => supple.page.recorder.description()));
said.forEach((text) => check(false, text));
await close();
finish();
