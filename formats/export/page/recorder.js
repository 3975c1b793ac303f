/* Records the forces of pulls as a loads file (formats/loads.md), with which `simulate` repeats the motion.
 *
 *     const recorder = new Recorder({point: 'surface', files: {mesh, basis, polynomials}, regions: [{name, young}]});
 *                                              or with `cubature` in the place of `polynomials`
 *     recorder.settings = {dt, gravity, alpha, beta, stiffness, semiImplicit};
 *     recorder.restart();                      the body rests, at the time 0
 *     recorder.add(1, {vertex, force});        after each step: its number, and the pull {vertex, force: [x, y, z]},
 *     recorder.add(2, null);                   an array of pulls, or null
 *     text = recorder.csv();
 *
 * `point` is the kind of the vertices in loads: 'surface' or 'vertex'. `files` are names for the command that repeats
 * the motion. The factor `stiffness` on all forces of the body becomes --young, so that `regions` are needed where it
 * is not 1; with several regions the polynomials must come from `polycoef --by-region`.
 *
 * Newmark's method takes as the force of step n the mean load from dt / 2 before the time n dt to dt / 2 after it, and
 * for the acceleration at the start the mean from 0 to dt / 2. A force of the steps n to m therefore acts from
 * (n - 1/2) dt to (m + 1/2) dt, and one of the start (step 0) from 0 on. */

/* A word of a shell's command line, in one line whatever it holds. */
function word(text) {
    const safe = text.startsWith('-') ? './' + text : text;
    if (/^[\w.,:/=+-]+$/.test(safe))
        return safe;
    const escape = (c) => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0');
    if (/[\x00-\x1f\x7f]/.test(safe))
        return "$'" + safe.replace(/[\\']/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, escape) + "'";
    return "'" + safe.replaceAll("'", "'\\''") + "'";
}

/* Pulls on one vertex become one; the result maps a vertex to a force. */
function merge(pulls) {
    const forces = new Map();
    for (const {vertex, force} of pulls) {
        const sum = forces.get(vertex) ?? [0, 0, 0];
        forces.set(vertex, sum.map((x, c) => x + force[c]));
    }
    return forces;
}

export class Recorder {
    #next = null; /* settings of the next recording; #settings are those of the present one */
    #settings = null;
    #rows = []; /* {first, last, vertex, force}: the steps in which a force acts */
    #open = new Map(); /* the rows of the last step, by their vertices */
    #steps = 0;
    #pulled = 0; /* steps */
    #ended = false;

    constructor(model) {
        this.model = model;
        this.fileName = 'pull.csv';
    }

    /* Those of a recording that has begun remain as they are: one command could not repeat a change. */
    set settings(values) {
        this.#next = values;
        if (this.#steps === 0)
            this.#settings = values;
    }

    restart() {
        this.#settings = this.#next;
        this.#rows = [];
        this.#open.clear();
        this.#steps = this.#pulled = 0;
        this.#ended = false;
    }

    /* To be called when something changes that the motion depends on: a recording that has begun ends. */
    change() {
        this.#ended = this.#steps > 0;
    }

    add(step, pulls) {
        if (this.#ended)
            return;
        const open = new Map();
        for (const [vertex, force] of merge(pulls ? [pulls].flat() : [])) {
            let row = this.#open.get(vertex);
            if (!row || row.force.some((x, c) => x !== force[c])) {
                row = {first: step, vertex, force};
                if (force.some((x) => x !== 0))
                    this.#rows.push(row);
            }
            row.last = step;
            open.set(vertex, row);
        }
        this.#open = open;
        this.#steps = step;
        this.#pulled += open.size > 0;
    }

    get empty() {
        return this.#rows.length === 0;
    }

    description() {
        const steps = `${this.#steps} steps are recorded, ${this.#pulled} of them with a pull.`;
        const unknown = this.command() ? '' : ' simulate cannot repeat the factor on the stiffness.';
        return steps + unknown + (this.#ended ? ' A setting has changed since: reset begins a new recording.' : '');
    }

    /* The options of the moduli, or null where a region has no Young's modulus. */
    #moduli() {
        const {stiffness = 1} = this.#settings, regions = this.model.regions ?? [{}];
        if (stiffness === 1)
            return [];
        if (!regions.every(({young}) => Number.isFinite(young)))
            return null;
        const one = regions.every(({young}) => young === regions[0].young);
        return one ? [`--young ${stiffness * regions[0].young}`]
            : regions.map(({name, young}) => `--young ${word(`${name}=${stiffness * young}`)}`);
    }

    /* The command that repeats the motion; '' where simulate has no option for it. */
    command() {
        const {dt, gravity, alpha, beta, semiImplicit} = this.#settings, {mesh, basis, polynomials, cubature} = this.model.files;
        const moduli = this.#moduli(), force = cubature ? `--cub ${word(cubature)}` : `--poly ${word(polynomials)}`;
        return moduli === null ? '' : [
            `simulate ${word(mesh)} --basis ${word(basis)} ${force} --loads ${word(this.fileName)}`,
            `--dt ${dt} --steps ${this.#steps}`,
            ...(semiImplicit ? ['--semi-implicit'] : []),
            ...(gravity.some((g) => g !== 0) ? [`--gravity=${gravity.join(',')}`] : []),
            `--damping-mass ${alpha} --damping-stiffness ${beta}`, ...moduli, '-o motion.npz',
        ].join(' ');
    }

    /* Numbers are as short as reads back exactly. */
    csv() {
        const {dt} = this.#settings;
        const line = ({first, last, vertex, force}) =>
            [Math.max(0, first - 0.5) * dt, (last + 0.5) * dt, this.model.point, vertex, ...force].join(',');
        const command = this.command();
        return [
            `# ${this.description()}`,
            ...(command ? ['# This command repeats the motion:', `# ${command}`] : []),
            't0,t1,kind,id,fx,fy,fz',
            ...this.#rows.map(line),
        ].join('\n') + '\n';
    }
}
