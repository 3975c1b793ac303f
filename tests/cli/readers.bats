# The readers of scripts/ agree on files of every kind.
load common

# agree NAME COMMAND…: the command's summary of the files is that of supple.py.
agree() {
    local name=$1 file
    shift
    "$@" | LC_ALL=C sort > "$name.txt"
    [ "$(wc -l < "$name.txt")" -gt 80 ] || fault "$name read $(wc -l < "$name.txt") members"
    diff python.txt "$name.txt" > "$name.diff" || fault "$name and supple.py differ: $(head -n 5 "$name.diff")"
}

read_by_python() {
    needs_numpy
    files=()
    for file in mesh modes deriv basis poly cub training traj full motion K field shell other-K ensemble; do
        files+=("$DATA/$file.npz")
    done
    # each with an incomplete block after a complete one
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 9000 -o long.npz
    head -c $(($(stat -c %s long.npz) - 9000)) long.npz > cut-long.npz
    head -c $(($(stat -c %s motion.npz) - 4500)) motion.npz > cut-motion.npz
    # with reactions, in several blocks
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 5000 --record-reactions -o held.npz
    # an ensemble in several blocks
    simbatch mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --table table.csv --motions 200 --rates --statistics --dt 0.01 --steps 200 -o many.npz
    files+=("$PWD/cut-long.npz" "$PWD/cut-motion.npz" "$PWD/held.npz" "$PWD/many.npz")
    PYTHONPATH=$SUPPLE_SOURCE/scripts "$PYTHON" "$BATS_TEST_DIRNAME/readers/summary.py" "${files[@]}" | LC_ALL=C sort > python.txt
}

@test "supple.py reads every kind, and truncated files up to their last complete block" {
    read_by_python
    [ "$(awk '$2 == "kind" && !seen[$3]++' python.txt | wc -l)" = 13 ] || fault "kinds: $(grep ' kind ' python.txt)"
    grep -q '^cut-long.npz energy f8 8192x4 ' python.txt && grep -q '^cut-motion.npz pose f8 8x6x7 ' python.txt || fault "$(grep cut- python.txt)"
    grep -q '^many.npz q f8 200x201x6 ' python.txt && grep -q '^many.npz parameters f8 200x2 ' python.txt || fault "$(grep many.npz python.txt)"
    grep -qE '^held.npz reaction f8 5001x[1-9]x6 ' python.txt || fault "$(grep held.npz python.txt)"
    head -c $(($(stat -c %s traj.npz) - 1500)) traj.npz > cut.npz # its only block is incomplete
    # a header that states 8 EiB
    "$PYTHON" -c 'import zipfile
head = b"{\x27descr\x27: \x27<f8\x27, \x27fortran_order\x27: False, \x27shape\x27: (1152921504606846976,), }"
head += b" " * (117 - len(head)) + b"\n"
zipfile.ZipFile("vast.npz", "w").writestr("a.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"1" * 64)'
    PYTHONPATH=$SUPPLE_SOURCE/scripts "$PYTHON" -c 'import supple; supple.load("vast.npz")' 2> message && fault 'a header of 8 EiB was read'
    [[ $(tail -n 1 message) == 'ValueError: vast.npz: '* ]] || fault "$(tail -n 1 message)"
    PYTHONPATH=$SUPPLE_SOURCE/scripts "$PYTHON" -c 'import supple; supple.load("cut.npz", partial=True)' 2> message && fault 'a cut block was read'
    grep -q 'ValueError: cut.npz: the trajectory has no whole block' message || fault "$(tail -n 1 message)"
    no_faults
}

@test "supple.py lists files, and works alone under another name" {
    needs_numpy
    cp "$SUPPLE_SOURCE/scripts/supple.py" reader.py
    "$PYTHON" -W error reader.py modes.npz K.npz > out.txt || fault 'it fails'
    grep -qx 'modes.npz: modes' out.txt && grep -qE '^    U +float64 525 4$' out.txt && grep -qE '^    matrix +sparse$' out.txt || fault "$(< out.txt)"
    try "$PYTHON" reader.py modes.npz nothing.npz
    [ "$code" = 3 ] && [[ $err == *"supple: "*"No such file"*"nothing.npz"* ]] && [ ${#lines[@]} = 1 ] || fault "$code: $err"
    head -c 3000 modes.npz > cut.npz
    try "$PYTHON" reader.py cut.npz
    [ "$code" = 3 ] && [[ $err == "supple: cut.npz: "* ]] && [ ${#lines[@]} = 1 ] || fault "$code: $err"
    no_faults
}

@test "supple.jl reads what supple.py reads" {
    command -v julia > /dev/null || skip 'no Julia here'
    read_by_python
    agree julia julia "$BATS_TEST_DIRNAME/readers/summary.jl" "$SUPPLE_SOURCE/scripts/supple.jl" "${files[@]}"
    no_faults
}

@test "supple_read.m reads what supple.py reads" {
    command -v octave-cli > /dev/null || skip 'no Octave here'
    read_by_python
    list=$(printf "'%s'," "${files[@]}")
    agree octave octave-cli --quiet --path "$SUPPLE_SOURCE/scripts" --path "$BATS_TEST_DIRNAME/readers" --eval "summary(${list%,})"
    no_faults
}
