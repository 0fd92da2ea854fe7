import json

from pipeline.evaluate.report import Claim, Report, at_least, at_most


def _report(*claims: Claim) -> Report:
    return Report(
        name="recall",
        version="1",
        config={"k": 5},
        machine={"cpus": 2},
        claims=claims,
        extra={"rows": [1, 2], "name": "ignored"},
    )


def test_a_report_is_one_line_of_the_agreed_form() -> None:
    report = _report(at_least("recall at 5", 0.61, 0.5, unit="fraction"))

    line = report.to_json()

    assert "\n" not in line
    document = json.loads(line)
    assert list(document) == ["name", "version", "config", "machine", "claims", "rows"]
    assert document["name"] == "recall"
    assert document["claims"] == [
        {"claim": "recall at 5", "value": 0.61, "unit": "fraction", "bar": 0.5, "holds": True}
    ]


def test_a_claim_without_a_bar_neither_holds_nor_fails() -> None:
    report = _report(Claim(claim="entries", value=12, unit="count"))

    assert report.failed == ()
    assert json.loads(report.to_json())["claims"][0]["holds"] is None


def test_missed_bars_are_listed() -> None:
    slow = at_most("start", 30.0, 20.0, unit="s")

    assert _report(slow, at_most("stop", 3.0, 20.0, unit="s")).failed == (slow,)
