#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page, and completion for Bash, Zsh and fish, made of what `kiln --help` prints.

    man.py KILN FOLDER

writes kiln.1, kiln.bash, kiln.zsh and kiln.fish.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass
class Command:
    words: list  # "kiln", "pack", "slice"
    about: str
    usage: str
    sections: dict  # title -> [(term, text)]
    footer: list
    commands: list

    def all(self):
        yield self
        for command in self.commands:
            yield from command.all()


ENVIRONMENT = [
    ("KILN_CLANG, KILN_LLVM_SPIRV, KILN_SPIRV_VAL", "Tools of the host step, by path or by a name in "
     "PATH. Default: the newest clang with an llvm-spirv of the same version."),
    ("KILN_PTXAS, KILN_LIBCLC", "ptxas and libclc's nvptx64--nvidiacl.bc, for --virtual nvidia.toml."),
    ("KILN_NEO_ROOT", "Unpacked root of a distribution with another version of Intel's driver, for "
     "--virtual neo."),
    ("KILN_MESA_ROOT", "Unpacked root of a distribution with Mesa and mesa-drm-shim, for --virtual "
     "mesa."),
    ("KILN_MESA_PROGRAM", "A kiln of that root's architecture, if it is another; qemu-user runs it."),
    ("KILN_STORE", "Database of finished jobs, or the word none."),
    ("KILN_PACK, KILN_OVERLAY, KILN_REPORT, KILN_REPORT_DIR, KILN_SPOOL", "What kiln serve and kiln "
     "record set for the layer; an application can be started with them and OPENCL_LAYERS instead."),
    ("KILN_ICD_LOADER", "ICD loader that takes layers, for kiln record and kiln serve where the "
     "application's takes none."),
    ("OCL_ICD_VENDORS", "Read by the ICD loader: which drivers there are."),
    ("COLUMNS", "Width of help, 60 to 100 columns."),
]
FILES = [
    ("$XDG_CACHE_HOME/kiln/jobs.sqlite", "Database of finished jobs, else in ~/.cache."),
    ("libkiln_layer.so", "The OpenCL layer that kiln record and kiln serve load into applications."),
]
EXAMPLES = [
    ("Compile a manifest, build for the devices of this machine, and look at the result:",
     ["kiln compile app.toml -o base.kiln", "kiln build base.kiln -o app.kiln",
      "kiln pack inspect app.kiln"]),
    ("Compile sources that have no manifest:",
     ["kiln compile src/*.cl --build-options '-cl-std=CL1.2 -DTILE=16' -o base.kiln"]),
    ("Try Kiln with an unchanged application:", ["kiln try -- ./application"]),
    ("Serve an unchanged application:",
     ["kiln record -o app.spool -- ./application", "kiln compile app.spool -o base.kiln",
      "kiln build base.kiln -o app.kiln", "kiln serve --pack app.kiln -- ./application"]),
]


def ask(program, words):
    done = subprocess.run([program, *words, "--help"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def read_sections(lines):
    """The entries below each "Title:", and what follows the last of them."""
    sections, footer, entries = {}, [], None
    for line in lines:
        title = re.fullmatch(r"([A-Z]\w+):", line)
        if title:
            entries = sections.setdefault(title[1], [])
        elif line.startswith("  ") and entries is not None:
            term, text = re.fullmatch(r" {2}(\S.*?)?(?: {2,}(\S.*))?", line).groups()
            if term and not (line.startswith("   ") and entries):
                entries.append((term, text or ""))
            else:  # goes on with the entry before
                entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}".strip())
        elif line.strip():
            entries = None
            footer.append(line.strip())
    return sections, footer


def read_command(program, words):
    about, _, rest = ask(program, words[1:]).partition("\nUsage: ")
    usage, _, rest = rest.partition("\n\n")
    sections, footer = read_sections(rest.split("\n"))
    commands = [read_command(program, [*words, name]) for name, _ in sections.get("Commands", [])]
    return Command(words, " ".join(about.split()), " ".join(usage.split()), sections, footer,
                   commands)


def roff(text):
    """As running text: nothing of it is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith(".") else text


def entries(items):
    return [line for term, text in items for line in (".TP", f".B {roff(term)}", roff(text) or "\\&")]


def man_page(top, version):
    name = top.words[0]
    page = [f'.TH {name.upper()} 1 "" "{name} {version}" "User commands"', ".SH NAME",
            f"{name} \\- {roff(top.about[0].lower() + top.about[1:].rstrip('.'))}", ".SH SYNOPSIS",
            f".B {roff(top.usage)}", ".SH COMMANDS"]
    page += entries(top.sections["Commands"])
    page += [".SH OPTIONS"] + entries(top.sections["Options"])
    for command in list(top.all())[1:]:
        page += [f".SH {' '.join(command.words[1:]).upper()}", roff(command.about) + ".", ".PP",
                 f".B {roff(command.usage)}"]
        for title in ("Arguments", "Commands", "Options"):
            page += entries(item for item in command.sections.get(title, [])
                            if not item[0].startswith("-h,"))
    page += [".SH EXIT STATUS", roff(" ".join(top.footer).removeprefix("Exit codes: "))]
    page += [".SH ENVIRONMENT"] + entries(ENVIRONMENT) + [".SH FILES"] + entries(FILES)
    page += [".SH EXAMPLES"]
    for text, commands in EXAMPLES:
        page += [roff(text), ".PP", ".nf", ".RS", *map(roff, commands), ".RE", ".fi", ".PP"]
    page += [".SH SEE ALSO", ".BR minisign (1),", ".BR skopeo (1),", ".BR clang (1)"]
    return "\n".join(page) + "\n"


def options_of(command):
    """The options, each with its names, its metavar and its text."""
    for term, text in command.sections.get("Options", []):
        names = re.findall(r"(?<!\S)--?[A-Za-z][\w-]*", term)
        yield names, term.split(names[-1])[1].strip(), text


def kind_of(metavar, name):
    """What a shell offers as the value of an option."""
    words = {"HOW": "none startup fleet archive", "RUNG,...": "binary il source"}.get(metavar)
    if words:
        return words
    if metavar == "NAME" and name == "--program":
        return "PROGRAM"
    return metavar if metavar in ("DEVICE", "TARGET") else "FILE"


# Prints the values of a kind, one in a line; the packs are those of the command line.
VALUES = """\
_{name}_values() {{
  kind=$1
  shift
  case $kind in
    DEVICE) {name} devices --json 2>/dev/null |
      sed -n 's/^      "label": "[^:]*: \\(.*\\) (driver.*/\\1/p' ;;
    PROGRAM | TARGET)
      for word in "$@"; do
        case $word in *.kiln) ;; *) continue ;; esac
        if test "$kind" = PROGRAM; then
          {name} pack inspect "$word" --json 2>/dev/null | sed -n 's/^      "name": "\\(.*\\)".*/\\1/p'
        else
          {name} pack inspect "$word" --json 2>/dev/null | sed -n 's/^      "label": "\\(.*\\)".*/\\1/p'
        fi
      done ;;
    *) echo "$kind" | tr ' ' '\\n' ;;
  esac
}}
"""

BASH = """\
# Completion of {name} for Bash, made by cmake/man.py of what {name} --help prints.
{values}
_{name}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command={name} words= kind= i value
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {known}) command="$command ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{cases}
  esac
  case "$command $before" in
{kinds}
  esac
  COMPREPLY=()
  if [[ $kind == FILE ]]; then
    return
  elif [[ -n $kind ]]; then
    while IFS= read -r value; do
      [[ $value == "$word"* ]] && COMPREPLY+=("$(printf %q "$value")")
    done < <(_{name}_values "$kind" "${{COMP_WORDS[@]}}")
  elif [[ $word == -* || ( -n $words && $words != -* ) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -o default -F _{name} {name}
"""

ZSH = """\
#compdef {name}
# Completion of {name} for Zsh, made by cmake/man.py of what {name} --help prints.
{values}
_{name}() {{
  emulate -L zsh
  local command={name} offered= kind= i
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command $words[i]" in
      {known}) command="$command $words[i]" ;;
    esac
  done
  case "$command" in
{cases}
  esac
  case "$command $words[CURRENT-1]" in
{kinds}
  esac
  if [[ -n $kind && $kind != FILE ]]; then
    compadd -- ${{(f)"$(_{name}_values "$kind" "${{words[@]}}")"}}
  elif [[ -z $kind && ( $words[CURRENT] == -* || ( -n $offered && $offered != -* ) ) ]]; then
    compadd -- ${{=offered}}
  else
    _files
  fi
}}
if [[ $funcstack[1] == _{name} ]]; then _{name} "$@"; else compdef _{name} {name}; fi
"""


def shell(top, template, variable):
    """The completion for Bash or Zsh; `variable` gets the words that a command takes."""
    cases, kinds = [], []
    for command in top.all():
        words = " ".join(command.words)
        options = list(options_of(command))
        names = [sub.words[-1] for sub in command.commands] + [max(n, key=len) for n, _, _ in options]
        cases.append(f'    "{words}") {variable}="{" ".join(names)}" ;;')
        kinds += [f'    {" | ".join(chr(34) + words + " " + name + chr(34) for name in names)}) '
                  f'kind="{kind_of(metavar, names[-1])}" ;;'
                  for names, metavar, _ in options if metavar]
    known = " | ".join(f'"{" ".join(command.words)}"' for command in list(top.all())[1:])
    name = top.words[0]
    return template.format(name=name, known=known, cases="\n".join(cases), kinds="\n".join(kinds),
                           values=VALUES.format(name=name))


FISH = """\
# Completion of {name} for fish, made by cmake/man.py of what {name} --help prints.
function __{name}_at
  set -l command {name}
  for word in (commandline -opc)[2..]
    if contains -- "$command $word" {known}
      set command "$command $word"
    end
  end
  test "$command" = "$argv"
end
function __{name}_values
  set -l script {script}
  sh -c "$script"' "$@"' sh $argv (commandline -opc)
end
"""


def fish(top):
    def quoted(text):
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    name = top.words[0]
    known = " ".join(quoted(" ".join(command.words)) for command in list(top.all())[1:])
    script = quoted(VALUES.format(name=name) + f"_{name}_values")
    lines = [FISH.format(name=name, known=known, script=script)]
    for command in top.all():
        begin = f"complete -c {name} -n {quoted('__' + name + '_at ' + ' '.join(command.words))}"
        for sub in command.commands:
            lines.append(f"{begin} -f -a {sub.words[-1]} -d {quoted(sub.about)}")
        for names, metavar, text in options_of(command):
            line = begin + "".join(f" -l {n[2:]}" if n.startswith("--") else f" -s {n[1:]}"
                                   for n in names)
            kind = kind_of(metavar, names[-1])
            if metavar and kind == "FILE":
                line += " -r"
            elif metavar:
                values = f"(__{name}_values {kind})" if kind.isupper() else kind
                line += f" -x -a {quoted(values)}"
            lines.append(f"{line} -d {quoted(text)}")
    return "\n".join(lines) + "\n"


def write(path, text):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    pathlib.Path(temporary).write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def main(program, folder):
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=True, text=True)
    top = read_command(program, [pathlib.Path(program).name])
    folder = pathlib.Path(folder)
    write(folder / "kiln.1", man_page(top, version.stdout.split()[-1]))
    write(folder / "kiln.bash", shell(top, BASH, "words"))
    write(folder / "kiln.zsh", shell(top, ZSH, "offered"))
    write(folder / "kiln.fish", fish(top))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else print(__doc__) or 2)
