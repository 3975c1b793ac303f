# Inputs that tests make themselves. Models are written in folder $1; a pipeline's files are made in the current folder by the
# tools on PATH.

# A bar of 3 x 1 x 1 m in every surface format, and small volumetric meshes.
make_models() {
    cat > "$1/bar.obj" <<-'END'
	# closed, quadrilaterals
	v 0 0 0
	v 3 0 0
	v 3 1 0
	v 0 1 0
	v 0 0 1
	v 3 0 1
	v 3 1 1
	v 0 1 1
	g ends
	f 4 1 5 8
	f 2 3 7 6
	g sides
	f 1 4 3 2
	f 5 6 7 8
	f 1 2 6 5
	f 3 4 8 7
	END
    cat > "$1/wedge.off" <<-'END'
	OFF
	4 4 6
	0 0 0
	1 0 0
	0 1 0
	0 0 1
	3 0 2 1
	3 0 1 3
	3 1 2 3
	3 0 3 2
	END
    cat > "$1/wedge.ply" <<-'END'
	ply
	format ascii 1.0
	element vertex 4
	property float x
	property float y
	property float z
	element face 4
	property list uchar int vertex_indices
	end_header
	0 0 0
	1 0 0
	0 1 0
	0 0 1
	3 0 2 1
	3 0 1 3
	3 1 2 3
	3 0 3 2
	END
    cat > "$1/wedge.stl" <<-'END'
	solid wedge
	facet normal 0 0 -1
	outer loop
	vertex 0 0 0
	vertex 0 1 0
	vertex 1 0 0
	endloop
	endfacet
	facet normal 0 -1 0
	outer loop
	vertex 0 0 0
	vertex 1 0 0
	vertex 0 0 1
	endloop
	endfacet
	facet normal 1 1 1
	outer loop
	vertex 1 0 0
	vertex 0 1 0
	vertex 0 0 1
	endloop
	endfacet
	facet normal -1 0 0
	outer loop
	vertex 0 0 0
	vertex 0 0 1
	vertex 0 1 0
	endloop
	endfacet
	endsolid wedge
	END
    cat > "$1/block.veg" <<-'END'
	*VERTICES
	5 3 0 0
	1 0 0 0
	2 1 0 0
	3 0 1 0
	4 0 0 1
	5 1 1 1
	*ELEMENTS
	TET
	2 4 0
	1 1 2 3 4
	2 2 3 4 5
	*MATERIAL BODY
	ENU, 1000, 2e6, 0.3
	*REGION
	allElements, BODY
	END
    printf '1,2\n' > "$1/block.bou"
    cat > "$1/block.msh" <<-'END'
	$MeshFormat
	2.2 0 8
	$EndMeshFormat
	$Nodes
	5
	1 0 0 0
	2 1 0 0
	3 0 1 0
	4 0 0 1
	5 1 1 1
	$EndNodes
	$Elements
	2
	1 4 2 0 1 1 2 3 4
	2 4 2 0 1 2 3 4 5
	$EndElements
	END
    cat > "$1/block.inp" <<-'END'
	*NODE
	1, 0, 0, 0
	2, 1, 0, 0
	3, 0, 1, 0
	4, 0, 0, 1
	5, 1, 1, 1
	*ELEMENT, TYPE=C3D4, ELSET=ALL
	1, 1, 2, 3, 4
	2, 2, 3, 4, 5
	END
    cat > "$1/block.mesh" <<-'END'
	MeshVersionFormatted 2
	Dimension 3
	Vertices
	5
	0 0 0 0
	1 0 0 0
	0 1 0 0
	0 0 1 0
	1 1 1 0
	Triangles
	1
	1 2 3 4
	Tetrahedra
	2
	1 2 3 4 7
	2 3 4 5 7
	End
	END
    cat > "$1/block.node" <<-'END'
	5 3 0 0
	1 0 0 0
	2 1 0 0
	3 0 1 0
	4 0 0 1
	5 1 1 1
	END
    cat > "$1/block.ele" <<-'END'
	2 4 1
	1 1 2 3 4 7
	2 2 3 4 5 7
	END
    cat > "$1/block.mphtxt" <<-'END'
	# a mesh as COMSOL writes it
	0 1
	1 # number of tags
	5 mesh1
	1 # number of types
	3 obj
	0 0 1
	4 Mesh # class
	2 # version
	3 # dimension
	5 # number of vertices
	0 # lowest index
	0 0 0
	1 0 0
	0 1 0
	0 0 1
	1 1 1
	2 # number of element types
	3 tri # type
	3
	1
	0 1 2
	6
	0
	1
	0
	0
	3 tet # type
	4
	2 # number of elements
	0 1 2 3
	1 2 3 4
	4
	0
	2
	7
	7
	0
	END
    cat > "$1/block.vtk" <<-'END'
	# vtk DataFile Version 3.0
	a block
	ASCII
	DATASET UNSTRUCTURED_GRID
	POINTS 5 double
	0 0 0
	1 0 0
	0 1 0
	0 0 1
	1 1 1
	CELLS 2 10
	4 0 1 2 3
	4 1 2 3 4
	CELL_TYPES 2
	10 10
	CELL_DATA 2
	SCALARS region int
	LOOKUP_TABLE default
	7 7
	END
    cat > "$1/block.vtu" <<-'END'
	<?xml version="1.0"?>
	<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
	<UnstructuredGrid>
	<Piece NumberOfPoints="5" NumberOfCells="2">
	<CellData>
	<DataArray type="Int32" Name="region" format="ascii">7 7</DataArray>
	</CellData>
	<Points>
	<DataArray type="Float64" Name="Points" NumberOfComponents="3" format="ascii">
	0 0 0
	1 0 0
	0 1 0
	0 0 1
	1 1 1
	</DataArray>
	</Points>
	<Cells>
	<DataArray type="Int64" Name="connectivity" format="ascii">
	0 1 2 3
	1 2 3 4
	</DataArray>
	<DataArray type="Int64" Name="offsets" format="ascii">4 8</DataArray>
	<DataArray type="UInt8" Name="types" format="ascii">10 10</DataArray>
	</Cells>
	</Piece>
	</UnstructuredGrid>
	</VTKFile>
	END
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,all,,0,0,-90\n0.02,0.1,vertex,20,0,5,0\n' > "$1/loads.csv"
    printf 'factor,young\n1,1e6\nuniform(0.5,1),normal(1e6,5%%)\n' > "$1/table.csv"
    # two bones on paths, of which the second bends the bar
    cat > "$1/skeleton.json" <<-'END'
	{"bones": [{"name": "root", "joint": "path", "path": "root.csv", "box": [[0, 0, 0], [0.5, 1, 1]]},
	           {"name": "tip", "parent": "root", "joint": "path", "at": [1.5, 0.5, 0.5], "path": "tip.csv",
	            "segment": [2.25, 0.5, 0.5, 3, 0.5, 0.5], "radius": 0.8}]}
	END
    echo 0,0,0,0,1,0,0,0 > "$1/root.csv"
    awk 'BEGIN { for (i = 0; i <= 200; i++) { a = 0.3 * sin(0.05 * i); print i / 100 ",0,0,0," cos(a) ",0," sin(a) ",0" } }' > "$1/tip.csv"
    # a force at the tip that goes around, in 12 pieces of 0.1 s
    awk 'BEGIN { print "t0,t1,kind,id,fx,fy,fz"
        for (i = 0; i < 12; i++)
            printf "%.1f,%.1f,surface,1,%.3f,%.3f,%.3f\n", i / 10, (i + 1) / 10, 200 * sin(i), 900 * sin(0.55 * i), 900 * cos(0.55 * i) }' > "$1/sketch.csv"
}

# A model's mesh of $2 voxels along its longest side, with a basis of $3 columns and its polynomials.
make_reduction() {
    voxelize "$1" -q -n "$2" --enlarge 1 --fill --fix-half-space 1,0,0,0 -o mesh.npz &&
        modes mesh.npz -q -k 4 --write-stiffness K.npz --write-mass M.npz -o modes.npz &&
        modalderiv mesh.npz modes.npz -q -o deriv.npz &&
        masspca mesh.npz modes.npz deriv.npz -q -r "$3" -o basis.npz &&
        polycoef mesh.npz basis.npz -q -o poly.npz
}

# The same for a bar twice as wide as high, whose modes are simple. The bar of the other tests bends alike in two directions. Rounding decides how its
# modes are oriented,
# and with them the errors by which poses and elements are chosen.
make_wide_reduction() {
    sed '/^v/s/ 1 \([01]\)$/ 2 \1/' bar.obj > wide.obj && make_reduction wide.obj 6 6
}

# The two tetrahedra of block.vtu in the encodings of other writers, by Python's zlib and base64: one NAME.vtu for each.
make_binary_vtu() {
    "$PYTHON" - <<-'END'
	import base64, itertools, struct, zlib
	arrays = [('CellData', 'region', 'Int32', 'i', '', [7, 7]),
	          ('Points', 'Points', 'Float64', 'd', ' NumberOfComponents="3"', [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1]),
	          ('Cells', 'connectivity', 'Int64', 'q', '', [0, 1, 2, 3, 1, 2, 3, 4]),
	          ('Cells', 'offsets', 'Int64', 'q', '', [4, 8]), ('Cells', 'types', 'UInt8', 'B', '', [10, 10])]
	def stream(data, order, word, block, encode):
	    if not block:
	        return encode(struct.pack(order + word, len(data)) + data)
	    blocks = [zlib.compress(data[i:i + block], 9) for i in range(0, len(data), block)]
	    head = [len(blocks), block, len(data) % block] + [len(b) for b in blocks]
	    return encode(struct.pack('%s%d%s' % (order, len(head), word), *head)) + encode(b''.join(blocks))
	for order, word, block, place in itertools.product('<>', 'IQ', (0, 16, 32768), ('inline', 'base64', 'raw')):
	    file = b'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="%s" header_type="%s"%s>\n' % (
	        b'LittleEndian' if order == '<' else b'BigEndian', b'UInt32' if word == 'I' else b'UInt64', b' compressor="vtkZLibDataCompressor"' if block else b'')
	    file += b'<UnstructuredGrid><Piece NumberOfPoints="5" NumberOfCells="2">\n'
	    appended = b''
	    for section, group in itertools.groupby(arrays, lambda a: a[0]):
	        file += b'<%s>\n' % section.encode()
	        for _, name, kind, code, more, values in group:
	            data = struct.pack('%s%d%s' % (order, len(values), code), *values)
	            text = stream(data, order, word, block, bytes if place == 'raw' else base64.b64encode)
	            head = '<DataArray type="%s" Name="%s"%s format="%s"' % (kind, name, more, 'binary' if place == 'inline' else 'appended')
	            if place == 'inline':
	                file += head.encode() + b'>\n' + text + b'\n</DataArray>\n'
	            else:
	                file += head.encode() + b' offset="%d"/>\n' % len(appended)
	                appended += text
	        file += b'</%s>\n' % section.encode()
	    file += b'</Piece></UnstructuredGrid>\n'
	    if place != 'inline':
	        file += b'<AppendedData encoding="%s">\n_' % place.encode() + appended + b'\n</AppendedData>\n'
	    name = '%s-%s-%d-%s.vtu' % ('little' if order == '<' else 'big', word, block, place)
	    open(name, 'wb').write(file + b'</VTKFile>\n')
	END
}

# The whole pipeline on a bar of $1 voxels with $2 columns in the basis. Every step writes <name>.npz.
make_pipeline() {
    make_reduction bar.obj "$1" "$2" &&
        simskin mesh.npz skeleton.json -q -o skin.npz &&
        cubature mesh.npz basis.npz --linear exact --poses 40 --nested -q -o cub.npz &&
        cubature mesh.npz basis.npz --poses 70 --training-only -q -o training.npz &&
        simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 20 -o traj.npz &&
        simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.002 --steps 100 -o tone.npz &&
        simfull mesh.npz -q --gravity 0,0,-9.81 --dt 0.01 --steps 4 -o full.npz &&
        simbatch mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --table table.csv --dt 0.01 --steps 3 --statistics -o ensemble.npz
}

# A scene of the files of make_pipeline and bar.obj in the current folder, a path for its hand, and a made-up motion of it in
# motion.npz. Its bodies are an arm of 4 coordinates, a plane, two balls, a coupled box and a bar.
make_scene() {
    cat > scene.json <<-'END'
	{"gravity": [0, 0, -9.81],
	 "contact": {"stiffness": 1000},
	 "models": {
	  "arm": {"kind": "linear", "mesh": "mesh.npz", "basis": "basis.npz", "polynomials": "poly.npz", "r": 4},
	  "table": {"kind": "rigid", "plane": {"normal": [0, 0, 1], "offset": -0.5}},
	  "ball": {"kind": "rigid", "sphere": {"radius": 0.4}, "mass": 1, "mass_centre": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]},
	  "brick": {"kind": "rigid", "box": {"half": [0.5, 0.3, 0.2]}},
	  "bar": {"kind": "rigid", "surface": "bar.obj"}},
	 "bodies": [
	  {"name": "arm", "model": "arm"},
	  {"name": "table", "model": "table"},
	  {"name": "balls", "model": "ball", "motion": "free", "position": [0.5, -2, 0], "copies": {"count": [2, 1, 1], "spacing": [1, 0, 0]}},
	  {"name": "brick", "model": "brick", "motion": "coupled", "position": [3, -2, 0.5]},
	  {"name": "bar", "model": "bar", "position": [4, 0, 0]}],
	 "coupling": {"kind": "static", "body": "brick", "path": "hand.csv", "stiffness": 100, "torque_stiffness": 1}}
	END
    printf 't,x,y,z,qw,qx,qy,qz\n0,3,-2,0.5,1,0,0,0\n' > hand.csv
    "$PYTHON" "$1/move.py" scene.json motion.npz
}
