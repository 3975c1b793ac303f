/* A page in headless Chromium: open(FILE, {width, height, dark, reduced, downloads}) with PAGE_DRIVER, the folder in which
 * npm has installed puppeteer-core, and CHROMIUM. Whatever the page says on the console, every request but that of its file,
 * and every exception is in `said`. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const driver = `${process.env.PAGE_DRIVER}/node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js`;
const {default: puppeteer} = await import(driver);

const OPTIONS = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

export async function open(file, {width = 800, height = 600, dark = false, reduced = false, touch = false, downloads} = {}) {
    const profile = mkdtempSync(join(tmpdir(), 'page-'));
    const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM, userDataDir: profile, args: OPTIONS});
    const page = await browser.newPage(), said = [], address = 'file://' + encodeURI(resolve(file));
    page.on('console', (message) => said.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => said.push(`exception: ${error.message}`));
    page.on('request', (request) => request.url() === address || request.url() === 'data:,' || said.push(`request: ${request.url().slice(0, 80)}`));
    await page.setViewport({width, height, hasTouch: touch});
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'},
        {name: 'prefers-reduced-motion', value: reduced ? 'reduce' : 'no-preference'}]);
    if (downloads)
        await (await browser.target().createCDPSession()).send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: resolve(downloads)});
    await page.goto(address);
    await page.waitForFunction('supple.ready || !document.getElementById("failure").hidden');
    const close = async () => {
        await browser.close();
        rmSync(profile, {recursive: true, force: true});
    };
    return {page, said, close};
}

export const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/* Where a place on the body near the point that the list of the page has chosen is on the screen: from the point, which may
 * be on the outline, towards the middle of the body. */
export const chosenPoint = (page) => page.evaluate(() => {
    const {stage, simulation, pulling} = supple.page, box = stage.canvas.getBoundingClientRect();
    const [a, b] = [simulation.position([{vertex: pulling.vertex, weight: 1}]), stage.shapes[0].middle].map((point) => {
        const [x, y] = stage.camera.project(point, stage.aspect(stage.parts[0]));
        return [box.left + x * box.width, box.top + y * box.height];
    });
    for (let part = 0.01; part < 0.5; part += 0.01) {
        const [x, y] = [0, 1].map((c) => Math.round(a[c] + part * (b[c] - a[c])));
        const hit = pulling.claim({clientX: x, clientY: y});
        pulling.release();
        if (hit)
            return [x, y];
    }
    return a;
});

/* The checks of a test: a process that ends with 1 and says what is wrong. */
const faults = [];
export const check = (good, text) => good || faults.push(text);
export function finish() {
    faults.forEach((text) => console.log(text));
    process.exit(faults.length ? 1 : 0);
}
