# Reads Supple files (formats/container.md) with nothing but Julia's Base.
#
#     include("supple.jl")
#     f = Supple.load("basis.npz")     # Dict: f["U"], f["meta"]["mass"], f["result"]["sha256"]
#     f = Supple.load("traj.npz")      # blocks joined: f["q"] is frames × r; partial=true for a truncated file
#
# Arrays have their shape and element type; vertex numbers start at 0, as in the file. Only stored members are read: all files
# of Supple and numpy.savez, not savez_compressed. Checksums are not verified.
module Supple

const SERIES = ("time", "q", "qdot", "u", "udot", "energy", "estimate", "energy_estimate", "residual", "reaction", "pose", "twist", "wrench", "counts", "hand", "coupling", "device", "contact/count",
    "contact/body", "contact/point", "contact/place", "contact/force", "motion", "status", "iterations", "parameters", "mean", "rms", "least", "largest")
const TYPES = Dict("<f8" => Float64, "<f4" => Float32, "<i8" => Int64, "<i4" => Int32, "|u1" => UInt8)

number(bytes) = foldr((byte, sum) -> sum << 8 | Int64(byte), bytes; init = Int64(0))

# ---- .npy ----

function array(raw)
    raw[1:7] == UInt8[0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1] || error("not an .npy array of version 1")
    start = 10 + number(raw[9:10])
    header = String(raw[11:start])
    type = match(r"'descr': *'([^']*)'", header)
    fortran = occursin(r"'fortran_order': *True", header)
    shape = Tuple(parse(Int, m.match) for m in eachmatch(r"\d+", match(r"'shape': *\(([^)]*)\)", header)[1]))
    type !== nothing || return nothing # a structured type: not ours
    startswith(type[1], "|S") && return String(raw[start+1:end])
    haskey(TYPES, type[1]) || return nothing
    values = collect(ltoh.(reinterpret(TYPES[type[1]], raw[start+1:end])))
    length(values) == prod(shape) || error("its values do not fill its shape")
    length(shape) < 2 && return values
    return fortran ? reshape(values, shape) : permutedims(reshape(values, reverse(shape)), length(shape):-1:1)
end

# ---- JSON ----

mutable struct Text
    bytes::Vector{UInt8}
    at::Int
end

peek(t) = (while Char(t.bytes[t.at]) in " \t\r\n"; t.at += 1 end; Char(t.bytes[t.at]))
take(t, c) = peek(t) == c ? (t.at += 1; true) : false

function text(t)
    bytes = UInt8[]
    take(t, '"') || error("JSON: expected a string")
    while t.bytes[t.at] != UInt8('"')
        byte = t.bytes[t.at]
        t.at += 1
        byte == UInt8('\\') || (push!(bytes, byte); continue)
        c = Char(t.bytes[t.at])
        t.at += 1
        if c == 'u'
            code = parse(UInt32, String(t.bytes[t.at:t.at+3]); base = 16)
            t.at += 4
            if 0xd800 <= code < 0xdc00 # the first of a surrogate pair
                code = 0x10000 + (code - 0xd800) << 10 + parse(UInt32, String(t.bytes[t.at+2:t.at+5]); base = 16) - 0xdc00
                t.at += 6
            end
            append!(bytes, codeunits(string(Char(code))))
        else
            push!(bytes, UInt8(get(Dict('n' => '\n', 't' => '\t', 'r' => '\r', 'b' => '\b', 'f' => '\f'), c, c)))
        end
    end
    t.at += 1
    return String(bytes)
end

function json(t)
    c = peek(t)
    c == '"' && return text(t)
    if take(t, '{')
        object = Dict{String,Any}()
        while !take(t, '}')
            key = text(t)
            take(t, ':') || error("JSON: expected a colon")
            object[key] = json(t)
            take(t, ',')
        end
        return object
    elseif take(t, '[')
        list = Any[]
        while !take(t, ']')
            push!(list, json(t))
            take(t, ',')
        end
        return list
    end
    stop = findnext(b -> Char(b) in ",]} \t\r\n", t.bytes, t.at)
    word = String(t.bytes[t.at:stop-1])
    t.at = stop
    word in ("true", "false", "null") && return Dict("true" => true, "false" => false, "null" => nothing)[word]
    return something(tryparse(Int64, word), parse(Float64, word))
end

# ---- the archive ----

# One member after the signature of its local header; nothing if the file ends before the member does.
function member(stream)
    head = read(stream, 26)
    length(head) == 26 || return nothing
    size, name_length, extra_length = number(head[19:22]), number(head[23:24]), number(head[25:26])
    name, extra = String(read(stream, name_length)), read(stream, extra_length)
    number(head[5:6]) == 0 || error("member $name is compressed")
    wide = size == 0xffffffff
    while wide && length(extra) >= 12 && number(extra[1:2]) != 1
        extra = extra[5+number(extra[3:4]):end]
    end
    wide && (size = number(extra[5:12]))
    raw = read(stream, size)
    behind = head[3] & 8 == 0 ? 0 : wide ? 24 : 16 # the record behind the data, where it is announced
    length(raw) == size && length(read(stream, behind)) == behind || return nothing
    return replace(name, r"\.npy$" => ""), array(raw)
end

function load(path; partial = false)
    file, blocks, whole = Dict{String,Any}(), Dict{String,Vector{Any}}(), false
    open(path) do stream
        while !eof(stream)
            signature = number(read(stream, 4))
            whole = signature in (0x02014b50, 0x06054b50) # the directory: all members were read
            whole && break
            signature == 0x04034b50 || (partial && break) || error("$path: not an .npz archive, or damaged")
            found = member(stream)
            found === nothing && break
            name, values = found
            parts = rsplit(name, '/'; limit = 2)
            if name in ("meta", "result") && (isempty(file) || haskey(file, "meta"))
                file[name] = json(Text(values, 1))
            elseif length(parts) == 2 && parts[1] in SERIES && all(isdigit, parts[2])
                push!(get!(blocks, parts[1], Any[]), values)
            else
                file[name] = values
            end
        end
    end
    whole || partial || error("$path: cut short")
    meta = get(file, "meta", nothing)
    meta === nothing || startswith(meta["format_version"], "1.") || error("$path: format version $(meta["format_version"])")
    if meta !== nothing && meta["kind"] in ("trajectory", "scene_trajectory", "ensemble")
        expected = if meta["kind"] == "scene_trajectory"
            6 + 2 * any(body["r"] > 0 for body in meta["bodies"]) + 3 * meta["coupled"] + 5 * meta["contacts"]
        elseif meta["kind"] == "ensemble"
            frames = meta["frames"] > 0
            3 + haskey(meta, "columns") + (frames && meta["r"] > 0) + haskey(meta, "rates") + (frames && meta["points"] > 0) + 4 * haskey(meta, "statistics")
        else
            2 + 2 * (meta["r"] > 0) + 2 * (meta["points"] > 0) + haskey(meta, "estimates") + haskey(meta, "energy_estimates") + haskey(meta, "residuals") + haskey(meta, "reactions") + 2 * haskey(meta, "frame")
        end
        length(blocks) == expected || error("$path: the $(meta["kind"]) has no whole block")
    end
    count = mapreduce(length, min, values(blocks); init = typemax(Int))
    for (name, list) in blocks
        file[name] = cat(list[1:count]...; dims = 1)
    end
    return file
end

end
