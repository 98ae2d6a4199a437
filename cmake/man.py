#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completion for Bash, made of what `kiln --help` prints.

    man.py KILN MAN-PAGE COMPLETION
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass
class Command:
    words: list  # "kiln", "bench", "startup"
    about: str
    usage: str
    sections: dict  # title -> [(term, text)]
    footer: list
    commands: list

    def all(self):
        yield self
        for command in self.commands:
            yield from command.all()


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
    return "\n".join(page) + "\n"


def options_of(command):
    """The long options, or the short ones of those that have no other."""
    found = []
    for term, _ in command.sections.get("Options", []):
        names = re.findall(r"(?<!\S)--?[A-Za-z][\w-]*", term)
        found.append(max(names, key=len))
    return found


COMPLETION = """\
# Completion of {name} for Bash, made by cmake/man.py of what {name} --help prints.
_{name}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command={name} words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {known}) command="$command ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{cases}
  esac
  COMPREPLY=()
  if [[ $word == -* || ( -n $words && $words != -* ) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -o default -F _{name} {name}
"""


def completion(top):
    cases = []
    for command in top.all():
        names = [sub.words[-1] for sub in command.commands]
        cases.append(f'    "{" ".join(command.words)}") '
                     f'words="{" ".join(names + options_of(command))}" ;;')
    known = " | ".join(f'"{" ".join(command.words)}"' for command in list(top.all())[1:])
    return COMPLETION.format(name=top.words[0], known=known, cases="\n".join(cases))


def write(path, text):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    pathlib.Path(temporary).write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def main(program, page, words):
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=True, text=True)
    top = read_command(program, [pathlib.Path(program).name])
    write(page, man_page(top, version.stdout.split()[-1]))
    write(words, completion(top))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else print(__doc__) or 2)
