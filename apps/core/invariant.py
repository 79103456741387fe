"""What an invariant is: a name, the sentence that must be true, and one query that returns a row
(what, why) for every breach."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Invariant:
    """`counted` says over how many things it was asked. Neither query writes."""

    name: str
    says: str
    counted: str
    breaches: str
