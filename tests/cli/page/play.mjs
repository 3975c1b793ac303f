/* node play.mjs PAGE OUT FRAME…: writes the positions of all vertices of the skins in these frames, and the curves of the
 * probes, as JSON, and steps through the motion by keyboard. */
import {writeFileSync} from 'node:fs';
import {check, finish, open} from './browser.mjs';

const [file, out, ...frames] = process.argv.slice(2);
const {page, said, close} = await open(file, {reduced: true});

check(await page.evaluate(() => !supple.page.playing), 'it plays, and motion is to be reduced');
const shown = await page.evaluate((numbers) => supple.page.motions.map((motion) => ({
    title: motion.title,
    times: [...motion.times],
    probes: motion.probes.map(({name, place}) => ({name, place: [...place]})),
    contacts: motion.contacts && motion.contacts.first.at(-1),
    frames: numbers.map((f) => {
        supple.page.seek(motion.times[f]);
        return supple.page.items(motion).map((item) => {
            const [positions] = supple.page.stage.renderer.readBack(item), {shape} = supple.page.stage.renderer.shapes[item.shape];
            return [...positions.subarray(0, 3 * shape.skinCount)].map((x, k) => x + supple.page.stage.origin[k % 3]);
        });
    })
})), frames.map(Number));
writeFileSync(out, JSON.stringify(shown));

/* By keyboard: the second frame, the last one, back, and playing to see that time goes on. */
const time = () => page.evaluate(() => supple.page.time);
await page.evaluate(() => supple.page.seek(supple.page.start));
await page.focus('#next');
await page.keyboard.press('Enter');
check(await time() === shown[0].times[1] || shown.length > 1, `a step leads to ${await time()}`);
await page.focus('#time');
await page.keyboard.press('End');
check(Math.abs(await time() - Math.max(...shown.map(({times}) => times.at(-1)))) < 1e-9, `End leads to ${await time()}`);
await page.focus('#back');
await page.keyboard.press('Enter');
const before = await time();
await page.focus('#play');
await page.keyboard.press('Enter');
await page.waitForFunction((t) => supple.page.time !== t, {timeout: 20000}, before);
check(await page.evaluate(() => supple.page.playing), 'it does not play');
said.forEach((text) => check(false, text));
await close();
finish();
