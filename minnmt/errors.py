"""The one exception that a user sees: a sentence that says what is wrong, where, and what to do."""

OVERFLOW = "the network gave no finite number: the model's weights are damaged, or far too large"
program = "python cli.py"  # how the user has called it; cli.py says so if it was installed


def call(arguments):
    """A command for the user to type: "train -o runs/deen" -> "python cli.py train -o runs/deen"."""
    return f"{program} {arguments}"


class UserError(Exception):
    """A mistake or misfortune outside the program: bad file, full disk, mismatched model. Exit code 1."""

    exit_code = 1


class UsageError(UserError):
    """The command line asks for something that cannot be done. Exit code 2."""

    exit_code = 2


def quoted(text, most=60):
    """The beginning of what a file or a user wrote, for a sentence: on one line, and nothing invisible in it."""
    return repr(str(text)[:most])
