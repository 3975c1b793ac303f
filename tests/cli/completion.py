"""completion.py SHELL SCRIPT...: what TAB makes of command lines in a real shell, bash or zsh.

Reads command lines from standard input; the tab key is written as a vertical bar. The shell runs on a terminal of its
own in the current folder, after it has read the scripts. Each program of a command line is a function there that
prints its arguments, and these are printed here, one line for each command line."""
import os
import pty
import re
import select
import sys
import time

SECONDS = 30


def expect(terminal, pattern, text=''):
    """Reads until the pattern is there; returns the match and what follows it."""
    end = time.monotonic() + SECONDS
    while not (match := re.search(pattern, text)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            sys.exit(f'nothing like {pattern!r} in {text!r}')
        text += os.read(terminal, 65536).decode(errors='replace')
    return match, text[match.end():]


def main():
    shell, *scripts = sys.argv[1:]
    lines = sys.stdin.read().splitlines()
    commands = {'bash': ['bash', '--norc', '--noprofile', '-i'], 'zsh': ['zsh', '-f', '-i']}[shell]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM='dumb', PS1='', HISTFILE='/dev/null')
        os.execvp(commands[0], commands)
    start = ['bind "set bell-style none"', 'bind "set enable-bracketed-paste off"'] if shell == 'bash' else \
        ['unsetopt beep list_ambiguous prompt_cr prompt_sp', 'autoload -U compinit', 'compinit -u -D']
    start += [f'source {script}' for script in scripts]
    start += [f'{name}() {{ printf "%s" "<$*>"; echo; }}' for name in sorted({line.split()[0] for line in lines})]
    # The quotes keep the echo of the command from being taken for what it prints.
    os.write(terminal, ('\n'.join(start) + '\necho rea""dy\n').encode())
    _, rest = expect(terminal, 'ready')
    for line in lines:
        os.write(terminal, line.replace('|', '\t').encode() + b'\n')
        match, rest = expect(terminal, r'<(.*)>\r?\n', rest)
        print(match[1].rstrip())
    os.write(terminal, b'exit\n')
    os.close(terminal)
    os.waitpid(child, 0)


main()
