import {readData} from './data.js';
import {Laboratory} from './laboratory.js';
import {Player} from './player.js';
import {element} from './stage.js';
import {startTheme} from './theme.js';

/* For tests: `data`, `page` (a Laboratory or a Player) and, once the page works, `ready`. */
const supple = window.supple = {ready: false};

function fail(error) {
    element('failure').hidden = false;
    element('failure').textContent = error.message;
}

async function start() {
    const data = supple.data = readData(element('data').textContent);
    element('data').textContent = '';
    element('title').textContent = document.title = data.title;
    element('origin').textContent = `Written by simexport, Supple ${data.version}.`;
    startTheme(element('theme'), () => supple.page?.stage.request());
    supple.page = data.model ? await Laboratory.open(data) : new Player(data);
    supple.ready = true;
}

start().catch(fail);
