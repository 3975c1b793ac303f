/* Makes the template of the page: node build.js SOURCE KERNEL CUBATURE OUTPUT. The folder of this file's copy has node_modules. */
import {build} from 'esbuild';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [source, kernel, cubature, output] = process.argv.slice(2);
const read = (name) => readFileSync(join(source, name), 'utf8');
const base64 = (file) => JSON.stringify(readFileSync(file).toString('base64'));

const script = await build({
    entryPoints: [join(source, 'main.js')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    define: {KERNEL_WASM: base64(kernel), CUBATURE_WASM: base64(cubature)},
    write: false,
    logLevel: 'warning'
});
const style = await build({
    stdin: {contents: read('style.css'), loader: 'css'},
    minify: true,
    write: false,
    logLevel: 'warning'
});

/* Functions, since "$" means something in a text that replaces another. */
const page = read('index.html')
    .replace('/*< style >*/', () => style.outputFiles[0].text.trim())
    .replace('/*< script >*/', () => script.outputFiles[0].text.trim());
writeFileSync(output, page);
