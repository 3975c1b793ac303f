#!/usr/bin/env bats
# simserve: a scene in real time. Servers listen on the loopback address, on ports that the system chooses.

load common

# Starts a server of scene.json in the background, with its process in $server and its port in $port. A job of a shell without
# a terminal would ignore SIGINT and SIGQUIT.
serve() {
    : > said.txt
    env --default-signal=INT,QUIT simserve scene.json --udp 0 --threads 1 --priority 0 "$@" 2>> said.txt &
    server=$!
    for _ in {1..1200}; do
        port=$(sed -n 's/.*listens on port \([0-9]*\).*/\1/p' said.txt)
        [ -z "$port" ] || return 0
        kill -0 $server 2> /dev/null || break
        sleep 0.05
    done
    fault "no server: $(< said.txt)"
}

# finished STATUS PATTERN: the server has this exit status, and its messages match the pattern.
served() {
    code=0
    wait "$server" || code=$?
    server=
    [ $code = "$1" ] || fault "exit $code, not $1: $(< said.txt)"
    [[ $(< said.txt) =~ $2 ]] || fault "said: $(< said.txt)"
}

# Runs a script with the client of osc.py.
client() {
    PYTHONPATH=$SUPPLE_SOURCE/tests/cli PYTHONDONTWRITEBYTECODE=1 "$PYTHON" - "$port" "$@" || fault "the client fails"
}

teardown() {
    [ -z "${server-}" ] || kill -KILL "$server" 2> /dev/null || true
    rm -f "/dev/shm/supple-test-$$"
}

@test "poses and forces by UDP" {
    # F = m a for a body of 1 kg: a force equal to its weight keeps its velocity along z, and 3 N give it 3 m/s in a second along x.
    serve --rate 200
    client <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	c.send('/subscribe')
	c.socket.send(bundle(message('/force', 'balls[0]', -1, 3.0, 0.0, 9.81), message('/hand', 3.25, -2.0, 0.5, 2.0, 0.0, 0.0, 0.0)))
	ball = ('/pose', 'balls[0]')
	first, before = c.until(lambda step, found: found['/hand'][0] == 3.25)
	assert before['/hand'] == [3.25, -2, 0.5, 1, 0, 0, 0], before['/hand']  # the quaternion is of length 1
	then, after = c.until(lambda step, found: step[0] >= first[0] + 20)
	t = then[1] - first[1]
	assert abs(t - 0.005 * (then[0] - first[0])) < 1e-12, (first, then)
	gained = [b - a for a, b in zip(before[ball][7:], after[ball][7:])]
	assert abs(gained[0] - 3 * t) < 1e-9 and abs(gained[2]) < 1e-9, (t, gained)
	assert before['/hand/force'][0] < 0, before['/hand/force']  # the spring of the coupling pulls the hand back
	assert len(after['/q', 'arm']) == 1 + 4 and '/pose' not in after and ('/pose', 'table') not in after
	c.send('/subscribe', 3, 'f')
	steps = []
	while len(steps) < 3:
	    raw = c.socket.recv(65536)
	    if b',fffffff' in raw:
	        steps.append(dict(messages(raw))['/step'][0])
	assert steps[1] - steps[0] == 3 and steps[2] - steps[1] == 3, steps
	c.send('/unsubscribe')
	c.send('/stop')
	END
    served 0 '5 packets, 2 inputs accepted; dropped: none'
    no_faults
}

@test "poses and forces by shared memory" {
    local name=/supple-test-$$
    serve --rate 200 --shared "$name"
    [ "$(stat -c %a "/dev/shm$name")" = 600 ] || fault "rights $(stat -c %a "/dev/shm$name")"
    client "$name" <<-'END'
	import sys
	from osc import *
	m = Shared(sys.argv[2])
	assert (m.version, m.bodies, m.coordinates, m.coupled, m.step, m.period) == (1, 6, 4, 1, 0.005, 0.005)
	assert m.names == ['arm', 'table', 'balls[0]', 'balls[1]', 'brick', 'bar'], m.names
	def until(condition):
	    end = time.time() + 60
	    while time.time() < end:
	        now = m.read()
	        if condition(now):
	            return now
	    raise SystemExit('it does not come: %r' % (now,))
	m.hand(1, (3.5, -2, 0.5, 1, 0, 0, 0))
	m.forces(1, (3, -1, (0, 1, 9.81)))
	until(lambda now: now['hand'][0] == 3.5)
	cycle = m.read()['cycle']
	a = until(lambda now: now['cycle'] > cycle)
	b = until(lambda now: now['cycle'] >= a['cycle'] + 20)
	t = b['time'] - a['time']
	gained = [y - x for x, y in zip(a['balls[1]']['twist'], b['balls[1]']['twist'])]
	assert abs(gained[1] - t) < 1e-9 and abs(gained[2]) < 1e-9, (t, gained)
	# a client that ends in the middle of a write: the server keeps the last whole values, and a later client works
	m.hand(2, (9, 9, 9, 1, 0, 0, 0), whole=False)
	a = m.read()
	b = until(lambda now: now['cycle'] >= a['cycle'] + 5)
	assert b['hand'][0] == 3.5, b['hand']
	m.hand(3, (3.25, -2, 0.5, 1, 0, 0, 0))
	until(lambda now: now['hand'][0] == 3.25)
	# with the clutch held the device goes away, and the manipulandum goes on from where it stays
	def received():
	    a = m.read()
	    return until(lambda now: now['cycle'] >= a['cycle'] + 3)
	for act, place in ((lambda: m.clutch(1, 1), 3.25), (lambda: m.hand(5, (0, 0, 0, 1, 0, 0, 0)), 3.25), (lambda: m.clutch(2, 0), 3.25),
	                   (lambda: m.hand(6, (0.5, 0, 0, 1, 0, 0, 0)), 3.75), (lambda: m.clutch(3, 2), 3.75)):
	    act()
	    b = received()
	    assert b['hand'] == (place, -2, 0.5, 1, 0, 0, 0), b['hand']
	# wrong values are refused
	m.hand(4, (float('nan'), -2, 0.5, 1, 0, 0, 0))
	m.forces(2**64 - 1, *[(b, v, (1, 1, 1)) for b in (-1, 6, 2**62) for v in (-2, 0, 2**62)])
	m.body(0, 1, (0, 0, 0, 1, 0, 0, 0))
	a = m.read()
	until(lambda now: now['cycle'] >= a['cycle'] + 3)
	Client(sys.argv[1]).send('/stop')
	end = time.time() + 60
	while not m.ended() and time.time() < end:
	    pass
	assert m.ended()
	END
    served 0 '7 inputs accepted; dropped: 2 inputs that are not finite or out of range, 9 inputs for no such body or vertex, 1 inputs for what they cannot move'
    [ ! -e "/dev/shm$name" ] || fault "the memory is still there"
    no_faults
}

# A brick that a coupling of this kind ties to a device, which has a line in each step of 5 ms for 20 s: it goes along x at 0.05 m/s, and
# turns about z at 0.2 rad/s.
clutch_scene() { # clutch_scene KIND KEYS FILE PATH
    printf '{"models": {"brick": {"kind": "rigid", "box": {"half": [0.1, 0.2, 0.3]}, "mass": 1, "mass_centre": [0, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "bodies": [{"name": "brick", "model": "brick", "motion": "coupled", "position": [0.3, 0, 0]}],
        "coupling": {"kind": "%s", "body": "brick", "path": "%s", "stiffness": 400, "torque_stiffness": 30, "damping": 100, "torque_damping": 10%s}}\n' \
        "$1" "$4" "$2" > "$3"
}

@test "a clutch by messages is that of a scene and that of a path" {
    "$PYTHON" - > hand.csv <<-'END'
	from math import cos, sin
	print('t,x,y,z,qw,qx,qy,qz')
	for k in range(4001):
	    t = k * 0.005
	    print(*map(repr, (t, 0.3 + 0.05 * t, 0, 0, cos(0.1 * t), 0, 0, sin(0.1 * t))), sep=',')
	END
    for kind in static dynamic; do
        clutch_scene $kind '' scene.json hand.csv
        serve --rate 200 --record log.npz --steps 4000 # the length of the path
        client <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	c.send('/subscribe')
	last = None
	def acts(held):  # whether the manipulandum rests, as it does then, since the last state
	    def seen(step, found):
	        global last
	        before, last = last, found['/hand']
	        return before and (before == last) == held
	    return seen
	at, _ = c.until(acts(False))
	for held in (1, 0, 1, 0):
	    c.until(lambda step, found: step[0] >= at[0] + 60)
	    c.send('/clutch', held)
	    at, _ = c.until(acts(held == 1))
	c.send('/clutch', 0)  # again: no change
	c.send('/clutch')
	c.send('/clutch', 1, 1)
	c.send('/clutch', 'held')
	c.send('/clutch', 2)
	c.send('/clutch', 0.5)
	c.send('/clutch', float('nan'))
	c.until(lambda step, found: step[0] >= at[0] + 60)
	c.send('/stop')
	END
        served 0 '5 inputs accepted; dropped: 3 messages with wrong arguments, 3 inputs that are not finite or out of range'
        done_well simscene scene.json --replay log.npz -q -o replayed.npz -t 1
        "$PYTHON" -c 'import numpy' 2> /dev/null || continue
        # the same times in the scene, and in the path
        "$PYTHON" - > key.txt <<-'END'
	import numpy
	z = numpy.load('log.npz')
	time, count = (numpy.concatenate([z[k] for k in z.files if k.startswith(name + '/')]) for name in ('time', 'count'))
	changes = numpy.repeat(time, count)[:4]  # the fifth input changes nothing
	print(len(time), ', "clutch": [[%r, %r], [%r, %r]]' % tuple(changes.tolist()))
	lines = open('hand.csv').read().split('\n')[1:-1]
	with open('column.csv', 'w') as out:
	    print('t,x,y,z,qw,qx,qy,qz,clutch', file=out)
	    for line in lines:
	        print(line, sum(float(line.split(',')[0]) >= changes) % 2, sep=',', file=out)
	END
        read -r steps key < key.txt
        clutch_scene $kind "$key" key.json hand.csv
        clutch_scene $kind '' column.json column.csv
        done_well simscene key.json --dt 0.005 --steps "$steps" -q -o key.npz
        done_well simscene column.json --dt 0.005 --steps "$steps" -q -o column.npz -t 1
        "$PYTHON" - "$kind" <<-'END' || fault "$kind: another motion"
	import sys
	import numpy
	data = []
	for name in ('replayed', 'key', 'column'):
	    z = numpy.load(name + '.npz')
	    data.append({m: numpy.concatenate([z[k] for k in z.files if k.startswith(m + '/')]) for m in ('time', 'pose', 'twist', 'hand', 'coupling', 'device')})
	for other in data[1:]:
	    for m in other:
	        assert other[m].tobytes() == data[0][m].tobytes(), (m, abs(other[m] - data[0][m]).reshape(len(other[m]), -1).max(1).nonzero()[0])
	# What the device did with the clutch held is taken out of its motion along and about fixed axes.
	d = data[0]
	log = numpy.load('log.npz')
	time, count = (numpy.concatenate([log[k] for k in log.files if k.startswith(name + '/')]) for name in ('time', 'count'))
	changes = numpy.repeat(time, count)[:4]
	free = d['time'] - sum(numpy.clip(d['time'], changes[i], changes[i + 1]) - changes[i] for i in (0, 2))
	expected = numpy.zeros_like(d['hand'])
	expected[:, 0], expected[:, 3], expected[:, 6] = 0.3 + 0.05 * free, numpy.cos(0.1 * free), numpy.sin(0.1 * free)
	assert abs(d['hand'] - expected).max() < 1e-13, abs(d['hand'] - expected).max()
	# The body rests at the end of both times, and moves with the device again before and after.
	speed = numpy.linalg.norm(d['twist'][:, 0, :3], axis=1)
	at = [int(numpy.searchsorted(d['time'], c - 1e-9)) for c in changes]
	for held in (1, 3):
	    assert speed[at[held]] < 0.05 * 0.05, speed[at[held]]
	for moving in (at[0], at[2], len(speed) - 1):
	    assert abs(speed[moving] - 0.05) < 0.05 * 0.05, speed[moving]
	END
    done
    # a device that is placed by messages, and one that nobody has
    serve --rate 200 --record live.npz
    client <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	c.send('/subscribe')
	still = [1.0, 0.0, 0.0, 0.0]
	c.socket.send(bundle(message('/hand', 0.3, 0.0, 0.0, *still), message('/clutch', 1), message('/hand', 0.0, 0.1, 0.0, 0.6, 0.8, 0.0, 0.0)))
	first = c.until(lambda step, found: found['/hand'][0] == 0.3 and found['/hand'][3] == 1)[0]
	step, found = c.until(lambda step, found: step[0] >= first[0] + 20)
	assert found['/hand'] == [0.3, 0, 0, 1, 0, 0, 0], found['/hand']
	c.socket.send(bundle(message('/clutch', 0), message('/hand', 0.0, 0.1, 0.25, 0.0, 1.0, 0.0, 0.0)))
	step, found = c.until(lambda step, found: found['/hand'][2] != 0)
	# 0.25 m up, and the turn about x that takes (0.6, 0.8) to (0, 1)
	assert all(abs(a - b) < 1e-15 for a, b in zip(found['/hand'], [0.3, 0, 0.25, 0.8, 0.6, 0, 0])), found['/hand']
	c.send('/stop')
	END
    served 0 '5 inputs accepted; dropped: none'
    done_well simscene scene.json --replay live.npz -q -o live-motion.npz
    printf '{"models": {"brick": {"kind": "rigid", "box": {"half": [0.1, 0.2, 0.3]}}}, "contact": {"stiffness": 1}, "bodies": [{"name": "brick", "model": "brick"}]}\n' > scene.json
    serve --rate 200
    client <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	c.send('/clutch', 1)
	c.send('/stop')
	END
    served 0 '0 inputs accepted; dropped: 1 inputs for what they cannot move'
    no_faults
}

@test "a log is replayed to the same states" {
    serve --rate 200 --record log.npz # a block of the log has 4096 steps: 20 s
    client <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	for i in range(40):
	    c.send('/hand', 3 + 0.002 * i, -2 - 0.001 * i, 0.5, 1.0, 0.0, 0.01 * i, 0.0, *[0.1 * k for k in range(6)])
	    c.send('/force', 'arm', 100 - i, 0.0, 0.0, float(i % 3))
	    c.send('/force', i % 2 + 2, -1, 1.0, 2.0, 0.1 * i)
	    c.send('/force', 'arm', 10000, 0.0, 0.0, 1.0)
	    time.sleep(0.003)
	c.send('/subscribe')
	step, found = c.receive()
	print(step[0], *(x.hex() for x in found['/pose', 'balls[0]'] + found['/q', 'arm'][1:] + found['/hand/force']), file=open('last.txt', 'w'))
	c.send('/stop')
	END
    served 0 '120 inputs accepted; dropped: 40 inputs for no such body or vertex'
    done_well simscene scene.json --replay log.npz -q -o one.npz -t 1
    done_well simscene scene.json --replay log.npz -q -o two.npz -t 2
    cmp one.npz two.npz || fault "another number of threads, other bytes"
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        "$PYTHON" - > replayed.txt <<-'END'
	import json, numpy
	z = numpy.load('one.npz')
	names = [body['name'] for body in json.loads(bytes(z['meta']))['bodies']]
	step = int(open('last.txt').read().split()[0])
	b = names.index('balls[0]')
	pose, twist, q, device = (numpy.concatenate([z[k] for k in z.files if k.startswith(name + '/')]) for name in ('pose', 'twist', 'q', 'device'))
	values = [*pose[step, b], *twist[step, b], *q[step], *device[step]]
	print(step, *(float(x).hex() for x in values))
	END
        cmp last.txt replayed.txt || fault "the client has seen $(< last.txt), the motion is $(< replayed.txt)"
    fi
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        bad() { # STATEMENTS PATTERN
            "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" log.npz bad.npz "$1" || fault "forge.py: $1"
            refused "${3-3}" "$2" simscene scene.json --replay bad.npz -o out.npz
        }
        bad "m['count/000000'][:] = 0" 'bad.npz: count/000000: its steps have 0 inputs, the block has 120'
        bad "m['count/000000'][0] = 121" 'bad.npz: count/000000: step 0 of the block has 121 inputs, of 120 left'
        bad "m['input/body/000000'][5] = 6" 'bad.npz: input/body/000000: input 5 is for body 6 of 6'
        bad "m['input/kind/000000'][0] = 1" 'bad.npz: input/body/000000: input 0 is for body -1 of 6'
        bad "m['input/kind/000000'][0] = 3" 'bad.npz: .*input/kind/000000'
        bad "m['input/kind/000000'][0] = 2" 'bad.npz: input 0, of step [0-9]*, is not possible in this scene' # a clutch of 3 m
        bad "m['input/kind/000000'][1] = 2" 'bad.npz: input/body/000000: input 1, a clutch, is for body [0-9], expected -1'
        bad "m['input/vertex/000000'][1] = 10000" 'bad.npz: input 1, of step [0-9]*, is not possible in this scene'
        bad "del meta['run']['beta']" 'bad.npz: meta: "run" is missing or incomplete'
        bad "meta['run']['step'] = -0.002" 'bad.npz: meta: "run": a value is out of range'
        bad "meta['bodies'] = 0" 'bad.npz: meta: "bodies" is missing'
        bad "m['check/000000'][3] += 1" 'bad.npz: step 4 leads to another state than on the server' 5
    fi
    # inputs of clients cannot be remade, but the motion can
    refused 3 'has what clients sent to simserve, which no script can repeat' siminfo --script log.npz
    siminfo --script one.npz > again.sh || fault "no script"
    (mkdir again && cp log.npz scene.json hand.csv bar.obj again && cd again && sh ../again.sh > ../again.txt 2>&1 && cmp one.npz ../one.npz) || fault "the script: $(tail -n 3 again.txt)"
    refused 2 '--dt means nothing with --replay' simscene scene.json --replay log.npz --dt 0.001 -o out.npz
    sed 's/"stiffness": 1000/"stiffness": 1001/' scene.json > other.json
    refused 3 'log.npz: it is the log of another scene than other.json' simscene other.json --replay log.npz -o out.npz
    done_well simserve scene.json --shared "/supple-test-$$" --rate 200 --steps 3 --record still.npz
    done_well simscene scene.json --replay still.npz -o still-motion.npz
    printf 't,x,y,z,qw,qx,qy,qz\n0,3,-2,0.51,1,0,0,0\n' > hand.csv # another file than the server read
    refused 5 'still.npz: step 1 leads to another state than on the server' simscene scene.json --replay still.npz -q -o out.npz
    no_faults
}

# The listing in the language $1 of the section of docs/embedding.md.
listing() {
    sed -n '/^## A real-time server/,$p' "$SUPPLE_SOURCE/docs/embedding.md" | sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '1d;$d'
}

@test "steps are judged at the end, and the log of a step that fails is kept and replayed to the failure" {
    printf '{"models": {"f": {"kind": "rigid", "plane": {"normal": [0, 0, 1]}}, "b": {"kind": "rigid", "sphere": {"radius": 1}, "mass": 1, "inertia": [1, 1, 1]}},
        "bodies": [{"name": "f", "model": "f"}, {"name": "b", "model": "b", "motion": "free", "position": [0, 0, 3], "velocity": [1e300, 0, 0]}],
        "contact": {"stiffness": 1000}}' > fast.json
    refused 5 '^simserve: fast.json: body 1 \(b\) could not take the step from 0 s on' simserve fast.json --dt 1e9 --steps 3 --priority 0 --shared "/supple-test-$$"
    try simserve fast.json --dt 1e9 --steps 3 --priority 0 --shared "/supple-test-$$" --record failed.npz
    [ "$code" = 5 ] && [ -s failed.npz ] || fault "exit $code: $err"
    holds failed.npz "'could not take the step' in r['failure']"
    refused 5 '^simscene: fast.json: body 1 \(b\) could not take the step from 0 s on' simscene fast.json --replay failed.npz -o out.npz
}

@test "the programs of docs/embedding.md" {
    listing c > loop.c
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror -I "$SUPPLE_SOURCE/include" loop.c -o loop || fault "it does not compile"
    serve --rate 1000 --shared "/supple-test-$$"
    ./loop "/supple-test-$$" > loop.txt || fault "it fails"
    # A server that is late may not have received a pose yet, but it receives the whole movement.
    [[ $(tail -n 1 loop.txt) =~ 'hand at 0.'[45][0-9]+' m, force '[0-9.]+' N' ]] || fault "$(tail -n 3 loop.txt)"
    client "/supple-test-$$" <<-'END'
	import sys
	from osc import *
	m = Shared(sys.argv[2])
	end = time.time() + 60
	while abs(m.read()['hand'][2] - 0.49) > 1e-9:
	    assert time.time() < end, m.read()['hand']
	END
    listing python | sed "s/9000/$port/" > client.py
    [ "$("$PYTHON" client.py)" = "b'/step'" ] || fault "the client: $("$PYTHON" client.py 2>&1)"
    client <<< 'import sys; from osc import *; Client(sys.argv[1]).send("/stop")'
    served 0 'dropped: none'
    no_faults
}

@test "the haptic loop of samples/embed: what it sees is what the log replays" {
    local sample=$SUPPLE_SOURCE/samples/embed rows=0
    cc -std=c11 -Wall -Wextra -pedantic -Werror -I "$SUPPLE_SOURCE/include" "$sample/hand-shared.c" -lm -o loop || fault "it does not compile"
    awk 'BEGIN { print "t,x,y,z,qw,qx,qy,qz"; for (i = 0; i <= 200; i++) print i / 1000 "," 3 + i / 1000 ",-2," 0.5 - i / 2000 ",1,0,0,0" }' > script.csv
    serve --rate 1000 --shared "/supple-test-$$" --record log.npz
    ./loop "/supple-test-$$" script.csv brick > seen.csv 2> summary.txt || fault "$(< summary.txt)"
    kill "$server"
    served 0 'dropped: none'
    [[ $(< summary.txt) =~ 'largest force is '[0-9.]+' N, at '[0-9.]+' s; missed deadlines: '[0-9]+ ]] || fault "$(< summary.txt)"
    [[ $(< summary.txt) =~ ([0-9]+)' of '([0-9]+)' states have' ]] || fault "$(< summary.txt)"
    # a row for each state that it saw, up to the end of the script, with positive delays; the poses are those of the script
    awk -F, -v prompt="${BASH_REMATCH[1]}" -v rows="${BASH_REMATCH[2]}" 'NR == 1 { next }
        $NF < 1 || $1 <= last || (x = 1000 * ($3 - 3)) < -1e-9 || (x - int(x + 0.5)) ^ 2 > 1e-18 || int(x + 0.5) > $1 { print "row " NR ": " $0; bad = 1 }
        $1 == int(x + 0.5) && $NF == 1 { in_time++ }
        { last = $1; if ($NF == 1) one++ }
        END { exit bad || last < 200 || NR - 1 != rows || one + 0 != prompt || one && !in_time }' seen.csv || fault "$(tail -n 3 seen.csv) $(< summary.txt)"
    simscene scene.json --replay log.npz -t 1 -q -o replayed.npz || fault 'no replay'
    simexport replayed.npz --coordinates -q -o replayed.csv
    awk -F, -v key=time -v same=1 -f "$sample/compare.awk" replayed.csv seen.csv > said.txt || fault "$(< said.txt)"
    # the comparison sees a bit: the 17th digit of a force
    awk -F, -v OFS=, 'NR == 2 { $9 += 1e-15 + 1e-15 * $9 } { print }' CONVFMT=%.17g OFMT=%.17g seen.csv > other.csv
    ! awk -F, -v key=time -v same=1 -f "$sample/compare.awk" replayed.csv other.csv > said.txt || fault "a difference is not seen: $(< said.txt)"
    no_faults
}

@test "the haptic loop of samples/embed: a server that ends, wrong arguments" {
    cc -std=c11 -I "$SUPPLE_SOURCE/include" "$SUPPLE_SOURCE/samples/embed/hand-shared.c" -lm -o loop || fault "it does not compile"
    awk 'BEGIN { print "t,x,y,z,qw,qx,qy,qz"; for (i = 0; i < 90000; i++) print i / 1000 ",3,-2,0.5,1,0,0,0" }' > script.csv
    serve --rate 200 --shared "/supple-test-$$"
    code=0
    ./loop "/supple-test-$$" script.csv nobody > seen.csv 2> err || code=$?
    [ "$code:$(< err)" = '1:hand-shared: nobody: there is no such body' ] || fault "exit $code: $(< err)"
    code=0
    ./loop "/supple-test-$$" missing.csv brick > seen.csv 2> err || code=$?
    [ "$code:$(< err)" = '1:hand-shared: missing.csv: cannot be read, or has no two lines' ] || fault "exit $code: $(< err)"
    (stdbuf -oL ./loop "/supple-test-$$" script.csv brick > seen.csv 2> err) &
    local loop=$!
    while [ "$(wc -l < seen.csv)" -lt 2 ] && kill -0 $loop 2> /dev/null; do sleep 0.02; done
    kill "$server"
    served 0 ''
    code=0
    wait $loop || code=$?
    [ "$code:$(tail -n 1 err)" = "1:hand-shared: /supple-test-$$: the server has ended, or stands still" ] || fault "exit $code: $(< err)"
    no_faults
}

@test "random datagrams, cut and long ones" {
    # SECONDS_OF_FLOOD=60 for a minute
    serve --rate 500 --shared "/supple-test-$$"
    client "${SECONDS_OF_FLOOD:-2}" <<-'END'
	import random, sys
	from osc import *
	c = Client(sys.argv[1])
	r = random.Random(1)
	good = bundle(message('/hand', 3.0, -2.0, 0.5, 1.0, 0.0, 0.0, 0.0), message('/force', 'balls[0]', -1, 0.0, 0.0, 1.0))
	end = time.time() + float(sys.argv[2])
	while time.time() < end:
	    raw = bytearray(r.choice((good, message('/subscribe', 2), message('/body', 'arm', 1.0), b'', r.randbytes(r.randrange(400)))))
	    for _ in range(r.randrange(4)):
	        if raw:
	            raw[r.randrange(len(raw))] = r.randrange(256)
	    raw = raw[:r.randrange(len(raw) + 1)] if r.random() < 0.3 else raw
	    if b'/stop' not in raw:
	        try:
	            c.socket.send(bytes(raw))
	        except ConnectionRefusedError:
	            raise SystemExit('the server has ended')
	time.sleep(0.2)  # most of it is read meanwhile
	for raw in (b'\0' * 60000, bundle(bundle(bundle(bundle(bundle(bundle()))))), b'#bundle\0' + b'\0' * 8 + b'\x7f\xff\xff\xfc',
	            text('/hand') + text(',' + 'd' * 7) + b'\0' * 52, text('/hand') + text(',b') + b'\xff\xff\xff\xff', text('/hand') + b',ddd',
	            message('/hand', float('nan'), -2.0, 0.5, 1.0, 0.0, 0.0, 0.0), message('/hand', 3.0, -2.0, 0.5, 0.0, 0.0, 0.0, 0.0), message('/hand', 1e300, -2.0, 0.5, 1.0, 0.0, 0.0, 0.0)):
	    c.socket.send(raw)
	v = Client(sys.argv[1])
	def ask():  # again, if the socket of a late server is still full
	    v.send('/subscribe')
	    v.send('/hand', 3.125, -2.0, 0.5, 1.0, 0.0, 0.0, 0.0)
	v.until(lambda step, found: found['/hand'][0] == 3.125, ask)
	v.send('/stop')
	END
    served 0 'malformed packets'
    no_faults
}

@test "the server ends by signals, and removes its memory" {
    local signal status
    for signal in INT TERM QUIT; do
        status=0
        [ $signal != QUIT ] || status=131
        serve --rate 100 --shared "/supple-test-$$" --record log.npz
        client "/supple-test-$$" <<< 'import sys; from osc import *; m = Shared(sys.argv[2])
while m.read()["cycle"] < 2: pass'
        kill -$signal "$server"
        served $status ''
        [ ! -e "/dev/shm/supple-test-$$" ] || fault "SIG$signal: the memory is still there"
        [ $signal = QUIT ] || simverify log.npz > /dev/null || fault "SIG$signal: the log is damaged"
        rm -f log.npz
        no_litter "SIG$signal"
    done
    no_faults
}

@test "a client that cuts the shared memory ends the run, whose log is whole; the name of another file stays" {
    serve --rate 200 --shared "/supple-test-$$" --record log.npz
    client "/supple-test-$$" <<-'END'
	import os, sys
	from osc import *
	Shared(sys.argv[2])
	os.truncate('/dev/shm' + sys.argv[2], 0)
	END
    served 4 "^(simserve: listens[^"$'\n'"]*"$'\n'")?simserve: scene.json: --shared: a client made the memory /supple-test-$$ shorter\$"
    [ ! -e "/dev/shm/supple-test-$$" ] || fault 'the memory is still there'
    simverify log.npz > /dev/null || fault 'the log is damaged'
    serve --rate 200 --shared "/supple-test-$$"
    rm "/dev/shm/supple-test-$$"
    echo other > "/dev/shm/supple-test-$$"
    kill "$server"
    served 0 'accepted'
    [ "$(cat "/dev/shm/supple-test-$$")" = other ] || fault 'the file of another program was removed'
    no_faults
}

@test "a port in use, a name that exists, a server without any interface" {
    serve --rate 50 --shared "/supple-test-$$"
    client "/supple-test-$$" <<< 'import sys; from osc import *; Shared(sys.argv[2])'
    refused 4 "cannot listen on port $port of 127.0.0.1: Address already in use" simserve scene.json --udp "$port"
    refused 4 "/supple-test-$$ exists already" simserve scene.json --shared "/supple-test-$$" --steps 1
    [ -e "/dev/shm/supple-test-$$" ] || fault "the memory of the other server is gone"
    refused 2 'nobody could reach it: give --udp PORT or --shared /NAME' simserve scene.json
    refused 2 '--address: "localhost" is no address' simserve scene.json --udp 0 --address localhost
    refused 2 '--shared: here is not a /' simserve scene.json --shared here
    refused 2 '--address' simserve scene.json --shared /here --address 127.0.0.1
    kill "$server"
    served 0 ' 0 packets, 0 inputs accepted; dropped: none'
    no_faults
}

@test "cycles allocate nothing" {
    needs_plain_build 'sanitizers have allocators of their own'
    cat > count.c <<-'END'
	#include <stdatomic.h>
	#include <stddef.h>
	#include <stdio.h>
	extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
	static atomic_long count;
	void *malloc(size_t size) { return count++, __libc_malloc(size); }
	void *calloc(size_t n, size_t size) { return count++, __libc_calloc(n, size); }
	void *realloc(void *old, size_t size) { return count++, __libc_realloc(old, size); }
	__attribute__((destructor)) static void end(void) { fprintf(stderr, "allocations %ld\n", (long)count); }
	END
    cc -O1 -shared -fPIC count.c -o count.so || skip 'no such library can be made here'
    allocations() { # CYCLES: of a server whose subscriber moves the hand in each of so many cycles that it receives
        export LD_PRELOAD=$PWD/count.so
        serve --rate 1000 --shared "/supple-test-$$"
        unset LD_PRELOAD
        client "$1" <<-'END'
	import sys
	from osc import *
	c = Client(sys.argv[1])
	c.send('/subscribe')
	for i in range(int(sys.argv[2])):
	    c.receive()
	    c.send('/hand', 3 + 1e-4 * (i % 50), -2.0, 0.5, 1.0, 0.0, 0.0, 0.0)
	    c.send('/force', 'balls[0]', -1, 1.0, 0.0, float(i % 3))
	    c.send('/nonsense', 'a')
	c.send('/stop')
	END
        served 0 'messages to an unknown address'
        sed -n 's/.*allocations \([0-9]*\).*/\1/p' said.txt | tail -n 1
    }
    allocations 20 > few
    allocations 500 > many
    [ -s few ] && cmp few many || fault "$(< few) allocations with 20 cycles of a client, $(< many) with 500"
    no_faults
}
