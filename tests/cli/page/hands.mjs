/* node hands.mjs PAGE: pulls by keyboard alone and by touch, steps, resets, and is refused what is out of range. */
import {check, chosenPoint, finish, open, wait} from './browser.mjs';

const {page, said, close} = await open(process.argv[2], {touch: true, width: 400, height: 740});
const state = () => page.evaluate(() => ({
    steps: supple.page.simulation.steps, pulled: supple.page.simulation.pull !== null, running: supple.page.simulation.running,
    q: Math.max(...supple.page.simulation.kernel.q.map(Math.abs)), said: document.getElementById('status').textContent
}));
async function press(id, key = 'Enter') {
    await page.focus(id);
    await page.keyboard.press(key);
}

/* A step at rest moves nothing; three pushes of the spring along z do. */
await press('#pause');
const paused = await state();
check(!paused.running, 'it runs');
await press('#step');
check((await state()).steps === paused.steps + 1, 'no single step');
for (let k = 0; k < 3; k++)
    await press('.pad button[data-axis="2"][data-sign="1"]');
let now = await state();
check(now.pulled && /The spring at vertex/.test(now.said), `no pull by keyboard: ${now.said}`);
await press('#pause');
await wait(1000);
now = await state();
check(now.running && now.q > 0 && now.steps > 10, `no motion by keyboard: ${JSON.stringify(now)}`);
await press('#release');
check(!(await state()).pulled, 'the spring was not released');
await press('#pause');
await press('#reset');
now = await state();
check(now.steps === 0 && now.q === 0, 'no rest after a reset');

/* Keys of the view turn it */
const turn = await page.evaluate(() => supple.page.stage.camera.turn);
await press('#view', 'ArrowLeft');
check(await page.evaluate(() => supple.page.stage.camera.turn) !== turn, 'the arrows do not turn the view');
await press('#view', 'Home');

/* A finger on the body pulls, two beside it move the camera. */
const [x, y] = await chosenPoint(page);
const finger = await page.touchscreen.touchStart(x, y);
await press('#pause');
for (let k = 1; k < 8; k++) {
    await finger.move(x, y - 15 * k);
    await wait(40);
}
await wait(300);
now = await state();
check(now.pulled && now.q > 0, `no pull by touch: ${JSON.stringify(now)}`);
await finger.end();
check(!(await state()).pulled, 'the finger let go, and the spring is still there');
const box = await page.evaluate(() => supple.page.stage.canvas.getBoundingClientRect().toJSON());
const distance = await page.evaluate(() => supple.page.stage.camera.frame().distance);
const a = await page.touchscreen.touchStart(box.x + 20, box.y + box.height - 20);
const b = await page.touchscreen.touchStart(box.x + 60, box.y + box.height - 20);
await b.move(box.x + 200, box.y + box.height - 20);
await a.end();
await b.end();
check(await page.evaluate(() => supple.page.stage.camera.frame().distance) < distance, 'two fingers do not zoom');

/* What is out of range keeps its value. */
for (const id of ['#alpha', '#beta']) {
    await page.evaluate((name) => {
        const input = document.querySelector(name);
        input.value = '-1';
        input.dispatchEvent(new Event('change'));
    }, id);
    check(await page.$eval(id, (input) => Number(input.value)) >= 0, `${id} is negative`);
}
said.forEach((text) => check(false, text));
await close();
finish();
