"""What the compiler does not offer by itself: vectors as values, and numbers that several threads change.

**Vectors.** The compiler vectorises loops over float32 by itself. It does not find the instruction that multiplies
four 8-bit integers by four others and adds up, which is what the fast engine lives on (products.py). So a kernel may
hold vectors in variables: sixteen float32, or sixteen int32. Each lane is a total, or before a product one float32, two
bfloat16 (in a uint16 each) or four int8. The array that a function is given decides which.

    load(array, i)    sixteen lanes, from array[i] on
    spread(array, i)  array[i] in every lane; of uint16, array[i] and the next; of int8, four of them
    fill(array, n)    the total n in every lane, for products of such arrays
    dot(total, w, x)  in each lane total + w x; of int8, total + w0 x0 + w1 x1 + w2 x2 + w3 x3, with w read as unsigned
    store(array, i, total)  into float32, from array[i] on
    fetch(array, i)  asks for what is at array[i] before it is needed; it may lie beyond the array's end
    transpose(array, i, step, into, j, wide)  16 rows of 16 uint32, `step` apart, become columns of others, `wide` apart

**Threads.** `board` is an array of int64 that several threads look at (team.py).

    peek(board, i)            board[i], and all that was written before it was
    poke(board, i, n)         board[i] = n, after all that was written before
    add(board, i, n)          board[i] += n, undivided
    swap(board, i, old, new)  board[i] = new if it is old, undivided -> was it?
    pause()                   what a loop that waits should do; give_way() lets another thread have the core

Nothing here checks an index. Notebooks 08 and 09.
"""

import os

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, models, register_model

LANES = 16

# Processors with an instruction for `dot` of 8-bit integers: what LLVM calls their feature, what people call it, the
# instruction, and how many lanes it takes at once. Others do without: the answer is the same, and slower than float32.
# Left out: ARM's older instruction (dotprod), both of whose sides are signed.
INSTRUCTIONS = (
    ("avx512vnni", "AVX-512 VNNI", "llvm.x86.avx512.vpdpbusd.512", 16),
    ("avxvnni", "AVX-VNNI", "llvm.x86.avx512.vpdpbusd.256", 8),
    ("i8mm", "ARM I8MM", "llvm.aarch64.neon.usdot.v4i32.v16i8", 4),
)


def find_instruction():
    """-> the row of INSTRUCTIONS that this processor has, or None."""
    named = config.CPU_FEATURES  # Numba can be told to compile for another processor, or without AVX
    features = (get_host_cpu_features() if named is None else named).split(",")
    return next((row for row in INSTRUCTIONS if f"+{row[0]}" in features), None)


INSTRUCTION = find_instruction()
BFLOAT16 = "+avx512bf16" in (get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES).split(",")

I8, I32, I64, F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()


class BFloat16(ir.Type):
    """llvmlite has no such type; it only has to be spelled."""

    def _to_string(self):
        return "bfloat"

    def __eq__(self, other):
        return isinstance(other, BFloat16)

    def __hash__(self):
        return hash(BFloat16)


class Vector(types.Type):
    """Numba's type of sixteen lanes of one kind of number."""

    def __init__(self, lane):
        self.lane = lane
        super().__init__(f"Vector({lane})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """In a register."""

    def __init__(self, manager, vector):
        super().__init__(manager, vector, ir.VectorType(F32 if vector == FLOATS else I32, LANES))


INTEGERS, FLOATS = Vector(types.int32), Vector(types.float32)


def vector_of(array):
    return FLOATS if array.dtype == types.float32 else INTEGERS


def address(context, builder, kind, array, index, pointer):
    """Of array[index], as a pointer of another type."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), pointer)


def in_every_lane(builder, number):
    """A number of LLVM -> a vector."""
    vector = ir.VectorType(number.type, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, I32(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, LANES), [0] * LANES))


@intrinsic
def load(typing, array, index):
    def code(context, builder, signature, arguments):
        pointer = context.get_value_type(signature.return_type).as_pointer()
        return builder.load(address(context, builder, array, *arguments, pointer), align=1)

    return vector_of(array)(array, types.intp), code


@intrinsic
def spread(typing, array, index):
    def code(context, builder, signature, arguments):
        pointer = context.get_value_type(signature.return_type).element.as_pointer()
        return in_every_lane(builder, builder.load(address(context, builder, array, *arguments, pointer), align=1))

    return vector_of(array)(array, types.intp), code


@intrinsic
def fill(typing, array, number):
    vector = INTEGERS if array.dtype == types.int8 else FLOATS

    def code(context, builder, signature, arguments):
        return in_every_lane(builder, context.cast(builder, arguments[1], number, vector.lane))

    return vector(array, number), code


@intrinsic
def dot(typing, total, w, x):
    def code(context, builder, signature, arguments):
        if total == FLOATS and w == INTEGERS:
            return (dot_bfloat16 if BFLOAT16 else dot_halves)(builder, *arguments)
        if total == FLOATS:
            kind = arguments[0].type
            fma = declare(builder, "llvm.fma.v16f32", kind, kind, kind, kind)
            return builder.call(fma, [arguments[1], arguments[2], arguments[0]])
        return (dot_by_instruction if INSTRUCTION else dot_by_bytes)(builder, *arguments)

    return total(total, w, x), code


def declare(builder, name, result, *arguments):
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


def dot_by_instruction(builder, total, w, x):
    """The processor's instruction, as often as it takes for sixteen lanes."""
    _, _, name, width = INSTRUCTION
    part, four = ir.VectorType(I32, width), ir.VectorType(I8, 4 * width)
    operand = four if name.startswith("llvm.aarch64") else part
    instruction = declare(builder, name, part, part, operand, operand)

    def lanes(vector, numbers):
        return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(I32, len(numbers)), numbers))

    found = total
    for first in range(0, LANES, width):
        here = list(range(first, first + width))
        parts = [lanes(vector, here) for vector in (total, w, x)]
        done = builder.call(instruction, [parts[0], *(builder.bitcast(p, operand) for p in parts[1:])])
        if width == LANES:
            return done
        wide = lanes(done, [i % width for i in range(LANES)])
        choice = [LANES + i if i in here else i for i in range(LANES)]
        found = builder.shuffle_vector(found, wide, ir.Constant(ir.VectorType(I32, LANES), choice))
    return found


def dot_bfloat16(builder, total, w, x):
    """Two bfloat16 times two, added to a float32."""
    pairs = ir.VectorType(BFloat16(), 2 * LANES)
    instruction = declare(builder, "llvm.x86.avx512bf16.dpbf16ps.512", total.type, total.type, pairs, pairs)
    return builder.call(instruction, [total, builder.bitcast(w, pairs), builder.bitcast(x, pairs)])


def dot_halves(builder, total, w, x):
    """The same by multiplications that every processor has: a bfloat16 is the upper half of a float32."""
    upper, sixteen = ir.Constant(w.type, [0xFFFF0000] * LANES), ir.Constant(w.type, [16] * LANES)
    for half in (lambda v: builder.shl(v, sixteen), lambda v: builder.and_(v, upper)):
        ours, theirs = (builder.bitcast(half(v), total.type) for v in (w, x))
        total = builder.fadd(total, builder.fmul(ours, theirs))
    return total


def dot_by_bytes(builder, total, w, x):
    """Shifts and multiplications that every processor has."""

    def number(n):
        return ir.Constant(total.type, [n] * LANES)

    for byte in range(4):
        unsigned = builder.and_(builder.lshr(w, number(8 * byte)), number(255))
        signed = builder.ashr(builder.shl(x, number(24 - 8 * byte)), number(24))
        total = builder.add(total, builder.mul(unsigned, signed))
    return total


@intrinsic
def store(typing, array, index, total):
    def code(context, builder, signature, arguments):
        *place, lanes = arguments
        floats = ir.VectorType(F32, LANES)
        lanes = lanes if total == FLOATS else builder.sitofp(lanes, floats)
        builder.store(lanes, address(context, builder, array, *place, floats.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, total), code


@intrinsic
def fetch(typing, array, index):
    def code(context, builder, signature, arguments):
        place = address(context, builder, array, *arguments, I8.as_pointer())
        reading, second_cache, data = I32(0), I32(2), I32(1)
        function = declare(builder, "llvm.prefetch.p0", ir.VoidType(), place.type, I32, I32, I32)
        builder.call(function, [place, reading, second_cache, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), code


@intrinsic
def transpose(typing, array, i, step, into, j, wide):
    """Rows and lanes change places bit by bit of their numbers: first neighbours, then twos, fours and eights."""

    def code(context, builder, signature, arguments):
        source, i, step, target, j, wide = arguments
        pointer = ir.VectorType(I32, LANES).as_pointer()

        def place(kind, where, first, distance, row):
            index = builder.add(first, builder.mul(distance, I64(row)))
            return address(context, builder, kind, where, index, pointer)

        rows = [builder.load(place(array, source, i, step, row), align=1) for row in range(LANES)]
        for bit in (1, 2, 4, 8):
            for row in (row for row in range(LANES) if not row & bit):
                low, high = rows[row], rows[row + bit]
                keeps_low = [LANES + lane - bit if lane & bit else lane for lane in range(LANES)]
                keeps_high = [LANES + lane if lane & bit else lane + bit for lane in range(LANES)]
                for changed, lanes in ((row, keeps_low), (row + bit, keeps_high)):
                    choice = ir.Constant(ir.VectorType(I32, LANES), lanes)
                    rows[changed] = builder.shuffle_vector(low, high, choice)
        for row in range(LANES):
            builder.store(rows[row], place(into, target, j, wide, row), align=1)
        return context.get_dummy_value()

    size = types.intp
    return types.void(array, size, size, into, size, size), code


# Numbers that several threads change


@intrinsic
def peek(typing, board, i):
    def code(context, builder, signature, arguments):
        return builder.load_atomic(address(context, builder, board, *arguments, I64.as_pointer()), "acquire", 8)

    return types.int64(board, types.intp), code


@intrinsic
def poke(typing, board, i, n):
    def code(context, builder, signature, arguments):
        *place, number = arguments
        builder.store_atomic(number, address(context, builder, board, *place, I64.as_pointer()), "release", 8)
        return context.get_dummy_value()

    return types.void(board, types.intp, types.int64), code


@intrinsic
def add(typing, board, i, n):
    def code(context, builder, signature, arguments):
        *place, number = arguments
        builder.atomic_rmw("add", address(context, builder, board, *place, I64.as_pointer()), number, "acq_rel")
        return context.get_dummy_value()

    return types.void(board, types.intp, types.int64), code


@intrinsic
def swap(typing, board, i, old, new):
    def code(context, builder, signature, arguments):
        *place, expected, number = arguments
        where = address(context, builder, board, *place, I64.as_pointer())
        found = builder.cmpxchg(where, expected, number, "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(board, types.intp, types.int64, types.int64), code


@intrinsic
def pause(typing):
    def code(context, builder, signature, arguments):
        if "x86" in builder.module.triple:
            builder.call(declare(builder, "llvm.x86.sse2.pause", ir.VoidType()), [])
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def give_way(typing):
    def code(context, builder, signature, arguments):
        if os.name == "posix":
            builder.call(declare(builder, "sched_yield", I32), [])
        elif "x86" in builder.module.triple:  # about as long
            for _ in range(16):
                builder.call(declare(builder, "llvm.x86.sse2.pause", ir.VoidType()), [])
        return context.get_dummy_value()

    return types.void(), code
