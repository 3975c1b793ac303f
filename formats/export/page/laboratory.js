/* The page of a body that one pulls. */
import {bytesOf} from './data.js';
import {withUnit} from './format.js';
import {Kernel} from './kernel.js';
import {navigate} from './navigate.js';
import {Properties} from './properties.js';
import {Pulling} from './pulling.js';
import {Recorder} from './recorder.js';
import {download} from './download.js';
import {repeatableSteps} from './repeat.js';
import {Settings} from './settings.js';
import {Simulation} from './simulation.js';
import {element, Stage} from './stage.js';

/* Milliseconds between two turns of the clock that moves the body; drawing has its own. */
const TURN = 4;

const READINGS = ['Time', 'Kinetic energy', 'Strain energy', 'Spring force', 'Step'];

function startReadings() {
    const values = READINGS.map((name) => {
        const term = document.createElement('dt'), value = document.createElement('dd');
        term.textContent = name;
        element('readout').append(term, value);
        return value;
    });
    return (texts) => texts.forEach((text, i) => {
        values[i].textContent = text;
    });
}

export class Laboratory {
    static async open(data) {
        const module = await WebAssembly.compile(bytesOf(data.model.elements ? CUBATURE_WASM : KERNEL_WASM));
        const create = () => Kernel.create(module, data.model);
        return new Laboratory(data, await create(), create);
    }

    constructor(data, kernel, createKernel) {
        this.createKernel = createKernel;
        for (const id of ['pulling', 'running', 'physics', 'recording'])
            element(id).hidden = false;
        const stage = this.stage = new Stage(data, data.meshes[0].center), shape = stage.shapes[0];
        const say = (text) => {
            element('status').textContent = text;
        };
        this.recorder = new Recorder(data.model);
        stage.setCamera(shape.middle, 1.15 * shape.radius, data.up);
        this.simulation = new Simulation(kernel, shape, new Properties(data.model, kernel), this.recorder);
        this.pulling = new Pulling(stage, this.simulation, data.model.probes, say);
        this.settings = new Settings(this.simulation, {...data.model, up: data.up}, this.pulling,
            () => this.showRecording(), say);
        this.read = startReadings();
        this.say = say;
        stage.draw = () => this.draw();
        element('colored').checked = true;
        navigate(stage, (event) => this.pulling.claim(event));
        this.listen();
        this.showEnergy(0, 0);
        this.showRecording();
        this.run(!window.matchMedia('(prefers-reduced-motion: reduce)').matches);
        this.startClock();
        stage.request();
    }

    listen() {
        element('pause').addEventListener('click', () => this.run(!this.simulation.running));
        element('step').addEventListener('click', () => {
            this.run(false);
            this.simulation.step();
            this.refresh();
        });
        element('reset').addEventListener('click', () => this.reset());
        element('save').addEventListener('click', () => this.save());
        element('copy').addEventListener('click', () => this.copy());
        this.stage.canvas.addEventListener('keydown', (event) => {
            if (event.key === ' ') {
                event.preventDefault();
                this.run(!this.simulation.running);
            }
        });
        element('more-keys').textContent = ', the space bar pauses';
    }

    run(running) {
        this.simulation.running = running && !this.simulation.fault;
        element('pause').textContent = this.simulation.running ? 'Pause' : 'Run';
        this.refresh();
    }

    reset() {
        this.pulling.release();
        this.simulation.reset();
        this.stage.range = 0;
        this.say('The body is at rest. A new recording begins.');
        this.refresh();
    }

    startClock() {
        let last = performance.now();
        setInterval(() => {
            const now = performance.now(), wasRunning = this.simulation.running;
            this.simulation.advance((now - last) / 1000);
            last = now;
            if (wasRunning)
                this.refresh();
        }, TURN);
    }

    refresh() {
        const {simulation} = this;
        if (simulation.fault) {
            this.say(`Stopped at ${withUnit(simulation.time, 's')}: ${simulation.fault}. Reset begins again.`);
            element('pause').textContent = 'Run';
        }
        this.stage.request();
    }

    /* Says too how far the forces repeat the motion, in the file as a comment. */
    async save() {
        const {settings, forces} = this.simulation.recording, text = this.recorder.csv(), count = forces.length;
        const kernels = [await this.createKernel(), await this.createKernel()];
        kernels.forEach((kernel) => Settings.prepare(kernel, settings));
        const steps = repeatableSteps(...kernels, forces.slice());
        const note = steps === count ? '' : `From ${withUnit(steps * settings.dt, 's')} on the body would not stay where it is ` +
            'without the spring: rounding grows, and simulate repeats the motion only until then.';
        download(this.recorder.fileName, (note && `# ${note}\n`) + text);
        this.say(note || 'The loads are saved. They repeat the motion.');
    }

    async copy() {
        try {
            await navigator.clipboard.writeText(element('command').textContent);
            this.say('The command is copied.');
        } catch {
            getSelection().selectAllChildren(element('command'));
            this.say('The command is selected: copy it with the keyboard.');
        }
    }

    item() {
        return this.stage.item(0, this.simulation.kernel.q, null, [0, 0, 0], false);
    }

    draw() {
        const {stage, simulation} = this;
        stage.widen(stage.shapes[0].largest(simulation.kernel.q));
        stage.show([[this.item()]], [this.pulling.marks()]);
        this.slowly(() => {
            const {kinetic, strain} = simulation.kernel.energies();
            this.showEnergy(kinetic, strain);
            this.showRecording();
        });
    }

    /* Text changes ten times a second, which can be read; the last change is always shown. */
    slowly(act) {
        if (this.waiting)
            return;
        this.waiting = true;
        setTimeout(() => {
            this.waiting = false;
            act();
        }, 100);
    }

    showEnergy(kinetic, strain) {
        const {simulation} = this, {pull} = simulation;
        const force = pull ? Math.hypot(...simulation.springForce()) : 0;
        const late = simulation.late && simulation.running ? ' (behind)' : '';
        this.read([simulation.time.toFixed(3) + ' s' + late, withUnit(kinetic, 'J'), withUnit(strain, 'J'),
            withUnit(force, 'N'), simulation.stepTime ? withUnit(simulation.stepTime, 's') : '–']);
    }

    showRecording() {
        element('recorded').textContent = this.recorder.description();
        element('command').textContent = this.recorder.command();
        element('save').disabled = this.recorder.empty;
    }
}
