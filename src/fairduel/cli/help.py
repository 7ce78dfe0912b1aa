"""Help texts that show arguments by their plain names."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose arguments have no braces and no Python types around their names."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"^\{(.*)\}(\.\.\.)?$", r"\1", piece) for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                name, text = record
                sections[parameter.param_type_name].append((re.sub(r" <.*>$", "", name), text))
        for kind, records in sections.items():
            if records:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(records)
