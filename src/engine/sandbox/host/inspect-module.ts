/** Checks a module where it may run: its top level works, and it exports what the mapping calls. */
import { say } from '../../../base/finding.ts';
import type { Finding } from '../../../base/document/document.ts';
import { STATUS } from '../names.ts';
import type { JobOutcome, PooledModule } from './job-queue.ts';
import type { Pool } from './pool.ts';
import { replyTo, type ReplyContext } from './reply.ts';
import { findingOn, type TransformRef, type TransformReply } from '../transform.ts';

export async function inspectModule(
  pool: Pool,
  module: PooledModule,
  context: ReplyContext,
): Promise<readonly Finding[]> {
  const { ref } = context;
  const outcome = await pool.submit(module, ref.timeoutMs, { kind: 'inspect' });
  if (outcome.kind !== 'answered' || outcome.answer.status !== STATUS.ok)
    return [describeFailure(outcome, context)];
  const exported = new Map(JSON.parse(outcome.answer.value) as [string, string][]);
  const wrong = describeExport(ref, exported);
  return wrong === undefined ? [] : [wrong];
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
