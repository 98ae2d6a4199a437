# SPDX-License-Identifier: Apache-2.0
# y = 2 x + y on the first OpenCL device, by a kernel from the pack that is named:
#
#     kiln compile saxpy.cl -o saxpy.kiln --build-options -cl-std=CL1.2
#     julia saxpy.jl saxpy.kiln
#
# Calls the functions of kiln.h, launch.h and report.h by ccall, without a package.

const KILN = "libkiln_runtime.so.0"  # all versions 0.x
const INTERFACE = 1                  # kiln_version() / 100: before 1.0, 0.2 may differ from 0.1

# C's enums, as types.h and launch.h number them.
const RUNGS = [0 => "overlay", 1 => "exact", 6 => "intermediate", 3 => "il", 4 => "source"]
const TYPES = Dict(UInt32 => 2, Int32 => 3, Float32 => 4)
const ACCESS_READ, ACCESS_BOTH = 0, 2
const QUEUE_NO_PROFILING = 2

# Structs as launch.h declares them: Julia lays out immutable structs as C does.
struct NDRange
    dimensions::Cuint
    work_items::NTuple{3,Csize_t}
    work_group::NTuple{3,Csize_t}  # zeros: Kiln chooses
    offset::NTuple{3,Csize_t}
end

struct QueueOptions
    size::Csize_t  # tells the library which members the program knows
    flags::Cuint
    priority::Cint
    throttle::Cint
    reserved::Cuint
end

"""Calls `call(error)`, a function of Kiln that fails with a status; throws its message."""
function check(call)
    error_bytes = zeros(UInt8, 4 + 4 + 1024)  # kiln_error: status, cl_error, message
    GC.@preserve error_bytes begin
        status = call(pointer(error_bytes))
        status == 0 || error(unsafe_string(pointer(error_bytes, 9)))
    end
end

"""Owns a handle. A handle keeps alive what it was made from (convention 4 of kiln.h), and any
thread may release it (7), so the collector may release handles in any order. Releasing a loader
that has an overlay may compile: then call `finalize(loader)` yourself."""
mutable struct Handle
    pointer::Ptr{Cvoid}
    function Handle(release, pointer)
        finalizer(handle -> release(handle.pointer), new(pointer))
    end
end

# For ccall: the collector keeps the handle until the call returns.
Base.unsafe_convert(::Type{Ptr{Cvoid}}, handle::Handle) = handle.pointer

"""Calls `call(out, error)`, a function of Kiln that returns a handle or an address in `out`."""
function make(call)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(error -> call(out, error))
    out[]
end

text(pointer) = pointer == C_NULL ? nothing : unsafe_string(pointer)

function open_opencl()
    version = ccall((:kiln_version, KILN), Cuint, ())
    version ÷ 100 == INTERFACE || error("this program is not for version $version of Kiln")
    pointer = make((out, error) -> ccall((:kiln_opencl_open, KILN), Cint,
        (Ptr{Cstring}, Csize_t, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), C_NULL, 0, out, error))
    Handle(p -> ccall((:kiln_opencl_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

function open_device(opencl, index)
    pointer = make((out, error) -> ccall((:kiln_device_open, KILN), Cint,
        (Ptr{Cvoid}, Csize_t, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), opencl, index, out, error))
    Handle(p -> ccall((:kiln_device_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

function info(device, name)
    GC.@preserve device text(ccall((:kiln_device_info, KILN), Ptr{UInt8}, (Ptr{Cvoid}, Cstring),
        device, name))  # the string lives as long as the device
end

function open_pack(path)
    pointer = make((out, error) -> ccall((:kiln_pack_open_file, KILN), Cint,
        (Cstring, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), path, out, error))
    Handle(p -> ccall((:kiln_pack_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

function create_loader(device, pack)
    pointer = make((out, error) -> ccall((:kiln_loader_create, KILN), Cint,
        (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), device, pack, C_NULL,
        out, error))
    Handle(p -> ccall((:kiln_loader_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

"""Loads the program's best variant. Also returns a line for each rung that was tried."""
function load(loader, program)
    report = Ref{Ptr{Cvoid}}(C_NULL)
    try
        pointer = make((out, error) -> ccall((:kiln_load, KILN), Cint,
            (Ptr{Cvoid}, Cstring, Ptr{UInt8}, Cuint, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}),
            loader, program, C_NULL, 0, out, report, error))
        lines = report_lines(report[])
        Handle(p -> ccall((:kiln_program_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer), lines
    finally  # the report is also written if the load failed
        ccall((:kiln_report_release, KILN), Cvoid, (Ptr{Cvoid},), report[])
    end
end

function report_lines(report)
    loaded = ccall((:kiln_report_rung, KILN), Cint, (Ptr{Cvoid},), report)
    milliseconds = ccall((:kiln_report_milliseconds, KILN), Cdouble, (Ptr{Cvoid},), report)
    lines = String[]
    for (rung, word) in RUNGS
        reason = text(ccall((:kiln_report_reason, KILN), Ptr{UInt8},
            (Ptr{Cvoid}, Cint, Ptr{Cint}), report, rung, C_NULL))
        reason === nothing && continue  # not reached
        took = "loaded in $(round(milliseconds, digits = 1)) ms"
        push!(lines, "$word: $(rung == loaded ? took : reason)")
    end
    lines
end

function create_kernel(program, entry)
    pointer = make((out, error) -> ccall((:kiln_kernel_create, KILN), Cint,
        (Ptr{Cvoid}, Cstring, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), program, entry, out, error))
    Handle(p -> ccall((:kiln_kernel_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

"""Sets an argument, counted from 0. Kiln refuses a type that the kernel does not declare."""
set(kernel, index, value::T) where {T<:Union{UInt32,Int32,Float32}} =
    check(error -> ccall((:kiln_kernel_set_typed, KILN), Cint,
        (Ptr{Cvoid}, Cuint, Cint, Cuint, Ptr{T}, Ptr{UInt8}), kernel, index, TYPES[T], 1,
        Ref(value), error))
set(kernel, index, buffer::Handle) =
    check(error -> ccall((:kiln_kernel_set_buffer, KILN), Cint,
        (Ptr{Cvoid}, Cuint, Ptr{Cvoid}, Ptr{UInt8}), kernel, index, buffer, error))

"""An in-order queue without time stamps."""
function create_queue(loader)
    options = Ref(QueueOptions(sizeof(QueueOptions), QUEUE_NO_PROFILING, 0, 0, 0))
    pointer = make((out, error) -> ccall((:kiln_queue_create, KILN), Cint,
        (Ptr{Cvoid}, Ptr{QueueOptions}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), loader, options, out, error))
    Handle(p -> ccall((:kiln_queue_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

"""Enqueues the kernel for `count` work-items. Does not wait."""
function launch(queue, kernel, count, arguments...)
    for (index, argument) in enumerate(arguments)
        set(kernel, index - 1, argument)
    end
    range = Ref(NDRange(1, (count, 0, 0), (0, 0, 0), (0, 0, 0)))
    GC.@preserve arguments check(error -> ccall((:kiln_launch, KILN), Cint,
        (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{NDRange}, Ptr{Ptr{Cvoid}}, Csize_t, Ptr{Ptr{Cvoid}},
            Ptr{UInt8}), queue, kernel, range, C_NULL, 0, C_NULL, error))
end

function create_buffer(loader, bytes, access)
    pointer = make((out, error) -> ccall((:kiln_buffer_create, KILN), Cint,
        (Ptr{Cvoid}, Csize_t, Cint, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), loader, bytes, access, out,
        error))
    Handle(p -> ccall((:kiln_buffer_release, KILN), Cvoid, (Ptr{Cvoid},), p), pointer)
end

"""Waits for the commands on the queue, and calls `use` with the buffer's floats, which are the
host's until it returns."""
function map_floats(use, queue, buffer, count)
    address = make((out, error) -> ccall((:kiln_buffer_map, KILN), Cint,
        (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), queue, buffer, out, error))
    try
        use(unsafe_wrap(Array, Ptr{Float32}(address), count))
    finally
        check(error -> ccall((:kiln_buffer_unmap, KILN), Cint,
            (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{UInt8}), queue, buffer, error))
    end
end

"""Returns how many results differ from the processor's."""
function saxpy(path, a = 2.0f0, count = 100_000)
    device = open_device(open_opencl(), 0)
    loader = create_loader(device, open_pack(path))
    program, lines = load(loader, "saxpy")
    println(info(device, "device_name"))
    foreach(line -> println("  ", line), lines)  # what was loaded, and why nothing better
    kernel = create_kernel(program, "saxpy")
    queue = create_queue(loader)
    x = create_buffer(loader, count * sizeof(Float32), ACCESS_READ)
    y = create_buffer(loader, count * sizeof(Float32), ACCESS_BOTH)

    map_floats(xs -> xs .= 0:count-1, queue, x, count)
    map_floats(ys -> ys .= 1, queue, y, count)
    launch(queue, kernel, count, a, x, y, UInt32(count))
    wrong = map_floats(ys -> sum(ys .!= a .* (0:count-1) .+ 1), queue, y, count)
    println("$count numbers, $wrong wrong")
    wrong
end

function main()
    if length(ARGS) != 1
        println(stderr, "usage: saxpy.jl PACK")
        return 2
    end
    try
        saxpy(ARGS[1]) == 0 ? 0 : 1
    catch fault
        fault isa ErrorException || rethrow()
        println(stderr, fault.msg)
        1
    end
end

exit(main())
