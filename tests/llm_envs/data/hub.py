"""Tables as the hub has them, in a folder: the real library reads them, and nothing else of it is known here."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import pytest

from llm_envs.data import hub

Rows = Sequence[Mapping[str, Any]]


class FolderHub:
    """Puts tables where the loaders look for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, repository: str, splits: Mapping[str, Rows], config: str | None = None) -> None:
        """A table in Parquet. Several configurations of one repository are told apart by its card, as on the hub."""
        home = self.folder / repository
        for split, rows in splits.items():
            path = home / (config or "data") / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            datasets.Dataset.from_list([dict(row) for row in rows]).to_parquet(path)
        if config is not None:
            self._name_config(home / "README.md", config, tuple(splits))

    def _name_config(self, card: Path, config: str, splits: Sequence[str]) -> None:
        text = card.read_text() if card.exists() else "---\nconfigs:\n---\n"
        files = "".join(f"  - split: {split}\n    path: {config}/{split}-*\n" for split in splits)
        card.write_text(text.removesuffix("---\n") + f"- config_name: {config}\n  data_files:\n{files}---\n")

    def lines(self, file: str, rows: Rows) -> None:
        """A file of JSON Lines."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def parquet(self, file: str, rows: Rows) -> None:
        """A file in Parquet."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        datasets.Dataset.from_list([dict(row) for row in rows]).to_parquet(path)


def folder_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderHub:
    """The library takes a name for a folder where there is one, and files by their paths."""
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(hub, "HUB", str(folder))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return FolderHub(folder)


def write_lines(path: Path, rows: Sequence[Any]) -> str:
    """A local file of JSON Lines; texts among the rows are written as they are."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return str(path)
