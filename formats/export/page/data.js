/* What simexport has put into the page: JSON whose arrays are little-endian bytes in base64. */

function bytesOf(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/* An array of a type such as Float64Array; null where there is none. */
function arrayOf(Type, text) {
    return text === null || text === undefined ? null : new Type(bytesOf(text).buffer);
}

/* Targets are fixed-point numbers: scale_i (high + low / 256), where `low` is absent in a page that only plays. */
function readTargets(targets) {
    return {
        count: targets.scales.length,
        scales: Float64Array.from(targets.scales),
        high: arrayOf(Int32Array, targets.high),
        low: arrayOf(Uint8Array, targets.low)
    };
}

function readMesh(mesh) {
    return {
        name: mesh.name,
        center: mesh.center,
        skinCount: mesh.skin_count,
        rest: arrayOf(Float32Array, mesh.rest),
        normals: arrayOf(Float32Array, mesh.normals),
        triangles: arrayOf(Uint32Array, mesh.triangles),
        origin: arrayOf(Int32Array, mesh.origin),
        colors: arrayOf(Uint8Array, mesh.colors),
        targets: readTargets(mesh.targets)
    };
}

function readBody(body) {
    return {
        name: body.name,
        mesh: body.mesh,
        weights: arrayOf(Float64Array, body.weights),
        poses: arrayOf(Float64Array, body.poses)
    };
}

function readContacts(contacts) {
    return contacts && {
        first: arrayOf(Int32Array, contacts.first),
        points: arrayOf(Float64Array, contacts.points),
        forces: arrayOf(Float32Array, contacts.forces)
    };
}

function readMotion(motion) {
    return {
        title: motion.title,
        times: arrayOf(Float64Array, motion.times),
        bodies: motion.bodies.map(readBody),
        probes: motion.probes.map((probe) => ({name: probe.name, place: arrayOf(Float64Array, probe.displacements)})),
        contacts: readContacts(motion.contacts)
    };
}

/* Tables of formats/export/source_tables.h */
const integers = ['kinds', 'shapes', 'elements'];
const numbers = ['quadratic', 'cubic', 'quartic', 'constants', 'geometry', 'weights', 'rows', 'correction', 'mass_matrix',
    'gravity'];

function readModel(model) {
    if (!model)
        return model;
    const read = {...model, vertices: arrayOf(Int32Array, model.vertices)};
    for (const name of integers)
        read[name] = arrayOf(Int32Array, model[name]);
    for (const name of numbers)
        read[name] = arrayOf(Float64Array, model[name]);
    return read;
}

export function readData(text) {
    const data = JSON.parse(text);
    return {
        title: data.title,
        version: data.version,
        up: data.up,
        meshes: data.meshes.map(readMesh),
        motions: data.motions.map(readMotion),
        model: readModel(data.model)
    };
}

export {bytesOf};
