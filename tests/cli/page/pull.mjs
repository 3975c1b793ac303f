/* node pull.mjs PAGE FOLDER [settings|far]: with other settings or with a stiff spring, pulls the chosen point by mouse, stops, and leaves in FOLDER the saved loads, and page.json with
 * what the page shows then: coordinates, and the positions and normals that the vertex shader has computed. */
import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {check, chosenPoint, finish, open, wait} from './browser.mjs';

const [file, folder, how] = process.argv.slice(2);
const {page, said, close} = await open(file, {downloads: folder});

if (how === 'settings') {
    await page.evaluate(() => {
        for (const [id, value, event] of [['alpha', '0.5', 'change'], ['beta', '0.001', 'change'], ['stiffness', '0.3', 'input'],
            ['method', '0', 'change'], ['dt', '0.005', 'change']]) {
            document.getElementById(id).value = value;
            document.getElementById(id).dispatchEvent(new Event(event));
        }
        document.getElementById('weight').click();
    });
    check(await page.$eval('#gravity-z', (input) => input.value) === '-9.81', 'no weight');
} else if (how === 'far')
    await page.evaluate(() => {
        document.getElementById('spring').value = '0.7';
        document.getElementById('spring').dispatchEvent(new Event('input'));
    });
/* The body stands still until it is held: it must be where it was seen. */
await page.evaluate(() => supple.page.run(false));
const from = await chosenPoint(page);
const before = await page.evaluate(() => supple.page.recorder.empty);
check(before, 'loads are recorded before a pull');
await page.mouse.move(...from);
await page.mouse.down();
await page.evaluate(() => supple.page.run(true));
for (let k = 1; k <= 12; k++) {
    await page.mouse.move(from[0] - 3 * k, from[1] - 18 * k);
    await wait(40);
}
await wait(400);
const force = await page.$eval('#readout', (list) => list.textContent);
check(!/Spring force0 N/.test(force), `no force: ${force}`);
await page.evaluate(() => supple.page.run(false));
await page.focus('#save');
await page.keyboard.press('Enter');
for (let k = 0; k < 50 && !existsSync(join(folder, 'pull.csv')); k++)
    await wait(100);
check(existsSync(join(folder, 'pull.csv')), 'nothing was saved');

/* Arrays as lists: the data, the motion, and what the shader makes of them. */
const shown = await page.evaluate(() => {
    const {stage, simulation} = supple.page, [shape] = stage.shapes, [mesh] = supple.data.meshes;
    const [positions, normals] = stage.renderer.readBack(supple.page.item());
    const columns = shape.targets.scales.length, targets = [];
    for (let v = 0; v < mesh.skinCount; v++)
        targets.push(...shape.rows([{vertex: v, weight: 1}]));
    return {
        q: [...simulation.kernel.q], steps: simulation.steps, center: shape.center, columns, targets,
        positions: [...positions], normals: [...normals], rest: [...shape.rest], rest_normals: [...mesh.normals],
        origin: [...shape.origin], triangles: [...shape.triangles], command: supple.page.recorder.command()
    };
});
writeFileSync(join(folder, 'page.json'), JSON.stringify(shown));
check(shown.steps > 20, `${shown.steps} steps`);
await page.mouse.up();
check(await page.evaluate(() => supple.page.simulation.pull === null), 'the pointer let go, and the spring is still there');
said.forEach((text) => check(false, text));
await close();
finish();
