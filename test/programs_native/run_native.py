#!/usr/bin/env python3
"""Runs a native test program plain and recorded, and holds the recording against what the program does.

usage: run_native.py CONTRAFACT CASE
"""

import sys

import native_accesses
import native_locks
import native_processes
import native_sections
import native_sockets
import native_tasks

CASES = [native_locks, native_processes, native_sections, native_accesses, native_tasks, native_sockets]

case = sys.argv[2]
getattr(next(module for module in CASES if hasattr(module, case)), case)()
print(f"native {case}: ok")
