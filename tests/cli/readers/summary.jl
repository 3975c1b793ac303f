# What supple.jl reads, as summary.py writes it: julia summary.jl SUPPLE.JL FILE…
include(abspath(ARGS[1]))
using Printf

const NAMES = Dict(Float64 => "f8", Float32 => "f4", Int64 => "i8", Int32 => "i4", UInt8 => "u1")
for path in ARGS[2:end]
    tag = basename(path)
    file = Supple.load(path; partial = startswith(tag, "cut"))
    haskey(file, "result") && println(tag, " kind ", file["meta"]["kind"], " ", file["result"]["sha256"])
    for (name, array) in file
        name in ("meta", "result") && continue
        name = replace(name, r"\W" => "_")
        if array isa String
            println(tag, " ", name, " text ", array)
            continue
        end
        shape = ndims(array) == 0 ? [1] : collect(size(array))
        while length(shape) > 1 && shape[end] == 1
            pop!(shape)
        end
        values = abs.(Float64.(vec(permutedims(array, ndims(array):-1:1))))
        sum = isempty(values) ? 0.0 : Base.sum(values .* (1 .+ (0:length(values)-1) .% 7))
        @printf("%s %s %s %s %.10e\n", tag, name, NAMES[eltype(array)], join(shape, "x"), sum)
    end
end
