"""Groups of verbs. A verb's file is imported when the verb runs; its first line is the summary that `--help` lists."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

MARKUP: Any = "markdown"


class Verbs(TyperGroup):
    """A group that knows its verbs by name and summary, and imports the one that runs."""

    package = "sfumato.cli"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that runs, with its options."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None or isinstance(command, TyperGroup):
            return name, command, rest
        return name, command_of(self.package, name), rest


def command_of(package: str, name: str) -> Any:
    """A verb as its own file writes it: summary, text, examples and options."""
    module = import_module(f"{package}.{name}")
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=MARKUP)
    examples = "\n".join(module.EXAMPLES)
    text = f"{module.__doc__}\n\n{module.run.__doc__ or ''}"
    single.command(name, help=text, epilog=f"Examples:\n```text\n{examples}\n```")(module.run)
    return typer.main.get_command(single)


def verbs(app: typer.Typer) -> dict[str, Any]:
    """Every verb with its options, by what is typed after `sfumato`."""
    loaded: dict[str, Any] = {}
    groups: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    for path, group in groups:
        for name, command in group.commands.items():
            if isinstance(command, TyperGroup):
                groups.append((f"{path}{name} ", command))
            else:
                loaded[f"{path}{name}"] = command_of(group.package, name)
    return loaded


def add(app: typer.Typer, group: type[Verbs], panel: str | None, *names: str) -> None:
    """List verbs under a heading."""
    folder = Path(str(import_module(group.package).__file__)).parent
    for name in names:
        with (folder / f"{name}.py").open(encoding="utf-8") as file:
            summary = file.readline().strip().strip('"')
        app.command(name, help=summary, rich_help_panel=panel)(_listed)


def _listed() -> None:
    """What stands in the list for a verb that is not imported."""
