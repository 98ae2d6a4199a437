#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts of the product's C++ (tests and generated code left out), beside two models.

Prints the sizes of files and functions, the share of comments, strings used as errors, functions
that return a reason or nothing, and the places that open a pack. Sizes have no limit: a file holds
its idea. Exit code 1 when a text stands for an error, and when the schema's types or their headers
are used outside of packs/.
"""

import collections
import re
import statistics
import sys

from tracked import ROOT, tracked

# The same counts of LevelDB 1.23 and Ninja 1.12: headers median/p90/max, sources median/max,
# functions number, median/p90/p99/max, over 40 lines, comment share in percent.
MODELS = {
    "LevelDB": ("83 / 223 / 417", "156 / 1578", 942, "5 / 26 / 87 / 160", "47 (5%)", 16),
    "Ninja": ("65 / 150 / 510", "194 / 1940", 677, "7 / 44 / 163 / 322", "76 (11%)", 16),
}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
NO_FUNCTION = re.compile(r"\s*(?:template\s*<[^{}]*>\s*)?(?:inline\s+)?"
                         r"(?:namespace|class|struct|enum|union|extern)\b")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)


# A function whose value is a text, what it returns, a return of none, and a sentence.
GIVES_TEXT = re.compile(r"\s*(?:(?:public|private):\s*)?(?:(?:static|inline|virtual|constexpr)\s+)*"
                        r"(?:std::optional<std::string>|std::string(?:_view)?|const char \*)\s*"
                        r"(?P<name>[\w:]+)\(")
RETURN = re.compile(r'\breturn\b((?:"(?:\\.|[^"\\\n])*"|[^;"])*);')
NOTHING = re.compile(r'(?:^|[?:])\s*(?:\{\}|""|nullptr|std::nullopt)\s*(?:$|:)')
SENTENCE = re.compile(r'"(?!  )[^"\n]*[a-z]+,? [a-z]+[^"\n]*(?<!\\n)"')

# What reasons_or_nothing() may find: no call failed where there is a text, or the code would be
# too large.
NO_FAILURES = {
    "builder/compile/host_options.cpp:warn_of_option": "a warning; the option is left to drivers",
    "builder/jobs/plan.cpp:left_to_finish": "work that a build has left",
    "builder/cli/shared/parse.cpp:explain_extras": "better words for a failure that CLI11 reported",
    "builder/fleet/watch/watch_state.cpp:first_difference": "what has changed since the last run",
    "runtime/api/load.cpp:read_notes": "a Status is 560 bytes more in the shared library",
    "runtime/api/options.cpp:read_options": "the same",
}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """(first line, lines) of each body with parameters that is not inside of another."""
    code = DIRECTIVE.sub(blank, TOKEN.sub(blank, text))
    found, scopes, header, inside = [], [], 0, 0
    for match in re.finditer(r"[{};]", code):
        at, kind = match.start(), match.group()
        if kind == "{":
            head = code[header:at]
            is_function = (not inside and "(" in head and not NO_FUNCTION.match(head)
                           and not re.search(r"=\s*$", head))
            first = header + len(head) - len(head.lstrip())
            scopes.append(first if is_function else None)
            inside += is_function
        elif kind == "}" and scopes:
            first = scopes.pop()
            if first is not None:
                inside -= 1
                lines = code.count("\n", first, at) + 1
                found.append((code.count("\n", 0, first) + 1, lines))
        if not inside:
            header = at + 1
    return found


def comment_lines(text):
    """Lines that hold nothing but a comment."""
    count = 0
    lines = text.split("\n")
    kept = TOKEN.sub(lambda m: blank(m) if m.group().startswith("/") else m.group(), text)
    for before, after in zip(lines, kept.split("\n")):
        count += bool(before.strip()) and not after.strip()
    return count


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def spread(values):
    return (f"{statistics.median(values):g} / {quantile(values, .9)} / {quantile(values, .99)} / "
            f"{max(values)}")


def occurrences(files, pattern, leave_out=()):
    """Lines of code with the pattern: path -> number."""
    found = collections.Counter()
    for path, text in files.items():
        if path.parts[0] not in leave_out:
            code = TOKEN.sub(lambda m: blank(m) if m.group().startswith("/") else m.group(), text)
            found[path.as_posix()] += len(re.findall(pattern, code))
    return +found


def print_models(files, lengths):
    sizes = {path: text.count("\n") for path, text in files.items()}
    headers = [n for path, n in sizes.items() if path.suffix in (".h", ".hpp")]
    sources = [n for path, n in sizes.items() if path.suffix in (".c", ".cpp")]
    long = sum(n > 40 for n in lengths)
    comments = 100 * sum(map(comment_lines, files.values())) / sum(sizes.values())
    own = (f"{statistics.median(headers):g} / {quantile(headers, .9)} / {max(headers)}",
           f"{statistics.median(sources):g} / {max(sources)}", len(lengths), spread(lengths),
           f"{long} ({100 * long / len(lengths):.1f}%)", round(comments))
    row = "{:<8} {:>16} {:>12} {:>9} {:>20} {:>9} {:>9}"
    print(row.format("", "headers", "sources", "functions", "median/p90/p99/max", "over 40",
                     "comments"))
    for name, counts in {"Kiln": own, **MODELS}.items():
        print(row.format(name, *counts[:5], f"{counts[5]}%"))
    for top in ("packs", "runtime", "builder"):
        mine = {path: text for path, text in files.items() if path.parts[0] == top}
        share = 100 * sum(map(comment_lines, mine.values())) / sum(sizes[path] for path in mine)
        print(f"  comments in {top}: {share:.0f}%")


def schema_uses(files):
    """Lines outside of packs/ with FlatBuffers' types, or with what gives them, as faults."""
    use = re.compile(r"\bfb::|\bflatbuffers\b|\bschema\(\)|#\s*include.*(?:_generated|flatbuffers)")
    return [f"{path}:{number}: the schema outside of packs/: {line.strip()}"
            for path, text in files.items() if path.parts[0] != "packs"
            for number, line in enumerate(text.split("\n"), 1) if use.search(line)]


def is_nothing(expression):
    """Whether a returned expression is no text, or is none in one of its cases."""
    expression = TOKEN.sub(lambda m: m.group() if m.group() == '""' else "0", expression)
    shorter = None
    while shorter != expression:
        shorter, expression = expression, re.sub(r"\([^()]*\)", "", expression)
    return bool(NOTHING.search(expression))


def reasons_or_nothing(files):
    """Functions that return a sentence or no text, for which there is Status: path:name of each."""
    found = []
    for path, text in files.items():
        code = TOKEN.sub(lambda m: blank(m) if m.group().startswith("/") else m.group(), text)
        lines = code.split("\n")
        for first, length in functions(text):
            body = "\n".join(lines[first - 1:first - 1 + length])
            head = GIVES_TEXT.match(body)
            returned = RETURN.findall(body) if head else []
            if any(map(is_nothing, returned)) and any(map(SENTENCE.search, returned)):
                found.append(f"{path.as_posix()}:{head['name']}")
    return found


def print_occurrences(what, counts, target):
    print(f"{what}: {sum(counts.values())} (target {target})")
    for path, number in counts.most_common(8):
        print(f"  {number:4} {path}")


def main():
    files = {path.relative_to(ROOT): path.read_text(encoding="utf-8")
             for path in tracked(".c", ".h", ".cpp", ".hpp")
             if path.relative_to(ROOT).parts[0] != "tests"}
    bodies = [(lines, path, first) for path, text in files.items()
              for first, lines in functions(text)]
    print_models(files, [lines for lines, _, _ in bodies])
    print("longest functions: " + ", ".join(
        f"{path}:{first} {lines}" for lines, path, first in sorted(bodies, reverse=True)[:5]))
    texts = set(reasons_or_nothing(files))
    strings = occurrences(files, r"\b(?:error|errors|why|fault)\.empty\(\)")
    print_occurrences("strings as errors", strings, 0)
    print_occurrences("texts where a Status should be",
                      collections.Counter(texts - NO_FAILURES.keys()), 0)
    print_occurrences("places that open a pack", occurrences(
        files, r"\bPack::open_file\(|(?<!kiln_status )\bkiln_pack_open_file\(",
        ("packs", "kernels")), "one a command")
    over = [f"{name}: a text for an error"
            for name in sorted(strings.keys() | texts - NO_FAILURES.keys())]
    over += [f"{name}: excepted, and not there" for name in sorted(NO_FAILURES.keys() - texts)]
    over += schema_uses(files)
    print("\n".join(over) or "no text for an error, the schema in packs/ alone")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
