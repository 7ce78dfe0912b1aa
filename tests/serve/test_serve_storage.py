"""The laws of storages, for SQLite and PostgreSQL alike."""

import dataclasses
import json
import shutil
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from fairduel.errors import InputError
from fairduel.serve import acts, schema
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import (
    Change,
    Decision,
    Drawn,
    Event,
    Frame,
    Option,
    Question,
    Settings,
    Vote,
)
from fairduel.serve.sqlite import SQLite
from fairduel.serve.storage import Connection, Database, Place, StorageError, open_database
from poll_tables import frame


def create(database: Database, made: Frame) -> Connection:
    connection = database.connect()
    with connection.transaction():
        connection.create(made)
    return connection


def append(connection: Connection, poll: int, *changes: Change) -> int:
    with connection.transaction():
        last = connection.lock(poll)
        assert last is not None
        entries = connection.append(poll, last, changes, at=1.0)
    return len(entries)


ASKED = Question(0, 1, 0, 1)
VOTED = Vote(0, 1, "left")


def test_a_poll_reads_back_as_it_was_made(database: Database) -> None:
    made = frame(secret=True, settings=Settings("egalitarian", True, "independent", False))
    connection = create(database, made)
    loaded = connection.load(made.poll.slug)
    assert loaded is not None
    assert loaded[0] == made
    assert loaded[1].entries == ()
    assert connection.slugs() == [made.poll.slug]
    assert connection.load("another") is None
    connection.close()


def test_names_of_any_script_are_kept(database: Database) -> None:
    names = ("<b>soup</b>", "مرق", "🍜", "';--", "O%s?", "naïve")
    made = frame(names, names)
    connection = create(database, made)
    loaded = connection.load(made.poll.slug)
    assert loaded is not None
    assert loaded[0] == made
    connection.close()


def test_the_log_is_numbered_without_gaps(database: Database) -> None:
    made = frame()
    connection = create(database, made)
    poll = made.poll.id
    append(connection, poll, Change((ASKED,)), Change((Question(1, 1, 2, 3),)))
    append(connection, poll, Change((VOTED, Question(0, 2, 1, 2))), Change())
    append(connection, poll, Change((Event("state", {"state": "paused"}),), {"state": "paused"}))
    news = connection.news(poll, 0)
    assert news is not None
    assert news.last_seq == 5
    assert news.entries == (
        (1, ASKED),
        (2, Question(1, 1, 2, 3)),
        (3, VOTED),
        (4, Question(0, 2, 1, 2)),
        (5, Event("state", {"state": "paused"})),
    )
    assert news.frame is not None
    assert news.frame.poll.state == "paused"
    later = connection.news(poll, 2)
    assert later is not None
    assert later.entries == news.entries[2:]
    calm = connection.news(poll, 5)
    assert calm is not None
    assert (calm.entries, calm.frame) == ((), None)
    connection.close()


@pytest.mark.parametrize("count", [1, 2])
def test_rows_are_added_and_replaced(database: Database, count: int) -> None:
    made = frame()
    connection = create(database, made)
    sides = Drawn(2, ((0, 0.1), (2, 0.9)), "ab"), Drawn(0, ((0, 1.0),), "ef")
    decision = Decision(1, sides[:count], "cd", 3, 1.5)
    change = Change(
        (Event("much"),),
        poll={"title": "Dinner", "settings": Settings("gini")},
        options=(Option(4, "stew"), Option(0, "curry", "retired")),
        voters=(dataclasses.replace(made.voters[1], state="removed", token_hash=None),),
        decisions=(decision,),
    )
    append(connection, made.poll.id, change)
    now = connection.frame(made.poll.id)
    assert now.poll.title == "Dinner"
    assert now.poll.settings == Settings("gini")
    assert [option.name for option in now.options] == ["curry", "pizza", "soup", "salad", "stew"]
    assert now.options[0].state == "retired"
    assert now.voters[1].state == "removed"
    assert now.decisions == (decision,)
    cancelled = dataclasses.replace(decision, cancelled_after=1, note="ill")
    append(connection, made.poll.id, Change((Event("cancelled"),), decisions=(cancelled,)))
    assert connection.frame(made.poll.id).decisions == (cancelled,)
    with pytest.raises(KeyError):
        append(connection, made.poll.id, Change(poll={"id": 3}))
    connection.close()


def test_nothing_is_half_written(database: Database) -> None:
    made = frame()
    connection = create(database, made)
    append(connection, made.poll.id, Change((ASKED,)))
    with pytest.raises(StorageError):  # the same question twice
        append(connection, made.poll.id, Change((VOTED,)), Change((ASKED,)))
    with suppress(ZeroDivisionError), connection.transaction():
        connection.append(made.poll.id, 1, [Change((VOTED,))], 0.0)
        1 / 0  # noqa: B018
    news = connection.news(made.poll.id, 0)
    assert news is not None
    assert (news.last_seq, news.entries) == (1, ((1, ASKED),))
    connection.close()


def test_a_snapshot_does_not_move(database: Database) -> None:
    made = frame()
    connection, other = create(database, made), database.connect()
    with connection.snapshot():
        assert connection.last_seq(made.poll.id) == 0
        append(other, made.poll.id, Change((ASKED,)))
        assert connection.last_seq(made.poll.id) == 0
    assert connection.last_seq(made.poll.id) == 1
    connection.close()
    other.close()


def test_tokens_open_their_places(database: Database) -> None:
    made = acts.new_poll("Lunch", ["a", "b"], ["ann", "bob"], organiser="boss", join=True)
    connection = create(database, made)
    slug = made.poll.slug
    everybody, bob = (acts.derived("boss", n) for n in (made.poll.join_nonce, made.voters[1].nonce))
    assert connection.place(acts.hashed("boss")) == Place("organiser", slug, None)
    assert connection.place(acts.hashed(everybody)) == Place("join", slug, None)
    assert connection.place(acts.hashed(bob)) == Place("voter", slug, 1)
    assert connection.place(bob) is None
    assert connection.place("") is None
    connection.close()


def test_keys_of_the_server_are_kept(database: Database) -> None:
    connection = database.connect()
    assert not connection.has_key("k")
    connection.add_key("k")
    connection.add_key("k")
    assert connection.has_key("k")
    connection.close()


def test_forgetting_deletes_one_voter(database: Database) -> None:
    made = frame()
    connection = create(database, made)
    poll = made.poll.id
    append(connection, poll, Change((ASKED, Question(1, 1, 0, 1), VOTED, Vote(1, 1, "tie"))))
    loaded = connection.load(made.poll.slug)
    assert loaded is not None
    append(connection, poll, acts.forget(Ledger(*loaded), 0))
    news = connection.news(poll, 0)
    assert news is not None
    assert [seq for seq, _ in news.entries] == [2, 4, 5]
    assert news.frame is not None
    assert news.frame.voters[0].name == ""
    connection.close()


def test_deleting_leaves_nothing(database: Database) -> None:
    made, kept = frame(), frame()
    connection = create(database, made)
    with connection.transaction():
        connection.create(kept)
    append(connection, made.poll.id, Change((ASKED, VOTED, Event("x"))))
    append(connection, kept.poll.id, Change((ASKED,)))
    with connection.transaction():
        connection.delete(made.poll.id)
    assert connection.slugs() == [kept.poll.slug]
    assert connection.news(made.poll.id, 0) is None
    for table in ("option", "voter", "question", "vote", "event", "decision"):
        left = connection.rows(f"SELECT 1 FROM {table} WHERE poll_id = ?", (made.poll.id,))
        assert left == []
    assert connection.last_seq(kept.poll.id) == 1
    connection.close()


def test_many_writers_leave_no_gap(database: Database) -> None:
    made = frame()
    create(database, made).close()

    def write(voter: int) -> None:
        connection = database.connect()
        for n in range(1, 21):
            append(connection, made.poll.id, Change((Question(voter, n, 0, 1),)))
        connection.close()

    threads = [threading.Thread(target=write, args=(voter,)) for voter in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection = database.connect()
    news = connection.news(made.poll.id, 0)
    assert news is not None
    assert news.last_seq == 60
    assert [seq for seq, _ in news.entries] == list(range(1, 61))
    connection.close()


# Versions


def test_a_newer_version_is_left_alone(database: Database) -> None:
    connection = database.connect()
    connection.rows("UPDATE meta SET value = '99'")
    connection.close()
    with pytest.raises(InputError, match="newer fairduel"):
        database.migrate()


def test_migrating_again_changes_nothing(database: Database) -> None:
    made = frame()
    connection = create(database, made)
    database.migrate()
    loaded = connection.load(made.poll.slug)
    connection.close()
    assert loaded is not None
    assert loaded[0] == made


def test_a_migration_keeps_the_polls(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    made = frame()
    create(database, made).close()
    script = "CREATE TABLE more(x INTEGER); ALTER TABLE poll ADD COLUMN colour TEXT"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, script))
    if not isinstance(database, SQLite):
        with pytest.raises(InputError, match="pg_dump"):
            database.migrate()
    database.migrate(confirmed=True)
    connection = database.connect()
    loaded = connection.load(made.poll.slug)
    assert loaded is not None
    assert loaded[0] == made
    assert connection.rows("SELECT colour FROM poll") == [(None,)]
    connection.close()


def test_a_migration_that_fails_leaves_all_as_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "CREATE TABLE more(x INTEGER); CREATE TABLE poll(x INTEGER)"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    with pytest.raises(StorageError):
        database.migrate(confirmed=True)
    monkeypatch.undo()
    database.migrate()
    connection = database.connect()
    with pytest.raises(StorageError):
        connection.rows("SELECT 1 FROM more")
    connection.close()


def test_a_file_is_backed_up_before_it_migrates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = SQLite(tmp_path / "polls.db")
    database.migrate()
    made = frame()
    create(database, made).close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE more(x INTEGER)"))
    database.migrate()
    before = len(schema.MIGRATIONS) - 1
    copy = sqlite3.connect(tmp_path / f"polls.db.version-{before}")
    assert copy.execute("SELECT slug FROM poll").fetchall() == [(made.poll.slug,)]
    assert copy.execute("SELECT value FROM meta").fetchall() == [(str(before),)]
    copy.close()


def test_polls_of_the_first_version_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = SQLite(tmp_path / "polls.db")
    made = frame()
    with monkeypatch.context() as old:
        old.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        database.migrate()
        connection = database.connect()
        settings = json.dumps({"welfare": "gini", "repeats": True, "draw": "even"})
        words = made.poll.id, made.poll.slug, "Lunch", "", "open", 0, settings, "00"
        poll = *words, made.poll.organiser_hash, None, "", 0, 1.5
        connection.rows(f"INSERT INTO poll VALUES ({','.join('?' * 13)})", poll)
        row = (made.poll.id, 1, 2, "[[0, 0.5], [2, 0.5]]", "ab", "cd", 3, 1.5, None, "")
        connection.rows(f"INSERT INTO decision VALUES ({','.join('?' * 10)})", row)
        connection.close()
    database.migrate()
    now = database.connect()
    read = now.frame(made.poll.id)
    now.close()
    assert read.poll.settings == Settings("gini", repeats=True, mode="poll")
    drawn = Drawn(2, ((0, 0.5), (2, 0.5)), "ab")
    assert read.decisions == (Decision(1, (drawn,), "cd", 3, 1.5),)


def test_a_file_commits_to_disk(tmp_path: Path) -> None:
    connection = SQLite(tmp_path / "polls.db").connect()
    assert connection.rows("PRAGMA journal_mode") == [("wal",)]
    assert connection.rows("PRAGMA synchronous") == [(2,)]
    connection.close()


def test_answers_that_come_too_soon_are_counted_while_they_count(database: Database) -> None:
    made = frame()
    connection = create(database, made)
    votes = [
        *(Vote(0, 1, "left"), Vote(1, 1, "left"), Vote(0, 2, "right")),
        *(Vote(0, 2, "undo"), Vote(0, 1, "undo"), Vote(0, 2, "tie")),
    ]
    counts = []
    for at, vote in enumerate(votes):
        with connection.transaction():
            connection.lock(made.poll.id)
            connection.append(made.poll.id, at, [Change((vote,))], 10.0 + 0.3 * at)
        counts.append(connection.hasty(made.poll.id, 0.7))
    # The last one came less than 0.7 s after an undo, but more after an answer.
    assert counts == [{}, {}, {0: 1}, {}, {}, {}]
    assert connection.hasty(made.poll.id, 1.0) == {0: 1}
    assert connection.votes_of(made.poll.id, 1) == [(Vote(1, 1, "left"), 10.3)]
    assert [vote for vote, _ in connection.votes_of(made.poll.id, 0)] == [votes[0], *votes[2:]]
    connection.close()


def test_what_a_crash_left_in_the_log_is_copied_before_it_counts(tmp_path: Path) -> None:
    """Its sync may have failed, and nobody can tell."""
    database = SQLite(tmp_path / "polls.db")
    database.migrate()
    made = frame()
    crashed = create(database, made)
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"polls.db{end}", tmp_path / f"left.db{end}")
    crashed.close()
    connection = SQLite(tmp_path / "left.db").connect()
    with connection.transaction():
        shutil.copy(tmp_path / "left.db", tmp_path / "alone.db")  # without the log
    connection.close()
    alone = SQLite(tmp_path / "alone.db").connect()
    assert alone.slugs() == [made.poll.slug]
    alone.close()


def test_only_the_owner_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = SQLite(tmp_path / "polls.db")
    database.migrate()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE more(x INTEGER)"))
    database.migrate()
    connection = create(database, frame())
    files = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    connection.close()
    assert len(files) == 4  # the log, the index of the log, and the backup
    assert set(files.values()) == {0o600}


# Places that do not work


@pytest.mark.parametrize("name", ["no/such/folder/polls.db", "."])
def test_a_file_that_cannot_be_opened(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot open"):
        open_database(name).migrate()


def test_a_file_that_cannot_be_opened_later(tmp_path: Path) -> None:
    folder = tmp_path / "polls"
    folder.mkdir()
    database = SQLite(folder / "polls.db")
    database.migrate()
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="does not work now"):  # nobody gave a wrong name
        database.connect()


def test_a_file_of_something_else(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Dear diary, " * 99)
    with pytest.raises(InputError, match=r"notes\.txt"):
        open_database(str(file)).migrate()
    assert file.read_text() == "Dear diary, " * 99


@pytest.mark.parametrize("table", ["song", "meta"])
def test_the_file_of_another_program_stays_as_it_is(tmp_path: Path, table: str) -> None:
    file = tmp_path / "music.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute(f"CREATE TABLE {table}(title TEXT)")
        other.commit()
    before = file.read_bytes()
    with pytest.raises(InputError, match="of another program: give the name of"):
        open_database(str(file)).migrate()
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_an_address_of_another_kind() -> None:
    with pytest.raises(InputError, match="postgresql://"):
        open_database("mysql://somewhere/polls")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StorageError, match="does not answer"):
        open_database("postgresql://127.0.0.1:1/polls").migrate()


def test_passwords_are_not_shown() -> None:
    assert "xyz" not in str(open_database("postgresql://me:xyz@host/polls"))
