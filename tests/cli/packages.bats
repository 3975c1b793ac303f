#!/usr/bin/env bats
# What packages and releases are made of: versions and lists of packages agree, and the source archive is the same to the byte. The packages
# themselves are built by the scripts in packaging/.

load common

# a copy of the repository in the folder copy, with the script of this checkout
clone() {
    git -C "$SUPPLE_SOURCE" rev-parse -q --verify HEAD > /dev/null 2>&1 || skip 'no git repository'
    export GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=tester@supple.example GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@supple.example
    git clone -q "$SUPPLE_SOURCE" copy 2> said.txt || fault "$(< said.txt)"
    cp "$SUPPLE_SOURCE/scripts/release" copy/scripts/release
    git -C copy add scripts/release
    git -C copy commit -q --allow-empty -m 'the script under test'
}

# version_of FILE PATTERN: what the pattern has in parentheses, in the first line that matches.
version_of() {
    sed -nE "s/$2/\1/p" "$SUPPLE_SOURCE/$1" | head -n 1
}

# list NAME: the packages of a list in scripts/prepare.
list() {
    (eval "$(awk -v name="$1" -v quote="'" 'index($0, name "=" quote) == 1 { on = 1 } on { print; if ($0 ~ quote "$") exit }' "$SUPPLE_SOURCE/scripts/prepare")" && eval "printf '%s\\n' \$$1")
}

@test "every file has the same version" {
    local version major
    version=$(version_of meson.build "^project\(.* version: '([^']*)'.*")
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fault "meson.build: $version"
    [ "$(modes --version | head -n 1)" = "modes (Supple) $version" ] || fault "$(modes --version)"
    [ "$(version_of python/supple/__init__.py "^__version__ = '(.*)'")" = "$version" ] || fault python
    [ "$(version_of CITATION.cff '^version: (.*)')" = "$version" ] || fault CITATION.cff
    [ "$(version_of debian/changelog '^supple \(([0-9.]*)-.*')" = "$version" ] || fault debian/changelog
    [ "$(sed -nE 's/^#define SUPPLE_VERSION_(MAJOR|MINOR|PATCH) //p' "$SUPPLE_SOURCE/include/supple/status.h" | paste -sd.)" = "$version" ] || fault status.h
    grep -q "^/\* \"$version\": the version of the library" "$SUPPLE_SOURCE/include/supple/status.h" || fault 'the comment of status.h'
    [ "$(version_of packaging/spack/packages/supple/package.py '^    version\("([0-9.]+)", tag=.*')" = "$version" ] || fault spack
    [ "$(version_of packaging/conda/recipe.yaml '^  version: "(.*)"')" = "$version" ] || fault conda
    # the number in the name of the library, and of its Debian package
    # the placeholder of the maintainer is explained to packagers as long as it is there
    ! grep -q '@supple\.example' "$SUPPLE_SOURCE/debian/control" || grep -q '@supple\.example' "$SUPPLE_SOURCE/debian/README.source" || fault 'the address of the maintainer'
    major=$(sed -nE "s/.*soversion: '([0-9]+)'.*/\1/p" "$SUPPLE_SOURCE/api/meson.build")
    grep -qx "Package: libsupple$major" "$SUPPLE_SOURCE/debian/control" || fault "libsupple$major"
    no_faults
}

@test "Debian's build needs what scripts/prepare installs" {
    local name needs
    needs=$(awk '/^[A-Z]/ { on = /^Build-Depends:/ } on' "$SUPPLE_SOURCE/debian/control" | sed 's/^Build-Depends://; s/[,(\[].*//' | tr -d ' ')
    # the packages that are there in every build on Debian, and the font and mpirun, which are only needed to draw and to run
    for name in $(list build; list manual; list pictures; list parallel); do
        case $name in
        gcc | libc6-dev | make | fonts-dejavu-core | openmpi-bin) ;;
        *) grep -qx "$name" <<< "$needs" || fault "Build-Depends has no $name" ;;
        esac
    done
    for name in $needs; do
        case $name in
        debhelper-compat | dh-python) ;;
        *) { list build; list manual; list pictures; list sound; list parallel; } | grep -qx "$name" || fault "scripts/prepare has no $name" ;;
        esac
    done
    no_faults
}

@test "the image is built with the packages of scripts/prepare" {
    local here there
    there=$(sed -n '/^RUN apt-get update/,/[^\\]$/p' "$SUPPLE_SOURCE/packaging/Dockerfile" | sed -n '2,$p' | sed '/^ *debhelper /d' | tr -d '\134' | tr -s ' ' '\n' | sed '/^$/d' | sort)
    here=$({ list build; list manual; list pictures; list sound; list parallel; } | sort)
    [ "$here" = "$there" ] || fault "$(diff <(echo "$here") <(echo "$there"))"
    no_faults
}

# options FILE: the options of Meson that it sets, which must be some that there are
options() {
    local option
    grep -q -- '-Dpage=disabled' "$1" || fault "${1##*/} fetches packages of npm"
    for option in $(grep -oE -- '-D[a-z0-9]+=' "$1" | sed 's/^-D//; s/=//' | sort -u); do
        [ "$option" = debug ] || grep -q "^option('$option'" "$SUPPLE_SOURCE/meson_options.txt" || fault "${1##*/}: no option $option"
    done
}

@test "the recipe of Spack is Python, and names options and variants that there are" {
    local recipe=$SUPPLE_SOURCE/packaging/spack/packages/supple/package.py
    "$PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe" || fault 'no Python'
    options "$recipe"
    grep -q 'depends_on("openblas threads=openmp")' "$recipe" || fault 'variants of openblas'
    no_faults
}

@test "the recipe for conda is YAML, names options that there are, and every library" {
    local recipe=$SUPPLE_SOURCE/packaging/conda/recipe.yaml library
    options "$recipe"
    # the libraries of Spack's recipe by the names of conda-forge
    for library in $(sed -nE 's/^    depends_on\("([a-z-]+)[@" ].*/\1/p' "$SUPPLE_SOURCE/packaging/spack/packages/supple/package.py"); do
        case $library in
        c) library='.{3} compiler.*' ;;
        pkgconfig) library=pkg-config ;;
        py-numpy) library=numpy ;;
        suite-sparse) library=suitesparse ;;
        arpack-ng) library=arpack ;;
        zlib-api) library=zlib ;;
        esac
        grep -qE "^    - $library( .*)?\$" "$recipe" || fault "no $library"
    done
    "$PYTHON" -c 'import yaml' 2> /dev/null || { no_faults; skip 'no PyYAML: only its lines are compared'; }
    "$PYTHON" -c '
import sys, yaml
recipe = yaml.safe_load(open(sys.argv[1]))
assert recipe["schema_version"] == 1 and set(recipe) <= {"schema_version", "context", "package", "source", "build", "requirements", "tests", "about"}, set(recipe)
assert set(recipe["requirements"]) == {"build", "host", "run"}
assert all(isinstance(line, str) for part in (*recipe["requirements"].values(), recipe["build"]["script"]) for line in part)' "$recipe" || fault 'its structure'
    no_faults
}

@test "scripts of packaging refuse other arguments" {
    local command code
    mkdir empty && cd empty
    for command in 'archive --help' 'archive one two' 'tree' 'tree --oldest' 'tree --newest folder' 'tree one two' 'deb trixie one two' 'deb --trixie' 'wheel one two' 'wheel --newest'; do
        code=0
        # shellcheck disable=SC2086 # words
        "$SUPPLE_SOURCE"/packaging/$command > said.txt 2>&1 || code=$?
        [[ $code = 2 && $(< said.txt) == *'usage: packaging/'"${command%% *}"* ]] || fault "$command: exit $code: $(< said.txt)"
    done
    [ "$(ls)" = said.txt ] || fault "$(ls)"
    no_faults
}

@test "the archive has what its programs need, and a licence for it" {
    local archive file name
    archive=$(find "$SUPPLE_SOURCE/build-archive" -maxdepth 1 -name 'supple-*-linux.tar.gz' 2> /dev/null | head -n 1)
    [ -n "$archive" ] || skip 'no archive by packaging/archive in build-archive'
    tar -xf "$archive" && cd supple-* || fault 'it does not unpack'
    [ "$(env -u LD_LIBRARY_PATH bin/modes --version | head -n 1)" = "$(modes --version | head -n 1)" ] || fault 'the version'
    for file in "$SUPPLE_BUILD"/tools/*; do
        [ ! -f "$file" ] || [ ! -x "$file" ] || [ -x "bin/${file##*/}" ] || fault "no bin/${file##*/}"
    done
    for file in bin/* lib/libsupple.so.0; do
        [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
        env -u LD_LIBRARY_PATH ldd "$file" | awk '/=>/ { print $1, $3 }' | while read -r name path; do
            case $name in
            libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libgcc_s.so.*) ;;
            *) [[ $path == "$PWD/"* ]] || echo "$file takes $name from $path" ;;
            esac
        done
    done > foreign.txt
    [ ! -s foreign.txt ] || fault "$(< foreign.txt)"
    # named as in Debian: libopenblas0-openmp, libmetis5, liblapacke-dev …
    for name in libopenblas libgfortran libamd libmetis libarpack libpng libsndfile libfreetype libfontconfig liblapacke libjansson nettle-dev; do
        ls licences/"$name"* > said.txt 2>&1 || fault "no licence of $name"
    done
    grep -q 'common-licenses/GPL' -r licences && ls licences/GPL* > said.txt 2>&1 || fault 'no text of the GPL'
    no_faults
}

@test "every installed file is in one Debian package" {
    local root library file pattern patterns count
    install_build
    patterns=$(cat "$SUPPLE_SOURCE"/debian/*.install)
    (cd "$root" && find . -type f -o -type l) | sed "s|^\./|usr/|; s|^usr/lib/$(uname -m)-[^/]*/|usr/lib/triplet/|; s|^usr/lib64/|usr/lib/triplet/|; s|^usr/lib/libsupple|usr/lib/triplet/libsupple|; s|^usr/lib/supple/|usr/lib/triplet/supple/|; s|^usr/lib/pkgconfig|usr/lib/triplet/pkgconfig|" > files.txt
    [ "$(wc -l < files.txt)" -gt 100 ] || fault "only $(wc -l < files.txt) files"
    set -f
    while read -r file; do
        count=0
        for pattern in $patterns; do
            # shellcheck disable=SC2053
            [[ $file != $pattern && $file != $pattern/* ]] || count=$((count + 1))
        done
        [ $count = 1 ] || fault "$file is in $count packages"
    done < files.txt
    set +f
    no_faults
}

@test "the source archive has the same bytes for every user, day and place" {
    clone
    git clone -q copy other
    mkdir first second
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C copy/scripts/release --archive first > said.txt 2>&1) || fault "$(< said.txt)"
    (umask 002 && TZ=America/Lima other/scripts/release --archive second > said.txt 2>&1) || fault "$(< said.txt)"
    for file in first/*; do
        same_bytes "$file" "second/${file##*/}" archive
        [ "$(< said.txt)" = "$(cd second && sha256sum "${file##*/}")" ] || fault "$(< said.txt)"
        [ -z "$(tar -tvf "$file" | awk '$1 !~ /^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx)$/ || $2 != "root/root"')" ] || fault 'rights or owners'
        [[ $file =~ /supple-[0-9.]+\.tar\.gz$ ]] || fault "$file"
    done
    no_faults
}

# no_release CODE PATTERN ARGUMENT…: the script refuses, and leaves everything as it was.
no_release() {
    local want=$1 pattern=$2 code=0 before
    shift 2
    before=$(git -C copy rev-parse HEAD; git -C copy status --porcelain; ls out)
    copy/scripts/release "$@" > said.txt 2>&1 || code=$?
    [ "$code" = "$want" ] || fault "release $*: exit $code: $(< said.txt)"
    [[ $(< said.txt) =~ $pattern ]] || fault "release $*: $(< said.txt)"
    [ "$before" = "$(git -C copy rev-parse HEAD; git -C copy status --porcelain; ls out)" ] || fault "release $*: something has changed"
}

@test "a release: version, changelog, tag and archive; what is not fit is refused" {
    clone
    mkdir out
    out=$PWD/out
    sed -i '/^## Unreleased/a\\n### Added\n\n- Something new.' copy/CHANGELOG.md
    no_release 3 'changes that are not committed' 9.8.7 "$out"
    git -C copy commit -qam 'something new'
    no_release 2 usage
    no_release 2 '9.8 is not three numbers' 9.8 "$out"
    no_release 2 '0.0.1 is before' 0.0.1 "$out"
    no_release 2 'no folder' 9.8.7 "$out/nowhere"
    no_release 3 'has a section|there is a tag' "$(version_of meson.build "^project\(.* version: '([^']*)'.*")" "$out"
    SOURCE_DATE_EPOCH=1900000000 copy/scripts/release 9.8.7 "$out" > said.txt 2>&1 || fault "$(< said.txt)"
    [ "$(git -C copy log -1 --format=%s v9.8.7)" = 'release: version 9.8.7' ] || fault "$(git -C copy log -1)"
    [ "$(git -C copy cat-file -t v9.8.7)" = tag ] || fault 'a tag without a message'
    [[ $(git -C copy tag -l --format='%(contents)' v9.8.7) == 'Supple 9.8.7'*'Something new.'* ]] || fault 'the message of the tag'
    tar -xf out/supple-9.8.7.tar.gz || fault 'no archive'
    [ "$(grep -n -m 2 '^## ' supple-9.8.7/CHANGELOG.md | cut -d: -f2 | paste -sd' ')" = '## Unreleased ## 9.8.7, 2030-03-17' ] || fault "$(grep -m 3 '^## ' supple-9.8.7/CHANGELOG.md)"
    [ -z "$(git -C copy status --porcelain)$(find out -name '*.part')" ] || fault 'litter'
    # all versions in it are new
    (
        SUPPLE_SOURCE=$PWD/supple-9.8.7
        for file in 'meson.build:^project\(.* version: .([0-9.]*).*' 'python/supple/__init__.py:^__version__ = .([0-9.]*).*' 'CITATION.cff:^version: (.*)' 'packaging/conda/recipe.yaml:^  version: .([0-9.]+).$' \
            'debian/changelog:^supple \(([0-9.]*)-.*' 'packaging/spack/packages/supple/package.py:^    version\(.([0-9.]+)., tag=.*' 'include/supple/status.h:^.* .([0-9.]*).: the version of the library.*'; do
            [ "$(version_of "${file%%:*}" "${file#*:}")" = 9.8.7 ] || echo "$file"
        done
        [ "$(sed -nE 's/^#define SUPPLE_VERSION_(MAJOR|MINOR|PATCH) //p' "$SUPPLE_SOURCE/include/supple/status.h" 2> /dev/null | paste -sd.)" = 9.8.7 ] || echo status.h
        grep -qx 'date-released: 2030-03-17' "$SUPPLE_SOURCE/CITATION.cff" || echo date-released
        ! command -v dpkg-parsechangelog > /dev/null || [ "$(dpkg-parsechangelog -l "$SUPPLE_SOURCE/debian/changelog" -S Version)" = 9.8.7-1 ] || echo parsechangelog
    ) > old.txt
    [ ! -s old.txt ] || fault "$(< old.txt)"
    no_release 3 'there is a tag v9.8.7' 9.8.7 "$out"
    no_release 1 'nothing under Unreleased' 9.8.8 "$out"
    no_faults
}
