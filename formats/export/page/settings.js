/* Controls of the motion and of the model. A change of what the motion depends on ends a recording that has a pull, since
 * one command could not repeat it. Without a pull the body begins again, at rest. */
import {withUnit} from './format.js';
import {element} from './stage.js';

/* 1, 2 and 5 times powers of ten around a two-hundredth of the period. */
function stepsFor(period) {
    const steps = [];
    for (let power = -7; power <= -1; power++)
        for (const k of [1, 2, 5])
            steps.push(Number(`${k}e${power}`));
    const best = Math.min(0.005, (period ?? 0.2) / 200);
    const chosen = steps.reduce((a, b) => (Math.abs(Math.log(b / best)) < Math.abs(Math.log(a / best)) ? b : a));
    const i = steps.indexOf(chosen);
    return {steps: steps.slice(Math.max(0, i - 4), i + 4), chosen};
}

export class Settings {
    constructor(simulation, model, pulling, changed, say) {
        Object.assign(this, {simulation, model, pulling, changed, say});
        this.values = {
            gravity: [0, 0, 0], alpha: model.damping[0], beta: model.damping[1], stiffness: 1, semiImplicit: true,
            dt: this.fillSteps()
        };
        element('alpha').value = String(this.values.alpha);
        element('beta').value = String(this.values.beta);
        this.setTimeScale(this.slowness());
        this.listen();
        this.apply();
    }

    fillSteps() {
        const {steps, chosen} = stepsFor(this.simulation.properties.period);
        for (const dt of steps)
            element('dt').add(new Option(withUnit(dt, 's').replace(/\.0+ /, ' '), String(dt), dt === chosen, dt === chosen));
        return chosen;
    }

    /* A body that swings fast is shown slowly: a fifth of a second for its period at least. */
    slowness() {
        const {period} = this.simulation.properties;
        return period && period < 0.05 ? Math.max(-3, Math.round(20 * Math.log10(period / 0.2)) / 20) : 0;
    }

    listen() {
        const on = (id, event, act) => element(id).addEventListener(event, (e) => act(e.target));
        const set = (name, read) => (input) => {
            const value = read(input);
            if (value === null)
                this.show();
            else
                this.set(name, value);
        };
        const number = (input) => (input.value !== '' && Number(input.value) >= 0 ? Number(input.value) : null);
        on('dt', 'change', set('dt', (input) => Number(input.value)));
        on('method', 'change', set('semiImplicit', (input) => input.value === '1'));
        on('alpha', 'change', set('alpha', number));
        on('beta', 'change', set('beta', number));
        on('stiffness', 'input', set('stiffness', (input) => Number((10 ** Number(input.value)).toPrecision(3))));
        on('scale', 'input', (input) => this.setTimeScale(Number(input.value)));
        for (const axis of 'xyz')
            on(`gravity-${axis}`, 'change', set('gravity', () => this.readGravity()));
        on('weight', 'click', () => this.toggleWeight());
    }

    readGravity() {
        const values = [...'xyz'].map((axis) => element(`gravity-${axis}`));
        return values.some((input) => input.value === '') ? null : values.map((input) => Number(input.value));
    }

    /* Weight along the up axis, or none. */
    toggleWeight() {
        const none = this.values.gravity.every((g) => g === 0);
        this.set('gravity', [0, 1, 2].map((c) => (none && c === this.model.up ? -9.81 : 0)));
        this.show();
    }

    set(name, value) {
        this.values[name] = value;
        this.simulation.recorder.change(name);
        this.simulation.recording.open = false;
        this.apply();
    }

    setTimeScale(exponent) {
        this.simulation.timeScale = 10 ** exponent;
        element('scale').value = String(exponent);
        element('scale-value').textContent = '× ' + Number(this.simulation.timeScale.toPrecision(2));
    }

    /* Puts values that were refused back into their fields. */
    show() {
        'xyz'.split('').forEach((axis, k) => {
            element(`gravity-${axis}`).value = String(this.values.gravity[k]);
        });
        element('alpha').value = String(this.values.alpha);
        element('beta').value = String(this.values.beta);
        element('weight').textContent = this.values.gravity.some((g) => g !== 0) ? 'None' : 'Earth';
    }

    /* Gives a kernel the settings of a recording or of the page. */
    static prepare(kernel, values) {
        kernel.setStep(values.dt);
        kernel.setDamping(values.alpha, values.beta);
        kernel.setGravity(...values.gravity);
        kernel.setFactors(values.stiffness, 1);
        kernel.setSemiImplicit(values.semiImplicit);
    }

    apply() {
        const {values} = this;
        Settings.prepare(this.simulation.kernel, values);
        this.simulation.dt = values.dt;
        this.simulation.recorder.settings = {...values};
        this.simulation.settings = {...values};
        if (this.simulation.recorder.empty && !this.simulation.pull)
            this.simulation.reset();
        element('stiffness-value').textContent = '× ' + values.stiffness;
        this.show();
        this.pulling.showStiffness();
        this.changed();
    }
}
