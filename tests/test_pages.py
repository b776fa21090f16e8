"""The pages that people read: their commands parse, their links lead somewhere, README stays short."""

import configparser
import re
import shlex
from pathlib import Path

import click
import pytest

import cli
from minnmt import __version__

ROOT = Path(__file__).parent.parent
PAGES = [
    *ROOT.glob("*.md"), *(ROOT / "tutorials").glob("*.md"), *(ROOT / "tutorials" / "results").rglob("*.md"),
    *(ROOT / "tutorials" / "teaching").rglob("*.md"),
]  # fmt: skip
BETWEEN_COMMANDS = {"|", "||", "&", "&&", ";", "<", ">", ">>", "(", ")", "<(", ");"}


def code_blocks(text):
    """The code blocks of a page, as (language, text); lines that end in a backslash are joined with the next."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
    return [(language, block.replace("\\\n", " ")) for language, block in blocks]


def command_lines(text):
    """Every line of a page that starts cli.py, in a block of code or inline."""
    lines = [line for _, block in code_blocks(text) for line in block.splitlines()]
    inline = re.findall(r"(?<!`)`((?:[A-Z_]+=\S+ )?(?:mpiexec|python)\s[^`]+)`", text)
    return [line for line in [*lines, *inline] if re.search(r"python\s.*\bcli\.py\b", line)]


def arguments(line):
    """What a line of shell gives to cli.py, one list for each time that the line starts it."""
    lexer = shlex.shlex(re.sub(r"\$\w+", "1", line), posix=True, punctuation_chars=True)  # variables are numbers
    lexer.commenters, lexer.whitespace_split = "#", True
    found = []
    reading = False
    for word in lexer:
        if word == "cli.py":
            found.append([])
            reading = True
        elif word in BETWEEN_COMMANDS:
            reading = False
        elif reading:
            found[-1].append(word)
    return found


def parse(words):
    """Let click read the words as cli.py would, without running anything."""
    command, words = cli.cli, list(words)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        assert name in command.commands, f"no command {name}"
        command = command.commands[name]
    command.make_context("cli.py", words)


def all_lines():
    return [(path, line) for path in PAGES for line in command_lines(path.read_text(encoding="utf-8"))]


def page_name(value):
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else value[:60]


def test_pages_have_commands():
    assert len(all_lines()) > 60


@pytest.mark.parametrize("path, line", all_lines(), ids=page_name)
def test_every_command_of_every_page_parses(path, line):
    for words in arguments(line):
        try:
            parse(words)
        except click.exceptions.Exit:  # --help
            pass
        except click.ClickException as error:
            pytest.fail(f"{line}\n{error.format_message()}")


@pytest.mark.parametrize(
    "line", ["python cli.py train --no-such-option", "python cli.py decode --beam many", "python cli.py decodes",
             "python cli.py score one.hyp", "echo Ja. | python cli.py decode --verify some > out"]
)  # fmt: skip
def test_a_wrong_command_would_be_found(line):
    with pytest.raises((click.ClickException, AssertionError)):
        for words in arguments(line):
            parse(words)


def all_options():
    """Every option of every command."""
    commands, options = [cli.cli], {"--help"}
    while commands:
        command = commands.pop()
        commands.extend(getattr(command, "commands", {}).values())
        options.update(name for parameter in command.params for name in parameter.opts)
    return options


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_options_that_are_named_in_passing_exist(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    named = {option for code in re.findall(r"`(--[^`]+)`", text) for option in re.findall(r"--[a-z][\w-]*", code)}
    assert named <= all_options()


def anchors(path):
    """The addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            name, _, anchor = target.partition("#")
            page = (path.parent / name).resolve() if name else path
            assert page.exists(), target
            assert not anchor or anchor in anchors(page), target


# README


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_is_short():
    lines = README.splitlines()
    assert len(lines) < 200
    assert not [line for line in lines if len(line) > 120]


def test_readme_commands_are_of_the_kind_that_ci_runs():
    """.ci/run runs the bash blocks of README line by line, so each line is a command of its own."""
    languages = {language for language, _ in code_blocks(README)}
    assert languages == {"bash", "python", "text"}
    for language, block in code_blocks(README):
        for line in block.splitlines() if language == "bash" else []:
            assert line.split()[0] in ("pip", "python", "echo", "jupyter", "pytest"), line


# Citation and changelog


def test_citation_and_changelog_name_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation and "1706.03824" in citation
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_field_of_the_package_is_left_to_setup_cfg():
    """pyproject.toml names the fields, so that tools which read only that file look further."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    assert re.findall(r'^name = "(.*)"', project, re.M) == [setup["metadata"]["name"]]
    named = re.search(r"dynamic = \[(.*?)\]", project, re.S)[1]
    assert {"version", "dependencies", "optional-dependencies", "requires-python", "scripts"} <= set(
        re.findall(r'"([\w-]+)"', named)
    )


# English

TRANSLATED = re.compile(
    r"\b(bytes|words|candidates|links|ms|MB|seconds|sentence|object|operations|rows|pairs) an? "
    r"(line|second|sentence|source (word|unit)|cell|update|step|batch)\b|\bprocessors?\b"
)


def helps():
    """Every help text: {command: text}."""
    found, commands = {}, [("cli.py", cli.cli)]
    while commands:
        name, command = commands.pop()
        found[name] = " ".join(command.get_help(click.Context(command)).split())
        commands += [(f"{name} {child}", part) for child, part in getattr(command, "commands", {}).items()]
    return found


@pytest.mark.parametrize("name, text", helps().items(), ids=lambda value: value[:30])
def test_help_says_per_and_cores(name, text):
    assert not TRANSLATED.search(text), TRANSLATED.search(text)[0]


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_pages_say_per_and_cores(path):
    found = TRANSLATED.search(" ".join(path.read_text(encoding="utf-8").split()))
    assert not found, found[0]
