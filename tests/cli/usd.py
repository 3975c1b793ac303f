"""Reads USD in text, as far as animated meshes need it: prims, references within the file, time samples, poses, blend shapes. Needs NumPy,
and nothing of Supple."""
import re

import numpy as np

from gltf import turn

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|<[^>]*>|[A-Za-z_][\w:.]*|-?(?:\d[\d.]*|\.\d+)(?:e[-+]?\d+)?|[][(){}=,]')


class Parser:
    def __init__(self, text):
        first, text = text.split('\n', 1)
        assert first == '#usda 1.0'
        assert not TOKEN.sub('', text).strip(), TOKEN.sub('', text).strip()[:80]
        self.tokens, self.at = TOKEN.findall(text), 0
        self.meta = self.metadata()
        self.prims = {}
        while self.at < len(self.tokens):
            self.prim('')

    def take(self, wanted=None):
        token = self.tokens[self.at]
        assert wanted in (None, token), (wanted, self.tokens[max(0, self.at - 5):self.at + 5])
        self.at += 1
        return token

    def peek(self):
        return self.tokens[self.at]

    def metadata(self):
        found = {}
        if self.peek() != '(':
            return found
        self.take('(')
        while self.peek() != ')':
            name = self.take()
            if name == 'prepend':
                name = self.take()
            self.take('=')
            found[name] = self.dictionary() if self.peek() == '{' else self.value()
        self.take(')')
        return found

    def dictionary(self):
        found = {}
        self.take('{')
        while self.peek() != '}':
            kind, name = self.take(), self.take()
            assert re.fullmatch(r'\w+', kind)
            self.take('=')
            found[name] = self.value()
        self.take('}')
        return found

    def samples(self):
        found = {}
        self.take('{')
        while self.peek() != '}':
            time = float(self.take())
            found[time] = self.value()
            self.take(',')
        self.take('}')
        return found

    def value(self):
        token = self.take()
        if token in '[(':
            values, end = [], {'[': ']', '(': ')'}[token]
            while self.peek() != end:
                values.append(self.value())
                if self.peek() != end:
                    self.take(',')
            self.take(end)
            return values
        if token[0] == '"':
            return re.sub(r'\\(.)', r'\1', token[1:-1])
        return token[1:-1] if token[0] == '<' else float(token)

    def prim(self, parent):
        specifier = self.take()
        assert specifier in ('def', 'class'), specifier
        kind = self.take() if self.peek()[0] != '"' else ''
        path = parent + '/' + self.value()
        assert re.fullmatch(r'(/[A-Za-z_][A-Za-z0-9_]*)+', path) and path not in self.prims, path
        self.prims[path] = prim = {'kind': kind, 'meta': self.metadata()}
        self.take('{')
        while self.peek() != '}':
            if self.peek() in ('def', 'class'):
                self.prim(path)
                continue
            if self.peek() == 'uniform':
                self.take()
            kind = self.take()
            if self.peek() == '[':
                self.take('['), self.take(']')
                kind += '[]'
            name = self.take()
            assert kind in ('rel', 'bool', 'token', 'token[]', 'int[]', 'float', 'float[]', 'float3[]', 'point3f[]', 'normal3f[]', 'vector3f[]', 'color3f[]', 'double3', 'quatf', 'matrix4d[]'), kind
            prim.setdefault(name.replace('.timeSamples', ''), None)
            if self.peek() == '=':
                self.take('=')
                prim[name.replace('.timeSamples', '')] = self.samples() if name.endswith('.timeSamples') else self.value()
            prim[name + ' meta'] = self.metadata()
        self.take('}')


class File:
    def __init__(self, path):
        text = open(path, encoding='utf-8').read()
        self.parser = Parser(re.sub(r'(?m)^( *-?[\d.]+(?:e[-+]?\d+)?): ', r'\1 ', text)) # the colon after a time
        self.prims, meta = self.parser.prims, self.parser.meta
        self.up = meta['upAxis']
        assert meta['metersPerUnit'] == 1 and meta['defaultPrim'] == 'World'
        self.start, self.end = meta.get('startTimeCode', 0), meta.get('endTimeCode', 0)
        for path, prim in list(self.prims.items()):
            for target in [prim['meta']['references']] if 'references' in prim['meta'] else []:
                for other in [p for p in self.prims if p == target or p.startswith(target + '/')]:
                    copy = {k: self.moved(v, target, path) for k, v in self.prims[other].items()}
                    self.prims[path + other[len(target):]] = {**copy, **self.prims.get(path + other[len(target):], {})}

    def moved(self, value, old, new):
        if isinstance(value, list):
            return [self.moved(v, old, new) for v in value]
        return new + value[len(old):] if isinstance(value, str) and (value + '/').startswith(old + '/') else value

    def at(self, prim, name, frame):
        """The value of an attribute in the frame with this number."""
        value = prim.get(name)
        if isinstance(value, dict):
            assert all(a < b for a, b in zip(list(value), list(value)[1:]))
            assert list(value)[0] == self.start and list(value)[-1] == self.end
            return list(value.values())[frame]
        return value

    def bodies(self, frame):
        found = []
        for path, prim in self.prims.items():
            if prim['kind'] != 'Mesh' or path.startswith('/Meshes/'):
                continue
            at, n = (np.array(self.at(prim, name, frame)) for name in ('points', 'normals'))
            triangles, rest = np.array(prim['faceVertexIndices'], dtype=int).reshape(-1, 3), n
            assert prim['faceVertexCounts'] == [3] * len(triangles)
            if 'skel:blendShapes' in prim:
                skeleton = self.prims[prim['skel:skeleton']]
                motion = self.prims[skeleton['skel:animationSource']]
                assert skeleton['kind'] == 'Skeleton' and motion['kind'] == 'SkelAnimation' and self.prims[path.rsplit('/', 1)[0]]['kind'] == 'SkelRoot'
                order, weights = motion['blendShapes'], self.at(motion, 'blendShapeWeights', frame)
                for name, target in zip(prim['skel:blendShapes'], prim['skel:blendShapeTargets']):
                    shape = self.prims[target]
                    assert shape['kind'] == 'BlendShape' and target.startswith(path + '/')
                    at = at + weights[order.index(name)] * np.array(shape['offsets'])
                    n = n + weights[order.index(name)] * np.array(shape['normalOffsets'])
            n = n / np.linalg.norm(n, axis=1)[:, None]
            while path:
                prim = self.prims[path]
                for operation in reversed(prim.get('xformOpOrder', [])):
                    value = self.at(prim, operation, frame)
                    if operation == 'xformOp:translate':
                        at = at + value
                    else:
                        q = np.array(value[1:] + value[:1]) if operation == 'xformOp:orient' else np.array([0, 0, np.sin(np.radians(value / 2)), np.cos(np.radians(value / 2))])
                        assert operation in ('xformOp:orient', 'xformOp:rotateZ')
                        at, n = turn(q, at), turn(q, n)
                path = path.rsplit('/', 1)[0]
            found.append((at[triangles], n[triangles], rest))
        return found
