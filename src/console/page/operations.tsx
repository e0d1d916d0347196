/** What can be done about runs, events and what is sent, with the rules of the commands. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { WorkJson } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { formatDate } from './format.ts';
import { mayOperate } from './inbox-store.ts';
import { say } from './toast.ts';

/** How it ended, or where it stands. */
export function endOf(entry: WorkJson): string {
  return text(entry, 'outcome') || text(entry, 'state');
}

/** A value of an entry; empty where it has none. */
export function text(entry: WorkJson, key: string): string {
  const value = entry[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export const isRun = (entry: WorkJson): boolean => 'sessionKey' in entry;

export const FAILED: readonly string[] = ['error', 'timeout', 'dead'];
export const WAITING: readonly string[] = ['queued', 'pending'];

/** What is asked for, how it is called, how what it changes is called afterwards, its class, and what it fits. */
type Operation = readonly [
  path: 'retry' | 'approve' | 'deny' | 'cancel' | 'drop',
  label: string,
  done: string,
  look: string,
  fits: (entry: WorkJson) => boolean,
];

/** Until when somebody may say whether a run begins, and who has said what. */
interface Approval {
  readonly expiresAt: string;
  readonly decision?: string;
  readonly by?: string;
}

const approvalOf = (entry: WorkJson): Approval | undefined => entry['approval'] as Approval | undefined;

/** Whether it waits for somebody to say that it begins. */
function isAsked(entry: WorkJson): boolean {
  const approval = approvalOf(entry);
  return approval !== undefined && approval.decision === undefined && endOf(entry) === 'queued';
}

/** What was answered, or until when it may be; empty where nobody is asked. */
export function approvalText(entry: WorkJson): string {
  const { expiresAt = '', decision, by = '' } = approvalOf(entry) ?? {};
  if (decision !== undefined) return `${decision} by ${by}`;
  return isAsked(entry) ? `asked for until ${formatDate(Date.parse(expiresAt))}` : '';
}

const isIn =
  (...states: readonly string[]) =>
  (entry: WorkJson): boolean =>
    states.includes(endOf(entry));

/** What has ended well is not begun again. */
const OPERATIONS: readonly Operation[] = [
  ['retry', 'Run again what failed', 'due now', 'primary', isIn(...FAILED)],
  ['retry', 'Try now', 'due now', '', (entry) => endOf(entry) === 'queued' && !isAsked(entry)],
  ['approve', 'Approve', 'approved', 'primary', isAsked],
  ['deny', 'Deny', 'denied', 'danger', isAsked],
  ['cancel', 'Cancel', 'cancelled', 'danger', (entry) => isRun(entry) && endOf(entry) === 'active'],
  ['drop', 'Drop', 'dropped', 'danger', isIn(...WAITING, 'dead')],
];

/** A button for each operation that fits any of the entries; nothing for who may only look. */
export function Operations(props: {
  readonly entries: readonly WorkJson[];
  readonly onChanged: () => void;
}): JSX.Element | null {
  const problem = useSignal('');
  const change = async ([path, , done]: Operation, ids: readonly string[]): Promise<void> => {
    try {
      const { changed } = await postJson<{ readonly changed: number }>(`/api/${path}`, { ids });
      say(
        changed === 0
          ? 'nothing changed: it is decided, has gone on, or is not tried again'
          : `${changed} ${done}`,
      );
      problem.value = '';
      props.onChanged();
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  if (!mayOperate.value) return null;
  return (
    <p class="actions">
      {OPERATIONS.map((operation) => {
        const [, label, , look, fits] = operation;
        const ids = props.entries.filter(fits).map((entry) => text(entry, 'id'));
        return ids.length === 0 ? null : (
          <button key={label} type="button" class={look} onClick={() => void change(operation, ids)}>
            {label}
            {ids.length > 1 && ` (${ids.length})`}
          </button>
        );
      })}
      {problem.value !== '' && <span role="alert">{problem.value}</span>}
    </p>
  );
}

/** What begins no further run: those of a mapping, of a runner, or with neither all. What is under way goes on. */
export interface Pausable {
  readonly mapping?: string;
  readonly runner?: string;
}

/** Nothing for who may only look. */
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
          {what}
        </button>
      ))}
    </>
  ) : null;
}
