function summary(varargin)
% What supple_read.m reads, as summary.py writes it; supple_read.m on the path.
for k = 1:nargin
    tag = regexprep(varargin{k}, '.*/', '');
    file = supple_read(varargin{k}, strncmp(tag, 'cut', 3));
    if isfield(file, 'result')
        printf('%s kind %s %s\n', tag, file.meta.kind, file.result.sha256);
    end
    names = setdiff(fieldnames(file)', {'meta', 'result', 'matrix'});
    types = struct('double', 'f8', 'single', 'f4', 'int64', 'i8', 'int32', 'i4', 'uint8', 'u1');
    for i = 1:numel(names)
        array = file.(names{i});
        if ischar(array)
            printf('%s %s text %s\n', tag, names{i}, array);
            continue
        end
        extent = size(array);
        while numel(extent) > 1 && extent(end) == 1
            extent(end) = [];
        end
        values = abs(double(reshape(permute(array, ndims(array):-1:1), [], 1)));
        total = sum(values .* (1 + mod((0:numel(values) - 1)', 7)));
        printf('%s %s %s %s %.10e\n', tag, names{i}, types.(class(array)), strjoin(arrayfun(@(x) sprintf('%d', x), extent, 'UniformOutput', false), 'x'), total);
    end
end
end
