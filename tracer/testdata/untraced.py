# Runs the program that its arguments name and waits for it as a shell with job control does, saying what it hears.
import os
import sys

pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)
    if os.WIFEXITED(status):
        print("exited", os.WEXITSTATUS(status), flush=True)
        break
    print("stopped" if os.WIFSTOPPED(status) else "continued", flush=True)
