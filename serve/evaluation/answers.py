"""Answers to a benchmark's questions by a chat model, scored by its rules.

A context of the service is all that the model is given. Whatever fails counts by its reason and
has no score.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from pipeline.chat import ChatPurpose, ChatRequest
from pipeline.errors import SlowwaveError
from pipeline.evaluate.answers import by_group, is_yes, locomo_score, order_score, rubric_score
from pipeline.evaluate.consistency import Consistency, consistency
from pipeline.evaluate.posed import Judged, Posed, Rubric, WordsShared, chosen
from pipeline.messages import Json, TenantId
from pipeline.ports import ChatModel, EntailmentModel
from pipeline.prompts import PromptLanguage, PromptName, prompt
from pipeline.text.languages import language
from serve.client import Client

TENANT = TenantId("evaluation")
BUDGET = 2_000
JUDGES_SCORE = "judge"
_ANSWER_TOKENS = 1_024
_VERDICT_TOKENS = 256
_SCORE_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"score": {"enum": [0, 0.5, 1]}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """Who answers, who judges, and who says what follows; None where nobody does.

    All calls of one jury are made in one loop, which connections belong to; ``close`` ends both.
    """

    reader: ChatModel
    judge: ChatModel | None = None
    entailment: EntailmentModel | None = None
    calls: int = 8
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def close(self) -> None:
        """Ends the connections of its chat models, and the loop."""
        for model in (self.reader, self.judge):
            close = getattr(model, "close", None)
            if close is not None:
                self.runner.run(_ended(close()))
        self.runner.close()

    @property
    def names(self) -> dict[str, Json]:
        """Who they are, what they are asked with, and how many tokens an answer rests on."""
        return {
            "reader": self.reader.name,
            "judge": None if self.judge is None else self.judge.name,
            "entailment": None if self.entailment is None else self.entailment.name,
            "context_tokens": BUDGET,
            "prompts": {
                name: prompt(name, language="en").version
                for name in ("eval_answer", "eval_rubric", "eval_same", "eval_right")
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer with its scores by name, each in 0..1; ``failure`` says why one has none."""

    posed: Posed
    text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    consistency: Consistency = field(default_factory=Consistency)
    failure: str | None = None


class Counting:
    """A chat model that counts what its calls took."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.calls = self.tokens_in = self.tokens_out = 0

    async def ask(self, name: PromptName, text: str, *, tokens: int, as_score: bool = False) -> str:
        """What the model says to a prompt and a text. Raises as ChatModel does."""
        spoken: PromptLanguage = "zh" if language(text) == "zh" else "en"
        reply = await self._model.reply(
            ChatRequest(
                tenant=TENANT,
                purpose=ChatPurpose.ANSWER,
                system=prompt(name, language=spoken).render(),
                user=text,
                max_tokens=tokens,
                schema=_SCORE_SCHEMA if as_score else None,
            )
        )
        self.calls += 1
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        return reply.text

    def document(self) -> dict[str, Json]:
        """Calls and tokens."""
        return {"calls": self.calls, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out}


def answered(client: Client, posed: Sequence[tuple[str, Posed]], jury: Jury) -> dict[str, Json]:
    """Scores of the answers to questions, each asked of a collection, as a result shows them."""
    reader = Counting(jury.reader)
    judge = None if jury.judge is None else Counting(jury.judge)
    found = jury.runner.run(_all(client, posed, jury, reader=reader, judge=judge))
    return {
        **_scores(found),
        "failures": dict(Counter(each.failure for each in found if each.failure)),
        "taken": {
            "reader": reader.document(),
            "judge": None if judge is None else judge.document(),
        },
    } | ({} if jury.entailment is None else {"consistency": _consistency(found)})


async def _ended(ending: Awaitable[None] | None) -> None:
    if ending is not None:
        await ending


async def _all(
    client: Client,
    posed: Sequence[tuple[str, Posed]],
    jury: Jury,
    *,
    reader: Counting,
    judge: Counting | None,
) -> list[Answered]:
    slots = asyncio.Semaphore(jury.calls)

    async def one(collection: str, asked: Posed) -> Answered:
        async with slots:
            try:
                return await _one(client, collection, asked, jury, reader=reader, judge=judge)
            except SlowwaveError as error:
                return Answered(posed=asked, failure=f"{type(error).__name__}: {error.message}")

    return list(await asyncio.gather(*(one(collection, asked) for collection, asked in posed)))


async def _one(
    client: Client,
    collection: str,
    posed: Posed,
    jury: Jury,
    *,
    reader: Counting,
    judge: Counting | None,
) -> Answered:
    context = await asyncio.to_thread(
        client.context, collection, posed.query, budget_tokens=BUDGET, working_memory_tokens=0
    )
    now = f"<now>{posed.now}</now>\n" if posed.now else ""
    asked = f"<memory>\n{context['text']}\n</memory>\n{now}<question>\n{posed.text}\n</question>"
    text = (await reader.ask("eval_answer", asked, tokens=_ANSWER_TOKENS)).strip()
    follows = Consistency()
    if jury.entailment is not None:
        premises = [line["text"] for part in context["parts"].values() for line in part]
        follows = await asyncio.to_thread(consistency, text, premises, model=jury.entailment)
    scores = await grades(posed, text, judge=judge)
    return Answered(posed=posed, text=text, scores=scores, consistency=follows)


async def grades(posed: Posed, answer: str, *, judge: Counting | None) -> dict[str, float]:
    """The scores of an answer by name; those that a judge gives only where there is one."""
    match posed.right:
        case WordsShared() as right:
            return await _shared(posed, right, answer, judge)
        case Rubric() as right:
            return {} if judge is None else await _by_rubric(posed, right, answer, judge)
        case Judged() as right:
            if judge is None:
                return {}
            return {JUDGES_SCORE: await _right(posed, answer, right.gold, right.rule, judge)}
        case _:
            assert_never(posed.right)


async def _shared(
    posed: Posed, right: WordsShared, answer: str, judge: Counting | None
) -> dict[str, float]:
    said = chosen(answer, right.choices)
    scores = {"f1": locomo_score(said, right.gold, category=right.category)}
    if judge is None or right.choices:
        return scores
    return scores | {JUDGES_SCORE: await _right(posed, answer, right.gold, "None.", judge)}


async def _right(posed: Posed, answer: str, gold: str, rule: str, judge: Counting) -> float:
    text = _tagged(question=posed.query, gold=gold, rule=rule, answer=answer)
    return float(is_yes(await judge.ask("eval_right", text, tokens=_VERDICT_TOKENS)))


async def _by_rubric(posed: Posed, right: Rubric, answer: str, judge: Counting) -> dict[str, float]:
    scores = []
    for criterion in right.criteria:
        text = _tagged(question=posed.query, criterion=criterion, answer=answer)
        reply = await judge.ask("eval_rubric", text, tokens=_VERDICT_TOKENS, as_score=True)
        scores.append(rubric_score(reply))
    found = {"rubric": sum(scores) / len(scores)}
    if not right.is_order:
        return found
    order = order_score(await _told(answer, right.criteria, judge), events=len(right.criteria))
    return found | {"tau": order.tau, "tau_f1": order.score}


async def _told(answer: str, events: Sequence[str], judge: Counting) -> list[int | None]:
    """The event that each line of an answer tells; the first one that the judge finds the same."""
    return [await _event_of(line, events, judge) for line in answer.splitlines() if line.strip()]


async def _event_of(line: str, events: Sequence[str], judge: Counting) -> int | None:
    for place, event in enumerate(events):
        text = _tagged(one=event, other=line)
        if is_yes(await judge.ask("eval_same", text, tokens=_VERDICT_TOKENS)):
            return place
    return None


def _tagged(**parts: str) -> str:
    return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in parts.items())


def _scores(found: Sequence[Answered]) -> dict[str, Json]:
    """Each score by group; what is asked without having an answer is told apart as well."""
    named: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    absent: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for each in found:
        for name, score in each.scores.items():
            named[name].append((each.posed.group, score))
            if each.posed.is_abstention:
                absent[name].append((each.posed.group, score))
    return {
        "scores": {
            name: {
                **by_group(scores),
                **({"abstention": by_group(absent[name])["overall"]} if absent[name] else {}),
            }
            for name, scores in named.items()
        }
    }


def _consistency(found: Sequence[Answered]) -> dict[str, Json]:
    total = sum((each.consistency for each in found), Consistency())
    return {
        "sentences": total.sentences,
        "supported": total.supported,
        "contradicted": total.contradicted,
        "share": round(total.share, 4),
    }
