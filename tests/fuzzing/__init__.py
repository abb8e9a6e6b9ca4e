"""Attacks on everything that takes input from outside, for minutes or hours: ``make fuzz SECONDS=600 SEED=0``.

A target (`target.py`) makes an input from a seed and checks what becomes of it. The engine (`engine.py`) runs targets
in a child process (`worker.py`) with limits, counts, and keeps the input of every failure. `targets.py` lists them.
"""
