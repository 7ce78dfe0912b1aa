"""Files are written whole or not at all."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairduel._files import ABANDONED, make_folder, read_whole, remove_abandoned, write_whole
from fairduel.errors import InputError


@pytest.fixture
def umask_022() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_writes_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    for data in (b"first", bytes(range(256)) * 5000, b""):
        write_whole(path, data)
        assert read_whole(str(path)) == data
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("old", [b"old", None])
def test_a_failure_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, old: bytes | None
) -> None:
    path = tmp_path / "data.bin"
    if old is not None:
        path.write_bytes(old)
    before = sorted(tmp_path.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(InputError, match=r"cannot write '.*data\.bin': No space left on device: "):
        write_whole(path, b"new")
    assert sorted(tmp_path.iterdir()) == before
    assert old is None or path.read_bytes() == old


def test_an_interruption_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


def test_what_killed_writers_have_left_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / ".fairduel-old.tmp", tmp_path / ".fairduel-new.tmp"
    for file, age in ((old, 2 * ABANDONED), (new, 0.0)):
        file.write_bytes(b"half")
        os.utime(file, (time.time() - age,) * 2)
    (tmp_path / "mine.tmp").touch()
    os.utime(tmp_path / "mine.tmp", (0, 0))
    write_whole(tmp_path / "data.bin", b"new")
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"data.bin", "mine.tmp", new.name}  # somebody may be writing the newer one


def test_leftover_that_goes_while_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / ".fairduel-gone.tmp"
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: iter([gone]))
    remove_abandoned(tmp_path)


def test_the_data_are_on_disk_before_the_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(file: int) -> None:
        steps.append("fsync")
        fsync(file)

    def noted_replace(old: Path, new: Path) -> None:
        steps.append("replace")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_whole(tmp_path / "data.bin", b"new")
    assert steps[:2] == ["fsync", "replace"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
@pytest.mark.usefixtures("umask_022")
def test_permissions_are_those_of_the_umask_or_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    write_whole(path, b"new")
    assert mode(path) == 0o644
    for kept in (0o600, 0o666):
        path.chmod(kept)
        write_whole(path, b"newer")
        assert mode(path) == kept


@pytest.mark.skipif(os.name == "nt", reason="symbolic links")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    target, link = tmp_path / "place" / "data.bin", tmp_path / "link.bin"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="pipes")
def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a regular file"):
        write_whole(pipe, b"new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_write_protected_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to anything
    with pytest.raises(InputError, match="the file is write-protected"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["missing/data.bin", "file/data.bin", "directory", "", "a\0b"])
def test_paths_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()
    before = sorted(tmp_path.iterdir())
    path = os.path.join(tmp_path, name) if name else ""
    with pytest.raises(InputError, match=r"cannot write '.*'.*: give a file name in a directory"):
        write_whole(path, b"new")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["missing.bin", "", "a\0b"])
def test_paths_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot read '.*'.*: give the name of a file"):
        read_whole(os.path.join(tmp_path, name))


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        with pytest.raises(InputError, match="a file has that name"):
            make_folder(folder)
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_full_disk_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device: free some space"):
        write_whole(tmp_path / "file", b"data")
    assert list(tmp_path.iterdir()) == []
