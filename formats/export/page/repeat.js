/* How far recorded forces repeat a motion. While a spring pulls it, a body can be where it would not stay under the same
 * force without the spring, as a column that is pressed beyond its buckling load. Rounding then grows from step to step, and
 * no file of forces can repeat the motion to the last digits for long. */

/* Relative differences of the forces that a file makes: the rows of U have 40 bits. And those of the coordinates that are
 * called the same. */
const ROUNDING = 1e-12, SAME = 1e-9;

/* The step until which the motion repeats. Both kernels have the settings of the recording; `forces` are the generalized
 * forces of its steps, or null. */
export function repeatableSteps(exact, rounded, forces) {
    let largest = 0;
    for (const kernel of [exact, rounded]) {
        kernel.setMotion(null, null);
        kernel.start(null);
    }
    for (let n = 0; n < forces.length; n++) {
        const force = forces[n];
        if (exact.step(force) || rounded.step(force && force.map((x) => x * (1 + ROUNDING))))
            return n;
        const difference = exact.q.reduce((most, x, i) => Math.max(most, Math.abs(x - rounded.q[i])), 0);
        largest = exact.q.reduce((most, x) => Math.max(most, Math.abs(x)), largest);
        if (difference > SAME * largest)
            return n;
    }
    return forces.length;
}
