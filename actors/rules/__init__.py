"""The rule-based decider: a baseline without a language model.

It reads sentences by word lists and word order (``english``, ``chinese``), compares each candidate
with the target (``judge``) and unites refinements (``merge``). Unsure means ignore.
"""

from actors.rules.decider import RuleDecider

__all__ = ["RuleDecider"]
