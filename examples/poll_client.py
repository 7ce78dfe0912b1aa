"""A program that makes a poll on a running server, votes in it, and draws a decision.

    fairduel serve
    python examples/poll_client.py LINK    the link that the server has printed

The votes are made up. `pip install 'fairduel[serve]' httpx` installs what this needs.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import httpx

LIKES = {  # from best to worst
    "Ann": ["salad", "soup", "pizza", "curry"],
    "Bob": ["curry", "pizza", "salad", "soup"],
    "Cleo": ["soup", "salad", "curry", "pizza"],
    "Dan": ["pizza", "curry", "soup", "salad"],
}


@dataclass
class Api:
    """The server's API with a token: what goes wrong ends it with the server's own sentence."""

    url: str
    token: str

    def __call__(self, method: str, path: str, **body: Any) -> Any:
        try:
            answer = httpx.request(
                method,
                f"{self.url}/api/v1{path}",
                json=body or None,
                headers={"Authorization": f"Bearer {self.token}"},
                timeout=300,  # the first policy may wait for kernels to compile
            )
            said = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise SystemExit(f"no server of polls answers at {self.url!r} ({error}).") from error
        if answer.is_error:
            raise SystemExit(said.get("detail", answer.text))
        return said


def vote(url: str, path: str, token: str, likes: list[str]) -> int:
    """Answer all questions of one voter; return how many there were."""
    api, answered = Api(url, token), 0
    waiting = api("GET", f"{path}/question")
    while waiting["question"] is not None and waiting["answered"] < waiting["target"]:
        question = waiting["question"]
        left, right = (likes.index(question[side]["name"]) for side in ("left", "right"))
        # Sent twice, this would still be one vote: the question's number says which.
        place = f"{path}/questions/{question['n']}/vote"
        waiting = api("PUT", place, answer="left" if left < right else "right")
        answered += 1
    return answered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("link", help="the link that `fairduel serve` has printed")
    link = parser.parse_args().link
    url, _, key = link.partition("/start/")
    if not key:
        parser.error(f"{link!r} is no link to make polls: give the one that the server printed.")
    made = Api(url, key)(
        "POST", "/polls", title="Lunch", options=LIKES["Ann"], voters=list(LIKES), open=True
    )
    path = f"/polls/{made['poll']['slug']}"
    for voter in made["voters"]:
        count = vote(url, path, voter["token"], LIKES[voter["name"]])
        print(f"{voter['name']} has answered {count} questions")
    organiser = Api(url, made["organiser"]["token"])
    (drawn,) = organiser("PUT", f"{path}/decisions/1")["drawn"]  # a live poll draws two options
    shares = {int(position): share for position, share in drawn["policy"].items()}
    for option in made["poll"]["options"]:
        print(f"{option['name']:6} {shares[option['position']]:5.0%}")
    print(f"drawn: {drawn['option']['name']}")
    print(f"the board: {made['organiser']['link']}")


if __name__ == "__main__":
    main()
