#!/usr/bin/env bats
# The public library: its headers, names and dependencies; its bodies and scenes have the motions of the programs.

load common

@test "headers compile alone as C11 and C++17" {
    local header name
    for header in "$SUPPLE_SOURCE"/include/supple/*.h; do
        name=$(basename "$header")
        printf '#include <supple/%s>\nint main(void) { return 0; }\n' "$name" > alone.c
        cc -std=c11 -pedantic -Wall -Wextra -Wconversion -Werror -I "$SUPPLE_SOURCE/include" -c alone.c -o alone.o 2> err || fault "$name: $(< err)"
        cp alone.c alone.cc
        c++ -std=c++17 -pedantic -Wall -Wextra -Wconversion -Werror -I "$SUPPLE_SOURCE/include" -c alone.cc -o alone.o 2> err || fault "$name as C++: $(< err)"
    done
    no_faults
}

@test "the libraries export the listed functions and no others" {
    needs_plain_build 'sanitizers add names'
    local library=$SUPPLE_BUILD/api
    sed -n 's/^ *\(supple_[a-z_]*\);$/\1/p' "$SUPPLE_SOURCE/api/exports.map" | sort > listed
    nm -D --defined-only "$library/libsupple.so.0" | awk '$2 == "T" { sub("@.*", "", $3); print $3 }' | sort > shared
    nm -g --defined-only "$library/libsupple.a" | awk 'NF == 3 { print $3 }' | sort > static
    cmp listed shared || fault "$(diff listed shared)"
    cmp listed static || fault "$(diff listed static)"
    cat "$SUPPLE_SOURCE"/include/supple/*.h | sed ':a;s#/\*.*\*/##' | grep -o '\bsupple_[a-z_]* *(' | tr -d ' (' | sort -u > declared
    [ -z "$(comm -23 listed declared)" ] || fault "not declared: $(comm -23 listed declared)"
    [ "$(wc -l < listed)" -le 74 ] || fault "$(wc -l < listed) functions"
    no_faults
}

@test "no program depends on anything under the GPL" {
    needs_plain_build 'sanitizers add libraries'
    local program checked=0
    for program in "$SUPPLE_BUILD"/tools/* "$SUPPLE_BUILD/api/libsupple.so.0"; do
        [ -f "$program" ] && [ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || continue
        checked=$((checked + 1))
        ! ldd "$program" | grep -Ei 'cholmod|umfpack|spqr|klu|cxsparse|fftw|readline|gsl' > found.txt || fault "$program: $(< found.txt)"
    done
    [ $checked -gt 25 ] || fault "only $checked programs"
    no_faults
}

@test "the library depends on no library of sparse matrices" {
    needs_plain_build 'sanitizers add libraries'
    local library=$SUPPLE_BUILD/api/libsupple.so.0
    ! ldd "$library" | grep -Eiq 'cholmod|suitesparse|metis|arpack|umfpack|spqr|amd\.so|camd|colamd' || fault "$(ldd "$library")"
    ! nm -D --undefined-only "$library" | grep -Eiq 'cholmod|SuiteSparse|metis|dsaupd|dseupd' || fault "$(nm -D --undefined-only "$library")"
    ! nm --undefined-only "$SUPPLE_BUILD/api/libsupple.a" | grep -Eiq 'cholmod|SuiteSparse|metis|dsaupd|dseupd' || fault 'the static one'
    no_faults
}

make_free() {
    modes free.npz -q -k 10 -o free-modes.npz
    masspca free.npz free-modes.npz -q -r 4 -o free-basis.npz
    polycoef free.npz free-basis.npz -q -o free-poly.npz
}

@test "bodies of the library" {
    polycoef twin.npz twin-basis.npz -q -o twin-poly.npz
    cubature mesh.npz basis.npz --poses 40 -q -o plain-cub.npz
    make_free
    "$SUPPLE_BUILD/tests/test-library-body" > out.txt || fault "$(grep -v '^ok' out.txt)"
    no_faults
}

@test "bodies move as in simulate, to the last bit" {
    needs_numpy
    same_kernels
    cat > last.py <<'END'
import sys, numpy
z = numpy.load(sys.argv[1])
q, v = (z[sorted(k for k in z.files if k.startswith(name + '/'))[-1]][-1] for name in ('q', 'qdot'))
for pair in zip(q, v):
    print(*(float(x).hex() for x in pair))
END
    cat > hex.py <<'END'
import sys
for line in sys.stdin:
    print(*(float.fromhex(x).hex() for x in line.split()))
END
    compare() { # NAME, files and scheme of the library; options of simulate
        local name=$1 words=$2
        shift 2
        # shellcheck disable=SC2086
        "$SUPPLE_BUILD/tests/test-library-body" run mesh.npz $words 30 | "$PYTHON" hex.py > library.txt || fault "$name: it fails"
        simulate mesh.npz -q --dt 0.01 --steps 30 --loads loads.csv "$@" -o program.npz || fault "$name: simulate fails"
        "$PYTHON" last.py program.npz > program.txt
        [ -s program.txt ] && cmp -s library.txt program.txt || fault "$name: $(paste library.txt program.txt)"
    }
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,all,,0,0,-90\n0.02,0.1,vertex,20,0,5,0\n0.05,0.2,spring,21,3,0.5,0.25,40\n' > loads.csv
    compare newmark 'basis.npz poly.npz - loads.csv 0 0' --basis basis.npz --poly poly.npz
    compare semi-implicit 'basis.npz poly.npz - loads.csv 0 1' --basis basis.npz --poly poly.npz --semi-implicit
    compare energy 'basis.npz poly.npz - loads.csv 1 0' --basis basis.npz --poly poly.npz --integrator energy
    compare euler 'basis.npz poly.npz - loads.csv 4 0' --basis basis.npz --poly poly.npz --integrator euler
    compare bdf2 'basis.npz poly.npz - loads.csv 5 0' --basis basis.npz --poly poly.npz --integrator bdf2
    compare static 'basis.npz poly.npz - loads.csv 3 0' --basis basis.npz --poly poly.npz --integrator static
    compare cubature 'basis.npz - cub.npz loads.csv 0 0' --model cubature --basis basis.npz --cub cub.npz
    sed -i 4d loads.csv # springs would couple the modes
    compare modal 'modes.npz - - loads.csv 0 0' --model modal --basis modes.npz
    compare exact 'modes.npz - - loads.csv 6 0' --model modal --basis modes.npz --integrator exact
    no_faults
}

@test "scenes of the library" {
    make_free
    cat > free.json <<'END'
{"contact": {"stiffness": 1000},
 "models": {"bar": {"kind": "reduced", "mesh": "free.npz", "basis": "free-basis.npz", "polynomials": "free-poly.npz"}},
 "bodies": [{"name": "bar", "model": "bar", "motion": "free", "position": [1, 2, 3]}]}
END
    voxelize bar.obj -q -n 6 --fill -o bar.npz
    pointshell bar.npz -q --points 60 -o bar-shell.npz
    cat > rigid.json <<'END'
{"contact": {"stiffness": 3000, "damping": 1},
 "models": {"bar": {"kind": "rigid", "mesh": "bar.npz", "pointshell": "bar-shell.npz"},
            "table": {"kind": "rigid", "plane": {"normal": [0, 0, 1], "offset": -0.1}}},
 "bodies": [{"name": "bar", "model": "bar", "motion": "free"}, {"name": "table", "model": "table"}]}
END
    "$SUPPLE_BUILD/tests/test-library-scene" > out.txt || fault "$(grep -v '^ok' out.txt)"
    no_faults
}

@test "scenes move as in simscene, to the last bit" {
    needs_numpy
    same_kernels
    cat > last.py <<'END'
import sys, json, numpy
z = numpy.load(sys.argv[1])
def last(name):
    return z[sorted(k for k in z.files if k.startswith(name + '/'))[-1]][-1]
pose, twist, q = last('pose'), last('twist'), last('q')
at = 0
for i, r in enumerate(int(x) for x in sys.argv[2].split(',')):
    print(*(float(x).hex() for x in [*pose[i], *twist[i], *q[at:at + r]]))
    at += r
END
    "$SUPPLE_BUILD/tests/test-library-scene" run scene.json 0.001 200 | "$PYTHON" -c 'import sys
for line in sys.stdin: print(*(float.fromhex(x).hex() for x in line.split()))' > library.txt
    simscene scene.json -q --dt 0.001 --steps 200 -o program.npz
    "$PYTHON" last.py program.npz 4,0,0,0,0,0 > program.txt
    [ -s program.txt ] && cmp library.txt program.txt || fault "$(paste library.txt program.txt | head -3)"
    no_faults
}

@test "samples/embed: simulate, C, C++ and Python print the same, and haptic loops that of simscene" {
    needs_numpy
    needs_plain_build 'programs that link the library would need the sanitizers too'
    mkdir -p copy/samples copy/build copy/include
    cp -r "$SUPPLE_SOURCE/samples/embed" "$SUPPLE_SOURCE/samples/spoon" "$SUPPLE_SOURCE/samples/common.mk" "$SUPPLE_SOURCE/samples/soup.py" copy/samples
    rm -rf copy/samples/*/out
    cp -r "$SUPPLE_SOURCE/include" "$SUPPLE_SOURCE/python" copy
    make -C copy/samples/embed check TOOLS="$SUPPLE_BUILD/tools" PYTHON="$PYTHON" > log 2>&1 || fault "$(tail -n 5 log)"
    grep -q 'agree to the last bit' copy/samples/embed/out/same.txt || fault "$(tail -n 5 log)"
    # all steps by libsupple, and as many by the server as the client has seen
    [[ $(sed -n 2p copy/samples/embed/out/hand.txt) == '1500 of 1500 states equal'* ]] || fault "$(< copy/samples/embed/out/hand.txt)"
    [[ $(sed -n 4p copy/samples/embed/out/hand.txt) =~ ^([0-9]+)\ of\ ([0-9]+)\ states\ equal && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]] || fault "$(< copy/samples/embed/out/hand.txt)"
    no_faults
}
