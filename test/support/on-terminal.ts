/** A shell with jobs on a real terminal, and what a person would see and write there. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { builtMain } from './built-program.ts';

/** Runs sh on a terminal of its own: waits for each text, then writes; prints what was seen, and the terminal's mode then. */
const DRIVER = `
import json, os, pty, select, sys, termios, time
steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execvp('sh', ['sh', '-i', '-m'])
seen = ''
def whole():
    flags = termios.tcgetattr(fd)[3]
    return bool(flags & termios.ECHO) and bool(flags & termios.ICANON) and bool(flags & termios.ISIG)
modes = []
part = ''
for wanted, keys in steps:
    end = time.time() + 60
    while wanted not in part and time.time() < end:
        ready, _, _ = select.select([fd], [], [], 0.2)
        if ready:
            try: some = os.read(fd, 65536).decode('utf8', 'replace')
            except OSError: break
            part += some
            seen += some
    if wanted not in part:
        print(json.dumps({'seen': seen, 'missing': wanted, 'modes': modes})); os.kill(pid, 9); sys.exit()
    part = part.split(wanted, 1)[1]
    modes.append(whole())
    os.write(fd, keys.encode())
print(json.dumps({'seen': seen, 'modes': modes}))
os.kill(pid, 9)
`;

export interface SeenOnTerminal {
  readonly seen: string;
  /** The text that never came. */
  readonly missing?: string;
  /** Whether lines, echo and signals of the terminal were on at each step. */
  readonly modes: readonly boolean[];
}

export type TerminalSteps = readonly (readonly [wanted: string, keys: string])[];

/** Runs a shell in a folder, with the program as $SLUICE. */
export async function runOnTerminal(
  cwd: string,
  steps: TerminalSteps,
  env: NodeJS.ProcessEnv = {},
): Promise<SeenOnTerminal> {
  const child = spawn('python3', ['-c', DRIVER, JSON.stringify(steps)], {
    cwd,
    env: { ...process.env, PS1: '# ', SLUICE: `${process.execPath} ${builtMain()}`, ...env },
    timeout: 280_000,
  });
  return JSON.parse(await text(child.stdout)) as SeenOnTerminal;
}
