"""Routes of a collection's own settings."""

from typing import Annotated, Self

from fastapi import APIRouter, Depends
from pydantic import JsonValue

from pipeline.messages import Scope
from pipeline.settings import CollectionSettings
from serve.collection_settings import CollectionConfig, InForce
from serve.ingress.access import Caller
from serve.ingress.views import View


class SettingsOut(View):
    """``settings`` are what the collection sets itself, ``in_force`` what holds for it.

    Null in ``in_force`` is no number, or what belongs to a model.
    """

    collection: str
    settings: dict[str, JsonValue]
    in_force: dict[str, JsonValue]

    @classmethod
    def of(cls, scope: Scope, found: InForce) -> Self:
        """The settings' view."""
        return cls(
            collection=scope.collection,
            settings=found.own.model_dump(mode="json", exclude_none=True),
            in_force=found.in_force.model_dump(mode="json"),
        )


def settings_routes(config: CollectionConfig, caller: Caller) -> APIRouter:
    """Read, replace and change the settings; a new collection is made by setting some."""
    routes = APIRouter(prefix="/v1/collections", tags=["settings"])

    @routes.get("/{collection}/settings")
    async def get_settings(scope: Annotated[Scope, Depends(caller.scope)]) -> SettingsOut:
        return SettingsOut.of(scope, await config.of(scope))

    @routes.put("/{collection}/settings")
    async def put_settings(
        body: CollectionSettings, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> SettingsOut:
        return SettingsOut.of(scope, await config.put(scope, body))

    @routes.patch("/{collection}/settings")
    async def patch_settings(
        body: CollectionSettings, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> SettingsOut:
        return SettingsOut.of(scope, await config.change(scope, body))

    return routes
