# Says how many calls, returns and collections a piece of work makes, and makes it once more
# when it is told to.
import gc
import os
import sys


def double(n):
    return n * 2


def add(n):
    return double(n) + 1


def generate(n):
    for i in range(n):
        yield i


def work():
    total = 0
    for i in range(1000):
        total += add(i)
    total += sum(generate(10))  # a generator is entered anew for each value
    try:
        raise_(0)
    except ZeroDivisionError:
        total += 1
    for i in range(5):
        gc.collect(i % 3)
    return total


def raise_(n):
    return 1 // n


calls = returns = 0
entered = []


def profile(frame, event, arg):
    global calls, returns
    if event == "call":
        calls += 1
        entered.append(b"%s %s %d" % (frame.f_code.co_filename.encode(), frame.f_code.co_name.encode(), frame.f_lineno))
    returns += event == "return"


def collections():
    return sum(s["collections"] for s in gc.get_stats())


gc.disable()
before = collections()
sys.setprofile(profile)
work()
sys.setprofile(None)
# The bytes go by the system call: Python's own files are written in Python.
os.write(1, b"%d %d %d\n" % (calls, returns, collections() - before))
for name in entered[:calls]:
    os.write(1, name + b"\n")
os.read(0, 1)
work()
os.write(1, b"done\n")
os.read(0, 1)
os._exit(0)
