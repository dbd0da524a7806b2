#!/usr/bin/env python3
"""serve_crowd.py PORT SLOW WRONG: clients that nobody wants, until stdin ends. SLOW of them send a byte of a request every few seconds
and come again when they are cut; WRONG of them send one wrong token after the other. They come from many addresses of the loopback
interface. Prints `ready` when all are there, and at the end a line of JSON: how many were connected at the least, and the answers to the
wrong tokens by status."""
import asyncio
import collections
import json
import sys

PORT, SLOW, WRONG = map(int, sys.argv[1:4])
PAUSE = 5  # seconds between two bytes
HEAD = b"POST /v1/select HTTP/1.1\r\nHost: x\r\nX-Slow: "
WRONG_REQUEST = (b"POST /container_mappings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer kiln_wrong\r\nContent-Length: 0\r\n\r\n")


class Crowd:
    def __init__(self):
        self.connected = 0
        self.least = None  # since all were there
        self.answers = collections.Counter()

    def left(self):
        self.connected -= 1
        if self.least is not None:
            self.least = min(self.least, self.connected)

    async def slow(self, number):
        """200 clients an address: fewer than the server lets in of one."""
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT, local_addr=(f"127.0.1.{number // 200 + 1}", 0))
            self.connected += 1
            try:
                writer.write(HEAD)
                while not reader.at_eof():
                    await asyncio.sleep(PAUSE)
                    writer.write(b"a")
                    await writer.drain()
            except ConnectionError:
                pass
            self.left()
            writer.close()

    async def wrong(self, number):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", PORT, local_addr=(f"127.0.2.{number % 10 + 1}", 0))
                while not reader.at_eof():
                    writer.write(WRONG_REQUEST)
                    head = await reader.readuntil(b"\r\n\r\n")
                    self.answers[head.split()[1].decode()] += 1
                    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
                    await reader.readexactly(length)
                writer.close()
            except (ConnectionError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.05)

    async def run(self):
        tasks = []
        for number in range(SLOW):
            tasks.append(asyncio.create_task(self.slow(number)))
            if number % 100 == 99:
                await asyncio.sleep(0.02)
        while self.connected < SLOW:
            await asyncio.sleep(0.05)
        tasks += [asyncio.create_task(self.wrong(number)) for number in range(WRONG)]
        self.least = self.connected
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        print(json.dumps({"least": self.least, "answers": self.answers}), flush=True)
        for task in tasks:
            task.cancel()


asyncio.run(Crowd().run())
