"""Reads files as the programs do that they are for.

Usage: reader.py FORMAT FILE. FILE has the content of a file on each line, in hexadecimal digits. The answer has a line for
each: `unreadable`, or `SECTION KEY VALUE` for each setting, in hexadecimal digits with commas between. VALUE is `none` for a key
without a value.
"""

import concurrent.futures
import configparser
import os
import re
import subprocess
import sys
import tempfile


class Unreadable(Exception):
    pass


def of_configparser(content, key_form=str.lower):
    parser = configparser.RawConfigParser(allow_no_value=True, strict=key_form is str, default_section="\0")
    parser.optionxform = key_form
    try:
        parser.read_string(content.decode(errors="surrogateescape"))
    except (configparser.Error, AttributeError):
        raise Unreadable from None
    for section in parser.sections():
        for key, value in parser.items(section):
            yield section, key, value


def of_systemd(content):
    """The rules of systemd.syntax(7)."""
    section, held = "", None
    lines = content.decode(errors="surrogateescape").replace("\r\n", "\n").split("\n")
    for line in lines + [""]:
        if line.strip().startswith(("#", ";")):
            continue
        text = line if held is None else held + line
        backslashes = len(text) - len(text.rstrip("\\"))
        if backslashes % 2:
            held = text[:-1] + " "
            continue
        held = None
        text = text.strip()
        if text.startswith("["):
            if not text.endswith("]"):
                raise Unreadable
            section = text[1:-1]
        elif "=" in text:
            key, value = text.split("=", 1)
            yield section, key.strip(), value.strip()


def in_file(content, read):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "file")
        with open(path, "wb") as file:
            file.write(content)
        return read(path, directory)


def call(*command, **options):
    return subprocess.run(command, capture_output=True, **options)


def of_git(content):
    def read(path, directory):
        environment = {**os.environ, "HOME": directory, "GIT_CONFIG_NOSYSTEM": "1"}
        result = call("git", "config", "--file", path, "--null", "--list", env=environment, cwd=directory)
        if result.returncode:
            raise Unreadable
        return result.stdout

    for entry in in_file(content, read).split(b"\0")[:-1]:
        name, has_value, value = entry.decode(errors="surrogateescape").partition("\n")
        section, _, key = name.rpartition(".")
        yield section, key, value if has_value else None


def of_mysql(content):
    def read(path, _):
        groups = dict.fromkeys(
            found.strip().lower() for found in re.findall(rb"(?m)^[ \t]*\[([^\]\n]*)\]", content)
        )
        found = []
        for group in groups:
            # As an option that begins with dashes, a group would be one of the program.
            result = call("my_print_defaults", "--defaults-file=" + path, group)
            if result.returncode or result.stderr:
                raise Unreadable
            found.append((group.decode(errors="surrogateescape"), result.stdout))
        return found

    for group, output in in_file(content, read):
        for line in output.decode(errors="surrogateescape").split("\n")[:-1]:
            key, has_value, value = line.removeprefix("--").partition("=")
            yield group, key, value if has_value else None


def of_samba(content):
    def read(path, _):
        result = call("testparm", "--suppress-prompt", "--debuglevel=0", path)
        # The exit code also tells of directories that a server needs.
        if b"Loaded services file OK" not in result.stderr:
            raise Unreadable
        return result.stdout

    section = ""
    for line in in_file(content, read).decode(errors="surrogateescape").split("\n"):
        if line.startswith("["):
            section = line[1:-1]
        elif line.startswith("\t"):
            key, value = line[1:].split(" = ", 1) if " = " in line else (line[1:].rstrip(" ="), "")
            # This says that a share has no path, and no file sets it.
            if key != "available":
                yield section, key, value


def of_exact(content):
    """Keys that only differ in case are two, as for most programs, and a key twice is an error."""
    return of_configparser(content, str)


READERS = {"ini": of_configparser, "exact": of_exact, "systemd": of_systemd, "git": of_git, "mysql": of_mysql, "samba": of_samba}


def answer(line):
    try:
        found = list(READERS[sys.argv[1]](bytes.fromhex(line)))
    except Unreadable:
        return "unreadable"
    digits = lambda text: "none" if text is None else text.encode(errors="surrogateescape").hex()
    return ",".join(" ".join(map(digits, setting)) for setting in found)


with open(sys.argv[2]) as file, concurrent.futures.ThreadPoolExecutor(4) as pool:
    for line in pool.map(answer, file.read().split("\n")[:-1]):
        print(line)
