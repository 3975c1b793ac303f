/* A reduced-order deformable body that moves by WebAssembly (kernel.c): the model and the integrator of the C source
 * that simexport writes, whose header formats/export/source/model.h documents the equations and the options. There are
 * two modules: kernel.wasm for polynomials and cubature.wasm for cubatures.
 *
 *     const kernel = await Kernel.create(bytes, model);
 *     kernel.setStep(0.001);
 *     let fault = kernel.start(null);
 *     while (!fault) {
 *         fault = kernel.step(force);
 *         use(kernel.q);
 *     }
 *
 * The model is {r, damping, polynomial, ...}: the number of coordinates (1 to 64), [alpha, beta] of Rayleigh damping, of
 * a cubature whether its force is a cubic polynomial, and arrays of numbers whose names, lengths and order
 * formats/export/source_tables.h documents.
 * The arrays are copied. All numbers are in SI units.
 *
 * A force is an array of r numbers, the generalized force at the end of the step, in addition to gravity; null is none.
 * An array of another length, and an option out of range, throw a RangeError, and the option keeps its value. `start`
 * and `step` return '' when they have done their work. Otherwise they return what is wrong, and q, v and a are what
 * they were. Each kernel has a memory of its own. The module works in pages, in workers and in Node. */

const results = [
    '',
    "Newton's method did not converge: a smaller time step helps",
    'the matrix of a semi-implicit step is not positive definite: a smaller time step helps',
    'the motion is not finite: a smaller time step helps',
];

const tables = [
    ['quadratic', 'cubic', 'quartic', 'mass_matrix', 'gravity'],
    ['kinds', 'constants', 'shapes', 'geometry', 'elements', 'weights', 'rows', 'correction', 'mass_matrix', 'gravity'],
];
const integers = ['kinds', 'shapes', 'elements'];

export class Kernel {
    /* From the bytes of a module, or from a WebAssembly.Module of them, which several kernels may share. */
    static async create(source, model) {
        const made = await WebAssembly.instantiate(source, {});
        return new Kernel((made.instance ?? made).exports, model);
    }

    #wasm;
    #state;
    #force;

    constructor(wasm, model) {
        this.#wasm = wasm;
        this.r = model.r;
        this.#open(model);
        const view = (part) => new Float64Array(wasm.memory.buffer, wasm.kernel_place(part), this.r);
        this.#state = wasm.kernel_place(0);
        [this.q, this.v, this.a, this.#force] = [2, 3, 4, 5].map(view); /* q, v and a show the present motion */
        wasm.model_init(this.#state);
        this.setDamping(...(model.damping ?? [0, 0]));
    }

    #open(model) {
        const count = Number.isInteger(model.r) && model.r > 0;
        if (!count || this.#wasm.kernel_open(model.r, model.polynomial ? 1 : 0) < model.r)
            throw new RangeError(`${model.r} coordinates: a model has 1 to 64`);
        tables[this.#wasm.kernel_cubature()].forEach((name, i) => this.#fill(name, i, model[name], model.r));
    }

    /* Lengths follow from r and from the tables before. */
    #fill(name, i, values, r) {
        const wasm = this.#wasm, length = wasm.kernel_length(i, values?.length ?? 0);
        if (!values || values.length !== length)
            throw new RangeError(`${name}: ${values?.length ?? 'no'} numbers, and ${length} belong to ${r} coordinates`);
        const fault = values.findIndex((x) => !Number.isFinite(x));
        if (fault >= 0)
            throw new RangeError(`${name}: the number ${fault} is ${values[fault]}`);
        const at = wasm.kernel_table(i, length);
        if (at === 0)
            throw new Error('there is not enough memory for the model');
        const Type = integers.includes(name) ? Int32Array : Float64Array;
        new Type(wasm.memory.buffer, at, length).set(values);
        const bad = wasm.kernel_fault(i);
        if (bad >= 0)
            throw new RangeError(`${name}: the number ${bad} is ${values[bad]}`);
    }

    /* Accelerations in balance with `force`, at the start of a motion and after a jump of the forces. Without a call
     * they are zero, as for a body at rest without loads. */
    start(force) {
        return this.#move('model_start', force);
    }

    /* One step of the time integration. */
    step(force) {
        return this.#move('model_step', force);
    }

    #move(name, force) {
        if (force && force.length !== this.r)
            throw new RangeError(`a force of ${force.length} numbers for ${this.r} coordinates`);
        for (let i = 0; force && i < this.r; i++) {
            if (!Number.isFinite(force[i]))
                return 'the force is not finite';
            this.#force[i] = force[i];
        }
        return results[this.#wasm[name](this.#state, force ? this.#force.byteOffset : 0)];
    }

    /* Of the present motion, J: `weight` is the potential energy of gravity, which is 0 at q = 0. */
    energies() {
        const wasm = this.#wasm;
        return {
            kinetic: wasm.model_kinetic_energy(this.#state),
            strain: wasm.model_energy(this.#state, 0),
            weight: wasm.kernel_weight_energy(),
        };
    }

    /* The internal force f(q) of the present motion [r]. */
    internalForce() {
        this.#wasm.model_force(this.#state, 0, this.#force.byteOffset);
        return this.#force.slice();
    }

    /* The stiffness K at rest [r, r]. */
    restStiffness() {
        const matrix = new Float64Array(this.#wasm.memory.buffer, this.#wasm.kernel_place(6), this.r * this.r);
        this.#force.fill(0);
        this.#wasm.model_stiffness(this.#state, this.#force.byteOffset, matrix.byteOffset);
        return matrix.slice();
    }

    #set(name, range, ...values) {
        if (this.#wasm[`model_set_${name}`](this.#state, ...values) !== 0)
            throw new RangeError(`${values.join(', ')}: ${range}`);
    }

    setStep(seconds) {
        this.#set('step', 'the time step must be positive', seconds);
    }

    /* alpha, 1/s, and beta, s, of Rayleigh damping */
    setDamping(alpha, beta) {
        this.#set('damping', 'damping must not be negative', alpha, beta);
    }

    setGravity(x, y, z) {
        this.#set('gravity', 'gravity must be finite', x, y, z);
    }

    /* Factors on the stiffness and on the density; 1 is the model as it was made. */
    setFactors(stiffness, density) {
        this.#set('factors', 'factors must be positive', stiffness, density);
    }

    setNewmark(beta, gamma) {
        this.#set('newmark', "Newmark's beta must be above 0 and at most 1, his gamma between 0 and 1", beta, gamma);
    }

    /* The tolerance of Newton's method, relative to the largest force term, and the largest number of its iterations */
    setNewton(tolerance, iterations) {
        this.#set('newton', 'the tolerance must be positive, and there must be an iteration', tolerance, iterations);
    }

    /* true: one Newton iteration in each step; false: until it has converged, the default */
    setSemiImplicit(only) {
        this.#set('semi_implicit', 'true or false', only ? 1 : 0);
    }

    /* Places the body: q and v [r], where null is zero. The accelerations become zero: `start` computes them. */
    setMotion(q, v) {
        for (const from of [q, v]) {
            if (from && (from.length !== this.r || !from.every(Number.isFinite)))
                throw new RangeError(`a motion has ${this.r} finite coordinates and as many velocities`);
        }
        this.q.fill(0).set(q ?? []);
        this.v.fill(0).set(v ?? []);
        this.a.fill(0);
    }

    /* A copy of the motion and of all options, and the way back to it. */
    save() {
        return this.#kept().slice();
    }

    restore(saved) {
        this.#kept().set(saved);
    }

    #kept() {
        const wasm = this.#wasm;
        return new Uint8Array(wasm.memory.buffer, this.#state, wasm.kernel_place(1) - this.#state);
    }
}
