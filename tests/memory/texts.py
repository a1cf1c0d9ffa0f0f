"""Small memories for tests."""

from causalist.memory import HippoIndex

# The chain of a question that no single passage answers, and passages that have nothing to do with it.
TEAM = {
    "jwt": "Every request carries a JWT. JWT Authentication is handled by the Identity Team.",
    "lead": "The Identity Team is managed by Alice Moreau since 2021.",
    "lunch": "Lunch is served at noon by the Kitchen Crew.",
    "printer": "The printer on the third floor belongs to Facility Services.",
    "kitchen": "The Kitchen Crew is managed by Bob Stone.",
}


def team(**options: object) -> HippoIndex:
    index = HippoIndex(**options)  # type: ignore[arg-type]
    for passage, text in TEAM.items():
        index.add_passage(passage, text)
    return index
