"""A run-time library on machine words for the designs of CXXRTL, instead of its own.

CXXRTL's library holds every value as a list of 32-bit chunks and builds each expression from templates, which are
most of a compiler's work. Where no value is wider than 128 bits and only the operations below occur, the same text
compiles against `RUNTIME` in a fraction of the time, and it runs faster. A test compares every operation with the
library's.
"""

from __future__ import annotations

import re

OPERATIONS = frozenset(
    {
        "and_uu", "or_uu", "xor_uu", "xnor_uu", "add_uu", "sub_uu", "mul_uu",
        "and_ss", "or_ss", "xor_ss", "xnor_ss", "add_ss", "sub_ss", "mul_ss",
        "eq_uu", "ne_uu", "lt_uu", "le_uu", "gt_uu", "ge_uu",
        "eq_ss", "ne_ss", "lt_ss", "le_ss", "gt_ss", "ge_ss",
        "not_u", "not_s", "neg_u", "neg_s", "pos_u", "pos_s",
        "logic_not", "logic_and", "logic_or", "reduce_and", "reduce_or", "reduce_xor", "reduce_bool",
    }
)  # fmt: skip
"""The operations that `RUNTIME` defines besides slices, concatenation, repetition, choice and memories."""
WIDEST = 128

_MEMBERS = frozenset({"slice", "concat", "repeat", "val", "curr", "next", "update", "commit", "valid", "index", "data"})
_FUNCTIONS = frozenset({"memory_index", "CXXRTL_ASSERT", "copy", "begin", "end"})
_WORDS = frozenset({"if", "else", "auto", "static", "const", "std", "value", "wire", "true", "bool", "constexpr"})
_PUT = re.compile(r"^(\t+)([\w.]+)\.slice<([\d,]+)>\(\) = (.*);$", re.MULTILINE)
_SPREAD = re.compile(r"^(\t+)([\w.]+)((?:\.concat\([\w.]+\))+) = (.*);$", re.MULTILINE)
_ASSIGNED = re.compile(r"^\t+([^=\n]*[^=!<>\n])=[^=]", re.MULTILINE)


def fits(text: str) -> bool:
    """Return whether `RUNTIME` has everything that the statements of a design use."""
    text = re.sub(r"//.*|\"[^\"]*\"", "", text)
    widths = [int(width) for width in re.findall(r"\b(?:value|wire|memory)<(\d+)>", text)]
    members = set(re.findall(r"\.([a-z_]+)\b", text))
    called = set(re.findall(r"(?<![.\w])([A-Za-z_]\w*)(?:<\d+>)?\(", text)) - _FUNCTIONS - _WORDS
    # Values are made by a call where the library has references.
    assigned = all("(" not in found for found in _ASSIGNED.findall(plain(text)))
    return max(widths, default=0) <= WIDEST and members <= _MEMBERS and called <= OPERATIONS and assigned


def plain(statements: str) -> str:
    """Rewrite statements for `RUNTIME`.

    There slices and concatenations are values and no references. So assignments to a part of a value, and to several
    values at once, become calls.
    """

    def spread(found: re.Match[str]) -> str:
        names = [found[2], *re.findall(r"\(([\w.]+)\)", found[3])]
        return f"{found[1]}spread<0>({found[4]}, {', '.join(reversed(names))});"

    return _SPREAD.sub(spread, _PUT.sub(r"\1\2.put<\3>(\4);", statements))


RUNTIME = r"""#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#define CXXRTL_ASSERT(x) assert(x)

namespace cxxrtl {

template<bool Narrow> struct storage { typedef uint64_t type; typedef int64_t sign; };
template<> struct storage<false> { typedef unsigned __int128 type; typedef __int128 sign; };

// `Bits` of a machine word; those above are 0.
template<size_t Bits> struct value {
    typedef typename storage<(Bits <= 64)>::type type;
    typedef typename storage<(Bits <= 64)>::sign sign;
    static constexpr size_t spare = 8 * sizeof(type) - Bits;
    type data;

    static constexpr type join() { return 0; }
    template<typename... More> static constexpr type join(uint32_t low, More... high) {
        return (sizeof...(high) ? join(high...) << 32 : type(0)) | low;
    }
    value() = default;
    template<typename... More> explicit constexpr value(uint32_t low, More... high) : data(join(low, high...)) {}

    static value of(type all) { value made; made.data = type(all << spare) >> spare; return made; }
    value val() const { return *this; }
    explicit operator bool() const { return data != 0; }
    sign number() const { return sign(data << spare) >> spare; }
    template<typename T> T get() const { return T(data); }

    template<size_t Stop, size_t Start = Stop> value<Stop - Start + 1> slice() const {
        return value<Stop - Start + 1>::of(typename value<Stop - Start + 1>::type(data >> Start));
    }
    template<size_t Stop, size_t Start = Stop> void put(const value<Stop - Start + 1> &part) {
        type ones = (~type(0) >> (8 * sizeof(type) - (Stop - Start + 1))) << Start;
        data = (data & ~ones) | type(part.data) << Start;
    }
    template<size_t Low> value<Bits + Low> concat(const value<Low> &low) const {
        typedef typename value<Bits + Low>::type wide;
        return value<Bits + Low>::of(wide(data) << Low | low.data);
    }
    template<size_t Count> value<Count> repeat() const {
        static_assert(Bits == 1, "as in the library");
        return value<Count>::of(-typename value<Count>::type(data));
    }
};

template<size_t Y, size_t A> value<Y> zero_extended(const value<A> &a) {
    return value<Y>::of(typename value<Y>::type(a.data));
}
template<size_t Y, size_t A> value<Y> sign_extended(const value<A> &a) {
    return value<Y>::of(typename value<Y>::type(a.number()));
}
template<size_t Y> value<Y> truth(bool holds) { return value<Y>::of(holds); }

template<size_t Low, size_t All> void spread(const value<All> &) {}
template<size_t Low, size_t All, size_t Part, typename... More>
void spread(const value<All> &all, value<Part> &part, More &...more) {
    part = all.template slice<Low + Part - 1, Low>();
    spread<Low + Part>(all, more...);
}

#define RESULT(name, expression) \
    template<size_t Y, size_t A, size_t B> value<Y> name##_uu(const value<A> &a, const value<B> &b) { \
        auto x = zero_extended<Y>(a).data, y = zero_extended<Y>(b).data; return value<Y>::of(expression); } \
    template<size_t Y, size_t A, size_t B> value<Y> name##_ss(const value<A> &a, const value<B> &b) { \
        auto x = sign_extended<Y>(a).data, y = sign_extended<Y>(b).data; return value<Y>::of(expression); }
RESULT(and, x & y)
RESULT(or, x | y)
RESULT(xor, x ^ y)
RESULT(xnor, ~(x ^ y))
RESULT(add, x + y)
RESULT(sub, x - y)
RESULT(mul, x * y)

#define COMPARISON(name, sign) \
    template<size_t Y, size_t A, size_t B> value<Y> name##_uu(const value<A> &a, const value<B> &b) { \
        return truth<Y>(a.data sign b.data); } \
    template<size_t Y, size_t A, size_t B> value<Y> name##_ss(const value<A> &a, const value<B> &b) { \
        return truth<Y>(a.number() sign b.number()); }
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

#define OF_ONE(name, sign) \
    template<size_t Y, size_t A> value<Y> name##_u(const value<A> &a) { \
        return value<Y>::of(sign zero_extended<Y>(a).data); } \
    template<size_t Y, size_t A> value<Y> name##_s(const value<A> &a) { \
        return value<Y>::of(sign sign_extended<Y>(a).data); }
OF_ONE(not, ~)
OF_ONE(neg, -)
OF_ONE(pos, +)

template<size_t Y, size_t A> value<Y> logic_not(const value<A> &a) { return truth<Y>(!a.data); }
template<size_t Y, size_t A, size_t B> value<Y> logic_and(const value<A> &a, const value<B> &b) {
    return truth<Y>(a.data && b.data);
}
template<size_t Y, size_t A, size_t B> value<Y> logic_or(const value<A> &a, const value<B> &b) {
    return truth<Y>(a.data || b.data);
}
template<size_t Y, size_t A> value<Y> reduce_and(const value<A> &a) { return truth<Y>(a.number() == -1); }
template<size_t Y, size_t A> value<Y> reduce_or(const value<A> &a) { return truth<Y>(a.data); }
template<size_t Y, size_t A> value<Y> reduce_bool(const value<A> &a) { return truth<Y>(a.data); }
template<size_t Y, size_t A> value<Y> reduce_xor(const value<A> &a) {
    uint64_t high = sizeof a.data > 8 ? uint64_t(a.data >> (sizeof a.data > 8 ? 64 : 0)) : 0;
    return truth<Y>((__builtin_popcountll(uint64_t(a.data)) + __builtin_popcountll(high)) & 1);
}

template<size_t Bits> struct wire {
    value<Bits> curr, next;
    wire() = default;
    template<typename... More> explicit wire(uint32_t low, More... high) : curr(low, high...), next(low, high...) {}
};

// Writes are queued while a cycle is evaluated, and done in the order of their priority when it ends.
template<size_t Bits> struct memory {
    struct write { size_t index; value<Bits> word, mask; int priority; };
    const size_t depth;
    std::vector<value<Bits>> data;
    std::vector<write> queue;

    explicit memory(size_t depth) : depth(depth), data(depth) {}
    const value<Bits> &operator[](size_t index) const { return data[index]; }
    void update(size_t index, const value<Bits> &word, const value<Bits> &mask, int priority = 0) {
        if (!mask.data) return;
        auto at = queue.end();
        while (at != queue.begin() && (at - 1)->priority > priority) --at;
        queue.insert(at, write{index, word, mask, priority});
    }
    void commit() {
        for (const write &w : queue) {
            auto &word = data[w.index].data;
            word = (word & ~w.mask.data) | (w.word.data & w.mask.data);
        }
        queue.clear();
    }
};

struct memory_index {
    bool valid;
    size_t index;
    template<size_t Bits> memory_index(const value<Bits> &address, size_t offset, size_t depth)
        : valid(size_t(address.data) >= offset && size_t(address.data) < offset + depth),
          index(size_t(address.data) - offset) {}
};

} // namespace cxxrtl
"""
