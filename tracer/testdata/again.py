# What again/main.go does, by garbage collections, which Python's own markers report: of generation 2, and early ones
# of generation 1.
import gc
import os
import sys
import threading

gc.disable()
n, executed = int(sys.argv[1]), len(sys.argv) > 2
if executed:
    for _ in range(n):
        gc.collect(1)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(n):
    gc.collect(2)
if executed:
    print("done", flush=True)
    os._exit(0)  # before the collections of the interpreter's end
argv = [sys.executable, sys.argv[0], sys.argv[1], "executed"]
threading.Thread(target=lambda: os.execv(sys.executable, argv)).start()
