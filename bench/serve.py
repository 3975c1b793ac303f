#!/usr/bin/env python3
"""Measures simserve at 1 kHz with the scene of samples/peg: serve.py TOOLS FOLDER SECONDS

FOLDER has 2000.json and its files. A client moves the hand along hand.csv, over and over: it sends a pose, waits for the
state that has it, and sends the next one. That is the round trip of a packet, which cannot be shorter than the rest of a
cycle. The report of the server follows."""
import csv
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'cli'))
from osc import Client

tools, folder, seconds = sys.argv[1:]
with open(folder + '/hand.csv') as file:
    poses = [[float(x) for x in row[1:]] for row in csv.reader(file) if row and row[0] != 't' and not row[0].startswith('#')]
server = subprocess.Popen([tools + '/simserve', folder + '/2000.json', '--rate', '1000', '--udp', '0', '--threads', '1'],
                          stderr=subprocess.PIPE, text=True)
said = []
while 'listens on port' not in (line := server.stderr.readline()):
    if not line:
        sys.exit('simserve fails: ' + ''.join(said))
    said.append(line)
client = Client(line.split('port ')[1].split()[0])
client.send('/subscribe')
client.receive()
trips = []
end = time.time() + float(seconds)
start = time.time()
while time.time() < end:
    pose = list(poses[int((time.time() - start) * 1000) % len(poses)])
    pose[0] += 1e-9 * (len(trips) % 1000)  # to be told from the one before
    sent = time.perf_counter()
    client.send('/hand', *pose)
    client.until(lambda step, found: found['/hand'][0] == pose[0])
    trips.append(time.perf_counter() - sent)
    if len(trips) % 1000 == 0:
        client.send('/subscribe')
client.send('/stop')
said += server.stderr.readlines()
trips.sort()
print('round trip of a packet: median %.2f ms, 99th percentile %.2f ms, worst %.2f ms (%d packets, by Python)' %
      (1e3 * trips[len(trips) // 2], 1e3 * trips[len(trips) * 99 // 100], 1e3 * trips[-1], len(trips)))
print(''.join(said), end='')
