"""A driver that asks the Chat deployment of a running service, and says where its engine lives.

Run as ``python ask_chat.py``; reads a list of requests as plain values from standard input and
prints JSON: the replies, the actors of the deployment and their processes.
"""

import asyncio
import json
import logging
import sys
from typing import Any

import psutil
import ray
from ray import serve as ray_serve
from ray.util.state import list_actors

from serve.app import APP
from serve.chat import ServeChat, request_of, row_of
from serve.index_actor import NAMESPACE


async def asked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The replies, all asked for at once."""
    chat = ServeChat(ray_serve.get_deployment_handle("Chat", app_name=APP), name="chat")
    replies = await asyncio.gather(*(chat.reply(request_of(row)) for row in rows))
    return [
        {"text": each.text, "in": each.tokens_in, "out": each.tokens_out, "cut": each.is_cut}
        for each in replies
    ]


def actors() -> list[dict[str, Any]]:
    """The living actors of the deployment, with the titles of their processes' children."""
    found = []
    for actor in list_actors(detail=True, limit=500, filters=[("state", "=", "ALIVE")]):
        if "#Chat#" in str(actor.name):
            children = psutil.Process(actor.pid).children(recursive=True)
            titles = [" ".join(child.cmdline()) for child in children]
            found.append({"name": actor.name, "class": actor.class_name, "children": titles})
    return found


if __name__ == "__main__":
    ray.init(namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
    rows = [row_of(request_of(row)) for row in json.load(sys.stdin)]
    print(json.dumps({"replies": asyncio.run(asked(rows)), "actors": actors()}))
