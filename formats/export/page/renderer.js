/* Draws bodies with WebGL 2, and reads their deformed vertices back for tests. */
import {fragmentShader, MOST_WEIGHTS, vertexShader} from './shaders.js';

function compile(gl, type, text) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error(gl.getShaderInfoLog(shader));
    return shader;
}

/* `outputs`: variables of the vertex shader that are read back. */
function link(gl, outputs) {
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, vertexShader));
    gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragmentShader));
    if (outputs)
        gl.transformFeedbackVaryings(program, outputs, gl.SEPARATE_ATTRIBS);
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
        throw new Error(gl.getProgramInfoLog(program));
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
        const name = gl.getActiveUniform(program, i).name;
        at[name.replace('[0]', '')] = gl.getUniformLocation(program, name);
    }
    return {program, at};
}

/* A list of vectors as a texture of rows of 2^bits. */
function tableTexture(gl, values, bits) {
    const width = 2 ** bits, rows = Math.max(1, Math.ceil(values.length / 3 / width));
    if (rows > gl.getParameter(gl.MAX_TEXTURE_SIZE))
        throw new Error('The body has more vertices times coordinates than this graphics card can hold.');
    const padded = new Float32Array(rows * width * 3);
    padded.set(values);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB32F, width, rows, 0, gl.RGB, gl.FLOAT, padded);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
        gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    return texture;
}

function attribute(gl, place, values, size, stride, offset) {
    if (values) {
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    }
    gl.enableVertexAttribArray(place);
    if (values instanceof Int32Array)
        gl.vertexAttribIPointer(place, size, gl.INT, stride, offset);
    else if (values instanceof Uint8Array)
        gl.vertexAttribPointer(place, size, gl.UNSIGNED_BYTE, true, stride, offset);
    else
        gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
}

export class Renderer {
    constructor(canvas) {
        this.canvas = canvas;
        this.gl = canvas.getContext('webgl2', {antialias: true, alpha: true, premultipliedAlpha: false});
        if (!this.gl)
            throw new Error('This browser has no WebGL 2, which draws the body.');
        this.shapes = [];
        this.draw_ = link(this.gl, null);
        this.rowBits = Math.floor(Math.log2(Math.min(8192, this.gl.getParameter(this.gl.MAX_TEXTURE_SIZE))));
        this.gl.enable(this.gl.DEPTH_TEST);
    }

    addShape(shape) {
        const gl = this.gl, vertices = gl.createVertexArray();
        gl.bindVertexArray(vertices);
        attribute(gl, 0, shape.rest, 3, 0, 0);
        attribute(gl, 1, shape.tangents, 3, 24, 0);
        attribute(gl, 2, null, 3, 24, 12);
        if (shape.colors)
            attribute(gl, 3, shape.colors, 3, 0, 0);
        attribute(gl, 4, shape.origin, 1, 0, 0);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shape.triangles, gl.STATIC_DRAW);
        gl.bindVertexArray(null);
        this.shapes.push({
            shape,
            vertices,
            targets: tableTexture(gl, shape.ordered, this.rowBits),
            derivatives: tableTexture(gl, shape.derivatives, this.rowBits)
        });
        return this.shapes.length - 1;
    }

    /* The size of the drawing buffer follows that of the canvas in the layout. */
    resize() {
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
        const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
        if (this.canvas.width !== width || this.canvas.height !== height) {
            this.canvas.width = width;
            this.canvas.height = height;
        }
    }

    begin() {
        const gl = this.gl;
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.disable(gl.SCISSOR_TEST);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    }

    /* What is drawn of an item: {shape, weights, turn, place, color}. */
    setItem({program, at}, item) {
        const gl = this.gl, entry = this.shapes[item.shape];
        const weights = new Float32Array(MOST_WEIGHTS);
        weights.set(item.weights);
        gl.useProgram(program);
        gl.bindVertexArray(entry.vertices);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, entry.targets);
        gl.activeTexture(gl.TEXTURE1);
        gl.bindTexture(gl.TEXTURE_2D, entry.derivatives);
        gl.uniform1i(at.targets, 0);
        gl.uniform1i(at.derivatives, 1);
        gl.uniform1i(at.count, entry.shape.count);
        gl.uniform1i(at.row_bits, this.rowBits);
        gl.uniform4fv(at.weights, weights);
        gl.uniformMatrix3fv(at.turn, false, item.turn);
        gl.uniform3fv(at.place, item.place);
        if (!entry.shape.colors)
            gl.vertexAttrib3fv(3, item.color);
        return entry;
    }

    /* Draws items as a camera sees them in a part of the canvas: {x, width} as fractions. */
    drawItems(items, camera, part, range) {
        const gl = this.gl, {at} = this.draw_;
        const x = Math.round(part.x * this.canvas.width), width = Math.round(part.width * this.canvas.width);
        const frame = camera.frame();
        gl.viewport(x, 0, width, this.canvas.height);
        for (const item of items) {
            const entry = this.setItem(this.draw_, item);
            gl.uniformMatrix4fv(at.projection, false, camera.projection(width / this.canvas.height));
            gl.uniform3fv(at.eye, frame.eye);
            gl.uniform3fv(at.light, frame.light);
            gl.uniform3fv(at.up, frame.world_up);
            gl.uniform1f(at.range, item.rigid ? 0 : range);
            gl.drawElements(gl.TRIANGLES, entry.shape.triangles.length, gl.UNSIGNED_INT, 0);
        }
        gl.bindVertexArray(null);
    }

    /* Positions and normals as the vertex shader computes them: two Float32Array [vertices, 3]. */
    readBack(item) {
        const gl = this.gl, count = this.shapes[item.shape].shape.vertexCount;
        this.read_ = this.read_ || link(gl, ['deformed', 'normal']);
        this.setItem(this.read_, item);
        gl.uniformMatrix4fv(this.read_.at.projection, false, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
        const buffers = [0, 1].map((k) => {
            const buffer = gl.createBuffer();
            gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, buffer);
            gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, count * 12, gl.STREAM_READ);
            gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
            gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, k, buffer);
            return buffer;
        });
        gl.enable(gl.RASTERIZER_DISCARD);
        gl.beginTransformFeedback(gl.POINTS);
        gl.drawArrays(gl.POINTS, 0, count);
        gl.endTransformFeedback();
        gl.disable(gl.RASTERIZER_DISCARD);
        gl.bindVertexArray(null);
        return buffers.map((buffer, k) => {
            const values = new Float32Array(count * 3);
            gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, k, null);
            gl.bindBuffer(gl.COPY_READ_BUFFER, buffer);
            gl.getBufferSubData(gl.COPY_READ_BUFFER, 0, values);
            gl.bindBuffer(gl.COPY_READ_BUFFER, null);
            gl.deleteBuffer(buffer);
            return values;
        });
    }
}
