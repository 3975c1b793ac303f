"""A client of simserve for the tests: OSC over UDP, and its shared memory."""
import mmap
import os
import socket
import struct
import time


def text(value):
    raw = value.encode()
    return raw + b'\0' * (4 - len(raw) % 4)


def message(address, *arguments):
    """Numbers as d (float) or i (int), words as s."""
    tags, body = ',', b''
    for a in arguments:
        if isinstance(a, str):
            tags, body = tags + 's', body + text(a)
        elif isinstance(a, int):
            tags, body = tags + 'i', body + struct.pack('>i', a)
        else:
            tags, body = tags + 'd', body + struct.pack('>d', a)
    return text(address) + text(tags) + body


def bundle(*packets):
    return b'#bundle\0' + struct.pack('>Q', 1) + b''.join(struct.pack('>i', len(p)) + p for p in packets)


def take_text(raw, at):
    end = raw.index(b'\0', at)
    return raw[at:end].decode(), at + (end - at) // 4 * 4 + 4


def messages(raw):
    """The (address, arguments) of a packet."""
    if raw.startswith(b'#bundle\0'):
        at, found = 16, []
        while at < len(raw):
            size, = struct.unpack_from('>i', raw, at)
            found += messages(raw[at + 4:at + 4 + size])
            at += 4 + size
        return found
    address, at = take_text(raw, 0)
    tags, at = take_text(raw, at)
    values = []
    for tag in tags[1:]:
        if tag == 's':
            value, at = take_text(raw, at)
        else:
            value, = struct.unpack_from('>' + tag, raw, at)
            at += struct.calcsize('>' + tag)
        values.append(value)
    assert at == len(raw), (address, at, len(raw))
    return [(address, values)]


class Client:
    def __init__(self, port, address='127.0.0.1'):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((address, int(port)))
        self.socket.settimeout(60)

    def send(self, address, *arguments):
        self.socket.send(message(address, *arguments))

    def receive(self):
        """The step of a datagram, and its messages by address, or by address and name."""
        found, step = {}, None
        for address, values in messages(self.socket.recv(65536)):
            if address == '/step':
                step = values
            elif values and isinstance(values[0], str):
                found[address, values[0]] = values[1:]
            else:
                found[address] = values
        return step, found

    def until(self, condition, ask=None):
        """The first datagram that satisfies it, within a minute. ask() is called before, and each second again."""
        end, asked = time.time() + 60, 0
        if ask:
            self.socket.settimeout(1)
        while time.time() < end:
            if ask and time.time() > asked + 1:
                ask()
                asked = time.time()
            try:
                step, found = self.receive()
            except socket.timeout:
                continue
            if condition(step, found):
                return step, found
        raise SystemExit('nothing came that satisfies it')


HEADER = struct.Struct('<8s10Q2dQ')


class Shared:
    """The memory as formats/shared.md describes it."""
    def __init__(self, name):
        end = time.time() + 60
        while True:
            try:
                with open('/dev/shm' + name, 'r+b') as file:
                    self.memory = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
                if self.memory[:8] == b'SUPPLESM':
                    break
            except (FileNotFoundError, ValueError):
                pass
            if time.time() > end:
                raise SystemExit('there is no memory ' + name)
            time.sleep(0.01)
        (self.magic, self.version, self.size, self.bodies, self.coordinates, self.coupled, self.body_offset, self.input_offset,
         self.input_size, self.output_offset, self.output_size, self.step, self.period, ended) = HEADER.unpack_from(self.memory)
        self.names = []
        for i in range(self.bodies):
            raw = self.memory[self.body_offset + 88 * i:self.body_offset + 88 * i + 64]
            self.names.append(raw[:raw.index(b'\0')].decode())

    def ended(self):
        return HEADER.unpack_from(self.memory)[-1]

    def read(self):
        while True:
            before, = struct.unpack_from('<Q', self.memory, self.output_offset)
            raw = self.memory[self.output_offset + 64:self.output_offset + 64 + self.output_size]
            after, = struct.unpack_from('<Q', self.memory, self.output_offset)
            if before == after and before % 2 == 0:
                break
        cycle, missed, when = struct.unpack_from('<2Qd', raw)
        values = struct.unpack_from('<%dd' % ((len(raw) - 24) // 8), raw, 24)
        out = {'cycle': cycle, 'missed': missed, 'time': when, 'hand': values[:7], 'coupling': values[7:13], 'device': values[13:19]}
        for i, name in enumerate(self.names):
            state = values[19 + 19 * i:38 + 19 * i]
            out[name] = {'pose': state[:7], 'twist': state[7:13], 'contact': state[13:]}
        rest = values[19 + 19 * self.bodies:]
        out['q'], out['qdot'] = rest[:self.coordinates], rest[self.coordinates:]
        return out

    def write(self, offset, raw, whole=True):
        """Into the input block; not whole: as a client that ends in the middle."""
        sequence, = struct.unpack_from('<Q', self.memory, self.input_offset)
        odd = (sequence | 1) + 2
        struct.pack_into('<Q', self.memory, self.input_offset, odd)
        self.memory[self.input_offset + 64 + offset:self.input_offset + 64 + offset + len(raw)] = raw
        if whole:
            struct.pack_into('<Q', self.memory, self.input_offset, odd + 1)

    def hand(self, number, pose, twist=(0,) * 6, whole=True):
        self.write(0, struct.pack('<Q13d', number, *pose, *twist), whole)

    def clutch(self, number, held):
        self.write(112 + 16 + 64 * 40 + 112 * self.bodies, struct.pack('<2Q', number, held))

    def forces(self, number, *forces):
        self.write(112, struct.pack('<2Q', number, len(forces)) +
                   b''.join(struct.pack('<2q3d', body, vertex, *force) for body, vertex, force in forces))

    def body(self, i, number, pose, twist=(0,) * 6):
        self.write(112 + 16 + 64 * 40 + 112 * i, struct.pack('<Q13d', number, *pose, *twist))
