import { readFileSync, readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { statFields } from '../../base/process-use.ts';
import { pause } from '../../base/timers/timers.ts';

/**
 * Ending everything a command started.
 *
 * A process can leave its parent (double fork) and its group (setsid), but it keeps the environment it was started
 * with. So a run's processes are found in /proc by three marks: `SLUICE_RUN_ID` in the environment, the process group
 * of the command, and descent from one found by either. Signals are sent in passes until none is left, because a
 * process may fork between the look and the signal. What escapes is only a process that cleared its environment AND
 * left its group AND outlived its parent. Without /proc (not Linux) the process group is all there is.
 *
 * A pid alone proves nothing, since pids are used again: a group counts only while its leader has the start time that
 * was recorded.
 */
export interface ProcessTree {
  readonly runId: string;
  readonly pgid?: number;
  /** Start time of the group's leader in clock ticks since boot; empty where the system does not tell. */
  readonly startTicks?: string;
  /** True while this process started the group itself: then it counts even after its leader ended. */
  readonly own: boolean;
}

/** The environment variable every process of a run carries. */
export const RUN_ID_VARIABLE = 'SLUICE_RUN_ID';

const POLL_MS = 20;
/** Most passes of SIGKILL: some processes cannot be ended (another user's, or stuck in the kernel). */
const MAX_KILL_PASSES = 100;
/** How many processes are read in one turn of the event loop. */
const SLICE = 64;

interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly pgid: number;
  readonly startTicks: string;
}

/** Start time of a process as the kernel counts it, or an empty string where it is gone or the system does not tell. */
export function readStartTicks(pid: number): string {
  return readEntry(pid)?.startTicks ?? '';
}

/**
 * Ends every process of the tree: SIGTERM, after `graceMs` SIGKILL. Resolves to whether all are gone; at once where
 * there was none.
 */
export async function endProcessTree(tree: ProcessTree, graceMs: number): Promise<boolean> {
  let members = await findMembers(tree);
  if (members.length === 0) return true;
  signalAll(tree, members, 'SIGTERM');
  const killAt = performance.now() + graceMs;
  for (let pass = 0; pass < MAX_KILL_PASSES;) {
    await pause(POLL_MS);
    members = await findMembers(tree);
    if (members.length === 0) return true;
    if (performance.now() < killAt) continue;
    signalAll(tree, members, 'SIGKILL');
    pass += 1;
  }
  return false;
}

async function findMembers(tree: ProcessTree): Promise<readonly number[]> {
  const entries = await listProcesses();
  if (entries === undefined) return findGroup(tree);
  const groupIsOurs = ownsGroup(tree, entries);
  const members = new Set<number>();
  let looked = 0;
  for (const entry of entries.values()) {
    looked += 1;
    if (looked % SLICE === 0) await nextTurn();
    if (
      (groupIsOurs && entry.pgid === tree.pgid) ||
      (mayBeOf(tree, entry) && isMarked(entry.pid, tree.runId))
    )
      members.add(entry.pid);
  }
  addDescendants(members, entries);
  members.delete(process.pid);
  return [...members];
}

/** What was there before the command has nothing of it: the environment of every process here need not be read. */
const mayBeOf = ({ startTicks = '' }: ProcessTree, entry: ProcessEntry): boolean =>
  Number(entry.startTicks) >= Number(startTicks);

function ownsGroup(tree: ProcessTree, entries: ReadonlyMap<number, ProcessEntry>): boolean {
  if (tree.pgid === undefined) return false;
  const leader = entries.get(tree.pgid);
  if (leader === undefined) return tree.own;
  return tree.startTicks !== undefined && tree.startTicks !== '' && leader.startTicks === tree.startTicks;
}

/** Without /proc finds only the group itself, and only where this process started it. */
function findGroup(tree: ProcessTree): readonly number[] {
  if (tree.pgid === undefined || !tree.own) return [];
  return send(-tree.pgid, 0) ? [tree.pgid] : [];
}

function addDescendants(members: Set<number>, entries: ReadonlyMap<number, ProcessEntry>): void {
  let grew = members.size > 0;
  while (grew) {
    grew = false;
    for (const entry of entries.values()) {
      if (members.has(entry.pid) || !members.has(entry.parentPid)) continue;
      members.add(entry.pid);
      grew = true;
    }
  }
}

/** Signals the group first, as that reaches processes that are being forked right now. */
function signalAll(tree: ProcessTree, members: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): void {
  if (tree.pgid !== undefined && members.includes(tree.pgid)) send(-tree.pgid, signal);
  for (const pid of members) send(pid, signal);
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function listProcesses(): Promise<ReadonlyMap<number, ProcessEntry> | undefined> {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const entries = new Map<number, ProcessEntry>();
  let looked = 0;
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    looked += 1;
    if (looked % SLICE === 0) await nextTurn();
    const entry = readEntry(Number(name));
    if (entry !== undefined) entries.set(entry.pid, entry);
  }
  return looked === 0 ? undefined : entries;
}

function readEntry(pid: number): ProcessEntry | undefined {
  const fields = statFields(pid);
  const [state, parentPid, pgid] = fields;
  const startTicks = fields[19];
  // A zombie has ended; only its parent can clear it away.
  if (state === undefined || state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
  return { pid, parentPid: Number(parentPid), pgid: Number(pgid), startTicks };
}

function isMarked(pid: number, runId: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const mark = `${RUN_ID_VARIABLE}=${runId}\0`;
    return environment.startsWith(mark) || environment.includes(`\0${mark}`);
  } catch {
    return false;
  }
}
