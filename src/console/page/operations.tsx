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

interface Operation {
  readonly path: 'retry' | 'approve' | 'deny' | 'cancel' | 'drop';
  readonly label: string;
  /** What it changes is called so afterwards. */
  readonly done: string;
  readonly class: string;
  readonly fits: (entry: WorkJson) => boolean;
}

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

/** What has ended well is not begun again. */
const OPERATIONS: readonly Operation[] = [
  {
    path: 'retry',
    label: 'Run again what failed',
    done: 'due now',
    class: 'primary',
    fits: (entry) => FAILED.includes(endOf(entry)),
  },
  {
    path: 'retry',
    label: 'Try now',
    done: 'due now',
    class: '',
    fits: (entry) => endOf(entry) === 'queued' && !isAsked(entry),
  },
  { path: 'approve', label: 'Approve', done: 'approved', class: 'primary', fits: isAsked },
  { path: 'deny', label: 'Deny', done: 'denied', class: 'danger', fits: isAsked },
  {
    path: 'cancel',
    label: 'Cancel',
    done: 'cancelled',
    class: 'danger',
    fits: (entry) => isRun(entry) && endOf(entry) === 'active',
  },
  {
    path: 'drop',
    label: 'Drop',
    done: 'dropped',
    class: 'danger',
    fits: (entry) => [...WAITING, 'dead'].includes(endOf(entry)),
  },
];

/** A button for each operation that fits any of the entries; nothing for who may only look. */
export function Operations(props: {
  readonly entries: readonly WorkJson[];
  readonly onChanged: () => void;
}): JSX.Element | null {
  const problem = useSignal('');
  const change = async ({ path, done }: Operation, ids: readonly string[]): Promise<void> => {
    try {
      const { changed } = await postJson<{ readonly changed: number }>(`/api/${path}`, { ids });
      say(changed === 0 ? 'nothing changed: it has gone on, or is not tried again' : `${changed} ${done}`);
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
        const ids = props.entries.filter(operation.fits).map((entry) => text(entry, 'id'));
        return (
          ids.length > 0 && (
            <button
              key={operation.label}
              type="button"
              class={operation.class}
              onClick={() => void change(operation, ids)}
            >
              {operation.label}
            </button>
          )
        );
      })}
      {problem.value !== '' && <span role="alert">{problem.value}</span>}
    </p>
  );
}
