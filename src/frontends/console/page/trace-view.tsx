/** Shows why a request became what it is: mappings considered, the condition as a tree, what transforms did. */
import type { JSX } from 'preact';
import type { ConditionJson, ConsideredJson } from '../../../engine/hook/facts.ts';
import type { NoteJson } from '../../../authoring/advice/requests.ts';
import type { Judgement } from '../protocol.ts';
import { count, formatMs } from './format.ts';
import { NoteList, NoteText, notesOf } from './note-list.tsx';
import { StateLabel } from './outcome-label.tsx';
import { plainText, ProblemText, ShownBlock, ShownText } from './shown-text.tsx';
import { Place, point } from './template-view.tsx';

const MAX_MISSES = 20;

export function WhyView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const onPath = judgement.considered.filter(({ failed }) => failed?.part !== 'path');
  const taken = judgement.considered.find(({ matched }) => matched);
  const misses = onPath.filter(({ matched }) => !matched);
  return (
    <div class="why">
      {judgement.error !== undefined && (
        <ProblemText code={judgement.error.code} text={judgement.error.detail} />
      )}
      {taken !== undefined && <Considered considered={taken} judgement={judgement} isOpen />}
      {misses.length > 0 && <Misses misses={misses} judgement={judgement} isTaken={taken !== undefined} />}
      <Notes judgement={judgement} />
    </div>
  );
}

function Misses(props: {
  readonly misses: readonly ConsideredJson[];
  readonly judgement: Judgement;
  readonly isTaken: boolean;
}): JSX.Element {
  const { misses, judgement, isTaken } = props;
  const many = count(misses.length, 'mapping');
  return (
    <details open={!isTaken}>
      <summary>
        {isTaken ? `${many} before it did not match` : `No mapping took it; ${many} of this hook name`}
      </summary>
      {misses.slice(0, MAX_MISSES).map((considered) => (
        <Considered key={considered.id} considered={considered} judgement={judgement} isOpen={!isTaken} />
      ))}
    </details>
  );
}

/** Such notes belong to no single mapping. */
function Notes({ judgement: { notes, warnings } }: { readonly judgement: Judgement }): JSX.Element {
  const isOfMapping = ({ code, mapping }: NoteJson): boolean =>
    mapping !== undefined && code !== 'also_matched';
  return (
    <>
      <NoteList notes={notes.filter((note) => !isOfMapping(note))} />
      {warnings.map(({ code, message }) => (
        <p class="note" key={code + message}>
          <strong>{code}</strong> <ShownText text={message} />
        </p>
      ))}
    </>
  );
}

function Considered(props: {
  readonly considered: ConsideredJson;
  readonly judgement: Judgement;
  readonly isOpen: boolean;
}): JSX.Element {
  const { considered, judgement, isOpen } = props;
  const { id, at, matched, failed, condition } = considered;
  const notes = notesOf(judgement.notes, considered);
  return (
    <div class={`considered ${matched ? 'accepted' : 'rejected'}`}>
      <h3>
        <span class="mark" aria-hidden="true">
          {matched ? '✓' : '✗'}
        </span>
        {id} <span class="quiet">{matched ? 'took it' : 'did not match'}</span> <Place at={at} />
      </h3>
      {failed !== undefined && failed.part !== 'when' && (
        <p class="leaf">
          {failed.part} is <Found value={failed.found} />, expected <Found value={failed.expected} />
        </p>
      )}
      {condition !== undefined && (isOpen || !matched) && (
        <ul class="condition">
          <ConditionItem node={condition} notes={notes} />
        </ul>
      )}
    </div>
  );
}

interface NodeProps {
  readonly node: ConditionJson;
  readonly notes: readonly NoteJson[];
}

function ConditionItem({ node, notes }: NodeProps): JSX.Element {
  const { expression, result, children, at } = node;
  const isLeaf = children.length === 0;
  const path = isLeaf ? variableOf(expression) : undefined;
  return (
    <li class={`cond-${result}`}>
      <span class="node" onMouseEnter={() => point(path)} onMouseLeave={() => point('')}>
        <StateLabel state={result} />{' '}
        {isLeaf ? (
          <Leaf node={node} />
        ) : (
          <strong>{/^\{"([^"]+)"/.exec(expression)?.[1] ?? expression}</strong>
        )}
        <Hints node={node} notes={notes} /> <Place at={at} />
      </span>
      {!isLeaf && (
        <ul>
          {children.map((child, index) => (
            <ConditionItem key={index} node={child} notes={notes} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Leaf({ node: { expression, missing, found } }: Pick<NodeProps, 'node'>): JSX.Element {
  return (
    <>
      <code title={plainText(expression)}>
        <ShownText text={asRead(expression)} />
      </code>
      {missing === undefined && found !== undefined && (
        <span class="found">
          {' '}
          found <Found value={found} />
        </span>
      )}
    </>
  );
}

/** The tree shows these facts by itself. */
const SHOWN_BY_TREE: ReadonlySet<NoteJson['code']> = new Set(['held', 'more_held', 'not_held', 'part']);

function Hints({ node: { at, missing, element }, notes }: NodeProps): JSX.Element {
  const own = notes.filter(
    (note) => note.at === at && (element !== undefined || !SHOWN_BY_TREE.has(note.code)),
  );
  return (
    <>
      {missing !== undefined && (
        <span class="found">
          {' '}
          <code>
            <ShownText text={missing} />
          </code>{' '}
          is missing
        </span>
      )}
      {own.map((note) => (
        <span key={note.code + note.text} class="hint">
          {' '}
          <NoteText note={note} />
        </span>
      ))}
    </>
  );
}

const INFIX = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in']);

/**
 * Writes a comparison as people read one: the variable, the operator, the value. Anything else stays as it is written.
 */
function asRead(expression: string): string {
  try {
    const [[operator, operands] = []] = Object.entries(JSON.parse(expression) as object);
    if (operator === undefined || !INFIX.has(operator) || !Array.isArray(operands) || operands.length !== 2)
      return expression;
    const [left, right] = operands.map(operandAsRead);
    return `${left} ${operator} ${right}`;
  } catch {
    // A long one was cut.
    return expression;
  }
}

/** A note may name the conditions of several mappings. */
const CONDITION = /\{".*?\}(?= did not hold| could not be judged)/g;

export const conditionsAsRead = (note: string): string => note.replaceAll(CONDITION, asRead);

function operandAsRead(operand: unknown): string {
  const name =
    typeof operand === 'object' && operand !== null ? (operand as { readonly var?: unknown }).var : undefined;
  return typeof name === 'string' ? name : JSON.stringify(operand);
}

function variableOf(expression: string): string | undefined {
  const name = /\{"var":\s*\[?"([^"]+)"/.exec(expression)?.[1];
  if (name === undefined) return undefined;
  return /^(?:payload|headers|query|item)(?:\.|$)/.test(name) ? name : `payload.${name}`;
}

function Found({ value }: { readonly value: unknown }): JSX.Element {
  if (value === undefined) return <em>nothing</em>;
  const text = JSON.stringify(value);
  return (
    <code class="found-value">
      <ShownText text={text.length > 200 ? `${text.slice(0, 200)}…` : text} />
    </code>
  );
}

/** Shows what transforms wrote, and how they ended. */
export function TransformView({ judgement: { transforms } }: { readonly judgement: Judgement }): JSX.Element {
  return (
    <>
      {transforms.map(({ module, index, at, reply, problem }) => (
        <div class="transform" key={`${module}${index ?? ''}`}>
          <h3>
            {module}
            {index !== undefined && <span class="quiet"> for element {index}</span>} <Place at={at} />{' '}
            <StateLabel state={reply.kind === 'ok' && problem === undefined ? 'ok' : 'error'} />{' '}
            <span class="quiet small">{formatMs(reply.tookMs)}</span>
          </h3>
          {problem !== undefined && <ProblemText text={problem} />}
          {reply.kind === 'failed' && (
            <ProblemText code={reply.failure} text={`${reply.name ?? ''} ${reply.message}`.trim()} />
          )}
          {reply.logs.length > 0 && (
            <pre class="console">
              {reply.logs.map(({ level, text }, number) => (
                <div key={number} class={level}>
                  <span class="quiet">{level}</span> <ShownText text={text} />
                </div>
              ))}
            </pre>
          )}
          {reply.kind === 'failed' && <ShownBlock kind="stack" text={reply.stack ?? ''} />}
        </div>
      ))}
    </>
  );
}
