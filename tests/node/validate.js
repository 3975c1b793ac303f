// validate.js FILE...: what the validator of the Khronos Group says of glTF files; exit code 1 for any error or warning.
const fs = require('fs');

const validator = require('gltf-validator'); // NODE_PATH says where it is

(async () => {
    for (const file of process.argv.slice(2)) {
        const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 20 });
        const { numErrors, numWarnings, messages } = report.issues;
        console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings`);
        for (const message of messages)
            console.log(`  ${message.code} ${message.pointer}: ${message.message}`);
        if (numErrors || numWarnings)
            process.exitCode = 1;
    }
})();
