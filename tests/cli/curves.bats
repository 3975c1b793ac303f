#!/usr/bin/env bats
# Motions as curves: points of bodies in scenes, several motions in one CSV file, and their plots.

load common

@test "points of a scene's body in the world, by NumPy" {
    needs_numpy
    done_well simexport scene.json motion.npz --probe 'arm:30,arm:near:3,1,1,arm:surface:7' --positions -q -o t.csv
    "$PYTHON" - <<-'END' || fault 'positions'
	import csv, json, numpy as np
	f, mesh, U = np.load('motion.npz'), np.load('mesh.npz'), np.load('basis.npz')['U']
	meta = json.loads(bytes(f['meta']))
	b = [body['name'] for body in meta['bodies']].index('arm')
	first = sum(body['r'] for body in meta['bodies'][:b])
	blocks = sorted(n[5:] for n in f.files if n.startswith('time/'))
	series = lambda name: np.concatenate([f[name + '/' + k] for k in blocks])
	pose, q = series('pose')[:, b], series('q')[:, first:first + 4]
	def R(w, x, y, z):
	    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
	                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
	                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
	V, X = U[:, :4].reshape(-1, 3, 4).copy(), mesh['vertices']
	for v, axes in zip(mesh['fixed'], mesh['fixed_axes'] if 'fixed_axes' in mesh.files else [7] * len(mesh['fixed'])):
	    V[v][[k for k in range(3) if axes >> k & 1]] = 0
	near = np.linalg.norm(X - [3, 1, 1], axis=1).argmin()
	e, w = mesh['hex'][mesh['surface/element'][7]], mesh['surface/weights'][7]
	rows = list(csv.DictReader(open('t.csv')))
	assert len(rows) == len(pose)
	for name, x, v in (('v30', X[30], V[30]), ('v%d' % near, X[near], V[near]), ('s7', w @ X[e], np.einsum('c,ckj->kj', w, V[e]))):
	    start = pose[0][:3] + R(*pose[0][3:]) @ x
	    for row, p, c in zip(rows, pose, q):
	        at = p[:3] + R(*p[3:]) @ (x + v @ c)
	        for k, axis in enumerate('xyz'):
	            assert abs(float(row['arm.%s_p%s' % (name, axis)]) - at[k]) < 1e-13, (name, axis)
	            assert abs(float(row['arm.%s_%s' % (name, axis)]) - (at - start)[k]) < 1e-13, (name, axis)
	END
    # positions of a trajectory: rest positions plus displacements
    done_well simexport mesh.npz full.npz --probe 30 --positions -q -o t.csv
    "$PYTHON" - <<-'END' || fault 'positions of a mesh'
	import csv, numpy as np
	x = np.load('mesh.npz')['vertices'][30]
	for row in csv.DictReader(open('t.csv')):
	    for k, axis in enumerate('xyz'):
	        assert abs(float(row['v30_p' + axis]) - float(row['v30_' + axis]) - x[k]) < 1e-15
	END
    no_faults
}

# columns FILE: the names in its first line, one per line
columns() { head -n 1 "$1" | tr , '\n'; }

# cut_columns FILE PREFIX: time and the columns that begin with the prefix, without it, of the lines that have them
cut_columns() {
    awk -F, -v prefix="$2" 'NR == 1 {for (i = 2; i <= NF; i++) if (index($i, prefix) == 1) {keep[++n] = i; sub("^" prefix, "", $i)}}
        {if ($keep[1] == "") next; line = $1; for (i = 1; i <= n; i++) line = line "," $keep[i]; print line}' "$1"
}

@test "several motions in one CSV are the columns that each has alone" {
    local name
    simfull mesh.npz -q --gravity 0,0,-9.81 --dt 0.005 --steps 10 --every 1 -o fine.npz
    done_well simexport basis.npz mesh.npz scene.json traj.npz fine.npz motion.npz --probe 30,surface:2,arm:30 -q -o all.csv
    done_well simexport mesh.npz basis.npz traj.npz --probe 30,surface:2 -q -o traj.csv
    done_well simexport mesh.npz fine.npz --probe 30,surface:2 -q -o fine.csv
    done_well simexport scene.json motion.npz --probe arm:30 -q -o motion.csv
    for name in traj fine motion; do
        cut_columns all.csv "$name." > cut.csv
        same_bytes cut.csv $name.csv "$name"
    done
    [ "$(columns all.csv | wc -l)" = $(($(columns traj.csv | wc -l) + $(columns fine.csv | wc -l) + $(columns motion.csv | wc -l) - 2)) ] || fault "$(columns all.csv)"
    # a line for every time that occurs in a motion: 0 to 0.2 s by 0.01 s, to 0.05 s by 0.005 s, and those of the scene
    [ "$(awk -F, 'NR > 1 && $1 <= at + 0 && NR > 2 {print} {at = $1}' all.csv)" = '' ] || fault 'times do not increase'
    [ "$(awk -F, '{print NF}' all.csv | sort -u | wc -l)" = 1 ] || fault 'lines of different lengths'
    # the same names in two folders, two meshes
    mkdir one two && cp full.npz one && cp full.npz two
    simfull other.npz -q --gravity 0,0,-9.81 --dt 0.01 --steps 4 -o two/full.npz
    done_well simexport mesh.npz other.npz one/full.npz two/full.npz --probe near:3,1,1 -q -o two.csv
    [ "$(columns two.csv | grep -c '^one/full\.v.*_z$')" = 1 ] && [ "$(columns two.csv | grep -c '^two/full\.v.*_z$')" = 1 ] || fault "$(columns two.csv)"
    no_faults
}

@test "motions and files that do not belong together are refused" {
    refused 3 '^simexport: twin.npz: it belongs to none of the 2 motions' simexport mesh.npz twin.npz traj.npz full.npz basis.npz -o out.csv
    refused 2 '^simexport: traj.npz is named twice' simexport mesh.npz traj.npz traj.npz -o out.csv
    refused 2 '^simexport: --probe: "2" names no body of the scene: write BODY:2' simexport scene.json motion.npz --probe 2 -o out.csv
    refused 2 '^simexport: --probe: there is no scene with a body "hand"' simexport scene.json motion.npz --probe hand:2 -o out.csv
    refused 2 '^simexport: --probe: there is no scene with a body "arm"' simexport mesh.npz full.npz --probe arm:2 -o out.csv
    refused 2 '^simexport: --probe: body bar has no mesh' simexport scene.json motion.npz --probe bar:2 -o out.csv
    refused 2 '^simexport: motion.npz: probes are points of bodies: name its scene too' simexport motion.npz --probe arm:2 -o out.csv
    refused 2 '^simexport: --positions needs the mesh of full.npz' simexport full.npz --probe 2 --positions -o out.csv
    refused 2 '^simexport: --positions applies with --probe' simexport mesh.npz full.npz --positions -o out.csv
    refused 2 '^simexport: --volume applies to a trajectory' simexport scene.json motion.npz --volume -o out.csv
    refused 2 '^simexport: CSV is of a motion, and none was named' simexport scene.json -o out.csv
    refused 2 '^simexport: traj.npz: it holds reduced coordinates: name the file of its basis' simexport mesh.npz traj.npz full.npz --probe 2 -o out.csv
    no_faults
}

@test "a sheet of a scene's frames has them in its cells" {
    needs_numpy
    # 10 frames in 3 x 2 cells: 0, 1, 3, 5, 7, 9; each cell is the picture of its frame with the same camera. Between cells and around them
    # is a white gap of 3 pixels.
    local box=--box=-1,-3,-1,5,2,1.5
    done_well simrender scene.json motion.npz --sheet 3x2 --size 360x180 --samples 1 "$box" -q -o sheet.png
    done_well simrender scene.json motion.npz --size 116x85 --samples 1 "$box" -q -o frame_%d.png
    "$PYTHON" - <<-'END' || fault 'cells'
	import struct, zlib, numpy as np
	def png(name):
	    data, at, parts = open(name, 'rb').read(), 8, b''
	    while at < len(data):
	        size, kind = struct.unpack('>I4s', data[at:at + 8])
	        if kind == b'IHDR':
	            width, height, depth, color = struct.unpack('>IIBB', data[at + 8:at + 18])
	        parts += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''
	        at += 12 + size
	    channels = {2: 3, 6: 4}[color]
	    raw = np.frombuffer(zlib.decompress(parts), np.uint8).reshape(height, 1 + width * channels)
	    out = np.zeros((height, width * channels), np.uint8)
	    for y in range(height):
	        line, above, here = raw[y, 1:].astype(int), out[y - 1].astype(int) if y else np.zeros(width * channels, int), []
	        for x in range(width * channels):
	            a, b, c = (here[x - channels] if x >= channels else 0), above[x], (above[x - channels] if x >= channels else 0)
	            p = a + b - c
	            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
	            here.append((line[x] + (0, a, b, (a + b) // 2, paeth)[raw[y, 0]]) % 256)
	        out[y] = here
	    return out.reshape(height, width, channels)
	sheet = png('sheet.png')
	assert sheet.shape[:2] == (180, 360)
	for cell, frame in enumerate((0, 1, 3, 5, 7, 9)):
	    y, x = 3 + cell // 3 * 88, 3 + cell % 3 * 119
	    assert (sheet[y:y + 85, x:x + 116] == png('frame_%d.png' % frame)).all(), (cell, frame)
	    sheet[y:y + 85, x:x + 116] = 255
	assert (sheet == 255).all()
	END
    done_well simrender scene.json --sheet 2x1 -q -o start.png # one frame, and an empty cell
    no_faults
}

# picture FILE KIND: it begins and ends as a whole picture does
picture() {
    case $2 in
    png) [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] && tail -c 8 "$1" | grep -aq IEND ;;
    svg) grep -q '<svg' "$1" && tail -n 2 "$1" | grep -q '</svg>' ;;
    esac || fault "$1 is no whole $2"
}

@test "supple-plot draws columns, with quantities and units on the axes" {
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    local text
    done_well simexport mesh.npz basis.npz traj.npz full.npz --probe 30 --positions -q -o t.csv
    for text in png svg; do
        try supple-plot 't.csv:*.v30_z' --title "It's 100 % z" -o p.$text
        [ "$code$err" = 0 ] || fault "exit $code: $err"
        picture p.$text $text
    done
    for text in 'displacement \[m\]' 'time t \[s\]' traj.v30_z full.v30_z "It&apos;s 100 % z|It's 100 % z"; do
        grep -qE -- "$text" p.svg || fault "no $text"
    done
    # a curve for each column that matches the pattern; frames without a value are left out
    [ "$(grep -c '<title>' p.svg)" = 3 ] || [ "$(grep -c 'plot_[0-9]' p.svg)" = 2 ] || fault "$(grep -c 'plot_[0-9]' p.svg) curves"
    try supple-plot t.csv:full.strain:full:order t.csv:full.v30_pz --xlabel X --ylabel=Y --size 300x200 -o p.svg
    grep -q 'full:order' p.svg || fault 'label'
    grep -q '>Y<' p.svg && grep -q '>X<' p.svg || fault 'labels of axes'
    supple-plot t.csv:full.strain t.csv:full.v30_pz -o p.svg || fault 'two quantities'
    grep -q 'energy \[J\], position \[m\]' p.svg || fault 'units of two quantities'
    supple-plot t.csv -o p.svg || fault 'all columns'
    # names with brackets are not patterns
    simexport scene.json motion.npz -q -o s.csv
    supple-plot 's.csv:balls[0].f?' -o p.svg || fault 'brackets'
    grep -q 'force \[N\]' p.svg && ! grep -qF 'balls[1]' p.svg || fault 'brackets'
    "$SUPPLE_SOURCE/scripts/plot-curves" p.png 'A title' 'y [m]' t.csv:full.v30_z:one || fault 'plot-curves'
    picture p.png png
    no_faults
}

@test "supple-plot: an axis ends at 0 where no value is beyond it" {
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    local column
    printf '%s\n' time,up,down,both,high 0,0,0,-0.1,5 1,6.3,-6.3,1,6 2,2,-2,3,7.5 > t.csv
    for column in up down both high; do
        supple-plot t.csv:$column --size 1000x600 -o $column.svg || fault "$column"
    done
    # the numbers at both axes; those of time are 0 to 2
    numbers() { tr -d '\n' < "$1" | grep -oE '<text>[^<]*' | sed 's/<text>[[:space:]]*//; s/[[:space:]]*$//' | grep -E '^[-0-9.]+$'; }
    ! numbers up.svg | grep -q -- - || fault "up: $(numbers up.svg)"
    numbers up.svg | grep -qx 7 || fault "up: $(numbers up.svg)"
    numbers down.svg | grep -qx -- -7 || fault "down: $(numbers down.svg)"
    numbers down.svg | grep -qx 0 && ! numbers down.svg | grep -qE '^[3-9]' || fault "down: $(numbers down.svg)"
    numbers both.svg | grep -q -- - || fault "both: $(numbers both.svg)"
    ! numbers high.svg | grep -qxE '[34]' || fault "high: $(numbers high.svg)"
    # the horizontal axis ends with the data
    printf '%s\n' time,a 0,1 0.31,2 > x.csv
    supple-plot x.csv:a -o x.svg || fault 'x'
    ! numbers x.svg | grep -qx 0.35 || fault "x: $(numbers x.svg)"
    no_faults
}

# Nothing is cut off by the border of the picture, long texts have several lines, and the key is below the axis.
@test "supple-plot: one style for all plots" {
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    needs_numpy
    local size kind
    "$PYTHON" -c "print('time,a,b'); [print(t, 1000 * t, -t, sep=',') for t in range(4)]" > t.csv
    for size in 1000x600 720x400 400x300; do
        for kind in png svg; do
            supple-plot t.csv:a:one t.csv:b:two --title "A title of more letters than fit into a line, $(seq -s ' ' 40) and the end" \
                --ylabel 'a label of more letters than fit beside the axis [m]' --size $size -o p$size.$kind || fault "$size $kind"
        done
        PYTHONPATH=$BATS_TEST_DIRNAME "$PYTHON" - $size <<-'END' || fault "$size"
	import re, sys
	import numpy as np
	from pixels import png
	name = 'p' + sys.argv[1]
	picture = png(name + '.png')
	edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
	assert (edge == 255).all(), 'something is at the border'
	assert [int(n) for n in sys.argv[1].split('x')] == list(picture.shape[1::-1])
	svg = open(name + '.svg').read()
	assert re.search(r'rgb\( *0, *114, *178\)', svg) and re.search(r'rgb\(213, *94, *0\)', svg), 'not the colours of Okabe and Ito'
	places = re.findall(r'translate\(([\d.]+),([\d.]+)\)[^>]*>\s*<text>(.*?)</text>', svg, re.S)
	rows = {text.strip(): float(y) for x, y, text in places}
	axis = rows['time t [s]']
	assert rows['one'] > axis and rows['two'] > axis, rows
	assert sum('and the end' in text for text in rows) == 1 and not any('A title' in t and 'the end' in t for t in rows), rows
	END
    done
    try supple-plot --style png --size 1000x600
    cp "$stdout" style
    gnuplot -e "load 'style'; set output 'g.png'; plot x with lines linetype 1" 2> err && picture g.png png && [ ! -s err ] || fault "the style alone: $(< err)"
    PYTHONPATH=$BATS_TEST_DIRNAME "$PYTHON" -c "
from pixels import png
assert (png('g.png') == [0, 114, 178]).all(2).sum() > 500" || fault 'the first line type is not blue'
    refused 2 '--style: "gif" is neither png nor svg' supple-plot --style gif
    refused 2 '--style draws nothing' supple-plot --style png t.csv
    refused 2 '--style draws nothing' supple-plot --style png -o out.png
    refused 2 '--size: "3" is not a size' supple-plot --style png --size 3
    no_faults
}

@test "plot-speed draws a bar for each factor, as long as its logarithm" {
    printf '# A\n## Speed\n\n| a | b | c | d | e | f | g |\n|---|---|---|---|---|---|---|\n' > speed.md
    printf '| %s | %s | c | d | `%s` | f | %s |\n' one 'r = 1' 'a & b' 10 two "$(printf 'long %.0s' {1..30})" y 100 >> speed.md
    "$PYTHON" "$SUPPLE_SOURCE/scripts/plot-speed" speed.md speed.svg || fault 'plot-speed'
    "$PYTHON" - <<-'END' || fault 'the chart'
	import re
	import xml.etree.ElementTree as tree
	chart = tree.parse('speed.svg').getroot()
	of = lambda tag: chart.findall('{http://www.w3.org/2000/svg}' + tag)
	bars = [float(r.get('width')) for r in of('rect')[1:]]
	assert len(bars) == 2 and abs(bars[1] / bars[0] - 2) < 0.01, bars
	texts = [t.text for t in of('text')]
	assert 'times as fast' in texts and 'r = 1, against a & b' in texts, texts
	long, = [t for t in of('text') if 'long long' in t.text]
	assert float(long.get('x')) - float(long.get('textLength')) > 0
	END
    printf '## Speed\n' > none.md
    try "$PYTHON" "$SUPPLE_SOURCE/scripts/plot-speed" none.md none.svg
    [ "$code" = 1 ] && [[ $err == 'plot-speed: none.md: there is no table'* ]] || fault "exit $code: $err"
    no_faults
}

@test "supple-plot: quotes in names, labels and titles" {
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    local text
    for text in "a''b" "'a" "a'" "''''" "it's" 'a`id`b' "'.system('id').'"; do
        printf '%s\n' "time,$text" 0,1 1,2 > t.csv
        supple-plot t.csv --title "$text" --ylabel "$text" -o p.svg || fault "$text"
        supple-plot "t.csv:*:$text" -o q.svg || fault "label $text"
        for file in p q; do
            "$PYTHON" -c 'import html, re, sys
text = re.findall("<text>(.*?)</text>", open(sys.argv[1]).read(), re.S)
sys.exit(sys.argv[2] not in [html.unescape(re.sub("<[^>]*>", "", t)).strip() for t in text])' $file.svg "$text" || fault "$file.svg has no text $text"
        done
    done
    no_faults
}

@test "supple-plot: a full disk is that of the picture, not of the table" {
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    printf 'time,a\n0,1\n1,2\n' > t.csv
    limited() { # the message goes through a pipe, which has no limit
        (
            trap '' XFSZ
            ulimit -f 0
            supple-plot t.csv -o new.png 2>&1
        ) | cat >&2
        return "${PIPESTATUS[0]}"
    }
    try limited
    [ "$code" = 4 ] && [[ $err =~ ^'supple-plot: new.png: its folder cannot be written: '[a-z] ]] || fault "exit $code: $err"
    no_litter supple-plot
    no_faults
}

@test "supple-plot: usage errors, missing files, gnuplot that is not installed" {
    printf 'time,a,b\n0,1,\n1,2,x\n2,3,5\n' > t.csv
    refused 2 'names no FILE.csv' supple-plot -o out.png
    refused 2 'needs -o PICTURE' supple-plot t.csv:a
    refused 2 'a picture ends in .png or .svg' supple-plot t.csv:a -o out.gif
    refused 2 'unknown option --titel' supple-plot t.csv:a --titel x -o out.png
    refused 2 '--title needs a value' supple-plot t.csv:a -o out.png --title
    refused 2 '--size: "0x5" is not a size' supple-plot t.csv:a --size 0x5 -o out.png
    try supple-plot --help
    [[ $code = 0 && $(< "$stdout") == 'Usage: supple-plot '* ]] || fault "--help: $code"
    try supple-plot --version
    [[ $(< "$stdout") =~ ^supple-plot\ \(Supple\)\ [0-9.]+$ ]] || fault "$(< "$stdout")"
    # without gnuplot, but with everything else that the script needs
    mkdir bin
    for name in sh cat grep sed awk tr head mktemp dirname supple-plot; do
        ln -s "$(command -v $name)" bin
    done
    PATH=$PWD/bin refused 4 'gnuplot is not installed .Debian: apt install gnuplot-nox' supple-plot t.csv:a -o out.png
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    refused 2 'not of the form' supple-plot :a -o out.png
    refused 3 'none.csv: no such file' supple-plot none.csv:a -o out.png
    refused 3 't.csv: no column "c" .it has time, a, b' supple-plot t.csv:c -o out.png
    refused 3 't.csv: line 3: "x" is not a finite number' supple-plot t.csv:b -o out.png
    refused 4 'cannot be written' supple-plot t.csv:a -o nowhere/out.png
    no_faults
}
