/* node page_frame.mjs PAGE: the processor time of the page's own thread for a frame without drawing, which happens in the
 * process of the graphics, and for a step and a pick. Median of 60 frames, with the body in motion. */
import {open} from '../tests/cli/page/browser.mjs';

const {page, close} = await open(process.argv[2], {width: 1280, height: 800, reduced: true});
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const times = await page.evaluate(async () => {
    const {page: shown} = supple, {simulation, pulling, stage} = shown, frames = [], steps = [], picks = [];
    const timed = (list, act) => {
        const start = performance.now();
        act();
        list.push(performance.now() - start);
    };
    pulling.move(supple.data.up, 1);
    for (let k = 0; k < 60; k++) {
        await new Promise((done) => requestAnimationFrame(done));
        timed(steps, () => {
            for (let n = 0; n < 20; n++)
                simulation.step();
        });
        timed(frames, () => shown.draw());
        stage.renderer.gl.finish(); /* the graphics must not hold up the next frame */
    }
    const box = stage.canvas.getBoundingClientRect();
    for (let k = 0; k < 5; k++)
        timed(picks, () => pulling.claim({clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));
    return {frames, steps, picks, triangles: stage.shapes[0].triangles.length / 3, r: simulation.kernel.r};
});
console.log(`${times.triangles} triangles, r = ${times.r}, in Chromium
  step [us]                        ${(1000 / 20 * median(times.steps)).toFixed(1)}
  frame without drawing [ms]       ${median(times.frames).toFixed(2)}
  pick [ms]                        ${median(times.picks).toFixed(1)}`);
await close();
