/* node look.mjs PAGE TITLE: the page at a phone's width: its title, what stands out of it, and controls without a name. */
import {check, finish, open} from './browser.mjs';

const [file, title] = process.argv.slice(2);
for (const [width, height] of [[360, 740], [1280, 800]]) {
    const {page, said, close} = await open(file, {width, height, dark: width < 800});
    const seen = await page.evaluate(() => ({
        title: document.getElementById('title').textContent,
        scheme: document.documentElement.dataset.theme,
        width: document.documentElement.scrollWidth,
        scripts: document.scripts.length,
        others: document.querySelectorAll('b, i, img, iframe, object, embed').length,
        hacked: window.hacked
    }));
    check(seen.title === title, `title ${JSON.stringify(seen.title)}, not ${JSON.stringify(title)}`);
    check(seen.scheme === (width < 800 ? 'dark' : 'light'), `the colours are ${seen.scheme}`);
    check(seen.width <= width, `${seen.width} wide on a screen of ${width}`);
    check(seen.scripts === 2 && seen.others === 0 && seen.hacked === undefined, `foreign elements: ${JSON.stringify(seen)}`);
    const nodes = (await (await page.createCDPSession()).send('Accessibility.getFullAXTree')).nodes;
    for (const node of nodes)
        if (['button', 'combobox', 'slider', 'spinbutton', 'checkbox', 'application', 'img'].includes(node.role?.value) && !node.ignored)
            check(node.name?.value, `a ${node.role.value} without a name`);
    check(nodes.some((node) => node.role?.value === 'button'), 'no button is accessible');
    said.forEach((text) => check(false, text));
    await close();
}
finish();
