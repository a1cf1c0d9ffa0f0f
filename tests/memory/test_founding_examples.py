"""The examples of the published descriptions, over passages that state what their graphs show."""

from causalist.memory import HippoIndex, MemoryPipeline


def index_of(passages: dict[str, str]) -> HippoIndex:
    index = HippoIndex()
    for passage, text in passages.items():
        index.add_passage(passage, text)
    return index


def ids(index: HippoIndex, question: str, **options: int) -> list[str]:
    return [each.passage_id for each in index.retrieve(question, **options)]


DISTRACTORS = {
    f"d{i:02}": f"Team Number{i} met Guest Person{i} on the terrace and talked about work." for i in range(60)
}


def test_who_manages_the_team_that_handles_authentication() -> None:
    passages = {
        "jwt": "JWT authentication is handled by the Authentication Team.",
        "manager": "Authentication Team: Alice Moreau has been its manager since spring.",
        "other": "The Billing Team is managed by Bob Stone.",
    }
    index = index_of({**passages, **DISTRACTORS})
    question = "Who manages the team that handles JWT authentication?"
    assert set(ids(index, question)[:2]) == {"jwt", "manager"}
    answer = MemoryPipeline(index).run(question)
    assert answer.route.value == "multi_hop" and answer.hits[0].passage_id in ("jwt", "manager")


def test_a_chain_of_six_hops() -> None:
    names = [
        "Auth Gateway",
        "Token Service",
        "Ledger Core",
        "Vault Cluster",
        "Harbor Network",
        "North Site",
        "Alice Moreau",
    ]
    chain = {f"h{i}": f"{names[i]} depends on {names[i + 1]} for its work." for i in range(6)}
    index = index_of({**chain, **DISTRACTORS})
    found = index.retrieve_multi_hop("What is at the end of the Auth Gateway?", max_hops=6)
    assert [each.passage_id for each in found[:6]] == [f"h{i}" for i in range(6)]
    near = {each.entity: each.hops for each in index.entity_neighborhood("Auth Gateway", hops=6)}
    assert near == {name.lower().replace(" ", "_"): i for i, name in enumerate(names) if i}


def test_three_hops_from_a_name_at_the_start_of_a_sentence() -> None:
    index = index_of(
        {
            "python": "Python is related to Machine Learning, Web Dev and Data Science.",
            "ml": "Machine Learning is built on Neural Networks.",
            "web": "Web Dev is done with Flask.",
            "ds": "Data Science uses Pandas and NumPy.",
            "nn": "Neural Networks run on TensorFlow.",
        }
    )
    by_hops: dict[int, set[str]] = {}
    for each in index.entity_neighborhood("Python", hops=3):
        by_hops.setdefault(each.hops, set()).add(each.entity)
    assert by_hops == {
        1: {"machine_learning", "web_dev", "data_science"},
        2: {"neural_networks", "flask", "pandas", "numpy"},
        3: {"tensorflow"},
    }
    assert set(ids(index, "Python machine learning")[:2]) == {"python", "ml"}


def test_decisions_that_were_influenced_by_wrong_beliefs() -> None:
    index = index_of(
        {
            "belief": "It was believed that the Orders Queue would never fill up.",
            "wrong": "The Orders Queue fills up every Friday; what was believed turned out to be wrong.",
            "decision": "Decision 7: the Billing Worker reads the Orders Queue without a limit.",
            **DISTRACTORS,
        }
    )
    answer = MemoryPipeline(index).run("What decisions were influenced by beliefs that later turned out to be wrong?")
    assert answer.route.value == "multi_hop"
    assert {"wrong", "decision"} <= {hit.passage_id for hit in answer.hits[:3]}


def test_how_long_tokens_are_valid() -> None:
    index = index_of(
        {
            "expiry": "Token Expiry: a JWT token is valid for 24 hours.",
            "session": "A Session uses OAuth.",
            "lunch": "Lunch is at noon.",
        }
    )
    assert ids(index, "How long are tokens valid?")[0] == "expiry"


def test_patients_who_share_a_diagnosis() -> None:
    index = index_of(
        {
            "both": "Patient Ann Reed was diagnosed with Lupus and also has Diabetes.",
            "shared": "Patient Ben Cole was diagnosed with Lupus.",
            "other": "Patient Cem Aydin was diagnosed with Asthma.",
            **DISTRACTORS,
        }
    )
    question = "Which patients share a diagnosis with a patient who also has Diabetes?"
    assert ids(index, question)[:2] == ["both", "shared"]
    assert MemoryPipeline(index).run(question).route.value == "multi_hop"


def test_the_same_call_for_a_name_of_each_condition() -> None:
    index = index_of(
        {
            "both": "Patient Ann Reed has Condition Y and Diagnosis X.",
            "x": "Patient Ben Cole has Diagnosis X.",
            "y": "Patient Cem Aydin has Condition Y.",
            **DISTRACTORS,
        }
    )
    assert ids(index, "patients who share Diagnosis X and also have Condition Y")[0] == "both"
