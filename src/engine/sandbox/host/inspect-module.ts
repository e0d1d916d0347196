/** Checks a module where it may run: its top level works and is light, and it exports what the mapping calls. */
import { say } from '../../../base/finding.ts';
import type { Finding } from '../../../base/document/document.ts';
import { STATUS } from '../names.ts';
import type { JobOutcome, PooledModule } from './job-queue.ts';
import type { Pool } from './pool.ts';
import { replyTo, type ReplyContext } from './reply.ts';
import { findingOn, type TransformRef, type TransformReply } from '../transform.ts';

/** The top level runs again for every call, so what it costs is paid by every request. */
const HEAVY_CPU_MS = 1;
const HEAVY_RUNS = 5;

export async function inspectModule(
  pool: Pool,
  module: PooledModule,
  context: ReplyContext,
): Promise<readonly Finding[]> {
  const { ref } = context;
  const run = (): Promise<JobOutcome> => pool.submit(module, ref.timeoutMs, { kind: 'inspect' });
  const outcome = await run();
  if (outcome.kind !== 'answered' || outcome.answer.status !== STATUS.ok)
    return [describeFailure(outcome, context)];
  const exported = new Map(JSON.parse(outcome.answer.value) as [string, string][]);
  const wrong = describeExport(ref, exported);
  if (wrong !== undefined) return [wrong];
  if (ref.reuse) return [];
  return (await isHeavy(outcome.answer.cpuMicros, run)) ? [describeHeavy(ref)] : [];
}

/** The first run also compiled it, and any run may be disturbed: what the quickest takes is what every call pays. */
async function isHeavy(firstMicros: number, run: () => Promise<JobOutcome>): Promise<boolean> {
  let leastMicros = firstMicros;
  for (let runs = 1; runs < HEAVY_RUNS && leastMicros > HEAVY_CPU_MS * 1000; runs += 1) {
    const again = await run();
    if (again.kind !== 'answered') return false;
    leastMicros = Math.min(leastMicros, again.answer.cpuMicros);
  }
  return leastMicros > HEAVY_CPU_MS * 1000;
}

function describeExport(ref: TransformRef, exported: ReadonlyMap<string, string>): Finding | undefined {
  const wanted = ref.export === undefined ? ['default', 'transform'] : [ref.export];
  const name = wanted.find((one) => exported.has(one) && exported.get(one) !== 'undefined');
  const module = JSON.stringify(ref.module);
  const functions = [...exported].filter(([, type]) => type === 'function').map(([key]) => key);
  const facts = { module: ref.module, functions };
  if (name === undefined) {
    const message = say`transform ${module} exports nothing named ${wanted.join(' or ')}`;
    return findingOn(ref, 'TRANSFORM_EXPORT_MISSING', message, { facts });
  }
  const type = exported.get(name) ?? '';
  if (type === 'function') return undefined;
  const message = say`export ${name} of transform ${module} is of type ${type}, expected a function`;
  return findingOn(ref, 'TRANSFORM_NOT_A_FUNCTION', message, { facts });
}

function describeFailure(outcome: JobOutcome, context: ReplyContext): Finding {
  const { ref } = context;
  const reply = replyTo(outcome, context);
  if (reply.kind === 'failed' && reply.failure !== 'deferred') return describeTopLevel(ref, reply);
  const why = reply.kind === 'failed' ? `: ${reply.message}` : '';
  const message = say`transform ${JSON.stringify(ref.module)} could not be tried in the sandbox${why}`;
  return findingOn(ref, 'TRANSFORM_NOT_CHECKED', message);
}

function describeTopLevel(
  ref: TransformRef,
  { position, name, message }: Extract<TransformReply, { kind: 'failed' }>,
): Finding {
  const where = position === undefined ? '' : ` at ${position.file}:${position.line}:${position.column}`;
  const words = name === undefined ? message : `${name}: ${message}`;
  const said = say`transform ${JSON.stringify(ref.module)} fails before it is called: ${words.slice(0, 200)}${where}`;
  return findingOn(ref, 'TRANSFORM_TOP_LEVEL_FAILED', said);
}

function describeHeavy(ref: TransformRef): Finding {
  const message = say`the top level of transform ${JSON.stringify(ref.module)} takes over a millisecond, and runs again for every call`;
  return findingOn(ref, 'TRANSFORM_HEAVY_TOP_LEVEL', message, { severity: 'warning' });
}
