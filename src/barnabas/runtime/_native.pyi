import select
import socket

def reply_when_asked(
    epoll: select.epoll,
    peer: socket.socket,
    looks: int,
    before: bytes,
    after: bytes,
    reply: memoryview,
    /,
) -> int: ...
