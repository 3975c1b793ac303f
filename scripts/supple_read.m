function file = supple_read(path, partial)
% SUPPLE_READ  Reads a Supple file (formats/container.md) into a struct, in MATLAB or Octave, without toolboxes.
%
%   f = supple_read('basis.npz');   f.U, f.meta.mass, f.result.sha256
%   f = supple_read('traj.npz');    f.q is frames-by-r: the blocks are joined
%   f = supple_read('traj.npz', true) reads a trajectory or motion that was cut up to its last whole block.
%
% Arrays have their class (double, single, int64, int32, uint8) and their shape; a vector is a column. Vertex numbers start
% at 0, as in the file. A slash in a name becomes an underscore: f.surface_vertices. Sparse files have f.matrix too.
% Only stored members are read: all files of Supple, numpy.savez, but not savez_compressed. Checksums are not looked at.
if nargin < 2
    partial = false;
end
stream = fopen(path, 'r', 'ieee-le');
if stream < 0
    error('supple:open', '%s: cannot open', path);
end
closer = onCleanup(@() fclose(stream));
series = {'time', 'q', 'qdot', 'u', 'udot', 'energy', 'estimate', 'energy_estimate', 'residual', 'reaction', 'pose', 'twist', 'wrench', 'counts', 'hand', 'coupling', 'device', ...
    'contact/count', 'contact/body', 'contact/point', 'contact/place', 'contact/force', 'motion', 'status', 'iterations', 'parameters', 'mean', 'rms', 'least', 'largest'};
blocks = struct();
file = struct();
first = true;
whole = false;
while true
    signature = fread(stream, 1, 'uint32=>double');
    if isempty(signature)
        break
    elseif any(signature == [hex2dec('02014b50'), hex2dec('06054b50')]) % the directory: all members were read
        whole = true;
        break
    elseif signature ~= hex2dec('04034b50')
        error('supple:format', '%s: not an .npz archive, or damaged', path);
    end
    [name, array, ok] = read_member(stream, path);
    if ~ok
        break
    end
    slash = find(name == '/', 1, 'last');
    if first && strcmp(name, 'meta')
        file.meta = jsondecode(char(array'));
        if sscanf(file.meta.format_version, '%d', 1) ~= 1
            error('supple:version', '%s: format version %s', path, file.meta.format_version);
        end
    elseif strcmp(name, 'result') && isfield(file, 'meta')
        file.result = jsondecode(char(array'));
    elseif ~isempty(slash) && any(strcmp(name(1:slash - 1), series)) && ~isempty(regexp(name(slash + 1:end), '^\d+$', 'once'))
        key = strrep(name(1:slash - 1), '/', '_');
        if ~isfield(blocks, key)
            blocks.(key) = {};
        end
        blocks.(key){end + 1} = array;
    else
        file.(regexprep(name, '\W', '_')) = array;
    end
    first = false;
end
if ~whole && ~partial
    error('supple:cut', '%s: cut short', path);
end
keys = fieldnames(blocks);
count = inf;
for i = 1:numel(keys)
    count = min(count, numel(blocks.(keys{i})));
end
if isfield(file, 'meta') && any(strcmp(file.meta.kind, {'trajectory', 'scene_trajectory', 'ensemble'}))
    if strcmp(file.meta.kind, 'scene_trajectory')
        expected = 6 + 2 * any([file.meta.bodies.r] > 0) + 3 * file.meta.coupled + 5 * file.meta.contacts;
    elseif strcmp(file.meta.kind, 'ensemble')
        frames = file.meta.frames > 0;
        expected = 3 + isfield(file.meta, 'columns') + (frames && file.meta.r > 0) + isfield(file.meta, 'rates') + (frames && file.meta.points > 0) + 4 * isfield(file.meta, 'statistics');
    else
        expected = 2 + 2 * (file.meta.r > 0) + 2 * (file.meta.points > 0) + isfield(file.meta, 'estimates') + isfield(file.meta, 'energy_estimates') + isfield(file.meta, 'residuals') + isfield(file.meta, 'reactions') + 2 * isfield(file.meta, 'frame');
    end
    if numel(keys) < expected
        error('supple:cut', '%s: the %s has no whole block', path, file.meta.kind);
    end
end
for i = 1:numel(keys)
    file.(keys{i}) = cat(1, blocks.(keys{i}){1:count});
end
if isfield(file, 'indptr') && isfield(file, 'indices') % rows of csr are columns of csc; ours are symmetric
    starts = double(file.indptr);
    line = zeros(numel(file.indices), 1);
    for i = 1:numel(starts) - 1
        line(starts(i) + 1:starts(i + 1)) = i;
    end
    other = double(file.indices) + 1;
    extent = double(file.shape);
    if strcmp(file.format, 'csc')
        file.matrix = sparse(other, line, file.data, extent(1), extent(2));
    else
        file.matrix = sparse(line, other, file.data, extent(1), extent(2));
    end
end
end

function [name, array, ok] = read_member(stream, path)
% Behind the signature of a local header. ok is false where the file ends before the member does.
name = '';
array = [];
ok = false;
head = fread(stream, 26, 'uint8=>double');
if numel(head) < 26
    return
end
number = @(bytes) sum(bytes(:) .* 256 .^ (0:numel(bytes) - 1)');
flags = number(head(3:4));
method = number(head(5:6));
bytes = number(head(19:22));
name = fread(stream, [1, number(head(23:24))], 'uint8=>char');
extra = fread(stream, number(head(25:26)), 'uint8=>double');
wide = bytes == 2 ^ 32 - 1;
at = 1;
while wide && at + 11 <= numel(extra)
    if number(extra(at:at + 1)) == 1
        bytes = number(extra(at + 4:at + 11));
        break
    end
    at = at + 4 + number(extra(at + 2:at + 3));
end
if method ~= 0
    error('supple:compressed', '%s: member %s is compressed', path, name);
end
name = regexprep(name, '\.npy$', '');
start = ftell(stream);
magic = fread(stream, 10, 'uint8=>double');
if numel(magic) < 10
    return
elseif ~isequal(magic(1:7)', [147, double('NUMPY'), 1])
    error('supple:format', '%s: member %s is not an .npy array of version 1', path, name);
end
header = fread(stream, [1, number(magic(9:10))], 'uint8=>char');
type = regexp(header, '''descr'': *''([^'']*)''', 'tokens', 'once');
order = regexp(header, '''fortran_order'': *(True|False)', 'tokens', 'once');
shape = regexp(header, '''shape'': *\(([^)]*)\)', 'tokens', 'once');
if isempty(type) || isempty(order) || isempty(shape)
    return
end
shape = sscanf(strrep(shape{1}, ',', ' '), '%d')';
classes = {'<f8', 'double'; '<f4', 'single'; '<i8', 'int64'; '<i4', 'int32'; '|u1', 'uint8'};
found = find(strcmp(classes(:, 1), type{1}));
if ~isempty(found)
    array = fread(stream, prod(shape), ['*', classes{found, 2}]);
    ok = numel(array) == prod(shape);
elseif strncmp(type{1}, '|S', 2)
    array = fread(stream, [1, sscanf(type{1}(3:end), '%d')], 'uint8=>char');
    ok = true;
else % a type that Supple does not use
    ok = true;
end
if ok && numel(shape) > 1
    if strcmp(order{1}, 'True')
        array = reshape(array, shape);
    else
        array = permute(reshape(array, fliplr(shape)), numel(shape):-1:1);
    end
end
behind = 0; % the record behind the data, where the header announces one
if bitand(flags, 8)
    behind = 16 + 8 * wide;
end
ok = ok && fseek(stream, 0, 'eof') == 0 && ftell(stream) >= start + bytes + behind;
if ok
    fseek(stream, start + bytes + behind, 'bof');
end
end
