/* What a model tells at rest: its stiffness, its mass, how fast it swings and how far a point gives way. */
import {factor, inner, lowestFrequency, solve} from './linear.js';

/* Compliance of a point with the rows U [3, r]: the largest displacement, m/N, along an axis under a force along it. */
function along(L, r, rows) {
    const of = [0, 1, 2].map((c) => {
        const row = rows.subarray(c * r, (c + 1) * r);
        return inner(row, solve(L, r, row));
    });
    return Math.max(...of);
}

export class Properties {
    constructor(model, kernel) {
        const r = this.r = model.r, width = Math.ceil(r / 4) * 4;
        const K = kernel.restStiffness(), M = new Float64Array(r * r);
        for (let i = 0; i < r; i++)
            for (let j = 0; j < r; j++)
                M[i * r + j] = model.mass_matrix[i * width + j];
        this.massFactor = factor(M, r);
        this.stiffnessFactor = factor(K, r); /* null: the body is free to move as a whole */
        this.period = this.stiffnessFactor && 2 * Math.PI / lowestFrequency(this.stiffnessFactor, K, M, r);
    }

    /* m/N; null where nothing holds the body. */
    compliance(rows) {
        return this.stiffnessFactor && along(this.stiffnessFactor, this.r, rows);
    }

    /* Acceleration per force, 1/kg. */
    mobility(rows) {
        return along(this.massFactor, this.r, rows);
    }
}
