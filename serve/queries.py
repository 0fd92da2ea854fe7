"""The vectors of the newest questions: an agent searches and then asks for the context of one."""

from collections import OrderedDict

from pipeline.ports import Vectors
from serve.models import AsyncModels


class QueryVectors:
    """Embeds questions and keeps the vectors of the last ``size`` different ones.

    In memory alone, shared by tenants: a vector depends on the text and the model alone.
    """

    def __init__(self, models: AsyncModels, *, size: int = 1_024) -> None:
        self._models = models
        self._size = size
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    async def of(self, query: str, *, owner: str = "") -> Vectors:
        """``(dim,)``, L2-normalised. Raises ModelError when the model fails."""
        if query in self._known:
            self._known.move_to_end(query)
            return self._known[query]
        vector: Vectors = (await self._models.embed([query], purpose="query", owners=[owner]))[0]
        self._known[query] = vector
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return vector
