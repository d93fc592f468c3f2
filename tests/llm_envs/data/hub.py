"""Tables as the hub has them, in a folder: the real library reads them, and nothing else of it is known here."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from llm_envs.data import hub

Rows = Sequence[Mapping[str, Any]]


class FolderHub:
    """Puts tables where the loaders look for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, repository: str, splits: Mapping[str, Rows], config: str | None = None) -> None:
        """A table in Parquet. Configurations of one repository are told apart by its card, as on the hub."""
        home = f"{repository}/{config or 'data'}"
        for split, rows in splits.items():
            self.parquet(f"{home}/{split}-00000-of-00001.parquet", rows)
        if config is not None:
            self._name_config(self.folder / repository / "README.md", config, tuple(splits))

    def _name_config(self, card: Path, config: str, splits: Sequence[str]) -> None:
        text = card.read_text() if card.exists() else "---\nconfigs:\n---\n"
        files = "".join(f"  - split: {split}\n    path: {config}/{split}-*\n" for split in splits)
        card.write_text(text.removesuffix("---\n") + f"- config_name: {config}\n  data_files:\n{files}---\n")

    def parquet(self, file: str, rows: Rows) -> None:
        """A file in Parquet."""
        from datasets import Dataset

        Dataset.from_list([dict(row) for row in rows]).to_parquet(self._path(file))

    def lines(self, file: str, rows: Rows) -> None:
        """A file of JSON Lines."""
        self._path(file).write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def _path(self, file: str) -> Path:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def folder_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderHub:
    """The library takes a name for a folder where there is one, and files by their paths; skips where it is missing."""
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(hub, "HUB", str(folder))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return FolderHub(folder)
