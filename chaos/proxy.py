"""A TCP proxy whose connections can be cut or stalled: it stands before a broker."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from enum import Enum, auto
from typing import Any, TypeVar

T = TypeVar("T")

_PIECE_BYTES = 65_536
_HOST = "127.0.0.1"


class Weather(Enum):
    FINE = auto()
    CUT = auto()  # every connection is reset, and every new one too
    STALLED = auto()  # connections stay, and nothing comes through


class Loop:
    """One thread with an event loop, shared by all proxies."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


class Proxy:
    """Listens on a port of its own and passes bytes on to the port behind it."""

    def __init__(self, loop: Loop, behind: int) -> None:
        self._behind = behind
        self._runs = loop
        self._weather = Weather.FINE
        self._is_fine = asyncio.Event()
        self._is_fine.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = loop.do(self._listen())
        self.port: int = self._server.sockets[0].getsockname()[1]

    def become(self, weather: Weather) -> None:
        self._runs.do(self._become(weather))

    def close(self) -> None:
        self._runs.do(self._close())

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accepted, _HOST, 0)

    async def _become(self, weather: Weather) -> None:
        self._weather = weather
        if weather is Weather.STALLED:
            self._is_fine.clear()
        else:
            self._is_fine.set()
        if weather is Weather.CUT:
            for writer in self._writers:
                writer.transport.abort()

    async def _close(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._weather is Weather.CUT:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(_HOST, self._behind)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        both = [
            asyncio.ensure_future(self._pump(reader, far_writer)),
            asyncio.ensure_future(self._pump(far_reader, writer)),
        ]
        self._tasks |= set(both)
        await asyncio.wait(both)
        self._tasks -= set(both)
        self._writers -= {writer, far_writer}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(_PIECE_BYTES):
                await self._is_fine.wait()
                writer.write(piece)
                await writer.drain()
        except OSError:
            writer.transport.abort()  # a reset is passed on as a reset
        finally:
            writer.close()
