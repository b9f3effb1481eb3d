"""Commands that take an action, such as `recollect merges approve ID`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


class CommandWithActions(click.Command):
    """A command whose first argument is an action; its help has a line for each action.

    `actions`: what each does, by its name and arguments, such as `approve ID`. The first one is the
    default, unless the action is `required`.
    """

    def __init__(
        self,
        *,
        actions: Mapping[str, str],
        required: bool = False,
        params: Sequence[click.Parameter] = (),
        **attributes: Any,
    ) -> None:
        names = [usage.split()[0] for usage in actions]
        action = click.Argument(
            ["action"],
            metavar="ACTION" if required else "[ACTION]",
            type=click.Choice(names),
            required=required,
            default=None if required else names[0],
        )
        super().__init__(params=[action, *params], **attributes)
        self._actions = actions
        self._title = "Actions" if required else f"Actions (default: {names[0]})"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(self._title):
            formatter.write_dl(list(self._actions.items()))
        super().format_options(ctx, formatter)
