"""A source file as the tidy rules see it, and what a rule reports."""

import dataclasses
import pathlib
import re

# The folders of the project; build outputs and hidden folders are not among them.
FOLDERS = ("actors", "cmake", "config", "docs", "kernels", "runtime", "tests", "tools")
CODE = (".cpp", ".hpp")


@dataclasses.dataclass(frozen=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Source:
    """One file: `path` from the root, `lines` as written, `code` without comments and literals."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.splitlines()
        self.suffix = pathlib.PurePosixPath(path).suffix
        self.name = pathlib.PurePosixPath(path).name
        self.is_code = self.suffix in CODE
        self.code = blank_out(text).splitlines() if self.is_code else []

    def includes(self):
        """(line number, header) of each #include, with its brackets removed."""
        for number, line in enumerate(self.lines, 1):
            found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if found:
                yield number, found.group(1)


LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def blank_out(text):
    """The text with comments and literals replaced by blanks; line numbers stay."""
    return LITERALS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def read_tree(root):
    """All text files of the project, sorted by path."""
    root = pathlib.Path(root)
    paths = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (root / folder).rglob("*") if path.is_file()]
    sources = []
    for path in sorted(paths):
        relative = path.relative_to(root).as_posix()
        if "__pycache__" in relative or relative.startswith("."):
            continue
        try:
            sources.append(Source(relative, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # test data
    return sources
