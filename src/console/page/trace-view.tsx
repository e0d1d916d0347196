/** Why a request became what it is: mappings considered, the condition as a tree, what transforms did. */
import type { JSX } from 'preact';
import type { ConditionJson, ConsideredJson } from '../../hook/hook.ts';
import type { Judgement } from '../protocol.ts';
import { count, formatMs } from './format.ts';
import { StateLabel } from './outcome-label.tsx';
import { plainText, ShownText } from './shown-text.tsx';
import { insteadOf, Place, point } from './template-view.tsx';

/** Misses that are shown opened out; the others can be opened. */
const MAX_MISSES = 20;

export function WhyView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const { advice } = judgement;
  const onPath = judgement.considered.filter(({ failed }) => failed?.part !== 'path');
  const taken = judgement.considered.find(({ matched }) => matched);
  const misses = onPath.filter(({ matched }) => !matched);
  const elsewhere = judgement.considered.length - onPath.length;
  return (
    <div class="why">
      {judgement.error !== undefined && (
        <p class="problem">
          <strong>{judgement.error.code}</strong> <ShownText text={judgement.error.detail} />
        </p>
      )}
      {taken !== undefined && <Considered considered={taken} judgement={judgement} isOpen />}
      {taken === undefined && judgement.mapping === undefined && misses.length === 0 && elsewhere > 0 && (
        <p>
          No mapping has this hook name.
          {advice.nearNames.map(({ name, why, at }) => (
            <span key={name}>
              {' '}
              <code>{name}</code> {why} <Place at={at} />
            </span>
          ))}
        </p>
      )}
      {misses.length > 0 && (
        <details open={taken === undefined}>
          <summary>
            {taken === undefined
              ? `No mapping took it; ${count(misses.length, 'mapping')} of this hook name`
              : `${count(misses.length, 'mapping')} before it did not match`}
          </summary>
          {misses.slice(0, MAX_MISSES).map((considered) => (
            <Considered
              key={considered.id}
              considered={considered}
              judgement={judgement}
              isOpen={taken === undefined}
            />
          ))}
        </details>
      )}
      {elsewhere > 0 && taken !== undefined && (
        <p class="quiet small">{count(elsewhere, 'mapping')} of other hook names</p>
      )}
      {advice.alsoMatched.map(({ id, at }) => (
        <p class="note" key={id}>
          {id} would have taken it, too, but stands later <Place at={at} />
        </p>
      ))}
      {judgement.warnings.map(({ code, message }) => (
        <p class="note" key={code + message}>
          <strong>{code}</strong> <ShownText text={message} />
        </p>
      ))}
    </div>
  );
}

interface ConsideredProps {
  readonly considered: ConsideredJson;
  readonly judgement: Judgement;
  readonly isOpen: boolean;
}

function Considered({ considered, judgement, isOpen }: ConsideredProps): JSX.Element {
  const { id, at, matched, failed } = considered;
  const { condition } = considered;
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
        <ConditionTree node={condition} advice={judgement.advice} />
      )}
    </div>
  );
}

function ConditionTree({
  node,
  advice,
}: {
  readonly node: ConditionJson;
  readonly advice: Judgement['advice'];
}): JSX.Element {
  return (
    <ul class="condition">
      <ConditionItem node={node} advice={advice} />
    </ul>
  );
}

function ConditionItem({
  node,
  advice,
}: {
  readonly node: ConditionJson;
  readonly advice: Judgement['advice'];
}): JSX.Element {
  const { expression, result, found, expected, missing, children, at } = node;
  const isLeaf = children.length === 0;
  const near = missing === undefined ? undefined : insteadOf(advice, missing);
  const elsewhere =
    typeof expected === 'string' && result === 'false'
      ? advice.elsewhere.find(({ text }) => text === expected)?.at
      : undefined;
  const path = isLeaf ? variableOf(expression) : undefined;
  return (
    <li class={`cond-${result}`}>
      <span class="node" onMouseEnter={() => point(path)} onMouseLeave={() => point('')}>
        <StateLabel state={result} />{' '}
        {isLeaf ? (
          <code title={plainText(expression)}>
            <ShownText text={asRead(expression)} />
          </code>
        ) : (
          <strong>{operatorOf(expression)}</strong>
        )}
        {isLeaf && missing === undefined && found !== undefined && (
          <span class="found">
            {' '}
            found <Found value={found} />
          </span>
        )}
        {missing !== undefined && (
          <span class="found">
            {' '}
            <code>
              <ShownText text={missing} />
            </code>{' '}
            is missing
          </span>
        )}
        {near !== undefined && (
          <span class="hint">
            {' '}
            the request has <ShownText text={near} />
          </span>
        )}
        {elsewhere !== undefined && (
          <span class="hint">
            {' '}
            <ShownText text={elsewhere} /> has this value
          </span>
        )}{' '}
        <Place at={at} />
      </span>
      {!isLeaf && (
        <ul>
          {children.map((child, index) => (
            <ConditionItem key={index} node={child} advice={advice} />
          ))}
        </ul>
      )}
    </li>
  );
}

const INFIX = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in']);

/** A comparison as people read one: the variable, the operator, the value. Anything else as it is written. */
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

function operandAsRead(operand: unknown): string {
  const name =
    typeof operand === 'object' && operand !== null ? (operand as { readonly var?: unknown }).var : undefined;
  return typeof name === 'string' ? name : JSON.stringify(operand);
}

function operatorOf(expression: string): string {
  return /^\{"([^"]+)"/.exec(expression)?.[1] ?? expression;
}

/** The request's path that a leaf reads. */
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

/** What a transform wrote, and how it ended. */
export function TransformView({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  return (
    <>
      {judgement.transforms.map(({ module, at, index, problem, reply }) => (
        <div class="transform" key={`${module}${index ?? ''}`}>
          <h3>
            {module}
            {index !== undefined && <span class="quiet"> for element {index}</span>} <Place at={at} />{' '}
            <StateLabel state={reply.kind === 'ok' && problem === undefined ? 'ok' : 'error'} />{' '}
            <span class="quiet small">{formatMs(reply.tookMs)}</span>
          </h3>
          {problem !== undefined && (
            <p class="problem">
              <ShownText text={problem} />
            </p>
          )}
          {reply.kind === 'failed' && (
            <p class="problem">
              <strong>{reply.failure}</strong>{' '}
              <ShownText text={`${reply.name ?? ''} ${reply.message}`.trim()} />
            </p>
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
          {reply.kind === 'failed' && reply.stack !== undefined && (
            <pre class="stack">
              <ShownText text={reply.stack} />
            </pre>
          )}
        </div>
      ))}
    </>
  );
}
