"""A server that does not end with its input and takes no notice of SIGTERM.

When it is spoken to first, it starts a child that nothing links to it: a session of its own, no parent, no
environment. The child's command line begins with the first argument.
"""

import json
import os
import signal
import sys
import time

# Programs that it starts inherit this.
signal.signal(signal.SIGTERM, signal.SIG_IGN)


def start_unlinked_child(name):
    between = os.fork()
    if between > 0:
        os.waitpid(between, 0)
        return
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.execve("/bin/sleep", [name, "300"], {})


def answer(method, params):
    if method == "initialize":
        start_unlinked_child(sys.argv[1])
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stubborn", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": [{"name": "nothing", "inputSchema": {"type": "object"}}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    outcome = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)

# The end of a test that fails.
time.sleep(300)
