/* Motions between their frames: linear in the coordinates and places, and along the shorter arc in the orientations. */
import {add, at, rotate, rotation, subtract} from './vector.js';

/* The frame at or before a time, and the part of the way to the next one. */
export function locate(times, time) {
    let low = 0, high = times.length - 1;
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (times[middle] <= time)
            low = middle;
        else
            high = middle - 1;
    }
    const next = Math.min(low + 1, times.length - 1), span = times[next] - times[low];
    return {frame: low, next, part: span > 0 ? Math.min(1, Math.max(0, (time - times[low]) / span)) : 0};
}

function mix(values, width, {frame, next, part}) {
    return Float64Array.from({length: width},
        (_, i) => (1 - part) * values[frame * width + i] + part * values[next * width + i]);
}

/* The coordinates of a body; none for a rigid one. */
export function weightsOf(body, shape, where) {
    return body.weights ? mix(body.weights, shape.count, where) : new Float64Array(shape.count);
}

/* {turn, place} of the middle of its mesh, relative to `origin`. */
export function poseOf(body, shape, where, origin) {
    if (!body.poses)
        return {quaternion: [1, 0, 0, 0], turn: null, place: subtract(shape.center, origin)};
    const pose = mix(body.poses, 7, where), size = Math.hypot(...pose.subarray(3));
    const quaternion = [...pose.subarray(3)].map((x) => x / size);
    const place = subtract(add(at(pose, 0), rotate(quaternion, shape.center)), origin);
    return {quaternion, turn: rotation(quaternion), place};
}

/* The next time of a frame after `time`, or before it for the direction −1; the same time at the end. */
export function stepTime(motions, time, direction) {
    const close = 1e-9 * Math.max(1, Math.abs(time));
    let best = null;
    for (const {times} of motions)
        for (const t of times)
            if (direction * (t - time) > close && (best === null || direction * (best - t) > 0))
                best = t;
    return best ?? time;
}
