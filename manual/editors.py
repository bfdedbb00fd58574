"""Grammars for editors, from the rules of the site's colours: ``python -m manual.editors FOLDER`` writes them.

``FOLDER/vscode`` is an extension of Visual Studio Code with a TextMate grammar for each language, and ``FOLDER/vim`` a
folder for the ``runtimepath`` of vim. Like all pages of the site they are made anew, and not kept in the repository.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import tabla
from manual.colours import LANGUAGES, Colours, Kind, Match, Region, Rule, Words

SCOPES: dict[Kind, str] = {
    "comment": "comment.line",
    "definition": "meta.preprocessor",
    "keyword": "keyword.control",
    "function": "support.function",
    "number": "constant.numeric",
    "string": "string.quoted.double",
    "variable": "variable.parameter",
    "name": "variable.other",
    "operator": "keyword.operator",
    "punctuation": "punctuation",
}
"""The scopes of TextMate, to which themes give colours."""
GROUPS: dict[Kind, str] = {
    "comment": "Comment",
    "definition": "PreProc",
    "keyword": "Keyword",
    "function": "Function",
    "number": "Number",
    "string": "String",
    "variable": "Identifier",
    "operator": "Operator",
}
"""The groups of vim, to which colour schemes give colours. Names and punctuation have none."""
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|\(\?:|.", re.DOTALL)


def textmate(colours: Colours) -> dict[str, Any]:
    """Return the TextMate grammar of a language. An editor takes the first rule of those that match first in a line."""
    scope = f"source.{colours.alias}"
    patterns = [{"name": f"{SCOPES[rule.kind]}.{colours.alias}", **_textmate_rule(rule)} for rule in colours.rules]
    return {"name": colours.name, "scopeName": scope, "patterns": patterns}


def _textmate_rule(rule: Rule) -> dict[str, str]:
    match rule:
        case Words(words=words):
            return {"match": rf"\b(?:{'|'.join(words)})\b"}
        case Match(pattern=pattern):
            return {"match": pattern}
        case Region(start=start, end=end):
            return {"begin": re.escape(start), "end": re.escape(end)}


def vim(colours: Colours) -> str:
    """Return the syntax file of vim for a language. Of several rules for one place, vim takes the last."""
    lines = [
        f'" The colours of {colours.name}, written by python -m manual.editors of tabla {tabla.__version__}.',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        "syntax case match",
        "setlocal iskeyword=@,48-57,_",
        f"setlocal commentstring={colours.comment}\\ %s",
    ]
    for rule in reversed(colours.rules):
        group = f"{colours.alias}{rule.kind.capitalize()}"
        match rule:
            case Words(words=words):
                lines += [f"syntax keyword {group} {word}" for word in words]
            case Match(pattern=pattern):
                lines.append(f"syntax match {group} ~{vim_pattern(pattern)}~")
            case Region(start=start, end=end):
                lines.append(f"syntax region {group} start=~\\V{start}~ end=~\\V{end}~")
    kinds = dict.fromkeys(rule.kind for rule in colours.rules if rule.kind in GROUPS)
    lines += [f"highlight default link {colours.alias}{kind.capitalize()} {GROUPS[kind]}" for kind in kinds]
    return "\n".join((*lines, f'let b:current_syntax = "{colours.alias}"', ""))


def vim_pattern(pattern: str) -> str:
    r"""Return a pattern of Python in vim's syntax with ``\v``, in which almost every sign means something."""
    return r"\v\C" + "".join(_vim_piece(piece) for piece in _PIECE.findall(pattern))


def _vim_piece(piece: str) -> str:
    match piece:
        case "(?:":
            return "%("
        case "<" | ">" | "=" | "@" | "&" | "~" | "%" | "{" | "}":
            return f"\\{piece}"
    return piece


def files() -> dict[str, str]:
    """Return the text of every file of the two folders, by its path."""
    made = {"vscode/package.json": _json(_extension())}
    detected = ""
    for colours in LANGUAGES:
        brackets = [["(", ")"], ["[", "]"], ["{", "}"]]
        settings = {"comments": {"lineComment": colours.comment}, "brackets": brackets, "autoClosingPairs": brackets}
        made[f"vscode/{colours.alias}.tmLanguage.json"] = _json(textmate(colours))
        made[f"vscode/{colours.alias}.language.json"] = _json(settings)
        made[f"vim/syntax/{colours.alias}.vim"] = vim(colours)
        ends = ",".join(f"*{end}" for end in colours.ends)
        # vim takes *.t for Perl before this line runs, and "setfiletype" would leave it so.
        detected += f"autocmd BufRead,BufNewFile {ends} set filetype={colours.alias}\n"
    return {**made, "vim/ftdetect/tabla.vim": detected}


def _extension() -> dict[str, Any]:
    languages = [
        {
            "id": colours.alias,
            "aliases": [colours.name],
            "extensions": list(colours.ends),
            "configuration": f"./{colours.alias}.language.json",
        }
        for colours in LANGUAGES
    ]
    grammars = [
        {
            "language": colours.alias,
            "scopeName": f"source.{colours.alias}",
            "path": f"./{colours.alias}.tmLanguage.json",
        }
        for colours in LANGUAGES
    ]
    return {
        "name": "tabla",
        "displayName": "tabla",
        "description": "Colours for the languages of tabla",
        "publisher": "tabla",
        "version": tabla.__version__,
        "engines": {"vscode": "^1.60.0"},
        "categories": ["Programming Languages"],
        "contributes": {"languages": languages, "grammars": grammars},
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def main() -> None:
    """Write the two folders into the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m manual.editors", description="Write grammars for editors.")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    folder: Path = parser.parse_args().folder
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{folder / 'vscode'}\n{folder / 'vim'}")


if __name__ == "__main__":
    main()
