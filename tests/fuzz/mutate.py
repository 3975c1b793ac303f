#!/usr/bin/env python3
"""mutate.py TIMES SEED FILE PROGRAM…: runs PROGRAM with @ replaced by mutated copies of FILE whose CRC and hash fit, so that
mutations get past the container: .npy headers, values, keys of meta and result, members left out or exchanged. TIMES is a number of
seconds, or of runs with an x behind it. Every run has to end with an exit code of 0 to 5 and, where it is not 0 or 1, one line that
names the file (a numerical failure, 5, may name another, and so may what does not belong to the mutated file; a hint may follow). % is replaced by the name of an output, which has to be a
file that simverify, beside PROGRAM or at SUPPLE_VERIFY, accepts where the code is 0, and not there where it is not. SUPPLE_SERVE is the library of
serve.c: programs then start once and run in forks of themselves. Prints executions and findings."""
import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

runs = int(sys.argv[1][:-1]) if sys.argv[1].endswith('x') else None
seconds, seed, source = float('inf') if runs else float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
program = sys.argv[4:]
verifier = os.environ.get('SUPPLE_VERIFY', os.path.join(os.path.dirname(program[0]), 'simverify'))
random.seed(seed)
with zipfile.ZipFile(source) as archive:
    original = [(i.filename[:-4], archive.read(i)) for i in archive.infolist()]
numbers = ['0', '1', '-1', '2', '3', '7', '4096', '9007199254740992', '9223372036854775807', '4611686018427387904', '18446744073709551616']
types = ['<f8', '<f4', '<i8', '<i4', '|u1', '|S1', '|S2048', '<c16', '>f8', '|O']
values = [None, True, -1, 0, 1, 2**53, 2**63 - 1, 1e300, -1e300, 5e-324, '', 'x' * 5000, '\x1b[31m', [], {}, [[]] * 3, [1e300] * 9]


def split(data):
    length = 10 + data[8] + 256 * data[9]
    return data[10:length].decode('latin-1'), data[length:]


def join(header, values):
    header = header.rstrip()
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header.encode('latin-1') + values


def change_json(value):
    while isinstance(value, (dict, list)) and value:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = random.choice(list(keys))
        if isinstance(value[key], (dict, list)) and value[key] and random.random() < 0.7:
            value = value[key]
            continue
        if random.random() < 0.2:
            del value[key]
        else:
            value[key] = random.choice(values)
        return


def mutate(name, data):
    header, body = split(data)
    if name in ('meta', 'result'):
        value = json.loads(body)
        change_json(value)
        body = json.dumps(value).encode()
        return join("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(body), body)
    choice = random.randrange(4)
    if choice == 0:
        shape = header[header.index('('):header.index(')') + 1]
        extents = [e for e in shape[1:-1].split(',') if e.strip()] or ['1']
        extents[random.randrange(len(extents))] = random.choice(numbers)
        header = header.replace(shape, '(' + ','.join(extents) + ',)')
    elif choice == 1:
        start = header.index("'descr': '") + 10
        header = header[:start] + random.choice(types) + header[header.index("'", start):]
    elif choice == 2 and len(body) >= 8:
        at = random.randrange(len(body) // 8) * 8
        body = body[:at] + random.choice([bytes(8), b'\xff' * 8, b'\0' * 7 + b'\x80', b'\0' * 6 + b'\xf0\x7f', random.randbytes(8), b'\x9c\x75\0\x88\x3c\xe4\x37\x7e']) + body[at + 8:]
    else:
        at = random.randrange(len(header))
        header = header[:at] + chr(random.randrange(32, 127)) + header[at + 1:]
    return join(header, body)


def write(path):
    entries = list(original)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        i = random.randrange(len(entries))
        try:
            entries[i] = (entries[i][0], mutate(*entries[i]))
        except ValueError:  # a header that an earlier mutation made unreadable is left alone
            pass
    if random.random() < 0.05:
        del entries[random.randrange(1, len(entries))]
    digest = hashlib.sha256(b''.join(n.encode() + b'\0' + d for n, d in entries if n != 'result')).hexdigest()
    with zipfile.ZipFile(path, 'w') as archive:
        for name, data in entries:
            if name == 'result':
                value = json.loads(split(data)[1])
                value['sha256'] = digest
                text = json.dumps(value).encode()
                data = join("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(text), text)
            archive.writestr(zipfile.ZipInfo(name + '.npy'), data)


class Runner:
    """A command line that is run again and again: its exit code, negative a signal's number, and what it wrote to stderr."""

    def __init__(self, words, folder):
        self.words, self.server = words, None
        self.said = tempfile.TemporaryFile(dir=folder)
        if 'SUPPLE_SERVE' in os.environ:
            environment = dict(os.environ, LD_PRELOAD=os.environ['SUPPLE_SERVE'], SERVE_SECONDS='120')
            environment['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
            self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, env=environment, bufsize=0)

    def run(self):
        self.said.seek(0)
        self.said.truncate()
        if self.server:
            self.server.stdin.write(b'.')
            code = os.waitstatus_to_exitcode(int.from_bytes(self.server.stdout.read(4), sys.byteorder))
        else:
            try:
                code = subprocess.run(self.words, stdout=subprocess.DEVNULL, stderr=self.said, timeout=120).returncode
            except subprocess.TimeoutExpired:
                code = -signal.SIGALRM
        self.said.seek(0)
        return code, 'more than 120 s' if code == -signal.SIGALRM else self.said.read().decode('utf-8', 'replace')

    def end(self):
        if self.server:
            self.server.stdin.close()
            if self.server.wait() or self.server.stdout.read():
                sys.exit('%s: the server failed' % self.words)


def fault():
    """What is wrong with a run, None where nothing is."""
    code, said = tested.run()
    codes[code] = codes.get(code, 0) + 1
    wrote = os.path.exists(output)
    if not 0 <= code <= 5:
        return code, said
    if code > 1:
        lines = [line for line in said.splitlines() if line.startswith(os.path.basename(program[0]) + ': ')]
        if not lines or said.count('\n') > len(lines) + 1 or (code != 5 and 'bad.npz' not in lines[-1] and 'it was made from another' not in lines[-1]):
            return code, said
        return ('an output with exit code', code) if wrote else None
    if wrote and output.endswith('.npz'):
        code, said = verify.run()
        if code:
            return 'simverify refuses the output', code, said
    return None


count, findings, end, codes = 0, 0, time.time() + seconds, {}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'bad.npz')
    output = os.path.join(folder, 'output.npz')
    tested = Runner([w.replace('@', path).replace('%', output) for w in program], folder)
    verify = Runner([verifier, '--quiet', output], folder)
    while count < runs if runs else time.time() < end:
        write(path)
        wrong = fault()
        count += 1
        if os.path.exists(output):
            os.unlink(output)
        if wrong:
            findings += 1
            kept = 'finding-%s-%s-%d-%d.npz' % (os.path.basename(program[0]), os.path.basename(source)[:-4], seed, count)
            shutil.copy(path, os.path.join(os.environ.get('SUPPLE_FINDINGS', '.'), kept))
            print(kept, *wrong)
    tested.end()
    verify.end()
print('%d executions, %d findings; exit codes %s' % (count, findings, ', '.join('%d: %d' % c for c in sorted(codes.items()))))
sys.exit(findings > 0)
