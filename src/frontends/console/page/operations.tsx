/** Offers what can be done about runs, events and deliveries, with the rules of the commands. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Pausable, PlannedChange, WorkJson } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { formatDate } from './format.ts';
import { mayOperate } from './inbox-store.ts';
import { place } from './navigation.ts';
import { type Batch, begin } from './progress.tsx';
import { say } from './toast.ts';

/** Says how work ended, or where it stands. */
export function endOf(entry: WorkJson): string {
  return text(entry, 'outcome') || text(entry, 'state');
}

/** Returns a value of an entry; empty where it has none. */
export function text(entry: WorkJson, key: string): string {
  const value = entry[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export const isRun = (entry: WorkJson): boolean => 'sessionKey' in entry;

export const FAILED: readonly string[] = ['error', 'timeout', 'dead'];
export const WAITING: readonly string[] = ['queued', 'pending'];
export const RUNNING: readonly string[] = ['active', 'claimed'];

/** The parts are: the route, the label, the words for the result, the class, and which entries it fits. */
type WorkOperation = readonly [
  path: 'retry' | 'approve' | 'deny' | 'cancel' | 'drop',
  label: string,
  done: string,
  look: string,
  fits: (entry: WorkJson) => boolean,
];

/** An approval has a deadline, and the name of whoever decided. */
interface RunApproval {
  readonly expiresAt: string;
  readonly decision?: string;
  readonly by?: string;
}

const approvalOf = (entry: WorkJson): RunApproval | undefined => entry['approval'] as RunApproval | undefined;

export function isAsked(entry: WorkJson): boolean {
  const approval = approvalOf(entry);
  return approval !== undefined && approval.decision === undefined && endOf(entry) === 'queued';
}

/** Says what was answered, or until when it may be; empty where nobody is asked. */
export function approvalText(entry: WorkJson): string {
  const { expiresAt = '', decision, by = '' } = approvalOf(entry) ?? {};
  if (decision !== undefined) return `${decision} by ${by}`;
  return isAsked(entry) ? `asked for until ${formatDate(Date.parse(expiresAt))}` : '';
}

const isIn =
  (...states: readonly string[]) =>
  (entry: WorkJson): boolean =>
    states.includes(endOf(entry));

/** Work that has ended well is not begun again. */
const RETRY: WorkOperation = ['retry', 'Run again what failed', 'begun again', 'primary', isIn(...FAILED)];
const OPERATIONS: readonly WorkOperation[] = [
  ['approve', 'Approve', 'approved', 'primary', isAsked],
  ['deny', 'Deny', 'denied', 'danger', isAsked],
  RETRY,
  ['retry', 'Try now', 'due now', '', (entry) => endOf(entry) === 'queued' && !isAsked(entry)],
  ['cancel', 'Cancel', 'cancelled', 'danger', (entry) => isRun(entry) && endOf(entry) === 'active'],
  ['drop', 'Drop', 'dropped', 'danger', isIn(...WAITING, 'dead')],
];

/** The filters of a list. A change applies to everything that they match, and not only to what is loaded. */
export interface ListSelection {
  readonly of: 'runs' | 'outbox' | 'events';
  readonly state?: string;
  readonly mapping?: string;
  readonly errorCode?: string;
}

/** Nothing is changed before somebody confirms the plan. */
interface OperationPlan {
  readonly operation: WorkOperation;
  readonly plan: PlannedChange;
}

/**
 * Shows a button for each operation that fits any of the entries; nothing for a visitor who may only look.
 * A single entry is changed at once.
 */
export function Operations(props: {
  /** Absent where they are not known: then what failed of `listed` can begin again. */
  readonly entries?: readonly WorkJson[];
  readonly listed?: ListSelection;
  readonly onChanged: () => void;
}): JSX.Element | null {
  const { entries, listed, onChanged } = props;
  const problem = useSignal('');
  const planned = useSignal<OperationPlan | undefined>(undefined);
  const tried = async (work: () => Promise<void>): Promise<void> => {
    problem.value = '';
    await work().catch((error: unknown) => (problem.value = messageOf(error)));
  };
  const change = async ([path]: WorkOperation, ids: readonly string[]): Promise<number> => {
    const { changed } = await postJson<{ readonly changed: number }>(`/api/${path}`, { ids });
    onChanged();
    return changed;
  };
  const changeOne = (operation: WorkOperation, id: string): Promise<void> =>
    tried(async () => {
      const isChanged = (await change(operation, [id])) > 0;
      say(
        isChanged
          ? `1 ${operation[2]}`
          : 'nothing changed: it is decided, has gone on, or is not tried again',
      );
    });
  const ask = (operation: WorkOperation, ids: readonly string[]): Promise<void> =>
    tried(async () => {
      const chosen = listed ?? { ids };
      const plan = await postJson<PlannedChange>('/api/plan', { change: operation[0], chosen });
      planned.value = { operation, plan };
    });
  /** Some at a time; what begins is followed until it ends. */
  const changeAll = ({ operation, plan }: OperationPlan): void => {
    const [path, , done] = operation;
    const { path: here } = place.peek();
    const ofMapping = new URLSearchParams({ mapping: listed?.mapping ?? '' }).toString();
    planned.value = undefined;
    begin({
      nouns: NOUNS[listed?.of ?? (entries?.every(isRun) ? 'runs' : 'entries')],
      done,
      hasEnds: path === 'retry' || path === 'approve',
      ids: plan.ids,
      begin: async (ids) => {
        const changed = await change(operation, ids);
        if (path === 'retry' || path === 'approve') return { work: ids, refused: [] };
        return { work: [], refused: Array.from({ length: ids.length - changed }, () => 'gone on meanwhile') };
      },
      linkOf: () =>
        listed === undefined ? here : `/${listed.of === 'outbox' ? 'deliveries' : 'runs'}?${ofMapping}`,
    });
  };
  if (!mayOperate.value) return null;
  // Beside the button that decides there is no other one.
  if (planned.value !== undefined)
    return <Plan planned={planned.value} onDo={changeAll} onLeave={() => (planned.value = undefined)} />;
  const asks = entries?.some(isAsked) === true;
  return (
    <p class="actions">
      {OPERATIONS.map((operation) => {
        const [, label, , look, fits] = operation;
        const ids = (entries ?? []).filter(fits).map((entry) => text(entry, 'id'));
        const [id] = ids;
        if (id === undefined && (entries !== undefined || operation !== RETRY)) return null;
        const isOne = listed === undefined && ids.length === 1 && id !== undefined;
        return (
          <button
            key={label}
            type="button"
            class={operation === RETRY && asks ? '' : look}
            onClick={() => void (isOne ? changeOne(operation, id) : ask(operation, ids))}
          >
            {label}
            {listed === undefined ? ids.length > 1 && ` (${ids.length})` : '…'}
          </button>
        );
      })}
      {problem.value !== '' && <span role="alert">{problem.value}</span>}
    </p>
  );
}

const NOUNS: Readonly<Record<ListSelection['of'] | 'entries', Batch['nouns']>> = {
  runs: ['run', 'runs'],
  outbox: ['delivery or callback', 'deliveries and callbacks'],
  events: ['system event', 'system events'],
  entries: ['piece of work', 'pieces of work'],
};

/** What a change would do, and what it would leave out. */
function Plan(props: {
  readonly planned: OperationPlan;
  readonly onDo: (planned: OperationPlan) => void;
  readonly onLeave: () => void;
}): JSX.Element {
  const { operation, plan } = props.planned;
  const [, label, , look] = operation;
  const many = plan.ids.length;
  return (
    <div class="plan" role="group" aria-label={`Plan: ${label}`}>
      <p role="status">
        {label}: {plan.says}
        {many > 1 && ', the oldest first'}
        {plan.later > 0 && `; ${plan.later.toLocaleString('en')} later ones come with the next plan`}
      </p>
      <ul>
        {plan.leftOut.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p class="actions">
        {many > 0 && (
          <button type="button" class={look} onClick={() => props.onDo(props.planned)}>
            {label}: {many.toLocaleString('en')}
          </button>
        )}
        <button type="button" onClick={props.onLeave}>
          Leave it
        </button>
      </p>
    </div>
  );
}

/** Shows nothing to a visitor who may only look. */
export function PauseButtons(props: {
  readonly of: Pausable;
  readonly whats?: readonly ('pause' | 'resume')[];
}): JSX.Element | null {
  const { of, whats = ['pause', 'resume'] } = props;
  const name = of.mapping ?? of.runner ?? 'all runs';
  const set = (what: string): void =>
    void postJson<{ readonly changed: number }>(`/api/${what}`, of).then(
      ({ changed }) => say(changed === 0 ? `it is so already: ${name}` : `${what}d ${name}`),
      (error: unknown) => say(messageOf(error)),
    );
  return mayOperate.value ? (
    <>
      {whats.map((what) => (
        <button
          key={what}
          type="button"
          class="link"
          aria-label={`${what} ${name}`}
          onClick={() => set(what)}
        >
          {whats.length === 1 ? `${what} ${name}` : what}
        </button>
      ))}
    </>
  ) : null;
}
