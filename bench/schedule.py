#!/usr/bin/env python3
"""Distributes the tasks of a factorization, as `bench-factor MESH graph` prints them, to workers: list scheduling, the task
with the longest way to the end first. Prints the speed-up for each number of workers, and the bound by the critical path.

    bench-factor MESH graph | bench/schedule.py [WORKERS]...        4, 16 and 64 without numbers
"""
import collections
import csv
import heapq
import sys


def tasks_of(rows):
    """[seconds, predecessors] of each task, a predecessor before what waits for it."""
    units = collections.OrderedDict()
    for row in rows:
        units.setdefault(int(row['unit']), []).append(row)
    tasks, last, children = [], {}, collections.defaultdict(list)

    def add(seconds, before):
        tasks.append((seconds, sorted(set(before))))
        return len(tasks) - 1

    for unit, parts in units.items():
        whole = float(parts[-1]['seconds'])
        inner = parts[:-1]
        assert parts[-1]['kind'] == 'unit'
        # What is in no part, such as the entries of the matrix, comes first.
        barrier = [add(whole - sum(float(p['seconds']) for p in inner), [last[c] for c in children[unit]])]
        tile, phase, group = {}, None, []
        for part in inner:
            kind, c, i, j = part['kind'], int(part['c']), int(part['i']), int(part['j'])
            own = {'add': ('add', i), 'add-after': ('add-after', i), 'update': 'update'}.get(kind, 'panel')
            if own != phase and group:  # a phase waits for the whole one before; each child is one
                barrier, group = [add(0, group)], []
            phase = own
            before = list(barrier)
            if own == 'panel':
                needed = {'diagonal': [(c, c)], 'rows': [(c, c), (i, c)], 'product': [(i, c), (j, c), (i, j)]}[kind]
                before += [tile[key] for key in needed if key in tile]
            group.append(add(float(part['seconds']), before))
            if own == 'panel':
                tile[(i, j) if kind == 'product' else (i, c)] = group[-1]
        last[unit] = add(0, group or barrier)
        children[int(parts[0]['parent'])].append(unit)
    return tasks


def schedule(tasks, after, way, workers):
    """The seconds that all take."""
    waiting = [len(before) for _, before in tasks]
    ready = [(-way[t], t) for t, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    running, now, idle = [], 0.0, workers
    while ready or running:
        while ready and idle:
            _, t = heapq.heappop(ready)
            heapq.heappush(running, (now + tasks[t][0], t))
            idle -= 1
        now, t = heapq.heappop(running)
        idle += 1
        for other in after[t]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, (-way[other], other))
    return now


tasks = tasks_of(csv.DictReader(line for line in sys.stdin))
after = [[] for _ in tasks]
for t, (_, before) in enumerate(tasks):
    for other in before:
        after[other].append(t)
way = [0.0] * len(tasks)
for t in range(len(tasks) - 1, -1, -1):
    way[t] = tasks[t][0] + max((way[other] for other in after[t]), default=0)
total = sum(seconds for seconds, _ in tasks)
print(f'{len(tasks)} tasks, {total:.3f} s, critical path {max(way):.3f} s: at most {total / max(way):.1f} times as fast')
for workers in [int(word) for word in sys.argv[1:]] or [4, 16, 64]:
    print(f'{workers} workers: {total / schedule(tasks, after, way, workers):.2f} times as fast')
