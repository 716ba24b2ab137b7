"""Start `riskcore serve` in the working folder; exit with 0 once its health check answers ok."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
command = [shutil.which("riskcore") or "riskcore", "serve", "--port", str(port)]
server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
answer = b""
try:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1) as reply:
                answer = reply.read()
                break
        except OSError:
            time.sleep(0.2)
finally:
    server.terminate()
    server.wait(timeout=20)
sys.exit(0 if answer == b"ok" else "riskcore serve did not answer ok within a minute.")
