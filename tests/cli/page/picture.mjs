/* node picture.mjs PAGE PNG WIDTH HEIGHT [dark]: a picture of a page at work: its body pulled upwards, or its motion at a
 * third of the time. */
import {check, finish, open, wait} from './browser.mjs';

const [file, picture, width, height, scheme] = process.argv.slice(2);
const {page, said, close} = await open(file, {width: Number(width), height: Number(height), dark: scheme === 'dark', reduced: true});

await page.evaluate(() => {
    const {page: shown, data} = supple;
    if (!data.model) {
        shown.seek(shown.start + (shown.end - shown.start) / 3);
        return;
    }
    const {simulation, pulling} = shown, axis = data.up;
    for (let k = 0; k < 5; k++) {
        pulling.move(axis, 1);
        for (let n = 0; n < 20; n++)
            simulation.step();
    }
    shown.refresh();
});
await wait(1000);
await page.screenshot({path: picture});
said.forEach((text) => check(false, text));
await close();
finish();
