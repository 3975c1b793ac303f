/* Numbers as people read them. */
const PREFIXES = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

/* Three digits with a prefix of the unit: 12.3 mJ. */
export function withUnit(value, unit) {
    const size = Math.abs(value);
    if (!Number.isFinite(value))
        return '–';
    const [factor, prefix] = PREFIXES.find(([f]) => size >= 0.9995 * f) ?? [1, ''];
    const scaled = size < 1e-12 ? 0 : value / factor;
    const digits = Math.abs(scaled) >= 99.95 || scaled === 0 ? 0 : Math.abs(scaled) >= 9.995 ? 1 : 2;
    return scaled.toFixed(digits).replace('-', '−') + ' ' + prefix + unit;
}

/* The smallest of 1, 2 and 5 times a power of ten that is not below the value. */
export function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= value * (1 - 1e-12));
}
