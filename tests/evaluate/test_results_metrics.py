"""Metrics and their intervals, worked by hand."""

import numpy as np
import pytest

from causalist.evaluate.results import METRICS, Interval, accuracy, bootstrap, metric_values, recall, reciprocal_rank


def test_accuracy_wants_all_right_answers_among_the_first_k() -> None:
    # Answers at 2 and 5: the last of them decides, so 0 up to k = 4 and 1 from k = 5.
    assert [accuracy([2, 5], k) for k in (1, 2, 4, 5, 10)] == [0, 0, 0, 1, 1]
    # One that is not in the list keeps it at 0 for every k.
    assert [accuracy([1, None], k) for k in (1, 10)] == [0, 0]


def test_recall_is_the_share_of_right_answers_among_the_first_k() -> None:
    # Answers at 1, 4, 11 and nowhere: 1 of 4, 2 of 4, 2 of 4, 3 of 4.
    assert [recall([1, 4, 11, None], k) for k in (1, 4, 10, 11)] == [0.25, 0.5, 0.5, 0.75]


def test_reciprocal_rank_counts_the_first_right_answer() -> None:
    # The best of 8 and 4 is 4: 1/4. Nothing found: 0.
    assert reciprocal_rank([8, 4]) == 0.25
    assert reciprocal_rank([None, 1]) == 1.0
    assert reciprocal_rank([None, None]) == 0.0


def test_all_metrics_of_three_questions() -> None:
    questions = [[1], [3, 17], [None]]
    values = metric_values(questions, list(METRICS))
    assert values.tolist() == [
        # accuracy@1  @3   @5   @10  MRR  recall@10  @20
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],  # at 1
        [0.0, 0.0, 0.0, 0.0, 1 / 3, 0.5, 1.0],  # at 3 and 17: both among 20, one among 10
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # not found
    ]
    # Means: accuracy@1 1/3, accuracy@10 1/3, MRR (1 + 1/3 + 0) / 3 = 4/9.
    means = {name: i.value for name, i in zip(METRICS, bootstrap(values), strict=True)}
    assert means["accuracy@1"] == pytest.approx(1 / 3)
    assert means["accuracy@10"] == pytest.approx(1 / 3)
    assert means["MRR"] == pytest.approx(4 / 9)


def test_bootstrap_is_deterministic_and_depends_on_the_seed() -> None:
    values = np.random.default_rng(5).random((40, 3))
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(values) != bootstrap(values, seed=1)


def test_bootstrap_agrees_with_resampling_written_out() -> None:
    values = np.array([[0.0], [1.0], [1.0], [0.0], [1.0]])
    random = np.random.default_rng(0)
    means = sorted(values[random.integers(0, 5, 5), 0].mean() for _ in range(2000))
    # Percentile p of 2,000 sorted means lies at position p * 1999: 49.975 and 1949.025, with linear interpolation.
    low = means[49] + 0.975 * (means[50] - means[49])
    high = means[1949] + 0.025 * (means[1950] - means[1949])
    assert bootstrap(values) == [pytest.approx(Interval(0.6, low, high))]


def test_equal_values_have_an_interval_without_width() -> None:
    # Whatever is drawn, the mean of ones is one; a difference that is always 0.25 is never anything else.
    assert bootstrap(np.column_stack([np.ones(7), np.full(7, 0.25)])) == [(1.0, 1.0, 1.0), (0.25, 0.25, 0.25)]


def test_differences_are_paired() -> None:
    # Questions differ much, systems by 0.1 in each question: the difference is certain, the means are not.
    one = np.linspace(0.0, 0.9, 30)
    first, second = bootstrap(np.column_stack([one + 0.1, one]))
    difference = bootstrap(((one + 0.1) - one)[:, None])[0]
    assert first.low < second.high
    assert difference == pytest.approx(Interval(0.1, 0.1, 0.1))


@pytest.mark.slow
def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    # 100 questions that are right with probability 0.6, 300 times: 95 % of the intervals should hold 0.6. The standard
    # error of that share is sqrt(0.95 * 0.05 / 300) = 1.3 %, and a percentile interval is a little too narrow.
    random = np.random.default_rng(7)
    samples = [(random.random((100, 1)) < 0.6).astype(float) for _ in range(300)]
    intervals = [bootstrap(sample, n_resamples=400)[0] for sample in samples]
    covered = sum(i.low <= 0.6 <= i.high for i in intervals) / len(intervals)
    assert 0.90 <= covered <= 0.985
    # The standard error of a mean is sqrt(0.6 * 0.4 / 100) = 0.049; an interval is about 2 * 1.96 * 0.049 = 0.192 wide.
    assert np.mean([i.high - i.low for i in intervals]) == pytest.approx(0.192, abs=0.01)


def test_no_questions_have_no_interval() -> None:
    with pytest.raises(ValueError, match="without questions"):
        bootstrap(np.zeros((0, 2)))
