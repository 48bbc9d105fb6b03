"""Does what docs/recipe.md tells another project to do, with the lines of that page.

  python3 consumer.py ROOT FOLDER COMPILER

Writes a project into FOLDER: the page's CMake lines, where only the path of Troupe is another, and
tests/runtime/recipe/library/example.cpp as its main.cpp. Configures and builds it, runs its program,
and checks that every C++ line of the page stands in one of the examples of that folder.

The objects of an earlier run stay, the configuration does not. Without optimization and with joined
files, because what is compiled here was tested elsewhere: a minute of CPU time from nothing.
"""

import pathlib
import re
import subprocess
import sys

OPTIONS = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DCMAKE_UNITY_BUILD=ON"]
LIBRARY = "add_subdirectory(troupe EXCLUDE_FROM_ALL)"
FIRST_AND_LAST = ('"role":"assistant"', "data: [DONE]")


def blocks(page, language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"docs/recipe.md: no block of {language}")
    return found


def write_project(root, folder, page):
    lines = "".join(blocks(page, "cmake"))
    if lines.count(LIBRARY) != 1:
        sys.exit(f"docs/recipe.md: expected once: {LIBRARY}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CMakeLists.txt").write_text(
        lines.replace(LIBRARY, f'add_subdirectory("{root}" troupe EXCLUDE_FROM_ALL)'))
    example = root / "tests/runtime/recipe/library/example.cpp"
    (folder / "main.cpp").write_text(example.read_text())


def check_examples(root, page):
    examples = (root / "tests/runtime/recipe/library").glob("*.cpp")
    known = {line.strip() for path in examples for line in path.read_text().splitlines()}
    strange = [line for block in blocks(page, "cpp") for line in block.splitlines()
               if line.strip() not in known]
    if strange:
        sys.exit("docs/recipe.md: in no example of tests/runtime/recipe/library:\n" +
                 "\n".join(strange))


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}")
    return done.stdout


def main():
    root, folder, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    page = (root / "docs/recipe.md").read_text()
    check_examples(root, page)
    write_project(root, folder, page)
    build = folder / "build"
    run("cmake", "--fresh", "-S", folder, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", *OPTIONS)
    run("cmake", "--build", build, "-j2")
    said = run(build / "my_program")
    if not all(text in said for text in FIRST_AND_LAST):
        sys.exit(f"the program said:\n{said}")
    print(f"{folder}: configured, built, run")


if __name__ == "__main__":
    main()
