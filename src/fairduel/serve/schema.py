"""The tables and their versions. Both databases read the same words."""

from __future__ import annotations

TABLES = """
CREATE TABLE poll(
    id BIGINT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, title TEXT NOT NULL, prompt TEXT NOT NULL,
    state TEXT NOT NULL, secret INTEGER NOT NULL, settings TEXT NOT NULL, seed TEXT NOT NULL,
    organiser_hash TEXT NOT NULL UNIQUE, join_hash TEXT UNIQUE, join_nonce TEXT NOT NULL,
    last_seq BIGINT NOT NULL, created_at DOUBLE PRECISION NOT NULL);
CREATE TABLE option(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    name TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY(poll_id, position));
CREATE TABLE voter(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, position INTEGER NOT NULL,
    name TEXT NOT NULL, token_hash TEXT UNIQUE, state TEXT NOT NULL, nonce TEXT NOT NULL,
    PRIMARY KEY(poll_id, position));
CREATE TABLE question(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, seq BIGINT NOT NULL,
    voter INTEGER NOT NULL, n INTEGER NOT NULL, left_option INTEGER NOT NULL,
    right_option INTEGER NOT NULL, at DOUBLE PRECISION NOT NULL, PRIMARY KEY(poll_id, seq),
    UNIQUE(poll_id, voter, n));
CREATE TABLE vote(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, seq BIGINT NOT NULL,
    voter INTEGER NOT NULL, n INTEGER NOT NULL, answer TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, PRIMARY KEY(poll_id, seq));
CREATE TABLE event(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, seq BIGINT NOT NULL,
    kind TEXT NOT NULL, data TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY(poll_id, seq));
CREATE TABLE decision(
    poll_id BIGINT NOT NULL REFERENCES poll(id) ON DELETE CASCADE, number INTEGER NOT NULL,
    option INTEGER NOT NULL, policy TEXT NOT NULL, draw TEXT NOT NULL, commitment TEXT NOT NULL,
    after_seq BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, cancelled_after INTEGER,
    note TEXT NOT NULL, PRIMARY KEY(poll_id, number));
CREATE TABLE server_key(hash TEXT PRIMARY KEY)
"""

LIVE = """
ALTER TABLE decision ADD COLUMN other INTEGER;
ALTER TABLE decision ADD COLUMN other_policy TEXT;
ALTER TABLE decision ADD COLUMN other_draw TEXT
"""
"""The second option of decisions in live polls."""

MIGRATIONS: tuple[str, ...] = (TABLES, LIVE)
"""The n-th leads from version n - 1 to n; a script of statements with ";" between."""


def statements(script: str) -> list[str]:
    """Return the statements of a script; none has a ";" within."""
    return [part.strip() for part in script.split(";") if part.strip()]
