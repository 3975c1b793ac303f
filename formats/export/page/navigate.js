/* The camera by mouse, touch and keyboard. `claim(event)` may take a pointer for itself, to pull with it: it returns
 * functions {move, end}, or null. */
const TURN = 0.008, KEY_TURN = 0.12, KEY_PAN = 0.04, KEY_ZOOM = 1.15;

function gesture(pointers, height) {
    const [a, b] = [...pointers.values()];
    return {middle: [(a.x + b.x) / 2 / height, (a.y + b.y) / 2 / height], spread: Math.hypot(a.x - b.x, a.y - b.y) || 1};
}

export function navigate(stage, claim) {
    const {canvas} = stage, pointers = new Map();
    let owner = null;

    function drag(event, last, now) {
        const height = canvas.clientHeight;
        if (pointers.size === 2) {
            const before = gesture(pointers, height);
            pointers.set(event.pointerId, now);
            const after = gesture(pointers, height);
            stage.camera.zoom(before.spread / after.spread);
            stage.camera.pan(after.middle[0] - before.middle[0], after.middle[1] - before.middle[1]);
        } else if (last.button === 2 || last.button === 1 || event.shiftKey)
            stage.camera.pan((now.x - last.x) / height, (now.y - last.y) / height);
        else
            stage.camera.orbit(-TURN * (now.x - last.x), TURN * (now.y - last.y));
    }

    canvas.addEventListener('pointerdown', (event) => {
        canvas.setPointerCapture(event.pointerId);
        const claimed = pointers.size === 0 && event.button === 0 && !event.shiftKey && claim(event);
        if (claimed)
            owner = {id: event.pointerId, ...claimed};
        else if (!owner)
            pointers.set(event.pointerId, {x: event.clientX, y: event.clientY, button: event.button});
    });
    canvas.addEventListener('pointermove', (event) => {
        const last = pointers.get(event.pointerId);
        if (owner?.id === event.pointerId)
            owner.move(event);
        else if (last) {
            const now = {x: event.clientX, y: event.clientY, button: last.button};
            drag(event, last, now);
            pointers.set(event.pointerId, now);
        } else
            return;
        stage.request();
    });
    for (const name of ['pointerup', 'pointercancel'])
        canvas.addEventListener(name, (event) => {
            pointers.delete(event.pointerId);
            if (owner?.id === event.pointerId) {
                owner.end(event);
                owner = null;
            }
            stage.request();
        });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => {
        event.preventDefault();
        stage.camera.zoom(Math.exp(Math.min(1, Math.max(-1, 0.0015 * event.deltaY))));
        stage.request();
    }, {passive: false});
    canvas.addEventListener('keydown', (event) => byKey(stage, event));
}

function byKey(stage, event) {
    const {camera} = stage, arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const arrow = arrows[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey)
        return;
    if (arrow && event.shiftKey)
        camera.pan(KEY_PAN * arrow[0], KEY_PAN * arrow[1]);
    else if (arrow)
        camera.orbit(-KEY_TURN * arrow[0], KEY_TURN * arrow[1]);
    else if (event.key === '+' || event.key === '=')
        camera.zoom(1 / KEY_ZOOM);
    else if (event.key === '-')
        camera.zoom(KEY_ZOOM);
    else if (event.key === 'Home')
        camera.reset();
    else
        return;
    event.preventDefault();
    stage.request();
}
