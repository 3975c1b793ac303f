#!/usr/bin/env bats
# Pointshells exported as tables and point clouds.

load common

# agrees READER: a function of Python, read(), returns points, normals, area, radius, level (and parent or None); all are those of shell.npz.
agrees() {
    "$PYTHON" -c 'import numpy' 2> /dev/null || return 0
    { cat && cat <<-'END'
	import json, numpy as np
	f = np.load('shell.npz')
	level, n = f['level'], len(f['points'])
	c = [int((level <= k).sum()) for k in range(1, level.max() + 1)]
	# formats/pointshell.md: the node of point p in level k < L is c(1) + ... + c(k - 1) + p; a point's largest sphere is that of its own level
	radius = np.array([f['radius'][sum(c[:level[p] - 1]) + p] if level[p] < len(c) else 0 for p in range(n)])
	wanted = [f['points'], f['normals'], f['area'], radius, level, f['parent']]
	for got, want in zip(read(), wanted):
	    assert got is None or np.array_equal(np.asarray(got).reshape(want.shape), want), (got, want)
	END
    } > agrees.py
    "$PYTHON" agrees.py || fault "$1 holds something else"
}

@test "a table" {
    ending=.csv
    done_well simexport shell.npz -o s.csv
    [ "$(head -n 1 s.csv)" = x,y,z,nx,ny,nz,area,level,parent ] || fault "$(head -n 1 s.csv)"
    [ "$(wc -l < s.csv)" = 61 ] || fault "$(wc -l < s.csv) lines"
    agrees s.csv <<-'END'
	def read():
	    t = np.loadtxt('s.csv', delimiter=',', skiprows=1)
	    return t[:, :3], t[:, 3:6], t[:, 6], None, t[:, 7], t[:, 8]
	END
    simexport -q --to csv - -o piped.csv < shell.npz
    same_bytes s.csv piped.csv "a pipe"
    no_faults
}

@test "OBJ" {
    ending=.obj
    done_well simexport shell.npz -o s.obj
    [ "$(cut -d' ' -f1 s.obj | sort | uniq -c | tr -s ' \n' ' ')" = " 60 p 60 v 60 vn " ] || fault "s.obj: $(cut -d' ' -f1 s.obj | sort | uniq -c)"
    no_faults
}

@test "PLY" {
    ending=.ply
    done_well simexport shell.npz -o s.ply
    [ "$(sed -n 1,2p s.ply | tr '\n' ' ')" = 'ply format ascii 1.0 ' ] || fault "$(head s.ply)"
    agrees s.ply <<-'END'
	def read():
	    lines = open('s.ply').read().split('\n')
	    end = lines.index('end_header')
	    names = [l.split()[2] for l in lines[:end] if l.startswith('property ')]
	    assert 'element vertex %d' % n in lines[:end] and names == ['x', 'y', 'z', 'nx', 'ny', 'nz', 'area', 'radius', 'level']
	    t = np.array([[float(w) for w in l.split()] for l in lines[end + 1:-1]])
	    assert t.shape == (n, 9) and lines[-1] == ''
	    return t[:, :3], t[:, 3:6], t[:, 6], t[:, 7], t[:, 8], None
	END
    simexport -q --to ply - -o - < shell.npz > piped.ply
    same_bytes s.ply piped.ply "a pipe"
    # a rigid pointshell
    pointshell bar.obj -q --points 30 --levels 1 -o still.npz
    done_well simexport still.npz -o still.ply
    [ "$(sed '1,/end_header/d' still.ply | cut -d' ' -f8,9 | sort -u)" = '0 1' ] || fault "$(tail -n 3 still.ply)"
    no_faults
}

@test "VTU: by the rules of the format, and by VTK where it is installed" {
    ending=.vtu
    done_well simexport shell.npz -o s.vtu
    agrees s.vtu <<-'END'
	import re
	def read():
	    data = open('s.vtu', 'rb').read()
	    head, body = data.split(b'<AppendedData encoding="raw">\n_', 1)
	    a = {}
	    for kind, name, offset in re.findall(rb'<DataArray type="(\w+)" Name="(\w+)" .*?offset="(\d+)"', head):
	        at = int(offset)
	        size = int.from_bytes(body[at:at + 8], 'little')
	        a[name.decode()] = np.frombuffer(body[at + 8:at + 8 + size], {b'Float64': 'f8', b'Int64': 'i8', b'UInt8': 'u1'}[kind])
	    assert (a['connectivity'] == np.arange(n)).all() and (a['offsets'] == 1 + np.arange(n)).all() and (a['types'] == 1).all()
	    return [a[k] for k in ('Points', 'normal', 'area', 'radius', 'level', 'parent')]
	END
    if "$PYTHON" -c 'import vtk' 2> /dev/null; then
        agrees s.vtu <<-'END'
	import vtk
	from vtk.util.numpy_support import vtk_to_numpy
	def read():
	    reader = vtk.vtkXMLUnstructuredGridReader()
	    reader.SetFileName('s.vtu')
	    reader.Update()
	    grid = reader.GetOutput()
	    assert grid.GetNumberOfCells() == n
	    return [vtk_to_numpy(grid.GetPoints().GetData())] + [vtk_to_numpy(grid.GetPointData().GetArray(k)) for k in ('normal', 'area', 'radius', 'level', 'parent')]
	END
    fi
    no_faults
}

@test "legacy VTK" {
    ending=.vtk
    done_well simexport shell.npz -o s.vtk
    agrees s.vtk <<-'END'
	def read():
	    words = open('s.vtk').read().split('\n', 3)[3].split()
	    at = lambda *key: next(i for i in range(len(words)) if words[i:i + len(key)] == list(key)) + len(key)
	    take = lambda start, count: [float(w) for w in words[start:start + count]]
	    assert words[:2] == ['DATASET', 'POLYDATA'] and take(at('VERTICES', str(n), str(2 * n)), 2 * n) == [x for p in range(n) for x in (1, p)]
	    assert at('POINT_DATA', str(n)) == at('NORMALS', 'normal', 'double') - 3
	    scalar = lambda name, kind: take(at('SCALARS', name, kind, '1', 'LOOKUP_TABLE', 'default'), n)
	    return (take(at('POINTS', str(n), 'double'), 3 * n), take(at('NORMALS', 'normal', 'double'), 3 * n), scalar('area', 'double'), scalar('radius', 'double'),
	            scalar('level', 'int'), scalar('parent', 'int'))
	END
    no_faults
}

@test "files that are no pointshells, and options that do not apply" {
    local to option
    for to in csv obj ply vtu vtk; do
        refused 2 '^simexport: --frames applies to a trajectory or' simexport shell.npz --to $to --frames 1 -o out.npz
    done
    for option in --surface --fields --partial '--every 2' '--columns 1'; do
        # shellcheck disable=SC2086
        refused 2 "^simexport: ${option%% *} applies to " simexport shell.npz --to vtu $option -o out.npz
    done
    refused 2 '^simexport: --level applies to a distance field$' simexport shell.npz --to obj --level 0 -o out.npz
    refused 2 's.pvd: a pointshell is no series' simexport shell.npz -o s.pvd
    refused 3 'mesh.npz: PLY holds a pointshell' simexport mesh.npz -o out.ply
    refused 2 'PLY holds a pointshell' simexport shell.npz mesh.npz -o out.ply
    refused 3 'shell.npz: .*pointshell.*' simexport shell.npz -o out.mtx
    no_faults
}
